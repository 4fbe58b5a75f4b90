"""Cross-validation: every row of a set is tested once, by a probe that was trained on the rows of the other folds.

An interval gets narrower with test rows, and a small set has few. So a set with fewer than 1,000 of them is tested in
five folds, where its split is ours to choose: sets of `sentprobe make`, and tables that sentprobe split. Splits that
were released are kept, so that scores can be compared with those of others.

Rows that share a sentence, up to case, digits and punctuation, stay in one fold. So do rows of one target form or
group, if the splits of the set do not share them either. Every label has its share in every fold. In each fold, 15 %
of the training rows are dev rows, divided in the same way. All of this depends on the rows alone: not on their order,
on a seed, or on which split they were in.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sentprobe.core.hashing import hash_64
from sentprobe.data.dataset import MANIFEST_FORMAT, Dataset
from sentprobe.data.expectations import expectations_for
from sentprobe.data.splits import HELD_OUT_SHARE, Ints, Split, Splits, all_rows, connected, splits_of
from sentprobe.errors import DataError, SentProbeWarning

DEFAULT_FOLDS = 5
ENOUGH_TEST_ROWS = 1000
"""With at least this many test rows a set keeps its split: an accuracy of 75 % then has an interval of ±2.7 points."""


def probing_folds(dataset: Dataset, requested: int | None) -> int | None:
    """How many folds a set is tested in: as requested, 0 being its own split; None: the split.

    DataError if folds were requested for a set whose rows cannot be put in folds.
    """
    if requested == 0 or dataset.manifest.get("protocol", "split") != "split":
        return None
    obstacle = _obstacle(dataset)
    if requested is not None:
        if obstacle:
            raise DataError(f"{dataset.name} cannot be tested in {requested} folds: {obstacle} Use --folds 0.")
        return requested
    is_large = len(dataset.rows.get("te", ())) >= ENOUGH_TEST_ROWS
    return None if is_large or obstacle or not _is_ours(dataset) else DEFAULT_FOLDS


def _is_ours(dataset: Dataset) -> bool:
    """Whether sentprobe chose the split of a set, and nobody else has scores on it."""
    manifest = dataset.manifest
    is_made = manifest.get("format") == MANIFEST_FORMAT and isinstance(manifest.get("policy"), Mapping)
    return not manifest.get("released") and (is_made or isinstance(manifest.get("split"), Mapping))


def _obstacle(dataset: Dataset) -> str:
    """Why the rows of a set cannot be put in folds; empty if they can."""
    record = dataset.manifest.get("split")
    if isinstance(record, Mapping) and record.get("group") and record.get("keys") != "group":
        return "its rows have target forms, and so do not say which group they are of."
    if dataset.manifest.get("train_language"):
        return "its training rows are in another language than its test rows."
    return ""


def divided(dataset: Dataset, limit: int | None = None, requested: int | None = None) -> Splits:
    """A set in train, dev and test, or in folds of all rows, after a sample of ``limit`` rows of each split.

    ``requested`` is the number of folds, 0 for the splits of the set; None: as ``probing_folds`` says.
    """
    folds = probing_folds(dataset, requested)
    if folds is None:
        return splits_of(dataset, limit)
    try:
        return cross_validated(dataset, folds, limit)
    except DataError:
        if requested is None:  # too few groups of rows
            return splits_of(dataset, limit)
        raise


def cross_validated(dataset: Dataset, folds: int, limit: int | None = None) -> Splits:
    """A set in folds. DataError if there are fewer groups of rows than folds."""
    whole = all_rows(dataset, limit)
    record = dataset.manifest.get("split")
    is_grouped = isinstance(record, Mapping) and record.get("keys") == "group"
    by_key = is_grouped or expectations_for(dataset).disjoint
    blocks = np.array(connected(whole.test.examples, by_key=by_key), np.uint64)
    _check_blocks(whole, blocks, folds)
    fold_of = assign_folds(blocks, whole.test.labels, folds)
    parts = tuple(_fold(whole, blocks, fold_of, number, folds) for number in range(folds))
    return replace(
        whole,
        dev=whole.test.take([]),
        trained_on=parts[0].trained_on,
        chosen_on=parts[0].chosen_on,
        folds=parts,
        fold_of=fold_of,
    )


def _check_blocks(whole: Splits, blocks: np.ndarray, folds: int) -> None:
    sizes = Counter(blocks.tolist())
    if len(sizes) < folds:
        raise DataError(
            f"{whole.name} has {len(sizes)} groups of rows that stay together (by sentence or target form); expected "
            f"at least {folds}, one for each fold. Use --folds 0."
        )
    largest = max(sizes.values())
    if largest * folds > len(blocks):
        warnings.warn(
            SentProbeWarning(
                f"{whole.name}: {largest:,} of {len(blocks):,} rows are connected by sentences or target forms, and "
                f"stay together. This is more than one of {folds} folds, so that folds have different sizes."
            ),
            stacklevel=2,
        )


def assign_folds(blocks: np.ndarray, labels: Ints, folds: int) -> Ints:
    """The fold (n,) of each row, given the number of its block and its label (n,).

    Blocks stay together. Each, the largest first, goes to the fold that lacks most of its labels, of those that are not
    full, as a large block may fill one.
    """
    names, block_of = np.unique(blocks, return_inverse=True)
    sizes = np.bincount(block_of)
    rows_by_block = np.split(np.argsort(block_of, kind="stable"), np.cumsum(sizes)[:-1])
    totals = np.bincount(labels)
    lacking = np.repeat(totals[None] / folds, folds, axis=0)
    room = np.full(folds, len(labels) / folds)
    fold_of_block = np.empty(len(names), np.int64)
    for block in np.lexsort((names, -sizes)).tolist():
        present, counts = np.unique(labels[rows_by_block[block]], return_counts=True)
        need = (lacking[:, present] / totals[present]) @ counts
        need[room <= -1] = -np.inf
        fitting = np.flatnonzero(need >= need.max() - 1e-9)
        fold = int(fitting[np.argmax(room[fitting])])
        fold_of_block[block] = fold
        lacking[fold, present] -= counts
        room[fold] -= counts.sum()
    return fold_of_block[block_of]


def _fold(whole: Splits, blocks: np.ndarray, fold_of: Ints, number: int, folds: int) -> Splits:
    """One fold as ordinary splits, with the labels of its training rows."""
    learned, tested = np.flatnonzero(fold_of != number), np.flatnonzero(fold_of == number)
    is_dev = held_out(blocks[learned], whole.test.labels[learned], number)
    train, dev = learned[~is_dev], learned[is_dev]
    if not len(dev) or len(np.unique(whole.test.labels[train])) < 2:
        raise DataError(
            f"{whole.name}: fold {number + 1} of {folds} has {len(train)} train and {len(dev)} dev rows; expected some "
            "of each, and two labels in train. Use fewer folds, or --folds 0."
        )
    classes = np.unique(whole.test.labels[train])
    index = np.full(len(whole.labels), -1)  # a rare label may be in the test rows only
    index[classes] = np.arange(len(classes))
    parts = [replace(rows, labels=index[rows.labels]) for rows in map(whole.test.take, (train, dev, tested))]
    return replace(
        whole,
        labels=tuple(whole.labels[i] for i in classes.tolist()),
        train=parts[0],
        dev=parts[1],
        test=parts[2],
        trained_on=f"{folds - 1} of {folds} folds",
        chosen_on=f"{HELD_OUT_SHARE:.0%} of their rows",
        nth_fold=(number, folds),
        pool_rows=train,
    )


def held_out(blocks: np.ndarray, labels: Ints, number: int) -> np.ndarray:
    """Which training rows (n,) of a fold are dev rows: whole blocks, by hash, with a share of every label."""
    names, block_of = np.unique(blocks, return_inverse=True)
    sizes = np.bincount(block_of)
    rows_by_block = np.split(np.argsort(block_of, kind="stable"), np.cumsum(sizes)[:-1])
    totals = np.bincount(labels)
    room = HELD_OUT_SHARE * totals + 0.5
    is_dev = np.zeros(len(labels), bool)
    order = sorted(range(len(names)), key=lambda i: (hash_64(f"dev of fold\t{number}\t{names[i]}"), int(names[i])))
    for block in order:
        present, counts = np.unique(labels[rows_by_block[block]], return_counts=True)
        if (counts <= room[present]).all():
            room[present] -= counts
            is_dev[rows_by_block[block]] = True
    if not is_dev.any():  # all blocks are large: the smallest that leaves rows of its labels in train
        remaining = totals.copy()
        for block in sorted(order, key=lambda i: int(sizes[i])):
            present, counts = np.unique(labels[rows_by_block[block]], return_counts=True)
            if (counts < remaining[present]).all():
                is_dev[rows_by_block[block]] = True
                break
    return is_dev


# Folds that were changed


def with_folds(splits: Splits, folds: Sequence[Splits]) -> Splits:
    """The set with changed folds: other labels, other texts, or fewer test rows."""
    assert splits.fold_of is not None
    labels = tuple(sorted({label for fold in folds for label in fold.labels}))
    sizes = [len(fold.test) for fold in folds]
    fold_of = splits.fold_of
    if sizes != [len(fold.test) for fold in splits.folds]:  # rows were left out: one fold after the other
        fold_of = np.repeat(np.arange(len(folds)), sizes)
    tests = [replace(fold.test, labels=relabelled(fold.test.labels, fold.labels, labels)) for fold in folds]
    test = _concatenated(tests).take(_rows_in_folds(fold_of))
    return replace(splits, labels=labels, train=test, dev=test.take([]), test=test, folds=tuple(folds), fold_of=fold_of)


def first_fold(splits: Splits) -> Splits:
    """The first fold alone, as results that are about nothing else say."""
    return replace(splits.folds[0], trained_on=f"fold 1 of {len(splits.folds)}", variant=splits.variant)


def in_order_of_set(splits: Splits, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays (m, …) of the test rows of each fold as one array (n, …) of all rows."""
    assert splits.fold_of is not None
    return np.concatenate(parts)[_rows_in_folds(splits.fold_of)]


def _rows_in_folds(fold_of: Ints) -> Ints:
    """Where each row (n,) is when the test rows of the folds stand one fold after the other."""
    return np.argsort(np.argsort(fold_of, kind="stable"), kind="stable")


def relabelled(numbers: Ints, labels: Sequence[str], new_labels: Sequence[str]) -> Ints:
    """Indices (n,) into some labels as indices into others; -1 stays."""
    index = {label: i for i, label in enumerate(new_labels)}
    return np.array([*(index.get(label, -1) for label in labels), -1])[numbers]


def _concatenated(parts: Sequence[Split]) -> Split:
    """The rows of several splits, one after the other."""
    first = parts[0]
    return replace(
        first,
        texts=[text for part in parts for text in part.texts],
        inputs={name: [value for part in parts for value in part.inputs[name]] for name in first.inputs},
        labels=np.concatenate([part.labels for part in parts]),
        keys=[key for part in parts for key in part.keys],
        lengths=[length for part in parts for length in part.lengths],
        examples=[row for part in parts for row in part.examples],
    )
