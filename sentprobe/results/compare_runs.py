"""Two runs against each other: the same sets, by their digests, paired on the same test rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sentprobe.errors import UsageError
from sentprobe.results.compare import Comparison, compare_results, tested_metric
from sentprobe.results.metric import DEFAULT_METRIC
from sentprobe.results.result import Result
from sentprobe.results.run import Run, join
from sentprobe.results.sides import non_baseline_encoders, select_side, shown_names
from sentprobe.stats import holm


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Encoders of one run against encoders of another, on the sets of both."""

    comparisons: Sequence[Comparison]
    """One per encoder and set, with p-values adjusted by Holm over all of them; sets are named with their encoder where
    there are several."""
    labels: tuple[str, str]
    """What the two sides are called."""
    skipped: Sequence[str]
    """Sets that only one run has, or that have other rows in the other, each with the reason."""


def compare_runs(
    first: Run, second: Run, encoders: Sequence[str] = (), *, metric: str = DEFAULT_METRIC
) -> RunComparison:
    """Compare encoders of two runs on every set that both have, which is the same if its digest is.

    Parameters
    ----------
    first, second
        The runs.
    encoders
        One encoder, in both runs; or one of the first and one of the second. By default, every encoder that both runs
        have, by its name or alias; or the only one of each.
    metric
        By what: a metric that is computed from predicted classes.
    """
    part, both = tested_metric(metric), join([first, second])
    pairs = _pairs(first, second, encoders)
    matched: list[tuple[str, Sequence[Result], Sequence[Result]]] = []
    for name, other_name in pairs:
        sides = select_side(first, name, metric).results, select_side(second, other_name, metric).results
        matched += [(name, results, sides[1][key]) for key, results in sides[0].items() if key in sides[1]]
    if not matched:
        raise UsageError(
            f"{first.folder} and {second.folder} have no set in common: a set is the same if its rows are. "
            + " ".join(_skipped(first, second))
        )
    comparisons = [compare_results(both, left, right, part, sets=len(matched)) for _, left, right in matched]
    adjusted = holm([c.p for c in comparisons]).tolist()
    several = len(pairs) > 1
    titles = dict(zip([name for name, _ in pairs], shown_names(first, [name for name, _ in pairs]), strict=True))
    return RunComparison(
        [
            replace(c, p_holm=p, dataset=f"{c.dataset} ({titles[name]})" if several else c.dataset)
            for c, p, (name, _, _) in zip(comparisons, adjusted, matched, strict=True)
        ],
        _labels(first, second, pairs),
        tuple(_skipped(first, second)),
    )


def _pairs(first: Run, second: Run, encoders: Sequence[str]) -> list[tuple[str, str]]:
    """Which encoder of the first run is compared with which of the second."""
    if len(encoders) > 2:
        raise UsageError(f"Expected an encoder of both runs, or one of each; got {', '.join(encoders)}.")
    if encoders:
        return [(encoders[0], encoders[-1])]
    names, second_names = non_baseline_encoders(first), non_baseline_encoders(second)
    other_titles = dict(zip(shown_names(second, second_names), second_names, strict=True))
    shared = [
        (name, other_titles[title])
        for name, title in zip(names, shown_names(first, names), strict=True)
        if title in other_titles
    ]
    if shared:
        return shared
    if len(names) == len(second_names) == 1:
        return [(names[0], second_names[0])]
    raise UsageError(
        f"{first.folder} and {second.folder} have no encoder of the same name: name one of {', '.join(names)} and one "
        f"of {', '.join(second_names)}."
    )


def _labels(first: Run, second: Run, pairs: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The encoders, if they have different names; otherwise the folders, by their ends if these differ."""
    if len(pairs) == 1:
        titles = shown_names(first, [pairs[0][0]])[0], shown_names(second, [pairs[0][1]])[0]
        if titles[0] != titles[1]:
            return titles
    ends = first.folder.resolve().name, second.folder.resolve().name
    return ends if ends[0] != ends[1] else (str(first.folder), str(second.folder))


def _skipped(first: Run, second: Run) -> list[str]:
    """Sets that cannot be compared, and why."""
    data, other_data = ({r.cell.dataset: r.cell.data for r in run.results} for run in (first, second))
    sentences = [
        f"{name} has other rows in {second.folder} than in {first.folder}."
        for name in data
        if name in other_data and data[name] != other_data[name]
    ]
    for names, missing_from, run in ((data, other_data, first), (other_data, data, second)):
        only = [name for name in names if name not in missing_from]
        if only:
            sentences.append(f"Only {run.folder} has {', '.join(only)}.")
    return sentences
