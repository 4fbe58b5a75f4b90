"""What the columns got wrong on the sets: confusions, accuracy by length and target form, errors, doubtful labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sentprobe.errors import RunError, SentProbeError
from sentprobe.report.extension import SUMMARY_EXTENSIONS
from sentprobe.report.result_grid import Grid, SetKey, grid_of
from sentprobe.report.types import Bin, ColumnErrors, Confusion, SetErrors, SetSummary, ShownRow, Summary
from sentprobe.results.metric import metric_named
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.sides import best_layer
from sentprobe.stats.intervals import wilson
from sentprobe.tasks import Example

MAX_LABELS = 24
"""With more labels, a table of all pairs cannot be read."""
MAX_PAIRS, MAX_ERRORS, MAX_DOUBTFUL = 12, 8, 5
"""Maximum number of each that are shown."""

Errors = tuple[SetErrors | None, ...]


@dataclass(frozen=True)
class _Sample:
    """The test rows that some columns have in common."""

    rows: Sequence[Example]
    inputs: Sequence[str]
    length: Bins
    target: Bins | None

    @classmethod
    def of(cls, rows: Sequence[Example], inputs: Sequence[str]) -> _Sample:
        return cls(rows, inputs, by_length(rows, inputs), by_target(rows))


def error_analysis(run: Run, summary: Summary) -> tuple[Errors, tuple[str, ...]]:
    """What is wrong on each set of the summary of a run, and notes on what cannot be read."""
    grid = grid_of(run)
    notes: dict[str, None] = {}
    errors = tuple(
        _of_set(run, grid, set_key, s, notes)
        if metric_named(s.scored_by).predicts == "classes"
        else _of_extensions(run, grid, set_key, s, notes)
        for set_key, s in zip(grid.sets, summary.sets, strict=True)
    )
    return errors, tuple(notes)


def _of_extensions(run: Run, grid: Grid, set_key: SetKey, s: SetSummary, notes: dict[str, None]) -> SetErrors | None:
    extensions = SUMMARY_EXTENSIONS.parts().values()
    errors = (extension.set_errors(run, grid, set_key, s, notes) for extension in extensions)
    return next((of_set for of_set in errors if of_set is not None), None)


def _of_set(run: Run, grid: Grid, set_key: SetKey, s: SetSummary, notes: dict[str, None]) -> SetErrors | None:
    first = {i: best_layer(layers)[0] for i, c in enumerate(grid.columns) if (layers := grid.layers(c, set_key))}
    samples: dict[int | None, _Sample] = {}
    lost: dict[int | None, str] = {}
    for result in first.values():
        if result.cell.limit not in samples:
            try:
                samples[result.cell.limit] = _Sample.of(run.rows(result), s.inputs)
            except SentProbeError as e:  # of joined runs, another may have them
                lost[result.cell.limit] = f"The errors on {s.label} are missing: {e}"
    notes |= {note: None for limit, note in lost.items() if limit not in samples}
    row_labels = {row.label for sample in samples.values() for row in sample.rows}
    labels = _in_order(row_labels.union(*(result.labels for result in first.values())))
    number = {label: i for i, label in enumerate(labels)}
    truths = {
        limit: np.array([number[row.label] for row in sample.rows], np.int64) for limit, sample in samples.items()
    }
    columns: list[ColumnErrors | None] = [None] * len(grid.columns)
    for i, result in first.items():
        if result.cell.limit not in samples:
            continue
        sample, truth = samples[result.cell.limit], truths[result.cell.limit]
        try:
            predicted, confidence = _predictions(run, result, number, truth)
        except SentProbeError as e:
            notes[f"The errors of {result.cell.encoder} on {s.label} are missing: {e}"] = None
            continue
        columns[i] = _column(sample, labels, truth, predicted, confidence)
    if not any(columns):
        return None
    doubtful, easiest = _pointwise(run, first, samples)
    return SetErrors(labels=tuple(labels), columns=tuple(columns), doubtful=doubtful, easiest=easiest)


def _pointwise(
    run: Run, first: Mapping[int, Result], samples: Mapping[int | None, _Sample]
) -> tuple[tuple[ShownRow, ...], tuple[ShownRow, ...]]:
    """Rows with the lowest and the highest mean information, over the columns of the first sample."""
    limit = next(iter(samples))
    sample = samples[limit]
    tables = []
    for result in first.values():
        if result.cell.limit == limit and "information" in result.scores:
            with suppress(SentProbeError):
                tables.append(run.predictions(result, "pointwise")["pointwise"])
    tables = [table for table in tables if len(table) == len(sample.rows)]
    if not tables:
        return (), ()
    bits = np.mean(tables, axis=0)

    def rows(order: Ints) -> tuple[ShownRow, ...]:
        by_text: dict[tuple[object, ...], ShownRow] = {}
        for i in order.tolist():
            row = sample.rows[i]
            displayed = replace(shown_row(row, sample.inputs), bits=round(float(bits[i]), 3))
            by_text.setdefault((row.text, row.extra), displayed)
            if len(by_text) == MAX_DOUBTFUL:
                break
        return tuple(by_text.values())

    order = np.argsort(bits, kind="stable")  # those that are not a number come last
    finite = order[: int(np.isfinite(bits).sum())]
    # below 0, the vectors make the label less likely than its frequency does
    return rows(finite[bits[finite] < 0]), rows(finite[::-1])


def _predictions(
    run: Run, result: Result, number: Mapping[str, int], truth: Ints
) -> tuple[Ints, npt.NDArray[np.float16]]:
    """The number of the predicted label of each row (n), and its probability, if they are of these very rows."""
    arrays = run.predictions(result, "predicted", "truth", "confidence")
    numbers = np.array([number[label] for label in result.labels], np.int64)
    predicted, recorded_truth = arrays["predicted"], arrays["truth"]
    in_train = recorded_truth >= 0  # a label that does not occur in train has no number there
    if max(predicted.max(initial=0), recorded_truth.max(initial=0)) >= len(numbers) or predicted.min(initial=0) < 0:
        raise RunError(
            "its predictions have labels that the set does not have. They were altered; run again in a new folder."
        )
    # the set may have changed since, and a wrong row beside a prediction misleads without a trace
    if len(recorded_truth) != len(truth) or (numbers[recorded_truth[in_train]] != truth[in_train]).any():
        raise RunError("the rows that were kept are not those that it was tested on.")
    return numbers[predicted], arrays["confidence"]


def _in_order(labels: Iterable[str]) -> list[str]:
    """Labels by number if all are numbers, else by name."""
    by_name = sorted(labels)
    return sorted(by_name, key=int) if all(label.isascii() and label.isdecimal() for label in by_name) else by_name


# One column


def _column(
    sample: _Sample, labels: Sequence[str], truth: Ints, predicted: Ints, confidence: npt.NDArray[np.float16]
) -> ColumnErrors:
    """What one encoder gets wrong, by the numbers of the true and the predicted labels (n)."""
    right, k = truth == predicted, len(labels)
    wrong = np.flatnonzero(~right)
    counts = np.bincount(truth * k + predicted, minlength=k * k).reshape(k, k) if k <= MAX_LABELS else None
    return ColumnErrors(
        confusion=None if counts is None else tuple(map(tuple, counts.tolist())),
        pairs=_confused(labels, truth[wrong], predicted[wrong]),
        length=tally(sample.length, right),
        target=None if sample.target is None else tally(sample.target, right),
        errors=tuple(
            replace(
                shown_row(sample.rows[i], sample.inputs),
                label=labels[truth[i]],
                predicted=labels[predicted[i]],
                confidence=round(float(confidence[i]), 4),
            )
            for i in _most_confident(sample.rows, wrong, confidence)
        ),
        label_counts=None
        if counts is None
        else tuple((int(a), int(b)) for a, b in zip(counts.sum(axis=1), counts.sum(axis=0), strict=True)),
    )


def _confused(labels: Sequence[str], truth: Ints, predicted: Ints) -> tuple[Confusion, ...]:
    """The most frequent pairs of a true and another label."""
    codes, times = np.unique(truth * len(labels) + predicted, return_counts=True)
    return tuple(
        Confusion(truth=labels[codes[i] // len(labels)], predicted=labels[codes[i] % len(labels)], n=int(times[i]))
        for i in np.argsort(-times, kind="stable")[:MAX_PAIRS]
    )


def _most_confident(rows: Sequence[Example], wrong: Ints, confidence: npt.NDArray[np.float16]) -> list[int]:
    """The rows that were wrong with the highest confidence; of those with the same sentence, one."""
    finite = wrong[np.isfinite(confidence[wrong])]
    by_text: dict[tuple[object, ...], int] = {}
    for i in finite[np.argsort(-confidence[finite], kind="stable")].tolist():
        by_text.setdefault((rows[i].text, rows[i].extra), i)
        if len(by_text) == MAX_ERRORS:
            break
    return list(by_text.values())


# Bins


MAX_BINS = 8
"""Maximum number of bins."""
MIN_BIN_ROWS = 20
"""Rows that a bin should have: with fewer, its interval is more than 40 points wide."""

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Bins:
    """Rows grouped by a number that they have."""

    of_row: Ints
    """The bin of each row (n); -1 for a row without a number."""
    ends: Sequence[tuple[int, int]]
    """The lowest and highest number of each bin."""
    forms: Sequence[int | None]
    """How many target forms are in each bin; None for bins by length."""


def by_target(rows: Sequence[Example]) -> Bins | None:
    """Rows by how many test rows have the same target form; None where the set has no target forms."""
    keys = [row.key for row in rows]
    times = Counter(key for key in keys if key is not None)
    if not times:
        return None
    of_row, ends = _bins([-1 if key is None else times[key] for key in keys])
    form_counts = Counter(bin_index for _, bin_index in set(zip(keys, of_row.tolist(), strict=True)) if bin_index >= 0)
    return Bins(of_row, ends, [form_counts[bin_index] for bin_index in range(len(ends))])


def by_length(rows: Sequence[Example], inputs: Sequence[str]) -> Bins:
    """Rows by the number of tokens of their sentences."""
    of_row, ends = _bins(_lengths(rows, inputs))
    return Bins(of_row, ends, [None] * len(ends))


def by_rank(ranks: Sequence[int]) -> Bins:
    """Rows by the frequency rank of their word, which is 1 for the most frequent."""
    of_row, ends = _bins(ranks)
    return Bins(of_row, ends, [None] * len(ends))


def _lengths(rows: Sequence[Example], inputs: Sequence[str]) -> list[int]:
    """The tokens of each row's sentences; inputs that are single words do not count."""
    lengths = [len(row.tokens) for row in rows]
    for name in inputs:
        words = [len(dict(row.extra).get(name, "").split()) for row in rows]
        if max(words, default=0) > 1:
            lengths = [a + b for a, b in zip(lengths, words, strict=True)]
    return lengths


def _bins(numbers: Sequence[int]) -> tuple[Ints, list[tuple[int, int]]]:
    """The bin of each row (n), and the ends of the bins, which have about as many rows each.

    Rows with the same number are in one bin, those with -1 in none.
    """
    values = np.array(numbers, np.int64)
    present = values >= 0
    distinct, value_index, counts = np.unique(values[present], return_inverse=True, return_counts=True)
    bin_count = max(1, min(MAX_BINS, int(present.sum()) // MIN_BIN_ROWS))
    # the bin that the middle row of those with the same number would be in
    middle = (counts.cumsum() - counts / 2) / max(1, int(counts.sum()))
    number = np.unique((middle * bin_count).astype(np.int64), return_inverse=True)[1]
    of_row = np.full(len(values), -1, np.int64)
    of_row[present] = number[value_index]
    bin_values = [distinct[number == i] for i in range(number.max(initial=-1) + 1)]
    return of_row, [(int(group[0]), int(group[-1])) for group in bin_values]


def tally(bins: Bins, right: Flags) -> tuple[Bin, ...]:
    """How many rows of each bin are right, given which rows (n) are."""
    sizes, hits = (np.bincount(bins.of_row + 1, rows, len(bins.ends) + 1)[1:] for rows in (None, right))
    tallies = []
    for (low, high), forms, n, k in zip(bins.ends, bins.forms, map(int, sizes), map(int, hits), strict=True):
        below, above = wilson(k, n)
        tallies.append(Bin(low=low, high=high, n=n, correct=k, below=below, above=above, forms=forms))
    return tuple(tallies)


# Rows as they are shown


MAX_TOKENS_SHOWN, MAX_TOKEN_LENGTH = 60, 200
"""Tokens of a sentence, and characters of a token, that are shown."""
ELLIPSIS, INPUT_SEPARATOR = "…", "|"


def shown_row(row: Example, inputs: Sequence[str]) -> ShownRow:
    """As much of a row as there is room for."""
    tokens, marks = _window(row.tokens, row.marks)
    for name in inputs:
        tokens += [INPUT_SEPARATOR, *_window(dict(row.extra).get(name, "").split(), ())[0]]
    return ShownRow(tokens=tuple(tokens), marks=tuple(marks), source=row.source, label=row.label)


def _window(tokens: Sequence[str], marks: Sequence[int]) -> tuple[list[str], list[int]]:
    """At most MAX_TOKENS_SHOWN tokens around the marks, or the first ones, and the positions of the marks in these."""
    marks = sorted({mark for mark in marks if 0 <= mark < len(tokens)})
    start = 0
    if marks and len(tokens) > MAX_TOKENS_SHOWN:
        apart = marks[-1] - marks[0] >= MAX_TOKENS_SHOWN
        start = marks[0] if apart else (marks[0] + marks[-1] + 1 - MAX_TOKENS_SHOWN) // 2
        start = max(0, min(start, len(tokens) - MAX_TOKENS_SHOWN))
    end = min(len(tokens), start + MAX_TOKENS_SHOWN)
    displayed = [
        token if len(token) <= MAX_TOKEN_LENGTH else f"{token[: MAX_TOKEN_LENGTH - 1]}{ELLIPSIS}"
        for token in tokens[start:end]
    ]
    before, after = [ELLIPSIS] * (start > 0), [ELLIPSIS] * (end < len(tokens))
    return before + displayed + after, [mark - start + len(before) for mark in marks if start <= mark < end]
