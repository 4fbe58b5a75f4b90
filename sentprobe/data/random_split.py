"""Train, dev and test rows of a table that has no splits: by a hash, so that they depend on the seed and nothing else.

Rows with the same text are never in two splits, and every label has its share in every split. With groups, those are
never in two splits; they are assigned largest first, to the split that lacks most of their labels.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sentprobe.errors import DataError, UsageError
from sentprobe.tasks import SPLITS, Example

DEFAULT_SEED = 1111
NAMES = {"tr": "train", "va": "dev", "te": "test"}
MAX_NAMED_LABELS = 5
MIN_FILLED = 0.5
"""The share of the requested rows that every split must get, where groups are kept together."""
_SHARES = re.compile(r"\s*[\d.]+\s*(/\s*[\d.]*\s*)+")


@dataclass(frozen=True, slots=True)
class RandomSplit:
    """How the rows of a table are split: shares in percent, the column of groups, and a seed."""

    train: float
    dev: float
    test: float
    group: str | None = None
    """The column whose values are kept together."""
    seed: int = DEFAULT_SEED

    @property
    def shares(self) -> dict[str, float]:
        """The share of each split, of one."""
        return {"tr": self.train / 100, "va": self.dev / 100, "te": self.test / 100}

    @property
    def name(self) -> str:
        """The split in a signature, such as ``80/10/10,seed=1111,group=document``."""
        group = f",group={self.group}" if self.group else ""
        return f"{self.train:g}/{self.dev:g}/{self.test:g},seed={self.seed}{group}"

    def record(self, keyed: bool = True) -> dict[str, Any]:
        """What the manifest and run.json say about it; ``keyed``: the keys of rows are their groups."""
        found = {"shares": [self.train, self.dev, self.test], "seed": self.seed, "group": self.group}
        return {**found, "keys": "group"} if self.group and keyed else found


def split_name(record: Any) -> str | None:
    """The name of a split that a manifest records; None if it records none."""
    if not isinstance(record, Mapping):
        return None
    train, dev, test = record["shares"]
    return RandomSplit(train, dev, test, record["group"], record["seed"]).name


def is_random_split(text: str) -> bool:
    """Whether an option names shares, and not a column.

    >>> [is_random_split(text) for text in ("80/10/10", "0.8/0.1/0.1", "80/20", "part", "2")]
    [True, True, True, False, False]
    """
    return _SHARES.fullmatch(text) is not None


def parse_random_split(text: str, group: str | None = None, seed: int | None = None) -> RandomSplit:
    """Parse shares of train, dev and test rows, such as ``80/10/10`` or ``0.8/0.1/0.1``; UsageError if they are not.

    >>> parse_random_split("80/10/10").name
    '80/10/10,seed=1111'
    """
    example = "train/dev/test in percent, such as 80/10/10, or 80/0/20 without dev rows"
    try:
        shares = [float(part) for part in text.split("/")]
    except ValueError:
        raise UsageError(f"--split {text}: expected {example}.") from None
    if len(shares) == 3 and abs(sum(shares) - 1) < 1e-6:
        shares = [round(100 * share, 6) for share in shares]
    if len(shares) != 3 or abs(sum(shares) - 100) > 1e-4 or not (shares[0] > 0 and shares[2] > 0):
        why = (
            f"got {len(shares)} numbers" if len(shares) != 3
            else "train and test need rows" if abs(sum(shares) - 100) <= 1e-4
            else f"got a sum of {sum(shares):g}, not 100"
        )  # fmt: skip
        raise UsageError(f"--split {text}: expected {example}; {why}.")
    return RandomSplit(shares[0], shares[1], shares[2], group, DEFAULT_SEED if seed is None else seed)


def split_rows(rows: Sequence[tuple[Example, str]], plan: RandomSplit, place: str) -> dict[str, list[Example]]:
    """Rows, each with the name of its group, by split, in their order; a row without a group is one of its own.

    Raises
    ------
    DataError
        If groups are too large, or a split would lack a label; ``place`` is the file to name.
    """
    units: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, (row, group) in enumerate(rows):
        own = ("group", group) if group else ("text", row.text, *(value for _, value in row.extra))
        units[own].append(i)
    order = sorted(units, key=lambda unit: (_hash(plan.seed, unit), unit))
    labels = [row.label for row, _ in rows]
    if plan.group:
        split_of = _by_group(order, units, labels, plan.shares)
    else:
        split_of = _by_label(order, units, labels, plan.shares)
    found: dict[str, list[Example]] = {split: [] for split in SPLITS}
    assigned = {i: split_of[unit] for unit, places in units.items() for i in places}
    for i, (row, _) in enumerate(rows):
        found[assigned[i]].append(row)
    _check(found, labels, units, plan, place)
    return found


Units = Mapping[tuple[str, ...], Sequence[int]]
"""Rows that are kept together, by text or group."""


def _hash(seed: int, unit: tuple[str, ...]) -> bytes:
    return blake2b("\0".join((str(seed), *unit)).encode(errors="surrogatepass"), digest_size=16).digest()


def _by_label(
    order: Sequence[tuple[str, ...]], units: Units, labels: Sequence[str], shares: Mapping[str, float]
) -> dict[tuple[str, ...], str]:
    """Every label has its share in every split; a text with several labels counts as its first in the alphabet."""
    strata: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for unit in order:
        strata[min(labels[i] for i in units[unit])].append(unit)
    found = {}
    for own in strata.values():
        n = sum(len(units[unit]) for unit in own)
        room = {split: max(1, round(n * shares[split])) for split in ("te", "va") if shares[split]}
        for unit in own:
            split = next((split for split in room if 0 < len(units[unit]) <= room[split]), "tr")
            found[unit] = split
            if split in room:
                room[split] -= len(units[unit])
        for split in room:  # a label whose texts are all too frequent to fit
            rest = [unit for unit in own if found[unit] == "tr"]
            if len(rest) > 1 and split not in {found[unit] for unit in own}:
                found[min(rest, key=lambda unit: len(units[unit]))] = split
    return found


def _by_group(
    order: Sequence[tuple[str, ...]], units: Units, labels: Sequence[str], shares: Mapping[str, float]
) -> dict[tuple[str, ...], str]:
    """Each group, largest first, goes to the split that lacks most of its labels, if it fits in there."""
    totals = Counter(labels)
    wanted = {(split, label): share * n for split, share in shares.items() for label, n in totals.items()}
    lacking = dict(wanted)
    room = {split: share * len(labels) for split, share in shares.items() if share}
    found = {}
    for unit in sorted(order, key=lambda unit: -len(units[unit])):  # stable: by hash where sizes are equal
        own = Counter(labels[i] for i in units[unit])
        size = own.total()

        def need(split: str, own: Counter[str] = own) -> tuple[float, float]:
            share = sum(n * lacking[split, label] / wanted[split, label] for label, n in own.items())
            return share, room[split]

        fitting = [split for split in room if size <= room[split] + 0.5]
        split = max(fitting, key=need) if fitting else max(room, key=lambda split: room[split])
        found[unit] = split
        room[split] -= size
        for label, n in own.items():
            lacking[split, label] -= n
    return found


def _check(
    found: Mapping[str, Sequence[Example]], labels: Sequence[str], units: Units, plan: RandomSplit, place: str
) -> None:
    requested = [split for split in SPLITS if plan.shares[split]]
    if plan.group:
        largest = max(units, key=lambda unit: len(units[unit]))
        few = [split for split in requested if len(found[split]) < MIN_FILLED * plan.shares[split] * len(labels)]
        if few:
            got = "/".join(f"{len(found[split]):,}" for split in SPLITS)
            raise DataError(
                f"{place}: the groups of {plan.group!r} cannot be split {plan.train:g}/{plan.dev:g}/{plan.test:g}: "
                f"{len(units):,} groups, the largest with {len(units[largest]):,} of {len(labels):,} rows, give {got} "
                f"rows, too few for {' and '.join(NAMES[s] for s in few)}. Choose other shares, or a column with "
                "smaller groups."
            )
    counts = Counter(labels)
    for split in requested:
        there = {row.label for row in found[split]}
        if missing := sorted(set(counts) - there, key=lambda label: (counts[label], label)):
            named = ", ".join(f"{label!r} ({counts[label]} rows)" for label in missing[:MAX_NAMED_LABELS])
            more = f" and {len(missing) - MAX_NAMED_LABELS} more" if len(missing) > MAX_NAMED_LABELS else ""
            kept = f" with the groups of {plan.group!r} kept together" if plan.group else ""
            raise DataError(
                f"{place}: split {plan.train:g}/{plan.dev:g}/{plan.test:g}{kept}, {NAMES[split]} has no row of {named}"
                f"{more}. Every label needs a row in every split: leave out rare labels or merge them, or choose other "
                "shares."
            )
