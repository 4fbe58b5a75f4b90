"""Texts where some characters have a meaning: a cell of a spreadsheet is shown, not worked out."""

import csv
import io
import sys

import pytest

from sentprobe.cli import main
from sentprobe.core.table import csv_text, in_csv
from sentprobe.run import evaluate
from tests.run.sets import Knowing, dataset

FORMULA = "=cmd|' /C calc'!A0"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", " =", "＝"])
def test_what_would_be_worked_out_is_marked_as_text(start):
    assert str(in_csv(f"{start}SUM(A1)")).startswith("'")


@pytest.mark.parametrize("number", [-0.12, 3, None, True, "-0.12", "+1.5", "-1e-05", "1,024", "5", ".5"])
def test_numbers_stay_numbers(number):
    assert in_csv(number) is number


def test_control_characters_are_shown_and_no_row_is_torn():
    text = csv_text([["a", "b\x1b[31m\nc", "\x00d"], [-0.5, "e,f", 'g"h']])
    assert text == 'a,b\\u001b[31m\\u000ac,\\u0000d\n-0.5,"e,f","g""h"\n'


def test_no_csv_that_is_written_begins_a_cell_with_a_formula(tmp_path, monkeypatch, capsys):
    encoders = {FORMULA: Knowing(), "@SUM(1+1)": Knowing(noise=1.0, name="other")}
    evaluate(encoders, [dataset(name="-2+3/task"), dataset(name="+own/other", n=(100, 30, 50))], tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    texts = []
    for words in (
        ("show", "run", "--format", "csv"), ("compare", "run", FORMULA, "@SUM(1+1)", "--format", "csv"),
        ("compare", "run", FORMULA, "@SUM(1+1)", "baseline:hash", "--format", "csv"),
        ("report", "run", "-o", "x.csv"), ("figure", "run", "-k", "heatmap", "-o", "heatmap.csv"),
        ("figure", "run", "-k", "intervals", "-o", "intervals.csv"),
    ):  # fmt: skip
        monkeypatch.setattr(sys, "argv", ["sentprobe", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert ended.value.code == 0, said.err
        if "--format" in words:
            texts.append(said.out)
    texts += [path.read_text("utf-8") for path in tmp_path.glob("*.csv")]
    assert len(texts) == 6
    for text in texts:
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert any(cell.startswith(("'=", "'@", "'-", "'+")) for cell in cells)
        for cell in cells:
            if cell.startswith(("=", "+", "-", "@", "\t", "\r")):
                float(cell)
