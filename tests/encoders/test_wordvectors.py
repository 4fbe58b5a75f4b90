"""Files of word vectors: read as gensim reads them, kept as they were read, refused when they are broken."""

import bz2
import gzip
import lzma
import os
import struct
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sentprobe.encoders.wordvectors import CacheWarning, read_vectors, vectors
from sentprobe.encoders.wordvectors.fasttext import ngrams
from sentprobe.encoders.wordvectors.pooling import max_rows, positional_rows, sum_rows
from sentprobe.encoders.wordvectors.rows import CheckedRows
from sentprobe.errors import CorpusError, DataError, SentProbeError

WORDS = ["the", "Haus", "côté", "нет", "猫", "don't", "5", "-", "<unk>", "naïveté"]
MATRIX = np.random.default_rng(7).normal(size=(len(WORDS), 6)).astype(np.float32)
PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
if find_spec("zstandard"):
    PACKERS[".zst"] = import_module("zstandard").compress


def as_text(words=WORDS, matrix=MATRIX, header=True, end="\n"):
    rows = "".join(f"{w} {' '.join(repr(float(x)) for x in row)}{end}" for w, row in zip(words, matrix, strict=True))
    return ((f"{len(words)} {matrix.shape[1]}\n" if header else "") + rows).encode()


def as_binary(words=WORDS, matrix=MATRIX, end=b"\n"):
    rows = (w.encode() + b" " + row.astype("<f4").tobytes() + end for w, row in zip(words, matrix, strict=True))
    return f"{len(words)} {matrix.shape[1]}\n".encode() + b"".join(rows)


FORMATS = {
    "word2vec text": as_text(),
    "word2vec text of the original program": as_text(end=" \n"),
    "GloVe text": as_text(header=False),
    "text with a byte order mark and CRLF": b"\xef\xbb\xbf" + as_text(end="\r\n"),
    "word2vec binary": as_binary(),
    "word2vec binary of gensim": as_binary(end=b""),
}


def put(folder, content, name="v"):
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("form", FORMATS)
def test_all_formats_hold_the_same_vectors_however_packed_and_named(tmp_path, form, packing):
    for name in ("v.txt", "v.vec", "v.bin", "v"):
        found = read_vectors(put(tmp_path, PACKERS[packing](FORMATS[form]), name + packing))
        assert list(found.words) == WORDS
        np.testing.assert_array_equal(found.matrix, MATRIX)
        assert found.matrix.dtype == np.float32
        assert (found.dim, found.size, found.subword) == (6, 10, None)
        assert found.index["猫"] == 4
        assert found.digest == read_vectors(put(tmp_path, FORMATS["word2vec text"])).digest


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_files_that_gensim_writes_are_read_as_gensim_reads_them(tmp_path, binary, packing):
    models = pytest.importorskip("gensim.models")
    vectors = models.KeyedVectors(6)
    vectors.add_vectors(WORDS, MATRIX)
    path = str(tmp_path / f"v{packing}")
    vectors.save_word2vec_format(path, binary=binary)
    theirs = models.KeyedVectors.load_word2vec_format(path, binary=binary)
    ours = read_vectors(path)
    assert list(ours.words) == theirs.index_to_key
    np.testing.assert_array_equal(ours.matrix, theirs.vectors)


@pytest.mark.parametrize("binary", [False, True])
def test_we_write_in_these_tests_what_gensim_can_read(tmp_path, binary):
    models = pytest.importorskip("gensim.models")
    path = put(tmp_path, as_binary() if binary else as_text())
    theirs = models.KeyedVectors.load_word2vec_format(str(path), binary=binary)
    assert theirs.index_to_key == WORDS
    np.testing.assert_array_equal(theirs.vectors, MATRIX)


def test_words_may_have_spaces_in_them(tmp_path):
    words = [". . .", "at name@domain.com", "the", "1", "a b c"]
    for header in (False, True):
        found = read_vectors(put(tmp_path, as_text(words, MATRIX[:5], header)))
        assert list(found.words) == words
        np.testing.assert_array_equal(found.matrix, MATRIX[:5])


@pytest.mark.parametrize("make", [as_text, as_binary])
def test_of_a_word_that_stands_twice_the_first_vector_counts(tmp_path, make):
    found = read_vectors(put(tmp_path, make(["a", "b", "a", "c", "b"], MATRIX[:5])))
    assert list(found.words) == ["a", "b", "c"]
    np.testing.assert_array_equal(found.matrix, MATRIX[[0, 1, 3]])


def test_more_vectors_than_fit_into_one_block(tmp_path):
    matrix = np.random.default_rng(1).normal(size=(5000, 30)).astype(np.float32)
    words = [f"w{i % 4900}" for i in range(5000)]
    for content in (as_text(words, matrix), as_text(words, matrix, header=False), as_binary(words, matrix)):
        for cache in (None, tmp_path / "cache"):
            found = read_vectors(put(tmp_path, content), cache)
            assert list(found.words) == words[:4900]
            np.testing.assert_array_equal(found.matrix, matrix[:4900])


@pytest.mark.parametrize("form", FORMATS)
def test_a_limit_takes_the_first_vectors(tmp_path, form):
    path = put(tmp_path, FORMATS[form])
    for cache in (None, tmp_path / "cache"):
        found = read_vectors(path, cache, limit=3)
        assert list(found.words) == WORDS[:3]
        np.testing.assert_array_equal(found.matrix, MATRIX[:3])
        assert found.digest != read_vectors(path, cache).digest
        assert read_vectors(path, cache, limit=99).digest == read_vectors(path, cache).digest


def test_a_word_cut_inside_a_character_is_kept_apart(tmp_path):
    cut = "猫猫".encode()[:-1]
    rows = b" 0.5 0.25\n"
    found = read_vectors(put(tmp_path, b"2 2\na" + rows + cut + rows))
    assert list(found.words) == ["a", "猫\\xe7\\x8c"]


@pytest.mark.parametrize(
    ("content", "line", "met"),
    [
        (b"2 2\na 1 2\nb 1\n", 3, "1 number"),
        (b"2 2\na 1 2\nb 1 2 3\n", 3, "3 numbers"),
        (b"2 2\na 1 2\nb 1 x\n", 3, "'x'"),
        (b"2 2\na 1 2\nb 1 nan\n", 3, "'nan'"),
        (b"2 2\na 1 2\nb 1 1e39\n", 3, "'1e39'"),
        (b"2 2\na 1 2\nb 1 1_0\n", 3, "'1_0'"),
        (b"2 2\na 1 2\nb 1,5 2\n", 3, "'1,5'"),
        (b"2 2\na 1 2\n 1 2\n", 3, "no word"),
        (b"2 2\na 1 2\n\xe9t\xe9 1 2\n", 3, "not UTF-8"),
        (b"3 2\na 1 2\nb 1 2\n", 3, "the end after 2 vectors"),
        (b"1 2\na 1 2\n\nb 1 2\nc 1 2\n", 4, "one more vector"),
        (b"1 2\na 1 2 3\n", 2, "3 numbers"),
        (b"a 1 2\nb 1 2\nc 1\nd 1 2\n", 3, "1 number"),
        (b"a 1\nb 1 2\nc 1 2\nd 1 2\n", 1, "1 number"),
        (b"\n\na 1 2\nb 1 2\nc x 2\n", 5, "'x'"),
        (b"No vectors here.\n", 1, "0 numbers"),
        (b"0 2\na 1 2\n", 2, "one more vector"),
    ],
)
def test_a_malformed_text_is_refused_with_its_line(tmp_path, content, line, met):
    for cache in (None, tmp_path / "cache"):
        with pytest.raises(CorpusError) as caught:
            read_vectors(put(tmp_path, content), cache)
        assert caught.value.line == line
        assert met in caught.value.got
    assert not list((tmp_path / "cache").glob("*"))
    assert not list((tmp_path / "cache").glob(".*"))


@pytest.mark.parametrize(
    "content", [gzip.compress(as_text()), *(PACKERS[e](as_text()) for e in PACKERS if e == ".zst")]
)
def test_compressed_vectors_are_known_by_their_first_bytes_whatever_their_name(tmp_path, content):
    vectors = read_vectors(put(tmp_path, content))
    plain = read_vectors(put(tmp_path, as_text(), "plain"))
    assert len(vectors.words) == len(plain.words) == 10
    np.testing.assert_array_equal(vectors.matrix, plain.matrix)


@pytest.mark.parametrize(
    ("content", "met"),
    [
        (b"", "holds no word vectors"),
        (b"\n\n", "holds no word vectors"),
        (as_binary()[:-8], "ends in vector 10 of 10"),
        (as_binary()[:40], "ends in vector 2 of 10"),
        (as_binary() + b"more", "has more data after 10 vectors"),
        (as_binary(matrix=np.where(np.isin(MATRIX, MATRIX[3, 3]), np.nan, MATRIX)), "'нет'"),
        (b"3 2\na \x00\x00" + bytes(6) + bytes(3 << 20), "no word before vector 2"),
    ],
)
def test_a_malformed_binary_is_refused_with_what_is_wrong(tmp_path, content, met):
    path = put(tmp_path, content)
    with pytest.raises(DataError, match="v") as caught:
        read_vectors(path)
    assert met in str(caught.value)
    assert str(path) in str(caught.value)


def test_what_cannot_be_opened_is_named(tmp_path):
    put(tmp_path, as_text(), "glove.txt")
    with pytest.raises(DataError, match=r"did you mean .*glove\.txt"):
        read_vectors(tmp_path / "glove.tx")
    with pytest.raises(DataError, match="cannot be read"):
        read_vectors(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        read_vectors("a\0b")
    with pytest.raises(DataError, match="ends too early"):
        read_vectors(put(tmp_path, gzip.compress(as_binary())[:-20], "v.gz"))
    with pytest.raises(DataError, match="is broken"):
        read_vectors(put(tmp_path, as_text(), "v.gz"))


# ------------------------------------------------------------------------------------------------------- the cache


def is_mapped(array):
    array = array.stored if isinstance(array, CheckedRows) else array
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


@pytest.mark.parametrize("form", FORMATS)
def test_the_second_time_is_a_memory_map_of_the_same(tmp_path, form, monkeypatch):
    path, cache = put(tmp_path, FORMATS[form]), tmp_path / "deep" / "cache"
    first = read_vectors(path, cache)
    monkeypatch.setattr("sentprobe.encoders.wordvectors.vectors.open_vectors", None)  # nothing is parsed any more
    second = read_vectors(path, cache)
    for found in (first, second):
        assert is_mapped(found.matrix)
        assert not found.matrix.stored.flags.writeable
        assert list(found.words) == WORDS
        np.testing.assert_array_equal(found.matrix, MATRIX)
    assert first.digest == second.digest
    assert [p.suffix for p in cache.iterdir()] == [".npy"]


def test_a_kept_file_is_a_matrix_that_numpy_reads(tmp_path):
    read_vectors(put(tmp_path, as_text()), tmp_path / "cache")
    (kept,) = (tmp_path / "cache").iterdir()
    np.testing.assert_array_equal(np.load(kept), MATRIX)


def test_the_digest_is_the_same_with_and_without_cache(tmp_path):
    path = put(tmp_path, as_text())
    assert read_vectors(path).digest == read_vectors(path, tmp_path / "cache").digest


def test_a_changed_file_is_read_again(tmp_path):
    path, cache = put(tmp_path, as_text()), tmp_path / "cache"
    before = read_vectors(path, cache)
    put(tmp_path, as_text(matrix=MATRIX + 1))
    assert read_vectors(path, cache).digest != before.digest
    np.testing.assert_array_equal(read_vectors(path, cache).matrix, MATRIX + 1)


def test_a_file_of_the_same_size_and_ends_but_another_time_is_read_again(tmp_path):
    rows = np.zeros((60_000, 6), np.float32)
    words = [f"w{i:05}" for i in range(60_000)]
    path, cache = put(tmp_path, as_binary(words, rows, b"")), tmp_path / "cache"
    assert path.stat().st_size > 1 << 20
    read_vectors(path, cache)
    rows[30_000] = 1
    put(tmp_path, as_binary(words, rows, b""))
    os.utime(path, ns=(1, 1))
    assert read_vectors(path, cache).matrix[30_000:30_001].tolist() == [[1.0] * 6]


def test_a_change_within_a_clock_tick_is_seen(tmp_path, monkeypatch):
    path, cache = put(tmp_path, as_binary()), tmp_path / "cache"
    before, about = read_vectors(path, cache), path.stat()
    rows = MATRIX.copy()
    rows[3, 2] = -rows[3, 2]
    put(tmp_path, as_binary(matrix=rows))
    assert path.stat().st_size == about.st_size
    monkeypatch.setattr(os, "fstat", lambda handle: about)  # as if neither time had gone on
    found = read_vectors(path, cache)
    assert found.digest != before.digest
    np.testing.assert_array_equal(found.matrix, rows)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = put(tmp_path, as_text())
    read = vectors.open_vectors

    def meanwhile(*arguments):
        found = read(*arguments)
        put(tmp_path, as_text(matrix=MATRIX + 1))
        return found

    monkeypatch.setattr(vectors, "open_vectors", meanwhile)
    for cache in (None, tmp_path / "cache"):
        with pytest.raises(DataError, match="changed while it was read"):
            read_vectors(path, cache)
        put(tmp_path, as_text())
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("damage", ["empty", "short", "shorter", "longer", "words", "check", "end", "noise"])
def test_a_broken_cache_is_told_and_made_anew(tmp_path, damage):
    path, cache = put(tmp_path, as_text()), tmp_path / "cache"
    read_vectors(path, cache)
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    broken = {
        "empty": b"",
        "short": whole[:-1],
        "shorter": whole[: len(whole) // 2],
        "longer": whole + b"\0",
        "words": whole.replace(b"Haus", b"Maus"),
        "check": whole[:-33] + bytes([whole[-33] ^ 1]) + whole[-32:],
        "end": whole[:-24] + bytes(24),
        "noise": bytes(range(256)) * 4,
    }[damage]
    assert broken != whole
    kept.write_bytes(broken)
    with pytest.warns(CacheWarning, match=rf"{kept.name} is damaged: .* rebuilt from .*{path.name}"):
        found = read_vectors(path, cache)
    assert list(found.words) == WORDS
    np.testing.assert_array_equal(found.matrix, MATRIX)
    assert kept.read_bytes() == whole


def flip_signs(kept, rows, dim=MATRIX.shape[1]):
    """Turn the sign of every number of some rows in a file of the cache, and nothing else."""
    content = bytearray(kept.read_bytes())
    start = content.index(b"\n") + 1
    for row in rows:
        for at in range(start + 4 * dim * row + 3, start + 4 * dim * (row + 1), 4):
            content[at] ^= 0x80
    kept.write_bytes(content)


def test_a_sign_that_flips_in_the_matrix_is_told_and_mended(tmp_path):
    path, cache = put(tmp_path, as_text()), tmp_path / "cache"
    read_vectors(path, cache)
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    flip_signs(kept, [3, 5])
    assert np.array_equal(np.load(kept)[3], -MATRIX[3])
    found = read_vectors(path, cache)
    np.testing.assert_array_equal(found.matrix[np.array([0, 4])], MATRIX[[0, 4]])  # these are whole, and cost no more
    with pytest.warns(CacheWarning, match="1 of the rows that were read do not match their checksums"):
        np.testing.assert_array_equal(found.matrix[np.array([5, 0])], MATRIX[[5, 0]])
    np.testing.assert_array_equal(found.take(np.array([3])).matrix, MATRIX[[3]])
    assert kept.read_bytes() == whole


def test_rows_that_changed_places_are_mended(tmp_path):
    path, cache = put(tmp_path, as_text()), tmp_path / "cache"
    read_vectors(path, cache)
    (kept,) = cache.iterdir()
    found = np.load(kept, mmap_mode="r+")
    found[[1, 2]] = found[[2, 1]]
    found.flush()
    with pytest.warns(CacheWarning, match="2 of the rows"):
        np.testing.assert_array_equal(read_vectors(path, cache).matrix, MATRIX)


def test_files_of_the_cache_that_changed_names_are_made_anew(tmp_path):
    one, two, cache = put(tmp_path, as_text(), "one"), put(tmp_path, as_text(matrix=-MATRIX), "two"), tmp_path / "cache"
    read_vectors(one, cache)
    (first,) = cache.iterdir()
    read_vectors(two, cache)
    (second,) = set(cache.iterdir()) - {first}
    second.replace(first)
    with pytest.warns(CacheWarning, match="made from another file"):
        np.testing.assert_array_equal(read_vectors(one, cache).matrix, MATRIX)


def test_a_disk_that_damages_what_is_written_gives_no_vectors(tmp_path, monkeypatch):
    path, cache = put(tmp_path, as_text()), tmp_path / "cache"
    keep = vectors._write_cache

    def spoiled(request, place, origin):
        keep(request, place, origin)
        flip_signs(place, [0])

    monkeypatch.setattr(vectors, "_write_cache", spoiled)
    found = read_vectors(path, cache)
    with pytest.warns(CacheWarning), pytest.raises(DataError, match="damaged again, just after it was rebuilt"):
        found.matrix[np.array([0])]


def test_a_source_that_is_another_one_by_now_mends_nothing(tmp_path):
    path, cache = put(tmp_path, as_text()), tmp_path / "cache"
    found = read_vectors(path, cache)
    (kept,) = cache.iterdir()
    flip_signs(kept, [0])
    put(tmp_path, as_text(matrix=MATRIX + 1))
    with pytest.warns(CacheWarning), pytest.raises(DataError, match="changed while it was in use"):
        found.matrix[np.array([0])]


def test_a_cache_that_cannot_be_written_does_not_hinder(tmp_path):
    path = put(tmp_path, as_text())
    found = read_vectors(path, put(tmp_path, b"a file, no folder", "cache"))
    np.testing.assert_array_equal(found.matrix, MATRIX)


def test_a_full_disk_does_not_hinder_and_leaves_nothing(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    found = read_vectors(put(tmp_path, as_text()), tmp_path / "cache")
    np.testing.assert_array_equal(found.matrix, MATRIX)
    assert list((tmp_path / "cache").iterdir()) == []


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    path, cache = put(tmp_path, as_text()), tmp_path / "cache"
    read_vectors(path, cache)
    (kept,) = cache.iterdir()
    kept.unlink()
    (cache / f".{kept.stem}.x1y2.part").write_bytes(b"half")
    read_vectors(path, cache)
    assert list(cache.iterdir()) == [kept]


def test_many_may_read_the_same_file_at_once(tmp_path):
    path, cache = put(tmp_path, as_text()), tmp_path / "cache"
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: read_vectors(path, cache), range(40)))
    assert len({each.digest for each in found}) == 1
    for each in found:
        np.testing.assert_array_equal(each.matrix, MATRIX)
    assert [p.suffix for p in cache.iterdir()] == [".npy"]


def test_rows_taken_are_in_memory_and_know_their_places(tmp_path):
    found = read_vectors(put(tmp_path, as_text()), tmp_path / "cache")
    some = found.take(np.array([4, 1, 7])).take(np.array([2, 0]))
    assert list(some.words) == [WORDS[7], WORDS[4]]
    assert some.ranks is not None
    assert some.ranks.tolist() == [7, 4]
    assert not is_mapped(some.matrix)
    assert (some.digest, some.size) == (found.digest, 10)
    np.testing.assert_array_equal(some.matrix, MATRIX[[7, 4]])


# ------------------------------------------------------------------------------------------------- fastText's .bin


def test_hashes_are_those_of_the_reference():
    # FNV-1a, 32 bits, from the test vectors of Landon Curt Noll's reference code: "a", "foobar"
    buckets = (1 << 32) - 1
    assert ngrams([b"a"], 1, 1, buckets)[1].tolist() == [0xE40C292C]
    assert ngrams([b"foobar"], 6, 6, buckets)[1].tolist()[1] == 0xBF9CF968


@given(st.lists(st.text(max_size=12), max_size=5), st.integers(1, 4), st.integers(0, 4), st.integers(1, 3000))
def test_ngrams_are_those_of_a_plain_loop(words, min_ngram, more, buckets):
    encoded = [word.encode(errors="replace") for word in words]
    expected = []
    for number, word in enumerate(encoded):
        text = f"<{word.decode()}>" if word != b"</s>" else ""
        for n in range(min_ngram, min_ngram + more + 1):
            for at in range(len(text) - n + 1):
                if n == 1 and at in (0, len(text) - 1):
                    continue
                value = 2166136261
                for byte in text[at : at + n].encode():
                    value = ((value ^ (byte | 0xFFFFFF00 if byte > 127 else byte)) * 16777619) & 0xFFFFFFFF
                expected.append((number, value % buckets))
    owners, hashed = ngrams(encoded, min_ngram, min_ngram + more, buckets)
    assert sorted(zip(owners.tolist(), hashed.tolist(), strict=True)) == sorted(expected)
    assert owners.tolist() == sorted(owners.tolist())


LINES = ["der kleine Hund läuft über die Straße", "die Katze schläft", "ein Hund und eine Katze", "не знаю 猫 猫猫"] * 5
STRANGE = ["Hündchen", "xyz", "猫猫猫", "я", "a", "</s>", "", "<>", "Straßenbahnhaltestelle", "🙂", "e\u0301te\u0301"]


@pytest.fixture(scope="session", params=[(3, 6, 500), (1, 4, 77), (5, 5, 2000)], ids=str)
def trained(request, tmp_path_factory):
    """A small fastText model of gensim's, and the .bin file of it."""
    fasttext = pytest.importorskip("gensim.models.fasttext")
    min_ngram, max_ngram, buckets = request.param
    model = fasttext.FastText(
        [line.split() for line in LINES], vector_size=7, min_count=1, epochs=2, seed=1, workers=1, window=2,
        min_n=min_ngram, max_n=max_ngram, bucket=buckets,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("fasttext") / "model.bin"
    fasttext.save_facebook_model(model, str(path))
    return model, path


def test_fasttext_words_and_strange_words_are_as_in_gensim(trained, tmp_path):
    model, path = trained
    for cache in (None, tmp_path, tmp_path):
        found = read_vectors(path, cache)
        assert list(found.words) == model.wv.index_to_key
        np.testing.assert_allclose(found.matrix, model.wv.vectors, atol=1e-6)
        assert found.subword is not None
        ours = found.subword(STRANGE)
        for word, vector in zip(STRANGE, ours, strict=True):
            if word in ("</s>", ""):
                continue  # gensim treats </s> as a word with letters, which fastText does not
            hashes = model.wv.get_vector(word) if has_ngrams(model, word) else np.zeros(7)
            np.testing.assert_allclose(vector, hashes, atol=1e-6)
        assert not ours[STRANGE.index("</s>")].any()
        assert found.digest == read_vectors(path).digest
    assert is_mapped(found.matrix)


def has_ngrams(model, word):
    return len(word) + 2 >= model.wv.min_n


def test_a_subword_vector_does_not_depend_on_its_neighbours(trained):
    subword = read_vectors(trained[1]).subword
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdäß猫"), rng.integers(1, 400))) for _ in range(300)]
    words.insert(150, "ab" * 40_000)
    together = subword(words)
    for i in (0, 149, 150, 151, 300):
        np.testing.assert_array_equal(subword([words[i]])[0], together[i])


def test_a_limit_of_a_fasttext_file_makes_strangers_of_the_other_words(trained, tmp_path):
    model, path = trained
    found = read_vectors(path, tmp_path, limit=2)
    assert list(found.words) == model.wv.index_to_key[:2]
    np.testing.assert_allclose(found.matrix, model.wv.vectors[:2], atol=1e-6)


def as_fasttext(words=("a", "b", "</s>"), labels=(), dim=2, buckets=4, min_ngram=2, max_ngram=3, **odd):
    """A .bin as fastText writes it, by its source: args, dictionary, input matrix, output matrix."""
    counts = (len(words) + len(labels), len(words), len(labels), 99, odd.get("pruned", -1))
    entries = [(w, 0) for w in words] + [(w, 1) for w in labels]
    rows = np.arange((len(words) + buckets) * dim, dtype="<f4").reshape(-1, dim)
    return b"".join([
        struct.pack("<2i", 793712314, odd.get("version", 12)),
        struct.pack("<12id", dim, 5, 5, 1, 5, 1, 1, odd.get("model", 2), buckets, min_ngram, max_ngram, 100, 1e-4),
        struct.pack("<3i2q", *counts),
        *(word.encode() + b"\0" + struct.pack("<qb", 3, kind) for word, kind in entries),
        struct.pack("<?2q", odd.get("quantised", False), *odd.get("shape", rows.shape)),
        rows.tobytes(),
        struct.pack("<?2q", False, len(words), dim) + bytes(4 * dim * len(words)),
    ])  # fmt: skip


def test_the_end_of_a_line_has_no_ngrams_in_a_fasttext_file(tmp_path):
    found = read_vectors(put(tmp_path, as_fasttext()))
    assert list(found.words) == ["a", "b", "</s>"]
    np.testing.assert_array_equal(found.matrix[2], [4, 5])  # its own row alone
    own, buckets = np.array([[0, 1], [2, 3]]), np.arange(6, 14).reshape(4, 2)
    for i, word in enumerate([b"a", b"b"]):
        hashed = ngrams([word], 2, 3, 4)[1]
        assert len(hashed) == 3  # <a a> <a>
        np.testing.assert_allclose(found.matrix[i], np.vstack([own[i], buckets[hashed]]).mean(0), rtol=1e-6)


@pytest.mark.parametrize("kept", [True, False])
def test_ngrams_that_change_in_their_file_are_not_used(tmp_path, kept, monkeypatch):
    path, cache = put(tmp_path, as_fasttext()), tmp_path / "cache" if kept else None
    about = path.stat()
    found = read_vectors(path, cache)
    before = found.subword(["ab"])
    if kept:
        found = read_vectors(path, cache)
    content = bytearray(path.read_bytes())
    after = content.index(np.arange(6, 14, dtype="<f4").tobytes())
    for at in range(after + 3, after + 32, 4):
        content[at] ^= 0x80
    with path.open("r+b") as file:  # in place, where it is mapped
        file.write(content)
    with pytest.raises(DataError, match=r"has changed since it was first read: \d vectors of n-grams are different"):
        found.subword(["ab"])
    if kept:
        assert list(cache.iterdir()) == []
        monkeypatch.setattr(os, "fstat", lambda handle: about)
    again = read_vectors(path, cache)
    assert again.digest != found.digest
    np.testing.assert_array_equal(again.subword(["ab"]), -before)


def test_labels_of_a_fasttext_classifier_are_no_words(tmp_path):
    found = read_vectors(put(tmp_path, as_fasttext(labels=("__label__x",), model=3)))
    assert list(found.words) == ["a", "b", "</s>"]
    assert found.subword is not None
    old = read_vectors(put(tmp_path, as_fasttext(labels=("__label__x",), model=3, version=11)))
    assert old.subword is None
    np.testing.assert_array_equal(old.matrix, [[0, 1], [2, 3], [4, 5]])


def test_a_fasttext_file_without_ngrams_has_no_subwords(tmp_path):
    for content in (as_fasttext(max_ngram=0), as_fasttext(buckets=0)):
        found = read_vectors(put(tmp_path, content))
        assert found.subword is None
        np.testing.assert_array_equal(found.matrix, [[0, 1], [2, 3], [4, 5]])


@pytest.mark.parametrize(
    ("content", "met"),
    [
        (as_fasttext(quantised=True), "quantised"),
        (as_fasttext(pruned=3), "quantised"),
        (as_fasttext()[:50], "ends inside the words"),
        (as_fasttext()[:95], "ends inside the words"),
        (as_fasttext()[:170], "ends inside the vectors"),
        (as_fasttext(shape=(3, 2)), "expected 3 words and 7 rows of 2"),
        (as_fasttext(shape=(7, 3)), "rows of 3"),
        (as_fasttext(words=()), "no word vectors"),
        (as_fasttext()[:140] + b"\xff\xff\xff\x7f" * 30, "fastText|not finite"),
    ],
)
def test_a_fasttext_file_that_cannot_be_read_is_refused(tmp_path, content, met):
    with pytest.raises(DataError, match=met):
        read_vectors(put(tmp_path, content))
    with pytest.raises(DataError, match=met):
        read_vectors(put(tmp_path, content), tmp_path / "cache")


def test_a_compressed_fasttext_file_is_to_be_decompressed(tmp_path):
    with pytest.raises(DataError, match="decompress it"):
        read_vectors(put(tmp_path, gzip.compress(as_fasttext()), "v.bin.gz"))


# --------------------------------------------------------------------------------------------------------- pooling


@given(st.data())
def test_pooling_is_that_of_plain_loops_and_no_result_depends_on_another(data):
    matrix = np.random.default_rng(3).normal(size=(9, 4)).astype(np.float32)
    rows = data.draw(st.lists(st.lists(st.integers(0, 8), max_size=6), min_size=1, max_size=8))
    columns = np.array([c for row in rows for c in row], np.int64)
    lengths = np.array([len(row) for row in rows])
    k = np.arange(1, 5) / 4
    for pool, plain in (
        (sum_rows, lambda x: x.sum(0)),
        (max_rows, lambda x: x.max(0)),
        (positional_rows, lambda x: sum(((1 - j / len(x)) - k * (1 - 2 * j / len(x))) * v for j, v in enumerate(x, 1))),
    ):
        made = pool(matrix, columns, lengths)
        for row, result in zip(rows, made, strict=True):
            expected = plain(matrix[row].astype(float)) if row else np.zeros(4)
            np.testing.assert_allclose(result, expected, atol=1e-12)
            np.testing.assert_array_equal(pool(matrix, np.array(row, np.int64), np.array([len(row)]))[0], result)


def test_the_maximum_of_many_and_of_very_long_results():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(50, 3))
    lengths = np.array([0, 3, 70_000, 0, 1, *rng.integers(0, 90, 2000)])
    columns = rng.integers(0, 50, lengths.sum())
    made = max_rows(matrix, columns, lengths)
    for i, part in enumerate(np.split(columns, np.cumsum(lengths)[:-1])):
        np.testing.assert_array_equal(made[i], matrix[part].max(0) if len(part) else np.zeros(3))


# ------------------------------------------------------------------------------------------------------------ noise

FUZZ = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
SEEDS = {**FORMATS, "fastText": as_fasttext()}
ODD = [b"\x00", b"\xff", b"\n", b" ", b"  ", b"\r", b"\t", b"-", b"nan", b"1e99", b"9" * 30, b"\xc2\xa0", b"2 3\n"]


def survives(path, cache=None):
    """Read a file, or have it refused."""
    try:
        found = read_vectors(path, cache)
    except SentProbeError:
        return
    assert found.matrix.shape == (len(found.words), found.dim)
    assert len(set(found.words)) == len(found.words)
    assert np.isfinite(found.matrix).all()
    if found.subword is not None:
        assert np.isfinite(found.subword(["Wort", ""])).all()


@pytest.mark.parametrize("form", SEEDS)
@FUZZ
@given(data=st.data())
def test_mutilated_files_are_read_or_refused(tmp_path, form, data):
    content = SEEDS[form]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        match data.draw(st.sampled_from(["cut", "insert", "replace", "flip"])):
            case "cut":
                content = content[:at]
            case "insert":
                content = content[:at] + data.draw(st.sampled_from(ODD)) + content[at:]
            case "replace":
                odd = data.draw(st.sampled_from(ODD))
                content = content[:at] + odd + content[at + len(odd) :]
            case "flip":
                content = content[:at] + data.draw(st.binary(min_size=1, max_size=4)) + content[at + 4 :]
    survives(put(tmp_path, content), data.draw(st.sampled_from([None, tmp_path / "cache"])))


@FUZZ
@given(
    start=st.sampled_from([b"", b"3 2\n", b"1 1\n", b"99999999999 999999\n", b"\xba\x16O/\x0c\0\0\0", b"a 1 2\n"]),
    content=st.binary(max_size=300),
    suffix=st.sampled_from(list(PACKERS)),
)
def test_noise_is_read_or_refused(tmp_path, start, content, suffix):
    survives(put(tmp_path, start + content, f"v{suffix}"))


@FUZZ
@given(
    words=st.lists(
        st.text(st.characters(exclude_characters=" \n\r", exclude_categories=["Cs"]), min_size=1), min_size=1
    ),
    dim=st.integers(1, 5),
)
@example(words=["0"] * 22, dim=1)  # the first number has letters for bytes
def test_any_words_come_back_from_text_with_a_header_and_from_binary(tmp_path, words, dim):
    matrix = np.random.default_rng(len(words)).normal(size=(len(words), dim)).astype(np.float32)
    unique = list(dict.fromkeys(words))
    for content in (as_text(words, matrix), as_binary(words, matrix)):
        found = read_vectors(put(tmp_path, content))
        assert list(found.words) == unique
        np.testing.assert_array_equal(found.matrix, matrix[[words.index(w) for w in unique]])
