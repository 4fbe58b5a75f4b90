"""Classes that count the same: against scikit-learn's class_weight="balanced"."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sentprobe.errors import UsageError
from sentprobe.probes import Features, fit, parse
from sentprobe.probes.fitting import leave_groups_out
from tests.probes.test_convex import CLOSE, draw, fitted, probabilities


def weighted(l2, **more):
    settings = "&".join(f"{name}={value}" for name, value in more.items())
    return parse(f"linear?l2={l2}&weights=balanced{'&' + settings if settings else ''}")[1]


def uneven(n, d, classes, seed=0):
    """Rows of which the first class has most, and vectors that tell the classes in part."""
    x, y = draw(n, d, classes, seed, noise=0.5)
    kept = np.random.default_rng(seed).random(n) < np.where(y == 0, 1.0, 0.12)
    kept[[int(np.flatnonzero(y == k)[0]) for k in range(classes)]] = True
    return x[kept], y[kept]


def oracle(x, y, l2, standardise=True):
    seen = StandardScaler().fit_transform(x.astype(np.float64)) if standardise else x
    model = LogisticRegression(C=1 / (len(y) * l2), tol=1e-10, max_iter=100_000, class_weight="balanced")
    with threadpool_limits(limits=1):
        return model.fit(seen, y).predict_proba(seen)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(("n", "d"), [(800, 12), (90, 120)])
@pytest.mark.parametrize("l2", [1e-3, 1e-1])
def test_the_optimum_is_that_of_scikit_learn(n, d, classes, l2):
    x, y = uneven(n, d, classes)
    found = fitted(weighted(l2), x, y, classes)
    assert np.abs(probabilities(found, x) - oracle(x, y, l2)).max() < CLOSE
    # and not that of rows which all count the same
    plain = fitted(parse(f"linear?l2={l2}")[1], x, y, classes)
    assert np.abs(probabilities(plain, x) - oracle(x, y, l2)).max() > 3 * CLOSE


def test_sparse_rows_have_weights_too():
    x, y = uneven(600, 30, 3)
    x *= np.random.default_rng(0).random(x.shape) < 0.3
    held = Features.of(sparse.csr_array(x))
    found = fitted(weighted(1e-2), held, y, 3)
    assert np.abs(probabilities(found, held) - oracle(x, y, 1e-2)).max() < CLOSE


def test_dev_chooses_by_balanced_accuracy():
    x, y = uneven(900, 10, 2, seed=2)
    dev, dev_y = x[::3], y[::3]
    (found,) = fit(weighted("1e-3,10"), Features.of(x), y, Features.of(dev), dev_y, 2, seeds=(1,))
    for candidate, point in zip(found.candidates, found.tried, strict=True):
        predicted = candidate.scores(Features.of(dev)).argmax(axis=1)
        assert point["accuracy"] == pytest.approx(balanced_accuracy_score(dev_y, predicted))


def test_without_a_group_of_rows_the_weights_stay():
    x, y = uneven(400, 8, 2, seed=3)
    train, probe = Features.of(x), weighted(1e-2)
    found = fitted(probe, x, y, 2)
    groups = np.arange(len(y))[None] % 10
    first, *_ = leave_groups_out(probe, found, train, y, train, y, 2, groups)
    rows, sizes = groups[0] != 0, np.bincount(y)
    seen = StandardScaler().fit_transform(x.astype(np.float64))
    weights = {k: len(y) / (2 * size) for k, size in enumerate(sizes)}  # those of all rows, as its standardisation
    model = LogisticRegression(C=1 / (rows.sum() * 1e-2), tol=1e-10, max_iter=100_000, class_weight=weights)
    expected = model.fit(seen[rows], y[rows]).predict_proba(seen)
    assert np.abs(np.exp(first.scores(train)) - expected).max() < CLOSE


def test_it_is_in_the_name_and_only_of_linear_probes():
    assert parse("linear?weights=balanced")[0] == "linear?weights=balanced"
    with pytest.raises(UsageError, match="changes weights, which has no effect"):
        parse("mlp?weights=balanced")
    with pytest.raises(UsageError, match="weights=even"):
        parse("linear?weights=even")
