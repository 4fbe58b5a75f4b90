"""The line that installs an extra, for messages: it depends on how sentprobe itself was installed."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import sentprobe

CHECKOUT = Path(__file__).parents[2]
"""The clone, if sentprobe is used in place."""


def pip_install(extra: str) -> str:
    """The command that adds an extra to this installation.

    From a clone it names the clone, from a wheel file that file. The name on the package index stands in it only if
    this is a released version: before the first release nobody has that name there, or a stranger.
    """
    from importlib.metadata import PackageNotFoundError, distribution  # slow, and for messages only
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        package = distribution("sentprobe")
        origin, requirements = json.loads(package.read_text("direct_url.json") or "{}"), package.requires or ()
    except PackageNotFoundError:
        origin, requirements = {}, ()
    url = urlsplit(origin.get("url", ""))
    editable = origin.get("dir_info", {}).get("editable", False)
    if url.scheme == "file":
        return _from_path(Path(url2pathname(url.path)), extra, editable=editable)
    if (CHECKOUT / "pyproject.toml").is_file():
        return _from_path(CHECKOUT, extra, editable=False)
    if url.scheme or ".dev" not in sentprobe.__version__:
        where = f" @ {origin['url']}" if url.scheme else ""
        return f"pip install {_quote(f'sentprobe[{extra}]{where}')}"
    return f"pip install {' '.join(map(_quote, _packages(requirements, extra)))}"


def _from_path(path: Path, extra: str, *, editable: bool) -> str:
    target = "." if path.resolve() == Path.cwd().resolve() else str(path)
    return f"pip install {'-e ' if editable else ''}{_quote(f'{target}[{extra}]')}"


def _packages(requirements: Sequence[str], extra: str) -> list[str]:
    """The packages of an extra, with those of the extras that it includes."""
    packages = []
    for line in requirements:
        package, _, marker = (part.strip() for part in line.partition(";"))
        if re.search(rf"""extra\s*==\s*['"]{extra}['"]""", marker):
            included = re.fullmatch(r"sentprobe\[(.*)\]", package)
            names = included[1].split(",") if included else ()
            packages += [requirement for name in names for requirement in _packages(requirements, name)] or [package]
    return packages


def _quote(word: str) -> str:
    """The word for a shell; that of Windows knows double quotes only."""
    return f'"{word}"' if os.name == "nt" else shlex.quote(word)
