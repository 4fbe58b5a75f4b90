"""The one rule for what is better than the best baseline, and that everything that shows a run follows it."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from scipy.stats import t as student

from sentprobe.probes.baselines import CONSTANT_BASELINES
from sentprobe.report import Report, summarise, tables
from sentprobe.report.charts import Options, chart
from sentprobe.report.checks import checks
from sentprobe.report.meaning import DEFINITIONS, MEANINGS, meanings
from sentprobe.report.summary import full_summary
from sentprobe.report.tables import csv_text, json_text, latex, markdown, print_table
from sentprobe.report.types import BaselineComparison, Meaning
from sentprobe.report.verdict import (
    BOLD_NOTE,
    MARK,
    MARK_NOTE,
    NOT_SIGNIFICANT,
    Scored,
    _verdict,
    compare_with_baseline,
    paired_test,
)
from sentprobe.run.variant import VariantSummary
from sentprobe.stats import clustered_p, holm, mcnemar
from sentprobe.stats.level import with_levels
from tests.report.runs import BASELINES, FIXED, SETS, SHIFT, SUBJ, beside, result, written
from tests.report.summaries import cell, column, set_summary

ENCODERS = {"st:good": 0.95, "st:fair": 0.9, "st:close": 0.71, "st:poor": 0.45}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Four encoders on two sets, one with target forms: two clear the baselines, two do not."""
    records = [result(e, s, p=p, forms={SUBJ: 40, SHIFT: 0}[s]) for s in SETS for e, p in ENCODERS.items()]
    return written(tmp_path_factory.mktemp("verdict") / "run", *records, *beside())


@pytest.fixture(scope="module")
def hopeless(tmp_path_factory):
    """The best of a set is no better than words are."""
    records = [result(e, s, p=p) for s in SETS for e, p in (("st:a", 0.66), ("st:b", 0.64), ("st:c", 0.5))]
    return written(tmp_path_factory.mktemp("hopeless") / "run", *records, *beside())


def scored(run, encoder, dataset):
    found = [r for r in run if (r.cell.encoder, r.cell.dataset) == (encoder, dataset)]
    return Scored(encoder, float(np.mean([r.score for r in found])), found)


# The rule


@pytest.mark.parametrize("dataset", SETS)
def test_the_best_baseline_is_tested_row_by_row(run, dataset):
    numbers = [scored(run, name, dataset) for name in ENCODERS]
    others = [scored(run, name, dataset) for name in (*BASELINES, *FIXED)]
    best = max(others, key=lambda each: each.value)
    found = compare_with_baseline(run, numbers, others, "accuracy", [])
    assert {against.baseline for against in found} == {best.name}
    correct = {each.name: run.correct(each.results[0]) for each in (*numbers, best)}
    if dataset == SUBJ:  # as many rows share a target form as ``result`` was given
        p = [clustered_p(correct[each.name], correct[best.name], np.arange(400) % 40) for each in numbers]
    else:
        p = [mcnemar(correct[each.name], correct[best.name]).p_mid for each in numbers]
    assert [against.p for against in found] == pytest.approx(p)
    if dataset != SUBJ:
        sds = [np.std(correct[each.name] * 1.0 - correct[best.name], ddof=1) / 20 for each in numbers]
        assert [against.detectable for against in found] == pytest.approx([2.8 * sd for sd in sds], rel=0.01)
    assert [against.verdict for against in found][:2] == ["above", "above"]
    assert found[3].verdict == "below"


def test_p_values_are_adjusted_over_all_encoders_and_sets(run):
    tested = [
        against
        for dataset in SETS
        for against in compare_with_baseline(
            run,
            [scored(run, name, dataset) for name in ENCODERS],
            [scored(run, name, dataset) for name in (*BASELINES, *FIXED)],
            "accuracy",
            [],
        )
    ]
    shown = [cell.against for s in summarise(run).sets for cell in s.cells]
    assert [against.p for against in shown] == pytest.approx(holm([against.p for against in tested]).tolist())
    assert {against.tests for against in shown} == {8}


def test_what_is_significant_on_one_set_may_not_be_among_many(tmp_path):
    sets = [f"own/set{i}" for i in range(8)]
    values = {dataset: 0.72 if dataset == sets[0] else 0.66 for dataset in sets}
    many = written(tmp_path / "many", *(result("st:a", s, p=p) for s, p in values.items()), *beside(sets))
    alone = written(tmp_path / "alone", result("st:a", sets[0], p=0.72), *beside(sets[:1]))
    first, lone = summarise(many).sets[0].cells[0].against, summarise(alone).sets[0].cells[0].against
    assert first.p == pytest.approx(min(1.0, 8 * lone.p))
    assert (lone.tests, first.tests) == (1, 8)


@settings(max_examples=200)
@given(st.floats(-1, 1), st.one_of(st.none(), st.floats(0, 1)))
def test_what_is_not_higher_is_below_and_what_is_not_tested_is_not_above(gain, p):
    found = _verdict(gain, p)
    assert (found == "below") == (gain <= 0)
    assert (found == "above") == (gain > 0 and p is not None and p <= 0.05)
    assert (found == "untested") == (gain > 0 and p is None)


def test_more_encoders_raise_the_bar(tmp_path):
    def verdict(folder, many):
        records = [result("st:a", SHIFT, p=0.72), *(result(f"st:{i}", SHIFT, p=0.7) for i in range(many))]
        summary = summarise(written(tmp_path / folder, *records, *beside([SHIFT])))
        return summary.sets[0].cells[0].against

    alone, among = verdict("alone", 0), verdict("among", 9)
    assert among.p > alone.p
    assert (alone.tests, among.tests) == (1, 10)
    assert (alone.verdict, among.verdict) == ("above", "not_significant")


def test_seeds_are_taken_together_in_any_order(tmp_path):
    seeds = [result("st:a", SHIFT, p=p, seed=seed) for seed, p in ((1, 0.9), (2, 0.6), (3, 0.8))]
    run = written(tmp_path / "run", *seeds, *beside([SHIFT]))
    mine = [r for r in run if r.cell.encoder == "st:a"]
    words = [r for r in run if r.cell.encoder == "nb-uni"]
    assert paired_test(run, mine, words).p == pytest.approx(paired_test(run, mine[::-1], words).p, rel=1e-12)
    # rows and seeds both count: Welch and Satterthwaite's sum of the two variances
    apart = np.mean([run.correct(r) for r in mine], axis=0) - run.correct(words[0])
    rows, seeds = apart.var(ddof=1) / 400, np.var([r.score for r in mine], ddof=1) / 3
    df = (rows + seeds) ** 2 / (rows**2 / 399 + seeds**2 / 2)
    expected = 2 * student.sf(abs(apart.mean()) / (rows + seeds) ** 0.5, df)
    assert paired_test(run, mine, words).p == pytest.approx(expected)
    assert paired_test(run, mine, words).p != pytest.approx(paired_test(run, mine[:1], words).p)


def test_baselines_of_other_rows_do_not_count(tmp_path):
    run = written(tmp_path / "run", result("st:a", SHIFT, limit=100), *beside([SHIFT]))
    (cell,) = summarise(run).sets[0].cells
    assert (cell.against, cell.best) == (None, False)


def test_without_predictions_nothing_is_above(run, tmp_path):
    other = written(tmp_path / "run", result("st:a", p=0.95), result("st:b", p=0.6), *beside([SUBJ]))
    for path in (tmp_path / "run" / "predictions").iterdir():
        path.unlink()
    summary = summarise(other)
    good, poor = summary.sets[0].cells
    assert (good.against.verdict, poor.against.verdict) == ("untested", "below")
    assert not good.best
    assert any("st:a could not be compared with baseline:hash" in note for note in summary.notes)


# All that shows it


def of_markdown(summary):
    """The cells of a table with the mark, and those in bold, as pairs of a set and an encoder."""
    head, _, *rows = [line.strip("| ").split(" | ") for line in markdown(summary).splitlines() if line.startswith("|")]
    return pairs(head, rows, "†", "**", lambda name: name.replace("&#95;", "_"))


def of_latex(summary):
    lines = [line.removesuffix(" \\\\").split(" & ") for line in latex(summary).splitlines() if line.endswith("\\\\")]
    return pairs(lines[0], lines[1:], "\\dag{}", "\\textbf", lambda name: name.replace("\\_", "_"))


def pairs(head, rows, mark, bold, name):
    cells = [(name(row[0]), head[i], row[i]) for row in rows for i in range(2, len(row))]
    return tuple({(s, e) for s, e, text in cells if sign in text} for sign in (mark, bold))


def of_terminal(summary, monkeypatch):
    """The same of the console, where bold is a style."""
    console = Console(width=300, force_terminal=True, color_system="truecolor", file=io.StringIO(), highlight=False)
    monkeypatch.setattr(tables, "narrow_out", lambda: console)
    print_table(summary)
    lines = console.file.getvalue().splitlines()
    encoders = [column.encoder for column in summary.columns]
    marked, bold = set(), set()
    for said in summary.sets:
        (line,) = [line for line in lines if line.startswith(said.label)]
        # number, ±, letters with marks
        found = re.findall(r"(\x1b\[1m)? *(\d+\.\d) (±\d+\.\d) ([a-z]+)(†?)", line)
        assert len(found) == len(encoders)
        for encoder, (style, *_, mark) in zip(encoders, found, strict=True):
            marked |= {(said.label, encoder)} if mark else set()
            bold |= {(said.label, encoder)} if style else set()
    return marked, bold


def of_page(html):
    """The same of the table of a page, where marks are classes and a sign."""
    body = re.search(r'<table id="scores".*?</table>', html, re.S)[0]
    encoders = re.findall(r'<th scope="col" data-kind="encoder"[^>]*>.*?<bdi[^>]*>(.*?)</bdi>', body, re.S)
    names = [f"st:{name}" for name in (re.sub(r"<wbr>|&#8203;", "", name) for name in encoders)]  # the page has words
    marked, bold, signs = set(), set(), set()
    for row in re.findall(r'<tr data-name=".*?</tr>', body, re.S):
        label = re.search(r'<th scope="row" title="(.*?)"', row)[1]
        cells = re.findall(r'<td data-kind="encoder"(.*?)>(.*?)</td>', row, re.S)
        for name, (attributes, text) in zip(names, cells, strict=True):
            classes = re.search(r'class="(.*?)"', attributes)[1].split()
            marked |= {(label, name)} if "marked" in classes else set()
            bold |= {(label, name)} if "best" in classes else set()
            signs |= {(label, name)} if "†" in text else set()
    assert signs == marked
    return marked, bold


def of_rows(rows):
    names = [(row["label"], row["encoder_name"], row) for row in rows if row.get("mark") is None]
    return tuple({(s, e) for s, e, row in names if row[field]} for field in ("marked", "best"))


def of_csv(text, set_column, encoder_column):
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["verdict"]]
    return {(row[set_column], row[encoder_column]) for row in rows if row["verdict"] != "above"}


@pytest.mark.parametrize("which", ["run", "hopeless"])
def test_everything_that_shows_a_run_marks_the_same_cells(which, request, monkeypatch):
    found = request.getfixturevalue(which)
    summary = full_summary(found)
    names = [c.encoder for c in summary.columns]
    cells = {(s.label, e): c for s in summary.sets for e, c in zip(names, s.cells, strict=True)}
    marked = {place for place, cell in cells.items() if cell.against.verdict != "above"}
    bold = {place for place, cell in cells.items() if cell.best}
    assert marked
    assert not marked & bold
    assert bool(bold) == (which == "run")
    report = Report.of(found)
    assert of_markdown(summary) == (marked, bold)
    assert of_latex(summary) == (marked, bold)
    assert of_terminal(summary, monkeypatch) == (marked, bold)
    assert of_page(report.html()) == (marked, bold)
    assert of_rows(chart("heatmap", summary)[0]) == (marked, bold)
    assert of_rows(chart("intervals", summary)[0]) == (marked, bold)
    assert of_csv(csv_text(found, summary), "dataset", "encoder") == marked
    (entry,) = [each for each in checks(summary) if each.code == "below-baseline"]
    assert {(s, e) for s, e in cells if any(w.startswith(f"{e} on {s}: ") for w in entry.where)} == marked
    fragment = report._repr_html_()
    assert fragment.count('class="marked"') + fragment.count('class="best marked"') == len(marked)


def test_every_text_says_what_the_mark_and_bold_mean(run, monkeypatch):
    summary = full_summary(run)
    for text in (markdown(summary), Report.of(run).html(), Report.of(run)._repr_html_()):
        note = with_levels(MARK_NOTE)
        assert note.replace("'", "&#39;") in text or note in text
        assert BOLD_NOTE in text
    tex = latex(summary)
    assert f"\\textsuperscript{{\\dag{{}}}} {NOT_SIGNIFICANT}" in tex  # in the paper itself, and not in a comment
    assert tex.count("\\par{\\footnotesize") == 1
    assert "surely" not in markdown(summary) + tex + json_text(summary)


def test_a_filled_dot_is_above_its_baselines(run, hopeless):
    for each in (run, hopeless):
        rows, _ = chart("intervals", full_summary(each), Options(columns=(2,)))  # alone, and so the best
        alone = [row for row in rows if row["mark"] is None]
        assert alone
        assert not any(row["filled"] for row in alone)
        assert all(row["marked"] for row in alone)


def test_nothing_at_chance_is_bold(tmp_path):
    records = [result(e, s, p=0.5) for s in SETS for e in ("st:a", "st:b")]
    summary = full_summary(written(tmp_path / "run", *records, *beside()))
    assert not any(cell.best for said in summary.sets for cell in said.cells)
    for text in (markdown(summary), latex(summary)):
        assert "**" not in text
        assert "\\textbf" not in text
        assert "Bold" not in text


# What has no interval


def test_a_constant_answer_has_no_interval_anywhere(run, monkeypatch):
    summary = full_summary(run)
    assert CONSTANT_BASELINES == ("majority",)
    for said in summary.sets:
        majority, *others = said.baselines
        assert (majority.low, majority.high, majority.interval) == (None, None, "constant")
        assert majority.score.low is majority.score.high is None
        assert all(cell.low is not None for cell in others)
    for row in csv.DictReader(io.StringIO(csv_text(run, summary))):
        assert (row["low"] == row["high"] == "") == (row["encoder"] == "majority")
    line = next(line for line in markdown(summary).splitlines() if line.startswith("| conneau"))
    head = next(line for line in markdown(summary).splitlines() if line.startswith("| set"))
    cells = dict(zip(head.split(" | "), line.split(" | "), strict=True))
    assert re.fullmatch(r"\d+\.\d", cells["majority"])
    assert "±" in cells["length"]
    assert "fixed by the test rows" in markdown(summary)


def test_marks_are_the_ones_that_readers_know():
    assert MARK == "†"


# What a score shows


def variant(of, value, low, high, **more):
    kind = "measure" if of.startswith("given:") else "control"
    return VariantSummary(name=of, of=of, kind=kind, value=value, low=low, high=high, n=1000, **more)


KEY = variant("key", 0.5, 0.45, 0.55, scores={"selectivity": 0.2, "selectivity_low": 0.1, "selectivity_high": 0.3})
SCORES = {"selectivity": 0.02, "selectivity_low": -0.03, "selectivity_high": 0.07}
NOT_SELECTIVE = variant("key", 0.5, 0.45, 0.55, scores={**SCORES, "seen": 1.0})
NEW_WORDS = variant("key", 0.5, 0.45, 0.55, scores={**SCORES, "seen": 0.0})


@pytest.mark.parametrize(
    ("value", "half", "bar", "variants", "kind", "reason"),
    [
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (), "above", "+10.0 to nb-uni 70.0"),
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (KEY,), "holds", "+10.0 to nb-uni 70.0"),
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (NOT_SELECTIVE,), "memorised", "selectivity 2.0 ±5.0"),
        # words that are not in train cannot have been memorised
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (NEW_WORDS,), "holds", "+10.0 to nb-uni 70.0"),
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (variant("given:words", -0.02, -0.1, 0.06),), "words",
         "adds \u22120.020 ±0.080 bits to a bag of words and its length"),
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (variant("given:length", 0.2, 0.1, 0.3),), "holds",
         "+10.0 to nb-uni 70.0"),
        # the untrained encoder is within the interval, and words are named before it
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (variant("untrained", 0.79, 0.77, 0.81),), "untrained",
         "the untrained encoder has 79.0"),
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (variant("untrained", 0.77, 0.75, 0.79), KEY), "holds",
         "+10.0 to nb-uni 70.0"),
        (0.8, 0.02, ("nb-uni", 0.7, "above"),
         (variant("untrained", 0.79, 0.77, 0.81), variant("synthetic", 0.85, 0.8, 0.9)), "length",
         "text of as many random words has 85.0"),
        # permuted words cost nothing: an average of words is still one that knows
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (variant("permuted", 0.8, 0.78, 0.82), KEY), "holds",
         "+10.0 to nb-uni 70.0"),
        # shuffled labels are far above the majority, or by chance a little
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (variant("shuffled", 0.6, 0.57, 0.63),), "leak",
         "shuffled has 60.0, the majority 50.0"),
        (0.8, 0.02, ("nb-uni", 0.7, "above"), (variant("shuffled", 0.54, 0.51, 0.57),), "holds",
         "+10.0 to nb-uni 70.0"),
        (0.65, 0.02, ("nb-uni", 0.7, "below", 0.3), (KEY,), "words", "nb-uni 70.0"),
        (0.65, 0.02, ("length", 0.7, "below", 0.3), (), "length", "length 70.0"),
        (0.65, 0.02, ("mine", 0.7, "below", 0.3), (), "baseline", "mine 70.0"),
        (0.65, 0.02, ("nb-uni", 0.9, "below", 0.01), (), "below", "65.0 ±2.0, nb-uni 90.0"),
        (0.65, 0.02, ("nb-uni", 0.9, "below", None), (), "below", "65.0 ±2.0, nb-uni 90.0"),
        (0.69, 0.02, ("nb-uni", 0.7, "below", None), (), "words", "nb-uni 70.0"),
        # more rows might tell only where five points would have been missed
        (0.72, 0.06, ("nb-uni", 0.7, "not_significant", 0.3), (), "few", "72.0 ±6.0, nb-uni 70.0"),
        (0.707, 0.028, ("nb-uni", 0.703, "not_significant", 0.8, 1, 0.04), (), "baseline", "70.7 ±2.8, nb-uni 70.3"),
        (0.707, 0.028, ("nb-uni", 0.703, "not_significant", 0.8, 1, 0.06), (), "few", "70.7 ±2.8, nb-uni 70.3"),
        (0.51, 0.02, ("nb-uni", 0.7, "below"), (), "chance", "51.0 ±2.0, majority 50.0"),
        (0.55, 0.12, ("nb-uni", 0.54, "not_significant"), (), "few", "55.0 ±12.0, majority 50.0"),
        (0.8, 0.02, ("nb-uni", 0.7, "untested"), (), "untested", "nb-uni 70.0"),
        (0.8, 0.02, None, (KEY,), "untested", "no baseline on the same rows"),
    ],
)  # fmt: skip
def test_what_a_score_shows(value, half, bar, variants, kind, reason):
    against = bar and BaselineComparison(*bar, *(0.01, 1)[max(0, len(bar) - 3) :])
    shown = cell(value, value - half, value + half, against=against)
    own = set_summary("tense", [shown, None], [cell(0.5)], variants=(variants, ()))
    columns = [column("st:a"), column("st:b")]
    assert meanings(own, columns, [column("majority", probe=None)]) == (Meaning(kind, reason), None)
    assert kind in MEANINGS.keys() & DEFINITIONS.keys()


def test_correlations_have_no_verdict_and_the_page_shows_the_others(run):
    own = set_summary("STS", [cell(0.8)], scored_by="spearman")
    assert meanings(own, [column("st:a")], []) == (None,)
    found = summarise(run)
    assert all(None not in s.meanings for s in found.sets)
    assert [m.kind for m in found.sets[0].meanings][:2] == ["above", "above"]
    assert summarise(run, metric="macro_f1").sets[0].meanings == ()
