"""The table for a paper: what it shows, in which order, how wide it is, and that LaTeX sets it."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from sentprobe.errors import UsageError
from sentprobe.probes.baselines import BASELINES, ENCODER_BASELINES
from sentprobe.report.cells import Score
from sentprobe.report.paper import ABBREVIATIONS, BLOCK_NOTE, WIDTHS, paper_latex
from sentprobe.report.titles import Names
from sentprobe.report.types import BaselineComparison
from sentprobe.report.verdict import BOLD_NOTE
from tests.command_line import sentprobe
from tests.report.runs import SETS, beside, result, written
from tests.report.summaries import cell, column, set_summary, summary

TASKS = ("subj_number", "past_present", "tree_depth", "bigram_shift", "word_content", "sentence_length")
VALUES = {"st:a": 0.90, "st:b": 0.88, "static:": 0.70, "baseline:words": 0.65}
LETTERS = {"st:a": "a", "st:b": "a", "static:": "b", "baseline:words": "c"}


def compared(value, letters, *, above=True, **more):
    against = BaselineComparison("nb-uni", 0.6, "above" if above else "not_significant", 0.01, len(VALUES))
    return cell(value, letters=letters, against=against, **more)


def table(tasks=TASKS[:2], **more):
    """Two good encoders that are not told apart, and two others of which one is no better than naive Bayes."""
    sets = [
        set_summary(
            f"conneau2018/{task}", [compared(v, LETTERS[e], above=e != "baseline:words") for e, v in VALUES.items()],
            [cell(0.5, interval="constant"), cell(0.6)], task=task, label=f"conneau2018/{task}", corpus="EWT",
        )
        for task in tasks
    ]  # fmt: skip
    columns = [column(name) for name in VALUES]
    return summary(sets, columns, [column("majority"), column("nb-uni")], folder="somewhere/My run_2", **more)


def rows_of(latex):
    """The rows of the table by their first cell, with the numbers of each."""
    rows = [line.removesuffix(" \\\\").split(" & ") for line in latex.splitlines() if line.endswith("\\\\")]
    return {row[0]: row[1::2] for row in rows if re.search(r"\d\.\d", row[-2] if len(row) > 1 else "")}


def test_rows_are_encoders_after_the_best_baseline():
    latex = paper_latex(table())
    rows = rows_of(latex)
    assert list(rows) == ["Best baseline", "a", "b", "bag of word vectors", "bag of words"]
    assert rows["Best baseline"] == ["60.0", "60.0"]
    assert rows["bag of word vectors"] == ["70.0", "70.0"]
    assert latex.startswith("% \\usepackage{booktabs}\n\\begin{table}[t]\n")
    for part in ("Subject\\\\number", "Tense", "\\toprule", "\\midrule", "\\bottomrule", "{\\scriptsize NB}",
                 "{\\scriptsize $\\pm$2.0}", "\\label{tab:my-run-2}",
                 "\\caption{Accuracy (\\%) of linear probes on 2 sets, from EWT.}"):  # fmt: skip
        assert part in latex
    assert "NB: naive Bayes on words." in latex
    assert "share a letter" not in latex  # there are none


def test_bold_is_the_best_of_each_block_unless_a_baseline_is_as_good():
    bold = {name for name, numbers in rows_of(paper_latex(table())).items() if "textbf" in numbers[0]}
    assert bold == {"a", "b"}
    blocks = Names(blocks={"Word vectors": ("static:", "baseline:words"), "Encoders": ("st:a", "st:b")})
    latex = paper_latex(table(), blocks)
    rows = rows_of(latex)
    assert list(rows) == ["Best baseline", "bag of word vectors", "bag of words", "a", "b"]
    assert {name for name, numbers in rows.items() if "textbf" in numbers[0]} == {"a", "b", "bag of word vectors"}
    assert latex.index("\\emph{Word vectors}") < latex.index("bag of word vectors &") < latex.index("\\emph{Encoders}")
    assert BLOCK_NOTE in latex
    assert BLOCK_NOTE not in paper_latex(table())
    assert BOLD_NOTE in paper_latex(table())
    alone = Names(blocks={"One": ("st:a",)})
    assert "textbf" not in rows_of(paper_latex(table(), alone))["a"][0]  # the best of one says nothing
    assert "\\textsuperscript{\\dag{}}" in latex  # the bag of words is no better than naive Bayes


def test_where_less_is_better_the_least_is_bold():
    found = table()
    sets = tuple(
        replace(s, scored_by="log2_loss_calibrated",
                cells=tuple(replace(c, score=Score(v, v - 0.01, v + 0.01), letters=None)
                            for c, v in zip(s.cells, (0.5, 0.4, 0.8, 0.9), strict=True)))
        for s in found.sets
    )  # fmt: skip
    rows = rows_of(paper_latex(replace(found, sets=sets, metric="log2_loss_calibrated")))
    assert {name for name, numbers in rows.items() if "textbf" in numbers[0]} == {"b"}


def test_rows_and_columns_are_chosen_and_in_order():
    rows = rows_of(paper_latex(table(), rows=["static:", "st:a"], columns=["past_present", "subj"]))
    assert list(rows) == ["Best baseline", "bag of word vectors", "a"]
    latex = paper_latex(table(TASKS), rows=["Tree depth", "subj_number"], columns=["st:b", "bag of words"])
    assert list(rows_of(latex)) == ["Tree depth", "Subject number"]
    assert latex.index("{b}") < latex.index("bag of\\\\words")
    assert "Shown: 2 of 4 encoders, 2 of 6 sets; tests are adjusted over all encoders of the run." in latex
    assert list(rows_of(paper_latex(table(TASKS), rows=["sets"]))) == [
        "Subject number", "Tense", "Tree depth", "Bigram shift", "Word content", "Sentence length"
    ]  # fmt: skip


def test_blocks_are_titles_of_columns_where_rows_are_sets():
    blocks = Names(blocks={"Word vectors": ("static:", "baseline:words"), "Encoders": ("st:a", "st:b")})
    latex = paper_latex(table(), blocks, rows=["sets"])
    assert "\\multicolumn{4}{c}{Word vectors}" in latex
    assert "\\cmidrule(lr){4-7}\\cmidrule(lr){8-11}" in latex


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": ["tree"]}, "--rows: There is no encoder 'tree'"),
        ({"rows": ["st:a"], "columns": ["st:b"]}, "--rows and --columns both name encoders"),
        ({"rows": ["encoders"], "columns": ["encoders"]}, "both name encoders"),
    ],
)
def test_what_cannot_be_chosen(options, message):
    with pytest.raises(UsageError) as refused:
        paper_latex(table(), **options)
    assert message in str(refused.value)
    with pytest.raises(UsageError, match="no results of an encoder"):
        paper_latex(summary())


def test_a_wide_table_takes_both_columns_and_then_goes_on_below():
    assert "\\begin{table}[t]" in paper_latex(table(TASKS[:2]))
    assert "\\begin{table*}[t]" in paper_latex(table(TASKS))
    below = paper_latex(table(TASKS), width="one")
    assert "\\begin{table}[t]" in below
    assert below.count("\\begin{tabular}{@{}lr") == below.count("Best baseline &") > 1
    assert below.count("\\caption{") == 1
    many = [f"task_{i}" for i in range(30)]
    assert next(iter(rows_of(paper_latex(table(many))))) == "conneau2018/task\\_0"  # sets that do not fit become rows


def test_caption_and_label_are_those_of_the_file():
    latex = paper_latex(table(), Names(caption="Ours & theirs, 100 %.", label="tab:ours}"))
    assert "\\caption{Ours \\& theirs, 100 \\%.}" in latex
    assert "\\label{tab:ours-}" in latex


def test_every_default_baseline_has_an_abbreviation():
    assert {*BASELINES, *ENCODER_BASELINES} <= set(ABBREVIATIONS)
    latex = paper_latex(table(), Names(encoders={"nb-uni": "BoW"}))
    assert "{\\scriptsize BoW}" in latex
    assert "BoW: naive Bayes on words" in latex


def test_what_is_missing_is_said_in_the_table():
    latex = paper_latex(table(notes=("There are no results for st:c: not run yet.",)))
    assert "There are no results for st:c: not run yet." in latex.split("\\caption")[0]


def test_show_writes_it(tmp_path):
    records = [result(e, s, p=p) for s in SETS for e, p in (("st:a", 0.9), ("static:", 0.6))]
    run = written(tmp_path / "run", *records, *beside())
    done = sentprobe("show", run.folder, "--format", "tex", "--paper", "--rows", "static:", "--width", "two")
    assert done.returncode == 0
    assert list(rows_of(done.stdout)) == ["Best baseline", "bag of word vectors"]
    assert "\\begin{table*}" in done.stdout
    for words, message in (
        (("--paper",), "--paper needs --format tex"),
        (("--paper", "--format", "tex", "--means"), "--paper needs --format tex, without"),
        (("--rows", "static:"), "add --format tex --paper"),
    ):
        done = sentprobe("show", run.folder, *words)
        assert done.returncode == 1
        assert message in " ".join(done.stderr.split())
    assert "--names and --paper are for runs" in " ".join(sentprobe("show", tmp_path, "--paper").stderr.split())


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("width", WIDTHS)
def test_latex_sets_it_within_its_width(tmp_path, width):
    hostile = Names(sets={"conneau2018/subj_number": "100 % _ & #1 {x} \\y ~ ^ $ [z]"}, blocks={"B*": ("st:a", "st:b")})
    parts = [paper_latex(table(TASKS[:n]), names, rows=rows, width=width)
             for n in (1, 2, 6) for names in (Names(), hostile) for rows in ((), ("sets",))]  # fmt: skip
    points = WIDTHS[width]
    document = [
        "\\documentclass[10pt]{article}", "\\usepackage{booktabs}", "\\begin{document}",
        f"\\setlength{{\\textwidth}}{{{points}pt}}\\setlength{{\\columnwidth}}{{{points}pt}}",
        f"\\setlength{{\\hsize}}{{{points}pt}}\\setlength{{\\linewidth}}{{{points}pt}}",
        *parts, "x", "\\end{document}",
    ]  # fmt: skip
    (tmp_path / "paper.tex").write_text("\n".join(document), "utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    wide = [float(found) for found in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", done.stdout)]
    assert not [excess for excess in wide if excess > 1], done.stdout
