"""Folders: the cache, locks, temporary folders, and the types of folders that verbs recognise.

A temporary folder does not stay behind, even if its process is killed. It has a file that its process holds locked. A
system releases locks when a process ends, however it does: so the next command that needs a folder removes those whose
lock it gets.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentprobe.core.plugins import Kind, part_repr
from sentprobe.errors import SentProbeError

# The cache


def cache_folder() -> Path:
    """``$SENTPROBE_CACHE``, or the cache folder of this system."""
    if chosen := os.environ.get("SENTPROBE_CACHE"):
        return Path(chosen).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("sentprobe")


# Locks


@contextmanager
def locked(
    path: Path, folder: Path, error: type[SentProbeError], waiting: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the lock of a file, which is made, or of a folder; it is released when the process dies.

    ``folder`` is what errors name. If another process has the lock, that is an error; with ``waiting``, which is called
    then, it is waited for. There are no locks on Windows, nor on some network drives.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    try:
        opened = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as e:
        raise error(f"{folder} cannot be written to: {e.strerror}. Choose another folder.") from e
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting is None:
                raise error(f"Another process is writing to {folder}; wait for it, or choose another folder.") from None
            waiting()
            fcntl.flock(opened, fcntl.LOCK_EX)
        except OSError:
            if not path.is_dir():  # some drives lock files only
                raise error(f"{folder} cannot be locked; choose a folder on another drive.") from None
        yield
    finally:
        os.close(opened)


# Temporary folders


PREFIX, LOCK = "sentprobe-", ".lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new temporary folder, removed at the end."""
    remove_stale()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """The lock of a folder; it has its name only once it is held, or another process could take it for stale."""
    try:
        import fcntl
    except ImportError:  # on Windows, where stale folders stay
        return None
    opened: int | None = None
    with suppress(OSError):
        opened = os.open(folder / f"{LOCK}-new", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (folder / f"{LOCK}-new").rename(folder / LOCK)
    return opened


def remove_stale() -> None:
    """Remove the temporary folders of processes of this user that ended without doing so."""
    try:
        import fcntl
    except ImportError:
        return
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError):
                if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                    continue
                opened = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
                try:
                    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(opened)


# Types of folders that commands write, besides runs and sets


@dataclass(frozen=True, kw_only=True)
class FolderType:
    """A type of folder, which ``sentprobe show``, ``serve`` and ``figure`` take: one object in one file.

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
        What ``sentprobe serve`` serves of it, a ``sentprobe.serve.site.Served``; called with the folder and with what
        prints lines about work in the background.
    check_files
        Called with the folder of a model that is to be loaded, of whatever type, and the digests of its files by their
        names: raises DataError if it is of this type, and a file has changed since it was written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sentprobe.extend import FolderType
    >>> notes = FolderType(name="notes", title="a folder of notes", command="sentprobe notes",
    ...                    recognises=lambda path: (path / "notes.json").is_file())
    >>> notes, notes.recognises(Path("nowhere"))
    (FolderType('notes'), False)
    """

    name: str
    title: str
    command: str
    recognises: Callable[[Path], bool]
    show: Callable[[Path, str], None] | None = None
    site: Callable[[Path, Callable[[str], None]], Any] | None = None
    check_files: Callable[[Path, Mapping[str, str]], None] | None = None

    __repr__ = part_repr


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
