import math
from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")

from sentprobe import load_encoder  # noqa: E402
from sentprobe.errors import DataError, UsageError  # noqa: E402
from sentprobe.lab.networks.architectures.ngrams import PRIME  # noqa: E402
from sentprobe.lab.training.objectives.ngrams import NgramModel, NgramVectors, contexts, sampling_loss  # noqa: E402
from sentprobe.lab.training.train import train  # noqa: E402
from tests.lab.training.prepared import different, prepare, request, write  # noqa: E402
from tests.lab.training.tiny import same_weights  # noqa: E402

SIZES = {"buckets": 50}


@pytest.fixture(scope="module")
def texts():
    return different(80)


@pytest.fixture(scope="module")
def source(texts, tmp_path_factory):
    return write(tmp_path_factory.mktemp("ngrams") / "texts.tsv", [(text,) for text in texts])


def wanted(source, **more):
    return request("ngrams", "ngrams", source, **{"settings": SIZES, "options": {"batch": 16, "epochs": 3}, **more})


@pytest.fixture(scope="module")
def folder(source, tmp_path_factory):
    return train(wanted(source), tmp_path_factory.mktemp("ngrams") / "out")


def test_vector_is_the_mean_of_words_and_bigrams(folder, texts):
    weights = folder.weights(folder.best())
    words = weights["encoder.inputs.learned.weight"].double().numpy()
    bigrams = weights["encoder.body.bigrams.weight"].double().numpy()
    word = next(part for part in texts[0].split() if part.isalpha())
    found = load_encoder(f"trained:{folder.path}")([*texts[:9], "qwertz", word])
    for text, vector in zip(texts[:9], found, strict=False):
        ids = folder.vocabulary.ids(text)
        parts = [words[i] for i in ids]
        parts += [bigrams[(first * PRIME + second) % 50] for first, second in pairwise(ids)]
        assert len(parts) == 2 * len(ids) - 1
        np.testing.assert_allclose(vector, np.mean(parts, 0), atol=1e-6)
    assert np.all(found[-2] == 0)
    np.testing.assert_array_equal(found[-1], words[folder.vocabulary.ids(word)[0]].astype(np.float32))


def test_vector_does_not_depend_on_the_batch(folder, texts):
    encoder = load_encoder(f"trained:{folder.path}")
    together = encoder(texts)
    np.testing.assert_allclose(together, np.concatenate([encoder([text]) for text in texts]), atol=1e-6)


def test_contexts_against_a_loop():
    random = torch.Generator().manual_seed(0)
    lengths = torch.tensor([5, 2, 1, 3])
    rows = NgramVectors(torch.randn((4, 5, 3), generator=random), torch.randn((4, 4, 3), generator=random))
    used = torch.rand((4, 4), generator=random) < 0.6
    found = contexts(rows, lengths, used)
    for s, length in enumerate(lengths.tolist()):
        for i in range(length):
            parts = [rows.words[s, j] for j in range(length) if j != i]
            parts += [rows.bigrams[s, j] for j in range(length - 1) if used[s, j] and i not in (j, j + 1)]
            expected = torch.stack(parts).mean(0) if parts else torch.zeros(3)
            torch.testing.assert_close(found[s, i], expected)


def test_loss_at_the_start_is_that_of_a_coin_for_each_word(source, tmp_path):
    prepared = prepare(tmp_path, wanted(source))
    (stream,) = prepared.streams
    found = prepared.update(stream.collate(np.arange(60)), 0.2)
    # a negative that is the target itself does not count
    assert 10 * math.log(2) < found.total.item() / found.units <= 11 * math.log(2)


def test_loss_falls(source, tmp_path):
    prepared = prepare(tmp_path, wanted(source, held_out=15, options={"batch": 16, "epochs": 30}))
    (stream,) = prepared.streams
    batch = stream.collate(np.arange(stream.size))
    with torch.no_grad():
        before = prepared.evaluate()["loss"]
    losses = [prepared.update(batch, 0.2) for _ in range(60)]
    with torch.no_grad():
        after = prepared.evaluate()["loss"]
    assert losses[-1].total.item() / losses[-1].units < 0.8 * losses[0].total.item() / losses[0].units
    assert after < 0.8 * before


def test_update_is_a_step_down_the_gradient(source, tmp_path, monkeypatch):
    """Against the gradient of the same loss with respect to whole tables."""
    prepared = prepare(tmp_path, wanted(source, settings={**SIZES, "t": 0, "drop_bigrams": 0}))
    model = prepared.model
    with torch.no_grad():
        model.targets.normal_(generator=torch.Generator().manual_seed(0))
    ids, lengths = prepared.streams[0].collate(np.arange(7))
    inside = torch.arange(ids.shape[1]) < lengths[:, None]
    target = ids[inside]
    negatives = torch.randint(1, len(model.targets), (len(target), 10), generator=torch.Generator().manual_seed(0))
    monkeypatch.setattr(NgramModel, "draw_negatives", lambda self, count: negatives)
    mean = contexts(model.lookup(ids), lengths, torch.ones_like(ids[:, 1:], dtype=torch.bool))[inside]
    loss = sampling_loss(mean, model.targets[target], model.targets[negatives], negatives == target[:, None])
    tables = (model.words, model.bigrams, model.targets)
    expected = [
        table.detach() - 0.2 * change for table, change in zip(tables, torch.autograd.grad(loss, tables), strict=True)
    ]
    found = prepared.update((ids, lengths), 0.2)
    torch.testing.assert_close(found.total, loss.detach())
    for table, after in zip(tables, expected, strict=True):
        torch.testing.assert_close(table.detach(), after)


def test_frequent_words_are_targets_less_often_and_negatives_by_the_root(source, texts, tmp_path):
    prepared = prepare(tmp_path, wanted(source, settings={**SIZES, "t": 0.01}))
    model = prepared.model
    counts = np.bincount(
        np.concatenate([prepared.inputs.vocabulary.ids(text) for text in texts]), minlength=len(model.targets)
    )
    for number in (1, 5, len(counts) - 1):
        share = counts[number] / counts.sum()
        assert model.keep[number].item() == pytest.approx(min(1, math.sqrt(0.01 / share) + 0.01 / share))
    torch.manual_seed(0)
    drawn = np.bincount(model.draw_negatives(20_000).flatten().numpy(), minlength=len(counts)) / 200_000
    np.testing.assert_allclose(drawn, np.sqrt(counts) / np.sqrt(counts).sum(), atol=0.002)


def test_nothing_that_is_moved_to_a_device_has_double_precision(source, tmp_path):
    model = prepare(tmp_path, wanted(source)).model
    assert torch.float64 not in {part.dtype for part in (*model.parameters(), *model.buffers())}


def test_bigrams_of_some_words_are_left_out(source, tmp_path):
    model = prepare(tmp_path, wanted(source)).model
    lengths = torch.tensor([8, 3, 2] * 50)
    used = model.draw_bigrams(lengths, 8)
    inside = torch.arange(7) < lengths[:, None] - 1
    left_out = (~used & inside).sum(1)
    # two words of eight are in two to four bigrams, one of three in one or two, none of two
    assert set(left_out[lengths == 8].tolist()) == {2, 3, 4}
    assert set(left_out[lengths == 3].tolist()) == {1, 2}
    assert set(left_out[lengths == 2].tolist()) == {0}


def test_resumed_is_uninterrupted(folder, source, tmp_path):
    class Crash(Exception):
        pass

    def crash(report):
        if report.checkpoint == "epoch-002":
            raise Crash

    with pytest.raises(Crash):
        train(wanted(source), tmp_path / "out", crash)
    resumed = train(wanted(source), tmp_path / "out")
    assert same_weights(folder.path, resumed.path, ("epoch-001", "epoch-002", "epoch-003"))


@pytest.mark.parametrize(
    ("encoder", "more", "message"),
    [
        ("bilstm-max", {"settings": {}}, "expected --architecture ngrams, got bilstm-max"),
        ("ngrams", {"vectors": "some.vec"}, "leave --vectors and --projection out"),
        ("ngrams", {"options": {"optimiser": "adam"}}, "leave --optimiser adam out"),
    ],
)
def test_what_it_cannot_train(source, tmp_path, encoder, more, message):
    with pytest.raises(UsageError, match=message):
        prepare(tmp_path, request("ngrams", encoder, source, **{"settings": SIZES, **more}))


def test_words_alone_cannot_be_predicted(tmp_path):
    alone = write(tmp_path / "texts.tsv", [("one",), ("two",)])
    with pytest.raises(DataError, match="No text of train has two known words or more"):
        prepare(tmp_path / "data", wanted(alone))
