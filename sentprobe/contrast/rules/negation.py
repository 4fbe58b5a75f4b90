"""Negation added or removed, with the auxiliary or the negative word that the annotation offers.

* English: *is* ↔ *is not*, *isn't*, after the finite auxiliary or copula of the main clause; *did not go* → *went*
  where the corpus attests the form. A verb without an auxiliary is not negated.
* French: *ne … pas* around the finite verb and its clitics; objects that would need *de* are left alone.
* German: *nicht* before a predicate adjective, or removed; *ein* ↔ *kein*, which has the same endings.
* Polish: *nie* before the finite verb of a clause without an object, which would change its case.

Left out are sentences with words that only go with one polarity, or whose scope would be unclear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sentprobe.contrast import ContrastRule, RowsRead
from sentprobe.contrast.draft import (
    DraftWord,
    is_statement,
    lower_lemmas,
    replaced,
    token_span,
    words_of,
    written,
)
from sentprobe.corpus.languages import code_of
from sentprobe.corpus.syntax import base, children, feature, features, finite, root, subtree, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context

POLAR = {
    "en": """already also any anybody anymore anyone anything anywhere although barely because but certainly either
        else even ever few hardly however just likely many may merely might much must need neither never no nobody
        none nor not nothing nowhere only or perhaps possibly probably rather really scarcely seldom shall simply so
        some somebody someone something somewhat sometimes still than though to together too unless until very while
        without yet again always enough quite shortly indeed therefore thus definitely clearly obviously especially
        actually please nearly almost both""",
    "fr": """aucun aussi autant beaucoup car certain certes déjà donc désormais encore enfin et également guère jamais
        mais même ne ni non nul ou pas personne peu plus plusieurs point presque puisque quelque quelques rien sans
        seul seulement si souvent moins surtout tant tel toujours tous tout très trop uniquement parce bientôt quand
        notamment""",
    "de": """aber alle also auch außer bereits besonders denn doch etwas immer jedoch kaum kein keiner man mancher
        manche mehr mehrere meist nicht nichts nie niemals niemand nirgends noch nur oft oder ohne weniger schon sehr
        selten sogar sowohl trotzdem und viel weder weil wieder wohl zwar ziemlich lediglich ebenfalls einige
        einiger jemals""",
    "pl": """ale ani albo aż bardzo bo często coś ktoś jeszcze już kilka lecz lub też także również nadal nic nie nigdy
        nikt niż oraz prawie raczej tylko wciąż wiele zawsze żaden żadny i a jednak więc nawet jakiś właśnie wreszcie
        zaledwie dopiero znów znowu ponieważ gdyż niech brak podobno dość niemal""",
}
"""Lemmas and forms beside which negation would be odd, ambiguous or double, or would not change what is said."""
CONTRACTED = {
    "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "has": "hasn't", "have": "haven't",
    "had": "hadn't", "do": "don't", "does": "doesn't", "did": "didn't", "can": "can't", "could": "couldn't",
    "will": "won't", "would": "wouldn't", "should": "shouldn't",
}  # fmt: skip
EXPANDED = {short.replace("n't", ""): full for full, short in CONTRACTED.items()}
"""The form of an auxiliary before *n't* and its own: *ca* and *can*, *wo* and *will*."""
COMPLEX = frozenset({"conj", "ccomp", "csubj", "parataxis", "discourse", "vocative"})
"""Relations of what may or may not be in the scope of a negation."""
IDIOMS = frozenset({"help", "wait", "mind", "care", "matter", "bother", "afford", "stand", "seem", "want", "hesitate"})
"""English verbs whose negation is an idiom, or which is odd without it."""


def rewrite(s: Sentence, context: Context) -> Iterator[str]:
    """The negated sentence, or without its negation."""
    language = code_of(context.language)
    if language not in REWRITERS or not is_statement(s):
        return
    assert s.deprels is not None
    top = root(s)
    if not COMPLEX.isdisjoint(base(s.deprels[i]) for i in children(s, top)):
        return
    for words in REWRITERS[language](s, top, context):
        if text := written(s, words, context):
            yield text


def _polar(s: Sentence, language: str, but: tuple[int, ...] = ()) -> bool:
    """Whether a word speaks against changing the polarity; those at some positions are not looked at."""
    listed = POLAR_WORDS[language]
    words = {s.forms[i].lower() for i in range(len(s)) if i not in but}
    lemmas = {(s.lemmas or s.forms)[i].lower() for i in range(len(s)) if i not in but}
    return not listed.isdisjoint(words | lemmas)


def _english(s: Sentence, top: int, context: Context) -> Iterator[list[DraftWord]]:
    assert s.deprels is not None
    verb = finite(s, top)
    if verb is None or s.deprels[verb] == "root" or not _follows_subject(s, top, verb):
        return
    negations = [i for i in children(s, top) if s.forms[i].lower() in ("not", "n't", "n’t")]
    if negations:
        yield from _english_affirmed(s, top, verb, negations, context)
        return
    full = s.forms[verb].lower()
    span = token_span(s, [verb])
    if _polar(s, "en") or span is None or full not in CONTRACTED:
        return
    at = span[0]
    words = list(words_of(s))
    yield [*words[: at + 1], DraftWord("not"), *words[at + 1 :]]
    yield replaced(s, {at: CONTRACTED[full]})


def _follows_subject(s: Sentence, top: int, verb: int) -> bool:
    assert s.deprels is not None
    subjects = [i for i in children(s, top) if base(s.deprels[i]) == "nsubj"]
    return len(subjects) == 1 and subjects[0] < verb < max(top, verb + 1)


def _english_affirmed(
    s: Sentence, top: int, verb: int, negations: list[int], context: Context
) -> Iterator[list[DraftWord]]:
    """The sentence without *not* after its auxiliary."""
    if len(negations) != 1 or negations[0] != verb + 1 or _polar(s, "en", (negations[0],)):
        return
    if not IDIOMS.isdisjoint(lower_lemmas(s)):
        return
    span = token_span(s, [verb, negations[0]])
    if span is None:
        return
    first, end = span
    words = list(words_of(s))
    auxiliary = s.forms[verb].lower()
    auxiliary = EXPANDED.get(auxiliary, auxiliary)
    if (s.lemmas or s.forms)[verb] != "do":
        text = _cased(auxiliary, s.forms[verb])
        yield [*words[:first], DraftWord(text, first), *words[end:]]
        return
    wanted = {"do": {}, "does": {"Tense": "Pres", "Person": "3"}, "did": {"Tense": "Past", "VerbForm": "Fin"}}
    lemma = (s.lemmas or s.forms)[top]
    if auxiliary not in wanted or top != verb + 2 or tags(s)[top] != "VERB":
        return
    form = s.forms[top] if auxiliary == "do" else context.plan.any_form(lemma, "VERB", **wanted[auxiliary])
    target = token_span(s, [top])
    if form and target:
        yield [*words[:first], DraftWord(form.lower(), first), *words[target[1] :]]


def _cased(text: str, like: str) -> str:
    return text.capitalize() if like[:1].isupper() else text


CLITICS = """me m' te t' se s' le la les l' lui leur y en nous vous"""
FRENCH_CLITICS = frozenset(CLITICS.split())
FRENCH_VOWELS = frozenset("aeiouyàâéèêëîïôûœ")
ELIDED_SUBJECTS = {"j'": "je", "c'": "ce"}


def _french(s: Sentence, top: int, context: Context) -> Iterator[list[DraftWord]]:
    assert s.deprels is not None
    assert s.heads is not None
    verb = finite(s, top)
    if verb is None or token_span(s, [verb]) is None or any("-" in form for form in s.forms if form[:1] == "-"):
        return
    subjects = [i for i in children(s, top) if base(s.deprels[i]) == "nsubj"]
    if len(subjects) != 1 or subjects[0] > verb:
        return
    start = verb
    while start and s.forms[start - 1].lower().replace("’", "'") in FRENCH_CLITICS and tags(s)[start - 1] == "PRON":
        if start - 1 in subjects:
            break
        start -= 1
    negation = [i for i in range(len(s)) if s.forms[i].lower() in ("ne", "n'", "n’")]
    words, spans = list(words_of(s)), (token_span(s, [start]), token_span(s, [verb]))
    if spans[0] is None or spans[1] is None or start == 0:
        return
    if negation:
        yield from _french_affirmed(s, start, verb, negation)
        return
    if _polar(s, "fr") or _has_indefinite_object(s, top):
        return
    first, at = spans[0][0], spans[1][0]
    elided = words[first].text[:1].lower() in FRENCH_VOWELS
    if words[first].text[:1].lower() == "h":
        return
    before = words[:first]
    previous = before[-1].text.replace("’", "'").lower()
    if previous.endswith("'"):
        if previous not in ELIDED_SUBJECTS:
            return
        text = ELIDED_SUBJECTS[previous]
        before[-1] = DraftWord(_cased(text, before[-1].text), before[-1].origin)
    negative = DraftWord("n'" if elided else "ne")
    yield [*before, negative, *words[first : at + 1], DraftWord("pas"), *words[at + 1 :]]


def _has_indefinite_object(s: Sentence, top: int) -> bool:
    """Whether an object has an article that negation changes to *de*, or none."""
    assert s.deprels is not None
    for i in children(s, top):
        if base(s.deprels[i]) != "obj" or tags(s)[i] == "PRON":
            continue
        determiners = [
            j for j in children(s, i) if s.deprels[j].startswith("det") or s.deprels[j].startswith("nmod:poss")
        ]
        if not any(
            feature(s, j, "Definite") == "Def"
            or feature(s, j, "PronType") in ("Dem", "Prs")
            or feature(s, j, "Poss") == "Yes"
            for j in determiners
        ):
            return True
        if min(subtree(s, i)) in {first for first, _, _ in s.mwts}:  # a partitive article
            return True
    return False


def _french_affirmed(s: Sentence, start: int, verb: int, negation: list[int]) -> Iterator[list[DraftWord]]:
    """The sentence without *ne … pas*."""
    second = [i for i in range(verb + 1, min(verb + 3, len(s))) if s.forms[i].lower() == "pas"]
    if len(negation) != 1 or len(second) != 1 or negation[0] != start - 1:
        return
    if second[0] != verb + 1 or _polar(s, "fr", (negation[0], second[0])):
        return
    following = s.forms[second[0] + 1 : second[0] + 2]
    if following and following[0].lower() in ("de", "d'", "d’", "que", "du", "des", "forcément", "vraiment"):
        return
    if any(s.forms[i].lower() in ("de", "d'") and tags(s)[i] == "DET" for i in range(len(s))):
        return
    spans = [token_span(s, [i]) for i in (negation[0], second[0], start)]
    if any(span is None for span in spans):
        return
    (ne, _), (pas, _), (first, _) = spans  # type: ignore[misc]
    words = list(words_of(s))
    before = words[:ne]
    if not before:
        return
    vowel = words[first].text[:1].lower() in FRENCH_VOWELS
    if vowel and before[-1].text.lower() in ("je", "ce", "que"):
        before[-1] = DraftWord(before[-1].text[:-1] + "'", before[-1].origin)
    yield [*before, *words[ne + 1 : pas], *words[pas + 1 :]]


def _german(s: Sentence, top: int, context: Context) -> Iterator[list[DraftWord]]:
    assert s.deprels is not None
    assert s.heads is not None
    if "CCONJ" in tags(s):
        return  # which may belong to *nicht*
    words = list(words_of(s))
    articles = [i for i in range(len(s)) if _is_german_article(s, i, top)]
    negative = [i for i in range(len(s)) if s.forms[i].lower() in ("nicht", "nichts", "nie") or _is_kein(s, i)]
    if not negative and not _polar(s, "de"):
        span = token_span(s, [articles[0]]) if len(articles) == 1 else None
        if span:
            yield replaced(s, {span[0]: "k" + words[span[0]].text.lower()})
        if not articles and tags(s)[top] == "ADJ" and any(s.deprels[i] == "cop" for i in children(s, top)):
            before = min([top, *(i for i in children(s, top) if s.deprels[i] == "advmod" and i == top - 1)])
            span = token_span(s, [before])
            measured = any(base(s.deprels[i]) in ("obl", "nmod", "obj") for i in children(s, top))
            if span and before > 1 and not measured and (finite(s, top) or top) < before:
                yield [*words[: span[0]], DraftWord("nicht"), *words[span[0] :]]
    if len(negative) != 1 or _polar(s, "de", (negative[0],)):
        return
    at = negative[0]
    span = token_span(s, [at])
    if span is None:
        return
    if s.forms[at].lower() == "nicht" and s.heads[at] == top and at:
        yield [*words[: span[0]], *words[span[1] :]]
    elif _is_kein(s, at) and feature(s, s.heads[at], "Number") == "Sing" and _is_argument(s, s.heads[at], top):
        yield replaced(s, {span[0]: s.forms[at].lower().removeprefix("k")})


def _is_kein(s: Sentence, i: int) -> bool:
    return s.forms[i].lower() in {"kein" + ending for ending in ("", "e", "en", "em", "er", "es")}


def _is_german_article(s: Sentence, i: int, top: int) -> bool:
    """Whether a word is the indefinite article of the object or the predicate noun of the main clause."""
    assert s.heads is not None
    forms = {"ein" + ending for ending in ("", "e", "en", "em", "er", "es")}
    return s.forms[i].lower() in forms and tags(s)[i] == "DET" and i > 0 and _is_argument(s, s.heads[i], top)


def _is_argument(s: Sentence, head: int, top: int) -> bool:
    assert s.deprels is not None
    assert s.heads is not None
    if head == top:
        return any(s.deprels[i] == "cop" for i in children(s, top))
    return s.heads[head] == top and base(s.deprels[head]) == "obj"


def _polish(s: Sentence, top: int, context: Context) -> Iterator[list[DraftWord]]:
    assert s.deprels is not None
    verb = finite(s, top)
    if verb is None or s.lemmas is None or tags(s)[verb] not in ("VERB", "AUX"):
        return
    if s.forms[verb].lower() == "to" or (
        s.lemmas[verb] in ("być", "bywać", "mieć", "móc", "brakować") and s.deprels[verb] == "root"
    ):
        return
    if verb != top and s.forms[verb].lower() in ("by", "m", "ś", "śmy", "ście", "em", "eś"):
        return
    if any(_may_be_genitive(s, i) for i in children(s, top)):
        return
    words = list(words_of(s))
    negations = [i for i in children(s, top) if s.forms[i].lower() == "nie"]
    span = token_span(s, [verb])
    if negations:
        removed = token_span(s, [negations[0]])
        if len(negations) == 1 and negations[0] == verb - 1 and removed and not _polar(s, "pl", (negations[0],)):
            yield [*words[: removed[0]], *words[removed[1] :]]
    elif span and not _polar(s, "pl") and "Tense" in features(s.feats[verb] if s.feats else "_"):
        yield [*words[: span[0]], DraftWord("nie"), *words[span[0] :]]


def _may_be_genitive(s: Sentence, i: int) -> bool:
    """Whether a word is what negation may put into the genitive: an object, or an accusative without a preposition."""
    assert s.deprels is not None
    if base(s.deprels[i]) in ("obj", "xcomp"):
        return feature(s, i, "Case") not in ("Dat", "Ins") or base(s.deprels[i]) == "xcomp"
    bare = not any(base(s.deprels[j]) == "case" for j in children(s, i))
    return bare and feature(s, i, "Case") in ("Acc", "Gen") and base(s.deprels[i]) not in ("det", "amod")


REWRITERS: dict[str, Callable[[Sentence, int, Context], Iterator[list[DraftWord]]]] = {
    "en": _english,
    "fr": _french,
    "de": _german,
    "pl": _polish,
}
POLAR_WORDS = {language: frozenset(words.split()) for language, words in POLAR.items()}

contrast_rule = ContrastRule(
    name="negation",
    effect="contrast",
    summary="the main clause is negated, or no longer",
    rewrite=rewrite,
    rows_read=(
        RowsRead(language="en", corpus="UD_English-EWT", wrong=1, date="2026-11-19"),
        RowsRead(language="en", corpus="built-in", wrong=0, date="2026-11-19"),
        RowsRead(language="fr", corpus="UD_French-GSD and Sequoia", wrong=0, date="2026-11-19"),
        RowsRead(language="pl", corpus="UD_Polish-PDB", wrong=0, date="2026-11-19"),
        RowsRead(language="de", corpus="UD_German-PUD", wrong=0, date="2026-11-19", rows=28),
    ),
    order=10,
)
