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
        record = {"shares": [self.train, self.dev, self.test], "seed": self.seed, "group": self.group}
        return {**record, "keys": "group"} if self.group and keyed else record


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
        if len(shares) != 3:
            problem = f"got {len(shares)} numbers"
        elif abs(sum(shares) - 100) <= 1e-4:
            problem = "train and test need rows"
        else:
            problem = f"got a sum of {sum(shares):g}, not 100"
        raise UsageError(f"--split {text}: expected {example}; {problem}.")
    return RandomSplit(shares[0], shares[1], shares[2], group, DEFAULT_SEED if seed is None else seed)


def split_rows(rows: Sequence[tuple[Example, str]], plan: RandomSplit, path: str) -> dict[str, list[Example]]:
    """Rows, each with the name of its group, by split, in their order; a row without a group is one of its own.

    Raises
    ------
    DataError
        If groups are too large, or a split would lack a label; ``path`` is the file to name.
    """
    blocks: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, (row, group) in enumerate(rows):
        block_name = ("group", group) if group else ("text", row.text, *(value for _, value in row.extra))
        blocks[block_name].append(i)
    order = sorted(blocks, key=lambda block: (_hash(plan.seed, block), block))
    labels = [row.label for row, _ in rows]
    if plan.group:
        split_of = _by_group(order, blocks, labels, plan.shares)
    else:
        split_of = _by_label(order, blocks, labels, plan.shares)
    splits: dict[str, list[Example]] = {split: [] for split in SPLITS}
    assigned = {i: split_of[block] for block, indices in blocks.items() for i in indices}
    for i, (row, _) in enumerate(rows):
        splits[assigned[i]].append(row)
    _check(splits, labels, blocks, plan, path)
    return splits


Blocks = Mapping[tuple[str, ...], Sequence[int]]
"""Rows that are kept together, by text or group."""


def _hash(seed: int, block: tuple[str, ...]) -> bytes:
    return blake2b("\0".join((str(seed), *block)).encode(errors="surrogatepass"), digest_size=16).digest()


def _by_label(
    order: Sequence[tuple[str, ...]], blocks: Blocks, labels: Sequence[str], shares: Mapping[str, float]
) -> dict[tuple[str, ...], str]:
    """Every label has its share in every split; a text with several labels counts as its first in the alphabet."""
    strata: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for block in order:
        strata[min(labels[i] for i in blocks[block])].append(block)
    split_of = {}
    for stratum in strata.values():
        n = sum(len(blocks[block]) for block in stratum)
        room = {split: max(1, round(n * shares[split])) for split in ("te", "va") if shares[split]}
        for block in stratum:
            split = next((split for split in room if 0 < len(blocks[block]) <= room[split]), "tr")
            split_of[block] = split
            if split in room:
                room[split] -= len(blocks[block])
        for split in room:  # a label whose texts are all too frequent to fit
            training_blocks = [block for block in stratum if split_of[block] == "tr"]
            if len(training_blocks) > 1 and split not in {split_of[block] for block in stratum}:
                split_of[min(training_blocks, key=lambda block: len(blocks[block]))] = split
    return split_of


def _by_group(
    order: Sequence[tuple[str, ...]], blocks: Blocks, labels: Sequence[str], shares: Mapping[str, float]
) -> dict[tuple[str, ...], str]:
    """Each group, largest first, goes to the split that lacks most of its labels, if it fits in there."""
    totals = Counter(labels)
    wanted = {(split, label): share * n for split, share in shares.items() for label, n in totals.items()}
    lacking = dict(wanted)
    room = {split: share * len(labels) for split, share in shares.items() if share}
    split_of = {}
    for block in sorted(order, key=lambda block: -len(blocks[block])):  # stable: by hash where sizes are equal
        counts = Counter(labels[i] for i in blocks[block])
        size = counts.total()

        def need(split: str, counts: Counter[str] = counts) -> tuple[float, float]:
            share = sum(n * lacking[split, label] / wanted[split, label] for label, n in counts.items())
            return share, room[split]

        fitting = [split for split in room if size <= room[split] + 0.5]
        split = max(fitting, key=need) if fitting else max(room, key=lambda split: room[split])
        split_of[block] = split
        room[split] -= size
        for label, n in counts.items():
            lacking[split, label] -= n
    return split_of


def _check(
    splits: Mapping[str, Sequence[Example]], labels: Sequence[str], blocks: Blocks, plan: RandomSplit, path: str
) -> None:
    requested = [split for split in SPLITS if plan.shares[split]]
    if plan.group:
        largest = max(blocks, key=lambda block: len(blocks[block]))
        few = [split for split in requested if len(splits[split]) < MIN_FILLED * plan.shares[split] * len(labels)]
        if few:
            got = "/".join(f"{len(splits[split]):,}" for split in SPLITS)
            raise DataError(
                f"{path}: the groups of {plan.group!r} cannot be split {plan.train:g}/{plan.dev:g}/{plan.test:g}: "
                f"{len(blocks):,} groups, the largest with {len(blocks[largest]):,} of {len(labels):,} rows, give "
                f"{got} rows, too few for {' and '.join(NAMES[s] for s in few)}. Choose other shares, or a column with "
                "smaller groups."
            )
    counts = Counter(labels)
    for split in requested:
        present = {row.label for row in splits[split]}
        if missing := sorted(set(counts) - present, key=lambda label: (counts[label], label)):
            named = ", ".join(f"{label!r} ({counts[label]} rows)" for label in missing[:MAX_NAMED_LABELS])
            unlisted = f" and {len(missing) - MAX_NAMED_LABELS} more" if len(missing) > MAX_NAMED_LABELS else ""
            condition = f" with the groups of {plan.group!r} kept together" if plan.group else ""
            raise DataError(
                f"{path}: split {plan.train:g}/{plan.dev:g}/{plan.test:g}{condition}, {NAMES[split]} has no row of "
                f"{named}{unlisted}. Every label needs a row in every split: leave out rare labels or merge them, or "
                "choose other shares."
            )
