import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.network.group import mask_hashes, mask_key, mask_threshold, mix


def test_mix_is_the_published_function():
    # lowbias32 of github.com/skeeto/hash-prospector in C, with uint32_t, by gcc 12.2
    assert [mix(1), mix(2), mix(2**32 - 1)] == [1753845952, 3507691905, 1734902346]


@given(st.integers(0, 2**32 - 1), st.integers(1, 10**6))
def test_arrays_and_numbers_are_mixed_alike(seed, step):
    now = mask_key(seed, step)
    found = mask_hashes(now, np.arange(5)[:, None], np.arange(7))
    assert found.tolist() == [[mask_hashes(now, unit, row) for row in range(7)] for unit in range(5)]


def test_torch_mixes_as_numpy_does():
    torch = pytest.importorskip("torch")
    now = mask_key(1111, 3)
    found = mask_hashes(now, torch.arange(50)[:, None], torch.arange(64))
    np.testing.assert_array_equal(found.numpy(), mask_hashes(now, np.arange(50)[:, None], np.arange(64)))


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5, 0.8])
def test_as_many_are_dropped_as_was_asked_for(share):
    steps = np.array(
        [
            mask_hashes(mask_key(7, step), np.arange(100)[:, None], np.arange(64)) < mask_threshold(share)
            for step in range(50)
        ]
    )
    deviation = np.sqrt(share * (1 - share))
    # each mean is normal to a good approximation: five standard errors occur once in two million
    assert abs(steps.mean() - share) < 5 * deviation / np.sqrt(steps.size)
    for axis in (0, 1, 2):
        means = steps.mean(axis=axis)
        assert np.abs(means - share).max() < 6 * deviation / np.sqrt(steps.shape[axis])


def test_units_rows_steps_and_seeds_do_not_go_together():
    drawn = np.array(
        [mask_hashes(mask_key(seed, step), np.arange(40)[:, None], np.arange(64)) for seed in (0, 1) for step in (1, 2)]
    )
    many = (drawn / 2**32 - 0.5).reshape(160, 64)
    correlations = np.corrcoef(many)[np.triu_indices(160, 1)]
    # 12,720 pairs of 64 numbers: the correlation of unrelated ones has deviation 1/8, and six of these never occur
    assert np.abs(correlations).max() < 0.75
    assert abs(correlations.mean()) < 0.01
    assert len(np.unique(drawn)) > 0.999 * drawn.size
