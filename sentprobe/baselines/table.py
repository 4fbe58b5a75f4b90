"""A table of baseline accuracies."""

from __future__ import annotations

from collections.abc import Iterable

from sentprobe.baselines import BASELINES, CONSTANT_BASELINES, baseline
from sentprobe.core.arguments import as_list
from sentprobe.data.dataset import Dataset


def print_baselines(datasets: Dataset | Iterable[Dataset], *, published: bool = False) -> None:
    """Print the test accuracies of baselines; ``published``: also published results on other sets of the task."""
    from rich.table import Table

    from sentprobe.console import out
    from sentprobe.published import human
    from sentprobe.published import published as printed_rows
    from sentprobe.stats.intervals import wilson

    table = Table(box=None, pad_edge=False, header_style="bold")
    others = ("nb-uni (another set)", "human (another set)") if published else ()
    for column in ("set", "te", *BASELINES, "±", *others):
        table.add_column(column, justify="left" if column == "set" else "right")
    for dataset in as_list(datasets, Dataset, "a set"):
        found = [baseline(name, dataset) for name in BASELINES]
        best = max(found, key=lambda p: p.accuracy)
        low, high = wilson(best.accuracy * best.rows, best.rows)
        suite = dataset.name.split("/")[0]
        people = human(dataset.task, suite)
        printed = [r for r in printed_rows(dataset.task, suite=suite) if r.kind == "baseline" and "NB-uni" in r.model]
        published_rows = (printed[0] if printed else None, people)
        table.add_row(
            dataset.name,
            f"{best.rows:,}",
            *(f"{100 * p.accuracy:.1f}" for p in found),
            "" if best.name in CONSTANT_BASELINES else f"{50 * (high - low):.1f}",
            *(f"{100 * row.value:.1f}" if row else "" for row in published_rows if published),
        )
    out().print(table)
