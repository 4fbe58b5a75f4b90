import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")
pytest.importorskip("sacrebleu")
pytest.importorskip("tokenizers")

from sentprobe.core.arguments import resolve_settings  # noqa: E402
from sentprobe.lab.networks.vocabulary import Vocabulary  # noqa: E402
from sentprobe.lab.training import OBJECTIVES  # noqa: E402
from sentprobe.lab.training.decoder import (  # noqa: E402
    Decoder,
    SentenceMemory,
    generate,
)
from sentprobe.lab.training.targets import END, UNKNOWN, WordTargets, read_targets  # noqa: E402
from sentprobe.lab.training.train import train  # noqa: E402
from tests.lab.training.prepared import different, learn_by_heart, prepare, request, write  # noqa: E402

SIZES = {"hidden": 24, "dropout": 0, "decoder_dropout": 0}


@pytest.fixture(scope="module")
def texts():
    return different(8)


@pytest.fixture(scope="module")
def source(texts, tmp_path_factory):
    return write(tmp_path_factory.mktemp("reconstruct") / "texts.tsv", [(text,) for text in texts])


def wanted(source, **more):
    return request("reconstruct", "lstm-reversed", source, dev=(source,), settings=SIZES, **{"width": 24, **more})


def test_sentences_are_learned_by_heart(source, tmp_path):
    prepared = prepare(tmp_path, wanted(source))
    (stream,) = prepared.streams
    batch = stream.collate(np.arange(stream.size))
    loss = prepared.model.eval()(batch)
    assert loss.total.item() / loss.units == pytest.approx(
        math.log(len(prepared.model.decoder.embedding.weight)), rel=0.05
    )
    scores = learn_by_heart(prepared, 100)
    assert scores["BLEU"] > 99
    assert scores["perplexity"] < 1.5


def test_settings_are_those_of_the_paper(source, tmp_path):
    found = wanted(source)
    options = found.options
    assert (options.optimiser, options.lr, options.batch, options.clip, options.patience) == ("adagrad", 0.01, 32, 5, 5)
    assert OBJECTIVES.get("reconstruct").settings["decoder_dropout"].default == 0.1
    prepared = prepare(tmp_path, found)
    decoder = prepared.model.decoder
    assert (decoder.lstm.num_layers, decoder.lstm.hidden_size, decoder.lstm.input_size) == (1, 24, 24)
    assert prepared.model.encoder.size == 24
    # own weights on both sides, of the same words: those of the encoder and the unknown word
    assert decoder.embedding.weight.shape == prepared.model.encoder.inputs.learned.weight.shape
    assert (prepared.selection, prepared.maximise) == ("perplexity", False)


@pytest.mark.parametrize("units", [0, 7])
def test_the_vector_is_the_first_state_and_no_input(units):
    torch.manual_seed(0)
    known = OBJECTIVES.get("reconstruct").settings
    decoder = Decoder(5, 0, 11, resolve_settings(known, {"decoder": units, "decoder_dropout": 0}, "a decoder"))
    vectors, tokens = torch.randn(3, 5), torch.randint(11, (3, 4))
    found, _ = decoder(tokens, SentenceMemory(vectors))
    first = decoder.start(vectors)[None] if units else vectors[None]
    expected, _ = decoder.lstm(decoder.embedding(tokens), (first, torch.zeros_like(first)))
    torch.testing.assert_close(found, expected)
    state = None
    for at in range(4):
        step, state = decoder(tokens[:, at : at + 1], SentenceMemory(vectors), state)
        torch.testing.assert_close(step[:, 0], found[:, at])


def test_targets_are_what_the_encoder_reads():
    vocabulary = Vocabulary(["<s>", "</s>", "cat", "the", "."], unknown="keep")
    targets = WordTargets.of(vocabulary)
    assert targets.encode(["The cat.", "the dog", ""]) == [[4, 3, 5, END], [4, UNKNOWN, END], [END]]
    assert targets.decode([[4, 3, 5, END, 3], [4, UNKNOWN]]) == ["the cat .", "the <unk>"]
    assert len(targets) == 6
    bag = WordTargets.of(Vocabulary(["cat", "the"], unknown="drop"))
    assert bag.encode(["the big cat"]) == [[4, 3, END]]


def test_a_folder_generates_sentences(source, texts, tmp_path):
    folder = train(wanted(source, options={"epochs": 1}), tmp_path / "out")
    assert folder.config["facts"]["BLEU signature"]
    assert len(read_targets(folder.job)) == len(folder.vocabulary) + 1
    assert len(generate(folder.path, texts[:3])) == 3
