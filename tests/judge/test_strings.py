"""Sheets and pages in another language."""

import json

import pytest

from sentprobe.errors import DataError
from sentprobe.judge.form import form
from sentprobe.judge.strings import ENGLISH, SheetStrings, read_strings, strings_file
from tests.command_line import sentprobe

FRENCH = {
    "language": "fr",
    "introduction": "Répondez pour chaque phrase <vraiment>.",
    "your_name": "Votre nom",
    "answered": "{done} réponses sur {all}",
    "questions": {"bigram_shift": "Deux mots sont-ils échangés ?"},
    "answers": {"bigram_shift": {"I": "oui", "O": "non"}},
}


def written(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_the_file_that_is_printed_says_what_is_built_in(tmp_path):
    printed = sentprobe("judge", "strings").stdout
    assert printed == strings_file()
    assert read_strings(written(tmp_path / "en.json", printed)) == ENGLISH


def test_sheets_are_in_the_language_of_the_file(tmp_path, conneau):
    conneau["bigram_shift"].save(tmp_path / "set")
    strings = written(tmp_path / "fr.json", FRENCH)
    done = sentprobe("judge", "sample", tmp_path / "set", "--strings", strings, "-n", 5, "-o", tmp_path / "sheets")
    assert done.returncode == 0, done.stderr
    (page,) = (tmp_path / "sheets").glob("*.html")
    html = page.read_text("utf-8")
    assert '<html lang="fr">' in html
    assert "Répondez pour chaque phrase &lt;vraiment&gt;." in html
    assert 'data-answered="{done} réponses sur {all}"' in html
    assert "Deux mots sont-ils échangés ?" in html
    assert 'value="I"> oui</label>' in html
    assert ENGLISH.save in html
    (instructions,) = (tmp_path / "sheets").glob("*.md")
    assert "- `I`: oui" in instructions.read_text("utf-8")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"introducton": "x"}, "has a text 'introducton', which no sheet has. Did you mean introduction?"),
        ({"answered": "{done} fertig"}, "answered is '{done} fertig'; expected {done}, {all} in braces"),
        ({"save": 3}, "Expected `str`, got `int`"),
        ("[1]", "expected a JSON object, as `sentprobe judge strings` prints it"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path, content, message):
    with pytest.raises(DataError) as error:
        read_strings(written(tmp_path / "x.json", content))
    assert message in str(error.value)


def test_no_fixed_text_is_left_out_of_the_file(conneau):
    from sentprobe.judge import sample_sheet

    marked = {name: f"«{name}»" for name in ("introduction", "your_name", "save", "answered", "name_first")}
    html = form(sample_sheet(conneau["bigram_shift"], 3), SheetStrings(**marked))
    assert all(text in html for text in marked.values())
