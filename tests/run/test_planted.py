"""A known answer for every measure and every control, through a whole run: what was planted is what comes out.

``@answers`` names the measure or control that a test holds to its answer; one without such a test fails.
"""

import numpy as np
import pytest
from scipy.stats import norm as normal

from sentprobe.data.dataset import Dataset
from sentprobe.encoders import load
from sentprobe.run import evaluate
from sentprobe.run.control import CONTROLS
from sentprobe.run.measure import MEASURES
from sentprobe.stats.intervals import wilson
from sentprobe.tasks import Example
from tests.plugins import plugin  # noqa: F401 - a fixture
from tests.run.sets import WORDS
from tests.run.test_variants import Reading, form, keyed, label, named

SPLITS = ("tr", "va", "te")
ANSWERED: dict[str, list[str]] = {}


def answers(*names):
    """Say which measures and controls a test holds to a known answer."""

    def mark(test):
        for name in names:
            ANSWERED.setdefault(name, []).append(test.__name__)
        return test

    return mark


def entropy(share):
    """Of a coin, in bits."""
    return -share * np.log2(share) - (1 - share) * np.log2(1 - share)


def balanced(rng, n, classes=2):
    """Labels of as many rows as each split has, of all classes alike, in random order."""
    return np.concatenate([rng.permutation(np.arange(many) % classes) for many in n])


def flipped(rng, labels, wrong):
    """Labels of two classes, some of which are wrong."""
    return np.where(rng.random(len(labels)) < wrong, 1 - labels, labels)


def numbered(labels, n, name="own/planted", classes=None):
    """A set whose texts are numbers, and so say nothing of their labels (n,)."""
    names = tuple(f"c{i}" for i in range(classes or int(labels.max()) + 1))
    texts = [f"text {i} of {len(labels)}" for i in range(len(labels))]
    rows = [Example(names[k], tuple(text.split()), text) for k, text in zip(labels.tolist(), texts, strict=True)]
    ends = np.append(0, np.cumsum(n))
    parts = {split: rows[ends[i] : ends[i + 1]] for i, split in enumerate(SPLITS)}
    return Dataset(name, name.split("/")[-1], 1, "en", names, parts, {})


def encoder_of(vectors):
    """The encoder of such a set with these vectors, (n, d) or (layers, n, d)."""

    def encode(texts):
        return np.asarray(vectors, np.float32)[..., [int(text.split()[1]) for text in texts], :]

    return encode


def computed(vectors, labels, n, folder, **request):
    """The run of planted vectors, and its controls and measures by name."""
    data = numbered(labels, n)
    run = evaluate({"k": encoder_of(vectors)}, [data], folder, baselines=(), resample=0, **request)
    assert run.failures == ()
    return run, named(run)


def covers(result, value):
    return result.range[0] <= value <= result.range[1]


def at_chance(result, share=0.5):
    """Whether an accuracy is that of chance, within 99.9 %: a dozen tests at 95 % would often have a miss."""
    low, high = wilson(result.accuracy * result.n["te"], result.n["te"], z=3.29)
    return low <= share <= high


def test_every_measure_and_control_has_a_known_answer():
    built_in = {name for kind in (MEASURES, CONTROLS) for name, part in kind.parts().items() if part.order < 1000}
    assert built_in - ANSWERED.keys() == set()
    assert ANSWERED.keys() - built_in == set()


# measures


@pytest.mark.parametrize("classes", [2, 5])
@answers("online")
def test_random_labels_cost_what_they_cost_without_vectors(classes, tmp_path):
    n, rng = (640, 160, 160), np.random.default_rng(classes)
    labels = balanced(rng, n, classes)
    r = computed(rng.normal(size=(sum(n), 6)), labels, n, tmp_path / "run", measures=["online"])[1]["online"]
    assert r.scores["uniform_bits"] == pytest.approx(640 * np.log2(classes))
    assert r.scores["bits_low"] <= r.scores["uniform_bits"] <= r.scores["bits_high"]
    assert r.scores["bits"] == pytest.approx(r.scores["uniform_bits"], rel=0.03)
    assert covers(r, 1)


@pytest.mark.parametrize("wrong", [0.0, 0.11])
@answers("online")
def test_labels_cost_the_first_block_and_their_errors(wrong, tmp_path):
    """40 labels of 640 are sent as they are; then each costs the entropy of its being wrong, once that is learned."""
    n, rng = (640, 160, 160), np.random.default_rng(1)
    labels = balanced(rng, n)
    told = np.column_stack([flipped(rng, labels, wrong), rng.normal(size=(sum(n), 3))])
    r = computed(told, labels, n, tmp_path / "run", measures=["online"])[1]["online"]
    bound = 40 + (600 * entropy(wrong) if wrong else 0)
    assert r.tried[0]["bits"] == 40
    assert 0.93 * bound < r.scores["bits"] < 1.15 * bound
    # and a second time where the loss is known: the bits of a test row after the last block
    assert r.tried[-1]["test_bits"] == pytest.approx(entropy(wrong) if wrong else 0, abs=0.12)


@answers("learning")
def test_a_curve_of_gaussian_classes_ends_at_the_best_accuracy_there_is(tmp_path):
    """Two Gaussian classes a deviation of 2 apart: no classifier is right more often than in 84.1 % of the rows."""
    n, rng = (640, 160, 2000), np.random.default_rng(0)
    labels = balanced(rng, n)
    vectors = rng.normal(size=(sum(n), 3)) + np.outer(2 * labels - 1, [1, 0, 0])
    r = computed(vectors, labels, n, tmp_path / "run", measures=["learning"])[1]["learning"]
    best = normal.cdf(1)
    assert best == pytest.approx(0.841, abs=0.001)
    assert [point["rows"] for point in r.tried][-3:] == [160, 320, 640]
    assert all(point["low"] <= best <= point["high"] for point in r.tried[-3:])  # three dimensions are soon learned
    assert all(point["accuracy"] < best + 0.02 for point in r.tried)
    assert covers(r, 0)


def beyond_words(n, seed=0, told_wrong=0.25, held_wrong=0.2):
    """Words, one of which tells the label with errors, and an encoder that has it from elsewhere with other errors."""
    rng = np.random.default_rng(seed)
    labels = balanced(rng, n)
    told, held = flipped(rng, labels, told_wrong), flipped(rng, labels, held_wrong)
    filler = rng.choice(WORDS, size=(sum(n), 5))
    texts = [f"word{word} {' '.join(some)} t{i}" for i, (word, some) in enumerate(zip(told, filler, strict=True))]
    rows = [Example(f"c{k}", tuple(t.split()), t) for k, t in zip(labels.tolist(), texts, strict=True)]
    ends = np.append(0, np.cumsum(n))
    parts = {split: rows[ends[i] : ends[i + 1]] for i, split in enumerate(SPLITS)}
    known = np.column_stack([held, rng.normal(size=(sum(n), 5))])

    def encode(texts):
        return known[[int(text.split()[-1][1:]) for text in texts]].astype(np.float32)

    return Dataset("own/beyond", "beyond", 1, "en", ("c0", "c1"), parts, {}), encode


@answers("given:words")
def test_bits_beyond_the_words_are_those_that_were_planted(tmp_path):
    """The label is wrong in 25 % of the words and in 20 % of the vectors: 0.2121 bits are added, by counting."""
    data, encode = beyond_words((1500, 500, 1500))
    encoders = {"beyond": encode, "words": load("baseline:words?dim=40"), "hash": load("baseline:hash?dim=64")}
    run = evaluate(encoders, [data], tmp_path / "run", baselines=(), resample=0, measures=["given:words"])
    assert run.failures == ()
    beyond, words, hashed = (named(run, encoder)["given:words"] for encoder in encoders)
    left = 0.0
    for told in (0.25, 0.75):
        for held in (0.2, 0.8):
            both = told * held + (1 - told) * (1 - held)
            left += both / 2 * entropy(told * held / both)
    assert entropy(0.25) - left == pytest.approx(0.2121, abs=1e-4)
    assert covers(beyond, entropy(0.25) - left)
    assert beyond.score == pytest.approx(0.2121, abs=0.05)
    assert beyond.scores["entropy"] == pytest.approx(entropy(0.25), abs=0.04)
    # vectors of the words are a function of them, and add nothing
    for r in (words, hashed):
        assert covers(r, 0)
        assert abs(r.score) < 0.01


@answers("given:length")
def test_what_the_length_tells_is_not_added_to_it(tmp_path):
    rng, n = np.random.default_rng(0), (600, 200, 400)
    sizes = rng.integers(4, 12, sum(n))
    labels = flipped(rng, (sizes > 7).astype(int), 0.1)
    texts = [" ".join([*rng.choice(WORDS, size=size - 1), f"t{i}"]) for i, size in enumerate(sizes.tolist())]
    rows = [Example(f"c{k}", tuple(t.split()), t) for k, t in zip(labels.tolist(), texts, strict=True)]
    ends = np.append(0, np.cumsum(n))
    parts = {split: rows[ends[i] : ends[i + 1]] for i, split in enumerate(SPLITS)}
    data = Dataset("own/lengths", "lengths", 1, "en", ("c0", "c1"), parts, {})
    encoders = {
        "length": Reading("length", lambda words: [len(words), np.sqrt(len(words))]),
        "label": lambda texts: labels[[int(t.split()[-1][1:]) for t in texts]][:, None].astype(np.float32),
    }
    run = evaluate(encoders, [data], tmp_path / "run", baselines=(), resample=0, measures=["given:length"])
    length, known = (named(run, encoder)["given:length"] for encoder in encoders)
    assert covers(length, 0)
    assert abs(length.score) < 0.01
    assert known.score == pytest.approx(entropy(0.1), abs=0.08)  # all that is left: the errors of the length
    assert covers(known, entropy(0.1))


def means_in(classes, dimensions, rng):
    """Means of classes (classes, d): on a line, on a circle, or as far from each other as can be."""
    if dimensions == 1:
        return 4 * np.arange(classes)[:, None]
    if dimensions == 2:
        return 6 * np.column_stack([f(2 * np.pi * np.arange(classes) / classes) for f in (np.cos, np.sin)])
    corners = np.eye(classes) - 1 / classes  # of a simplex, near enough to each other that none can be done without
    return 4 * corners @ np.linalg.svd(corners)[2][:dimensions].T


@pytest.mark.parametrize(("classes", "dimensions"), [(2, 1), (6, 1), (6, 2), (6, 5)])
@answers("capacity", "inlp")
def test_a_property_takes_as_many_directions_as_were_planted(classes, dimensions, tmp_path):
    n, rng = (600, 200, 300), np.random.default_rng(dimensions)
    labels = balanced(rng, n, classes)
    vectors = rng.normal(size=(sum(n), 9))
    vectors[:, :dimensions] += means_in(classes, dimensions, rng)[labels]
    turned = vectors @ rng.normal(size=(9, 9))
    run, found = computed(turned, labels, n, tmp_path / "run", measures=["capacity", "inlp"])
    assert next(iter(run)).score > 0.8
    # ranks are 1, 2, 4, 5: the lowest that is enough
    assert found["capacity"].score == dimensions
    assert found["inlp"].scores["rank"] == dimensions
    assert at_chance(found["inlp"], 1 / classes)


@answers("inlp", "hidden")
def test_random_labels_have_no_direction_and_no_hidden_layer_finds_one(tmp_path):
    n, rng = (600, 200, 300), np.random.default_rng(5)
    labels = balanced(rng, n)
    _, found = computed(rng.normal(size=(sum(n), 9)), labels, n, tmp_path / "run", measures=["inlp", "hidden"])
    assert found["inlp"].scores["rank"] == 0
    assert at_chance(found["inlp"])
    assert covers(found["hidden"], 0)
    assert found["hidden"].scores["accuracy"] == pytest.approx(0.5, abs=0.08)


@answers("hidden")
def test_a_product_of_two_signs_is_worth_what_it_is_right(tmp_path):
    """Each sign is wrong in 10 % of the rows: their product is right in 82 %, and 50 % is all that is linear."""
    n, rng = (1500, 300, 1000), np.random.default_rng(0)
    labels = balanced(rng, n)
    first = rng.integers(2, size=sum(n))
    signs = np.column_stack([flipped(rng, first, 0.1), flipped(rng, first ^ labels, 0.1)])
    _, found = computed(2 * signs - 1, labels, n, tmp_path / "run", measures=["hidden"])
    r = found["hidden"]
    assert covers(r, 0.9**2 + 0.1**2 - 0.5)
    assert r.scores["linear"] == pytest.approx(0.5, abs=0.05)


@answers("erasure")
def test_erasing_takes_the_planted_direction_and_nothing_else(tmp_path):
    """Three properties: two in directions of their own, and a third in the direction of the first."""
    n, rng = (600, 200, 400), np.random.default_rng(0)
    one, two = balanced(rng, n), balanced(rng, n)
    third = flipped(rng, one, 0.2)
    hidden = rng.normal(size=(sum(n), 8))
    hidden[:, 0] += 4 * (2 * one - 1)
    hidden[:, 1] += 4 * (2 * two - 1)
    vectors = hidden @ rng.normal(size=(8, 8)) + 3
    sets = [numbered(labels, n, f"own/{name}") for name, labels in (("one", one), ("two", two), ("third", third))]
    run = evaluate({"k": encoder_of(vectors)}, sets, tmp_path / "run", baselines=(), resample=0, measures=["erasure"])
    score = {(r.cell.task, r.cell.variant.split("/")[1].split("#")[0]): r for r in run.extras}
    plain = {r.cell.task: r.score for r in run}
    assert plain["one"] == plain["two"] == 1.0
    assert plain["third"] == pytest.approx(0.8, abs=0.05)
    for task in plain:
        own = score[task, task]
        assert own.scores["rank"] == 1
        assert own.score == pytest.approx(0.5, abs=0 if task != "third" else 0.05)  # one class for all rows
        assert own.scores["random"] == pytest.approx(plain[task], abs=0.1)
        assert own.scores["reinjected"] == 1.0
    # each other's direction is no loss; the third shares that of the first, and both go with it
    assert score["one", "two"].score == score["two", "one"].score == score["two", "third"].score == 1.0
    assert score["third", "two"].score == pytest.approx(plain["third"], abs=0.01)
    assert at_chance(score["third", "one"])
    assert score["one", "third"].score < 0.7


def sized(lengths, n):
    """A set of texts with so many words, whose last names the row."""
    texts = [" ".join([*(["word"] * (size - 1)), f"t{i}"]) for i, size in enumerate(lengths.tolist())]
    rows = [Example(f"c{i % 2}", tuple(t.split()), t) for i, t in enumerate(texts)]
    ends = np.append(0, np.cumsum(n))
    parts = {split: rows[ends[i] : ends[i + 1]] for i, split in enumerate(SPLITS)}
    return Dataset("own/sized", "sized", 1, "en", ("c0", "c1"), parts, {})


@answers("norms")
def test_norms_tell_lengths_that_are_in_the_norm_and_none_that_are_in_the_direction(tmp_path):
    n, rng = (60, 30, 200), np.random.default_rng(0)
    lengths = rng.integers(3, 30, sum(n))
    directions = rng.normal(size=(sum(n), 4))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    angle = lengths / 30
    by_name = {
        "grows": directions * lengths[:, None],
        "shrinks": directions / lengths[:, None],
        "turns": np.column_stack([np.cos(angle), np.sin(angle)]),
        "unrelated": directions * rng.random((sum(n), 1)),
    }

    def reader(vectors):
        return lambda texts: vectors[[int(text.split()[-1][1:]) for text in texts]].astype(np.float32)

    encoders = {name: reader(vectors) for name, vectors in by_name.items()}
    run = evaluate(encoders, [sized(lengths, n)], tmp_path / "run", baselines=(), resample=0, measures=["norms"])
    found = {name: named(run, name)["norms"] for name in by_name}
    assert found["grows"].score == pytest.approx(1, abs=1e-6)
    assert found["shrinks"].score == pytest.approx(-1, abs=1e-6)
    assert found["turns"].score == 0
    assert covers(found["unrelated"], 0)
    assert found["unrelated"].interval[1] - found["unrelated"].interval[0] < 0.4


@answers("mix")
def test_a_mix_has_its_centre_where_a_property_was_planted(tmp_path):
    n, rng = (300, 100, 200), np.random.default_rng(0)
    labels = balanced(rng, n)
    centres = {}
    for name, planted in (("one", [2]), ("two", [1, 3]), ("none", [])):
        layers = rng.normal(size=(5, sum(n), 4))
        for layer in planted:
            layers[layer, :, 0] += 3 * (2 * labels - 1)
        _, found = computed(layers, labels, n, tmp_path / name, measures=["mix"])
        centres[name] = found["mix"]
    assert centres["one"].scores["centre"] == pytest.approx(2, abs=0.5)
    assert centres["two"].scores["centre"] == pytest.approx(2, abs=0.5)
    weights = {name: np.array([layer["weight"] for layer in r.tried]) for name, r in centres.items()}
    assert weights["one"][2] > 0.7
    assert weights["two"][[1, 3]].min() > 0.25
    assert weights["two"][[0, 2, 4]].max() < 0.15
    assert centres["one"].scores["expected_layer"] == pytest.approx(2, abs=0.2)
    assert at_chance(centres["none"])


# controls


@answers("norm", "direction")
def test_norm_and_direction_each_keep_what_is_theirs(tmp_path):
    n, rng = (400, 100, 300), np.random.default_rng(0)
    labels = balanced(rng, n)
    directions = rng.normal(size=(sum(n), 5))
    in_norm = directions / np.linalg.norm(directions, axis=1, keepdims=True) * (1 + labels[:, None])
    in_direction = directions + np.outer(2 * labels - 1, [6, 0, 0, 0, 0])
    in_direction *= rng.random((sum(n), 1)) / np.linalg.norm(in_direction, axis=1, keepdims=True)
    found = {}
    for name, vectors in (("norm", in_norm), ("direction", in_direction)):
        found[name] = computed(vectors, labels, n, tmp_path / name, controls=["norm", "direction"])[1]
    assert found["norm"]["norm"].score == found["direction"]["direction"].score == 1.0
    assert at_chance(found["norm"]["direction"])
    assert at_chance(found["direction"]["norm"])


@answers("gaussian", "shuffled", "memorise")
def test_controls_of_chance_are_at_chance_and_memory_is_what_dimensions_allow(tmp_path):
    n, rng = (200, 100, 400), np.random.default_rng(0)
    labels = balanced(rng, n)
    told = np.column_stack([labels, np.zeros(sum(n))])
    names = ["gaussian", "shuffled", "memorise"]
    run, found = computed(told, labels, n, tmp_path / "told", controls=names)
    assert next(iter(run)).score == 1.0
    assert at_chance(found["gaussian"])
    assert at_chance(found["shuffled"])
    # two points can have at most two labels: all that is memorised is how shuffled labels happen to fall on them
    assert found["memorise"].score == pytest.approx(0.5, abs=0.1)
    _, wide = computed(
        rng.normal(size=(sum(n), 250)), labels, n, tmp_path / "wide", controls=["memorise"], probes=["linear?l2=1e-05"]
    )
    assert wide["memorise"].score == 1.0  # fewer rows than dimensions


def texts_of(make, n, seed=0):
    """A set whose sentences are made from a random stream and a label, and end with a number."""
    rng, parts = np.random.default_rng(seed), {}
    for split, many in zip(SPLITS, n, strict=True):
        parts[split] = []
        for i in range(many):
            words = (*make(rng, i % 2), f"{split}{i}")
            parts[split].append(Example(f"c{i % 2}", words, " ".join(words)))
    return Dataset("own/texts", "texts", 1, "en", ("c0", "c1"), parts, {})


def two_in_order(rng, label):
    """Alpha before beta, or after it, among other words."""
    words = [str(word) for word in rng.choice(WORDS, size=8)]
    first, second = sorted(rng.choice(8, size=2, replace=False).tolist())
    words[first], words[second] = ("alpha", "beta") if label else ("beta", "alpha")
    return words


@answers("permuted", "permuted_test")
def test_order_is_lost_in_permuted_texts_and_words_are_not(tmp_path):
    order = Reading("order", lambda words: [words.index("alpha") < words.index("beta"), 0])
    bag = Reading("bag", lambda words: ["told1" in words, "told0" in words])
    found = {}
    for name, encoder, make in (
        ("order", order, two_in_order),
        ("bag", bag, lambda rng, label: [f"told{label}", *map(str, rng.choice(WORDS, size=7))]),
    ):
        data = texts_of(make, (300, 100, 400))
        run = evaluate(
            {"k": encoder}, [data], tmp_path / name, baselines=(), resample=0, controls=["permuted", "permuted_test"]
        )
        assert next(iter(run)).score == 1.0
        found[name] = named(run)
    assert at_chance(found["order"]["permuted"])
    assert at_chance(found["order"]["permuted_test"])
    assert found["bag"]["permuted"].score == found["bag"]["permuted_test"].score == 1.0


@answers("synthetic")
def test_length_is_left_in_synthetic_texts_and_words_are_not(tmp_path):
    length = Reading("length", lambda words: [len(words) > 7, 0])
    bag = Reading("bag", lambda words: ["told1" in words, "told0" in words])
    found = {}
    for name, encoder, make in (
        ("length", length, lambda rng, label: map(str, rng.choice(WORDS, size=9 if label else 5))),
        ("bag", bag, lambda rng, label: [f"told{label}", *map(str, rng.choice(WORDS, size=7))]),
    ):
        data = texts_of(make, (300, 100, 400))
        run = evaluate({"k": encoder}, [data], tmp_path / name, baselines=(), resample=0, controls=["synthetic"])
        assert next(iter(run)).score == 1.0
        found[name] = named(run)["synthetic"]
    assert found["length"].score == 1.0
    assert at_chance(found["bag"])


def with_words(told_by, n=(300, 100, 300)):
    """Sentences and two words beside them; the label is that of one word, or of the sentence."""
    rng, parts = np.random.default_rng(0), {}
    for split, many in zip(SPLITS, n, strict=True):
        parts[split] = []
        for i in range(many):
            word, sentence = f"in{rng.integers(2)}", f"out{rng.integers(2)}"
            text = f"{sentence} {' '.join(rng.choice(WORDS, size=4))} {split}{i}"
            label = word[-1] if told_by == "word" else sentence[-1]
            parts[split].append(Example(label, tuple(text.split()), text, extra=(("word1", word), ("word2", "other"))))
    return Dataset("adi2017/word_order", "word_order", 1, "en", ("0", "1"), parts, {})


@pytest.mark.parametrize(("told_by", "left"), [("word", 1.0), ("sentence", 0.5)])
@answers("words")
def test_word_inputs_alone_tell_what_they_tell(told_by, left, tmp_path):
    encoder = Reading("reads", lambda words: [name in words for name in ("in0", "in1", "out0", "out1")])
    run = evaluate(
        {"k": encoder}, [with_words(told_by)], tmp_path / "run", baselines=(), resample=0, controls=["words"]
    )
    assert run.failures == ()
    assert next(iter(run)).score == 1.0
    assert at_chance(named(run)["words"], left)
    assert named(run)["words"].score == pytest.approx(left, abs=0.08)


@answers("key")
def test_a_label_is_selective_and_a_word_is_not(tmp_path):
    encoders = {"label": label(0.0), "form": form()}
    sets = [keyed("own/keys", n=(240, 80, 120))]
    run = evaluate(encoders, sets, tmp_path / "run", baselines=(), resample=0, controls=["key"])
    told, memorised = (named(run, encoder)["key"].scores for encoder in encoders)
    control = {encoder: named(run, encoder)["key"] for encoder in encoders}
    assert told["task"] == 1.0
    assert control["label"].score == pytest.approx(0.5, abs=0.15)
    assert told["selectivity"] == pytest.approx(1 - control["label"].score)
    assert told["selectivity_low"] > 0
    # the form decides its random label, and says nothing of the label of the task
    assert control["form"].score == 1.0
    assert memorised["selectivity_high"] < 0


SCHEME = '''
"""An encoder that knows the label, unless its weights are random."""

import numpy as np

from sentprobe.encoders.identity import Identity

OPTIONS = {"random": "the seed of random weights"}


class Planted:
    def __init__(self, random):
        self.random, self.identity = random, Identity.of("planted", "", random=random)

    def __call__(self, texts):
        if self.random is None:
            return np.array([["c0" in text.split(), "c1" in text.split()] for text in texts], np.float32)
        return np.random.default_rng(self.random).normal(size=(len(texts), 2)).astype(np.float32)


def load(spec):
    spec.check_options(OPTIONS)
    given = dict(spec.options)
    return Planted(int(given["random"]) if "random" in given else None)
'''


@answers("untrained")
def test_what_training_brought_is_missing_from_the_untrained_encoder(plugin, tmp_path):  # noqa: F811 - the fixture
    plugin("encoders", SCHEME, "planted")
    sets = [keyed("own/trained", n=(240, 80, 400))]
    run = evaluate("planted:", sets, tmp_path / "run", baselines=(), resample=0, controls=["untrained"])
    assert run.failures == ()
    assert next(iter(run)).score == 1.0
    (untrained,) = run.extras
    assert untrained.cell.variant == "untrained"
    assert at_chance(untrained)
