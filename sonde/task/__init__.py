"""What a probing task is: a question, the columns it reads, and a function from a sentence to an example."""

from sonde.task.counts import OUTSIDE_BAND, Counts, fold, most_frequent, target_forms
from sonde.task.example import SPLITS, Example, token_positions
from sonde.task.policy import LENGTH_BINS, Policy, Range
from sonde.task.task import (
    FIELD_REQUIREMENTS,
    TARGET_FIELDS,
    TASK_SPECIFIC_FIELDS,
    Context,
    LabelIssue,
    Proposal,
    Task,
    effective_fields,
)

__all__ = [
    "FIELD_REQUIREMENTS",
    "LENGTH_BINS",
    "OUTSIDE_BAND",
    "SPLITS",
    "TARGET_FIELDS",
    "TASK_SPECIFIC_FIELDS",
    "Context",
    "Counts",
    "Example",
    "LabelIssue",
    "Policy",
    "Proposal",
    "Range",
    "Task",
    "effective_fields",
    "fold",
    "most_frequent",
    "target_forms",
    "token_positions",
]  # fmt: skip
