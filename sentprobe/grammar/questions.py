"""Questions, commands and exclamations of the built-in corpus, built as the statements are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sentprobe.grammar.clauses import HOSTS, UNCONTRACTED, clause, infinitive, negate, predicate
from sentprobe.grammar.closed import determiner
from sentprobe.grammar.lexicon import HUMAN
from sentprobe.grammar.nominals import nominal
from sentprobe.grammar.phrases import Draft, Nominal, bare, pronoun, proper
from sentprobe.grammar.plans import Chain, ClausePlan, auxiliary, chain, plan
from sentprobe.grammar.statements import close
from sentprobe.grammar.words import WeightedTable, Word, verb_forms, word
from sentprobe.sentence import Tree


@cache
def _asked() -> WeightedTable[str]:
    return WeightedTable([("past", 47.0), ("pres", 43.0), ("fut", 10.0)])


def _subject_first(d: Draft, p: ClausePlan) -> tuple[str, str]:
    """Draw a question's subject before it is put: a pronoun, or the number of a noun; return it and its agreement."""
    human = bool({*d.lex.expand(p.subject)} & HUMAN)
    if human and d.coin(0.45):
        lemma = d.pick(_asked_pronouns())
        return lemma, {"you": "2s", "we": "1p", "they": "3p"}.get(lemma, "3s")
    number = "s" if d.coin(0.6) else "p"
    return number, "3" + number


@cache
def _asked_pronouns() -> WeightedTable[str]:
    return WeightedTable([("you", 5.0), ("he", 3.0), ("she", 3.0), ("they", 3.0), ("we", 2.0)])


def _inversion(
    d: Draft, p: ClausePlan, end: int, waiting: list[int], negative: bool, *, gap: bool = False
) -> tuple[list[int | Tree], int]:
    """Put auxiliary, subject and the rest; return the parts of the SQ and the head."""
    which, agreement = _subject_first(d, p)
    if which == "p" and not any(n.plural and n.kind.plural for n in d.lex.nouns(p.subject).items):
        which, agreement = "s", "3s"
    steps = chain(d, p, d.pick(_asked()), agreement, support=True)
    w, relation = steps.words[0]
    negative = negative and w.form not in UNCONTRACTED
    host = HOSTS.get(w.form, w.form) if negative else w.form
    parts: list[int | Tree] = [d.put(word(host, *w[1:5]), relation)]
    waiting.append(len(d.words) - 1)
    if negative:
        waiting.append(negate(d, True))
        parts.append(waiting[-1])
    use = "nsubj:pass" if p.passive else "nsubj"
    if len(which) > 1:
        subject = pronoun(d, "Nom", use, d.lex.classes["person"], which)
    else:
        share = 1 + d.upto(max(1, min(5, d.room(end) - 3)))
        subject = nominal(d, p.subject, len(d.words) + share, use, case="Nom", want=which, pron=0)
    waiting.append(subject.head)
    remaining_chain = Chain(steps.words[1:], steps.key, steps.when)
    _, vp, head = predicate(d, p, subject, remaining_chain, end, waiting, inverted=True, gap=gap)
    return [*parts, subject.tree, *vp], head


def yes_no(d: Draft, size: int, mark: str) -> Tree:
    """A yes/no question."""
    p = plan(d, max(1, size - 4))
    parts, head = _inversion(d, p, size - 1, [], d.coin(0.15))
    return close(d, "SQ", mark, head, *parts)


def wondered(d: Draft, size: int, mark: str) -> Tree:
    """A question with when, where, why or how."""
    form = d.pick(_wh())
    p = plan(d, max(1, size - 5), use="" if form == "why" else "dated")
    at = d.put(word(form, form, "ADV", "WRB", "PronType=Int"), "advmod")
    parts, head = _inversion(d, p, size - 1, [at], form == "why" and d.coin(0.15))
    return close(d, "SBARQ", mark, head, d.node("WHADVP", at), d.node("SQ", *parts))


@cache
def _wh() -> WeightedTable[str]:
    return WeightedTable([("why", 4.0), ("when", 3.0), ("where", 3.0), ("how", 3.0)])


def who(d: Draft, size: int, mark: str) -> Tree:
    """A question about the subject."""
    p = plan(d, max(1, size - 2), "person", use="dated" if d.coin(0.8) else "")
    at = d.put(word("who", "who", "PRON", "WP", "PronType=Int"), "nsubj:pass" if p.passive else "nsubj")
    subject = Nominal(d.node("WHNP", at), at, "3s", d.lex.classes["person"])
    before, vp, head = predicate(d, p, subject, chain(d, p, d.pick(_asked()), "3s"), size - 1, [at])
    return close(d, "SBARQ", mark, head, subject.tree, Tree("SQ", (*before, *vp)))


def what(d: Draft, size: int, mark: str) -> Tree:
    """A question about the object: what, which book, how many books."""
    bits = d.bits
    p = plan(d, max(2, size - 4), "person", among="tv")
    assert p.verb is not None  # a transitive plan has its verb
    classes = {*d.lex.expand(p.verb.object)}
    if size > 6 and d.coin(0.5):
        number = "s" if d.coin(0.5) else "p"
        noun = d.pick(d.lex.nouns(p.verb.object))
        if not noun.plural or not noun.singular:
            d.bits = bits
            return what(d, size, mark)
        if number == "p" and d.coin(0.5):
            how = d.put(word("how", "how", "ADV", "WRB", "PronType=Int"), "advmod")
            d.heads[how] = quantifier = d.put(determiner("many"), "amod")
            at = d.put(noun.plural, "obj", -1)
            d.heads[quantifier] = at
            front = d.node("WHNP", d.node("WHADJP", how, quantifier), at)
        else:
            form = "which" if d.coin(0.7) else "what"
            which = d.put(word(form, form, "DET", "WDT", "PronType=Int"), "det")
            at = d.put(noun.plural if number == "p" else noun.singular, "obj")
            d.heads[which] = at
            front = d.node("WHNP", which, at)
    else:
        form = "who" if classes & HUMAN else "what"
        at = d.put(word(form, form, "PRON", "WP", "PronType=Int"), "obj")
        front = d.node("WHNP", at)
    parts, head = _inversion(d, p, size - 1, [at], False, gap=True)
    return close(d, "SBARQ", mark, head, front, d.node("SQ", *parts))


def pied(d: Draft, size: int, mark: str) -> Tree:
    """A question that begins with a preposition: in which town, about which plan."""
    p = plan(d, max(3, size - 6), "person", among=d.pick(_pied_frames()))
    assert p.verb is not None  # only copular plans have none
    prep, spec = d.pick(p.verb.ways) if p.verb.ways else (p.verb.preposition, p.verb.object)
    assert prep is not None  # these frames have one or the other
    noun = d.pick(d.lex.nouns(spec), lambda n: bool(n.singular and n.plural))
    case = d.put(prep, "case")
    which = d.put(word("which", "which", "DET", "WDT", "PronType=Int"), "det")
    form = noun.plural if d.coin(0.3) else noun.singular
    assert form is not None  # only nouns with both numbers fit
    at = d.put(form, "obl")
    d.take(at, [case, which])
    parts, head = _inversion(d, p, size - 1, [at], False, gap=True)
    front = d.node("WHPP", case, d.node("WHNP", which, at))
    return close(d, "SBARQ", mark, head, front, d.node("SQ", *parts))


@cache
def _pied_frames() -> WeightedTable[str]:
    return WeightedTable([("be_at", 2.0), ("go", 2.0), ("pp", 2.0)])


def tagged(d: Draft, size: int, mark: str) -> Tree:
    """A statement with a tag question."""
    p = plan(d, max(1, size - 6), among="cop_adj")
    subject = nominal(
        d,
        "animal dish building idea event document artwork vehicle",
        max(2, min(size - 7, 6)),
        "nsubj",
        case="Nom",
        pron=0,
    )
    time = "past" if d.coin(0.5) else "pres"
    be = auxiliary("be")[time + subject.agreement]
    _, vp, head = predicate(d, p, subject, Chain([(be, "cop")], "", ""), size - 4, [subject.head])
    statement = Tree("S", (subject.tree, *vp))
    comma = d.mark(",", -1)
    tag = d.put(word(be.form, "be", "AUX", *be[3:5]), "parataxis", head)
    d.heads[clitic := negate(d, True)] = tag
    back = pronoun(d, "Nom", "nsubj", subject.kind, "it" if subject.agreement == "3s" else "they")
    d.heads[back.head] = d.heads[comma] = tag
    return close(d, "SQ", mark, head, statement, comma, d.node("SQ", tag, clitic, back.tree))


# ---------------------------------------------------------------- commands and exclamations


def commanded(front: str) -> Callable[[Draft, int, str], Tree]:
    """Return the imperative with an opener: none, please, a name, or do not."""

    def kind(d: Draft, size: int, mark: str) -> Tree:
        p = plan(d, max(1, size - 1 - len(front) * 2), "person", use="act")
        you = Nominal(Tree("NP", ()), -1, "2s", d.lex.classes["person"])
        parts: list[int | Tree] = []
        waiting: list[int] = []
        if "v" in front:
            vocative = proper(d, you.kind, 1, "vocative")
            waiting.append(vocative.head)
            parts += [vocative.tree, d.mark(",", vocative.head)]
        if "p" in front:
            waiting.append(d.put(word("please", "please", "INTJ", "UH"), "discourse"))
            parts.append(d.node("INTJ", waiting[-1]))
        words: list[tuple[Word, str]] = []
        if "n" in front:
            do = d.put(auxiliary("do")["imp"], "aux")
            clitic = negate(d, True)
            waiting += [do, clitic]
        key = "inf" if "n" in front else "imp"
        _, vp, head = predicate(d, p, you, Chain(words, key, ""), size - 1 - 2 * ("l" in front), waiting)
        parts.append(d.node("VP", do, clitic, vp[0]) if "n" in front else vp[0])
        if "l" in front:
            comma = d.mark(",", -1)
            late = d.put(word("please", "please", "INTJ", "UH"), "discourse", head)
            d.heads[comma] = late
            parts += [comma, d.node("INTJ", late)]
        return close(d, "S", mark, head, *parts)

    return kind


def lets(d: Draft, size: int, mark: str) -> Tree:
    """Let us do something."""
    head = d.put(verb_forms("let/let/let")["imp"], "root")
    us = d.cling(word("'s", "we", "PRON", "PRP", "Case=Acc|Number=Plur|Person=1|PronType=Prs"), "obj", head)
    ours = Nominal(d.node("NP", us), us, "1p", d.lex.classes["person"])
    inner = infinitive(d, size - 1, ours, "xcomp", head, "bare")
    return close(d, "S", mark, head, d.node("VP", head, Tree("S", (ours.tree, *inner.children))))


_MASS = frozenset({"drink", "hobby", "material", "ingredient"})


def exclaimed(d: Draft, size: int, mark: str) -> Tree:
    """What a house they built!"""
    verb = d.pick(d.lex.frame("tv", "person", use="act"), lambda v: v.object not in _MASS)
    noun = d.pick(d.lex.nouns(verb.object), lambda n: bool(n.singular and n.plural and n.kind.adjectives))
    p = ClausePlan("tv", verb, verb.subject)
    wh = d.put(word("what", "what", "DET", "WDT", "PronType=Int"), "det:predet")
    what_ = bare(d, noun, max(3, min(5, size - 5)), "obj", want="s", det="a")
    d.heads[wh] = what_.head
    front = Tree("WHNP", (d.words[wh].leaf, *what_.tree.children))
    kids, head = clause(
        d, max(size - 1, len(d.words) + 2), "past", "root", p=p, waiting=[what_.head], gap=True, simple=True
    )
    return close(d, "SBAR", mark, head, front, Tree("S", tuple(kids)))


def how(d: Draft, size: int, mark: str) -> Tree:
    """How tall the tower is!"""
    wh = d.put(word("how", "how", "ADV", "WRB", "PronType=Int"), "advmod")
    spec = "animal dish building idea event document artwork vehicle person kin town jewel device"
    noun = d.pick(d.lex.nouns(spec))
    _, table = noun.kind.adjectives[int(d.rng.random() * len(noun.kind.adjectives))]
    at = d.put(d.pick(table, lambda w: w.form not in d.lex.absolute), "root")
    d.heads[wh] = at
    subject = nominal(d, noun.kind.name, size - 2, "nsubj", case="Nom", pron=0)
    be = d.put(auxiliary("be")[("past" if d.coin(0.5) else "pres") + subject.agreement], "cop")
    d.take(at, [subject.head, be])
    return close(d, "SBAR", mark, at, d.node("WHADJP", wh, at), d.node("S", subject.tree, d.node("VP", be)))
