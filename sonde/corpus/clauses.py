"""Clauses of the built-in corpus: verb phrases with their complements and adjuncts, and the noun phrases that hold clauses.

Sizes are asked for as ``end``, the position at which a phrase should stop; it is an aim, not a promise.
"""

from __future__ import annotations

from functools import cache

from sonde.corpus.lexicon import HUMAN, NounClass, Table, Verb, Word, adposition, lexicon, verb_forms, word
from sonde.corpus.phrases import (
    Draft,
    Nominal,
    adjectival,
    bare,
    grade,
    listed,
    listed_adjectives,
    modifiers,
    pronoun,
    proper,
)
from sonde.corpus.plans import COPULAR, EMBEDDING, Chain, Plan, auxiliary, chain, frames, modal, plan
from sonde.corpus.sentence import Tree
from sonde.corpus.times import adverbial

# ---------------------------------------------------------------- noun phrases


@cache
def _shapes(room: int, deep: int, without: frozenset[str]) -> Table[str]:
    by_depth = {
        "plain": (3.0, 2.0, 0.7),
        "pp": (2.0, 4.0, 3.0),
        "rel": (0.0, 1.5, 4.5),
        "part": (0.3, 1.0, 2.0),
        "coord": (2.5, 1.2, 0.5),
        "list": (4.0, 1.0, 0.2),
        "appos": (1.2, 0.8, 0.4),
    }
    fewest = {"plain": 1, "pp": 4, "rel": 4, "part": 4, "coord": 3, "list": 6, "appos": 6}
    most = {"plain": 6}
    pairs = [(s, w[deep]) for s, w in by_depth.items() if fewest[s] <= room <= most.get(s, 99) and s not in without]
    return Table(pairs if any(w for _, w in pairs) else [("plain", 1.0)])


@cache
def _relatable(kind: str) -> bool:
    """Say whether something can be told of a noun class in a relative clause."""
    return kind != "CITY" and bool(lexicon().frame("tv", kind, "object").items or frames(kind, 3, 1, "").items)


@cache
def _barred(kind: NounClass, want: str, case: str, negative: bool) -> frozenset[str]:
    """Return the shapes a noun phrase cannot take."""
    barred = {"coord", "list"} if want == "s" or kind.name == "CITY" else set()
    if case != "Nom" or kind.name not in HUMAN or want == "p":
        barred.add("appos")
    if kind.name == "NAME" or negative or not _relatable(kind.name):
        barred.add("rel")
    if kind.name == "NAME" or not kind.modifiers:
        barred |= {"pp", "part"}
    return frozenset(barred)


def nominal(
    d: Draft, spec: str, end: int, relation: str, *, case: str = "Acc", want: str = "", mood: str = "plain", pron: float = 0.2
) -> Nominal:
    """Put a noun phrase of the classes in ``spec``."""
    room = max(1, d.room(end))
    table = d.lex.nouns(spec)
    if want == "p":
        drawn = d.pick(table, lambda n: n.plural is not None and n.kind.plural > 0)
    elif want == "s":
        drawn = d.pick(table, lambda n: n.singular is not None or n.kind.name == "NAME")
    else:
        drawn = d.pick(table)
    kind = drawn.kind
    if pron and room < 3 and not want and mood == "plain" and kind.name != "CITY" and d.coin(pron):
        return pronoun(d, case, relation, kind)
    human = kind.name in HUMAN
    shape = d.pick(_shapes(min(room, 30), d.deep, _barred(kind, want, case, d.negative))) if room > 2 else "plain"
    size = room if shape == "plain" else max(2, min(4, d.upto(room - 2)))
    the = ""
    if shape == "appos":
        want, the = "s", "the" if kind.name == "person" else ""
    if shape in ("coord", "list") and mood == "plain":
        mood = "listed"
    before = len(d.words)
    first = proper(d, kind, size, relation) if kind.name == "NAME" else bare(d, drawn, size, relation, want=want, mood=mood, det=the)
    if shape == "plain" or len(d.words) - before > room:
        return first
    if shape == "pp" and kind.modifiers:
        prep, spec = d.pick(kind.modifiers)
        phrase, _ = prepositional(d, prep, spec, end, "nmod", first.head, first.agreement[1] if spec in _PARTS else "")
        return first._replace(tree=Tree("NP", (first.tree, phrase)))
    if shape == "rel":
        return first._replace(tree=Tree("NP", (first.tree, relative(d, first, end))))
    if shape == "part":
        phrase_or_none = participial(d, first, end)
        return first._replace(tree=Tree("NP", (first.tree, phrase_or_none))) if phrase_or_none else first
    if shape == "appos":
        comma = d.mark(",", -1)
        second = bare(d, d.pick(d.lex.nouns("p_person")), min(5, max(3, d.room(end) - 1)), "appos", want="s", mood="indefinite")
        d.heads[second.head] = first.head
        d.heads[comma] = second.head
        return first._replace(tree=d.node("NP", first.tree, comma, second.tree, d.mark(",", second.head)))
    if shape in ("coord", "list"):
        return _coordinated(d, "human" if human else kind.name, first, end, shape, case)
    return first


def _coordinated(d: Draft, spec: str, first: Nominal, end: int, shape: str, case: str) -> Nominal:
    """Go on from a first conjunct to a pair or a list."""
    parts: list[int | Tree] = [first.tree]
    seen = {d.words[first.head].lemma}
    count = 1 if shape == "coord" else 2 + (d.room(end) > 6) + (d.room(end) > 12)
    conjunction = word("or", "or", "CCONJ", "CC") if case == "Acc" and d.coin(0.12) else word("and", "and", "CCONJ", "CC")
    table = d.lex.nouns(spec)
    for left in range(count, 0, -1):
        comma = cc = None
        if left > 1 or (shape == "list" and d.coin(0.5)):
            comma = d.mark(",", -1)
        if left == 1:
            cc = d.put(conjunction, "cc")
        drawn = d.pick(table, lambda n: (n.singular or n.plural or conjunction).lemma not in seen)
        share = max(2, min(4, d.room(end) // left - 1))
        if drawn.kind.name == "NAME":
            item = proper(d, drawn.kind, 1, "conj")
        else:
            item = bare(d, drawn, share, "conj", mood="listed")
        seen.add(d.words[item.head].lemma)
        d.heads[item.head] = first.head
        for at in (comma, cc):
            if at is not None:
                d.heads[at] = item.head
        parts += [p for p in (comma, cc) if p is not None]
        parts.append(item.tree)
    return Nominal(d.node("NP", *parts), first.head, "3p", first.kind)


_PARTS = frozenset({"outfit", "feature"})  # what each of several people has one of


def prepositional(d: Draft, prep: Word, spec: str, end: int, relation: str, head: int, want: str = "") -> tuple[Tree, int]:
    """Put a prepositional phrase; return it and the position of its noun."""
    case = d.put(prep, "case")
    mood = "indefinite" if want else "plain"
    pron = 0.12 if spec in ("human", "person", "being") else 0.0
    inside = nominal(d, spec, max(end, len(d.words) + 1), relation, want=want, mood=mood, pron=pron)
    d.heads[case] = inside.head
    d.heads[inside.head] = head
    return d.node("PP", case, inside.tree), inside.head


def relative(d: Draft, antecedent: Nominal, end: int) -> Tree:
    """Put a relative clause after its antecedent."""
    human = antecedent.kind.name in HUMAN
    time = "past" if d.coin(0.6) else "pres"
    by_object = d.lex.frame("tv", antecedent.kind.name, "object")
    kind = "person" if human else antecedent.kind.name
    if by_object.items and (not frames(kind, max(1, d.room(end) - 1), d.deep, "").items or d.coin(0.4)):
        verb = d.pick(by_object)
        start: list[int | Tree] = []
        waiting: list[int] = []
        if d.coin(0.6):
            wh = word("that", "that", "PRON", "WDT", "PronType=Rel") if not human or d.coin(0.4) else word("whom", "whom", "PRON", "WP", "PronType=Rel")
            waiting.append(d.put(wh, "obj"))
            start.append(d.node("WHNP", waiting[0]))
        kids, head = clause(d, max(end, len(d.words) + 2), time, "acl:relcl", p=Plan("tv", verb, verb.subject), waiting=waiting, gap=True)
        d.heads[head] = antecedent.head
        return d.node("SBAR", *start, Tree("S", tuple(kids)))
    wh = word("who", "who", "PRON", "WP", "PronType=Rel") if human else word("that", "that", "PRON", "WDT", "PronType=Rel")
    p = plan(d, d.room(end) - 1, antecedent.kind.name)
    at = d.put(wh, "nsubj:pass" if p.passive else "nsubj")
    before, rest, head = predicate(d, p, antecedent, chain(d, p, time, antecedent.agreement), end, [at])
    d.relations[head] = "acl:relcl"
    d.heads[head] = antecedent.head
    return d.node("SBAR", d.node("WHNP", at), Tree("S", (*before, *rest)))


def participial(d: Draft, antecedent: Nominal, end: int) -> Tree | None:
    """Put a reduced relative clause, or nothing where the noun has none."""
    by_object = d.lex.frame("tv", antecedent.kind.name, "object")
    if antecedent.kind.name in (*HUMAN, "animal", "vehicle") and d.coin(0.7):
        p = plan(d, d.room(end), antecedent.kind.name, use="act")
        steps = Chain([], "ger", "")
    elif by_object.items:
        verb = d.pick(by_object)
        p, steps = Plan("pass", verb, verb.object, True), Chain([], "pass", "")
    else:
        return None
    _, rest, head = predicate(d, p, antecedent, steps, end, [])
    d.relations[head] = "acl"
    d.heads[head] = antecedent.head
    return rest[0]


# ---------------------------------------------------------------- verb phrases

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
    clitic = finite and subject.pronoun and words and not inverted and len(waiting) == 1 and waiting[0] == len(d.words) - 1
    for i, (w, relation) in enumerate(words):
        if i == 0 and clitic and w.form in CLITICS and not negative and d.coin(0.35):
            waiting.append(d.cling(word(CLITICS[w.form], *w[1:5]), relation))
        elif i == 0 and negative and w.form not in ("am", "may", "might") and d.coin(0.65):
            host = {"will": "wo", "can": "ca"}.get(w.form, w.form)
            waiting.append(d.put(word(host, *w[1:5]), relation))
        else:
            waiting.append(d.put(w, relation))
        levels.append([waiting[-1]])
        if i == 0 and negative:
            not_ = d.words[-1].form in ("am", "may", "might") or (d.words[-1].form not in ("wo", "ca") and d.coin(0.3))
            form = "not" if not_ else "n't"
            put = d.put if not_ else d.cling
            waiting.append(put(word(form, "not", "PART", "RB", "Polarity=Neg"), "advmod"))
            levels[-1].append(waiting[-1])
        if i == 0 and not negative and finite and not inverted and d.room(end) > 2 and d.coin(0.1):
            mid = "modal" if w.xpos == "MD" else "prog" if steps.when == "prog" else "perf" if w.lemma == "have" else "simple"
            _middle(d, mid, waiting, levels[-1])
    if negative:
        d.negative = True
    stative = p.verb is None or p.verb.stative
    if finite and not words and not inverted and d.room(end) > 1 and d.coin(0.13):
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
        levels.append([head, *_complements(d, p, p.verb, head, subject, end, steps.when, gap, dated)])
    tree = d.node("VP", *levels[-1])
    for level in reversed(levels[:-1]):
        tree = d.node("VP", *level, tree)
    if negative:
        d.negative = False
    return before, [tree], head


def _middle(d: Draft, use: str, waiting: list[int], parts: list[int | Tree]) -> None:
    waiting.append(d.put(d.pick(listed("mid", use)), "advmod"))
    parts.append(d.node("ADVP", waiting[-1]))


def _share(d: Draft, end: int) -> int:
    """Return where a complement should end so that something may follow."""
    room = d.room(end)
    return end if room < 4 or d.rng.random() < 0.35 else len(d.words) + 1 + d.upto(room - 1)


def _complements(
    d: Draft, p: Plan, v: Verb, head: int, subject: Nominal, end: int, when: str, gap: bool, dated: bool
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
        goal = nominal(d, v.object, _share(d, end) if fast else min(end, len(d.words) + 2), "obj", pron=0.15 if v.particle is None else 0.0)
        d.heads[goal.head] = head
        parts.append(goal.tree)
        if v.particle and particle is None:
            parts.append(d.node("PRT", d.put(v.particle, "compound:prt", head)))
    elif frame == "pass" and d.room(end) > 1 and d.coin(0.45):
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
        what = bare(d, d.pick(d.lex.nouns(v.object)), d.room(end), "xcomp", want="s" if one else "p", mood="indefinite", det="a" if one else "-")
        d.heads[what.head] = head
        parts.append(what.tree)
    return parts + adjuncts(d, v, head, subject, end, when, dated)


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


def _embedded(d: Draft, p: Plan, v: Verb, head: int, subject: Nominal, end: int, when: str) -> list[int | Tree]:
    """Put a clausal complement."""
    if p.frame in ("that", "whether"):
        time = "past" if when in ("past", "perf") or d.coin(0.4) else "fut" if d.coin(0.3) else "pres"
        return [complement(d, end, time, "ccomp", head, p.frame, p.frame == "that" and d.coin(0.35))]
    if p.frame in ("inf", "ger"):
        return [infinitive(d, end, subject, "xcomp", head, "inf" if p.frame == "inf" else "ger")]
    goal = nominal(d, "human", len(d.words) + max(1, min(3, d.room(end) - 3)), "obj" if p.frame == "let" else v.relation, pron=0.45)
    d.heads[goal.head] = head
    inner = infinitive(d, end, goal, "xcomp", head, "inf" if p.frame == "ask" else "bare")
    return [Tree("S", (goal.tree, *inner.children))]


def complement(d: Draft, end: int, time: str, relation: str, head: int, marker: str, silent: bool) -> Tree:
    """Put a that- or whether-clause."""
    start: list[int | Tree] = []
    waiting: list[int] = []
    if not silent:
        waiting.append(d.put(word(marker, marker, "SCONJ", "IN"), "mark"))
        start.append(waiting[0])
    kids, at = clause(d, end, time, relation, waiting=waiting)
    d.heads[at] = head
    return d.node("SBAR", *start, Tree("S", tuple(kids)))


def infinitive(d: Draft, end: int, subject: Nominal, relation: str, head: int, key: str) -> Tree:
    """Put a clause without subject: key inf (with to), bare, ger or part."""
    p = plan(d, d.room(end) - (key == "inf"), subject.kind.name, use="act" if relation == "advcl" else "event")
    _, rest, at = predicate(d, p, subject, Chain([], "inf" if key == "bare" else key, ""), end, [], to=key == "inf")
    d.relations[at], d.heads[at] = relation, head
    return Tree("S", tuple(rest))


def _copular(d: Draft, p: Plan, subject: Nominal, end: int, when: str) -> tuple[list[int | Tree], int]:
    """Put the complement of the copula; its head is the head of the clause."""
    kind = subject.kind
    one = subject.agreement in ("1s", "2s", "3s")
    if p.frame == "cop_np":
        noun_ = d.pick(d.lex.nouns("p_" + kind.predicate))
        what = bare(d, noun_, max(2, min(4, d.room(end))), "", want="s" if one else "p", mood="indefinite", det="a" if one else "-")
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
        return [d.node("ADJP", at, complement(d, end, "past" if d.coin(0.6) else "pres", "ccomp", at, "that", d.coin(0.3)))], at
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
    weights = {"m": 3.0, "p": 5.0, "t": 5.0, "o": 2.0, "c": 1.5, "u": (0.5, 2.0, 3.0)[deep], "l": (0.7, 3.0, 4.0)[deep], "w": (0.3, 1.0, 1.5)[deep]}
    names = dict(zip("mpoctulw", _ORDER, strict=True))
    return Table([(names[k], weights[k]) for k in having if _FEWEST[names[k]] <= room])


def adjuncts(d: Draft, v: Verb, head: int, subject: Nominal, end: int, when: str, dated: bool) -> list[int | Tree]:
    """Put adjuncts the verb admits, in their usual order, while there is room."""
    room = d.room(end)
    if room < 1:
        return []
    acting = subject.kind.name in HUMAN and not v.stative
    having = ("m" if v.manner else "") + ("p" if v.places else "") + ("o" if v.tool else "") + ("c" if acting and v.frame != "dtv" else "")
    having += ("" if dated or (not when and d.deep == 2) else "t") + ("u" if acting else "") + ("l" if when else "") + ("w" if acting else "")
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
        d.heads[mark] = next(i for i in range(mark + 1, len(d.words)) if d.heads[i] == head and d.relations[i] == "advcl")
        return d.node("PP", mark, inner)
    if kind == "clause":
        return subordinate(d, stop, when, head)
    lasting = v.frame == "be_at" or (v.frame == "iv" and not v.particle and subject.kind.name in HUMAN)
    return adverbial(d, when, head, lasting)[0]


def subordinate(d: Draft, end: int, when: str, head: int) -> Tree:
    """Put an adverbial clause; its head waits for ``head``."""
    time = {"past": "past", "fut": "fut"}.get(when, "pres")
    marker = d.pick(_subordinators(time))
    inner = "past" if time == "past" or (marker in ("because", "although", "though") and d.coin(0.3)) else "pres"
    wh = marker in ("when", "whenever")
    at = d.put(word(marker, marker, "ADV", "WRB", "PronType=Int") if wh else word(marker, marker, "SCONJ", "IN"), "advmod" if wh else "mark")
    kids, inside = clause(d, end, inner, "advcl", waiting=[at], simple=True)
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
    """Put subject and predicate; return the constituents and the head, which has ``relation`` and waits for its head."""
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
