"""What a rule of a contrast set is: a function that rewrites a sentence, and how many of the rows read were wrong.

A contrast set has rows of three texts: a sentence of the corpus (the anchor), a rewriting that keeps its meaning (the
positive) and one that changes it (the contrast). Both come from rules; a rule is one file of the folder ``rules`` with
a ``contrast_rule``, or an entry point of the group ``sentprobe.contrast_rules``. A rule takes the forms of words from
the sentence, from a list in its file, or from what the corpus attests; it inflects nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sentprobe.core.arguments import did_you_mean, listed_names
from sentprobe.core.plugins import Kind, part_repr
from sentprobe.corpus.languages import code_of
from sentprobe.errors import UsageError
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context

BUILT_IN = "built-in"
"""The corpus of rows read in sentences of the built-in grammar."""
ROWS_READ = 50
"""How many rows of a rule a person reads in a language before the rule is used there by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRead:
    """Rows of a rule that a person has read in one language, and how many of them were wrong.

    A row is wrong if the rewriting is ungrammatical, or if its meaning is the same as the anchor's where it should
    differ, or another where it should be the same. What is grammatical but unlikely is not wrong.

    Parameters
    ----------
    language
        The language code.
    corpus
        Where the rows came from.
    wrong
        How many were wrong.
    date
        When they were read, as YYYY-MM-DD.
    rows
        How many were read.
    """

    language: str
    corpus: str
    wrong: int
    date: str
    rows: int = ROWS_READ

    def __post_init__(self) -> None:
        if not 0 <= self.wrong <= self.rows:
            raise UsageError(f"Expected 0 to {self.rows} wrong rows of {self.rows}, got {self.wrong}.")

    def __str__(self) -> str:
        return f"{self.wrong} of {self.rows}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ContrastRule:
    """One way to rewrite a sentence.

    Parameters
    ----------
    name
        What users type and the rows of a set show.
    effect
        ``contrast``: the meaning changes; ``positive``: it stays.
    summary
        What is changed, in a line.
    rewrite
        ``rewrite(sentence, context)`` yields the rewritten texts, none if the rule does not apply. ``context.plan`` is
        the `sentprobe.contrast.forms.AttestedForms` of the corpus, ``context.language`` its language, and
        ``context.draw(n)`` a number below n that depends on the seed and the sentence alone.
    rows_read
        What was read, by language.
    order
        The place in lists.

    Examples
    --------
    >>> from sentprobe.contrast import ContrastRule
    >>> def rewrite(s, context):
    ...     if s.text.endswith("happy."):
    ...         yield s.text.replace("happy", "sad")
    >>> ContrastRule(name="mood", effect="contrast", summary="happy becomes sad", rewrite=rewrite)
    ContrastRule('mood')
    """

    name: str
    effect: Literal["contrast", "positive"]
    summary: str
    rewrite: Callable[[Sentence, Context], Iterator[str]]
    rows_read: Sequence[RowsRead] = ()
    order: int = 100

    __repr__ = part_repr

    def read_in(self, language: str | None) -> RowsRead | None:
        """What was read in a language; of several corpora, the first. None if fewer than 50 rows were read."""
        code = code_of(language)
        complete = [r for r in self.rows_read if r.language == code and r.rows >= ROWS_READ]
        return complete[0] if complete else None


CONTRAST_RULES = Kind("contrast rule", "sentprobe.contrast.rules", ContrastRule)
"""All rules, also those that other packages offer as entry points of the group ``sentprobe.contrast_rules``."""


def split_rules(names: Sequence[str], effect: Literal["contrast", "positive"]) -> list[ContrastRule]:
    """The rules of one effect with these names, in their order; without names, all of them.

    Raises
    ------
    UsageError
        If there is no such rule, or it has the other effect.

    Examples
    --------
    >>> from sentprobe.contrast import split_rules
    >>> split_rules(["roles", "negation"], "contrast")
    [ContrastRule('negation'), ContrastRule('roles')]
    """
    rules = {rule.name: rule for rule in CONTRAST_RULES.parts().values() if rule.effect == effect}
    for name in names:
        if name in rules:
            continue
        if name in CONTRAST_RULES.parts():
            does = "keeps the meaning" if effect == "contrast" else "changes the meaning"
            raise UsageError(f"The rule {name!r} {does}; expected one of {listed_names(rules)}.")
        raise UsageError(
            f"There is no contrast rule {name!r}; expected one of {listed_names(rules)}.{did_you_mean(name, rules)}"
        )
    return [rule for rule in rules.values() if not names or rule.name in names]
