"""What a set is judged by besides its accuracies: balanced accuracy where a class is rare, and what gives it away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from sentprobe.errors import SentProbeError
from sentprobe.report.cells import make_cell, value_of
from sentprobe.report.meaning import SATURATED
from sentprobe.report.result_grid import ColumnKey, Grid, SetKey
from sentprobe.report.types import BalancedScore, CellSummary
from sentprobe.results.run import Run

BALANCED = "balanced_accuracy"
RARE = 3.0
"""How many times as many test rows as the others on average the largest class has where these are called rare."""
TELLS = 0.99
"""The balanced accuracy with which a word that is in the text, or is not, tells one class from all others."""

Cells = Sequence[CellSummary | None]
Compare = Callable[[Cells, Cells, str], list[CellSummary | None]]
"""Cells compared with the best of these baselines by this metric."""


def has_rare_class(majority: float | None, classes: int) -> bool:
    """Whether the largest class, with this share of the test rows, leaves few to the others: 3 of 4 of two classes."""
    return majority is not None and classes > 1 and majority * (classes - 1) >= RARE * (1 - majority)


def with_balanced(
    run: Run, grid: Grid, set_key: SetKey, cells: Cells, classes: int, compare: Compare, notes: list[str]
) -> list[CellSummary | None]:
    """Cells with their balanced accuracy, and how it compares with that of the best baseline."""
    scored, baselines = (
        [make_cell(run, grid, column, set_key, BALANCED, notes) for column in columns]
        for columns in (grid.columns, grid.baselines)
    )
    return [
        replace(cell, balanced=BalancedScore(score=by_class.score, against=by_class.against, chance=1 / classes))
        if cell is not None and by_class is not None and by_class.score.value is not None
        else cell
        for cell, by_class in zip(cells, compare(scored, baselines, BALANCED), strict=True)
    ]


def majority_of(columns: Sequence[ColumnKey], baselines: Cells) -> float | None:
    """What the most frequent label scores; None without that baseline."""
    scores = (value_of(cell) for column, cell in zip(columns, baselines, strict=True) if column.encoder == "majority")
    return next(scores, None)


def giveaway_of(run: Run, grid: Grid, set_key: SetKey, baselines: Cells) -> str:
    """The word that tells the labels of a set on which a baseline makes no mistakes; empty if no single one does."""
    if max((value_of(cell) or 0.0 for cell in baselines), default=0.0) < SATURATED:
        return ""
    results = [result for column in grid.columns for layer in grid.layers(column, set_key).values() for result in layer]
    with suppress(SentProbeError):  # without its test rows
        for result in results[:1]:
            return telling_word([(row.label, row.tokens) for row in run.rows(result)])
    return ""


def telling_word(rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The word, quoted, whose presence tells one of the labels best, if it does so in nearly all rows."""
    labels = Counter(label for label, _ in rows)
    present: dict[str, Counter[str]] = {}
    for label, tokens in rows:
        for word in {token.lower() for token in tokens}:
            present.setdefault(word, Counter())[label] += 1
    tellers = {word: _tells(counts, labels) for word, counts in present.items()}
    # of several the rarest: "not" and no full stop
    best = min(tellers, key=lambda word: (-tellers[word], present[word].total(), word), default="")
    return repr(best) if best and tellers[best] >= TELLS else ""


def _tells(present: Mapping[str, int], labels: Mapping[str, int]) -> float:
    """The best balanced accuracy of a word, in this many rows of each label, for one label against the others."""
    total, rows = sum(present.values()), sum(labels.values())
    best = 0.0
    for label, size in labels.items():
        if size < rows:
            inside, outside = present.get(label, 0) / size, (total - present.get(label, 0)) / (rows - size)
            best = max(best, (1 + abs(inside - outside)) / 2)
    return best
