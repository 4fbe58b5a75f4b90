"""A dataset as the loop needs it: its train, dev and test rows as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import numpy.typing as npt

from sentprobe.core.hashing import hash_64
from sentprobe.corpus.folding import fold
from sentprobe.data.dataset import Dataset
from sentprobe.data.expected import Expectations, expectations_for
from sentprobe.data.lookalike_labels import MERGED, refuse_lookalikes
from sentprobe.data.protocol import Protocol
from sentprobe.data.random_split import split_name
from sentprobe.errors import DataError, UsageError
from sentprobe.run.held_out import hold_out
from sentprobe.task import SPLITS, Example
from sentprobe.transfer.coco import images

REGRESSION_PROTOCOLS = ("relatedness", "similarity")
"""Protocols of sets whose labels are numbers."""
REPEATED = 0.1
"""If at least this share of rows repeats an earlier sentence, rows are not treated as independent."""
HELD_OUT_SHARE = 0.15
"""The share of the training rows held out as dev if a set has no dev split, or only a dev split to train on."""


FEATURE_VERSIONS = {"MRPC": 1, "SICKEntailment": 1}
"""Of transfer tasks whose features have changed, so that earlier results are not taken for these."""


@dataclass(frozen=True)
class Part:
    """The rows of train, dev or test, as parallel columns."""

    texts: Sequence[str]
    inputs: Mapping[str, Sequence[str]]
    """Further inputs of the probe by name: the words of Adi's tasks, the other sentence of a pair."""
    labels: npt.NDArray[np.int64]
    """The index of each label in ``Parts.labels``; -1 if it is not in train."""
    keys: Sequence[str | None]
    gold: npt.NDArray[np.float64] | None = None
    """Gold scores, for regression."""
    groups: Sequence[str] = ()
    """The sub-corpus of each row, where correlations are computed per sub-corpus."""
    sizes: Sequence[int] = ()
    """Number of tokens of each sentence, as the set counts them."""
    language: str | None = None
    """The language of the rows, where it is not that of the set, as of XNLI's training pairs."""

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class Parts:
    """A dataset that is ready to be probed."""

    name: str
    task: str
    version: int
    language: str | None
    digest: str
    """Of the whole dataset, even if only a sample of it is used."""
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
    """How it is trained and tested: on its splits, or as a transfer task of SentEval."""
    images: tuple[npt.NDArray[np.float32], ...] = ()
    """For retrieval, the images (n, d) of each split; the captions of an image are consecutive rows."""
    variant: str | None = None
    """The control or measure that this was made for."""
    split: str | None = None
    """How the rows of a table were split, if they were split when they were read."""
    merged_labels: bool = False
    """Whether labels that look alike were made one when the set was read."""
    grouped: bool = False
    """Whether the keys of rows are groups that were kept together, and not target forms."""
    same_rows: Parts | None = None
    """For a control that splits the rows again, the same rows with the labels of the task, to compare with."""

    def columns(self) -> list[Sequence[str]]:
        """All columns of texts that must be encoded."""
        three = (self.train, self.dev, self.test)
        return [column for part in three for column in (part.texts, *part.inputs.values())]

    def texts(self) -> list[str]:
        """The distinct texts of these columns."""
        return list(dict.fromkeys(text for column in self.columns() for text in column))

    @property
    def words(self) -> bool:
        """Whether the further inputs are single words, for which an encoder may have its own vectors.

        The second sentence of a pair is not a word, even without spaces, as in Chinese.
        """
        parts = (self.train, self.dev, self.test)
        if any(name.startswith("sentence") for part in parts for name in part.inputs):
            return False
        return not any(" " in word for part in parts for values in part.inputs.values() for word in values)


def parts_of(dataset: Dataset, limit: int | None = None) -> Parts:
    """Divide a dataset into train, dev and test by its protocol."""
    protocol = dataset.manifest.get("protocol", "split")
    if protocol not in get_args(Protocol):
        raise DataError(
            f"The manifest of {dataset.name}: expected one of the protocols {', '.join(get_args(Protocol))}; "
            f"got {protocol!r}."
        )
    expectations = expectations_for(dataset)
    if expectations.classes:
        refuse_lookalikes(dataset, expectations.labels or ())
    if protocol == "retrieval" and limit is not None:
        raise UsageError(f"{dataset.name} cannot be sampled: images and captions belong together. Leave --limit out.")
    used = sampled(dataset, limit)
    train, dev, test, trained_on, chosen_on = _splits(used, protocol)
    labels = () if protocol in (*REGRESSION_PROTOCOLS, "retrieval") else tuple(sorted({row.label for row in train}))
    if labels and len(labels) < 2:
        raise DataError(f"{dataset.name}: expected at least two labels in {trained_on}, got only {', '.join(labels)}.")
    inputs = expectations.inputs
    number = {label: i for i, label in enumerate(labels)}

    def part(rows: Sequence[Example], language: str | None = None) -> Part:
        columns = {name: [_cell(dataset, row, name) for row in rows] for name in inputs}
        found = np.array([number.get(row.label, -1) for row in rows], np.int64)
        gold = np.array([_score(dataset, row) for row in rows]) if protocol in REGRESSION_PROTOCOLS else None
        groups = [row.stratum for row in rows] if protocol == "similarity" else ()
        sizes = [len(row.tokens) for row in rows]
        keys = [None if row.key is None else fold(row.key, dataset.language) for row in rows]
        return Part([row.text for row in rows], columns, found, keys, gold, groups, sizes, language)

    trained_in = dataset.manifest.get("train_language")
    chosen_in = None if chosen_on == "va" else trained_in  # dev rows may have been held out of the training rows
    synthetic = bool(dataset.manifest.get("corpus", {}).get("synthetic", False))
    version = dataset.version or FEATURE_VERSIONS.get(dataset.task, 0)
    return Parts(
        dataset.name, dataset.task, version, dataset.language, dataset.digest, labels,
        part(train, trained_in), part(dev, chosen_in), part(test), trained_on, chosen_on, synthetic, limit, protocol,
        tuple(images(dataset, split) for split in SPLITS) if protocol == "retrieval" else (),
        split=split_name(recorded := dataset.manifest.get("split")),
        merged_labels=MERGED in dataset.manifest,
        grouped=isinstance(recorded, Mapping) and recorded.get("keys") == "group",
    )  # fmt: skip


def cluster_ids(keys: Sequence[str | None], texts: Sequence[str]) -> list[str] | None:
    """The cluster of each row (n); None if rows are independent.

    Rows are clustered by target form, a row without one being its own cluster; in a set without target forms, by
    sentence (of pairs, the first), if many sentences are repeated, as in Adi's word_order.
    """
    if any(key is not None for key in keys):
        return [key if key is not None else f"\x00{i}" for i, key in enumerate(keys)]
    return list(texts) if len(texts) - len(set(texts)) >= REPEATED * len(texts) > 0 else None


Rows = Sequence[Example]


def _splits(dataset: Dataset, protocol: Protocol) -> tuple[Rows, Rows, Rows, str, str]:
    """Train, dev and test rows, and the names of the first two."""
    train, dev, test = (dataset.rows.get(split, ()) for split in SPLITS)
    if protocol == "nested":  # whatever the splits, every row is tested on
        rows = [*train, *dev, *test]
        if not rows:
            raise DataError(f"{dataset.name} has no rows.")
        return rows, (), rows, "folds", "inner folds"
    if not test:
        raise DataError(
            f"{dataset.name} has no test rows (te), on which probes are scored. Add a test split, or have a table "
            "split with --split 80/10/10."
        )
    if protocol == "similarity":
        return (), (), test, "nothing", "nothing"
    if protocol == "kfold":
        if not train:
            raise DataError(f"{dataset.name} has no training rows (tr) to make folds of. Add a train split.")
        return [*train, *dev], (), test, "tr", "folds of tr"
    trained_on, chosen_on = "tr", "va"
    if protocol == "split" and (not train or not dev):
        # without dev (va), or without train (tr), some of the training rows are held out as dev
        trained_on = "tr" if train else "va"
        chosen_on = f"{HELD_OUT_SHARE:.0%} of {trained_on}"
        train, dev = hold_out(train or dev, HELD_OUT_SHARE)
    if not train or not dev:
        raise DataError(
            f"{dataset.name} has {len(train)} train and {len(dev)} dev rows; expected some of each. Add tr and va "
            "rows, or have a table split with --split 80/10/10."
        )
    return train, dev, test, trained_on, chosen_on


def _score(dataset: Dataset, row: Example) -> float:
    try:
        return float(row.label)
    except ValueError:
        raise DataError(
            f"{dataset.name}: expected a number as the label of {row.text[:60]!r}, got {row.label!r}."
        ) from None


def _cell(dataset: Dataset, row: Example, name: str) -> str:
    found = dict(row.extra).get(name)
    if found is None:
        raise DataError(
            f"{dataset.name}: the task {dataset.task} needs the column {name!r}, which the row {row.text[:60]!r} does "
            "not have. Read the set from the folder that `sentprobe make` wrote, or name its columns."
        )
    return found


def sampled(dataset: Dataset, limit: int | None) -> Dataset:
    """Sample at most ``limit`` rows of each split, by hash and in their original order.

    Every label keeps its share of the split, and at least one row, so that a score estimates that of the whole set, and
    a constant answer scores what it scores there. With more labels than ``limit``, that many labels are sampled, the
    same in every split. Where labels are scores, rows are sampled regardless of these; so are, in a set with the
    natural distribution of classes, sentences with all their rows. The sample depends on the rows alone, not on their
    order or on any seed.
    """
    if limit is None:
        return dataset
    if limit < 2:
        raise UsageError(f"--limit {limit}: expected a number of rows per split, 2 or more.")
    rows, expectations = dataset.rows, expectations_for(dataset)
    labels = {row.label for split in rows.values() for row in split} if expectations.classes else set()
    if limit < len(labels):
        some = set(sorted(labels, key=lambda label: (hash_64(f"limit\t{label}"), label))[:limit])
        rows = {split: [row for row in found if row.label in some] for split, found in rows.items()}
    return replace(dataset, rows={split: _sample(found, limit, expectations) for split, found in rows.items()})


def _sample(rows: Sequence[Example], limit: int, expectations: Expectations) -> Sequence[Example]:
    if len(rows) <= limit:
        return rows
    if expectations.natural_balance:
        drawn_first = sorted(range(len(rows)), key=lambda i: (hash_64(f"limit\t{rows[i].text}"), i))
        return [rows[i] for i in sorted(drawn_first[:limit])]
    by_label: dict[str, list[tuple[int, int]]] = {}
    for i, row in enumerate(rows):
        drawn = hash_64("\t".join(("limit", row.text, *(value for _, value in sorted(row.extra)))))
        by_label.setdefault(row.label if expectations.classes else "", []).append((drawn, i))
    # the first of every label; of the others those with the smallest share of their label before them (Sainte-Laguë)
    queue = sorted(
        ((place + 0.5) / len(found) if place else 0.0, drawn, i)
        for found in by_label.values()
        for place, (drawn, i) in enumerate(sorted(found))
    )
    return [rows[i] for i in sorted(i for _, _, i in queue[:limit])]


def has_train_test_split(parts: Parts) -> bool:
    """Whether a set is classified, with one train and one test split."""
    return parts.protocol == "split"


def any_set(parts: Parts) -> bool:
    """Any set will do."""
    return True
