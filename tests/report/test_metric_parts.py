"""A metric of another package is one file: tables, page, figures, legends and comparisons follow from it."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, matthews_corrcoef

from sentprobe.cli import app
from sentprobe.data.dataset import Dataset
from sentprobe.report.legend import legend
from sentprobe.report.summary import full_summary, summarise
from sentprobe.results.compare import compare, ties
from sentprobe.results.log import open_log
from sentprobe.results.run import Run
from sentprobe.stats.intervals import wilson
from sentprobe.tasks import Example
from tests.plugins import plugin  # noqa: F401 - a fixture
from tests.report.runs import SHIFT, SUBJ, beside, number, result, written

MATTHEWS = """
import numpy as np

from sentprobe.results.metric import Metric


def compute(arrays):
    pairs = np.corrcoef(arrays["predicted"], arrays["truth"]) if np.ptp(arrays["predicted"]) else np.zeros((2, 2))
    return float(pairs[0, 1])


metric = Metric(
    name="matthews", title="Matthews correlation", doc="The correlation of two predicted and true classes.",
    compute=compute, range=(-1.0, 1.0), axis="Matthews correlation × 100",
)
"""


@pytest.fixture
def run(tmp_path, plugin):  # noqa: F811 - the fixture
    plugin("metrics", MATTHEWS, "matthews")
    records = [
        result(name, dataset, p=p, n=120) for name, p in (("st:a", 0.9), ("st:b", 0.7)) for dataset in (SUBJ, SHIFT)
    ]
    return written(tmp_path / "run", *beside(n=120), *records)


def expected_scores(run, function=matthews_corrcoef):
    """By encoder and set, as scikit-learn computes them."""
    return {
        (r.cell.encoder, r.cell.dataset): function(*(run.predictions(r)[name] for name in ("truth", "predicted")))
        for r in run.results
    }


def test_its_scores_are_those_of_scikit_learn_with_intervals_and_tests(run):
    expected = expected_scores(run)
    summary = summarise(run, metric="matthews")
    for s in summary.sets:
        assert s.scored_by == "matthews"
        for column, cell in zip(summary.columns, s.cells, strict=True):
            assert cell.score.value == pytest.approx(expected[column.encoder, s.name])
            assert -1 <= cell.score.low < cell.score.value < cell.score.high <= 1
            assert cell.against.p is not None
            assert cell.against.value == pytest.approx(expected[cell.against.baseline, s.name])
            assert cell.by_metric["matthews"] == pytest.approx(expected[column.encoder, s.name])
    assert summary.sets[0].cells[0].against.verdict == "above"
    lines = legend(summary)
    assert lines[0].startswith("Matthews correlation on test in points; ± is half the width of the")
    assert "bootstrap over rows, of the trained probe" in lines[0]
    assert any(line.startswith("†") and "swaps the predictions" in line for line in lines)


def texts(path, capsys):
    """What each command prints or writes of a run by the metric."""
    for name in ("table", "md", "tex"):
        app(["show", str(path), "--metric", "matthews", "--format", name], result_action="return_value")
        yield name, capsys.readouterr().out
    page, figure = path.parent / "report.html", path.parent / "intervals.svg"
    app(["report", str(path), "--metric", "matthews", "-o", str(page)], result_action="return_value")
    yield "page", re.search(r'<section[^>]*id="results".*?</section>', page.read_text("utf-8"), re.DOTALL)[0]
    app(
        ["figure", str(path), "-k", "intervals", "--metric", "matthews", "-o", str(figure)],
        result_action="return_value",
    )
    yield "caption", capsys.readouterr().out
    yield "figure", figure.read_text("utf-8")
    for names in (("st:a", "st:b"), ("st:a", "st:b", "nb-uni")):
        app(["compare", str(path), *names, "--metric", "matthews"], result_action="return_value")
        yield f"compare {len(names)}", capsys.readouterr().out


def test_it_is_named_wherever_its_scores_are_and_nothing_else_is(run, capsys):
    expected = expected_scores(run)["st:a", SUBJ]
    for what, text in texts(run.folder, capsys):
        flat = re.sub(r"\\s+", " ", text)
        assert "ccuracy" not in flat, what
        assert "Wilson" not in flat, what
        if what != "caption":
            assert "Matthews correlation" in flat, what
        if what not in ("caption", "figure"):
            assert f"{100 * expected:.1f}" in flat, what


def test_csv_and_json_have_a_column_for_it_and_for_balanced_accuracy(run, capsys):
    app(["show", str(run.folder), "--format", "csv"], result_action="return_value")
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    for name, function in (("matthews", matthews_corrcoef), ("balanced_accuracy", balanced_accuracy_score)):
        expected = expected_scores(run, function)
        assert {(row["encoder"], row["dataset"]): float(row[name]) for row in rows} == pytest.approx(expected)
    app(["show", str(run.folder), "--format", "json"], result_action="return_value")
    summary = json.loads(capsys.readouterr().out)
    by_metric = summary["sets"][0]["cells"][0]["by_metric"]
    encoder, name = summary["columns"][0]["encoder"], summary["sets"][0]["name"]
    assert by_metric["balanced_accuracy"] == pytest.approx(expected[encoder, name])


def test_comparisons_are_by_the_metric_and_about_the_trained_probes(run):
    expected = expected_scores(run)
    for c in compare(run, "st:a", "st:b", metric="matthews"):
        assert (c.first, c.second) == pytest.approx((expected["st:a", c.dataset], expected["st:b", c.dataset]))
        assert c.low < c.difference < c.high
        assert c.about == "probe"
        assert c.verdict() == "first"
    for groups in ties(run, ["st:a", "st:b", "nb-uni"], metric="matthews"):
        assert groups.letters["st:a"] == "a"
        assert groups.letters["st:b"] != "a"


def test_controls_are_of_accuracy_and_not_on_a_page_by_another_metric(run):
    assert not any(column for s in full_summary(run, metric="matthews").sets for column in s.variants)


@pytest.fixture
def uneven(tmp_path, plugin):  # noqa: F811 - the fixture
    """A run on a set whose manifest names a metric, three rows of one class to each of the other; and another set."""
    plugin("metrics", MATTHEWS, "matthews")
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [90, 30]).astype(np.int32)

    def write(metric):
        with open_log(tmp_path / f"run-{metric}") as log:
            log.describe(encoders=["st:a", "majority"])
            for name in (SUBJ, SHIFT):
                digest = f"{number(name):016x}"
                rows = [Example(("NN", "NNS")[label], ("word",), "word") for label in truth]
                log.save_rows(Dataset(name, name, 1, "en", ("NN", "NNS"), {"te": rows}), digest, None)
                log.describe(datasets=[{"digest": digest, "name": name} | ({"metric": metric} if name == SUBJ else {})])
                for encoder, errors in (("st:a", 0.1), ("majority", 0.0)):
                    predicted = np.where(rng.random(120) < errors, 1 - truth, truth if errors else 0).astype(np.int32)
                    probe = "linear" if errors else None
                    record, _ = result(encoder, name, n=120, data=digest, probe=probe)
                    share = float((predicted == truth).mean())
                    log.add(
                        replace(record, score=share, interval=wilson(120 * share, 120)),
                        {"predicted": predicted, "truth": truth},
                    )
        return Run.load(tmp_path / f"run-{metric}")

    return write


@pytest.mark.parametrize(
    ("metric", "function"), [("balanced_accuracy", balanced_accuracy_score), ("matthews", matthews_corrcoef)]
)
def test_a_set_is_scored_by_the_metric_of_its_manifest(uneven, metric, function):
    run = uneven(metric)
    expected = expected_scores(run, function)
    summary = full_summary(run)
    subject, shift = (next(s for s in summary.sets if s.name == name) for name in (SUBJ, SHIFT))
    assert (subject.scored_by, shift.scored_by) == (metric, "accuracy")
    assert subject.cells[0].score.value == pytest.approx(expected["st:a", SUBJ])
    assert subject.cells[0].against.value == pytest.approx(expected["majority", SUBJ])
    assert subject.meanings[0].kind in ("above", "holds")
    assert f"{100 * expected['st:a', SUBJ] - 100 * expected['majority', SUBJ]:+.1f}" in subject.meanings[0].reason
    assert shift.cells[0].score.value == pytest.approx(expected_scores(run, accuracy_score)["st:a", SHIFT])
    title = {"balanced_accuracy": "balanced accuracy", "matthews": "Matthews correlation"}[metric]
    assert any(line.startswith(f"{SUBJ}: {title} on test in points; ±") for line in legend(summary))


def test_a_metric_that_is_not_installed_is_a_note(uneven):
    summary = summarise(uneven("kappa"))
    assert next(s for s in summary.sets if s.name == SUBJ).scored_by == "accuracy"
    assert any("its metric kappa is not installed" in note for note in summary.notes)
