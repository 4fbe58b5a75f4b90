"""Selectivity (Hewitt and Liang 2019): the accuracy on a task minus that on its control task, on the same rows.

The control deals the rows of a set anew, so that every test word is in train. The task is scored on that same deal:
the same vectors, the same train, dev and test rows, the same probe with the same settings, and only the labels differ.
Every test row is thus right or wrong twice, which makes the difference a paired one. Rows of one key have one control
label and stand and fall together, so the interval is over keys, not rows.

Where hardly a row differs, rows tell little. So the interval is never narrower than Newcombe's for paired shares of
independent rows. It says what other keys and control labels would do, and not what another training set would do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sonde.errors import DataError
from sonde.result import Result
from sonde.run.cells import probe_unit
from sonde.run.control import with_chosen_settings
from sonde.run.folder import Arrays
from sonde.run.parts import Parts
from sonde.run.shared import SharedCache
from sonde.run.unit import Unit
from sonde.stats.means import mean
from sonde.stats.paired import mcnemar


@dataclass(frozen=True, slots=True)
class Selectivity:
    """By how much a task is solved better than its control task, on the same rows."""

    value: float
    low: float
    high: float
    task: float
    """Accuracy with the labels of the task."""
    control: float
    """Accuracy with the labels of the control."""
    keys: int
    """Different keys of the test rows."""


def selectivity(
    task_right: npt.ArrayLike,
    control_right: npt.ArrayLike,
    keys: Sequence[str],
    *,
    level: float = 0.95,
) -> Selectivity:
    """The difference from the test rows (n) that are right with either labels; ``keys`` (n) are those of the rows."""
    said = mcnemar(task_right, control_right, level=level)
    if len(keys) != said.n:
        raise DataError(f"There are {said.n} rows and {len(keys)} keys; expected the key of each row.")
    task, control, low, high = np.asarray(task_right), np.asarray(control_right), said.low, said.high
    if len(set(keys)) > 1:
        by_keys = mean(task.astype(np.float64) - control, keys).interval(level)
        low, high = max(-1.0, min(low, by_keys[0])), min(1.0, max(high, by_keys[1]))
    return Selectivity(said.difference, low, high, float(task.mean()), float(control.mean()), len(set(keys)))


def selectivity_unit(unit: Unit, same_rows: Parts) -> list[tuple[Result, Arrays, None]]:
    """The results of a control, each with that of the task on the same rows beside it.

    ``scores`` has task, control and selectivity with its interval; the predictions of the task are ``task_predicted``
    and ``task_truth``, places among the labels of the set.
    """
    # fits of both share what follows from the vectors, on a shelf of their own: the set's own training rows are others
    plain = None if unit.plain is None else replace(unit.plain, shared=SharedCache())
    unit = replace(unit, plain=plain)
    found: list[tuple[Result, Arrays, None]] = []
    for cell in unit.cells:
        one = replace(unit, cells=[cell])
        ((task, kept, _),) = probe_unit(replace(one, parts=same_rows), statistics=True)
        ((result, arrays, _),) = probe_unit(replace(one, probe=with_chosen_settings(unit.probe, task)), statistics=True)
        keys = [str(key) for key in unit.parts.test.keys]
        said = selectivity(kept["predicted"] == kept["truth"], arrays["predicted"] == arrays["truth"], keys)
        scores = {
            **result.scores, "task": said.task, "control": said.control, "selectivity": said.value,
            "selectivity_low": said.low, "selectivity_high": said.high, "keys": said.keys,
        }  # fmt: skip
        seconds = {**result.seconds, "fit": result.seconds["fit"] + task.seconds["fit"]}
        more = {"task_predicted": kept["predicted"], "task_truth": kept["truth"], "keys": np.array(keys, np.str_)}
        found.append((replace(result, scores=scores, seconds=seconds), {**arrays, **more}, None))
    return found
