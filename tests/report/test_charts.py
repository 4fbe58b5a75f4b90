"""Figures: their numbers, and that what is drawn of them is a drawing."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import vl_convert
from altair.vegalite.v6.schema import core
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.errors import UsageError
from sentprobe.report.charts import CHARTS, Options, chart
from sentprobe.report.charts.heatmap import chart as heatmap
from sentprobe.report.charts.intervals import chart as intervals
from sentprobe.report.charts.profiles import chart as profiles
from sentprobe.report.drawing.figure_style import (
    BLUES,
    DIVERGING,
    ONE_COLUMN,
    SCHEMA,
    TWO_COLUMNS,
    figure_style,
    ticks,
    wrap_title,
)
from sentprobe.report.drawing.lines import spread
from sentprobe.report.drawing.matrix import TEXT_COLOUR_THRESHOLDS
from sentprobe.report.types import (
    Bin,
    ColumnErrors,
    CorrelationCell,
    CorrelationMatrix,
    CurvePoint,
    Curves,
    FrequencyCurve,
    LanguageComparison,
    LayerTable,
    MapPoint,
    ProfilePoint,
    PublishedResult,
    SetErrors,
    SetRef,
    WordSpaces,
)
from sentprobe.report.verdict import BaselineComparison
from sentprobe.run.variant import VariantSummary
from tests.report.summaries import cell, column, set_summary, with_set
from tests.report.summaries import summary as written_summary

BASELINES = {"majority": 0.5, "length": 0.52, "nb-uni": 0.6, "nb-bi": 0.62, "baseline:hash": 0.65}
TASKS = ("bigram_shift", "tree_depth", "past_present")
PANELS = {"intervals", "controls", "length", "frequency", "criterion", "profiles"}
"""Kinds that have several panels with the summary below."""
KINDS = list(CHARTS.parts())
OF_RUNS = [kind for kind in KINDS if CHARTS[kind].needs_run]
"""All but those of encoders and sentences."""


def correlated(value, significant):
    return CorrelationCell(
        value=value, low=value - 0.1, high=value + 0.1, p=0.01, adjusted=0.02, n=12, significant=significant
    )


def learning(j):
    """Learning curves of an encoder and a baseline."""
    points = [
        {"rows": n, "accuracy": 0.5 + n / 4000 - 0.01 * j, "low": 0.45, "high": 0.8, "subsamples": 4}
        for n in (100, 200, 400)
    ]
    beside = {"majority": tuple({"rows": n, "accuracy": 0.5} for n in (100, 200, 400))}
    return VariantSummary(
        name="learning", of="learning", kind="measure", value=0.02, low=0.01 - 0.02 * j, high=0.03,
        points=tuple(points), baselines=beside,
    )  # fmt: skip


def norms(j):
    """Two bins of lengths, the norm falling from one to the other."""
    points = [
        {"from": 5, "to": 8, "n": 40, "length": 6.5, "norm": 2.0 + j, "low": 1.9 + j, "high": 2.1 + j},
        {"from": 9, "to": 9, "n": 30, "length": 9.0, "norm": 1.5 + j, "low": 1.4 + j, "high": 1.6 + j},
    ]
    return VariantSummary(
        name="norms", of="norms", kind="measure", value=-0.7, low=-0.8, high=-0.6, points=tuple(points)
    )


def controls():
    """One that may be compared with the score, one on other rows, and one that can only be at chance."""
    known = {"kind": "control", "low": 0.4, "high": 0.6, "n": 1000}
    return (
        VariantSummary(name="key", of="key", value=0.5, **known),
        VariantSummary(name="shuffled", of="shuffled", value=0.5, lost=0.1, **known),
        VariantSummary(name="permuted", of="permuted", value=0.55, lost=0.05, **known),
    )


def errors(encoders, word):
    """Two labels, and two bins of lengths."""
    bins = (
        Bin(low=5, high=8, n=50, correct=40, below=0.7, above=0.9),
        Bin(low=9, high=9, n=50, correct=25, below=0.4, above=0.6),
    )
    own = ColumnErrors(confusion=((40, 10), (0, 50)), pairs=(), length=bins, target=None, errors=(), label_counts=None)
    labels = (f"NN{word}", f"NNS{word}")
    return SetErrors(labels=labels, columns=(own,) * len(encoders), doubtful=(), easiest=())


def spaces(encoders, sets, word):
    """Two bands of frequency; and an alignment along the way, whose second epoch is the best."""
    bands = (
        Bin(low=1, high=100, n=40, correct=30, below=0.6, above=0.86),
        Bin(low=101, high=5000, n=40, correct=20, below=0.35, above=0.65),
    )
    ways = (("epoch", 1, 0.3), ("epoch", 2, 0.5), ("refine", 1, 0.4))
    return WordSpaces(
        frequency=tuple(FrequencyCurve(set=i, column=j, bands=bands) for i in sets for j in range(len(encoders))),
        maps=tuple(
            MapPoint(set=i, column=j, alignment=f"aligned-{j}{word}", seed=seed, stage=stage, number=number,
                     criterion=criterion + seed / 100, value=criterion - 0.1, low=0.1, high=0.5, chosen=False)
            for i in sets for j in range(len(encoders)) for seed in (0, 1) for stage, number, criterion in ways
        ),
    )  # fmt: skip


def summary(encoders=("st:a", "st:b"), tasks=TASKS, languages=("en", "fr"), word=""):
    """A summary by hand: a set per task and language, with everything that there is a figure of.

    ``word`` stands in every text.
    """
    human = PublishedResult(model="Human", kind="human", accuracy=0.95, paper=f"paper{word}", table="1")
    published = (
        PublishedResult(model=f"m{word}", kind="model", accuracy=0.75, paper="p", table="1"),
        PublishedResult(model="NB", kind="baseline", accuracy=0.1, paper="p", table="1"),
    )
    sets = [
        set_summary(
            f"xprobe2019/{task}{word}",
            [
                cell(
                    0.6 + 0.1 * i + 0.05 * j - 0.1 * k,
                    best=j == 1,
                    letters="a",
                    against=BaselineComparison("baseline:hash", 0.65, "above" if j else "below", 0.01, 2),
                )
                for j in range(len(encoders))
            ],
            [cell(value) for value in BASELINES.values()],
            task=f"{task}{word}",
            language=language + word,
            printed_for="this set",
            human=human,
            published=published,
            variants=tuple((*controls(), learning(j), norms(j)) for j in range(len(encoders))),
        )
        for i, task in enumerate(tasks)
        for k, language in enumerate(languages)
    ]
    many = range(len(sets))
    curves = {
        kind: tuple(
            CurvePoint(series=f"{kind}-{s}{word}", x=x, column=s % len(encoders), set=i, value=0.5 + 0.001 * x,
                       low=0.45, high=0.7)
            for s in range(2) for i in many for x in (64, 128, 512)
        )
        for kind in ("dimension", "epoch")
    }  # fmt: skip
    profiles = tuple(
        ProfilePoint(language=own.language, task=own.task, set=i, column=j, value=c.score.value, low=c.score.low,
                     high=c.score.high)
        for i, own in enumerate(sets) for j, c in enumerate(own.cells)
    )  # fmt: skip
    return written_summary(
        sets,
        [column(f"{name}{word}", probe="csls") for name in encoders],
        [column(name) for name in BASELINES],
        layers=(
            LayerTable(
                column=0,
                names=("0", "1", "2"),
                cells=tuple(
                    tuple(cell(0.5 + 0.1 * layer, by_dev=layer == 1) for _ in many) for layer in range(3)
                ),
            ),
        ),
        curves=Curves(**curves),
        correlations=CorrelationMatrix(
            kind="spearman", n=12, required=10, description="", adjust="holm",
            caption="adjusted by Holm over 3 pairs of sets, significant up to 5 %",
            rows=(SetRef(set=0, label="l"), SetRef(set=1, label="l")),
            columns=(SetRef(set=2, label="l"), SetRef(set=3, label="l")),
            cells=((correlated(0.8, True), correlated(-0.3, False)), (None, correlated(0.1, False))),
        ),
        languages=LanguageComparison(
            languages=tuple(language + word for language in languages), tasks=tuple(task + word for task in tasks),
            profiles=profiles, by_encoder=(), by_task=(),
        ),
        errors=tuple(errors(encoders, word) for _ in sets),
        word_spaces=spaces(encoders, many, word),
    )  # fmt: skip


def contrasted(word=""):
    """A probing set and triplets of the same property, for two encoders."""
    columns = [column(f"{name}{word}", probe=probe) for name in ("st:a", "st:b") for probe in ("linear", "cosine")]
    against = BaselineComparison(f"tf-idf{word}", 0.5, "above", 0.01, 2)
    sides = {
        "tense": [cell(0.9, against=against), None, cell(0.8, against=against), None],
        "triplets": [None, cell(0.3, against=against), None, cell(0.7, against=against)],
    }
    sets = [set_summary(f"x/tense{word}", cells, task=task) for task, cells in sides.items()]
    return written_summary(sets, columns)


def whole(kind, **more):
    """The summary with all that there is a figure of, or the one with triplets."""
    return contrasted(**more) if kind == "used" else summary(**more)


def small(kind, **more):
    """As few sets as show everything: two, or the four that correlations are between. Drawing them takes the time."""
    if kind == "used":
        return contrasted(**more)
    return summary(tasks=TASKS[: 2 if kind == "correlation" else 1], **more)


def options(kind, width="container", **more):
    one = {"sets": (0,), "columns": (1,)} if kind == "confusion" else {}
    return Options(width=width, **one, **more)


def drawn(spec):
    """The drawing, with what its marks are said to be."""
    wide = spec if spec.get("width") != "container" else {**spec, "width": 760}
    return vl_convert.vegalite_to_svg(wide, allowed_base_urls=[])


def marks(svg, kind):
    return len(re.findall(f'aria-roledescription="{kind}"', svg))


MODES = [(kind, {}) for kind in OF_RUNS] + [
    ("heatmap", {"mode": "above"}), ("heatmap", {"mode": "relative", "relative_to": 1}),
    ("heatmap", {"mode": "relative", "relative_to": "en"}), ("profiles", {"mode": "relative", "relative_to": "en"}),
    ("layers", {"lines": "encoder"}), ("dimensions", {"lines": "set"}), ("epochs", {"lines": "set"}),
    ("learning", {"lines": "set"}), ("frequency", {"lines": "encoder"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "more"), MODES, ids=str)
def test_every_spec_is_vega_lite_and_draws_its_rows(kind, more):
    rows, spec = chart(kind, small(kind), options(kind, ONE_COLUMN, **more))
    core.Root.validate({**spec, "data": {"values": spec["data"]["values"][:3]}})
    json.dumps(rows, allow_nan=False)
    assert spec["$schema"] == SCHEMA
    svg = drawn(spec)
    match kind:
        case "heatmap" | "confusion":
            assert marks(svg, "rect mark") == len(rows)
        case "correlation":
            assert marks(svg, "rect mark") == 3  # one is missing
        case "intervals":
            assert marks(svg, "point") == sum(row["mark"] is None for row in rows)
        case "controls":
            assert marks(svg, "point") == sum(row["column"] is not None for row in rows)
        case "profiles" if more:
            assert marks(svg, "rect mark") == len(rows)
        case "criterion":
            assert marks(svg, "point") == len(rows) + sum(row["ring"] is not None for row in rows)
        case _:
            assert marks(svg, "point") == len(rows)
            assert marks(svg, "line mark") >= 2
    assert _width(svg) <= 1.05 * ONE_COLUMN


def _width(svg):
    return float(re.search(r'width="([\d.]+)"', svg)[1])


@pytest.mark.parametrize("kind", sorted(PANELS))
def test_panels_share_the_width(kind):
    _, spec = chart(kind, summary(tasks=TASKS[:2]), options(kind, TWO_COLUMNS))
    assert 0.9 <= _width(drawn(spec)) / TWO_COLUMNS <= 1.05


def test_the_schema_is_that_of_the_program_that_draws():
    newest = max(vl_convert.get_vegalite_versions(), key=lambda v: tuple(map(int, v.split("."))))
    assert SCHEMA.endswith(f"/v{newest.split('.')[0]}.json")
    with pytest.raises(Exception, match="tpye"):
        core.Root.validate({"data": {"values": []}, "mark": {"tpye": "bar"}})


@pytest.mark.parametrize("kind", OF_RUNS)
def test_single_views_fill_a_container_and_panels_do_not(kind):
    _, spec = chart(kind, whole(kind), options(kind))
    if "concat" in spec:
        views = [view for panel in spec["concat"] for view in panel.get("vconcat", [panel])]
        assert all(isinstance(view["width"], float) for view in views)
    else:
        assert spec["width"] == "container"
    assert kind not in PANELS or "concat" in spec


HOSTILE = "'\"]alert(1)//</script>\\${x}\u202e\u2028\x00\ud800"


@pytest.mark.parametrize(("kind", "more"), MODES, ids=str)
def test_no_text_of_the_data_is_in_an_expression(kind, more):
    to = {"relative_to": f"en{HOSTILE}"} if more.get("relative_to") == "en" else {}
    rows, spec = chart(kind, small(kind, word=HOSTILE), options(kind, ONE_COLUMN, **{**more, **to}))
    assert "alert" in json.dumps(rows)
    for path, _ in _met(spec, ""):
        assert not re.search(r"\.(expr|calculate|signal|labelExpr|test|href|url)\b", path)
    for path, _ in _met(vl_convert.vegalite_to_vega(spec), "alert"):
        assert re.search(r"\.(values|domain|text|title|subtitle)\b[^.]*(\.\w+)?$", path), path
    svg = drawn(spec)
    assert "</script" not in svg
    assert "\u202e" not in svg
    ElementTree.fromstring(svg)


def _met(value, word, path=""):
    """Where texts with this word stand."""
    if isinstance(value, dict):
        for name, own in value.items():
            assert "alert" not in name
            yield from _met(own, word, f"{path}.{name}")
    elif isinstance(value, list):
        for i, own in enumerate(value):
            yield from _met(own, word, f"{path}[{i}]")
    elif isinstance(value, str) and word in value:
        yield path, value


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_needed_is_said_where_there_is_nothing_to_draw(kind):
    with pytest.raises(UsageError, match=r"needs?\b"):
        chart(kind, written_summary(columns=[column("st:a")]))


def test_other_kinds_and_metrics_are_refused():
    with pytest.raises(UsageError, match=r"no chart 'pie'.* Expected one of heatmap, intervals"):
        chart("pie", summary())
    with pytest.raises(UsageError, match="got one of log2_loss"):
        chart("heatmap", replace(summary(), metric="log2_loss"))


@pytest.mark.parametrize(("kind", "more"), MODES, ids=str)
def test_a_chart_says_which_fields_its_rows_have_and_which_options_it_reads(kind, more):
    found = CHARTS.get(kind)
    rows = found.rows(whole(kind), options(kind, **more))
    names = {name for row in rows for name in row}
    assert "text" in names
    assert set(more) <= set(found.options)
    assert found.page is None or {name for name, _ in found.page.columns} <= names - {"text"}


def test_the_docs_have_every_chart_in_its_order_with_its_options():
    docs = (Path(__file__).parents[2] / "docs/figure.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (.*?) \| (.*?) ?\|$", docs, re.MULTILINE)
    assert rows == [(c.name, c.doc, "; ".join(c.options.values())) for c in CHARTS.parts().values()]
    gallery = docs.split("## Gallery")[1]
    assert re.findall(r"^### ([\w-]+)$", gallery, re.MULTILINE) == KINDS


# Each figure's numbers


def test_a_heat_map_has_every_cell_with_what_it_is_seen_beside():
    given = summary(languages=("en",))
    given = with_set(given, 1, cells=(None, None), failed={1: "out of memory"})
    rows = heatmap.rows(given, Options())
    assert [(row["set"], row["column"]) for row in rows] == [(i, j) for i in range(3) for j in range(2)]
    first = rows[0]
    assert (first["set_name"], first["encoder_name"], first["task"]) == ("bigram_shift", "st:a", "bigram_shift")
    assert first["value"] == 0.6
    assert first["above"] == pytest.approx(-0.05)
    assert (first["points"], first["points_above"]) == (60.0, -5.0)
    assert first["text"].startswith("st:a on bigram_shift: 60.0 (58.0 to 62.0); not significantly better than the best")
    assert first["text"].endswith("baseline: baseline:hash, 65.0")
    assert rows[1]["text"] == "st:b on bigram_shift: 65.0 (63.0 to 67.0); best baseline: baseline:hash, 65.0"
    assert [(row["verdict"], row["marked"]) for row in rows[:2]] == [("below", True), ("above", False)]
    assert [row["points"] for row in rows[2:4]] == [None, None]
    assert [row["text"] for row in rows[2:4]] == ["st:a on tree_depth: no result", "st:b on tree_depth: failed"]
    assert drawn(heatmap.spec(rows, Options())).count(">–<") == 2
    assert drawn(heatmap.spec(rows, Options())).count(">†<") == sum(row["marked"] for row in rows) == 2


def test_ratios_are_to_an_encoder_or_to_the_same_task_in_a_language():
    rows = heatmap.rows(summary(), Options(relative_to=0))
    assert [row["ratio"] for row in rows if row["column"] == 0] == [1.0] * 6
    assert rows[1]["ratio"] == pytest.approx(0.65 / 0.6, abs=1e-6)
    rows = heatmap.rows(summary(), Options(relative_to="en"))
    assert [row["ratio"] for row in rows if row["language"] == "en"] == [1.0] * 6
    assert rows[2]["ratio"] == pytest.approx(0.5 / 0.6, abs=1e-6)
    assert {row["ratio"] for row in heatmap.rows(summary(), Options(relative_to="pl"))} == {None}


def test_the_longer_side_of_a_heat_map_goes_down():
    wide = heatmap.draw(summary([f"st:{i}" for i in range(9)]), Options())[1]
    assert wide["encoding"]["y"]["field"] == "encoder_name"
    assert heatmap.draw(summary(), Options())[1]["encoding"]["y"]["field"] == "set_name"


def test_numbers_are_left_out_of_cells_that_have_no_room():
    def texts(many):
        given = summary([f"st:{i}" for i in range(many)], [f"task{i}" for i in range(many)], ["en"])
        _, spec = heatmap.draw(given, Options(width=ONE_COLUMN))
        return [layer["encoding"]["text"].get("format") for layer in spec["layer"][1:-1]]

    assert texts(4) == [".1f", ".1f", None]  # the last is the mark
    assert texts(12) == [".0f", ".0f", None]
    assert texts(40) == []


def _luminance(colour):
    """Relative luminance as WCAG 2 defines it, of shares of red, green and blue."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(("ramp", "kind"), [(BLUES, "more"), (DIVERGING, "both")])
def test_numbers_can_be_read_on_every_colour(ramp, kind):
    def parts(colour):
        return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])

    turns, inks = TEXT_COLOUR_THRESHOLDS[kind]
    for t in np.linspace(0, 1, 101):
        i = min(int(t * (len(ramp) - 1)), len(ramp) - 2)
        between = t * (len(ramp) - 1) - i
        below = _luminance((1 - between) * parts(ramp[i]) + between * parts(ramp[i + 1]))
        above = _luminance(parts(inks[sum(t >= turn for turn in turns)]))
        assert (max(below, above) + 0.05) / (min(below, above) + 0.05) > 3.9


def test_one_is_white_in_the_middle_of_ratios():
    _, spec = chart("heatmap", summary(), Options(mode="relative", relative_to=0))
    scale = spec["layer"][0]["encoding"]["fill"]["scale"]
    middle = len(scale["domain"]) // 2
    assert (scale["domain"][middle], scale["range"][middle]) == (pytest.approx(1.0), "#ffffff")


def test_intervals_have_the_marks_of_the_same_rows():
    given = summary(languages=("en",))
    sets = [replace(own, baselines=(*own.baselines, cell(0.99))) for own in given.sets]
    # of a sample that no encoder was tested on
    given = replace(given, sets=tuple(sets), baselines=(*given.baselines, column("nb-uni", limit=100)))
    rows = intervals.rows(given, Options(sets=(0,)))
    assert [(row["mark"], row["model"], row["value"]) for row in rows if row["mark"]] == [
        ("majority", "majority", 0.5),
        ("length", "length", 0.52),
        ("naive Bayes", "nb-bi", 0.62),
        ("other baseline", "baseline:hash", 0.65),
        ("human", "human (paper)", 0.95),
        ("published", "m (p)", 0.75),
    ]
    assert [(row["encoder_name"], row["filled"]) for row in rows if not row["mark"]] == [
        ("st:a", False),
        ("st:b", True),
    ]
    for alone, filled in ((0, False), (1, True)):
        rows = intervals.rows(given, Options(sets=(0,), columns=(alone,)))
        assert [(row["filled"], row["marked"]) for row in rows if not row["mark"]] == [(filled, not filled)]
    assert drawn(intervals.draw(given, Options())[1]).count(">†<") == 3


def test_printed_numbers_of_other_sets_say_so():
    given = with_set(summary(languages=("en",)), 0, printed_for="another set")
    found = [row["model"] for row in intervals.rows(given, Options(sets=(0,))) if row["mark"] in ("human", "published")]
    assert found == ["human (paper, another set)", "m (p, another set)"]


def test_layers_are_compared_with_the_best_baseline_and_people():
    _, spec = chart("layers", summary())
    lines = [layer for layer in spec["concat"][0]["layer"] if "data" in layer]
    assert [layer["data"]["values"][0]["points"] for layer in lines] == [65.0, 95.0]
    low, high = lines[0]["encoding"]["y"]["scale"]["domain"]
    assert low <= 65 <= 95 <= high
    by_set, _ = chart("layers", summary(), Options(lines="set"))
    assert by_set
    assert not [layer for layer in chart("layers", summary(), Options(lines="set"))[1]["layer"] if "data" in layer]


def test_layers_are_numbers_where_they_can_be():
    rows, spec = chart("layers", summary())
    assert [row["x"] for row in rows[:3]] == [0, 1, 2]
    assert [row["by_dev"] for row in rows[:3]] == [False, True, False]
    given = summary()
    (table,) = given.layers
    rows, spec = chart("layers", replace(given, layers=(replace(table, names=(None, "first-last", "2")),)))
    assert spec["concat"][0]["encoding"]["x"]["scale"]["domain"] == ["–", "first-last", "2"]


def test_sizes_that_differ_much_are_on_a_logarithmic_axis():
    def scale(sizes):
        given = summary()
        points = [replace(p, x=x) for p, x in zip(given.curves.dimension, sizes * 100, strict=False)]
        given = replace(given, curves=Curves(dimension=tuple(points)))
        _, spec = chart("dimensions", given, Options(lines="set", columns=(0,)))
        return spec["encoding"]["x"]["scale"]["type"]

    assert scale([64, 128, 512]) == "log"
    assert scale([100, 300, 500]) == "linear"


def test_accuracy_by_length_is_at_the_middle_of_a_bin():
    rows, _ = chart("length", summary(languages=("en",)), Options(sets=(0,), columns=(0,)))
    assert [(row["from"], row["to"], row["x"], row["value"]) for row in rows] == [(5, 8, 6.5, 0.8), (9, 9, 9.0, 0.5)]
    assert rows[1]["text"] == "st:a, bigram_shift, 9 tokens, 50 rows: 50.0 (40.0 to 60.0)"


def test_what_is_not_significant_is_grey():
    rows, spec = chart("correlation", summary())
    assert [(row["value"], row["drawn"]) for row in rows] == [(0.8, True), (-0.3, False), (None, False), (0.1, False)]
    svg = drawn(spec)
    assert svg.count('fill="#dedede"') == 2
    assert svg.count(">–<") == 1


def test_profiles_take_the_first_set_of_a_task_and_language():
    given = summary()
    again = replace(given.languages.profiles[0], set=1, value=0.1)
    given = replace(given, languages=replace(given.languages, profiles=(*given.languages.profiles, again)))
    rows = profiles.rows(given, Options(relative_to="en"))
    assert len(rows) == 12
    assert [row["language"] for row in rows] == ["en"] * 6 + ["fr"] * 6
    assert rows[6]["ratio"] == pytest.approx(0.5 / 0.6, abs=1e-6)
    with pytest.raises(UsageError, match="the run has en, fr"):
        chart("profiles", given, Options(mode="relative", relative_to="pl"))
    with pytest.raises(UsageError, match="absolute or relative"):
        chart("profiles", given, Options(mode="above"))


def test_a_confusion_matrix_is_of_one_set_and_encoder():
    rows, _ = chart("confusion", summary(), Options(sets=(0,), columns=(0,)))
    assert [(row["truth"], row["predicted"], row["n"], row["share"]) for row in rows] == [
        ("NN", "NN", 40, 0.8), ("NN", "NNS", 10, 0.2), ("NNS", "NN", 0, 0.0), ("NNS", "NNS", 50, 1.0),
    ]  # fmt: skip
    with pytest.raises(UsageError, match=r"choose one with --on: bigram_shift \(en\)"):
        chart("confusion", summary())
    with pytest.raises(UsageError, match=r"choose one with --encoder: st:a, st:b"):
        chart("confusion", summary(), Options(sets=(0,)))


def test_a_set_that_is_not_scored_by_accuracy_has_its_own_title():
    given = with_set(summary(languages=("en",)), 1, scored_by="pearson")
    svg = drawn(chart("intervals", given, Options(width=TWO_COLUMNS))[1])
    assert "Pearson × 100" in svg
    assert "accuracy (%)" in svg
    assert "accuracy or correlation" in drawn(chart("heatmap", given, Options(width=TWO_COLUMNS))[1])


# Places


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20))
def test_ticks_enclose_the_values_and_are_even(values):
    found = ticks(values)
    assert found[0] <= min(values) <= max(values) <= found[-1] <= 100
    assert 3 <= len(found) <= 6
    assert len({b - a for a, b in pairwise(found)}) == 1


def test_ticks_of_what_is_known():
    assert ticks([48.2, 56.9]) == [48, 50, 52, 54, 56, 58]
    assert ticks([0.1, 99.0]) == [0, 20, 40, 60, 80, 100]
    assert ticks([100.0]) == [96, 98, 100]
    assert ticks([None]) == [0, 20, 40, 60, 80, 100]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12), st.floats(0.1, 8))
def test_labels_are_moved_apart_in_their_order(values, apart):
    found = spread(values, apart, 0, 100)
    ordered = sorted(zip(values, found, strict=True))
    assert all(b[1] - a[1] > apart - 1e-6 for a, b in pairwise(ordered))
    assert -1e-6 <= min(found) <= max(found) <= 100 + 1e-6


def test_labels_that_are_far_apart_stay_where_they_are():
    assert spread([10.0, 90.0, 50.0], 5, 0, 100) == [10.0, 90.0, 50.0]
    assert spread([50.0, 50.0], 10, 0, 100) == [45.0, 55.0]


def test_titles_are_broken_where_it_reads_well():
    at = figure_style(ONE_COLUMN)
    assert wrap_title(at, "passive", 80) == ["passive"]
    assert wrap_title(at, "conneau2018/bigram_shift", 70) == ["conneau2018/", "bigram_shift"]
    assert wrap_title(at, "coordination_inversion", 60) == ["coordination_", "inversion"]


def test_controls_on_the_same_rows_are_drawn_with_the_score_and_the_best_baseline():
    rows, _ = chart("controls", summary())
    first = [row for row in rows if row["set"] == 0]
    assert [(row["encoder_name"], row["control"]) for row in first] == [
        ("st:a", "score"), ("st:a", "permuted"), ("st:b", "score"), ("st:b", "permuted"), (None, "best baseline"),
    ]  # fmt: skip
    assert [row["points"] for row in first if row["control"] == "permuted"] == [55.0, 55.0]
    assert first[-1]["points"] == 65.0
