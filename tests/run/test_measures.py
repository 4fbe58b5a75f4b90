"""Measures: where the answer is known beforehand it comes out, and numbers agree with each other."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe.data.dataset import Dataset
from sentprobe.data.splits import cluster_ids, splits_of
from sentprobe.probes import Features, fit
from sentprobe.probes.added import Labels, SplitFeatures, add_vectors, probe_baseline
from sentprobe.run import encoder as encoder_module
from sentprobe.run import evaluate, variants
from sentprobe.run.measure import MEASURES
from sentprobe.run.measures import hidden, measure_of, norms
from sentprobe.run.resample import assign_groups
from sentprobe.stats.means import mean
from sentprobe.tasks import Example
from tests.run.test_variants import Reading, keyed, label, named, noise, of_label

RANDOM = "baseline:random?dim=8"


@pytest.fixture(scope="module")
def informative(tmp_path_factory):
    """An encoder that tells the label and one that tells nothing, on two classes."""
    encoders = {"label": label(0.0), "random": Reading("random", lambda words: noise(words, 8))}
    sets = [keyed("own/told", n=(640, 80, 120), classes=2)]
    return evaluate(
        encoders, sets, tmp_path_factory.mktemp("told") / "run", baselines=(),
        measures=["online", "given:length", "given:words", "capacity", "inlp"],
    )  # fmt: skip


def plain(run, encoder="k", dataset=None):
    return next(r for r in run if r.cell.encoder == encoder and dataset in (None, r.cell.dataset))


def test_every_measure_has_an_interpretation():
    assert [name for name in MEASURES if MEASURES[name].order < 100] == [
        "online", "learning", "given:length", "given:words", "capacity", "hidden", "erasure", "inlp", "norms", "mix",
    ]  # fmt: skip
    for name, measure in MEASURES.parts().items():
        assert measure.name == name
        assert measure.interpretation[0].isupper()
        assert measure.interpretation.endswith(".")
        assert measure_of(name) is measure
    other = measure_of("given:static:")
    assert (other.name, other.given) == ("given:static:", "static:")
    assert "add to those of static:" in other.interpretation


# information


def test_a_label_is_worth_its_entropy_and_random_vectors_nothing(informative):
    sure, nothing = plain(informative, "label").scores, plain(informative, "random").scores
    assert sure["entropy"] == nothing["entropy"] == pytest.approx(1.0)
    assert sure["information"] == pytest.approx(1.0, abs=0.01)
    assert abs(nothing["information"]) < 0.05
    assert nothing["information_low"] <= 0 <= nothing["information_high"]
    for encoder in ("label", "random"):
        r = plain(informative, encoder)
        pointwise = informative.predictions(r)["pointwise"]
        assert pointwise.mean() == pytest.approx(r.scores["information"], abs=1e-5)
        assert r.scores["information_low"] <= r.scores["information"] <= r.scores["information_high"]
    assert nothing["temperature"] > 1  # it should not be sure at all


def test_indices_are_of_labels_in_train(tmp_path):
    given = keyed("own/unmet")
    rows = {**given.rows, "te": [*given.rows["te"][:-6], *(r._replace(label="zz") for r in given.rows["te"][-6:])]}
    run = evaluate({"k": label(0.0)}, [replace(given, rows=rows)], tmp_path / "run", measures=["all"], baselines=())
    assert run.failures == ()
    (r,) = run
    assert r.score == named(run)["capacity"].scores["accuracy"] == 0.95
    assert named(run)["online"].tried[-1]["test_accuracy"] == pytest.approx(0.95)
    assert named(run)["given:length"].score == pytest.approx(1.0, abs=0.05)
    assert r.scores["information"] == pytest.approx(1.0, abs=0.01)
    assert np.isnan(run.predictions(r)["pointwise"]).sum() == 6


# learning curves


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """An encoder that tells the label from the start, one that hides it among much else, and one that tells nothing."""
    encoders = {
        "label": label(0.0),
        "hint": Reading("hint", lambda words: noise(words, 400) + 0.8 * of_label(words)[0] * (np.arange(400) < 8)),
        "random": Reading("random", lambda words: noise(words, 8)),
    }
    sets = [keyed("own/learned", n=(640, 400, 1600), classes=2)]
    folder = tmp_path_factory.mktemp("learned") / "run"
    return evaluate(encoders, sets, folder, measures=["learning"], baselines=["majority", "nb-uni"])


def test_a_curve_ends_at_the_score_and_says_whether_it_rises(learned):
    found = {name: named(learned, name)["learning"] for name in ("label", "hint", "random")}
    for name, r in found.items():
        points = r.tried
        assert [point["rows"] for point in points] == [40, 80, 160, 320, 640]  # forms have eight rows
        assert [point["subsamples"] for point in points] == [4, 4, 4, 4, 1]
        assert points[-1]["accuracy"] == r.scores["accuracy"] == plain(learned, name).score
        assert points[-2]["accuracy"] == r.scores["half"]
        assert r.score == pytest.approx(r.scores["accuracy"] - r.scores["half"])
        assert all(0 <= p["low"] <= p["accuracy"] <= p["high"] <= 1 for p in points)
        assert {p["majority"] for p in points} == {0.5}
        assert r.metric == "gain"
    assert {p["accuracy"] for p in found["label"].tried} == {1.0}
    assert found["label"].interval[0] < 0 < found["label"].interval[1]  # all right is no proof
    assert [found[name].interval[0] > 0 for name in found] == [False, True, False]
    hint = [p["accuracy"] for p in found["hint"].tried]
    assert hint[0] < 0.65 < 0.78 < hint[-1]
    assert all(p["low"] <= 0.5 <= p["high"] for p in found["random"].tried)


def test_what_is_kept_of_a_curve_agrees_with_its_points(learned):
    r = named(learned, "hint")["learning"]
    kept = learned.predictions(r)
    assert (r.metric, r.interval_kind) == ("gain", "crossed")
    assert kept["other_right"].shape == (17, 1600)
    for point in r.tried:
        own = kept["other_right"][kept["other_rows"] == point["rows"]]
        assert (len(own), own.mean()) == (point["subsamples"], pytest.approx(point["accuracy"]))


def test_naive_bayes_has_a_curve_of_the_same_rows_that_ends_at_its_score(learned):
    (r,) = [r for r in learned.extras if r.cell.encoder == "nb-uni"]
    other = named(learned, "label")["learning"]
    assert [p["rows"] for p in r.tried] == [p["rows"] for p in other.tried]
    assert r.tried[-1]["accuracy"] == plain(learned, "nb-uni").score
    assert r.cell.variant == "learning"


def test_a_curve_resumes_and_does_not_depend_on_other_requests(learned, tmp_path):
    before = (learned.folder / "results.jsonl").read_bytes()
    encoder = label(0.0)
    sets = [keyed("own/learned", n=(640, 400, 1600), classes=2)]
    run = evaluate({"label": encoder}, sets, tmp_path / "run", measures=["learning", "online"], baselines=())
    assert named(run, "label")["learning"].tried == named(learned, "label")["learning"].tried
    assert not [r for r in run.extras if r.cell.encoder == "nb-uni"]
    again = evaluate(
        {"label": label(0.0)}, sets, learned.folder, measures=["learning"], baselines=["majority", "nb-uni"]
    )
    assert (learned.folder / "results.jsonl").read_bytes() == before
    assert len(again.extras) == 4


# description length


def test_labels_are_compressed_by_a_label_and_not_by_random_vectors(informative):
    sure, nothing = named(informative, "label")["online"], named(informative, "random")["online"]
    assert sure.metric == nothing.metric == "compression"
    assert nothing.score == pytest.approx(1.0, abs=0.1)
    assert nothing.interval[0] <= 1 <= nothing.interval[1]
    # of 640 labels 40 are sent as they are, so that no code is more than 16 times shorter
    assert 10 < sure.score <= 16
    assert sure.interval[1] <= 16
    assert sure.scores["enough_25"] == 40
    assert nothing.scores["enough_75"] == 0  # never
    assert sure.scores["surplus_50"] < nothing.scores["surplus_50"]


def test_a_description_adds_up(informative):
    for encoder in ("label", "random"):
        r = named(informative, encoder)["online"]
        scores, kept = r.scores, informative.predictions(r)
        assert [block["rows"] for block in r.tried] == [40, 80, 160, 320, 640]
        assert sum(block["bits"] for block in r.tried) == pytest.approx(scores["bits"])
        assert kept["other_bits"].shape == (3, 5)
        assert kept["other_rows"].sum() == pytest.approx(scores["bits"], rel=1e-5)
        assert scores["uniform_bits"] == scores["prior_bits"] == 640
        assert r.score == scores["gain"] == scores["compression"] == pytest.approx(640 / scores["bits"])
        assert r.tried[0]["bits"] == 40
        assert r.tried[-1]["test_accuracy"] == pytest.approx(plain(informative, encoder).score, abs=0.1)


def test_an_interval_of_few_target_forms_has_an_end(tmp_path):
    """Rows of one of two forms are predictable, those of the other are not: other forms might cost nothing at all."""

    def row(i, s):
        rng, hard = np.random.default_rng([i, s]), i % 4 == 0
        label = f"c{rng.integers(2)}"
        text = f"{'x' if hard else label} {s} {i}"
        return Example(label, tuple(text.split()), text, key="hard" if hard else "easy")

    rows = {k: [row(i, s) for i in range(n)] for s, (k, n) in enumerate((("tr", 400), ("va", 60), ("te", 80)))}
    given = Dataset("own/forms", "forms", 1, "en", ("c0", "c1"), rows, {})
    encoder = Reading("easy", lambda words: [words[0] == "c0", words[0] == "c1", words[0] == "x"])
    (r,) = evaluate({"k": encoder}, [given], tmp_path / "run", measures=["online"], baselines=()).extras
    assert (r.scores["bits_low"], r.scores["compression_high"]) == (50, 8)  # 50 labels of 400 are sent as they are
    # there are not as many labels of one kind as of the other, which is worth something without any vectors
    assert r.score == r.scores["gain"] == pytest.approx(r.scores["prior_bits"] / r.scores["bits"])
    assert r.scores["prior_bits"] < r.scores["uniform_bits"]
    assert r.interval[0] < r.score < r.interval[1] == pytest.approx(r.scores["prior_bits"] / 50)


# beyond another encoder


def test_a_label_adds_its_entropy_to_the_length_and_random_vectors_nothing(informative):
    nothing = named(informative, "random")["given:length"]
    assert nothing.metric == "bits"
    assert abs(nothing.score) < 0.02
    assert nothing.interval[0] <= nothing.score <= nothing.interval[1]
    sure = named(informative, "label")["given:length"]
    assert sure.score == pytest.approx(1.0, abs=0.05)
    assert (sure.scores["accuracy"], sure.dimension) == (1.0, 311 + 7)  # together with those of baseline:length
    assert sure.scores["accuracy_without"] < 0.65
    assert informative.predictions(sure)["pointwise"].mean() == pytest.approx(sure.score, abs=1e-5)
    # the label is one of the words, so it adds nothing to them
    words = named(informative, "label")["given:words"]
    assert words.interval[0] <= 0 <= words.interval[1]
    assert abs(words.score) < 0.01


def test_what_is_given_is_measured_on_the_vectors_of_both(tmp_path, monkeypatch):
    """As the function of vectors and labels says, with target forms kept together."""
    sets, other = keyed("own/scale", n=(200, 80, 400)), Reading("other", lambda words: 5 * noise(words, 5) + 3)
    monkeypatch.setattr(variants, "load", lambda name: other)
    monkeypatch.setattr(encoder_module, "load", lambda name: other)
    run = evaluate({"k": label(1.0)}, [sets], tmp_path / "run", measures=["given:py:other"], baselines=())
    (r,) = run.extras
    parts = splits_of(sets)
    three, truth = (parts.train, parts.dev, parts.test), parts.test.labels
    known = Labels(parts.train.labels, parts.dev.labels, 2)
    given, own = (
        SplitFeatures(*(Features.of(encoder(part.texts)) for part in three)) for encoder in (other, label(1.0))
    )
    folds = assign_groups(parts.train, 1, 5)[0]
    assert all(len(set(folds[np.array(parts.train.keys) == key])) == 1 for key in parts.train.keys)
    found = add_vectors(probe_baseline([given], known, folds), own, known)
    without, with_vectors = (logs[np.arange(400), truth] / np.log(2) for logs in found.log_probabilities())
    assert r.score == pytest.approx((with_vectors - without).mean(), abs=1e-5)
    assert r.score > 0.2
    assert r.dimension == 5 + 7
    assert r.chosen["l2_added"] == found.l2
    assert r.scores["imitated"] == pytest.approx(found.imitated)
    # the interval covers dev rows as well, and is wider than that of the test rows alone
    forms = cluster_ids(parts.test.keys, parts.test.texts)
    low, high = mean(with_vectors - without, forms).interval()
    assert r.interval[0] < low < high < r.interval[1]


def lengths():
    """A set that asks for the length of a sentence, in three classes."""
    given = keyed("own/length", n=(300, 80, 120))
    rows = {
        s: [r._replace(label=f"c{(len(r.tokens) - 6) // 2}", key=None) for r in found]
        for s, found in given.rows.items()
    }
    return replace(given, labels=("c0", "c1", "c2"), rows=rows)


def test_the_length_adds_nothing_to_the_length(tmp_path):
    measures = ["given:length", "given:baseline:length", f"given:{RANDOM}"]
    encoder = Reading("length", lambda words: np.eye(12)[len(words)])
    run = evaluate({"k": encoder}, [lengths()], tmp_path / "run", measures=measures, baselines=())
    found = named(run)
    assert plain(run).score == 1.0
    assert plain(run).scores["information"] == pytest.approx(plain(run).scores["entropy"], abs=0.02)
    assert found["given:length"].score == pytest.approx(0, abs=0.02)
    assert found["given:length"].scores["accuracy_without"] == 1.0
    assert found[f"given:{RANDOM}"].score == pytest.approx(plain(run).scores["entropy"], abs=0.05)
    # the same encoder by its name gives the same number
    assert found["given:baseline:length"].score == found["given:length"].score


# capacity


def test_two_classes_are_separated_by_one_direction(informative):
    r = named(informative, "label")["capacity"]
    assert (r.metric, r.score, r.scores["accuracy"]) == ("rank", 1.0, 1.0)
    assert {point["rank"] for point in r.tried} == {1}
    by = sorted((point["l2"], point["norm"]) for point in r.tried)
    assert [norm for _, norm in by] == sorted((norm for _, norm in by), reverse=True)  # a penalty makes weights smaller
    assert r.chosen["l2"] == plain(informative, "label").chosen["l2"]
    assert "volume" not in r.scores  # there is nothing between no rank and the full one


def test_classes_in_a_row_take_one_direction_and_others_more(tmp_path):
    def letters(words):
        return next(int(word[1]) for word in words if word in ("c0", "c1", "c2", "c3"))

    given = keyed("own/four", n=(320, 80, 120), classes=4)
    encoders = {
        "row": Reading("row", lambda words: [letters(words), *noise(words, 4)]),
        "apart": Reading("apart", lambda words: np.eye(4)[letters(words)] + 0.2 * noise(words, 4)),
    }
    run = evaluate(encoders, [given], tmp_path / "run", measures=["capacity"], baselines=())
    row, apart = (named(run, encoder)["capacity"] for encoder in encoders)
    assert [r["rank"] for r in apart.tried[:3]] == [1, 2, 3]
    assert (row.score, row.scores["accuracy"]) == (1.0, 1.0)
    assert apart.score > 1
    assert apart.scores["accuracy"] > 0.9
    assert apart.scores["volume"] < row.scores["volume"]
    for r in (row, apart):  # a point on the frontier has none that is as right with a smaller norm
        for point in r.tried:
            beaten = any(o["norm"] < point["norm"] and o["test"] >= point["test"] for o in r.tried)
            assert not (beaten and point["frontier"])
        assert any(point["frontier"] for point in r.tried)


def test_a_measure_is_about_the_linear_probe_whichever_was_run(tmp_path):
    measures = ["capacity", "erasure"]
    one, two = (
        evaluate({"k": label(1.0)}, [keyed()], tmp_path / probe, probes=[probe], measures=measures, baselines=())
        for probe in ("linear", "linear?l2=0.5")
    )
    assert plain(two).chosen["l2"] == 0.5
    assert {r.chosen["l2"] for run in (one, two) for r in run.extras} == {plain(one).chosen["l2"]}
    assert [(r.key, r.score, r.scores, r.tried) for r in one.extras] == [
        (r.key, r.score, r.scores, r.tried) for r in two.extras
    ]


# a hidden layer


def test_a_hidden_layer_finds_what_is_not_along_a_line(tmp_path):
    """Signs whose product is the label are uninformative one by one; the label itself is linearly separable."""
    given = keyed("own/product", n=(1200, 200, 400))

    def product(words):
        first = 1 if noise(words, 1)[0] > 0 else -1
        second = first if of_label(words)[0] else -first
        return [first + 0.2 * noise(words, 2)[0], second + 0.2 * noise(words, 3)[1], *noise(words, 2)]

    encoders = {"product": Reading("product", product), "label": label(1.0)}
    run = evaluate(encoders, [given], tmp_path / "run", measures=["hidden"], baselines=())
    assert run.failures == ()
    bent, straight = (named(run, encoder)["hidden"] for encoder in encoders)
    assert bent.metric == "gap"
    assert bent.scores["linear"] < 0.6
    assert bent.scores["accuracy"] > 0.9
    assert bent.score == pytest.approx(bent.scores["accuracy"] - bent.scores["linear"])
    assert bent.range[0] > 0.3
    assert [point["width"] for point in bent.tried] == [4, 16, 64]
    chosen = next(point for point in bent.tried if point["width"] == bent.chosen["hidden"])
    assert chosen["dev"] == max(point["dev"] for point in bent.tried)
    assert chosen["test"] == bent.scores["accuracy"]
    assert abs(straight.score) < 0.05
    assert straight.scores["linear"] == next(r for r in run if r.cell.encoder == "label").score


@pytest.mark.parametrize("cached", [True, False])
def test_networks_that_share_batches_are_those_that_do_not(tmp_path, monkeypatch, cached):
    """The reference is one fit per width, each of which gathers and standardises its own rows."""
    given, calls = keyed("own/widths", n=(400, 100, 100), classes=3), []

    def counted(probe, *rest, **more):
        calls.append(probe.hidden)
        return fit(probe, *rest, **more)

    monkeypatch.setattr(hidden, "fit", counted)
    if not cached:
        monkeypatch.setattr(hidden, "MAX_CACHED_BYTES", 0)
    run = evaluate({"k": label(1.0)}, [given], tmp_path / "run", measures=["hidden"], baselines=(), resample=0)
    assert calls == [(4, 16, 64)]
    found, parts = named(run)["hidden"], splits_of(given)
    train, dev, test = (Features.of(label(1.0)(part.texts)) for part in (parts.train, parts.dev, parts.test))
    for point in found.tried:
        (alone,) = fit(
            replace(hidden.PROBE, hidden=(point["width"],)), train, parts.train.labels, dev, parts.dev.labels, 3,
            seeds=[found.cell.seed],
        )  # fmt: skip
        assert point["dev"] == alone.dev
        assert point["test"] == (alone.model.scores(test).argmax(axis=1) == parts.test.labels).mean()


# erasure


def two_properties(name, n=(300, 80, 160)):
    """Sentences with two labels that have nothing to do with each other, as two sets."""
    made = keyed(name, n=n)

    def other(i):
        return f"d{i // 2 % 3}"

    rows = {
        s: [
            r._replace(text=f"{r.text} {other(i)}", tokens=(*r.tokens, other(i)), key=None)
            for i, r in enumerate(found)
        ]
        for s, found in made.rows.items()
    }  # fmt: skip
    first = replace(made, rows=rows)
    second = {s: [r._replace(label=r.tokens[-1]) for r in found] for s, found in rows.items()}
    return first, replace(made, name=f"{name}2", task="second", labels=("d0", "d1", "d2"), rows=second)


def test_a_property_that_is_erased_is_gone_and_others_are_not(tmp_path):
    def read(words):
        informative = np.array([*of_label(words)[:2], *(f"d{k}" in words for k in range(3)), *[0] * 12])
        return informative + np.repeat([0.2, 1.0], [5, 12]) * noise(words, 17)

    first, second = two_properties("own/first")
    run = evaluate({"k": Reading("two", read)}, [first, second], tmp_path / "run", measures=["erasure"], baselines=())
    assert run.failures == ()
    by = {(r.cell.dataset, r.cell.variant.removeprefix("erased:").split("#")[0]): r for r in run.extras}
    assert len(by) == 4
    for given, rank in ((first, 1), (second, 2)):
        own, before = by[given.name, given.name], plain(run, dataset=given.name)
        assert before.score > 0.9
        assert own.scores["rank"] == rank
        predicted = set(run.predictions(own)["predicted"].tolist())  # nothing is left that distinguishes rows
        share = np.mean([row.label == given.labels[min(predicted)] for row in given.rows["te"]])
        assert (len(predicted), own.score) == (1, pytest.approx(share))
        assert own.scores["reinjected"] > 0.98
        assert own.scores["random"] > before.score - 0.15  # of 17 directions few are lost
        assert own.scores["random_low"] <= own.scores["random"]
        assert own.scores["log2_loss"] == pytest.approx(np.log2(len(given.labels)), abs=0.1)
        assert own.chosen["l2"] == before.chosen["l2"]
    for given, other in ((first, second), (second, first)):
        left = by[given.name, other.name]
        assert left.score == pytest.approx(plain(run, dataset=given.name).score, abs=0.04)
        assert "reinjected" not in left.scores  # the class of another property would not help


def test_a_property_is_erased_by_another_set_of_the_same(tmp_path):
    one, two = keyed("own/one"), keyed("own/twin", n=(200, 60, 80))
    run = evaluate({"k": label()}, [one, two], tmp_path / "run", measures=["erasure"], baselines=())
    left = named(run, dataset="own/one")[f"erased:own/twin#{two.digest}"]
    assert plain(run, dataset="own/one").score > 0.9
    assert left.score < 0.65


# layers


def layered(planted, layers=4):
    class Layered(Reading):
        def __init__(self):
            super().__init__(f"planted {planted}", of_label)
            self.layers = tuple(f"h{i}" for i in range(layers))

        def __call__(self, texts):
            self.encoded += texts
            rows = [[*text.split()] for text in texts]
            nothing = [[noise([*words, str(i)], 5) for words in rows] for i in range(layers)]
            nothing[planted] = [[*of_label(words)[:2], *noise(words, 3)] for words in rows]
            return np.array(nothing)

    return Layered()


@pytest.mark.parametrize("planted", [1, 3])
def test_a_mix_finds_the_planted_layer(tmp_path, planted):
    given = keyed("own/mix", n=(240, 60, 80))
    run = evaluate({"k": layered(planted)}, [given], tmp_path / "run", measures=["mix"], baselines=())
    (r,) = run.extras
    assert (r.cell.layer, r.cell.variant, r.score) == (None, "mix", 1.0)
    assert [each["layer"] for each in r.tried] == ["h0", "h1", "h2", "h3"]
    weights = np.array([each["weight"] for each in r.tried])
    assert weights.sum() == pytest.approx(1)
    assert weights.argmax() == planted
    assert weights[planted] > 0.7
    assert r.scores["centre"] == pytest.approx(np.arange(4) @ weights)
    assert r.scores["centre"] == pytest.approx(planted, abs=0.6)
    assert r.scores["expected_layer"] == pytest.approx(planted, abs=0.3)
    up_to = [each["up_to"] for each in r.tried]
    assert up_to[planted] > 0.95
    assert up_to[planted - 1] < 0.65


def test_layers_without_names_are_mixed_by_number(tmp_path):
    encoder = layered(1, 3)
    del encoder.layers
    run = evaluate(
        {"k": encoder}, [keyed("own/mix", n=(240, 60, 80))], tmp_path / "run", measures=["mix"], baselines=()
    )
    assert run.failures == ()
    (r,) = run.extras
    assert [each["layer"] for each in r.tried] == ["0", "1", "2"]
    assert np.argmax([each["weight"] for each in r.tried]) == 1


def test_no_layer_is_expected_where_the_lowest_tells_all(tmp_path):
    run = evaluate({"k": layered(0, 2)}, [keyed("own/low")], tmp_path / "run", measures=["mix"], baselines=())
    assert run.failures == ()
    (r,) = run.extras
    assert "expected_layer" not in r.scores
    assert r.scores["centre"] < 0.3


def test_a_label_takes_one_projection_and_random_vectors_none(informative):
    for encoder, rank in (("label", 1), ("random", 0)):
        found = named(informative, encoder)["inlp"]
        low, high = found.range
        assert low <= 0.5 <= high, encoder
        assert found.scores["rank"] == rank


def lengths_and_norms(words):
    """The mean of as many unit vectors as there are words, in random directions: shorter for longer texts."""
    drawn = np.random.default_rng(len(words)).normal(size=(len(words), 64))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).mean(axis=0)


def test_the_norm_of_an_average_falls_with_length_and_normalised_vectors_tell_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(norms, "CELLS", 640)  # ten rows of "mean" at a time: all of a sparse encoder's would not fit
    rows = [
        Example("ab"[i % 2], tuple(f"w{k}" for k in range(n)), " ".join(f"w{k}" for k in range(n)))
        for i, n in enumerate(np.random.default_rng(0).integers(3, 30, 240).tolist())
    ]
    data = Dataset(
        "own/lengths", "lengths", 1, "en", ("a", "b"), {"tr": rows[:100], "va": rows[100:140], "te": rows[140:]}
    )
    encoders = {
        "mean": lambda texts: np.array([lengths_and_norms(text.split()) for text in texts]),
        "unit": lambda texts: np.array([np.eye(4, dtype=np.float32)[len(text) % 4] for text in texts]),
    }
    run = evaluate(encoders, data, tmp_path / "run", measures=["norms"], baselines=(), resample=0)
    found = {r.cell.encoder: r for r in run.extras}
    assert found["mean"].score < -0.8
    assert found["mean"].interval[0] <= found["mean"].score <= found["mean"].interval[1] < -0.6
    direct = [np.linalg.norm(lengths_and_norms(row.tokens)) for row in rows[140:]]
    assert found["mean"].scores["mean_norm"] == pytest.approx(np.mean(direct), abs=1e-5)
    points = found["mean"].tried
    assert sum(p["n"] for p in points) == 100
    assert all(p["n"] >= 10 and p["low"] <= p["norm"] <= p["high"] for p in points)
    assert [p["from"] for p in points][1:] == [p["to"] + 1 for p in points][:-1] or len(points) > 2
    assert points[0]["norm"] > 1.5 * points[-1]["norm"]
    assert found["unit"].score == 0.0
    assert {round(p["norm"], 5) for p in found["unit"].tried} == {1.0}
