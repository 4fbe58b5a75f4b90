"""What is said of a folder of data."""

import json
from dataclasses import replace

import pytest

from sentprobe import senteval
from sentprobe.data.layouts import LAYOUTS
from sentprobe.data.sources import find_sets
from sentprobe.errors import DataError, UsageError
from sentprobe.transfer.check import check, check_set
from sentprobe.transfer.show import as_json
from tests.data.layouts.files import FILES, SICK, write, write_all


@pytest.fixture
def small(monkeypatch):
    """The published sizes, had they been those of our own files."""
    sizes = {
        "MR": {"te": 3}, "CR": {"te": 3}, "SUBJ": {"te": 2}, "MPQA": {"te": 2}, "TREC": {"tr": 2, "te": 1},
        "MRPC": {"tr": 1, "te": 1}, "SNLI": {"tr": 2, "va": 1, "te": 1}, "XNLI": {"va": 1, "te": 1},
        "SST5": {"tr": 1, "va": 1, "te": 2}, "ImageCaptionRetrieval": {"tr": 5, "va": 5, "te": 10},
    }  # fmt: skip
    for name, layout in LAYOUTS.items():
        parts = [part.stratum or part.split for part in layout.parts]
        one = {part: sizes.get(name, {}).get(part, 1) for part in parts}
        changed = replace(layout, sizes=(sizes.get(name, one),), labels=labels(name, layout))
        monkeypatch.setitem(LAYOUTS, name, changed)


def labels(name, layout):
    """Those of the labels that our own files have."""
    absent = {"SST5": ("1", "3"), "TREC": ("ABBR", "DESC", "ENTY", "LOC"), "XNLI": ("entailment",)}.get(name, ())
    return tuple(label for label in layout.labels if label not in absent)


@pytest.fixture
def data(tmp_path, small):
    write_all(tmp_path / "data/downstream")
    return tmp_path / "data"


def told(path, name):
    reports, _ = check(str(path))
    return next(report for report in reports if report.name.endswith(name))


def test_sets_as_published_are_sound(data):
    reports, absent = check(str(data))
    assert {report.task for report in reports} == set(LAYOUTS)
    assert [(report.name, report.errors) for report in reports if not report.is_valid] == []
    assert absent == [
        "Length", "WordContent", "Depth", "TopConstituents", "BigramShift", "Tense", "SubjNumber", "ObjNumber",
        "OddManOut", "CoordinationInversion",
    ]  # fmt: skip


def test_rows_are_counted_by_sub_dataset_or_split(data):
    assert told(data, "STS13").rows == {"FNWN": 1, "headlines": 1, "OnWN": 1}
    assert told(data, "TREC").rows == {"tr": 2, "te": 1}
    assert told(data, "SICKRelatedness").labels == 3


def test_sets_that_are_not_there_are_listed(tmp_path, small):
    write(tmp_path, {name: text for name, text in FILES.items() if name.startswith("MR/")})
    _, absent = check(str(tmp_path))
    assert "MR" not in absent
    assert {"CR", "XNLI", "Tense"} <= set(absent)
    assert "STSBenchmark-fix" not in absent  # which SentEval itself has not


@pytest.mark.parametrize(
    ("file", "text", "name", "message"),
    [
        ("MR/rt-polarity.pos", "one\ntwo\n", "MR", "rows are not as published: te 4 instead of 3 (Pang and Lee 2005)"),
        ("TREC/TREC_10.label", "XXX:y Who ?\n", "TREC", "TREC_10.label:1: got the label 'XXX'"),
        ("TREC/train_5500.label", "NUM:x a\nNUM:x b\n", "TREC", "no row has the label HUM"),
        (
            "SST/binary/sentiment-dev",
            "a\tb\t1\n",
            "SST2",
            "sentiment-dev:1: got 3 columns; expected sentence and label",
        ),
        ("SICK/SICK_trial.txt", SICK + "1\ta\tb\t6.5\tNEUTRAL\n", "SICKRelatedness", "SICK_trial.txt:2: got 6.5"),
        ("SICK/SICK_trial.txt", SICK + "1\ta\tb\t3,5\tNEUTRAL\n", "SICKRelatedness", ":2: got the score '3,5'"),
        ("SICK/SICK_trial.txt", SICK + "1\ta\tb\n", "SICKEntailment", "SICK_trial.txt:2: got 3 columns; expected 5"),
        ("STS/STS13-en-test/STS.gs.FNWN.txt", "1\n", "STS13", "expected as many in each"),
        ("XNLI/xnli.dev.tsv", "language\tgold_label\tsentence1\tsentence2\nen\tx\ta\tb\n", "XNLI", "the label 'x'"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(data, file, text, name, message):
    (data / "downstream" / file).write_text(text, "utf-8")
    report = told(data, name)
    assert not report.is_valid
    assert any(message in error for error in report.errors), report.errors


def test_a_missing_file_makes_a_set_unsound(data):
    (data / "downstream/SNLI/s2.dev").unlink()
    report = told(data, "SNLI")
    assert any("SNLI lacks the file s2.dev" in error for error in report.errors)


def test_bytes_that_are_no_utf8_are_an_error_or_a_note_as_for_senteval(data):
    (data / "downstream/SST/binary/sentiment-dev").write_bytes(b"caf\xe9\t0\n")
    (data / "downstream/MR/rt-polarity.pos").write_bytes(b"a caf\xe9\n")
    assert any("sentiment-dev:1: got the bytes e9" in error for error in told(data, "SST2").errors)
    report = told(data, "MR")
    assert report.is_valid
    assert any("rt-polarity.pos is not UTF-8 and read as Latin-1" in note for note in report.notes)


def test_sentences_that_senteval_splits_are_noted_with_both_counts(data):
    path = data / "downstream/SUBJ/subj.subjective"
    path.write_bytes(path.read_bytes() + "wait\u2026 for it .\n".encode())  # the second byte of three is 0x80
    assert not [note for note in told(data, "SUBJ").notes if "SentEval reads" in note]
    path.write_bytes(path.read_bytes() + b"one \x85 sentence .\n")
    lines = path.read_bytes().count(b"\n")
    (note,) = [note for note in told(data, "SUBJ").notes if "SentEval reads" in note]
    assert f"{path} has {lines} lines" in note
    assert f"SentEval reads {lines + 1}" in note
    evaluation = senteval.binary.SUBJEval(path.parent)
    assert evaluation.n_samples == sum(told(data, "SUBJ").rows.values()) + 1


def test_empty_lines_and_rows_are_noted(data):
    (data / "downstream/SST/binary/sentiment-dev").write_text("\na dull film .\t0\n", "utf-8")
    assert any("empty lines, which are skipped: 1, the first is line 1" in n for n in told(data, "SST2").notes)
    (note,) = told(data, "CR").notes
    assert note.startswith("rows with a sentence without words: 1, the first at ")
    assert note.endswith("custrev.pos:2")
    assert any("pairs without a score, which are skipped: 1" in note for note in told(data, "STS14").notes)


def test_of_many_broken_lines_a_few_are_shown_and_all_are_counted(data):
    (data / "downstream/SST/binary/sentiment-dev").write_text("a\tb\tc\n" * 50, "utf-8")
    errors = told(data, "SST2").errors
    assert sum("got 3 columns" in error for error in errors) == 5
    assert "malformed lines: 50 in all" in errors


def test_another_release_that_is_known_is_sound_with_a_note(data, monkeypatch):
    layout = LAYOUTS["MR"]
    monkeypatch.setitem(LAYOUTS, "MR", replace(layout, sizes=({"te": 99}, {"te": 3})))
    report = told(data, "MR")
    assert report.is_valid
    assert report.published == {"te": 3}
    assert any("another known release" in note for note in report.notes)


def test_xnli_without_pairs_to_train_on_has_a_note(data):
    (data / "downstream/XNLI/multinli.train.en.tsv").unlink()
    assert any("`sentprobe data get MultiNLI`" in note for note in told(data, "fr/XNLI").notes)


def test_probing_sets_are_checked_too(tmp_path):
    write(tmp_path, {"probing/past_present.txt": "tr\tPAST\tHe left .\nte\tPRES\t\n", "probing/mine.txt": "tr\tA\tx\n"})
    (report,), absent = check(str(tmp_path))
    assert report.task == "past_present"
    assert "Tense" not in absent
    assert report.errors == (
        "rows are not as published: tr 1 instead of 100,000, va 0 instead of 10,000, te 1 instead of 10,000 "
        "(Conneau et al. 2018)",
    )
    write(tmp_path, {"probing/past_present.txt": "tr\tPAST\tHe left .\ntr\tPRES\nte\tPAST\tWe ran .\n"})
    (report,), _ = check(str(tmp_path))
    assert "past_present.txt:2: got 2 columns" in report.errors[0]


def test_a_folder_without_any_of_these_sets_is_an_error(tmp_path):
    with pytest.raises(DataError, match="holds no set in a known format"):
        check(str(tmp_path))
    write(tmp_path, {"mine.txt": "tr\tA\tx\nte\tB\ty\n"})
    with pytest.raises(UsageError, match="contains none of SentEval's sets"):
        check(str(tmp_path))


def test_everything_is_in_the_json(data):
    reports, absent = check(str(data))
    found = json.loads(as_json(reports, absent))
    assert (found["format"], found["absent"]) == ("sentprobe.data.v1", absent)
    assert {each["task"] for each in found["sets"]} == set(LAYOUTS)
    assert all(each["valid"] for each in found["sets"])
    polish = next(each for each in found["sets"] if each["task"] == "CDSEntailment")
    assert (polish["language"], polish["rows"]) == ("pl", {"tr": 1, "va": 1, "te": 1})


def test_a_source_can_be_examined_alone(data):
    (source,) = find_sets([str(data / "downstream/TREC")])
    assert check_set(source).rows == {"tr": 2, "te": 1}
