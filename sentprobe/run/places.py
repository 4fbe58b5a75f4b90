"""Where relative paths of a run lead: encoders and sets were named from some folder, and the run may have been moved.

run.json records that folder, by its own path and as seen from the run. A path is looked for in the recorded folder, in
the one that is where it was as seen from the run (a run that was moved with what is around it), in the run itself, and
in the current folder. An encoder must still have the identity that the run has recorded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sentprobe.data.sources import Source
from sentprobe.encoders import Spec
from sentprobe.errors import SentProbeError

PLACES = "places"
"""The key in run.json."""


def current_place(folder: Path) -> list[str]:
    """The current folder, as run.json records it: its path, and how it is seen from the run."""
    here = os.getcwd()  # noqa: PTH109 - as text
    try:
        seen = os.path.relpath(here, folder)
    except ValueError:  # on another drive
        seen = here
    return [path.encode(errors="backslashreplace").decode() for path in (here, seen)]


def places_of(folder: Path, info: Mapping[str, Any]) -> list[Path]:
    """The folders that a relative path of a run may start from, the last command's first."""
    recorded = info.get(PLACES, [])[::-1]
    paths = [Path(here) for here, _ in recorded] + [folder / seen for _, seen in recorded]
    found = dict.fromkeys(Path(os.path.abspath(path)) for path in (*paths, folder, Path.cwd()))  # noqa: PTH100
    return [path for path in found if path.is_dir()]


def find_encoder(name: str, places: Sequence[Path]) -> str:
    """The name with an absolute path, if it is a relative one that leads somewhere; otherwise the name."""
    try:
        spec = Spec.parse(name)
    except SentProbeError:  # a function
        return name
    path, *rest = spec.path.split(":") if spec.scheme == "py" else (spec.path,)
    if not path or Path(path).expanduser().is_absolute():
        return name
    there = next((place / path for place in places if (place / path).exists()), None)
    if there is None:
        return name
    return str(replace(spec, name=":".join((str(there), *rest)), revision=None))


def find_source(source: Source, places: Sequence[Path], recorded: Sequence[str]) -> Source:
    """A set whose files are gone, at the same place below another folder; the same one if it is in none."""
    if all(Path(path).exists() for path in source.paths):
        return source
    for base in recorded:
        for place in places:
            paths = [place / os.path.relpath(path, base) for path in source.paths]
            if all(path.exists() for path in paths):
                return replace(source, paths=tuple(map(str, paths)))
    return source
