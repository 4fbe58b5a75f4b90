"""One row of a probing set: a labelled sentence, as it was or with some of its words changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sentprobe.core.resources import remember_last
from sentprobe.core.words import is_word
from sentprobe.corpus.folding import lower_case
from sentprobe.corpus.syntax import is_unspaced
from sentprobe.sentence import Sentence, shorten

SPLITS = ("tr", "va", "te")
"""Train, validation and test, as SentEval's files name them."""
SPLIT_NAMES = {"tr": "train", "va": "dev", "te": "test"}
"""What tables and messages call them."""


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
        optional = "".join(f", {name}={value!r}" for name, value in named if value)
        return f"Example({self.label!r}, {shorten(self.text)!r}{optional})"


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


# Sentences with some words changed, whose text stays natural


@remember_last
def plain_words(s: Sentence) -> frozenset[int]:
    """Positions of words that are surface tokens of their own and have a letter in them."""
    words = {i for i, form in enumerate(s.forms) if form.isalpha() or any(map(str.isalpha, form))}
    return frozenset(words.difference(*(range(first, end) for first, end, _ in s.mwts)))


@remember_last
def replaceable_words(s: Sentence) -> frozenset[int]:
    """Plain words with nothing attached but closing punctuation, so that another word may take their place.

    French *l'* and the parts of a hyphenated word are not replaceable. In a script that is written without spaces,
    every token is.
    """
    forms, last = s.forms, len(s) - 1
    space = s.space_after or (True,) * len(s)
    return frozenset(
        [
            i
            for i in plain_words(s)
            if (
                ((i == 0 or space[i - 1]) and (i == last or space[i] or forms[i + 1] in CLOSING))
                or is_unspaced(forms[i])
            )
            and forms[i][0].isalnum()
            and (forms[i][-1].isalnum() or is_word(forms[i]))
        ]
    )


CLOSING = frozenset({".", ",", ";", ":", "!", "?", "…", "...", ")", "]", "”", "»", "।", "،", "؟", "؛"})


def space_flags(s: Sentence) -> list[bool]:
    """Whether white space follows each surface token."""
    if s.space_after is None:
        return [True] * len(s.tokens)
    ends = dict.fromkeys(range(len(s)))
    for first, end, _ in s.mwts:
        for i in range(first, end - 1):
            del ends[i]
    return [s.space_after[i] for i in ends]


def detokenise(tokens: Sequence[str], space_after: Sequence[bool]) -> str:
    """The text of these tokens."""
    return "".join(t + " " if space else t for t, space in zip(tokens, space_after, strict=True)).strip()


def replace_words(
    s: Sentence,
    label: str,
    words: Mapping[int, str],
    *,
    key: str | None = None,
    extra: tuple[tuple[str, str], ...] = (),
) -> Example:
    """The sentence with plain words at some positions replaced, with their spacing kept."""
    tokens = list(s.tokens)
    where = token_positions(s, words)
    for at, form in zip(where, words.values(), strict=True):
        tokens[at] = form
    return Example(label, tuple(tokens), detokenise(tokens, space_flags(s)), s.id, key, marks=where, extra=extra)


def restore_words(row: Example, words: Mapping[int, str]) -> str | None:
    """The text of a row with tokens at some positions replaced; None if its tokens are not in its text."""
    spans = token_spans(row)
    if spans is None or not all(0 <= at < len(spans) for at in words):
        return None
    text = row.text
    for at in sorted(words, reverse=True):
        start, end = spans[at]
        text = text[:start] + words[at] + text[end:]
    return text


def token_spans(row: Example) -> list[tuple[int, int]] | None:
    """The start and end of each token of a row in its text."""
    spans: list[tuple[int, int]] = []
    end = 0
    for token in row.tokens:
        start = row.text.find(token, end)
        if start < 0:
            return None
        end = start + len(token)
        spans.append((start, end))
    return spans
