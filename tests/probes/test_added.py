"""What vectors add: nothing where they are a function of the baseline, and the bits that were planted beyond it."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.added_coverage import NOTHING, draw, measure
from sentprobe.probes import Features
from sentprobe.probes.added import Labels, SplitFeatures, add_vectors, imitate, probe_baseline

LARGE, SMALL = (1500, 500, 1500), (300, 100, 200)


# known answers


@pytest.mark.parametrize("case", NOTHING)
def test_a_function_of_the_baseline_adds_nothing(case):
    """In benchmarks/added_coverage.py, one of 2,400 intervals of these cases was above 0, and two were below it."""
    for seed in range(4):
        *drawn, truth = draw(case, SMALL, seed)
        added = measure(*drawn)
        assert truth == 0
        assert added.low <= 0 <= added.high
        assert abs(added.bits) < 0.05


@pytest.mark.parametrize("case", ["copy", "map", "scaled"])
def test_a_linear_function_of_the_baseline_adds_exactly_nothing(case):
    *drawn, _ = draw(case, LARGE, 1)
    added = measure(*drawn)
    assert added.bits == pytest.approx(0, abs=1e-4)
    assert added.high - added.low < 1e-3


@pytest.mark.parametrize(("case", "bits"), [("flipped", 0.212), ("sum", 0.200)])
def test_what_was_planted_beyond_the_baseline_is_what_is_added(case, bits):
    """The truth is exact: by counting, and by Gaussian quadrature. Of eight intervals of 95 %, five cover in 0.6 %."""
    found = []
    for seed in range(8):
        *drawn, truth = draw(case, LARGE, seed)
        found.append(measure(*drawn))
        assert truth == pytest.approx(bits, abs=0.001)
        assert found[-1].low > 0.1
        assert found[-1].pointwise.mean() == pytest.approx(found[-1].bits)
    assert sum(added.low <= truth <= added.high for added in found) >= 6
    # a probe of 1,500 rows finds a little less than there is
    assert truth - 0.025 < np.mean([added.bits for added in found]) < truth + 0.015


def test_several_classes_add_up():
    """The class is a pair of bits, of which one is given; the vectors have the other, wrong in 11 % of the rows."""
    rng, wrong = np.random.default_rng(0), 0.11
    first, second = rng.integers(2, size=(2, sum(LARGE)))
    labels, told = 2 * first + second, second ^ (rng.random(sum(LARGE)) < wrong)
    given = np.column_stack([first, rng.normal(size=(len(first), 4))]).astype(np.float32)
    own = np.column_stack([told, first, rng.normal(size=(len(first), 4))]).astype(np.float32)
    truth = 1 + wrong * np.log2(wrong) + (1 - wrong) * np.log2(1 - wrong)
    parts = np.split(np.arange(len(labels)), np.cumsum(LARGE)[:-1])
    known = Labels(labels[parts[0]], labels[parts[1]], 4)
    views = [SplitFeatures(*(Features.of(x[rows]) for rows in parts)) for x in (given, own)]
    found = add_vectors(probe_baseline(views[:1], known, np.arange(LARGE[0]) % 5), views[1], known)
    test, rows = labels[parts[2]], np.arange(LARGE[2])
    less, more = (-logs[rows, test].mean() / np.log(2) for logs in found.log_probabilities())
    assert less == pytest.approx(1, abs=0.02)
    assert less - more == pytest.approx(truth, abs=0.05)


# the steps


def folds_of(n):
    return np.arange(n) % 5


@pytest.mark.parametrize("sparse", [False, True])
def test_the_baseline_is_probed_on_train_and_held_out_there(sparse):
    """The oracle: scikit-learn, on dimensions that are standardised on train, or on sparse ones as they are."""
    labels, given, _, _ = draw("words" if sparse else "scaled", SMALL, 0)
    known, folds = Labels(labels[0], labels[1], 2), folds_of(SMALL[0])
    base = probe_baseline([given], known, folds)
    rows = [part.take_sparse() if sparse else part.take(slice(None)).astype(float) for part in given]
    if not sparse:
        scaler = StandardScaler().fit(rows[0])
        rows = [scaler.transform(each) for each in rows]

    def margin(train, other):
        strength = 1 / (len(train) * base.l2[0])
        model = LogisticRegression(C=strength, tol=1e-8, max_iter=5000).fit(rows[0][train], labels[0][train])
        return model.decision_function(other)

    every = np.arange(SMALL[0])
    for part, found in ((1, base.logits.dev), (2, base.logits.test)):
        assert found[:, 1] - found[:, 0] == pytest.approx(margin(every, rows[part]), abs=0.05)
        assert found.sum(axis=1) == pytest.approx(0, abs=1e-6)
    for fold in range(5):
        own = np.flatnonzero(folds == fold)
        apart = margin(np.flatnonzero(folds != fold), rows[0][own])
        assert base.logits.train[own, 1] - base.logits.train[own, 0] == pytest.approx(apart, abs=0.05)


def test_two_kinds_of_vectors_are_given_together():
    """Each has half of what is known; together they have what one table of both has."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(sum(LARGE), 8)).astype(np.float32)
    y = (rng.random(len(x)) < 1 / (1 + np.exp(-x @ np.repeat(0.8, 8)))).astype(np.int64)
    parts = np.split(np.arange(len(x)), np.cumsum(LARGE)[:-1])
    known = Labels(y[parts[0]], y[parts[1]], 2)

    def cost(*columns):
        views = [SplitFeatures(*(Features.of(x[rows][:, some]) for rows in parts)) for some in columns]
        base = probe_baseline(views, known, folds_of(LARGE[0]))
        assert base.vectors.train.shape == (LARGE[0], 8 if len(columns) > 1 else views[0].train.shape[1])
        logits, truth = base.logits.test, y[parts[2]]
        return np.logaddexp(0, np.where(truth == 1, -1, 1) * (logits[:, 1] - logits[:, 0])).mean() / np.log(2)

    first, second = slice(0, 4), slice(4, 8)
    assert cost(first, second) == pytest.approx(cost(slice(0, 8)), abs=0.01)
    assert cost(first, second) < cost(first) - 0.1


def test_sparse_and_dense_vectors_of_a_baseline_are_imitated_together():
    labels, words, _, _ = draw("words", SMALL, 0)
    lengths = [np.asarray((part.take_sparse() > 0).sum(axis=1), np.float32)[:, None] for part in words]
    known = Labels(labels[0], labels[1], 2)
    base = probe_baseline([words, SplitFeatures(*map(Features.of, lengths))], known, folds_of(SMALL[0]))
    assert base.vectors.train.sparse
    targets = [each.take_sparse().sum(axis=1)[:, None] + each.take_sparse()[:, [-1]].toarray() for each in base.vectors]
    copy = imitate(base.vectors.train, targets[0], base.vectors.dev, targets[1])
    assert copy.weights.shape == (1, 601)


def test_the_vectors_may_be_sparse():
    labels, given, own, _ = draw("words", SMALL, 0)
    assert given.train.sparse
    dense = measure(labels, own, given)  # the other way round: words, given their mean vectors
    again = measure(labels, own, SplitFeatures(*(Features.of(csr_array(part.take_sparse())) for part in given)))
    assert dense.bits == again.bits
    assert dense.low <= dense.bits <= dense.high


@pytest.mark.parametrize("far", [0.0, 300.0])
def test_vectors_far_from_zero_add_no_bias(far):
    labels, given, own, truth = draw("flipped", LARGE, 1)
    moved = SplitFeatures(*(Features.of((part.take(slice(None)) + np.float32(far)).astype(np.float32)) for part in own))
    added = measure(labels, given, moved)
    assert added.low <= truth <= added.high


def test_dev_rows_whose_label_is_not_in_train_do_not_count():
    labels, given, own, _ = draw("flipped", SMALL, 0)
    unknown = labels[1].copy()
    unknown[::4] = -1
    one = measure([labels[0], unknown, labels[2]], given, own)
    known = np.flatnonzero(unknown >= 0)
    cut = [SplitFeatures(part.train, part.dev.select(known), part.test) for part in (given, own)]
    two = measure([labels[0], unknown[known], labels[2]], *cut)
    assert one.bits == pytest.approx(two.bits, abs=0.02)


def test_test_labels_have_no_part_in_the_classifiers():
    labels, given, own, _ = draw("flipped", SMALL, 0)
    known = Labels(labels[0], labels[1], 2)
    found = add_vectors(probe_baseline([given], known, folds_of(SMALL[0])), own, known)
    assert found.influence(labels[2]).shape == (SMALL[1],)
    half = np.where(np.arange(SMALL[2]) < 100, labels[2], -1)
    assert (found.influence(half) != found.influence(labels[2])).any()


def test_more_classes_than_are_imitated_at_once(monkeypatch):
    from sentprobe.probes import added

    labels, given, own, truth = draw("flipped", LARGE, 0)
    monkeypatch.setattr(added, "MAX_IMITATED", 1000)  # of 3,000: every third row
    found = measure(labels, given, own)
    assert found.low <= truth <= found.high
