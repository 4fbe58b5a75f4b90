"""The kinds of sentences in the built-in corpus: what stands at the top of the tree and who is the root.

Every kind takes a draft, the number of words to aim at, and the final mark; it returns the sentence node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sonde.corpus.clauses import (
    clause,
    complement,
    existential,
    infinitive,
    nominal,
    predicate,
    prepositional,
    subordinate,
)
from sonde.corpus.lexicon import HUMAN, Table, Word, adverb, verb_forms, word
from sonde.corpus.phrases import Draft, Nominal, bare, determiner, listed, listed_adjectives, personal, pronoun, proper
from sonde.corpus.plans import Chain, Plan, auxiliary, chain, plan
from sonde.corpus.sentence import Tree
from sonde.corpus.times import adverbial

_TIMES = Table([("past", 55.0), ("pres", 35.0), ("fut", 10.0)])


def _close(d: Draft, label: str, mark: str, head: int, *parts: int | Tree) -> Tree:
    """Make ``head`` the root, put the final mark, and return the sentence node."""
    d.relations[head], d.heads[head] = "root", -1
    return d.node(label, *parts, d.mark(mark, head))


def _and(d: Draft, among: Table[str]) -> Word:
    form = d.pick(among)
    return word(form, form, "CCONJ", "CC")


_JOINING = Table([("and", 50.0), ("but", 32.0), ("or", 10.0), ("yet", 4.0)])
_OPENING = Table([("but", 5.0), ("and", 5.0), ("or", 1.0), ("yet", 1.0)])


# ---------------------------------------------------------------- declaratives


def plain(d: Draft, size: int, mark: str) -> Tree:
    """One clause."""
    kids, head = clause(d, size - 1, d.pick(_TIMES), "root")
    return _close(d, "S", mark, head, *kids)


def _fronted(front: str) -> Callable[[Draft, int, str], Tree]:
    """Return the kind whose clause follows these openers, written as letters."""

    def kind(d: Draft, size: int, mark: str) -> Tree:
        end = size - 1
        time = d.pick(_TIMES)
        parts: list[int | Tree] = []
        waiting: list[int] = []
        human = "g" in front or "u" in front
        dated = "t" in front
        share = max(4, min(end - 4, 2 + d.upto(max(1, end - 6))))
        left = max(1, end - (share if front[-1] in "sgup" else 1) - 3)
        p = plan(d, left, "person" if human else "", use="event" if human else "dated" if dated else "")
        while "p" in front and (p.verb is None or p.verb.places is None):
            p = plan(d, left)
        for letter in front:
            comma = True
            if letter == "c":
                waiting.append(d.put(_and(d, _OPENING), "cc"))
                parts.append(waiting[-1])
                continue
            if letter == "i":
                form = d.pick(_interjections())
                feats = {"yes": "Polarity=Pos", "no": "Polarity=Neg"}.get(form, "_")
                at = d.put(word(form, form, "INTJ", "UH", feats), "discourse")
                parts.append(d.node("INTJ", at))
            elif letter == "a":
                at = d.put(d.pick(listed("stance", "words"), lambda w: "c" not in front or w.form != "however"), "advmod")
                parts.append(d.node("ADVP", at))
            elif letter == "b":
                at = d.put(d.pick(listed("stance", time)), "advmod")
                parts.append(d.node("ADVP", at))
                comma = d.coin(0.25)
            elif letter == "t":
                tree, at = adverbial(d, time, -1)
                parts.append(tree)
                comma = d.coin(0.5)
            elif letter == "p" and p.verb and p.verb.places:
                prep, spec = d.pick(p.verb.places)
                tree, at = prepositional(d, prep, spec, len(d.words) + min(share, 6), "obl", -1)
                parts.append(tree)
                comma = d.coin(0.7)
            elif letter == "s":
                parts.append(subordinate(d, len(d.words) + share, time, -1))
                at = _last(d, "advcl")
            else:
                controller = Nominal(Tree("NP", ()), -1, "3s", d.lex.classes["person"])
                parts.append(infinitive(d, len(d.words) + share - 1, controller, "advcl", -1, "part" if letter == "g" else "inf"))
                at = _last(d, "advcl")
            waiting.append(at)
            if comma:
                parts.append(d.mark(",", at))
        kids, head = clause(d, end, time, "root", p=p, waiting=waiting, simple=dated or human or "b" in front, dated=dated, affirm=human)
        return _close(d, "S", mark, head, *parts, *kids)

    return kind


def _last(d: Draft, relation: str) -> int:
    """Return the word that has the relation and still waits for its head."""
    return next(i for i, r in enumerate(d.relations) if r == relation and d.heads[i] == -1)


@cache
def _interjections() -> Table[str]:
    return Table([("well", 4.0), ("oh", 4.0), ("yes", 3.0), ("no", 3.0), ("hey", 1.0), ("ah", 1.0), ("okay", 1.0), ("wow", 1.0)])


def parenthetical(d: Draft, size: int, mark: str) -> Tree:
    """A sentence adverb between commas after the subject."""
    end = size - 1
    share = d.upto(max(1, min(6, end // 2 - 1)))
    p = plan(d, max(1, end - share - 3))
    subject = nominal(d, p.subject, share, "nsubj:pass" if p.passive else "nsubj", case="Nom", pron=0.0)
    first = d.mark(",", -1)
    at = d.put(d.pick(listed("stance", "words")), "advmod")
    second = d.mark(",", at)
    d.heads[first] = at
    steps = chain(d, p, d.pick(_TIMES), subject.agreement)
    before, rest, head = predicate(d, p, subject, steps, end, [subject.head, at])
    return _close(d, "S", mark, head, subject.tree, first, d.node("ADVP", at), second, *before, *rest)


def coordinated(d: Draft, size: int, mark: str) -> Tree:
    """Two main clauses and a conjunction, with or without a comma."""
    return _joined(d, size, mark, 2)


def tripled(d: Draft, size: int, mark: str) -> Tree:
    """Three main clauses."""
    return _joined(d, size, mark, 3)


def _joined(d: Draft, size: int, mark: str, clauses: int) -> Tree:
    time = d.pick(_TIMES)
    first_end = (size - 3) // clauses if d.rng.random() < 0.4 else 2 + d.upto(max(1, size - 7 if clauses == 2 else size // 3))
    kids, head = clause(d, first_end, time, "root", simple=d.coin(0.6))
    parts: list[int | Tree] = [Tree("S", tuple(kids))]
    with_comma = clauses == 3 or d.coin(0.65)
    conjunction = _and(d, _JOINING)
    for left in range(clauses - 1, 0, -1):
        waiting = []
        if with_comma:
            waiting.append(d.mark(",", -1))
        if left == 1:
            waiting.append(d.put(conjunction, "cc"))
        parts += waiting
        end = size - 1 if left == 1 else len(d.words) + max(3, (size - len(d.words)) // 2)
        kids, at = clause(d, max(end, len(d.words) + 2), time if d.coin(0.8) else d.pick(_TIMES), "conj", waiting=waiting)
        d.heads[at] = head
        parts.append(Tree("S", tuple(kids)))
    return _close(d, "S", mark, head, *parts)


def paratactic(d: Draft, size: int, mark: str) -> Tree:
    """Two main clauses with a semicolon, or with a comma and so."""
    kids, head = clause(d, 2 + d.upto(max(1, size - 7)), time := d.pick(_TIMES), "root")
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
    return _close(d, "S", mark, head, first, sign, Tree("S", (*front, *kids)))


def twofold(d: Draft, size: int, mark: str) -> Tree:
    """One subject with two verb phrases."""
    end = size - 1
    share = d.upto(max(1, min(5, end // 3)))
    p = plan(d, max(1, (end - share) // 2))
    subject = nominal(d, p.subject, share, "nsubj:pass" if p.passive else "nsubj", case="Nom", pron=0.2)
    time = d.pick(_TIMES)
    middle = share + max(2, d.upto(max(1, end - share - 3)))
    before, rest, head = predicate(d, p, subject._replace(pronoun=False), chain(d, p, time, subject.agreement, simple=True), middle, [subject.head])
    cc = d.put(_and(d, _PAIRING), "cc")
    q = plan(d, max(1, d.room(end)), subject.kind.name)
    again, rest_again, at = predicate(d, q, subject._replace(pronoun=False), chain(d, q, time, subject.agreement, simple=True), end, [cc])
    d.relations[at], d.heads[at] = "conj", head
    first, second = Tree("VP", (*before, *rest[0].children)), Tree("VP", (*again, *rest_again[0].children))
    return _close(d, "S", mark, head, subject.tree, d.node("VP", first, cc, second))


_PAIRING = Table([("and", 8.0), ("but", 1.5), ("or", 0.5)])


def there(d: Draft, size: int, mark: str) -> Tree:
    """An existential sentence."""
    kids, head = existential(d, size - 1, d.pick(_TIMES), "root", [])
    return _close(d, "S", mark, head, *kids)


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
    return _close(d, "S", mark, at, d.node("NP", it), d.node("VP", be, d.node("ADJP", at), inner))


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
    rest, head = _reaction(d, size - 1, at, "task_adj" if gerund else "fact_adj" if marker == "that" else "doubt_adj")
    return _close(d, "S", mark, head, subject, rest)


def _reaction(d: Draft, end: int, subject: int, adjectives: str) -> tuple[Tree, int]:
    """Put what one says of a fact: surprised everyone, was important."""
    time = "past" if d.coin(0.6) else "pres"
    if d.room(end) < 3 or adjectives == "doubt_adj" or d.coin(0.4):
        be = d.put(auxiliary("be")[time + "3s"], "cop")
        at = d.put(d.pick(listed_adjectives(adjectives)), "root")
        d.take(at, [be, subject])
        return d.node("VP", be, d.node("ADJP", at)), at
    p = plan(d, d.room(end), "idea", among="tv")
    idea = Nominal(Tree("NP", ()), subject, "3s", d.lex.classes["idea"])
    _, rest, head = predicate(d, p, idea, chain(d, p, time, "3s", simple=True), end, [subject])
    return rest[0], head


def inverted(d: Draft, size: int, mark: str) -> Tree:
    """A place first, then the verb, then the subject."""
    thing = d.coin(0.6)
    p = plan(d, 4, "tool" if thing else "person", among="be_at")
    assert p.verb is not None and p.verb.ways is not None  # every verb of the frame has its places
    prep, spec = d.pick(p.verb.ways)
    front, at = prepositional(d, prep, spec, max(3, min(6, size - 5)), "obl", -1)
    number = "s" if d.coin(0.5) else "p"
    head = d.put(p.verb.forms["past3" + number], "root")
    subject = nominal(d, p.subject if thing else "person", size - 1, "nsubj", case="Acc", want=number, mood="indefinite", pron=0)
    d.take(head, [at, subject.head])
    return _close(d, "SINV", mark, head, front, d.node("VP", head), subject.tree)


# ---------------------------------------------------------------- speech


_SAYING = Table([("say/said/said", 10.0), ("whisper", 2.0), ("shout", 2.0), ("reply/replied/replied", 2.0), ("explain", 1.5), ("announce", 1.0), ("admit+", 1.0), ("mutter", 1.0), ("insist", 1.0), ("complain", 1.0), ("add", 1.0)])


def spoken(d: Draft, size: int, mark: str) -> Tree:
    """Direct speech, then who said it; with a name the verb may come first."""
    opening = d.mark("``", -1)
    kids, said = clause(d, max(4, size - 6), d.pick(_TIMES), "ccomp")
    comma, closing = d.mark(",", said), d.mark("''", said)
    d.heads[opening] = said
    quoted = Tree("S", tuple(kids))
    forms = verb_forms(d.pick(_SAYING))
    turn = d.coin(0.35)
    if turn:
        head = d.put(forms["past3s"], "root")
    speaker = nominal(d, "NAME person kin", max(size - 2, len(d.words) + 1), "nsubj", case="Nom", want="s", pron=0)
    if not turn:
        head = d.put(forms["past" + speaker.agreement], "root")
    d.take(head, [said, speaker.head])
    verb = d.node("VP", head)
    rest = (verb, speaker.tree) if turn else (speaker.tree, verb)
    return _close(d, "SINV" if turn else "S", mark, head, opening, quoted, comma, closing, *rest)


_NOT_AFTER = frozenset({"forget", "deny", "doubt", "learn", "discover", "pretend", "emphasize", "feel", "understand", "dream"})


def reported(d: Draft, size: int, mark: str) -> Tree:
    """A thought with its thinker at the end."""
    kids, said = clause(d, max(4, size - 4), "past", "ccomp")
    comma = d.mark(",", said)
    verb = d.pick(d.lex.frame("that", "person"), lambda v: v.forms["inf"].form not in _NOT_AFTER)
    speaker = nominal(d, "human", max(size - 2, len(d.words) + 1), "nsubj", case="Nom", pron=0.4)
    head = d.put(verb.forms["past" + speaker.agreement], "root")
    d.take(head, [said, speaker.head])
    return _close(d, "S", mark, head, Tree("S", tuple(kids)), comma, speaker.tree, d.node("VP", head))


# ---------------------------------------------------------------- questions

_ASKED = Table([("past", 50.0), ("pres", 40.0), ("fut", 10.0)])


def _subject_first(d: Draft, p: Plan) -> tuple[str, str]:
    """Draw a question's subject before it is put: a pronoun, or the number of a noun; return it and its agreement."""
    human = bool({*d.lex.expand(p.subject)} & HUMAN)
    if human and d.coin(0.45):
        lemma = d.pick(_ASKED_PRONOUNS)
        return lemma, {"you": "2s", "we": "1p", "they": "3p"}.get(lemma, "3s")
    number = "s" if d.coin(0.6) else "p"
    return number, "3" + number


_ASKED_PRONOUNS = Table([("you", 5.0), ("he", 3.0), ("she", 3.0), ("they", 3.0), ("we", 2.0)])


def _inversion(d: Draft, p: Plan, end: int, waiting: list[int], negative: bool, *, gap: bool = False) -> tuple[list[int | Tree], int]:
    """Put auxiliary, subject and the rest; return the parts of the SQ and the head."""
    which, agreement = _subject_first(d, p)
    if which == "p" and not any(n.plural and n.kind.plural for n in d.lex.nouns(p.subject).items):
        which, agreement = "s", "3s"
    steps = chain(d, p, d.pick(_ASKED), agreement, support=True)
    w, relation = steps.words[0]
    negative = negative and w.form not in ("may", "might", "am")
    host = {"will": "wo", "can": "ca"}.get(w.form, w.form) if negative else w.form
    parts: list[int | Tree] = [d.put(word(host, *w[1:5]), relation)]
    waiting.append(len(d.words) - 1)
    if negative:
        waiting.append(d.cling(word("n't", "not", "PART", "RB", "Polarity=Neg"), "advmod"))
        parts.append(waiting[-1])
    use = "nsubj:pass" if p.passive else "nsubj"
    if len(which) > 1:
        subject = pronoun(d, "Nom", use, d.lex.classes["person"], which)
    else:
        share = 1 + d.upto(max(1, min(5, d.room(end) - 3)))
        subject = nominal(d, p.subject, len(d.words) + share, use, case="Acc", want=which, pron=0)
    waiting.append(subject.head)
    rest_of = Chain(steps.words[1:], steps.key, steps.when)
    _, rest, head = predicate(d, p, subject, rest_of, end, waiting, inverted=True, gap=gap)
    return [*parts, subject.tree, *rest], head


def asked(d: Draft, size: int, mark: str) -> Tree:
    """A yes-or-no question."""
    p = plan(d, max(1, size - 4))
    parts, head = _inversion(d, p, size - 1, [], d.coin(0.15))
    return _close(d, "SQ", mark, head, *parts)


def wondered(d: Draft, size: int, mark: str) -> Tree:
    """A question with when, where, why or how."""
    form = d.pick(_WH)
    p = plan(d, max(1, size - 5), use="" if form == "why" else "event")
    at = d.put(word(form, form, "ADV", "WRB", "PronType=Int"), "advmod")
    parts, head = _inversion(d, p, size - 1, [at], form == "why" and d.coin(0.15))
    return _close(d, "SBARQ", mark, head, d.node("WHADVP", at), d.node("SQ", *parts))


_WH = Table([("why", 4.0), ("when", 3.0), ("where", 3.0), ("how", 3.0)])


def who(d: Draft, size: int, mark: str) -> Tree:
    """A question about the subject."""
    p = plan(d, max(1, size - 2), "person", use="event" if d.coin(0.8) else "")
    at = d.put(word("who", "who", "PRON", "WP", "PronType=Int"), "nsubj:pass" if p.passive else "nsubj")
    subject = Nominal(d.node("WHNP", at), at, "3s", d.lex.classes["person"])
    before, rest, head = predicate(d, p, subject, chain(d, p, d.pick(_ASKED), "3s"), size - 1, [at])
    return _close(d, "SBARQ", mark, head, subject.tree, Tree("SQ", (*before, *rest)))


def what(d: Draft, size: int, mark: str) -> Tree:
    """A question about the object: what, which book, how many books."""
    p = plan(d, max(2, size - 4), "person", among="tv")
    assert p.verb is not None  # a transitive plan has its verb
    classes = {*d.lex.expand(p.verb.object)}
    if size > 6 and d.coin(0.5):
        number = "s" if d.coin(0.5) else "p"
        drawn = d.pick(d.lex.nouns(p.verb.object))
        if not drawn.plural or not drawn.singular:
            return what(d, size, mark)
        if number == "p" and d.coin(0.5):
            how = d.put(word("how", "how", "ADV", "WRB", "PronType=Int"), "advmod")
            d.heads[how] = many = d.put(determiner("many"), "amod")
            at = d.put(drawn.plural, "obj", -1)
            d.heads[many] = at
            front = d.node("WHNP", d.node("WHADJP", how, many), at)
        else:
            form = "which" if d.coin(0.7) else "what"
            which = d.put(word(form, form, "DET", "WDT", "PronType=Int"), "det")
            at = d.put(drawn.plural if number == "p" else drawn.singular, "obj")
            d.heads[which] = at
            front = d.node("WHNP", which, at)
    else:
        form = "who" if classes & HUMAN else "what"
        at = d.put(word(form, form, "PRON", "WP", "PronType=Int"), "obj")
        front = d.node("WHNP", at)
    parts, head = _inversion(d, p, size - 1, [at], False, gap=True)
    return _close(d, "SBARQ", mark, head, front, d.node("SQ", *parts))


def tagged(d: Draft, size: int, mark: str) -> Tree:
    """A statement with a tag question."""
    p = plan(d, max(1, size - 6), among="cop_adj")
    subject = nominal(d, "animal dish building idea event document artwork vehicle", max(2, min(size - 7, 6)), "nsubj", case="Nom", pron=0)
    time = "past" if d.coin(0.5) else "pres"
    be = auxiliary("be")[time + subject.agreement]
    _, rest, head = predicate(d, p, subject, Chain([(be, "cop")], "", ""), size - 4, [subject.head])
    statement = Tree("S", (subject.tree, *rest))
    comma = d.mark(",", -1)
    tag = d.put(word(be.form, "be", "AUX", *be[3:5]), "parataxis", head)
    clitic = d.cling(word("n't", "not", "PART", "RB", "Polarity=Neg"), "advmod", tag)
    back = pronoun(d, "Nom", "nsubj", subject.kind, "it" if subject.agreement == "3s" else "they")
    d.heads[back.head] = d.heads[comma] = tag
    return _close(d, "SQ", mark, head, statement, comma, d.node("SQ", tag, clitic, back.tree))


# ---------------------------------------------------------------- commands and exclamations


def _commanded(front: str) -> Callable[[Draft, int, str], Tree]:
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
            clitic = d.cling(word("n't", "not", "PART", "RB", "Polarity=Neg"), "advmod")
            waiting += [do, clitic]
        key = "inf" if "n" in front else "imp"
        _, rest, head = predicate(d, p, you, Chain(words, key, ""), size - 1 - 2 * ("l" in front), waiting)
        parts.append(d.node("VP", do, clitic, rest[0]) if "n" in front else rest[0])
        if "l" in front:
            comma = d.mark(",", -1)
            late = d.put(word("please", "please", "INTJ", "UH"), "discourse", head)
            d.heads[comma] = late
            parts += [comma, d.node("INTJ", late)]
        return _close(d, "S", mark, head, *parts)

    return kind


def lets(d: Draft, size: int, mark: str) -> Tree:
    """Let us do something."""
    head = d.put(verb_forms("let/let/let")["imp"], "root")
    us = d.cling(word("'s", "we", "PRON", "PRP", "Case=Acc|Number=Plur|Person=1|PronType=Prs"), "obj", head)
    ours = Nominal(d.node("NP", us), us, "1p", d.lex.classes["person"])
    inner = infinitive(d, size - 1, ours, "xcomp", head, "bare")
    return _close(d, "S", mark, head, d.node("VP", head, Tree("S", (ours.tree, *inner.children))))


def exclaimed(d: Draft, size: int, mark: str) -> Tree:
    """What a house they built!"""
    verb = d.pick(d.lex.frame("tv", "person", use="act"), lambda v: v.object not in ("drink", "hobby", "material"))
    drawn = d.pick(d.lex.nouns(verb.object), lambda n: bool(n.singular and n.plural and n.kind.adjectives))
    p = Plan("tv", verb, verb.subject)
    wh = d.put(word("what", "what", "DET", "WDT", "PronType=Int"), "det:predet")
    what_ = bare(d, drawn, max(3, min(5, size - 5)), "obj", want="s", det="a")
    d.heads[wh] = what_.head
    front = Tree("WHNP", (d.words[wh].leaf, *what_.tree.children))
    kids, head = clause(d, max(size - 1, len(d.words) + 2), "past", "root", p=p, waiting=[what_.head], gap=True, simple=True)
    return _close(d, "SBAR", mark, head, front, Tree("S", tuple(kids)))


def how(d: Draft, size: int, mark: str) -> Tree:
    """How tall the tower is!"""
    wh = d.put(word("how", "how", "ADV", "WRB", "PronType=Int"), "advmod")
    spec = "animal dish building idea event document artwork vehicle person kin town jewel device"
    drawn = d.pick(d.lex.nouns(spec))
    _, table = drawn.kind.adjectives[int(d.rng.random() * len(drawn.kind.adjectives))]
    at = d.put(d.pick(table, lambda w: w.form not in d.lex.absolute), "root")
    d.heads[wh] = at
    subject = nominal(d, drawn.kind.name, size - 2, "nsubj", case="Nom", pron=0)
    be = d.put(auxiliary("be")[("past" if d.coin(0.5) else "pres") + subject.agreement], "cop")
    d.take(at, [subject.head, be])
    return _close(d, "SBAR", mark, at, d.node("WHADJP", wh, at), d.node("S", subject.tree, d.node("VP", be)))


KINDS: tuple[tuple[Callable[[Draft, int, str], Tree], str, int, float], ...] = (
    # kind, final mark, fewest words, weight
    (plain, ".", 4, 30.0),
    (plain, "!", 4, 1.5),
    (_fronted("t"), ".", 6, 4.5),
    (_fronted("p"), ".", 8, 4.0),
    (_fronted("b"), ".", 5, 3.0),
    (_fronted("a"), ".", 6, 2.5),
    (_fronted("s"), ".", 10, 5.0),
    (_fronted("g"), ".", 9, 2.5),
    (_fronted("u"), ".", 10, 1.5),
    (_fronted("c"), ".", 5, 2.5),
    (_fronted("ca"), ".", 7, 0.8),
    (_fronted("ct"), ".", 8, 1.5),
    (_fronted("cs"), ".", 11, 1.0),
    (_fronted("i"), ".", 6, 1.5),
    (_fronted("at"), ".", 9, 1.5),
    (_fronted("bp"), ".", 9, 1.0),
    (parenthetical, ".", 8, 1.5),
    (coordinated, ".", 8, 13.0),
    (tripled, ".", 14, 1.5),
    (paratactic, ".", 9, 3.0),
    (twofold, ".", 7, 4.0),
    (there, ".", 6, 2.0),
    (extraposed, ".", 8, 1.5),
    (clausal_subject, ".", 9, 2.0),
    (inverted, ".", 7, 1.0),
    (spoken, ".", 11, 2.0),
    (reported, ".", 8, 1.2),
    (asked, "?", 5, 5.0),
    (wondered, "?", 6, 2.5),
    (who, "?", 4, 1.5),
    (what, "?", 5, 2.5),
    (tagged, "?", 9, 0.8),
    (_commanded(""), ".", 4, 2.5),
    (_commanded(""), "!", 4, 0.5),
    (_commanded("p"), ".", 5, 1.2),
    (_commanded("n"), ".", 6, 1.0),
    (_commanded("v"), ".", 6, 0.8),
    (_commanded("l"), ".", 7, 0.6),
    (lets, ".", 5, 0.8),
    (exclaimed, "!", 8, 0.8),
    (how, "!", 6, 0.8),
)
"""Every kind of sentence with its weight where it fits."""
