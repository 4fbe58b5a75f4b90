from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.probes.network.group import SEEDS, initial_layers


def drawn_by_torch(seed, sizes):
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    made = [torch.nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes)]
    return [parameter.detach().numpy() for layer in made for parameter in (layer.weight, layer.bias)]


def assert_equal_to_torch(seed, sizes):
    for ours, theirs in zip(initial_layers(seed, sizes), drawn_by_torch(seed, sizes), strict=True):
        assert ours.dtype == np.float32
        # torch scales and shifts in one rounding only where the processor can
        torch = pytest.importorskip("torch")
        if torch.backends.cpu.get_cpu_capability() in {"AVX2", "AVX512"}:
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, atol=1e-7)


@pytest.mark.parametrize("sizes", [(256, 2), (384, 1000), (2048, 6), (256, 50, 2), (300, 200, 6), (1000, 1000, 5)])
def test_the_sizes_of_probes_are_drawn_as_torch_draws_them(sizes):
    assert_equal_to_torch(1111, sizes)


@given(st.integers(0, SEEDS - 1), st.lists(st.integers(1, 40), min_size=2, max_size=3))
def test_any_seed_and_size_is_drawn_as_torch_draws_it(seed, sizes):
    assert_equal_to_torch(seed, sizes)


def test_some_numbers_without_torch():
    # torch 2.13.0, CPU: torch.manual_seed(1111); torch.nn.Linear(4, 1) -> weight[0], bias
    weight, bias = initial_layers(1111, [4, 1])
    np.testing.assert_allclose(weight[0], [-0.03940415, -0.41502053, 0.30094749, -0.10282415], atol=1e-7)
    np.testing.assert_allclose(bias, [0.45479655], atol=1e-7)


def test_nothing_is_drawn_from_the_global_generator():
    np.random.seed(5)
    before = np.random.get_state()[1].copy()
    initial_layers(3, [4, 2])
    np.testing.assert_array_equal(np.random.get_state()[1], before)
