"""Charts, sections and checks of other packages: one file each, and they are on the page."""

import re

import pytest

from sentprobe.cli import app
from sentprobe.errors import SentProbeWarning, UsageError
from sentprobe.report import Report
from sentprobe.report.charts import CHARTS
from sentprobe.report.checks import CHECKS
from sentprobe.report.page import SECTIONS
from tests.plugins import plugin  # noqa: F401 - a fixture
from tests.report.runs import SETS, beside, result, written
from tests.report.test_page import data_of, sections

CHART = """
from sentprobe.report.drawing import Chart, OnPage, figure_style, single_view


def rows(summary, options):
    return [
        {"set_name": own.label, "classes": own.classes, "text": f"{own.label}: {own.classes} classes"}
        for i, own in enumerate(summary.sets)
        if not options.sets or i in options.sets
    ]


def spec(rows, options):
    x, y = {"field": "classes", "type": "quantitative"}, {"field": "set_name", "type": "nominal"}
    return single_view({"mark": "bar", "encoding": {"x": x, "y": y}}, rows, figure_style(options.width))


chart = Chart(
    name="classes", title="Classes of each set", doc="the number of classes", needs="This needs a set.", rows=rows,
    spec=spec, fields=("set_name", "classes"), caption="Classes <b>by</b> set.",
    page=OnPage(section="SECTION", heading="How many classes", caption="Bars & classes.",
                columns=(("set_name", "Set"), ("classes", "Classes"))),
)
"""
SECTION = """
from sentprobe.report.page import Section

section = Section(
    name="sizes", order=75, title="Sizes & more", intro="Rows <by> split.",
    template="<p class='size'>{{ greeting }}: {{ summary.sets | length }} sets, {{ macros.name('a/b') }}</p>",
    data=lambda page: {"greeting": "<script>window.hurt = 1</script>"},
    script="document.querySelector('.size').dataset.ran = window.sentprobe.data.sections.sizes.word;",
    script_data=lambda page: {"word": "yes"}, style=".size { color: rgb(1, 2, 3) }",
)
"""
CHECK = """
from sentprobe.report.check import Check, CheckFinding

check = Check(
    name="too-few-sets", advice="Add `more` sets.",
    find=lambda summary: CheckFinding("issue", "Few <sets>", f"{len(summary.sets)} sets are few.", ["everywhere"]),
)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    records = [result("st:good", s, p=0.9) for s in SETS]
    return written(tmp_path_factory.mktemp("own") / "run", *records, *beside())


@pytest.mark.parametrize(("section", "place"), [("quality", "quality"), ("nowhere", "more_charts")])
def test_a_chart_is_on_the_page_in_its_section(plugin, run, section, place):  # noqa: F811
    plugin("charts", CHART.replace("SECTION", section))
    page = Report.of(run).html()
    body = page.split(f'<section id="{place}"')[1].split("</section>")[0]
    assert 'data-chart="classes"' in body
    assert "<h3>How many classes</h3>" in body
    assert "Bars &amp; classes." in body
    assert data_of(page)["figures"]["classes"]["rows"]["classes"] == [2, 2]


def test_a_chart_is_a_figure(plugin, run, tmp_path, capsys):  # noqa: F811
    plugin("charts", CHART)
    words = ["figure", str(run.folder), "--kind", "classes", "-o", str(tmp_path / "fig.csv"), "-o"]
    assert app([*words, str(tmp_path / "fig.svg")], result_action="return_value", exit_on_error=False) == 0
    assert (tmp_path / "fig.csv").read_text("utf-8").splitlines() == [
        "set_name,classes", "Subject number,2", "Bigram shift,2"
    ]  # fmt: skip
    assert "<svg" in (tmp_path / "fig.svg").read_text("utf-8")
    assert "For the caption: Classes <b>by</b> set." in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"--lines has no effect on --kind classes; it is for layers"):
        app([*words, str(tmp_path / "x.svg"), "--lines", "set"], result_action="return_value", exit_on_error=False)
    with pytest.raises(UsageError, match="Did you mean classes"):
        CHARTS.get("clases")


def test_a_section_is_on_the_page_and_escaped(plugin, run):  # noqa: F811
    plugin("sections", SECTION)
    page = Report.of(run).html()
    assert sections(page)[-3:] == ["sizes", "reproduce", "absent"]
    assert '<a href="#sizes">Sizes &amp; more</a>' in page
    assert "Rows &lt;by&gt; split." in page
    assert "<p class='size'>&lt;script&gt;window.hurt = 1&lt;/script&gt;: 2 sets, <bdi" in page
    assert "a/<wbr>b" in page
    assert data_of(page)["sections"]["sizes"] == {"word": "yes"}
    assert "unsafe" not in re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0]


def test_a_check_is_on_the_page_and_in_the_summary(plugin, run):  # noqa: F811
    plugin("checks", CHECK)
    report = Report.of(run)
    (found,) = [check for check in report.summary.checks if check.code == "too-few-sets"]
    assert (found.level, found.where, found.docs) == ("issue", ("everywhere",), "")
    body = report.html().split('<section id="checks"')[1].split("</section>")[0]
    assert "Few &lt;sets&gt;" in body
    assert "2 sets are few." in body
    assert "Add <code>more</code> sets." in body


def test_they_are_gone_after_the_test():
    for kind, name in ((CHARTS, "classes"), (SECTIONS, "sizes"), (CHECKS, "too-few-sets")):
        assert name not in kind.parts()


@pytest.mark.parametrize(
    ("group", "source", "message"),
    [
        ("charts", CHART.replace('"classes": own.classes', '"classes": own.clases'), "The chart classes is left out"),
        ("sections", SECTION.replace("greeting }}", "nothing }}"), "The section sizes is left out"),
        ("sections", SECTION.replace('"yes"', "page"), "The section sizes is left out"),
        ("checks", CHECK.replace("len(", "max("), "The check too-few-sets is left out"),
        ("sections", SECTION.replace(".size { ", "</STYLE>"), "cannot be loaded: .*contains </style"),
        ("checks", "check = 1", "Expected .* to hold a sentprobe Check, .* got int"),
    ],
)
def test_one_that_fails_is_left_out_and_the_rest_is_shown(plugin, run, group, source, message):  # noqa: F811
    plugin(group, source)
    with pytest.warns(SentProbeWarning, match=message):
        page = Report.of(run).html()
    assert sections(page) == ["results", "checks", "intervals", "quality", "reproduce", "absent"]
