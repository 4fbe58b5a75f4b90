"""An encoder against its own controls: paired, on the same rows, and adjusted over all of them."""

import json

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from sentprobe.errors import UsageError
from sentprobe.report import summarise
from sentprobe.report.control_comparison import control_sentence, format_controls
from sentprobe.report.variants import variant_tables
from sentprobe.run import evaluate
from sentprobe.run.own_score import compare_with_controls
from tests.command_line import sentprobe
from tests.run.test_planted import balanced, encoder_of, flipped, numbered

SIZES = (200, 80, 160)
CONTROLS = ("shuffled", "gaussian", "norm", "memorise")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """An encoder that knows 90 % of the labels, with controls that take them away."""
    rng = np.random.default_rng(5)
    labels = balanced(rng, SIZES)
    told = np.column_stack([4 * flipped(rng, labels, 0.1) - 2, rng.normal(size=(sum(SIZES), 3))])
    folder = tmp_path_factory.mktemp("own-score") / "run"
    sets = [numbered(labels, SIZES, "own/planted")]
    return evaluate({"k": encoder_of(told)}, sets, folder, resample=0, controls=CONTROLS, measures=["inlp"])


def correct(run, name):
    (plain,) = [r for r in run.results if r.cell.encoder == "k"]
    result = plain if name is None else next(r for r in run.extras if r.cell.variant == name)
    return run.correct(result)


def test_differences_are_paired_and_adjusted_over_all_controls(run):
    found = compare_with_controls(run, "k")
    # memorise is tested on training rows
    assert {c.control for c in found} == {"shuffled", "gaussian", "norm", "inlp"}
    for c in found:
        own, other = correct(run, None), correct(run, c.control)
        table = [[0, int((own & ~other).sum())], [int((other & ~own).sum()), 0]]
        assert c.comparison.difference == pytest.approx(own.mean() - other.mean())
        assert c.comparison.p_exact == pytest.approx(mcnemar(table, exact=True).pvalue)
        assert c.comparison.p == c.comparison.p_mid
        assert c.comparison.low < c.comparison.difference < c.comparison.high
    holm = multipletests([c.comparison.p for c in found], method="holm")[1]
    assert [c.comparison.p_holm for c in found] == pytest.approx(holm.tolist())
    assert all(c.comparison.better() == "first" for c in found)
    (alone,) = compare_with_controls(run, "k", "norm")
    assert alone.comparison.p_holm == alone.comparison.p  # a family of one, named beforehand


def test_the_summary_and_its_tables_say_which_controls_differ(run):
    found = {c.control: c.comparison for c in compare_with_controls(run, "k")}
    variants = {v.name: v for v in summarise(run).sets[0].variants[0]}
    for name, comparison in found.items():
        assert variants[name].lost_p == pytest.approx(comparison.p_holm)
        assert (variants[name].lost_low, variants[name].lost_high) == (comparison.low, comparison.high)
    assert variants["memorise"].lost_p is None
    (controls, *_) = [t for t in variant_tables(summarise(run)) if t.title.startswith("Controls")]
    marks = {column.title: column.cells[0].mark for column in controls.columns}
    assert marks["norm"] == marks["gaussian"] == "↓"
    assert "significantly below or above the score on the same test rows" in controls.notes[0]


def test_sentence_and_formats(run):
    rows = compare_with_controls(run, "k", ["norm", "gaussian"])
    sentence = control_sentence(rows, "k")
    assert sentence.startswith("The score of k falls significantly with ")
    assert sentence.endswith(" (paired tests, Holm over 2, 5 %).")
    assert "norm on planted (" in sentence
    document = json.loads(format_controls(rows, "k", "json"))
    assert (document["encoder"], document["tests"]) == ("k", 2)
    assert document["controls"][0]["difference"] == pytest.approx(rows[0].comparison.difference)
    assert format_controls(rows, "k", "csv").count("\n") == 3
    assert "| set | control | k | with it | change |" in format_controls(rows, "k", "md")


def test_the_command(run):
    printed = sentprobe("compare", run.folder).stdout
    assert printed.startswith("The score of k falls significantly with")
    assert "Holm over all 4 rows" in " ".join(printed.split())


def test_what_is_not_there_is_said(run):
    with pytest.raises(UsageError, match=r"has no results of 'norms'.*Did you mean norm"):
        compare_with_controls(run, "k", "norms")
    with pytest.raises(UsageError, match="has no results of 'memorise' on the test rows"):
        compare_with_controls(run, "k", "memorise")
