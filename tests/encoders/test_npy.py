import csv
import gzip
import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentprobe.encoders import load
from sentprobe.encoders.schemes.npy import from_line, to_line, write_vectors
from sentprobe.errors import CorpusError, DataError, EncoderError, UsageError

TEXTS = ["The cat sat.", "", "two\nlines", 'a\ttab, a \\ and a "quote"', " spaces ", "Żółw — naïve 猫"]
VECTORS = np.arange(12, dtype=np.float32).reshape(6, 2)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def lines(texts, path="texts.txt"):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        file.writelines(f"{to_line(text)}\n" for text in texts)
    return path


def jsonl(texts, path="texts.jsonl"):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts))
    return path


def table(texts, path="texts.csv"):
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *([i, text] for i, text in enumerate(texts))])
    return path


def parquet(texts, path="texts.parquet"):
    pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), path)
    return path


def saved(vectors=VECTORS, path="vectors.npy"):
    np.save(path, vectors)
    return path


# one text per line


@given(st.text())
@example("\\")
@example("\\n\\\\n")
@example("\ufeffmark")
@example("\ud800 half")
@example("a\u2028b\x85c\x0bd\x1ce\r\nf\0")
def test_a_text_is_one_line_whoever_reads_it_and_comes_back(text):
    line = to_line(text)
    assert line.splitlines() == ([line] if line else [])
    assert line.encode().decode("utf-8-sig") == line
    assert from_line(line) == text


@given(st.lists(st.text(), min_size=1, max_size=8))
def test_a_file_of_lines_gives_the_texts_back(texts):
    path = lines(texts)
    unique = list(dict.fromkeys(texts))
    saved(np.array([[unique.index(text)] for text in texts], dtype=np.float32).reshape(len(texts), 1))
    encoder = load(f"npy:vectors.npy?texts={path}")
    assert encoder(unique).ravel().tolist() == list(range(len(unique)))


def test_plain_sentences_are_their_own_lines():
    for text in ("The cat sat.", "Żółw — naïve 猫", "'\"%&#", " spaces "):
        assert to_line(text) == text


def test_escapes_are_the_familiar_ones():
    assert to_line("a\nb\tc\rd\\e\u2028") == r"a\nb\tc\rd\\e\u2028"


@pytest.mark.parametrize("line", ["C:\\dir", "ends in \\", "\\u12", "\\u00e", "\\N"])
def test_what_is_no_escape_is_refused(line):
    with pytest.raises(DataError, match="is not an escape"):
        from_line(line)


# looking up


@pytest.mark.parametrize(
    "texts",
    [
        lambda: lines(TEXTS),
        lambda: lines(TEXTS, "texts.txt.gz"),
        lambda: lines(TEXTS, "texts"),
        lambda: jsonl(TEXTS),
        lambda: jsonl(TEXTS, "texts.jsonl.gz"),
        lambda: table(TEXTS),
        lambda: parquet(TEXTS),
    ],
    ids=["txt", "txt.gz", "no suffix", "jsonl", "jsonl.gz", "csv", "parquet"],
)
def test_vectors_are_found_by_text_in_any_order(texts):
    encoder = load(f"npy:{saved()}?texts={texts()}")
    picked = [4, 0, 0, 5, 2, 1, 3]
    found = encoder([TEXTS[i] for i in picked])
    assert found.dtype == np.float32
    assert np.array_equal(found, VECTORS[picked])
    assert encoder.layers is None


def test_lines_with_the_ends_of_windows_are_the_same_texts():
    Path("texts.txt").write_bytes("\ufeffone\r\ntwo\r\n".encode())
    assert load(f"npy:{saved(VECTORS[:2])}?texts=texts.txt")(["two"]).tolist() == [[2, 3]]


def test_layers_are_kept_apart():
    stacked = np.stack([VECTORS, VECTORS + 100, VECTORS + 200])
    encoder = load(f"npy:{saved(stacked)}?texts={lines(TEXTS)}")
    assert encoder.layers == ("0", "1", "2")
    assert np.array_equal(encoder([TEXTS[3], TEXTS[1]]), stacked[:, [3, 1]])


@pytest.mark.parametrize("dtype", ["float16", "float64", ">f4", "int8", "uint16"])
def test_any_real_numbers_come_as_they_are_in_the_order_of_this_machine(dtype):
    found = load(f"npy:{saved(VECTORS.astype(dtype))}?texts={lines(TEXTS)}")(TEXTS)
    assert found.dtype == np.dtype(dtype).newbyteorder("=")
    assert found.dtype.isnative
    assert np.array_equal(found, VECTORS)


def test_an_array_on_the_disk_stays_there_and_what_is_given_out_does_not():
    encoder = load(f"npy:{saved(np.asfortranarray(VECTORS))}?texts={lines(TEXTS)}")
    assert isinstance(encoder.vectors, np.memmap)
    found = encoder(TEXTS)
    assert type(found) is np.ndarray
    assert found.flags.writeable
    assert found.flags.c_contiguous


def test_one_file_may_hold_both():
    np.savez("both.npz", vectors=VECTORS, texts=np.array(TEXTS))
    assert np.array_equal(load("npy:both.npz")(TEXTS[::-1]), VECTORS[::-1])
    np.savez_compressed("vectors.npz", vectors=VECTORS)
    assert np.array_equal(load(f"npy:vectors.npz?texts={jsonl(TEXTS)}")(TEXTS[::-1]), VECTORS[::-1])
    with pytest.raises(UsageError, match=r"does not say which texts its vectors are of: add \?texts=FILE"):
        load("npy:vectors.npz")


def test_texts_without_vectors_are_counted_and_the_first_is_shown():
    encoder = load(f"npy:{saved()}?texts={lines(TEXTS)}")
    asked = [TEXTS[0], "long " * 50, TEXTS[1], "absent"]
    with pytest.raises(EncoderError, match=r"has no vector for 2 of 4 texts.*'(long ){12}…'.*`sentprobe sentences`"):
        encoder(asked)
    assert encoder([]).shape == (0, 2)


def test_what_is_not_a_number_is_for_the_caller_to_report():
    encoder = load(f"npy:{saved(np.full((2, 2), np.nan))}?texts={lines(['same', 'same'])}")
    assert np.isnan(encoder(["same"])).all()


# texts that are there twice


def test_a_repeated_text_may_have_nearly_the_same_vector_twice():
    vectors = np.array([[1, 2], [5, 6], [1.001, 2.001]])
    assert load(f"npy:{saved(vectors)}?texts={lines(['a', 'b', 'a'])}")(["a"]).tolist() == [[1, 2]]


@pytest.mark.parametrize("layers", [1, 3])
def test_a_repeated_text_with_another_vector_shows_vectors_out_of_order(layers):
    vectors = np.array([[1, 2], [5, 6], [7, 8]])
    vectors = np.stack([vectors] * layers) if layers > 1 else vectors
    with pytest.raises(EncoderError, match=r"texts 1 and 3 are the same, but their vectors are not"):
        load(f"npy:{saved(vectors)}?texts={lines(['a', 'b', 'a'])}")


# identity


def test_the_identity_is_the_content_of_both_files_and_not_their_place():
    first = load(f"npy:{saved()}?texts={lines(TEXTS)}").identity
    Path("elsewhere").mkdir()
    os.chdir("elsewhere")
    assert load(f"npy:{saved()}?texts={lines(TEXTS, 'other.txt')}").identity == first
    changed = VECTORS.copy()
    changed[3, 1] += 1e-6 * changed[3, 1]
    others = [
        load(f"npy:{saved(changed)}?texts={lines(TEXTS)}").identity,
        load(f"npy:{saved()}?texts={lines(TEXTS[::-1])}").identity,
    ]
    assert len({first, *others}) == 3
    assert first.scheme == "npy"
    assert first.name == "vectors.npy"


def test_the_identity_of_one_file_with_both_is_its_content():
    np.savez("both.npz", vectors=VECTORS, texts=np.array(TEXTS))
    first = load("npy:both.npz").identity
    np.savez("both.npz", vectors=VECTORS, texts=np.array(TEXTS[::-1]))
    assert load("npy:both.npz").identity != first


# what is refused


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (VECTORS[:5], "so it has 5 vectors, but there are 6 texts. Each text needs a vector"),
        (np.zeros((6, 3, 2)), "has 3 vectors, but there are 6 texts. Swap its first two dimensions"),
        (np.zeros(6), r"expected \(n, d\), or \(layers, n, d\), for n texts"),
        (np.zeros((6, 0)), r"expected \(n, d\)"),
        (np.zeros((1, 1, 6, 2)), r"expected \(n, d\)"),
        (np.zeros((6, 2), dtype=complex), "of complex128; expected real numbers"),
        (np.array([["a", "b"]] * 6), "expected real numbers"),
    ],
)
def test_an_array_that_does_not_fit_is_described(vectors, message):
    with pytest.raises(EncoderError, match=message):
        load(f"npy:{saved(vectors)}?texts={lines(TEXTS)}")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("npy:", "names no file"),
        ("npy:absent.npy?texts=texts.txt", r"There is no file absent\.npy"),
        ("npy:vectors.npy", r"add \?texts=FILE"),
        ("npy:vectors.npy?texts=absent.txt", r"there is no file absent\.txt"),
        ("npy:vectors.npy?texts=-", "there is no file -"),
        ("npy:vectors.npy?text=texts.txt", "has the option 'text'; npy: takes texts"),
        ("npy:vectors.npy?texts=other.csv", r"other\.csv has no column 'text'"),
        ("npy:vectors.npy?texts=other.jsonl", r"other\.jsonl has no column 'text'"),
    ],
)
def test_wrong_use_is_named(spec, message):
    saved()
    lines(TEXTS)
    Path("other.csv").write_bytes(b"sentence,label\nHello,1\n")
    Path("other.jsonl").write_bytes(b'{"sentence": "Hello"}\n')
    with pytest.raises(UsageError, match=message):
        load(spec)


def test_python_objects_are_not_loaded():
    np.save("vectors.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    with pytest.raises(EncoderError, match="holds Python objects; expected an array of numbers"):
        load(f"npy:vectors.npy?texts={lines(['a', 'b'])}")
    np.savez("both.npz", vectors=VECTORS, texts=np.array(TEXTS, dtype=object))
    with pytest.raises(EncoderError, match="holds Python objects"):
        load("npy:both.npz")


def test_broken_files_are_named():
    saved()
    lines(TEXTS)
    os.truncate("vectors.npy", 140)
    with pytest.raises(EncoderError, match=r"vectors\.npy cannot be read"):
        load("npy:vectors.npy?texts=texts.txt")
    for content in (b"", b"1.0 2.0\n", b"\x1f\x8b\x08"):
        Path("vectors.npy").write_bytes(content)
        with pytest.raises(EncoderError, match=r"is neither a \.npy nor a \.npz file"):
            load("npy:vectors.npy?texts=texts.txt")
    np.savez("both.npz", vectors=VECTORS, texts=np.array(TEXTS))
    os.truncate("both.npz", 300)
    with pytest.raises(EncoderError, match=r"both\.npz cannot be read"):
        load("npy:both.npz")


def test_arrays_of_other_names_are_named():
    np.savez("both.npz", embeddings=VECTORS, texts=np.array(TEXTS))
    with pytest.raises(EncoderError, match=r"has no array 'vectors'; it has embeddings, texts"):
        load("npy:both.npz")
    np.savez("both.npz", vectors=VECTORS, texts=np.array(TEXTS).reshape(2, 3))
    with pytest.raises(EncoderError, match="expected strings in one dimension"):
        load("npy:both.npz")


def test_a_line_that_is_no_text_is_named_with_its_number():
    Path("texts.txt").write_bytes(b"fine\nC:\\dir\n")
    with pytest.raises(CorpusError, match=r"texts\.txt:2: got '\\\\d', which is not an escape.*use JSON lines"):
        load(f"npy:{saved(VECTORS[:2])}?texts=texts.txt")


def test_a_path_may_hold_an_at_sign():
    saved(path="me@home.npy")
    assert load(f"npy:me@home.npy?texts={lines(TEXTS)}")(TEXTS[:1]).tolist() == [[0, 1]]


# files that are not as they were written


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"'<f4'", b"'<f9'"),  # no such type
        (b"(6, 2)", b"(6, 3)"),  # more than there is
        (b"(6, 2)", b"(6, 1)"),  # less than there is
        (b"(6, 2)", b"(6,-2)"),
        (b"(6, 2)", b"(6, \xff)"),
        (b"(6, 2)", b"{6, 2}"),
        (b"{'descr'", b"('descr'"),
        (b"'shape'", b"'shine'"),
        (b"'fortran_order': False", b"'fortran_order': 'Fal'"),
        (b"NUMPY\x01", b"NUMPY\x07"),
        (b"NUMPY\x01\x00v\x00", b"NUMPY\x01\x00\xff\xff"),
        (b"'<f4'", b"'|O'"),
    ],
)
def test_a_damaged_header_is_an_error_that_names_the_file(old, new):
    lines(TEXTS)
    content = Path(saved()).read_bytes()
    assert old in content
    Path("vectors.npy").write_bytes(content.replace(old, new))
    with pytest.raises(EncoderError, match=r"^vectors\.npy "):
        load("npy:vectors.npy?texts=texts.txt")


def test_what_encode_wrote_is_checked():
    write_vectors(Path("out"), TEXTS, VECTORS)
    spec = "npy:out/vectors.npy?texts=out/texts.txt"
    assert load(spec)(TEXTS).tolist() == VECTORS.tolist()
    for name, at in (("vectors.npy", -1), ("texts.txt", 3)):
        whole = Path("out", name).read_bytes()
        content = bytearray(whole)
        content[at] ^= 0x80 if at < 0 else 0x01  # a sign; another letter
        Path("out", name).write_bytes(content)
        with pytest.raises(
            DataError, match=rf"out/{name} is not the file that `sentprobe encode` wrote: .*encode again"
        ):
            load(spec)
        Path("out", name).write_bytes(whole)
    write_vectors(Path("other"), TEXTS, -VECTORS)
    Path("other/vectors.npy").replace("out/vectors.npy")
    with pytest.raises(DataError, match="damaged or replaced"):
        load(spec)
    Path("out/sentprobe-checksums.txt").unlink()
    assert load(spec)(TEXTS).tolist() == (-VECTORS).tolist()


def test_an_array_that_changes_while_it_is_in_use_is_refused():
    lines(TEXTS)
    saved()
    encoder = load("npy:vectors.npy?texts=texts.txt")
    encoder(TEXTS)
    with Path("vectors.npy").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    os.utime("vectors.npy", ns=(1, 1))
    with pytest.raises(EncoderError, match="changed while it was in use"):
        encoder(TEXTS)
