"""Whether a number is better than the best baseline: the one rule that every table, page, figure and file follows.

The best baseline is the one with the best score on the same test rows, of all that were run: majority, length, nb-uni,
nb-bi, baseline:random and baseline:hash; that of a loss is only among those that have one. The two are compared on the
same rows as `sentprobe compare` compares encoders, and for losses by a permutation test over rows, or over target
forms or sentences that rows share; over several seeds by the mean of each row. The test covers other samples of
training rows where the encoder was retrained; a trained baseline is assumed to vary as much.

p-values are two-sided, adjusted by Holm over the encoders that were tested on the same rows of a set, and significant
up to ``ALPHA``. That the baseline is picked as the best of several needs no adjustment: it only raises the bar.

    above            significantly better
    not_significant  better, but not significantly
    below            not better at all
    untested         better, but there is no test: for macro-averaged F1 and BLEU, and where predictions cannot be read

Raw losses have no verdict: only baselines whose probes are overconfident have one, and beating them takes no knowledge.

The mark † is shown with the second and the third. Only what is above is ever bold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentprobe.errors import RunError, SentProbeError
from sentprobe.report.scores import LOSSES, Metric
from sentprobe.report.types import BaselineComparison, Cell, Summary, Verdict
from sentprobe.report.word_texts import MARK_NOTE as WORDS_MARK_NOTE
from sentprobe.report.word_texts import is_of_words
from sentprobe.results.inference import detectable_by, row_clusters, system_p, systems_of
from sentprobe.results.result import RIGHT_OR_WRONG, Result
from sentprobe.results.run import Run
from sentprobe.stats import clustered_p, holm
from sentprobe.stats import level as levels
from sentprobe.stats.classification import MOST_BITS

MARK = "†"
UNCOMPARED = frozenset({"log2_loss"})
"""Metrics by which nothing is compared with baselines."""
BOLD_NOTE = (
    "Bold: the best of a set and what is not significantly different from it, if significantly better than the best "
    "baseline."
)
FILLED_NOTE = (
    "A filled dot is not significantly different from the best of its set, and significantly better than the best "
    "baseline."
)
NOT_SIGNIFICANT = "not significantly better than the best baseline"
"""What the mark means, where there is little room."""
MARK_NOTE = (
    f"{MARK} {NOT_SIGNIFICANT} on the same rows (paired test, as sentprobe compare makes it, with the baseline assumed "
    "to vary as much with training rows as the encoder; Holm over the encoders of a set, {alpha})."
)


@dataclass(frozen=True)
class Scored:
    """An encoder or a baseline on one set: its score, and the results of its seeds."""

    name: str
    value: float
    results: Sequence[Result]


def compare_with_baseline(
    run: Run, numbers: Sequence[Scored], baselines: Sequence[Scored], metric: Metric, notes: list[str]
) -> list[BaselineComparison | None]:
    """How each number compares with the best baseline on the same rows of one set; all None if there is no baseline."""
    lower = metric in LOSSES
    best = (min if lower else max)(baselines, key=lambda scored: scored.value, default=None)
    if best is None or metric in UNCOMPARED:
        return [None] * len(numbers)
    found = [None if metric == "macro_f1" else _test(run, scored, best, metric, notes) for scored in numbers]
    tested = [i for i, test in enumerate(found) if test is not None]
    p_values = [test.p for test in found if test is not None]
    adjusted = dict(zip(tested, holm(p_values).tolist(), strict=True)) if tested else {}
    return [
        BaselineComparison(
            best.name,
            best.value,
            _verdict(best.value - scored.value if lower else scored.value - best.value, adjusted.get(i)),
            adjusted.get(i),
            len(tested),
            None if test is None else test.detectable,
        )
        for i, (scored, test) in enumerate(zip(numbers, found, strict=True))
    ]


def _verdict(gain: float, p: float | None) -> Verdict:
    if gain <= 0:
        return "below"
    if p is None:
        return "untested"
    return "above" if p <= levels.ALPHA else "not_significant"


@dataclass(frozen=True)
class _Test:
    p: float
    detectable: float | None
    """Of accuracies, unless there is no variance."""


def _test(run: Run, one: Scored, two: Scored, metric: Metric, notes: list[str]) -> _Test | None:
    if metric == "accuracy" and one.results[0].metric not in RIGHT_OR_WRONG:
        return None
    try:
        return _paired(run, one.results, two.results, metric)
    except SentProbeError as e:
        notes.append(f"{one.name} could not be compared with {two.name} on {one.results[0].cell.dataset}: {e}")
        return None


def paired_p(run: Run, one: Sequence[Result], two: Sequence[Result], metric: Metric = "accuracy") -> float:
    """The two-sided p-value of two systems on the same test rows, each with the results of its seeds."""
    return _paired(run, one, two, metric).p


def _paired(run: Run, one: Sequence[Result], two: Sequence[Result], metric: Metric) -> _Test:
    clusters = row_clusters(run, one[0])
    if metric == "accuracy":
        sides = systems_of(run, (one, two), clusters)
        apart = sides.difference(0, 1)
        return _Test(system_p(sides, 0, 1), detectable_by(apart) if apart.variance > 0 else None)
    first, second = (np.array([_bits(run, r, LOSSES[metric]) for r in side]) for side in (one, two))
    return _Test(clustered_p(first.mean(axis=0), second.mean(axis=0), clusters), None)


def _bits(run: Run, result: Result, name: str) -> npt.NDArray[np.float64]:
    """The loss of each test row (n)."""
    arrays = run.predictions(result)
    if name not in arrays:
        raise RunError(f"{result.cell.encoder} has no probabilities.")
    return (-arrays[name].astype(np.float64)).clip(0.0, MOST_BITS)


# What is shown of it


def verdict_of(cell: Cell | None) -> Verdict | None:
    """How a cell compares with the best baseline; None where there is no number, or no baseline."""
    return cell.against.verdict if cell is not None and cell.against is not None else None


def is_significant(cell: Cell | None) -> bool:
    """Whether a cell differs from the best baseline, in either direction."""
    return (
        cell is not None and cell.against is not None and cell.against.p is not None and cell.against.p <= levels.ALPHA
    )


def mark_of(cell: Cell | None) -> str:
    """The mark of a number that is not significantly better than the best baseline."""
    return MARK if verdict_of(cell) in ("not_significant", "below") else ""


def footnotes(summary: Summary) -> Iterator[str]:
    """What bold and the mark mean, if they occur in a table."""
    cells = [cell for s in summary.sets for cell in s.cells if cell is not None]
    if any(cell.best for cell in cells):
        yield BOLD_NOTE
    if any(map(mark_of, cells)):
        yield mark_note(summary)


def mark_note(summary: Summary) -> str:
    """What the mark means."""
    return levels.with_levels(WORDS_MARK_NOTE if is_of_words(summary) else MARK_NOTE)
