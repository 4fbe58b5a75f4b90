"""English *that* before a clause left out or put in: *She said that he left* ↔ *She said he left*.

After verbs that take both, and next to the verb, so that nothing else could be meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.contrast import ContrastRule, RowsRead
from sentprobe.contrast.draft import DraftWord, is_statement, token_span, words_of, written
from sentprobe.corpus.languages import code_of
from sentprobe.corpus.syntax import children, finite, subtree
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context

SPEAKING_AND_THINKING = """say think know believe hope claim feel suggest admit agree mean realize realise suppose
    guess learn hear find decide see understand imagine notice discover remember assume expect bet wish fear show
    explain argue report"""
VERBS = frozenset(SPEAKING_AND_THINKING.split())
"""Verbs after which *that* may be left out."""


def rewrite(s: Sentence, context: Context) -> Iterator[str]:
    """The sentence with one *that* fewer, or more."""
    if code_of(context.language) != "en" or not is_statement(s) or s.deprels is None or s.heads is None:
        return
    assert s.lemmas is not None
    for clause in range(1, len(s)):
        verb = s.heads[clause]
        if s.deprels[clause] != "ccomp" or s.lemmas[verb] not in VERBS:
            continue
        first, beginning = min(subtree(s, clause)), token_span(s, [min(subtree(s, clause))])
        if first != verb + 1 or beginning is None or finite(s, clause) is None:
            continue
        if s.deprels[first] != "mark" and s.forms[first].lower() == "that":
            continue  # *that that* reads like a slip
        words = list(words_of(s))
        at = beginning[0]
        if s.deprels[first] == "mark" and s.forms[first] == "that":
            draft = [*words[:at], *words[at + 1 :]]
        elif any(s.deprels[i] == "mark" for i in children(s, clause)) or not _begins_with_subject(s, clause, first):
            continue
        else:
            draft = [*words[:at], DraftWord("that"), *words[at:]]
        if text := written(s, draft, context):
            yield text


def _begins_with_subject(s: Sentence, clause: int, first: int) -> bool:
    """Whether a clause has its subject first, which is no question word."""
    assert s.deprels is not None
    subjects = [i for i in children(s, clause) if s.deprels[i] in ("nsubj", "nsubj:pass", "expl")]
    asks = any("PronType=Int" in (s.feats or ("",) * len(s))[i] for i in subtree(s, clause))
    return bool(subjects) and first in subtree(s, min(subjects)) and not asks


contrast_rule = ContrastRule(
    name="complementiser",
    effect="positive",
    summary="the conjunction of a clause is left out or put in (English that)",
    rewrite=rewrite,
    rows_read=(
        RowsRead(language="en", corpus="UD_English-EWT", wrong=1, date="2026-11-20"),
        RowsRead(language="en", corpus="built-in", wrong=0, date="2026-11-19"),
    ),
    order=140,
)
