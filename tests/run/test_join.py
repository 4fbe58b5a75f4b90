"""Several runs as one: everything is there once, and found where it is."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe.errors import UsageError
from sentprobe.probes.kind import kind_of
from sentprobe.report.summary import summarise
from sentprobe.results.log import open_log
from sentprobe.results.result import Failure
from sentprobe.run import Run, cells, evaluate, join
from tests.run.sets import Knowing, dataset, same

OTHER = dataset("own/other", classes=3)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    baselines = ["majority", "baseline:hash"]
    return [
        evaluate(
            {"one": Knowing(3, name="one")}, [dataset()], folder / "a", baselines=baselines, command="sentprobe run a"
        ),
        evaluate({"two": Knowing(3, name="two")}, [dataset(), OTHER], folder / "b", baselines=baselines),
        evaluate({"one": Knowing(3, name="one")}, [OTHER], folder / "c", probe_seeds=[7], baselines=baselines),
    ]


def test_every_result_is_there_once(runs):
    joined = join(runs)
    assert {r.key for r in joined} == {r.key for run in runs for r in run}
    assert len(joined) == len({r.key for r in joined}) < sum(map(len, runs))
    assert joined.encoders == ["one", "baseline:hash", "majority", "two"]  # in the order of requests
    assert [d["name"] for d in joined.info["datasets"]] == ["own/task", "own/other"]
    assert joined.info["seeds"] == [1111, 7]
    assert joined.info["commands"] == ["sentprobe run a"]
    assert joined.info["format"] == runs[0].info["format"]
    assert joined.folder == runs[0].folder
    assert joined.folders == [run.folder for run in runs]


def test_predictions_rows_and_probes_are_found_in_their_folders(runs):
    joined = join(runs)
    where = {r.key: run for run in reversed(runs) for r in run}
    for result in joined:
        run = where[result.key]
        assert joined.folder_of(result) == run.folder
        one, two = joined.predictions(result), run.predictions(result)
        assert all(np.array_equal(one[name], two[name]) for name in two)
        assert joined.rows(result) == run.rows(result)
        if result.cell.probe:
            assert np.array_equal(joined.model(result).weights, run.model(result).weights)


def test_of_one_cell_the_first_run_counts(runs, tmp_path):
    result = runs[0].results[0]
    with open_log(tmp_path / "d") as log:
        log.describe(encoders=["one"])
        log.add(replace(result, score=0.125))
    other = Run.load(tmp_path / "d")
    assert next(r for r in join([runs[0], other]) if r.key == result.key).score == result.score
    assert next(r for r in join([other, runs[0]]) if r.key == result.key).score == 0.125


def test_a_failure_that_succeeded_in_another_run_does_not_count(runs, tmp_path):
    done, lost = runs[0].results[0], replace(runs[0].results[0].cell, encoder="lost")
    with open_log(tmp_path / "d") as log:
        log.describe(encoders=["one", "lost"])
        log.add(Failure(key=done.key, cell=done.cell, error="out of memory", kind="MemoryError"))
        log.add(Failure(key=lost.key, cell=lost, error="no such file", kind="UsageError"))
    assert [f.cell.encoder for f in join([runs[0], Run.load(tmp_path / "d")]).failures] == ["lost"]


def test_joining_is_associative_and_one_run_is_itself(runs):
    a, b, c = runs
    left, right = join([join([a, b]), c]), join([a, join([b, c])])
    assert left.info == right.info
    assert left.results == right.results
    assert dict(left.result_folders) == dict(right.result_folders)
    assert same(left, right)
    assert join([a]) is a
    with pytest.raises(UsageError, match="at least one run"):
        join([])


def test_a_joined_run_can_be_shown(runs):
    summary = summarise(join(runs))
    assert [c.encoder for c in summary.columns] == ["one", "two"]
    assert summary.notes == ()


def test_nothing_is_changed(runs):
    before = [(run.info, run.results) for run in map(Run.load, (run.folder for run in runs))]
    join(runs)
    assert [(run.info, run.results) for run in runs] == before


def test_runs_that_disagree_about_an_encoder_without_an_identity_are_not_joined(tmp_path):
    def scored(noise):
        encoder = Knowing(noise=noise)
        encoder.identity = None
        return evaluate({"mine": encoder}, [dataset()], tmp_path / str(noise), baselines=[])

    with pytest.raises(UsageError, match=r"mine on own/task has [\d.]+ in .* and [\d.]+ in .* may be two encoders"):
        join([scored(0.0), scored(4.0)])
    assert len(join([scored(1.0), evaluate({"other": Knowing()}, [dataset()], tmp_path / "other", baselines=[])])) == 2


def test_runs_that_disagree_about_a_known_encoder_say_so(tmp_path):
    def scored(noise):
        encoder = Knowing(noise=noise)
        encoder.identity = Knowing().identity  # which is not true
        return evaluate({"mine": encoder}, [dataset()], tmp_path / str(noise), baselines=[])

    one, two = scored(0.0), scored(4.0)
    both = join([one, two])
    assert both.results == one.results
    assert len(both.damaged) == 1
    assert "The first is shown" in both.damaged[0]
    assert join([one, one]).damaged == ()


@pytest.mark.parametrize("newest_first", [True, False])
def test_of_two_versions_of_a_probe_the_newer_one_counts(newest_first, tmp_path, monkeypatch):
    def run(name, version):
        with monkeypatch.context() as changed:
            changed.setattr(cells, "kind_of", lambda probe: replace(kind_of(probe), version=version))
            return evaluate({"k": Knowing(noise=1.0)}, dataset(), tmp_path / name, baselines=[], resample=0)

    old, new = run("old", 1), run("new", 3)
    joined = join([new, old] if newest_first else [old, new])
    assert [result.key for result in joined] == [result.key for result in new]
    assert joined.predictions(joined.results[0])["predicted"].shape == (60,)
    (note,) = joined.damaged
    assert "1 result, such as k on own/task, was computed with different versions" in note
    assert note.endswith("(the first and convex.v3). The newer is shown.")
    assert summarise(joined).sets[0].cells[0].seeds == 1
