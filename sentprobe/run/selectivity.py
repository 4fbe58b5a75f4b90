"""Selectivity (Hewitt and Liang 2019): the accuracy on a task minus that on its control task, on the same rows.

The control re-splits the rows of a set, so that every test word is in train. The task is scored on that same split: the
same vectors, the same train, dev and test rows, the same probe with the same settings; only the labels differ. Every
test row is thus scored twice, and the difference is paired. Rows of one key have one control label and are not
independent, so the interval is over keys, not rows.

If only few rows differ, the interval could be too narrow. So it is never narrower than Newcombe's for paired
proportions of independent rows. It covers other keys and control labels, but not other training sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sentprobe.data.splits import Splits
from sentprobe.errors import DataError
from sentprobe.results.result import Result
from sentprobe.results.verify import Arrays
from sentprobe.run.cells import probe_unit
from sentprobe.run.control import with_chosen_settings
from sentprobe.run.shared import SharedCache
from sentprobe.run.unit import Unit
from sentprobe.stats.means import mean
from sentprobe.stats.paired import mcnemar


@dataclass(frozen=True, slots=True)
class Selectivity:
    """The accuracy on a task minus that on its control task, on the same rows."""

    value: float
    low: float
    high: float
    task: float
    """Accuracy with the labels of the task."""
    control: float
    """Accuracy with the labels of the control."""
    keys: int
    """Distinct keys of the test rows."""


def selectivity(
    task_right: npt.ArrayLike,
    control_right: npt.ArrayLike,
    keys: Sequence[str],
) -> Selectivity:
    """Selectivity from the test rows (n) that are right on the task and on the control; ``keys`` (n) cluster them."""
    paired = mcnemar(task_right, control_right)
    if len(keys) != paired.n:
        raise DataError(f"Expected a key for each of {paired.n} rows, got {len(keys)}.")
    task, control, low, high = np.asarray(task_right), np.asarray(control_right), paired.low, paired.high
    if len(set(keys)) > 1:
        by_keys = mean(task.astype(np.float64) - control, keys).interval()
        low, high = max(-1.0, min(low, by_keys[0])), min(1.0, max(high, by_keys[1]))
    return Selectivity(paired.difference, low, high, float(task.mean()), float(control.mean()), len(set(keys)))


def seen_share(parts: Splits) -> float:
    """The share of a set's own test rows whose target form is also in train; 1 for sets without target forms.

    Where it is 0, memorising words cannot explain the score of the set, whatever its selectivity.
    """
    if parts.grouped or any(key is None for key in parts.test.keys):
        return 1.0
    train = set(parts.train.keys)
    return sum(key in train for key in parts.test.keys) / max(1, len(parts.test.keys))


def selectivity_unit(unit: Unit, same_rows: Splits) -> list[tuple[Result, Arrays, None]]:
    """The results of a control, each with that of the task on the same rows.

    ``scores`` has task, control and selectivity with its interval, and ``seen_share`` as seen; the predictions on the
    task are ``task_predicted`` and ``task_truth``, indices into the labels of the set.
    """
    # both fits share a cache of their own, because their training rows are not those of the set
    plain = None if unit.plain is None else replace(unit.plain, shared=SharedCache())
    unit = replace(unit, plain=plain)
    found: list[tuple[Result, Arrays, None]] = []
    for cell in unit.cells:
        one = replace(unit, cells=[cell])
        ((task, kept, _),) = probe_unit(replace(one, parts=same_rows), statistics=True)
        ((result, arrays, _),) = probe_unit(replace(one, probe=with_chosen_settings(unit.probe, task)), statistics=True)
        keys = [str(key) for key in unit.parts.test.keys]
        measured = selectivity(kept["predicted"] == kept["truth"], arrays["predicted"] == arrays["truth"], keys)
        scores = {
            **result.scores, "task": measured.task, "control": measured.control, "selectivity": measured.value,
            "selectivity_low": measured.low, "selectivity_high": measured.high, "keys": measured.keys,
        }  # fmt: skip
        if unit.plain is not None:
            scores["seen"] = seen_share(unit.plain.parts)
        seconds = {**result.seconds, "fit": result.seconds["fit"] + task.seconds["fit"]}
        more = {"task_predicted": kept["predicted"], "task_truth": kept["truth"], "keys": np.array(keys, np.str_)}
        found.append((replace(result, scores=scores, seconds=seconds), {**arrays, **more}, None))
    return found
