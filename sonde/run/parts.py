"""A set as the loop needs it: the rows to learn from, to choose on and to test on, and nothing else of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import numpy.typing as npt

from sonde.core.hashing import hash_64
from sonde.corpus.near_duplicates import near_duplicate_key
from sonde.data.dataset import Dataset
from sonde.data.expected import expectations_for
from sonde.data.protocol import Protocol
from sonde.errors import DataError, UsageError
from sonde.task import SPLITS, Example
from sonde.transfer.coco import images

REGRESSION_PROTOCOLS = ("relatedness", "similarity")
"""Protocols of sets whose labels are numbers."""
REPEATED = 0.1
"""The share of rows whose sentence came before, from which on rows are not taken for independent."""
HELD_OUT_SHARE = 0.15
"""The share of the training rows that is chosen on where a set has no va, or nothing but va to learn from."""


@dataclass(frozen=True)
class Part:
    """Rows of one purpose, as parallel columns."""

    texts: Sequence[str]
    inputs: Mapping[str, Sequence[str]]
    """Further inputs of the probe by name: the words of Adi's tasks, the other sentence of a pair."""
    labels: npt.NDArray[np.int64]
    """The place of each label among ``Parts.labels``; -1 if it was not met in training."""
    keys: Sequence[str | None]
    gold: npt.NDArray[np.float64] | None = None
    """Scores instead of labels, of sets that are about how much, and not about which."""
    groups: Sequence[str] = ()
    """Which part of a collection each row is of, where correlations are taken by part."""
    sizes: Sequence[int] = ()
    """How many tokens each row's sentence has, as the set counts them."""

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class Parts:
    """One set, ready to be probed."""

    name: str
    task: str
    version: int
    language: str | None
    digest: str
    """Of the whole set, whatever part of it is used."""
    labels: tuple[str, ...]
    """The labels of the training rows, sorted."""
    train: Part
    dev: Part
    test: Part
    trained_on: str
    chosen_on: str
    synthetic: bool
    limit: int | None = None
    protocol: Protocol = "split"
    """How it is trained and tested: on its splits, or as the transfer tasks of SentEval are."""
    images: tuple[npt.NDArray[np.float32], ...] = ()
    """Of retrieval, the images (n, d) of each part; their captions follow each other in the rows."""
    variant: str | None = None
    """The control or measure that this was made for."""
    same_rows: Parts | None = None
    """Of a control that deals the rows anew, the same rows with the labels of the task: what it is compared with."""

    def columns(self) -> list[Sequence[str]]:
        """All columns of texts that an encoder must be asked for."""
        three = (self.train, self.dev, self.test)
        return [column for part in three for column in (part.texts, *part.inputs.values())]

    def texts(self) -> list[str]:
        """The different texts among them."""
        return list(dict.fromkeys(text for column in self.columns() for text in column))

    @property
    def words(self) -> bool:
        """Whether the further inputs are single words, which an encoder may have vectors of its own for.

        The second sentence of a pair is none, even where it has no spaces, as in Chinese.
        """
        parts = (self.train, self.dev, self.test)
        if any(name.startswith("sentence") for part in parts for name in part.inputs):
            return False
        return not any(" " in word for part in parts for values in part.inputs.values() for word in values)


def parts_of(dataset: Dataset, limit: int | None = None) -> Parts:
    """Take a set apart, as its protocol says."""
    protocol = dataset.manifest.get("protocol", "split")
    if protocol not in get_args(Protocol):
        raise DataError(f"The manifest of {dataset.name} has the protocol {protocol!r}, which is none.")
    if protocol == "retrieval" and limit is not None:
        raise UsageError(f"{dataset.name} cannot be sampled: images and captions belong together. Leave --limit out.")
    used = sampled(dataset, limit)
    train, dev, test, trained_on, chosen_on = _splits(used, protocol)
    labels = () if protocol in (*REGRESSION_PROTOCOLS, "retrieval") else tuple(sorted({row.label for row in train}))
    if labels and len(labels) < 2:
        raise DataError(
            f"{dataset.name} has the label {', '.join(labels)} only in {trained_on}; expected at least two."
        )
    inputs = expectations_for(dataset).inputs
    number = {label: i for i, label in enumerate(labels)}

    def part(rows: Sequence[Example]) -> Part:
        columns = {name: [_cell(dataset, row, name) for row in rows] for name in inputs}
        found = np.array([number.get(row.label, -1) for row in rows], np.int64)
        gold = np.array([_score(dataset, row) for row in rows]) if protocol in REGRESSION_PROTOCOLS else None
        groups = [row.stratum for row in rows] if protocol == "similarity" else ()
        sizes = [len(row.tokens) for row in rows]
        return Part([row.text for row in rows], columns, found, [row.key for row in rows], gold, groups, sizes)

    synthetic = bool(dataset.manifest.get("corpus", {}).get("synthetic", False))
    return Parts(
        dataset.name, dataset.task, dataset.version, dataset.language, dataset.digest, labels,
        part(train), part(dev), part(test), trained_on, chosen_on, synthetic, limit, protocol,
        tuple(images(dataset, split) for split in SPLITS) if protocol == "retrieval" else (),
    )  # fmt: skip


def cluster_ids(keys: Sequence[str | None], texts: Sequence[str]) -> list[str] | None:
    """What rows (n) share that stand and fall together; None if they share nothing.

    That is their target form, a row without one standing for itself; and in a set without target forms the sentence, if
    many are asked about twice, as in Adi's word_order, or of pairs the first.
    """
    if any(key is not None for key in keys):
        return [key if key is not None else f"\x00{i}" for i, key in enumerate(keys)]
    return list(texts) if len(texts) - len(set(texts)) >= REPEATED * len(texts) > 0 else None


Rows = Sequence[Example]


def _splits(dataset: Dataset, protocol: Protocol) -> tuple[Rows, Rows, Rows, str, str]:
    """Rows to learn from, to choose on and to test on, and what the first two are called."""
    train, dev, test = (dataset.rows.get(split, ()) for split in SPLITS)
    if protocol == "nested":  # whatever splits there are, all rows are tested on
        rows = [*train, *dev, *test]
        if not rows:
            raise DataError(f"{dataset.name} has no rows.")
        return rows, (), rows, "folds", "inner folds"
    if not test:
        raise DataError(f"{dataset.name} has no te rows; a probe is scored on te. Give the set a test part.")
    if protocol == "similarity":
        return (), (), test, "nothing", "nothing"
    if protocol == "kfold":
        if not train:
            raise DataError(f"{dataset.name} has no tr rows to make folds of. Give the set a training part.")
        return [*train, *dev], (), test, "tr", "folds of tr"
    trained_on, chosen_on = "tr", "va"
    if protocol == "split" and (not train or not dev):
        # where there is no va, or no tr, some of the training rows are held out to choose on
        trained_on = "tr" if train else "va"
        chosen_on = f"{HELD_OUT_SHARE:.0%} of {trained_on}"
        train, dev = _held_out(train or dev)
    if not train or not dev:
        raise DataError(
            f"{dataset.name} has {len(train)} rows to learn from and {len(dev)} to choose on; expected some of each. "
            "Give the set tr and va parts, or more rows."
        )
    return train, dev, test, trained_on, chosen_on


def _score(dataset: Dataset, row: Example) -> float:
    try:
        return float(row.label)
    except ValueError:
        raise DataError(
            f"{dataset.name}: the row {row.text[:60]!r} has the score {row.label!r}; expected a number."
        ) from None


def _cell(dataset: Dataset, row: Example, name: str) -> str:
    found = dict(row.extra).get(name)
    if found is None:
        raise DataError(
            f"{dataset.name}: the probe of {dataset.task} is given the column {name!r}, which the row "
            f"{row.text[:60]!r} lacks. Read the set from the folder that `sonde make` wrote, or name its columns."
        )
    return found


def sampled(dataset: Dataset, limit: int | None) -> Dataset:
    """At most ``limit`` rows of each split, as many of each label as there are, picked by hash and in their old order.

    Of a set whose classes were left as the corpus has them, sentences are picked whatever their label, with all their
    rows. With more labels than that, as many labels are picked, the same in every split. Which rows are picked depends
    on the rows alone, not on their order or on any seed of a probe.
    """
    if limit is None:
        return dataset
    if limit < 2:
        raise UsageError(f"--limit {limit}: expected a number of rows per split, 2 or more.")
    rows = dataset.rows
    labels = {row.label for split in rows.values() for row in split}
    if limit < len(labels):
        some = set(sorted(labels, key=lambda label: (hash_64(f"limit\t{label}"), label))[:limit])
        rows = {split: [row for row in found if row.label in some] for split, found in rows.items()}
    natural_balance = expectations_for(dataset).natural_balance
    return replace(dataset, rows={split: _sample(found, limit, natural_balance) for split, found in rows.items()})


def _sample(rows: Sequence[Example], limit: int, natural_balance: bool) -> Sequence[Example]:
    if len(rows) <= limit:
        return rows
    if natural_balance:
        drawn_first = sorted(range(len(rows)), key=lambda i: (hash_64(f"limit\t{rows[i].text}"), i))
        return [rows[i] for i in sorted(drawn_first[:limit])]
    by_label: dict[str, list[tuple[int, int]]] = {}
    for i, row in enumerate(rows):
        drawn = hash_64("\t".join(("limit", row.text, *(value for _, value in sorted(row.extra)))))
        by_label.setdefault(row.label, []).append((drawn, i))
    # the first of every label, then the second of every label, …: as even as the labels allow
    queue = sorted((place, drawn, i) for found in by_label.values() for place, (drawn, i) in enumerate(sorted(found)))
    return [rows[i] for i in sorted(i for _, _, i in queue[:limit])]


def _held_out(rows: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """The rows to learn from, and those to choose on; neither a target form nor a sentence is in both."""
    group = _groups(rows)
    wanted, taken, size = HELD_OUT_SHARE * len(rows), set[int](), 0
    counts: dict[int, int] = {}
    for g in group:
        counts[g] = counts.get(g, 0) + 1
    for g in sorted(counts):
        if size >= wanted:
            break
        taken.add(g)
        size += counts[g]
    train = [row for g, row in zip(group, rows, strict=True) if g not in taken]
    return train, [row for g, row in zip(group, rows, strict=True) if g in taken]


def _groups(rows: Sequence[Example]) -> list[int]:
    """A number per row, the same for rows that share a target form or a sentence, be it by way of others."""
    leader: dict[tuple[str, str | int], tuple[str, str | int]] = {}

    def find(name: tuple[str, str | int]) -> tuple[str, str | int]:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    names = [("text", near_duplicate_key(row.text)) for row in rows]
    for row, name in zip(rows, names, strict=True):
        if row.key is not None:
            one, two = sorted((find(name), find(("key", row.key))), key=str)
            leader[two] = one
    return [hash_64(f"held out\t{find(name)}") for name in names]


def has_train_test_split(parts: Parts) -> bool:
    """Whether one classifier learns labels from one part of a set and is tested on another."""
    return parts.protocol == "split"


def any_set(parts: Parts) -> bool:
    """Any set will do."""
    return True
