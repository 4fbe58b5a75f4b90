import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.errors import ShapeError
from sentprobe.probes import Features, convex, named, network
from sentprobe.transfer.pairs import compare, juxtapose


def side(draw, rows, widths, dtype):
    """Rows in any order out of tables that have more."""
    tables = tuple(draw.normal(size=(rows + 3, width)).astype(dtype) for width in widths)
    places = tuple(draw.randint(0, rows + 3, size=rows) for _ in widths)
    return Features(tables, places)


def whole(features):
    return features.take(slice(None))


@settings(deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 9),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.sampled_from([np.float16, np.float32, np.float64]),
)
def test_rows_are_what_senteval_makes_of_a_pair(seed, rows, widths, dtype):
    draw = np.random.RandomState(seed)
    one, two = side(draw, rows, widths, dtype), side(draw, rows, widths, dtype)
    u, v = whole(one), whole(two)
    for made, expected in (
        (compare(one, two), np.c_[np.abs(u - v), u * v]),
        (juxtapose(one, two), np.hstack((u, v, u * v, np.abs(u - v)))),
    ):
        assert made.shape == expected.shape
        assert len(made) == rows
        np.testing.assert_array_equal(whole(made), expected)
        assert whole(made).dtype == np.float32
        assert whole(made).flags.c_contiguous
        some = draw.permutation(rows)[: rows // 2]
        np.testing.assert_array_equal(made.take(some), expected[some])
        np.testing.assert_array_equal(whole(made.select(some)), expected[some])
        for start, chunk in made.chunks(4):
            np.testing.assert_array_equal(chunk, expected[start : start + 4])


def test_only_the_given_tables_are_held():
    one, two = np.ones((4, 3), np.float32), np.zeros((4, 3), np.float32)
    made = juxtapose(Features.of(one), Features.of(two)).select(slice(1, 3))
    assert made.tables[0] is one
    assert made.tables[1] is two


def test_pairs_go_to_another_process():
    made = juxtapose(Features.of(np.eye(3)), Features.of(np.ones((3, 3))))
    np.testing.assert_array_equal(whole(pickle.loads(pickle.dumps(made))), whole(made))


def test_what_is_not_finite_stays_so_without_a_warning():
    huge = Features.of(np.array([[3e38, np.inf, np.nan]], np.float32))
    found = whole(compare(huge, huge))[0]
    np.testing.assert_array_equal(found, [0, np.nan, np.nan, np.inf, np.inf, np.nan])


@pytest.mark.parametrize("make", [compare, juxtapose])
@pytest.mark.parametrize("name", ["linear", "senteval", "scaled"])
def test_a_probe_learns_from_pairs_as_from_the_same_rows_in_an_array(make, name):
    draw = np.random.RandomState(2)
    made = make(side(draw, 150, [6], np.float32), side(draw, 150, [6], np.float32))
    labels = (whole(made)[:, -6:].sum(axis=1) > np.median(whole(made)[:, -6:].sum(axis=1))).astype(np.int64)
    probe = replace(named("linear" if name == "linear" else "senteval"), l2=(1e-3, 1e-2), passes=20, rate=0.05)
    probe = replace(probe, standardise=name == "scaled") if name != "linear" else probe
    work = convex.fit if name == "linear" else network.fit
    given = [
        work(
            probe, rows.select(slice(0, 100)), labels[:100], rows.select(slice(100, None)), labels[100:], 2, seeds=(3,)
        )
        for rows in (made, Features.of(whole(made)))
    ]
    found, expected = (fits[0].model.scores(made) for fits in given)
    assert given[0][0].dev > 0.6
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        (Features.of(np.ones((2, 3))), Features.of(np.ones((3, 3))), "2 and 3 rows"),
        (Features.of(np.ones((2, 3))), Features.of(np.ones((2, 4))), r"\[3\] and \[4\]"),
        (Features.of(np.ones((2, 3))), compare(*[Features.of(np.ones((2, 3)))] * 2), "pair already"),
    ],
)
def test_sides_that_do_not_fit_are_refused(one, two, message):
    with pytest.raises(ShapeError, match=message):
        juxtapose(one, two)
