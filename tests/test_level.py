"""The level of intervals stands once: with another one, every number and every text follows."""

import csv
import json
import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from sentprobe.report.charts import CHARTS
from sentprobe.stats import level, mcnemar, wilson
from tests.command_line import sentprobe

SAYS_95 = re.compile(r"95(?:\s|\xa0|&nbsp;|\\u00a0)*\\?%|0\.95 level")
FIGURES = ("intervals", "heatmap", "layers", "controls", "conditions", "learning", "norms", "length", "confusion")
RUN = ("--controls", "permuted,shuffled", "--measures", "learning,norms,online", "--folds", 2, "--jobs", 1)
LAYERS = """
import numpy as np
def encode(texts):
    one = np.array([[len(t), t.count(" "), t.count("e"), t.count("s"), hash(t[-2:]) % 7] for t in texts], float)
    return np.stack([one[:, :2], one[:, 1:3], one[:, 3:]])
encode.identity, encode.layers = "letters", ("0", "1", "2")
"""


def done(folder, *words):
    found = sentprobe(*words, cwd=folder)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout + found.stderr


def write_vectors(folder):
    """Two spaces of words, one a rotated, noisy copy of the other."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(200, 8))
    noisy = table @ np.linalg.qr(rng.normal(size=(8, 8)))[0] + rng.normal(scale=0.6, size=table.shape)
    for name, rows in (("a", table), ("b", noisy)):
        lines = [f"{name}{i} " + " ".join(f"{v:.5f}" for v in row) for i, row in enumerate(rows)]
        (folder / f"{name}.vec").write_text("\n".join([f"{len(rows)} 8", *lines, ""]), "utf-8")
    for name, numbers in (("train", range(100)), ("test", range(100, 200))):
        (folder / f"{name}.dict").write_text("".join(f"a{i} b{i}\n" for i in numbers), "utf-8")
    (folder / "near.txt").write_text("".join(f"a{i}\ta{i + 1}\t{table[i] @ table[i + 1]:.3f}\n" for i in range(90)))


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    folder = tmp_path_factory.mktemp("level")
    sizes = ("--sizes", "200/60/60", "--relax", "--jobs", 1)
    done(
        folder,
        "make",
        "--builtin",
        1500,
        "-s",
        "universal2019",
        "-t",
        "passive",
        "-t",
        "subj_number",
        *sizes,
        "-o",
        "p",
    )
    (folder / "letters.py").write_text(LAYERS)
    write_vectors(folder)
    done(folder, "align", "a.vec", "b.vec", "--dictionary", "train.dict", "-o", "aligned")
    return folder


def everything(folder, name):
    """All that commands print and write about a run and about spaces of words, by what it is."""
    said = {}
    run, words = f"{name}-run", f"{name}-words"
    said["run"] = done(folder, "run", "-e", "static:?dim=64", "-e", "py:letters.py:encode", "-d", "p", "-o", run, *RUN)
    for metric in ("accuracy", "macro_f1", "log2_loss", "log2_loss_calibrated"):
        for form in ("table", "md", "tex"):
            said[f"{metric} {form}"] = done(folder, "show", run, "--metric", metric, "--format", form)
    for form in ("csv", "json"):
        said[f"show {form}"] = done(folder, "show", run, "--format", form)
    for form in ("table", "md", "csv", "json"):
        said[f"compare {form}"] = done(folder, "compare", run, "static:?dim=64", "letters", "--format", form)
    files = [f"{name}.{suffix}" for suffix in ("html", "json", "md", "tex", "csv")]
    done(folder, "report", run, *(word for file in files for word in ("-o", file)))
    for kind in FIGURES:
        files += [f"{name}-{kind}.json", f"{name}-{kind}.csv"]
        chosen = ("--on", "passive", "--encoder", "static") if kind == "confusion" else ()
        said[kind] = done(folder, "figure", run, "--kind", kind, *chosen, "-o", files[-2], "-o", files[-1])
    asked = ("--dictionary", "test.dict", "--similarity", "near.txt", "-o", words)
    said["words"] = done(folder, "words", "aligned", "a.vec,b.vec", *asked)
    for form in ("table", "md", "tex", "csv", "json"):
        said[f"words {form}"] = done(folder, "show", words, "--format", form)
    files += [f"{name}-words.html", f"{name}-frequency.json"]
    done(folder, "report", words, "-o", files[-2])
    said["frequency"] = done(folder, "figure", words, "--kind", "frequency", "-o", files[-1])
    return said | {file.removeprefix(name): (folder / file).read_text("utf-8") for file in files}


def widths(said):
    """The widths of all intervals of scores in a CSV file."""
    rows = list(csv.DictReader(StringIO(said["show csv"]))) + list(csv.DictReader(StringIO(said["words csv"])))
    return [float(row["high"]) - float(row["low"]) for row in rows if row["low"] and row["metric"] != "rank"]


def test_at_90_percent_everything_says_so_and_intervals_are_narrower(material, monkeypatch):
    usual = everything(material, "usual")
    monkeypatch.setattr(level, "LEVEL", 0.9)
    other = everything(material, "other")
    # the test can fail: at the usual level all of these say it
    saying = {what for what, text in usual.items() if SAYS_95.search(text)}
    assert {"accuracy table", "accuracy md", "accuracy tex", "log2_loss table", "compare table", "compare md",
            ".html", ".md", ".tex", "intervals", "learning", "words table", "frequency",
            "-words.html"} <= saying  # fmt: skip
    assert [what for what, text in other.items() if SAYS_95.search(text)] == []
    assert {what for what in saying if "90" not in other[what]} == set()
    wide, narrow = widths(usual), widths(other)
    assert len(wide) == len(narrow) > 20
    assert all(n < w or w == 0 for w, n in zip(wide, narrow, strict=True))
    both = [json.loads(said["compare json"])["sets"] for said in (usual, other)]
    for one, two in zip(*both, strict=True):
        assert two["high"] - two["low"] < one["high"] - one["low"]
        # what is significant, and equivalent, is another thing
        assert all(one[name] == two[name] for name in ("p", "p_holm", "equivalence_margin", "detectable"))


def test_the_level_is_read_when_something_is_computed(monkeypatch):
    rows = [True] * 30 + [False] * 10
    before = wilson(30, 40), mcnemar(rows, rows[::-1])
    monkeypatch.setattr(level, "LEVEL", 0.5)
    assert wilson(30, 40)[0] > before[0][0]
    assert mcnemar(rows, rows[::-1]).low > before[1].low
    assert level.level_text() == "50 %"
    assert level.with_levels("{level} and {alpha}", "\xa0") == "50\xa0% and 5\xa0%"


def test_the_alpha_of_tests_stands_once_too(monkeypatch):
    from sentprobe.results.inference import detectable_by
    from sentprobe.stats import detectable, letters
    from sentprobe.stats.means import mean

    p = {("a", "b"): 0.08}
    found, apart = detectable(0.2, 500), mean([0.1, 0.3, -0.2, 0.5])
    assert letters(["a", "b"], p) == {"a": "a", "b": "a"}
    before = detectable_by(apart)
    monkeypatch.setattr(level, "ALPHA", 0.1)
    assert letters(["a", "b"], p) == {"a": "a", "b": "b"}
    assert detectable(0.2, 500) < found
    assert detectable_by(apart) < before


def test_the_docs_say_the_level_where_intervals_are_explained():
    text = (Path(__file__).parents[1] / "docs" / "run.md").read_text("utf-8")
    assert f"half of a {level.level_text()} interval" in text


def test_no_chart_says_a_level_of_its_own():
    for chart in CHARTS.parts().values():
        texts = [chart.title, chart.doc, chart.caption if isinstance(chart.caption, str) else ""]
        texts += [] if chart.page is None or callable(chart.page.caption) else [chart.page.caption]
        assert not any("95" in text for text in texts), chart.name
