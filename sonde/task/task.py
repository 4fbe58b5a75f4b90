"""What a probing task is: a question, the columns it reads, and a function from a sentence to an example."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from random import Random
from typing import Any, Literal

from sonde.core.hashing import mix
from sonde.corpus.sentence import Sentence
from sonde.task.counts import Counts
from sonde.task.example import Example
from sonde.task.policy import Policy


@dataclass(slots=True)
class Context:
    """What ``propose`` may look at besides the sentence; its draws depend on seed, task and sentence only."""

    policy: Policy
    reading: str
    plan: Any
    state: int = 0

    def draw(self, n: int) -> int:
        """A number in 0 … n-1, each as likely as the others."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        return mix(self.state) % n


LabelIssue = Literal["", "wrong", "ambiguous"]
"""A label that the tokens contradict, one of several that they support, or nothing to say against it."""
Proposal = Example | str | None
"""The example, or the reason there is none; None: the question does not apply to the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One probing task. ``readings`` are ways to read the label off the annotation, each with the columns it needs."""

    name: str
    version: int
    question: str
    paper: str
    propose: Callable[[Sentence, Context], Proposal]
    labels: tuple[str, ...] | str
    """The labels, or a sentence that says what they are when they depend on the corpus."""
    readings: Mapping[str, frozenset[str]] = field(default_factory=lambda: {"text": frozenset()})
    policies: Mapping[str, Policy] = field(default_factory=lambda: {"default": Policy()})
    """One policy per suite the task belongs to."""
    tables: frozenset[str] = frozenset()
    """Count tables the plan reads: ``words``, ``bigrams``."""
    count: Callable[[Sentence], Iterable[Hashable]] | None = None
    """Anything else to count in the first pass."""
    plan: Callable[[Counts, Policy, str], Any] | None = None
    """From counts to whatever ``propose`` needs, once per corpus; what it returns is sent to every worker."""
    complete: Callable[[Sequence[Example], Random], list[Example]] | None = None
    """From the chosen examples of one split to its rows (Adi's word tasks add the word and its opposite here)."""
    original: Callable[[Example], str | None] | None = None
    """Of a task that changes sentences: from a row to the text before the change, or None if the row does not tell."""
    changes: Literal["", "order", "words"] = ""
    """Whether rows may hold a sentence with words moved or replaced, which must not be another row's sentence."""
    solved_by: frozenset[str] = frozenset()
    """Shallow cues that answer the question honestly, so that an audit expects them: ``length``, ``unigrams``, …"""
    inputs: tuple[str, ...] = ()
    """Further columns that the probe is given beside the sentence: the words of Adi's tasks."""
    settings: tuple[str, ...] | None = None
    """The fields of a policy among ``SPECIFIC`` that it takes note of; one that only some readings know has these in
    front: ``constituency.depths``. None: it may take note of any."""
    label_issues: Callable[[Sequence[Example]], list[LabelIssue]] | None = None
    """What the tokens alone say against the label of each row, where they can; of any set of this task, by whomever."""


TARGET_FIELDS = ("band", "band_tokens", "trim", "disjoint", "cap")
"""Fields of a policy for tasks whose examples have a target form that ``targets`` chooses."""
TASK_SPECIFIC_FIELDS = (*TARGET_FIELDS, "bins", "depths", "ranks", "tolerance", "domain", "subtypes", "upos", "tense")
"""Fields that only some tasks know."""
FIELD_REQUIREMENTS = {
    "strata": "balance=equal",
    "remainder": "balance=equal and decorrelate=exact",
    "disjoint": "balance=equal and decorrelate=exact",
    "cap": "balance=equal and decorrelate=exact",
    "decorrelate": 'balance=equal and strata="exact"',
    "band_tokens": "a band",
    "classes": "a task whose labels depend on the corpus",
    "min_classes": "a task whose labels depend on the corpus",
}
"""What must be so for a field to have an effect, in words."""


def effective_fields(task: Task, policy: Policy, readings: Collection[str]) -> frozenset[str]:
    """The fields of a policy that can have an effect on the task's sets under one of these readings."""
    known = {f.name for f in fields(Policy)}
    if task.settings is not None:
        named = [name.rpartition(".") for name in task.settings]
        known -= set(TASK_SPECIFIC_FIELDS) - {
            field for reading, _, field in named if not reading or reading in readings
        }
    if isinstance(task.labels, tuple):
        known -= {"classes", "min_classes"}
    if policy.balance == "natural":
        known -= {"strata", "decorrelate", "remainder", "disjoint", "cap"}
    elif policy.strata != "exact":
        known -= {"decorrelate"}
    elif policy.decorrelate == "gaussian":
        known -= {"remainder", "disjoint", "cap"}
    if policy.band is None:
        known -= {"band_tokens"}
    return frozenset(known)
