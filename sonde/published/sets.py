"""Which released set this is, by what is in it: sets.csv has the digests, with the files that they were taken from.

What people reach and what papers printed belongs to a set, and not to a task or to a name: a set made from another
corpus, or a folder that is called like a suite, asks the same question of other sentences.

    suite, task, language   whose rows of rows.csv belong to the set
    by, digest              te: the test rows; all: the rows of all splits; file: the file itself (see ``content``)
    train                   training rows of the release
    file, bytes, sha256     what the digest was taken from; where by is file, the digest is git's, and says it all

There are SentEval's ten probing files, four parts of them, the test sets of X-Probe, and nine transfer tasks.
The sets of Krasnowska-Kieraś and Wróblewska (2019), of Adi et al. (2017) and other transfer tasks were not at hand.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, cast

DigestOf = Literal["te", "all", "file"]
Extent = Literal["this set", "the whole set", "another set"]
"""What was printed for: the very set; a release of which this set is a part, or has only the test rows; or another set
of the same task."""


@dataclass(frozen=True, slots=True)
class Release:
    """A set that was released, and what it is recognised by."""

    suite: str
    task: str
    language: str
    by: DigestOf
    digest: str
    train: int
    file: str
    bytes: str
    sha256: str
    note: str


def recognise(content: Mapping[str, str], rows: Mapping[str, int]) -> tuple[Release, Extent] | None:
    """The release that a set with these digests and so many rows by split is, or is a part of."""
    for by in ("file", "te", "all"):
        release = _releases().get((by, content.get(by, "")))
        if release is not None:
            return release, "this set" if by == "file" or rows.get("tr", 0) == release.train else "the whole set"
    return None


def releases() -> list[Release]:
    """Every release that is known."""
    return list(_releases().values())


@cache
def _releases() -> dict[tuple[str, str], Release]:
    lines = files("sonde.published").joinpath("sets.csv").read_text("utf-8").splitlines()
    found = [_release(**cells) for cells in csv.DictReader(lines)]
    return {(release.by, release.digest): release for release in found}


def _release(*, by: str, train: str, **cells: str) -> Release:
    return Release(**cells, by=cast("DigestOf", by), train=int(train))
