"""Intervals about the encoder: which rows are left out, what is kept, and what a run does by default."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe.data.splits import Split, splits_of
from sentprobe.errors import UsageError
from sentprobe.probes import Features, named, parse
from sentprobe.probes.kind import kind_of
from sentprobe.results.inference import read_resamples
from sentprobe.run import Run, evaluate
from sentprobe.run.options import RunOptions
from sentprobe.run.resample import (
    DEV_DRAWS,
    MAX_DEFAULT_COST,
    assign_groups,
    bootstrap_choices,
    cluster_numbers,
    resample_count,
)
from sentprobe.stats.training import LINEAR_GROUPS as GROUPS
from tests.run.sets import Knowing, dataset

LINEAR_RESAMPLES, NETWORK_RESAMPLES = (kind_of(named(name)).resamples for name in ("linear", "mlp"))
FORMS = dataset("own/forms", n=(200, 40, 80), keys=30)
ROWS = dataset("own/rows", n=(120, 40, 80), classes=3)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    encoders = {"py:good": Knowing(3, noise=0.5, name="good"), "py:poor": Knowing(3, noise=3.0, name="poor")}
    return evaluate(encoders, [FORMS, ROWS], folder, baselines=["majority", "baseline:random"])


def test_every_row_is_left_out_once_a_round_and_classes_are_balanced():
    train = splits_of(ROWS).train
    groups = assign_groups(train, 2, GROUPS)
    assert groups.shape == (2, 120)
    assert not np.array_equal(groups[0], groups[1])
    for assigned in groups:
        assert np.bincount(assigned).tolist() == [12] * GROUPS
        for group in range(GROUPS):
            assert np.bincount(train.labels[assigned == group]).tolist() == [4, 4, 4]


def test_rows_of_one_target_form_are_left_out_together():
    train = splits_of(FORMS).train
    for assigned in assign_groups(train, 2, GROUPS):
        assert all(
            len({g for g, k in zip(assigned, train.keys, strict=True) if k == key}) == 1 for key in set(train.keys)
        )


def test_too_few_forms_or_a_class_in_one_group_only_are_not_resampled():
    train = splits_of(FORMS).train
    few = [f"k{i % 19}" for i in range(len(train))]
    assert "19 target forms or sentences; 20 are needed" in assign_groups(replace(train, keys=few), 1, GROUPS)
    assert not isinstance(assign_groups(replace(train, keys=few), 1, 2), str)
    lonely = np.zeros_like(train.labels)
    lonely[5] = 1
    assert "of a class" in assign_groups(replace(train, keys=[None] * len(train), labels=lonely), 1, GROUPS)


def test_what_cannot_be_resampled_says_why_and_is_not_tried_again(tmp_path):
    few = dataset("own/few", n=(120, 40, 60), keys=8)
    for requested in (20, 20, None):
        encoder = Knowing(noise=1.0)
        (found,) = evaluate({"py:k": encoder}, [few], tmp_path / "run", baselines=[], resample=requested).results
        assert (found.resamples, found.encoder_interval) == (0, None)
        assert "8 target forms" in found.not_resampled
        assert bool(encoder.encoded) == (requested == 20 and not (tmp_path / "again").exists())
        (tmp_path / "again").touch()


def test_a_test_set_of_one_row_is_scored(tmp_path):
    one = dataset("own/one", n=(120, 40, 1))
    (found,) = evaluate({"py:k": Knowing()}, [one], tmp_path / "run", baselines=[]).results
    assert (found.score, found.resamples) == (1.0, 0)
    assert "one test row" in found.not_resampled


def test_results_have_an_interval_about_the_encoder_that_is_not_narrower(run):
    for result in run:
        if result.cell.encoder == "majority":
            assert (result.resamples, result.encoder_interval, result.training_sd) == (0, None, None)
            continue
        assert result.resamples == LINEAR_RESAMPLES
        low, high = result.encoder_interval
        assert low <= result.score <= high
        assert result.training_sd >= 0
        # where training rows make hardly a difference, the two differ by estimates of the variance over test rows and
        # of its degrees of freedom, of which a sum has more than its first part
        assert high - low >= 0.99 * (result.range[1] - result.range[0])


def test_what_was_right_is_kept_a_bit_a_row(run):
    result = next(r for r in run if r.cell.encoder == "py:poor" and r.cell.dataset == "own/rows")
    found = read_resamples(run, result)
    again, chosen = found.trained, found.chosen
    assert (again.shape, found.groups, found.wide) == ((LINEAR_RESAMPLES, 80), GROUPS, False)
    assert chosen.shape == (DEV_DRAWS, 80)
    assert 1 <= len({row.tobytes() for row in chosen}) <= len(result.tried)
    correct = run.correct(result)
    assert (again == correct).mean() > 0.6  # probes of nine tenths of the rows are much alike
    assert not (again == correct).all()


def test_more_resamples_are_done_in_place_and_fewer_are_enough(tmp_path):
    encoder = {"py:poor": Knowing(3, noise=3.0, name="poor")}

    def done(resample):
        return evaluate(encoder, [ROWS], tmp_path / "run", baselines=[], resample=resample).results

    (none,) = done(0)
    assert (none.resamples, none.encoder_interval) == (0, None)
    assert read_resamples(Run.load(tmp_path / "run"), none) is None
    (some,) = done(10)
    assert (some.resamples, some.score, some.interval) == (10, none.score, none.interval)
    (more,) = done(30)
    assert more.resamples == 30
    assert done(20) == (more,)
    assert done(0) == (more,)
    assert done(None) == (more,)


def test_the_default_makes_up_for_what_was_left_out(tmp_path):
    encoder = {"py:poor": Knowing(3, noise=3.0, name="poor")}
    evaluate(encoder, [ROWS], tmp_path / "run", baselines=[], resample=0)
    (found,) = evaluate(encoder, [ROWS], tmp_path / "run", baselines=[]).results
    assert found.resamples == LINEAR_RESAMPLES


def test_networks_are_trained_on_halves(tmp_path):
    run = evaluate(
        {"py:poor": Knowing(3, noise=2.0)}, [ROWS], tmp_path / "run", baselines=[], probes=["senteval?passes=4"]
    )  # fmt: skip
    (found,) = run.results
    assert found.resamples == NETWORK_RESAMPLES
    assert read_resamples(run, found).groups == 2
    assert found.encoder_interval[1] - found.encoder_interval[0] >= found.range[1] - found.range[0]


def test_the_default_is_by_probe_and_size():
    _, linear = parse("linear")
    _, network = parse("senteval")
    assert resample_count(None, linear, 1000, 300, 2) == LINEAR_RESAMPLES
    assert resample_count(None, network, 1000, 300, 2) == NETWORK_RESAMPLES
    assert resample_count(None, linear, MAX_DEFAULT_COST, 1, 2) == LINEAR_RESAMPLES
    assert resample_count(None, linear, MAX_DEFAULT_COST // 10**6, 10, 1000) == 0
    assert resample_count(40, linear, MAX_DEFAULT_COST, 10, 1000) == 40


def test_a_number_that_makes_no_whole_rounds_is_refused():
    assert RunOptions().resample is None
    with pytest.raises(UsageError, match="--resample 7: expected a multiple of 10"):
        RunOptions(resample=7)


class Fixed:
    """A probe with given predictions and confidences."""

    def __init__(self, answers, sure=0.9):
        self.logs = np.log(np.where(np.eye(2)[answers] > 0, sure, 1 - sure))

    def scores(self, features):
        return self.logs


def test_drawn_dev_rows_choose_the_probe_that_is_right_on_them():
    labels = np.arange(40) % 2
    part = Split([f"text {i}" for i in range(40)], {}, labels, [None] * 40)
    rows = Features.of(np.zeros((40, 1), np.float32))
    probe = parse("linear")[1]
    right, wrong = Fixed(labels), Fixed(1 - labels)
    assert bootstrap_choices(probe, [right, wrong], rows, part) == [0] * DEV_DRAWS
    assert bootstrap_choices(probe, [wrong, right], rows, part) == [1] * DEV_DRAWS
    early = np.arange(40) < 20
    halves = [Fixed(np.where(half, labels, 1 - labels)) for half in (early, ~early)]
    found = bootstrap_choices(probe, halves, rows, part)
    assert {0, 1} == set(found)
    assert found == bootstrap_choices(probe, halves, rows, part)
    # where all rows are of one target form, every draw is of all of them
    third = Fixed(np.where(np.arange(40) < 13, labels, 1 - labels))
    whole = bootstrap_choices(
        probe, [third, Fixed(np.where(early, labels, 1 - labels))], rows, replace(part, keys=["k"] * 40)
    )
    assert whole == [1] * DEV_DRAWS


class Wide(Knowing):
    """An encoder of as many dimensions as requested, whose first four know the label a little."""

    def __init__(self, dimensions):
        super().__init__(name=f"wide{dimensions}")
        self.dimensions = dimensions

    def __call__(self, texts):
        drawn = [np.random.default_rng(list(text.encode())).standard_normal(self.dimensions) for text in texts]
        out = np.stack(drawn).astype(np.float32)
        out[:, :4] += np.array([0.9 * int(text[1]) for text in texts], np.float32)[:, None]
        return out


@pytest.mark.parametrize("keys", [0, 30])
@pytest.mark.parametrize("dimensions", [40, 150])
def test_intervals_do_not_depend_on_the_order_of_rows(dimensions, keys, tmp_path):
    sets = [dataset("own/order", n=(120, 80, 600), keys=keys)]
    for split in ("tr", "va", "te"):
        order = np.random.default_rng(5).permutation(len(sets[0].rows[split]))
        sets.append(replace(sets[0], rows={**sets[0].rows, split: [sets[0].rows[split][i] for i in order]}))
    results = [
        next(iter(evaluate(Wide(dimensions), rows, tmp_path / str(i), baselines=[]))) for i, rows in enumerate(sets)
    ]
    plain = results[0]
    assert plain.resamples == LINEAR_RESAMPLES
    assert plain.training_sd > 0
    assert (results[1].scores, results[1].encoder_interval) == (plain.scores, plain.encoder_interval)  # to the last bit
    for other in results[1:]:
        assert other.accuracy == plain.accuracy
        assert other.encoder_interval == pytest.approx(plain.encoder_interval, abs=1e-9)
        assert other.training_sd == pytest.approx(plain.training_sd, abs=1e-9)
        assert other.range == pytest.approx(plain.range, abs=1e-9)


def test_units_are_numbered_by_content():
    part = splits_of(FORMS).train
    mixed = replace(part, keys=[None if i % 3 else key for i, key in enumerate(part.keys)])
    for each in (part, mixed, replace(part, keys=[None] * len(part))):
        order = np.random.default_rng(0).permutation(len(each))
        shuffled = Split([each.texts[i] for i in order], each.inputs, each.labels[order], [each.keys[i] for i in order])
        np.testing.assert_array_equal(cluster_numbers(shuffled), cluster_numbers(each)[order])
    twice = replace(part, keys=[None] * len(part), texts=["same", "same", *part.texts[2:]])
    assert len(set(cluster_numbers(twice))) == len(part)  # a row that occurs twice is still two rows
