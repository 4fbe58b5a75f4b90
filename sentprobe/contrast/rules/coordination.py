"""Two coordinated nouns, names or adjectives in each other's places: *bread and butter* → *butter and bread*.

Each has a determiner and no more, or none has, so that nothing that belonged to one belongs to both, or the other way
round. Verbs are left alone, since what is said first mostly happens first.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.contrast import ContrastRule, RowsRead
from sentprobe.contrast.draft import agreement, exchanged, is_movable, is_statement, token_span, written
from sentprobe.contrast.rules.order import DETERMINERS
from sentprobe.corpus.syntax import base, children, feature, subtree, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context

CONJUNCTIONS = frozenset(["and", "or", "et", "ou", "und", "oder", "sowie", "i", "oraz", "lub", "albo", "ani"])
ORDERED = """respectively respectivement beziehungsweise odpowiednio so forth less more both either zarówno"""
FIXED = frozenset(ORDERED.split())
"""Words that depend on the order, or belong to a coordination as it is."""
FEATURES = ("Number", "Gender", "Case", "Animacy", "VerbForm", "Degree")


def rewrite(s: Sentence, context: Context) -> Iterator[str]:
    """The sentence with two conjuncts exchanged, once for each coordination."""
    if not is_statement(s) or s.deprels is None or s.heads is None:
        return
    if not FIXED.isdisjoint(form.lower() for form in s.forms):
        return
    for second in range(1, len(s)):
        if s.deprels[second] != "conj":
            continue
        first = s.heads[second]
        spans = _conjuncts(s, first, second)
        if spans is None:
            continue
        if text := written(s, exchanged(s, *spans), context):
            yield text


def _conjuncts(s: Sentence, first: int, second: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The tokens of both conjuncts; None if they cannot be exchanged."""
    assert s.deprels is not None
    assert s.feats is not None
    upos = tags(s)
    if upos[first] != upos[second] or upos[first] not in ("NOUN", "PROPN", "ADJ"):
        return None
    if any(s.deprels[i] == "conj" and i != second for i in children(s, first)) or s.deprels[first] == "conj":
        return None
    inside = subtree(s, second)
    conjunction = [i for i in children(s, second) if s.deprels[i] == "cc"]
    if len(conjunction) != 1 or s.forms[conjunction[0]].lower() not in CONJUNCTIONS:
        return None
    if conjunction[0] != inside[0] or conjunction[0] != first + 1:
        return None
    names = [i for i in (first, second) if upos[i] != "PROPN" and s.forms[i][0].isupper() and i]
    if not {(s.lemmas or s.forms)[i].lower() for i in (first, second)}.isdisjoint(DETERMINERS):
        return None
    relation = base(s.deprels[first])
    if (names and relation in ("compound", "amod", "nmod")) or (upos[first] == "PROPN" and relation == "compound"):
        return None  # part of a title
    if upos[first] == "ADJ":
        if base(s.deprels[first]) == "root" or len(inside) > 2:
            return None
        if agreement(s.feats[first], *FEATURES) != agreement(s.feats[second], *FEATURES):
            return None
        pair = [first], [second]
    else:
        phrases = _with_determiner(s, first), _with_determiner(s, second)
        if phrases[0] is None or phrases[1] is None or len(phrases[0]) != len(phrases[1]):
            return None
        if len(inside) != len(phrases[1]) + 1:
            return None
        if not _alike(s, first, second):
            return None
        pair = phrases[0], phrases[1]
    spans = token_span(s, pair[0]), token_span(s, pair[1])
    if spans[0] is None or spans[1] is None or not (is_movable(s, spans[0]) and is_movable(s, spans[1])):
        return None
    return spans[0], spans[1]


def _with_determiner(s: Sentence, i: int) -> list[int] | None:
    """A noun with its article, if it has nothing else below it but the coordination and a preposition before it."""
    assert s.deprels is not None
    words = [i]
    for j in children(s, i):
        relation = base(s.deprels[j])
        if relation == "det" and j == i - 1:
            words.insert(0, j)
        elif relation not in ("case", "conj", "cc") or (relation == "case" and j > i):
            return None
    return words


def _alike(s: Sentence, first: int, second: int) -> bool:
    """Whether case and, of names, kind are the same, and a verb that agrees with the nearer one would not change."""
    assert s.feats is not None
    assert s.deprels is not None
    names = ("Case",) if base(s.deprels[first]) != "nsubj" else ("Case", "Number", "Gender", "Animacy")
    if feature(s, first, "Number") != feature(s, second, "Number"):
        return False
    return agreement(s.feats[first], *names) == agreement(s.feats[second], *names)


contrast_rule = ContrastRule(
    name="coordination",
    effect="positive",
    summary="two coordinated nouns or adjectives are exchanged",
    rewrite=rewrite,
    rows_read=(
        RowsRead(language="en", corpus="UD_English-EWT", wrong=1, date="2026-11-19"),
        RowsRead(language="en", corpus="built-in", wrong=0, date="2026-11-19"),
        RowsRead(language="fr", corpus="UD_French-GSD, Sequoia and PUD", wrong=0, date="2026-11-19"),
        RowsRead(language="pl", corpus="UD_Polish-PDB", wrong=0, date="2026-11-19"),
        RowsRead(language="de", corpus="UD_German-PUD", wrong=1, date="2026-11-19", rows=17),
    ),
    order=120,
)
