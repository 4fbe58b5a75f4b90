"""Sentences with more than one main clause or verb phrase: coordination and parataxis.

Every kind takes a draft, the target number of words, and the final mark; it returns the sentence node.
"""

from __future__ import annotations

from functools import cache

from sentprobe.grammar.clauses import clause, predicate
from sentprobe.grammar.nominals import nominal
from sentprobe.grammar.phrases import Draft
from sentprobe.grammar.plans import chain, plan
from sentprobe.grammar.statements import close, conjunction, times
from sentprobe.grammar.words import WeightedTable, adverb
from sentprobe.sentence import Tree


def coordinated(d: Draft, size: int, mark: str) -> Tree:
    """Two main clauses and a conjunction, with or without a comma."""
    return _joined(d, size, mark, 2)


def tripled(d: Draft, size: int, mark: str) -> Tree:
    """Three main clauses."""
    return _joined(d, size, mark, 3)


def _joined(d: Draft, size: int, mark: str, clauses: int) -> Tree:
    time = d.pick(times())
    even = d.rng.random() < 0.45
    first_end = (size - 3) // clauses if even else 2 + d.upto(max(1, size - 7 if clauses == 2 else size // 3))
    kids, head = clause(d, first_end, time, "root", simple=d.coin(0.6))
    first_size = len(d.words)
    parts: list[int | Tree] = [Tree("S", tuple(kids))]
    with_comma = clauses == 3 or d.coin(0.65)
    joining = conjunction(d, _joining())
    for clauses_left in range(clauses - 1, 0, -1):
        waiting = []
        if with_comma:
            waiting.append(d.mark(",", -1))
        if clauses_left == 1:
            waiting.append(d.put(joining, "cc"))
        parts += waiting
        end = size - 1 if clauses_left == 1 else len(d.words) + max(3, (size - len(d.words)) // 2)
        if even:
            end = len(d.words) + first_size
        kids, at = clause(
            d, max(end, len(d.words) + 2), time if d.coin(0.5) else d.pick(times()), "conj", waiting=waiting
        )
        d.heads[at] = head
        parts.append(Tree("S", tuple(kids)))
    return close(d, "S", mark, head, *parts)


def paratactic(d: Draft, size: int, mark: str) -> Tree:
    """Two main clauses with a semicolon, or with a comma and so."""
    kids, head = clause(d, 2 + d.upto(max(1, size - 7)), time := d.pick(times()), "root")
    first = Tree("S", tuple(kids))
    so = d.coin(0.5)
    sign = d.mark("," if so else ";", -1)
    waiting = [sign]
    front: list[Tree] = []
    if so:
        waiting.append(d.put(adverb("so"), "advmod"))
        front.append(d.node("ADVP", waiting[-1]))
    kids, at = clause(d, max(size - 1, len(d.words) + 2), time, "parataxis", waiting=waiting)
    d.heads[at] = head
    return close(d, "S", mark, head, first, sign, Tree("S", (*front, *kids)))


def twofold(d: Draft, size: int, mark: str) -> Tree:
    """One subject with two verb phrases."""
    end = size - 1
    share = d.upto(max(1, min(5, end // 3)))
    p = plan(d, max(1, (end - share) // 2))
    subject = nominal(d, p.subject, share, "nsubj:pass" if p.passive else "nsubj", case="Nom", pron=0.2)
    time = d.pick(times())
    middle = share + max(2, d.upto(max(1, end - share - 3)))
    before, vp, head = predicate(
        d, p, subject._replace(pronoun=False), chain(d, p, time, subject.agreement, simple=True), middle, [subject.head]
    )
    cc = d.put(conjunction(d, _pairing()), "cc")
    q = plan(d, max(1, d.room(end)), subject.kind.name)
    second_before, second_vp, at = predicate(
        d, q, subject._replace(pronoun=False), chain(d, q, time, subject.agreement, simple=True), end, [cc]
    )
    d.relations[at], d.heads[at] = "conj", head
    first, second = Tree("VP", (*before, *vp[0].children)), Tree("VP", (*second_before, *second_vp[0].children))
    return close(d, "S", mark, head, subject.tree, d.node("VP", first, cc, second))


@cache
def _pairing() -> WeightedTable[str]:
    return WeightedTable([("and", 8.0), ("but", 1.5), ("or", 0.5)])


@cache
def _joining() -> WeightedTable[str]:
    return WeightedTable([("and", 50.0), ("but", 32.0), ("or", 10.0), ("yet", 4.0)])
