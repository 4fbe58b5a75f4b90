"""An adverbial moved from the end of the main clause to its beginning, or back: *In May, he left* ↔ *He left in May*.

It is a time or place phrase or an adverbial clause that depends on the root. In German the subject takes its place
before the finite verb. Left out are negated clauses, whose scope would change, and sentences in which the adverbial
could be attached elsewhere after the move.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.contrast import ContrastRule, RowsRead
from sentprobe.contrast.draft import (
    DraftWord,
    is_plain_statement,
    lower_lemmas,
    phrase,
    subject,
    token_span,
    words_of,
    written,
)
from sentprobe.contrast.rules.numbers import WORDS
from sentprobe.corpus.languages import code_of
from sentprobe.corpus.syntax import base, children, feature, finite, not_main, root, subtree, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context

MARKS = {
    "en": "because when if although though after before since once until whenever unless",
    "fr": "quand lorsque lorsqu' si s' bien alors tandis après avant dès depuis puisque puisqu' parce quoique",
    "de": "",
    "pl": "kiedy gdy jeśli jeżeli chociaż choć ponieważ zanim skoro",
}
"""Conjunctions of the clauses that are moved."""
PREPOSITIONS = {
    "en": "in on at during after before since until despite throughout within near under",
    "fr": "en à dans pendant durant après avant depuis dès lors malgré vers sous sur",
    "de": "in an im am bei nach vor seit während trotz ab",
    "pl": "w we po przed podczas od na pod mimo pomimo wraz",
}
"""Prepositions of the phrases that are moved."""
TIME_ADVERBS = {
    "en": """recently currently eventually previously sometimes occasionally today tomorrow yesterday nowadays tonight
        formerly""",
    "fr": """hier aujourd'hui demain récemment actuellement maintenant parfois autrefois""",
    "de": """heute gestern morgen jetzt kürzlich derzeit manchmal bald später früher damals""",
    "pl": """wczoraj dziś dzisiaj jutro teraz obecnie niedawno wkrótce czasem czasami kiedyś wtedy wówczas""",
}
"""Adverbs that say when, and are moved on their own."""
COMMA = frozenset({"en", "fr"})
"""Languages that put a comma after an adverbial phrase at the beginning."""
NEGATIVE = frozenset(
    {"not", "n't", "never", "no", "ne", "n'", "pas", "jamais", "nie", "nigdy", "nicht", "kein", "keine"}
)
COMMENT_NOUNS = """summary hand brief time mot terme effet fait revanche outre conséquence parallèle particulier
    général lieu arrière exclusivité comparison campaign way fact addition general particular top side mind essence
    exchange return bit sense name question opinion love charge line other word case order contrast turn end gegenteil
    gegenzug fall regel prinzip vergessenheit kontekst sytuacja osiągnięcie rama reconnaissance"""
COMMENTS = frozenset(COMMENT_NOUNS.split())
"""Nouns of phrases that comment on the sentence or connect it to others, rather than say when or where."""
FOCUS = frozenset(["only", "even", "then", "seulement", "uniquement", "tylko", "jedynie", "nur"])
"""Adverbs whose scope would change."""
REFERRING = frozenset({"Prs", "Rel", "Int", "Rcp"})


def rewrite(s: Sentence, context: Context) -> Iterator[str]:
    """The sentence with an adverbial moved."""
    language = code_of(context.language)
    if language not in PREPOSITIONS or not is_plain_statement(s) or s.deprels is None:
        return
    top = root(s)
    agent = subject(s, top)
    if agent is None or not NEGATIVE.isdisjoint(form.lower() for form in s.forms):
        return
    if any(base(s.deprels[i]) in ("conj", "ccomp", "csubj", "expl") for i in children(s, top)):
        return
    if not_main(s, top):
        return
    if "Abbr=Yes" in (s.feats or ("",) * len(s))[-2] or "." in s.forms[-2] or not FOCUS.isdisjoint(lower_lemmas(s)):
        return  # its full stop is that of the sentence
    move = _german if language == "de" else _with_comma if language in COMMA else _without_comma
    for words in move(s, top, agent, language):
        if text := written(s, words, context):
            yield text


def _adverbials(s: Sentence, top: int, language: str) -> Iterator[tuple[int, tuple[int, int]]]:
    """The head and the tokens of each adverbial of the main clause that may be moved."""
    assert s.deprels is not None
    for i in children(s, top):
        span = phrase(s, i)
        if span is None or not _is_adverbial(s, i, language):
            continue
        if any(feature(s, j, "PronType") in REFERRING for j in subtree(s, i)) and base(s.deprels[i]) != "advcl":
            continue
        yield i, span


def _is_adverbial(s: Sentence, i: int, language: str) -> bool:
    assert s.deprels is not None
    relation = s.deprels[i]
    if base(relation) == "advcl":
        first = s.forms[min(subtree(s, i))].lower()
        if tags(s)[i] == "ADJ" and subject(s, i) is None:
            return False  # *if possible* is about what it stands next to
        return first in MARKS[language].split() and tags(s)[i] in ("VERB", "ADJ", "AUX")
    before = min(subtree(s, i)) - 1
    follows_adverb = before >= 0 and tags(s)[before] in ("ADV", "PROPN")  # *later today*, *on Saturday morning*
    if s.forms[i].lower() in TIME_ADVERBS[language].split() and not children(s, i):
        return base(relation) in ("advmod", "obl") and not follows_adverb
    if base(relation) != "obl" or relation in ("obl:agent", "obl:arg", "obl:mod:agent", "obl:cmpr"):
        return False
    if tags(s)[i] not in ("NOUN", "PROPN", "NUM") or any(base(s.deprels[j]) == "acl" for j in children(s, i)):
        return False
    cases = [j for j in children(s, i) if base(s.deprels[j]) == "case"]
    if (s.lemmas or s.forms)[i].lower() in COMMENTS:
        return False
    if tags(s)[i] == "NUM" and not any(map(str.isdigit, s.forms[i])):
        return False  # *in one* is no year
    if not cases:
        if language == "de":
            return s.forms[i].isdigit() and len(s.forms[i]) == 4
        return relation in ("obl:tmod", "obl:unmarked") and not follows_adverb
    return len(cases) == 1 and s.forms[cases[0]].lower() in PREPOSITIONS[language].split()


def _body_end(s: Sentence) -> int:
    """One past the last token before the final full stop."""
    return len(s.tokens) - 1


def _first_token(s: Sentence, head: int) -> int | None:
    span = phrase(s, head)
    return span[0] if span else None


def _with_comma(s: Sentence, top: int, agent: int, language: str) -> Iterator[list[DraftWord]]:
    """English and French: the subject comes first, or right after the adverbial and its comma."""
    assert s.deprels is not None
    words, end, beginning = list(words_of(s)), _body_end(s), _first_token(s, agent)
    if beginning is None:
        return
    for i, (first, last) in _adverbials(s, top, language):
        clause = base(s.deprels[i]) == "advcl"
        if first == 0 and beginning == last + (words[last].text == ",") and not _closes_late(s, top, i):
            if clause and _refers(s, agent):
                continue
            yield [*words[beginning:end], *words[:last], *words[end:]]
        elif last == end and beginning == 0 and first > beginning and (clause or _is_adjunct(s, top, i)):
            body_end = first - 1 if words[first - 1].text == "," else first
            yield [*words[first:end], DraftWord(","), *words[:body_end], *words[end:]]


def _refers(s: Sentence, agent: int) -> bool:
    """Whether a subject refers to something before it, which may be in the clause that is moved."""
    return tags(s)[agent] in ("PRON", "DET") and feature(s, agent, "Person") not in ("1", "2")


def _closes_late(s: Sentence, top: int, i: int) -> bool:
    """Whether something after the main clause could take the adverbial that is moved behind it."""
    assert s.deprels is not None
    verbs = [j for j in range(top + 1, len(s)) if tags(s)[j] in ("VERB", "AUX") and j not in subtree(s, i)]
    last = max((j for j in range(len(s)) if tags(s)[j] != "PUNCT"), default=top)
    comma = "," in s.forms[max(subtree(s, i)) + 2 :]
    return bool(verbs) or comma or base(s.deprels[last]) in ("conj", "appos") or "conj" in s.deprels[top + 1 :]


def _is_adjunct(s: Sentence, top: int, i: int) -> bool:
    """Whether a phrase at the end is an adjunct rather than what the verb requires: something is between them."""
    assert s.deprels is not None
    if tags(s)[i] == "ADV":
        return True
    if s.forms[min(subtree(s, i))].lower() == "on" and not any(_is_date(s.forms[j]) for j in subtree(s, i)):
        return False
    if min(subtree(s, i)) == top + 1 or tags(s)[top] != "VERB":
        return False
    if s.forms[min(subtree(s, i))].lower() in ("sur", "vers", "sous", "near", "under", "na"):
        return False  # mostly required by the verb, or part of its object
    return any(base(s.deprels[j]) == "obj" for j in children(s, top))


def _is_date(form: str) -> bool:
    """Whether a word is an English weekday or month, or a number."""
    return form[:1].isdigit() or form in " ".join(WORDS["en"][1:]).split()


def _without_comma(s: Sentence, top: int, agent: int, language: str) -> Iterator[list[DraftWord]]:
    """Polish: word order is free, and only clauses have commas."""
    assert s.deprels is not None
    words, end = list(words_of(s)), _body_end(s)
    for i, (first, last) in _adverbials(s, top, language):
        clause = base(s.deprels[i]) == "advcl"
        if clause and first == 0 and words[last].text == "," and not _closes_late(s, top, i):
            if _refers(s, agent):
                continue
            yield [*words[last + 1 : end], DraftWord(","), *words[:last], *words[end:]]
        elif clause and last == end and words[first - 1].text == ",":
            yield [*words[first:end], DraftWord(","), *words[: first - 1], *words[end:]]
        elif clause:
            continue
        elif first == 0 and _first_token(s, agent) == last and not _closes_late(s, top, i) and "," not in s.forms:
            yield [*words[last:end], *words[:last], *words[end:]]
        elif last == end and first > 1 and "," not in s.forms and _is_adjunct(s, top, i):
            yield [*words[first:end], *words[:first], *words[end:]]


def _german(s: Sentence, top: int, agent: int, language: str) -> Iterator[list[DraftWord]]:
    """German: subject and adverbial exchange the place before the finite verb."""
    verb, who = finite(s, top), phrase(s, agent)
    if verb is None or who is None:
        return
    at = token_span(s, [verb])
    if at is None or at[1] - at[0] != 1:
        return
    words = list(words_of(s))
    v = at[0]
    if any(
        tags(s)[j] == "PRON" and j > verb and j != agent and base((s.deprels or ())[j]) in ("obj", "iobj", "expl")
        for j in children(s, top)
    ):
        return  # a pronoun would have to stay next to the verb
    for _, (first, last) in _adverbials(s, top, language):
        if first == 0 and last == v and who[0] == v + 1:
            yield [*words[who[0] : who[1]], words[v], *words[:last], *words[who[1] :]]
        elif who == (0, v) and first > v:
            yield [*words[first:last], words[v], *words[: who[1]], *words[v + 1 : first], *words[last:]]


contrast_rule = ContrastRule(
    name="fronting",
    effect="positive",
    summary="an adverbial is moved to the beginning, or back",
    rewrite=rewrite,
    rows_read=(
        RowsRead(language="en", corpus="UD_English-GUM and PUD", wrong=1, date="2026-11-20"),
        RowsRead(language="en", corpus="built-in", wrong=1, date="2026-11-19"),
        RowsRead(language="fr", corpus="UD_French-GSD and Sequoia", wrong=1, date="2026-11-19"),
        RowsRead(language="pl", corpus="UD_Polish-PDB and PUD", wrong=2, date="2026-11-19"),
        RowsRead(language="de", corpus="UD_German-PUD", wrong=2, date="2026-11-19"),
    ),
    order=110,
)
