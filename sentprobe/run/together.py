"""Which sets an encoder encodes together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sentprobe.core.cluster import current_cluster
from sentprobe.run.config import PreparedSet
from sentprobe.run.shared import TextIndex

ONE_BY_ONE_SCHEME = "baseline:"
"""Encoders whose vectors cost so little, and depend on a text alone, that only those of one set are made at a time."""


def one_by_one(name: str) -> bool:
    """Whether an encoder encodes set by set; the workers of a cluster should have the probes of all at once."""
    return name.startswith(ONE_BY_ONE_SCHEME) and current_cluster() is None


def share_few_texts(sets: Sequence[PreparedSet]) -> bool:
    """Whether encoding set by set takes at most twice as long: a text of several sets is then encoded for each."""
    columns = [column for s in sets for column in s.columns()]
    return 2 * len(set().union(*columns)) >= sum(map(len, columns))


def group_variants(sets: Sequence[PreparedSet], extra: Sequence[PreparedSet]) -> Iterator[list[PreparedSet]]:
    """Variants that need only the texts of the sets; those that need others; each one that needs another encoder."""
    own = TextIndex(dict.fromkeys(text for s in sets for column in s.columns() for text in column))
    same: list[PreparedSet] = []
    given: list[PreparedSet] = []
    rest: list[PreparedSet] = []
    for s in extra:
        if s.variant is not None and s.variant.given:
            given.append(s)
        else:
            (same if all(map(own.has, s.columns())) else rest).append(s)
    yield same
    yield rest
    yield from ([s] for s in given)  # last, because the other encoder stays in memory
