"""The progress of a run: every cell is counted once, and what is in work is named."""

import re

import pytest

from sentprobe.console import split_stage
from sentprobe.errors import EncoderError
from sentprobe.run import evaluate
from sentprobe.run.cells import encoder_name
from sentprobe.run.progress import RunProgress
from tests.report.runs import cell
from tests.run.sets import Knowing, dataset


class Layered(Knowing):
    """Three layers, which are known when it is loaded."""

    layers = ("0", "1", "2")

    def __call__(self, texts):
        vectors = super().__call__(texts)
        return [vectors, vectors, vectors]


class Broken(Knowing):
    def __call__(self, texts):
        raise EncoderError("broken")


def told(folder, encoders, sets, **more):
    """The cells that a run reports as done, and all of them; and what it names as in work."""
    facts = []
    evaluate(encoders, sets, folder, resample=0, progress=lambda *fact: facts.append(fact), **more)
    cells = [(split_stage(stage)[1], done, of) for stage, done, of in facts if split_stage(stage)[0] == "cells"]
    return [fact[1:] for fact in cells], [re.sub(r", (about|at least) [\d:]+ left$", "", now) for now, *_ in cells]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_cell_is_counted_once(tmp_path, jobs):
    sets = [dataset(), dataset("own/other", n=(100, 40, 60))]
    cells, now = told(tmp_path / "run", {"k": Knowing()}, sets, probe_seeds=(1, 2), jobs=jobs)
    # two seeds of the encoder, and random and hashed vectors, on two sets
    assert cells[-1] == (8, 8)
    done = [done for done, _ in cells]
    assert done == sorted(done)
    assert set(done) >= {0, 2, 4, 5, 6, 7, 8} if jobs == 1 else 8 in done
    assert "loading k" in now
    assert "encoding with k" in now
    if jobs == 1:
        assert "probing k on own/task" in now
        assert "probing baseline:hash on own/other" in now


def test_what_was_finished_before_counts_as_done(tmp_path):
    told(tmp_path / "run", {"k": Knowing()}, [dataset()])
    cells, now = told(tmp_path / "run", {"k": Knowing(), "new": Knowing(name="new")}, [dataset()])
    assert cells[-1] == (4, 4)
    assert not any("probing k " in each for each in now)


def test_layers_count_when_they_are_known(tmp_path):
    cells, _ = told(tmp_path / "run", {"k": Layered()}, [dataset()])
    assert cells[0] == (0, 3)  # as if it had one
    assert cells[-1] == (5, 5)


def test_what_fails_is_done(tmp_path):
    cells, _ = told(tmp_path / "run", {"broken": Broken(), "k": Knowing()}, [dataset()])
    assert cells[-1] == (4, 4)
    (tmp_path / "broken.py").write_text("raise ImportError('nothing here')\n", "utf-8")
    name = f"py:{tmp_path}/broken.py:f"
    cells, now = told(tmp_path / "other", [name, "baseline:words"], [dataset()])
    assert cells[-1] == (4, 4)
    assert f"loading {name}" in now


def test_controls_and_measures_are_cells(tmp_path):
    cells, now = told(tmp_path / "run", {"k": Knowing()}, [dataset()], controls=["norm"], measures=["online"])
    assert cells[-1][0] == cells[-1][1]
    assert "probing k on own/task (online)" in now


def test_an_untrained_twin_has_a_name_of_its_own():
    assert encoder_name(cell("st:a")) == "st:a"
    assert encoder_name(cell("st:a", variant="untrained")) == "st:a (untrained)"


def of_set(encoder, data, n=1, **more):
    return [cell(encoder, data=data, **more)] * n


def reported(progress):
    """What is said of the time left."""
    said = []
    progress.progress = lambda stage, *_: said.append(stage)
    progress.report("saving")
    return said[0].removeprefix("cells: saving").removeprefix(", ")


def test_what_is_left_is_weighed_by_what_was_measured():
    """A set of 60 seconds a cell and one of 1 second: cells alone would say that half of the time is over."""
    progress = RunProgress(None)
    for name in ("st:a", "st:b"):
        progress.expect(name, [*of_set(name, "large", 3), *of_set(name, "small", 3)])
    progress.report_encoding("st:a", 1, 1)
    assert reported(progress) == ""
    progress.finish("st:a", of_set("st:a", "small", 3), 3.0)
    progress.finish("st:a", of_set("st:a", "large", 3), 180.0)
    assert progress.remaining_seconds() == pytest.approx(183)
    assert reported(progress) == "at least 3:03 left"  # how long it takes to encode with b is not known yet
    progress.report_encoding("st:b", 0, 10)
    progress.report_encoding("st:b", 10, 10)
    assert reported(progress) == "about 3:03 left"
    progress.finish("st:b", of_set("st:b", "large", 3), 180.0)
    assert reported(progress) == "about 0:03 left"
    progress.finish("st:b")
    assert reported(progress) == ""


def test_cells_of_another_kind_cost_what_cells_cost_on_average_and_workers_share_them():
    progress = RunProgress(None, workers=2)
    progress.expect("st:a", [*of_set("st:a", "x", 4), *of_set("st:a", "x", 2, variant="key")])
    progress.finish("st:a", of_set("st:a", "x", 4), 40.0)
    assert progress.remaining_seconds() == pytest.approx(10)  # two of ten seconds, by two workers
    progress.finish("st:a", of_set("st:a", "x", 1, variant="key"), 100.0)
    assert progress.remaining_seconds() == pytest.approx(50)


def test_what_is_being_encoded_counts(monkeypatch):
    times = iter([0.0, 10.0, 10.0])
    monkeypatch.setattr("sentprobe.run.progress.time.monotonic", lambda: next(times))
    progress = RunProgress(None)
    progress.expect("st:a", of_set("st:a", "x", 4))
    progress.finish("st:a", of_set("st:a", "x", 3), 3.0)
    progress.report_encoding("st:a", 100, 400)
    progress.report_encoding("st:a", 200, 400)
    assert progress.remaining_seconds() == pytest.approx(21)  # 200 texts at ten a second, and one cell
