"""Whether a folder can be gone on with: it must be of the same request, and the data must be the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.alignment.folder import CANDIDATES, CONFIG, HISTORY, MAPS, AlignmentFolder
from sentprobe.alignment.request import Request
from sentprobe.errors import UsageError

MAY_CHANGE = ("export", "why")
"""What may differ when a command is repeated."""
PARTS = ".*.part"
"""Files that a process was writing when it was killed."""
DATA = ("source", "target", "dictionary", "dev")


def check_same(request: Request, folder: Path) -> None:
    """Refuse a folder with something else in it."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder.")
    if not (folder / CONFIG).is_file():
        unfinished = (CANDIDATES, MAPS, HISTORY) if (folder / CANDIDATES).is_dir() else ()
        known = {*unfinished, *(place.name for place in folder.glob(PARTS))}
        if foreign := sorted(place.name for place in folder.iterdir() if place.name not in known):
            raise UsageError(f"{folder} has {foreign[0]}, and is no folder of `sentprobe align`; choose another one.")
        return
    before = AlignmentFolder(folder).config.get("request", {})
    now = msgspec.json.decode(msgspec.json.encode(request))
    for key in sorted({*before, *now} - {*MAY_CHANGE}):
        if before.get(key) != now.get(key):
            raise UsageError(
                f"{folder} has an alignment with {key.replace('_', ' ')} {_shown(before.get(key))}, and this is "
                f"{_shown(now.get(key))}: choose another folder, or repeat the command with which it was begun."
            )


def check_unchanged(about: Mapping[str, Any], folder: Path) -> None:
    """Refuse to go on with spaces or dictionaries that are not those with which the alignment began."""
    if not (folder / CONFIG).is_file():
        return
    before = AlignmentFolder(folder).config
    for key in DATA:
        if before.get(key, {}).get("digest") != about.get(key, {}).get("digest"):
            name = about[key].get("path") or ", ".join(about[key]["files"])
            raise UsageError(
                f"{name} ({key}) is not what it was when the alignment in {folder} began: restore it, or choose "
                "another folder."
            )


def _shown(value: object) -> str:
    """A value of a request as users type it."""
    if isinstance(value, Mapping):
        return " ".join(f"{key}={one}" for key, one in value.items()) or "(none)"
    return (",".join(map(str, value)) if isinstance(value, list) else str(value)) or "(none)"
