"""A number or a name replaced by another: *three* → *seven*, *1987* → *1967*, *Monday* → *Friday*, *Paris* → *Rome*.

The new number governs the same forms: Polish 2–4 and 5–9 stay apart, 1 is never replaced, days stay below 30. Digits of
codes, decimals, times and sums are left alone. Names are weekdays, months, and those of towns, countries and people in
short lists; what is one of another name, or is in the sentence twice, is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentprobe.contrast import ContrastRule, RowsRead
from sentprobe.contrast.draft import is_statement, replaced, token_span, written
from sentprobe.corpus.languages import code_of
from sentprobe.corpus.syntax import base, children, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context

WORDS = {
    "en": (
        "two three four five six seven eight nine ten eleven twelve",
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        "January February March April June July August September October November December",
    ),
    "fr": (
        "deux trois quatre cinq six sept huit neuf dix onze douze",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "janvier février mars mai juin juillet septembre novembre décembre",
    ),
    "de": (
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    ),
    "pl": (
        "dwie trzy cztery",
        "dwa trzy cztery",
        "dwaj trzej czterej",
        "dwóch trzech czterech",
        "dwom trzem czterem",
        "dwoma trzema czterema",
        "dwiema trzema czterema",
        "pięć sześć siedem osiem dziewięć dziesięć",
        "pięciu sześciu siedmiu ośmiu dziewięciu dziesięciu",
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
        "styczniu lutym marcu kwietniu maju czerwcu lipcu sierpniu wrześniu październiku listopadzie grudniu",
    ),
}
"""Numerals, weekdays and months that can stand for each other."""
NAMES = {
    "en": (
        "London Paris Berlin Madrid Rome Vienna Oslo Chicago Boston Houston Toronto Sydney Tokyo Moscow Dublin Prague",
        "Germany France Spain Italy Poland Canada Mexico Brazil Japan China India Russia Iran Iraq Israel Egypt Turkey",
        "Anna Mary Sarah Emma Laura Julia Maria Lucy Elena Helen Alice Clara Nora",
        "John Paul Peter Mark David Michael Robert Thomas James George Oscar Simon Henry Victor",
    ),
    "fr": (
        "Paris Lyon Marseille Lille Bordeaux Nantes Strasbourg Toulouse Rennes Londres Berlin Madrid Bruxelles",
        "Marie Sophie Julie Claire Denise Laura Nathalie Sylvie",
        "Jean Pierre Paul Jacques Michel Marcel David Robert Thomas Daniel",
    ),
    "de": (
        "Berlin Hamburg München Köln Frankfurt Wien Zürich Paris London Rom Madrid Athen",
        "Deutschland Frankreich Spanien Italien Polen Österreich Russland China Japan Indien Kanada Mexiko",
        "Anna Maria Laura Julia Sarah Emma Martha",
        "Paul Peter Thomas Martin David Robert Simon Georg",
    ),
    "pl": (
        "Warszawie Krakowie Poznaniu Gdańsku Lublinie Łodzi Londynie Paryżu Berlinie Moskwie",
        "Warszawy Krakowa Poznania Gdańska Lublina Łodzi Londynu Paryża Berlina Moskwy",
        "Niemczech Włoszech Węgrzech",
        "Francji Hiszpanii Rosji Szwecji Grecji",
    ),
}
"""Names of towns, countries and people that can. Of a word in several groups, what all of them have can."""
GROUPS = {language: (*groups, *NAMES[language]) for language, groups in WORDS.items()}
GROUPED = re.compile(r"([2-9])(\d{0,2})((?:[.,\u00a0 ]000)+)")
YEAR = re.compile(r"(1[0-9]|20)(\d)(\d)")


def rewrite(s: Sentence, context: Context) -> Iterator[str]:
    """The sentence with another number, once for each that can be replaced."""
    if not is_statement(s) or s.deprels is None:
        return
    language = code_of(context.language)
    for i, form in enumerate(s.forms):
        span = token_span(s, [i])
        if span is None or s.tokens[span[0]] != form or not _is_free(s, i):
            continue
        number = _other_digits(form, context) if form[:1].isdigit() else _other_word(s, i, language, context)
        if number is None or number in s.forms:
            continue
        if text := written(s, replaced(s, {span[0]: number}), context):
            yield text


def _is_free(s: Sentence, i: int) -> bool:
    """Whether white space or a comma is on both sides of a word, and it is not a list number or part of a name."""
    assert s.deprels is not None
    assert s.heads is not None
    space = s.space_after or (True,) * len(s)
    if (i and not space[i - 1] and s.forms[i - 1] not in ("$", "€", "£")) or i == len(s) - 1:
        return False
    if not space[i] and s.forms[i + 1] not in (",", "."):
        return False
    if s.deprels[i] in ("flat", "compound", "dep", "flat:name", "fixed", "goeswith", "discourse"):
        return False
    head = s.heads[i]
    numbers = [j for j in range(len(s)) if tags(s)[j] == "NUM" and j != i and abs(i - j) < 3]
    name = head >= 0 and tags(s)[head] == "PROPN" and base(s.deprels[i]) == "nummod" and not s.forms[i].isdigit()
    return not numbers and not name


def _other_digits(form: str, context: Context) -> str | None:
    """Another number of the same kind."""
    if year := YEAR.fullmatch(form):
        century, decade, last = year.groups()
        decades = [d for d in ("01" if century == "20" else "123456789") if d != decade]
        return f"{century}{_pick(decades, context)}{last}"
    if grouped := GROUPED.fullmatch(form):
        first, digits_after, thousands = grouped.groups()
        return f"{_pick([d for d in '23456789' if d != first], context)}{digits_after}{thousands}"
    if not form.isascii() or not form.isdigit() or form[0] == "0" or len(form) > 3:
        return None
    if len(form) == 3:
        return f"{_pick([d for d in '123456789' if d != form[0]], context)}{form[1:]}"
    if len(form) == 2 and form[0] == "1":
        return f"1{_pick([d for d in '23456789' if d != form[1]], context)}" if form[1] not in "01" else None
    if form in ("30", "31"):
        return None
    classes = ("234", "56789" + "0" * (len(form) == 2))
    return next(
        (form[:-1] + _pick([d for d in digits if d != form[-1]], context) for digits in classes if form[-1] in digits),
        None,
    )


def _other_word(s: Sentence, i: int, language: str, context: Context) -> str | None:
    """Another word of the groups that a word is in."""
    form = s.forms[i].lower() if tags(s)[i] == "NUM" else s.forms[i]
    if s.forms.count(s.forms[i]) > 1 or (tags(s)[i] == "PROPN" and _is_in_name(s, i)):
        return None
    groups = [words for group in GROUPS.get(language, ()) if form in (words := group.split())]
    if not groups or tags(s)[i] not in ("NUM", "PROPN", "NOUN") or (tags(s)[i] == "NUM" and not _counts(s, i)):
        return None
    alternatives = [word for word in groups[0] if word != form and all(word in words for words in groups)]
    return _pick(alternatives, context) if alternatives else None


def _is_in_name(s: Sentence, i: int) -> bool:
    """Whether a name is next to another one, with which it may be one: *Paris Hilton*, *New London*, *Notre Dame*."""
    neighbours = [j for j in (i - 1, i + 1) if 0 <= j < len(s)]
    return any(tags(s)[j] == "PROPN" or (j and s.forms[j][:1].isupper()) for j in neighbours)


def _counts(s: Sentence, i: int) -> bool:
    """Whether a numeral counts the noun after it."""
    assert s.deprels is not None
    return base(s.deprels[i]) == "nummod" and s.heads is not None and s.heads[i] > i and not children(s, i)


def _pick(options: list[str], context: Context) -> str:
    return options[context.draw(len(options))]


contrast_rule = ContrastRule(
    name="numbers",
    effect="contrast",
    summary="a number, weekday, month or name is replaced",
    rewrite=rewrite,
    rows_read=(
        RowsRead(language="en", corpus="UD_English-EWT", wrong=0, date="2026-11-19"),
        RowsRead(language="en", corpus="built-in", wrong=0, date="2026-11-19"),
        RowsRead(language="fr", corpus="UD_French-GSD and Sequoia", wrong=0, date="2026-11-19"),
        RowsRead(language="pl", corpus="UD_Polish-PDB", wrong=0, date="2026-11-19"),
        RowsRead(language="de", corpus="UD_German-PUD", wrong=0, date="2026-11-19"),
    ),
    order=30,
)
