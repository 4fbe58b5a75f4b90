"""What verbs admit: manner, place, company, time, purpose, circumstance."""

from __future__ import annotations

from functools import cache

from sentprobe.grammar.closed import listed
from sentprobe.grammar.lexicon import HUMAN, LexicalVerb, lexicon
from sentprobe.grammar.nominals import prepositional
from sentprobe.grammar.phrases import Draft, Nominal
from sentprobe.grammar.times import adverbial
from sentprobe.grammar.words import WeightedTable, adposition, word
from sentprobe.sentence import Tree

_MIN_WORDS = {"manner": 1, "place": 3, "tool": 3, "company": 3, "time": 1, "purpose": 3, "clause": 4, "without": 3}
_ORDER = list(_MIN_WORDS)
_REPEATED = str.maketrans("", "", "p")  # a place may be there several times
_MOST = 2  # more of them are hard to read


@cache
def _adjuncts(room: int, deep: int, having: str) -> WeightedTable[str]:
    weights = {
        "m": 3.0,
        "p": 5.0,
        "t": 2.5,
        "o": 2.0,
        "c": 1.5,
        "u": (0.5, 2.0, 3.0)[deep],
        "l": (0.7, 3.0, 4.0)[deep],
        "w": (0.3, 1.0, 1.5)[deep],
    }
    names = dict(zip("mpoctulw", _ORDER, strict=True))
    return WeightedTable([(names[k], weights[k]) for k in having if _MIN_WORDS[names[k]] <= room])


def adjuncts(
    d: Draft, v: LexicalVerb, head: int, subject: Nominal, end: int, when: str, dated: bool, manner: bool
) -> list[int | Tree]:
    """Put adjuncts the verb admits, in their usual order, while there is room."""
    room = d.room(end)
    if room < 1:
        return []
    acting = subject.kind.name in HUMAN and not v.stative
    having = (
        ("m" if v.manner and not manner else "")
        + ("p" if v.locations else "")
        + ("o" if v.tool else "")
        + ("c" if acting and v.frame != "dtv" and not (v.preposition and v.preposition.form == "with") else "")
    )
    having += (
        ("" if dated or (not when and d.deep == 2) else "t")
        + ("u" if acting else "")
        + ("l" if when else "")
        + ("w" if acting else "")
    )
    having = "".join(c for c in having if c not in d.adjuncts)  # each kind once in a sentence
    chosen: list[str] = []
    words_left = room
    while words_left > 0 and having and len(chosen) < _MOST:
        table = _adjuncts(min(words_left, 4), d.deep, having)
        if not table.items or (words_left < 3 and d.coin(0.2)):
            break
        kind = d.pick(table)
        chosen.append(kind)
        words_left -= _MIN_WORDS[kind]
        d.adjuncts += "mpoctulw"[_ORDER.index(kind)].translate(_REPEATED)
        having = having.replace("mpoctulw"[_ORDER.index(kind)], "")
        if kind in ("tool", "company"):
            having = having.translate({ord(c): None for c in "oc"})
        if kind in ("purpose", "clause", "without"):
            having = having.translate({ord(c): None for c in "ulw"})
    wide = [k for k in chosen if k not in ("manner", "time")]
    lucky = wide[int(d.rng.random() * len(wide))] if wide else ""
    parts: list[int | Tree] = []
    for kind in sorted(chosen, key=_ORDER.index):
        stop = len(d.words) + _MIN_WORDS[kind] + (words_left if kind == lucky else 0)
        parts.append(_adjunct(d, kind, v, head, subject, stop, when))
    return parts


def _adjunct(d: Draft, kind: str, v: LexicalVerb, head: int, subject: Nominal, stop: int, when: str) -> Tree:
    if kind == "manner" and v.manner:
        return d.node("ADVP", d.put(d.pick(v.manner), "advmod", head))
    if kind == "place" and v.locations:
        if d.coin(0.1):
            return d.node("ADVP", d.put(d.pick(listed("time", "place_adverb")), "advmod", head))
        prep, spec = d.pick(v.locations)
        return prepositional(d, prep, spec, stop, "obl", head)[0]
    if kind == "tool":
        return prepositional(d, adposition("with"), v.tool, stop, "obl", head)[0]
    if kind == "company":
        return prepositional(d, adposition("with"), "human", stop, "obl", head)[0]
    if kind == "purpose":
        return d.rules.infinitive(d, stop, subject, "advcl", head, "inf")
    if kind == "without":
        mark = d.put(word("without", "without", "SCONJ", "IN"), "mark")
        inner = d.rules.infinitive(d, stop, subject, "advcl", head, "part")
        d.heads[mark] = next(
            i for i in range(mark + 1, len(d.words)) if d.heads[i] == head and d.relations[i] == "advcl"
        )
        return d.node("PP", mark, inner)
    if kind == "clause":
        return subordinate(d, stop, when, head)
    lasting = v.frame == "be_at" or (v.frame == "iv" and not v.particle and subject.kind.name in HUMAN)
    return adverbial(d, when, head, lasting)[0]


_FREE = frozenset({"because", "although", "though"})  # whose clause may have any tense
_POSITIVE = frozenset({"until", "before", "after", "once", "while", "as", "whenever", "unless"})


def subordinate(d: Draft, end: int, when: str, head: int) -> Tree:
    """Put an adverbial clause; its head waits for ``head``."""
    time = {"past": "past", "had": "past", "fut": "fut"}.get(when, "pres")
    marker = d.pick(_subordinators(time))
    inner = "past" if time == "past" else "pres"
    if marker in _FREE and d.coin(0.45):
        inner = "pres" if inner == "past" else "past"
    wh = marker in ("when", "whenever")
    at = d.put(
        word(marker, marker, "ADV", "WRB", "PronType=Int" if marker == "when" else "PronType=Rel")
        if wh
        else word(marker, marker, "SCONJ", "IN"),
        "advmod" if wh else "mark",
    )
    kids, inside = d.rules.clause(d, end, inner, "advcl", waiting=[at], simple=True, affirm=marker in _POSITIVE)
    d.heads[inside] = head
    return d.node("SBAR", d.node("WHADVP", at) if wh else at, Tree("S", tuple(kids)))


@cache
def _subordinators(time: str) -> WeightedTable[str]:
    return WeightedTable([(w, 1 / (i + 3)) for i, w in enumerate(lexicon().words("function", "subordinators_" + time))])
