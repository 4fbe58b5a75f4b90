"""What training rows add to a variance, from probes trained without parts of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from sentprobe.errors import DataError
from sentprobe.stats.means import ScoredRows
from sentprobe.stats.seeds import ONE_SEED, SeedVariance
from sentprobe.stats.training import (
    BOUND,
    FOLD_EXCESS,
    FOLD_EXCESS_OF_DIFFERENCE,
    JACKKNIFE_DF,
    MIN_SIGNAL,
    NETWORK_GROUPS,
    OTHER_FOLD_EXCESS,
    USUAL,
    USUAL_DF,
    Retrained,
    Systems,
    fold_excess,
    mutual_share,
    usual_factor,
)
from sentprobe.stats.training import LINEAR_GROUPS as GROUPS

N = 4000


def retrained(rng, shares, k=2 * GROUPS):
    """Which of N rows probes of these accuracies (systems, k) have right, by the same luck of each row."""
    luck = rng.random(N)
    return (luck[None, None] < np.asarray(shares).reshape(-1, k)[:, :, None]).astype(float)


def systems_of(correct, n=N, wide=False, groups=GROUPS, **more):
    """Systems (systems, K, n) whose own rows are those of their first probe; dev always chooses that."""
    retrained = [Retrained(each, groups, np.repeat(each[:1], 5, axis=0), wide) for each in correct]
    return Systems(ScoredRows.of(n), correct[:, 0], retrained, **more)


def test_it_is_the_delete_a_group_jackknife_less_the_noise_of_the_test_rows():
    rng = np.random.default_rng(0)
    shares = 0.7 + 0.03 * rng.standard_normal((1, 2 * GROUPS))
    correct = retrained(rng, shares)
    found = systems_of(correct).training_variance(0)
    total = 0.0
    for assigned in correct[0].reshape(2, GROUPS, N):
        deviations = assigned - assigned.mean(axis=0)
        noise = deviations.var(axis=1, ddof=1) / N
        total += (GROUPS - 1) / GROUPS * float((deviations.mean(axis=1) ** 2 - noise).sum()) / 2
    assert found == pytest.approx(total / BOUND)
    assert found > 0


def test_with_more_dimensions_than_rows_the_jackknife_is_taken_whole():
    rng = np.random.default_rng(7)
    correct = retrained(rng, 0.7 + 0.03 * rng.standard_normal((1, 2 * GROUPS)))
    narrow, wide = (systems_of(correct, wide=w).training_variance(0) for w in (False, True))
    assert wide == pytest.approx(BOUND * narrow)


def test_probes_that_are_all_alike_add_nothing():
    correct = np.repeat((np.random.default_rng(1).random((1, 1, N)) < 0.7).astype(float), 2 * GROUPS, axis=1)
    systems = systems_of(correct)
    assert systems.training_variance(0) == 0.0
    assert systems.score(0).variance == pytest.approx(correct[0, 0].var(ddof=1) / N)


def test_noise_of_test_rows_is_not_taken_for_training():
    # probes of one accuracy that are right on rows of their own: all they differ by is luck on the test rows
    rng = np.random.default_rng(2)
    found = []
    for _ in range(60):
        correct = (rng.random((1, GROUPS, 500)) < 0.7).astype(float)
        scores, noise = systems_of(correct, 500)._spread(0).trained
        found.append((float(np.square(scores).sum()), float(np.square(noise).sum())))
    observed, estimated = np.mean(found, axis=0)
    assert estimated == pytest.approx(observed, rel=0.15)


def test_what_two_encoders_owe_to_the_same_rows_cancels():
    rng = np.random.default_rng(3)
    shares = 0.7 + 0.03 * rng.standard_normal(2 * GROUPS)
    correct = retrained(rng, [shares, shares + 0.05])
    systems = systems_of(correct)
    apart = systems.difference(1, 0)
    assert apart.value == pytest.approx(0.05, abs=0.015)
    assert apart.variance < 0.2 * systems.score(0).variance
    mirrored = systems.difference(0, 1)
    assert (mirrored.value, mirrored.variance, mirrored.p) == pytest.approx((-apart.value, apart.variance, apart.p))


def test_of_two_the_one_that_was_not_trained_again_is_taken_to_vary_as_much():
    rng = np.random.default_rng(4)
    correct = retrained(rng, 0.7 + 0.03 * rng.standard_normal((1, 2 * GROUPS)))
    own = systems_of(correct).retrained[0]
    both = np.array([correct[0, 0], correct[0, 1]])
    tested = (both[0] - both[1]).var(ddof=1) / N
    mixed = Systems(ScoredRows.of(N), both, [own, None])
    assert not mixed.known(0, 1)
    assert mixed.training_variance(1) is None
    assert mixed.difference(0, 1).variance == pytest.approx(tested + 2 * mixed.training_variance(0))
    # but an answer that is the same for all rows does not vary
    fixed = Systems(ScoredRows.of(N), both, [own, None], constant=[False, True])
    assert fixed.known(0, 1)
    assert fixed.difference(0, 1).variance == pytest.approx(tested + fixed.training_variance(0))


def test_two_groups_are_half_samples_taken_as_they_are():
    rng = np.random.default_rng(8)
    correct = retrained(rng, 0.7 + 0.03 * rng.standard_normal((1, 10)), k=10)
    expected = 0.0
    for one, two in correct[0].reshape(5, 2, N):
        g = one - two
        expected += (g.mean() ** 2 - g.var(ddof=1) / N) / 4 / 5
    assert systems_of(correct, groups=NETWORK_GROUPS).training_variance(0) == pytest.approx(expected)


def test_probes_of_different_kinds_are_not_paired():
    rng = np.random.default_rng(9)
    ten, two = retrained(rng, 0.7 + 0.03 * rng.standard_normal((2, 2 * GROUPS)))
    other = Retrained(two[:10], NETWORK_GROUPS, np.repeat(two[:1], 5, axis=0))
    first = systems_of(ten[None]).retrained[0]
    found = Systems(ScoredRows.of(N), np.array([ten[0], two[0]]), [first, other])
    tested = (ten[0] - two[0]).var(ddof=1) / N
    parts = found.training_variance(0) + found.training_variance(1)
    assert found.difference(0, 1).variance == pytest.approx(tested + parts)


def test_what_dev_chooses_adds_its_variance():
    rng = np.random.default_rng(10)
    correct = retrained(rng, np.full((1, 2 * GROUPS), 0.7))
    choices = retrained(rng, 0.7 + 0.03 * rng.standard_normal((1, 5)), k=5)[0]
    found = Systems(ScoredRows.of(N), correct[:, 0], [Retrained(correct[0], GROUPS, choices)]).training_variance(0)
    apart = choices - choices.mean(axis=0)
    noise = (apart.var(axis=1, ddof=1) / N).sum()
    assert found == pytest.approx((np.square(apart.mean(axis=1)).sum() - noise) / 4)
    assert found > 0


def test_seeds_add_their_spread_and_their_order_changes_nothing():
    rng = np.random.default_rng(5)
    correct = (rng.random((2, N)) < 0.7).astype(float)
    alone = Systems(ScoredRows.of(N), correct).difference(0, 1)
    both = Systems(ScoredRows.of(N), correct, seeds=(SeedVariance(0.0004, 4, 3), ONE_SEED)).difference(0, 1)
    assert both.variance == pytest.approx(alone.variance + 0.0001)
    assert both.p > alone.p


def test_arrays_that_do_not_belong_together_are_refused():
    with pytest.raises(DataError, match="multiple of 10"):
        Retrained(np.zeros((7, 20)), GROUPS, np.zeros((5, 20)))
    with pytest.raises(DataError, match="21 test rows; expected 20"):
        Systems(ScoredRows.of(20), np.zeros((1, 20)), [Retrained(np.zeros((10, 21)), GROUPS, np.zeros((5, 21)))])
    with pytest.raises(DataError, match=r"\(systems, 20\)"):
        Systems(ScoredRows.of(20), np.zeros((1, 21)))


def test_intervals_about_the_encoder_cover_and_equal_encoders_rarely_differ():
    # a small case of benchmarks/interval_coverage.py, with ridge regression in place of the probe: 150 training rows,
    # 2,000 test rows, 40 dimensions; the interval of the trained probe alone covered 60 % and "found" 31 % differences
    from sentprobe.stats.intervals import proportion_interval, wilson

    rng, d, n, te = np.random.default_rng(6), 40, 150, 2000
    shift = np.full(d, 1.0 / np.sqrt(d))
    scores, ranges, plain, false = [], [], [], 0

    def ridge(x, y):
        return np.linalg.solve(x.T @ x + 15 * np.eye(d), x.T @ y)

    reps = 150
    for _ in range(reps):
        y, held = (np.where(rng.random(k) < 0.5, -1.0, 1.0) for k in (n, te))
        groups = [np.array_split(rng.permutation(n), GROUPS) for _ in range(2)]
        correct = []
        for _encoder in range(2):
            x, test = (rng.standard_normal((len(z), d)) + np.outer(z, shift) for z in (y, held))
            rest = [np.setdiff1d(np.arange(n), out) for assigned in groups for out in assigned]
            lines = np.array([ridge(x, y), *(ridge(x[some], y[some]) for some in rest)])
            correct.append(np.sign(lines @ test.T) == held)
        correct = np.array(correct, float)
        rows = ScoredRows.of(te)
        retrained = [Retrained(each[1:], GROUPS, np.repeat(each[:1], 5, axis=0)) for each in correct]
        systems = Systems(rows, correct[:, 0], retrained)
        ranges.append(proportion_interval(systems.score(0), rows))
        plain.append(wilson(correct[0, 0].sum(), te))
        scores.append(correct[:, 0].mean(axis=1))
        false += systems.difference(0, 1).p <= 0.05
    expected = float(np.mean(scores))
    covered, alone = (np.mean([low <= expected <= high for low, high in each]) for each in (ranges, plain))
    assert covered >= 0.92
    assert alone < 0.8
    assert false / reps <= 0.08


def in_folds(correct, **more):
    """The same with rows in five folds."""
    folds = np.arange(N) % 5
    retrained = [Retrained(each, GROUPS, np.repeat(each[:1], 5, axis=0), folds=folds) for each in correct]
    return Systems(ScoredRows.of(N), correct[:, 0], retrained, **more)


def excess_of(share):
    """By how much the variance in folds exceeds that of rows, over κ, if this share of the answers changes."""
    return share**2 / (1 + share**2)


def test_in_folds_the_variance_of_rows_grows_with_the_share_of_changes():
    rng = np.random.default_rng(11)
    correct = (rng.random((1, GROUPS, N)) < 0.7).astype(float)  # what is left out changes most predictions
    correct[:, :, : N - 400] = correct[:, :1, : N - 400]  # but of 400 rows only
    deviations = correct[0] - correct[0].mean(axis=0)
    changes = (GROUPS - 1) / GROUPS * (deviations.var(axis=1, ddof=1) / N).sum()
    changes /= (GROUPS - 1) * np.sqrt(2 / GROUPS)  # what halves of the rows would change
    rows = correct[0, 0].var(ddof=1) / N
    assert 0.05 < changes / rows < 0.5
    excess = rows * FOLD_EXCESS * excess_of(changes / rows)
    assert in_folds(correct).training_variance(0) == pytest.approx(excess)
    assert in_folds(correct).score(0).variance == pytest.approx(rows + excess)


def test_in_folds_baselines_have_an_excess_without_a_limit():
    assert fold_excess(0.8, 1, None) == pytest.approx(OTHER_FOLD_EXCESS * 0.64)
    assert fold_excess(0.8, 2, None) == pytest.approx(OTHER_FOLD_EXCESS * 0.32)
    assert fold_excess(0.8, 1, 0.6) == pytest.approx(FOLD_EXCESS * 0.6 * 0.64 / 1.64)
    rng = np.random.default_rng(19)
    correct = (rng.random((2, GROUPS, N)) < 0.7).astype(float)
    linear = in_folds(correct).retrained
    halves = replace(linear[1], groups=NETWORK_GROUPS)
    systems = Systems(ScoredRows.of(N), correct[:, 0], [linear[0], halves])
    changes = [systems._spread(i).changes(groups) for i, groups in enumerate((GROUPS, NETWORK_GROUPS))]
    rows = (correct[0, 0] - correct[1, 0]).var(ddof=1) / N
    share = min(1.0, sum(changes) / rows)
    assert systems.difference(0, 1).variance == pytest.approx(rows * (1 + fold_excess(share, 2, None)))


def test_with_many_classes_fewer_rows_help_each_other():
    # of C classes of one size: rows of one class, 1 / C of all, and of each other's rival, 1 / C · 1 / (C - 1);
    # over those that move a margin, 2 / C of all
    for classes in (2, 3, 6, 20):
        expected = (1 / classes + 1 / (classes * (classes - 1))) / (2 / classes)
        assert mutual_share(np.arange(5 * classes) % classes) == pytest.approx(expected)
    assert mutual_share([0, 0, 0, 0, 0, 1]) == 1.0  # between two classes all rows do
    assert mutual_share([3, 3]) == 1.0
    rng = np.random.default_rng(15)
    correct = (rng.random((1, GROUPS, N)) < 0.7).astype(float)
    two, many = (
        Systems(ScoredRows.of(N), correct[:, 0], [replace(in_folds(correct).retrained[0], mutual=mutual)])
        for mutual in (1.0, 0.6)
    )
    assert many.training_variance(0) == pytest.approx(0.6 * two.training_variance(0))


def test_in_folds_halves_and_tenths_of_the_rows_give_the_same_variance():
    # margins of 4,000 rows that move with the rows that a probe is trained on: weights are sums over 400 rows
    rng = np.random.default_rng(12)
    effects = rng.standard_normal((400, N)) / 20
    margins = rng.standard_normal(N) + 0.5
    changes = []
    for groups, rounds in ((2, 40), (10, 8)):
        correct = [margins + effects.sum(axis=0) > 0]
        for _ in range(rounds):
            assigned = rng.permutation(400) % groups
            sums = [effects[assigned != group].sum(axis=0) * groups / (groups - 1) for group in range(groups)]
            correct += [margins + total > 0 for total in sums]
        correct = np.array(correct, float)
        retrained = Retrained(correct[1:], groups, correct[[0, 0]], folds=np.arange(N) % 5)
        changes.append(Systems(ScoredRows.of(N), correct[:1], [retrained])._spread(0).changes(groups))
    halves, tenths = changes
    assert halves == pytest.approx(tenths, rel=0.15)


def test_in_folds_the_excess_of_a_difference_has_a_factor_of_its_own_if_both_vary():
    rng = np.random.default_rng(13)
    correct = np.concatenate([retrained(rng, np.full((1, 2 * GROUPS), 0.7)) for _ in range(2)])
    changing = rng.random((2, 2 * GROUPS, 300)) < 0.7
    correct[:, :, :300] = changing
    both = in_folds(correct)
    alone = in_folds(correct, constant=[False, True])
    rows = (correct[0, 0] - correct[1, 0]).var(ddof=1) / N
    changes = (both._spread(0) - both._spread(1)).changes(GROUPS)
    expected = rows * (1 + FOLD_EXCESS_OF_DIFFERENCE * excess_of(changes / rows))
    assert both.difference(0, 1).variance == pytest.approx(expected)
    assert expected > 1.001 * rows
    fixed = Systems(ScoredRows.of(N), correct[:, 0], [both.retrained[0], None], constant=[False, True])
    of_first = both._spread(0).changes(GROUPS)
    assert fixed.difference(0, 1).variance == pytest.approx(rows * (1 + FOLD_EXCESS * excess_of(of_first / rows)))
    assert alone.score(0).variance == both.score(0).variance


def test_folds_must_belong_to_the_rows():
    with pytest.raises(DataError, match=r"folds must be \(20,\)"):
        Retrained(np.zeros((10, 20)), GROUPS, np.zeros((5, 20)), folds=np.zeros(19, int))


def linear_systems(correct, **fields):
    """Systems of linear probes on one split, of which it is known how many rows they were trained on."""
    systems = systems_of(correct)
    retrained = [replace(of_system, train_rows=400, **fields) for of_system in systems.retrained]
    return Systems(systems.rows, systems.correct, retrained)


def test_the_jackknife_is_moderated_by_what_is_usual():
    rng = np.random.default_rng(16)
    correct = retrained(rng, 0.7 + 0.03 * rng.standard_normal((1, 2 * GROUPS)))
    plain, moderated = systems_of(correct), linear_systems(correct)
    changes = N * plain._spread(0).changes(GROUPS)
    usual = usual_factor(changes, (correct[0, 0].sum() + 0.5) / (N + 1)) * changes**2 / 400
    expected = (USUAL_DF * usual + JACKKNIFE_DF * plain.training_variance(0)) / (USUAL_DF + JACKKNIFE_DF)
    assert moderated.training_variance(0) == pytest.approx(expected)
    # what is usual is known of linear probes only
    assert linear_systems(correct, groups=2).training_variance(0) == systems_of(correct, groups=2).training_variance(0)


def test_of_a_difference_half_as_much_is_usual():
    rng = np.random.default_rng(17)
    correct = retrained(rng, 0.7 + 0.03 * rng.standard_normal((2, 2 * GROUPS)))
    plain, moderated = systems_of(correct), linear_systems(correct)
    changes = N * (plain._spread(0) - plain._spread(1)).changes(GROUPS)
    factors = [
        usual_factor(N * plain._spread(i).changes(GROUPS), (correct[i, 0].sum() + 0.5) / (N + 1)) for i in (0, 1)
    ]
    usual = np.mean(factors) * changes**2 / 400 / 2
    tested = (correct[0, 0] - correct[1, 0]).var(ddof=1) / N
    jackknife = plain.difference(0, 1).variance - tested
    expected = (USUAL_DF * usual + JACKKNIFE_DF * jackknife) / (USUAL_DF + JACKKNIFE_DF)
    assert moderated.difference(0, 1).variance - tested == pytest.approx(expected)
    fixed = Systems(ScoredRows.of(N), correct[:, 0], [moderated.retrained[0], None], constant=[False, True])
    assert fixed.difference(0, 1).variance == pytest.approx(tested + moderated.training_variance(0))


@pytest.mark.parametrize(("shift", "d"), [(1.0, 20), (1.0, 200), (0.5, 200), (2.0, 100), (0.3, 20)])
def test_what_is_usual_is_the_variance_of_nearest_means_but_for_a_factor(shift, d):
    """Where the variance and the changes are known: means of two Gaussian classes, whose accuracy is exact."""
    rng, n = np.random.default_rng(18), 400

    def draw(rows):  # means of classes, which the first dimension tells apart
        return np.eye(d)[0] * shift + rng.standard_normal((3000, d)) / np.sqrt(rows)

    def accuracy(weights):
        return norm.cdf(shift * weights[:, 0] / np.linalg.norm(weights, axis=1))

    accuracies = accuracy(draw(n))
    rows = rng.standard_normal((3000, d)) + np.eye(d)[0] * shift
    tenths = [draw(n / 10) for _ in range(10)]
    whole = np.sum(tenths, axis=0)
    right = np.array([(rows * (whole - left_out)).sum(axis=1) > 0 for left_out in tenths], float)
    deviations = right - right.mean(axis=0)
    changes = 0.9 * np.square(deviations).sum(axis=0).mean() / (9 * np.sqrt(2 / 10))
    z = norm.ppf(accuracies.mean())
    usual = usual_factor(changes, accuracies.mean()) / (USUAL * (1 + z**2 / 2)) * changes**2 / n
    assert usual == pytest.approx(accuracies.var(), rel=0.35)


def test_at_chance_training_rows_change_answers_and_not_the_accuracy():
    certain, chance = usual_factor(0.02, 0.8), usual_factor(0.16, 0.5)
    assert certain == pytest.approx(USUAL * (1 + norm.ppf(0.8) ** 2 / 2) * np.pi, rel=0.02)
    assert chance == pytest.approx(USUAL * 2 * np.pi * (MIN_SIGNAL - MIN_SIGNAL**2 / 2))
