"""One table in five formats: nothing is cut, and nothing is interpreted."""

import csv
import io

import pytest
from rich.console import Console

from sentprobe.core.table import CellText, Table, TableColumn, in_blocks, table_width

NAMES = TableColumn(["set"], ["suite/subj_number", "suite/bigram|shift"], "left")
SCORES = TableColumn(["st:mini", "mlp"], [CellText("81.0", "±2.0", "a", "(L3)", best=True), CellText("7.5")])
COUNTS = TableColumn(["test"], [1200, None], key="n")


def printed(table, width):
    buffer = io.StringIO()
    table.print(Console(file=buffer, width=width))
    return buffer.getvalue()


def test_markdown():
    assert Table([NAMES, COUNTS, SCORES]).markdown() == [
        "| set | test | st:mini, mlp |",
        "| --- | ---: | ---: |",
        "| suite/subj&#95;number | 1,200 | **81.0** ±2.0 a (L3) |",
        "| suite/bigram&#124;shift | – | 7.5 |",
    ]


def test_latex():
    assert Table([NAMES, SCORES]).latex() == [
        "\\begin{tabular}{lr}",
        "\\toprule",
        "set & st:mini, mlp \\\\",
        "\\midrule",
        "suite/subj\\_number & \\textbf{81.0} $\\pm$2.0\\textsuperscript{a} (L3) \\\\",
        "suite/bigram\\textbar{}shift & 7.5 \\\\",
        "\\bottomrule",
        "\\end{tabular}",
    ]


def test_csv_has_keys_and_values():
    rows = list(csv.reader(io.StringIO(Table([NAMES, COUNTS]).csv())))
    assert rows == [["set", "n"], ["suite/subj_number", "1200"], ["suite/bigram|shift", ""]]


def test_html():
    table = Table.of_rows(["<a>", "b"], [["x & y", 1000], ["\u202ez", None]], title="<t>")
    assert table.html() == (
        "<table><caption>&lt;t&gt;</caption><thead><tr><th>&lt;a&gt;</th><th>b</th></tr></thead>"
        "<tbody><tr><td>x &amp; y</td><td>1,000</td></tr><tr><td>\\u202ez</td><td>–</td></tr></tbody></table>"
    )


@pytest.mark.parametrize("width", range(10, 70, 5))
def test_no_number_is_cut_and_every_one_is_printed(width):
    columns = [TableColumn([f"encoder-{i}"], [CellText(f"{10 + i}.0", "±2.5")] * 2) for i in range(5)]
    text = printed(Table([NAMES, *columns]), width)
    for i in range(5):
        assert text.count(f"{10 + i}.0 ±2.5") == 2
    # names need twelve characters, a number of this kind ten and a gap
    assert max(map(len, text.splitlines())) <= max(width, 12 + 2 + 10)


def test_texts_are_folded_before_columns_are_moved_below():
    table = Table.of_rows(("name", "description"), [("a" * 10, "some words " * 10)], texts=("description",))
    assert max(map(len, printed(table, 40).splitlines())) <= 40
    assert printed(table, 40).count("name") == 1


def test_a_table_without_rows_has_a_heading():
    table = Table.of_rows(("set", "n"), [])
    assert printed(table, 80).split() == ["set", "n"]
    assert table.markdown() == ["| set | n |", "| --- | ---: |"]


def test_title_and_notes():
    table = Table([NAMES], title="Scores\x1b[31m", notes=["n is small"])
    text = printed(table, 80)
    assert text.startswith("Scores\\u001b[31m\n")
    assert text.endswith("n is small\n")


def test_blocks_repeat_the_first_and_the_last_columns():
    columns = [TableColumn([f"encoder-{i}"], ["1.0", "2.0"]) for i in range(4)]
    blocks = list(in_blocks([NAMES], columns, [COUNTS], 40))
    assert [column for block in blocks for column in block[1:-1]] == columns
    assert all(block[0] is NAMES and block[-1] is COUNTS and table_width(block) <= 40 for block in blocks)
