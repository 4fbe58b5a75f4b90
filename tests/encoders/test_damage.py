"""Every file that encoders read, damaged: an error that names it, or the truth; no raw error and no wrong vector.

Whatever is done to a file, one thing holds: what has the same identity as before has the same vectors as before.
"""

import gzip
import random
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sentprobe.encoders import load
from sentprobe.encoders.embed import embed
from sentprobe.encoders.schemes.npy import write_vectors
from sentprobe.encoders.store import Store, StoreWarning
from sentprobe.encoders.wordvectors import CacheWarning
from sentprobe.errors import SentProbeError
from tests.encoders.test_wordvectors import as_binary, as_fasttext, as_text

TEXTS = ["the Haus", "côté нет", "猫 don't 5", "nothing known", "- <unk> naïveté", "the the 猫"]
VECTORS = np.random.default_rng(3).normal(size=(len(TEXTS), 5)).astype(np.float32)
TRIALS = 40


def npy(folder):
    np.save(folder / "v.npy", VECTORS)
    (folder / "t.txt").write_text("".join(f"{text}\n" for text in TEXTS), encoding="utf-8")
    return f"npy:{folder / 'v.npy'}?texts={folder / 't.txt'}"


def npz(folder):
    np.savez_compressed(folder / "v.npz", vectors=VECTORS, texts=np.array(TEXTS))
    return f"npy:{folder / 'v.npz'}"


def parquet(folder):
    npy(folder)
    pq.write_table(pa.table({"text": TEXTS}), folder / "t.parquet")
    return f"npy:{folder / 'v.npy'}?texts={folder / 't.parquet'}"


def encoded(folder):
    write_vectors(folder, TEXTS, VECTORS)
    return f"npy:{folder / 'vectors.npy'}?texts={folder / 'texts.txt'}"


def words(content, name="v.txt"):
    def written(folder):
        (folder / name).write_bytes(content)
        return f"vec:{folder / name}"

    return written


def frequencies(folder):
    (folder / "f.txt").write_text("the 100\nHaus 3\n猫 2\n", encoding="utf-8")
    return f"{words(as_text())(folder)}?pool=sif&freq={folder / 'f.txt'}"


KINDS = {
    "an array": (npy, "v.npy"),
    "the lines of its texts": (npy, "t.txt"),
    "an archive of arrays": (npz, "v.npz"),
    "a table of texts": (parquet, "t.parquet"),
    "an array that sentprobe encode wrote": (encoded, "vectors.npy"),
    "the texts that sentprobe encode wrote": (encoded, "texts.txt"),
    "the checksums that sentprobe encode wrote": (encoded, "sentprobe-checksums.txt"),
    "word vectors as text": (words(as_text()), "v.txt"),
    "word vectors, compressed": (words(gzip.compress(as_text(), mtime=0), "v.txt.gz"), "v.txt.gz"),
    "word vectors, binary": (words(as_binary()), "v.txt"),
    "a fastText model": (words(as_fasttext(("the", "Haus", "</s>"))), "v.txt"),
    "a list of frequencies": (frequencies, "f.txt"),
    "the cache of word vectors": (words(as_text()), "cache/vectors/*"),
    "the cache of a fastText model": (words(as_fasttext(("the", "Haus", "</s>"))), "cache/vectors/*"),
    "a shard of the store": (words(as_text()), "store/*/*.shard"),
    "the name of a part of the store": (words(as_text()), "store/*/identity.json"),
}
READ_BACK = ("sentprobe encode", "cache", "store")
"""Files that this program wrote: of these, nothing may be taken for anything else."""


def damages(content, rng):
    """What happens to files: bits flip, ends are lost, stretches are wiped, doubled, or filled with other things."""
    for _ in range(TRIALS):
        changed = bytearray(content)
        at, length = rng.randrange(len(content)), rng.randint(1, max(1, len(content) // 4))
        match rng.randrange(7):
            case 0 | 1 | 2:
                changed[at] ^= 1 << rng.randrange(8)
            case 3:
                del changed[at:]
            case 4:
                changed[at : at + length] = bytes(len(changed[at : at + length]))
            case 5:
                changed[at:at] = changed[at : at + length]
            case 6:
                changed[at : at + length] = rng.randbytes(length)
        if bytes(changed) != content:
            yield bytes(changed)


def attempt(vectors):
    """The error, or identity and vectors; any error but a SentProbeError is a failure of the test."""
    try:
        return None, *vectors()
    except SentProbeError as e:
        return e, None, None


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_named_or_does_no_harm(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    write, pattern = KINDS[kind]
    spec = write(tmp_path)

    def vectors():
        encoder = load(spec)
        found = embed(encoder, TEXTS, store=Store(tmp_path / "store"))
        return found.identity, found.vectors

    identity, truth = vectors()
    (path,) = tmp_path.glob(pattern)
    whole, refused, told = path.read_bytes(), 0, 0
    for content in damages(whole, random.Random(7)):
        path.write_bytes(content)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            error, now, found = attempt(vectors)
        if error is not None:
            assert str(tmp_path) in str(error) or "NaN or infinite numbers" in str(error), error
            refused += 1
        else:
            assert now == identity or not any(word in kind for word in READ_BACK)
            if now == identity:
                np.testing.assert_array_equal(found, truth)
        assert {each.category for each in said} <= {CacheWarning, StoreWarning}, [str(each.message) for each in said]
        told += len(said)
        for other in path.parent.glob("*.shard"):  # or the next trial would find them
            other.unlink()
        path.write_bytes(whole)
    if "encode" in kind:
        assert refused
    if "cache" in kind or "shard" in kind:
        assert told
        assert not refused
