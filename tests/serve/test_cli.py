"""`sentprobe serve` as it is typed, and the command that a run remembers."""

import re
import shlex
import signal
import subprocess
import sys
from urllib.request import urlopen

import msgspec
import pytest

from sentprobe.cli import main
from sentprobe.results.log import open_log
from sentprobe.results.run import Run
from tests.serve.runs import run, running, word_content


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to a single process on Windows")
def test_a_run_is_served_until_it_is_interrupted(tmp_path):
    run(tmp_path / "run", ["static:"], baselines=[])
    command = [sys.executable, "-m", "sentprobe", "serve", "run", "--port", "0"]
    # whoever runs the tests in the background has told their children to take no interrupts

    def listen():
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=listen) as server:
        line = server.stderr.readline()
        found = re.fullmatch(r"Serving run at (http://127\.0\.0\.1:\d+/); Ctrl-C stops it\.\n", line)
        assert found, line
        with urlopen(found[1] + "status") as answer:
            assert msgspec.json.decode(answer.read())["results"] == 2
        server.send_signal(signal.SIGINT)
        assert server.stderr.read() == "stopped\n"
    assert server.returncode == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [(["serve", "gone"], "There is no folder"), (["serve", ".", "--port", "99999"], "expected 1 to 65535")],
)
def test_what_cannot_be_served(tmp_path, monkeypatch, capsys, words, why):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["sentprobe", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert why in capsys.readouterr().err


def test_a_run_that_has_only_begun_can_be_served(tmp_path):
    with open_log(tmp_path / "run") as log:
        log.describe(encoders=["static:"], probes=["linear"], seeds=[1111])
    with running(tmp_path / "run") as server, urlopen(server.url) as page, urlopen(server.url + "status") as status:
        assert b'data-results="0"' in page.read()
        assert msgspec.json.decode(status.read())["encoders"] == []


def test_a_run_remembers_the_commands_that_wrote_it(tmp_path, monkeypatch):
    rows = (f"{split}\t{row.label}\t{row.text}\n" for split, row in word_content())
    (tmp_path / "word_content.txt").write_text("".join(rows))
    words = ["run", "-e", "baseline:hash", "-d", "word_content.txt", "-o", "my run", "--no-store"]
    monkeypatch.chdir(tmp_path)
    for more in ([], ["--debug"], ["--limit", "50"]):
        monkeypatch.setattr(sys, "argv", ["sentprobe", *words, *more])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0
    assert Run.load("my run").info["commands"] == [
        "sentprobe run -e baseline:hash -d word_content.txt -o 'my run' --no-store",
        "sentprobe run -e baseline:hash -d word_content.txt -o 'my run' --no-store --limit 50",
    ]
    assert shlex.split(Run.load("my run").info["commands"][0]) == ["sentprobe", *words]
