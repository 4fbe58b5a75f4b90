"""One row of a probing set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sentprobe.core.memory import remember_last
from sentprobe.corpus.folding import lower_case
from sentprobe.sentence import Sentence, shorten

SPLITS = ("tr", "va", "te")
"""Train, validation and test, as SentEval's files name them."""


class Example(NamedTuple):
    """One row of a probing set: a labelled sentence.

    Most tasks make one with `Example.of`. It is a named tuple because a pass over a corpus makes several per sentence,
    and a frozen dataclass takes twice as long.

    Attributes
    ----------
    label
        The answer to the task's question.
    tokens
        The surface tokens.
    text
        The sentence as it is written; encoders see this.
    source
        The id of the sentence it was made from.
    key
        The target form that must not be shared between splits, if the task has one.
    stratum
        A group inside which classes are balanced, besides that of length.
    marks
        Positions of the target or changed tokens, counted from 0.
    extra
        Further columns as (name, value) pairs: the word of Adi's tasks, the replaced word of odd man out. One whose
        name begins with ``#`` is a note, which the manifest counts and the rows drop.

    Examples
    --------
    >>> from sentprobe import Example, Sentence
    >>> s = Sentence("s1", "Dogs bark.", ("Dogs", "bark", "."))
    >>> Example.of(s, "Plur", key="dogs", marks=[0])
    Example('Plur', 'Dogs bark.', source='s1', key='dogs', marks=(0,))
    """

    label: str
    tokens: tuple[str, ...]
    text: str
    source: str = ""
    key: str | None = None
    stratum: str = ""
    marks: tuple[int, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, s: Sentence, label: str, *, key: str | None = None, stratum: str = "", marks: Sequence[int] = ()
    ) -> Example:
        """The unchanged sentence with a label.

        Parameters
        ----------
        s
            The sentence.
        label
            The answer to the task's question.
        key
            The target form that must not be shared between splits.
        stratum
            A group inside which classes are balanced.
        marks
            Word positions of the target; they become token positions.
        """
        return cls(label, s.tokens, s.text, s.id, key, stratum, token_positions(s, marks) if marks else ())

    def __repr__(self) -> str:
        named = ((name, getattr(self, name)) for name in ("source", "key", "stratum", "marks", "extra"))
        rest = "".join(f", {name}={value!r}" for name, value in named if value)
        return f"Example({self.label!r}, {shorten(self.text)!r}{rest})"


def target_words(row: Example) -> list[str]:
    """The target of a row, or its marked tokens, in lower case; empty if the row does not say which they are."""
    marked = [row.tokens[i] for i in row.marks if i < len(row.tokens)]
    return [lower_case(word) for word in marked or (row.key or "").split()]


def token_positions(s: Sentence, words: Iterable[int]) -> tuple[int, ...]:
    """The positions of the surface tokens of these words; a word inside a multi-word token has that token's."""
    if not s.mwts or not words:
        return tuple(words)
    where = _token_of_word(s)
    return tuple([where[w] for w in words])


@remember_last
def _token_of_word(s: Sentence) -> list[int]:
    where: list[int] = []
    starts = {first: end for first, end, _ in s.mwts}
    word = token = 0
    while word < len(s):
        end = starts.get(word, word + 1)
        where += [token] * (end - word)
        word, token = end, token + 1
    return where
