"""Words of two annotations of the same text, aligned by characters, as in the CoNLL 2018 shared task (section 5).

Tokens are spans of the text without its spaces. Words that are tokens are aligned if their spans are equal. Where
either side has a multi-word token, the words of both sides inside the smallest span that no multi-word token sticks out
of are aligned by the longest common subsequence of their forms, without regard to case.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sentprobe.errors import DataError
from sentprobe.sentence import Sentence

Span = tuple[int, int]
"""First character and one past the last, without spaces."""


@dataclass(frozen=True)
class Annotation:
    """The sentences of a text as spans of its characters."""

    characters: str
    sentences: list[Span]
    tokens: list[Span]
    words: list[Span]
    """Of words inside a multi-word token, the span of the token."""
    inside: list[bool]
    """Whether a word is inside a multi-word token."""
    forms: list[str]
    """In lower case."""
    first: list[int]
    """The number of the first word of each sentence."""


def spans_of(sentences: Sequence[Sentence]) -> Annotation:
    """The spans of all tokens and words of a text."""
    spellings: list[str] = []
    sentence_spans, tokens, words = list[Span](), list[Span](), list[Span]()
    inside, forms, first_words = list[bool](), list[str](), list[int]()
    at = 0
    for s in sentences:
        first_words.append(len(words))
        begin = at
        ranges = {first: (end, form) for first, end, form in s.mwts}
        word = 0
        while word < len(s.forms):
            end, form = ranges.get(word, (word + 1, s.forms[word]))
            spelling = without_spaces(form)
            if not spelling:
                raise DataError(f"sentence {s.id!r}, word {word + 1}: got a word of spaces; expected one with letters")
            span = at, at + len(spelling)
            tokens.append(span)
            words += [span] * (end - word)
            inside += [word in ranges] * (end - word)
            forms += [f.lower() if word in ranges else without_spaces(f).lower() for f in s.forms[word:end]]
            spellings.append(spelling)
            at, word = span[1], end
        sentence_spans.append((begin, at))
    return Annotation("".join(spellings), sentence_spans, tokens, words, inside, forms, first_words)


def without_spaces(text: str) -> str:
    """The text without characters of Unicode's category Zs, the spaces."""
    if text.isascii():
        return text.replace(" ", "")
    return "".join([c for c in text if unicodedata.category(c) != "Zs"])


def sentence_at(annotation: Annotation, character: int) -> int:
    """The number of the sentence that a character is in."""
    return bisect_right(annotation.sentences, (character, len(annotation.characters) + 1)) - 1


def align(gold: Annotation, system: Annotation) -> dict[int, int]:
    """The gold word of each word of the system that has one; DataError if the texts differ."""
    if gold.characters != system.characters:
        raise DataError(_difference(gold.characters, system.characters))
    gold_of: dict[int, int] = {}
    g = s = 0
    while g < len(gold.words) and s < len(system.words):
        if gold.inside[g] or system.inside[s]:
            g, s, last_g, last_s = _multiword_span(gold, system, g, s)
            gold_of |= _common(gold.forms[g:last_g], system.forms[s:last_s], g, s)
            g, s = last_g, last_s
        elif gold.words[g] == system.words[s]:
            gold_of[s] = g
            g, s = g + 1, s + 1
        elif gold.words[g][0] <= system.words[s][0]:
            g += 1
        else:
            s += 1
    return gold_of


def _multiword_span(gold: Annotation, system: Annotation, g: int, s: int) -> tuple[int, int, int, int]:
    """First words, and one past the last, of both sides in the smallest span that holds its multi-word tokens."""
    if gold.inside[g]:
        end = gold.words[g][1]
        s += not system.inside[s] and system.words[s][0] < gold.words[g][0]
    else:
        end = system.words[s][1]
        g += not gold.inside[g] and gold.words[g][0] < system.words[s][0]
    first_g, first_s = g, s
    while not (_is_outside(gold, g, end) and _is_outside(system, s, end)):
        if g < len(gold.words) and (s >= len(system.words) or gold.words[g][0] <= system.words[s][0]):
            end = max(end, gold.words[g][1]) if gold.inside[g] else end
            g += 1
        else:
            end = max(end, system.words[s][1]) if system.inside[s] else end
            s += 1
    return first_g, first_s, g, s


def _is_outside(side: Annotation, word: int, end: int) -> bool:
    """Whether a word lies outside a span that ends there."""
    if word >= len(side.words):
        return True
    return side.words[word][0] >= end if side.inside[word] else side.words[word][1] > end


def _common(gold: Sequence[str], system: Sequence[str], first_g: int, first_s: int) -> dict[int, int]:
    """A longest common subsequence of forms, as gold words by words of the system."""
    longest = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]
    for g in reversed(range(len(gold))):
        for s in reversed(range(len(system))):
            matched = 1 + longest[g + 1][s + 1] if gold[g] == system[s] else 0
            longest[g][s] = max(matched, longest[g + 1][s], longest[g][s + 1])
    gold_of: dict[int, int] = {}
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold[g] == system[s]:
            gold_of[first_s + s] = first_g + g
            g, s = g + 1, s + 1
        elif longest[g][s] == longest[g + 1][s]:
            g += 1
        else:
            s += 1
    return gold_of


def _difference(gold: str, system: str) -> str:
    at = next((i for i, (a, b) in enumerate(zip(gold, system, strict=False)) if a != b), min(len(gold), len(system)))
    return (
        f"the annotator changed the text: got {system[at : at + 20]!r} after {gold[max(0, at - 20) : at]!r}, expected "
        f"{gold[at : at + 20]!r} (all without spaces); scores need the same characters on both sides"
    )
