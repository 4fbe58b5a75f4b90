"""Two words of one kind in each other's places: *a small dog and the big cat* → *a big dog and the small cat*.

They are two attributes of different nouns, or two names; they have the same features (gender, number, case), so that
all around them still agrees. What would mean the same either way is left out: words that are coordinated, or one of
which depends on the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

from sentprobe.contrast import ContrastRule, RowsRead
from sentprobe.contrast.draft import exchanged, is_movable, is_plain_statement, token_span, written
from sentprobe.contrast.rules.numbers import WORDS
from sentprobe.corpus.languages import code_of
from sentprobe.corpus.syntax import base, children, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context

DETERMINER_LIKE = {
    "en": """last next same other such much many several few own first second third mere very certain whole only late
        more most less entire various numerous past former latter single main different able due st. saint""",
    "fr": """même autre tel dernier prochain premier deuxième troisième seul propre plusieurs divers différent
        ancien""",
    "de": """letzt letzter nächst nächster ganz einzig ander viel mehrere verschieden eigen erst zweit gesamt""",
    "pl": """ostatni następny sam inny taki pierwszy drugi trzeci kolejny jedyny własny cały różny dany dalszy każdy""",
}
"""Adjectives that are much like determiners, and mostly fit one noun only."""
DETERMINERS = frozenset(" ".join(DETERMINER_LIKE.values()).split())
TIMES = frozenset(" ".join(chain.from_iterable(WORDS.values())).lower().split())
ROLES = frozenset({"nsubj", "obj", "iobj", "obl", "nmod", "conj"})


def rewrite(s: Sentence, context: Context) -> Iterator[str]:
    """The sentence with two words exchanged, once for each pair."""
    if not is_plain_statement(s) or s.feats is None or s.deprels is None:
        return
    code = code_of(context.language)
    kinds = {i: kind for i in range(len(s)) if (kind := _kind(s, i, code))}
    for a, b in combinations(kinds, 2):
        if kinds[a] != kinds[b] or s.forms[a].lower() == s.forms[b].lower() or not _differ_in_role(s, a, b):
            continue
        spans = token_span(s, [a]), token_span(s, [b])
        if spans[0] is None or spans[1] is None or not all(is_movable(s, span) for span in spans if span):
            continue
        if text := written(s, exchanged(s, spans[0], spans[1]), context):
            yield text


def _kind(s: Sentence, i: int, code: str) -> tuple[str, ...] | None:
    """What must be the same of two words that are exchanged; None for a word that cannot be."""
    assert s.feats is not None
    assert s.deprels is not None
    assert s.heads is not None
    tag, relation = tags(s)[i], base(s.deprels[i])
    if i == 0 and tag != "PROPN":
        return None
    lemma = (s.lemmas or s.forms)[i].lower()
    if tag == "ADJ" and relation == "amod" and not children(s, i):
        if "ADJ" in (tags(s)[i - 1], tags(s)[i + 1]):
            return None  # adjectives of one noun have an order
        if lemma in DETERMINERS or not s.forms[i].isalpha() or s.forms[i][0].isupper() or "NumType" in s.feats[i]:
            return None
        ending = s.forms[i][-2:] if s.forms[i].endswith(("en", "em", "er", "es")) else s.forms[i][-1:]
        return "ADJ", s.feats[i], "before" if i < s.heads[i] else "after", ending * (code == "de")
    if lemma in TIMES:
        return None
    if (
        tag == "PROPN"
        and relation in ROLES
        and not children_but(s, i, "case")
        and s.forms[i].isalpha()
        and tags(s)[i + 1] != "PROPN"
    ):
        return "PROPN", s.feats[i], _preposition(s, i) if code == "fr" else ""
    return None


def _preposition(s: Sentence, i: int) -> str:
    """The preposition of a name, which in French depends on it: *en France*, *à Paris*."""
    assert s.deprels is not None
    return " ".join(s.forms[j].lower() for j in children(s, i) if s.deprels[j] == "case")


def children_but(s: Sentence, i: int, *relations: str) -> list[int]:
    """The dependents of a word that have none of these relations, and are not punctuation."""
    assert s.deprels is not None
    return [j for j in children(s, i) if base(s.deprels[j]) not in (*relations, "punct")]


def _differ_in_role(s: Sentence, a: int, b: int) -> bool:
    """Whether the meaning depends on which word is where."""
    assert s.heads is not None
    assert s.deprels is not None
    if s.heads[a] == b or s.heads[b] == a:
        return base(s.deprels[b if s.heads[b] == a else a]) == "nmod"
    if tags(s)[a] == "PROPN":
        return _first_conjunct(s, a) != _first_conjunct(s, b)
    if s.heads[a] == s.heads[b]:
        return False
    nouns = [(s.lemmas or s.forms)[s.heads[i]] for i in (a, b)]
    return nouns[0] != nouns[1] and _first_conjunct(s, s.heads[a]) != s.heads[b]


def _first_conjunct(s: Sentence, i: int) -> int:
    """The first conjunct of the coordination, or apposition, that a word is in."""
    assert s.heads is not None
    assert s.deprels is not None
    while base(s.deprels[i]) in ("conj", "appos"):
        i = s.heads[i]
    return i


contrast_rule = ContrastRule(
    name="order",
    effect="contrast",
    summary="two attributes or two names are exchanged",
    rewrite=rewrite,
    rows_read=(
        RowsRead(language="en", corpus="UD_English-EWT", wrong=2, date="2026-11-19"),
        RowsRead(language="en", corpus="built-in", wrong=0, date="2026-11-19"),
        RowsRead(language="fr", corpus="UD_French-GSD and Sequoia", wrong=1, date="2026-11-19"),
        RowsRead(language="pl", corpus="UD_Polish-PDB and PUD", wrong=1, date="2026-11-19", rows=32),
        RowsRead(language="de", corpus="UD_German-PUD", wrong=0, date="2026-11-19", rows=14),
    ),
    order=40,
)
