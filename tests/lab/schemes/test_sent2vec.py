"""sent2vec: the vectors of its program, and other files of the same format."""

import struct

import numpy as np
import pytest

from sentprobe import encoders
from sentprobe.errors import DataError, EncoderError, UsageError
from sentprobe.testing import check_encoder
from sentprobe.testing.encoders import TEXTS_BY_LANGUAGE

WORDS = ["<PLACEHOLDER>", "the", "cat", "</s>", "sat", "ü", "mat", "."]
DIM, BUCKETS = 3, 11


def write(path, ngrams=2, model=4, words=WORDS, magic=793712314, pruned=-1):
    """A model as sent2vec's program writes it, with numbers from -0.75 to 0.75."""
    rows = len(words) + BUCKETS
    matrix = (np.arange(rows * DIM, dtype="<f4").reshape(rows, DIM) % 7 - 3) / 4
    characters = [5] if model == 5 else []
    head = struct.pack(f"<{11 + len(characters)}i", magic, 11, DIM, 5, 1, 1, 10, ngrams, 2, model, BUCKETS, *characters)
    head += struct.pack("<3id", 3, 6, 100, 1e-4) + struct.pack("<3i2q", len(words), len(words), 0, 100, pruned)
    entries = b"".join(word.encode() + b"\0" + struct.pack("<qb", 3, 0) for word in words)
    body = b"\0" + struct.pack("<2q", rows, DIM) + matrix.tobytes() + b"\0" + struct.pack("<2q", 0, DIM)
    path.write_bytes(head + entries + body)
    return path


@pytest.mark.parametrize(
    ("ngrams", "vectors"),
    [
        (1, [[0.125, -0.0625, -0.25], [0.125, 0.375, 0.625], [0, 0, 0], [0.125, -0.5, -0.25]]),
        (2, [[0.142857149, 0.142857149, -0.107142866], [-0.0833333358, 0.166666672, 0.416666687], [0, 0, 0],
             [0.25, -0.0833333358, -0.416666687]]),
        (3, [[0.055555556, 0.111111112, -0.027777778], [-0.0833333358, 0.166666672, 0.416666687], [0, 0, 0],
             [0.25, -0.0833333358, -0.416666687]]),
    ],
)  # fmt: skip
def test_vectors_are_those_of_the_program(tmp_path, ngrams, vectors):
    # `fasttext print-sentence-vectors` of epfml/sent2vec at 9efbc2d, which prints nine digits here, on these files
    encoder = encoders.load(f"sent2vec:{write(tmp_path / 'm.bin', ngrams)}?tokenise=space&case=as-is")
    texts = ["the cat sat .", "the zzz mat", "zzz", "ü cat </s> sat the"]
    np.testing.assert_allclose(encoder(texts), vectors, atol=1e-7)
    assert encoder([]).shape == (0, DIM)


def test_texts_are_lowered_and_split_as_in_the_penn_treebank(tmp_path):
    pytest.importorskip("nltk")
    path = write(tmp_path / "m.bin")
    raw, prepared = encoders.load(f"sent2vec:{path}"), encoders.load(f"sent2vec:{path}?tokenise=space")
    np.testing.assert_array_equal(raw(["The cat sat."]), prepared(["the cat sat ."]))
    np.testing.assert_array_equal(raw(["", " "]), np.zeros((2, DIM)))
    assert raw.identity != prepared.identity
    assert prepared(["The Cat"]).any()
    assert not encoders.load(f"sent2vec:{path}?tokenise=space&case=as-is")(["The Cat"]).any()


def test_it_follows_the_rules_of_encoders(tmp_path):
    words = [*WORDS, *dict.fromkeys(word.lower() for word in " ".join(TEXTS_BY_LANGUAGE["English"]).split())]
    words = list(dict.fromkeys(words))
    encoder = encoders.load(f"sent2vec:{write(tmp_path / 'm.bin', words=words)}?tokenise=space")
    check_encoder(encoder)
    np.testing.assert_array_equal(encoder.words(["cat", "zzz"]), [[0.0 + 3 / 4, -3 / 4, -2 / 4], [0, 0, 0]])


def test_the_identity_is_the_content(tmp_path):
    def load(path):
        return encoders.load(f"sent2vec:{path}?tokenise=space").identity

    one, other = write(tmp_path / "m.bin"), tmp_path / "copy" / "m.bin"
    other.parent.mkdir()
    other.write_bytes(one.read_bytes())
    assert load(one) == load(other)
    data = bytearray(one.read_bytes())
    data[-40] ^= 1
    other.write_bytes(data)
    assert load(one) != load(other)


def test_other_files_are_refused_with_what_they_are(tmp_path):
    with pytest.raises(UsageError, match=r"names no file.*wiki_bigrams\.bin.*github\.com/epfml/sent2vec"):
        encoders.load("sent2vec:")
    with pytest.raises(EncoderError, match=r"there is no file or folder 'm\.bin'\. Files are not downloaded"):
        encoders.load("sent2vec:m.bin")
    path = write(tmp_path / "m.bin", model=2)
    with pytest.raises(EncoderError, match=r"a fastText model; name it vec:.*m\.bin"):
        encoders.load(f"sent2vec:{path}?tokenise=space")
    with pytest.raises(EncoderError, match="a model of word vectors"):
        encoders.load(f"sent2vec:{write(path, model=5)}?tokenise=space")
    with pytest.raises(DataError, match="name it sent2vec:"):
        encoders.load(f"vec:{write(path)}")
    with pytest.raises(EncoderError, match="not a model of sent2vec"):
        encoders.load(f"sent2vec:{write(path, magic=1)}?tokenise=space")
    with pytest.raises(DataError, match="quantised"):
        encoders.load(f"sent2vec:{write(path, pruned=0)}?tokenise=space")
    path.write_bytes(write(path).read_bytes()[:300])
    with pytest.raises(DataError, match="ends inside"):
        encoders.load(f"sent2vec:{path}?tokenise=space")
