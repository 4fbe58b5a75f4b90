"""Macro F1, Matthews' correlation and the area under the ROC curve: intervals and paired tests against scipy's."""

import numpy as np
import pytest
from scipy.stats import bootstrap, permutation_test

from sentprobe.results.compare import compare
from sentprobe.results.metric import METRICS
from sentprobe.results.scores import _of_rows, interval_by, score_difference
from sentprobe.run import evaluate
from tests.run.test_planted import balanced, encoder_of, flipped, numbered

SIZES = (300, 100, 160)
NAMES = ("macro_f1", "mcc", "auc")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two encoders that know the label in part, on the same rows."""
    rng = np.random.default_rng(3)
    labels = balanced(rng, SIZES)
    encoders = {
        name: encoder_of(np.column_stack([2 * flipped(rng, labels, wrong), rng.normal(size=(sum(SIZES), 2))]))
        for name, wrong in (("good", 0.15), ("fair", 0.35))
    }
    folder = tmp_path_factory.mktemp("metrics") / "run"
    return evaluate(encoders, [numbered(labels, SIZES)], folder, baselines=(), resample=0)


def arrays_of(run, name, metric):
    (result,) = [r for r in run if r.cell.encoder == name]
    return {key: np.asarray(values) for key, values in run.predictions(result).items() if key in metric.needs}


@pytest.mark.parametrize("name", NAMES)
def test_intervals_are_those_of_the_bootstrap(run, name):
    metric = METRICS.get(name)
    arrays = arrays_of(run, "good", metric)
    rows = (np.arange(SIZES[2]),)
    oracle = bootstrap(
        rows, lambda i: metric.score({key: values[i] for key, values in arrays.items()}), vectorized=False,
        n_resamples=4000, method="percentile", rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    # the ends of a thousand draws have a standard error of about a tenth of the half width, 0.01
    assert interval_by(metric, arrays, None) == pytest.approx((oracle.low, oracle.high), abs=0.03)


@pytest.mark.parametrize("name", NAMES)
def test_paired_tests_swap_predictions_as_scipy_does(run, name):
    metric = METRICS.get(name)
    first, second = (arrays_of(run, encoder, metric) for encoder in ("good", "fair"))
    (key,) = set(metric.needs) - {"truth"}
    truth, rows = first["truth"], np.arange(SIZES[2])

    def difference(a, b):
        """Rows below n are the first system's, those from n on the second's."""
        both = np.concatenate([first[key], second[key]])
        return metric.score({key: both[a], "truth": truth}) - metric.score({key: both[b], "truth": truth})

    oracle = permutation_test(
        (rows, rows + len(rows)), difference, permutation_type="samples", n_resamples=1000, vectorized=False,
        rng=np.random.default_rng(2),
    )  # fmt: skip
    (found,) = compare(run, "good", "fair", metric=name)
    assert found.difference == pytest.approx(oracle.statistic)
    assert found.p == pytest.approx(oracle.pvalue, abs=0.03)
    assert found.low < found.difference < found.high
    assert found.better() == "first"


@pytest.mark.parametrize("metric", ["macro_f1", "auc"])
def test_recipes_with_different_numbers_of_trainings(tmp_path, metric):
    rng = np.random.default_rng(4)
    labels = balanced(rng, SIZES)
    columns = [flipped(rng, labels, wrong) for wrong in (0.1, 0.3, 0.2, 0.35)]
    encoders = [encoder_of(np.column_stack([2 * c, rng.normal(size=(sum(SIZES), 2))])) for c in columns]
    recipes = {"three": encoders[:3], "one": encoders[3]}
    run = evaluate(recipes, [numbered(labels, SIZES)], tmp_path / "run", baselines=(), resample=0)
    part = METRICS.get(metric)
    names = ("three 1", "three 2", "three 3", "one")
    sides = [[arrays_of(run, name, part) for name in side] for side in (names[:3], names[3:])]
    (key,) = set(part.needs) - {"truth"}
    truth = sides[1][0]["truth"]

    def gap(first, second):
        scores = [[part.score({key: a, "truth": truth}) for a in side] for side in (first, second)]
        return np.mean(scores[0]) - np.mean(scores[1])

    first, (second,) = ([arrays[key] for arrays in side] for side in sides)
    observed, as_large = gap(first, [second]), 0
    for _ in range(1000):
        # each training swaps the same rows with the single encoder
        swap = (rng.random(SIZES[2]) < 0.5).reshape(-1, *(1,) * (second.ndim - 1))
        swapped = [np.where(swap, second, a) for a in first], [np.where(swap, a, second) for a in first]
        as_large += abs(gap(*swapped)) >= abs(observed)
    results = [[r for r in run if r.cell.encoder in side] for side in (names[:3], names[3:])]
    found, alone = score_difference(run, *results, part), _of_rows(run, *results, part)
    assert alone.value == found.value == pytest.approx(observed)
    assert alone.p == pytest.approx(as_large / 1000, abs=0.03)
    low, high = alone.interval(None)
    assert low < observed < high
    assert (low + high) / 2 == pytest.approx(observed, abs=0.02)  # of all trainings, and not of the first
    assert found.p >= alone.p
