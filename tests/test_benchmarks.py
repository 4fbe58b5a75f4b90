"""The runner of the benchmarks, with made-up ones; the goals; and the sets of the benchmark of the papers' size."""

import ast
import csv
import importlib
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks import budget
from benchmarks.budget import FAILED, MARKED, MISSING, OK, SKIPPED, Goal, Outcome
from benchmarks.common.made_up import CLASSES, write
from sentprobe import load_encoder, read_senteval

ROOT = Path(__file__).parent.parent
BENCHMARKS = {path.stem: path for path in (ROOT / "benchmarks").glob("*.py")}
HERE = {"cpu": "a processor", "cores": "2"}

GOALS = """
["tiny/seconds"]
benchmark = "tiny"
goal = 1.0
limit = 2.0
better = "lower"
meaning = "seconds of nothing"

["tiny/speedup"]
benchmark = "tiny"
goal = 10
limit = 5
better = "higher"
meaning = "how much faster nothing is"

["absent/figure"]
benchmark = "absent"
goal = 1
limit = 1
better = "lower"
meaning = "of a benchmark whose data are not there"
"""


def test_every_benchmark_has_a_short_form():
    for name in BENCHMARKS.keys() - {"budget"}:
        body = ast.parse(BENCHMARKS[name].read_text("utf-8")).body
        named = [n.targets[0].id for n in body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
        assert named.count("SHORT") == 1, name
    assert budget.shorts(ROOT / "benchmarks").keys() == BENCHMARKS.keys() - {"budget"}


def test_no_benchmark_hides_a_package():
    # a script's folder comes first where it looks for modules; numba imports `coverage` if there is one
    from importlib.metadata import packages_distributions

    assert {"common", *BENCHMARKS}.isdisjoint({"coverage", *packages_distributions()})


def test_every_goal_is_of_a_figure_that_its_benchmark_prints():
    goals = budget.read_goals(ROOT / "benchmarks/goals.toml")
    assert goals
    for name, goal in goals.items():
        assert goal.benchmark in BENCHMARKS, name
        assert name.startswith(f"{goal.benchmark}/"), name
        assert '"= ' in BENCHMARKS[goal.benchmark].read_text("utf-8"), name
        assert goal.meaning, name


def test_the_history_has_the_columns_that_are_written():
    entries = budget.read_history(ROOT / "benchmarks" / budget.HISTORY)
    assert entries
    # a share that is a difference of two times may be a little below 0
    assert all(tuple(entry) == budget.COLUMNS and -0.05 <= float(entry["value"]) < np.inf for entry in entries)


@pytest.mark.parametrize(
    ("better", "value", "verdict"),
    [
        ("lower", 1.0, OK),
        ("lower", 1.5, MARKED),
        ("lower", 2.0, MARKED),
        ("lower", 2.1, FAILED),
        ("lower", float("nan"), FAILED),
        ("higher", 2.0, FAILED),
        ("higher", float("nan"), FAILED),
    ],
)
def test_a_value_is_judged_by_goal_and_limit(better, value, verdict):
    goal, limit = (1.0, 2.0) if better == "lower" else (4.0, 3.0)
    assert Goal("a", "tiny", goal, limit, better, "").verdict(value) == verdict


def test_higher_is_better_where_the_goal_says_so():
    goal = Goal("a", "tiny", 4.0, 3.0, "higher", "")
    assert [goal.verdict(value) for value in (4.0, 9.0, 3.5, 3.0, 2.9)] == [OK, OK, MARKED, MARKED, FAILED]


def test_a_goal_has_a_direction():
    with pytest.raises(ValueError, match="a: better must be lower or higher, got 'lwer'"):
        Goal("a", "tiny", 1, 1, "lwer", "")


def test_figures_are_lines_of_their_own():
    outcome = Outcome()
    for line in ("= a/b 1.5\n", "x = 3\n", "= no value\t\n", "== a 3\n", "= c 1e-3\n", " = d 1\n", "= e 1 s\n"):
        outcome.read(line)
    assert outcome.figures == {"a/b": 1.5, "c": 1e-3}
    assert outcome.problems == ["no: expected a number, got 'value'"]
    outcome.read("= c 2\n")
    assert outcome.problems[1:] == ["c was printed twice"]


def test_the_table_has_verdicts_and_what_was_before(tmp_path):
    (tmp_path / "goals.toml").write_text(GOALS, "utf-8")
    goals = budget.read_goals(tmp_path / "goals.toml")
    history = [
        {"figure": "tiny/seconds", "value": str(value), **where}
        for value, where in ((9, HERE), (3, HERE), (2, HERE), (100, {**HERE, "cores": "8"}))
    ]
    outcome = Outcome({"tiny/seconds": 1.25}, {"absent"})
    lines, fine = budget.judge(goals, outcome, ["tiny", "absent"], history, HERE)
    table = {line.split()[0]: line.split() for line in lines[1:4]}
    assert table["tiny/seconds"][1:] == ["≤", "1", "1.25", "≤", "2", "2", "3", *MARKED.split()]
    assert table["tiny/speedup"][1:] == ["≥", "10", "≥", "5", MISSING]
    assert table["absent/figure"][-1] == SKIPPED
    assert not fine
    assert lines[4:] == ["error: tiny/speedup is missing: how much faster nothing is"]
    outcome = Outcome({"tiny/seconds": 1, "tiny/speedup": 10, "tiny/new": 1})
    lines, fine = budget.judge(goals, outcome, ["tiny"], history, HERE)
    assert not fine
    assert lines[3:] == ["error: tiny/new was printed, but goals.toml has no goal for it"]
    del outcome.figures["tiny/new"]
    assert budget.judge(goals, outcome, ["tiny"], history, HERE)[1]


def test_the_median_is_that_of_the_last_entries():
    entries = [{"figure": "tiny/seconds", "value": str(value), **HERE} for value in (50.0,) * 20 + (1.0,) * 10]
    goal = {"tiny/seconds": Goal("tiny/seconds", "tiny", 1, 2, "lower", "")}
    lines, _ = budget.judge(goal, Outcome({"tiny/seconds": 1.0}), ["tiny"], entries, HERE)
    assert lines[1].split()[-3:] == ["1", "1", OK]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "goals.toml").write_text(GOALS, "utf-8")
    (tmp_path / "absent.py").write_text('SHORT = "{nowhere}"\n', "utf-8")
    return tmp_path


def test_a_run_appends_to_the_history(folder, monkeypatch):
    monkeypatch.setattr(budget, "places", lambda folder: {})
    path = folder / budget.HISTORY
    for speedup in ("12", "7"):
        monkeypatch.setattr(sys, "argv", ["budget.py", "--folder", str(folder)])
        (folder / "tiny.py").write_text(
            f"SHORT = ''\nprint('= tiny/seconds 0.5')\nprint('= tiny/speedup {speedup}')\n", "utf-8"
        )
        assert budget.main() == 0
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["figure"], row["value"]) for row in rows] == [
        ("tiny/seconds", "0.5"), ("tiny/speedup", "12"), ("tiny/seconds", "0.5"), ("tiny/speedup", "7"),
    ]  # fmt: skip
    assert {name: rows[0][name] for name in ("cpu", "cores", "python", "numpy")} == budget.machine()
    assert rows[0]["version"] == budget.__version__
    assert len(path.read_text("utf-8").splitlines()) == 5  # one header


@pytest.mark.parametrize(
    ("printed", "code", "said"),
    [
        ("print('= tiny/seconds 0.5'); print('= tiny/speedup 12')", 0, OK),
        ("print('= tiny/seconds 1.5'); print('= tiny/speedup 12')", 0, MARKED),
        ("print('= tiny/seconds 2.5'); print('= tiny/speedup 12')", 1, "error: tiny/seconds is beyond limit"),
        ("print('= tiny/seconds 0.5')", 1, "error: tiny/speedup is missing"),
        ("print('= tiny/seconds 0.5'); print('= tiny/speedup 12'); sys.exit(3)", 1, "tiny ended with exit code 3"),
        ("print('= tiny/seconds 0.5'); print('= tiny/speedup 12'); print('= x 1')", 1, "error: x was printed"),
    ],
)
def test_the_exit_code_says_whether_all_is_well(folder, monkeypatch, capfd, printed, code, said):
    (folder / "tiny.py").write_text(
        f"SHORT = \"one 'two words'\"\nimport sys\nprint(sys.argv[1:])\n{printed}\n", "utf-8"
    )
    monkeypatch.setattr(budget, "places", lambda folder: {})
    monkeypatch.setattr(sys, "argv", ["budget.py", "--folder", str(folder), "--no-history"])
    assert budget.main() == code
    out = capfd.readouterr().out
    assert "['one', 'two words']" in out
    assert said in out
    assert "absent: skipped, no {nowhere} here" in out
    assert not (folder / budget.HISTORY).exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_commit_has_a_plus_if_anything_but_the_history_differs_from_it(tmp_path):
    (tmp_path / "benchmarks/history").mkdir(parents=True)
    files = [tmp_path / "benchmarks" / budget.HISTORY, tmp_path / "code.py"]
    for file in files:
        file.write_text("a\n", "utf-8")
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b.c commit -q --no-gpg-sign -m a"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    clean = budget.commit(tmp_path / "benchmarks")
    assert re.fullmatch("[0-9a-f]{10}", clean)
    files[0].write_text("b\n", "utf-8")
    assert budget.commit(tmp_path / "benchmarks") == clean
    files[1].write_text("b\n", "utf-8")
    assert budget.commit(tmp_path / "benchmarks") == f"{clean}+"


# the papers' size


def test_made_up_sets_are_as_the_papers_are(tmp_path):
    names = ["sentence_length", "word_content", "subj_number"]
    write(tmp_path / "sets", names, 1200, 32)
    texts = (tmp_path / "sets/texts.txt").read_text().splitlines()
    assert len(set(texts)) == len(texts) == 3600
    encoder = load_encoder(f"npy:{tmp_path}/sets/vectors.npy?texts={tmp_path}/sets/texts.txt")
    for i, name in enumerate(names):
        found = read_senteval(tmp_path / f"sets/probing/{name}.txt")
        assert {split: len(rows) for split, rows in found.rows.items()} == {"tr": 1000, "va": 100, "te": 100}
        assert set(found.labels) <= set(map(str, range(CLASSES[name])))
        assert [row.text for _, row in found] == texts[1200 * i : 1200 * (i + 1)]
        lengths = [len(row.tokens) for _, row in found]
        if name == "sentence_length":
            assert [(length - 5) // 4 for length in lengths] == [int(row.label) for _, row in found]
        if name == "word_content":
            assert set(lengths) == {12}
    # a linear rule tells labels in part
    rows = [row for _, row in found]
    x, y = encoder([row.text for row in rows]), np.array([row.label == "1" for row in rows])
    weights = np.linalg.lstsq(np.column_stack([x[:1000], np.ones(1000)]), 2.0 * y[:1000] - 1, rcond=None)[0]
    assert 0.6 < ((x[1000:] @ weights[:-1] + weights[-1] > 0) == y[1000:]).mean() < 0.98


def test_work_inside_other_work_is_counted_once(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    papers = importlib.import_module("papers")
    clock = iter([0.0, 1.0, 3.0, 7.0, 15.0, 31.0])
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    ledger = papers.Ledger()
    with ledger.counting("a", "rest"), ledger.counting("a", "probe"):
        assert ledger.where == ("a", "probe")
    ledger.settle()
    assert dict(ledger.spent) == {("", "rest"): 1.0 + 16.0, ("a", "rest"): 2.0 + 8.0, ("a", "probe"): 4.0}
