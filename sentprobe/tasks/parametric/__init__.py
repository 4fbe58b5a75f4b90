"""One file, one parametric task; the name of the file is what stands before the colon on the command line."""

from __future__ import annotations

from collections.abc import Mapping

from sentprobe.core.plugins import Kind
from sentprobe.task.parametric import ParametricTask

PARAMETRIC_TASKS = Kind("parametric task", __name__, ParametricTask)


def parametric_suites() -> Mapping[str, ParametricTask]:
    """The suites of all tasks that a corpus supports."""
    return {part.suite: part for part in PARAMETRIC_TASKS.parts().values()}
