"""Sets that others wrote, whole and broken."""

import gzip
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sonde.dataset import Dataset
from sonde.errors import CorpusError, DataError, SondeError
from sonde.tables import read_senteval, read_xprobe

GOOD = "tr\tPAST\tHe left .\nva\tPRES\tShe stays .\n\nte\tPAST\tWe ran .\r\n"


def test_a_senteval_file(tmp_path):
    path = tmp_path / "past_present.txt"
    path.write_text(GOOD, "utf-8")
    found = read_senteval(path)
    assert (found.name, found.labels, len(found)) == ("past_present", ("PAST", "PRES"), 3)
    assert found.rows["te"][0].tokens == ("We", "ran", ".")


def test_further_columns_stand_between_label_and_sentence(tmp_path):
    path = tmp_path / "order.txt.gz"
    path.write_bytes(gzip.compress(b"tr\t1\ta\tb\tx a b\n"))
    assert read_senteval(path).rows["tr"][0].extra == (("column3", "a"), ("column4", "b"))


def test_what_we_write_is_what_we_read(conneau, tmp_path):
    made = conneau["past_present"]
    made.save(tmp_path / "set")
    again = read_senteval(tmp_path / "set/past_present.txt")
    for split, rows in made.rows.items():
        assert [(r.label, r.tokens) for r in again.rows[split]] == [(r.label, r.tokens) for r in rows]


def test_an_xprobe_folder_with_a_part_missing(tmp_path):
    (tmp_path / "va.txt").write_text("He left .\tPAST\n", "utf-8")
    (tmp_path / "te.txt.gz").write_bytes(gzip.compress(b"She stays .\tPRES\n"))
    found = read_xprobe(tmp_path)
    assert {split: len(rows) for split, rows in found.rows.items()} == {"tr": 0, "va": 1, "te": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tr\tA\n", r":1: met 2 columns; expected partition"),
        ("tr\tA\tx\ntrain\tA\tx\n", r":2: met the partition 'train'; expected tr, va or te"),
        ("tr\t\tx\n", r":1: met an empty label"),
        ("tr\tA\t \n", r":1: met an empty sentence"),
        ("tr\tA\tx\0y\n", r":1: met a NUL byte"),
        ("", "holds no rows"),
    ],
)
def test_broken_files_are_named_with_their_line(tmp_path, text, message):
    path = tmp_path / "bad.txt"
    path.write_text(text, "utf-8")
    with pytest.raises((CorpusError, DataError), match=message):
        read_senteval(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300) | st.lists(st.tuples(st.integers(0, 60), st.binary(max_size=3)), max_size=6))
def test_no_file_raises_anything_but_a_sonde_error(tmp_path, damage):
    content = damage
    if isinstance(damage, list):
        content = GOOD.encode()
        for at, new in damage:
            content = content[:at] + new + content[at + 1 :]
    path = tmp_path / "fuzzed.txt"
    path.write_bytes(content)
    for read, place in ((read_senteval, path), (read_xprobe, tmp_path)):
        (tmp_path / "te.txt").write_bytes(content)
        with suppress(SondeError):
            assert isinstance(read(place), Dataset)
