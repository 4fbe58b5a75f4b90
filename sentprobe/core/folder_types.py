"""Types of folders that commands write, besides runs and sets: how one is recognised, and what verbs do with it.

``sentprobe show``, ``serve`` and ``figure`` take any folder that a type recognises; see ``sentprobe.core.plugins`` for
where types are found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentprobe.core.plugins import Kind


@dataclass(frozen=True, kw_only=True)
class FolderType:
    """A type of folder: one object in one file.

    Parameters
    ----------
    name
        As ``Chart.reads`` names it.
    title
        The name with an article, for messages.
    command
        What writes such folders: ``sentprobe align``.
    recognises
        Whether a path is such a folder, from the names of the files in it.
    show
        Prints it in a format of ``sentprobe show``.
    site
        What ``sentprobe serve`` serves of it, a ``sentprobe.serve.routes.Served``; called with the folder and with what
        prints lines about work in the background.
    check_files
        Called with the folder of a model that is to be loaded, of whatever type, and the digests of its files by their
        names: raises DataError if it is of this type, and a file has changed since it was written.
    """

    name: str
    title: str
    command: str
    recognises: Callable[[Path], bool]
    show: Callable[[Path, str], None] | None = None
    site: Callable[[Path, Callable[[str], None]], Any] | None = None
    check_files: Callable[[Path, Mapping[str, str]], None] | None = None


FOLDER_TYPES = Kind("folder type", "sentprobe.folder_types", FolderType)
"""All types, also those that other packages offer as entry points of the group ``sentprobe.folder_types``."""


def folder_type_of(path: Path) -> FolderType | None:
    """The type of a folder; None for a run, sets, or anything else."""
    return next((part for part in FOLDER_TYPES.parts().values() if part.recognises(path)), None)


def check_model_files(folder: Path, digests: Mapping[str, str]) -> None:
    """DataError if a command has written a model, and its files, with these digests, have changed since then."""
    for part in FOLDER_TYPES.parts().values():
        if part.check_files is not None:
            part.check_files(folder, digests)
