"""What pairs are evaluated on: contrast sets and scored pairs, each as a whole and by kind, with rows like any set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sentprobe.core.arguments import StrOrPath
from sentprobe.core.formatting import count_of
from sentprobe.core.hashing import digest
from sentprobe.core.reader import sample_table
from sentprobe.data.contrast_set import ContrastSet, contrast_folders
from sentprobe.data.dataset import Dataset
from sentprobe.data.layouts import LAYOUTS
from sentprobe.data.rows import column_names
from sentprobe.data.scored_pairs import NAMES, ScoredPairs, score_of
from sentprobe.data.sources import find_sets
from sentprobe.errors import DataError, TooFewError, UsageError
from sentprobe.tasks import Example
from sentprobe.transfer.similarity import MIN_PAIRS

TRIPLETS, SCORED, LABELLED = "triplets", "scored_pairs", "labelled_pairs"
METRICS_OF_TASKS = {TRIPLETS: "triplet_accuracy", SCORED: "spearman", LABELLED: "roc_auc"}
"""What each kind of set is scored by."""
QUESTIONS = {
    TRIPLETS: "Is the positive nearer to the anchor than the contrast is?",
    SCORED: "Do similar vectors mean similar sentences?",
    LABELLED: "Are pairs with label 1 nearer to each other than pairs with label 0?",
}
PAIR_PROTOCOLS = ("similarity", "relatedness", "kfold")
"""Of SentEval's transfer sets of pairs, those with scores, and MRPC, whose labels are 0 and 1."""
MIN_TRIPLETS = 2
"""Kinds with fewer rows have no interval and are part of the whole set only."""
DIGEST_SIZE = 16

PairData = ContrastSet | ScoredPairs
Pairs = PairData | StrOrPath | Iterable[Any]
"""Sets, paths, or rows: a frame, or a list."""


@dataclass(frozen=True, eq=False)
class PairSet:
    """Pairs or triplets that are scored together: a whole set, or its rows of one kind."""

    dataset: Dataset
    """With its rows as test rows: the anchor or the first sentence is the text."""
    data: str
    """A digest of its rows and, since idf is computed from these, of all texts of the whole set."""
    kind: str
    """Empty: all rows."""
    texts: tuple[Sequence[str], ...]
    """Columns of texts: anchors, positives and contrasts; or first and second sentences."""
    gold: npt.NDArray[np.float64] | None
    """Scores of pairs."""
    clusters: Sequence[str] | None
    """None: no two rows share a group."""
    source: Mapping[str, Any] | None
    """Where it was read from."""

    @property
    def task(self) -> str:
        """Triplets, or pairs with scores or labels."""
        return self.dataset.task

    @property
    def metric(self) -> str:
        """What it is scored by."""
        return METRICS_OF_TASKS[self.task]

    def __len__(self) -> int:
        return len(self.texts[0])


def read_pairs(pairs: Pairs | Sequence[Pairs], language: str | None = None) -> list[tuple[PairData, str | None]]:
    """Sets, each with the path that it was read from, if any."""
    if isinstance(pairs, ContrastSet | ScoredPairs):
        return [(pairs, None)]
    if isinstance(pairs, str | Path):
        return [*_at(Path(pairs), str(pairs), language)]
    if _has_columns(pairs):
        names = [str(name) for name in column_names(pairs)]
        return [(_type_of(names, "The frame").from_frame(pairs, language=language), None)]
    listed: list[Any] = list(cast(Iterable[Any], pairs))
    if not listed:
        raise UsageError("Expected pairs or triplets, got an empty list.")
    if all(isinstance(element, ContrastSet | ScoredPairs | str | Path) for element in listed):
        return [read for element in listed for read in read_pairs(element, language)]
    first = listed[0]
    if isinstance(first, Mapping):
        kind = _type_of([str(name) for name in first], "The first row")
    else:
        third = first[2] if isinstance(first, Sequence) and len(first) > 2 else None
        # of a CSV file that a user has read, scores are strings as well
        is_triplet = isinstance(third, str) and math.isnan(score_of(third))
        kind = ContrastSet if is_triplet else ScoredPairs
    return [(kind.from_rows(listed, language=language), None)]


def _has_columns(value: Any) -> bool:
    """Whether a value is a frame: it has columns by name."""
    return isinstance(value, Mapping) or hasattr(value, "column_names") or hasattr(value, "columns")


def _at(path: Path, typed: str, language: str | None) -> Iterator[tuple[PairData, str]]:
    """The sets at a path: a table, or a folder of contrast sets."""
    if path.is_dir():
        sets: list[tuple[PairData, str]] = [(ContrastSet.load(f), str(f)) for f in contrast_folders(path)]
        sets = sets or [(pairs, typed) for pairs in _transfer_pairs(typed)]
        if not sets:
            raise DataError(
                f"{typed} holds no pairs; expected the folder of a contrast set, or of SentEval's STS, SICK or MRPC; "
                "or a table with the columns anchor, positive and contrast, or with two sentences and a score."
            )
        yield from sets
        return
    names, _ = sample_table(typed, 1)
    kind = _type_of(names, typed)
    yield kind.read(typed, language=language), typed


def _transfer_pairs(folder: str) -> Iterator[ScoredPairs]:
    """The test pairs of SentEval's transfer sets in and below a folder that have scores, or labels of 0 and 1."""
    try:
        sources = [source for source in find_sets(folder) if source.kind in LAYOUTS]
    except DataError:  # there are no sets of any kind
        return
    for source in sources:
        layout = LAYOUTS[source.kind]
        if len(layout.inputs) == 1 and layout.protocol in PAIR_PROTOCOLS:
            rows = source.load().rows["te"]
            pairs = [(row.text, dict(row.extra)[layout.inputs[0]], row.label, row.stratum) for row in rows]
            keys = ("first", "second", "score", "kind")
            dicts = [dict(zip(keys, pair, strict=True)) for pair in pairs]
            yield ScoredPairs.from_rows(dicts, name=source.kind, language=source.language)


def _type_of(names: Sequence[str], what: str) -> type[ContrastSet] | type[ScoredPairs]:
    """What a table with these columns is."""
    if ContrastSet.has_columns(names):
        return ContrastSet
    if ScoredPairs.has_columns(names):
        return ScoredPairs
    scores = ", ".join(NAMES["score"])
    raise UsageError(
        f"{what} has the columns {', '.join(names) or 'none'}; expected anchor, positive and contrast (or negative), "
        f"or two sentences (first and second, sentence1 and sentence2, premise and hypothesis) and a score ({scores})."
    )


def pair_sets(pairs: PairData, path: str | None) -> Iterator[PairSet]:
    """The set as a whole and, if there are several kinds, by kind."""
    min_rows = MIN_TRIPLETS if isinstance(pairs, ContrastSet) else MIN_PAIRS
    if len(pairs) < min_rows:
        raise TooFewError(f"{pairs.name} has {count_of(len(pairs), 'row')}; expected {min_rows} or more.")
    kinds = [kind for kind in pairs.kinds if kind]
    if len(pairs.kinds) != 1 or not kinds:
        yield _pair_set(pairs, list(range(len(pairs))), "", path)
    kinds_of_rows = [row.kind for row in pairs]
    for kind in kinds:
        rows = [i for i, row_kind in enumerate(kinds_of_rows) if row_kind == kind]
        if len(rows) >= min_rows and (isinstance(pairs, ContrastSet) or _varies(pairs, rows)):
            # a slash would make the kind a part of another one
            yield _pair_set(pairs, rows, kind.replace("/", "-"), path)


def _varies(pairs: ScoredPairs, rows: Sequence[int]) -> bool:
    """Whether there is something to rank: pairs with one score have no correlation."""
    return len({pairs.rows[i].score for i in rows}) > 1


def _pair_set(pairs: PairData, numbers: Sequence[int], kind: str, path: str | None) -> PairSet:
    if isinstance(pairs, ContrastSet):
        rows = [pairs.rows[i] for i in numbers]
        texts: tuple[Sequence[str], ...] = tuple(zip(*(row[:3] for row in rows), strict=True))
        examples = [
            _example(row.kind, row.anchor, row.id or str(i), row.cluster, {
                "positive": row.positive, "contrast": row.contrast, "positive_kind": row.positive_kind,
            })
            for i, row in zip(numbers, rows, strict=True)
        ]  # fmt: skip
        gold, task = None, TRIPLETS
    else:
        scored = [pairs.rows[i] for i in numbers]
        texts = tuple(zip(*(row[:2] for row in scored), strict=True))
        examples = [
            _example(f"{row.score:g}", row.first, row.id or str(i), row.cluster, {"second": row.second})
            for i, row in zip(numbers, scored, strict=True)
        ]
        gold, task = np.array([row.score for row in scored]), LABELLED if pairs.is_binary else SCORED
    name = f"{pairs.name}/{kind}" if kind else pairs.name
    dataset = Dataset(name, task, 1, pairs.language, (), {"te": examples}, {"protocol": task})
    keys = [str(example.key) for example in examples]
    clustered = 1 < len(set(keys)) < len(keys)
    source = None if path is None else {"kind": "pairs", "paths": [str(Path(path).absolute())], "part": kind}
    data = digest(f"{dataset.digest} {pairs.digest}".encode())[:DIGEST_SIZE]
    return PairSet(dataset, data, kind, texts, gold, keys if clustered else None, source)


def _example(label: str, text: str, source: str, key: str, extra: Mapping[str, str]) -> Example:
    pairs = tuple((name, value) for name, value in extra.items() if value)
    return Example(label, tuple(text.split()), text, source, key, extra=pairs)
