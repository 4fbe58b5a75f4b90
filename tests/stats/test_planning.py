"""Planned differences against exact power, statsmodels, and simulated tests."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from sentprobe.errors import UsageError
from sentprobe.stats import Variation, clustered_p, design_effect, detectable, detectable_difference
from sentprobe.stats.paired import binomial_p
from sentprobe.stats.planning import expected_discordance, standard_errors, uncertainty_factors

PILOT = Variation(tested=0.3, trained=0.2, excess=0.5, seeds=0.0004)


def mcnemar_power(n, discordance, difference):
    """The exact power of McNemar's mid-p test: over all tables that can occur."""
    differing = np.arange(n + 1)
    share = binom.pmf(differing, n, discordance)
    power = 0.0
    for m in differing[share > 1e-7].tolist():
        b = np.arange(m + 1)
        # p grows with the smaller count, so that it is enough to look for where it passes 5 %
        rejected = np.searchsorted([binomial_p(k, m - k)[1] > 0.05 for k in range(m // 2 + 1)], True)
        tail = (b < rejected) | (b > m - rejected)
        power += share[m] * binom.pmf(b, m, (1 + difference / discordance) / 2)[tail].sum()
    return power


@pytest.mark.parametrize(("n", "discordance"), [(140, 0.26), (140, 0.4), (700, 0.1), (700, 0.26), (2000, 0.35)])
def test_the_planned_difference_has_the_exact_power_of_mcnemars_test(n, discordance):
    assert mcnemar_power(n, discordance, detectable_difference(discordance / n)) == pytest.approx(0.8, abs=0.025)


@pytest.mark.parametrize("n", [12, 60, 700])
def test_few_degrees_of_freedom_are_those_of_a_t_test(n):
    solved = pytest.importorskip("statsmodels.stats.power").TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    assert detectable_difference(1 / n, n - 1) == pytest.approx(solved, rel=0.02)


def test_the_usual_numbers():
    assert standard_errors() == pytest.approx(1.959964 + 0.841621, abs=1e-6)  # of the normal distribution
    assert detectable_difference(0.1 / 10_000) == detectable(0.1, 10_000)
    # two systems that are right independently of each other, 3 times of 4: 2 · 3/4 · 1/4
    assert expected_discordance(0.75, 0.0) == 0.375


def test_clusters_have_the_power_that_is_planned():
    """Forms of five rows, which share a part of what two systems differ in."""
    rng, size, forms, correlation = np.random.default_rng(3), 5, 160, 0.25
    n, discordance = forms * size, 0.3
    number = np.repeat(np.arange(forms), size)
    difference = detectable_difference(discordance * design_effect([size] * forms, correlation) / n)
    detected = 0
    for _ in range(400):
        of_rows, of_forms = (
            np.where(rng.random(k) < (1 + difference / discordance) / 2, 1, -1) * (rng.random(k) < discordance)
            for k in (n, forms)
        )
        # two rows correlate if both are what their form is
        sign = np.where(rng.random(n) < math.sqrt(correlation), of_forms[number], of_rows)
        detected += clustered_p(np.maximum(sign, 0), np.maximum(-sign, 0), number) <= 0.05
    assert detected / 400 == pytest.approx(0.8, abs=0.06)  # three standard errors of 400 repetitions


def test_large_clusters_count_more_than_their_number():
    assert design_effect([1] * 50) == 1
    assert design_effect([5] * 20, 0.1) == pytest.approx(1.4)
    assert design_effect([1] * 50 + [50], 1.0) == pytest.approx(25.5)  # 50 rows alone, 50 as one: 1/2 · 1 + 1/2 · 50
    assert design_effect([1] * 50 + [50], 0.0) == 1


def test_what_the_parts_add_up_to():
    k = standard_errors()
    assert PILOT.in_folds(600) == pytest.approx(k * math.sqrt(0.45 / 600 + 0.0004))
    assert PILOT.in_folds(600, seeds=5) == pytest.approx(k * math.sqrt(0.45 / 600 + 0.00008))
    assert PILOT.in_split(100, 400) == pytest.approx(k * math.sqrt(0.3 / 100 + 0.2 / 400 + 0.0004))


@given(st.floats(0.01, 0.3), st.integers(1, 10), st.floats(1, 20))
def test_rows_for_a_difference_detect_it(difference, seeds, ratio):
    pilot = Variation(tested=0.3, trained=0.2, excess=0.5, seeds=0.00001, df=30)
    rows = pilot.rows_in_folds(difference, seeds)
    assert pilot.in_folds(rows, seeds) == pytest.approx(difference)
    tests = pilot.test_rows_in_split(difference, ratio, seeds)
    assert pilot.in_split(tests, ratio * tests, seeds) == pytest.approx(difference)


def test_seeds_for_a_difference_detect_it():
    seeds = PILOT.seeds_in_folds(0.06, 1500)
    assert seeds > 1
    assert PILOT.in_folds(1500, seeds) == pytest.approx(0.06)
    assert PILOT.seeds_in_folds(0.2, 1500) == 1
    assert PILOT.seeds_in_folds(0.03, 1500) == math.inf  # rows are too few, with any number of seeds
    assert PILOT.rows_in_folds(0.03, seeds=1) == math.inf  # seeds vary more than that, with any number of rows


def test_a_standard_error_is_as_uncertain_as_its_degrees_of_freedom():
    # χ² at 2.5 and 97.5 % with 10 degrees of freedom: 3.247 and 20.483 (NIST/SEMATECH e-Handbook, table 1.3.6.7.4)
    assert uncertainty_factors(10) == pytest.approx((math.sqrt(10 / 20.483), math.sqrt(10 / 3.247)), rel=1e-4)
    assert uncertainty_factors(7.5, 0.9) == pytest.approx(np.sqrt(7.5 / chi2.ppf([0.95, 0.05], 7.5)))
    assert uncertainty_factors(math.inf) == (1.0, 1.0) == PILOT.uncertainty
    # standard errors of 12 numbers, 11 degrees of freedom: 95 % of the intervals have the true one
    samples = np.random.default_rng(4).standard_normal((2000, 12)).std(axis=1, ddof=1)
    low, high = uncertainty_factors(11)
    assert np.mean((samples * low <= 1) & (samples * high >= 1)) == pytest.approx(0.95, abs=0.015)


def test_assumptions_without_a_pilot():
    assumed = Variation.assumed(0.75, 1.2)
    # 2 · 3/4 · 1/4 · (1 - 0.3), and half of it for training
    assert (assumed.tested, assumed.trained, assumed.excess) == pytest.approx((0.315, 0.13125, 0.5))
    assert Variation.assumed(0.9).in_folds(700) < Variation.assumed(0.75).in_folds(700)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: expected_discordance(1.0), "accuracy between 0 and 1"),
        (lambda: expected_discordance(0.7, 1.0), "correlation from -1 to below 1"),
        (lambda: design_effect([]), "sizes of clusters"),
        (lambda: design_effect([3, 0]), "at least one row each"),
        (lambda: PILOT.rows_in_folds(0.0), "above 0 and below 1"),
        (lambda: detectable_difference(0.1, power=1.0), "power must be between 0 and 1"),
    ],
)
def test_impossible_plans(call, message):
    with pytest.raises(UsageError, match=message):
        call()
