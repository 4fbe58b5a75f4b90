"""What verbs and adjectives select: objects, predicates, clauses."""

from __future__ import annotations

from sentprobe.grammar.adjuncts import adjuncts
from sentprobe.grammar.closed import listed_adjectives
from sentprobe.grammar.lexicon import HUMAN, LexicalVerb
from sentprobe.grammar.nominals import nominal, prepositional
from sentprobe.grammar.phrases import Draft, Nominal, Stuck, adjectival, bare, grade, modifiers
from sentprobe.grammar.plans import EMBEDDING, ClausePlan
from sentprobe.grammar.words import adposition, word
from sentprobe.sentence import Tree


def _share(d: Draft, end: int) -> int:
    """Return where a complement should end so that something may follow."""
    room = d.room(end)
    return end if room < 4 or d.rng.random() < 0.35 else len(d.words) + 1 + d.upto(room - 1)


def complements(
    d: Draft,
    p: ClausePlan,
    v: LexicalVerb,
    head: int,
    subject: Nominal,
    end: int,
    when: str,
    gap: bool,
    dated: bool,
    manner: bool,
) -> list[int | Tree]:
    """Put what the frame requires, then adjuncts while there is room."""
    parts: list[int | Tree] = []
    frame = p.frame
    particle = d.put(v.particle, "compound:prt", head) if v.particle and (frame != "tv" or gap or d.coin(0.5)) else None
    if particle is not None:
        parts.append(d.node("PRT", particle))
    if frame in EMBEDDING:
        return parts + _embedded(d, p, v, head, subject, end, when)
    if frame == "tv" and not gap:
        fast = particle is not None or v.particle is None
        goal = nominal(
            d,
            v.object,
            _share(d, end) if fast else min(end, len(d.words) + 2),
            "obj",
            pron=0.15 if v.particle is None else 0.0,
        )
        d.heads[goal.head] = head
        parts.append(goal.tree)
        if v.particle and particle is None:
            parts.append(d.node("PRT", d.put(v.particle, "compound:prt", head)))
    elif frame == "pass" and (not when or (d.room(end) > 1 and d.coin(0.3))):
        phrase, at = prepositional(d, adposition("by"), v.subject, _share(d, end), "obl:agent", head)
        parts.append(phrase)
    elif frame in ("go", "be_at") and v.ways and not gap:
        prep, spec = d.pick(v.ways)
        parts.append(prepositional(d, prep, spec, _share(d, end), "obl", head)[0])
    elif frame == "pp" and v.preposition and not gap:
        parts.append(prepositional(d, v.preposition, v.object, _share(d, end), "obl", head)[0])
    elif frame == "dtv":
        parts += _ditransitive(d, v, head, end)
    elif frame == "link":
        table = d.lex.adjectives["mood"] if v.relation == "mood" else None
        inner, at = adjectival(d, subject.kind, table, d.room(end))
        d.relations[at], d.heads[at] = "xcomp", head
        parts.append(d.node("ADJP", *inner))
    elif frame == "become":
        what = _predicate_noun(d, subject, v.object, d.room(end), "xcomp")
        d.heads[what.head] = head
        parts.append(what.tree)
    return parts + adjuncts(d, v, head, subject, end, when, dated, manner)


def _predicate_noun(d: Draft, subject: Nominal, spec: str, room: int, relation: str) -> Nominal:
    """Put what the subject is or becomes, in its number."""
    singular = subject.agreement in ("1s", "2s", "3s")
    want, article = ("s", "a") if singular else ("p", "-")
    noun = d.pick(d.lex.nouns(spec))
    return bare(d, noun, room, relation, want=want, mood="indefinite", det=article)


def _ditransitive(d: Draft, v: LexicalVerb, head: int, end: int) -> list[int | Tree]:
    room = d.room(end)
    if d.coin(0.5):
        to = nominal(d, "human", len(d.words) + max(1, min(3, room - 2)), "iobj", pron=0.5)
        thing = nominal(d, v.object, _share(d, end), "obj", pron=0.0)
        d.heads[to.head] = d.heads[thing.head] = head
        return [to.tree, thing.tree]
    thing = nominal(d, v.object, len(d.words) + max(1, d.upto(max(1, room - 3))), "obj", pron=0.1)
    d.heads[thing.head] = head
    return [thing.tree, prepositional(d, adposition("to"), "human", _share(d, end), "obl", head)[0]]


_LIGHT = frozenset(
    [
        "say",
        "think",
        "know",
        "believe",
        "hope",
        "guess",
        "suspect",
        "feel",
        "hear",
        "claim",
        "notice",
        "realize",
        "fear",
    ]
)
"""The verbs whose *that* may be left out."""


def _embedded(
    d: Draft, p: ClausePlan, v: LexicalVerb, head: int, subject: Nominal, end: int, when: str
) -> list[int | Tree]:
    """Put a clausal complement."""
    if p.frame in ("that", "whether"):
        time = "past" if d.coin(0.65 if when in ("past", "had", "perf") else 0.45) else "fut" if d.coin(0.3) else "pres"
        return [
            complement(
                d,
                end,
                time,
                "ccomp",
                head,
                p.frame,
                p.frame == "that" and v.forms["inf"].form in _LIGHT and d.coin(0.5),
            )
        ]
    if p.frame in ("inf", "ger", "asked"):
        return [d.rules.infinitive(d, end, subject, "xcomp", head, "ger" if p.frame == "ger" else "inf")]
    goal = nominal(
        d, "human", len(d.words) + max(1, min(3, d.room(end) - 3)), "obj" if p.frame == "let" else v.relation, pron=0.45
    )
    d.heads[goal.head] = head
    inner = d.rules.infinitive(d, end, goal, "xcomp", head, "inf" if p.frame == "ask" else "bare")
    return [Tree("S", (goal.tree, *inner.children))]


def complement(d: Draft, end: int, time: str, relation: str, head: int, marker: str, silent: bool) -> Tree:
    """Put a that- or whether-clause."""
    d.deep = max(0, d.deep - d.coin(0.35))
    start: list[int | Tree] = []
    waiting: list[int] = []
    if not silent:
        waiting.append(d.put(word(marker, marker, "SCONJ", "IN"), "mark"))
        start.append(waiting[0])
    kids, at = d.rules.clause(d, end, time, relation, waiting=waiting)
    d.heads[at] = head
    return d.node("SBAR", *start, Tree("S", tuple(kids)))


def copular(d: Draft, p: ClausePlan, subject: Nominal, end: int, when: str) -> tuple[list[int | Tree], int]:
    """Put the complement of the copula; its head is the head of the clause."""
    kind = subject.kind
    if p.frame == "cop_np":
        what = _predicate_noun(d, subject, "p_" + kind.predicate, max(2, min(4, d.room(end))), "")
        return [what.tree], what.head
    if p.frame == "cop_pp" and kind.locations:
        prep, spec = d.pick(kind.locations)
        tree, at = prepositional(d, prep, spec, end, "", -1)
        return [tree], at
    human = kind.name in HUMAN
    room = d.room(end)
    if human and room > 3 and d.coin(0.55):
        return _attitude(d, subject, end)
    adjective = (modifiers(d, kind, 1) or [word("new", "new", "ADJ", "JJ", "Degree=Pos")])[0]
    if room > 3 and adjective.form not in d.lex.absolute and d.coin(0.6):
        short = grade(d, adjective, "Cmp")
        degree_adverb = None if short else d.put(word("more", "more", "ADV", "RBR", "Degree=Cmp"), "advmod")
        at = d.put(short or adjective, "")
        if degree_adverb is not None:
            d.heads[degree_adverb] = at
        than, _ = prepositional(d, adposition("than"), kind.name if kind.name != "NAME" else "human", end, "obl", at)
        return [d.node("ADJP", degree_adverb, at, than)], at
    parts, at = adjectival(d, kind, None, room)
    if room > 5 and d.coin(0.5):
        joint = "but" if d.coin(0.3) else "and"
        cc = d.put(word(joint, joint, "CCONJ", "CC"), "cc")
        second_adjective = (modifiers(d, kind, 1) or [adjective])[0]
        if second_adjective.form == d.words[at].form:
            raise Stuck
        d.heads[cc] = second = d.put(second_adjective, "conj", at)
        parts = [d.node("ADJP", *parts), cc, d.node("ADJP", second)]
    return [d.node("ADJP", *parts)], at


def _attitude(d: Draft, subject: Nominal, end: int) -> tuple[list[int | Tree], int]:
    """Put an adjective with its own complement: afraid of, eager to, happy that."""
    if d.room(end) > 5 and d.coin((0.1, 0.4, 0.7)[d.deep]):
        at = d.put(d.pick(listed_adjectives("feeling_adj")), "")
        return [
            d.node("ADJP", at, complement(d, end, "past" if d.coin(0.6) else "pres", "ccomp", at, "that", d.coin(0.3)))
        ], at
    if d.coin(0.5):
        at = d.put(d.pick(listed_adjectives("eager_adj")), "")
        return [d.node("ADJP", at, d.rules.infinitive(d, end, subject, "xcomp", at, "inf"))], at
    at = d.put(d.pick(listed_adjectives("of_adj")), "")
    phrase, _ = prepositional(d, adposition("of"), "human animal event idea", end, "obl", at)
    return [d.node("ADJP", at, phrase)], at
