"""The words of the built-in corpus: inflected, annotated and weighted once per process.

The data is ``lexicon.toml``. A list there is in frequency order and its weights follow Zipf's law with a flat head.
Features are those of the English Web Treebank of Universal Dependencies.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Any, Generic, NamedTuple, TypeVar

from sonde.corpus.sentence import Tree

T = TypeVar("T")
AGREEMENTS = {"1s": ("Sing", "1"), "2s": ("Sing", "2"), "3s": ("Sing", "3"), "1p": ("Plur", "1"), "3p": ("Plur", "3")}
"""Person and number of a subject, as the verb's features say them."""
HUMAN = frozenset({"person", "kin", "NAME"})
"""The noun classes that share one set of predicates."""
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


class Table(Generic[T]):
    """Items to draw from, with cumulative weights and the bits of surprise of each."""

    __slots__ = ("bits", "cumulative", "items")

    def __init__(self, pairs: Iterable[tuple[T, float]]) -> None:
        kept = [(item, weight) for item, weight in pairs if weight > 0]
        total = math.fsum(weight for _, weight in kept)  # the same in every Python, unlike sum
        self.items = [item for item, _ in kept]
        self.cumulative = [*accumulate(weight / total for _, weight in kept)]
        self.cumulative[-1:] = [1.0] * bool(kept)  # so that rounding can never leave a draw without an item
        self.bits = [-math.log2(weight / total) for _, weight in kept]


class NounClass(NamedTuple):
    """What nouns of one semantic class may combine with."""

    name: str
    plural: float
    own: float
    bare: bool
    adjectives: tuple[tuple[int, Table[Word]], ...]
    compound: Table[Word] | None
    modifiers: Table[tuple[Word, str]] | None
    places: Table[tuple[Word, str]] | None
    predicate: str


class Noun(NamedTuple):
    """A noun with its class; a mass noun has no plural, a plurale tantum no singular."""

    singular: Word | None
    plural: Word | None
    kind: NounClass


class Verb(NamedTuple):
    """One verb in one frame: its forms by key (``past3s``, ``inf``, ``pass`` …) and its selectional restrictions."""

    forms: dict[str, Word]
    frame: str
    subject: str
    object: str
    preposition: Word | None
    particle: Word | None
    manner: Table[Word] | None
    places: Table[tuple[Word, str]] | None
    ways: Table[tuple[Word, str]] | None
    tool: str
    stative: bool
    passive: bool
    relation: str


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
    """Return the word as it stands at the beginning of a sentence."""
    return w if w.form[0].isupper() else word(w.form[0].upper() + w.form[1:], *w[1:5])


def plural(noun: str) -> str:
    """Return the regular plural."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def _doubles(base: str) -> bool:
    """Say whether a regular verb doubles its last consonant: one vowel letter, one final consonant, one syllable."""
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


def zipf(items: Sequence[T], total: float = 1.0) -> list[tuple[T, float]]:
    """Weight items by rank; the weights sum to ``total``."""
    weights = [1 / (rank + 5) for rank in range(len(items))]
    scale = total / math.fsum(weights)
    return [(item, weight * scale) for item, weight in zip(items, weights, strict=True)]


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


class Lexicon:
    """The lexicon file as tables; make one with ``lexicon()``."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self._macros: dict[str, str] = data["macro"]
        self._expanded: dict[str, list[str]] = {}
        self.adjectives = {k: Table(zipf([adjective(w) for w in _words(v)])) for k, v in data["adj"].items()}
        self.adverbs = {k: Table(zipf([adverb(w) for w in _words(v)])) for k, v in data["adv"].items()}
        self.grades = {w.split("/")[0]: w.split("/")[1:] for w in data["grade"]["words"].split()}
        self.absolute = frozenset(data["grade"]["absolute"].split())
        self._specs: dict[str, Table[Noun]] = {}
        self._frames: dict[tuple[str, str, str, bool], Table[Verb]] = {}
        self._places: dict[str, Table[tuple[Word, str]] | None] = {}
        self.classes = {k: self._class(k, v) for k, v in data["noun"].items()}
        self._nouns = {k: self._inflected(v, self.classes[k]) for k, v in data["noun"].items()}
        self._nouns["NAME"] = [Noun(None, None, self.classes["person"]._replace(name="NAME"))]
        self._nouns["CITY"] = [Noun(name(w), None, self._class("CITY", {})) for w in _words(data["name"]["city"])]
        self.verbs = [verb for group in data["verb"] for verb in self._verbs(group)]

    def words(self, section: str, key: str) -> list[str]:
        """Return a plain list of words of the file."""
        return _words(self.data[section][key])

    def expand(self, spec: str) -> list[str]:
        """Return the classes (or places) of a specification with its macros replaced."""
        if spec not in self._expanded:
            self._expanded[spec] = [p for token in spec.split() for p in self._macros.get(token, token).split()]
        return self._expanded[spec]

    def nouns(self, spec: str) -> Table[Noun]:
        """Return the table of nouns for classes and macros, each class with weight by the root of its size."""
        if spec not in self._specs:
            pairs: list[tuple[Noun, float]] = []
            for part in self.expand(spec):
                members = self._nouns[part]
                pairs += zipf(members, 8.0 if part == "NAME" else len(members) ** 0.5)
            self._specs[spec] = Table(pairs)
        return self._specs[spec]

    def frame(self, frame: str, kind: str, role: str = "subject", use: str = "") -> Table[Verb]:
        """Return the verbs of a frame whose subject (or object) may be of a noun class; any class when it is empty.

        A use other than "" leaves out the stative verbs; the role ``object`` those without passive.
        """
        key = (frame, kind, role, bool(use))
        if key not in self._frames:
            wanted = HUMAN if kind in HUMAN else {kind}
            fits = [
                v
                for v in self.verbs
                if v.frame == frame
                and not (use and v.stative)
                and (v.passive or role == "subject")
                and (not kind or wanted & {*self.expand(v.subject if role == "subject" else v.object)})
            ]
            groups: dict[tuple[str, str, str], list[Verb]] = {}
            for v in fits:
                prep = v.preposition.form if v.preposition else ""
                groups.setdefault((v.subject, v.object, prep + v.relation), []).append(v)
            self._frames[key] = Table([pair for g in groups.values() for pair in zipf(g, len(g) ** 0.6)])
        return self._frames[key]

    def places(self, spec: str) -> Table[tuple[Word, str]] | None:
        """Return the table of (preposition, noun class) of a list of places, None when it is empty."""
        if spec not in self._places:
            pairs = [p.split(":") for p in self.expand(self.data["where"].get(spec, spec))]
            self._places[spec] = Table([((adposition(p), k), 1.0) for p, k in pairs]) if pairs else None
        return self._places[spec]

    def _class(self, key: str, entry: dict[str, Any]) -> NounClass:
        order = list(self.adjectives)
        sets = entry.get("adj", "").split()
        return NounClass(
            key,
            entry.get("plural", 0.42),
            entry.get("own", 0.0),
            entry.get("bare", False),
            tuple((order.index(a), self.adjectives[a]) for a in sets),
            Table(zipf([noun(w) for w in _words(entry["pre"])])) if entry.get("pre") else None,
            self.places(entry.get("mod", "")),
            self.places(entry.get("loc", "")),
            entry.get("pred", ""),
        )

    @staticmethod
    def _inflected(entry: dict[str, Any], kind: NounClass) -> list[Noun]:
        out = []
        for item in _words(entry["words"]):
            form, _, other = item.partition("/")
            if other == "=":
                out.append(Noun(None, noun(form, form, "Ptan"), kind))
            elif entry.get("mass"):
                out.append(Noun(noun(form), None, kind))
            else:
                out.append(Noun(noun(form), noun(other or plural(form), form, "Plur"), kind))
        return out

    def _verbs(self, group: dict[str, Any]) -> Iterable[Verb]:
        moves = group["frame"] in ("go", "be_at")
        for item in _words(group["words"]):
            head, _, particle = item.partition("_")
            yield Verb(
                verb_forms(head),
                {"ptv": "tv", "piv": "iv"}.get(group["frame"], group["frame"]),
                group["subj"],
                "" if moves else group.get("obj", ""),
                adposition(group["prep"]) if "prep" in group else None,
                word(particle, particle, "ADP", "RP") if particle else None,
                self.adverbs.get(group.get("adv", "")),
                self.places(group.get("where", "")),
                self.places(group["obj"]) if moves else None,
                group.get("tool", ""),
                group.get("stative", False),
                not group.get("nopass", False),
                group.get("rel", group.get("adj", "")),
            )


def _words(text: str) -> list[str]:
    """Return the words of a list, each once."""
    return list(dict.fromkeys(text.split()))


@cache
def lexicon() -> Lexicon:
    """Read the lexicon; the same object for the whole process."""
    return Lexicon(tomllib.loads(files("sonde.corpus.grammar").joinpath("lexicon.toml").read_text(encoding="utf-8")))
