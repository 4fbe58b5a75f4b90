"""Sets that others wrote, whole and broken."""

import bz2
import csv
import gzip
import io
import json
import lzma
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentprobe.data.dataset import Dataset
from sentprobe.data.rows import Columns
from sentprobe.data.tables import common_name, read_senteval, read_table, read_xprobe, split_of
from sentprobe.errors import CorpusError, DataError, SentProbeError, UsageError

GOOD = "tr\tPAST\tHe left .\nva\tPRES\tShe stays .\n\nte\tPAST\tWe ran .\r\n"
COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
if find_spec("zstandard"):
    COMPRESS[".zst"] = import_module("zstandard").compress
ROWS = [("train", "1", "He left ."), ("dev", "0", "She stays ."), ("test", "1", "We ran .")]


def as_tsv(rows, names=("split", "label", "text")):
    return "".join("\t".join(cells) + "\n" for cells in (names, *rows)).encode()


def as_csv(rows, names=("split", "label", "text")):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([names, *rows])
    return out.getvalue().encode()


def as_jsonl(rows, names=("split", "label", "text")):
    return "".join(json.dumps(dict(zip(names, cells, strict=True))) + "\n" for cells in rows).encode()


def as_parquet(rows, names=("split", "label", "text")):
    out = io.BytesIO()
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    pq.write_table(pa.table({n: list(c) for n, c in zip(names, columns, strict=True)}), out, row_group_size=2)
    return out.getvalue()


WRITE = {
    ".tsv": as_tsv, ".txt": as_tsv, ".csv": as_csv, ".jsonl": as_jsonl, ".ndjson": as_jsonl, ".json": as_jsonl,
    ".parquet": as_parquet,
}  # fmt: skip


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def flat(found):
    return [(split, row.label, row.text) for split, row in found]


# SentEval's files and X-Probe's folders


def test_a_senteval_file(tmp_path):
    path = written(tmp_path / "past_present.txt", GOOD)
    found = read_senteval(path)
    assert (found.name, found.labels, len(found)) == ("past_present", ("PAST", "PRES"), 3)
    assert found.rows["te"][0].tokens == ("We", "ran", ".")


def test_further_columns_stand_between_label_and_sentence(tmp_path):
    path = written(tmp_path / "order.txt.gz", gzip.compress(b"tr\t1\ta\tb\tx a b\n"))
    assert read_senteval(path).rows["tr"][0].extra == (("column3", "a"), ("column4", "b"))


def test_what_we_write_is_what_we_read(conneau, tmp_path):
    made = conneau["past_present"]
    made.save(tmp_path / "set")
    again = read_senteval(tmp_path / "set/past_present.txt")
    for split, rows in made.rows.items():
        assert [(r.label, r.tokens) for r in again.rows[split]] == [(r.label, r.tokens) for r in rows]


def test_an_xprobe_folder_with_a_part_missing(tmp_path):
    written(tmp_path / "va.txt", "He left .\tPAST\n")
    written(tmp_path / "te.txt.gz", gzip.compress(b"She stays .\tPRES\n"))
    found = read_xprobe(tmp_path)
    assert {split: len(rows) for split, rows in found.rows.items()} == {"tr": 0, "va": 1, "te": 1}


def test_an_xprobe_folder_is_named_even_when_it_is_the_current_one(tmp_path, monkeypatch):
    (tmp_path / "tree_depth").mkdir()
    written(tmp_path / "tree_depth/te.txt", "He left .\t3\n")
    monkeypatch.chdir(tmp_path / "tree_depth")
    assert read_xprobe(".").task == "tree_depth"


@pytest.mark.parametrize("text", ["", " ", "\u3000"])
def test_an_empty_sentence_is_a_row_without_tokens(tmp_path, text):
    written(tmp_path / "te.txt", f"{text}\tA\n")
    path = written(tmp_path / "set.tsv", f"te\tA\t{text}\n")
    table = Columns(("3",), "2", "1", header=False)
    for found in (read_senteval(path), read_xprobe(tmp_path), read_table(path, table)):
        assert [(row.tokens, row.text) for row in found.rows["te"]] == [((), text)]


def test_texts_stay_as_they_are(tmp_path):
    text = "  two  spaces\u00a0and\x0ban end  "
    path = written(tmp_path / "set.txt", f"te\tA\t{text}\r\n")
    assert read_senteval(path).rows["te"][0].text == text


def test_a_word_is_one_object(tmp_path):
    path = written(tmp_path / "set.txt", "tr\tLABEL\tone word\nte\tLABEL\tword two\n")
    found = read_senteval(path)
    first, second = found.rows["tr"][0], found.rows["te"][0]
    assert first.tokens[1] is second.tokens[0]
    assert first.label is second.label


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tr\tA\n", r":1: got 2 columns; expected partition"),
        ("tr\tA\tx\ntrain\tA\tx\n", r":2: got the partition 'train'; expected tr, va or te"),
        ("tr\t\tx\n", r":1: got an empty label"),
        ("tr\tA\tx\0y\n", r":1: got a NUL byte"),
        ("", "has no rows"),
    ],
)
def test_broken_files_are_named_with_their_line(tmp_path, text, message):
    path = written(tmp_path / "bad.txt", text)
    with pytest.raises((CorpusError, DataError), match=message):
        read_senteval(path)


# tables


@pytest.mark.parametrize("suffix", WRITE)
@pytest.mark.parametrize("packed", COMPRESS)
def test_every_format_compressed_in_every_way(tmp_path, suffix, packed):
    path = written(tmp_path / f"set{suffix}{packed}", COMPRESS[packed](WRITE[suffix](ROWS)))
    found = read_table(path, Columns(split="split"))
    assert (found.name, found.task, found.labels, found.manifest) == ("set", "set", ("0", "1"), {})
    assert flat(found) == [("tr", "1", "He left ."), ("va", "0", "She stays ."), ("te", "1", "We ran .")]


WORD = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1).filter(lambda t: t == t.strip())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(["train", "dev", "test"]), WORD, WORD), min_size=1), st.sampled_from([*WRITE])
)
def test_whatever_is_written_is_read(tmp_path, rows, suffix):
    path = written(tmp_path / f"set{suffix}", WRITE[suffix](rows))
    found = read_table(path, Columns(split="split"))
    short = {"train": "tr", "dev": "va", "test": "te"}
    assert flat(found) == [(short[name], label, text) for split in short for name, label, text in rows if name == split]


def test_csv_cells_may_hold_commas_quotes_and_line_ends(tmp_path):
    path = written(tmp_path / "set.csv", 'label,text\r\n1,"He said, ""go""\nand left ."\r\n\r\n0,She stays .\r\n')
    first, second = read_table(path, Columns()).rows["te"]
    assert (first.text, first.source) == ('He said, "go"\nand left .', "2")
    assert (second.text, second.source) == ("She stays .", "5")


def test_quotes_are_letters_in_tsv(tmp_path):
    path = written(tmp_path / "set.tsv", 'label\ttext\n1\t"He left .\n')
    assert read_table(path, Columns()).rows["te"][0].text == '"He left .'


@pytest.mark.parametrize("value", ["1", "1.0", "1e3", "-2", "true", "123456789012345678901234567890"])
def test_labels_are_as_they_are_written_in_json(tmp_path, value):
    path = written(tmp_path / "set.jsonl", f'{{"text": "He left .", "label": {value}, "more": [{{}}]}}\n')
    assert read_table(path, Columns()).labels == (value,)


@pytest.mark.parametrize(
    ("values", "labels"),
    [([1, 2], ("1", "2")), ([True, False], ("false", "true")), ([1.0, 0.5], ("0.5", "1.0")), (["b", "a"], ("a", "b"))],
)
def test_parquet_labels_of_every_plain_type(tmp_path, values, labels):
    pq.write_table(pa.table({"label": values, "text": ["a b", None]}), tmp_path / "set.parquet")
    found = read_table(tmp_path / "set.parquet", Columns())
    assert found.labels == labels
    assert [row.tokens for row in found.rows["te"]] == [("a", "b"), ()]


def test_parquet_labels_that_are_a_dictionary(tmp_path):
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), pa.array(["x", "y"]))
    pq.write_table(pa.table({"label": labels, "text": ["a", "b", "c"]}), tmp_path / "set.parquet")
    assert [row.label for row in read_table(tmp_path / "set.parquet", Columns()).rows["te"]] == ["x", "y", "x"]


def test_a_pair_has_its_second_sentence_as_an_input(tmp_path):
    path = written(tmp_path / "pairs.tsv", "id\tleft\tright\tsame\n7\tHe left .\tHe went .\tyes\n")
    found = read_table(path, Columns(("left", "right"), "same"))
    row = found.rows["te"][0]
    assert (row.text, row.tokens) == ("He left .", ("He", "left", "."))
    assert row.extra == (("right", "He went ."),)
    assert found.manifest == {"inputs": ["right"]}
    numbered = read_table(path, Columns(("2", "3"), "4"))
    assert (numbered.rows["te"][0].extra, numbered.manifest["inputs"]) == ((("column3", "He went ."),), ["column3"])


def test_the_target_is_the_key(tmp_path):
    path = written(tmp_path / "set.tsv", "text\tlabel\tword\nHe left .\tPAST\tleft\nWell .\tPAST\t\n")
    assert [row.key for row in read_table(path, Columns(target="word")).rows["te"]] == ["left", None]


def test_columns_by_number_without_a_header(tmp_path):
    path = written(tmp_path / "set.tsv", "He left .\tPAST\nShe stays .\tPRES\n")
    found = read_table(path, Columns(("1",), "2", header=False))
    assert [(row.text, row.label) for row in found.rows["te"]] == [("He left .", "PAST"), ("She stays .", "PRES")]


def test_a_number_that_is_a_name_is_the_name(tmp_path):
    path = written(tmp_path / "set.tsv", "2\t1\nHe left .\tPAST\n")
    assert read_table(path, Columns(("2",), "1")).rows["te"][0].text == "He left ."


def test_names_of_files_tell_the_splits(tmp_path):
    for name, text in (("train", "a"), ("dev", "b"), ("test", "c")):
        written(tmp_path / f"sentiment-{name}.tsv", f"text\tlabel\n{text}\t1\n")
    found = read_table(sorted(tmp_path.iterdir()), Columns())
    assert (found.name, flat(found)) == ("sentiment", [("tr", "1", "a"), ("va", "1", "b"), ("te", "1", "c")])


@pytest.mark.parametrize(
    ("name", "split", "rest"),
    [
        ("sentiment-train", "tr", "sentiment"),
        ("SICK_trial", "va", "SICK"),
        ("TREC-test.tsv", "te", "TREC"),
        ("train.jsonl", "tr", ""),
        ("data.dev.csv.gz", "va", "data"),
        ("train-00000-of-00005.parquet", "tr", ""),
        ("xnli.validation.fr.tsv", "va", "xnli.fr"),
        ("te.txt", "te", ""),
        ("dev-tr.tsv", "va", "tr"),  # Turkish
        ("contest.csv", None, "contest"),
        ("train_dev.tsv", None, ""),
        ("xnli-te.tsv", None, "xnli-te"),  # Telugu
    ],
)
def test_what_a_name_tells(name, split, rest):
    assert (split_of(name), common_name(name)) == (split, rest)


@pytest.mark.parametrize(
    ("value", "split"),
    [("tr", "tr"), ("Training", "tr"), ("VAL", "va"), ("trial", "va"), ("validation", "va"), (" test", "te")],
)
def test_the_split_column_may_use_any_of_the_usual_words(tmp_path, value, split):
    path = written(tmp_path / "train.tsv", f"text\tlabel\tpart\nx\t1\t{value}\n")
    assert [found for found, _ in read_table(path, Columns(split="part"))] == [split]


def test_one_silent_file_is_a_lonely_split_and_two_are_an_error(tmp_path):
    one = written(tmp_path / "reviews.tsv", "text\tlabel\nx\t1\n")
    two = written(tmp_path / "train.tsv", "text\tlabel\ny\t1\n")
    assert len(read_table([one], Columns()).rows["te"]) == 1
    with pytest.raises(DataError, match=r"reviews\.tsv does not say which split it is: .* --split"):
        read_table([two, one], Columns())


@pytest.mark.parametrize(
    ("name", "text", "columns", "message"),
    [
        ("a.tsv", "text\tlabel\nx\n", Columns(), r"a\.tsv:2: got 1 column; expected 2"),
        ("a.csv", "text,label\nx,1,2\n", Columns(), r"a\.csv:2: got 3 columns; expected 2"),
        ("a.tsv", "text\tlabel\nx\t \n", Columns(), r"a\.tsv:2: got an empty label"),
        ("a.tsv", "text\tlabel\nx\t1\0\n", Columns(), r"a\.tsv:2: got a NUL byte"),
        ("a.csv", 'text,label\n"x,1\n', Columns(), r"a\.csv:2: got malformed CSV \(unexpected end of data\)"),
        ("a.tsv", "text\tlabel\n", Columns(), "has no rows"),
        ("a.tsv", "", Columns(), "has no rows"),
        (
            "a.tsv",
            "txt\tlabel\n",
            Columns(),
            r"no column 'text' \(--text\); it has 'txt', 'label'\. Did you mean 'txt'",
        ),
        ("a.tsv", "text\tgold\n", Columns(), r"no column 'label' \(--label\); .* --no-header"),
        ("a.csv", "text\tlabel\n", Columns(), r"tab-separated: rename it to \.tsv"),
        ("a.tsv", "text\ttext\tlabel\n", Columns(), "2 columns called 'text'; give --text the number"),
        ("a.tsv", "x\t1\n", Columns(("1",), "3", header=False), r"no column --label 3: .* a number from 1 to 2"),
        ("a.tsv", "x\t1\n", Columns(("1",), "9" * 5000, header=False), "a number from 1 to 2"),
        ("a.tsv", "text\tlabel\ts\nx\t1\tall\n", Columns(split="s"), r"a\.tsv:2: got 'all' in the column s"),
        ("a.jsonl", '{"text": "x"}\n', Columns(), r"a\.jsonl:1 has no column 'label' \(--label\); it has 'text'"),
        ("a.jsonl", '\n{"text": "x"\n', Columns(), r"a\.jsonl:2: got .*; expected one JSON object per line"),
        ("a.jsonl", '{"text": ["x"], "label": 1}\n', Columns(), r"a\.jsonl:1: got .*a list"),
        ("a.jsonl", '{"text": "x", "label": null}\n', Columns(), r"a\.jsonl:1: got an empty label"),
        ("a.jsonl", '{"text": ' + "[" * 100_000 + "\n", Columns(), r"a\.jsonl:1: got .*recursion"),
        ("a.parquet", "PAR1", Columns(), r"a\.parquet:1: got what cannot be read as Parquet"),
        ("a.tsv", "text\tlabel\nx\t1\n", Columns(()), "--text"),
    ],
)
def test_broken_tables_are_named_with_their_line(tmp_path, name, text, columns, message):
    path = written(tmp_path / name, text)
    with pytest.raises((CorpusError, DataError, UsageError), match=message):
        read_table(path, columns)


def test_parquet_columns_that_are_no_text_are_refused(tmp_path):
    pq.write_table(pa.table({"label": ["1"], "text": [["a", "b"]]}), tmp_path / "set.parquet")
    with pytest.raises(DataError, match="the column 'text' holds list"):
        read_table(tmp_path / "set.parquet", Columns())
    with pytest.raises(UsageError, match="it has 'label', 'text'"):
        read_table(tmp_path / "set.parquet", Columns(("sentence",)))


def test_no_file_and_a_missing_one(tmp_path):
    with pytest.raises(UsageError, match="at least one file"):
        read_table([], Columns())
    for suffix in ("tsv", "csv", "jsonl", "parquet", "parquet.xz"):
        with pytest.raises(DataError, match="there is no file"):
            read_table(tmp_path / f"none.{suffix}", Columns())


DAMAGE = st.binary(max_size=300) | st.lists(st.tuples(st.integers(0, 600), st.binary(max_size=3)), max_size=6)


def damaged(content, damage):
    if isinstance(damage, bytes):
        return damage
    for at, new in damage:
        content = content[:at] + new + content[at + 1 :]
    return content


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DAMAGE)
def test_no_file_raises_anything_but_a_sentprobe_error(tmp_path, damage):
    content = damaged(GOOD.encode(), damage)
    path = written(tmp_path / "fuzzed.txt", content)
    for read, place in ((read_senteval, path), (read_xprobe, tmp_path)):
        written(tmp_path / "te.txt", content)
        with suppress(SentProbeError):
            assert isinstance(read(place), Dataset)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DAMAGE, st.sampled_from([*WRITE]), st.sampled_from([*COMPRESS]))
def test_no_table_raises_anything_but_a_sentprobe_error(tmp_path, damage, suffix, packed):
    path = written(tmp_path / f"set{suffix}{packed}", damaged(COMPRESS[packed](WRITE[suffix](ROWS)), damage))
    with suppress(SentProbeError):
        assert isinstance(read_table(path, Columns(split="split")), Dataset)
