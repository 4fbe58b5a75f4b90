"""The treebanks of Universal Dependencies that are known, and which of them a user names.

The table, treebanks.csv, is written by tools/treebank_table.py; what is empty in it is unknown.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from sentprobe.errors import UsageError

SCHEME = "ud:"
COLUMNS = ("treebank", "language", "code", "release", "since", "sentences", "tokens", "words", "licence", "text",
           "genres", "prefix", "files", "parts", "other_names")  # fmt: skip
OLDEST = (2, 2)
"""Before this release, the files were called otherwise."""
UNKNOWN = "unknown"
_RELEASE = re.compile(r"r?(\d{1,2})\.(\d{1,3})")
_LISTED = "`sentprobe ls treebanks` lists them all."
_MANY = 6
"""A message names at most this many treebanks."""


@dataclass(frozen=True, slots=True)
class Treebank:
    """One treebank, as it is in one release."""

    name: str
    """As in the release: ``UD_English-EWT``."""
    language: str
    code: str
    release: str
    """``r2.16``, the tag."""
    since: str = ""
    """The first release of UD that it was in."""
    sentences: int | None = None
    tokens: int | None = None
    words: int | None = None
    licence: str = ""
    text: str = ""
    """Whether the text is included: ``yes``, ``no`` or unknown."""
    genres: str = ""
    prefix: str = ""
    """What file names begin with: ``en_ewt``."""
    files: dict[str, str] = field(default_factory=dict)
    """The checksums that git has of its files, by ``train``, ``dev``, ``test`` or part: ``train-a``."""
    parts: tuple[str, ...] = ()
    """Training files of any release, for treebanks that are too large for a single one."""
    other_names: tuple[str, ...] = ()
    """What it is called in other releases."""

    @property
    def spec(self) -> str:
        """What a user types."""
        return f"{SCHEME}{self.name}@{self.release}"

    @property
    def prefixes(self) -> tuple[str, ...]:
        """What file names may begin with in any release."""
        guessed = (f"{self.code}_{name.rpartition('-')[2].lower()}" for name in (self.name, *self.other_names))
        return tuple(dict.fromkeys(one for one in (self.prefix, *guessed) if one))

    def files_of(self, split: str) -> list[str]:
        """The names of the files of a split; none if they are not known."""
        return [self._file(part) for part in self.files if part.partition("-")[0] == split]

    def git_blob(self, name: str) -> str:
        """The checksum that git has of a file; empty if it is not known."""
        return next((blob for part, blob in self.files.items() if self._file(part) == name), "")

    def _file(self, part: str) -> str:
        return f"{self.prefix}-ud-{part}.conllu"

    def at(self, release: str) -> Treebank:
        """The same treebank in another release, of which only the names are known."""
        if release == self.release:
            return self
        return Treebank(
            self.name, self.language, self.code, release, self.since, prefix=self.prefix, parts=self.parts,
            other_names=self.other_names,
        )  # fmt: skip


@cache
def treebanks() -> dict[str, Treebank]:
    """All treebanks of the table, by name."""
    text = files(__package__).joinpath("treebanks.csv").read_text("utf-8")
    return {row["treebank"]: _treebank(row) for row in csv.DictReader(text.splitlines())}


def _treebank(row: dict[str, str]) -> Treebank:
    number = {name: int(row[name]) if row[name] else None for name in ("sentences", "tokens", "words")}
    sums = dict(one.partition("=")[::2] for one in row["files"].split())
    return Treebank(
        row["treebank"], row["language"], row["code"], f"r{row['release']}", row["since"], **number,
        licence=row["licence"], text=row["text"], genres=row["genres"], prefix=row["prefix"], files=sums,
        parts=tuple(row["parts"].split()), other_names=tuple(row["other_names"].split()),
    )  # fmt: skip


def is_spec(path: str) -> bool:
    """Whether a path names a treebank or a language: ``ud:UD_English-EWT``, ``ud:en``."""
    return path.startswith(SCHEME)


def treebanks_of(spec: str) -> list[Treebank]:
    """The treebanks of a language, by code or name, largest first: those of ``ud:fi``; none if it is no language."""
    typed = _fold(spec.removeprefix(SCHEME))
    found = [one for one in treebanks().values() if typed in (_fold(one.language), one.code)]
    return sorted(found, key=lambda one: (-(one.words or 0), one.name))


def find_treebank(spec: str) -> Treebank:
    """The treebank of ``ud:UD_English-EWT`` or ``ud:UD_English-EWT@r2.15``; UsageError if there is none.

    Without a release: that of the table, a fixed one, so that the same command gives the same sets.
    """
    typed, at, release = spec.removeprefix(SCHEME).partition("@")
    names = {
        _fold(alias): one
        for one in treebanks().values()
        for name in (one.name, *one.other_names)
        for alias in (name, name.removeprefix("UD_"), *one.prefixes)
    }
    if (found := names.get(_fold(typed))) is None:
        raise UsageError(_unknown(spec, typed))
    if not at:
        return found
    tag = _tag(spec, release)
    if _numbers(tag) < _numbers(found.since):
        raise UsageError(f"{found.name} is not in release {tag[1:]}: it has been part of UD since {found.since}.")
    return found.at(tag)


def _tag(spec: str, release: str) -> str:
    """The tag of a release that a user typed: ``r2.16`` of ``2.16``."""
    m = _RELEASE.fullmatch(release)
    if m is None:
        raise UsageError(
            f"{spec!r} names no release: expected one such as @r2.16. Branches are not used, because they change."
        )
    if (int(m[1]), int(m[2])) < OLDEST:
        raise UsageError(f"{spec!r} is too old: expected a release from r2.2 on, when files got their present names.")
    return f"r{int(m[1])}.{int(m[2])}"


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.removeprefix("r").split(".")))


def _unknown(spec: str, typed: str) -> str:
    """The message for a name that is in no table."""
    if not typed:
        return f"{spec!r} names no treebank: expected one such as {SCHEME}UD_English-EWT, or a language: {SCHEME}en."
    if of_language := treebanks_of(SCHEME + typed):
        named = _enumerate([one.name for one in of_language])
        return f"{spec!r} is a language; name one of its treebanks: {named}."
    names = {name.removeprefix("UD_").lower(): name for name in treebanks()}
    languages = {one.language.lower(): one.language for one in treebanks().values()}
    written = typed.removeprefix("UD_").removeprefix("ud_").lower()
    if "-" not in written and "_" not in written:
        codes = {one.code: one.code for one in treebanks().values()}
        return f"There is no treebank or language {typed!r}.{_near(written, languages | codes)} {_LISTED}"
    language = written.partition("-")[0].replace("_", " ")
    if of_language := treebanks_of(language):
        named = _enumerate([one.name for one in of_language])
        hint = _near(written, {key: names[key] for key in names if treebanks()[names[key]] in of_language})
        return f"There is no treebank {typed!r}.{hint} Those of {of_language[0].language} are {named}."
    return f"There is no treebank {typed!r}.{_near(written, names)} {_LISTED}"


def _near(written: str, known: dict[str, str]) -> str:
    """A suggestion, found in lower case and shown as it is written."""
    near = difflib.get_close_matches(written, known, n=1)
    return f" Did you mean {known[near[0]]}?" if near else ""


def _enumerate(names: Sequence[str]) -> str:
    more = len(names) - _MANY
    return ", ".join(names[:_MANY]) + (f" and {more} more" if more > 0 else "")


def _fold(text: str) -> str:
    return text.strip().lower().replace(" ", "_")
