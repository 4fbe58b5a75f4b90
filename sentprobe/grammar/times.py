"""Adverbials of time, each with the times it goes with."""

from __future__ import annotations

from functools import cache

from sentprobe.grammar.closed import determiner
from sentprobe.grammar.lexicon import lexicon
from sentprobe.grammar.phrases import Draft
from sentprobe.grammar.words import WeightedTable, adjective, adposition, adverb, name, noun, plural, zipf
from sentprobe.sentence import Tree

_KINDS = {
    "past": "word:1 last:1 ago:1 every:3 today:1 day:2 point:2 part:2 meal:2",
    "past+": "word:1 last:1 ago:1 every:3 today:1 day:2 point:2 part:2 meal:2 for:1",
    "pres": "every:3 today:1 day:2 point:2 part:2 meal:2",
    "prog": "now:1 today:3",
    "perf": "times:2 recently:1",
    "perf+": "since:2 for:2 recently:1",
    "had": "day:1 point:1 part:1 meal:2",
    "long": "since:2 for:2 recently:1",
    "fut": "word:2 next:4 day:2 soon:1 point:1 part:1 meal:1 month:1 today:1",
    "": "meal:1 point:1 part:2",
}


@cache
def _kinds(when: str) -> WeightedTable[str]:
    return WeightedTable([(k, float(w)) for k, w in (p.split(":") for p in _KINDS[when].split())])


@cache
def _list(key: str) -> WeightedTable[str]:
    return WeightedTable(zipf(lexicon().words("time", key)))


def adverbial(d: Draft, when: str, head: int, lasting: bool = False) -> tuple[Tree, int]:
    """Put an adverbial that goes with a time; return it and the position of its head, which depends on ``head``.

    Durations go only with what lasts.
    """
    kind = d.pick(_kinds(when + "+" * (lasting and when in ("past", "perf"))))
    if kind in ("now", "soon", "recently"):
        at = d.put(adverb(kind), "advmod", head)
        return d.node("ADVP", at), at
    if kind in ("word", "today"):
        at = d.put(noun("today" if kind == "today" else d.pick(_list(when))), "obl:unmarked", head)
        return d.node("NP", at), at
    if kind in ("last", "next", "every"):
        unit = d.pick(_list({"last": "past_unit", "next": "fut_unit", "every": "hab_unit"}[kind]))
        first = d.put(determiner("every") if kind == "every" else adjective(kind), "det" if kind == "every" else "amod")
        at = d.put(name(unit) if unit[0].isupper() else noun(unit), "obl:unmarked", head)
        d.heads[first] = at
        return d.node("NP", first, at), at
    if kind in ("ago", "for", "times"):
        return _quantity(d, kind, head)
    return _phrase(d, kind, head)


@cache
def _numbers() -> WeightedTable[str]:
    return WeightedTable(zipf(lexicon().words("function", "numerals")))


def _quantity(d: Draft, kind: str, head: int) -> tuple[Tree, int]:
    """Put two days ago, for two days, or several times."""
    case = d.put(adposition("for"), "case") if kind == "for" else None
    singular = "time" if kind == "times" else d.pick(_list("span")).partition("/")[0]
    count = d.pick(_numbers())
    first = d.put(determiner(count), "nummod")
    at = d.put(noun(plural(singular), singular, "Plur"), "obl:unmarked" if case is None else "obl", head)
    d.heads[first] = at
    tree = d.node("NP", first, at)
    if kind == "ago":
        top = d.put(adverb("ago"), "advmod", head)
        d.heads[at] = top
        return d.node("ADVP", tree, top), top
    if case is not None:
        d.heads[case] = at
        return d.node("PP", case, tree), at
    return tree, at


def _phrase(d: Draft, kind: str, head: int) -> tuple[Tree, int]:
    """Put a prepositional phrase of time."""
    article = None
    if kind in ("day", "since"):
        prep, last = ("on" if kind == "day" else "since"), name(d.pick(_list("days")))
    elif kind == "month":
        prep, last = "in", name(d.pick(_list("months")))
    elif kind == "point":
        prep, last = "at", noun(d.pick(_list("point")))
    elif kind == "meal":
        prep, last = ("before" if d.coin(0.5) else "after"), noun(d.pick(_list("meal")))
    else:
        prep, last = "in", noun(d.pick(_list("part")))
    case = d.put(adposition(prep), "case")
    if kind == "part":
        article = d.put(determiner("the"), "det")
    at = d.put(last, "obl", head)
    d.heads[case] = at
    if article is not None:
        d.heads[article] = at
    return d.node("PP", case, d.node("NP", article, at)), at
