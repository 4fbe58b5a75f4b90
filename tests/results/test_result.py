"""Signatures print and parse back; keys cover every field of a cell."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.errors import DataError, UsageError
from sentprobe.results.records import from_line, to_line
from sentprobe.results.result import Cell, Failure, Result, Signature

CELL = Cell(
    task="subj_number", version=1, dataset="conneau2018/subj_number", data="ed65766b00000000",
    encoder="st:all-MiniLM-L6-v2", identity="st:all-MiniLM-L6-v2?content=8b32", probe="linear", seed=1111,
    sentprobe="0.1.0",
)  # fmt: skip
RESULT = Result(
    key=CELL.key, cell=CELL, language="en", labels=("NN", "NNS"), n={"tr": 260, "va": 32, "te": 32}, score=0.75,
    scores={"macro_f1": 0.74}, interval=(0.58, 0.87), chosen={"l2": 1e-4}, baselines={"majority": 0.5, "nb-uni": 0.6},
)  # fmt: skip
SIGNATURE = (
    "task=subj_number.v1|data=conneau2018/subj_number#ed65766b00000000|enc=st:all-MiniLM-L6-v2|id=%s|probe=linear|"
    "l2=dev:0.0001|n=260/32/32|seed=1111|sentprobe=0.1.0"
)

needed = {name: st.text(min_size=1) for name in ("task", "data", "enc", "n", "seed", "sentprobe")}
optional = {f.name: st.none() | st.text(min_size=1) for f in fields(Signature) if f.name not in needed}
# a signature stands on one line between other words: what it ends with must not be taken for the space around it
signatures = st.builds(Signature, **needed, **optional).filter(lambda s: s.sentprobe == s.sentprobe.strip())


def test_a_signature_has_everything_that_moves_the_number():
    assert RESULT.signature == SIGNATURE % RESULT.signature.split("id=")[1][:8]
    moved = replace(CELL, layer="7", probe="mlp", limit=500, device="cuda")
    more = replace(RESULT, cell=moved, chosen={"l2": 0.01, "hidden": 50, "dropout": 0.1}).signature
    for part in ("layer=7", "probe=mlp", "l2=dev:0.01|hidden=dev:50|dropout=dev:0.1", "limit=500", "device=cuda"):
        assert part in more


@given(signatures)
def test_parsing_undoes_printing(signature):
    assert Signature.parse(str(signature)) == signature
    assert "\n" not in str(signature)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Invalid signature"),
        ("task=a|data=b|enc=c|n=1/1/1|seed=1", "sentprobe missing"),
        (SIGNATURE % "00" + "|seed=2", "each name once"),
        (SIGNATURE % "00" + "|colour=red", "'colour=red'"),
        ("99.5", "'99.5'"),
    ],
)
def test_invalid_signatures(text, says):
    with pytest.raises(UsageError, match=says):
        Signature.parse(text)


def test_the_key_covers_every_field():
    others = {f.name: 9 if isinstance(getattr(CELL, f.name), int) else "other" for f in fields(Cell)}
    keys = {replace(CELL, **{name: value}).key for name, value in others.items()}
    assert len(keys) == len(others)
    assert CELL.key not in keys
    assert replace(CELL).key == CELL.key


@pytest.mark.parametrize("record", [RESULT, Failure(key=CELL.key, cell=CELL, error="no\nway", kind="EncoderError")])
def test_a_record_is_one_line_and_comes_back(record):
    line = to_line(record, 7)
    assert b"\n" not in line
    assert from_line(line) == (record, 7)
    assert from_line(line[:-1]) is None
    assert from_line(b"") is None
    assert from_line(b"{}") is None


@pytest.mark.parametrize(
    "change", [{"score": math.nan}, {"scores": {"bits": -math.inf}}, {"interval": (0.0, math.inf)}]
)
def test_a_record_that_could_not_be_read_again_is_not_written(change):
    with pytest.raises(DataError, match=r"not finite"):
        to_line(replace(RESULT, **change), 0)


def test_a_record_that_is_not_plain_data_is_not_written():
    with pytest.raises(DataError, match=r"cannot be encoded as JSON"):
        to_line(replace(RESULT, scores={"bits": np.float32(1)}), 0)


def test_a_record_of_another_cell_is_not_written():
    with pytest.raises(DataError, match=r"has the key .* expected that of its cell"):
        to_line(replace(RESULT, key="0" * 16), 0)


@given(st.integers(0, len(to_line(RESULT, 0)) - 1), st.integers(1, 255))
def test_no_byte_of_a_line_can_be_changed(place, change):
    line = bytearray(to_line(RESULT, 0))
    line[place] ^= change
    assert from_line(bytes(line)) is None


def test_the_range_is_what_both_intervals_cover():
    assert RESULT.range == (0.58, 0.87)
    assert replace(RESULT, cluster_interval=(0.5, 0.9)).range == (0.5, 0.9)
    # all rows right: whatever forms are drawn, all are right
    assert replace(RESULT, interval=(0.9, 1.0), cluster_interval=(1.0, 1.0)).range == (0.9, 1.0)
    assert not RESULT.constant
    assert replace(RESULT, interval_kind="constant").constant
