"""Noun phrases of the built-in corpus with what follows the noun: phrases, clauses, appositions, conjuncts.

Sizes are requested as ``end``, the position at which a phrase should stop, which is not always met exactly.
"""

from __future__ import annotations

from functools import cache

from sentprobe.grammar.lexicon import HUMAN, Noun, NounClass, lexicon
from sentprobe.grammar.phrases import Draft, Nominal, bare, pronoun, proper
from sentprobe.grammar.plans import frames
from sentprobe.grammar.words import WeightedTable, Word, word
from sentprobe.sentence import Tree


@cache
def _shapes(room: int, deep: int, without: frozenset[str]) -> WeightedTable[str]:
    by_depth = {
        "plain": (3.0, 2.0, 0.7),
        "pp": (2.0, 4.0, 3.0),
        "rel": (0.0, 1.5, 4.5),
        "part": (0.3, 1.0, 2.0),
        "coord": (2.5, 1.2, 0.5),
        "list": (4.0, 1.0, 0.2),
        "appos": (3.5, 2.5, 1.2),
    }
    minimum = {"plain": 1, "pp": 4, "rel": 4, "part": 4, "coord": 3, "list": 6, "appos": 5}
    most = {"plain": 6}
    pairs = [(s, w[deep]) for s, w in by_depth.items() if minimum[s] <= room <= most.get(s, 99) and s not in without]
    return WeightedTable(pairs if any(w for _, w in pairs) else [("plain", 1.0)])


@cache
def _relatable(kind: str) -> bool:
    """Return whether a noun class can have a relative clause."""
    return kind != "CITY" and bool(lexicon().frame("tv", kind, "object").items or frames(kind, 3, 1, "").items)


_PLACES = frozenset({"room", "area", "field", "water", "town", "shop", "landmark", "road"})


@cache
def _barred(kind: NounClass, want: str, case: str, negative: bool) -> frozenset[str]:
    """Return the shapes a noun phrase cannot take."""
    barred = {"coord", "list"} if want == "s" or kind.name == "CITY" else set()
    if kind.name in _PLACES:
        barred.add("list")
    if case != "Nom" or kind.name not in HUMAN or want == "p":
        barred.add("appos")
    if kind.name == "NAME" or negative or not _relatable(kind.name):
        barred.add("rel")
    if kind.name == "NAME" or not kind.modifiers:
        barred |= {"pp", "part"}
    return frozenset(barred)


def nominal(
    d: Draft,
    spec: str,
    end: int,
    relation: str,
    *,
    case: str = "Acc",
    want: str = "",
    mood: str = "plain",
    pron: float = 0.2,
    apposition: bool = True,
) -> Nominal:
    """Put a noun phrase of the classes in ``spec``."""
    room = max(1, d.room(end))
    bits = d.bits
    noun = _draw_noun(d, spec, want)
    kind = noun.kind
    if pron and not d.named and room < 3 and not want and mood == "plain" and kind.name != "CITY" and d.coin(pron):
        d.bits = bits  # the noun does not appear, so it adds no surprisal
        return pronoun(d, case, relation, kind)
    human = kind.name in HUMAN
    shape = "plain" if room <= 2 else _draw_shape(d, kind, room, relation, want, case if apposition else "")
    size = room if shape == "plain" else max(2, min(4, d.upto(room - 2)))
    the = ""
    if shape == "appos":
        want, the = "s", "the" if kind.name == "person" else ""
    if shape in ("coord", "list"):
        mood = {"plain": "listed", "indefinite": "counted"}.get(mood, mood)
    before = len(d.words)
    first = (
        proper(d, kind, size, relation)
        if kind.name == "NAME"
        else bare(d, noun, size, relation, want=want, mood=mood, det=the)
    )
    if shape == "plain" or len(d.words) - before > room:
        return first
    if shape == "pp" and kind.modifiers:
        prep, spec = d.pick(kind.modifiers)
        phrase, _ = prepositional(d, prep, spec, end, "nmod", first.head, first.agreement[1] if spec in _PARTS else "")
        return first._replace(tree=Tree("NP", (first.tree, phrase)))
    if shape in ("rel", "part"):
        inner = d.rules.attach(d, first, shape, end)
        return first._replace(tree=Tree("NP", (first.tree, inner))) if inner else first
    if shape == "appos":
        return _apposed(d, first, end)
    if shape in ("coord", "list"):
        return _coordinated(d, "human" if human else kind.name, first, end, shape, case, mood)
    return first


def _draw_noun(d: Draft, spec: str, want: str) -> Noun:
    """Draw a noun of the classes in ``spec`` that has the number ``want`` (s, p, or any)."""
    table = d.lex.nouns(spec)
    if want == "p":
        return d.pick(table, lambda n: n.plural is not None and n.kind.plural > 0)
    if want == "s":
        return d.pick(table, lambda n: n.singular is not None or n.kind.name == "NAME")
    return d.pick(table)


def _draw_shape(d: Draft, kind: NounClass, room: int, relation: str, want: str, case: str) -> str:
    """Draw what follows the noun; no apposition without a case."""
    barred = _barred(kind, want, case, d.negative)
    if relation in ("obl", "nmod"):  # the tables near the lake and a pond are hard to imagine
        barred |= {"coord", "list"}
    return d.pick(_shapes(min(room, 30), d.deep, barred))


def _apposed(d: Draft, first: Nominal, end: int) -> Nominal:
    """Put an apposition between commas after a noun phrase."""
    comma = d.mark(",", -1)
    noun = d.pick(d.lex.nouns("p_person"))
    second = bare(d, noun, min(5, max(3, d.room(end) - 1)), "appos", want="s", mood="indefinite", det="a")
    d.heads[second.head] = first.head
    d.heads[comma] = second.head
    return first._replace(tree=d.node("NP", first.tree, comma, second.tree, d.mark(",", second.head)))


def _coordinated(d: Draft, spec: str, first: Nominal, end: int, shape: str, case: str, mood: str) -> Nominal:
    """Go on from a first conjunct to a pair or a list."""
    parts: list[int | Tree] = [first.tree]
    seen = {d.words[first.head].lemma}
    count = 1 if shape == "coord" else 2 + (d.room(end) > 6) + (d.room(end) > 12)
    conjunction = (
        word("or", "or", "CCONJ", "CC") if case == "Acc" and d.coin(0.12) else word("and", "and", "CCONJ", "CC")
    )
    table = d.lex.nouns(spec)
    for conjuncts_left in range(count, 0, -1):
        comma = cc = None
        if conjuncts_left > 1 or (shape == "list" and d.coin(0.5)):
            comma = d.mark(",", -1)
        if conjuncts_left == 1:
            cc = d.put(conjunction, "cc")
        noun = d.pick(table, lambda n: (n.singular or n.plural or conjunction).lemma not in seen)
        share = max(2, min(4, d.room(end) // conjuncts_left - 1))
        if noun.kind.name == "NAME":
            item = proper(d, noun.kind, 1, "conj", seen)
        else:
            item = bare(d, noun, share, "conj", mood=mood)
        seen.add(d.words[item.head].lemma)
        d.heads[item.head] = first.head
        for at in (comma, cc):
            if at is not None:
                d.heads[at] = item.head
        parts += [p for p in (comma, cc) if p is not None]
        parts.append(item.tree)
    return Nominal(d.node("NP", *parts), first.head, "3p", first.kind)


_PARTS = frozenset({"outfit", "feature"})  # what each of several people has one of


def prepositional(
    d: Draft, prep: Word, spec: str, end: int, relation: str, head: int, want: str = ""
) -> tuple[Tree, int]:
    """Put a prepositional phrase; return it and the position of its noun."""
    case = d.put(prep, "case")
    mood = "worn" if want else "plain" if d.negative else "listed"  # not: in no house, from every town
    pron = 0.12 if spec in ("human", "person", "being") else 0.0
    inside = nominal(d, spec, max(end, len(d.words) + 1), relation, want=want, mood=mood, pron=pron)
    d.heads[case] = inside.head
    d.heads[inside.head] = head
    return d.node("PP", case, inside.tree), inside.head
