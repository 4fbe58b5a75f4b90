"""Treebanks of Universal Dependencies in the cache: downloaded once, verified, and checked whenever they are used."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any
from urllib.parse import urlsplit

from sentprobe.console import announce, progress_bar
from sentprobe.core.arguments import Progress
from sentprobe.core.files import make_folder, open_bytes
from sentprobe.core.folders import cache_folder, locked
from sentprobe.core.formatting import count_of
from sentprobe.core.hashing import git_blob, sha256
from sentprobe.core.network import NotOnServer, RetryPolicy, download, offline
from sentprobe.corpus.treebanks.catalogue import UNKNOWN, Treebank, find_treebank
from sentprobe.corpus.treebanks.metadata import (
    SPLITS,
    Metadata,
    TreebankCounts,
    count_conllu,
    parse_readme,
    parse_stats,
    read_record,
    write_record,
)
from sentprobe.errors import CorruptionWarning, DataError, Offline, UsageError

Notify = Callable[[str], None]
FileFacts = dict[str, Any]
"""Name, size and checksums of a file, as the record has them."""

GITHUB = "https://raw.githubusercontent.com/UniversalDependencies"
_PAGES = "https://github.com/UniversalDependencies"
_DATA_LIMIT = 200_000_000
"""Bytes of a data file; GitHub takes none of more than 100 MB, which is why some treebanks are in several."""
_TEXT_LIMIT = 4_000_000
_STATS = "stats.xml"
_READMES = ("README.md", "README.txt")
_LICENCE_FILE = "LICENSE.txt"


def treebank_folder(treebank: Treebank) -> Path:
    """Where a treebank is in the cache."""
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
        bar = progress or stack.enter_context(progress_bar())
        remote = RemoteTreebank(treebank, folder, server_address(), retries, bar)
        return [folder / name for name in _download(remote, notify)]


def _in_cache(folder: Path) -> list[Path]:
    """The files of a treebank that is in the cache, complete and as it was downloaded; otherwise none."""
    record = read_record(folder)
    if record is None or not record["complete"] or any(_damaged(folder, record)):
        return []
    return [folder / file["name"] for file in record["files"]]


def _damaged(folder: Path, record: Mapping[str, Any]) -> Iterator[str]:
    """The files that are missing or are not as they were downloaded."""
    for file in record["files"]:
        path = folder / file["name"]
        if not path.is_file() or path.stat().st_size != file["bytes"] or sha256(path) != file["sha256"]:
            yield file["name"]


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
    facts = {file["name"]: file for file in record["files"]}
    if record["complete"]:
        _replace(remote, {name: facts[name]["sha256"] for name in damaged})
        return list(facts)
    return _download_all(remote, {name: file for name, file in facts.items() if name not in damaged}, notify)


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
    description = {
        "treebank": treebank.name,
        "release": treebank.release,
        "language": treebank.language,
        "licence": metadata.licence or UNKNOWN,
        "genres": metadata.genres.split(),
        "address": remote.url("").rstrip("/"),
    }
    files, counts = _download_files(remote, stats, present, description)
    total = counts["total"]
    if total.lacks_text:
        _discard(remote.folder, files)
        raise _without_text(treebank)
    has_checksums = bool(files) and all("git_blob" in file for file in files)
    differences = _count_differences(treebank, stats, counts)
    if differences and not has_checksums:
        _discard(remote.folder, files)
        raise DataError(
            f"{differences[0]} The files were deleted; try again. If that does not help, download them by hand "
            f"from {page(treebank)} and give their paths."
        )
    for difference in differences:
        # they are the files of the release, as git's checksums say; then stats.xml was not updated
        notify(f"{difference} The checksums are right; the files are used.")
    verified = ["git checksums"] * has_checksums + ["counts of stats.xml"] * (not differences)
    size = {"sentences": total.sentences, "tokens": total.tokens, "words": total.words}
    write_record(remote.folder, {**description, **size, "verified": verified, "files": files, "complete": True})
    megabytes = sum(file["bytes"] for file in files) / 1e6
    amount = f"{megabytes:,.1f} MB" if megabytes >= 1 else f"{1000 * megabytes:,.0f} kB"
    notify(
        f"{count_of(len(files), 'file')}, {amount}, verified by {' and '.join(verified)} ({total}); kept in "
        f"{remote.folder}"
    )
    if not has_checksums:
        for file in files:
            notify(f"no checksum is known of {file['name']}; its SHA-256 is {file['sha256']}")
    return [file["name"] for file in files]


def _download_files(
    remote: RemoteTreebank, stats: Mapping[str, TreebankCounts], present: dict[str, FileFacts], description: FileFacts
) -> tuple[list[FileFacts], dict[str, TreebankCounts]]:
    """Download the files of every split; what they are, and what they contain, by split and in total."""
    files: list[FileFacts] = []
    counts = dict.fromkeys(("total", *SPLITS), TreebankCounts())
    has_splits = any(split in stats for split in SPLITS)
    for split in (split for split in SPLITS if not has_splits or stats.get(split, TreebankCounts()).sentences):
        for name in remote.data_files(split, present, required=has_splits):
            files.append(present.get(name) or _file_facts(remote, name))
            # after every file: if the next one is interrupted, this one is not downloaded again
            present[name] = files[-1]
            write_record(remote.folder, {**description, "files": list(present.values()), "complete": False})
            file_counts = count_conllu(open_bytes(str(remote.folder / name)))
            counts[split] += file_counts
            counts["total"] += file_counts
    return files, counts


def _count_differences(
    treebank: Treebank, stats: Mapping[str, TreebankCounts], counts: Mapping[str, TreebankCounts]
) -> list[str]:
    """Where stats.xml says something else than the files; the total only if it says nothing else."""
    parts = [split for split in SPLITS if split in stats] or ["total"]
    return [
        f"{treebank.name} {treebank.release}, {part}: stats.xml says {stats[part]}, got {counts[part]}."
        for part in parts
        if counts[part].size != stats[part].size
    ]


def _file_facts(remote: RemoteTreebank, name: str) -> FileFacts:
    """Size and checksums of a file that was just downloaded."""
    blob = remote.verify(name)
    path = remote.folder / name
    facts = {"name": name, "bytes": path.stat().st_size, "sha256": sha256(path)}
    return {**facts, "git_blob": blob} if blob else facts


def _discard(folder: Path, files: list[FileFacts]) -> None:
    """Delete files, so that the next command starts anew."""
    write_record(folder, {"files": [], "complete": False})
    for file in files:
        (folder / file["name"]).unlink(missing_ok=True)


def _show_licence(treebank: Treebank, metadata: Metadata, size: TreebankCounts, notify: Notify) -> None:
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


# The server


def server_address() -> str:
    """Where treebanks are downloaded from, as NAME/TAG/FILE: ``$SENTPROBE_UD_URL``, or GitHub."""
    address = os.environ.get("SENTPROBE_UD_URL", "").rstrip("/") or GITHUB
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
        raise UsageError(f"SENTPROBE_UD_URL is {address!r}; expected an address that begins with http:// or https://.")
    return address


def page(treebank: Treebank) -> str:
    """Where a user can read about a treebank."""
    return f"{_PAGES}/{treebank.name}"


@dataclass(frozen=True)
class RemoteTreebank:
    """A treebank on the server, and the folder that its files are downloaded to."""

    treebank: Treebank
    folder: Path
    address: str
    retries: RetryPolicy | None = None
    progress: Progress | None = None

    def url(self, name: str) -> str:
        """The address of a file."""
        return f"{self.address}/{self.treebank.name}/{self.treebank.release}/{name}"

    def get(self, name: str, limit: int = _DATA_LIMIT) -> Path:
        """Download one file; a treebank may be on the server under the name that it has in another release."""
        path = self.folder / name
        repositories = (self.treebank.name, *self.treebank.other_names)
        urls = tuple(f"{self.address}/{repository}/{self.treebank.release}/{name}" for repository in repositories)
        has_checksum = bool(self.treebank.git_blob(name))
        download(urls, path, limit=limit, has_checksum=has_checksum, retries=self.retries, progress=self.progress)
        return path

    def stats(self) -> dict[str, TreebankCounts]:
        """The counts of stats.xml; its absence means that there is no such release."""
        try:
            return parse_stats(self.get(_STATS, _TEXT_LIMIT).read_bytes())
        except NotOnServer:
            table = find_treebank(self.treebank.name)
            default = f" The default is {table.spec}." if table.release != self.treebank.release else ""
            raise DataError(
                f"{self.treebank.name} {self.treebank.release} is not on the server: {self.url(_STATS)} does not "
                f"exist. There is no such release, or the treebank is not part of it.{default}"
            ) from None

    def metadata(self) -> Metadata:
        """What the README says, or the table where it says nothing; the licence is put beside the data, too."""
        self._exists(_LICENCE_FILE, _TEXT_LIMIT)
        name = next((name for name in _READMES if self._exists(name, _TEXT_LIMIT)), None)
        readme = parse_readme((self.folder / name).read_text("utf-8", "replace")) if name else Metadata()
        table = self.treebank
        return Metadata(readme.licence or table.licence, readme.text or table.text, readme.genres or table.genres)

    def data_files(self, split: str, present: Container[str], required: bool = True) -> Iterator[str]:
        """The names of the files of a split, each downloaded if it is not present.

        They are those of the table. For another release, where it has none, they are found out: the file is
        ``en_ewt-ud-train.conllu``, or it is in parts, as it was in some release, or in parts from a on. That there is
        none is an error if it is ``required``.
        """
        if self.treebank.files:
            for name in self.treebank.files_of(split):
                if name not in present:
                    self.get(name)
                yield name
            return
        tried: list[str] = []
        listed = [part for part in self.treebank.parts if part.startswith(f"{split}-")]
        lettered = [f"{split}-{letter}" for letter in ascii_lowercase]
        for prefix in self.treebank.prefixes:
            for parts in ([split], listed, lettered):
                any_exists = False
                for part in parts:
                    name = f"{prefix}-ud-{part}.conllu"
                    tried.append(name)
                    if name in present or self._exists(name):
                        any_exists = True
                        yield name
                    elif parts is not listed:
                        break  # letters have no gaps
                if any_exists:
                    return
        if not required:
            return
        raise DataError(
            f"{self.treebank.name} {self.treebank.release} has {split} data, as {_STATS} says, but none of the files "
            f"{', '.join(tried)} exists. Download it by hand from {page(self.treebank)} and give the paths."
        )

    def verify(self, name: str) -> str:
        """The git checksum of a downloaded file, or nothing if none is known; DataError if it is another one."""
        expected = self.treebank.git_blob(name)
        if expected and (got := git_blob(self.folder / name)) != expected:
            (self.folder / name).unlink()
            raise DataError(
                f"{self.url(name)} is not the file of the release: expected the git checksum {expected}, got {got}. "
                "The download was deleted; try again."
            )
        return expected

    def _exists(self, name: str, limit: int = _DATA_LIMIT) -> bool:
        """Download a file if the server has it."""
        try:
            self.get(name, limit)
        except NotOnServer:
            return False
        return True
