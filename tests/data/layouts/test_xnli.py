"""XNLI in both of its releases, with English pairs to train on."""

import gzip

import pytest

from sentprobe.data.layouts import languages_of, layouts_in, read_layout, scan
from sentprobe.data.sources import find_sets
from sentprobe.errors import CorpusError, UsageError
from tests.data.layouts.files import FILES, write

LINES = {
    "dev-en.tsv": "A dog runs .\tIt is late .\tneutral\n",
    "test-en.tsv": "A cat sleeps .\tIt runs .\tcontradiction\n",
    "dev-fr.tsv": "Un chien court .\tIl est tard .\tneutral\n",
    "dev-meta.tsv": "promptID\tpairID\tgenre\tlabel\n",
    "README.md": "words",
}


def rows(found):
    return [(split, row.label, row.text, row.extra[0][1]) for split, row in found]


@pytest.fixture
def official(tmp_path):
    return write(tmp_path, {name: text for name, text in FILES.items() if name.startswith("XNLI")}) / "XNLI"


def test_the_official_files_have_a_set_for_each_language(official):
    assert rows(read_layout("XNLI", official, language="fr")) == [
        ("tr", "contradiction", "He came .", "He did not ."),
        ("va", "neutral", "Un chien court .", "Il est tard ."),
        ("te", "contradiction", "Un chat dort .", "Il court ."),
    ]
    english = read_layout("XNLI", official, language="en")
    assert [(split, row.text) for split, row in english][1:] == [("va", "A dog runs ."), ("te", "A cat sleeps .")]
    assert (english.language, english.labels) == ("en", ("contradiction", "neutral"))


def test_files_of_one_language_each_are_read_too(tmp_path):
    write(tmp_path, LINES)
    path = tmp_path / "dev-fr.tsv"
    path.with_name("dev-fr.tsv.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert layouts_in(tmp_path) == ("XNLI",)
    assert languages_of("XNLI", tmp_path) == ("en", "fr")
    assert rows(read_layout("XNLI", tmp_path, language="fr")) == [
        ("va", "neutral", "Un chien court .", "Il est tard .")
    ]
    assert [split for split, _ in read_layout("XNLI", tmp_path, language="en")] == ["va", "te"]


@pytest.mark.parametrize(
    "text",
    [
        "He came .\tHe did not .\tcontradiction\nA\tB\t-\n",
        "premise\thypo\tlabel\nHe came .\tHe did not .\tcontradictory\n",
        # the header of MultiNLI's own file has more columns than its lines
        "gold_label\tparse\tsentence1\tsentence2\tlabel1\tlabel2\ncontradiction\t( )\tHe came .\tHe did not .\n",
    ],
    ids=["plain", "XNLI-MT", "MultiNLI"],
)
def test_the_training_part_is_a_file_of_english_pairs_in_any_form(tmp_path, text):
    write(tmp_path, {f"xnli/{name}": content for name, content in LINES.items()})
    write(tmp_path, {"nli.tsv": text})
    found = [source.load() for source in find_sets([str(tmp_path / "xnli")], train=str(tmp_path / "nli.tsv"))]
    assert [(each.name, each.language, each.task) for each in found] == [
        ("en/XNLI", "en", "XNLI"), ("fr/XNLI", "fr", "XNLI")
    ]  # fmt: skip
    for each in found:
        assert rows(each)[0] == ("tr", "contradiction", "He came .", "He did not .")


@pytest.mark.parametrize(
    "file",
    ["XNLI/train-en.tsv", "XNLI/multinli/multinli.train.en.tsv", "XNLI-MT-1.0/multinli/multinli.train.en.tsv"],
)
def test_the_training_part_is_found_where_it_is_mostly_put(tmp_path, file):
    write(tmp_path, {f"XNLI/{name}": content for name, content in LINES.items()})
    write(tmp_path, {file: "premise\thypo\tlabel\nx\ty\tneutral\n"})
    assert len(read_layout("XNLI", tmp_path / "XNLI", language="fr").rows["tr"]) == 1


def test_languages_are_selected_and_not_renamed(official):
    (found,) = find_sets([str(official)], language="fr")
    assert (found.part, found.language, found.load().rows["va"][0].text) == ("fr", "fr", "Un chien court .")
    with pytest.raises(UsageError, match=r"--as-language xx: The layout of en/XNLI says that its language is en"):
        find_sets([str(official)], as_language="xx")
    with pytest.raises(UsageError, match=r"--language xx: no set is in this language; they are in: en, fr"):
        find_sets([str(official)], language=["fr", "xx"])


@pytest.mark.parametrize("language", [None, "pl"])
def test_a_language_that_is_not_there_is_refused_with_those_that_are(official, language):
    with pytest.raises(UsageError, match=r"has it in en, fr"):
        read_layout("XNLI", official, language=language)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tb\tmaybe\n", r"dev-en\.tsv:2: got the label 'maybe'; expected entailment, neutral or contradiction"),
        ("a\tb\n", r"dev-en\.tsv:2: got 2 columns; expected at least 3"),
        ("a\tb\0\tneutral\n", r"dev-en\.tsv:2: got a NUL byte"),
    ],
)
def test_broken_lines_are_named_and_can_be_gathered(tmp_path, line, message):
    write(tmp_path, {"dev-en.tsv": LINES["dev-en.tsv"] + line + LINES["dev-en.tsv"]})
    with pytest.raises(CorpusError, match=message):
        read_layout("XNLI", tmp_path, language="en")
    broken: list[CorpusError] = []
    assert len(list(scan("XNLI", tmp_path, language="en", broken=broken.append))) == 2
    assert [error.line for error in broken] == [2]


def test_files_with_such_names_that_hold_something_else_are_not_taken_for_xnli(tmp_path):
    write(tmp_path, {"dev-en.tsv": "text\tlabel\nx\t1\n", "xnli.test.tsv": "something else\n"})
    assert layouts_in(tmp_path) == ()
