"""Writes a package ``senteval`` into a folder, for scripts that put this folder first on their path and import it."""

from __future__ import annotations

from pathlib import Path

from sentprobe.errors import UsageError

MODULES = (
    *("engine", "utils", "binary", "cxc", "glue", "trec", "sst", "mrpc", "sick", "sts", "snli", "probing", "rank"),
    *("tools", "tools.classifier", "tools.ranking", "tools.relatedness", "tools.validation"),
)
"""What may be imported from the package."""
GENERATED_MARK = "written by `sentprobe senteval install`"
"""In the first line of files that sentprobe wrote."""


def install(folder: Path, *, force: bool = False) -> Path:
    """Write ``senteval`` into a folder; a package that is not ours is overwritten only with ``force``."""
    home = folder / "senteval"
    files = {home / "__init__.py": _package()}
    for name in MODULES:
        path = home.joinpath(*name.split("."))
        files[path / "__init__.py" if name == "tools" else path.with_suffix(".py")] = _module(name)
    if home.exists() and not force and not _ours(home / "__init__.py"):
        raise UsageError(
            f"{home} exists and was not written by sentprobe: it may be a modified copy of SentEval. Move it away, or "
            "use --force to overwrite its files."
        )
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{home} cannot be written: {error.strerror}. Choose another folder.") from None
    return home


def _ours(path: Path) -> bool:
    try:
        return GENERATED_MARK in path.read_text("utf-8").partition("\n")[0]
    except (OSError, UnicodeDecodeError):
        return False


def _package() -> str:
    outer = ", ".join(name for name in MODULES if "." not in name)
    return (
        f'"""SentEval as sentprobe does it, {GENERATED_MARK}."""\n\n'
        f"from senteval import {outer}  # noqa: F401\n"
        "from sentprobe.senteval import SE, SentEval, register_task  # noqa: F401\n"
    )


def _module(name: str) -> str:
    first = f'"""SentEval\'s {name} as sentprobe does it, {GENERATED_MARK}."""\n\n'
    if name == "tools":
        inner = ", ".join(module.partition(".")[2] for module in MODULES if "." in module)
        return f"{first}from senteval.tools import {inner}  # noqa: F401\n"
    return (
        f"{first}from sentprobe.senteval import {name.partition('.')[0]} as _module  # noqa: F401\n"
        f"from sentprobe.senteval.{name} import *  # noqa: F403\n\n\n"
        "def __getattr__(name):  # what is not in __all__, such as classes that need torch\n"
        f"    return getattr(_module{name.removeprefix(name.partition('.')[0])}, name)\n"
    )
