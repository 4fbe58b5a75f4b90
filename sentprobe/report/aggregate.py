"""One number for all transfer tasks, as the papers have it: means of dev accuracies."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.published import TRANSFER
from sentprobe.report.types import TransferMean
from sentprobe.results.result import Result


def aggregate(results: Sequence[Result]) -> TransferMean | None:
    """Macro: the mean dev accuracy of transfer tasks; micro: weighted by rows. None with fewer than two such tasks.

    As in Conneau (2019, section 3.2.4), over tasks that are scored by accuracy. The rows are those that SentEval
    counts: of dev, or of the folds where there is none.
    """
    found = [
        (r.dev_score, r.n["va"] or (r.n["te"] if r.interval_kind == "nadeau-bengio" else r.n["tr"]), r.cell.task)
        for r in results
        if r.cell.task in TRANSFER and r.metric == "accuracy" and r.dev_score is not None
    ]
    if len(found) < 2:
        return None
    rows = sum(n for _, n, _ in found)
    return TransferMean(
        tasks=tuple(task for _, _, task in found),
        macro=sum(score for score, _, _ in found) / len(found),
        micro=sum(score * n for score, n, _ in found) / rows,
        rows=rows,
    )
