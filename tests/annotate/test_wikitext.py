"""Wikitext becomes prose: what is no prose is gone, and where a sentence has lost something a hole says so."""

import pytest

pytest.importorskip("mwparserfromhell")

from sentprobe.annotate import wikitext
from sentprobe.annotate.source import HOLE, LeftOutError
from sentprobe.annotate.wikitext import characters_read_in_vain, prose

FRENCH = ("fichier", "catégorie")


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        # links
        ("Un [[lac]] et une [[rivière|grande rivière]].", "Un lac et une grande rivière."),
        ("Des [[lac]]s [[:Catégorie:Lac|ici]].", "Des lacs ici."),
        ("Le [[:Catégorie:Lac]] est là.", "Le Catégorie:Lac est là."),
        ("Un mot[[Catégorie:Lac]] ici.", "Un mot ici."),
        ("Un [[wikt:mot|mot]] ici. [[en:Lake]]", "Un mot ici."),
        ("Le [http://lac.example site du lac] existe [http://lac.example].", "Le site du lac existe."),
        ("Voir http://lac.example ici.", f"Voir {HOLE} ici."),
        ("[[Mission: Lac]] est un film.", "Mission: Lac est un film."),
        # type
        ("L'''Odyssée'' est '''longue''' et '''''belle'''''.", "L'Odyssée est longue et belle."),
        ("Il lit l''''Iliade'''.", "Il lit l'Iliade."),
        ("Une ''ligne jamais fermée.", "Une ligne jamais fermée."),
        ("H<sub>2</sub>O <small>est</small> <span style=\"x\">bon</span>.", "H2O est bon."),
        ("Un <span style=\"display: none\">secret</span>mot.", "Un mot."),
        ("L<nowiki>'</nowiki>''Iliade'' finit.", "L'Iliade finit."),
        # notes and comments
        ("Le lac<ref>[[x]] {{y|z}}</ref> est<ref name=\"a\" /> là<!-- vrai ? -->.", "Le lac est là."),
        ("Le lac est là <ref>x</ref>, ici <ref>y</ref>.", "Le lac est là, ici."),
        ("Le lac (<ref>x</ref>) est là.", "Le lac est là."),
        ("Le lac&nbsp;: il est &laquo;&#160;froid&#160;&raquo; &amp; grand.", "Le lac : il est « froid » & grand."),
        # templates
        ("Le lac est long.{{sfn|Dupont|2001}} Il est froid{{refnec}}.", "Le lac est long. Il est froid."),
        ("{{Infobox|a=[[b]]\n|c={{d}}\n}}Le lac est là.", "Le lac est là."),
        ("{{Lang|en|Lake}} est un mot.", f"{HOLE} est un mot."),
        ("Il mesure {{unité|3|km}} de long.", f"Il mesure {HOLE} de long."),
        ("Le 1{{er}} janvier.", f"Le 1{HOLE} janvier."),
        ("Le lac ({{lang-en|lake}}) est là.", f"Le lac ({HOLE}) est là."),
        ("Une valeur {{{1|défaut}}} ici.", f"Une valeur {HOLE} ici."),
        ("Un signe &#xD800; ici.", f"Un signe {HOLE} ici."),
        ("La formule <math>x^2</math> et <code>y</code>.", f"La formule {HOLE} et {HOLE}."),
        # what is no prose
        ("== Titre ==\nLe lac est là.\n=== Autre ===", "Le lac est là."),
        ("* une liste.\n# une autre.\n; terme : sens.\n: en retrait.\nLe lac est là.", "Le lac est là."),
        ("{| class=\"x\"\n! a !! b.\n|-\n| c. || d.\n|}\nLe lac est là.", "Le lac est là."),
        ("[[Fichier:Lac.jpg|thumb|Un [[lac]] ''froid''.]]\nLe lac est là.", "Le lac est là."),
        ("[[file:Lac.jpg|thumb|alt=Un lac.|Un lac.]] Le lac est là.", "Le lac est là."),
        ("<gallery>\nLac.jpg|Un lac.\n</gallery>\nLe lac est là.", "Le lac est là."),
        ("<ul><li>Une liste.</li></ul>Le lac est là.<references />", "Le lac est là."),
        ("__NOTOC__Le lac est là.__FORCETOC__", "Le lac est là."),
        (" préformaté.\nLe lac est là.", "Le lac est là."),
        ("Le lac\nest là.", "Le lac est là."),
    ],
)  # fmt: skip
def test_a_paragraph(markup, expected):
    assert prose(markup, FRENCH) == [expected]


@pytest.mark.parametrize(
    "markup",
    [
        "", "{{Infobox}}", "Une légende sans point", "#REDIRECTION [[Lac]]", "[[Catégorie:Lac]]",
        "<ref>Une note.</ref>", "Un <ref>jamais fermé.", "Une {{accolade | jamais fermée.",
        "Un [[crochet jamais fermé.", "{| un tableau\n| coupé.", "{{Portail|lacs}}\n{{DEFAULTSORT:Lac}}",
        "Du -{zh-hans:a; zh-hant:b}- texte.",
    ],
)  # fmt: skip
def test_no_paragraph(markup):
    assert prose(markup, FRENCH) == []


def test_paragraphs_are_kept_apart():
    assert prose("Un.\n\nDeux.<br />Trois.\n\n{{Titre}}\nQuatre :\n* liste.\nCinq.", FRENCH) == [
        "Un.", "Deux.", "Trois.", "Quatre :", "Cinq.",
    ]  # fmt: skip


def test_scripts_without_full_stops_are_prose():
    assert prose("'''ทะเลสาบ''' กว้างใหญ่", ()) == ["ทะเลสาบ กว้างใหญ่"]
    assert prose("这是-{湖}-。", ()) == ["这是湖。"]


@pytest.mark.parametrize(
    "unit",
    [
        "{{a|", "[[a|b ", "<b>", "<div a='", "<b a='>x</b>", "<b>{{a|</b>}}", "{{a|[[b|", '"><<', "<{{a|-->", "<!--",
        "{{{1|</i>}}<td>", "{|\n", "[http://a b ", "<nowiki>", "<li>{{a|",
    ],
)  # fmt: skip
def test_an_article_that_would_take_hours_is_left_out(unit):
    markup = f"Le lac est là.\n\n{unit * 100_000}"  # not parsed: this test would not end
    with pytest.raises(LeftOutError, match="cannot be parsed"):
        prose(markup)


def test_an_article_on_which_the_parser_fails_is_left_out():
    with pytest.raises(LeftOutError, match="cannot be parsed"):
        prose(f"Le lac est là. {'{' * 4000}{'}' * 4000}")


def test_an_article_that_is_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr(wikitext, "MAX_PAGE_CHARACTERS", 20)
    assert prose("Le lac est là.") == ["Le lac est là."]
    with pytest.raises(LeftOutError):
        prose("Le lac est là. La mer est là.")


@pytest.mark.parametrize(
    ("markup", "vain"),
    [
        ('Un [[lac|{{a|b={{c}}|}}]] <ref name="O\'Brien">x</ref> <ref name=a /> a < b<br>c<!-- d -->', 0),
        ("{{Infobox\n| a = {{{1|}}}\n|}}\n{| x\n|-\n| [http://a b] || [[c]]\n|}\n", 0),
        ("<nowiki>{{ [[ <b></nowiki><MATH>a < {{b</math>", 0),
        ("1234[[a", 3),
        ("{{a|<b>}}12", 7),
        ("</b>}}]]|}-->", 0),
    ],
)
def test_what_is_read_in_vain(markup, vain):
    assert characters_read_in_vain(markup) == vain


def test_long_runs_of_white_space_take_no_time():
    assert prose(f"Le lac{' ' * 1_000_000}est là.") == ["Le lac est là."]  # it took hours
