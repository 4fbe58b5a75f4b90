"""`sentprobe plan`, of sets and of runs, and what `make` says at its end."""

import csv
import io
import json

import numpy as np
import pytest
from scipy.stats import chi2

from sentprobe import compare, evaluate, find_sets
from sentprobe.cli._sets import differences_text
from sentprobe.data.planning import plan_set
from sentprobe.results.pilot import pilot_plans
from sentprobe.stats.planning import TRAINING
from tests.command_line import sentprobe


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan") / "probes"
    done = sentprobe(
        "make", "--builtin", 3000, "-t", "bigram_shift", "-t", "passive", "--sizes", "200/50/50", "-o", folder
    )
    assert done.returncode == 0, done.stderr
    return folder, done


def set_plans(folder):
    return {source.name: plan_set(source.load()) for source in find_sets([str(folder)])}


def letters(texts):
    return np.array([[text.count(letter) for letter in "abcdefghijklm"] for text in texts], np.float32)


def endings(texts):
    return np.array([[text.count(letter) for letter in "nopqrstuvwxyz"] for text in texts], np.float32)


@pytest.fixture(scope="module", params=[None, 0], ids=["folds", "split"])
def run(request, probes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan") / "run"
    encoders = {"letters": letters, "endings": endings}
    return evaluate(encoders, find_sets([str(probes[0])]), folder, folds=request.param)


def test_make_ends_with_what_the_sets_can_show(probes):
    folder, done = probes
    said = " ".join(done.stderr.split())
    assert "In five folds, the default of `sentprobe run`, differences between encoders of 10 " in said
    assert f"`sentprobe plan {folder} --difference 3` says how many rows smaller ones need." in said


def manifest(test, folds, split):
    return {"sizes": {"made": {"tr": 4 * test, "va": test, "te": test}}, "detects": {"folds": folds, "split": split}}


@pytest.mark.parametrize(
    ("manifests", "expected"),
    [
        (
            [manifest(100, 0.04, 0.1), manifest(200, 0.052, 0.12)],
            "In five folds, the default of `sentprobe run`, differences between encoders of 4 to 5 points or more can "
            "be shown; on test splits alone, of 10 to 12.",
        ),
        (
            [manifest(100, 0.04, 0.1), manifest(1000, 0.02, 0.03)],
            "In five folds, the default of `sentprobe run` for 1 of the 2 sets, differences between encoders of 3 to 4 "
            "points or more can be shown; on test splits alone, of 3 to 10.",
        ),
        (
            [manifest(1000, 0.02, 0.03)],
            "On test splits of this size, differences between encoders of 3 points or more can be shown.",
        ),
    ],
)
def test_the_sentence_about_sets(manifests, expected, tmp_path):
    text = differences_text(manifests, tmp_path)
    assert text == f"{expected} `sentprobe plan {tmp_path} --difference 3` says how many rows smaller ones need."
    assert differences_text([{"sizes": {}}], tmp_path) == ""


def test_sets_are_planned(probes):
    folder, _ = probes
    plans = set_plans(folder)
    document = json.loads(sentprobe("plan", folder, "--difference", "2.5", "--format", "json").stdout)
    assert document["difference"] == 0.025
    assert {row["set"] for row in document["sets"]} == set(plans)
    for row in document["sets"]:
        plan = plans[row["set"]]
        assert row["detects_in_folds"] == pytest.approx(plan.in_folds)
        assert row["detects_in_split"] == pytest.approx(plan.in_split)
        assert (row["rows_needed_in_folds"], row["test_rows_needed"]) == (
            plan.rows_in_folds(0.025),
            plan.test_rows(0.025),
        )
    (first, *_), (second, *_) = (
        csv.DictReader(io.StringIO(sentprobe("plan", folder, *options, "--format", "csv").stdout))
        for options in ((), ("--accuracy", "95"))
    )
    assert int(second["rows_needed_in_folds"]) < int(first["rows_needed_in_folds"])
    table = sentprobe("plan", folder, "--task", "passive")
    assert "rows for 3" in table.stdout
    assert "bigram_shift" not in table.stdout
    assert "| rows for 3 |" in sentprobe("plan", folder, "--format", "md").stdout


def test_a_pilot_detects_what_compare_prints(run):
    in_folds = run.results[0].cell.folds is not None
    comparisons = {row.dataset: row for row in compare(run, "letters", "endings")}
    plans = pilot_plans(run)
    assert {plan.dataset for plan in plans} == comparisons.keys()
    for plan in plans:
        assert plan.pilot == "letters and endings"
        assert plan.by_default == in_folds
        detected = plan.in_folds if in_folds else plan.in_split
        assert detected == pytest.approx(comparisons[plan.dataset].detectable)
        # all rows are planned for, whichever were tested
        assert plan.rows > comparisons[plan.dataset].n or in_folds


def test_a_pilot_says_how_uncertain_it_is(run):
    for plan in pilot_plans(run):
        low, high = plan.variation.uncertainty
        assert 0.3 < low < 1 < high < 4
        # no more certain than a standard deviation of as many rows, and less so the more training rows add
        rows = plan.rows if plan.by_default else plan.test
        assert plan.variation.estimate_df < rows
        assert low < (rows / chi2.ppf(0.975, rows)) ** 0.5
    done = sentprobe("plan", run.folder, "--format", "json")
    sets = json.loads(done.stdout)["sets"]
    assert [(row["factor_low"], row["factor_high"]) for row in sets] == [
        plan.variation.uncertainty for plan in pilot_plans(run)
    ]
    assert "× from … to" in sentprobe("plan", run.folder).stdout


def test_what_is_planned_without_a_pilot_is_what_compare_prints_within_a_factor(run, probes):
    """The factor that the docs name; it is larger at chance, where most answers vary with training rows."""
    in_folds = run.results[0].cell.folds is not None
    plans = set_plans(probes[0])
    for row in compare(run, "letters", "endings"):
        plan = plans[row.dataset]
        planned = plan.in_folds if in_folds else plan.in_split
        assert 0.7 < row.detectable / planned < (1.5 if row.first > 0.6 else 2)


def test_a_run_of_one_encoder_is_planned_with_the_best_baseline(probes, tmp_path):
    run = evaluate({"letters": letters}, find_sets([str(probes[0])]), tmp_path / "run", resample=0)
    for plan in pilot_plans(run):
        scores = {
            r.cell.encoder: r.score
            for r in run.results
            if r.cell.dataset == plan.dataset and r.cell.encoder != "letters"
        }
        assert plan.pilot == f"letters and {max(scores, key=scores.get)}"
        # no probe was retrained: what training adds is assumed
        assert plan.variation.excess == TRAINING


def test_a_run_is_planned_on_the_command_line(run):
    done = sentprobe("plan", run.folder, "letters", "endings", "--difference", 4)
    assert done.returncode == 0, done.stderr
    assert "letters and endings" in done.stdout
    assert "rows for 4" in done.stdout
    assert "Observed: " in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("{probes}", "static:"), "has no run.json: leave out 'static:'"),
        (("{probes}", "--difference", "0"), "--difference 0: expected points of accuracy"),
        (("{probes}", "--accuracy", "100"), "--accuracy 100: expected points of accuracy"),
        (("{run}", "--accuracy", "80"), "--accuracy and --task are for sets"),
        (("{run}", "letters"), "Expected two encoders, or none, got 1"),
        (("nowhere",), "nowhere"),
    ],
)
def test_wrong_use(words, message, run, probes):
    done = sentprobe("plan", *(word.format(probes=probes[0], run=run.folder) for word in words))
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
