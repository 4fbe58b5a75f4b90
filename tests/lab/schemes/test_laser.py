"""LASER 1 and 2: the vectors of the authors' network, their preparation of texts, and damaged files.

The authors' own classes (facebookresearch/LASER at 74bc6ae, models.py and laser_tokenizer.py) gave the same subwords
and the same vectors, to 6e-8, on random weights and texts like those below; here torch's LSTM stands for them.
"""

import argparse

import numpy as np
import pytest

from sentprobe import encoders
from sentprobe.errors import DataError, EncoderError, UsageError
from sentprobe.testing import check_encoder

torch = pytest.importorskip("torch")
pytest.importorskip("sacremoses")
sentencepiece = pytest.importorskip("sentencepiece")

TEXTS = ["The cat sat on the mat.", "Don’t “you” know?", "", "zzz", "half \ud800\x07 cat", "the " * 30]
WIDTH, HIDDEN, LAYERS = 6, 4, 2
WEIGHTS = "bilstm.93langs.2018-12-26.pt"


def lstm():
    torch.manual_seed(0)
    return torch.nn.LSTM(WIDTH, HIDDEN, LAYERS, bidirectional=True)


def write(path, tokens, **changed):
    numbers = {token: i for i, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", *tokens])}
    table = torch.from_numpy(np.random.default_rng(0).normal(size=(len(numbers), WIDTH)).astype(np.float32))
    table[1] = 0
    params = {
        "num_embeddings": len(numbers), "padding_idx": 1, "embed_dim": WIDTH, "hidden_size": HIDDEN,
        "num_layers": LAYERS, "bidirectional": True, "left_pad": True, "padding_value": 0.0,
    }  # fmt: skip
    model = {"embed_tokens.weight": table, **{f"lstm.{name}": value for name, value in lstm().state_dict().items()}}
    torch.save({"params": params, "model": model, "dictionary": numbers} | changed, path)
    return numbers, table


def expected(numbers, table, tokens):
    ids = [numbers.get(token, 3) for token in tokens] + [2]
    return lstm()(table[ids][:, None])[0].amax(0)[0].detach().numpy()


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """LASER 1: single characters, with two merges."""
    folder = tmp_path_factory.mktemp("laser1")
    letters = "abcdefghijklmnopqrstuvwxyz.?'\""
    subwords = [*letters, *(f"{letter}@@" for letter in letters), "the", "ca@@"]
    (folder / "93langs.fcodes").write_text("t h 3\nth e</w> 2\nc a 1\n")
    (folder / "93langs.fvocab").write_text("".join(f"{subword} 1\n" for subword in subwords))
    return folder, *write(folder / WEIGHTS, subwords)


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    """LASER 2: pieces of a tiny model of SentencePiece."""
    folder = tmp_path_factory.mktemp("laser2")
    lines = ["the cat sat on the mat .", 'do not " you " know ?', "the dog and the cat"] * 5
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=str(folder / "laser2"), vocab_size=40, minloglevel=2,
        hard_vocab_limit=False, num_threads=1,
    )  # fmt: skip
    (folder / "laser2.model").rename(folder / "laser2.spm")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "laser2.spm"))
    names = [pieces.id_to_piece(i) for i in range(3, pieces.get_piece_size() - 3)]  # some pieces have no number
    return folder, pieces, *write(folder / "laser2.pt", names)


def test_version_1_is_tokenised_lowered_and_split_by_fast_bpe(first):
    folder, numbers, table = first
    found = encoders.load(f"laser:{folder}")(TEXTS)
    tokens = [
        "the ca@@ t s@@ a@@ t o@@ n the m@@ a@@ t .".split(),
        'd@@ o@@ n \'t " y@@ o@@ u " k@@ n@@ o@@ w ?'.replace("'t", "'@@ t").split(),
        [],
        "z@@ z@@ z".split(),
        "h@@ a@@ l@@ f ca@@ t".split(),
    ]
    for vector, own in zip(found, tokens, strict=False):
        np.testing.assert_allclose(vector, expected(numbers, table, own), atol=1e-6)
    assert found.shape == (len(TEXTS), 2 * HIDDEN)


def test_version_2_is_normalised_lowered_and_split_by_sentencepiece(second):
    folder, pieces, numbers, table = second
    encoder = encoders.load(f"laser:{folder / 'laser2.pt'}")
    prepared = ["the cat sat on the mat.", 'don\'t "you" know?', "", "zzz", "half cat"]
    for vector, text in zip(encoder(TEXTS), prepared, strict=False):
        np.testing.assert_allclose(vector, expected(numbers, table, pieces.encode(text, out_type=str)), atol=1e-6)
    assert encoder.selection(["cat"])[0][-1][0] == "</s>"


def test_chinese_japanese_and_greek_have_their_own_steps(first):
    folder = first[0]
    pytest.importorskip("jieba")

    def tokens(language, text):
        return encoders.load(f"laser:{folder}?language={language}").tokens(text)

    assert " ".join(tokens("zh", "今天天气很好。")).replace("@@ ", "") == "今天天气 很 好 。"  # jieba 0.42.1
    pytest.importorskip("transliterate")
    assert " ".join(tokens("el", "Η γάτα")).replace("@@ ", "") == "i gata"  # transliterate 1.10.2
    assert dict(encoders.load(f"laser:{folder}?language=el").identity.facts)["language"] == "el"


def test_it_follows_the_rules_of_encoders(first):
    encoder = encoders.load(f"laser:{first[0]}")
    np.testing.assert_allclose(encoder(TEXTS), np.concatenate([encoder([text]) for text in TEXTS]), atol=1e-6)
    assert encoder.words(["cat", ""]).shape == (2, WIDTH)
    assert not encoder.words([""]).any()
    check_encoder(encoder)


def test_the_identity_is_the_content_of_all_files_and_the_language(first, tmp_path):
    for path in first[0].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    before = encoders.load(f"laser:{first[0]}").identity
    assert encoders.load(f"laser:{tmp_path}").identity == before
    assert encoders.load(f"laser:{tmp_path}?language=fr").identity != before
    with (tmp_path / "93langs.fvocab").open("a") as file:
        file.write("zz 1\n")
    assert encoders.load(f"laser:{tmp_path}").identity != before


def test_missing_files_are_named_with_where_they_are_published(first, tmp_path):
    with pytest.raises(EncoderError, match=r"laser2\.pt\. Files are not downloaded.*https://dl\.fbaipublicfiles\.com/"):
        encoders.load(f"laser:{tmp_path}")
    (tmp_path / WEIGHTS).write_bytes((first[0] / WEIGHTS).read_bytes())
    with pytest.raises(EncoderError, match=r"no file .*93langs\.fcodes, .*93langs\.fvocab\."):
        encoders.load(f"laser:{tmp_path}")
    (tmp_path / "laser2.pt").write_bytes(b"")
    with pytest.raises(UsageError, match="name one of them"):
        encoders.load(f"laser:{tmp_path}")
    with pytest.raises(UsageError, match="names no file or folder"):
        encoders.load("laser:")


def test_other_files_are_refused(first, second, tmp_path):
    for name in ("93langs.fcodes", "93langs.fvocab"):
        (tmp_path / name).write_bytes((first[0] / name).read_bytes())
    weights = tmp_path / WEIGHTS
    # the files of LASER 3 hold a Namespace, an object that torch's reader of plain tensors does not know
    torch.save({"cfg": {"model": argparse.Namespace()}, "model": {}}, weights)
    with pytest.raises(EncoderError, match="could run any code"):
        encoders.load(f"laser:{tmp_path}")
    torch.save({"model": {}}, weights)
    with pytest.raises(EncoderError, match="expected params, model and dictionary, got model"):
        encoders.load(f"laser:{tmp_path}")
    write(weights, ["a"], dictionary={"a": 99})
    with pytest.raises(EncoderError, match="token with the number 99"):
        encoders.load(f"laser:{tmp_path}")
    write(weights, ["a"], model={})
    with pytest.raises(DataError, match="has no weight"):
        encoders.load(f"laser:{tmp_path}")
    (tmp_path / "laser2.pt").write_bytes(weights.read_bytes())
    (tmp_path / "laser2.spm").write_bytes(b"nothing")
    with pytest.raises(EncoderError, match="not a model of SentencePiece"):
        encoders.load(f"laser:{tmp_path / 'laser2.pt'}")
