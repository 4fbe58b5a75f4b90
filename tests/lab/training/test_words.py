import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
gensim = pytest.importorskip("gensim")

from sentprobe import load_encoder  # noqa: E402
from sentprobe.errors import UsageError  # noqa: E402
from sentprobe.lab.networks.folder import TrainedFolder  # noqa: E402
from sentprobe.lab.training.train import train  # noqa: E402
from tests.lab.training.prepared import different, prepare, request, write  # noqa: E402


@pytest.fixture(scope="module")
def texts():
    return different(150)


@pytest.fixture(scope="module")
def source(texts, tmp_path_factory):
    return write(tmp_path_factory.mktemp("words") / "texts.tsv", [(text,) for text in texts])


def weights(folder: TrainedFolder, name: str) -> dict[str, torch.Tensor]:
    return folder.weights(next(c for c in folder.checkpoints() if c.name == name))


@pytest.mark.parametrize("method", ["skipgram", "cbow"])
def test_vectors_are_gensims_own(texts, source, tmp_path, method):
    asked = request("words", "bow-mean", source, settings={"method": method}, options={"epochs": 3, "seed": 5})
    folder = train(asked, tmp_path / "out")
    vocabulary = folder.vocabulary
    lists = [vocabulary.tokens(text) for text in texts]
    counts = {word: sum(tokens.count(word) for tokens in lists) for word in vocabulary.words}
    theirs = gensim.models.Word2Vec(
        sg=int(method == "skipgram"),
        hs=1,
        negative=0,
        vector_size=12,
        window=5,
        min_count=1,
        seed=5,
        workers=1,
        epochs=3,
        sorted_vocab=0,
    )
    theirs.build_vocab_from_freq(counts)
    theirs.train(lists, total_examples=len(lists), epochs=3)
    found = weights(folder, "epoch-003")["encoder.inputs.learned.weight"].numpy()
    np.testing.assert_allclose(found[1:], theirs.wv.vectors, rtol=0, atol=1e-7)
    assert np.all(found[0] == 0)
    vector = load_encoder(f"trained:{folder.path}")([texts[0]])[0]
    np.testing.assert_allclose(vector, np.mean([theirs.wv[word] for word in lists[0]], 0), atol=1e-6)


def test_resumed_is_uninterrupted(source, tmp_path, monkeypatch):
    whole = train(request("words", "bow-mean", source, options={"epochs": 4}), tmp_path / "whole")
    wanted = request("words", "bow-mean", source, options={"epochs": 4})
    from sentprobe.lab.training import loop

    end = loop._save

    def stop(training):
        end(training)
        if training.position.epoch == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop, "_save", stop)
        with pytest.raises(KeyboardInterrupt):
            train(wanted, tmp_path / "parts")
    parts = train(wanted, tmp_path / "parts")
    before, after = weights(whole, "epoch-004"), weights(parts, "epoch-004")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not torch.equal(
        before["encoder.inputs.learned.weight"], weights(whole, "epoch-003")["encoder.inputs.learned.weight"]
    )


@pytest.mark.parametrize(("objective", "encoder"), [("words", "bow-mean"), ("ngrams", "ngrams")])
def test_epochs_cannot_be_added_to_a_rate_that_has_fallen(source, tmp_path, objective, encoder):
    def asked(epochs):
        return request(objective, encoder, source, options={"epochs": epochs})

    train(asked(1), tmp_path / "out")
    with pytest.raises(UsageError, match="has an encoder with epochs 1, and this is 2: choose another folder"):
        train(asked(2), tmp_path / "out")


def test_loss_falls_and_is_summed_in_double_precision(source, tmp_path):
    prepared = prepare(tmp_path, request("words", "bow-mean", source, options={"epochs": 30, "lr": 0.1}))
    losses = []
    for _ in range(10):
        found = prepared.update(None, 0.1)
        losses.append(float(found.total) / found.units)
    assert losses[-1] < losses[0]


def test_nothing_marks_the_ends_of_a_bag(source, tmp_path):
    inputs = prepare(tmp_path, request("words", "bow-mean", source)).inputs
    assert not {"<s>", "</s>"} & set(inputs.vocabulary.words)
    assert inputs.vocabulary.ids("qwertz") == [0]
    assert inputs.vocabulary.ids("the qwertz") == inputs.vocabulary.ids("the")


@pytest.mark.parametrize(
    ("encoder", "more", "message"),
    [
        ("bilstm-max", {}, r"bilstm-max has [\d,]+ other weights"),
        ("bow-mean", {"projection": 4}, "without --projection"),
        ("bow-mean", {"vectors": "some.vec"}, "leave --vectors some.vec out"),
        ("bow-mean", {"options": {"optimiser": "adam"}}, "leave --optimiser adam out"),
        ("bow-mean", {"held_out": 3}, "leave --dev and --held-out out"),
    ],
)
def test_what_it_cannot_train(source, tmp_path, encoder, more, message):
    with pytest.raises(UsageError, match=message):
        prepare(tmp_path, request("words", encoder, source, **more))
