"""Means over seeds, and intervals that no seed makes narrower."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.core.plugins import Kind
from sentprobe.report.cells import intervals_of, score
from sentprobe.report.legend import legend
from sentprobe.report.summary import summarise
from sentprobe.results.log import open_log
from sentprobe.results.metric import METRICS, Metric
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.stats.intervals import wilson
from sentprobe.stats.level import level_text
from sentprobe.stats.means import mean
from sentprobe.stats.seeds import hierarchical_bootstrap
from tests.report.runs import cell, result
from tests.run.sets import dataset


def made(right, seed):
    of, k, n = cell("st:a", seed=seed), float(np.sum(right)), len(right)
    return Result(
        key=of.key, cell=of, language="en", labels=("0", "1"), n={"te": n}, score=k / n, scores={"macro_f1": k / n},
        interval=wilson(k, n),
    )  # fmt: skip


def test_a_single_seed_keeps_its_interval():
    (one, _) = result("st:a")
    found = score([one], "accuracy", [one.range])
    assert (found.value, found.low, found.high, found.sd) == (one.accuracy, *one.range, None)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=5))
def test_the_interval_is_around_the_mean_and_stays_between_0_and_1(hits):
    results = [made([i < k for i in range(50)], seed) for seed, k in enumerate(hits)]
    found = score(results, "accuracy", [r.range for r in results])
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.value == pytest.approx(np.mean(hits) / 50)


def test_seeds_that_agree_leave_the_interval_as_it_is():
    results = [made([True] * 40 + [False] * 10, seed) for seed in (1, 2, 3)]
    found = score(results, "accuracy", [r.range for r in results])
    assert (found.low, found.high) == pytest.approx(results[0].range)
    assert found.sd == pytest.approx(0)


@pytest.mark.parametrize("seeds", [2, 5])
@pytest.mark.parametrize("swing", [0.0, 0.05])
def test_it_is_no_narrower_than_the_bootstrap_over_rows_and_seeds(seeds, swing):
    rng = np.random.default_rng(seeds)
    easy = rng.uniform(0.4, 1, 1000)
    right = np.array([rng.random(1000) < (easy + s).clip(0, 1) for s in rng.normal(0, swing, seeds)])
    results = [made(row, i) for i, row in enumerate(right)]
    found = score(results, "accuracy", [r.range for r in results])
    low, high = hierarchical_bootstrap(right, seed=0)
    assert found.high - found.low > 0.95 * (high - low)
    assert found.high - found.low < 2 * (high - low)  # and not wide without need


def test_the_interval_of_a_loss_is_from_the_predictions(tmp_path):
    own = dataset(n=(80, 40, 60), keys=7)
    keys = [row.key for row in own.rows["te"]]
    rows, forms = (result("st:a", own.name, n=60, data=own.digest, forms=f, identity=str(f)) for f in (0, 7))
    with open_log(tmp_path / "run") as log:
        log.describe(encoders=["st:a"])
        log.save_rows(own, own.digest, None)
        for found, arrays in (rows, forms):
            log.add(replace(found, labels=own.labels), arrays)
    run, bits = Run.load(tmp_path / "run"), -rows[1]["log2"].astype(float)
    by_rows, by_forms = sorted(run.results, key=lambda r: r.clusters or 0)
    assert intervals_of(run, [by_rows], "log2_loss") == [mean(bits).interval()]
    assert intervals_of(run, [by_forms], "log2_loss") == [mean(bits, keys).interval()]
    calm = -rows[1]["log2_calibrated"].astype(float)
    assert intervals_of(run, [by_rows], "log2_loss_calibrated") == [mean(calm).interval()]
    assert intervals_of(run, [by_forms], "accuracy") == [forms[0].range]
    assert len(intervals_of(run, [by_forms], "macro_f1")) == 1


@pytest.fixture
def uneven(tmp_path):
    """A run with one result on three rows of one class to each of the other: recalls 1 and 1/2."""
    data = dataset(n=(80, 40, 40))
    truth = np.repeat([0, 1], [30, 10]).astype(np.int32)
    predicted = truth.copy()
    predicted[30:35] = 0
    record, arrays = result("st:a", data.name, n=40, data=data.digest)
    share = float((predicted == truth).mean())
    record = replace(record, labels=data.labels, score=share, interval=wilson(40 * share, 40))
    with open_log(tmp_path / "run") as log:
        log.describe(encoders=["st:a"])
        log.save_rows(data, data.digest, None)
        log.add(record, {**arrays, "predicted": predicted, "truth": truth})
    return Run.load(tmp_path / "run")


def test_a_metric_that_was_not_recorded_is_computed_from_the_predictions(uneven):
    assert score(uneven.results, "balanced_accuracy").value is None  # without the run
    assert score(uneven.results, "balanced_accuracy", run=uneven).value == pytest.approx(0.75)  # (30/30 + 5/10) / 2
    ((low, high),) = intervals_of(uneven, uneven.results, "balanced_accuracy")
    assert low < 0.75 < high < 1


def test_tables_are_of_balanced_accuracy_if_requested(uneven):
    summary = summarise(uneven, metric="balanced_accuracy")
    assert summary.sets[0].cells[0].score.value == pytest.approx(0.75)
    assert legend(summary)[0] == (
        f"Balanced accuracy on test in points; ± is half the width of the {level_text()} interval: Wilson's of each "
        "class, combined, of the trained probe."
    )
    assert not any("Accuracy" in line for line in legend(summary))


def test_a_metric_of_another_package_needs_its_formula_only(uneven, monkeypatch):
    error = Metric(
        name="error_rate", title="error rate", doc="The share of wrong rows.", higher_is_better=False,
        compute=lambda arrays: float((arrays["predicted"] != arrays["truth"]).mean()),
    )  # fmt: skip
    parts, parts_of = {**METRICS.parts(), error.name: error}, Kind.parts
    monkeypatch.setattr(Kind, "parts", lambda kind: parts if kind is METRICS else parts_of(kind))
    summary = summarise(uneven, metric="error_rate")
    error_rate = summary.sets[0].cells[0].score
    assert error_rate.value == pytest.approx(5 / 40)
    assert 0 <= error_rate.low < error_rate.value < error_rate.high
    assert legend(summary)[0].startswith("Error rate on test in points, lower is better; ± is half the width")
