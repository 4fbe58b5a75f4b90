"""Controls and measures of an encoder against its own score, on the same test rows: does the score fall?

A control that is trained and tested on the same rows with other texts, vectors or labels has predictions of its own, as
has a measure such as ``inlp``. Its difference from the score is tested row by row, as that of two encoders is. Controls
are not retrained: their scores are taken to vary as much over samples of training rows as that of the encoder does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sentprobe.core.arguments import StringsOrPaths, as_strings, did_you_mean
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.results.compare import Comparison, compare_results, tested_metric
from sentprobe.results.metric import DEFAULT_METRIC, Metric, metric_named
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.sides import select_side
from sentprobe.run.control import CONTROLS
from sentprobe.run.variant import ERASED
from sentprobe.stats import holm


@dataclass(frozen=True, slots=True)
class ControlComparison:
    """The score of an encoder on one set minus that of a control or measure, with an interval and p-values.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import Dataset, Example, compare_with_controls, evaluate
    >>> rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    >>> splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    >>> parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    >>> def digit(texts):
    ...     return [[int(text[-1]) % 2, 1] for text in texts]
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = evaluate(digit, parity, folder.name, baselines=[], resample=0, controls=["gaussian"])
    >>> (fall,) = compare_with_controls(run, "digit")
    >>> fall.control, fall.comparison.first, fall.comparison.better()
    ('gaussian', 1.0, 'first')
    >>> folder.cleanup()
    """

    control: str
    """The name of the control or measure, as in ``sentprobe run --controls NAME``."""
    comparison: Comparison
    """The first is the score of the encoder, the second that of the control."""


def compare_with_controls(
    run: Run, encoder: str, names: StringsOrPaths = (), *, metric: str = DEFAULT_METRIC
) -> list[ControlComparison]:
    """Compare an encoder with its own controls and measures, on every set that has them.

    Parameters
    ----------
    run
        The run, or several joined by ``join_runs``.
    encoder
        By name or an unambiguous part of it, optionally with ``|probe=…`` if a run has several.
    names
        Controls and measures; all that predict the labels of the same test rows, unless some are named.
    metric
        By what: a metric that is computed from predicted classes.

    Returns
    -------
    list[ControlComparison]
        One per control and set, with p-values adjusted by Holm over all of them.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import Dataset, Example, compare_with_controls, evaluate
    >>> rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    >>> splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    >>> parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    >>> def digit(texts):
    ...     return [[int(text[-1]) % 2, 1] for text in texts]
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = evaluate(digit, parity, folder.name, baselines=[], resample=0, controls=["gaussian", "shuffled"])
    >>> [fall.control for fall in compare_with_controls(run, "digit", "gaussian")]
    ['gaussian']
    >>> folder.cleanup()
    """
    part, side = tested_metric(metric), select_side(run, encoder, metric)
    pairs = [
        (control, plain, controls)
        for plain in side.results.values()
        for control, controls in _controls_of(run, plain).items()
    ]
    wanted = as_strings(names, "a control")
    present = dict.fromkeys(control for control, _, _ in pairs)
    for name in wanted:
        if name not in present:
            hint = did_you_mean(name, present, n=1) or f" It has {', '.join(present) or 'none'}."
            raise UsageError(
                f"{encoder} has no results of {name!r} on the test rows of its scores in {run.folder}.{hint} "
                "`sentprobe run --controls NAME` adds one."
            )
    if not present:
        raise UsageError(
            f"{encoder} has no controls in {run.folder}, and there is no other encoder to compare it with: "
            "`sentprobe run --controls all` adds controls."
        )
    comparisons = [
        ControlComparison(control, compare_results(run, plain, controls, part))
        for control, plain, controls in pairs
        if not wanted or control in wanted
    ]
    return adjusted(comparisons)


def adjusted(comparisons: Sequence[ControlComparison]) -> list[ControlComparison]:
    """The comparisons with p-values adjusted by Holm over all of them."""
    p_values = holm([c.comparison.p for c in comparisons]).tolist()
    return [replace(c, comparison=replace(c.comparison, p_holm=p)) for c, p in zip(comparisons, p_values, strict=True)]


def _controls_of(run: Run, plain: Sequence[Result]) -> dict[str, list[Result]]:
    """The controls and measures of a score that predict the labels of its test rows, by name, with the same seeds."""
    controls: dict[str, list[Result]] = {}
    for result in run.extras:
        near = next((r for r in plain if is_control_of(result, r)), None)
        if near is not None:
            controls.setdefault(result.cell.variant or "", []).append(result)
    return controls


def is_control_of(result: Result, plain: Result) -> bool:
    """Whether a control or measure predicts the labels of the test rows of a score, with the same probe and seed."""
    cell, name = result.cell, result.cell.variant or ""
    same = replace(cell, variant=None, identity=plain.cell.identity, parts=plain.cell.parts) == plain.cell
    return (
        same
        and result.n["te"] == plain.n["te"] > 1
        and metric_named(result.metric).right_or_wrong
        and not name.startswith(ERASED)
        and (name not in CONTROLS or CONTROLS[name].same_test)
    )


def try_compare(run: Run, plain: Sequence[Result], control: Result, metric: Metric) -> Iterator[Comparison]:
    """The comparison of a score with one control; none where predictions cannot be read."""
    try:
        yield compare_results(run, plain, [control], metric)
    except SentProbeError:  # which the notes on scores report
        return
