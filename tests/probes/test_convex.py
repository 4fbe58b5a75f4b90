"""Logistic regression to its optimum: against scikit-learn, against itself in other orders and places, at the edges."""

import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.covariance import LedoitWolf
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sentprobe.errors import DataError, NotInstalled, ShapeError, UsageError
from sentprobe.probes import Features, convex, fit, named
from sentprobe.probes.convex import engine
from sentprobe.probes.convex.preconditioner import MAX_SAMPLE_BYTES, Correlations, RowSample, sample_size, solver
from sentprobe.probes.convex.search import by_search, descend, run_searches

LINEAR = named("linear")
CLOSE = 1e-3
"""How far apart two probabilities of the same optimum may be: what ``TOLERANCE`` is set for."""


def draw(n, d, classes, seed=0, noise=1.0):
    """Vectors (n, d) with correlated dimensions, and labels by noisy linear scores of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) @ (np.eye(d) + rng.normal(size=(d, d)) / np.sqrt(d)) + rng.normal(size=d)
    scores = (x - x.mean(axis=0)) @ rng.normal(size=(d, classes)) / np.sqrt(d)
    return x.astype(np.float32), (scores + noise * rng.gumbel(size=scores.shape)).argmax(axis=1)


def fitted(probe, x, y, classes, dev=None, device=None):
    """The fit on x and y, with dev or else the training rows to choose on."""
    train = x if isinstance(x, Features) else Features.of(x)
    dev, dev_y = dev or (train, y)
    (found,) = fit(probe, train, y, dev, dev_y, classes, seeds=(1,), device=device)
    return found


def chosen_point(found):
    """The point of the grid that dev chose."""
    (point,) = [point for point in found.tried if point["l2"] == found.chosen["l2"]]
    return point


def probabilities(found, x):
    logs = found.model.scores(x if isinstance(x, Features) else Features.of(x))
    assert logs.dtype == np.float32
    assert np.isfinite(logs).all()
    return np.exp(logs.astype(np.float64))


def oracle(x, y, l2, standardise=True):
    """scikit-learn's model and the vectors that it sees."""
    x = x.astype(np.float64)
    seen = StandardScaler().fit_transform(x) if standardise else x
    model = LogisticRegression(C=1 / (len(y) * l2), tol=1e-10, max_iter=100_000)
    with threadpool_limits(limits=1):
        return model.fit(seen, y), seen


def objective(logs, y, weights, l2):
    return -logs[np.arange(len(y)), y].mean() + l2 / 2 * (weights**2).sum()


# the optimum


@pytest.mark.parametrize("models", [1, 3])
def test_gradients_are_the_same_however_many_outputs_are_called_many(models, monkeypatch):
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(50, 8)).astype(np.float32), rng.integers(engine.MANY_OUTPUTS, size=50)
    weights = rng.normal(size=(models * engine.MANY_OUTPUTS, 8)).astype(np.float32)
    bias = rng.normal(size=len(weights)).astype(np.float32)
    many = engine.Numpy().gradients(rows, labels, weights, bias, models)
    monkeypatch.setattr(engine, "MANY_OUTPUTS", 10**6)
    for one, other in zip(many, engine.Numpy().gradients(rows, labels, weights, bias, models), strict=True):
        assert one == pytest.approx(other, abs=1e-5, rel=1e-5)
    logits = (rows.astype(np.float64) @ weights.T + bias).reshape(50, models, -1)
    logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    own = logs[np.arange(50), :, labels]
    assert many[0] == pytest.approx(-own.sum(axis=0), rel=1e-6)
    errors = np.exp(logs)
    errors[np.arange(50), :, labels] -= 1
    assert many[1] == pytest.approx(errors.reshape(50, -1).T @ rows, abs=1e-5, rel=1e-5)


@pytest.mark.parametrize(
    ("classes", "l2", "standardise"),
    [
        *((classes, l2, True) for classes in (2, 3) for l2 in (1e-5, 1e-3, 1e-1)),
        *((20, l2, True) for l2 in (1e-4, 1e-2)),
        *((classes, 1e-3, False) for classes in (2, 3)),
    ],
)
def test_the_optimum_is_that_of_scikit_learn(classes, l2, standardise):
    x, y = draw(1200, 16 if classes < 20 else 6, classes)  # more than one block
    found = fitted(replace(LINEAR, l2=(l2,), standardise=standardise), x, y, classes)
    model, seen = oracle(x, y, l2, standardise)
    wanted = model.predict_proba(seen)
    assert probabilities(found, x) == pytest.approx(wanted, abs=CLOSE)
    assert found.dev == pytest.approx(model.score(seen, y), abs=2 / len(y))
    weights = found.model.weights * (x.std(axis=0, dtype=np.float64) if standardise else 1)
    weights = weights[1] - weights[0] if classes == 2 else weights
    ours = objective(found.model.scores(Features.of(x)).astype(np.float64), y, weights, l2)
    best = objective(np.log(wanted), y, model.coef_, l2)
    assert -1e-8 < ours - best < 10 * convex.TOLERANCE * np.log(classes)
    assert found.tried[0]["converged"]


@pytest.mark.parametrize("l2", [1e-5, 1e-4, 1e-3])
def test_with_many_classes_of_few_rows_dev_scores_are_those_of_scikit_learn(l2):
    x, y = draw(2000, 40, 100)
    y[:100] = np.arange(100)
    # with the weakest penalty it takes about 200 passes: on some processors, a few more than the default allows
    probe = replace(LINEAR, l2=(l2,), passes=400)
    found = fitted(probe, x[:1000], y[:1000], 100, (Features.of(x[1000:]), y[1000:]))
    assert found.tried[0]["converged"]
    x = x.astype(np.float64)
    model, _ = oracle(x[:1000], y[:1000], l2)
    logs = model.predict_log_proba(StandardScaler().fit(x[:1000]).transform(x[1000:]))
    # with one tolerance for all penalties, losses were off by 1e-3 of their size
    assert found.dev == pytest.approx((logs.argmax(axis=1) == y[1000:]).mean(), abs=0.0011)
    assert found.tried[0]["loss"] == pytest.approx(-logs[np.arange(1000), y[1000:]].mean(), rel=6e-4)


def test_a_separable_set_is_fitted_as_far_as_the_penalty_lets():
    x, y = draw(300, 20, 4, noise=0.0)
    found = fitted(replace(LINEAR, l2=(1e-4,)), x, y, 4)
    model, seen = oracle(x, y, 1e-4)
    assert probabilities(found, x) == pytest.approx(model.predict_proba(seen), abs=2 * CLOSE)
    assert found.tried[0]["converged"]


def test_strongly_correlated_dimensions_take_few_passes():
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(3000, 60)) * np.logspace(0, -3, 60)) @ rng.normal(size=(60, 60))
    y = (x[:, 0] + rng.normal(size=3000) > 0).astype(np.int64)
    found = fitted(LINEAR, x.astype(np.float32), y, 2)
    assert chosen_point(found)["converged"]
    # scikit-learn 1.9.1, LogisticRegression(C=1 / (n * 1e-5)), standardised: 307 iterations, with tol=1e-6 1,140
    assert max(point["passes"] for point in found.tried) < 30


@pytest.mark.parametrize("classes", [2, 4])
def test_penalties_fitted_together_one_after_the_other_and_alone_agree(classes, monkeypatch):
    x, y = draw(600, 12, classes)
    together = fitted(LINEAR, x, y, classes)
    strong_first = sorted(LINEAR.l2, reverse=True)
    alone = [fitted(replace(LINEAR, l2=(l2,)), x, y, classes).tried[0] for l2 in strong_first]
    monkeypatch.setattr("sentprobe.probes.convex.path.MAX_COLUMNS", 0)
    sequence = fitted(LINEAR, x, y, classes)
    for point, other, third in zip(together.tried, alone, sequence.tried, strict=True):
        assert point["l2"] == other["l2"] == third["l2"]
        assert other["converged"]
        for rough in (point, third):
            assert rough["loss"] == pytest.approx(other["loss"], abs=1e-4 if rough["converged"] else 1e-3)
    assert chosen_point(together)["converged"]
    assert chosen_point(sequence)["converged"]
    assert sum(p["passes"] for p in sequence.tried) < sum(p["passes"] for p in alone)


def test_weaker_penalties_are_not_tried_once_dev_is_sure_that_they_fit_noise():
    x, y = draw(1500, 150, 2, noise=3.0)
    train, dev = (Features.of(x[:300]), y[:300]), (Features.of(x[300:]), y[300:])
    found = fitted(LINEAR, *train, 2, dev)
    weakest = found.tried[-1]["l2"]
    assert [point["l2"] for point in found.tried] == sorted(LINEAR.l2, reverse=True)[: len(found.tried)]
    assert weakest > min(LINEAR.l2)
    skipped = [fitted(replace(LINEAR, l2=(l2,)), *train, 2, dev) for l2 in LINEAR.l2 if l2 <= weakest]
    assert max(fit.dev for fit in skipped) < found.dev
    # with too few dev rows to be sure, all are tried
    few = Features.of(x[300:340]), y[300:340]
    assert len(fitted(LINEAR, *train, 2, few).tried) == len(LINEAR.l2)


@pytest.mark.parametrize("seed", range(8))
def test_no_penalty_that_was_skipped_is_better_for_sure(seed):
    x, y = draw(1000, 300, 3, seed=seed, noise=0.5)
    train, dev = (Features.of(x[:500]), y[:500]), (Features.of(x[500:]), y[500:])
    found = fitted(LINEAR, *train, 3, dev)
    for l2 in LINEAR.l2:
        alone = fitted(replace(LINEAR, l2=(l2,)), *train, 3, dev)
        tried = [point for point in found.tried if point["l2"] == l2]
        if tried:  # roughly at its optimum
            assert tried[0]["accuracy"] == pytest.approx(alone.dev, abs=0.01)
            assert tried[0]["loss"] == pytest.approx(alone.tried[0]["loss"], abs=0.02)
        assert alone.dev <= found.dev + 0.01


def test_the_chosen_penalty_is_at_its_optimum_and_has_the_best_score():
    x, y = draw(2000, 60, 3, noise=2.0)
    train, dev = (Features.of(x[:1000]), y[:1000]), (Features.of(x[1000:]), y[1000:])
    for watch, best in (("accuracy", lambda p: (p["accuracy"], -p["loss"])), ("loss", lambda p: -p["loss"])):
        found = fitted(replace(LINEAR, watch=watch), *train, 3, dev)
        assert chosen_point(found) == max(found.tried, key=best)
        assert chosen_point(found)["converged"]
        alone = fitted(replace(LINEAR, watch=watch, l2=(found.chosen["l2"],)), *train, 3, dev)
        assert probabilities(found, x) == pytest.approx(probabilities(alone, x), abs=2 * CLOSE)


def test_a_penalty_of_0_may_be_among_them(monkeypatch):
    x, y = draw(600, 12, 3)
    monkeypatch.setattr("sentprobe.probes.convex.path.MAX_COLUMNS", 0)
    found = fitted(replace(LINEAR, l2=(0.0, 1e-2, 1e-1), watch="loss"), x, y, 3)
    assert found.tried[2]["loss"] < found.tried[1]["loss"] < found.tried[0]["loss"]
    assert found.chosen == {"l2": 0.0}
    assert found.tried[2]["converged"]


def test_with_many_classes_few_arrays_of_the_size_of_a_model_are_kept(monkeypatch):
    monkeypatch.setattr("sentprobe.probes.convex.search.MEMORY", 3)
    rng = np.random.default_rng(0)
    words, y = rng.integers(1500, size=(900, 10)), np.arange(900) % 90
    words[:, 0] = y
    x = sparse.csr_array((np.ones(9000, np.float32), words.ravel(), np.arange(0, 9001, 10)), shape=(900, 1500))
    tracemalloc.start()
    try:
        fitted(LINEAR, Features.of(x), y, 90)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # a search: its point and gradient, those it tries, and three steps of three arrays in float32; besides, six models
    assert most < 19 * 8 * 90 * 1501


@pytest.mark.parametrize("rows", [5, 20, 40, 500])
@pytest.mark.parametrize("classes", [2, 3])
def test_how_many_rows_precondition_a_search_does_not_change_its_end(rows, classes, monkeypatch):
    x, y = draw(500, 40, classes)
    probe = replace(LINEAR, l2=(1e-3,))
    usual = fitted(probe, x, y, classes)
    monkeypatch.setattr("sentprobe.probes.convex.data.sample_size", lambda *_: rows)
    other = fitted(probe, x, y, classes)
    assert other.tried[0]["converged"]
    assert probabilities(usual, x) == pytest.approx(probabilities(other, x), abs=2 * CLOSE)


def test_the_woodbury_identity_inverts_the_same_matrix():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12, 30)).astype(np.float32)
    curvature, penalty = np.array([0.2, 0.1, 0.05]), rng.uniform(0.01, 1, size=30)
    sample = RowSample.of(rows, 100)
    assert 0 < sample.shrinkage < 1
    given = rng.normal(size=(3, 31)).astype(np.float32)
    for each in (penalty, np.full(30, 0.1)):
        hessian = np.diag(curvature.mean() * sample.shrinkage + each)
        hessian += curvature.mean() * (1 - sample.shrinkage) * rows.T.astype(np.float64) @ rows / 12
        typical = np.median(each)
        wanted = np.linalg.solve(hessian, given[:, :-1].T).T
        wanted *= ((curvature.mean() + typical) / (curvature + typical))[:, None]
        wanted = np.column_stack([wanted, given[:, -1] / curvature])
        assert sample.solver(curvature, each)(given) == pytest.approx(wanted - wanted.mean(axis=0), abs=1e-4)


@pytest.mark.parametrize("n", [20, 60, 400])
def test_correlations_are_shrunk_as_by_scikit_learn(n):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(n, 40)) @ (np.eye(40) + rng.normal(size=(40, 40)) / 6)
    rows = StandardScaler().fit_transform(rows)
    wanted = LedoitWolf(assume_centered=True).fit(rows)
    single = rows.astype(np.float32)
    many = 10**9
    assert RowSample.of(single, many).shrinkage == pytest.approx(wanted.shrinkage_, abs=1e-5)
    assert RowSample.of(single, n).shrinkage == 0  # nothing is estimated from all rows
    fourth = float((rows**2).sum(axis=1) @ (rows**2).sum(axis=1))
    found = Correlations.of(single.T @ single, fourth, n, many).matrix
    assert found == pytest.approx(wanted.covariance_, abs=1e-5)


def test_a_sample_for_preconditioning_grows_with_what_it_saves():
    sizes = [sample_size(100_000, 1024, outputs, 6) for outputs in (1, 20, 1000)]
    assert sizes == sorted(sizes)
    assert sample_size(50, 4096, 1, 6) == 50
    for n, d in ((1000, 50), (10_000, 2048), (100_000, 4096), (100_000, 20_000)):
        size = sample_size(n, d, 1, 6)
        assert 0 < size <= n
        assert 4 * d * min(d, size) <= MAX_SAMPLE_BYTES


def test_an_end_before_the_optimum_is_told():
    x, y = draw(500, 20, 3)
    found = fitted(replace(LINEAR, passes=2), x, y, 3)
    assert [point["converged"] for point in found.tried[:3]] == [False] * 3
    assert max(point["passes"] for point in found.tried) == 2
    none = fitted(replace(LINEAR, passes=0), x, y, 3)
    assert probabilities(none, x[:1])[0] == pytest.approx(np.bincount(y) / len(y), abs=1e-6)


# other orders and places


sizes = st.integers(2, 5)


@settings(max_examples=12)
@given(classes=sizes, seed=st.integers(0, 99), data=st.data())
def test_relabelling_classes_permutes_predictions(classes, seed, data):
    x, y = draw(150, 6, classes, seed)
    new = np.array(data.draw(st.permutations(range(classes))))
    probe = replace(LINEAR, l2=(1e-3, 1e-1))
    found, other = fitted(probe, x, y, classes), fitted(probe, x, new[y], classes)
    assert found.chosen == other.chosen or found.dev == pytest.approx(other.dev, abs=0.01)
    if found.chosen == other.chosen:
        assert probabilities(other, x)[:, new] == pytest.approx(probabilities(found, x), abs=CLOSE)


@settings(max_examples=12)
@given(classes=sizes, seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(classes, seed):
    x, y = draw(1500, 6, classes, seed)
    order = np.random.default_rng(seed).permutation(len(y))
    probe = replace(LINEAR, l2=(1e-3,))
    found, other = fitted(probe, x, y, classes), fitted(probe, x[order], y[order], classes)
    assert probabilities(other, x) == pytest.approx(probabilities(found, x), abs=CLOSE)


def same(one, other):
    """To the last bit."""
    assert one.tried == other.tried
    assert np.array_equal(one.model.weights, other.model.weights)
    assert np.array_equal(one.model.bias, other.model.bias)


@pytest.mark.parametrize("kept", [0, 2**28])
@pytest.mark.parametrize("classes", [2, 5])
def test_the_place_of_the_rows_does_not_matter(classes, kept, tmp_path, monkeypatch):
    monkeypatch.setattr("sentprobe.probes.convex.data.MAX_CACHED_BYTES", kept)
    x, y = draw(2100, 10, classes)
    found = fitted(LINEAR, x, y, classes)
    np.save(tmp_path / "x.npy", x)
    same(found, fitted(LINEAR, np.load(tmp_path / "x.npy", mmap_mode="r"), y, classes))
    same(found, fitted(LINEAR, x.astype(np.float64), y, classes))
    same(found, fitted(LINEAR, np.asfortranarray(x), y, classes))
    rows = np.arange(len(x))
    same(found, fitted(LINEAR, Features((x[:, :4], np.ascontiguousarray(x[:, 4:])), (rows, rows)), y, classes))
    longer = np.concatenate([x[:7] * 9, x, x[:5] * 9])
    same(found, fitted(LINEAR, Features((longer,), (rows + 7,)), y, classes))
    same(found, fitted(LINEAR, Features((x[::-1],), (rows[::-1],)), y, classes))
    scattered = np.random.default_rng(0).permutation(len(x))
    same(found, fitted(LINEAR, Features((x[scattered],), (np.argsort(scattered),)), y, classes))


def test_the_number_of_threads_does_not_matter():
    x, y = draw(3000, 80, 6)
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            found.append(fitted(LINEAR, x, y, 6))
            found[-1].model.scores(Features.of(x))
    same(*found)
    with threadpool_limits(limits=1):
        one = found[0].model.scores(Features.of(x))
    with threadpool_limits(limits=2):
        assert np.array_equal(one, found[1].model.scores(Features.of(x)))


def test_seeds_do_not_matter():
    x, y = draw(100, 5, 2)
    found = fit(LINEAR, Features.of(x), y, Features.of(x), y, 2, seeds=(3, 1, 2))
    assert [each.seed for each in found] == [3, 1, 2]
    assert all(each.model is found[0].model for each in found)


def test_no_table_of_rows_and_classes_is_made():
    n, classes = 20_000, 200
    x, y = draw(n, 8, classes)
    probe = replace(LINEAR, l2=(1e-2, 1e-1), passes=3)
    dev = Features.of(x[:100]), y[:100]
    tracemalloc.start()
    fitted(probe, x, y, classes, dev)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * n * classes / 2


# what dev chooses


def test_of_several_as_accurate_the_one_with_the_lowest_loss_is_chosen():
    x, y = draw(200, 4, 2, noise=0.0)
    right = fitted(LINEAR, x, y, 2).model.scores(Features.of(x)).argmax(axis=1) == y
    sure = np.flatnonzero(right & (np.abs(x @ np.linalg.lstsq(x, 2.0 * y - 1, rcond=None)[0]) > 0.5))[:10]
    found = fitted(LINEAR, x, y, 2, (Features.of(x[sure]), y[sure]))
    as_good = [point for point in found.tried if point["accuracy"] == found.dev]
    assert len(as_good) > 1
    assert found.chosen["l2"] == min(as_good, key=lambda point: point["loss"])["l2"] < max(p["l2"] for p in as_good)


def test_of_several_as_good_the_strongest_penalty_is_chosen():
    x, y = draw(200, 4, 2, noise=0.0)
    dev = Features.of(x), np.full(len(y), -1)  # all are misses, whatever the penalty
    for l2 in ((1e-3, 1e-1, 1e-2), (1e-1, 1e-2, 1e-3)):
        found = fitted(replace(LINEAR, l2=l2), x, y, 2, dev)
        assert found.chosen == {"l2": 1e-1}
        assert found.dev == 0
        assert [point["l2"] for point in found.tried] == sorted(l2, reverse=True)
        assert all(np.isnan(point["loss"]) for point in found.tried)


def test_what_is_watched_chooses():
    x, y = draw(60, 30, 2, noise=0.3)
    dev_x, dev_y = draw(400, 30, 2, noise=0.3)
    for watch, best in (("accuracy", lambda p: (p["accuracy"], -p["loss"])), ("loss", lambda p: -p["loss"])):
        found = fitted(replace(LINEAR, watch=watch), x, y, 2, (Features.of(dev_x), dev_y))
        chosen = max(found.tried, key=best)
        assert found.chosen == {"l2": chosen["l2"]}
        assert found.dev == chosen["accuracy"]
        logs = found.model.scores(Features.of(dev_x))
        assert found.dev == (logs.argmax(axis=1) == dev_y).mean()
        assert chosen["loss"] == pytest.approx(-logs[np.arange(400), dev_y].mean(), abs=1e-6)


def test_an_unknown_dev_label_is_a_miss_and_has_no_loss():
    x, y = draw(300, 5, 3)
    known = fitted(LINEAR, x, y, 3, (Features.of(x[:40]), y[:40]))
    labels = np.concatenate([y[:40], np.full(10, -1)])
    other = fitted(LINEAR, x, y, 3, (Features.of(x[:50]), labels))
    for a, b in zip(known.tried, other.tried, strict=True):
        assert b["accuracy"] == pytest.approx(a["accuracy"] * 40 / 50)
        assert b["loss"] == pytest.approx(a["loss"], abs=1e-9)


# the edges


def awkward():
    """Vectors and labels by name."""
    x, y = draw(400, 8, 3)
    rng = np.random.default_rng(1)
    rare = np.where(y == 2, 0, y)
    rare[7] = 2
    wide = draw(30, 90, 3)
    constant = np.full((400, 2), (0.1, 1e6), np.float32)
    return {
        "large": (x * np.float32(1e6), y),
        "small": (x * np.float32(1e-6), y),
        "huge": (x * np.float32(1e30), y),
        "tiny": (x * np.float32(1e-30), y),
        "of all sizes": (x * 10.0 ** np.arange(-6, 10, 2, np.float32), y),
        "far from 0": (x + np.float32(1e3) * x.std(axis=0), y),
        "one dimension": (x[:, :1], y),
        "one dimension, two classes": (x[:, :1], (y > 0).astype(np.int64)),
        "more dimensions than rows": wide,
        "constant and repeated columns": (np.hstack([x, constant, x[:, :3], 0 * constant]), y),
        "a class with one row": (x, rare),
        "two classes, one with one row": (x, (np.arange(400) == 9).astype(np.int64)),
        "sorted": (x[np.argsort(y)], np.sort(y)),
        "few rows": (x[:4], np.array([1, 0, 2, 1])),
        "two rows": (x[:2], np.array([1, 0])),
        "unbalanced": (x, np.minimum(rng.geometric(0.5, 400) - 1, 5)),
    }


@pytest.mark.parametrize("name", awkward())
def test_awkward_vectors_have_the_optimum_of_scikit_learn(name):
    x, y = awkward()[name]
    for l2 in (1e-4, 1e-1):
        found = fitted(replace(LINEAR, l2=(l2,)), x, y, int(y.max()) + 1)
        model, seen = oracle(x, y, l2)
        assert probabilities(found, x) == pytest.approx(model.predict_proba(seen), abs=2 * CLOSE)
        assert found.tried[0]["converged"]


def test_constant_vectors_say_how_frequent_the_classes_are():
    y = np.array([0, 1, 1, 2, 1, 0, 1])
    found = fitted(LINEAR, np.full((7, 3), 5, np.float32), y, 3)
    assert probabilities(found, np.full((1, 3), 5, np.float32))[0] == pytest.approx(np.array([2, 4, 1]) / 7, abs=1e-6)


@pytest.mark.parametrize(("labels", "classes"), [([2, 2, 2], 3), ([0], 2), ([0, 0], 1), ([1, 3, 3, 1], 5)])
def test_classes_without_rows_weigh_half_a_row_together(labels, classes):
    y = np.array(labels)
    x = np.zeros((len(y), 2), np.float32)
    found = fitted(LINEAR, x, y, classes)
    shares = probabilities(found, x[:1])[0]
    counts = np.bincount(y, minlength=classes).astype(float)
    counts[counts == 0] = 0.5 / max(1, (counts == 0).sum())
    assert shares == pytest.approx(counts / counts.sum(), abs=1e-6)


def test_a_class_that_dev_lacks_does_no_harm():
    x, y = draw(300, 5, 3)
    some = np.flatnonzero(y != 1)[:20]
    found = fitted(LINEAR, x, y, 3, (Features.of(x[some]), y[some]))
    assert found.dev == (found.model.scores(Features.of(x[some])).argmax(axis=1) == y[some]).mean()


def test_what_cannot_be_fitted_is_refused():
    x, y = draw(30, 4, 2)
    with pytest.raises(ShapeError, match="29 labels"):
        fitted(LINEAR, x, y[:29], 2)
    with pytest.raises(ShapeError, match="0 dev rows"):
        fitted(LINEAR, x, y, 2, (Features.of(x[:0]), y[:0]))
    for bad in (np.nan, np.inf):
        broken = x.copy()
        broken[3, 1] = bad
        with pytest.raises(DataError, match="1 of 4 dimensions"):
            fitted(LINEAR, broken, y, 2)


# devices


@pytest.mark.parametrize("classes", [2, 5])
def test_torch_finds_the_same_optimum(classes):
    pytest.importorskip("torch")
    x, y = draw(2500, 20, classes)
    found, other = fitted(LINEAR, x, y, classes), fitted(LINEAR, x, y, classes, device="cpu")
    assert found.chosen == other.chosen
    for a, b in zip(found.tried, other.tried, strict=True):
        assert a["loss"] == pytest.approx(b["loss"], abs=1e-4 if b["converged"] else 1e-3)
    assert chosen_point(other)["converged"]
    probe = replace(LINEAR, l2=(1e-3,))
    pair = [probabilities(fitted(probe, x, y, classes, device=device), x) for device in (None, "cpu")]
    assert pair[0] == pytest.approx(pair[1], abs=CLOSE)


def test_a_device_that_is_none_is_refused():
    pytest.importorskip("torch")
    x, y = draw(30, 4, 2)
    with pytest.raises(UsageError, match="toaster"):
        fitted(LINEAR, x, y, 2, device="toaster")


def test_a_device_without_torch_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    x, y = draw(30, 4, 2)
    with pytest.raises(NotInstalled, match=r"pip install .*\[transformers\]"):
        fitted(LINEAR, x, y, 2, device="cpu")


# the search


def search(value, start, penalty=0.0, limit=100):
    """The end of a search whose preconditioner knows nothing."""
    penalty = np.full(start.shape[1] - 1, penalty)
    solve = solver(None, np.ones(len(start)), penalty)
    begun = descend(start, value(start), np.append(penalty, 0.0), solve, tolerance=1e-12, limit=limit)
    return run_searches({"it": begun}, by_search(lambda points: [value(point) for point in points]))["it"]


def test_a_quadratic_is_solved():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(30, 6))
    matrix = matrix.T @ matrix / 30
    goal = rng.normal(size=6)

    def value(point):
        rest = point[0] - goal
        return 1 + 0.5 * rest @ matrix @ rest, (matrix @ rest)[None]

    end = search(value, np.zeros((1, 6)))
    assert end.converged
    assert end.point[0] == pytest.approx(goal, abs=1e-4)
    assert end.value[0] == pytest.approx(1, abs=1e-9)


def test_steps_into_the_undefined_are_shortened():
    def value(point):
        room = 1 - point[0, 0]
        if room <= 0:  # 3 - log(1 - x) - 20 x, which has its minimum at 0.95, is no number from 1 on
            return float("nan"), np.full_like(point, np.nan)
        return 3 - np.log(room) - 20 * point[0, 0], np.array([[1 / room - 20, 0.0]])

    end = search(value, np.zeros((1, 2)))
    assert end.converged
    assert end.point[0, 0] == pytest.approx(0.95, abs=1e-4)


def test_a_loss_that_lies_about_its_slope_is_given_up():
    end = search(lambda point: (1 + np.abs(point).sum(), -np.ones_like(point)), np.zeros((1, 3)))
    assert not end.converged
    assert end.passes < 100
