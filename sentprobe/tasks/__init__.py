"""Probing tasks: a question, the columns it reads, and a function from a sentence to an example.

``definitions`` has the built-in tasks and ``parametric`` those with a parameter, one file each.
"""

from sentprobe.tasks.catalogue import (
    PAPERS,
    PARAMETRIC_TASKS,
    SUITES,
    TASKS,
    is_task_name,
    load_task,
    parametric_suites,
    suite_tasks,
)
from sentprobe.tasks.counts import OUTSIDE_BAND, Counts, most_frequent, target_forms
from sentprobe.tasks.example import SPLIT_NAMES, SPLITS, Example, target_words, token_positions
from sentprobe.tasks.policy import LENGTH_BINS, Policy
from sentprobe.tasks.task import (
    FIELD_REQUIREMENTS,
    TARGET_FIELDS,
    TASK_SPECIFIC_FIELDS,
    Context,
    LabelIssue,
    ParametricTask,
    Proposal,
    Task,
    effective_fields,
)

__all__ = [
    "FIELD_REQUIREMENTS",
    "LENGTH_BINS",
    "OUTSIDE_BAND",
    "PAPERS",
    "PARAMETRIC_TASKS",
    "SPLITS",
    "SPLIT_NAMES",
    "SUITES",
    "TARGET_FIELDS",
    "TASKS",
    "TASK_SPECIFIC_FIELDS",
    "Context",
    "Counts",
    "Example",
    "LabelIssue",
    "ParametricTask",
    "Policy",
    "Proposal",
    "Task",
    "effective_fields",
    "is_task_name",
    "load_task",
    "most_frequent",
    "parametric_suites",
    "suite_tasks",
    "target_forms",
    "target_words",
    "token_positions",
]
