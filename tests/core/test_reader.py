"""Whoever reads rows reads hostile files in the same way: file and line are named, nothing else is raised."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentprobe.annotate.source import TEXT_SOURCES, ReadOptions
from sentprobe.core.reader import read_aligned, read_lines, read_rows
from sentprobe.data.layouts import read_layout, scan
from sentprobe.data.rows import Columns
from sentprobe.data.tables import read_senteval, read_table, read_xprobe
from sentprobe.encoders.wordvectors.pooling import read_frequencies
from sentprobe.errors import CorpusError, DataError, SentProbeError
from sentprobe.judge.judgments import read_judgments
from sentprobe.judge.sheet import Item, Sheet
from sentprobe.lab.alignment.dictionary import read_dictionary
from sentprobe.lab.training.rows import read_rows as read_training_rows
from sentprobe.lab.words.dictionaries import read_parts_of_speech
from sentprobe.lab.words.evaluation import EvaluationRequest
from sentprobe.lab.words.evaluations.similarity import read as read_similarity
from sentprobe.lab.words.sentences import read_aligned_lines
from sentprobe.lab.xnli.pairs import read_pairs
from sentprobe.make.request import read_excluded
from sentprobe.transfer.remote_sets import RESHAPE_STEPS


@dataclass(frozen=True)
class User:
    """Someone who reads a file: its name, lines that are sound, and the function that reads it."""

    name: str
    file: str
    lines: tuple[str, ...]
    read: Callable[[Path], Any]
    columns: bool = True
    """Whether a line with one column is malformed."""
    may_be_empty: bool = False


def annotated(source: str) -> Callable[[Path], list[str]]:
    def read(path: Path) -> list[str]:
        pieces = TEXT_SOURCES[source].read(str(path), path.name, ReadOptions("paragraphs"), None)
        return [piece.text for piece in pieces]

    return read


def trained(*fields: str) -> Callable[[Path], list[Any]]:
    return lambda path: [row.values for row in read_training_rows(str(path), fields)]


def judged(path: Path) -> list[Any]:
    items = tuple(Item(f"i{i}", i, "a text", "yes", False, {}) for i in range(4))
    return read_judgments([path], [Sheet("own/set", "0" * 16, "set", "Is it?", {"yes": "yes", "no": "no"}, items)])


def transfer(name: str) -> Callable[[Path], Any]:
    """The test rows of a transfer set, of which one file is this one; others are sound."""

    def read(path: Path) -> list[Any]:
        path.with_name("rt-polarity.neg").write_text("", "utf-8")
        return [row for _, _, row in scan(name, path.parent, split="te")]

    return read


def excluded(path: Path) -> list[Any]:
    return sorted(read_excluded(path).letter_keys)


def aligned(path: Path) -> Any:
    """The file and a sound one, line by line."""
    other = path.with_name("other.txt")
    other.write_text("x\n" * len(path.read_bytes().split(b"\n")[:-1]), "utf-8")
    return read_aligned_lines([str(path), str(other)])


def reshaped(path: Path) -> str:
    for part in ("train", "dev", "test"):
        path.with_name(f"snli_1.0_{part}.txt").write_bytes(path.read_bytes())
    RESHAPE_STEPS["snli"](path.parent)
    return path.with_name("s1.dev").read_text("utf-8")


def similarity(path: Path) -> Any:
    return read_similarity(EvaluationRequest(evaluation="similarity", files=(str(path),)))


SENTEVAL = tuple(
    f"{split}\t{label}\tShe {verb} ." for split in ("tr", "te") for label, verb in (("A", "ran"), ("B", "runs"))
)
PAIRS = ("A man runs .\tA person runs .\tentailment", "A man runs .\tNobody .\tcontradiction")
NLI_HEADER = "gold_label\tsentence1\tsentence2"
JSON = tuple(json.dumps({"text": f"Text {i} .", "label": "AB"[i % 2]}) for i in range(4))
HEADED = ("text\tlabel", "x\tA", "y\tB")
ANSWERS = ("item\tlabel\tannotator", "i1\tyes\tanna", "i2\tno\tanna")
NLI = ("text1", "text2", "label")
USERS = [
    User("lines", "a.txt", ("one", "two"), lambda p: list(read_lines(str(p))), columns=False, may_be_empty=True),
    User("aligned lines", "a.txt", ("one", "two"), lambda p: list(read_aligned([str(p)])), False, True),
    User("rows of a table", "a.tsv", HEADED, lambda p: [*read_rows(str(p), [("--text", "text")])], may_be_empty=True),
    User("SentEval's probing files", "a.txt", SENTEVAL, read_senteval),
    User("X-Probe's folders", "te.txt", ("She ran .\tA", "She runs .\tB"), lambda p: read_xprobe(p.parent)),
    User("tables of tabs", "a.tsv", HEADED, lambda p: read_table(p, Columns())),
    User("tables of commas", "a.csv", ("text,label", "x,A", "y,B"), lambda p: read_table(p, Columns())),
    User("JSON lines", "a.jsonl", JSON, lambda p: read_table(p, Columns())),
    User("a layout of sentences", "rt-polarity.pos", ("good .", "fine ."), transfer("MR"), False, True),
    User("a layout of labels", "sentiment-test", ("good .\t1", "bad .\t0"), transfer("SST2"), may_be_empty=True),
    User("XNLI", "dev-en.tsv", PAIRS, lambda p: [*read_layout("XNLI", p.parent, language="en")]),
    User("SNLI as released", "raw.tsv", (NLI_HEADER, "neutral\tA .\tB .", "-\tC .\tD ."), reshaped),
    User("pairs of XNLI", "a.tsv", PAIRS, lambda p: read_pairs(str(p))),
    User("training pairs", "a.tsv", PAIRS, trained(*NLI)),
    User("training pairs, commas", "a.csv", (",".join(NLI), "x,y,A", "z,w,B"), trained(*NLI)),
    User("training texts", "a.txt", ("one .", "two ."), trained("text"), columns=False),
    User("training texts, JSON", "a.jsonl", JSON, trained("text")),
    User("training labels of a probing set", "a.txt", SENTEVAL, trained("text", "label")),
    User("a dictionary", "a.dict", ("dog\tchien", "cat\tchat"), lambda p: read_dictionary(str(p))),
    User("parts of speech", "a.tsv", ("dog\tNOUN", "run\tVERB"), lambda p: read_parts_of_speech(str(p)), True, True),
    User("word similarity", "a.txt", ("dog\tcat\t3.5", "cat\tcow\t2"), similarity),
    User("translated sentences", "a.txt", ("one", "two"), aligned, columns=False),
    User("text to annotate", "a.txt", ("One .", "Two ."), annotated("text"), columns=False, may_be_empty=True),
    User("JSON lines to annotate", "a.jsonl", JSON, annotated("jsonl"), may_be_empty=True),
    User("answers of annotators", "anna.tsv", ANSWERS, judged, may_be_empty=True),
    User("word frequencies", "a.txt", ("the 10", "of 7"), lambda p: read_frequencies(str(p))),
    User("excluded sentences", "a.txt", ("One .", "Two ."), excluded, columns=False, may_be_empty=True),
]
every_user = pytest.mark.parametrize("user", USERS, ids=lambda user: user.name)


def write(folder: Path, user: User, lines: Iterable[bytes], name: str | None = None) -> Path:
    path = folder / (name or user.file)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def encoded(user: User) -> list[bytes]:
    return [line.encode() for line in user.lines]


@every_user
def test_sound_files_are_read_with_byte_order_mark_and_windows_line_ends(tmp_path, user):
    plain = user.read(write(tmp_path, user, encoded(user)))
    assert plain is not None
    first, *others = encoded(user)
    odd = user.read(write(tmp_path, user, [b"\xef\xbb\xbf" + first + b"\r", *(line + b"\r" for line in others)]))
    assert describe(odd) == describe(plain)


def describe(value: Any) -> Any:
    return value.digest if hasattr(value, "digest") else str(value)


FAULTS = {
    "NUL": (b"\0", "a NUL byte"),
    "not UTF-8": (b"\xe9t\xe9", "the bytes e9 74 e9.*, which are not UTF-8"),
    "lone surrogate": (b"\xed\xa0\x80", "the bytes ed a0 80.*, which are not UTF-8"),
}


@pytest.mark.parametrize("fault", FAULTS)
@every_user
def test_what_is_not_text_is_named_with_file_and_line(tmp_path, user, fault):
    content, got = FAULTS[fault]
    if user.name == "a layout of sentences" and fault != "NUL":
        pytest.skip("SentEval reads it as Latin-1")
    *lines, last = encoded(user)
    path = write(tmp_path, user, [*lines, last[:2] + content + last[2:]])
    with pytest.raises(CorpusError, match=rf":{len(user.lines)}: got {got}; expected ") as raised:
        user.read(path)
    assert Path(raised.value.path).parent == tmp_path


@every_user
def test_a_line_that_never_ends_is_not_read_into_memory(tmp_path, user, monkeypatch):
    monkeypatch.setattr("sentprobe.core.files.LONGEST_LINE", 1 << 20)
    monkeypatch.setattr("sentprobe.core.files.CHUNK_BYTES", 1 << 16)
    path = write(tmp_path, user, [*encoded(user), b"a" * (3 << 20)])
    with pytest.raises(
        CorpusError, match=rf":{len(user.lines) + 1}: got a line of more than 1 MiB; expected lines of text"
    ):
        user.read(path)


@every_user
def test_an_empty_file_is_an_error_or_has_no_rows(tmp_path, user):
    path = write(tmp_path, user, [])
    if user.may_be_empty:
        assert len(user.read(path)) == 0
    else:
        with pytest.raises(SentProbeError) as raised:
            user.read(path)
        assert str(tmp_path) in str(raised.value) or user.file in str(raised.value)


@pytest.mark.parametrize("user", [user for user in USERS if user.columns], ids=lambda user: user.name)
def test_a_line_of_one_column_is_named_with_file_and_line(tmp_path, user):
    path = write(tmp_path, user, [*encoded(user), b"alone"])
    with pytest.raises(
        CorpusError, match=rf":{len(user.lines) + 1}: got .*alone.*|:{len(user.lines) + 1}: got 1 column"
    ):
        user.read(path)


@pytest.mark.parametrize("user", [user for user in USERS if user.file.startswith("a.")], ids=lambda user: user.name)
def test_truncated_compressed_files_say_how_far_they_go(tmp_path, user):
    content = gzip.compress(b"".join(line + b"\n" for line in encoded(user)))
    path = tmp_path / f"{user.file}.gz"
    path.write_bytes(content[:-6])
    with pytest.raises(DataError, match=r"truncated compressed data"):
        user.read(path)


PARQUET_USERS = {
    "a table": lambda path: read_table(path, Columns()),
    "training texts": trained("text"),
    "text to annotate": annotated("parquet"),
}


@pytest.mark.parametrize("read", PARQUET_USERS.values(), ids=PARQUET_USERS)
def test_damaged_parquet_is_named_with_file_and_row(tmp_path, read):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"Text {i} ." for i in range(20)], "label": ["A", "B"] * 10}), path)
    assert len(read(path)) == 20
    content = path.read_bytes()
    for damaged in (b"", b"PAR1", content[:-20], content[:4] + b"\xff" * 40 + content[44:]):
        path.write_bytes(damaged)
        expected = (
            r"a\.parquet:1: got what cannot be read as Parquet \(.*\); expected a complete file; download it again"
        )
        with pytest.raises(CorpusError, match=expected):
            read(path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(USERS), st.binary(max_size=120) | st.text('ab\t,"{}:\n\r\0é\x85\u2028', max_size=60).map(str.encode)
)
def test_no_bytes_raise_anything_but_a_sentprobe_error(tmp_path, user, content):
    path = tmp_path / user.file
    path.write_bytes(content)
    with suppress(SentProbeError):
        user.read(path)
