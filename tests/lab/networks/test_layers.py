"""Each architecture against torch's own layers, or against loops over sentences and words that are written out here."""

import math

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402

from sentprobe.lab.networks.sequences import mean_over_time  # noqa: E402
from tests.lab.networks.tiny import WIDTH, batch, build  # noqa: E402

LENGTHS = [3, 1, 7, 2]
CLOSE = {"atol": 1e-6, "rtol": 1e-5}


def words(inputs):
    """The sentences of a batch without padding."""
    return [sentence[:length] for sentence, length in zip(inputs, LENGTHS, strict=True)]


def copied_into(theirs, ours):
    """torch's own recurrent network with the weights of ours."""
    for depth in range(theirs.num_layers):
        sides = [
            ("", getattr(ours.forwards, str(depth), None)),
            ("_reverse", getattr(ours.backwards, str(depth), None)),
        ]
        for suffix, layer in sides:
            if layer is not None and (not suffix or theirs.bidirectional):
                for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    target = getattr(theirs, f"{part}_l{depth}{suffix}")
                    target.data.copy_(getattr(layer, f"{part}_l0"))
    return theirs


@pytest.mark.parametrize(
    ("name", "kind", "pool"),
    [
        ("bilstm-max", nn.LSTM, "max"),
        ("bilstm-mean", nn.LSTM, "mean"),
        ("bilstm-last", nn.LSTM, "last"),
        ("bigru-last", nn.GRU, "last"),
        ("lstm", nn.LSTM, "last"),
        ("gru", nn.GRU, "last"),
    ],
)
def test_recurrent_networks_are_those_of_torch_with_packing(name, kind, pool):
    ours = build((name, {}))
    theirs = copied_into(
        kind(WIDTH, 6, num_layers=2, bidirectional=name.startswith("bi"), batch_first=True), ours.recurrent
    )
    inputs, lengths = batch(LENGTHS, 9, filling=1e3)
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    states, final = theirs(packed)
    states, _ = pad_packed_sequence(states, batch_first=True)
    found = ours(inputs, lengths)
    for expected, layer in zip(words(states), words(found.layers[-1]), strict=True):
        torch.testing.assert_close(layer, expected, **CLOSE)
    if pool == "last":
        final = final[0] if isinstance(final, tuple) else final
        expected = torch.cat(tuple(final[-2:] if theirs.bidirectional else final[-1:]), 1)
    else:
        pools = {"max": lambda own: own.amax(0), "mean": lambda own: own.mean(0)}
        expected = torch.stack([pools[pool](own) for own in words(states)])
    torch.testing.assert_close(found.vectors, expected, **CLOSE)


def test_the_encoder_that_reads_backwards_ends_at_the_first_word():
    ours = build(("lstm-reversed", {"layers": 1}))
    theirs = nn.LSTM(WIDTH, 6, batch_first=True)
    for mine, other in zip(ours.recurrent.backwards[0].parameters(), theirs.parameters(), strict=True):
        other.data.copy_(mine)
    inputs, lengths = batch(LENGTHS)
    vectors, (states,) = ours(inputs, lengths)
    for vector, own, sentence in zip(vectors, words(states), words(inputs), strict=True):
        expected = theirs(sentence.flip(0)[None])[0][0]
        torch.testing.assert_close(vector, expected[-1], **CLOSE)
        torch.testing.assert_close(own, expected.flip(0), **CLOSE)  # the states are in the order of the words


@torch.no_grad()
def test_four_views_are_four_weighted_means():
    network = build(("inner-attention", {}))
    inputs, lengths = batch(LENGTHS)
    vectors, layers = network(inputs, lengths)
    assert network.queries.shape == (4, 12)
    for vector, states in zip(vectors, words(layers[-1]), strict=True):
        for view, query in zip(vector.view(4, 12), network.queries, strict=True):
            scores = [math.exp(float(torch.tanh(network.keys(state)) @ query)) for state in states]
            expected = sum(score / sum(scores) * state for score, state in zip(scores, states, strict=True))
            torch.testing.assert_close(view, expected, **CLOSE)


def test_every_view_has_a_query_of_its_own():
    # in InferSent's code, three of four views share one
    network = build(("inner-attention", {}))
    inputs, lengths = batch(LENGTHS)
    before = network(inputs, lengths).vectors.view(4, 4, 12)
    for view in range(4):
        with torch.no_grad():
            network.queries[view] += 1
        after = network(inputs, lengths).vectors.view(4, 4, 12)
        changed = (after != before).any(2).any(0)
        assert changed.tolist() == [other == view for other in range(4)]
        before = after
    longest = before[2]
    assert all(not torch.allclose(longest[a], longest[b], atol=1e-4) for a in range(4) for b in range(a))


@pytest.mark.parametrize("pool", ["max", "last"])
@pytest.mark.parametrize("over", ["heads", "states"])
def test_self_attention_in_both_readings(pool, over):
    network = build((f"self-attention-{pool}", {"over": over}))
    inputs, lengths = batch(LENGTHS)
    vectors, layers = network(inputs, lengths)
    for vector, states in zip(vectors, words(layers[1]), strict=True):
        scores = [network.outer.weight @ torch.tanh(network.inner.weight @ state) for state in states]
        weights = torch.stack(scores).softmax(0)  # (words, heads)
        if over == "heads":
            heads = [sum(weights[at, head] * state for at, state in enumerate(states)) for head in range(3)]
            expected = torch.stack(heads).amax(0) if pool == "max" else heads[-1]
        else:
            weighted = torch.stack([weights[at].mean() * state for at, state in enumerate(states)])
            expected = weighted.amax(0) if pool == "max" else torch.cat((weighted[-1, :6], weighted[0, 6:]))
        torch.testing.assert_close(vector, expected, **CLOSE)


def convolved(states, convolution, before, after):
    """A convolution of one sentence (words, width), with zeros before and after it, written as a loop."""
    (kernel,) = convolution.kernel_size
    zeros = torch.zeros(before, states.shape[1]), torch.zeros(after, states.shape[1])
    padded = torch.cat((zeros[0], states, zeros[1]))
    return torch.stack(
        [
            sum(convolution.weight[:, :, k] @ padded[start + k] for k in range(kernel)) + convolution.bias
            for start in range(len(padded) - kernel + 1)
        ]
    )


@pytest.mark.parametrize("kernel", [1, 3, 4])
def test_the_hierarchical_convnet_has_the_maximum_of_every_layer(kernel):
    network = build(("hconvnet", {"layers": 4, "kernel": kernel}))
    inputs, lengths = batch(LENGTHS)
    vectors, layers = network(inputs, lengths)
    assert len(layers) == 4
    for vector, states in zip(vectors, words(inputs), strict=True):
        highest = []
        for layer in network.convolutions:
            states = convolved(states, layer.convolution, (kernel - 1) // 2, kernel // 2).clamp(min=0)
            highest.append(states.amax(0))
        torch.testing.assert_close(vector, torch.cat(highest), **CLOSE)


@pytest.mark.parametrize("residual", [True, False])
def test_gated_convolutions_with_positions(residual):
    network = build(("gated-convnet", {"layers": 3, "residual": residual}))
    inputs, lengths = batch(LENGTHS)
    vectors = network(inputs, lengths).vectors
    for vector, sentence in zip(vectors, words(inputs), strict=True):
        # four positions: the last one is that of all further words
        states = torch.stack(
            [network.project(word) + network.positions.table[min(at, 3)] for at, word in enumerate(sentence)]
        )
        for layer in network.convolutions:
            values, gates = convolved(states, layer.convolution, 1, 1).chunk(2, 1)
            gated = values / (1 + torch.exp(-gates))
            states = (gated + states) / math.sqrt(2) if residual else gated
        torch.testing.assert_close(vector, states.amax(0), **CLOSE)


def test_an_untrained_gated_convnet_still_tells_sentences_apart():
    # eight gates would halve the input eight times
    network = build(("gated-convnet", {"layers": 8, "hidden": 64}))
    vectors = network(*batch([5] * 20)).vectors
    assert 0.3 < vectors.std(0).mean() < 3


@pytest.mark.parametrize(("kernels", "sides"), [("3-4-5", (1, 2, 2)), ("2-7", (1, 3))])
@pytest.mark.parametrize("pool", ["max", "mean"])
def test_filters_of_several_widths(pool, kernels, sides):
    # Ravishankar et al. 2019, table 2: filters 3, 4, 5 with padding 1, 2, 2
    network = build((f"cnn-{pool}", {"kernels": kernels}))
    inputs, lengths = batch(LENGTHS, 9, filling=1e3)
    vectors = network(inputs, lengths).vectors
    for vector, sentence in zip(vectors, words(inputs), strict=True):
        pooled = []
        for convolution, side in zip(network.convolutions, sides, strict=True):
            maps = convolved(sentence, convolution, side, side).clamp(min=0)
            pooled.append(maps.amax(0) if pool == "max" else maps.mean(0))
        torch.testing.assert_close(vector, network.project(torch.cat(pooled)), **CLOSE)


@torch.no_grad()
def test_bags_of_words_are_those_of_a_loop():
    inputs, lengths = batch(LENGTHS, 9, filling=1e3)
    weighted = build(("bow-weighted", {}))
    (weight,), bias = weighted.weight.weight, weighted.weight.bias
    expected = {
        "bow-mean": lambda own: own.mean(0),
        "bow-max": lambda own: own.amax(0),
        "bow-sum": lambda own: own.sum(0),
        "bow-weighted": lambda own: sum(word / (1 + math.exp(-float(word @ weight + bias))) for word in own) / len(own),
    }
    for name, pool in expected.items():
        vectors = build((name, {}))(inputs, lengths).vectors
        for vector, own in zip(vectors, words(inputs), strict=True):
            torch.testing.assert_close(vector, pool(own), **CLOSE)


def test_the_transformer_is_that_of_torch():
    ours = build(("transformer", {"feedforward": 0}))
    inputs, lengths = batch(LENGTHS, 9, filling=1e3)
    states = ours.norm(ours.project(inputs) + ours.positions.table[[0, 1, 2, *[3] * 6]])
    mask = torch.arange(9) >= lengths[:, None]
    for layer, found in zip(ours.layers, ours(inputs, lengths).layers, strict=True):
        theirs = nn.TransformerEncoderLayer(6, 3, 24, 0.0, "gelu", batch_first=True, norm_first=False)
        pairs = [
            (theirs.self_attn.in_proj_weight, layer.attention_in.weight),
            (theirs.self_attn.in_proj_bias, layer.attention_in.bias),
            *zip(theirs.self_attn.out_proj.parameters(), layer.attention_out.parameters(), strict=True),
            *zip(theirs.linear1.parameters(), layer.inner.parameters(), strict=True),
            *zip(theirs.linear2.parameters(), layer.outer.parameters(), strict=True),
        ]
        for target, own in pairs:
            target.data.copy_(own)
        states = theirs(states, src_key_padding_mask=mask)
        for own, expected in zip(words(found), words(states), strict=True):
            torch.testing.assert_close(own, expected, **CLOSE)


@pytest.mark.parametrize("pool", ["mean", "max", "first"])
def test_the_transformer_pools_its_top_layer(pool):
    network = build(("transformer", {"pool": pool}))
    vectors, layers = network(*batch(LENGTHS))
    pools = {"mean": lambda own: own.mean(0), "max": lambda own: own.amax(0), "first": lambda own: own[0]}
    for vector, states in zip(vectors, words(layers[-1]), strict=True):
        torch.testing.assert_close(vector, pools[pool](states), **CLOSE)


@pytest.mark.parametrize("name", ["gated-convnet", "transformer"])
def test_sentences_may_be_longer_than_the_table_of_positions(name):
    network = build((name, {"positions": 2}))
    inputs, lengths = batch([12])
    vectors = network(inputs, lengths).vectors
    assert vectors.isfinite().all()
    if name == "transformer":  # without positions that differ, words that change places give the same mean
        order = torch.tensor([0, *range(11, 0, -1)])
        moved = mean_over_time(network(inputs[:, order], lengths).layers[-1], lengths)
        torch.testing.assert_close(moved, vectors, **CLOSE)


def test_an_lstm_with_gradients_is_the_one_without():
    ours = build(("bilstm-max", {}))
    inputs, lengths = batch(LENGTHS, 9, filling=1e3)
    with torch.no_grad():
        expected = ours(inputs, lengths)
    found = ours(inputs, lengths)
    torch.testing.assert_close(found.vectors, expected.vectors, **CLOSE)
    for layers in zip(words(found.layers[-1]), words(expected.layers[-1]), strict=True):
        torch.testing.assert_close(*layers, **CLOSE)
