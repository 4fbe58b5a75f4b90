import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from sentprobe.errors import DataError, NotInstalled, ShapeError, TooFewError, UsageError
from sentprobe.probes import Features, Fit, named, network
from sentprobe.probes.network import EarlyStopping, Network, choose, fit, fit_grid, steps_numpy, training
from sentprobe.probes.network.group import mask_hashes, mask_key, mask_threshold

SMALL = replace(named("senteval"), batch=16, rate=0.01, every=2, patience=1, passes=12)
HIDDEN = replace(SMALL, hidden=(5, 9), dropout=(0.0, 0.3), l2=(1e-4, 1e-2))
PROBE_OF = {
    "logistic": SMALL,
    "patient": replace(SMALL, reset=True),
    "by loss": replace(SMALL, watch="loss"),
    "sum": replace(SMALL, reduction="sum"),
    "hidden": HIDDEN,
    "relu after": replace(HIDDEN, activation="relu", drop="after"),
    "adagrad": replace(HIDDEN, optimiser="adagrad", rate=0.01),
    "rmsprop": replace(SMALL, optimiser="rmsprop"),
    "sgd": replace(HIDDEN, optimiser="sgd", rate=0.1),
    "adi2017": replace(named("adi2017"), passes=5),
    "xprobe2019": replace(named("xprobe2019"), hidden=(15,), passes=4),
}


def data(rows=90, dimensions=12, classes=3, seed=0):
    """Rows that tell their class, but not quite: train, labels, dev, dev labels, classes."""
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(rows + 60, dimensions)).astype(np.float32)
    y = (2 * x[:, :classes] + draw.normal(size=(rows + 60, classes))).argmax(axis=1)
    features = Features.of(x)
    return features.select(slice(0, rows)), y[:rows], features.select(slice(rows, None)), y[rows:], classes


@pytest.fixture(params=["numpy", "numba", "torch"])
def engine(request, monkeypatch):
    """The device to ask for, with each engine in turn."""
    if request.param == "torch":
        pytest.importorskip("torch")
        return "cpu"
    if request.param == "numba":
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(training, "_engine", lambda device: steps_numpy)
    return None


def plain(probe, setting, train, labels, dev, dev_labels, classes, seed, orders=None):
    """One fit as SentEval does it, in plain torch: weights, accuracy, loss and number of passes."""
    torch = pytest.importorskip("torch")
    x, y, v = torch.tensor(train.take(slice(None))), torch.tensor(labels), torch.tensor(dev.take(slice(None)))
    torch.manual_seed(seed)
    orders = orders or np.random.RandomState(seed)
    sizes = [x.shape[1], setting.hidden, classes] if setting.hidden else [x.shape[1], classes]
    linear = [torch.nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes)]
    act = torch.relu if probe.activation == "relu" else torch.sigmoid

    def scores(rows, factors):
        if len(linear) == 1:
            return linear[0](rows)
        units = linear[0](rows)
        units = act(units * factors) if probe.drop == "before" else act(units) * factors
        return linear[1](units)

    def factors(step, rows):
        drawn = mask_hashes(mask_key(seed, step), torch.arange(setting.hidden), torch.arange(rows)[:, None])
        return (drawn >= mask_threshold(setting.dropout)).float() / (1 - setting.dropout)

    makes = {"adam": torch.optim.Adam, "adagrad": torch.optim.Adagrad, "rmsprop": torch.optim.RMSprop}
    parameters = [parameter for layer in linear for parameter in layer.parameters()]
    optimiser = makes.get(probe.optimiser, torch.optim.SGD)(parameters, lr=probe.rate, weight_decay=setting.l2)
    best, borne, stopped, passes, step = None, 0, False, 0, 0
    while not stopped and passes <= probe.passes:
        for _ in range(probe.every):
            order = torch.tensor(orders.permutation(len(x)))
            for rows in order.split(probe.batch):
                step += 1
                optimiser.zero_grad()
                found = scores(x[rows], factors(step, len(rows)))
                torch.nn.functional.cross_entropy(found, y[rows], reduction=probe.reduction).backward()
                optimiser.step()
        passes += probe.every
        with torch.no_grad():
            found = scores(v, 1.0)
        known = torch.tensor(dev_labels >= 0)
        accuracy = float((found.argmax(dim=1).numpy() == dev_labels).mean())
        loss = float(torch.nn.functional.cross_entropy(found[known], torch.tensor(dev_labels)[known]))
        if best is None or (accuracy > best[1] if probe.watch == "accuracy" else loss < best[2]):
            best = ([parameter.detach().numpy().copy() for parameter in parameters], accuracy, loss)
            borne = 0 if probe.reset else borne
        else:
            stopped = borne >= probe.patience
            borne += 1
    return (*best, passes)


@cache
def expected(name):
    """The data of a case, and what plain torch makes of them at each point of the grid."""
    given = data(classes=9 if name == "patient" else 3)  # 9: more scores than the loops of numba take
    with threadpool_limits(1):
        return given, [plain(PROBE_OF[name], each, *given, seed=1111) for each in network.settings(PROBE_OF[name], 12)]


@pytest.mark.parametrize("name", PROBE_OF)
def test_every_point_of_the_grid_is_fitted_as_plain_torch_does(name, engine):
    given, theirs = expected(name)
    ours = fit_grid(PROBE_OF[name], *given, seed=1111, device=engine)
    for found, (weights, accuracy, loss, passes) in zip(ours, theirs, strict=True):
        assert (found.dev, found.tried[0]["passes"]) == (accuracy, passes)
        assert found.tried[0]["loss"] == pytest.approx(loss, abs=1e-4)
        for mine, theirs in zip(found.model.weights, weights, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-4)


def test_members_of_the_cases_above_leave_the_group_at_different_times():
    # else these would not show that those which stay are not disturbed
    for name in ("logistic", "relu after", "adagrad"):
        assert len({passes for *_, passes in expected(name)[1]}) > 1


def test_dev_chooses_the_same_l2_as_with_plain_torch(engine):
    given = data(rows=300, dimensions=30, classes=2)
    found = fit(SMALL, *given, seeds=[3], device=engine)[0]
    with threadpool_limits(1):
        theirs = [plain(SMALL, setting, *given, seed=3)[1] for setting in network.settings(SMALL, 30)]
    rounded = [round(100 * accuracy, 2) for accuracy in theirs]
    assert found.chosen == {"l2": SMALL.l2[rounded.index(max(rounded))]}
    assert [tried["accuracy"] for tried in found.tried] == theirs
    assert found.dev == max(theirs)


def test_dev_split_off_by_the_same_generator_as_the_orders(engine):
    # SentEval without dev rows: a permutation, its first 5 % are dev, then the orders of the passes
    train, labels, _, _, classes = data(rows=200)
    parts, ours, theirs = [], np.random.RandomState(5), np.random.RandomState(5)
    for orders in (ours, theirs):
        rows = orders.permutation(200)
        parts = [train.select(rows[10:]), labels[rows[10:]], train.select(rows[:10]), labels[rows[:10]], classes]
    found = fit_grid(SMALL, *parts, seed=5, orders=ours, device=engine)[0]
    with threadpool_limits(1):
        weights, accuracy, _, _ = plain(SMALL, network.settings(SMALL, 12)[0], *parts, seed=5, orders=theirs)
    assert found.dev == accuracy
    np.testing.assert_allclose(found.model.weights[0], weights[0], atol=1e-4)


# the rule


def watched(probe, looks):
    watch = EarlyStopping(probe)
    better = []
    for accuracy in looks:
        assert not watch.stopped
        better.append(watch.update(accuracy, 1 - accuracy))
    return watch, better


def test_patience_is_never_given_back_as_in_senteval():
    watch, better = watched(replace(SMALL, patience=2), [0.5, 0.4, 0.6, 0.6, 0.7, 0.1])
    assert better == [True, False, True, False, True, False]
    assert (watch.stopped, watch.accuracy) == (True, 0.7)


def test_patience_is_given_back_where_the_probe_says_so():
    watch, _ = watched(replace(SMALL, patience=2, reset=True), [0.5, 0.4, 0.6, 0.6, 0.7, 0.1, 0.2])
    assert not watch.stopped
    watch.update(0.3, 0.7)
    assert watch.stopped


def test_a_draw_is_no_improvement():
    watch, better = watched(replace(SMALL, patience=0), [0.5, 0.5])
    assert (better, watch.stopped) == ([True, False], True)


def test_the_loss_may_be_watched_instead():
    watch = EarlyStopping(replace(SMALL, watch="loss"))
    assert [watch.update(0.5, 0.7), watch.update(0.4, 0.6), watch.update(0.9, 0.65)] == [True, True, False]
    assert (watch.accuracy, watch.loss) == (0.4, 0.6)


def test_the_first_look_is_kept_even_if_it_is_no_number():
    watch = EarlyStopping(replace(SMALL, watch="loss"))
    assert watch.update(0.0, float("nan"))


@pytest.mark.parametrize(("passes", "expected"), [(0, 4), (3, 4), (4, 8), (7, 8), (8, 12)])
def test_looks_go_on_while_no_more_passes_than_asked_for_are_done(passes, expected):
    probe = replace(SMALL, every=4, passes=passes, patience=100, l2=(1e-4,))
    assert fit_grid(probe, *data(rows=30), seed=1)[0].tried[0]["passes"] == expected


def a_fit(dev, loss, l2):
    return Fit(None, 1, {"l2": l2}, dev, ({"l2": l2, "accuracy": dev, "loss": loss, "passes": 4},))


def test_accuracies_that_are_the_same_to_two_digits_are_the_same():
    fits = [a_fit(0.75001, 0.5, 1e-5), a_fit(0.75004, 0.4, 1e-4), a_fit(0.7, 0.3, 1e-3)]
    found = choose(SMALL, fits)
    assert found.chosen == {"l2": 1e-5}
    assert [tried["l2"] for tried in found.tried] == [1e-5, 1e-4, 1e-3]
    assert choose(replace(SMALL, watch="loss"), fits).chosen == {"l2": 1e-3}
    assert choose(replace(SMALL, watch="loss"), [a_fit(0.5, float("nan"), 1e-5), *fits]).chosen == {"l2": 1e-3}


def test_the_grid_has_every_combination_once_and_nothing_to_drop_without_hidden_units():
    probe = replace(SMALL, hidden=(0, -1, 7), dropout=(0.1, 0.2), l2=(1.0, 2.0))
    assert network.settings(probe, 7) == [
        (0, 0.0, 1.0), (0, 0.0, 2.0), (7, 0.1, 1.0), (7, 0.1, 2.0), (7, 0.2, 1.0), (7, 0.2, 2.0),
    ]  # fmt: skip


def test_what_is_told_of_a_fit():
    found = fit(HIDDEN, *data(), seeds=[1, 2])
    assert [each.seed for each in found] == [1, 2]
    assert set(found[0].chosen) == {"l2", "hidden", "dropout"}
    assert [(t["hidden"], t["dropout"], t["l2"]) for t in found[0].tried] == network.settings(HIDDEN, 12)
    assert set(found[0].tried[0]) == {"l2", "hidden", "dropout", "accuracy", "loss", "passes"}
    assert found[0].dev == max(tried["accuracy"] for tried in found[0].tried)


# what must not matter


def assert_same(first, second, **tolerance):
    assert first.tried == second.tried or tolerance
    for mine, other in zip(first.model.weights, second.model.weights, strict=True):
        np.testing.assert_allclose(mine, other, **({"rtol": 0, "atol": 0} | tolerance))


@settings(max_examples=15)
@given(st.sets(st.sampled_from([1e-5, 1e-4, 1e-3, 1e-2]), min_size=1), st.sampled_from([(0,), (5,), (5, 9)]))
def test_a_grid_is_its_points_each_alone(l2, hidden):
    probe = replace(HIDDEN, l2=tuple(sorted(l2)), hidden=hidden)
    given = data(rows=40)
    for found in fit_grid(probe, *given, seed=9):
        point = found.tried[0]
        alone = replace(probe, hidden=(point["hidden"],), dropout=(point["dropout"],), l2=(point["l2"],))
        other = fit_grid(alone, *given, seed=9)[0]
        assert (found.dev, point["passes"]) == (other.dev, other.tried[0]["passes"])
        assert_same(found, other, atol=1e-5)


def test_seeds_do_not_touch_each_other_nor_the_global_generator():
    before = np.random.get_state()[1].copy()
    together = fit(SMALL, *data(), seeds=[1, 2])
    assert_same(together[1], fit(SMALL, *data(), seeds=[2])[0])
    assert not np.array_equal(together[0].model.weights[0], together[1].model.weights[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize("hidden", [0, 200])
def test_the_number_of_threads_does_not_move_a_bit(hidden, engine):
    # large enough for a BLAS to use its threads
    probe = replace(SMALL, hidden=(hidden,), batch=256, passes=1)
    train, labels, dev, dev_labels, classes = data(rows=600, dimensions=300, classes=40)
    found, scores = [], []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(fit(probe, train, labels, dev, dev_labels, classes, seeds=[1], device=engine)[0])
            scores.append(found[-1].model.scores(train))
    assert_same(*found)
    np.testing.assert_array_equal(*scores)


def test_where_and_how_the_rows_are_kept_does_not_matter(tmp_path, engine, monkeypatch):
    train, labels, dev, dev_labels, classes = data(rows=200)
    expected = fit(HIDDEN, train, labels, dev, dev_labels, classes, seeds=[1], device=engine)[0]
    whole = train.tables[0]
    np.save(tmp_path / "all.npy", whole[::-1])
    mapped = np.load(tmp_path / "all.npy", mmap_mode="r")
    backwards = Features((mapped,), (np.arange(len(mapped))[::-1],))
    halves = Features((whole[:, :5].astype(np.float64), whole[:, 5:]), (np.arange(len(whole)), np.arange(len(whole))))
    for features in (backwards, halves):
        parts = features.select(slice(0, 200)), labels, features.select(slice(200, None)), dev_labels, classes
        assert_same(fit(HIDDEN, *parts, seeds=[1], device=engine)[0], expected)
    monkeypatch.setattr(training, "BLOCK_BYTES", 1)
    assert_same(fit(HIDDEN, train, labels, dev, dev_labels, classes, seeds=[1], device=engine)[0], expected)


def test_standardising_is_fitting_on_standardised_rows(engine):
    train, labels, _, dev_labels, classes = data(rows=200)
    table = train.tables[0] * np.linspace(0.1, 9, 12, dtype=np.float32) + np.arange(12, dtype=np.float32)
    table[:, 5] = 0.1  # the mean of many is not 0.1 to the last bit
    rows = table[:200].astype(np.float64)
    scaled = (table - rows.mean(axis=0)) / np.where(np.arange(12) == 5, 1, rows.std(axis=0))
    probe = replace(SMALL, standardise=True)
    fits = []
    for each, x in ((probe, Features.of(table)), (SMALL, Features.of(scaled))):
        parts = x.select(slice(200)), labels, x.select(slice(200, None)), dev_labels, classes
        fits += fit(each, *parts, seeds=[1], device=engine)
    found, plain = fits
    assert found.dev == plain.dev
    assert_same(found, plain, atol=1e-4)
    given = Features.of(table), Features.of(scaled)
    np.testing.assert_allclose(found.model.scores(given[0]), plain.model.scores(given[1]), atol=1e-3)


# odd sizes


def test_fewer_rows_than_a_batch_and_classes_of_one_row(engine):
    x = np.eye(5, dtype=np.float32)
    features = Features.of(x)
    found = fit(replace(SMALL, rate=0.1), features, np.arange(5), features, np.arange(5), 5, seeds=[1], device=engine)[
        0
    ]
    assert found.dev == 1.0
    found = fit(HIDDEN, features.select([0]), np.array([0]), features, np.arange(5), 5, seeds=[1], device=engine)[0]
    assert found.dev == 0.2


def test_a_dev_label_that_was_never_met_is_a_miss(engine):
    train, labels, dev, dev_labels, classes = data()
    whole = fit(SMALL, train, labels, dev, dev_labels, classes, seeds=[1], device=engine)[0]
    longer = dev.select(np.arange(120) % 60)
    missing = np.concatenate([dev_labels, np.full(60, -1)])
    found = fit(SMALL, train, labels, longer, missing, classes, seeds=[1], device=engine)[0]
    assert [t["accuracy"] for t in found.tried] == [t["accuracy"] / 2 for t in whole.tried]
    assert [t["loss"] for t in found.tried] == pytest.approx([t["loss"] for t in whole.tried], abs=1e-6)
    nothing = fit(SMALL, train, labels, dev, np.full(60, -1), classes, seeds=[1], device=engine)[0]
    assert nothing.dev == 0.0


def test_training_that_runs_away_ends_quietly(engine):
    probe = replace(SMALL, optimiser="sgd", rate=1e30, passes=4)
    found = fit(probe, *data(), seeds=[1], device=engine)[0]
    assert 0 <= found.dev <= 1


def test_a_thousand_classes(engine):
    draw = np.random.RandomState(0)
    x, y = draw.normal(size=(1000, 20)).astype(np.float32), np.arange(1000)
    features = Features.of(x)
    probe = replace(SMALL, rate=0.1, batch=64, passes=6, l2=(0.0, 1e-4))
    found = fit(probe, features, y, features, y, 1000, seeds=[1], device=engine)[0]
    assert found.dev > 0.5  # by chance 0.001


def test_scores_are_log_probabilities_of_what_torch_computes():
    torch = pytest.importorskip("torch")
    train, labels, dev, dev_labels, classes = data(rows=1500)
    model = fit(HIDDEN, train, labels, dev, dev_labels, classes, seeds=[1])[0].model
    scores = model.scores(train)
    assert (scores.shape, scores.dtype) == ((1500, 3), np.float32)
    w, b, u, c = (torch.tensor(each) for each in model.weights)
    expected = torch.log_softmax(torch.sigmoid(torch.tensor(train.take(slice(None))) @ w.T + b) @ u.T + c, dim=1)
    np.testing.assert_allclose(scores, expected.numpy(), atol=1e-5)
    far = Network((w.numpy() * 1e4, b.numpy(), u.numpy(), c.numpy()), "sigmoid").scores(train)
    assert np.isfinite(far).all()


# errors, and what is not installed


def test_wrong_input_is_refused():
    train, labels, dev, dev_labels, classes = data()
    with pytest.raises(ShapeError, match="90 training rows and 89 labels"):
        fit(SMALL, train, labels[1:], dev, dev_labels, classes, seeds=[1])
    with pytest.raises(ShapeError, match="12 dimensions and dev rows 2"):
        fit(SMALL, train, labels, Features.of(np.zeros((60, 2))), dev_labels, classes, seeds=[1])
    with pytest.raises(TooFewError, match="no dev rows"):
        fit(SMALL, train, labels, dev.select([]), dev_labels[:0], classes, seeds=[1])
    for wrong in (-1, 3):
        with pytest.raises(DataError, match=r"training labels are .* expected 0 … 2"):
            fit(SMALL, train, np.where(labels == 0, wrong, labels), dev, dev_labels, classes, seeds=[1])
    with pytest.raises(DataError, match=r"dev labels are .* expected -1 … 2"):
        fit(SMALL, train, labels, dev, dev_labels + 1, classes, seeds=[1])
    with pytest.raises(UsageError, match="seed must be 0"):
        fit(SMALL, train, labels, dev, dev_labels, classes, seeds=[-1])


def test_a_device_that_is_none_is_refused():
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match="device 'toaster' cannot be used here"):
        fit(SMALL, *data(), seeds=[1], device="toaster")


def test_a_device_needs_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(NotInstalled, match="'cpu' needs torch"):
        fit(SMALL, *data(), seeds=[1], device="cpu")


def test_without_numba_numpy_does_the_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "sentprobe.probes.network.steps_numba", raising=False)
    monkeypatch.delattr(network, "steps_numba", raising=False)
    assert training._engine(None) is steps_numpy
    assert fit(SMALL, *data(), seeds=[1])[0].dev > 0.5


def test_numba_is_used_where_it_is():
    pytest.importorskip("numba")
    assert training._engine(None).__name__ == "sentprobe.probes.network.steps_numba"


def test_kernels_are_compiled_where_nothing_can_be_kept(monkeypatch):
    numba = pytest.importorskip("numba")
    from sentprobe.probes.network import steps_numba

    def njit(*, cache=False, **rest):
        if cache:  # numba's own message
            raise RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")
        return numba.njit(**rest)

    monkeypatch.setattr(steps_numba, "njit", njit)

    def twice(x):
        return 2 * x

    assert steps_numba._compiled(twice)(21) == 42


def test_the_exponential_of_the_kernels():
    pytest.importorskip("numba")
    from sentprobe.probes.network.steps_numba import _exp

    x = np.linspace(-87, 88, 20_001).astype(np.float32)
    found = np.array([_exp(each) for each in x])
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=4e-7)


@pytest.mark.parametrize("seed", range(10))
def test_xor_of_two_dimensions_is_found(seed):
    """The signs of two of eight dimensions: with patience that is never restored, two of these seeds were at chance."""
    pytest.importorskip("numba")  # with numpy it takes minutes
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(3500, 8)).astype(np.float32)
    x[:, :2] = np.sign(x[:, :2])
    y = (x[:, 0] != x[:, 1]).astype(np.int64)
    train, dev, test = (Features.of(x[rows]) for rows in (slice(2000), slice(2000, 2500), slice(2500, None)))
    (found,) = fit(named("mlp"), train, y[:2000], dev, y[2000:2500], 2, seeds=[seed])
    assert (found.model.scores(test).argmax(axis=1) == y[2500:]).mean() > 0.98
