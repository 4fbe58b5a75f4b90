"""Whatever an encoder or a task does is a failure of its own, named, with exit code 2; Ctrl-C is still Ctrl-C."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sentprobe.cli import main
from sentprobe.core.third_party import third_party_code
from sentprobe.corpus import Corpus
from sentprobe.encoders import load as load_encoder
from sentprobe.encoders.embed import embed
from sentprobe.errors import EncoderError, UsageError
from sentprobe.make import SkippedTask, make_sets
from sentprobe.run import Run, evaluate
from sentprobe.tasks import Example, Policy, Task, load_task
from tests.run.sets import dataset


class Rude(BaseException):
    """Which no `except Exception` catches."""


def exits(texts):
    sys.exit(0)


def exits_hard(texts):
    os._exit(0)


def is_rude(texts):
    raise Rude("no")


def interrupts(texts):
    raise KeyboardInterrupt


class Words:
    """An encoder whose table of words ends the program."""

    def __call__(self, texts):
        return [[float(len(text)), 1.0] for text in texts]

    @property
    def layers(self):
        sys.exit(0)


def command(monkeypatch, *words):
    """The exit code of a command, run here."""
    monkeypatch.setattr(sys, "argv", ["sentprobe", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "enc.py").write_text(
        "import sys\n"
        "def quits(texts): sys.exit(0)\n"
        "def good(texts): return [[float(len(t)), 1.0] for t in texts]\n"
        "class Quitter:\n"
        "    def __init__(self): raise SystemExit\n"
    )
    lines = [f"{split}\t{row.label}\t{row.text}\n" for split, row in dataset()]
    (tmp_path / "own.txt").write_text("".join(lines))
    return tmp_path


@pytest.mark.parametrize(
    ("encoder", "error"),
    [(exits, "sys.exit(0)"), (exits_hard, "os._exit(0)"), (is_rude, "Rude: no"), (Words(), "sys.exit(0)")],
)
def test_an_encoder_that_ends_the_program_is_a_failure_of_its_cells(tmp_path, encoder, error):
    run = evaluate(
        {"bad": encoder, "good": lambda texts: [[len(t), 1.0] for t in texts]}, [dataset()], tmp_path / "run"
    )
    assert [(f.cell.encoder, error in f.error) for f in run.failures] == [("bad", True)]
    assert "good" in {r.cell.encoder for r in run}


def test_a_real_interrupt_is_none(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        evaluate({"slow": interrupts}, [dataset()], tmp_path / "run")
    assert len(Run.load(tmp_path / "run"))  # what was done before is kept


def test_run_ends_with_two_and_names_the_encoder(here, monkeypatch, capsys):
    assert command(monkeypatch, "run", "own.txt", "-e", "py:enc.py:quits", "-e", "py:enc.py:good", "-o", "run") == 2
    said = capsys.readouterr()
    assert "py:enc.py:quits" in said.out + said.err
    assert "sys.exit(0)" in said.out + said.err
    assert command(monkeypatch, "run", "own.txt", "-e", "py:enc.py:Quitter?call=1", "-o", "run2") == 2


def test_encode_and_check_name_it_too(here, monkeypatch, capsys):
    assert command(monkeypatch, "encode", "own.txt", "-e", "py:enc.py:quits", "-e", "py:enc.py:good", "--no-store") == 2
    assert "not encoded: py:enc.py:quits" in capsys.readouterr().err
    assert command(monkeypatch, "encode", "own.txt", "-e", "py:enc.py:quits", "--no-store") == 1
    assert command(monkeypatch, "check", "py:enc.py:quits") == 1
    assert "sys.exit(0)" in capsys.readouterr().out


def test_embedding_says_that_the_encoder_ended_the_program():
    with pytest.raises(EncoderError, match=r"it called sys\.exit\(0\)"):
        embed(exits, ["a"])


# tasks


def longer(s, context):
    return Example.of(s, "long" if len(s.tokens) > 9 else "short")


def quits(*arguments):
    sys.exit(0)


def exits_hard_on(*arguments):
    os._exit(0)


def rude(*arguments):
    raise Rude("no")


def task(**changed):
    policy = Policy(sizes=(60, 20, 20), strata=())
    given = {
        "name": "bad", "version": 1, "question": "Is it long?", "paper": "", "propose": longer,
        "labels": ("long", "short"), "policies": {"own": policy},
    }  # fmt: skip
    return Task(**{**given, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {"propose": quits}, {"propose": exits_hard_on}, {"count": exits_hard_on}, {"complete": exits_hard_on},
        {"propose": rude}, {"propose": lambda s, c: 7}, {"count": quits}, {"plan": rude},
        {"complete": quits}, {"label_issues": quits},
    ],
    ids=lambda changed: "-".join(changed),
)  # fmt: skip
def test_a_task_that_ends_the_program_is_not_made_and_the_others_are(changed):
    both = [("own", task(**changed), task().policies["own"]), ("own", task(name="good"), task().policies["own"])]
    for jobs in (1, 2) if {"propose", "count"} & changed.keys() else (1,):  # the others are not done by workers
        bad, good = sorted(make_sets(Corpus.synthetic(600), both, jobs=jobs), key=lambda found: found.name)
        assert isinstance(bad, SkippedTask)
        assert bad.kind == "failed"
        assert not isinstance(good, SkippedTask)


def test_the_reason_names_sentence_file_and_line():
    (bad,) = make_sets(Corpus.synthetic(100), [("own", task(propose=quits), Policy())])
    assert bad.reason.startswith("it failed on the sentence ")
    assert f"it called sys.exit(0) ({__file__}:" in bad.reason


TASK = """
import sys
from sentprobe.tasks import Example, Policy, Task
def propose(s, context):
    sys.exit(0)
task = Task(name="quitter", version=1, question="Is it?", paper="", propose=propose, labels=("a", "b"))
"""


def test_make_ends_with_two_and_names_the_task(here, monkeypatch, capsys):
    (here / "quitter.py").write_text(TASK)
    assert command(monkeypatch, "make", "--builtin", "200", "-t", "quitter.py", "-o", "probes") == 2
    assert "not made: default/quitter: it failed on the sentence" in capsys.readouterr().err
    assert command(monkeypatch, "check", "quitter.py") == 1
    assert "sys.exit(0)" in capsys.readouterr().out


def test_a_task_file_that_ends_the_program_does_not_run(here):
    (here / "ends.py").write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(UsageError, match=r"ends.py does not run: it called sys.exit\(0\) \(.*ends.py:2\)"):
        load_task("ends.py")


def test_nothing_ends_a_command_with_zero_by_itself(monkeypatch, capsys):
    from sentprobe.cli._exits import run_to_exit_code

    assert run_to_exit_code(lambda: sys.exit(0), debug=False) == 2
    assert "it called sys.exit(0)" in capsys.readouterr().err


# what they do to the process

MEDDLING = """
import os, sys
def fine(texts): return [[float(len(t)), 1.0] for t in texts]
def dies(texts): os._exit(0)
def moves(texts):
    os.chdir("/")
    return fine(texts)
def closes(texts):
    sys.stdout.close()
    sys.stderr.close()
    return fine(texts)
def closes_files(texts):
    os.close(1)
    os.close(2)
    return fine(texts)
def replaces(texts):
    sys.stdout = sys.stderr = open(os.devnull, "w")
    return fine(texts)
def forks(texts):
    child = os.fork()
    if not child:
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    return fine(texts)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_what_encoders_do_to_the_process_harms_nobody_else(here):
    (here / "meddling.py").write_text(MEDDLING)
    names = ("dies", "moves", "closes", "closes_files", "replaces", "forks", "fine")
    words = ["own.txt", *(word for name in names for word in ("-e", f"py:meddling.py:{name}"))]
    done = subprocess.run(
        [sys.executable, "-m", "sentprobe", "run", *words, "-o", "run", "--resample", "0"],
        capture_output=True, text=True, cwd=here, timeout=300,
    )  # fmt: skip
    assert done.returncode == 2
    assert "written to run/" in done.stderr
    assert re.search(r"^py:meddling\.py:fine +50\.0", done.stdout, re.MULTILINE), done.stdout
    run = Run.load(here / "run")
    assert [f.cell.encoder for f in run.failures] == ["py:meddling.py:dies"]
    assert "it called os._exit(0)" in run.failures[0].error
    scores = {r.cell.encoder: r.score for r in run if r.cell.encoder.startswith("py:")}
    assert list(scores) == [f"py:meddling.py:{name}" for name in names[1:]]
    assert len(set(scores.values())) == 1
    assert sorted(path.name for path in here.iterdir()) == ["enc.py", "meddling.py", "own.txt", "run"]


def test_modules_that_meddle_when_they_are_imported(here):
    for name in ("encoder", "task"):
        (here / f"{name}.py").write_text("import os\nos.chdir('/')\nos._exit(0)\n")
    with pytest.raises(EncoderError, match=r"encoder\.py:3\): it called os\._exit\(0\)"):
        load_encoder("py:encoder.py")
    with pytest.raises(UsageError, match=r"it called os\._exit\(0\) \(.*task\.py:3\)"):
        load_task("task.py")
    assert Path.cwd() == here


def test_a_task_that_changes_the_directory_does_not_lose_the_corpus(here):
    for name in ("one", "two"):  # the second file is opened after the first was gone through
        lines = (
            " ".join([name, *format(i, "09b").replace("0", "no ").replace("1", "yes ").split()]) for i in range(512)
        )
        (here / f"{name}.txt").write_text("".join(f"{line}{' so so' * (i % 2)} .\n" for i, line in enumerate(lines)))

    def moves(s, context):
        os.chdir("/")
        return Example.of(s, "long" if len(s.tokens) > 11 else "short")

    corpus = Corpus.read("one.txt", "two.txt")
    (made,) = make_sets(corpus, [("own", task(propose=moves), Policy(sizes=(20, 10, 10), strata=()))])
    assert not isinstance(made, SkippedTask), made
    assert made.manifest["corpus"]["sentences"] == 1024
    assert Path.cwd() == here


def test_the_fence_leaves_nothing_behind():
    before, spare = os._exit, os.dup(0)
    os.close(spare)
    with third_party_code, third_party_code, pytest.raises(SystemExit):
        os._exit(0)
    assert os._exit is before
    assert os.dup(0) == spare  # the first number that is free
    os.close(spare)
