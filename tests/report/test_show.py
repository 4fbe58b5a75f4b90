"""`sentprobe show` on a run."""

import csv
import json
from io import StringIO

import pytest

from sentprobe.cli import app
from sentprobe.errors import DataError, UsageError
from sentprobe.results.result import Signature
from tests.report.runs import BASELINES, FIXED, SHIFT, SUBJ, beside, cell, failure, result, written


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    run = written(tmp_path_factory.mktemp("show") / "run", result("st:a", p=0.9), result("st:b"), *beside([SUBJ]))
    return run.folder


@pytest.fixture
def show(capsys, monkeypatch):
    def run(*words, width=None):
        monkeypatch.delenv("COLUMNS", raising=False)
        if width:
            monkeypatch.setenv("COLUMNS", str(width))
        assert app(["show", *map(str, words)], result_action="return_value", exit_on_error=False) == 0
        return capsys.readouterr().out

    return run


def test_a_table_unless_told_otherwise(show, folder):
    pair, said, note, _, head, row, *_ = (line.split() for line in show(folder, width=160).splitlines())
    assert " ".join(pair) == "On subj_number, st:a is significantly better than st:b."
    assert " ".join(said).startswith("On subj_number, st:a and st:b are significantly better than the best baseline")
    assert note[:2] == ["Paired", "tests"]
    assert head[:4] == ["set", "test", "st:a", "st:b"]
    assert row[:2] == [SUBJ, "400"]
    assert f"sentprobe show {folder} --signatures" in show(folder)


def test_every_format(show, folder):
    assert show(folder, "--format", "md").startswith("| set | test | st:a | st:b |")
    assert "\\begin{tabular}" in show(folder, "--format", "tex")
    rows = list(csv.DictReader(StringIO(show(folder, "--format", "csv"))))
    assert {row["encoder"] for row in rows} >= {"st:a", "st:b", "majority"}
    found = json.loads(show(folder, "--format", "json"))
    assert [c["encoder"] for c in found["columns"]] == ["st:a", "st:b"]
    assert found["metric"] == "accuracy"


def test_nothing_in_a_pipe_is_wider_than_80_columns(show, folder):
    *lines, last = show(folder).splitlines()
    assert max(map(len, lines)) <= 80
    assert last.startswith("Signatures: ")  # a command is never broken


# Filters


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Three encoders on two sets: one is above the baselines on both, one on the first, one on none."""
    sets = (SUBJ, SHIFT)
    good = [result("st:Good", s, p=0.95) for s in sets]
    half = [result("hf:half?layer=*", SUBJ, p=0.9, layer=layer) for layer in ("0", "1")]
    half += [result("hf:half?layer=*", SHIFT, p=0.5, layer=layer) for layer in ("0", "1")]
    bad = [result("vec:bad", s, p=0.5) for s in sets]
    lost = failure(cell("st:lost", SHIFT))
    return written(tmp_path_factory.mktemp("wide") / "run", *good, *half, *bad, lost, *beside(sets)).folder


def shown(show, *words):
    """The sets and encoders that a command shows as JSON, Markdown and CSV, which must be the same."""
    found = json.loads(show(*words, "--format", "json"))
    sets, encoders = [s["name"] for s in found["sets"]], [c["encoder"] for c in found["columns"]]
    assert all(len(s["cells"]) == len(encoders) for s in found["sets"])
    assert all(len(row) == len(sets) for table in found["layers"] for row in table["cells"])
    rows = list(csv.DictReader(StringIO(show(*words, "--format", "csv"))))
    own = {name: None for row in rows if (name := row["encoder"]) not in {*BASELINES, *FIXED}}
    assert set(own) == set(encoders) - {"st:lost"}  # which has no result
    assert {row["dataset"] for row in rows} == set(sets)
    head, _, *body = (line.split(" | ") for line in show(*words, "--format", "md").splitlines() if line[:2] == "| ")
    assert [name.replace("&#95;", "_") for name in head[2 : 2 + len(encoders)]] == [
        e.replace("*", "&#42;") for e in encoders
    ]
    assert len(body) >= len(sets)
    return sets, encoders


@pytest.mark.parametrize(
    ("words", "sets", "encoders"),
    [
        (("--on", "bigram"), [SHIFT], ["st:Good", "hf:half?layer=*", "vec:bad", "st:lost"]),
        (("--on", "conneau2018/*_number"), [SUBJ], ["st:Good", "hf:half?layer=*", "vec:bad", "st:lost"]),
        (("--encoder", "good", "-e", "vec:*"), [SUBJ, SHIFT], ["st:Good", "vec:bad"]),
        (("-e", "hf:half?layer=*", "--on", "subj_number"), [SUBJ], ["hf:half?layer=*"]),
        (("--above",), [SUBJ, SHIFT], ["st:Good", "hf:half?layer=*"]),
        (("--above", "-e", "half"), [SUBJ], ["hf:half?layer=*"]),
    ],
)
def test_only_what_is_asked_for_is_shown_in_every_format(show, wide, words, sets, encoders):
    assert shown(show, wide, *words) == (sets, encoders)


def test_a_filter_changes_no_number(show, wide):
    whole, part = (json.loads(show(wide, "--format", "json", *words)) for words in ((), ("-e", "half", "--on", "subj")))
    assert part["sets"][0]["cells"] == whole["sets"][0]["cells"][1:2]
    assert part["sets"][0]["baselines"] == whole["sets"][0]["baselines"]
    assert part["layers"][0]["column"] == 0
    assert "Shown: 1 of 4 encoders, 1 of 2 sets; tests are adjusted over all encoders of the run." in part["notes"]
    assert json.loads(show(wide, "--format", "json", "-e", "lost"))["sets"][1]["failed"] == {"0": "out of memory"}


def test_without_baselines_nothing_is_said_about_them(show, tmp_path):
    run = written(tmp_path / "run", result("st:a", p=0.9), result("st:b"))
    assert show(run.folder, "--above", width=160) == (
        "Nothing is shown by --above: no score of these sets was tested against a baseline.\n"
    )


def test_what_was_not_tested_is_not_said_to_be_no_better(show, wide):
    assert show(wide, "--above", "--metric", "log2_loss", width=160) == (
        "Nothing is shown by --above: no loss of these sets was tested against a baseline.\n"
    )


def test_where_nothing_is_above_the_baselines_that_is_said(show, wide):
    assert show(wide, "--above", "-e", "bad", width=160) == (
        "No encoder is significantly better than the best baseline on any of these sets.\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--on", "bigarm"), "There is no set 'bigarm' in the run. Did you mean bigram_shift"),
        (("-e", "vec:bda"), "There is no encoder 'vec:bda' in the run. Did you mean vec:bad"),
        (("-e", "zzz"), r"There is no encoder 'zzz' in the run. It has st:Good, hf:half.*, vec:bad, st:lost\."),
        (("-e", ""), "There is no encoder ''"),
    ],
)
def test_a_name_that_the_run_does_not_have(wide, words, message):
    with pytest.raises(UsageError, match=message):
        app(["show", str(wide), *words], result_action="return_value", exit_on_error=False)


def test_another_metric(show, folder):
    assert json.loads(show(folder, "--format", "json", "--metric", "log2_loss"))["metric"] == "log2_loss"
    assert "Macro-averaged F1" in show(folder, "--metric", "macro_f1")


def test_signatures_alone(show, folder):
    lines = show(folder, "--signatures").splitlines()
    assert len(lines) == 8
    assert [Signature.parse(line).enc for line in lines[:2]] == ["st:a", "st:b"]


@pytest.mark.parametrize("words", [("--examples", "2"), ("--baselines",), ("--seed", "3")])
def test_what_is_about_sets_is_refused_for_a_run(folder, words):
    with pytest.raises(UsageError, match=r"are for sets; .* is a run"):
        app(["show", str(folder), *words], result_action="return_value", exit_on_error=False)


@pytest.mark.parametrize(
    "words",
    [("--format", "md"), ("--metric", "macro_f1"), ("--signatures",), ("-e", "x"), ("--on", "x"), ("--above",)],
)
def test_what_is_about_runs_is_refused_for_sets(tmp_path, words):
    with pytest.raises(UsageError, match=r"are for runs; .* has no run.json"):
        app(["show", str(tmp_path), *words], result_action="return_value", exit_on_error=False)


def test_what_papers_printed_of_other_sets_is_shown_when_asked_for(show, folder):
    assert "human" not in show(folder, "--format", "md")
    # Conneau et al. (2018), table 2, column SubjNum
    assert "88.0 (another set)" in show(folder, "--format", "md", "--published")
    assert json.loads(show(folder, "--format", "json", "--published"))["sets"][0]["printed_for"] == "another set"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--published", "--format", "csv"), "--published is for tables of accuracy"),
        (("--published", "--metric", "macro_f1"), "--published is for tables of accuracy"),
        (("--published", "--signatures"), "--published is for tables of accuracy"),
        (("--format", "csv", "--metric", "macro_f1"), "--metric is for tables"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(folder, words, message):
    with pytest.raises(UsageError, match=message):
        app(["show", str(folder), *words], result_action="return_value", exit_on_error=False)


def test_published_numbers_of_sets_stand_beside_baselines(tmp_path):
    with pytest.raises(UsageError, match="add --baselines"):
        app(["show", str(tmp_path), "--published"], result_action="return_value", exit_on_error=False)


def test_adjustments_without_correlations_are_refused(folder, tmp_path):
    words = ["report", str(folder), "-o", str(tmp_path / "x.json"), "--adjust", "bh"]
    with pytest.raises(UsageError, match="and this run has none"):
        app(words, result_action="return_value", exit_on_error=False)
    assert not (tmp_path / "x.json").exists()


def test_a_folder_with_neither(tmp_path):
    with pytest.raises(DataError, match="no probing set"):
        app(["show", str(tmp_path)], result_action="return_value", exit_on_error=False)
