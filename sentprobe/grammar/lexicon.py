"""The lexicon of the built-in corpus: noun classes, verb frames and their restrictions, read from ``lexicon.toml``.

A list there is in frequency order, and its weights follow Zipf's law with a flat head.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from sentprobe.grammar.words import (
    WeightedTable,
    Word,
    adjective,
    adposition,
    adverb,
    name,
    noun,
    plural,
    verb_forms,
    word,
    zipf,
)

HUMAN = frozenset({"person", "kin", "NAME"})
"""The noun classes that share one set of predicates."""


class NounClass(NamedTuple):
    """What nouns of one semantic class may combine with."""

    name: str
    plural: float
    possessed: float
    bare: bool
    adjectives: tuple[tuple[int, WeightedTable[Word]], ...]
    compound: WeightedTable[Word] | None
    modifiers: WeightedTable[tuple[Word, str]] | None
    locations: WeightedTable[tuple[Word, str]] | None
    predicate: str


class Noun(NamedTuple):
    """A noun with its class; a mass noun has no plural, a plurale tantum no singular."""

    singular: Word | None
    plural: Word | None
    kind: NounClass


class LexicalVerb(NamedTuple):
    """One verb in one frame: its forms by key (``past3s``, ``inf``, ``pass`` …) and its selectional restrictions."""

    forms: dict[str, Word]
    frame: str
    subject: str
    object: str
    preposition: Word | None
    particle: Word | None
    manner: WeightedTable[Word] | None
    locations: WeightedTable[tuple[Word, str]] | None
    ways: WeightedTable[tuple[Word, str]] | None
    tool: str
    stative: bool
    passive: bool
    relation: str


class Lexicon:
    """The lexicon file as tables; make one with ``lexicon()``."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self._macros: dict[str, str] = data["macro"]
        self._expanded: dict[str, list[str]] = {}
        self.adjectives = {k: WeightedTable(zipf([adjective(w) for w in _words(v)])) for k, v in data["adj"].items()}
        self.adverbs = {k: WeightedTable(zipf([adverb(w) for w in _words(v)])) for k, v in data["adv"].items()}
        self.grades = {w.split("/")[0]: w.split("/")[1:] for w in data["grade"]["words"].split()}
        self.absolute = frozenset(data["grade"]["absolute"].split())
        self._specs: dict[str, WeightedTable[Noun]] = {}
        self._frames: dict[tuple[str, str, str, bool], WeightedTable[LexicalVerb]] = {}
        self._locations: dict[str, WeightedTable[tuple[Word, str]] | None] = {}
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

    def nouns(self, spec: str) -> WeightedTable[Noun]:
        """Return the table of nouns for classes and macros, each class weighted by the square root of its size."""
        if spec not in self._specs:
            pairs: list[tuple[Noun, float]] = []
            for part in self.expand(spec):
                members = self._nouns[part]
                pairs += zipf(members, 8.0 if part == "NAME" else len(members) ** 0.5)
            self._specs[spec] = WeightedTable(pairs)
        return self._specs[spec]

    def frame(self, frame: str, kind: str, role: str = "subject", use: str = "") -> WeightedTable[LexicalVerb]:
        """Return the verbs of a frame whose subject (or object) may be of a noun class; any class when it is empty.

        A use other than "" leaves out the stative verbs; the role ``object`` those without passive.
        """
        key = (frame, kind, role, bool(use))
        if key not in self._frames:
            classes = HUMAN if kind in HUMAN else {kind}
            fits = [
                v
                for v in self.verbs
                if v.frame == frame
                and not (use and v.stative)
                and (v.passive or role == "subject")
                and (not kind or classes & {*self.expand(v.subject if role == "subject" else v.object)})
            ]
            groups: dict[tuple[str, str, str], list[LexicalVerb]] = {}
            for v in fits:
                prep = v.preposition.form if v.preposition else ""
                groups.setdefault((v.subject, v.object, prep + v.relation), []).append(v)
            self._frames[key] = WeightedTable([pair for g in groups.values() for pair in zipf(g, len(g) ** 0.6)])
        return self._frames[key]

    def locations(self, spec: str) -> WeightedTable[tuple[Word, str]] | None:
        """Return the table of (preposition, noun class) of a list of places, None when it is empty."""
        if spec not in self._locations:
            pairs = [p.split(":") for p in self.expand(self.data["where"].get(spec, spec))]
            self._locations[spec] = WeightedTable([((adposition(p), k), 1.0) for p, k in pairs]) if pairs else None
        return self._locations[spec]

    def _class(self, key: str, entry: dict[str, Any]) -> NounClass:
        order = list(self.adjectives)
        sets = entry.get("adj", "").split()
        return NounClass(
            key,
            entry.get("plural", 0.42),
            entry.get("own", 0.0),
            entry.get("bare", False),
            tuple((order.index(a), self.adjectives[a]) for a in sets),
            WeightedTable(zipf([noun(w) for w in _words(entry["pre"])])) if entry.get("pre") else None,
            self.locations(entry.get("mod", "")),
            self.locations(entry.get("loc", "")),
            entry.get("pred", ""),
        )

    @staticmethod
    def _inflected(entry: dict[str, Any], kind: NounClass) -> list[Noun]:
        out = []
        for item in _words(entry["words"]):
            form, _, marker = item.partition("/")
            if marker == "=":
                out.append(Noun(None, noun(form, form, "Ptan"), kind))
            elif entry.get("mass"):
                out.append(Noun(noun(form), None, kind))
            else:
                out.append(Noun(noun(form), noun(marker or plural(form), form, "Plur"), kind))
        return out

    def _verbs(self, group: dict[str, Any]) -> Iterable[LexicalVerb]:
        moves = group["frame"] in ("go", "be_at")
        for item in _words(group["words"]):
            head, _, particle = item.partition("_")
            yield LexicalVerb(
                verb_forms(head),
                {"ptv": "tv", "piv": "iv"}.get(group["frame"], group["frame"]),
                group["subj"],
                "" if moves else group.get("obj", ""),
                adposition(group["prep"]) if "prep" in group else None,
                word(particle, particle, "ADP", "RP") if particle else None,
                self.adverbs.get(group.get("adv", "")),
                self.locations(group.get("where", "")),
                self.locations(group["obj"]) if moves else None,
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
    return Lexicon(tomllib.loads(files("sentprobe.grammar").joinpath("lexicon.toml").read_text(encoding="utf-8")))
