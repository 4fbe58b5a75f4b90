"""Tables and texts: golden ones, and what must hold whatever the names are and however narrow the terminal is."""

import csv
import json
import math
import re
from dataclasses import replace
from io import StringIO

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from sentprobe.core.table import CellText, TableColumn, in_csv, in_latex, in_markdown, table_width
from sentprobe.report import summarise, tables
from sentprobe.report.legend import Seen, legend
from sentprobe.report.score_table import ScoreTable, ShortNames, lay_out
from sentprobe.report.tables import csv_text, json_text, latex, markdown, print_table, signatures
from sentprobe.report.types import Seconds, Summary
from sentprobe.results.result import Cell, Signature
from sentprobe.results.run import Run
from tests.report.runs import SETS, SHIFT, SUBJ, beside, cell, failure, result, written

ODD = 'x|y & [z]_%$#{}^~\\ <b>\x1b[31m`*--`\n日本 "q"'
ENCODERS = (("st:all-MiniLM-L6-v2", 0.9), ("static:", 0.88), ("vec:glove.840B.300d.txt", 0.7))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Three encoders on two sets, one of which has target forms."""
    forms = {SUBJ: 40, SHIFT: 0}
    records = [result(e, s, p=p, forms=forms[s]) for s in SETS for e, p in ENCODERS]
    return written(tmp_path_factory.mktemp("plain") / "run", *records, *beside())


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """Layers, probes, seeds, a sample, failures, and names that mean something to whoever reads them."""
    sets = (SUBJ, f"own/{ODD}")
    layers = [
        result("hf:bert", s, layer=layer, seed=seed, probe=probe, limit=200, p=p, synthetic=True)
        for s in sets for layer, p in (("0", 0.6), ("11", 0.8)) for seed in (1, 2) for probe in ("linear", "mlp")
    ]  # fmt: skip
    odd = [result(ODD, SUBJ, seed=seed, probe=probe, limit=200) for seed in (1, 2) for probe in ("linear", "mlp")]
    failed = [failure(cell(ODD, sets[1], seed=seed, probe=p, limit=200)) for seed in (1, 2) for p in ("linear", "mlp")]
    lost = failure(Cell(task="", version=0, dataset="", data="", encoder="st:gone"), f"no\n{ODD}", "EncoderError")
    beside_them = beside(sets, limit=200, synthetic=True)
    return written(tmp_path_factory.mktemp("crowded") / "run", *layers, *odd, *failed, lost, *beside_them)


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    return written(tmp_path_factory.mktemp("empty") / "run")


@pytest.fixture(params=["plain", "crowded", "empty"])
def run(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def printed(monkeypatch, capsys):
    def show(summary, width):
        monkeypatch.setattr(tables, "narrow_out", lambda: Console(width=width, highlight=False))
        print_table(summary)
        return capsys.readouterr().out

    return show


def summary_of(run, **more):
    return replace(summarise(run, **more), folder="my-run")


@pytest.mark.parametrize("width", [160, 100, 60])
def test_the_table(run, width, printed, snapshot):
    assert printed(summary_of(run), width) == snapshot


@pytest.mark.parametrize("metric", ["macro_f1", "log2_loss", "log2_loss_calibrated"])
def test_other_metrics(tmp_path, metric, printed, snapshot):
    run = written(tmp_path / "run", *(result(e, p=p) for e, p in ENCODERS), *beside([SUBJ]))
    assert printed(summary_of(run, metric=metric), 160) == snapshot


@pytest.mark.parametrize("write", [markdown, latex])
def test_texts(run, write, snapshot):
    assert write(summary_of(run)) == snapshot


@pytest.mark.parametrize("width", range(12, 200, 17))
def test_no_number_is_cut_off_however_narrow_the_terminal(crowded, width, printed):
    summary = summary_of(crowded)
    shown = printed(summary, width)
    done = [c for s in summary.sets for c in s.cells if c is not None]
    numbers = [f"{100 * c.accuracy:.1f} ±{50 * (c.high - c.low):.1f}" for c in done]
    assert len(numbers) == 6
    for number in numbers:
        assert re.sub(" +", " ", shown).count(number) >= numbers.count(number)
    words = re.findall(r"\S+", shown)
    assert words.count("failed") >= 2  # the cells, beside the lines that say why


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_tables_are_no_wider_than_the_terminal(plain, width, printed):
    lines = printed(summary_of(plain), width).split("\n\n")[:-1]
    assert lines
    assert max(len(line) for part in lines for line in part.splitlines()) <= width


def test_a_baseline_stays_beside_the_numbers(plain, printed):
    summary = summary_of(plain)
    assert "nb-uni" in next(line for line in printed(summary, 160).splitlines() if line.startswith("set "))
    for width in (100, 80, 60):
        assert "best baseline" in printed(summary, width)


def test_nothing_moves_the_cursor_or_is_taken_for_markup(crowded, printed):
    summary = summary_of(crowded)
    for text in (printed(summary, 100), markdown(summary), latex(summary)):
        assert set(filter(lambda c: not c.isprintable(), text)) == {"\n"}
    assert "[z]" in printed(summary, 160)


# Texts


def lines_of(text):
    return [line for line in text.splitlines() if line]


def test_markdown_rows_have_as_many_cells_as_their_heading(run):
    found = 0
    for block in markdown(summary_of(run)).split("\n\n"):
        rows = [line for line in lines_of(block) if line.startswith("|")]
        found += bool(rows)
        assert len({row.count("|") for row in rows}) <= 1
    assert found == (1 + len(summary_of(run).layers) if run.results else 0)


def test_latex_rows_have_as_many_cells_as_columns(run):
    columns, found = 0, 0
    for line in lines_of(latex(summary_of(run))):
        if line.startswith("\\begin{tabular}"):
            columns, found = line.count("r") - "tabular".count("r") + 1, found + 1
        elif line.endswith("\\\\"):
            assert len(re.findall(r"(?<!\\)&", line)) == columns - 1
        else:
            assert line.startswith(
                ("%", "\\toprule", "\\midrule", "\\bottomrule", "\\end{tabular}", "\\par{\\footnotesize")
            )
    assert found == (1 + len(summary_of(run).layers) if run.results else 0)


def test_what_is_best_and_what_cannot_be_told_from_it_is_bold(plain):
    rows = [line for line in lines_of(latex(summary_of(plain))) if line.startswith("conneau2018")]
    best = [[c.best for c in s.cells] for s in summary_of(plain).sets]
    assert [[cell.strip().startswith("\\textbf") for cell in row.split("&")[2:5]] for row in rows] == best
    assert any(map(any, best))
    assert not any(map(all, best))


@given(st.text())
@settings(max_examples=200)
def test_any_name_is_one_cell_of_plain_text(text):
    written_down = in_latex(text)
    assert "\n" not in written_down
    bare = re.sub(
        r"\\(textbackslash|textasciicircum|textasciitilde|textless|textgreater|textbar)\{\}", "", written_down
    )
    bare = bare.replace("{\\char34}", "").replace("$\\pm$", "").replace("\\dag{}", "").replace("$\\times$", "")
    bare = re.sub(r"-(\{\}-)+", "-", bare)
    bare = re.sub(r"\\[{}$&#%_]|\{[\[*`]\}", "", bare)
    assert not set(bare) & set('\\{}$&#%_^~<>|[*`"')
    assert "--" not in bare
    assert not set(in_markdown(text)) & set("|\n\r*_`<>[]\\")


# Data


def test_csv_has_a_line_per_result_and_the_signature_last(run):
    rows = list(csv.DictReader(StringIO(csv_text(run, summarise(run)), newline="")))
    assert len(rows) == len(run)
    for row, own in zip(rows, run, strict=True):
        assert list(row)[-1] == "signature"
        assert row["signature"] == own.signature
        assert Signature.parse(row["signature"]).enc == own.cell.encoder
        assert row["encoder"] == in_csv(own.cell.encoder)
        assert float(row["score"]) == own.accuracy
        assert row["dataset"] == in_csv(own.cell.dataset)


def test_json_is_the_summary(run):
    assert msgspec.json.decode(json_text(summary_of(run)), type=Summary) == summary_of(run)


def test_json_may_hold_any_character_and_no_number_that_is_none(plain):
    odd = json.loads(json_text(replace(summary_of(plain), notes=("\ud800", ODD))))
    assert odd["notes"] == ["\ud800", ODD]
    with pytest.raises(ValueError, match="JSON"):
        json_text(replace(summary_of(plain), seconds=Seconds(encode=math.nan, fit=0.0, score=0.0)))


def test_every_result_has_its_signature_in_the_list(run):
    found = signatures(summarise(run))
    assert sorted(found) == sorted(r.signature for r in run)
    assert len(found) == len(set(found))
    for line in found:
        assert str(Signature.parse(line)) == line


# What fits


def crowd(n, sets=SETS):
    """Columns of a table with n encoders."""

    def column(name, value):
        return TableColumn([name], [CellText(value, "±2.5", "ab†") for _ in sets])

    return ScoreTable(
        names=TableColumn(["set"], sets, "left"),
        test_size=TableColumn(["test"], [CellText("1,000") for _ in sets]),
        encoders=[column(f"encoder-{i}", f"{20 + i}.0") for i in range(n)],
        baselines=[column(f"baseline-{i}", f"{i}.0") for i in range(6)],
        best_baseline=[TableColumn(["best baseline"], [CellText("60.0", "±3.0", note="nb-uni") for _ in sets])],
        human=(),
    )


@pytest.mark.parametrize("n", [1, 5, 20])
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("sets", [2, 30])
def test_every_number_is_on_one_page_of_the_width(n, width, sets):
    names = [f"suite/task_{i}" for i in range(sets)]
    main = crowd(n, names)
    short = ShortNames(
        TableColumn(["set"], [name.split("/")[1] for name in names], "left"), [c.heading[0] for c in main.encoders]
    )
    pages = lay_out(main, short, width).tables
    for page in pages:
        assert table_width(page.columns) <= width
    numbers = [cell.text for page in pages for column in page.columns for cell in column.cells]
    for i in range(n):
        assert numbers.count(f"{20 + i}.0") == sets
    assert max(numbers.count("60.0"), numbers.count("5.0")) >= sets  # the best baseline, or all of them


def test_rows_are_encoders_where_that_takes_fewer_lines():
    few = ShortNames(TableColumn(["set"], SETS, "left"), [f"e{i}" for i in range(20)])
    (page,) = lay_out(crowd(20), few, 80).tables
    assert [cell.text for cell in page.columns[0].cells] == [*few.encoders, "best baseline", "which one"]
    assert [column.heading_lines[-1] for column in page.columns[1:]] == ["n=1,000", "n=1,000"]
    three = replace(few, encoders=few.encoders[:3])
    (page,) = lay_out(crowd(3), three, 120).tables
    assert [cell.text for cell in page.columns[0].cells] == list(SETS)


def test_the_legend_is_about_what_is_shown(crowded):
    whole = summarise(crowded)
    found = {line.partition(":")[0] for line in legend(whole)}
    assert {"Bold", "majority"} <= found
    some = Seen(bold=False, baselines=frozenset({"nb-uni"}))
    assert {line.partition(":")[0] for line in legend(whole, some)} == found - {"Bold", "majority", "Probe of baseline"}


def test_what_there_is_no_room_for_is_named():
    few = ShortNames(TableColumn(["set"], SETS, "left"), ["encoder-0"])
    main = replace(crowd(1), baselines=crowd(1).baselines[:2], human=[TableColumn(["human"], [CellText("98.0")] * 2)])
    whole = table_width(main.table().columns)
    assert lay_out(main, few, whole).dropped == ()
    people, bare, best = (lay_out(main, few, whole - less).dropped for less in (1, 8, 24))
    assert people == ("the human column",)
    assert bare == ("the human column", "the ± of baselines")
    assert best[-1] == "baselines other than the best"
    alone = replace(main, baselines=(), best_baseline=(), human=())
    for width in range(20, whole):
        assert lay_out(alone, few, width).dropped == ()


def test_a_heading_is_broken_where_it_can_be():
    column = TableColumn(["hf:bert-base-uncased?layers=all", "mlp"], [CellText("81.0", "±2.0")])
    assert column.heading_lines == ["hf:bert-base-", "uncased?", "layers=all", "mlp"]
    assert TableColumn(["日" * 20], [CellText("1")]).heading_lines == ["日" * 8, "日" * 8, "日" * 4]


def test_a_run_that_is_read_again_looks_the_same(crowded):
    assert markdown(summarise(Run.load(crowded.folder))) == markdown(summarise(crowded))
