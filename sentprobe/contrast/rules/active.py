"""The active of an English passive with an agent: *The cat was chased by a dog* → *A dog chased the cat*.

The form of the active verb is one that the corpus attests as a past or present of the same lemma; with other
auxiliaries (*will be chased by*) the sentence is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.contrast import ContrastRule, RowsRead
from sentprobe.contrast.draft import DraftWord, is_plain_statement, phrase, subject, token_span, words_of, written
from sentprobe.corpus.languages import code_of
from sentprobe.corpus.syntax import base, children, feature, root, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context


def rewrite(s: Sentence, context: Context) -> Iterator[str]:
    """The active sentence."""
    if code_of(context.language) != "en" or not is_plain_statement(s) or s.deprels is None or s.lemmas is None:
        return
    top = root(s)
    patient = subject(s, top)
    agents = [i for i in children(s, top) if s.deprels[i] in ("obl:agent", "obl") and _is_agent(s, i)]
    auxiliaries = [i for i in children(s, top) if base(s.deprels[i]) == "aux"]
    if patient is None or len(agents) != 1 or len(auxiliaries) != 1 or s.deprels[patient] != "nsubj:pass":
        return
    agent, auxiliary = agents[0], auxiliaries[0]
    if {tags(s)[patient], tags(s)[agent]} - {"NOUN", "PROPN"} or auxiliary != top - 1:
        return
    if any(base(s.deprels[i]) in ("conj", "xcomp", "ccomp", "obj", "compound") for i in children(s, top)):
        return
    form = _active_form(s, top, agent, auxiliary, context)
    spans = phrase(s, patient), phrase(s, agent), token_span(s, [top]), token_span(s, [auxiliary])
    if form is None or spans[0] is None or spans[1] is None or spans[2] is None or spans[3] is None:
        return
    (a, b), (c, d), (verb, after), (aux, _) = spans[0], spans[1], spans[2], spans[3]
    if not (b == aux and verb == aux + 1 and after == c):
        return
    words = list(words_of(s))
    draft = [*words[:a], *words[c + 1 : d], DraftWord(form, verb), *words[a:b], *words[d:]]
    if text := written(s, draft, context):
        yield text


def _is_agent(s: Sentence, i: int) -> bool:
    cases = [s.forms[j].lower() for j in children(s, i) if s.deprels and s.deprels[j] == "case"]
    return cases == ["by"]


def _active_form(s: Sentence, top: int, agent: int, auxiliary: int, context: Context) -> str | None:
    """The finite form of the verb in the tense of the auxiliary."""
    assert s.lemmas is not None
    lemma, tense = s.lemmas[top], {"was": "Past", "were": "Past", "is": "Pres", "are": "Pres"}
    wanted = tense.get(s.forms[auxiliary].lower())
    plural = (
        any(s.deprels and s.deprels[i] == "conj" for i in children(s, agent)) or feature(s, agent, "Number") == "Plur"
    )
    if wanted == "Pres" and plural:
        return None if "or" in s.forms[agent:] else lemma  # which one the verb agrees with is not said
    if wanted == "Pres":
        form = context.plan.any_form(lemma, "VERB", Tense="Pres", VerbForm="Fin", Number="Sing", Person="3")
    elif wanted == "Past":
        form = context.plan.any_form(lemma, "VERB", Tense="Past", VerbForm="Fin")
    else:
        return None
    return form.lower() if form else None


contrast_rule = ContrastRule(
    name="active",
    effect="positive",
    summary="a passive with an agent becomes active (English)",
    rewrite=rewrite,
    rows_read=(
        RowsRead(language="en", corpus="UD_English-EWT, GUM and PUD", wrong=1, date="2026-11-19", rows=14),
        RowsRead(language="en", corpus="built-in", wrong=0, date="2026-11-19"),
    ),
    order=150,
)
