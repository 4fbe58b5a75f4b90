"""Tasks that differ in a parameter: ``morph:obj.Case`` asks for the Case of the object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sentprobe.sentence import Sentence
from sentprobe.task.task import Task


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

    @property
    def usage(self) -> str:
        """How it is written: ``morph:ROLE.FEATURE``."""
        return f"{self.name}:{self.parameter}"
