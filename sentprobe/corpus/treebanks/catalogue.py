"""The treebanks of Universal Dependencies that are known, and which of them a user names.

The table, treebanks.csv, is written by tools/treebank_table.py; what is empty in it is unknown.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files

from sentprobe.errors import UsageError

SCHEME = "ud:"
OLDEST = (2, 2)
"""Before this release, the files were called otherwise."""
UNKNOWN = "unknown"
_RELEASE = re.compile(r"r?(\d{1,2})\.(\d{1,3})")
_LISTED = "`sentprobe ls treebanks` lists them all."
_MAX_NAMED = 6
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
        return tuple(dict.fromkeys(prefix for prefix in (self.prefix, *guessed) if prefix))

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
            self.name,
            self.language,
            self.code,
            release,
            self.since,
            prefix=self.prefix,
            parts=self.parts,
            other_names=self.other_names,
        )


COLUMNS = ("treebank", *(column.name for column in fields(Treebank) if column.name != "name"))
"""Of the table."""


@cache
def treebanks() -> dict[str, Treebank]:
    """All treebanks of the table, by name."""
    text = files(__package__).joinpath("treebanks.csv").read_text("utf-8")
    return {row["treebank"]: _treebank(row) for row in csv.DictReader(text.splitlines())}


def _treebank(row: dict[str, str]) -> Treebank:
    counts = {name: int(row[name]) if row[name] else None for name in ("sentences", "tokens", "words")}
    return Treebank(
        row["treebank"],
        row["language"],
        row["code"],
        f"r{row['release']}",
        row["since"],
        **counts,
        licence=row["licence"],
        text=row["text"],
        genres=row["genres"],
        prefix=row["prefix"],
        files=dict(pair.partition("=")[::2] for pair in row["files"].split()),
        parts=tuple(row["parts"].split()),
        other_names=tuple(row["other_names"].split()),
    )


def is_spec(path: str) -> bool:
    """Whether a path names a treebank or a language: ``ud:UD_English-EWT``, ``ud:en``."""
    return path.startswith(SCHEME)


def treebanks_of(spec: str) -> list[Treebank]:
    """The treebanks of a language, by code or name, largest first: those of ``ud:fi``; none if it is no language."""
    typed = _fold(spec.removeprefix(SCHEME))
    matches = [treebank for treebank in treebanks().values() if typed in (_fold(treebank.language), treebank.code)]
    return sorted(matches, key=lambda treebank: (-(treebank.words or 0), treebank.name))


def find_treebank(spec: str) -> Treebank:
    """The treebank of ``ud:UD_English-EWT`` or ``ud:UD_English-EWT@r2.15``; UsageError if there is none.

    Without a release: that of the table, a fixed one, so that the same command gives the same sets.
    """
    typed, at, release = spec.removeprefix(SCHEME).partition("@")
    by_alias = {
        _fold(alias): treebank
        for treebank in treebanks().values()
        for name in (treebank.name, *treebank.other_names)
        for alias in (name, name.removeprefix("UD_"), *treebank.prefixes)
    }
    if (match := by_alias.get(_fold(typed))) is None:
        raise UsageError(_unknown(spec, typed))
    if not at:
        return match
    tag = _tag(spec, release)
    if _numbers(tag) < _numbers(match.since):
        raise UsageError(f"{match.name} is not in release {tag[1:]}: it has been part of UD since {match.since}.")
    return match.at(tag)


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
        named = _enumerate([treebank.name for treebank in of_language])
        return f"{spec!r} is a language; name one of its treebanks: {named}."
    names = {name.removeprefix("UD_").lower(): name for name in treebanks()}
    languages = {treebank.language.lower(): treebank.language for treebank in treebanks().values()}
    written = typed.removeprefix("UD_").removeprefix("ud_").lower()
    if "-" not in written and "_" not in written:
        codes = {treebank.code: treebank.code for treebank in treebanks().values()}
        return f"There is no treebank or language {typed!r}.{_near(written, languages | codes)} {_LISTED}"
    language = written.partition("-")[0].replace("_", " ")
    if of_language := treebanks_of(language):
        named = _enumerate([treebank.name for treebank in of_language])
        hint = _near(written, {key: names[key] for key in names if treebanks()[names[key]] in of_language})
        return f"There is no treebank {typed!r}.{hint} Those of {of_language[0].language} are {named}."
    return f"There is no treebank {typed!r}.{_near(written, names)} {_LISTED}"


def _near(written: str, spellings: dict[str, str]) -> str:
    """A suggestion, looked up in lower case and shown as it is spelled."""
    near = difflib.get_close_matches(written, spellings, n=1)
    return f" Did you mean {spellings[near[0]]}?" if near else ""


def _enumerate(names: Sequence[str]) -> str:
    omitted = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {omitted} more" if omitted > 0 else "")


def _fold(text: str) -> str:
    return text.strip().lower().replace(" ", "_")
