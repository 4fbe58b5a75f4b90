"""Curves along training with the training score, by size, and the words that give the maxima."""

import json

import pytest
from altair.vegalite.v6.schema import core

from sentprobe.encoders import TrainingScore
from sentprobe.errors import RunError, UsageError
from sentprobe.lab.training.history import TrainingReport, append_report
from sentprobe.report.charts import chart
from sentprobe.report.curves import curves
from sentprobe.report.drawing import Options
from sentprobe.report.figure import write
from sentprobe.report.page import render
from sentprobe.report.summary import full_summary
from sentprobe.run import Run, evaluate, join
from tests.lab.networks.folders import one_thread, sealed, write_folder
from tests.report.summaries import cell, column, set_summary, summary
from tests.serve.runs import word_content


def along_training(metrics, epochs=3, sets=("tense", "depth")):
    """Encoders by the metric that they are trained for, at some epochs; before training there is no score."""
    names = [(m, e) for m in metrics for e in range(epochs + 1)]
    columns = [column(f"trained:{m}?epoch={e}") for m, e in names]
    own = [set_summary(name, [cell(0.5 + 0.05 * e) for _, e in names]) for name in sets]
    scores = [
        TrainingScore(metric=m, value=30.0 / e if m == "perplexity" else 10.0 * e, maximise=m != "perplexity")
        if e and m != "none" else None
        for m, e in names
    ]  # fmt: skip
    found = summary(own, columns, training=tuple(scores))
    return type(found)(**{**{f: getattr(found, f) for f in found.__slots__}, "curves": curves(found)})


def test_rows_of_training_scores_come_first_and_are_as_they_are_printed():
    rows, _ = chart("epochs", along_training(["BLEU"]))
    first = [row for row in rows if row["set"] is None]
    assert first == rows[:3]
    assert [(row["x"], row["points"], row["value"]) for row in first] == [
        (1, 10.0, None),
        (2, 20.0, None),
        (3, 30.0, None),
    ]
    assert {(row["set_name"], row["metric"], row["set"]) for row in first} == {("training: BLEU", "BLEU", None)}
    assert len(rows) == 3 + 2 * 4


def test_where_a_line_is_an_encoder_each_training_metric_has_a_panel_before_the_sets():
    _, spec = chart("epochs", along_training(["BLEU", "perplexity", "none"]))
    titles = ["".join(view["title"]["text"]) for view in spec["concat"]]
    assert titles == ["training: BLEU", "training: perplexity", "tense", "depth"]
    panels = {(row["encoder_name"], row["panel"]) for row in spec["data"]["values"] if row["training"]}
    assert panels == {("trained:BLEU?epoch=*", 0), ("trained:perplexity?epoch=*", 1)}
    assert {row["panel"] for row in spec["data"]["values"] if not row["training"]} == {2, 3}
    first = spec["concat"][0]["encoding"]["x"]
    assert first["scale"]["domain"] == [0, 3]  # as the sets, which are scored before training, too
    assert first["axis"]["values"] == [0, 1, 2, 3]


def test_where_a_line_is_a_set_the_training_score_is_above_the_panel_of_its_encoder():
    found = along_training(["BLEU", "none"])
    _, spec = chart("epochs", found, Options(lines="set"))
    one, two = spec["concat"]
    assert [view["height"] for view in one["vconcat"]] == sorted(view["height"] for view in one["vconcat"])
    assert "width" not in one
    assert len({view["width"] for view in one["vconcat"]}) == 1
    assert one["vconcat"][0]["layer"][0]["encoding"]["y"]["axis"]["title"] == ["training:", "BLEU"]
    assert "vconcat" not in two  # which has no training score
    alone = chart("epochs", along_training(["accuracy"]))[1]
    assert alone["concat"][0]["vconcat"][0]["layer"][0]["encoding"]["y"]["axis"]["title"] == [
        "training:",
        "accuracy (%)",
    ]


def test_the_caption_says_what_the_training_score_is(tmp_path):
    pytest.importorskip("vl_convert")
    found = along_training(["perplexity"])
    caption = write(found, "epochs", tmp_path / "epochs.svg")
    assert caption.endswith("Training: perplexity (less is better) on held-out data.")
    assert ">perplexity<" in (tmp_path / "epochs.svg").read_text()
    write(found, "epochs", tmp_path / "epochs.csv")
    lines = (tmp_path / "epochs.csv").read_text().splitlines()
    assert lines[1].endswith("perplexity,epoch,1,1,,,,30.0,,")


def test_the_names_of_metrics_are_data():
    evil = along_training(["</script><b>", "perplexity"])
    page = render(evil)
    assert "</script><b>" not in page
    assert "Scores by epoch" in page


def sized(sizes, dimensions):
    names = [f"trained:runs/{size}" for size in sizes]
    return summary([set_summary("tense", [cell(0.5, dimension=d) for d in dimensions])], [column(n) for n in names])


@pytest.mark.parametrize(
    ("sizes", "dimensions", "expected"),
    [
        (["nli-512", "nli-1024"], [1024, 2048], {("trained:runs/nli-*", 1024), ("trained:runs/nli-*", 2048)}),
        (["nli-512", "nli-1024"], [512, 1024], {("trained:runs/nli-*", 512), ("trained:runs/nli-*", 1024)}),
        (["8/nli-512?random=1", "8/nli-64?random=1"], [1024, 128],
         {("trained:runs/8/nli-*?random=1", 128), ("trained:runs/8/nli-*?random=1", 1024)}),
        (["nli-1", "nli-2"], [300, 768], set()),  # two versions of something
        (["nli-512", "mt-1024"], [1024, 2048], set()),
        (["nli-1-512", "nli-2-1024"], [1024, 2048], set()),
        (["nli-0", "nli-1024"], [1024, 2048], set()),
    ],
)  # fmt: skip
def test_sizes_may_be_named_by_what_they_are_proportional_to(sizes, dimensions, expected):
    assert {(point.series, point.x) for point in curves(sized(sizes, dimensions)).dimension} == expected


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    pytest.importorskip("torch")
    base = tmp_path_factory.mktemp("trained")
    with one_thread():
        for hidden in (4, 8):
            write_folder(base / f"nli-{hidden}", 2, hidden=hidden)
        yield base


@pytest.fixture(scope="module")
def run(trained):
    names = [f"trained:{trained}/nli-4?epoch=all", f"trained:{trained}/nli-8?epoch=2"]
    return evaluate(names, [word_content()], trained / "run", baselines=["majority"], resample=0)


def test_a_run_keeps_training_scores(run, trained):
    found = full_summary(run)
    scores = {c.encoder.rpartition("/")[2]: t for c, t in zip(found.columns, found.training, strict=True)}
    assert scores["nli-4?epoch=0"] is None
    assert scores["nli-4?epoch=2"] == TrainingScore(metric="accuracy", value=52.0, maximise=True)
    assert len(run.info["training"]) == 3
    again = evaluate([f"trained:{trained}/nli-4?epoch=1"], [word_content()], run.folder, baselines=[], resample=0)
    assert again.info["training"] == run.info["training"]
    assert join([run, again]).info["training"] == run.info["training"]


def test_curves_of_trained_encoders_are_drawn_from_a_run(run):
    found = full_summary(run)
    rows, _ = chart("epochs", found)
    assert [row["points"] for row in rows if row["set"] is None] == [51.0, 52.0]
    assert [(row["x"], row["encoder_name"]) for row in chart("dimensions", found)[0]] == [
        (8, "trained:nli-*?epoch=2"), (16, "trained:nli-*?epoch=2")
    ]  # fmt: skip


def test_an_edited_training_score_is_refused(run):
    edited = Run(run.folder, {**run.info, "training": [{"name": "x"}]}, run.results, run.failures)
    with pytest.raises(RunError, match="training"):
        full_summary(edited)


def test_words_that_give_the_maxima_are_drawn_for_sentences(trained, tmp_path):
    pytest.importorskip("vl_convert")
    names = [f"trained:{trained}/nli-8", f"trained:{trained}/nli-8?random=1"]
    sentences = ["the <b> river was the river", "she never"]
    file = tmp_path / "selection.csv"
    caption = write(None, "selection", file, encoders=names, sentences=sentences)
    assert "share of dimensions" in caption
    lines = file.read_text().splitlines()
    assert lines[0] == "sentence,sentence_text,column,encoder_name,place,word,share,points"
    # unknown words are left out
    words = [line.split(",")[-3] for line in lines[1:8]]
    assert words == ["<s>", "the", "river", "was", "the", "river", "</s>"]
    assert sum(float(line.split(",")[-2]) for line in lines[1:8]) == pytest.approx(1)
    write(None, "selection", tmp_path / "selection.json", encoders=names, sentences=sentences)
    spec = json.loads((tmp_path / "selection.json").read_text())
    assert spec["columns"] == 2  # trained beside untrained
    assert len(spec["concat"]) == 4
    core.Root.validate(spec)
    assert "expr" not in json.dumps(spec).lower()
    write(None, "selection", tmp_path / "selection.svg", encoders=names, sentences=sentences, width="two")
    svg = (tmp_path / "selection.svg").read_text()
    assert svg.count(">river<") == 4
    assert svg.count("&lt;b&gt;") == 0
    assert svg.count(">&lt;s&gt;<") == 4


def test_a_word_is_never_part_of_the_spec(trained, tmp_path, monkeypatch):
    from sentprobe.lab.schemes import trained as scheme

    hostile = "'\"]alert(1)//</script>\\${x}\u202e\u2028\x00"
    monkeypatch.setattr(scheme.MaxPooled, "selection", lambda self, texts: [[(hostile, 1.0)] for _ in texts])
    write(None, "selection", tmp_path / "x.json", encoders=[f"trained:{trained}/nli-8"], sentences=["a"])
    spec = json.loads((tmp_path / "x.json").read_text())
    assert "alert" in json.dumps(spec.pop("data"))
    assert "alert" not in json.dumps(spec)


def test_a_figure_of_selection_needs_encoders_that_take_a_maximum(trained, tmp_path):
    with pytest.raises(UsageError, match="needs encoders and sentences"):
        write(None, "selection", tmp_path / "x.csv", sentences=["a"])
    with pytest.raises(UsageError, match="does not take the maximum"):
        write(None, "selection", tmp_path / "x.csv", encoders=["static:"], sentences=["a"])


def test_a_figure_of_a_run_needs_one_and_others_refuse_it(run, tmp_path):
    with pytest.raises(UsageError, match="draws a run"):
        write(None, "heatmap", tmp_path / "x.csv")
    with pytest.raises(UsageError, match="not about a run"):
        write(full_summary(run), "selection", tmp_path / "x.csv")
    with pytest.raises(UsageError, match="--sentence has no effect on --kind epochs; it is for selection"):
        write(full_summary(run), "epochs", tmp_path / "x.csv", sentences=["a"])


def test_loss_and_scores_are_drawn_by_epoch(trained, tmp_path):
    names = [f"trained:{trained}/nli-{hidden}" for hidden in (4, 8)]
    for hidden in (4, 8):
        config = json.loads((trained / f"nli-{hidden}" / "config.json").read_text())
        config["facts"] = {"accuracy before training": 33.0, "teacher": "trained:en"}
        job = sealed(trained / f"nli-{hidden}", config=config)
        with job.writing():
            job.cut("training.jsonl", 0)
            for epoch in (1, 2):
                scores, name = {"accuracy": 50.0 + epoch}, f"epoch-00{epoch}"
                append_report(job, TrainingReport(epoch, epoch, 1, 1, 1 / epoch, 0.1, 9.0, 1.0, scores, True, name))
    caption = write(None, "training", tmp_path / "training.csv", encoders=names)
    assert caption.endswith("Epoch 0: before training.")
    header, *lines = (line.split(",") for line in (tmp_path / "training.csv").read_text().splitlines())
    assert header == ["column", "encoder_name", "measure", "epoch", "value"]
    assert [(line[3], float(line[4])) for line in lines if (line[0], line[2]) == ("0", "accuracy")] == [
        ("0", 33.0), ("1", 51.0), ("2", 52.0)
    ]  # fmt: skip
    write(None, "training", tmp_path / "training.json", encoders=names)
    spec = json.loads((tmp_path / "training.json").read_text())
    assert [panel["title"]["text"] for panel in spec["concat"]] == [["loss of training"], ["accuracy"]]
    core.Root.validate(spec)
    with pytest.raises(UsageError, match="expected trained:FOLDER"):
        write(None, "training", tmp_path / "x.csv", encoders=["static:"])
    with pytest.raises(UsageError, match="needs encoders of `sentprobe train`"):
        write(None, "training", tmp_path / "x.csv")
