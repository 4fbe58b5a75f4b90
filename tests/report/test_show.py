"""`sonde show` on a run."""

import csv
import json
from io import StringIO

import pytest

from sonde.cli import app
from sonde.errors import DataError, UsageError
from sonde.result import Signature
from tests.report.runs import SUBJ, beside, result, written


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    run = written(tmp_path_factory.mktemp("show") / "run", result("st:a", p=0.9), result("st:b"), *beside([SUBJ]))
    return run.folder


@pytest.fixture
def show(capsys):
    def run(*words):
        assert app(["show", *map(str, words)], result_action="return_value", exit_on_error=False) == 0
        return capsys.readouterr().out

    return run


def test_a_table_unless_told_otherwise(show, folder):
    head, row, *_ = (line.split() for line in show(folder).splitlines())
    assert head[:4] == ["set", "test", "st:a", "st:b"]
    assert row[:2] == [SUBJ, "400"]
    assert f"sonde show {folder} --signatures" in show(folder)


def test_every_format(show, folder):
    assert show(folder, "--format", "md").startswith("| set | test | st:a | st:b |")
    assert "\\begin{tabular}" in show(folder, "--format", "tex")
    rows = list(csv.DictReader(StringIO(show(folder, "--format", "csv"))))
    assert {row["encoder"] for row in rows} >= {"st:a", "st:b", "majority"}
    found = json.loads(show(folder, "--format", "json"))
    assert [c["encoder"] for c in found["columns"]] == ["st:a", "st:b"]
    assert found["metric"] == "accuracy"


def test_another_metric(show, folder):
    assert json.loads(show(folder, "--format", "json", "--metric", "log2_loss"))["metric"] == "log2_loss"
    assert "Macro-averaged F1" in show(folder, "--metric", "macro_f1")


def test_signatures_alone(show, folder):
    lines = show(folder, "--signatures").splitlines()
    assert len(lines) == 8
    assert [Signature.parse(line).enc for line in lines[:2]] == ["st:a", "st:b"]


@pytest.mark.parametrize("words", [("--examples", "2"), ("--baselines",), ("-t", "passive"), ("--seed", "3")])
def test_what_is_about_sets_is_refused_for_a_run(folder, words):
    with pytest.raises(UsageError, match=r"are for sets; .* is a run"):
        app(["show", str(folder), *words], result_action="return_value", exit_on_error=False)


@pytest.mark.parametrize("words", [("--format", "md"), ("--metric", "macro_f1"), ("--signatures",)])
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
