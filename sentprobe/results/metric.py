"""Metrics: how a score is computed, bounded, tested and written; one object in one file of ``results/metrics``.

A metric is one of three, by what it says of itself:

- a share of correct rows (``share``): accuracy, balanced accuracy. Such results are compared row by row, and their
  intervals cover other samples of training rows where probes were retrained.
- a mean over test rows (``row_values``): bits. Its interval and its paired test are those of a mean.
- any other function of the predictions (``compute``): its interval is from the bootstrap, and its paired test swaps the
  predictions of two systems at random. A metric of another package needs nothing else.

Tables, pages, figures, legends and tests read what they need to know from these objects, and never ask for a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sentprobe.core.formatting import POINTS, NumberFormat
from sentprobe.core.plugins import Kind, part_repr
from sentprobe.errors import UsageError

Arrays = Mapping[str, npt.NDArray[Any]]
"""The predictions of a result, by name, as ``Run.predictions`` describes them."""
Floats = npt.NDArray[np.float64]
Predictions = Literal["classes", "numbers", "neighbours", "margins", "text", "none"]

CLUSTERED = ", clustered where several rows have the same target word or sentence"
BOOTSTRAP_NOTE = ": bootstrap over rows{clustered}, of the trained probe"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric: one object in one file, from which tables, page, figures, legends and tests are made.

    Parameters
    ----------
    name
        As in results, and in ``sentprobe show --metric NAME``.
    title
        What it is called within a sentence: balanced accuracy.
    doc
        What it is, as `sentprobe ls metrics` lists it and legends explain it.
    compute
        The score, from the arrays that ``needs`` names. None: only results that recorded it have it.
    row_values
        The value of each test row (n), if the score is their mean; ``compute`` is then not needed.
    share
        Of what the score is the share that is predicted correctly: ``"rows"``, or ``"classes"``, each of which counts
        the same; None: it is no such share. ``compute`` is then not needed. Of rows that may be tied, ``row_values``
        says so: 1, 0, or one half.
    predicts
        What the predictions are that it is computed from: indices of ``classes``, ``numbers``, the ranks of
        ``neighbours``, ``margins`` between two similarities, or ``text``. It applies to the results of metrics that
        predict the same.
    needs
        The arrays of predictions that it reads.
    row_parts
        Of a score that is no mean over rows, such as a rank correlation: the score plus its influence function at each
        row (n), whose mean is the score. A paired test then swaps the parts of two systems, which takes no time.
    number
        How it is written: scale and digits.
    condition
        What follows the title and the unit where a legend explains the score: at the temperature fitted on dev.
    unit
        What a number so written is in: points, bits, …; empty: a plain number.
    higher_is_better
        The direction.
    range
        The lowest and the highest possible score.
    has_interval
        Whether an interval is computed from the predictions.
    interval_note
        What the legend says of how, after "± is half the width of the 95 % interval"; ``{clustered}`` is where it says
        that rows are clustered.
    tested
        Whether two systems can be compared by a paired test, if it can be computed.
    compared
        Whether results are compared with baselines.
    trained
        Whether a probe is trained for it; otherwise vectors are compared as they are.
    set_note
        What the legend says of the sets that are scored by it, where tables are of another metric.
    family
        What an axis that shows several metrics calls it: correlation.
    axis
        The title of an axis of scores; by default the title and the unit.
    beside
        A metric whose scores tables show next to these.
    order
        The order of metrics in lists.

    Examples
    --------
    >>> from sentprobe.results.metric import METRICS, Metric
    >>> METRICS.get("balanced_accuracy").title
    'balanced accuracy'
    >>> METRICS.get("balanced_accuracy").in_text(0.8125)
    '81.2'
    """

    name: str
    title: str
    doc: str
    compute: Callable[[Arrays], float] | None = None
    row_values: Callable[[Arrays], Floats] | None = None
    share: Literal["rows", "classes"] | None = None
    predicts: Predictions = "classes"
    needs: tuple[str, ...] = ("predicted", "truth")
    row_parts: Callable[[Arrays], Floats] | None = None
    number: NumberFormat = POINTS
    condition: str = ""
    unit: str = "points"
    higher_is_better: bool = True
    range: tuple[float, float] = (0.0, 1.0)
    has_interval: bool = True
    interval_note: str = BOOTSTRAP_NOTE
    tested: bool = True
    compared: bool = True
    trained: bool = True
    set_note: str = ""
    family: str = ""
    axis: str = ""
    beside: str = ""
    order: int = 1000

    __repr__ = part_repr

    @property
    def computable(self) -> bool:
        """Whether it can be computed from predictions."""
        return any(part is not None for part in (self.compute, self.row_values, self.share))

    @property
    def has_paired_test(self) -> bool:
        """Whether two systems are compared by a paired test."""
        return self.tested and self.computable

    @property
    def right_or_wrong(self) -> bool:
        """Whether a score is the share of rows that are right, so that results can be compared row by row."""
        return self.share == "rows"

    @property
    def heading(self) -> str:
        """The title at the beginning of a sentence."""
        return self.title[:1].upper() + self.title[1:]

    @property
    def axis_title(self) -> str:
        """The title of an axis of scores."""
        unit = {"points": " (%)", "": ""}.get(self.unit, f" ({self.unit})")
        return self.axis or f"{self.title}{unit}"

    @property
    def in_unit(self) -> str:
        """What the numbers are in: in points."""
        return f" in {self.unit}" if self.unit else ""

    def score(self, arrays: Arrays) -> float:
        """The score of these predictions."""
        if self.compute is not None:
            return float(self.compute(arrays))
        if self.row_values is not None:
            return float(self.row_values(arrays).mean())
        correct = arrays["predicted"] == arrays["truth"]
        if self.share == "classes":
            from sentprobe.stats.class_shares import ClassShares

            return float(ClassShares.of(arrays["truth"]).recalls(correct.astype(np.float64)).mean())
        return float(correct.mean())

    def gain(self, value: float, baseline: float) -> float:
        """How much better a score is than a baseline: above 0 if it is."""
        return value - baseline if self.higher_is_better else baseline - value

    def in_text(self, value: float) -> str:
        """A score in a sentence; numbers that are not points have two digits and their unit."""
        if self.unit == "points":
            return self.number.number(value)
        return f"{self.number.scale * value:.2f} {self.unit}".rstrip()


METRICS: Kind[Metric] = Kind("metric", "sentprobe.results.metrics", Metric)
"""All metrics, also those that other packages offer as entry points of the group ``sentprobe.metrics``."""
DEFAULT_METRIC = "accuracy"
"""What a run is summarised by, unless a set is scored by another metric."""


def table_metrics() -> tuple[str, ...]:
    """The metrics that a run can be shown by: those that are computed from predicted classes."""
    return tuple(name for name, part in METRICS.parts().items() if part.computable and part.predicts == "classes")


def check_metric(metric: str) -> str:
    """The name of a metric that a run can be shown by."""
    if metric not in table_metrics():
        raise UsageError(f"There is no metric {metric!r}; expected {', '.join(table_metrics())}.")
    return metric


def metric_named(name: str) -> Metric:
    """The metric of this name; one that is not installed is taken to be a share that only its results have."""
    metric = METRICS.parts().get(name)
    if metric is not None:
        return metric
    return Metric(
        name=name, title=name, doc=f"{name}, times 100", predicts="none", tested=False, interval_note="",
        set_note=f"{name}, times 100.", axis=f"{name} × 100",
    )  # fmt: skip
