"""Figures of word spaces: by frequency, along the way of an alignment, and the words; and printed results."""

import csv
import json
from io import StringIO

import numpy as np
import pytest
from altair.vegalite.v6.schema import core

from sentprobe.cli import app
from sentprobe.errors import UsageError
from sentprobe.lab.alignment.space import read_space
from sentprobe.report.charts import Options, chart
from sentprobe.report.drawing.figure_style import ONE_COLUMN, TWO_COLUMNS, place_labels
from sentprobe.report.figure import write
from sentprobe.report.legend import legend
from sentprobe.report.summary import full_summary
from sentprobe.results.log import open_log
from sentprobe.results.result import Cell, Result
from sentprobe.results.run import Run
from sentprobe.stats.intervals import wilson
from tests.lab.alignment.planted import write_alignment
from tests.lab.alignment.test_projection import planted
from tests.report.runs import number

N = 200
RANKS = np.sort(np.random.default_rng(3).choice(20_000, N, replace=False)).astype(np.int32)


def result(system, scoring, *, identity=None, criterion=None, task="word_translation", pair="en-fr", **more):
    """Frequent words are translated right more often; the worse a map, the fewer."""
    identity = identity or system
    of = Cell(
        task=task, version=1, dataset=f"x/{pair}", data=f"{number(task + pair):016x}", encoder=system,
        identity=identity, probe=scoring, sentprobe="0.1.0",
    )  # fmt: skip
    rng = np.random.default_rng([len(identity), scoring == "csls"])
    right = rng.random(N) < 0.9 - 0.5 * RANKS / RANKS.max() - 0.1 * (scoring == "nn")
    scores = {} if criterion is None else {"criterion": criterion}
    made = Result(
        key=of.key, cell=of, language=pair, labels=(), n={"tr": 0, "va": 0, "te": N}, trained_on="", chosen_on=None,
        metric=more.get("metric", "precision@1"), score=float(right.mean()), interval=wilson(int(right.sum()), N),
        scores=scores,
    )  # fmt: skip
    return made, {"predicted": right.astype(np.int32), "truth": np.ones(N, np.int32), "frequency": RANKS}


def written(folder, *records):
    with open_log(folder) as log:
        systems = dict.fromkeys(made.cell.encoder for made, _ in records)
        log.describe(encoders=list(systems), probes=["nn", "csls"], seeds=[0])
        for made, arrays in records:
            log.add(made, arrays)
    return Run.load(folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """An alignment along the way, and as it was chosen: after the second epoch."""
    ways = [("a?epoch=1", "e1", 0.4), ("a?epoch=2", "e2", 0.5), ("a?refine=1", "r1", 0.6), ("a", "e2", 0.5)]
    records = [
        result(f"out/{name}", scoring, identity=identity, criterion=value)
        for name, identity, value in ways
        for scoring in ("nn", "csls")
    ]
    return written(tmp_path_factory.mktemp("words") / "run", *records)


@pytest.fixture(scope="module")
def summary(run):
    return full_summary(run)


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    """A planted alignment as a folder."""
    folder = tmp_path_factory.mktemp("alignment")
    one, two, found, _ = planted()
    about = {}
    for side, space in (("source", one), ("target", two)):
        path = folder / space.name
        rows = [f"{word} {' '.join(map(repr, v.tolist()))}" for word, v in zip(space.words, space.vectors, strict=True)]
        path.write_text(f"{len(space)} {space.dim}\n" + "\n".join(rows) + "\n", "utf-8")
        about[side] = {"path": str(path), "limit": None, "digest": read_space(str(path)).digest}
    return write_alignment(folder, about, found)


def lines(folder, *found):
    write_alignment(folder, lines=found)


def table(path):
    return list(csv.DictReader(StringIO(path.read_text("utf-8"))))


# By frequency


def test_bands_are_counted_as_by_hand(run, summary):
    rows, spec = chart("frequency", summary, Options(width=ONE_COLUMN))
    core.Root.validate({**spec, "data": {"values": spec["data"]["values"][:3]}})
    assert {(row["encoder_name"], row["scoring"]) for row in rows} == {
        (name, scoring) for name in ("out/a", "out/a?epoch=1", "out/a?epoch=2", "out/a?refine=1")
        for scoring in ("nn", "csls")
    }  # fmt: skip
    own = [row for row in rows if (row["encoder_name"], row["scoring"]) == ("out/a", "csls")]
    one = next(r for r in run.results if (r.cell.encoder, r.cell.probe) == ("out/a", "csls"))
    right = run.predictions(one, "predicted")["predicted"] == 1
    ranks = RANKS + 1
    assert sum(row["n"] for row in own) == N
    assert own[0]["from"] == ranks.min()
    assert own[-1]["to"] == ranks.max()
    for row in own:
        here = (ranks >= row["from"]) & (ranks <= row["to"])
        assert (row["n"], row["correct"]) == (here.sum(), right[here].sum())
        assert (row["low"], row["high"]) == wilson(row["correct"], row["n"])
        assert row["from"] <= row["x"] <= row["to"]
    assert max(row["n"] for row in own) <= 2 * min(row["n"] for row in own)


def test_a_line_is_a_scoring_or_a_system(summary):
    _, spec = chart("frequency", summary, Options(width=TWO_COLUMNS))
    assert len(spec["concat"]) == 4
    _, spec = chart("frequency", summary, Options(width=TWO_COLUMNS, lines="encoder"))
    assert [panel["title"]["text"] for panel in spec["concat"]] == [["nn"], ["csls"]]
    assert {row["scoring"] for row in chart("frequency", summary, Options(columns=(1,)))[0]} == {"csls"}


def test_a_run_whose_words_have_no_frequency_says_so(tmp_path):
    made, arrays = result("a", "nn")
    found = full_summary(written(tmp_path / "run", (made, {k: v for k, v in arrays.items() if k != "frequency"})))
    assert found.word_spaces.frequency == ()
    assert any("Words by frequency are missing of a on x/en-fr" in note for note in found.notes)
    with pytest.raises(UsageError, match="needs a run of `sentprobe words`"):
        chart("frequency", found)


# Along the way


def test_the_criterion_and_the_precision_of_a_run(summary, tmp_path):
    caption = write(summary, "criterion", tmp_path / "fig.csv")
    rows = table(tmp_path / "fig.csv")
    assert {row["panel_name"] for row in rows} == {"out/a"}
    steps = [(row["stage"], row["number"], row["x"]) for row in rows if row["measure"] == "criterion"]
    assert steps == [("epoch", "1", "1"), ("epoch", "2", "2"), ("refine", "1", "3")]
    assert [float(row["value"]) for row in rows if row["measure"] == "criterion"] == [0.4, 0.5, 0.6]
    # the map of the alignment itself is that of the second epoch, although the refinement has a higher criterion
    assert [(row["measure"], row["number"], row["stage"]) for row in rows if row["ring"]] == [
        ("criterion", "2", "epoch"), ("precision", "2", "epoch"),
    ]  # fmt: skip
    assert {row["scoring"] for row in rows if row["measure"] == "precision"} == {"csls"}
    assert "Ring: the map that was chosen. Squares: rounds of refinement. Vertical lines: 95 %" in caption


def test_the_history_of_an_alignment(aligned, tmp_path):
    head = [{"seed": seed, "stage": "epoch", "number": n, "criterion": 0.1 * n + seed / 100}
            for seed in (0, 1) for n in (1, 2)]  # fmt: skip
    lines(aligned, *head, {"seed": 0, "stage": "refine", "number": 1, "criterion": None})
    caption = write(None, "criterion", tmp_path / "fig.csv", folder=aligned)
    rows = table(tmp_path / "fig.csv")
    assert [(row["series"], row["x"]) for row in rows] == [
        ("seed 0", "1"), ("seed 0", "2"), ("seed 1", "1"), ("seed 1", "2"),
    ]  # fmt: skip
    assert [row["series"] for row in rows if row["ring"]] == ["seed 1"]
    assert "The true precision is not known" in caption
    lines(aligned)
    with pytest.raises(UsageError, match="needs an alignment with epochs"):
        write(None, "criterion", tmp_path / "fig.csv", folder=aligned)


# The words


def test_a_map_of_words(aligned, tmp_path, capsys):
    words = ("figure", aligned, "--kind", "words-map", "--width", "two", "-o", tmp_path / "fig.csv")
    assert app([*map(str, words), "-o", str(tmp_path / "fig.svg")], result_action="return_value") == 0
    said = capsys.readouterr()
    rows = table(tmp_path / "fig.csv")
    pairs = len({row["pair"] for row in rows})
    assert f"{pairs} words of one.vec (source) and their translations in two.vec (target)" in said.err
    assert "each other's nearest" in said.err
    assert 10 <= pairs <= 50
    assert len(rows) == 4 * pairs
    assert all(row["label"] for row in rows)
    svg = (tmp_path / "fig.svg").read_text("utf-8")
    assert all(svg.count(f">{row['word']}<") == 2 for row in rows)
    after = [row for row in rows if row["panel_name"] == "after"]
    assert all(abs(float(row["x"]) - float(row["x2"])) < 0.1 for row in after)


def test_given_words_are_all_drawn(aligned, tmp_path):
    caption = write(None, "words-map", tmp_path / "fig.json", folder=aligned, words=["wordaa", "wordab"])
    spec = json.loads((tmp_path / "fig.json").read_text("utf-8"))
    core.Root.validate(spec)
    assert {row["word"] for row in spec["data"]["values"] if row["side"] == "source"} == {"wordaa", "wordab"}
    assert "chosen" not in caption


@pytest.mark.parametrize(("words", "message"), [
    (("{a}", "--kind", "heatmap"), "--kind heatmap does not draw an alignment; criterion and words-map do"),
    (("{a}", "--kind", "training"), "not about a run or a folder: leave it out, and name encoders with --encoder"),
    (("--kind", "words-map"), "draws an alignment: name one folder of `sentprobe align`"),
    (("{r}", "--kind", "words-map"), "an alignment: name one|is not about a run: name a folder of `sentprobe align`"),
    (("{a}", "{a}", "--kind", "words-map"), "draws one alignment; got"),
    (("{a}", "{r}", "--kind", "criterion"), "name one folder of `sentprobe align` or of a run."),
    (("{a}", "--kind", "criterion", "--words", "x"), "--words has no effect on --kind criterion; it is for words-map"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(aligned, run, tmp_path, words, message):
    typed = [word.format(a=aligned, r=run.folder) for word in words]
    with pytest.raises(UsageError, match=message):
        app(["figure", *typed, "-o", str(tmp_path / "x.csv")], result_action="return_value", exit_on_error=False)


def test_no_label_hides_another():
    rng = np.random.default_rng(0)
    panels = [rng.random((80, 2, 2)) * (200, 240) for _ in range(2)]
    sizes = np.stack([rng.uniform(10, 40, (80, 2)), np.full((80, 2), 6.0)], axis=2)
    found = place_labels(panels, sizes, (200, 240), dot=3, most=30)
    assert 10 < len(found) <= 30
    assert list(found) == sorted(found)
    for p, places in enumerate(panels):
        boxes = []
        for i, sides in found.items():
            for (x, y), (wide, high), side in zip(places[i], sizes[i], sides[p], strict=True):
                left = {"right": x, "left": x - wide}.get(side, x - wide / 2)
                bottom = {"above": y, "below": y - high}.get(side, y - high / 2)
                boxes.append((left, bottom, left + wide, bottom + high))
        # labels are drawn a little away from their dots, so that there is as much room to spare
        clear = [(a, b, c, d) for a, b, c, d in boxes if a > -3 and b > -3 and c < 203 and d < 243]
        assert len(clear) == len(boxes)
        for k, one in enumerate(boxes):
            for two in boxes[:k]:
                wide = min(one[2], two[2]) - max(one[0], two[0])
                high = min(one[3], two[3]) - max(one[1], two[1])
                assert min(wide, high) <= 2 * 0.8 * 3


# Printed results


def test_printed_results_of_the_same_languages_and_scoring(tmp_path):
    own = full_summary(written(tmp_path / "one", result("a", "csls")))
    shown = own.sets[0]
    assert shown.printed_for == "other vectors"
    assert {row.model: row.accuracy for row in shown.published} == {
        "Procrustes - CSLS": 0.811, "Adv - CSLS": 0.778, "Adv - Refine - CSLS": 0.823,
    }  # fmt: skip
    line = next(line for line in legend(own) if "Procrustes" in line)
    assert line.startswith("x/en-fr: Procrustes - CSLS 81.1, Adv - CSLS 77.8, Adv - Refine - CSLS 82.3 in conneau2019")
    assert "table 4.1 (Word translation: 1,500 source words" in line
    assert line.endswith("with other vectors and vocabularies, and other test sets or parts of them.")
    both = full_summary(written(tmp_path / "two", result("a", "csls"), result("a", "nn")))
    assert len(both.sets[0].published) == 6
    rows = chart("intervals", both)[0]
    assert "Adv - NN (conneau2019, other vectors)" in {row["model"] for row in rows}


@pytest.mark.parametrize(("task", "pair", "metric", "n"), [
    ("sentence_retrieval", "en-it", "precision@1", 6), ("word_similarity", "en-de", "pearson", 4),
    ("word_by_word", "en-eo", "bleu", 1), ("word_translation", "en-pl", "precision@1", 0),
    ("word_similarity", "en-de", "spearman", 0),
])  # fmt: skip
def test_printed_results_of_other_tasks(tmp_path, task, pair, metric, n):
    made, arrays = result("a", "csls", task=task, pair=pair, metric=metric)
    found = full_summary(written(tmp_path / "run", (made, arrays))).sets[0]
    assert len(found.published) == n
    assert found.printed_for == ("other vectors" if n else None)
