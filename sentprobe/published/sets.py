"""Recognises released sets by their content: sets.csv has their digests, with the files that they were computed from.

Human performance and published results belong to a set, not to a task or a name: a set made from another corpus, or a
folder named like a suite, has other sentences.

    suite, task, language   the rows of rows.csv that belong to the set
    by, digest              te: the test rows; all: the rows of all splits; file: the file itself (see ``content``)
    train                   training rows of the release
    file, bytes, sha256     the file that the digest was computed from; not needed where ``by`` is file

It covers SentEval's ten probing files, four parts of them, the test sets of X-Probe, and nine transfer tasks. The sets
of Krasnowska-Kieraś and Wróblewska (2019) and Adi et al. (2017), and other transfer tasks, were not available.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, cast

DigestOf = Literal["te", "all", "file"]
Extent = Literal["this set", "the whole set", "another set", "other vectors"]
"""What a published result was obtained on: this very set; a release that this set is a part of, or shares only the test
rows with; another set of the same task; or, for word spaces, the same task and languages with other vectors."""


@dataclass(frozen=True, slots=True)
class Release:
    """A released set, and how it is recognised."""

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
    """The release that a set is, or is a part of, by its digests and its number of rows per split."""
    for by in ("file", "te", "all"):
        release = _releases().get((by, content.get(by, "")))
        if release is not None:
            return release, "this set" if by == "file" or rows.get("tr", 0) == release.train else "the whole set"
    return None


def releases() -> list[Release]:
    """All known releases."""
    return list(_releases().values())


@cache
def _releases() -> dict[tuple[str, str], Release]:
    lines = files("sentprobe.published").joinpath("sets.csv").read_text("utf-8").splitlines()
    found = [_release(**cells) for cells in csv.DictReader(lines)]
    return {(release.by, release.digest): release for release in found}


def _release(*, by: str, train: str, **cells: str) -> Release:
    return Release(**cells, by=cast("DigestOf", by), train=int(train))
