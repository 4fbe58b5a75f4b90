"""Macro F1, Matthews' correlation and the area under the ROC curve: intervals and paired tests against scipy's."""

import numpy as np
import pytest
from scipy.stats import bootstrap, permutation_test

from sentprobe.results.compare import compare
from sentprobe.results.metric import METRICS
from sentprobe.results.scores import interval_by
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
