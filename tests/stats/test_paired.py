"""Paired tests against statsmodels, scipy, R and one another."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from sentprobe.stats import clustered_p, detectable, mcnemar, newcombe, paired_bootstrap, permutation
from sentprobe.stats.paired import swap_permutation

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=50)
NUMBERS = st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=25)


def table(both, b, c, neither):
    """Two systems with so many rows of each kind."""
    one = [True] * (both + b) + [False] * (c + neither)
    two = [True] * both + [False] * b + [True] * c + [False] * neither
    return one, two


@settings(deadline=None)
@given(*[st.integers(0, 300)] * 4)
def test_the_exact_p_value_is_that_of_statsmodels(both, b, c, neither):
    contingency = pytest.importorskip("statsmodels.stats.contingency_tables")
    if both + b + c + neither == 0:
        both = 1
    found = mcnemar(*table(both, b, c, neither))
    assert (found.b, found.c, found.n) == (b, c, both + b + c + neither)
    oracle = contingency.mcnemar([[both, b], [c, neither]], exact=True).pvalue if b + c else 1.0
    assert found.p_exact == pytest.approx(oracle, rel=1e-9)
    binomial = scipy_stats.binom(b + c, 0.5)
    assert found.p_mid == pytest.approx(min(1.0, found.p_exact - binomial.pmf(min(b, c)) * (b != c)), abs=1e-12)


def test_large_counts_keep_their_small_p_values():
    # scipy's binomtest is two-sided by probability, the same for a half
    found = mcnemar(*table(5000, 1400, 1000, 2600))
    assert found.p_exact == pytest.approx(scipy_stats.binomtest(1000, 2400).pvalue, rel=1e-6)
    assert found.p_mid == pytest.approx(found.p_exact - scipy_stats.binom(2400, 0.5).pmf(1000), rel=1e-6)


# R's contingencytables 3.0.0, tests/testthat/test-ch8.R: Cavo et al. (2012), and a table without discordant rows
def test_r_gives_the_same_for_a_published_table():
    found = mcnemar(*table(59, 6, 16, 80))
    assert round(found.p_exact, 6) == 0.052479
    assert round(found.p_mid, 6) == 0.034690
    assert (round(found.difference, 4), round(found.low, 4), round(found.high, 4)) == (-0.0621, -0.1186, -0.0046)
    found = mcnemar(*table(1, 0, 0, 1))
    assert (round(found.low, 4), round(found.high, 4), found.p_exact, found.p_mid) == (-0.5734, 0.5734, 1.0, 1.0)


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 5))
def test_without_correlation_the_interval_is_that_of_independent_shares(b, c, factor):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    both, neither = b * factor, c * factor  # both × neither = factor² b c; with a factor of 1 there is no correlation
    n = both + b + c + neither
    if both * neither - b * c <= n / 2:  # within the continuity correction
        oracle = proportion.confint_proportions_2indep(both + b, n, both + c, n, method="newcomb", compare="diff")
        assert newcombe(both, b, c, n, 1.959964) == pytest.approx(oracle, abs=1e-6)


@settings(deadline=None)
@given(PAIRS)
def test_mcnemar_the_other_way_round(pairs):
    one, two = zip(*pairs, strict=True)
    found, other = mcnemar(one, two), mcnemar(two, one)
    assert (found.b, found.c, found.n) == (other.c, other.b, other.n)
    assert found.difference == -other.difference == pytest.approx(np.mean(one) - np.mean(two))
    assert (found.low, found.high) == pytest.approx((-other.high, -other.low), abs=1e-12)
    assert -1 <= found.low <= found.difference <= found.high <= 1
    assert found.low < found.high
    assert 0 <= found.p_mid <= found.p_exact <= 1
    assert (found.p_exact, found.p_mid) == (other.p_exact, other.p_mid)


@pytest.mark.parametrize("shares", [(0.7, 0.1, 0.05, 0.15), (0.9, 0.05, 0.02, 0.03), (0.5, 0.2, 0.2, 0.1)])
def test_newcombe_covers(shares):
    rng, truth = np.random.default_rng(1), shares[1] - shares[2]
    drawn = rng.multinomial(80, shares, size=2000)
    intervals = np.array([newcombe(int(a), int(b), int(c), 80, 1.959964) for a, b, c, _ in drawn])
    assert 0.935 <= np.mean((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])) <= 0.985


def test_mid_p_keeps_its_level_and_exact_is_blunter():
    # exactly: how often two equal systems are found to differ on 100 rows, of which they differ on m
    rejected = {"p_exact": np.zeros(101), "p_mid": np.zeros(101)}
    for m in range(101):
        chance = scipy_stats.binom(m, 0.5).pmf(range(m + 1))
        found = [mcnemar(*table(100 - m, b, m - b, 0)) for b in range(m + 1)]
        for kind, sizes in rejected.items():
            sizes[m] = sum(c for c, test in zip(chance, found, strict=True) if getattr(test, kind) <= 0.05)
    for discordance in (0.05, 0.1, 0.2, 0.5):
        of_m = scipy_stats.binom(100, discordance).pmf(range(101))
        exact, mid = (float(of_m @ sizes) for sizes in rejected.values())
        assert exact < mid <= 0.05


@settings(deadline=None, max_examples=60)
@given(PAIRS | NUMBERS, st.integers(0, 2**32), st.booleans())
def test_the_paired_bootstrap_the_other_way_round(pairs, seed, clustered):
    one, two = (np.array(side, float) for side in zip(*pairs, strict=True))
    clusters = [0, *(1 + i // 3 for i in range(len(one) - 1))] if clustered else None
    found = paired_bootstrap(one, two, clusters=clusters, seed=seed, draws=200)
    other = paired_bootstrap(two, one, clusters=clusters, seed=seed, draws=200)
    assert found.difference == pytest.approx(-other.difference, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((-other.high, -other.low), abs=1e-9)
    assert found.p == other.p
    assert 0 < found.p_greater <= 1
    assert 0 < found.p <= 1
    assert found.p_greater + other.p_greater >= 1  # together all draws, and the ties twice
    order = np.random.default_rng(seed).permutation(len(one))
    again = None if clusters is None else [f"k{clusters[i]}" for i in order]
    assert paired_bootstrap(one[order], two[order], clusters=again, seed=seed, draws=200) == found


def test_the_paired_bootstrap_is_scipys_of_the_differences():
    rng = np.random.default_rng(2)
    one, two = rng.random(500) < 0.75, rng.random(500) < 0.70
    found = paired_bootstrap(one, two, seed=1)
    d = one.astype(float) - two
    oracle = scipy_stats.bootstrap((d,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(0))
    assert (found.low, found.high) == pytest.approx(tuple(oracle.confidence_interval), abs=0.004)
    normal = math.erfc(abs(d.mean()) / (d.std() / math.sqrt(500)) / math.sqrt(2))
    assert found.p == pytest.approx(normal, abs=0.02)
    assert found.p_greater == pytest.approx(normal / 2, abs=0.02)


def test_the_paired_bootstrap_by_going_through_all_draws():
    # d = 1, 1, 0: of 27 draws, mean ≥ 2 × 2/3 never; |mean - 2/3| ≥ 2/3 for 0, 0, 0 only, 1 of 27
    means = [sum(draw) / 3 for draw in product([1, 1, 0], repeat=3)]
    assert sum(abs(m - 2 / 3) >= 2 / 3 - 1e-9 for m in means) == 1
    found = paired_bootstrap([1, 1, 0], [0, 0, 0], seed=1, draws=20_000)
    assert found.p == pytest.approx(1 / 27, abs=0.005)
    assert found.p_greater == 1 / 20_001


def test_clusters_widen_a_paired_difference():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(40), 10)
    lean = np.repeat(rng.normal(0, 0.3, 40), 10)
    one, two = rng.random(400) < 0.6 + lean, rng.random(400) < 0.6 - lean
    wide, narrow = (paired_bootstrap(one, two, clusters=c, seed=1, draws=2000) for c in (clusters, None))
    assert wide.difference == narrow.difference
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    assert permutation(one, two, clusters=clusters, seed=1).p > permutation(one, two, seed=1).p


@settings(deadline=None, max_examples=40)
@given(PAIRS)
def test_permutation_of_right_and_wrong_is_the_exact_mcnemar_test(pairs):
    one, two = zip(*pairs, strict=True)
    found, oracle = permutation(one, two, seed=1), mcnemar(one, two)
    assert found.difference == pytest.approx(oracle.difference)
    assert found.p == pytest.approx(oracle.p_exact, abs=1e-12 if found.exact else 0.025)
    assert found.exact == (oracle.b + oracle.c <= 20)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.floats(-3, 3), min_size=2, max_size=9))
def test_permutation_is_that_of_scipy(differences):
    d = np.round(differences, 3)
    found = permutation(d, np.zeros(len(d)), seed=1)
    assert found.exact
    # scipy flips signs of single samples; |mean| to one side, as its two-sided p doubles the smaller tail
    oracle = scipy_stats.permutation_test(
        (d,), lambda x: np.round(abs(x.mean()), 12), permutation_type="samples", alternative="greater", n_resamples=1e6
    )
    assert found.p == pytest.approx(oracle.pvalue)
    other = permutation(np.zeros(len(d)), d, seed=1)
    assert (other.difference, other.p) == pytest.approx((-found.difference, found.p))


@pytest.mark.parametrize("ties", [True, False])
def test_sampled_permutations_come_near_the_normal_limit(ties):
    rng = np.random.default_rng(4)
    d = rng.normal(0.1, 1, 400) if not ties else rng.choice([-1.0, 0, 1, 2], 400, p=[0.3, 0.4, 0.2, 0.1])
    found = permutation(d, np.zeros(400), seed=1)
    assert not found.exact
    assert found.p == pytest.approx(math.erfc(abs(d.sum()) / math.sqrt(2 * (d**2).sum())), abs=0.02)
    assert found == permutation(d[::-1], np.zeros(400), seed=1)


def test_detectable():
    # (1.96 + 0.84) sqrt(0.1 / 10,000): 0.9 points, the usual formula for McNemar's test
    assert detectable(0.1, 10_000) == pytest.approx(0.00886, abs=1e-5)
    assert detectable(0.1, 40_000) == pytest.approx(detectable(0.1, 10_000) / 2)
    assert detectable(0.1, 1000, power=0.9) > detectable(0.1, 1000) > detectable(0.1, 1000, alpha=0.1)


def test_what_is_detectable_is_detected():
    rng, n, discordance = np.random.default_rng(5), 4000, 0.1
    difference = detectable(discordance, n)
    b = rng.binomial(n, discordance, 400)
    won = rng.binomial(b, 0.5 + difference / discordance / 2)
    found = np.mean(
        [mcnemar(*table(n - int(m), int(w), int(m - w), 0)).p_mid <= 0.05 for m, w in zip(b, won, strict=True)]
    )
    assert found == pytest.approx(0.8, abs=0.06)


def test_clusters_that_stand_and_fall_together_are_no_difference():
    """Two systems as good, right or wrong form by form: McNemar finds differences, exchanging forms does not."""
    rng = np.random.default_rng(0)
    forms = np.repeat(np.arange(50), 20)
    found = {"rows": 0, "forms": 0}
    for _ in range(200):
        one, two = (rng.random(1000) < rng.beta(2, 1, 50)[forms] for _ in range(2))
        found["rows"] += mcnemar(one, two).p_mid <= 0.05
        found["forms"] += clustered_p(one, two, forms) <= 0.05
    assert found["rows"] > 40  # of 200, where 10 are expected
    assert found["forms"] <= 20


def test_without_clusters_every_row_is_one():
    rng = np.random.default_rng(0)
    for n in (8, 300):  # all sign flips, and the normal approximation
        one, two = rng.integers(0, 4, (2, n)) / 3
        assert clustered_p(one, two) == clustered_p(one, two, range(n))


def test_all_sign_flips_of_a_handful():
    one, two = np.array([3.0, 2.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0, 1.0])
    # of ±3 ±2 ±1, a sum of at least 4 in size is reached by four of eight: 6, 4, -4, -6
    assert permutation(one, two, seed=0).p == clustered_p(one, two) == 0.5
    assert permutation(one, one, seed=0).p == clustered_p(one, one) == 1.0


def test_with_few_clusters_all_exchanges_are_gone_through():
    one, two = np.array([1, 1, 1, 1, 0, 1]), np.array([0, 0, 1, 0, 0, 1])
    assert clustered_p(one, two, [0, 0, 1, 2, 3, 4]) == permutation(one, two, clusters=[0, 0, 1, 2, 3, 4], seed=0).p


def f1(columns):
    """Of class 1: no mean over rows."""
    predicted, truth = columns["predicted"], columns["truth"]
    return 2 * float((predicted & truth).sum()) / max(1, int(predicted.sum() + truth.sum()))


@pytest.mark.parametrize("clusters", [None, [0, 0, 1, 1, 2, 2, 3, 4, 5, 5]], ids=["rows", "clusters"])
def test_swapped_predictions_are_enumerated(clusters):
    truth = np.array([1, 1, 1, 1, 0, 0, 0, 1, 0, 1])
    first, second = np.array([1, 1, 1, 1, 0, 0, 1, 1, 0, 1]), np.array([1, 0, 0, 1, 1, 0, 0, 0, 1, 1])
    number = np.arange(10) if clusters is None else np.array(clusters)
    gaps = []
    for swaps in product([False, True], repeat=int(number.max()) + 1):  # also of rows that do not differ
        swapped = np.array(swaps)[number]
        one, two = np.where(swapped, second, first), np.where(swapped, first, second)
        gaps.append(f1({"predicted": one, "truth": truth}) - f1({"predicted": two, "truth": truth}))
    expected = float((np.abs(gaps) >= abs(gaps[0]) - 1e-12).mean())
    sides = [[{"predicted": predicted, "truth": truth}] for predicted in (first, second)]
    test = swap_permutation(f1, *sides, clusters=clusters)
    assert test.exact
    assert test.difference == pytest.approx(gaps[0])
    assert test.p == pytest.approx(expected)
    assert swap_permutation(f1, *sides[::-1], clusters=clusters).p == pytest.approx(expected)


def test_of_shares_swapped_predictions_are_the_exact_mcnemar_test():
    one, two = (np.array(side, int) for side in table(5, 8, 2, 4))
    truth = np.ones(len(one), int)
    sides = [[{"predicted": side, "truth": truth}] for side in (one, two)]
    test = swap_permutation(lambda arrays: float((arrays["predicted"] == arrays["truth"]).mean()), *sides)
    assert test.p == pytest.approx(mcnemar(one, two).p_exact)


def test_sampled_swaps_come_near_the_enumerated_ones():
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=60)
    one, two = (np.where(rng.random(60) < share, truth, 1 - truth) for share in (0.9, 0.72))
    sides = [[{"predicted": side, "truth": truth}] for side in (one, two)]
    differing = int((one != two).sum())
    assert 11 < differing < 20
    exact, sampled = (swap_permutation(f1, *sides, draws=draws) for draws in (2**differing, 2000))
    assert exact.exact
    assert not sampled.exact
    assert sampled.p == pytest.approx(exact.p, abs=0.03)  # three standard errors of 2,000 draws
