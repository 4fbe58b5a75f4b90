"""Encoders with several trainings: each is probed as it is, and what is shown is about their recipe."""

import re
from shlex import quote
from statistics import stdev

import pytest

from sentprobe.cli.run import _seedless_note
from sentprobe.data.dataset import Dataset
from sentprobe.data.sources import find_sets
from sentprobe.encoders.recipes import trainings
from sentprobe.errors import DataError, UsageError
from sentprobe.exchange.boards import leaderboard
from sentprobe.exchange.result_file import ResultFile, export_results
from sentprobe.report.comparison import format_comparison
from sentprobe.report.figure import write
from sentprobe.report.page.page import render
from sentprobe.report.summary import full_summary, summarise
from sentprobe.report.tables import csv_text, json_text, markdown
from sentprobe.results.compare import compare, ties
from sentprobe.results.pilot import pilot_plans
from sentprobe.results.records import Recipe
from sentprobe.results.result import Signature
from sentprobe.results.run import join
from sentprobe.results.sides import non_baseline_encoders, select_side, shown_names
from sentprobe.run import Run, evaluate
from sentprobe.run.info import add_recipe
from sentprobe.run.options import RunOptions
from sentprobe.run.repeat import repeat
from sentprobe.serve.choices import probe_catalogue
from sentprobe.tasks.example import Example
from tests.run.sets import Knowing, dataset

SETS = [dataset("own/rows", n=(120, 40, 200)), dataset("own/many", n=(120, 40, 150))]
MINE = [Knowing(noise=noise, name=f"mine {noise}") for noise in (0.6, 0.9, 1.2)]
OTHER = [Knowing(noise=noise, name=f"other {noise}") for noise in (0.8, 1.1)]
SINGLE = Knowing(noise=1.0, name="single")
CODE = """
import numpy as np

def encode(texts):
    return np.array([[len(text), text.count("a") + {noise} * text.count("b")] for text in texts], float)

encode.identity = "noise {noise}"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recipes") / "run"
    return evaluate({"mine": MINE, "other": OTHER, "single": SINGLE}, SETS, folder, baselines=["majority"])


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Four programs, as trainings of one recipe would be, and a set of which they know nothing much."""
    monkeypatch.chdir(tmp_path)
    for number in (1, 2, 10):
        (tmp_path / f"seed-{number}").mkdir()
        (tmp_path / f"seed-{number}" / "mine.py").write_text(CODE.format(noise=number))
    (tmp_path / "three.toml").write_text(
        "".join(f'{name} = "py:seed-{name}/mine.py:encode?version=1"\n' for name in (1, 2, 10))
    )
    return tmp_path


def parity():
    rows = [Example(("even", "odd")[i % 2], ("ab"[i % 2], str(i)), f"{'ab'[i % 2]} number {i}") for i in range(120)]
    splits = {"tr": rows[:60], "va": rows[60:80], "te": rows[80:]}
    return Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)


def test_every_training_has_results_of_its_own(run):
    plain = [r for r in run if r.cell.probe]
    assert run.encoders == ["mine 1", "mine 2", "mine 3", "other 1", "other 2", "single", "majority"]
    assert len({r.cell.identity for r in plain}) == 6
    assert len({r.signature for r in plain}) == 12
    assert run.recipes == {f"mine {i}": "mine" for i in (1, 2, 3)} | {f"other {i}": "other" for i in (1, 2)}


def test_a_recipe_is_one_column_with_the_mean_of_its_trainings(run):
    summary = summarise(run)
    assert [column.label for column in summary.columns] == [("mine",), ("other",), ("single",)]
    assert summary.columns[0].trainings == ("mine 1", "mine 2", "mine 3")
    assert summary.missing == ()
    for s in summary.sets:
        mine, _, single = s.cells
        scores = [r.score for r in run if r.cell.encoder.startswith("mine") and r.cell.dataset == s.name]
        assert mine.score.value == pytest.approx(sum(scores) / 3)
        assert dict(mine.trainings) == dict(zip("123", scores, strict=True))
        assert mine.sd == pytest.approx(stdev(scores))
        assert mine.seeds == 1
        assert mine.about == "encoder"
        assert mine.low < min(scores)  # other seeds may be worse
        assert single.trainings == {}
        assert single.sd is None


def test_one_training_is_as_an_encoder_was(run, tmp_path):
    alone = evaluate({"single": [SINGLE]}, SETS, tmp_path / "alone", baselines=["majority"])
    (before,) = [c for s in summarise(run).sets[:1] for c in s.cells[2:]]
    (cell,) = [c for s in summarise(alone).sets[:1] for c in s.cells]
    assert (cell.score, cell.about, cell.sd, cell.trainings) == (before.score, before.about, None, {})
    assert summarise(alone).columns[0].label == ("single",)


def test_comparisons_of_recipes_cover_other_seeds(run):
    for c, first, second in zip(
        compare(run, "mine", "other"), compare(run, "mine 1", "other 1"), compare(run, "mine", "single"), strict=True
    ):
        assert (c.first_trainings, c.second_trainings) == (3, 2)
        assert (first.first_trainings, first.first_sd) == (1, None)
        assert (second.first_trainings, second.second_trainings) == (3, 1)
        assert c.high - c.low > first.high - first.low
        assert c.p >= c.p_probe
    names = ["mine", "other", "single"]
    for tied in ties(run, names):
        assert tied.trainings == {"mine": 3, "other": 2, "single": 1}
        assert tied.sd["single"] is None


def test_seeds_of_one_recipe_differ_and_two_sets_of_them_do_not(tmp_path):
    noises = [0.5, 0.7, 0.9, 1.1, 1.3, 1.5]
    seeds = [Knowing(noise=noise, name=str(noise)) for noise in noises]
    one = evaluate(
        {"first": seeds[::2], "second": seeds[1::2]}, [dataset("own/rows", n=(200, 60, 600))], tmp_path / "run",
        baselines=[],
    )  # fmt: skip
    assert compare(one, "first 1", "second 3")[0].better() == "first"
    assert compare(one, "first", "second")[0].better() is None


@pytest.mark.parametrize("names", [("mine", "other"), ("single", "mine")])
def test_a_pilot_with_several_trainings_detects_what_compare_prints(run, names):
    comparisons = {row.dataset: row for row in compare(run, *names)}
    for plan in pilot_plans(run, names):
        detected = plan.in_folds if plan.by_default else plan.in_split
        assert detected == pytest.approx(comparisons[plan.dataset].detectable)


def test_names_of_recipes_and_of_trainings_select(run):
    assert non_baseline_encoders(run) == ("mine", "other", "single")
    assert {r.cell.encoder for rs in select_side(run, "mine").results.values() for r in rs} == {
        "mine 1", "mine 2", "mine 3",
    }  # fmt: skip
    assert {r.cell.encoder for rs in select_side(run, "mine 2").results.values() for r in rs} == {"mine 2"}
    assert shown_names(run, ["mine", "other 1"]) == ["mine", "other 1"]
    with pytest.raises(UsageError, match=r"no results of 'nine'\. Did you mean mine"):
        select_side(run, "nine")


def test_other_metrics_cover_other_seeds_too(run):
    (pair, *_) = compare(run, "mine", "other", metric="balanced_accuracy")
    (single, *_) = compare(run, "mine 1", "other 1", metric="balanced_accuracy")
    assert pair.high - pair.low > single.high - single.low
    assert pair.p_probe < pair.p  # which is about the trainings at hand
    cell = summarise(run, metric="macro_f1").sets[0].cells[0]
    assert cell.score.sd > 0


def test_it_is_said_how_many_trainings_there_are(run):
    text = markdown(summarise(run))
    assert "mine: means of 3 trainings; other: means of 2 trainings, with intervals and tests about the recipe" in text
    assert "One training: single. What is said of it is about this encoder" in text
    assert "Trainings of mine:" in text
    assert re.search(r"\| set \| trainings \| mean \| sd \| 1 \| 2 \| 3 \|", text)
    page = render(full_summary(run))
    assert "Encoder seeds" in page
    assert "Trainings of other" in page
    assert '"trainings"' in json_text(summarise(run))
    csv = csv_text(run, summarise(run)).splitlines()
    assert "recipe" in csv[0].split(",")
    assert sum(",mine," in line for line in csv) == 6
    names = ["mine", "single"]
    table = format_comparison(compare(run, *names), names, "md")
    assert "mine: the mean of 3 trainings (sd " in table
    assert "intervals and p cover other seeds of it. One training: single. What is said" in table
    named = format_comparison(ties(run, ["mine", "other", "majority"]), ["mine", "other", "majority"], "md")
    assert re.search(
        r"mine: the mean of 3 trainings \(sd .*\); other: the mean of 2 .* other seeds of them\.$", named, re.M
    )
    assert (
        "about the trained probes: of retrained ones (--resample) only right and wrong is known"
        in format_comparison(compare(run, *names, metric="macro_f1"), names, "md")
    )
    assert '"first_trainings": 3' in format_comparison(compare(run, *names), names, "json")


def test_trainings_that_are_the_same_are_suspected(tmp_path):
    twins = [Knowing(noise=0.8, name=name) for name in ("one", "two")]
    run = evaluate({"twins": twins}, SETS[:1], tmp_path / "run", baselines=[])
    assert "The trainings of twins have equal scores on every set" in markdown(summarise(run))
    assert summarise(run).sets[0].cells[0].sd == 0


def test_the_live_page_has_the_probes_of_each_training(place):
    run = evaluate(["mine=py:seed-*/mine.py:encode?version=1"], parity(), "run", baselines=[], resample=0)
    names = [choice.name for choice in probe_catalogue(run).choices]
    assert names == ["mine seed-1", "mine seed-2", "mine seed-10"]


def test_a_leaderboard_has_recipes_as_encoders(run, tmp_path):
    files = [export_results(run, tmp_path / f"{who}.json", by=who, encoders=[who]) for who in ("mine", "other")]
    (board,) = leaderboard(files).boards
    assert sorted(column.name for column in board.summary.columns) == ["mine (mine)", "other (other)"]
    encoders = {Signature.parse(line).enc for _, _, line in board.signatures()}
    assert encoders == {"mine 1", "mine 2", "mine 3", "other 1", "other 2"}


def test_controls_are_means_over_trainings(place):
    names = [f"baseline:words?dim={dim}" for dim in (8, 16, 32)]
    run = evaluate({"words": names}, SETS[0], "run", baselines=["majority"], controls=["shuffled"], resample=0)
    values = [r.score for r in run.extras if r.cell.variant == "shuffled"]
    plain = [r.score for r in run if r.cell.probe]
    ((variant,),) = summarise(run).sets[0].variants
    assert len(values) == 3
    assert variant.value == pytest.approx(sum(values) / 3)
    assert variant.lost is None or variant.lost == pytest.approx(sum(plain) / 3 - sum(values) / 3)
    assert "Controls and measures of words are means over trainings" in markdown(summarise(run))


def test_figures_show_means_and_say_so(run, tmp_path):
    caption = write(full_summary(run), "intervals", tmp_path / "figure.csv")
    assert "mine: means of 3 trainings; other: means of 2 trainings" in caption
    lines = (tmp_path / "figure.csv").read_text().splitlines()
    mine = summarise(run).sets[0].cells[0]
    assert any("mine" in line and f"{mine.score.value:.4f}" in line for line in lines)


def test_a_run_is_resumed_with_more_seeds(tmp_path):
    evaluate({"mine": MINE[:2]}, SETS[:1], tmp_path / "run", baselines=[])
    again = [Knowing(noise=one.noise, name=one.identity.name) for one in MINE]
    run = evaluate({"mine": again}, SETS[:1], tmp_path / "run", baselines=[])
    assert [bool(one.encoded) for one in again] == [False, False, True]
    assert len(summarise(run).sets[0].cells[0].trainings) == 3


def test_joined_runs_are_one_recipe(tmp_path):
    runs = [
        evaluate({"mine": seeds}, SETS[:1], tmp_path / str(i), baselines=[]) for i, seeds in enumerate((MINE[:2], MINE))
    ]
    joined = summarise(join(runs))
    assert [column.label for column in joined.columns] == [("mine",)]
    assert len(joined.sets[0].cells[0].trainings) == 3


def test_exported_results_keep_their_recipes(run, tmp_path):
    file = export_results(run, tmp_path / "mine.json", by="A. Author", encoders=["mine"])
    plain = ResultFile.read(file).unpack(tmp_path / "plain")
    assert summarise(plain).columns[0].label == ("mine",)
    assert len(summarise(plain).columns) == 1
    owned = ResultFile.read(file).unpack(tmp_path / "owned", owner="A. Author")
    assert summarise(owned).columns[0].label == ("mine (A. Author)",)
    assert summarise(owned).sets[0].cells[0].score == summarise(run).sets[0].cells[0].score


def test_a_pattern_stands_for_all_that_match_in_the_order_of_their_numbers(place):
    assert trainings("py:seed-*/mine.py:encode?version=1") == {
        "seed-1": "py:seed-1/mine.py:encode?version=1", "seed-2": "py:seed-2/mine.py:encode?version=1",
        "seed-10": "py:seed-10/mine.py:encode?version=1",
    }  # fmt: skip
    assert list(trainings("trained:seed-*/")) == ["seed-1", "seed-2", "seed-10"]
    assert trainings("trained:seed-1") == trainings("static:") == trainings("hf:m?layer=*") == {}
    (place / "seed-²").mkdir()
    (place / "seed-b").mkdir()
    assert list(trainings("trained:seed-*")) == ["seed-1", "seed-2", "seed-10", "seed-b", "seed-²"]
    (place / "a*b").mkdir()
    assert trainings("trained:a*b") == {}
    with pytest.raises(UsageError, match=r"trained:run-\*: no file or folder matches run-\*"):
        trainings("trained:run-*")


@pytest.mark.parametrize("typed", ["mine=py:seed-*/mine.py:encode?version=1", "mine=seeds:three.toml"])
def test_as_it_is_typed(place, typed):
    (place / "parity.txt").write_text("".join(f"{split}\t{row.label}\t{row.text}\n" for split, row in parity()))
    run = evaluate([typed], find_sets(["parity.txt"]), "run", baselines=["majority"], resample=0)
    assert run.encoders[:3] == [f"py:seed-{i}/mine.py:encode?version=1" for i in (1, 2, 10)]
    summary = summarise(run)
    assert [column.label for column in summary.columns] == [("mine",)]
    assert len(summary.sets[0].cells[0].trainings) == 3
    again = repeat(run.results[2].signature, run=run, encoders=[run.results[2].cell.encoder])
    assert again.same
    assert f"-e {quote(typed)} " in full_summary(run).reproduction.commands[0]


def test_checkpoints_of_trainings_are_recipes_of_their_own(monkeypatch):
    def expanded(names):
        return [f"{name.partition('?')[0]}?epoch={epoch}" for name in names for epoch in (1, 2)]

    monkeypatch.setattr("sentprobe.run.info.expand_names", expanded)
    recipes = {}
    add_recipe(recipes, Recipe("mine"), ["trained:a?epoch=all", "trained:b?epoch=all"])
    assert {name: recipe.name for name, recipe in recipes.items()} == {
        "trained:a?epoch=1": "mine?epoch=1", "trained:a?epoch=2": "mine?epoch=2",
        "trained:b?epoch=1": "mine?epoch=1", "trained:b?epoch=2": "mine?epoch=2",
    }  # fmt: skip


def test_without_a_name_the_pattern_is_one(place):
    run = evaluate(["py:seed-*/mine.py:encode?version=1"], parity(), "run", baselines=[], resample=0)
    assert [column.label for column in summarise(run).columns] == [("py:seed-*/mine.py:encode?version=1",)]


def test_a_training_in_a_folder_that_has_changed_is_shown_apart(place):
    name = "mine=py:seed-*/mine.py:encode?version=1"
    evaluate([name], parity(), "run", baselines=[], resample=0)
    (place / "seed-2" / "mine.py").write_text(CODE.format(noise=7))
    run = evaluate([name], parity(), "run", baselines=[], resample=0)
    labels = [column.label[0] for column in summarise(run).columns]
    assert labels == ["mine", "mine seed-2", "mine seed-2"]
    assert Run.load("run").recipes.keys() == {f"py:seed-{i}/mine.py:encode?version=1" for i in (1, 10)}


@pytest.mark.parametrize(
    ("encoders", "message"),
    [
        ({"mine": []}, "to be an encoder, or a list of its trainings"),
        ({"mine": [7]}, "to be an encoder, or a list of its trainings"),
        ({"mine": [MINE[0], MINE[0]]}, "an encoder is listed twice"),
        (["a=baseline:hash", "b=seeds:same.toml"], "an encoder is listed twice"),
        (["three=baseline:hash", "three=seeds:three.toml"], "are called 'three'"),
        (["a=seeds:three.toml", "b=seeds:three.toml"], "is a training of both a and b"),
        (["seeds:none.toml"], "none.toml cannot be read"),
        (["seeds:"], "names no file"),
    ],
)
def test_what_is_no_recipe(place, encoders, message):
    (place / "same.toml").write_text('one = "baseline:hash"\ntwo = "baseline:hash"\n')
    with pytest.raises((UsageError, DataError), match=message):
        evaluate(encoders, SETS[0], place / "run", baselines=[])


def test_several_encoders_are_not_loaded_as_one(place):
    from sentprobe.encoders import load

    with pytest.raises(UsageError, match="is several encoders, which only `sentprobe run` takes together"):
        load("seeds:three.toml")


@pytest.mark.parametrize(("probe", "is_said"), [("linear", True), ("mlp?hidden=4&passes=2", False)])
def test_seeds_of_a_probe_without_random_numbers_are_explained(probe, is_said):
    note = _seedless_note(RunOptions(probes=[probe], probe_seeds=range(3)))
    assert ("linear has no random numbers" in note and "all 3 seeds give the same score" in note) == is_said
    assert _seedless_note(RunOptions(probes=["linear"])) == ""
