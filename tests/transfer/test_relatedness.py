import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from sentprobe.errors import DataError, ShapeError, TooFewError, UsageError
from sentprobe.probes import Features
from sentprobe.transfer import relatedness as module
from sentprobe.transfer.relatedness import relate, targets


def data(rows=150, dimensions=8, lowest=1.0, seed=0):
    """Rows that tell their score, but not quite: train, scores, dev, dev scores, test."""
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(rows + 80, dimensions)).astype(np.float32)
    scores = np.clip(3 + x[:, 0] - 0.7 * x[:, 1] + draw.normal(size=len(x)), lowest, 5).round(1)
    train, dev, test = (slice(0, rows), slice(rows, rows + 40), slice(rows + 40, None))
    return Features.of(x[train]), scores[train], Features.of(x[dev]), scores[dev], Features.of(x[test])


def plain(train, scores, dev, dev_scores, test, seed, watch, levels, reduction, every, longest, rate):
    """The same in plain torch: best correlation, predictions, passes."""
    torch = pytest.importorskip("torch")
    from scipy.stats import pearsonr, spearmanr

    torch.manual_seed(seed)
    orders = np.random.RandomState(seed)
    linear = torch.nn.Linear(train.shape[1], levels)
    optimiser = torch.optim.Adam(linear.parameters(), lr=rate)
    loss = torch.nn.MSELoss(reduction=reduction)
    x, v, t = (torch.tensor(rows.take(slice(None))) for rows in (train, dev, test))
    y = torch.tensor([[max(0.0, 1 - abs(score - level)) for level in range(1, levels + 1)] for score in scores])
    worth = torch.arange(1, levels + 1, dtype=torch.float64)
    best, kept, passes, misses = -1.0, None, 0, 0
    while misses < 4 and passes <= longest:
        for _ in range(every):
            for rows in torch.tensor(orders.permutation(len(x))).split(64):
                optimiser.zero_grad()
                loss(torch.softmax(linear(x[rows]), dim=-1), y[rows]).backward()
                optimiser.step()
        passes += every
        with torch.no_grad():
            found = (torch.softmax(linear(v), dim=-1).double() @ worth).numpy()
            value = (pearsonr if watch == "pearson" else spearmanr)(found, dev_scores)[0]
            if value > best:
                best, kept = value, (torch.softmax(linear(t), dim=-1).double() @ worth).numpy()
            else:
                misses += 1
    return best, kept, passes


@pytest.mark.parametrize(
    ("watch", "reduction", "lowest", "levels"),
    [
        ("pearson", "mean", 1.0, 5),
        ("spearman", "mean", 1.0, 5),
        ("pearson", "sum", 0.0, 5),
        ("pearson", "mean", 0.0, 7),
    ],
)
def test_it_learns_as_a_plain_loop_of_torch_does(watch, reduction, lowest, levels, monkeypatch):
    for name, value in (
        ("EPOCHS_PER_EVALUATION", 10),
        ("MAX_EPOCHS", 100),
        ("LEARNING_RATE", 0.01),
    ):  # torch takes its time
        monkeypatch.setattr(module, name, value)
    given_rows = data(lowest=lowest)
    found = relate(*given_rows, seed=1111, watch=watch, levels=levels, reduction=reduction)
    with threadpool_limits(1):
        dev, predicted, passes = plain(*given_rows, 1111, watch, levels, reduction, 10, 100, 0.01)
    assert found.passes == passes
    assert found.dev == pytest.approx(dev, abs=1e-5)
    np.testing.assert_allclose(found.predicted, predicted, atol=1e-4)


def test_numbers_of_senteval():
    # facebookresearch/SentEval 5d6dc11, tools/relatedness.py without its calls of CUDA; torch 2.13.0, CPU
    found = relate(*data(), seed=1111)
    assert found.passes == 500
    assert found.dev == pytest.approx(0.7564547, abs=1e-5)
    np.testing.assert_allclose(found.predicted[:4], [4.229755, 1.961769, 2.143625, 2.177913], atol=1e-4)


@settings(deadline=None)
@given(st.lists(st.floats(0, 5), min_size=1, max_size=5))
def test_a_score_is_the_mean_of_its_levels(scores):
    made = targets(np.array(scores), 5)
    assert made.shape == (len(scores), 5)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made @ np.arange(1, 6), scores, atol=1e-5)
    np.testing.assert_allclose(made.sum(axis=1), np.minimum(scores, 1), atol=1e-6)
    assert ((made > 0).sum(axis=1) <= 2).all()


def test_whole_scores_are_one_level():
    np.testing.assert_array_equal(targets(np.arange(6.0), 5), np.eye(6, 5, k=-1))


def looks(monkeypatch, values):
    """What dev says, look by look; returns the list in which what was predicted for it is collected."""
    seen = []

    def agreement(predicted, scores, watch):
        seen.append(predicted)
        return values[len(seen) - 1]

    monkeypatch.setattr(module, "_correlation", agreement)
    return seen


def test_it_stops_at_the_fourth_look_in_all_that_is_no_better_and_keeps_the_best(monkeypatch):
    train, scores, dev, dev_scores, _ = data(rows=64, dimensions=3)
    seen = looks(monkeypatch, [0.1, 0.2, 0.2, 0.1, 0.3, 0.0, 0.3])
    found = relate(train, scores, dev, dev_scores, dev, seed=1)
    assert (found.dev, found.passes) == (0.3, 350)
    np.testing.assert_array_equal(found.predicted, seen[4])
    assert not np.array_equal(found.predicted, seen[6])


def test_it_goes_on_for_1050_passes_if_dev_always_gets_better(monkeypatch):
    seen = looks(monkeypatch, np.linspace(-0.9, 0.9, 21))
    found = relate(*data(rows=10, dimensions=2), seed=1)
    assert (found.dev, found.passes, len(seen)) == (0.9, 1050, 21)


@pytest.mark.parametrize("watch", ["pearson", "spearman"])
def test_rows_that_are_all_the_same_have_no_correlation_which_is_0(watch):
    train, scores, dev, dev_scores, test = data(rows=70)
    same = [Features.of(np.zeros(rows.shape, np.float32)) for rows in (train, dev, test)]
    found = relate(same[0], scores, same[1], dev_scores, same[2], seed=1, watch=watch)
    assert (found.dev, found.passes) == (0.0, 250)
    assert np.ptp(found.predicted) == 0
    assert found.predicted[0] == pytest.approx(scores.mean(), abs=0.3)


def test_values_that_are_not_finite_have_no_correlation_either():
    train, scores, dev, dev_scores, test = data(rows=70)
    broken = train.take(slice(None))
    broken[3, 0] = np.nan
    found = relate(Features.of(broken), scores, dev, dev_scores, test, seed=1)
    assert (found.dev, found.passes) == (0.0, 250)


def test_rows_too_many_to_be_held_give_the_same(monkeypatch):
    held = relate(*data(), seed=4)
    monkeypatch.setattr(module, "MAX_GATHERED_BYTES", 0)
    found = relate(*data(), seed=4)
    assert (found.dev, found.passes) == (held.dev, held.passes)
    np.testing.assert_array_equal(found.predicted, held.predicted)


def test_a_seed_decides():
    first, again, other = (relate(*data(rows=70), seed=seed).predicted for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-4


def test_no_test_rows_have_no_scores():
    train, scores, dev, dev_scores, test = data(rows=20, dimensions=2)
    assert relate(train, scores, dev, dev_scores, test.select(slice(0, 0)), seed=1).predicted.shape == (0,)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"scores": np.ones(3)}, ShapeError, "20 training rows and scores"),
        ({"dev_scores": np.full(40, 5.5)}, DataError, r"dev scores are 5.5 … 5.5; expected 0 … 5"),
        ({"dev_scores": np.full(40, np.nan)}, DataError, "nan"),
        ({"test": Features.of(np.ones((2, 3)))}, ShapeError, r"\[2, 2, 3\]"),
        ({"train": Features.of(np.ones((0, 2))), "scores": []}, TooFewError, "no training rows"),
        ({"seed": -1}, UsageError, "seed"),
        ({"watch": "kendall"}, UsageError, "kendall"),
        ({"reduction": "max"}, UsageError, "max"),
        ({"levels": 1, "scores": np.ones(20), "dev_scores": np.ones(40)}, UsageError, "two levels"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(change, error, message):
    names = ("train", "scores", "dev", "dev_scores", "test")
    with pytest.raises(error, match=message):
        relate(**{**dict(zip(names, data(rows=20, dimensions=2), strict=True)), "seed": 1, **change})
