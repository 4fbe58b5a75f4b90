"""A sentence as a list of words that can be moved, replaced, inserted and left out, and written as natural text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from sentprobe.contrast.forms import AttestedForms
from sentprobe.core.resources import remember_last
from sentprobe.corpus.folding import capitalised, uncapitalised
from sentprobe.corpus.syntax import base, children, features, finite, is_unspaced, root, subtree, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context
from sentprobe.tasks.example import CLOSING, space_flags, token_positions

INSERTED = -1
DOUBLED = re.compile(r"[,;:.][,;:.]|\s[,.]|^\W")
"""Punctuation that meets other punctuation, or stands alone."""
OPENING = frozenset({"(", "[", "“", "„", "«", "¿", "¡", "$", "€", "£", "#"})
APOSTROPHES = ("'", "’")
VOWELS = frozenset("aeiouyàâäæéèêëîïôöœùûüÿáíóúąęAEIOUYÀÂÄÉÈÊËÎÏÔÖÙÛÜ")
ELIDING = frozenset({"le", "la", "je", "ne", "de", "que", "se", "me", "te", "ce", "jusque", "lorsque", "puisque", "si"})
"""French words that lose their vowel before another one (*si* before *il*, *ils*)."""
AN_BEFORE = ("hour", "honest", "honour", "honor", "heir")
A_BEFORE = ("uni", "use", "usu", "uti", "eu", "one", "once", "u.", "ura", "uk", "us-")


class DraftWord(NamedTuple):
    """A surface token of a draft."""

    text: str
    origin: int = INSERTED
    """Its position in the sentence; that of the token it replaces."""


@remember_last
def words_of(s: Sentence) -> tuple[DraftWord, ...]:
    """The surface tokens of a sentence."""
    return tuple([DraftWord(token, i) for i, token in enumerate(s.tokens)])


def written(s: Sentence, words: Sequence[DraftWord], context: Context) -> str | None:
    """The text of a draft, with spaces and capitals where they belong; None if words do not go together.

    What does not: *a* before a vowel, French *le* before one or *l'* before a consonant, Polish *w* before *w*.
    """
    if not words or len(words) < 2:
        return None
    forms: AttestedForms = context.plan
    texts = [word.text for word in words]
    first = next((i for i, word in enumerate(words) if word.origin == 0), None)
    if first and not forms.keeps_capital(s, 0):
        texts[first] = uncapitalised(texts[first], context.language)
    spaces = space_flags(s)
    out: list[str] = []
    for i, word in enumerate(words):
        out.append(texts[i])
        if i + 1 == len(words):
            break
        follower = words[i + 1]
        if word.origin != INSERTED and follower.origin == word.origin + 1:
            space = spaces[word.origin]
            changed = texts[i] != s.tokens[word.origin] or texts[i + 1] != s.tokens[follower.origin]
        else:
            space, changed = _needs_space(texts[i], texts[i + 1]), True
        if changed and not _go_together(texts[i], texts[i + 1], context.language):
            return None
        out.append(" " * space)
    text = "".join(out)
    if DOUBLED.search(text):
        return None
    return capitalised(text, context.language) if s.tokens[0][:1].isupper() else text


def _needs_space(before: str, after: str) -> bool:
    return not (after in CLOSING or before in OPENING or before.endswith(APOSTROPHES))


def _go_together(before: str, after: str, language: str | None) -> bool:
    """Whether one word can stand before another, as far as their sounds decide it."""
    lower, initial = before.lower(), after[:1]
    if language == "en" and lower in ("a", "an"):
        return (lower == "an") == _takes_an(after.lower())
    if language == "fr":
        begins_with_vowel = initial.lower() in VOWELS or after[:2].lower() == "hi"
        if lower == "si":
            return after.lower() not in ("il", "ils")
        if lower in ELIDING:
            return not begins_with_vowel
        if lower.endswith(APOSTROPHES):
            return begins_with_vowel or initial.lower() == "h"
    if language == "pl" and lower in ("w", "z", "we", "ze"):
        return (lower in ("we", "ze")) == _takes_we(lower[0], after.lower())
    return True


def _takes_an(word: str) -> bool:
    if word.startswith(AN_BEFORE):
        return True
    return word[:1] in "aeiou" and not word.startswith(A_BEFORE)


def _takes_we(preposition: str, word: str) -> bool:
    alike = "wf" if preposition == "w" else "zsśźżż"
    return word[:1] in alike and word[1:2] not in "aeiouyąęó"


# Parts of a sentence


def token_span(s: Sentence, words: Iterable[int]) -> tuple[int, int] | None:
    """The first token of adjacent words and one past their last; None if they are not adjacent, or cut a token."""
    positions = sorted(words)
    if not positions or positions != list(range(positions[0], positions[-1] + 1)):
        return None
    first, last = positions[0], positions[-1]
    edges = [i for i in (first - 1, last + 1) if 0 <= i < len(s)]
    tokens = token_positions(s, (first, last, *edges))
    if any(token in tokens[:2] for token in tokens[2:]):
        return None
    return tokens[0], tokens[1] + 1


def is_movable(s: Sentence, span: tuple[int, int]) -> bool:
    """Whether white space, closing punctuation or the edge of the sentence is on both sides of a span of tokens."""
    spaces, tokens = space_flags(s), s.tokens
    first, end = span
    before = first == 0 or spaces[first - 1]
    after = end == len(tokens) or spaces[end - 1] or tokens[end] in CLOSING
    return before and after


def phrase(s: Sentence, head: int) -> tuple[int, int] | None:
    """The tokens of a word and all below it, if they can be moved; None if there is punctuation inside."""
    positions = subtree(s, head)
    upos = tags(s)
    while positions and upos[positions[-1]] == "PUNCT":
        positions.pop()
    while positions and upos[positions[0]] == "PUNCT":
        positions.pop(0)
    if any(upos[i] == "PUNCT" for i in positions):
        return None
    span = token_span(s, positions)
    return span if span and is_movable(s, span) else None


def exchanged(
    s: Sentence, first: tuple[int, int], second: tuple[int, int], texts: Mapping[int, str] | None = None
) -> list[DraftWord]:
    """The words with two spans in each other's places; ``texts`` are new ones of tokens, by position."""
    (a, b), (c, d) = sorted((first, second))
    words = replaced(s, texts or {})
    return [*words[:a], *words[c:d], *words[b:c], *words[a:b], *words[d:]]


def replaced(s: Sentence, texts: Mapping[int, str]) -> list[DraftWord]:
    """The words with other texts at some positions."""
    words = list(words_of(s))
    for i, text in texts.items():
        words[i] = DraftWord(_like(text, words[i].text), i)
    return words


def _like(text: str, old: str) -> str:
    return text[:1].upper() + text[1:] if old[:1].isupper() and not text[:1].isupper() else text


# Which sentences are rewritten

NOT_FLUENT = frozenset({"goeswith", "reparandum", "orphan", "list", "dislocated"})
"""Relations of sentences that are no running text, or not fluent."""
QUOTES_AND_BRACKETS = frozenset('"“”„«»()[]{}‘’—–;:') | {"``", "''", "--", "...", "…", "-"}


@remember_last
def is_statement(s: Sentence) -> bool:
    """Whether a sentence is a finite statement that ends with a full stop, without typos: one word may be replaced."""
    if s.heads is None or s.deprels is None or s.feats is None or s.lemmas is None or s.heads.count(-1) != 1:
        return False
    if s.forms[-1] != "." or "." in s.forms[:-1] or s.text.endswith("..") or any(map(is_unspaced, s.forms)):
        return False
    if not s.forms[0][:1].isupper() or sum(form.isupper() and len(form) > 2 for form in s.forms) > len(s) / 4:
        return False
    if any("Typo=" in feats for feats in s.feats) or not NOT_FLUENT.isdisjoint(map(base, s.deprels)):
        return False
    top = root(s)
    verb = finite(s, top)
    if verb is None or "Mood=Imp" in s.feats[verb]:
        return False
    return not any("PronType=Int" in s.feats[i] and s.heads[i] == top for i in range(len(s)))


@remember_last
def is_plain_statement(s: Sentence) -> bool:
    """Whether parts of a statement may be moved: it has no quotes, brackets and insertions."""
    if not is_statement(s) or not QUOTES_AND_BRACKETS.isdisjoint(s.forms):
        return False
    assert s.deprels is not None
    return not any(base(s.deprels[i]) in ("parataxis", "vocative", "discourse") for i in children(s, root(s)))


def subject(s: Sentence, head: int) -> int | None:
    """The nominal subject of a clause, if it has exactly one and it is before the head."""
    assert s.deprels is not None
    subjects = [i for i in children(s, head) if base(s.deprels[i]) in ("nsubj", "csubj", "expl")]
    nominal = [i for i in subjects if base(s.deprels[i]) == "nsubj"]
    return nominal[0] if len(nominal) == 1 and len(subjects) == 1 else None


@lru_cache(maxsize=1 << 14)
def agreement(feats: str, *names: str) -> tuple[str, ...]:
    """The values of some features, an empty string for those that a word does not have."""
    values = features(feats)
    return tuple([values.get(name, "") for name in names])


def lower_lemmas(s: Sentence) -> set[str]:
    """The lemmas of a sentence in lower case."""
    return {lemma.lower() for lemma in s.lemmas or ()}
