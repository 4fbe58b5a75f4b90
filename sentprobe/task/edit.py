"""Changing a sentence and keeping its text natural."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sentprobe.core.memory import remember_last
from sentprobe.core.words import is_word
from sentprobe.corpus.syntax import is_unspaced
from sentprobe.sentence import Sentence
from sentprobe.task.example import Example, token_positions


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
    places = token_spans(row)
    if places is None or not all(0 <= at < len(places) for at in words):
        return None
    text = row.text
    for at in sorted(words, reverse=True):
        start, end = places[at]
        text = text[:start] + words[at] + text[end:]
    return text


def token_spans(row: Example) -> list[tuple[int, int]] | None:
    """The start and end of each token of a row in its text."""
    found: list[tuple[int, int]] = []
    end = 0
    for token in row.tokens:
        start = row.text.find(token, end)
        if start < 0:
            return None
        end = start + len(token)
        found.append((start, end))
    return found
