"""Which transfer sets are in a folder, and where a set is below a folder of data."""

from __future__ import annotations

import re
from pathlib import Path

from sentprobe.core.files import COMPRESSED, open_bytes
from sentprobe.data.layouts.catalogue import LAYOUTS
from sentprobe.data.layouts.layout import Layout
from sentprobe.data.layouts.xnli import is_nli, nli_languages
from sentprobe.errors import DataError, SentProbeError, UsageError

PICKLES = frozenset({"train.pkl", "valid.pkl", "test.pkl"})
"""The files of SentEval's own copy of the COCO captions, which must be converted first."""


def layouts_in(folder: Path) -> tuple[str, ...]:
    """The names of the transfer sets of which at least one file is directly in this folder."""
    try:
        names = {path.name for path in folder.iterdir() if path.is_file()}
    except OSError:
        return ()
    names |= {name.removesuffix(suffix) for name in names for suffix in COMPRESSED if name.endswith(suffix)}
    return tuple(name for name, layout in LAYOUTS.items() if _matches(layout, folder, names))


def languages_of(name: str, folder: Path) -> tuple[str | None, ...]:
    """The languages of a set in a folder; None for one whose files do not say."""
    return nli_languages(folder) if LAYOUTS[name].read == "nli" else (LAYOUTS[name].language,)


def locate(name: str, data: Path) -> Path:
    """The folder of a set below SentEval's ``data``, below ``downstream``, or the set's own folder.

    Folders of 2017, which have no ``downstream``, are found as well.
    """
    if name not in LAYOUTS:
        raise UsageError(f"There is no transfer set {name!r}; expected one of {', '.join(LAYOUTS)}.")
    home = LAYOUTS[name].home
    tried = (data / "downstream" / home, data / home, data / Path(home).name, data, data / Path(home).parts[0])
    for folder in tried:
        if name in layouts_in(folder):
            return folder
    raise DataError(
        f"{name} was not found: looked for {', '.join(LAYOUTS[name].files[:3]) or 'its files'} in {tried[0]}, "
        f"{tried[1]} and {data}. `sentprobe data get {name} -o {data}` downloads it, or says where to get it."
    )


def _matches(layout: Layout, folder: Path, names: set[str]) -> bool:
    if layout.read == "nli":
        return is_nli(folder, names)
    here = folder.resolve().name
    if layout.read == "captions" and here == layout.home and names >= PICKLES:
        return True
    found = next((file for file in layout.files if file in names), None)
    if found is None or (layout.folder and layout.marker_file not in names and not re.search(layout.folder, here)):
        return False
    return not layout.first or re.match(layout.first, _first_line(folder, found)) is not None


def _first_line(folder: Path, file: str) -> str:
    paths = (folder / f"{file}{suffix}" for suffix in ("", *COMPRESSED))
    path = next(path for path in paths if path.is_file())
    try:
        return next(open_bytes(str(path)), b"").partition(b"\n")[0].decode(errors="replace")
    except SentProbeError:
        return ""
