"""Processes that really run: none is left behind, whatever ends their parent, and Ctrl-C shows no traceback."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from sentprobe.core import workers as core_workers
from sentprobe.core.workers import map_in_workers, map_largest_first
from sentprobe.errors import RunError

PROC = Path("/proc/self/environ")
if not PROC.exists():  # at once: the signals that are named below are not everywhere
    pytest.skip("processes are looked for in /proc", allow_module_level=True)
PATIENCE = 30
"""Seconds that a busy machine may take for what takes a fraction of one; nothing is said about speed."""


def _listen():
    """Whoever runs the tests in the background has told their children to take no interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Command:
    """A sentprobe command in a session of its own; it and all that it starts have a mark in their environment."""

    def __init__(self, *arguments, cwd, **environment):
        self.mark = f"SENTPROBE_TEST_MARK={uuid.uuid4()}"
        self.parent = subprocess.Popen(
            [sys.executable, "-m", "sentprobe", *map(str, arguments)],
            cwd=cwd, start_new_session=True, preexec_fn=_listen, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(sys.path),
                 "SENTPROBE_TEST_MARK": self.mark.partition("=")[2]},
        )  # fmt: skip

    def alive(self):
        """Processes with the mark that have not ended: (pid, what was typed)."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or self.mark.encode() not in (entry / "environ").read_bytes().split(b"\0"):
                    continue
                if (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    found.append((int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
            except (OSError, IndexError):  # it ended while we looked
                continue
        return found

    def wait_for(self, condition):
        until = time.monotonic() + PATIENCE
        while not condition() and time.monotonic() < until:
            time.sleep(0.05)
        return condition()

    def end(self, number, *, group=False):
        """Send a signal, to all of them as a terminal does with Ctrl-C, and give the exit code and the words."""
        (os.killpg if group else os.kill)(self.parent.pid, number)
        gone = self.wait_for(lambda: not self.alive())
        left = self.alive()
        for pid, _ in left:
            os.kill(pid, signal.SIGKILL)
        _, said = self.parent.communicate()
        assert gone, f"{signal.Signals(number).name} left {left}"
        return self.parent.returncode, said


def workers(command):
    return [pid for pid, typed in command.alive() if "popen_loky" in typed]


@pytest.mark.parametrize(
    ("number", "group", "code"),
    [
        (signal.SIGKILL, False, -signal.SIGKILL),
        (signal.SIGTERM, False, 143),
        (signal.SIGHUP, False, 129),
        (signal.SIGINT, True, 130),
    ],
)
def test_no_worker_of_make_outlives_its_parent(tmp_path, number, group, code):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip(f"{number.name} is ignored here, as under nohup")
    command = Command("make", "--builtin", "200000", "--jobs", "2", "-o", "probes", cwd=tmp_path)
    assert command.wait_for(lambda: len(workers(command)) == 2)
    met, said = command.end(number, group=group)
    assert met == code, said
    assert "Traceback" not in said
    if number != signal.SIGKILL:  # which nothing can be said after
        assert any(line.endswith("what was already written is kept") for line in said.splitlines())


def test_no_worker_of_audit_outlives_its_parent(tmp_path, universal):
    for i, dataset in enumerate(universal.values()):
        dataset.save(tmp_path / "probes" / str(i))
    command = Command("audit", "probes", "--jobs", "2", cwd=tmp_path)
    assert command.wait_for(lambda: len(workers(command)) == 2)
    command.end(signal.SIGKILL)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_run_that_is_ended_keeps_what_it_has(tmp_path, universal, number, code):
    universal["sentence_length"].save(tmp_path / "sentence_length")
    (tmp_path / "slow.py").write_text(
        "import pathlib, time\ndef encode(texts):\n    pathlib.Path('started').touch()\n    time.sleep(600)\n"
    )
    command = Command("run", "sentence_length", "-e", "py:slow.py:encode", "--jobs", "2", "-o", "run", cwd=tmp_path)
    assert command.wait_for((tmp_path / "started").exists)
    met, said = command.end(number, group=number == signal.SIGINT)
    assert met == code, said
    assert "Traceback" not in said
    records = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert records  # the baselines that learn from words come first, and were done
    assert (tmp_path / "run" / "run.json").exists()


def test_an_ignored_signal_stays_ignored(tmp_path):
    # as under nohup: the terminal's end is no end of the command
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from sentprobe.cli._exits import run_to_exit_code\n"
        "def command():\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "    return 7\n"
        "sys.exit(run_to_exit_code(command, debug=False))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 7


def _end(number):
    os._exit(number)


def test_a_worker_that_dies_is_an_error_of_ours():
    with pytest.raises(RunError, match="worker process died"):
        list(map_in_workers(_end, [(3,), (3,)], 2))


def test_results_come_in_order():
    assert list(map_in_workers(pow, [(2, i) for i in range(6)], 2)) == [1, 2, 4, 8, 16, 32]


def test_the_largest_are_begun_first_and_results_come_in_order(monkeypatch):
    begun = []

    def in_this_process(call, calls, jobs, *, in_order):
        assert (jobs, in_order) == (3, False)
        for arguments in calls:
            begun.append(arguments[0])
            yield call(*arguments)

    monkeypatch.setattr(core_workers, "map_in_workers", in_this_process)
    calls, sizes = [(2, i) for i in range(5)], [3, 9, 1, 9, 4]
    assert list(map_largest_first(pow, calls, sizes, 3)) == [1, 2, 4, 8, 16]
    assert begun == [1, 3, 4, 0, 2]


def test_one_job_needs_no_workers(monkeypatch):
    monkeypatch.setattr(core_workers, "map_in_workers", None)
    assert list(map_largest_first(pow, [(2, 3), (2, 4)], [1, 2], 1)) == [8, 16]
    assert list(map_largest_first(pow, [(2, 3)], [1], 4)) == [8]


def test_results_of_real_workers_come_in_order():
    assert list(map_largest_first(pow, [(2, i) for i in range(6)], range(6), 2)) == [1, 2, 4, 8, 16, 32]


def _environment(_):
    return os.environ.get("TOKENIZERS_PARALLELISM")


def test_tokenizers_of_a_worker_use_one_thread():
    assert set(map_in_workers(_environment, [(i,) for i in range(4)], 2)) == {"false"}
