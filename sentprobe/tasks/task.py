"""What a probing task is: a question, the columns it reads, and a function from a sentence to an example."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from random import Random
from traceback import extract_tb
from typing import Any, Literal

from sentprobe.core.hashing import mix
from sentprobe.core.plugins import part_repr
from sentprobe.corpus.folding import fold, lower_case
from sentprobe.errors import UsageError, error_location
from sentprobe.sentence import Sentence
from sentprobe.tasks.counts import Counts
from sentprobe.tasks.example import Example
from sentprobe.tasks.policy import Policy


@dataclass(slots=True)
class Context:
    """What ``propose`` may look at besides the sentence; its draws depend on seed, task and sentence only."""

    policy: Policy
    reading: str
    plan: Any
    state: int = 0
    language: str | None = None
    """The code of the corpus's language, if it is known."""

    def fold(self, form: str) -> str:
        """A form as a key: equal for all spellings of one form in the corpus's language, in any case."""
        return fold(form, self.language)

    def lower_case(self, form: str) -> str:
        """A form in the lower case of the corpus's language, as readers of a set see it."""
        return lower_case(form, self.language)

    def draw(self, n: int) -> int:
        """A number from 0 to n - 1, all equally likely."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        return mix(self.state) % n


LabelIssue = Literal["", "wrong", "ambiguous"]
"""Whether the tokens contradict a label, or support several; empty: nothing speaks against it."""
Proposal = Example | str | None
"""The example, or the reason why there is none; None: the question does not apply to the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Task:
    """One probing task: a question, and a function from a sentence to a labelled example.

    Parameters
    ----------
    name
        A plain name; it becomes a folder.
    version
        Raise it when the sets would come out differently.
    question
        The question that a probe has to answer about a sentence.
    paper
        Where the task comes from.
    propose
        ``propose(sentence, context)`` returns the `Example`, or the reason (a string) why there is none, or None if the
        question does not apply.
    labels
        The labels; or, when they depend on the corpus, a sentence that says what they are.
    title
        The name in words, where that is not the name without its underscores: ``subject number``.
    label_names
        What labels that are codes mean, in a word or two, for readers: ``{"NNS": "plural"}``. Sets keep the codes.
    readings
        Ways to read the label off the annotation, each with the columns it needs, best first.
    policies
        One `Policy` per suite that the task belongs to.
    as_published
        By suite, the fields of its policy that differ from what its paper says or released, with the paper's values.
    tables
        The count tables that ``plan`` reads: ``words``, ``bigrams``.
    count
        ``count(sentence)`` yields anything else to count in the first pass.
    plan
        ``plan(counts, policy, reading)`` turns counts into whatever ``propose`` needs (``context.plan``), once per
        corpus; the result is sent to every worker.
    complete
        ``complete(examples, rng)`` turns the chosen examples of one split into its rows (Adi's word tasks add the word
        and its opposite here).
    original
        For a task that changes sentences: ``original(row)`` gives the text before the change, or None if unknown.
    changes
        ``order`` or ``words``: rows may be sentences with words moved or replaced, which must not be the sentence of
        another row.
    solved_by
        Shallow cues that answer the question legitimately, so that an audit expects them: ``length``, ``unigrams``, …
    inputs
        Extra columns that the probe is given besides the sentence: the words of Adi's tasks.
    settings
        The fields of the policy among ``sentprobe.extend.TASK_SPECIFIC_FIELDS`` that the task uses; one that only some
        readings use is prefixed with them: ``constituency.depths``. None: it may use any.
    label_issues
        ``label_issues(rows)`` says for each row whether the tokens contradict the label; applied to any set of this
        task, whoever made it.
    doubts
        ``doubts(rows, language)`` says for each row why the form of its target speaks against the label, or an empty
        string: a second opinion on what an annotator tagged.

    Examples
    --------
    >>> from sentprobe import Example, Policy, Task
    >>> def propose(s, context):
    ...     return Example.of(s, "question" if s.text.endswith("?") else "other")
    >>> Task(name="is_question", version=1, question="Is it a question?", paper="ours", propose=propose,
    ...      labels=("question", "other"), policies={"ours": Policy(sizes=(400, 80, 80))})
    Task('is_question', version 1, readings: text, suites: ours)
    """

    name: str
    version: int
    question: str
    paper: str
    propose: Callable[[Sentence, Context], Proposal]
    labels: tuple[str, ...] | str
    title: str = ""
    label_names: Mapping[str, str] = field(default_factory=dict)
    readings: Mapping[str, frozenset[str]] = field(default_factory=lambda: {"text": frozenset()})
    policies: Mapping[str, Policy] = field(default_factory=lambda: {"default": Policy()})
    as_published: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tables: frozenset[str] = frozenset()
    count: Callable[[Sentence], Iterable[Hashable]] | None = None
    plan: Callable[[Counts, Policy, str], Any] | None = None
    complete: Callable[[Sequence[Example], Random], list[Example]] | None = None
    original: Callable[[Example], str | None] | None = None
    changes: Literal["", "order", "words"] = ""
    solved_by: frozenset[str] = frozenset()
    inputs: tuple[str, ...] = ()
    settings: tuple[str, ...] | None = None
    label_issues: Callable[[Sequence[Example]], list[LabelIssue]] | None = None
    doubts: Callable[[Sequence[Example], str | None], list[str]] | None = None

    def __repr__(self) -> str:
        readings, suites = ", ".join(self.readings), ", ".join(self.policies)
        return f"Task({self.name!r}, version {self.version}, readings: {readings}, suites: {suites})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParametricTask:
    """A question with a blank, and how to fill it.

    Parameters
    ----------
    name
        What stands before the colon: ``morph``.
    parameter
        What stands after it, in words: ``ROLE.FEATURE``.
    example
        A parameter, for messages.
    summary
        The question.
    suite
        The suite of all its tasks that a corpus supports.
    source
        Where its labels come from, for lists.
    build
        ``build(parameter)`` returns the `Task`, whose name is that of the parametric task and the parameter, with a dot
        between them; raises UsageError if there is no such parameter.
    survey
        ``survey(sentence)`` yields a (parameter, value) pair for each parameter that the sentence has an answer to.
    supported
        ``supported(tallies, sentences, least)``: the parameters for which a set can be made, from how many of
        the sentences have each value; ``least`` is the smallest class.

    Examples
    --------
    >>> from sentprobe.tasks import PARAMETRIC_TASKS
    >>> morph = PARAMETRIC_TASKS.get("morph")
    >>> morph, morph.usage
    (ParametricTask('morph'), 'morph:ROLE.FEATURE')
    >>> morph.build("obj.Case").name
    'morph.obj.Case'
    """

    name: str
    parameter: str
    example: str
    summary: str
    suite: str
    source: str
    build: Callable[[str], Task]
    survey: Callable[[Sentence], Iterable[tuple[str, str]]]
    supported: Callable[[Mapping[str, Mapping[str, int]], int, int], list[str]]

    __repr__ = part_repr

    @property
    def usage(self) -> str:
        """How it is written: ``morph:ROLE.FEATURE``."""
        return f"{self.name}:{self.parameter}"


TARGET_FIELDS = ("band", "band_tokens", "trim", "disjoint", "cap")
"""Fields of a policy for tasks whose examples have a target form, which ``target_forms`` chooses."""
TASK_SPECIFIC_FIELDS = (
    *TARGET_FIELDS,
    "bins",
    "depths",
    "ranks",
    "letters",
    "tolerance",
    "domain",
    "subtypes",
    "punctuation",
    "upos",
    "tense",
    "clauses",
)
"""Fields that only some tasks use."""
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
"""What a field needs in order to have an effect, in words."""


def effective_fields(task: Task, policy: Policy, readings: Collection[str]) -> frozenset[str]:
    """The fields of a policy that can have an effect on the task's sets under one of these readings."""
    effective = {f.name for f in fields(Policy)}
    if task.settings is not None:
        named = [name.rpartition(".") for name in task.settings]
        effective -= set(TASK_SPECIFIC_FIELDS) - {
            field for reading, _, field in named if not reading or reading in readings
        }
    if isinstance(task.labels, tuple):
        effective -= {"classes", "min_classes"}
    if policy.balance == "natural":
        effective -= {"strata", "decorrelate", "remainder", "disjoint", "cap"}
    elif policy.strata != "exact":
        effective -= {"decorrelate"}
    elif policy.decorrelate == "gaussian":
        effective -= {"remainder", "disjoint", "cap"}
    if policy.band is None:
        effective -= {"band_tokens"}
    return frozenset(effective)


# Code that users wrote for a task

ARGUMENTS = {
    "propose": "(sentence, context)",
    "count": "(sentence)",
    "plan": "(counts, policy, reading)",
    "complete": "(examples, rng)",
    "original": "(row)",
    "label_issues": "(rows)",
}
"""What each function of a task is called with."""


def check_signatures(task: Task) -> None:
    """Refuse a task one of whose functions cannot be called with what it will be given, naming its file and line."""
    for name, expected in ARGUMENTS.items():
        call = getattr(task, name)
        if call is None:
            if name == "propose":
                raise UsageError(f"The task {task.name} has no `propose`; expected a function {name}{expected}.")
            continue
        if not callable(call):
            raise UsageError(
                f"The task {task.name}: expected `{name}` to be a function {name}{expected}, got {call!r:.80}."
            )
        try:
            signature = inspect.signature(call)
        except (TypeError, ValueError):  # some functions written in C have none
            continue
        try:
            signature.bind(*[None] * (expected.count(",") + 1))
        except TypeError:
            raise UsageError(
                f"The task {task.name}: expected a function {name}{expected}, "
                f"got {getattr(call, '__name__', name)}{signature}{_defined_at(call)}."
            ) from None


def failure_location(error: BaseException, call: Callable[..., Any] | None) -> str:
    """Where a function of a task went wrong, as `` (file:line)``: the last line of its own file that was running.

    The innermost frame may be a library's, and a call with the wrong arguments has no frame at all.
    """
    if (file := _file(call)) is not None:
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
        if lines:
            return f" ({file}:{lines[-1]})"
    return error_location(error) or _defined_at(call)


def _file(call: Callable[..., Any] | None) -> str | None:
    code = getattr(call, "__code__", None)
    return None if code is None else str(code.co_filename)


def _defined_at(call: Callable[..., Any] | None) -> str:
    file = _file(call)
    return "" if call is None or file is None else f" ({file}:{call.__code__.co_firstlineno})"
