"""What a probe got wrong: which labels it takes for which, how length and target form matter, its surest mistakes.

For each set that is scored by accuracy

    labels     all that there are, in order; numbers as numbers
    columns    what is below for each column of the summary, by the first seed and the layer shown; null where it has no
               result, or where its predictions or the rows are lost
        confusion  rows by truth and predicted label; null with too many labels
        pairs      truth, predicted and n of the most frequent confusions
        length     bins of tokens with about as many rows each: low, high, n, right, below and above (Wilson's
                   interval of the share that is right); of pairs, the tokens of both sentences
        target     the same by how many test rows have the same target form, and how many ``forms`` these are; null
                   where the set has no target forms
        errors     tokens, marks (places of the target, or of what was changed), truth, predicted, confidence, source of
                   the mistakes that the probe was surest of
        said       per label how many rows have it, and how many were given it; null with too many labels

    doubtful   tokens, marks, label, bits and source of the rows whose label all columns together find least likely: the
               lowest pointwise information, on average; their labels may be wrong
    telling    the same of those they find most likely

A long sentence is shown in part, with … where it was cut; what the probe is given besides it follows after a bar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.compare import best_layer
from sonde.errors import RunError, SondeError
from sonde.report.grid import Grid, SetKey, grid_of
from sonde.result import Result
from sonde.run.folder import Run
from sonde.stats.intervals import wilson
from sonde.task import Example

MAX_LABELS = 24
"""With more labels, a table of all pairs cannot be read."""
MAX_PAIRS, MAX_ERRORS, MAX_BINS, MAX_DOUBTFUL = 12, 8, 8, 5
"""The most of each that are shown."""
MIN_BIN_ROWS = 20
"""Rows that a bin should have: with fewer, its interval is more than 40 points wide."""
MAX_TOKENS_SHOWN, MAX_TOKEN_LENGTH = 60, 200
"""Tokens of a sentence, and characters of a token, that are shown."""
ELLIPSIS, INPUT_SEPARATOR = "…", "|"

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Bins:
    """Rows by a number that they have."""

    of_row: Ints
    """The bin of each row (n); -1 for a row without a number."""
    ends: Sequence[tuple[int, int]]
    """The lowest and highest number of each bin."""


@dataclass(frozen=True)
class _Sample:
    """The test rows that some columns have in common."""

    rows: Sequence[Example]
    length: _Bins
    target: _Bins | None
    forms: Sequence[int]
    """How many target forms are in each bin of ``target``."""


def error_analysis(run: Run, summary: Mapping[str, Any]) -> list[dict[str, Any] | None]:
    """What is above for each set of the summary of a run; what cannot be read is added to the summary's notes."""
    grid = grid_of(run)
    notes: dict[str, None] = {}
    found = [
        _of_set(run, grid, place, said, notes) if said["scored_by"] == "accuracy" else None
        for place, said in zip(grid.sets, summary["sets"], strict=True)
    ]
    summary["notes"].extend(note for note in notes if note not in summary["notes"])
    return found


def _of_set(
    run: Run, grid: Grid, place: SetKey, said: Mapping[str, Any], notes: dict[str, None]
) -> dict[str, Any] | None:
    first = {i: best_layer(found)[0] for i, c in enumerate(grid.columns) if (found := grid.layers(c, place))}
    samples: dict[int | None, _Sample] = {}
    lost: dict[int | None, str] = {}
    for result in first.values():
        if result.cell.limit not in samples:
            try:
                samples[result.cell.limit] = _sample(run.rows(result), said["inputs"])
            except SondeError as e:  # of joined runs, another may have them
                lost[result.cell.limit] = f"The mistakes on {said['label']} are missing: {e}"
    notes |= {note: None for limit, note in lost.items() if limit not in samples}
    known = {row.label for sample in samples.values() for row in sample.rows}
    labels = _in_order(known.union(*(result.labels for result in first.values())))
    number = {label: i for i, label in enumerate(labels)}
    truths = {
        limit: np.array([number[row.label] for row in sample.rows], np.int64) for limit, sample in samples.items()
    }
    columns: list[dict[str, Any] | None] = [None] * len(grid.columns)
    for i, result in first.items():
        if result.cell.limit not in samples:
            continue
        sample, truth = samples[result.cell.limit], truths[result.cell.limit]
        try:
            predicted, confidence = _predictions(run, result, number, truth)
        except SondeError as e:
            notes[f"The mistakes of {result.cell.encoder} on {said['label']} are missing: {e}"] = None
            continue
        columns[i] = _column(sample, labels, truth, predicted, confidence, said["inputs"])
    if not any(columns):
        return None
    return {"labels": labels, "columns": columns, **_pointwise(run, first, samples, said["inputs"])}


def _pointwise(
    run: Run, first: Mapping[int, Result], samples: Mapping[int | None, _Sample], inputs: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Rows at either end of the mean information over columns of the first sample."""
    limit = next(iter(samples))
    sample = samples[limit]
    tables = []
    for result in first.values():
        if result.cell.limit == limit and "information" in result.scores:
            with suppress(SondeError):
                tables.append(run.predictions(result, "pointwise")["pointwise"])
    tables = [table for table in tables if len(table) == len(sample.rows)]
    if not tables:
        return {"doubtful": [], "telling": []}
    bits = np.mean(tables, axis=0)

    def rows(order: Ints) -> list[dict[str, Any]]:
        found: dict[tuple[object, ...], dict[str, Any]] = {}
        for i in order.tolist():
            row = sample.rows[i]
            said = {"label": row.label, "bits": round(float(bits[i]), 3), "source": row.source}
            found.setdefault((row.text, row.extra), {**_shown(row, inputs), **said})
            if len(found) == MAX_DOUBTFUL:
                break
        return list(found.values())

    order = np.argsort(bits, kind="stable")  # those that are not a number come last
    there = order[: int(np.isfinite(bits).sum())]
    return {"doubtful": rows(there[bits[there] < 0]), "telling": rows(there[::-1])}


def _predictions(
    run: Run, result: Result, number: Mapping[str, int], truth: Ints
) -> tuple[Ints, npt.NDArray[np.float16]]:
    """The number of the predicted label of each row (n), and its probability; if they are of these very rows."""
    found = run.predictions(result, "predicted", "truth", "confidence")
    numbers = np.array([number[label] for label in result.labels], np.int64)
    predicted, own = found["predicted"], found["truth"]
    met = own >= 0  # a label that was not met in training has no number there
    if max(predicted.max(initial=0), own.max(initial=0)) >= len(numbers) or predicted.min(initial=0) < 0:
        raise RunError("its predictions name labels that it does not have. They were altered; run again elsewhere.")
    if len(own) != len(truth) or (numbers[own[met]] != truth[met]).any():
        raise RunError("the rows that were kept are not those that it was tested on.")
    return numbers[predicted], found["confidence"]


def _in_order(labels: Iterable[str]) -> list[str]:
    """Labels by number if all are numbers, else by name."""
    found = sorted(labels)
    return sorted(found, key=int) if all(label.isascii() and label.isdecimal() for label in found) else found


# Rows in bins


def _sample(rows: Sequence[Example], inputs: Sequence[str]) -> _Sample:
    keys = [row.key for row in rows]
    times = Counter(key for key in keys if key is not None)
    target = _bins([-1 if key is None else times[key] for key in keys]) if times else None
    forms: list[int] = []
    if target:
        named = Counter(place for _, place in set(zip(keys, target.of_row.tolist(), strict=True)) if place >= 0)
        forms = [named[place] for place in range(len(target.ends))]
    return _Sample(rows, _bins(_lengths(rows, inputs)), target, forms)


def _lengths(rows: Sequence[Example], inputs: Sequence[str]) -> list[int]:
    """The tokens of each row's sentences; single words that the probe is given besides are none."""
    lengths = [len(row.tokens) for row in rows]
    for name in inputs:
        words = [len(dict(row.extra).get(name, "").split()) for row in rows]
        if max(words, default=0) > 1:
            lengths = [a + b for a, b in zip(lengths, words, strict=True)]
    return lengths


def _bins(numbers: Sequence[int]) -> _Bins:
    """Rows (n) with about as many in each bin as in others; those with the same number are together, -1 is in none."""
    values = np.array(numbers, np.int64)
    there = values >= 0
    distinct, places, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    many = max(1, min(MAX_BINS, int(there.sum()) // MIN_BIN_ROWS))
    # the bin that the middle row of those with the same number would be in
    middle = (counts.cumsum() - counts / 2) / max(1, int(counts.sum()))
    number = np.unique((middle * many).astype(np.int64), return_inverse=True)[1]
    of_row = np.full(len(values), -1, np.int64)
    of_row[there] = number[places]
    own = [distinct[number == i] for i in range(number.max(initial=-1) + 1)]
    return _Bins(of_row, [(int(some[0]), int(some[-1])) for some in own])


def _tally(bins: _Bins, right: Flags) -> list[dict[str, Any]]:
    """How many rows of each bin are right, of those that are right (n) or wrong."""
    sizes, hits = (np.bincount(bins.of_row + 1, rows, len(bins.ends) + 1)[1:] for rows in (None, right))
    found = []
    for (low, high), n, k in zip(bins.ends, map(int, sizes), map(int, hits), strict=True):
        below, above = wilson(k, n)
        found.append({"low": low, "high": high, "n": n, "right": k, "below": below, "above": above})
    return found


# One column


def _column(
    sample: _Sample,
    labels: Sequence[str],
    truth: Ints,
    predicted: Ints,
    confidence: npt.NDArray[np.float16],
    inputs: Sequence[str],
) -> dict[str, Any]:
    """What one encoder gets wrong, by the numbers of the true and the predicted labels (n)."""
    right, k = truth == predicted, len(labels)
    wrong = np.flatnonzero(~right)
    counts = np.bincount(truth * k + predicted, minlength=k * k).reshape(k, k) if k <= MAX_LABELS else None
    target = None if sample.target is None else _tally(sample.target, right)
    return {
        "confusion": None if counts is None else counts.tolist(),
        "pairs": _confused(labels, truth[wrong], predicted[wrong]),
        "length": _tally(sample.length, right),
        "target": target and [one | {"forms": n} for one, n in zip(target, sample.forms, strict=True)],
        "errors": [
            {
                **_shown(sample.rows[i], inputs),
                "truth": labels[truth[i]],
                "predicted": labels[predicted[i]],
                "confidence": round(float(confidence[i]), 4),
                "source": sample.rows[i].source,
            }
            for i in _most_confident(sample.rows, wrong, confidence)
        ],
        "said": None
        if counts is None
        else [
            {"label": label, "truth": int(a), "predicted": int(b)}
            for label, a, b in zip(labels, counts.sum(axis=1), counts.sum(axis=0), strict=True)
        ],
    }


def _confused(labels: Sequence[str], truth: Ints, predicted: Ints) -> list[dict[str, Any]]:
    """The most frequent pairs of a true and another label."""
    codes, times = np.unique(truth * len(labels) + predicted, return_counts=True)
    return [
        {"truth": labels[codes[i] // len(labels)], "predicted": labels[codes[i] % len(labels)], "n": int(times[i])}
        for i in np.argsort(-times, kind="stable")[:MAX_PAIRS]
    ]


def _most_confident(rows: Sequence[Example], wrong: Ints, confidence: npt.NDArray[np.float16]) -> list[int]:
    """The rows that were wrong with the highest confidence; of those with the same sentence, one."""
    sure = wrong[np.isfinite(confidence[wrong])]
    found: dict[tuple[object, ...], int] = {}
    for i in sure[np.argsort(-confidence[sure], kind="stable")].tolist():
        found.setdefault((rows[i].text, rows[i].extra), i)
        if len(found) == MAX_ERRORS:
            break
    return list(found.values())


def _shown(row: Example, inputs: Sequence[str]) -> dict[str, Any]:
    """A row to be read: as much of it as there is room for."""
    tokens, marks = _window(row.tokens, row.marks)
    for name in inputs:
        tokens += [INPUT_SEPARATOR, *_window(dict(row.extra).get(name, "").split(), ())[0]]
    return {"tokens": tokens, "marks": marks}


def _window(tokens: Sequence[str], marks: Sequence[int]) -> tuple[list[str], list[int]]:
    """At most WINDOW tokens around the marks, or the first of them, and where the marks are among these."""
    marks = sorted({mark for mark in marks if 0 <= mark < len(tokens)})
    start = 0
    if marks and len(tokens) > MAX_TOKENS_SHOWN:
        apart = marks[-1] - marks[0] >= MAX_TOKENS_SHOWN
        start = marks[0] if apart else (marks[0] + marks[-1] + 1 - MAX_TOKENS_SHOWN) // 2
        start = max(0, min(start, len(tokens) - MAX_TOKENS_SHOWN))
    end = min(len(tokens), start + MAX_TOKENS_SHOWN)
    shown = [
        token if len(token) <= MAX_TOKEN_LENGTH else f"{token[: MAX_TOKEN_LENGTH - 1]}{ELLIPSIS}"
        for token in tokens[start:end]
    ]
    before, after = [ELLIPSIS] * (start > 0), [ELLIPSIS] * (end < len(tokens))
    return before + shown + after, [mark - start + len(before) for mark in marks if start <= mark < end]
