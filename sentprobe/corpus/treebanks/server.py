"""A treebank on the server: addresses, which files there are, and their download into a folder."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from urllib.parse import urlsplit

from sentprobe.core.arguments import Progress
from sentprobe.core.hashing import git_blob
from sentprobe.core.network import NotOnServer, RetryPolicy, download
from sentprobe.corpus.treebanks.catalogue import Treebank, find_treebank
from sentprobe.corpus.treebanks.metadata import Counts, Metadata, parse_readme, parse_stats
from sentprobe.errors import DataError, UsageError

GITHUB = "https://raw.githubusercontent.com/UniversalDependencies"
_PAGES = "https://github.com/UniversalDependencies"
_DATA_LIMIT = 200_000_000
"""Bytes of a data file; GitHub takes none of more than 100 MB, which is why some treebanks are in several."""
_TEXT_LIMIT = 4_000_000
_STATS = "stats.xml"
_READMES = ("README.md", "README.txt")
_LICENCE_FILE = "LICENSE.txt"


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

    def stats(self) -> dict[str, Counts]:
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
        """What the README says, or the table where it says nothing; the licence is kept beside the data, too."""
        self._exists(_LICENCE_FILE, _TEXT_LIMIT)
        name = next((name for name in _READMES if self._exists(name, _TEXT_LIMIT)), None)
        said = parse_readme((self.folder / name).read_text("utf-8", "replace")) if name else Metadata()
        table = self.treebank
        return Metadata(said.licence or table.licence, said.text or table.text, said.genres or table.genres)

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
        known = [part for part in self.treebank.parts if part.startswith(f"{split}-")]
        lettered = [f"{split}-{letter}" for letter in ascii_lowercase]
        for prefix in self.treebank.prefixes:
            for parts in ([split], known, lettered):
                found = False
                for part in parts:
                    name = f"{prefix}-ud-{part}.conllu"
                    tried.append(name)
                    if name in present or self._exists(name):
                        found = True
                        yield name
                    elif parts is not known:
                        break  # letters have no gaps
                if found:
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
