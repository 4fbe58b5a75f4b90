"""Files of object stores, hubs and web servers, by fsspec: ``s3://bucket/key``, ``hf://datasets/…``, ``https://…``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

from sentprobe.core.install import pip_install
from sentprobe.errors import DataError, NotInstalled, SentProbeError, UsageError

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_MAGIC = re.compile(r"[*?\[]")


def is_remote(path: str) -> bool:
    """Whether a path is an address."""
    return _ADDRESS.match(path) is not None


def open_remote(address: str, stack: ExitStack) -> BinaryIO:
    """Open a file for reading, seeking included; the stack closes it."""
    with _explained(address):
        files, path = _file_system(address)
        opened: BinaryIO = stack.enter_context(files.open(path, "rb"))
        return opened


def find_remote(address: str, is_wanted: Callable[[str], bool]) -> list[tuple[str, str]]:
    """The files that an address means, with their paths below it: itself, those of a glob, or those of a folder.

    Of a folder, those whose names are wanted.
    """
    with _explained(address):
        files, path = _file_system(address)
        if files.exists(path) and not files.isdir(path):
            return [(address, _name(path))]
        if _MAGIC.search(path):
            found = {file: _name(file) for file in files.glob(path)}
        else:
            below = f"{path.rstrip('/')}/"
            found = {file: file.removeprefix(below) for file in files.find(path) if is_wanted(_name(file))}
        if not found:
            raise UsageError(f"There is no file {address!r} that can be read.")
        return [(files.unstrip_protocol(file), name) for file, name in sorted(found.items())]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def stamp_remote(address: str) -> str:
    """What changes when a file does: its size, and what else its store says."""
    with _explained(address):
        files, path = _file_system(address)
        return f"{files.size(path)} bytes, {files.ukey(path)}"


def _file_system(address: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise NotInstalled(f"Reading {address} needs fsspec: {pip_install('remote')}") from None
    found: tuple[Any, str] = fsspec.core.url_to_fs(address)
    return found


@contextmanager
def _explained(address: str) -> Iterator[None]:
    """Say what is wrong with an address; stores raise whatever their clients do."""
    try:
        yield
    except (SentProbeError, KeyboardInterrupt):
        raise
    except ImportError as e:
        raise NotInstalled(f"Reading {address} needs another package: {e}") from None
    except ValueError as e:
        raise UsageError(f"{address} cannot be read: {e}.") from None
    except FileNotFoundError:
        raise DataError(f"There is no file {address!r}.") from None
    except Exception as e:
        raise DataError(f"{address} cannot be read: {type(e).__name__}: {e}") from e
