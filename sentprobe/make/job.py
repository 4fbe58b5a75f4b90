"""A task prepared for one corpus: its reading, plan and pool size; or why it is skipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from sentprobe.core.hashing import hash_64
from sentprobe.core.third_party import third_party_code
from sentprobe.errors import UsageError, describe_error
from sentprobe.make.candidates import Pool
from sentprobe.make.filters import strata_of
from sentprobe.tasks import FIELD_REQUIREMENTS, Counts, Policy, Task, effective_fields
from sentprobe.tasks.task import failure_location

COVERAGE = 0.1
"""A reading is used if at least this share of the sentences has its columns."""
POOL_MARGIN = 64
"""The minimum size of a pool."""
SLACK = 4
"""Where there are many cells, together they hold up to this many times the requested rows."""
COLUMN_NAMES = {
    "upos": "UD parts of speech",
    "feats": "UD features",
    "heads": "dependency heads",
    "tree": "constituency trees",
    "penn": "Penn tags",
}


@dataclass(frozen=True, slots=True)
class Job:
    """A task under a policy, ready to propose from one corpus."""

    task: Task
    policy: Policy
    suite: str
    reading: str = ""
    plan: object = None
    seed: int = 0
    language: str | None = None
    label_errors: Mapping[str, Any] | None = None
    """How often the annotator's labels are wrong, if it was measured."""

    @property
    def name(self) -> str:
        """The name of the set: ``suite/task``."""
        return f"{self.suite}/{self.task.name}"

    @property
    def salt(self) -> int:
        """What makes the priorities of this job differ from those of every other job."""
        return hash_64(f"{self.seed}/{self.policy.pool or self.task.name}")


@dataclass(frozen=True, slots=True)
class SkippedTask:
    """A set that could not be made, and why; `make_sets` yields one in place of the `Dataset`.

    Parameters
    ----------
    name
        The name the set would have: ``suite/task``.
    task
        The name of the task.
    reason
        What was missing or went wrong, in words.
    kind
        ``columns``: the corpus lacks annotation. ``setting``: a changed policy field would have no effect.
        ``too few``: the corpus is too small. ``unsound``: the rows would leak or contradict each other.
        ``failed``: the task raised an error.

    Examples
    --------
    >>> from sentprobe import Corpus, load_task, make_sets
    >>> (skipped,) = make_sets(Corpus.synthetic(20), load_task("passive"))
    >>> skipped.kind
    'too few'
    """

    name: str
    task: str
    reason: str
    kind: Literal["columns", "setting", "too few", "unsound", "failed"]


def prepare_job(
    suite: str, task: Task, policy: Policy, counts: Counts, seed: int, language: str | None = None
) -> Job | SkippedTask:
    """Choose the reading and run the task's plan."""
    name = f"{suite}/{task.name}"
    reading = choose_reading(task, policy, counts)
    if isinstance(reading, UsageError):
        return SkippedTask(name, task.name, reading.args[0], "columns")
    if problem := _ineffective_setting(task, policy, reading):
        return SkippedTask(name, task.name, problem, "setting")
    if task.name in counts.failed:
        return SkippedTask(name, task.name, counts.failed[task.name], "failed")
    try:
        with third_party_code:
            plan = task.plan(counts, policy, reading) if task.plan else None
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # whatever one task does, the others are still to be made
        where = failure_location(e, task.plan)
        return SkippedTask(name, task.name, f"its plan failed: {describe_error(e)}{where}", "failed")
    return Job(task, policy, suite, reading, plan, seed, language)


def choose_reading(task: Task, policy: Policy, counts: Counts) -> str | UsageError:
    """The first reading whose columns the corpus has, or an error that says which columns are missing."""
    missing: list[str] = []
    for reading in policy.readings or tuple(task.readings):
        lacks = [c for c in sorted(task.readings[reading]) if counts.columns[c] < COVERAGE * counts.sentences]
        if not lacks:
            return reading
        missing.append(f"{' and '.join(COLUMN_NAMES.get(c, c) for c in lacks)} ({reading} reading)")
    return UsageError(f"the corpus lacks {', and '.join(missing)}")


def _ineffective_setting(task: Task, policy: Policy, reading: str) -> str | None:
    """A message if the policy was changed in a field that has no effect under this reading, otherwise None."""
    effective = effective_fields(task, policy, {reading})
    predefined = (Policy(), *task.policies.values())
    for field in fields(Policy):
        value = getattr(policy, field.name)
        if field.name in effective or value in [getattr(p, field.name) for p in predefined]:
            continue
        using = [r for r in task.readings if field.name in effective_fields(task, policy, {r})]
        if using:
            where = f"on the {reading} reading, the one used on this corpus; it has one on {' and '.join(using)}"
        else:
            needs = FIELD_REQUIREMENTS.get(field.name)
            where = f"on {task.name}" + (f"; it needs {needs}" if needs else "")
        return f"the setting {field.name} has no effect {where}. Leave it out"
    return None


def empty_pool(job: Job, sharing: int = 1) -> Pool:
    """A pool large enough for the requested sizes, times the number of jobs that share its sentences, and no larger."""
    policy, labels = job.policy, job.task.labels
    rows = sum(policy.sizes)
    if policy.balance == "natural":
        return Pool(rows * sharing + POOL_MARGIN)
    minimum = len(labels) if isinstance(labels, tuple) else policy.min_classes
    most = len(labels) if isinstance(labels, tuple) else policy.classes or len(policy.bins) or minimum
    limit = rows // minimum
    if policy.strata == "exact" or most > minimum:
        # many cells: a share of the rows each, with slack for those that come out unevenly
        strata = len(strata_of(policy)) if policy.strata == "exact" else 1
        limit = min(limit, SLACK * rows // (most * strata))
    return Pool(limit * sharing + POOL_MARGIN)
