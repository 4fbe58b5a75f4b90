"""The plan of a clause of the built-in corpus, drawn before any word is put: its frame, verb, tense and aspect."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from sentprobe.grammar.lexicon import HUMAN, LexicalVerb, lexicon
from sentprobe.grammar.phrases import Draft
from sentprobe.grammar.words import WeightedTable, Word, verb_forms, word

EMBEDDING = frozenset({"that", "whether", "inf", "ger", "ask", "asked", "let"})
COPULAR = frozenset({"cop_adj", "cop_np", "cop_pp"})
_PASSIVE = frozenset({"pass", "asked"})
_AIMLESS = frozenset({"iv", "be_at"})
_STATES = COPULAR | {"link", "become"}
_QUALITY = (
    "human animal edible clothing tool container device vehicle building area town"
    " idea event document artwork plant seat org feeling"
)
_NAMING = "human animal dish tool vehicle building town idea event document artwork org jewel feeling natural"
_PLACING = "human animal dish produce tool clothing container device vehicle document artwork toy jewel plant furniture"
# frame: (minimum words after the subject, maximum words it uses well, weight)
_FRAMES = {
    "iv": (1, 14, 11.0),
    "tv": (2, 30, 30.0),
    "pass": (2, 20, 12.0),
    "go": (3, 16, 7.0),
    "be_at": (3, 14, 4.0),
    "pp": (3, 16, 7.0),
    "dtv": (4, 20, 5.0),
    "that": (4, 30, 9.0),
    "whether": (5, 30, 3.0),
    "inf": (3, 30, 6.0),
    "ger": (2, 30, 3.0),
    "ask": (4, 30, 3.5),
    "asked": (4, 30, 4.5),
    "let": (4, 30, 1.5),
    "link": (2, 9, 3.0),
    "become": (3, 9, 1.5),
    "cop_adj": (2, 14, 7.0),
    "cop_np": (3, 12, 4.0),
    "cop_pp": (4, 9, 3.0),
}

_INNER = {"pass": 2.0, "cop_adj": 4.0, "cop_np": 3.0, "cop_pp": 4.0}
"""How much more often a frame is in a subordinate, relative or coordinated clause than in the main clause."""


class ClausePlan(NamedTuple):
    """A predicate before it is put: its frame, its verb if any, and who may be its subject."""

    frame: str
    verb: LexicalVerb | None
    subject: str
    passive: bool = False


class Chain(NamedTuple):
    """Auxiliaries with their relations, the key of the main verb's form, and the time the clause speaks of."""

    words: list[tuple[Word, str]]
    key: str
    when: str


@cache
def auxiliary(lemma: str) -> dict[str, Word]:
    """Return the forms of be, have or do as an auxiliary."""
    return verb_forms({"be": "be/was/been", "have": "have/had/had", "do": "do/did/done"}[lemma], "AUX")


@cache
def modal(form: str) -> Word:
    """Return a modal auxiliary."""
    return word(form, form, "AUX", "MD", "VerbForm=Fin")


@cache
def frames(kind: str, room: int, deep: int, use: str, inner: bool = False) -> WeightedTable[str]:
    """Return the frames for a subject of a class (any when empty), a size, a preference for depth, and a use.

    In an inner clause there is more often a form of *be*, so that one in a sentence says little about its main clause.

    The use ``dated`` admits what happens at a time; ``event`` that in the active; ``act`` that without a clause inside;
    ``goal`` what one does something else for.
    """
    lex = lexicon()
    pairs = []
    for frame, (least, most, weight) in _FRAMES.items():
        if not least <= room <= most or (use and frame in _STATES) or (use in ("act", "goal") and frame in EMBEDDING):
            continue
        if (frame in _PASSIVE and use != "dated" and use) or (frame in _AIMLESS and use == "goal"):
            continue
        if kind and frame in COPULAR:
            entry = lex.classes[kind]
            fits = bool({"cop_np": entry.predicate, "cop_pp": entry.locations, "cop_adj": entry.adjectives}[frame])
        elif frame == "pass":
            fits = bool(lex.frame("tv", kind, "object", use).items)
        elif frame == "asked":
            fits = not kind or kind in HUMAN
        else:
            fits = frame in COPULAR or bool(lex.frame(frame, kind, "subject", use).items)
        if fits:
            weight *= (0.15, 1.2, 4.0)[deep] if frame in EMBEDDING else 1.0
            pairs.append((frame, weight * (_INNER.get(frame, 1.0) if inner else 1.0)))
    return WeightedTable(pairs)


def plan(d: Draft, room: int, kind: str = "", *, use: str = "", among: str = "", inner: bool = False) -> ClausePlan:
    """Draw a predicate of about ``room`` words for a subject of a class (any class when empty)."""
    kind = "person" if kind in HUMAN else kind
    table = frames(kind, max(1, min(room, 30)), d.deep, use, inner)
    frame = among or d.pick(table if table.items else frames(kind, 9, d.deep, use, inner))
    if frame in COPULAR:
        return ClausePlan(frame, None, {"cop_adj": _QUALITY, "cop_np": _NAMING, "cop_pp": _PLACING}[frame])
    if frame == "pass":
        verb = d.pick(d.lex.frame("tv", kind, "object", use))
        return ClausePlan(frame, verb, verb.object, True)
    if frame == "asked":  # those whom one asks are those who ask
        verb = d.pick(d.lex.frame("ask", "person", "subject", use), lambda v: v.passive)
        return ClausePlan(frame, verb, verb.subject, True)
    verb = d.pick(d.lex.frame(frame, kind, "subject", use))
    return ClausePlan(frame, verb, verb.subject)


@cache
def _aspects(time: str, stative: bool) -> WeightedTable[tuple[str, bool, bool]]:
    """Return (modal, perfect, progressive) for a time."""
    prog = 0.0 if stative else 1.0
    if time == "past":
        return WeightedTable(
            [
                (("", False, False), 78),
                (("", False, True), 19 * prog),
                (("", True, False), 6),
                (("could", False, False), 4 * prog),
            ]
        )
    if time == "pres":
        modals = [("can", 4 * prog), ("must", 2 * prog), ("should", 2), ("may", 1), ("might", 1)]
        return WeightedTable(
            [
                (("", False, False), 74),
                (("", False, True), 16 * prog),
                (("", True, False), 8),
                (("", True, True), 1 * prog),
            ]
            + [((m, False, False), w) for m, w in modals]
        )
    return WeightedTable(
        [((m, False, False), w) for m, w in [("will", 80), ("might", 6), ("should", 4), ("may", 4), ("would", 4)]]
    )


def chain(d: Draft, p: ClausePlan, time: str, agreement: str, *, simple: bool = False, support: bool = False) -> Chain:
    """Draw tense, aspect and mood; ``simple`` allows no perfect, ``support`` requires an auxiliary (do)."""
    stative = p.frame in COPULAR or p.frame in ("link", "become") or (p.verb is not None and p.verb.stative)
    mode, perfect, progressive = d.pick(_aspects(time, stative))
    progressive = progressive and not (p.passive and d.coin(0.6))
    if simple and (perfect or progressive or (time != "fut" and mode)):
        mode, perfect, progressive = ("will" if time == "fut" else ""), False, False
    out: list[tuple[Word, str]] = []
    key = time + agreement
    if mode:
        out.append((modal(mode), "aux"))
        key = "inf"
    if perfect:
        out.append((auxiliary("have")[key], "aux"))
        key = "perf"
    if progressive:
        out.append((auxiliary("be")[key], "aux"))
        key = "part"
    if p.passive:
        out.append((auxiliary("be")[key], "aux:pass"))
        key = "pass"
    if p.frame in COPULAR:
        out.append((auxiliary("be")[key], "cop"))
    elif support and not out:
        out.append((auxiliary("do")[key], "aux"))
        key = "inf"
    if time == "past":
        when = "had" if perfect or mode else "past"
    elif mode:
        when = "fut"
    else:
        when = "long" if perfect and progressive else "perf" if perfect else "prog" if progressive else time
    return Chain(out, key, when)
