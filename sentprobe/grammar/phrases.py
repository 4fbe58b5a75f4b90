"""Phrases below the clause, built word by word: columns and constituents grow together in a Draft.

Words are put in surface order, so positions are final at once. A dependent put before its head waits in a list of
positions until the head takes it. In trees an int stands for the word at that position.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection
from itertools import accumulate
from math import log2
from random import Random
from typing import NamedTuple, TypeVar

from sentprobe.grammar.closed import (
    PRONOUNS,
    RELATION,
    determiner,
    determiners,
    intensifiers,
    names,
    personal,
    possessives,
    pronouns,
)
from sentprobe.grammar.lexicon import Lexicon, Noun, NounClass, lexicon
from sentprobe.grammar.words import WeightedTable, Word, adjective, capital, word
from sentprobe.sentence import Tree

T = TypeVar("T")
_MOST_TRIES = 100
PUNCTUATION = {",": ",", ".": ".", "?": ".", "!": ".", ";": ":", "``": "``", "''": "''"}
"""Penn tags of the punctuation marks; both quotation marks are written as the plain double quote."""


class Nominal(NamedTuple):
    """A finished noun phrase: its tree, its head's position, agreement, and noun class."""

    tree: Tree
    head: int
    agreement: str
    kind: NounClass
    pronoun: bool = False


class ClauseRules(NamedTuple):
    """The recursive rules of the grammar.

    ``attach`` puts a clause after a noun, ``clause`` one with a subject, ``infinitive`` one without.
    """

    attach: Callable[[Draft, Nominal, str, int], Tree | None]
    clause: Callable[..., tuple[list[Tree], int]]
    infinitive: Callable[[Draft, int, Nominal, str, int, str], Tree]


class Stuck(Exception):
    """No item of a table fits the derivation so far."""


class Draft:
    """A sentence in the making.

    It is given the rules that put clauses, because phrases hold clauses and clauses are made of phrases.
    ``named`` prefers nouns to pronouns: a short sentence needs them to be unique.
    """

    __slots__ = (
        "adjuncts",
        "bits",
        "deep",
        "heads",
        "lex",
        "multiwords",
        "named",
        "negative",
        "opening",
        "relations",
        "rng",
        "rules",
        "words",
    )

    def __init__(self, rng: Random, deep: int, rules: ClauseRules, *, named: bool) -> None:
        self.rng = rng
        self.rules = rules
        self.lex: Lexicon = lexicon()
        self.deep = deep
        self.named = named
        self.bits = 0.0
        self.opening = True
        self.negative = False
        self.adjuncts = ""
        self.words: list[Word] = []
        self.heads: list[int] = []
        self.relations: list[str] = []
        self.multiwords: list[tuple[int, int, str]] = []

    def pick(self, table: WeightedTable[T], fits: Callable[[T], bool] | None = None) -> T:
        """Draw from a table, again until the item fits, and count the surprisal of the item kept."""
        at = bisect(table.cumulative, self.rng.random())
        if fits:
            tries = 0
            while not fits(table.items[at]):
                at = bisect(table.cumulative, self.rng.random())
                if (tries := tries + 1) > _MOST_TRIES:
                    raise Stuck
        self.bits += table.bits[at]
        return table.items[at]

    def coin(self, p: float) -> bool:
        """Return True with probability p, and count the surprisal."""
        yes = self.rng.random() < p
        self.bits -= log2(p if yes else 1 - p)
        return yes

    def upto(self, n: int) -> int:
        """Draw a latent size from 1 to n; sizes follow from the words, so their surprisal is not counted."""
        return 1 + int(self.rng.random() * n)

    def room(self, end: int) -> int:
        """Return how many words are left before position ``end``."""
        return end - len(self.words)

    def put(self, w: Word, relation: str, head: int = -1) -> int:
        """Append a word; return its position."""
        if self.opening:
            w = capital(w)
            self.opening = w.upos == "PUNCT"
        self.words.append(w)
        self.heads.append(head)
        self.relations.append(relation)
        return len(self.words) - 1

    def cling(self, w: Word, relation: str, head: int = -1) -> int:
        """Append a clitic: one surface token together with the word before it."""
        at = self.put(w, relation, head)
        self.multiwords.append((at - 1, at + 1, self.words[at - 1].form + w.form))
        return at

    def mark(self, sign: str, head: int) -> int:
        """Append a punctuation mark."""
        form = '"' if sign in ("``", "''") else sign
        return self.put(word(form, form, "PUNCT", PUNCTUATION[sign]), "punct", head)

    def take(self, head: int, dependents: list[int]) -> None:
        """Give waiting dependents their head."""
        for at in dependents:
            self.heads[at] = head

    def node(self, label: str, *parts: int | Tree | None) -> Tree:
        """Return a constituent over words (by position) and constituents."""
        words = self.words
        return Tree(label, tuple([words[p].leaf if isinstance(p, int) else p for p in parts if p is not None]))


# ---------------------------------------------------------------- noun phrases without clauses


def pronoun(d: Draft, case: str, relation: str, kind: NounClass, lemma: str = "") -> Nominal:
    """Put a personal pronoun for a noun of a class."""
    human = kind.name in ("person", "kin", "NAME")
    lemma = lemma or d.pick(pronouns(human, case))
    at = d.put(personal(lemma, case), relation)
    return Nominal(d.node("NP", at), at, PRONOUNS[lemma][0], kind, True)


def proper(d: Draft, kind: NounClass, room: int, relation: str, seen: Collection[str] = ()) -> Nominal:
    """Put a person's name: a first name, a full name, or a title and a family name; none already used."""
    first = names("female" if d.rng.random() < 0.5 else "male")
    if room < 2 or d.coin(0.4):
        at = d.put(d.pick(first, lambda w: w.form not in seen), relation)
        return Nominal(d.node("NP", at), at, "3s", kind)
    if d.coin(0.3):
        title = d.put(d.pick(names("title")), "nmod:desc")
        at = d.put(d.pick(names("family")), relation)
        d.heads[title] = at
        return Nominal(d.node("NP", title, at), at, "3s", kind)
    at = d.put(d.pick(first), relation)
    return Nominal(d.node("NP", at, d.put(d.pick(names("family")), "flat", at)), at, "3s", kind)


def grade(d: Draft, w: Word, degree: str) -> Word | None:
    """Return the comparative (Cmp) or superlative (Sup) in one word, None where English takes two."""
    forms = d.lex.grades.get(w.form)
    return forms and word(
        forms[degree == "Sup"], w.form, "ADJ", "JJR" if degree == "Cmp" else "JJS", f"Degree={degree}"
    )


def modifiers(d: Draft, kind: NounClass, count: int) -> list[Word]:
    """Draw adjectives of different sets for a noun class, in their order."""
    sets = list(kind.adjectives)
    chosen: list[tuple[int, Word]] = []
    while sets and len(chosen) < count:
        ends = [*accumulate(len(table.items) ** 0.5 for _, table in sets)]  # large sets are drawn more often
        order, table = sets.pop(bisect(ends[:-1], d.rng.random() * ends[-1]))
        chosen.append((order, d.pick(table, lambda w: all(w is not earlier for _, earlier in chosen))))
    return [w for _, w in sorted(chosen, key=lambda pair: pair[0])]


def bare(
    d: Draft, noun: Noun, room: int, relation: str, *, want: str = "", mood: str = "plain", det: str = ""
) -> Nominal:
    """Put determiner, modifiers and noun within about ``room`` words; ``want`` (s or p) forces the number."""
    kind = noun.kind
    if kind.name == "CITY" and noun.singular:
        at = d.put(noun.singular, relation)
        return Nominal(d.node("NP", at), at, "3s", kind)
    if noun.singular is None or (noun.plural and (want == "p" or (not want and _plural(d, kind, room)))):
        head_word, number = noun.plural, "p"
    else:
        head_word, number = noun.singular, "s" if noun.plural else "m"
    assert head_word is not None  # a noun has at least one of its forms
    parts: list[int | Tree] = []
    waiting: list[int] = []
    if kind.possessed and mood in ("plain", "listed") and not det and (room > 1 or number == "s"):
        _possessor(d, kind, room, parts, waiting)
    words: tuple[str, ...] = ()
    if det or kind.bare:
        words = () if kind.bare or det == "-" else (det,)
    elif not waiting and (room > 1 or number == "s"):
        table = determiners(number, "negative" if mood == "plain" and d.negative else mood)
        # A sentence does not begin with a digit.
        words = d.pick(table, (lambda w: not w or not w[0].isdigit()) if d.opening and number == "p" else None)
    spare = room - 1 - len(words) - len(waiting)
    count = 1 + d.coin(0.2) if spare > 0 and kind.adjectives else 0
    if count and (spare < count or d.coin(0.3)):
        count -= 1
    adjectives = modifiers(d, kind, count)
    noun_first = d.pick(kind.compound) if kind.compound and spare > len(adjectives) and d.coin(0.4) else None
    if noun_first is not None and noun_first.form == head_word.lemma:
        noun_first = None
    following = [*adjectives, *([noun_first] if noun_first else []), head_word]
    rich = spare > len(adjectives) + bool(noun_first) and bool(adjectives) and d.coin(0.12)
    superlative = grade(d, adjectives[0], "Sup") if words == ("the",) and adjectives and d.coin(0.12) else None
    if superlative:
        following[0] = superlative
        rich = False
    if adjectives and rich and adjectives[0].form in d.lex.absolute:
        rich = False
    intensifier = d.pick(intensifiers("plain")) if rich else None
    for i, form in enumerate(words):
        after = determiner(words[i + 1]) if i + 1 < len(words) else intensifier or following[0]
        w = determiner("an" if form == "a" and after.vowel else form)
        waiting.append(d.put(w, RELATION[w.upos]))
        parts.append(waiting[-1])
    if intensifier:
        very = d.put(intensifier, "advmod")
        d.heads[very] = waiting_adjective = d.put(following.pop(0), "amod")
        waiting.append(waiting_adjective)
        parts.append(d.node("ADJP", very, waiting_adjective))
    for w in following[:-1]:
        waiting.append(d.put(w, "amod" if w.upos == "ADJ" else "compound"))
        parts.append(waiting[-1])
    at = d.put(head_word, relation)
    d.take(at, waiting)
    return Nominal(d.node("NP", *parts, at), at, "3p" if number == "p" else "3s", kind)


def _plural(d: Draft, kind: NounClass, room: int) -> bool:
    if room < 2 and kind.plural >= 0.4:
        return True
    return kind.plural > 0 and d.coin(kind.plural)


def _possessor(d: Draft, kind: NounClass, room: int, parts: list[int | Tree], waiting: list[int]) -> None:
    """Put a possessive pronoun or a genitive phrase before the noun, or nothing."""
    if kind.name != "body" and not d.coin(0.9 if kind.name == "kin" else kind.possessed * 0.45):
        return
    if room > 2 and kind.name != "body" and d.coin(0.35):
        spec = "NAME person" if d.coin(0.8) else "kin"
        owner = d.pick(d.lex.nouns(spec))
        if owner.kind.name == "NAME":
            phrase = proper(d, owner.kind, 1 if room < 5 else 2, "nmod:poss")
        else:
            phrase = bare(d, owner, 2, "nmod:poss", want="s", det="" if owner.kind.name == "kin" else "the")
        clitic = word("'s", "'s", "PART", "POS")
        parts.append(Tree("NP", (*phrase.tree.children, d.words[d.cling(clitic, "case", phrase.head)].leaf)))
        waiting.append(phrase.head)
    else:
        at = d.put(personal(d.pick(possessives()), "Gen"), "nmod:poss")
        parts.append(at)
        waiting.append(at)


def adjectival(d: Draft, kind: NounClass, table: WeightedTable[Word] | None, room: int) -> tuple[list[int | Tree], int]:
    """Put a predicate adjective of a class, perhaps intensified; return the parts of its ADJP and the head."""
    chosen = d.pick(table) if table else (modifiers(d, kind, 1) or [adjective("new")])[0]
    if room > 1 and chosen.form not in d.lex.absolute and d.coin(0.35):
        very = d.put(d.pick(intensifiers("predicate")), "advmod")
        d.heads[very] = at = d.put(chosen, "")
        return [very, at], at
    at = d.put(chosen, "")
    return [at], at
