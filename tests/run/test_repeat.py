"""A signature is enough to do a cell again, and to find out that something is no longer as it was."""

import re
import sys
from urllib.parse import quote

import pytest

from sentprobe.cli import main
from sentprobe.data.sources import find_sets
from sentprobe.errors import UsageError
from sentprobe.run import Run, evaluate
from sentprobe.run.repeat import repeat
from sentprobe.serve.encoders import Encoders
from tests.run.sets import dataset

CODE = """
import numpy as np

def encode(texts):
    return np.array([[len(t), t.count("a"), t.count("e"), t.startswith("c0")] for t in texts], float) {change}
"""


MINE = "py:mine.py:encode?version=1"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE.format(change=""))
    (tmp_path / "task.txt").write_text(
        "".join(f"{split}\t{row.label}\t{row.text}\n" for split, row in dataset(n=(90, 30, 50)))
    )
    evaluate(
        ["py:mine.py:encode?version=1"],
        find_sets(["task.txt"]),
        "run",
        probes=["linear", "senteval?passes=8"],
        probe_seeds=(5, 6),
    )
    return Run.load("run")


def test_every_cell_comes_out_the_same(run):
    assert len(run) == 4 + 6
    for result in run:
        found = repeat(result.signature, run=run, encoders=[MINE])
        assert found.same, result.signature
        assert found.changed_rows == 0
        assert found.notes == ()
        assert found.reproduced.signature == result.signature


def test_without_the_run_there_is_a_number_and_nothing_to_compare_it_with(run):
    result = run.results[0]
    found = repeat(result.signature, paths=["task.txt"], encoders=[MINE])
    assert found.reproduced.accuracy == result.accuracy
    assert found.recorded is found.changed_rows is None


def test_a_program_is_not_run_because_a_signature_names_it(run, tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.py").write_text("open('was-run', 'w').close()")
    signature = next(r.signature for r in run if r.cell.encoder == MINE)
    given = next(r.signature for r in run if r.cell.encoder == "baseline:hash") + f"|variant={quote('given:' + MINE)}"
    for text in (signature, given):
        with pytest.raises(UsageError, match=r"is a program.*--trust 'py:mine\.py:encode\?version=1'"):
            repeat(text, paths=["task.txt"])
    with pytest.raises(UsageError, match=r"sends texts to a server.*--trust 'openai:x'"):
        repeat(re.sub(r"enc=[^|]*", "enc=openai:x", signature), paths=["task.txt"])
    monkeypatch.setattr(sys, "argv", ["sentprobe", "repeat", signature, "--run", "run"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert f"name it yourself: --trust '{MINE}'" in capsys.readouterr().err
    assert not (tmp_path / "was-run").exists()
    # the server says the same
    with pytest.raises(UsageError, match=r"is a program.*name it yourself: --trust"):
        Encoders().vectors(MINE, None, ["a"])


def test_an_encoder_that_has_changed_is_seen(run, tmp_path):
    result = next(r for r in run if r.cell.encoder.startswith("py:"))
    (tmp_path / "mine.py").write_text(CODE.format(change="* [0, 0, 1, 0]"))
    found = repeat(result.signature, run=run, encoders=[MINE])
    assert not found.same
    assert found.changed_rows > 0
    assert any("encoder has changed" in note for note in found.notes)


def test_a_set_that_has_changed_is_not_taken_for_the_old_one(run, tmp_path):
    text = (tmp_path / "task.txt").read_text()
    (tmp_path / "task.txt").write_text(text.replace("bal", "bil"))
    with pytest.raises(UsageError, match=r"was not found in .*task\.txt; got task#"):
        repeat(run.results[0].signature, run=run, encoders=MINE)


def test_a_signature_of_another_run(run):
    other = re.sub(r"seed=\d+", "seed=77", run.results[0].signature)
    with pytest.raises(UsageError, match="no result with this signature"):
        repeat(other, run=run, encoders=MINE)
    with pytest.raises(UsageError, match="Invalid signature"):
        repeat("accuracy", run=run)
    with pytest.raises(UsageError, match="expected numbers"):
        repeat(re.sub(r"seed=\d+", "seed=x", run.results[0].signature), paths=["task.txt"], encoders=MINE)
    with pytest.raises(UsageError, match="no folder"):
        repeat(run.results[0].signature, encoders=MINE)


def test_rounded_vectors_are_rounded_again(run):
    half = evaluate(["py:mine.py:encode?version=1"], find_sets(["task.txt"]), "half", half=True, baselines=[])
    assert "kept=float16" in half.results[0].signature
    assert repeat(half.results[0].signature, run=half, encoders=MINE).same


def test_the_set_is_found_from_another_folder(run, tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    signature = next(r.signature for r in run if r.cell.encoder == "nb-uni")
    monkeypatch.chdir(tmp_path / "below")
    assert repeat(signature, run=Run.load("../run")).same
