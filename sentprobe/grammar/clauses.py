"""Clauses of the built-in corpus: a subject with its predicate, or a predicate alone."""

from __future__ import annotations

from sentprobe.grammar.closed import listed
from sentprobe.grammar.complements import complements, copular
from sentprobe.grammar.nominals import nominal, prepositional
from sentprobe.grammar.phrases import Draft, Nominal
from sentprobe.grammar.plans import COPULAR, Chain, ClausePlan, auxiliary, chain, modal, plan
from sentprobe.grammar.words import Word, verb_forms, word
from sentprobe.sentence import Tree

HOSTS = {"will": "wo", "can": "ca"}
UNCONTRACTED = frozenset({"am", "may", "might"})
CLITICS = {"is": "'s", "am": "'m", "are": "'re", "has": "'s", "have": "'ve", "had": "'d", "will": "'ll", "would": "'d"}


def predicate(
    d: Draft,
    p: ClausePlan,
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
    """Put everything after the subject. Return the adverbs before the verb phrase, the verb phrase, and the head.

    Where the copula precedes the subject, its complement takes the place of the verb phrase.
    """
    finite = bool(steps.when)
    modifiable = finite and not inverted and not affirm
    levels: list[list[int | Tree]] = []
    before: list[Tree] = []
    words = steps.words
    if to:
        waiting.append(d.put(word("to", "to", "PART", "TO"), "mark"))
        levels.append([waiting[-1]])
    negative = modifiable and not d.negative and d.coin(0.07)
    key = steps.key
    if negative and not words:
        words, key = [(auxiliary("do")[key], "aux")], "inf"
    is_alone = len(waiting) == 1 and waiting[0] == len(d.words) - 1
    clitic = finite and subject.pronoun and not inverted and is_alone
    levels += _auxiliaries(d, words, steps.when, end, waiting, negative, clitic, modifiable)
    if negative:
        d.negative = True
    stative = p.verb is None or p.verb.stative
    if modifiable and not words and d.room(end) > 1 and d.coin(0.14):
        holder: list[int | Tree] = []
        _middle(d, "simple" if stative or steps.when != "past" else "past", waiting, holder)
        before = [t for t in holder if isinstance(t, Tree)]
    if p.frame in COPULAR:
        parts, head = copular(d, p, subject, end, steps.when)
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
        levels.append([head, *complements(d, p, p.verb, head, subject, end, steps.when, gap, dated, bool(before))])
    tree = d.node("VP", *levels[-1])
    for level in reversed(levels[:-1]):
        tree = d.node("VP", *level, tree)
    if negative:
        d.negative = False
    return before, [tree], head


def _auxiliaries(
    d: Draft,
    words: list[tuple[Word, str]],
    when: str,
    end: int,
    waiting: list[int],
    negative: bool,
    clitic: bool,
    modifiable: bool,
) -> list[list[int | Tree]]:
    """Put auxiliaries with negation or an adverb after the first; return what each puts into its verb phrase.

    ``clitic``: whether the first may be one; ``modifiable``: whether an adverb may follow it.
    """
    levels: list[list[int | Tree]] = []
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
        if i == 0 and not negative and modifiable and d.room(end) > 2 and d.coin(0.1):
            by_lemma = "perf" if w.lemma == "have" else "simple"
            use = "modal" if w.xpos == "MD" else "prog" if when == "prog" else by_lemma
            _middle(d, use, waiting, levels[-1])
    return levels


def negate(d: Draft, short: bool) -> int:
    """Put not, or its clitic on the word before."""
    put = d.cling if short else d.put
    return put(word("n't" if short else "not", "not", "PART", "RB", "Polarity=Neg"), "advmod")


def _middle(d: Draft, use: str, waiting: list[int], parts: list[int | Tree]) -> None:
    waiting.append(d.put(d.pick(listed("mid", use)), "advmod"))
    parts.append(d.node("ADVP", waiting[-1]))


def _use(relation: str, key: str) -> str:
    return "event" if relation != "advcl" else "goal" if key == "inf" else "act"


def infinitive(d: Draft, end: int, subject: Nominal, relation: str, head: int, key: str) -> Tree:
    """Put a clause without subject: key inf (with to), bare, ger or part."""
    p = plan(d, d.room(end) - (key == "inf"), subject.kind.name, use=_use(relation, key))
    _, vp, at = predicate(d, p, subject, Chain([], "inf" if key == "bare" else key, ""), end, [], to=key == "inf")
    d.relations[at], d.heads[at] = relation, head
    return Tree("S", tuple(vp))


def clause(
    d: Draft,
    end: int,
    time: str,
    relation: str,
    *,
    p: ClausePlan | None = None,
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
        if room > 4 and relation != "advcl" and d.coin(0.03):
            return existential(d, end, time, relation, waiting or [])
        # Reasons and circumstances are mostly what people do.
        people = "person" if relation == "advcl" and d.rng.random() < 0.7 else ""
        p = plan(d, max(1, room - share), people, inner=relation != "root")
        if relation == "advcl" and p.passive:
            affirm = True
    waiting = waiting if waiting is not None else []
    subject = nominal(d, p.subject, len(d.words) + share, "nsubj:pass" if p.passive else "nsubj", case="Nom", pron=0.3)
    waiting.append(subject.head)
    if waiting[0] != subject.head:  # a clitic needs the subject alone before it
        waiting.sort(key=lambda at: at == subject.head)
    steps = chain(d, p, time, subject.agreement, simple=simple)
    before, vp, head = predicate(d, p, subject, steps, end, waiting, gap=gap, dated=dated, affirm=affirm)
    d.relations[head] = relation
    return [subject.tree, *before, *vp], head


def existential(d: Draft, end: int, time: str, relation: str, waiting: list[int]) -> tuple[list[Tree], int]:
    """Put an existential clause: there is, were, will be …"""
    number = "s" if d.coin(0.5) else "p"
    expletive = d.put(word("there", "there", "PRON", "EX"), "expl")
    forms = verb_forms("be/was/been")
    will = None
    if time == "fut":
        will = d.put(modal("will"), "aux")
        head = d.put(forms["inf"], relation)
    else:
        head = d.put(forms[f"{time}3{number}"], relation)
    d.take(head, [*waiting, expletive, *([will] if will is not None else [])])
    spec = "animal person tool produce container document plant vehicle toy jewel dish"
    what = nominal(d, spec, len(d.words) + max(2, d.room(end) - 3), "nsubj", want=number, mood="indefinite", pron=0)
    d.heads[what.head] = head
    kids: list[int | Tree] = [head, what.tree]
    if what.kind.locations and d.room(end) > 1:
        prep, spec = d.pick(what.kind.locations)
        kids.append(prepositional(d, prep, spec, end, "obl", head)[0])
    tree = d.node("VP", *kids)
    if will is not None:
        tree = d.node("VP", will, tree)
    return [d.node("NP", expletive), tree], head
