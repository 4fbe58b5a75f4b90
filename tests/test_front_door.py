"""Every verb, given what cannot be read or written: exit code 1, a message, no traceback, and no waiting for ever."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from sentprobe.cli import main
from sentprobe.cli.figure import figure
from sentprobe.core.files import write_atomically
from sentprobe.corpus import Corpus
from sentprobe.errors import DataError
from sentprobe.report.charts import CHARTS
from sentprobe.run import evaluate
from tests.run.sets import Knowing, dataset

LONG = "x" * 300
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes and SIGALRM")
BYTES = "caf\udce9"
"""What Python makes of a file name that is no UTF-8."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A set and a run, and things that are not what their names promise."""
    folder = tmp_path_factory.mktemp("place")
    lines = [f"{split}\t{row.label}\t{row.text}\n" for split, row in dataset()]
    (folder / "own.txt").write_text("".join(lines))
    run = evaluate({"knowing": Knowing()}, [dataset()], folder / "run")
    (folder / "signature").write_text(next(r.signature for r in run if r.cell.encoder == "baseline:hash"))
    (folder / "file").write_text("x")
    (folder / "pairs.tsv").write_text("".join(f"the {n} cats sleep\tcats sleep\tneutral\n" for n in range(9)))
    (folder / "folder").mkdir()
    for ending in ("html", "json", "csv", "md", "tex", "pdf", "svg", "py", "conllu"):
        (folder / f"dir.{ending}").mkdir()
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe.conllu")
    return folder


@pytest.fixture
def sentprobe(place, monkeypatch, capsys):
    """Run a command there: its exit code and what it says. One that waits is ended by an alarm."""

    def too_long(number, frame):
        raise AssertionError("it waits for something that never comes")

    def run(*words):
        monkeypatch.chdir(place)
        monkeypatch.setattr(sys, "argv", ["sentprobe", *words])
        before = signal.signal(signal.SIGALRM, too_long)
        signal.alarm(60)
        try:
            with pytest.raises(SystemExit) as ended:
                main()
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
        said = capsys.readouterr()
        return ended.value.code, said.out + said.err

    return run


FOLDERS = [
    ("make", "--builtin", "300", "-t", "passive", "-o"),
    ("encode", "own.txt", "--no-store", "-o"),
    ("run", "own.txt", "--no-store", "-e", "baseline:hash", "-o"),
    ("demo", "-o"),
    ("senteval", "install"),
    ("data", "get", "MR", "--yes", "--offline", "-o"),
    ("data", "convert-coco", "file", "file", "file", "-o"),
    ("train", "nli", "-a", "bow-mean", "--train", "own.txt", "--held-out", "9", "-o"),
]
"""Commands that write into a folder, which comes last."""


@pytest.mark.parametrize("folder", ["file", "file/below", "pipe", LONG, "/proc/self/nothing"])
@pytest.mark.parametrize("words", FOLDERS, ids=lambda words: " ".join(words[:2]))
def test_a_folder_that_cannot_be_written_to(sentprobe, words, folder):
    code, said = sentprobe(*words, folder)
    assert code == 1
    assert "Traceback" not in said
    assert "Unexpected error" not in said


FILES = [
    *((("report", "run", "-o"), ending) for ending in ("html", "json", "csv", "md", "tex")),
    *((("figure", "run", "-k", "heatmap", "-o"), ending) for ending in ("pdf", "svg", "json", "csv")),
]


@pytest.mark.parametrize("form", ["dir.{}", "file/x.{}", "nowhere/x.{}", "/proc/self/x.{}", LONG + ".{}"])
@pytest.mark.parametrize(("words", "ending"), FILES, ids=lambda each: each if isinstance(each, str) else each[0])
def test_a_file_that_cannot_be_written(sentprobe, words, ending, form):
    code, said = sentprobe(*words, form.format(ending))
    assert code == 1
    assert "cannot be written" in said
    assert "Traceback" not in said


SOURCES = [
    ("make", "-o", "out"), ("make", "--builtin", "300", "-t", "passive", "--exclude"), ("make", "-t"),
    ("make", "--builtin", "9", "--set"), ("make", "--builtin", "9", "-s"), ("audit",),
    ("audit", "--text", "1", "--label", "2", "--no-header"), ("audit", "--explain"),
    ("data", "check"), ("sentences",), ("encode",), ("run",), ("run", "own.txt", "-p"),
    ("run", "own.txt", "--controls"), ("run", "own.txt", "--measures"), ("show",), ("compare",), ("report",),
    ("figure", "-k", "heatmap", "-o", "x.pdf"), ("figure", "run", "-k", "heatmap", "-o", "x.pdf", "-e"),
    ("serve", "--port", "0"), ("repeat",), ("repeat", "SIGNATURE", "--run"), ("repeat", "SIGNATURE", "-d"),
    ("check",), ("check", "passive"), ("ls",), ("train", "-a", "bow-mean", "-o", "new"),
    ("train", "nli", "-o", "new", "-e"), ("train", "nli", "-o", "new", "--preset"),
    ("train", "nli", "-a", "bow-mean", "-o", "new", "--held-out", "9", "--train"),
    ("train", "nli", "-a", "bow-mean", "-o", "new", "--train", "pairs.tsv", "--dev"),
    ("train", "nli", "-a", "bow-mean", "-o", "new", "--train", "pairs.tsv", "--held-out", "2", "--vectors"),
    ("train", "nli", "-a", "bow-mean", "-o", "new", "--train", "pairs.tsv", "--held-out", "2", "--withhold"),
    ("train", "mt", "-o", "new", "--pairs", "en-fr=file,file", "--held-out", "2", "--from"), ("translate",),
]  # fmt: skip
"""Commands that read what comes last, or take it for a name."""


@pytest.mark.parametrize("source", ["missing", "file/below", "folder", "pipe", "pipe.conllu", "/dev/zero", BYTES, LONG])
@pytest.mark.parametrize("words", SOURCES, ids=" ".join)
def test_a_source_that_cannot_be_read(sentprobe, place, words, source):
    signature = (place / "signature").read_text()
    code, said = sentprobe(*(signature if word == "SIGNATURE" else word for word in words), source)
    assert code == 1
    assert "Traceback" not in said
    assert "Unexpected error" not in said


@pytest.mark.parametrize("scheme", ["vec:{}", "npy:{}", "npy:{}?texts={}", "py:{}:encode"])
@pytest.mark.parametrize("source", ["pipe", "/dev/zero", "file/below"])
def test_an_encoder_that_cannot_be_read(sentprobe, scheme, source):
    code, said = sentprobe("check", scheme.format(source, source))
    assert code == 1
    assert "Traceback" not in said
    assert "Unexpected error" not in said


def test_bytes_that_are_no_text_are_printed_as_they_can_be(place):
    # in a process of its own: the streams of a test are not those of a command
    odd = os.fsencode(BYTES)
    for words in ([b"senteval", b"install", odd], [b"report", b"run", b"-o", odd + b".md"]):
        done = subprocess.run([sys.executable, "-m", "sentprobe", *words], cwd=place, capture_output=True, check=False)
        assert done.returncode in (0, 1)
        assert b"Traceback" not in done.stderr
        assert b"Unexpected" not in done.stderr


def test_a_pipe_in_a_folder_of_corpora_is_passed_by(tmp_path):
    (tmp_path / "a.txt").write_text("A sentence of words .\n")
    os.mkfifo(tmp_path / "b.txt")
    assert [s.text for s in Corpus.read(str(tmp_path))] == ["A sentence of words ."]


def test_a_read_only_disk_is_told(tmp_path, monkeypatch):
    # such a disk refuses to remove even what is not there
    def refuse(self, *arguments, **more):
        raise OSError(30, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(DataError, match="Read-only file system"):
        write_atomically(tmp_path / "report.html", b"")


def test_every_figure_has_a_caption_and_is_in_the_help():
    assert all(found.caption for found in CHARTS.parts().values())
    (parameter,) = get_type_hints(figure, include_extras=True)["kind"].__metadata__
    assert sorted(re.findall(r"[\w-]+", parameter.help.removeprefix("The chart: "))) == sorted(CHARTS.parts())
