"""Whatever an encoder or a task does is a failure of its own, named, with exit code 2; Ctrl-C is still Ctrl-C."""

import sys

import pytest

from sonde.cli import main
from sonde.corpus import Corpus
from sonde.embed import embed
from sonde.errors import EncoderError, UsageError
from sonde.make import Unmade, make_sets
from sonde.run import Run, evaluate
from sonde.task import Example, Policy, Task
from sonde.tasks import load
from tests.run.sets import dataset


class Rude(BaseException):
    """Which no `except Exception` catches."""


def exits(texts):
    sys.exit(0)


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
    monkeypatch.setattr(sys, "argv", ["sonde", *map(str, words)])
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
    [(exits, "sys.exit(0)"), (is_rude, "Rude: no"), (Words(), "sys.exit(0)")],
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
        {"propose": quits}, {"propose": rude}, {"propose": lambda s, c: 7}, {"count": quits}, {"plan": rude},
        {"complete": quits}, {"doubts": quits},
    ],
    ids=lambda changed: "-".join(changed),
)  # fmt: skip
def test_a_task_that_ends_the_program_is_not_made_and_the_others_are(changed):
    both = [("own", task(**changed), task().policies["own"]), ("own", task(name="good"), task().policies["own"])]
    for jobs in (1, 2) if {"propose", "count"} & changed.keys() else (1,):  # the others are not done by workers
        bad, good = sorted(make_sets(Corpus.synthetic(600), both, jobs=jobs), key=lambda found: found.name)
        assert isinstance(bad, Unmade)
        assert bad.kind == "failed"
        assert not isinstance(good, Unmade)


def test_the_reason_names_sentence_file_and_line():
    (bad,) = make_sets(Corpus.synthetic(100), [("own", task(propose=quits), Policy())])
    assert bad.reason.startswith("it failed on the sentence ")
    assert f"it called sys.exit(0) ({__file__}:" in bad.reason


TASK = """
import sys
from sonde.task import Example, Policy, Task
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
        load("ends.py")


def test_nothing_ends_a_command_with_zero_by_itself(monkeypatch, capsys):
    from sonde.cli.ending import ended

    assert ended(lambda: sys.exit(0), debug=False) == 2
    assert "it called sys.exit(0)" in capsys.readouterr().err
