"""A second language for the built-in corpus: invented words, verb-final, with postpositions, cases and agreement.

A sentence of it is the translation of a sentence of the built-in English corpus, so that there is parallel text with
gold annotation on both sides. Words depend on lemma and part of speech alone. Articles, *to* and *'s* have no word of
their own: they are in suffixes. There are no constituents. Its code, ``qto``, is one of those that ISO 639 leaves to
private use.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from sentprobe.sentence import Sentence

CODE = "qto"

# Words: stems from lemmas, suffixes from features and relations

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

# Word order: the verb and its auxiliaries last, adjectives after nouns, postpositions

BEFORE = (
    "cc", "discourse", "vocative", "advcl", "obl:unmarked", "csubj", "nsubj", "expl", "obl", "obl:agent", "iobj", "obj",
    "ccomp", "xcomp", "advmod", "acl", "nmod:poss", "nmod", "nmod:desc", "det:predet", "det", "nummod", "compound",
)  # fmt: skip
"""Relations of what comes before a head, from left to right."""
AFTER = ("flat", "amod", "appos", "conj", "case", "advmod", "cop", "aux", "mark", "parataxis", "punct")
"""Relations of what comes after it. Negation is an adverbial after the verb; clauses are coordinated after all else."""
NOMINAL = ("NOUN", "PROPN", "PRON", "NUM", "ADJ")
PREDICATIVE = ("nsubj", "csubj", "cop", "expl")


def translated(sentence: Sentence) -> Sentence:
    """The translation of a sentence of the built-in corpus; its id and its document are the same."""
    words = inflected(sentence)
    order = linearised(words)
    position_of = {at: i for i, at in enumerate(order)}
    ordered = [words[at] for at in order]
    forms = [word.form for word in ordered]
    forms[0] = forms[0][:1].upper() + forms[0][1:]
    spaces = [True] * len(forms)
    spaces[-1] = False
    if ordered[-1].upos == "PUNCT":
        spaces[-2:-1] = [False] * (len(forms) > 1)
    return Sentence(
        id=sentence.id,
        text="".join(form + " " * space for form, space in zip(forms, spaces, strict=True)),
        forms=tuple(forms),
        lemmas=tuple(word.lemma for word in ordered),
        upos=tuple(word.upos for word in ordered),
        feats=tuple(word.feats for word in ordered),
        heads=tuple(position_of.get(word.head, -1) for word in ordered),
        deprels=tuple(word.deprel for word in ordered),
        space_after=tuple(spaces),
        doc=sentence.doc,
    )


class ToyWord(NamedTuple):
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


def inflected(sentence: Sentence) -> dict[int, ToyWord]:
    """The words of the translation by the positions of the English ones; those that have no word are not there."""
    features = [dict(pair.split("=") for pair in feats.split("|") if pair != "_") for feats in sentence.feats or ()]
    s = _English(sentence.lemmas or (), sentence.upos or (), features, sentence.heads or (), sentence.deprels or ())
    definite = {head for lemma, head in zip(s.lemmas, s.heads, strict=True) if lemma == "the"}
    have_dependents = set(s.heads)
    words = {}
    for i, (lemma, upos) in enumerate(zip(s.lemmas, s.upos, strict=True)):
        # inner punctuation follows the English order, and is left out
        without_word = (lemma, upos) in IN_SUFFIXES or (upos == "PUNCT" and i < len(s.upos) - 1)
        if without_word and i not in have_dependents:
            continue
        word_features = dict(features[i])
        if upos in ("NOUN", "PROPN", "ADJ"):
            word_features |= _nominal(s, i)
        if upos == "NOUN" and i in definite:
            word_features["Definite"] = "Def"
        word_stem = stem(lemma, upos)
        feats = "|".join(f"{key}={word_features[key]}" for key in sorted(word_features, key=str.lower)) or "_"
        form = word_stem + _suffix(upos, word_features)
        words[i] = ToyWord(form, word_stem, upos, feats, s.heads[i], s.deprels[i])
    return words


@lru_cache(maxsize=1 << 14)
def stem(lemma: str, upos: str) -> str:
    """The stem of the word for a lemma; names, numbers in digits and punctuation stay as they are."""
    if upos in ("PROPN", "PUNCT") or (not lemma.isalpha() and upos == "NUM"):
        return lemma
    number = int.from_bytes(blake2b(f"{lemma.lower()}/{upos}".encode(), digest_size=8).digest(), "big")
    syllables = ""
    for _ in range(SYLLABLES.get(upos, 2)):
        number, onset = divmod(number, len(ONSETS))
        number, vowel = divmod(number, len(VOWELS))
        syllables += ONSETS[onset] + VOWELS[vowel]
    return syllables + CODAS[number % len(CODAS)]


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


def _suffix(upos: str, features: dict[str, str]) -> str:
    if upos in ("NOUN", "PROPN", "ADJ"):
        degree = DEGREES.get(features.get("Degree", ""), "")
        definite = "e" if features.get("Definite") == "Def" else ""
        return degree + PLURAL * (features["Number"] == "Plur") + CASE_SUFFIXES[features["Case"]] + definite
    if upos not in ("VERB", "AUX"):
        return ""
    if features.get("Mood") == "Imp":
        return "o"
    if features.get("VerbForm") == "Fin":
        person = PERSONS.get((features.get("Person", "3"), features.get("Number", "Sing")), "")
        return TENSES.get(features.get("Tense", ""), "") + person
    active = "" if features.get("Voice") == "Pass" or features.get("Tense") == "Past" else "ne"
    return (
        active or VERB_FORMS["Part"]
        if features.get("VerbForm") == "Part"
        else VERB_FORMS.get(features.get("VerbForm", ""), "")
    )


def linearised(words: Mapping[int, ToyWord]) -> list[int]:
    """The English positions of words in the order of the toy language."""
    children: dict[int, list[int]] = {}
    for at, word in words.items():
        children.setdefault(word.head, []).append(at)

    def is_clause(at: int) -> bool:
        below = (words[child].deprel.partition(":")[0] for child in children.get(at, ()))
        return words[at].upos not in NOMINAL or any(relation in PREDICATIVE for relation in below)

    def rank(at: int) -> tuple[int, int]:
        word = words[at]
        relation = word.deprel
        if relation not in BEFORE and relation not in AFTER:
            relation = relation.partition(":")[0]
        if relation == "conj" and is_clause(at):
            return len(AFTER), at
        if relation in AFTER and not (relation == "advmod" and word.upos != "PART"):
            # auxiliaries are in the reverse of the English order
            return 1 + AFTER.index(relation), -at if relation == "aux" else at
        return (BEFORE.index(relation) if relation in BEFORE else len(BEFORE)) - len(BEFORE) - 1, at

    def below(at: int) -> list[int]:
        ranked = sorted((rank(child), child) for child in children.get(at, ()))
        preceding = [i for (side, _), child in ranked if side < 0 for i in below(child)]
        return [*preceding, at, *(i for (side, _), child in ranked if side > 0 for i in below(child))]

    (root,) = children[-1]
    ordered = below(root)
    # the final mark is the last word whatever it belongs to
    final = [at for at in ordered if words[at].upos == "PUNCT"]
    return [at for at in ordered if at not in final] + final
