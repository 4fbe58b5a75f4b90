"""A word evaluation of another package is one file: legend, tables and options follow from it."""

import pytest

from sentprobe.errors import UsageError
from sentprobe.lab.cli.words import _directions, _evaluations, _options
from sentprobe.lab.extensions._word_tables import word_tables
from sentprobe.report.legend import legend
from sentprobe.run.repeat import repeat
from tests.plugins import plugin  # noqa: F401 - a fixture
from tests.report.summaries import cell, column, set_summary, summary

ANALOGY = """
from sentprobe.lab.words.evaluation import DetailNumber, WordEvaluation

word_evaluation = WordEvaluation(
    name="analogy", summary="the fourth word of an analogy", task="word_analogy", metric="precision@1", files=1,
    question="Which word is to this one as the second is to the first?", read=None, find_queries=None, score=None,
    retrieves=False, directed=False, options=("pos",), set_note="share of analogies that are solved, in points.",
    table_title="analogies solved, and how many", numbers=(DetailNumber("solved", "solved", 1, 0),),
)
"""


@pytest.fixture
def analogy(plugin):  # noqa: F811 - the fixture
    plugin("word_evaluations", ANALOGY, "analogy")


def test_its_legend_and_its_table_are_of_its_file(analogy):
    columns = [column("en-fr", probe=name, label=("en-fr", name)) for name in ("nn", "csls")]
    cells = [cell(0.6, details={"solved": 12.0}, signatures=("same",)) for _ in columns]
    words = summary([set_summary("analogy/en", cells, task="word_analogy", scored_by="precision@1")], columns)
    assert not words.kind.trains_probes
    lines = legend(words)
    assert "analogy/en: share of analogies that are solved, in points." in lines
    assert "analogy/en: the same for every retrieval." in lines
    (table,) = word_tables(words)
    assert table.title == "analogy/en: analogies solved, and how many"
    assert [c.title for c in table.columns] == ["system", "precision@1", "solved"]
    assert [c.text for c in table.columns[2].cells] == ["12"]


def test_its_options_and_directions_are_of_its_file(analogy):
    named = _evaluations([], [], [], [], 0, ["analogy=analogies.txt"])
    assert named == [("analogy", ("analogies.txt",))]
    assert _directions("analogy", reverse=False, both=True) == (False,)
    assert _options({"pos": "pos.txt"}, named) == {"analogy": {"pos": "pos.txt"}}
    with pytest.raises(UsageError, match=r"--unit is for --sentences: leave it out"):
        _options({"unit": True}, named)


def test_its_results_are_not_repeated_alone(analogy):
    signature = "task=word_analogy.v1|data=analogy/en#00|enc=en-fr|probe=nn|n=0/0/20|seed=0|sentprobe=0.1.0"
    with pytest.raises(UsageError, match="is of `sentprobe words`, whose results are not repeated alone"):
        repeat(signature)
