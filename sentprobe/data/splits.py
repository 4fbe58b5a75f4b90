"""A set in columns: the rows that are trained on, chosen on and tested on, as the run, baselines and audits read them.

``splits_of`` is the one place that decides which rows are train, dev and test:

    nested          all rows, whatever their split, in folds; there is no dev
    kfold           train is tr and va, in folds; there is no dev
    similarity      test is te; nothing is trained
    relatedness     tr, va and te, all of which must be there; so for retrieval
    split           tr, va and te. Without tr, va is trained on. Without two splits to train and choose on, probes hold
                    out 15 % of their training rows as dev; baselines, which can do without choosing, do not.
                    With cross-validation (``sentprobe.data.folds``), all rows, in folds, each with a dev of its own

Without test rows there is nothing to score, and that is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar, get_args

import numpy as np
import numpy.typing as npt

from sentprobe.core.hashing import hash_64
from sentprobe.corpus.folding import fold, near_duplicate_key
from sentprobe.data.dataset import Dataset
from sentprobe.data.expectations import Expectations, expectations_for
from sentprobe.data.layouts.captions import images
from sentprobe.data.layouts.catalogue import Protocol
from sentprobe.data.lookalike_labels import MERGED
from sentprobe.data.random_split import split_name
from sentprobe.errors import DataError, UsageError
from sentprobe.tasks import SPLITS, Example

REGRESSION_PROTOCOLS = ("relatedness", "similarity")
"""Protocols of sets whose labels are numbers."""
REPEATED = 0.1
"""If at least this share of rows repeats an earlier sentence, rows are not treated as independent."""
HELD_OUT_SHARE = 0.15
"""The share of the training rows held out as dev if a set has no dev split, or only a dev split to train on."""
FEATURE_VERSIONS = {"MRPC": 1, "SICKEntailment": 1}
"""Of transfer tasks whose features have changed, so that earlier results are not taken for these."""

T = TypeVar("T")
Ints = npt.NDArray[np.int64]
Examples = Sequence[Example]


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Labelled rows as parallel columns: train, dev or test; for an audit, all splits of a set one after the other.

    What is expensive and not always needed is computed when it is first used.
    """

    texts: Sequence[str]
    inputs: Mapping[str, Sequence[str]]
    """Further inputs of the probe by name: the words of Adi's tasks, the other sentence of a pair. Only those that all
    rows have."""
    labels: Ints
    """The index of each label in that of the set, ``Splits.labels`` or ``Split.classes``; -1 if it is not in train."""
    keys: Sequence[str | None]
    """The target forms, folded."""
    gold: npt.NDArray[np.float64] | None = None
    """Gold scores, for regression."""
    groups: Sequence[str] = ()
    """The sub-corpus of each row, where correlations are computed per sub-corpus."""
    lengths: Sequence[int] = ()
    """Number of tokens of each sentence, as the set counts them."""
    language: str | None = None
    """The language of the rows, where it is not that of the set, as of XNLI's training pairs."""
    splits: Sequence[str] = ()
    """``tr``, ``va`` or ``te`` for each row, where these are the rows of a whole set."""
    requested_inputs: tuple[str, ...] = ()
    """The further inputs that the rows should have."""
    examples: Sequence[Example] = ()
    """The rows themselves. A run does not keep them: their tokens take more memory than all other columns."""

    def __repr__(self) -> str:
        columns = ("texts", *self.inputs, *(["target forms"] if any(self.keys) else ()))
        return f"Split({len(self):,} rows: {', '.join(columns)})"

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def of(
        cls,
        examples: Sequence[Example],
        labels: Sequence[str],
        inputs: Sequence[str] = (),
        *,
        language: str | None = None,
        splits: Sequence[str] = (),
    ) -> Split:
        """The columns of examples, with the numbers of these labels; ``language`` is that of the target forms."""
        number = {label: i for i, label in enumerate(labels)}
        extras = [dict(row.extra) for row in examples] if inputs else []
        folded = {key: fold(key, language) for key in {row.key for row in examples} if key is not None}
        return cls(
            [row.text for row in examples],
            {name: [extra[name] for extra in extras] for name in inputs if all(name in extra for extra in extras)},
            np.array([number.get(row.label, -1) for row in examples], np.int64),
            [None if row.key is None else folded[row.key] for row in examples],
            lengths=[len(row.tokens) for row in examples],
            splits=splits,
            requested_inputs=tuple(inputs),
            examples=examples,
        )

    @classmethod
    def of_set(cls, dataset: Dataset, inputs: Sequence[str] = ()) -> Split:
        """All rows of a set; ``inputs`` names the further columns that are fed to the probe."""
        examples = [row for split in SPLITS for row in dataset.rows.get(split, ())]
        splits = [split for split in SPLITS for _ in dataset.rows.get(split, ())]
        classes = sorted({row.label for row in examples})
        return cls.of(examples, classes, inputs, language=dataset.language, splits=splits)

    def take(self, indices: Sequence[int] | Ints) -> Split:
        """These rows only, in this order."""
        chosen = indices.tolist() if isinstance(indices, np.ndarray) else indices

        def pick(column: Sequence[T]) -> Sequence[T]:
            return [column[i] for i in chosen] if column else ()

        return replace(
            self,
            texts=pick(self.texts),
            inputs={name: pick(column) for name, column in self.inputs.items()},
            labels=self.labels[chosen],
            keys=pick(self.keys),
            gold=None if self.gold is None else self.gold[chosen],
            groups=pick(self.groups),
            lengths=pick(self.lengths),
            splits=pick(self.splits),
            examples=pick(self.examples),
        )

    # columns that the rows themselves are needed for

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """The label of each row."""
        return tuple([row.label for row in self.examples])

    @cached_property
    def tokens(self) -> tuple[tuple[str, ...], ...]:
        """The tokens of each sentence."""
        return tuple([row.tokens for row in self.examples])

    @cached_property
    def further(self) -> tuple[tuple[str, ...], ...]:
        """The further inputs of each row; of a row that lacks some, those that it has."""
        if len(self.inputs) == len(self.requested_inputs):
            return tuple(zip(*self.inputs.values(), strict=True)) if self.inputs else ((),) * len(self)
        names = self.requested_inputs
        return tuple(tuple([value for name, value in row.extra if name in names]) for row in self.examples)

    @cached_property
    def exact(self) -> tuple[str, ...]:
        """What the probe is given, as one string."""
        return tuple(
            "\t".join((text, *inputs)) if inputs else text
            for text, inputs in zip(self.texts, self.further, strict=True)
        )

    @cached_property
    def sentence_keys(self) -> tuple[int, ...]:
        """The same number for sentences that differ in case, digits, punctuation and spacing only."""
        keys = {text: near_duplicate_key(text) for text in dict.fromkeys(self.texts)}
        return tuple(keys[text] for text in self.texts)

    @cached_property
    def near(self) -> tuple[int, ...]:
        """The same for all that the probe is given."""
        return tuple(
            hash((key, *map(near_duplicate_key, inputs))) if inputs else key
            for key, inputs in zip(self.sentence_keys, self.further, strict=True)
        )

    @property
    def has_all_inputs(self) -> bool:
        """Whether every row has every further input that it should have."""
        return len(self.inputs) == len(self.requested_inputs)

    def further_sentences(self) -> Iterator[tuple[str, Split]]:
        """The same rows with each further input that is a sentence, not a word, in place of the text."""
        for name, texts in self.inputs.items() if self.has_all_inputs else ():
            if 2 * sum(" " in text for text in texts) > len(texts):
                tokens = [tuple(text.split()) for text in texts]
                examples = [
                    row._replace(text=text, tokens=words)
                    for row, text, words in zip(self.examples, texts, tokens, strict=True)
                ]
                yield name, replace(self, texts=texts, lengths=[*map(len, tokens)], examples=examples)

    # rows of a whole set

    @cached_property
    def split_names(self) -> tuple[str, ...]:
        """The splits that have rows."""
        return tuple(split for split in SPLITS if self.split_sizes[split])

    @cached_property
    def split_sizes(self) -> Counter[str]:
        """Rows per split."""
        return Counter(self.splits)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The labels that occur, sorted."""
        return tuple(sorted(set(self.label_names)))

    def label_counts(self, split: str) -> Counter[str]:
        """Rows per label in a split."""
        return Counter(label for s, label in zip(self.splits, self.label_names, strict=True) if s == split)


@dataclass(frozen=True, eq=False, repr=False)
class Splits:
    """A set that is ready to be probed: its train, dev and test rows."""

    name: str
    task: str
    version: int
    language: str | None
    digest: str
    """Of the whole dataset, even if only a sample of it is used."""
    labels: tuple[str, ...]
    """The labels of the training rows, sorted; none if labels are scores or images."""
    train: Split
    dev: Split
    test: Split
    trained_on: str
    """The splits, or parts of splits, that train and dev are: ``tr``, ``15% of tr``, ``folds``."""
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
    same_rows: Splits | None = None
    """For a control that splits the rows again, the same rows with the labels of the task, to compare with."""
    folds: tuple[Splits, ...] = ()
    """With cross-validation, each fold with its own train, dev and test; ``train`` and ``test`` are then all rows."""
    fold_of: Ints | None = None
    """The fold (n,) that tests each row. The test rows of a fold are in the order of the set."""
    nth_fold: tuple[int, int] | None = None
    """Of one fold: its number, from 0, and the number of folds."""
    pool_rows: Ints | None = None
    """Of one fold: which rows of the set its training rows are."""

    def __repr__(self) -> str:
        sizes = f"train {len(self.train):,}, dev {len(self.dev):,}, test {len(self.test):,}"
        return f"Splits({self.name!r}, {len(self.labels):,} labels, {sizes})"

    @property
    def fold_count(self) -> int | None:
        """How many folds the set is tested in; None if it is tested on its own test split."""
        return len(self.folds) or (None if self.nth_fold is None else self.nth_fold[1])

    @property
    def sizes(self) -> dict[str, int]:
        """The numbers of train, dev and test rows by split; in folds, all rows are tested, and the others are means."""
        if not self.folds:
            return {"tr": len(self.train), "va": len(self.dev), "te": len(self.test)}
        train, dev = (sum(map(len, rows)) for rows in zip(*((f.train, f.dev) for f in self.folds), strict=True))
        return {"tr": round(train / len(self.folds)), "va": round(dev / len(self.folds)), "te": len(self.test)}

    def columns(self) -> list[Sequence[str]]:
        """All columns of texts that must be encoded."""
        if self.folds:
            return [column for fold in self.folds for column in fold.columns()]
        splits = (self.train, self.dev, self.test)
        return [column for rows in splits for column in (rows.texts, *rows.inputs.values())]

    def texts(self) -> list[str]:
        """The distinct texts of these columns."""
        return list(dict.fromkeys(text for column in self.columns() for text in column))

    @property
    def words(self) -> bool:
        """Whether the further inputs are single words, for which an encoder may have its own vectors.

        The second sentence of a pair is not a word, even without spaces, as in Chinese.
        """
        splits = (self.train, self.dev, self.test)
        if any(name.startswith("sentence") for rows in splits for name in rows.inputs):
            return False
        return not any(" " in word for rows in splits for values in rows.inputs.values() for word in values)

    def check_trainable(self, what: str) -> None:
        """Raise DataError unless there are labels, and training rows besides the test rows, which ``what`` needs."""
        if not self.labels:
            raise DataError(f"{self.name} has scores or images instead of labels, and {what} needs labels.")
        if self.protocol == "nested":
            raise DataError(f"{self.name} has no train split for {what}: in a run, it is scored in folds.")

    def fold(self, learn: Ints, held_out: Ints) -> Splits:
        """One fold: trained on some of the training rows and tested on others, without dev."""
        classes = np.unique(self.train.labels[learn])  # a rare label may be in the held-out rows only
        number = np.full(len(self.labels) + 1, -1)  # the last is that of labels without an index
        number[classes] = np.arange(len(classes))
        train, test = (replace(rows, labels=number[rows.labels]) for rows in map(self.train.take, (learn, held_out)))
        labels = tuple(self.labels[i] for i in classes.tolist())
        return replace(self, labels=labels, train=train, dev=train.take([]), test=test, protocol="split")

    def without_examples(self) -> Splits:
        """The same columns without the rows themselves, which take most of the memory."""
        train, dev, test = (replace(rows, examples=()) for rows in (self.train, self.dev, self.test))
        folds = tuple(fold.without_examples() for fold in self.folds)
        return replace(self, train=train, dev=dev, test=test, folds=folds)


def splits_of(dataset: Dataset, limit: int | None = None, *, hold_out_dev: bool = True) -> Splits:
    """Divide a set into train, dev and test by its protocol, of each split a sample of ``limit`` rows if given.

    ``hold_out_dev`` says what is done where there are no dev rows besides the training rows: some of these are held out
    as dev, or all are trained on and nothing can be chosen. Train and dev together are the same rows either way.
    """
    protocol = dataset.manifest.get("protocol", "split")
    if protocol not in get_args(Protocol):
        raise DataError(
            f"The manifest of {dataset.name}: expected one of the protocols {', '.join(get_args(Protocol))}; "
            f"got {protocol!r}."
        )
    if protocol == "retrieval" and limit is not None:
        raise UsageError(f"{dataset.name} cannot be sampled: images and captions belong together. Leave --limit out.")
    train, dev, test, trained_on, chosen_on = _divided(sampled(dataset, limit), protocol, hold_out_dev)
    return _in_columns(dataset, limit, protocol, (train, dev, test), trained_on, chosen_on)


def all_rows(dataset: Dataset, limit: int | None = None) -> Splits:
    """A set that is not divided: its train and its test rows are all rows, and there is no dev."""
    rows = [row for _, row in sampled(dataset, limit)]
    splits = _in_columns(dataset, limit, "split", ((), (), rows), "folds", "folds", labelled=rows)
    return replace(splits, train=splits.test)


def _in_columns(
    dataset: Dataset,
    limit: int | None,
    protocol: Protocol,
    train_dev_test: tuple[Examples, Examples, Examples],
    trained_on: str,
    chosen_on: str,
    labelled: Examples = (),
) -> Splits:
    """The columns of a divided set; ``labelled`` are the rows whose labels count, by default the training rows."""
    train, dev, test = train_dev_test
    scored = protocol in (*REGRESSION_PROTOCOLS, "retrieval")
    labels = () if scored else tuple(sorted({row.label for row in labelled or train}))
    inputs = expectations_for(dataset).inputs

    def columns(examples: Sequence[Example], language: str | None = None) -> Split:
        rows = Split.of(examples, labels, inputs, language=dataset.language)
        if protocol in REGRESSION_PROTOCOLS:
            rows = replace(rows, gold=np.array([_score(dataset, row) for row in examples]))
        groups = [row.stratum for row in examples] if protocol == "similarity" else ()
        return replace(rows, groups=groups, language=language)

    trained_in = dataset.manifest.get("train_language")
    chosen_in = None if chosen_on == "va" else trained_in  # dev rows may have been held out of the training rows
    recorded = dataset.manifest.get("split")
    return Splits(
        name=dataset.name,
        task=dataset.task,
        version=dataset.version or FEATURE_VERSIONS.get(dataset.task, 0),
        language=dataset.language,
        digest=dataset.digest,
        labels=labels,
        train=columns(train, trained_in),
        dev=columns(dev, chosen_in),
        test=columns(test),
        trained_on=trained_on,
        chosen_on=chosen_on,
        synthetic=bool(dataset.manifest.get("corpus", {}).get("synthetic", False)),
        limit=limit,
        protocol=protocol,
        images=tuple(images(dataset, split) for split in SPLITS) if protocol == "retrieval" else (),
        split=split_name(recorded),
        merged_labels=MERGED in dataset.manifest,
        grouped=isinstance(recorded, Mapping) and recorded.get("keys") == "group",
    )


def _divided(dataset: Dataset, protocol: Protocol, hold_out_dev: bool) -> tuple[Examples, Examples, Examples, str, str]:
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
    if not train and not dev:
        raise DataError(
            f"{dataset.name} has neither train (tr) nor dev (va) rows to train on. Add a train split, or have a table "
            "split with --split 80/10/10."
        )
    trained_on, chosen_on = "tr", "va"
    if protocol == "split" and (not train or not dev):
        trained_on = "tr" if train else "va"
        if not hold_out_dev:
            return train or dev, (), test, trained_on, "nothing"
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


def hold_out(rows: Sequence[Example], share: float) -> tuple[list[Example], list[Example]]:
    """Train rows, and about this share of them held out as dev rows; no target form or sentence is in both."""
    component = connected(rows)
    sizes = Counter(component)
    held_out: set[int] = set()
    size = 0
    for number in sorted(sizes):
        if size >= share * len(rows):
            break
        held_out.add(number)
        size += sizes[number]
    train = [row for number, row in zip(component, rows, strict=True) if number not in held_out]
    return train, [row for number, row in zip(component, rows, strict=True) if number in held_out]


def connected(rows: Sequence[Example], *, by_key: bool = True) -> list[int]:
    """A number per row, the same for rows connected by shared sentences or, ``by_key``, target forms."""
    leader: dict[tuple[str, str | int], tuple[str, str | int]] = {}

    def find(name: tuple[str, str | int]) -> tuple[str, str | int]:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    names = [("text", near_duplicate_key(row.text)) for row in rows]
    for row, name in zip(rows, names, strict=True):
        if by_key and row.key is not None:
            first, second = sorted((find(name), find(("key", fold(row.key)))), key=str)
            leader[second] = first
    return [hash_64(f"held out\t{find(name)}") for name in names]


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
        sampled_labels = set(sorted(labels, key=lambda label: (hash_64(f"limit\t{label}"), label))[:limit])
        rows = {split: [row for row in examples if row.label in sampled_labels] for split, examples in rows.items()}
    return replace(dataset, rows={split: _sample(examples, limit, expectations) for split, examples in rows.items()})


def _sample(rows: Sequence[Example], limit: int, expectations: Expectations) -> Sequence[Example]:
    if len(rows) <= limit:
        return rows
    if expectations.natural_balance:
        drawn_first = sorted(range(len(rows)), key=lambda i: (hash_64(f"limit\t{rows[i].text}"), i))
        return [rows[i] for i in sorted(drawn_first[:limit])]
    by_label: dict[str, list[tuple[int, int]]] = {}
    for i, row in enumerate(rows):
        priority = hash_64("\t".join(("limit", row.text, *(value for _, value in sorted(row.extra)))))
        by_label.setdefault(row.label if expectations.classes else "", []).append((priority, i))
    # the first of every label; of the others those with the smallest share of their label before them (Sainte-Laguë)
    queue = sorted(
        ((rank + 0.5) / len(candidates) if rank else 0.0, priority, i)
        for candidates in by_label.values()
        for rank, (priority, i) in enumerate(sorted(candidates))
    )
    return [rows[i] for i in sorted(i for _, _, i in queue[:limit])]


def cluster_ids(keys: Sequence[str | None], texts: Sequence[str]) -> list[str] | None:
    """The cluster of each row (n); None if rows are independent.

    Rows are clustered by target form, a row without one being its own cluster; in a set without target forms, by
    sentence (of pairs, the first), if many sentences are repeated, as in Adi's word_order.
    """
    if any(key is not None for key in keys):
        return [key if key is not None else f"\x00{i}" for i, key in enumerate(keys)]
    return list(texts) if len(texts) - len(set(texts)) >= REPEATED * len(texts) > 0 else None


def has_train_test_split(splits: Splits) -> bool:
    """Whether a set is classified, with one train and one test split."""
    return splits.protocol == "split"


def any_set(splits: Splits) -> bool:
    """Any set will do."""
    return True
