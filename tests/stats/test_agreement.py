"""Agreement of annotators, against statsmodels and published values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.stats.agreement import krippendorff_alpha


def test_krippendorff_s_own_example():
    # Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: four observers, missing data: 0.743
    observers = [
        "1 2 3 3 2 1 4 1 2 * * *", "1 2 3 3 2 2 4 1 2 5 * 3", "* 3 3 3 2 3 4 2 2 5 1 *", "1 2 3 3 2 4 4 1 2 5 1 *",
    ]  # fmt: skip
    units = [[value for value in unit if value != "*"] for unit in zip(*map(str.split, observers), strict=True)]
    counts = [{value: unit.count(value) for value in set(unit)} for unit in units]
    assert krippendorff_alpha(counts) == pytest.approx(0.743, abs=0.0005)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=30))
def test_with_equal_numbers_it_is_fleiss_kappa_corrected_for_small_samples(firsts):
    fleiss_kappa = pytest.importorskip("statsmodels.stats.inter_rater").fleiss_kappa
    table = np.array([[first, 5 - first] for first in firsts])
    found = krippendorff_alpha([{"a": a, "b": b} for a, b in table])
    if not table.sum(axis=0).all():
        assert found is None
        return
    kappa = fleiss_kappa(table)
    assert found == pytest.approx(kappa + (1 - kappa) / table.sum())


@pytest.mark.parametrize("counts", [[], [{"a": 1}, {"b": 1}], [{"a": 3}, {"a": 2}]])
def test_without_two_judgments_or_two_labels_there_is_none(counts):
    assert krippendorff_alpha(counts) is None


def test_perfect_agreement_and_none_at_all():
    assert krippendorff_alpha([{"a": 2}, {"b": 3}, {"a": 5}]) == 1
    assert krippendorff_alpha([{"a": 1, "b": 1}] * 10) < 0
