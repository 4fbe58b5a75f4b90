"""Figures as files, and `sentprobe figure`."""

import csv
import json
import re
import struct
import sys
from io import StringIO

import altair
import pytest
from altair.vegalite.v6.schema import core

from sentprobe.cli import app
from sentprobe.errors import DataError, NotInstalled, UsageError
from sentprobe.report import Report
from sentprobe.report.drawing.figure_style import ONE_COLUMN, TWO_COLUMNS
from sentprobe.report.figure import FigureOptions, draw, fitted, write
from sentprobe.results.run import Run
from tests.report.runs import SETS, beside, result, written
from tests.report.summaries import cell, with_cell, with_set
from tests.report.test_charts import summary


def table(path):
    return list(csv.DictReader(StringIO(path.read_text("utf-8"))))


def test_every_ending(tmp_path):
    for ending in ("pdf", "svg", "png", "json", "csv"):
        write(summary(), "heatmap", tmp_path / f"fig.{ending}", width="two")
    box = re.search(rb"MediaBox \[0 0 ([\d.]+) ", (tmp_path / "fig.pdf").read_bytes())
    assert float(box[1]) == TWO_COLUMNS  # points: 6.9 inches
    assert re.search(r'width="497pt" height="[\d.]+pt" viewBox="0 0 497 ', (tmp_path / "fig.svg").read_text("utf-8"))
    wide, _ = struct.unpack(">II", (tmp_path / "fig.png").read_bytes()[16:24])
    assert wide == pytest.approx(TWO_COLUMNS * 300 / 72, abs=1)
    core.Root.validate(json.loads((tmp_path / "fig.json").read_text("utf-8")))
    rows = table(tmp_path / "fig.csv")
    assert [float(row["value"]) for row in rows[:2]] == [0.6, 0.65]
    assert "text" not in rows[0]


def test_another_ending_is_refused_before_anything_is_drawn(tmp_path):
    with pytest.raises(UsageError, match=r"expected one of the suffixes .pdf, .svg.*, got '.doc'"):
        write({}, "heatmap", tmp_path / "fig.doc")
    with pytest.raises(UsageError, match="got ''"):
        write({}, "heatmap", tmp_path / "fig")


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        write(summary(), "heatmap", tmp_path / "nowhere/fig.csv")


def test_a_drawing_that_is_too_wide_is_made_smaller_and_never_larger():
    head = '<svg width="{}" height="{}" viewBox="0 0 300 100"><rect width="300" height="100"/>'
    assert fitted(head.format(300, 100), 150) == head.format(150, 50)
    assert fitted(head.format(300, 100), 150, "pt") == head.format("150pt", "50pt")
    assert fitted(head.format(300, 100), 400) == head.format(300, 100)


@pytest.mark.parametrize("kind", ["heatmap", "intervals", "profiles"])
def test_a_chart_of_altair_is_the_same_drawing(kind, tmp_path):
    vl_convert = pytest.importorskip("vl_convert")
    figure = draw(summary(), kind, FigureOptions())
    chart = figure.altair()
    assert isinstance(chart, altair.TopLevelMixin)
    with altair.theme.enable("none"):
        again = chart.to_dict()
    assert again["config"] == figure.spec["config"]
    ours, theirs = (vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]) for spec in (figure.spec, again))
    numbered = re.compile(r"gradient_\d+")  # counted over all drawings
    assert numbered.sub("gradient", theirs) == numbered.sub("gradient", ours)
    write(summary(), kind, tmp_path / "fig.json")
    assert json.loads((tmp_path / "fig.json").read_text("utf-8")) == json.loads(json.dumps(figure.spec))


def test_a_report_has_charts_with_the_options_of_figures(tmp_path):
    report = Report(Run(tmp_path), summary())
    chart = report.chart("heatmap", encoders="st:a", width="two")
    assert chart.to_dict() == draw(summary(), "heatmap", FigureOptions(encoders="st:a", width="two")).altair().to_dict()
    with pytest.raises(UsageError, match="heatmap"):
        report.chart("heatmaps")


def test_without_altair_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(NotInstalled, match=r"need altair: pip install .*frames"):
        draw(summary(), "heatmap", FigureOptions()).altair()


def drawn(tmp_path, kind, **options):
    path = tmp_path / "fig.csv"
    write(summary(), kind, path, **options)
    return table(path)


def test_sets_and_encoders_go_by_their_names_or_parts_of_them(tmp_path):
    rows = drawn(tmp_path, "heatmap", sets=["tree_depth"], encoders=["st:b"])
    assert [(row["set"], row["column"]) for row in rows] == [("2", "1"), ("3", "1")]
    assert [row["set_name"] for row in rows] == ["Tree depth (en)", "Tree depth (fr)"]
    rows = drawn(tmp_path, "heatmap", sets=["tree_depth (fr)", "bigram"], encoders=["b"])
    assert [(row["set"], row["column"]) for row in rows] == [("0", "1"), ("1", "1"), ("3", "1")]
    with pytest.raises(UsageError, match=r"no set 'tree_deth' in the run\. Did you mean tree_depth"):
        drawn(tmp_path, "heatmap", sets=["tree_deth"])
    with pytest.raises(UsageError, match=r"no encoder 'x' in the run\. It has st:a, st:b\."):
        drawn(tmp_path, "heatmap", encoders=["x"])


def test_ratios_are_to_a_language_or_to_one_encoder(tmp_path):
    rows = drawn(tmp_path, "heatmap", mode="relative", relative_to="fr")
    assert {float(row["ratio"]) for row in rows if row["language"] == "fr"} == {1.0}
    rows = drawn(tmp_path, "heatmap", mode="relative", relative_to="st:b")
    assert {float(row["ratio"]) for row in rows if row["column"] == "1"} == {1.0}
    rows = drawn(tmp_path, "profiles", mode="relative")  # English, if it is there
    assert {float(row["ratio"]) for row in rows if row["language"] == "en"} == {1.0}
    with pytest.raises(UsageError, match="ambiguous: expected one of st:a, st:b"):
        drawn(tmp_path, "heatmap", mode="relative", relative_to="st:")
    with pytest.raises(UsageError, match="needs an encoder or a language"):
        drawn(tmp_path, "heatmap", mode="relative")


def test_the_caption_says_what_cannot_be_seen(tmp_path):
    given = summary()
    assert "not significantly different" in write(given, "heatmap", tmp_path / "fig.csv")
    given = with_cell(with_set(given, 0, synthetic=True), 0, 0, cell(0.6, partial=True))
    caption = write(given, "intervals", tmp_path / "fig.csv")
    assert caption.endswith("From a sample of the rows. The sentences are synthetic.")


# The command


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("figure")
    one = written(place / "one", *(result("st:a", name, p=0.9) for name in SETS), *beside())
    two = written(place / "two", *(result("st:b", name, p=0.7) for name in SETS))
    return one.folder, two.folder


@pytest.fixture
def figure(capsys):
    def run(*words):
        assert app(["figure", *map(str, words)], result_action="return_value", exit_on_error=False) == 0
        return capsys.readouterr()

    return run


def test_a_figure_of_a_run(figure, runs, tmp_path):
    said = figure(runs[0], "--kind", "intervals", "-o", tmp_path / "fig.pdf", "-o", tmp_path / "fig.csv")
    assert said.out.split() == [str(tmp_path / "fig.pdf"), str(tmp_path / "fig.csv")]
    assert "For the caption: 95 % intervals" in said.err
    assert (tmp_path / "fig.pdf").read_bytes().startswith(b"%PDF")
    rows = table(tmp_path / "fig.csv")
    assert [row["encoder_name"] for row in rows if not row["mark"]] == ["a", "a"]
    assert {row["mark"] for row in rows} == {"", "majority", "length", "naive Bayes", "other baseline"}
    said = figure(runs[0], "--kind", "intervals", "-o", tmp_path / "fig.csv", "--published")
    assert "printed by conneau2018 for another set of the same task, and not comparable with this one." in said.err
    assert {"human", "published"} < {row["mark"] for row in table(tmp_path / "fig.csv")}


def test_runs_are_drawn_together(figure, runs, tmp_path):
    words = ("-k", "heatmap", "--mode", "relative", "--relative-to", "st:a", "--on", "subj", "--width", "two")
    figure(*runs, *words, "-o", tmp_path / "fig.csv", "-o", tmp_path / "fig.svg")
    rows = table(tmp_path / "fig.csv")
    assert [row["encoder"] for row in rows] == ["st:a", "st:b"]
    assert float(rows[0]["ratio"]) == 1.0 > float(rows[1]["ratio"])
    assert f'width="{TWO_COLUMNS}pt"' in (tmp_path / "fig.svg").read_text("utf-8")


def test_options_that_would_have_no_effect_are_refused(figure, runs, tmp_path):
    for words, message in (
        (("-k", "heatmap", "--published"), "--published has no effect on --kind heatmap; it is for intervals"),
        (("-k", "heatmap", "--adjust", "bh"), "--adjust has no effect on --kind heatmap; it is for correlation"),
    ):
        with pytest.raises(UsageError, match=message):
            figure(runs[0], *words, "-o", tmp_path / "fig.csv")
    assert not (tmp_path / "fig.csv").exists()


def test_what_the_run_has_nothing_for(figure, runs, tmp_path):
    with pytest.raises(UsageError, match=r"several layers: sentprobe run -e 'hf:MODEL\?layer=\*'"):
        figure(runs[0], "-k", "layers", "-o", tmp_path / "fig.pdf")
    assert not (tmp_path / "fig.pdf").exists()


def test_one_column_is_three_point_three_inches():
    assert pytest.approx(3.3, abs=0.01) == ONE_COLUMN / 72
    assert pytest.approx(6.9, abs=0.01) == TWO_COLUMNS / 72
