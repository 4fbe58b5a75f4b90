"""Subject and object of the main clause in each other's places: *The dog bit a man* → *A man bit the dog*.

Both are nouns or names with the same number (in Polish and Russian past tenses, also gender), so that the verb still
agrees. Where words have cases, each takes the case of the other, in a form that the corpus attests for its lemma;
without one the sentence is left out. Verbs that mean the same either way, or have no object proper, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.contrast import ContrastRule, RowsRead
from sentprobe.contrast.draft import (
    agreement,
    exchanged,
    is_plain_statement,
    phrase,
    subject,
    token_span,
    written,
)
from sentprobe.corpus.languages import code_of
from sentprobe.corpus.syntax import base, children, feature, finite, root, shows_passive, subtree, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context

LIGHT_VERBS = {
    "en": """be have become remain last cost weigh measure total equal match resemble meet marry face border contain
        include involve comprise mean represent constitute spend need want like take make give get do""",
    "fr": """être avoir devenir rester durer coûter représenter constituer signifier comprendre compter contenir
        mesurer peser épouser égaler rencontrer prendre faire donner falloir jouer""",
    "de": """sein haben werden bleiben kosten wiegen bedeuten bilden darstellen umfassen enthalten dauern betragen
        heiraten treffen geben machen nehmen""",
    "pl": """być mieć stać zostać kosztować ważyć oznaczać stanowić trwać obejmować zawierać liczyć spotkać poślubić
        brać wziąć dać zrobić robić wykonywać wykonać""",
}
"""Verbs that are left out: with no object proper, symmetric, or part of what their object says."""
SIMPLE = frozenset({"det", "amod", "nmod", "flat", "compound", "nummod", "case", "cc", "conj"})
"""What a noun that is moved may have below it."""
LIGHT = frozenset(" ".join(LIGHT_VERBS.values()).split())
RELATIVE = frozenset({"Rel", "Int"})


def rewrite(s: Sentence, context: Context) -> Iterator[str]:
    """The sentence with subject and object exchanged."""
    if not is_plain_statement(s) or s.lemmas is None or s.deprels is None or s.heads is None:
        return
    top = root(s)
    if tags(s)[top] != "VERB" or s.lemmas[top] in LIGHT or shows_passive(s, top):
        return
    agent = subject(s, top)
    if any(s.deprels[i] == "cop" for i in children(s, top)):
        return
    objects = [i for i in children(s, top) if s.deprels[i] == "obj"]
    if agent is None or len(objects) != 1 or not agent < top < objects[0]:
        return
    if any(base(s.deprels[i]) in ("xcomp", "ccomp", "iobj", "expl", "conj") for i in children(s, top)):
        return
    if any(i > top and base(s.deprels[i]) == "compound" for i in children(s, top)):
        return
    patient = objects[0]
    if not (_can_move(s, agent) and _can_move(s, patient)) or not _agree(s, agent, patient, top):
        return
    spans = phrase(s, agent), phrase(s, patient)
    forms = _with_exchanged_cases(s, agent, patient, context)
    if spans[0] is None or spans[1] is None or forms is None:
        return
    if text := written(s, exchanged(s, spans[0], spans[1], forms), context):
        yield text


def _can_move(s: Sentence, i: int) -> bool:
    """Whether a word is a noun or name with nothing but simple phrases below it."""
    assert s.deprels is not None
    if tags(s)[i] not in ("NOUN", "PROPN"):
        return False
    inside = [j for j in subtree(s, i) if j != i]
    if any(base(s.deprels[j]) not in SIMPLE for j in inside):
        return False
    if any(feature(s, j, "PronType") in RELATIVE or feature(s, j, "Reflex") for j in inside):
        return False
    # a bare singular noun is part of what the verb says, as in *take place*
    bare = tags(s)[i] == "NOUN" and not any(base(s.deprels[j]) in ("det", "nmod") for j in inside)
    return not (bare and any(feature(s, j, "Definite") for j in range(len(s))) and feature(s, i, "Number") == "Sing")


def _agree(s: Sentence, agent: int, patient: int, top: int) -> bool:
    assert s.feats is not None
    assert s.deprels is not None
    names = [] if _shows_no_number(s, top) else ["Number"]
    verb = finite(s, top)
    if feature(s, top, "Gender") or (verb is not None and feature(s, verb, "Gender")):
        names += ["Gender", "Animacy"]
    same = agreement(s.feats[agent], *names) == agreement(s.feats[patient], *names)
    coordinated = [any(s.deprels[j] == "conj" for j in children(s, i)) for i in (agent, patient)]
    return same and feature(s, agent, "Number") is not None and not (names and any(coordinated))


def _shows_no_number(s: Sentence, top: int) -> bool:
    """Whether the finite verb is an English past or modal, which is the same for all subjects."""
    assert s.lemmas is not None
    assert s.xpos is not None or s.feats is not None
    verb = finite(s, top)
    xpos = s.xpos or ("",) * len(s)
    return verb is not None and (xpos[verb] == "MD" or (xpos[verb] == "VBD" and s.lemmas[verb] != "be"))


def _with_exchanged_cases(s: Sentence, agent: int, patient: int, context: Context) -> dict[int, str] | None:
    """The new texts of words that change their case, by token; None if the corpus does not attest one."""
    cases = feature(s, agent, "Case"), feature(s, patient, "Case")
    if cases == (None, None):
        return {} if code_of(context.language) not in CASE_LANGUAGES else None
    if cases != ("Nom", "Acc"):
        return None
    forms: dict[int, str] = {}
    for head, before, after in ((agent, "Nom", "Acc"), (patient, "Acc", "Nom")):
        for i in _agreeing(s, head):
            span = token_span(s, [i])
            if span is None or feature(s, i, "Case") not in (before, None):
                return None
            if feature(s, i, "Case") is None:
                continue
            form = context.plan.inflected(s, i, Case=after)
            if form is None:
                return None
            text = form if form.lower() != s.forms[i].lower() else s.forms[i]
            forms[span[0]] = text
    return forms


def _agreeing(s: Sentence, head: int) -> list[int]:
    """A noun and the words that have its case."""
    assert s.deprels is not None
    agreeing = [i for i in children(s, head) if base(s.deprels[i]) in ("amod", "det", "flat", "appos", "nummod")]
    return [head, *agreeing]


CASE_LANGUAGES = frozenset(
    {"pl", "de", "ru", "cs", "uk", "sk", "sl", "hr", "sr", "is", "el", "la", "fi", "hu", "lt", "lv"}
)
"""Languages whose nouns have cases; annotation without them does not say what the forms would be."""

contrast_rule = ContrastRule(
    name="roles",
    effect="contrast",
    summary="subject and object are exchanged",
    rewrite=rewrite,
    rows_read=(
        RowsRead(language="en", corpus="UD_English-GUM and PUD", wrong=1, date="2026-11-19"),
        RowsRead(language="en", corpus="built-in", wrong=0, date="2026-11-19"),
        RowsRead(language="fr", corpus="UD_French-GSD, Sequoia and PUD", wrong=0, date="2026-11-19"),
        RowsRead(language="pl", corpus="UD_Polish-PDB and PUD", wrong=0, date="2026-11-19", rows=10),
    ),
    order=20,
)
