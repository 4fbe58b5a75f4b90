"""Extracts the files that are needed from an archive, and nothing else."""

from __future__ import annotations

import stat
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from sentprobe.errors import DataError

_PIECE = 1 << 16


def unpack(archive: Path, members: Mapping[str, str], into: Path, limit: int) -> None:
    """Write the members of a zip or tar file into a folder, under our names for them.

    Only whole files that are requested by name are taken. An archive is refused if one of them is a link or a device or
    is there twice, if any name in it leads out of it, or if there is more in it than ``limit`` bytes.
    """
    with _readable(archive):
        if zipfile.is_zipfile(archive):
            _unzip(archive, members, into, limit)
        else:
            _untar(archive, members, into, limit)


def _unzip(archive: Path, members: Mapping[str, str], into: Path, limit: int) -> None:
    with zipfile.ZipFile(archive) as opened:
        infos = opened.infolist()
        _check_names(archive, [info.filename for info in infos], members)
        allowance = limit
        for info in infos:
            if info.filename in members:
                mode = info.external_attr >> 16
                if info.is_dir() or (mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
                    raise DataError(f"{archive}: {info.filename} is not a regular file; it is not unpacked.")
                with opened.open(info) as source:
                    allowance = _copy(archive, source, into / members[info.filename], allowance)


def _untar(archive: Path, members: Mapping[str, str], into: Path, limit: int) -> None:
    with tarfile.open(archive) as opened:
        infos: list[tarfile.TarInfo] = []
        allowance = limit
        for info in opened:  # to skip a member, all of it is decompressed: so what is not requested counts, too
            allowance -= info.size
            if allowance < 0:
                raise DataError(f"{archive} unpacks to more than {limit:,} bytes; it is not what it should be.")
            infos.append(info)
        _check_names(archive, [info.name for info in infos], members)
        for info in infos:
            if info.name in members:
                source = opened.extractfile(info) if info.isreg() else None
                if source is None:
                    raise DataError(f"{archive}: {info.name} is not a regular file; it is not unpacked.")
                with source:
                    _copy(archive, source, into / members[info.name], limit)


def _check_names(archive: Path, names: list[str], members: Mapping[str, str]) -> None:
    for name in names:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or name[1:2] == ":":
            raise DataError(
                f"{archive} has a member {name[:200]!r}, which leads outside the folder; nothing is unpacked."
            )
    if missing := [name for name in members if name not in names]:
        contents = ", ".join(repr(name) for name in names[:8]) or "nothing"
        raise DataError(f"{archive} lacks {missing[0]!r}; it has {contents}{', …' if len(names) > 8 else ''}.")
    if repeated := [name for name in members if names.count(name) > 1]:
        raise DataError(f"{archive} has {repeated[0]!r} twice; nothing is unpacked.")


def _copy(archive: Path, source: IO[bytes], target: Path, allowance: int) -> int:
    """Copy at most ``allowance`` bytes; what is left of the allowance."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as out:
        # bytes are counted as they are decompressed: the sizes that an archive states may be false
        while piece := source.read(_PIECE):
            allowance -= len(piece)
            if allowance < 0:
                raise DataError(f"{archive} unpacks to more than is allowed; it is not what it should be.")
            out.write(piece)
    return allowance


@contextmanager
def _readable(archive: Path) -> Iterator[None]:
    """Report whatever is wrong with an archive as a DataError."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # a damaged archive may raise anything
        raise DataError(f"{archive} cannot be unpacked: {type(error).__name__}: {error}.") from None
