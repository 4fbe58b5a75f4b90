"""What is known about a set: its audit, where it came from, and what papers printed of the suite's own set."""

from dataclasses import asdict

import pytest

from sentprobe.errors import UsageError
from sentprobe.published import published
from sentprobe.published.releases import releases
from sentprobe.report import summarise
from sentprobe.report.legend import legend
from sentprobe.report.published import MAX_PUBLISHED_ROWS, check_published
from sentprobe.report.tables import latex, markdown
from sentprobe.report.types import AuditFinding
from sentprobe.results.log import open_log
from sentprobe.results.run import Run
from tests.report.runs import SUBJ, result
from tests.report.summaries import summary as written_summary


def only(folder, dataset=SUBJ, *, language="en", probe="linear", source=None, published=False, **said):
    """What the summary says of the one set of a run, of which run.json says this."""
    record, arrays = result("st:a", dataset, language=language, probe=probe)
    about = {"name": dataset, "digest": record.cell.data, "task": record.cell.task, "source": source, **said}
    with open_log(folder) as log:
        log.describe(encoders=["st:a"], datasets=[about])
        log.add(record, arrays)
    (found,) = summarise(Run.load(folder), published=published).sets
    return found


def source(kind, *paths, **more):
    return {"kind": kind, "paths": list(paths), "name": "", "task": "", "language": None, **more}


def test_of_a_set_of_which_nothing_is_known(tmp_path):
    found = only(tmp_path / "run", "own/colour")
    assert (found.audit, found.corpus, found.source, found.inputs, found.published) == (
        None, None, None, (), (),
    )  # fmt: skip


def test_the_findings_of_an_audit_are_kept_short(tmp_path):
    finding = {"code": "small-test", "severity": "warning", "message": "te has 96 rows", "advice": "more", "count": 96}
    found = only(tmp_path / "run", audit=[finding, finding | {"severity": "note"}, finding])
    assert [each.severity for each in found.audit] == ["warning", "note", "warning"]
    assert found.audit[0] == AuditFinding(code="small-test", severity="warning", message="te has 96 rows")
    assert only(tmp_path / "sound", audit=[]).audit == ()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (source("made", "/home/me/sets/conneau2018/subj_number"), "made by sentprobe: sets/conneau2018/subj_number"),
        (source("xprobe", "/x/en/subj/tr.txt", "/x/en/subj/te.txt"), "files in X-Probe's format: x/en/subj"),
        (source("table", "a.csv"), "a table: a.csv"),
        (source("CR", "/CR"), "CR: CR"),
    ],
)
def test_where_it_came_from(tmp_path, given, text):
    found = only(tmp_path / "run", source=given, corpus="en_ewt", inputs=["word"])
    assert (found.source, found.corpus, found.inputs) == (text, "en_ewt", ("word",))


# What papers printed


def digests(suite, task, language="en", by=None):
    """What run.json says of the content of a set that was released."""
    found = [r for r in releases() if (r.suite, r.task, r.language) == (suite, task, language) and by in (None, r.by)]
    return {found[0].by: found[0].digest}


SENTEVAL = digests("conneau2018", "subj_number", by="file")


def test_a_folder_that_is_called_like_a_suite_is_not_its_set(tmp_path):
    found = only(tmp_path / "run", SUBJ)
    assert (found.printed_for, found.human, found.published) == (None, None, ())
    found = only(tmp_path / "synthetic", SUBJ, content={"te": "0" * 32, "all": "1" * 32}, rows={"tr": 100_000})
    assert (found.printed_for, found.human, found.published) == (None, None, ())


def test_a_released_file_is_known_under_any_name(tmp_path):
    found = only(tmp_path / "run", "mine/colours", content=SENTEVAL)
    assert found.printed_for == "this set"
    # Conneau et al. (2018), table 2, column SubjNum
    assert found.human.accuracy == 0.88
    assert {row.paper for row in found.published} == {"conneau2018"}


def test_of_a_part_it_is_said_that_the_numbers_are_of_the_whole(tmp_path):
    content = digests("conneau2018", "past_present", by="all")
    found = only(tmp_path / "run", "probing/past_present", content=content, rows={"tr": 5162, "va": 680, "te": 646})
    assert (found.printed_for, found.human.accuracy) == ("the whole set", 0.85)
    te = digests("transfer", "TREC")
    assert only(tmp_path / "other tr", "TREC", content=te, rows={"tr": 100}).printed_for == "the whole set"
    assert only(tmp_path / "same tr", "TREC", content=te, rows={"tr": 5452}).printed_for == "this set"


@pytest.mark.parametrize(("probe", "table"), [("linear", "4"), ("senteval", "4"), ("mlp", "2"), ("unknown", "2")])
def test_the_table_with_the_same_kind_of_probe(tmp_path, probe, table):
    found = only(tmp_path / "run", probe=probe, content=SENTEVAL).published
    assert {(row.paper, row.table) for row in found} == {("conneau2018", table)}
    assert len(found) == 30  # rows of either table: 24 models, 5 baselines, people
    # Conneau et al. (2018), column SubjNum of tables 2 and 4, first row
    assert asdict(found[0]) == {
        "model": "Majority vote", "kind": "baseline", "accuracy": 0.5, "paper": "conneau2018", "table": table,
        "compared": False,
    }  # fmt: skip


def test_printed_rows_are_of_the_language_of_the_set(tmp_path):
    assert only(tmp_path / "conneau", language="pl", published=True).published == ()
    polish = only(tmp_path / "pl", "universal2019/subj_number", language="pl", published=True).published
    assert [(row.model, row.accuracy) for row in polish] == [
        (row.model, row.value) for row in published("subj_number", suite="universal2019", language="pl")
    ]


def test_sets_of_xprobe(tmp_path):
    content = digests("xprobe2019", "subj_number", "fr")
    french = only(tmp_path / "run", "fr/subj_number", language="fr", content=content)
    assert french.printed_for == "the whole set"  # there is nothing to learn from
    assert [(row.model, row.accuracy) for row in french.published] == [
        (row.model, row.value) for row in published("subj_number", suite="xprobe2019", language="fr")
    ]
    given = source("xprobe", "/x/fr/subj_number/te.txt")
    assert only(tmp_path / "same place", "subj_number", language="fr", source=given).published == ()
    others = only(tmp_path / "others", "subj_number", language="fr", source=given, published=True)
    assert (others.printed_for, {row.paper for row in others.published}) == ("another set", {"xprobe2019"})


def test_of_many_printed_rows_the_best_models_are_kept(tmp_path):
    found = only(tmp_path / "run", "CR", language=None, content=digests("transfer", "CR")).published
    every = [row for row in published("CR", suite="transfer") if row.metric == "accuracy"]
    assert len(found) == MAX_PUBLISHED_ROWS < len(every)
    kinds = [row.kind for row in found]
    assert kinds.count("baseline") == sum(row.kind == "baseline" for row in every)
    worst = min(row.accuracy for row in found if row.kind == "model")
    shown = {(row.model, row.accuracy) for row in found}
    assert all(row.value <= worst for row in every if row.kind == "model" and (row.model, row.value) not in shown)


def test_without_a_language_nothing_is_said_of_a_task_that_was_printed_in_many(tmp_path):
    assert only(tmp_path / "none", "XNLI", language=None, published=True).published == ()
    assert only(tmp_path / "fr", "XNLI", language="fr", published=True).published != ()


def test_every_table_says_for_which_set_a_number_was_printed(tmp_path):
    for folder, said, words in (
        ("same", {"content": SENTEVAL}, "for this very set"),
        ("part", {"content": digests("conneau2018", "subj_number", by="all"), "rows": {"tr": 9}}, "(whole set)"),
        ("other", {"published": True}, "(another set)"),
    ):
        only(tmp_path / folder, **said)
        summary = summarise(Run.load(tmp_path / folder), published=said.get("published", False))
        for text in (markdown(summary), latex(summary)):
            assert "88.0" in text
            assert words in text.replace("{(}", "(")
        (line,) = [line for line in legend(summary) if line.startswith("human")]
        assert "conneau2018" in line
    bare = summarise(Run.load(tmp_path / "other"))
    assert "88.0" not in markdown(bare)
    assert not any(line.startswith("human") for line in legend(bare))


def test_to_ask_for_other_sets_where_nothing_was_printed_is_an_error(tmp_path):
    summary = written_summary([only(tmp_path / "run", "own/colour", published=True)])
    with pytest.raises(UsageError, match="adds nothing: no paper printed an accuracy for other sets of colour"):
        check_published(summary, True)
    check_published(summary, False)
