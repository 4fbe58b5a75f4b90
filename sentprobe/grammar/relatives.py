"""Clauses after nouns: relative clauses and participles."""

from __future__ import annotations

from sentprobe.grammar.clauses import clause, predicate
from sentprobe.grammar.lexicon import HUMAN
from sentprobe.grammar.phrases import Draft, Nominal
from sentprobe.grammar.plans import Chain, ClausePlan, chain, frames, plan
from sentprobe.grammar.words import word
from sentprobe.sentence import Tree


def attach(d: Draft, antecedent: Nominal, shape: str, end: int) -> Tree | None:
    """Put a clause after its antecedent: a relative clause (rel) or a participle (part)."""
    return relative(d, antecedent, end) if shape == "rel" else participial(d, antecedent, end)


def relative(d: Draft, antecedent: Nominal, end: int) -> Tree:
    """Put a relative clause after its antecedent."""
    d.deep = max(0, d.deep - d.coin(0.6))
    human = antecedent.kind.name in HUMAN
    time = "past" if d.coin(0.5) else "pres"
    by_object = d.lex.frame("tv", antecedent.kind.name, "object")
    kind = "person" if human else antecedent.kind.name
    if by_object.items and (not frames(kind, max(1, d.room(end) - 1), d.deep, "").items or d.coin(0.4)):
        verb = d.pick(by_object)
        start: list[int | Tree] = []
        waiting: list[int] = []
        if d.coin(0.6):
            wh = (
                word("that", "that", "PRON", "WDT", "PronType=Rel")
                if not human or d.coin(0.4)
                else word("whom", "whom", "PRON", "WP", "PronType=Rel")
            )
            waiting.append(d.put(wh, "obj"))
            start.append(d.node("WHNP", waiting[0]))
        kids, head = clause(
            d,
            max(end, len(d.words) + 2),
            time,
            "acl:relcl",
            p=ClausePlan("tv", verb, verb.subject),
            waiting=waiting,
            gap=True,
        )
        d.heads[head] = antecedent.head
        return d.node("SBAR", *start, Tree("S", tuple(kids)))
    wh = (
        word("who", "who", "PRON", "WP", "PronType=Rel")
        if human
        else word("that", "that", "PRON", "WDT", "PronType=Rel")
    )
    p = plan(d, d.room(end) - 1, antecedent.kind.name, inner=True)
    at = d.put(wh, "nsubj:pass" if p.passive else "nsubj")
    before, vp, head = predicate(d, p, antecedent, chain(d, p, time, antecedent.agreement), end, [at])
    d.relations[head] = "acl:relcl"
    d.heads[head] = antecedent.head
    return d.node("SBAR", d.node("WHNP", at), Tree("S", (*before, *vp)))


def participial(d: Draft, antecedent: Nominal, end: int) -> Tree | None:
    """Put a reduced relative clause, or nothing where the noun has none."""
    by_object = d.lex.frame("tv", antecedent.kind.name, "object")
    if antecedent.kind.name in (*HUMAN, "animal", "vehicle") and d.coin(0.7):
        p = plan(d, d.room(end), antecedent.kind.name, use="act")
        steps = Chain([], "ger", "")
    elif by_object.items:
        verb = d.pick(by_object)
        p, steps = ClausePlan("pass", verb, verb.object, True), Chain([], "pass", "")
    else:
        return None
    _, vp, head = predicate(d, p, antecedent, steps, end, [])
    d.relations[head] = "acl"
    d.heads[head] = antecedent.head
    return vp[0]
