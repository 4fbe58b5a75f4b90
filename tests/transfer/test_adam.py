import numpy as np
import pytest

from sentprobe.probes.network.steps_numpy import BLOCK
from sentprobe.transfer.adam import Adam, views


@pytest.mark.parametrize("size", [7, BLOCK + 3])
def test_steps_are_those_of_torch(size):
    torch = pytest.importorskip("torch")
    draw = np.random.RandomState(0)
    start = draw.normal(size=size).astype(np.float32)
    ours, theirs = Adam.of([start]), torch.nn.Parameter(torch.tensor(start))
    optimiser = torch.optim.Adam([theirs], lr=0.01)
    for number in range(1, 20):
        gradient = (draw.normal(size=size) * 10.0 ** draw.randint(-6, 3)).astype(np.float32)
        theirs.grad = torch.tensor(gradient)
        optimiser.step()
        ours.gradient[:] = gradient
        ours.step(number, 0.01)
    np.testing.assert_allclose(ours.weights, theirs.detach().numpy(), atol=2e-6)


def test_the_first_step_is_as_long_as_the_rate_whatever_the_gradient():
    adam = Adam.of([np.zeros(3, np.float32)])
    adam.gradient[:] = [1e-3, -5.0, 0.0]
    adam.step(1, 0.5)
    np.testing.assert_allclose(adam.weights, [-0.5, 0.5, 0.0], rtol=1e-4)


def test_arrays_in_line_are_seen_in_their_shapes():
    arrays = [np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([7.0, 8.0])]
    adam = Adam.of(arrays)
    shaped = views(adam.weights, [(2, 3), (2,)])
    for view, array in zip(shaped, arrays, strict=True):
        np.testing.assert_array_equal(view, array)
    shaped[1][0] = -1
    assert adam.weights[6] == -1
    assert arrays[1][0] == 7  # what was given is not changed
