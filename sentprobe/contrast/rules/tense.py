"""Present ↔ past of the main clause: *is* → *was*, *walked* → *walks*, in a form that the corpus attests.

The new form has the lemma of the old one and all its features but tense. Sentences with an expression of time, or with
several finite verbs whose tenses depend on each other, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.contrast import ContrastRule, RowsRead
from sentprobe.contrast.draft import is_statement, lower_lemmas, replaced, subject, token_span, written
from sentprobe.corpus.languages import code_of
from sentprobe.corpus.syntax import base, children, feature, features, finite, is_finite, root, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context

TIMES = {
    "en": """ago already currently day ever formerly future hour immediately just last later month morning never next
        night now once past previously recently since soon still time today tomorrow tonight until week when while
        year yesterday yet century by then before after during january february march april may june july august
        september october november december monday tuesday wednesday thursday friday saturday sunday anymore always
        often""",
    "fr": """actuellement ancien an année aujourd'hui auparavant avant après bientôt demain depuis dernier dès
        désormais encore alors abord enfin ensuite heure hier jadis jamais jour lors lorsque maintenant matin mois
        nuit pendant prochain puis quand récemment semaine siècle soir soudain temps toujours déjà janvier février
        mars avril mai juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi vendredi
        samedi dimanche époque date""",
    "de": """abend als bald bereits damals danach dann derzeit früher gestern heute immer inzwischen jahr jahrhundert
        jetzt künftig letzt monat morgen nach nacht nächst nie nun noch schon seit später stunde tag vor vorher
        während wenn woche zeit seitdem ursprünglich zeitpunkt bisher zukunft aktuell bis januar februar märz april
        mai juni juli august september oktober november dezember montag dienstag mittwoch donnerstag freitag samstag
        sonntag""",
    "pl": """ciągle czas dawniej do dotąd dzień dziś dzisiaj godzina gdy jeszcze jutro już kiedy kiedyś miesiąc nadal
        następnie natychmiast niedawno niegdyś noc obecnie od ostatni ostatnio po podczas potem przed przyszłość
        przyszły rano raz rok stulecie świt teraz tydzień ubiegły wciąż wczoraj wieczór wiek wkrótce wtedy wówczas
        zaraz zawsze rankiem chwila""",
}
"""Lemmas that say, or may say, when something happens."""
TIME_LEMMAS = {language: frozenset(words.split()) for language, words in TIMES.items()}
ASPECTS: tuple[str, ...] = ("Aspect", "Mood", "Number", "VerbForm", "Voice")
"""Features of a Polish verb that both tenses have."""
MODALS = """can could will would shall should may might must use suppose"""
ENGLISH_EXCEPTIONS = frozenset(MODALS.split())
OTHER_TENSE = {"en": {"Pres": "Past", "Past": "Pres"}, "fr": {"Pres": "Imp", "Imp": "Pres"},
               "de": {"Pres": "Past", "Past": "Pres"}, "pl": {"Pres": "Past", "Past": "Pres"}}  # fmt: skip


def rewrite(s: Sentence, context: Context) -> Iterator[str]:
    """The sentence in the other tense."""
    language = code_of(context.language)
    if language not in OTHER_TENSE or not is_statement(s):
        return
    top = root(s)
    verb = finite(s, top)
    if verb is None or not TIME_LEMMAS[language].isdisjoint(lower_lemmas(s)) or _has_time(s):
        return
    if any(is_finite(s, i) for i in range(len(s)) if i != verb) or tags(s)[verb] not in ("AUX", "VERB"):
        return
    tense = OTHER_TENSE[language].get(feature(s, verb, "Tense") or "")
    span = token_span(s, [verb])
    if tense is None or span is None or s.tokens[span[0]] != s.forms[verb] or verb == 0:
        return
    form = _in_tense(s, verb, top, tense, language, context)
    if form is None or form.lower() == s.forms[verb].lower():
        return
    if text := written(s, replaced(s, {span[0]: form.lower()}), context):
        yield text


def _has_time(s: Sentence) -> bool:
    """Whether a year, or a phrase of time, is in the sentence."""
    assert s.deprels is not None
    years = any(sum(map(str.isdigit, form)) >= 4 for form in s.forms)
    return years or any(r in ("obl:tmod", "obl:unmarked", "nmod:tmod", "nmod:unmarked") for r in s.deprels)


def _in_tense(s: Sentence, verb: int, top: int, tense: str, language: str, context: Context) -> str | None:
    assert s.lemmas is not None
    assert s.deprels is not None
    agent = subject(s, top)
    if agent is None or _has_no_counterpart(s, verb, top, language):
        return None
    if language == "pl":
        return _polish(s, verb, agent, tense, context)
    if language == "en":
        coordinated = any(base(s.deprels[i]) == "conj" for i in children(s, agent))
        number = "Plur" if coordinated else feature(s, agent, "Number")
        person = feature(s, agent, "Person") or "3"
        return _english(s.forms[verb].lower(), s.lemmas[verb], tags(s)[verb], tense, number, person, context)
    return context.plan.inflected(s, verb, Tense=tense)  # type: ignore[no-any-return]


def _has_no_counterpart(s: Sentence, verb: int, top: int, language: str) -> bool:
    """Whether the other tense of a verb would say the same, or something else than another time."""
    assert s.lemmas is not None
    assert s.deprels is not None
    lemma, relation = s.lemmas[verb], s.deprels[verb]
    match language:
        case "en":  # modals, *used to*; *has seen* and *had seen* are both past
            return lemma in ENGLISH_EXCEPTIONS or (lemma == "have" and relation == "aux")
        case "fr":  # a narrative present says what a past says
            return relation != "cop" and (
                lemma not in ("pouvoir", "devoir", "vouloir")
                or any(s.deprels[i] == "aux:tense" for i in children(s, top))
            )
        case "de":  # *hat gesehen* and *hatte gesehen* are both past; *wird sehen* is a future
            is_future = lemma == "werden" and feature(s, top, "VerbForm") != "Part"
            return is_future or (lemma in ("haben", "sein") and relation == "aux")
    return False


def _english(
    form: str, lemma: str, tag: str, tense: str, number: str | None, person: str, context: Context
) -> str | None:
    """English marks number in the present and in *be* only, and treebanks differ in whether they say so."""
    wanted = {"Tense": tense, "VerbForm": "Fin"}
    if lemma == "be":
        return _be(form, person)
    if tense == "Past":
        return context.plan.any_form(lemma, tag, **wanted)  # type: ignore[no-any-return]
    if number is None:
        return None
    if number == "Plur" or person in ("1", "2"):
        return lemma  # the base form
    return context.plan.any_form(lemma, tag, **wanted, Number="Sing", Person="3")  # type: ignore[no-any-return]


def _be(form: str, person: str) -> str | None:
    return {"is": "was", "are": "were", "am": "was", "were": "are", "was": "am" if person == "1" else "is"}.get(form)


def _polish(s: Sentence, verb: int, agent: int, tense: str, context: Context) -> str | None:
    """The third person; past forms have the gender of the subject."""
    assert s.feats is not None
    assert s.lemmas is not None
    if feature(s, agent, "Person") in ("1", "2") or feature(s, agent, "Case") != "Nom":
        return None
    values, of_agent = features(s.feats[verb]), features(s.feats[agent])
    wanted: dict[str, str] = {name: values[name] for name in ASPECTS if name in values}
    if values.get("Number") != of_agent.get("Number"):
        return None
    wanted["Tense"] = tense
    if tense == "Past":
        wanted["Gender"] = of_agent.get("Gender", "")
        if wanted["Gender"] == "Masc" and wanted["Number"] == "Plur":
            wanted["Animacy"] = of_agent.get("Animacy", "")
    else:
        wanted["Person"] = "3"
    return context.plan.any_form(s.lemmas[verb], tags(s)[verb], **wanted)  # type: ignore[no-any-return]


contrast_rule = ContrastRule(
    name="tense",
    effect="contrast",
    summary="present and past are exchanged",
    rewrite=rewrite,
    rows_read=(
        RowsRead(language="en", corpus="UD_English-EWT", wrong=2, date="2026-11-19"),
        RowsRead(language="en", corpus="built-in", wrong=0, date="2026-11-19"),
        RowsRead(language="fr", corpus="UD_French-GSD and Sequoia", wrong=0, date="2026-11-19"),
        RowsRead(language="pl", corpus="UD_Polish-PDB", wrong=0, date="2026-11-19"),
        RowsRead(language="de", corpus="UD_German-PUD", wrong=2, date="2026-11-19"),
    ),
    order=50,
)
