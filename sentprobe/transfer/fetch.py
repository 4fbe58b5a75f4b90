"""Downloads of sets into SentEval's folders."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from sentprobe.core.download import RetryPolicy, download, git_blob, offline, sha256
from sentprobe.core.files import make_folder
from sentprobe.core.hashing import hash_64
from sentprobe.core.progress import Progress
from sentprobe.core.reader import find_file
from sentprobe.data.layouts import LAYOUTS
from sentprobe.errors import DataError, Offline, UsageError
from sentprobe.transfer.remote_sets import File, RemoteSet
from sentprobe.transfer.reshape import reshape
from sentprobe.transfer.unpack import unpack

DOWNLOADS = ".downloads"
"""Where files are kept until the sets made from them are in place."""


def is_downloaded(place: RemoteSet, data: Path) -> bool:
    """Whether all files of a set are in place."""
    layout = next((LAYOUTS[name] for name in place.sets if name in LAYOUTS), None)
    expected = (layout.files if layout else ()) or tuple(target for file in place.files for target in file.targets)
    return all(find_file(place.folder(data) / file) for file in expected)


def fetch_sets(
    remote_sets: Sequence[RemoteSet],
    data: Path,
    *,
    trust: bool = False,
    no_network: bool = False,
    retries: RetryPolicy | None = None,
    progress: Progress | None = None,
) -> dict[str, str]:
    """Download sets into ``data``; those that are already there are skipped. Licences must have been accepted before.

    A file without a published checksum is used only with ``trust``; the checksums of such files are returned, by
    address. ``no_network`` forbids downloads. A set appears in its folder completely or not at all, and downloaded
    files are kept until it does.
    """
    missing = [place for place in remote_sets if not is_downloaded(place, data)]
    if missing and (no_network or offline()):
        why = "--offline was given" if no_network else "SENTPROBE_OFFLINE is set"
        raise Offline(f"{missing[0].key} is not in {data}, and the network may not be used: {why}.")
    trusted: dict[str, str] = {}
    for place in missing:
        if place.manual_steps:
            raise UsageError(
                f"{place.key} must be downloaded by hand: {place.manual_steps.strip()} {place.folder(data)}"
            )
        fetched = [(file, data / DOWNLOADS / _name(file)) for file in place.files]
        for file, path in fetched:
            make_folder(path.parent)
            if not path.exists():
                download(
                    file.urls,
                    path,
                    limit=file.limit,
                    has_checksum=file.has_checksum,
                    retries=retries,
                    progress=progress,
                )
            if found := _verify(place, file, path, trust):
                trusted[file.urls[0]] = found
        _put(place, fetched, data)
    for place in missing:  # not before: several sets may be in one archive
        for file in place.files:
            (data / DOWNLOADS / _name(file)).unlink(missing_ok=True)
    if (data / DOWNLOADS).is_dir() and not any((data / DOWNLOADS).iterdir()):
        (data / DOWNLOADS).rmdir()
    return trusted


def _put(place: RemoteSet, fetched: Sequence[tuple[File, Path]], data: Path) -> None:
    """Make the files of a set from the downloads in a temporary folder, and then move them into place."""
    stage = data / DOWNLOADS / f"{place.key}.new"
    shutil.rmtree(stage, ignore_errors=True)
    make_folder(stage)
    try:
        for file, path in fetched:
            if file.to:
                shutil.copyfile(path, stage / file.to)
            else:
                unpack(path, file.members, stage, file.unpacked)
        for step in dict.fromkeys(file.step for file in place.files if file.step):
            reshape(step, stage)
        _move(stage, place.folder(data))
    except OSError as error:
        raise DataError(f"{place.folder(data)} cannot be written: {error.strerror}.") from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _name(file: File) -> str:
    """A name for the downloaded file that is unique to its address."""
    last = urlsplit(file.urls[0]).path.rpartition("/")[2]
    return f"{hash_64(file.urls[0]):016x}-{last}"


def _verify(place: RemoteSet, file: File, path: Path, trust: bool) -> str:
    """Compare the checksum of a file; if none is known and it is trusted, return the one it has."""
    found = sha256(path)
    compared = [("SHA-256", file.sha256, found)] if file.sha256 else []
    compared += [("git checksum", file.git_blob, git_blob(path))] if file.git_blob else []
    for kind, expected, got in compared:
        if got != expected:
            path.unlink()
            raise DataError(
                f"{file.urls[0]} has changed: expected {kind} {expected}, got {got}. The download was deleted; "
                f"try again later, or look at {place.page}."
            )
    if not compared and not trust:
        raise DataError(
            f"{file.urls[0]} was downloaded, but no checksum is known for it. Its SHA-256 is {found}. If you trust "
            "it, run the same command with --trust to continue from here."
        )
    return "" if compared else found


def _move(stage: Path, home: Path) -> None:
    """Move finished files into place: by one rename, or file by file into an existing folder."""
    home.parent.mkdir(parents=True, exist_ok=True)
    if not home.exists():
        stage.rename(home)
        return
    for path in sorted(stage.iterdir()):
        path.replace(home / path.name)
