"""What a probing task is: a question, the columns it reads, and a function from a sentence to an example."""

from sonde.task.counts import Counts, fold, most_frequent, targets
from sonde.task.example import SPLITS, Example, token_positions
from sonde.task.policy import LENGTHS, Policy, Range
from sonde.task.task import NEEDS, SPECIFIC, TARGETED, Context, Doubt, Proposal, Task, effective

__all__ = [
    "LENGTHS", "NEEDS", "SPECIFIC", "SPLITS", "TARGETED", "Context", "Counts", "Doubt", "Example", "Policy", "Proposal",
    "Range", "Task", "effective", "fold", "most_frequent", "targets", "token_positions",
]  # fmt: skip
