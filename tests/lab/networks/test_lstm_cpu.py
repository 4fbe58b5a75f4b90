import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402

from sentprobe.lab.networks.kernels import ReadingOrder, read_lstm  # noqa: E402

LENGTHS = [3, 1, 5, 5, 2]


@pytest.fixture
def case():
    """An LSTM, a batch, and a weight for each state, in double precision."""
    random = torch.Generator().manual_seed(1)
    layer = nn.LSTM(4, 3, batch_first=True).double()
    inputs = torch.randn(len(LENGTHS), 6, 4, dtype=torch.float64, generator=random)
    weights = torch.randn(len(LENGTHS), 5, 3, dtype=torch.float64, generator=random)
    return layer, inputs.requires_grad_(), torch.tensor(LENGTHS), weights


def gradients(layer, inputs, loss):
    layer.zero_grad()
    inputs.grad = None
    loss.backward()
    return [inputs.grad.clone(), *(p.grad.clone() for p in layer.parameters())]


def test_words_are_read_step_by_step_and_the_longest_sentence_first():
    order = ReadingOrder.of(torch.tensor([2, 3, 1]))
    assert order.sizes == [3, 2, 1]
    assert order.sentences.tolist() == [1, 0, 2, 1, 0, 1]
    assert order.forwards.tolist() == [0, 0, 0, 1, 1, 2]
    assert order.backwards.tolist() == [2, 1, 0, 1, 0, 0]


def test_states_and_gradients_are_those_of_torch(case):
    layer, inputs, lengths, weights = case
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    expected = pad_packed_sequence(layer(packed)[0], batch_first=True)[0]
    found = read_lstm(layer, inputs, ReadingOrder.of(lengths), back=False)[:, :5]
    torch.testing.assert_close(found, expected)
    theirs = gradients(layer, inputs, (expected * weights).sum())
    ours = gradients(layer, inputs, (found * weights).sum())
    for one, two in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, two)


def test_backwards_is_forwards_over_each_sentence_reversed(case):
    layer, inputs, lengths, _ = case
    found = read_lstm(layer, inputs, ReadingOrder.of(lengths), back=True)
    for sentence, states, length in zip(inputs, found, LENGTHS, strict=True):
        expected = layer(sentence[:length].flip(0)[None])[0][0].flip(0)
        torch.testing.assert_close(states[:length], expected)
        assert not states[length:].any()


def test_gradients_against_finite_differences(case):
    layer, inputs, lengths, _ = case
    order = ReadingOrder.of(lengths)
    assert torch.autograd.gradcheck(lambda x: read_lstm(layer, x, order, back=True), inputs)
