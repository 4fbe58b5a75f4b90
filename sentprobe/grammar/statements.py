"""Statements of the built-in corpus: what is at the top of the tree, and which word is the root.

Every kind takes a draft, the target number of words, and the final mark; it returns the sentence node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sentprobe.grammar.adjuncts import subordinate
from sentprobe.grammar.clauses import clause, existential, infinitive, predicate
from sentprobe.grammar.closed import listed, listed_adjectives, personal
from sentprobe.grammar.complements import complement
from sentprobe.grammar.nominals import nominal, prepositional
from sentprobe.grammar.phrases import Draft, Nominal
from sentprobe.grammar.plans import ClausePlan, auxiliary, chain, plan
from sentprobe.grammar.times import adverbial
from sentprobe.grammar.words import WeightedTable, Word, verb_forms, word
from sentprobe.sentence import Tree


@cache
def times() -> WeightedTable[str]:
    """The tenses to draw from."""
    return WeightedTable([("past", 47.0), ("pres", 43.0), ("fut", 10.0)])


def close(d: Draft, label: str, mark: str, head: int, *parts: int | Tree) -> Tree:
    """Make ``head`` the root, put the final mark, and return the sentence node."""
    d.relations[head], d.heads[head] = "root", -1
    return d.node(label, *parts, d.mark(mark, head))


def conjunction(d: Draft, among: WeightedTable[str]) -> Word:
    """Draw a coordinating conjunction."""
    form = d.pick(among)
    return word(form, form, "CCONJ", "CC")


_OPENING = WeightedTable([("but", 5.0), ("and", 5.0), ("or", 0.3), ("yet", 1.0)])


# ---------------------------------------------------------------- declaratives


def plain(d: Draft, size: int, mark: str) -> Tree:
    """One clause."""
    kids, head = clause(d, size - 1, d.pick(times()), "root")
    return close(d, "S", mark, head, *kids)


def fronted(front: str) -> Callable[[Draft, int, str], Tree]:
    """Return the kind whose clause follows these openers, written as letters."""

    def kind(d: Draft, size: int, mark: str) -> Tree:
        end = size - 1
        time = d.pick(times())
        parts: list[int | Tree] = []
        waiting: list[int] = []
        human = "g" in front or "u" in front
        dated = "t" in front
        share = max(4, min(end - 4, 2 + d.upto(max(1, end - 6))))
        words_left = max(1, end - (share if front[-1] in "sgup" else 1) - 3)
        bits = d.bits
        p = plan(d, words_left, "person" if human else "", use="event" if human else "dated" if dated else "")
        while "p" in front and (p.verb is None or p.verb.locations is None):
            d.bits = bits
            p = plan(d, words_left)
        for letter in front:
            if letter == "c":
                waiting.append(d.put(conjunction(d, _OPENING), "cc"))
                parts.append(waiting[-1])
                continue
            tree, at, has_comma = _opener(d, letter, front, time, p, share)
            parts.append(tree)
            waiting.append(at)
            if has_comma:
                parts.append(d.mark(",", at))
        kids, head = clause(
            d,
            end,
            time,
            "root",
            p=p,
            waiting=waiting,
            simple=dated or human or "b" in front,
            dated=dated,
            affirm=human or "b" in front,
        )
        return close(d, "S", mark, head, *parts, *kids)

    return kind


def _opener(d: Draft, letter: str, front: str, time: str, p: ClausePlan, share: int) -> tuple[Tree, int, bool]:
    """Put the opener of a letter; return it, the head that waits for its own, and whether a comma follows."""
    if letter == "i":
        form = d.pick(_interjections())
        feats = {"yes": "Polarity=Pos", "no": "Polarity=Neg"}.get(form, "_")
        at = d.put(word(form, form, "INTJ", "UH", feats), "discourse")
        return d.node("INTJ", at), at, True
    if letter == "a":
        at = d.put(d.pick(listed("stance", "words"), lambda w: "c" not in front or w.form != "however"), "advmod")
        return d.node("ADVP", at), at, True
    if letter == "b":
        at = d.put(d.pick(listed("stance", time)), "advmod")
        return d.node("ADVP", at), at, d.coin(0.25)
    if letter == "t":
        tree, at = adverbial(d, time, -1)
        return tree, at, d.coin(0.5)
    if letter == "p" and p.verb and p.verb.locations:
        prep, spec = d.pick(p.verb.locations)
        tree, at = prepositional(d, prep, spec, len(d.words) + min(share, 6), "obl", -1)
        return tree, at, d.coin(0.7)
    if letter == "s":
        tree = subordinate(d, len(d.words) + share, time, -1)
    else:
        controller = Nominal(Tree("NP", ()), -1, "3s", d.lex.classes["person"])
        key = "part" if letter == "g" else "inf"
        tree = infinitive(d, len(d.words) + share - 1, controller, "advcl", -1, key)
    return tree, _last(d, "advcl"), True


def _last(d: Draft, relation: str) -> int:
    """Return the word that has the relation and still waits for its head."""
    return next(i for i, r in enumerate(d.relations) if r == relation and d.heads[i] == -1)


@cache
def _interjections() -> WeightedTable[str]:
    return WeightedTable(
        [("well", 4.0), ("oh", 4.0), ("yes", 3.0), ("no", 3.0), ("hey", 1.0), ("ah", 1.0), ("okay", 1.0), ("wow", 1.0)]
    )


def parenthetical(d: Draft, size: int, mark: str) -> Tree:
    """A sentence adverb between commas after the subject."""
    end = size - 1
    share = d.upto(max(1, min(6, end // 2 - 1)))
    p = plan(d, max(1, end - share - 3))
    use = "nsubj:pass" if p.passive else "nsubj"
    subject = nominal(d, p.subject, share, use, case="Nom", pron=0.0, apposition=False)
    first = d.mark(",", -1)
    at = d.put(d.pick(listed("stance", "words")), "advmod")
    second = d.mark(",", at)
    d.heads[first] = at
    steps = chain(d, p, d.pick(times()), subject.agreement)
    before, vp, head = predicate(d, p, subject, steps, end, [subject.head, at], affirm=True)
    return close(d, "S", mark, head, subject.tree, first, d.node("ADVP", at), second, *before, *vp)


def existential_sentence(d: Draft, size: int, mark: str) -> Tree:
    """An existential sentence."""
    kids, head = existential(d, size - 1, d.pick(times()), "root", [])
    return close(d, "S", mark, head, *kids)


def extraposed(d: Draft, size: int, mark: str) -> Tree:
    """It is clear that …, it was hard to …"""
    time = "past" if d.coin(0.5) else "pres"
    it = d.put(personal("it", "Nom"), "expl")
    be = d.put(auxiliary("be")[time + "3s"], "cop")
    that = d.coin(0.6)
    at = d.put(d.pick(listed_adjectives("fact_adj" if that else "task_adj")), "root")
    d.take(at, [it, be])
    if that:
        inner = complement(d, size - 1, time, "csubj", at, "that", False)
    else:
        anyone = Nominal(Tree("NP", ()), -1, "3s", d.lex.classes["person"])
        inner = infinitive(d, size - 1, anyone, "csubj", at, "inf")
    return close(d, "S", mark, at, d.node("NP", it), d.node("VP", be, d.node("ADJP", at), inner))


def clausal_subject(d: Draft, size: int, mark: str) -> Tree:
    """That …, whether … or a gerund as the subject."""
    share = 3 + d.upto(max(1, size - 8))
    if gerund := d.coin(0.5):
        anyone = Nominal(Tree("NP", ()), -1, "3s", d.lex.classes["person"])
        subject = infinitive(d, share - 1, anyone, "csubj", -1, "ger")
    else:
        marker = "that" if d.coin(0.7) else "whether"
        subject = complement(d, share, "past" if d.coin(0.6) else "pres", "csubj", -1, marker, False)
    at = _last(d, "csubj")
    reaction, head = _reaction(
        d, size - 1, at, "task_adj" if gerund else "fact_adj" if marker == "that" else "doubt_adj"
    )
    return close(d, "S", mark, head, subject, *reaction)


def _reaction(d: Draft, end: int, subject: int, adjectives: str) -> tuple[list[Tree], int]:
    """Put what is predicated of a fact: surprised everyone, was important."""
    time = "past" if d.coin(0.6) else "pres"
    if d.room(end) < 3 or adjectives == "doubt_adj" or d.coin(0.4):
        be = d.put(auxiliary("be")[time + "3s"], "cop")
        at = d.put(d.pick(listed_adjectives(adjectives)), "root")
        d.take(at, [be, subject])
        return [d.node("VP", be, d.node("ADJP", at))], at
    p = plan(d, d.room(end), "idea", among="tv")
    idea = Nominal(Tree("NP", ()), subject, "3s", d.lex.classes["idea"])
    before, vp, head = predicate(d, p, idea, chain(d, p, time, "3s", simple=True), end, [subject])
    return [*before, *vp], head


def inverted(d: Draft, size: int, mark: str) -> Tree:
    """A place first, then the verb, then the subject."""
    thing = d.coin(0.6)
    p = plan(d, 4, "tool" if thing else "person", among="be_at")
    assert p.verb is not None  # only copular plans have none
    assert p.verb.ways is not None  # every verb of the frame has its places
    prep, spec = d.pick(p.verb.ways)
    front, at = prepositional(d, prep, spec, max(3, min(6, size - 5)), "obl", -1)
    number = "s" if d.coin(0.5) else "p"
    head = d.put(p.verb.forms["past3" + number], "root")
    subject = nominal(
        d, p.subject if thing else "person", size - 1, "nsubj", case="Acc", want=number, mood="indefinite", pron=0
    )
    d.take(head, [at, subject.head])
    return close(d, "SINV", mark, head, front, d.node("VP", head), subject.tree)


# ---------------------------------------------------------------- speech


@cache
def _saying() -> WeightedTable[str]:
    return WeightedTable(
        [
            ("say/said/said", 10.0),
            ("whisper", 2.0),
            ("shout", 2.0),
            ("reply/replied/replied", 2.0),
            ("explain", 1.5),
            ("announce", 1.0),
            ("admit+", 1.0),
            ("mutter", 1.0),
            ("insist", 1.0),
            ("complain", 1.0),
            ("add", 1.0),
        ]
    )


def spoken(d: Draft, size: int, mark: str) -> Tree:
    """Direct speech, then who said it; with a name the verb may come first."""
    opening = d.mark("``", -1)
    kids, content = clause(d, max(4, size - 6), d.pick(times()), "ccomp")
    comma, closing = d.mark(",", content), d.mark("''", content)
    d.heads[opening] = content
    quoted = Tree("S", tuple(kids))
    forms = verb_forms(d.pick(_saying()))
    turn = d.coin(0.35)
    time = "past" if d.coin(0.6) else "pres"
    if turn:
        head = d.put(forms[time + "3s"], "root")
    speaker = nominal(
        d, "NAME person kin", max(size - 2, len(d.words) + 1), "nsubj", case="Acc" if turn else "Nom", want="s", pron=0
    )
    if not turn:
        head = d.put(forms[time + speaker.agreement], "root")
    d.take(head, [content, speaker.head])
    verb = d.node("VP", head)
    attribution = (verb, speaker.tree) if turn else (speaker.tree, verb)
    return close(d, "SINV" if turn else "S", mark, head, opening, quoted, comma, closing, *attribution)


_NOT_AFTER = frozenset(
    {"forget", "deny", "doubt", "learn", "discover", "pretend", "emphasize", "feel", "understand", "dream"}
)


def reported(d: Draft, size: int, mark: str) -> Tree:
    """A reported thought or statement, with its source at the end."""
    kids, content = clause(d, max(4, size - 4), d.pick(times()), "ccomp")
    comma = d.mark(",", content)
    verb = d.pick(d.lex.frame("that", "person"), lambda v: v.forms["inf"].form not in _NOT_AFTER)
    speaker = nominal(d, "human", max(size - 2, len(d.words) + 1), "nsubj", case="Nom", pron=0.4)
    head = d.put(verb.forms[("past" if d.coin(0.5) else "pres") + speaker.agreement], "root")
    d.take(head, [content, speaker.head])
    return close(d, "S", mark, head, Tree("S", tuple(kids)), comma, speaker.tree, d.node("VP", head))
