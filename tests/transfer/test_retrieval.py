import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.errors import DataError, ShapeError, TooFewError, UsageError
from sentprobe.probes import Features
from sentprobe.transfer import retrieval as module
from sentprobe.transfer.retrieval import Gallery, Recalls, loss_and_gradient, rank, ranks

SMALL = {"dim": 10, "batch": 16, "negatives": 4, "fold": 10}


def arrays(noise=1.0, seed=0):
    """Images (n, 7) and five captions (5n, 6) of each, which tell of the same: train, dev, test."""
    draw = np.random.RandomState(seed)
    to_image, to_caption = draw.normal(size=(4, 7)), draw.normal(size=(4, 6))
    made = []
    for n in (40, 50, 50):
        said = draw.normal(size=(n, 4))
        images = said @ to_image + 0.3 * noise * draw.normal(size=(n, 7))
        captions = np.repeat(said, 5, axis=0) @ to_caption + noise * draw.normal(size=(5 * n, 6))
        made.append((images.astype(np.float32), captions.astype(np.float32)))
    return made


def galleries(noise=1.0):
    return [Gallery(Features.of(images), Features.of(captions)) for images, captions in arrays(noise)]


def test_numbers_of_senteval():
    # facebookresearch/SentEval 5d6dc11, tools/ranking.py without its calls of CUDA, batch_size 16, ncontrast 4, folds
    # of 50 captions; torch 2.13.0, CPU. Another processor may round so that one caption or another has another rank.
    found = rank(*galleries(), seed=1111, **SMALL)
    assert found.passes == 21
    assert found.dev == pytest.approx(522.8, abs=2)
    assert found.captions == pytest.approx((68.0, 96.0, 98.0, 1.0), abs=2)
    assert found.images == pytest.approx((64.8, 97.2, 100.0, 1.0), abs=1)


@pytest.mark.parametrize("margin", [0.2, 0.0, 1.0])
@pytest.mark.parametrize(("m", "negatives"), [(5, 3), (1, 1), (4, 6)])
def test_the_gradient_is_that_of_torch(m, negatives, margin):
    torch = pytest.importorskip("torch")
    draw = np.random.RandomState(m)
    images, captions = (draw.normal(size=(m * (1 + negatives), d)).astype(np.float32) for d in (7, 6))
    weights = [draw.normal(size=shape).astype(np.float32) for shape in ((9, 7), (9,), (9, 6), (9,))]
    gradients = [np.full_like(each, np.nan) for each in weights]
    loss = loss_and_gradient(weights, images, captions, negatives, margin, gradients)

    held = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in weights]
    a, b = (
        torch.nn.functional.normalize(torch.tensor(x, dtype=torch.float64) @ w.T + bias, dim=1)
        for x, w, bias in ((images, held[0], held[1]), (captions, held[2], held[3]))
    )
    expected = 0
    for i in range(m):
        others = slice(m + i * negatives, m + (i + 1) * negatives)
        expected += torch.relu(margin - a[i] @ b[i] + b[others] @ a[i]).sum()
        expected += torch.relu(margin - a[i] @ b[i] + a[others] @ b[i]).sum()
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-5, abs=1e-6)
    for found, tensor in zip(gradients, held, strict=True):
        np.testing.assert_allclose(found, tensor.grad.numpy(), atol=2e-5)


def test_a_batch_that_costs_nothing_has_no_gradient():
    same, opposite = np.float32([[1.0, 0.0]]), np.float32([[-1.0, 0.0]])
    weights = [np.eye(2, dtype=np.float32), np.zeros(2, np.float32)] * 2
    gradients = [np.full_like(each, np.nan) for each in weights]
    assert loss_and_gradient(weights, np.vstack([same, opposite]), np.vstack([same, opposite]), 1, 0.2, gradients) == 0
    assert all((gradient == 0).all() for gradient in gradients)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4))
def test_ranks_are_places_in_the_sorted_order(seed, n, c):
    draw = np.random.RandomState(seed)
    images, captions = (draw.randint(-1, 2, size=(rows, 2)).astype(np.float32) for rows in (n, n * c))  # many ties
    of_captions, of_images = ranks(images, captions)
    near = images @ captions.T
    for i in range(n):
        order = np.argsort(near[i], kind="stable")[::-1]
        assert of_captions[i] == np.flatnonzero(order // c == i)[0]
    for j in range(n * c):
        order = np.argsort(near[:, j], kind="stable")[::-1]
        assert of_images[j] == np.flatnonzero(order == j // c)[0]


def test_vectors_that_are_all_the_same_are_at_chance():
    of_captions, of_images = ranks(np.ones((10, 3), np.float32), np.ones((50, 3), np.float32))
    assert sorted(of_captions) == list(range(0, 50, 5))
    assert sorted(of_images) == sorted(5 * list(range(10)))


def test_vectors_that_are_no_numbers_are_at_chance_too():
    nothing = np.full((10, 3), np.nan, np.float32)
    of_captions, of_images = ranks(nothing, np.ones((50, 3), np.float32))
    assert sorted(of_captions) == list(range(0, 50, 5))
    assert sorted(of_images) == sorted(5 * list(range(10)))


def test_what_says_nothing_else_is_found(monkeypatch):
    monkeypatch.setattr(module, "LEARNING_RATE", 0.02)  # there are few batches
    found = rank(*galleries(noise=0.0), seed=1, **SMALL)
    assert found.dev > 590
    assert found.captions == Recalls(100.0, 100.0, 100.0, 1.0)
    assert found.images.r1 > 95


def test_captions_of_other_images_are_at_chance():
    train, dev, test = galleries()
    draw = np.random.RandomState(3)
    strange = Gallery(test.images.select(draw.permutation(50)), test.captions.select(draw.permutation(250)))
    found = rank(train, dev, strange, seed=1, **SMALL)
    assert found.images.r1 < 25  # of ten images: 10 % by chance
    assert 3 <= found.images.median <= 7


def test_numbers_of_folds_come_from_ranks_and_are_averaged():
    found = rank(*galleries(), seed=1, **SMALL)
    assert len(found.folds) == 5
    assert found.caption_ranks.shape == (50,)
    assert found.image_ranks.shape == (250,)
    for i, (captions, images) in enumerate(found.folds):
        of_fold = found.caption_ranks[10 * i : 10 * i + 10]
        assert captions.r5 == pytest.approx(100 * (of_fold < 5).mean())
        assert captions.median == np.floor(np.median(of_fold)) + 1
        assert images.r1 == pytest.approx(100 * (found.image_ranks[50 * i : 50 * i + 50] == 0).mean())
    assert found.images == pytest.approx(np.mean([images for _, images in found.folds], axis=0))
    assert found.captions == pytest.approx(np.mean([captions for captions, _ in found.folds], axis=0))


def test_a_seed_decides():
    first, again, other = (rank(*galleries(), seed=seed, passes=2, **SMALL) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.image_ranks, again.image_ranks)
    assert not np.array_equal(first.image_ranks, other.image_ranks)


def test_the_first_weights_are_those_of_two_layers_of_torch():
    torch = pytest.importorskip("torch")
    torch.manual_seed(1111)
    made = [torch.nn.Linear(7, 10), torch.nn.Linear(6, 10)]
    expected = [parameter.detach().numpy() for layer in made for parameter in (layer.weight, layer.bias)]
    for found, wanted in zip(module._initial_weights(1111, 7, 6, 10), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-7)


@pytest.mark.parametrize("first", [0, 3, 9])
def test_contrasts_are_those_that_numpy_chooses_from_outside_the_batch(first):
    order = np.random.RandomState(0).permutation(12)
    m = len(order[first : first + 4])
    found = module._negatives(np.random.RandomState(5), order, first, m, 30)
    outside = order[:first].tolist() + order[first + 4 :].tolist()
    np.testing.assert_array_equal(found, np.random.RandomState(5).choice(outside, 30 * m))
    assert set(found.tolist()) == set(outside)


def test_it_stops_at_the_fourth_look_in_all_that_is_no_better_and_keeps_the_best(monkeypatch):
    train, dev, _ = galleries()
    values, seen = [10.0, 20.0, 20.0, 15.0, 30.0, 5.0, 30.0], []

    def score(found):
        seen.append(np.concatenate([images for _, images in found]))
        return values[len(seen) - 1]

    monkeypatch.setattr(module, "_score", score)
    found = rank(train, dev, dev, seed=1, **SMALL)
    assert (found.dev, found.passes) == (30.0, 7)
    np.testing.assert_array_equal(found.image_ranks, seen[4])
    assert not np.array_equal(found.image_ranks, seen[6])


def test_it_goes_on_for_21_passes_if_dev_always_gets_better(monkeypatch):
    values = iter(range(100))
    monkeypatch.setattr(module, "_score", lambda found: float(next(values)))
    assert rank(*galleries(), seed=1, **SMALL).passes == 21


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"fold": 8}, DataError, "50 dev images; expected a multiple of the fold size, 8"),
        ({"batch": 200}, TooFewError, "200 training captions"),
        ({"seed": 2**32}, UsageError, "seed"),
        ({"negatives": 0}, UsageError, "1 or more"),
    ],
)
def test_what_cannot_be_ranked_is_refused(change, error, message):
    with pytest.raises(error, match=message):
        rank(*galleries(), **{"seed": 1, **SMALL, **change})


def test_galleries_that_do_not_fit_are_refused():
    train, dev, test = galleries()
    with pytest.raises(ShapeError, match=r"\[7, 6\] dimensions and those of test \[6, 7\]"):
        rank(train, dev, Gallery(test.captions.select(slice(0, 50)), test.images), seed=1, **SMALL)
    with pytest.raises(ShapeError, match="50 images and 249 captions"):
        Gallery(test.images, test.captions.select(slice(0, 249)))
