import numpy as np
import pytest
from scipy import sparse

from sentprobe.errors import ShapeError
from sentprobe.probes import Features


def total(parts):
    return np.ascontiguousarray(sum(parts))


def summed():
    """Row i is row i of one table and row 4 - i of another, added up."""
    one, two = np.arange(10.0).reshape(5, 2), np.ones((5, 2), np.float16)
    return Features((one, two), (np.arange(5), np.arange(5)[::-1]), total), (one + 1).astype(np.float32)


def test_rows_that_are_combined_are_made_when_they_are_asked_for():
    features, expected = summed()
    assert features.shape == (5, 2)
    assert len(features) == 5
    np.testing.assert_array_equal(features.take(slice(None)), expected)
    np.testing.assert_array_equal(features.take(np.array([3, 0])), expected[[3, 0]])
    assert features.take(slice(None)).dtype == np.float32


def test_combining_goes_with_what_is_selected():
    features, expected = summed()
    chosen = features.select([4, 1, 1])
    np.testing.assert_array_equal(chosen.take(slice(None)), expected[[4, 1, 1]])
    assert chosen.tables is features.tables
    starts, rows = zip(*chosen.chunks(2), strict=True)
    assert starts == (0, 2)
    np.testing.assert_array_equal(np.concatenate(rows), expected[[4, 1, 1]])


def test_without_combining_rows_stand_in_line():
    features = Features((np.eye(2), np.ones((1, 1))), (np.array([1, 0]), np.array([0, 0])))
    assert features.shape == (2, 3)
    np.testing.assert_array_equal(features.take(slice(None)), [[0, 1, 1], [1, 0, 1]])


def test_one_table_is_not_combined_as_solvers_may_read_it_as_it_is():
    with pytest.raises(ShapeError, match="two tables"):
        Features((np.eye(2),), (np.arange(2),), total)


def test_rows_of_a_sparse_table_are_gathered_as_dense_or_as_sparse_ones():
    dense = np.diag(np.arange(1.0, 5.0)).astype(np.float32)
    features = Features.of(sparse.csr_array(dense)).select([3, 0, 0])
    assert features.shape == (3, 4)
    assert features.sparse
    np.testing.assert_array_equal(features.take(slice(None)), dense[[3, 0, 0]])
    np.testing.assert_array_equal(features.take_sparse(slice(1, 3)).toarray(), dense[[0, 0]])
    assert features.take_sparse().nnz == 3
    _, rows = zip(*features.chunks(2), strict=True)
    np.testing.assert_array_equal(np.concatenate(rows), dense[[3, 0, 0]])
    assert not Features((features.tables[0],) * 2, (np.arange(4),) * 2, total).sparse
