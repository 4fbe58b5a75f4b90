import re

import pytest

from sentprobe import Dataset, Report, Run
from sentprobe.callbacks import TrainingMonitor
from sentprobe.errors import DataError, SentProbeWarning, UsageError


@pytest.fixture
def parity():
    rows = [(f"number {i}", ("even", "odd")[i % 2], ("train", "dev", "test")[i % 5 % 3]) for i in range(200)]
    return Dataset.from_rows(rows, split="split", name="parity", language="en")


def after(step):
    """A model that has learned the last digit after step 20."""
    return lambda texts: [[int(text[-1]) % 2 if step > 20 else 0.0, len(text)] for text in texts]


def test_steps_are_a_curve_of_one_run(parity, tmp_path):
    monitor = TrainingMonitor(parity, tmp_path, name="mine")
    scores = [monitor.probe(after(step), step)["parity"] for step in (10, 20, 30)]
    assert scores[2] == 1.0
    assert max(scores[:2]) < 0.9
    run = Run.load(tmp_path)
    curve = [(point.series, point.x, point.value) for point in Report.of(run).summary.curves.epoch]
    assert curve == [("mine step=*", step, score) for step, score in zip((10, 20, 30), scores, strict=True)]
    assert {r.resamples for r in run if r.cell.encoder.startswith("mine")} == {0}
    assert 0 < monitor.share <= 1


def test_the_last_step_has_intervals_about_the_encoder(parity, tmp_path):
    monitor = TrainingMonitor(parity, tmp_path)
    monitor.probe(after(30), 30)
    monitor.probe(after(30), 30, final=True)
    (result,) = [r for r in Run.load(tmp_path) if r.cell.encoder == "model step=30"]
    assert result.encoder_interval is not None


def test_a_model_that_fails_stops_nothing(parity, tmp_path):
    monitor = TrainingMonitor(parity, tmp_path)
    with pytest.warns(SentProbeWarning, match=re.escape("Probing at step 5 failed, and the training goes on")):
        assert monitor.probe(lambda texts: 1 / 0, 5) == {}
    assert monitor.probe(after(30), 6) == {"parity": 1.0}


def test_a_folder_that_cannot_be_written_stops_nothing(parity, tmp_path):
    (tmp_path / "file").write_text("not a run")
    monitor = TrainingMonitor(parity, tmp_path / "file")
    with pytest.warns(SentProbeWarning, match="failed, and the training goes on"):
        assert monitor.probe(after(1), 1) == {}


def test_mistakes_are_found_before_the_training_begins(parity, tmp_path):
    with pytest.raises(DataError):
        TrainingMonitor([tmp_path / "missing"], tmp_path)
    with pytest.raises(UsageError, match="without an equals sign"):
        TrainingMonitor(parity, tmp_path, name="a=b")
