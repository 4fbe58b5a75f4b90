"""What a probing task is: a question, the columns it reads, and a function from a sentence to an example."""

from sentprobe.corpus.folding import fold
from sentprobe.task.counts import OUTSIDE_BAND, Counts, most_frequent, target_forms
from sentprobe.task.example import SPLITS, Example, target_words, token_positions
from sentprobe.task.policy import LENGTH_BINS, Policy, Range
from sentprobe.task.task import (
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
    "target_words",
    "token_positions",
]  # fmt: skip
