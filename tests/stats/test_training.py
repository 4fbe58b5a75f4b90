"""What training rows add to a variance, from probes trained without parts of them."""

import numpy as np
import pytest

from sonde.errors import DataError
from sonde.stats.means import Rows
from sonde.stats.training import BOUND, GROUPS, Systems

N = 4000


def again(rng, shares, k=2 * GROUPS):
    """Which of N rows probes of these accuracies (systems, k) have right, by the same luck of each row."""
    luck = rng.random(N)
    return (luck[None, None] < np.asarray(shares).reshape(-1, k)[:, :, None]).astype(float)


def test_it_is_the_delete_a_group_jackknife_less_the_noise_of_the_test_rows():
    rng = np.random.default_rng(0)
    shares = 0.7 + 0.03 * rng.standard_normal((1, 2 * GROUPS))
    right = again(rng, shares)
    found = Systems(Rows.of(N), right[:, 0], right).training_variance(0)
    total = 0.0
    for dealt in right[0].reshape(2, GROUPS, N):
        apart = dealt - dealt.mean(axis=0)
        noise = apart.var(axis=1, ddof=1) / N
        total += (GROUPS - 1) / GROUPS * float((apart.mean(axis=1) ** 2 - noise).sum()) / 2
    assert found == pytest.approx(total / BOUND)
    assert found > 0


def test_with_more_dimensions_than_rows_the_jackknife_is_taken_whole():
    rng = np.random.default_rng(7)
    right = again(rng, 0.7 + 0.03 * rng.standard_normal((1, 2 * GROUPS)))
    narrow, wide = (Systems(Rows.of(N), right[:, 0], right, wide=(w,)).training_variance(0) for w in (False, True))
    assert wide == pytest.approx(BOUND * narrow)


def test_probes_that_are_all_alike_add_nothing():
    right = np.repeat((np.random.default_rng(1).random((1, 1, N)) < 0.7).astype(float), 2 * GROUPS, axis=1)
    systems = Systems(Rows.of(N), right[:, 0], right)
    assert systems.training_variance(0) == 0.0
    assert systems.score(0).variance == pytest.approx(right[0, 0].var(ddof=1) / N)


def test_noise_of_test_rows_is_not_taken_for_training():
    # probes of one accuracy that are right on rows of their own: all they differ by is luck on the test rows
    rng = np.random.default_rng(2)
    found = []
    for _ in range(60):
        right = (rng.random((1, GROUPS, 500)) < 0.7).astype(float)
        systems = Systems(Rows.of(500), right[:, 0], right)
        apart = right[0] - right[0].mean(axis=0)
        found.append((float(np.square(apart.mean(axis=1)).sum()), systems._left_out[1][0, 0]))
    met, taken = np.mean(found, axis=0)
    assert taken == pytest.approx(met, rel=0.15)


def test_what_two_encoders_owe_to_the_same_rows_cancels():
    rng = np.random.default_rng(3)
    shares = 0.7 + 0.03 * rng.standard_normal(2 * GROUPS)
    right = again(rng, [shares, shares + 0.05])
    systems = Systems(Rows.of(N), right[:, 0], right)
    apart = systems.difference(1, 0)
    assert apart.value == pytest.approx(0.05, abs=0.015)
    assert apart.variance < 0.2 * systems.score(0).variance
    mirrored = systems.difference(0, 1)
    assert (mirrored.value, mirrored.variance, mirrored.p) == pytest.approx((-apart.value, apart.variance, apart.p))


def test_a_system_that_was_not_trained_again_is_taken_as_it_is():
    rng = np.random.default_rng(4)
    right = again(rng, 0.7 + 0.03 * rng.standard_normal((2, 2 * GROUPS)))
    right[1] = np.nan
    plain = np.array([right[0, 0], right[0, 1]])
    systems = Systems(Rows.of(N), plain, right)
    assert systems.known(0)
    assert not systems.known(0, 1)
    assert systems.training_variance(1) is None
    expected = (plain[0] - plain[1]).var(ddof=1) / N + systems.training_variance(0)
    assert systems.difference(0, 1).variance == pytest.approx(expected)


def test_seeds_add_their_spread_and_their_order_changes_nothing():
    rng = np.random.default_rng(5)
    right = (rng.random((2, N)) < 0.7).astype(float)
    alone = Systems(Rows.of(N), right).difference(0, 1)
    both = Systems(Rows.of(N), right, seeds=((0.0004, 4), (0.0, 1))).difference(0, 1)
    assert both.variance == pytest.approx(alone.variance + 0.0001)
    assert both.p > alone.p


def test_arrays_that_do_not_belong_together_are_refused():
    with pytest.raises(DataError, match="multiple of 10"):
        Systems(Rows.of(20), np.zeros((1, 20)), np.zeros((1, 7, 20)))
    with pytest.raises(DataError, match=r"\(systems, 20\)"):
        Systems(Rows.of(20), np.zeros((1, 21)))


def test_intervals_about_the_encoder_cover_and_equal_encoders_rarely_differ():
    # a small case of benchmarks/coverage.py, with ridge regression in place of the probe: 150 training rows, 2,000 test
    # rows, 40 dimensions; the interval of the trained probe alone covered 60 % and "found" 31 % differences
    from sonde.stats.intervals import share_interval, wilson

    rng, d, n, te = np.random.default_rng(6), 40, 150, 2000
    shift = np.full(d, 1.0 / np.sqrt(d))
    scores, ranges, plain, false = [], [], [], 0

    def ridge(x, y):
        return np.linalg.solve(x.T @ x + 15 * np.eye(d), x.T @ y)

    reps = 150
    for _ in range(reps):
        y, held = (np.where(rng.random(k) < 0.5, -1.0, 1.0) for k in (n, te))
        groups = [np.array_split(rng.permutation(n), GROUPS) for _ in range(2)]
        right = []
        for _encoder in range(2):
            x, test = (rng.standard_normal((len(z), d)) + np.outer(z, shift) for z in (y, held))
            rest = [np.setdiff1d(np.arange(n), out) for dealt in groups for out in dealt]
            lines = np.array([ridge(x, y), *(ridge(x[some], y[some]) for some in rest)])
            right.append(np.sign(lines @ test.T) == held)
        right = np.array(right, float)
        rows = Rows.of(te)
        systems = Systems(rows, right[:, 0], right[:, 1:])
        ranges.append(share_interval(systems.score(0), rows))
        plain.append(wilson(right[0, 0].sum(), te))
        scores.append(right[:, 0].mean(axis=1))
        false += systems.difference(0, 1).p <= 0.05
    expected = float(np.mean(scores))
    covered, alone = (np.mean([low <= expected <= high for low, high in each]) for each in (ranges, plain))
    assert covered >= 0.92
    assert alone < 0.8
    assert false / reps <= 0.08
