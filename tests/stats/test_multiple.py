"""Adjusted p-values against statsmodels', and what must hold of any."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.stats import benjamini_hochberg, holm

P = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), max_size=30)


@settings(deadline=None, max_examples=8)  # statsmodels takes up to a second each
@given(P.filter(bool))
def test_they_are_those_of_statsmodels(p):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1], abs=1e-12)
    assert benjamini_hochberg(p) == pytest.approx(multitest.multipletests(p, method="fdr_bh")[1], abs=1e-12)


@settings(deadline=None)
@given(P, st.randoms(use_true_random=False))
def test_they_are_no_smaller_in_the_same_order_and_belong_to_their_tests(p, random):
    for adjust in (holm, benjamini_hochberg):
        found = adjust(p)
        assert found.shape == (len(p),)
        assert (found >= np.array(p) - 1e-15).all()
        assert (found <= 1).all()
        assert (np.diff(found[np.argsort(p, kind="stable")]) >= 0).all()
        order = list(range(len(p)))
        random.shuffle(order)
        assert adjust([p[i] for i in order]).tolist() == found[order].tolist()
    assert (benjamini_hochberg(p) <= holm(p) + 1e-15).all()


def test_by_hand():
    # 3 × 0.01, then 2 × 0.03 = 0.06, then max(0.06, 0.04); and 0.01 × 3 / 1, min(0.03 × 3 / 2, 0.04 × 3 / 3), 0.04
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert benjamini_hochberg([0.04, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04])
