"""What a run says of itself while it is written."""

import json
import os
import socket
import subprocess
import sys

import pytest

from sentprobe.results.run_status import MAX_AGE, STATUS, RunStatus, StatusFile, read_status
from sentprobe.run import evaluate
from tests.run.sets import Knowing, dataset


def test_a_command_says_how_far_it_is_and_nothing_is_left(tmp_path):
    seen = []

    def progress(stage, done, total):
        seen.append(read_status(tmp_path / "run"))

    evaluate({"mine": Knowing()}, dataset(), tmp_path / "run", baselines=[], resample=0, progress=progress)
    said = [status for status in seen if status is not None]
    assert any(status.action.endswith("mine") for status in said)
    assert all(0 <= status.done <= status.total == 1 for status in said)
    assert not (tmp_path / "run" / STATUS).exists()


def test_it_is_gone_after_an_error_too(tmp_path):
    status = StatusFile(tmp_path)
    status.write(1, 2, "encoding with mine")
    assert read_status(tmp_path) is not None
    with pytest.raises(KeyboardInterrupt), status.removed_at_end():
        raise KeyboardInterrupt
    assert read_status(tmp_path) is None
    StatusFile(tmp_path / "nowhere").write(1, 2, "encoding")  # what cannot be written is left out


def test_what_a_killed_command_left_is_not_believed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    fields = {"done": 1, "total": 2, "action": "encoding", "host": socket.gethostname(), "time": 0.0}
    for pid, running in ((os.getpid(), True), (ended.pid, False)):
        (tmp_path / STATUS).write_text(json.dumps({**fields, "pid": pid}))
        assert (read_status(tmp_path) is not None) == (running or os.name != "posix")
    other = RunStatus(1, 2, "encoding", 1, "another machine", time=0.0)
    assert not other.is_running  # without news for long
    assert MAX_AGE > 60
    (tmp_path / STATUS).write_text("{")
    assert read_status(tmp_path) is None


def test_it_is_not_written_a_hundred_times_a_second(tmp_path):
    status = StatusFile(tmp_path)
    for done in range(100):
        status.write(done, 100, f"probing mine on set {done}")
    assert read_status(tmp_path).done < 99
    status.write(99, 100, "saving")  # something else is done
    assert read_status(tmp_path).action == "saving"
