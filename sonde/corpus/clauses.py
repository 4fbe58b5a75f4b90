"""Clauses of the built-in corpus: subjects, verb phrases, their complements and their adjuncts."""

from __future__ import annotations

from functools import cache

from sonde.corpus.closed import listed, listed_adjectives
from sonde.corpus.lexicon import HUMAN, Table, Verb, adposition, lexicon, verb_forms, word
from sonde.corpus.nominals import nominal, prepositional
from sonde.corpus.phrases import Draft, Nominal, adjectival, bare, grade, modifiers
from sonde.corpus.plans import COPULAR, EMBEDDING, Chain, Plan, auxiliary, chain, modal, plan
from sonde.corpus.sentence import Tree
from sonde.corpus.times import adverbial

# ---------------------------------------------------------------- verb phrases

HOSTS = {"will": "wo", "can": "ca"}
UNCONTRACTED = frozenset({"am", "may", "might"})
CLITICS = {"is": "'s", "am": "'m", "are": "'re", "has": "'s", "have": "'ve", "had": "'d", "will": "'ll", "would": "'d"}


def predicate(
    d: Draft,
    p: Plan,
    subject: Nominal,
    steps: Chain,
    end: int,
    waiting: list[int],
    *,
    gap: bool = False,
    inverted: bool = False,
    to: bool = False,
    dated: bool = False,
    affirm: bool = False,
) -> tuple[list[Tree], list[Tree], int]:
    """Put everything after the subject. Return the adverbs before the verb phrase, the rest, and the head.

    The rest is the verb phrase alone, or a copula's complement where the copula stands before the subject.
    """
    finite = bool(steps.when)
    levels: list[list[int | Tree]] = []
    before: list[Tree] = []
    words = steps.words
    if to:
        waiting.append(d.put(word("to", "to", "PART", "TO"), "mark"))
        levels.append([waiting[-1]])
    negative = finite and not inverted and not affirm and not d.negative and d.coin(0.07)
    key = steps.key
    if negative and not words:
        words, key = [(auxiliary("do")[key], "aux")], "inf"
    clitic = (
        finite and subject.pronoun and words and not inverted and len(waiting) == 1 and waiting[0] == len(d.words) - 1
    )
    for i, (w, relation) in enumerate(words):
        short = i == 0 and negative and w.form not in UNCONTRACTED and d.coin(0.7)
        if i == 0 and clitic and w.form in CLITICS and not negative and d.coin(0.35):
            waiting.append(d.cling(word(CLITICS[w.form], *w[1:5]), relation))
        else:
            waiting.append(d.put(word(HOSTS.get(w.form, w.form), *w[1:5]) if short else w, relation))
        levels.append([waiting[-1]])
        if i == 0 and negative:
            waiting.append(negate(d, short))
            levels[-1].append(waiting[-1])
        if i == 0 and not negative and finite and not inverted and not affirm and d.room(end) > 2 and d.coin(0.1):
            mid = (
                "modal"
                if w.xpos == "MD"
                else "prog"
                if steps.when == "prog"
                else "perf"
                if w.lemma == "have"
                else "simple"
            )
            _middle(d, mid, waiting, levels[-1])
    if negative:
        d.negative = True
    stative = p.verb is None or p.verb.stative
    if finite and not words and not inverted and not affirm and d.room(end) > 1 and d.coin(0.14):
        holder: list[int | Tree] = []
        _middle(d, "simple" if stative or steps.when != "past" else "past", waiting, holder)
        before = [t for t in holder if isinstance(t, Tree)]
    if p.frame in COPULAR:
        parts, head = _copular(d, p, subject, end, steps.when)
        d.take(head, waiting)
        if levels:
            levels[-1] += parts
        else:
            d.negative = d.negative and not negative
            return before, [t for t in parts if isinstance(t, Tree)], head
    else:
        assert p.verb is not None  # only copular plans have none
        head = d.put(p.verb.forms[key], "")
        d.take(head, waiting)
        levels.append([head, *_complements(d, p, p.verb, head, subject, end, steps.when, gap, dated, bool(before))])
    tree = d.node("VP", *levels[-1])
    for level in reversed(levels[:-1]):
        tree = d.node("VP", *level, tree)
    if negative:
        d.negative = False
    return before, [tree], head


def negate(d: Draft, short: bool) -> int:
    """Put not, or its clitic on the word before."""
    put = d.cling if short else d.put
    return put(word("n't" if short else "not", "not", "PART", "RB", "Polarity=Neg"), "advmod")


def _middle(d: Draft, use: str, waiting: list[int], parts: list[int | Tree]) -> None:
    waiting.append(d.put(d.pick(listed("mid", use)), "advmod"))
    parts.append(d.node("ADVP", waiting[-1]))


def _share(d: Draft, end: int) -> int:
    """Return where a complement should end so that something may follow."""
    room = d.room(end)
    return end if room < 4 or d.rng.random() < 0.35 else len(d.words) + 1 + d.upto(room - 1)


def _complements(
    d: Draft, p: Plan, v: Verb, head: int, subject: Nominal, end: int, when: str, gap: bool, dated: bool, manner: bool
) -> list[int | Tree]:
    """Put what the frame asks for, then adjuncts while there is room."""
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
    elif frame == "pass" and (not when or (d.room(end) > 1 and d.coin(0.45))):
        phrase, at = prepositional(d, adposition("by"), v.subject, _share(d, end), "obl:agent", head)
        parts.append(phrase)
    elif frame in ("go", "be_at") and v.ways:
        prep, spec = d.pick(v.ways)
        parts.append(prepositional(d, prep, spec, _share(d, end), "obl", head)[0])
    elif frame == "pp" and v.preposition:
        parts.append(prepositional(d, v.preposition, v.object, _share(d, end), "obl", head)[0])
    elif frame == "dtv":
        parts += _ditransitive(d, v, head, end)
    elif frame == "link":
        table = d.lex.adjectives["mood"] if v.relation == "mood" else None
        inner, at = adjectival(d, subject.kind, table, d.room(end))
        d.relations[at], d.heads[at] = "xcomp", head
        parts.append(d.node("ADJP", *inner))
    elif frame == "become":
        one = subject.agreement in ("1s", "2s", "3s")
        what = bare(
            d,
            d.pick(d.lex.nouns(v.object)),
            d.room(end),
            "xcomp",
            want="s" if one else "p",
            mood="indefinite",
            det="a" if one else "-",
        )
        d.heads[what.head] = head
        parts.append(what.tree)
    return parts + adjuncts(d, v, head, subject, end, when, dated, manner)


def _ditransitive(d: Draft, v: Verb, head: int, end: int) -> list[int | Tree]:
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
"""The verbs whose that may be left out."""


def _embedded(d: Draft, p: Plan, v: Verb, head: int, subject: Nominal, end: int, when: str) -> list[int | Tree]:
    """Put a clausal complement."""
    if p.frame in ("that", "whether"):
        time = "past" if when in ("past", "had", "perf") or d.coin(0.4) else "fut" if d.coin(0.3) else "pres"
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
    if p.frame in ("inf", "ger"):
        return [infinitive(d, end, subject, "xcomp", head, "inf" if p.frame == "inf" else "ger")]
    goal = nominal(
        d, "human", len(d.words) + max(1, min(3, d.room(end) - 3)), "obj" if p.frame == "let" else v.relation, pron=0.45
    )
    d.heads[goal.head] = head
    inner = infinitive(d, end, goal, "xcomp", head, "inf" if p.frame == "ask" else "bare")
    return [Tree("S", (goal.tree, *inner.children))]


def complement(d: Draft, end: int, time: str, relation: str, head: int, marker: str, silent: bool) -> Tree:
    """Put a that- or whether-clause."""
    d.deep = max(0, d.deep - d.coin(0.6))
    start: list[int | Tree] = []
    waiting: list[int] = []
    if not silent:
        waiting.append(d.put(word(marker, marker, "SCONJ", "IN"), "mark"))
        start.append(waiting[0])
    kids, at = clause(d, end, time, relation, waiting=waiting)
    d.heads[at] = head
    return d.node("SBAR", *start, Tree("S", tuple(kids)))


def _use(relation: str, key: str) -> str:
    return "event" if relation != "advcl" else "goal" if key == "inf" else "act"


def infinitive(d: Draft, end: int, subject: Nominal, relation: str, head: int, key: str) -> Tree:
    """Put a clause without subject: key inf (with to), bare, ger or part."""
    p = plan(d, d.room(end) - (key == "inf"), subject.kind.name, use=_use(relation, key))
    _, rest, at = predicate(d, p, subject, Chain([], "inf" if key == "bare" else key, ""), end, [], to=key == "inf")
    d.relations[at], d.heads[at] = relation, head
    return Tree("S", tuple(rest))


def _copular(d: Draft, p: Plan, subject: Nominal, end: int, when: str) -> tuple[list[int | Tree], int]:
    """Put the complement of the copula; its head is the head of the clause."""
    kind = subject.kind
    one = subject.agreement in ("1s", "2s", "3s")
    if p.frame == "cop_np":
        noun_ = d.pick(d.lex.nouns("p_" + kind.predicate))
        what = bare(
            d,
            noun_,
            max(2, min(4, d.room(end))),
            "",
            want="s" if one else "p",
            mood="indefinite",
            det="a" if one else "-",
        )
        return [what.tree], what.head
    if p.frame == "cop_pp" and kind.places:
        prep, spec = d.pick(kind.places)
        tree, at = prepositional(d, prep, spec, end, "", -1)
        return [tree], at
    human = kind.name in HUMAN
    room = d.room(end)
    if human and room > 3 and d.coin(0.55):
        return _attitude(d, subject, end)
    drawn = (modifiers(d, kind, 1) or [word("new", "new", "ADJ", "JJ", "Degree=Pos")])[0]
    if room > 3 and drawn.form not in d.lex.absolute and d.coin(0.6):
        short = grade(d, drawn, "Cmp")
        more = None if short else d.put(word("more", "more", "ADV", "RBR", "Degree=Cmp"), "advmod")
        at = d.put(short or drawn, "")
        if more is not None:
            d.heads[more] = at
        than, _ = prepositional(d, adposition("than"), kind.name if kind.name != "NAME" else "human", end, "obl", at)
        return [d.node("ADJP", more, at, than)], at
    parts, at = adjectival(d, kind, None, room)
    if room > 5 and d.coin(0.5):
        cc = d.put(word("but" if d.coin(0.3) else "and", "and", "CCONJ", "CC"), "cc")
        other = (modifiers(d, kind, 1) or [drawn])[0]
        d.heads[cc] = second = d.put(other, "conj", at)
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
        return [d.node("ADJP", at, infinitive(d, end, subject, "xcomp", at, "inf"))], at
    at = d.put(d.pick(listed_adjectives("of_adj")), "")
    phrase, _ = prepositional(d, adposition("of"), "human animal event idea", end, "obl", at)
    return [d.node("ADJP", at, phrase)], at


# ---------------------------------------------------------------- adjuncts

_FEWEST = {"manner": 1, "place": 3, "tool": 3, "company": 3, "time": 1, "purpose": 3, "clause": 4, "without": 3}
_ORDER = list(_FEWEST)


@cache
def _adjuncts(room: int, deep: int, having: str) -> Table[str]:
    weights = {
        "m": 3.0,
        "p": 5.0,
        "t": 5.0,
        "o": 2.0,
        "c": 1.5,
        "u": (0.5, 2.0, 3.0)[deep],
        "l": (0.7, 3.0, 4.0)[deep],
        "w": (0.3, 1.0, 1.5)[deep],
    }
    names = dict(zip("mpoctulw", _ORDER, strict=True))
    return Table([(names[k], weights[k]) for k in having if _FEWEST[names[k]] <= room])


def adjuncts(
    d: Draft, v: Verb, head: int, subject: Nominal, end: int, when: str, dated: bool, manner: bool
) -> list[int | Tree]:
    """Put adjuncts the verb admits, in their usual order, while there is room."""
    room = d.room(end)
    if room < 1:
        return []
    acting = subject.kind.name in HUMAN and not v.stative
    having = (
        ("m" if v.manner and not manner else "")
        + ("p" if v.places else "")
        + ("o" if v.tool else "")
        + ("c" if acting and v.frame != "dtv" and not (v.preposition and v.preposition.form == "with") else "")
    )
    having += (
        ("" if dated or (not when and d.deep == 2) else "t")
        + ("u" if acting else "")
        + ("l" if when else "")
        + ("w" if acting else "")
    )
    chosen: list[str] = []
    left = room
    while left > 0 and having:
        table = _adjuncts(min(left, 4), d.deep, having)
        if not table.items or (left < 3 and d.coin(0.2)):
            break
        kind = d.pick(table)
        chosen.append(kind)
        left -= _FEWEST[kind]
        having = having.replace("mpoctulw"[_ORDER.index(kind)], "")
        if kind in ("tool", "company"):
            having = having.translate({ord(c): None for c in "oc"})
        if kind in ("purpose", "clause", "without"):
            having = having.translate({ord(c): None for c in "ulw"})
    wide = [k for k in chosen if k not in ("manner", "time")]
    lucky = wide[int(d.rng.random() * len(wide))] if wide else ""
    parts: list[int | Tree] = []
    for kind in sorted(chosen, key=_ORDER.index):
        stop = len(d.words) + _FEWEST[kind] + (left if kind == lucky else 0)
        parts.append(_adjunct(d, kind, v, head, subject, stop, when))
    return parts


def _adjunct(d: Draft, kind: str, v: Verb, head: int, subject: Nominal, stop: int, when: str) -> Tree:
    if kind == "manner" and v.manner:
        return d.node("ADVP", d.put(d.pick(v.manner), "advmod", head))
    if kind == "place" and v.places:
        if d.coin(0.1):
            return d.node("ADVP", d.put(d.pick(listed("time", "place_adverb")), "advmod", head))
        prep, spec = d.pick(v.places)
        return prepositional(d, prep, spec, stop, "obl", head)[0]
    if kind == "tool":
        return prepositional(d, adposition("with"), v.tool, stop, "obl", head)[0]
    if kind == "company":
        return prepositional(d, adposition("with"), "human", stop, "obl", head)[0]
    if kind == "purpose":
        return infinitive(d, stop, subject, "advcl", head, "inf")
    if kind == "without":
        mark = d.put(word("without", "without", "SCONJ", "IN"), "mark")
        inner = infinitive(d, stop, subject, "advcl", head, "part")
        d.heads[mark] = next(
            i for i in range(mark + 1, len(d.words)) if d.heads[i] == head and d.relations[i] == "advcl"
        )
        return d.node("PP", mark, inner)
    if kind == "clause":
        return subordinate(d, stop, when, head)
    lasting = v.frame == "be_at" or (v.frame == "iv" and not v.particle and subject.kind.name in HUMAN)
    return adverbial(d, when, head, lasting)[0]


_POSITIVE = frozenset({"until", "before", "after", "once", "while", "as", "whenever", "unless"})


def subordinate(d: Draft, end: int, when: str, head: int) -> Tree:
    """Put an adverbial clause; its head waits for ``head``."""
    time = {"past": "past", "had": "past", "fut": "fut"}.get(when, "pres")
    marker = d.pick(_subordinators(time))
    inner = "past" if time == "past" or (marker in ("because", "although", "though") and d.coin(0.3)) else "pres"
    wh = marker in ("when", "whenever")
    at = d.put(
        word(marker, marker, "ADV", "WRB", "PronType=Int") if wh else word(marker, marker, "SCONJ", "IN"),
        "advmod" if wh else "mark",
    )
    kids, inside = clause(d, end, inner, "advcl", waiting=[at], simple=True, affirm=marker in _POSITIVE)
    d.heads[inside] = head
    return d.node("SBAR", d.node("WHADVP", at) if wh else at, Tree("S", tuple(kids)))


@cache
def _subordinators(time: str) -> Table[str]:
    return Table([(w, 1 / (i + 3)) for i, w in enumerate(lexicon().words("function", "subordinators_" + time))])


# ---------------------------------------------------------------- clauses


def clause(
    d: Draft,
    end: int,
    time: str,
    relation: str,
    *,
    p: Plan | None = None,
    waiting: list[int] | None = None,
    gap: bool = False,
    simple: bool = False,
    dated: bool = False,
    affirm: bool = False,
) -> tuple[list[Tree], int]:
    """Put subject and predicate; return the constituents and the head, which waits for its own head."""
    room = d.room(end)
    share = 1 if room < 3 else d.upto(max(1, min(room - 2, 1 + room * 2 // 5)))
    if p is None:
        if room > 4 and relation != "advcl" and d.coin(0.05):
            return existential(d, end, time, relation, waiting or [])
        # Reasons and circumstances are mostly what people do.
        p = plan(d, max(1, room - share), "person" if relation == "advcl" and d.rng.random() < 0.7 else "")
        if relation == "advcl" and p.passive:
            affirm = True
    waiting = waiting if waiting is not None else []
    subject = nominal(d, p.subject, len(d.words) + share, "nsubj:pass" if p.passive else "nsubj", case="Nom", pron=0.3)
    waiting.append(subject.head)
    if waiting[0] != subject.head:  # a clitic needs the subject alone before it
        waiting.sort(key=lambda at: at == subject.head)
    steps = chain(d, p, time, subject.agreement, simple=simple)
    before, rest, head = predicate(d, p, subject, steps, end, waiting, gap=gap, dated=dated, affirm=affirm)
    d.relations[head] = relation
    return [subject.tree, *before, *rest], head


def existential(d: Draft, end: int, time: str, relation: str, waiting: list[int]) -> tuple[list[Tree], int]:
    """Put an existential clause: there is, were, will be …"""
    number = "s" if d.coin(0.5) else "p"
    there = d.put(word("there", "there", "PRON", "EX"), "expl")
    forms = verb_forms("be/was/been")
    will = None
    if time == "fut":
        will = d.put(modal("will"), "aux")
        head = d.put(forms["inf"], relation)
    else:
        head = d.put(forms[f"{time}3{number}"], relation)
    d.take(head, [*waiting, there, *([will] if will is not None else [])])
    spec = "animal person tool produce container document plant vehicle toy jewel dish"
    what = nominal(d, spec, len(d.words) + max(2, d.room(end) - 3), "nsubj", want=number, mood="indefinite", pron=0)
    d.heads[what.head] = head
    kids: list[int | Tree] = [head, what.tree]
    if what.kind.places and d.room(end) > 1:
        prep, spec = d.pick(what.kind.places)
        kids.append(prepositional(d, prep, spec, end, "obl", head)[0])
    tree = d.node("VP", *kids)
    if will is not None:
        tree = d.node("VP", will, tree)
    return [d.node("NP", there), tree], head
