"""The words of the toy language: stems from lemmas, suffixes from features and relations."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from sentprobe.corpus.sentence import Sentence

ONSETS = ("p", "t", "k", "b", "d", "g", "m", "n", "l", "r", "s", "v", "h", "z", "f", "y")
VOWELS = ("a", "e", "i", "o", "u")
CODAS = ("", "", "n", "l", "s")
SYLLABLES = {"NOUN": 3, "VERB": 3, "ADJ": 3, "ADV": 3, "INTJ": 3}
"""Of a stem; other parts of speech have two."""

CASES = {
    "nsubj": "Nom",
    "obj": "Acc",
    "iobj": "Dat",
    "nmod:poss": "Gen",
    "obl:agent": "Ins",
    "obl": "Loc",
    "nmod": "Loc",
}
"""The case of a noun by its relation; the nominative where there is none."""
INHERITED = ("conj", "appos", "flat", "nmod:desc")
"""Relations of nouns that have the case of their head."""
CASE_SUFFIXES = {"Nom": "", "Acc": "m", "Dat": "no", "Gen": "sa", "Loc": "ta", "Ins": "le"}
PLURAL = "ri"
DEGREES = {"Cmp": "ko", "Sup": "kest"}
TENSES = {"Past": "du", "Pres": "sa"}
PERSONS = {("1", "Sing"): "k", ("2", "Sing"): "t", ("3", "Sing"): "", ("1", "Plur"): "mek", ("3", "Plur"): "n"}
VERB_FORMS = {"Inf": "na", "Ger": "ne", "Part": "te"}
IN_SUFFIXES = (("the", "DET"), ("a", "DET"), ("to", "PART"), ("'s", "PART"))
"""Lemma and part of speech of English words that have no word here."""


class Word(NamedTuple):
    """A word of the toy language; ``head`` is the position of its head in the English sentence."""

    form: str
    lemma: str
    upos: str
    feats: str
    head: int
    deprel: str


class _English(NamedTuple):
    """The columns of an English sentence, none of which the built-in corpus lacks."""

    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    features: list[dict[str, str]]
    heads: tuple[int, ...]
    deprels: tuple[str, ...]


def inflected(sentence: Sentence) -> dict[int, Word]:
    """The words of the translation by the positions of the English ones; those that have no word are not there."""
    features = [dict(pair.split("=") for pair in feats.split("|") if pair != "_") for feats in sentence.feats or ()]
    s = _English(sentence.lemmas or (), sentence.upos or (), features, sentence.heads or (), sentence.deprels or ())
    definite = {head for lemma, head in zip(s.lemmas, s.heads, strict=True) if lemma == "the"}
    have_dependents = set(s.heads)
    found = {}
    for i, (lemma, upos) in enumerate(zip(s.lemmas, s.upos, strict=True)):
        # inner punctuation follows the English order, and is left out
        without_word = (lemma, upos) in IN_SUFFIXES or (upos == "PUNCT" and i < len(s.upos) - 1)
        if without_word and i not in have_dependents:
            continue
        own = dict(features[i])
        if upos in ("NOUN", "PROPN", "ADJ"):
            own |= _nominal(s, i)
        if upos == "NOUN" and i in definite:
            own["Definite"] = "Def"
        kept = stem(lemma, upos)
        feats = "|".join(f"{key}={own[key]}" for key in sorted(own, key=str.lower)) or "_"
        found[i] = Word(kept + _suffix(upos, own), kept, upos, feats, s.heads[i], s.deprels[i])
    return found


@lru_cache(maxsize=1 << 14)
def stem(lemma: str, upos: str) -> str:
    """The stem of the word for a lemma; names, numbers in digits and punctuation stay as they are."""
    if upos in ("PROPN", "PUNCT") or (not lemma.isalpha() and upos == "NUM"):
        return lemma
    number = int.from_bytes(blake2b(f"{lemma.lower()}/{upos}".encode(), digest_size=8).digest(), "big")
    found = ""
    for _ in range(SYLLABLES.get(upos, 2)):
        number, onset = divmod(number, len(ONSETS))
        number, vowel = divmod(number, len(VOWELS))
        found += ONSETS[onset] + VOWELS[vowel]
    return found + CODAS[number % len(CODAS)]


def _nominal(s: _English, at: int) -> dict[str, str]:
    """Number and case: a noun has that of its relation, an attribute those of its noun, a predicate the nominative."""
    deprel, head = s.deprels[at], s.heads[at]
    if deprel == "amod" and s.upos[head] in ("NOUN", "PROPN"):
        return _nominal(s, head)
    while deprel in INHERITED and s.upos[head] in ("NOUN", "PROPN", "PRON"):
        deprel, head = s.deprels[head], s.heads[head]
    case = CASES.get(deprel) or CASES.get(deprel.partition(":")[0], "Nom")
    number = s.features[at].get("Number", "Sing")
    return {"Case": case, "Number": "Plur" if number == "Ptan" else number}


def _suffix(upos: str, own: dict[str, str]) -> str:
    if upos in ("NOUN", "PROPN", "ADJ"):
        degree = DEGREES.get(own.get("Degree", ""), "")
        definite = "e" if own.get("Definite") == "Def" else ""
        return degree + PLURAL * (own["Number"] == "Plur") + CASE_SUFFIXES[own["Case"]] + definite
    if upos not in ("VERB", "AUX"):
        return ""
    if own.get("Mood") == "Imp":
        return "o"
    if own.get("VerbForm") == "Fin":
        person = PERSONS.get((own.get("Person", "3"), own.get("Number", "Sing")), "")
        return TENSES.get(own.get("Tense", ""), "") + person
    active = "" if own.get("Voice") == "Pass" or own.get("Tense") == "Past" else "ne"
    return (
        active or VERB_FORMS["Part"] if own.get("VerbForm") == "Part" else VERB_FORMS.get(own.get("VerbForm", ""), "")
    )
