"""Treebanks of Universal Dependencies in the cache: downloaded once, verified, and checked whenever they are used."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sentprobe.console import announce, progress_bar
from sentprobe.core.arguments import Progress
from sentprobe.core.files import make_folder, open_bytes
from sentprobe.core.folders import cache_folder, locked
from sentprobe.core.formatting import count_of
from sentprobe.core.hashing import sha256
from sentprobe.core.network import RetryPolicy, offline
from sentprobe.corpus.treebanks.catalogue import UNKNOWN, Treebank, find_treebank
from sentprobe.corpus.treebanks.metadata import SPLITS, Counts, Metadata, count_conllu
from sentprobe.corpus.treebanks.record import read_record, write_record
from sentprobe.corpus.treebanks.server import RemoteTreebank, page, server_address
from sentprobe.errors import CorruptionWarning, DataError, Offline

Notify = Callable[[str], None]
FileFacts = dict[str, Any]
"""Name, size and checksums of a file, as the record has them."""


def treebank_folder(treebank: Treebank) -> Path:
    """Where a treebank is kept."""
    return cache_folder() / "treebanks" / treebank.release / treebank.name


def fetch_treebank(
    spec: str,
    *,
    retries: RetryPolicy | None = None,
    progress: Progress | None = None,
    notify: Notify = announce,
) -> list[Path]:
    """The files of ``ud:UD_English-EWT@r2.16``; what is not in the cache is downloaded, after its licence was shown.

    A file that was damaged since is downloaded again, with a warning. Several processes may share the cache.

    Parameters
    ----------
    spec
        The treebank, and its release; by default that of the table.
    retries
        How patient to be with the server.
    progress
        Called with the name of a file, and how much of it there is; by default, a progress bar on a terminal.
    notify
        Called with lines for the user: the licence, before the text is downloaded, and what was verified.

    Raises
    ------
    UsageError
        If there is no such treebank.
    DataError
        If it has no text, or is not what was expected.
    Offline
        If it is not in the cache, and there is no network.
    """
    treebank = find_treebank(spec)
    folder = treebank_folder(treebank)
    if files := _in_cache(folder):
        return files
    if treebank.text == "no":
        raise _without_text(treebank)
    if offline():
        state = "is damaged or not complete" if read_record(folder) else "is not"
        raise Offline(
            f"{treebank.name} {treebank.release} {state} in the cache ({folder}), and the network may not be used: "
            "SENTPROBE_OFFLINE is set."
        )
    make_folder(folder)
    with ExitStack() as stack:
        waiting = f"Another process is downloading {treebank.name} {treebank.release}; waiting for it."
        stack.enter_context(locked(folder / ".lock", folder, DataError, lambda: notify(waiting)))
        if files := _in_cache(folder):  # that process has done it
            return files
        shown = progress or stack.enter_context(progress_bar())
        remote = RemoteTreebank(treebank, folder, server_address(), retries, shown)
        return [folder / name for name in _download(remote, notify)]


def _in_cache(folder: Path) -> list[Path]:
    """The files of a treebank that is in the cache, complete and as it was downloaded; otherwise none."""
    record = read_record(folder)
    if record is None or not record["complete"] or any(_damaged(folder, record)):
        return []
    return [folder / one["name"] for one in record["files"]]


def _damaged(folder: Path, record: Mapping[str, Any]) -> Iterator[str]:
    """The files that are missing or are not as they were downloaded."""
    for one in record["files"]:
        path = folder / one["name"]
        if not path.is_file() or path.stat().st_size != one["bytes"] or sha256(path) != one["sha256"]:
            yield one["name"]


def _download(remote: RemoteTreebank, notify: Notify) -> list[str]:
    """Download what is missing; the names of all files."""
    record = read_record(remote.folder) or {"files": [], "complete": False}
    damaged = list(_damaged(remote.folder, record))
    for path in (remote.folder / name for name in damaged):
        if path.exists():
            warnings.warn(
                f"{path} has changed since it was downloaded; it is downloaded again.", CorruptionWarning, stacklevel=4
            )
            path.unlink()
    facts = {one["name"]: one for one in record["files"]}
    if record["complete"]:
        _replace(remote, {name: facts[name]["sha256"] for name in damaged})
        return list(facts)
    return _download_all(remote, {name: one for name, one in facts.items() if name not in damaged}, notify)


def _replace(remote: RemoteTreebank, checksums: Mapping[str, str]) -> None:
    """Download files again; they must be what they were."""
    for name, expected in checksums.items():
        path = remote.get(name)
        if (got := sha256(path)) != expected:
            path.unlink()
            raise DataError(
                f"{remote.url(name)} has changed since it was first downloaded: expected SHA-256 {expected}, got "
                f"{got}. To use what is there now, delete {remote.folder}."
            )


def _download_all(remote: RemoteTreebank, present: dict[str, FileFacts], notify: Notify) -> list[str]:
    """Download a treebank, apart from the files that are present, verify it, and record what is known of it."""
    treebank, stats = remote.treebank, remote.stats()
    metadata = remote.metadata()
    _show_licence(treebank, metadata, stats["total"], notify)
    if metadata.text == "no":
        raise _without_text(treebank)
    known = {
        "treebank": treebank.name,
        "release": treebank.release,
        "language": treebank.language,
        "licence": metadata.licence or UNKNOWN,
        "genres": metadata.genres.split(),
        "address": remote.url("").rstrip("/"),
    }
    files: list[FileFacts] = []
    counts = dict.fromkeys(("total", *SPLITS), Counts())
    has_splits = any(split in stats for split in SPLITS)
    for split in (split for split in SPLITS if not has_splits or stats.get(split, Counts()).sentences):
        for name in remote.data_files(split, present, required=has_splits):
            files.append(present.get(name) or _file_facts(remote, name))
            # after every file: if the next one is interrupted, this one is not downloaded again
            present[name] = files[-1]
            write_record(remote.folder, {**known, "files": list(present.values()), "complete": False})
            counted = count_conllu(open_bytes(str(remote.folder / name)))
            counts[split] += counted
            counts["total"] += counted
    total = counts["total"]
    if total.lacks_text:
        _discard(remote.folder, files)
        raise _without_text(treebank)
    has_checksums = bool(files) and all("git_blob" in one for one in files)
    matching = True
    for part, expected in stats.items():
        if counts[part].size != expected.size and (part != "total" or not has_splits):
            matching = False
            difference = f"{treebank.name} {treebank.release}, {part}: stats.xml says {expected}, got {counts[part]}."
            if not has_checksums:
                _discard(remote.folder, files)
                raise DataError(
                    f"{difference} The files were deleted; try again. If that does not help, download them by hand "
                    f"from {page(treebank)} and give their paths."
                )
            # they are the files of the release, as git's checksums say; then stats.xml was not updated
            notify(f"{difference} The checksums are right; the files are used.")
    verified = ["git checksums"] * has_checksums + ["counts of stats.xml"] * matching
    size = {"sentences": total.sentences, "tokens": total.tokens, "words": total.words}
    write_record(remote.folder, {**known, **size, "verified": verified, "files": files, "complete": True})
    megabytes = sum(one["bytes"] for one in files) / 1e6
    amount = f"{megabytes:,.1f} MB" if megabytes >= 1 else f"{1000 * megabytes:,.0f} kB"
    notify(
        f"{count_of(len(files), 'file')}, {amount}, verified by {' and '.join(verified)} ({total}); kept in "
        f"{remote.folder}"
    )
    if not has_checksums:
        for one in files:
            notify(f"no checksum is known of {one['name']}; its SHA-256 is {one['sha256']}")
    return [one["name"] for one in files]


def _file_facts(remote: RemoteTreebank, name: str) -> FileFacts:
    """Size and checksums of a file that was just downloaded."""
    blob = remote.verify(name)
    path = remote.folder / name
    facts = {"name": name, "bytes": path.stat().st_size, "sha256": sha256(path)}
    return {**facts, "git_blob": blob} if blob else facts


def _discard(folder: Path, files: list[FileFacts]) -> None:
    """Delete files, so that the next command starts anew."""
    write_record(folder, {"files": [], "complete": False})
    for one in files:
        (folder / one["name"]).unlink(missing_ok=True)


def _show_licence(treebank: Treebank, metadata: Metadata, size: Counts, notify: Notify) -> None:
    genres = f" ({metadata.genres})" if metadata.genres else ""
    notify(
        f"{treebank.name} {treebank.release}, {treebank.language}: {describe_licence(metadata.licence)}; "
        f"{size.sentences:,} sentences, {size.words:,} words{genres}; {page(treebank)}"
    )


def describe_licence(licence: str) -> str:
    """A licence as it is shown: with what it forbids.

    >>> describe_licence("CC BY-NC-SA 4.0")
    'CC BY-NC-SA 4.0, non-commercial use only'
    """
    words = licence.upper().replace("-", " ").split()
    limits = {"NC": "non-commercial use only", "ND": "no derivatives"}
    return ", ".join([licence or f"licence {UNKNOWN}", *(text for word, text in limits.items() if word in words)])


def _without_text(treebank: Treebank) -> DataError:
    return DataError(
        f"{treebank.name} {treebank.release} was released without its text, for reasons of licence: its words are "
        f"underscores. {page(treebank)} says how the text can be added; give the files that you get as paths."
    )
