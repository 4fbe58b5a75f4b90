"""Differences from published results: from the best model or the one that was named, in every kind of table."""

from dataclasses import replace

import pytest

from sentprobe.errors import UsageError
from sentprobe.published import published
from sentprobe.report import summarise
from sentprobe.report.notebook import Report
from sentprobe.report.published import LEGEND, check_published, choose_published, compared, difference_table
from sentprobe.report.tables import markdown
from sentprobe.report.types import PublishedResult
from sentprobe.results.log import open_log
from sentprobe.results.run import Run
from tests.report.runs import SUBJ, result
from tests.report.test_sets import SENTEVAL


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two encoders on a set that is SentEval's, and on one of somebody's own."""
    folder = tmp_path_factory.mktemp("differences") / "run"
    with open_log(folder) as log:
        described = []
        for name, said in ((SUBJ, {"content": SENTEVAL}), ("own/colour", {})):
            records = [result(encoder, name, language="en") for encoder in ("st:a", "st:b")]
            first = records[0][0].cell
            described.append({"name": name, "digest": first.data, "task": first.task, "source": None, **said})
            for record, arrays in records:
                log.add(record, arrays)
        log.describe(encoders=["st:a", "st:b"], datasets=described)
    return Run.load(folder)


def test_the_best_model_of_the_set_is_the_default(run):
    summary = summarise(run)
    printed = compared(next(s for s in summary.sets if s.name == SUBJ))
    # Conneau et al. (2018), table 4, column SubjNum
    assert (printed.model, printed.accuracy) == ("BiLSTM-max Seq2Tree", 0.918)
    assert printed.accuracy == max(row.accuracy for row in summary.sets[0].published if row.kind == "model")
    table = difference_table(summary)
    title, (names, value, *encoders) = table.title, table.columns
    assert [cell.text for cell in names.cells] == [SUBJ]  # nothing was printed for the other set
    assert printed.model in title
    assert value.cells[0].text == f"{100 * printed.accuracy:.1f}"
    own = summary.sets[0].cells[0].score
    assert encoders[0].cells[0].text == f"{100 * (own.value - printed.accuracy):+.1f}"
    assert encoders[0].cells[0].margin.startswith("±")
    assert len(encoders) == 2


def test_tables_and_pages_show_them_with_what_they_are_for(run):
    summary = summarise(run)
    text = markdown(summary)
    assert "Differences from published results, in points" in text
    assert LEGEND in text
    assert "published: printed by conneau2018 for this very set" in text
    page = Report.of(run, against="BiLSTM-max NLI").html()
    assert "Published results" in page
    assert "from BiLSTM-max NLI" in page


@pytest.mark.parametrize("text", ["BiLSTM-max NLI", "bilstm-MAX nli", "max NLI"])
def test_a_model_is_named_by_any_part_that_only_it_has(run, text):
    summary = choose_published(summarise(run), text)
    # Conneau et al. (2018), table 4: BiLSTM-max NLI, SubjNum
    assert [row.model for s in summary.sets for row in s.published if row.compared] == ["BiLSTM-max NLI"]
    assert "Majority vote" in str(choose_published(summary, "majority").sets[0].published)


def test_a_name_that_fits_none_or_several_is_refused(run):
    with pytest.raises(UsageError, match=r"fits .*BiLSTM-max NLI.*; expected one of them"):
        choose_published(summarise(run), "bilstm")
    with pytest.raises(UsageError, match="no such model was printed"):
        choose_published(summarise(run), "BERT-9000")


def test_of_a_model_that_two_tables_have_the_table_is_named(run):
    """Conneau (2019) has SkipThought on MR at 79.4 in table 3.3, and at 76.5, quoted from elsewhere, in table 3.7."""
    rows = [row for row in published("MR") if row.model == "SkipThought"]
    printed = tuple(
        PublishedResult(model=r.model, kind=r.kind, accuracy=r.value, paper=r.paper, table=r.table) for r in rows
    )
    assert [(row.table, row.accuracy) for row in printed] == [("3.3", 0.794), ("3.7", 0.765)]
    summary = summarise(run)
    twice = replace(summary, sets=(replace(summary.sets[0], published=printed), *summary.sets[1:]))
    with pytest.raises(UsageError, match=r"fits SkipThought, table 3\.3, SkipThought, table 3\.7; expected one"):
        choose_published(twice, "skipthought")
    chosen = choose_published(twice, "SkipThought, table 3.7")
    assert compared(chosen.sets[0]).accuracy == 0.765
    title = difference_table(chosen).title
    assert title.endswith("from SkipThought, table 3.7")


def test_where_nothing_was_printed_there_is_no_table(run):
    from dataclasses import replace

    summary = summarise(run)
    alone = replace(summary, sets=tuple(s for s in summary.sets if s.name != SUBJ))
    assert difference_table(alone) is None
    assert LEGEND not in markdown(alone)
    with pytest.raises(UsageError, match="--published adds"):
        choose_published(alone, "BiLSTM-max NLI")
    assert difference_table(summarise(run, metric="macro_f1")) is None


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """One encoder on samples of SentEval's set, and another on all of it."""
    folder = tmp_path_factory.mktemp("limited") / "run"
    with open_log(folder) as log:
        for record, arrays in (result("st:a", SUBJ, limit=100), result("st:b", SUBJ, limit=None)):
            log.add(record, arrays)
        first = record.cell
        described = {"name": SUBJ, "digest": first.data, "task": first.task, "source": None, "content": SENTEVAL}
        log.describe(encoders=["st:a", "st:b"], datasets=[described])
    return Run.load(folder)


def test_scores_of_a_sample_are_not_compared_with_published_ones(limited):
    _, _, *encoders = difference_table(summarise(limited)).columns
    shown = {column.heading[0]: column.cells[0].text for column in encoders}
    assert shown["st:a"] == "–"
    assert shown["st:b"].startswith("-")  # 80 % of the rows, where the best model has 91.8

    alone = replace(limited, results=tuple(r for r in limited.results if r.cell.limit))
    for others in (False, True):
        summary = summarise(alone, published=others)
        (own,) = summary.sets
        assert own.published == ()
        assert difference_table(summary) is None
        assert (own.human is None, own.printed_for) == (False, "the whole set")  # what people can do is still shown
        for text in (markdown(summary), Report.of(alone, published=others).html()):
            assert "for this very set" not in text
            assert "Differences from published" not in text
            assert "Seq2Tree" not in text
        with pytest.raises(UsageError, match="scores of a sample"):
            choose_published(summary, "BiLSTM-max NLI")
        with pytest.raises(UsageError, match="--published adds nothing: scores of a sample"):
            check_published(summary, True)
