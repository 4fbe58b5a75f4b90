"""The numbers behind a verdict, against other programs and known answers."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from statsmodels.stats import proportion

from sentprobe.published import rows_of
from sentprobe.replicate import Correlated, Models, PrintedResults, Scope
from sentprobe.replicate.decide import mean_cell, partial_conjunction, sign_counts, sign_test
from sentprobe.replicate.evidence import Contrast
from sentprobe.replicate.vocabulary import CellTest, rank_correlations


def cells(*p_values):
    return [CellTest(str(i), str(i), 0.1, p, 1 - p) for i, p in enumerate(p_values)]


def test_partial_conjunction():
    # Benjamini and Heller (2008): (m - u + 1) p(u)
    tests = cells(0.001, 0.04, 0.01, 0.5)
    assert partial_conjunction(tests, "every")[0] == 0.5
    assert partial_conjunction(tests, "most")[0] == pytest.approx(2 * 0.04)  # u = 3 of 4
    assert partial_conjunction(tests, "some")[0] == pytest.approx(4 * 0.001)
    # contradicted: so many the other way that fewer than u are left
    against = [CellTest("", "", 0.1, 1.0, p) for p in (0.001, 0.04, 0.01, 0.5)]
    assert partial_conjunction(against, "every")[1] == pytest.approx(4 * 0.001)
    assert partial_conjunction(against, "most")[1] == pytest.approx(3 * 0.01)  # two of four
    assert partial_conjunction(against, "some")[1] == 0.5


def test_a_claim_about_most_is_wrong_no_more_often_than_it_says():
    """Half of the cells are exactly on the margin, and the others far above it: most is not true."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(2000):
        values = np.append(rng.normal(0, 1, 3), rng.normal(8, 1, 3))
        contrasts = [Contrast("", str(i), float(value), 1.0) for i, value in enumerate(values)]
        tests = [CellTest.of(contrast, "above", 0.0) for contrast in contrasts]
        wrong += partial_conjunction(tests, "most")[0] <= 0.05
    assert wrong / 2000 <= 0.05 + 3 * (0.05 * 0.95 / 2000) ** 0.5  # three Monte Carlo errors


def test_signs():
    assert sign_test(6, 0, 0, "every") == pytest.approx((2 / 64, 1.0))
    assert sign_test(5, 0, 0, "every") == pytest.approx((2 / 32, 1.0))  # not significant
    assert sign_test(8, 1, 0, "every")[0] == 1.0
    assert sign_test(8, 1, 0, "most")[0] == pytest.approx(20 / 512)
    assert sign_test(0, 6, 0, "every") == pytest.approx((1.0, 2 / 64))
    two_sets = [CellTest("", name, value, 1, 1) for name, value in (("a", 1.0), ("a", 2.0), ("b", 1.0), ("b", -1.0))]
    assert sign_counts(two_sets, "above", 0.0) == (1, 0, 1)


def test_the_mean_of_cells_on_the_same_rows_is_as_uncertain_as_one():
    same = [CellTest(str(i), "a", 0.1, 1, 1, error=0.02) for i in range(4)]
    apart = [CellTest(str(i), str(i), 0.1, 1, 1, error=0.02) for i in range(4)]
    assert mean_cell(same, "above", 0.0).error == pytest.approx(0.02)
    assert mean_cell(apart, "above", 0.0).error == pytest.approx(0.01)


def test_a_difference_of_printed_accuracies_is_one_of_shares():
    printed = PrintedResults("conneau2018")
    scope = Scope(tasks=("odd_man_out",), table="2")
    first, second = (printed.scores(Models("", f"BiLSTM-max {name}"), scope)[0] for name in ("NMT En-Fr", "NLI"))
    contrast = printed.contrast(first, second)
    assert contrast.value == pytest.approx(0.732 - 0.621)
    # Agresti and Caffo add one right and one wrong row to each side; ours are two, and the rounding
    low, high = proportion.confint_proportions_2indep(
        7320, 10_000, 6210, 10_000, method="agresti-caffo", compare="diff"
    )
    half = (contrast.interval[1] - contrast.interval[0]) / 2 - contrast.rounding
    assert contrast.rounding == pytest.approx(0.001)
    assert half == pytest.approx((high - low) / 2, rel=0.002)
    wald = proportion.test_proportions_2indep(7320, 10_000, 7260, 10_000, value=0, method="wald")
    unrounded = Contrast("", "", 0.006, contrast.error)
    assert unrounded.p_different == pytest.approx(wald.pvalue, rel=0.1)


@pytest.mark.parametrize("expected", ["above", "below", "equal", "different"])
def test_the_sides_of_a_test(expected):
    above = CellTest.of(Contrast("", "", 0.03, 0.01), expected, 0.0 if expected != "equal" else 0.05)
    p = {"above": 0.0027, "below": 1.0, "equal": 0.0228, "different": 0.0027}  # of 3 and 2 standard errors
    assert above.p_for == pytest.approx(p[expected], rel=0.01)


def test_rounding_counts_against_every_verdict():
    exact, rounded = Contrast("", "", 0.02, 0.005), Contrast("", "", 0.02, 0.005, rounding=0.01)
    assert exact.p_above(0) < rounded.p_above(0)
    assert exact.p_below(0.05) < rounded.p_below(0.05)


def test_a_printed_p_value_has_no_direction_and_shows_no_equality():
    contrast = Contrast("", "", None, p=0.001)
    assert [CellTest.of(contrast, expected, 0.01).p_for for expected in ("above", "below", "equal")] == [1.0] * 3
    assert CellTest.of(contrast, "different", 0.0).p_for == 0.001


def test_rank_correlations_are_those_of_scipy():
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 5, (2, 6, 9)).astype(float)  # with ties
    assert rank_correlations(x, y) == pytest.approx([spearmanr(a, b)[0] for a, b in zip(x, y, strict=True)])


def test_correlations_of_probing_with_xnli_are_those_of_scipy():
    statistic = Correlated(
        Models("encoders", "{encoder}", without=("{encoder}, MultiUN",)),
        Scope(tasks=("word_content",), languages=("ru",), table="4"), Scope(tasks=("XNLI",), table="3"),
    )  # fmt: skip
    (cell,) = statistic.test(PrintedResults("xprobe2019")).cells
    columns = [
        {row.model: row.value for row in rows_of("xprobe2019", table) if row.language == "ru" and row.task == task}
        for table, task in (("4", "word_content"), ("3", "XNLI"))
    ]
    names = sorted(columns[0])
    rho = spearmanr(*([column[name] for name in names] for column in columns))[0]
    assert cell.value == pytest.approx(rho)


def test_rows_that_are_translations_of_each_other_are_the_same_rows():
    evidence, first, second = PrintedResults("conneau2019"), Models("a", "XLM (MLM+TLM)"), Models("b", "XLM (MLM)")
    scope = Scope(tasks=("XNLI",))
    sides = [
        {score.language: score for score in evidence.scores(role, scope) if score.language in ("fr", "sw")}
        for role in (first, second)
    ]
    tests = [
        CellTest.of(evidence.contrast(sides[0][language], sides[1][language]), "above", 0.0)
        for language in ("fr", "sw")
    ]
    both = mean_cell(tests, "above", 0.0)
    assert both.error == pytest.approx((tests[0].error + tests[1].error) / 2)  # and not less, as of other rows
    assert tests[0].languages != tests[1].languages
