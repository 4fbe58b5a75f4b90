"""Words of the built-in corpus, inflected and annotated, and weighted tables to draw them from.

Features are those of the English Web Treebank of Universal Dependencies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

from sentprobe.sentence import Tree

T = TypeVar("T")
AGREEMENTS = {"1s": ("Sing", "1"), "2s": ("Sing", "2"), "3s": ("Sing", "3"), "1p": ("Plur", "1"), "3p": ("Plur", "3")}
"""Person and number of a subject, as in the verb's features."""
_SILENT_H = ("hour", "honest", "heir", "honor")
_LIKE_Y = ("uni", "use", "usual", "euro", "one", "once", "ukulele", "utensil", "eulogy")
_LIKE_UN = ("unin", "unim", "unid")


class Word(NamedTuple):
    """One inflected word with its gold columns, its pre-terminal, and whether it begins with a vowel sound."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    leaf: Tree
    vowel: bool


class WeightedTable(Generic[T]):
    """Items to draw from, with cumulative weights and the surprisal of each in bits."""

    __slots__ = ("bits", "cumulative", "items")

    def __init__(self, pairs: Iterable[tuple[T, float]]) -> None:
        weighted = [(item, weight) for item, weight in pairs if weight > 0]
        total = math.fsum(weight for _, weight in weighted)  # the same in every Python, unlike sum
        self.items = [item for item, _ in weighted]
        self.cumulative = [*accumulate(weight / total for _, weight in weighted)]
        self.cumulative[-1:] = [1.0] * bool(weighted)  # so that rounding can never leave a draw without an item
        self.bits = [-math.log2(weight / total) for _, weight in weighted]


def zipf(items: Sequence[T], total: float = 1.0) -> list[tuple[T, float]]:
    """Weight items by rank; the weights sum to ``total``."""
    weights = [1 / (rank + 5) for rank in range(len(items))]
    scale = total / math.fsum(weights)
    return [(item, weight * scale) for item, weight in zip(items, weights, strict=True)]


@cache
def word(form: str, lemma: str, upos: str, xpos: str, feats: str = "_") -> Word:
    """Return the one Word with these columns."""
    low = form.lower()
    vowel = low.startswith(_SILENT_H) or (
        low[0] in "aeiou" and (low.startswith(_LIKE_UN) or not low.startswith(_LIKE_Y))
    )
    return Word(form, lemma, upos, xpos, feats, Tree(xpos, (form,)), vowel or low in ("8", "11", "18"))


@cache
def capital(w: Word) -> Word:
    """Return the word as it is written at the beginning of a sentence."""
    return w if w.form[0].isupper() else word(w.form[0].upper() + w.form[1:], *w[1:5])


def plural(noun: str) -> str:
    """Return the regular plural."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def _doubles(base: str) -> bool:
    """Return whether a regular verb doubles its last consonant: one vowel letter, one final consonant, one syllable."""
    body = base.replace("qu", "q")
    return (
        len(body) > 2
        and body[-1] not in "aeiouwxyh"
        and body[-2] in "aeiou"
        and body[-3] not in "aeiou"
        and sum(c in "aeiouy" for c in body) == 1
    )


def inflect(entry: str) -> tuple[str, str, str, str, str]:
    """Return base, third person, past, past participle and -ing form of a verb entry of the lexicon."""
    base, *irregular = entry.split("/")
    stem = base.rstrip("+")
    double = base.endswith("+") or _doubles(stem)
    soft = stem.endswith("y") and stem[-2] not in "aeiou"
    if irregular:
        past, participle = irregular
    else:
        past = stem[:-1] + "ied" if soft else stem + ("d" if stem.endswith("e") else stem[-1] * double + "ed")
        participle = past
    if stem.endswith("ie"):
        ing = stem[:-2] + "ying"
    elif stem.endswith("e") and len(stem) > 2 and not stem.endswith(("ee", "oe", "ye")):
        ing = stem[:-1] + "ing"
    else:
        ing = stem + stem[-1] * double + "ing"
    third = {"have": "has", "do": "does", "go": "goes", "veto": "vetoes"}.get(stem) or plural(stem)
    return stem, third, past, participle, ing


def finite(form: str, lemma: str, upos: str, xpos: str, tense: str, agr: str) -> Word:
    """Return a finite indicative form with its agreement features."""
    number, person = AGREEMENTS[agr]
    feats = f"Mood=Ind|Number={number}|Person={person}|Tense={tense}|VerbForm=Fin"
    return word(form, lemma, upos, xpos, feats)


@cache
def verb_forms(entry: str, upos: str = "VERB") -> dict[str, Word]:
    """Return all forms of a verb by key."""
    base, third, past, participle, ing = inflect(entry)
    forms = {
        "inf": word(base, base, upos, "VB", "VerbForm=Inf"),
        "imp": word(base, base, upos, "VB", "Mood=Imp|VerbForm=Fin"),
        "part": word(ing, base, upos, "VBG", "Tense=Pres|VerbForm=Part"),
        "ger": word(ing, base, upos, "VBG", "VerbForm=Ger"),
        "perf": word(participle, base, upos, "VBN", "Tense=Past|VerbForm=Part"),
        "pass": word(participle, base, upos, "VBN", "Tense=Past|VerbForm=Part|Voice=Pass"),
    }
    be = {"1s": ("am", "was"), "3s": ("is", "was")}
    for agr in AGREEMENTS:
        now, then = be.get(agr, ("are", "were")) if base == "be" else (third if agr == "3s" else base, past)
        forms["pres" + agr] = finite(now, base, upos, "VBZ" if agr == "3s" else "VBP", "Pres", agr)
        forms["past" + agr] = finite(then, base, upos, "VBD", "Past", agr)
    return forms


@cache
def adverb(form: str) -> Word:
    """Return an adverb with the features it has in the treebank."""
    feats = {"never": "PronType=Neg", "always": "PronType=Tot", "sometimes": "PronType=Ind", "then": "PronType=Dem"}
    feats |= dict.fromkeys(("soon", "badly", "well", "hard", "late", "early"), "Degree=Pos")
    feats |= dict.fromkeys(("once", "twice"), "NumForm=Word|NumType=Mult")
    feats |= dict.fromkeys(("here", "there", "now"), "PronType=Dem")
    if form == "later":
        return word("later", "late", "ADV", "RBR", "Degree=Cmp")
    return word(form, form, "ADV", "RB", feats.get(form, "_"))


@cache
def adjective(form: str) -> Word:
    """Return an adjective in the positive degree."""
    return word(form, form, "ADJ", "JJ", "Degree=Pos")


@cache
def noun(form: str, lemma: str | None = None, number: str = "Sing") -> Word:
    """Return a common noun form."""
    return word(form, lemma or form, "NOUN", "NN" if number == "Sing" else "NNS", f"Number={number}")


@cache
def name(form: str) -> Word:
    """Return a proper noun."""
    return word(form, form, "PROPN", "NNP", "Number=Sing")


@cache
def adposition(form: str) -> Word:
    """Return a preposition."""
    return word(form, form, "ADP", "IN")
