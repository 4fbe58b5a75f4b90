"""Symptoms of broken encoders are recorded with a run, reported by later ones, and gone with their cause."""

import contextlib
import io
import itertools

import numpy as np
import pytest

from sentprobe.cli import app
from sentprobe.encoders.store import Store
from sentprobe.errors import RunError
from sentprobe.report.checks import checks
from sentprobe.report.summary import summarise
from sentprobe.results.run import join
from sentprobe.run import Run, evaluate
from sentprobe.run.info import read_diagnoses
from tests.run.sets import Knowing, dataset


def codes(run):
    return {d.name: [symptom.code for symptom in d.symptoms] for d in read_diagnoses(run)}


def dead(texts):
    return np.ones((len(texts), 4))


class Batchy(Knowing):
    """An encoder that centres every batch."""

    def __call__(self, texts):
        found = super().__call__(texts)
        return found - found.mean(axis=0)


def test_a_dead_encoder_is_reported_by_every_run(tmp_path):
    encoders = {"dead": dead, "batchy": Batchy(name="batchy", noise=0.1), "good": Knowing(noise=0.1)}
    run = evaluate(encoders, [dataset()], tmp_path, baselines=())
    expected = {"dead": ["equal-vectors"], "batchy": ["batch-dependent"], "good": []}
    assert codes(run) == codes(Run.load(tmp_path)) == expected
    second = Batchy(name="batchy", noise=0.1)
    again = evaluate({"batchy": second}, [dataset()], tmp_path, baselines=())
    assert second.encoded == []  # nothing is left to do, and what was seen is known
    assert codes(again) == expected
    found = next(e for e in checks(summarise(again)) if e.code == "broken-encoder")
    assert (found.level, len(found.where)) == ("issue", 2)
    assert found.title == "An encoder is dead or broken"  # the page shows all of these


def test_a_function_that_was_mended_is_sound_again_and_may_break_again(tmp_path):
    for encoder, expected in ((dead, ["equal-vectors"]), (Knowing(noise=0.1).__call__, []), (dead, ["equal-vectors"])):
        assert codes(evaluate({"f": encoder}, [dataset()], tmp_path, baselines=())) == {"f": expected}


def test_vectors_that_are_taken_from_the_store_bring_what_was_seen_of_them(tmp_path):
    store = Store(tmp_path / "store")
    evaluate({"b": Batchy(name="b", noise=0.1)}, [dataset()], tmp_path / "one", baselines=(), store=store)
    later = Batchy(name="b", noise=0.1)
    run = evaluate({"b": later}, [dataset()], tmp_path / "two", baselines=(), store=store)
    assert later.encoded == []
    assert codes(run) == {"b": ["batch-dependent"]}
    (kept,) = (tmp_path / "store").glob("*/symptoms.json")
    kept.write_bytes(kept.read_bytes().replace(b"batch-dependent", b"random-vectors-"))
    third = evaluate({"b": later}, [dataset()], tmp_path / "three", baselines=(), store=store)
    assert later.encoded != []  # what cannot be trusted is looked at again
    assert codes(third) == {"b": ["batch-dependent"]}


def test_runs_that_are_joined_bring_what_was_seen(tmp_path):
    one = evaluate({"dead": dead}, [dataset()], tmp_path / "one", baselines=())
    two = evaluate({"good": Knowing(noise=0.1)}, [dataset()], tmp_path / "two", baselines=())
    assert codes(join([one, two])) == {"dead": ["equal-vectors"], "good": []}


def test_what_was_not_written_by_a_run_is_refused(tmp_path):
    for written in ([7], [{"name": "f"}], "x", [{"name": 1, "symptoms": []}], {"a": 1}):
        with pytest.raises(RunError, match=r"run\.json cannot be read: diagnoses: "):
            read_diagnoses(Run(tmp_path, {"diagnoses": written}))


def test_layers_are_looked_at(tmp_path):
    class Layered(Knowing):
        layers = ("0", "1")

        def __call__(self, texts):
            return np.stack([np.ones((len(texts), 3)), super().__call__(texts)])

    run = evaluate(
        {"layered": Layered(noise=0.1)}, [dataset()], tmp_path, baselines=(), store=Store(tmp_path / "store")
    )
    (found,) = read_diagnoses(run)
    assert found.symptoms[0].message.startswith("Layer 0: ")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A set, an encoder that is dead, and word vectors, in an empty current directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    places = enumerate(itertools.product(("tr", "va", "te"), range(24), "xy"))
    rows = [f"{split}\t{label}\tthe {label} river number {i}." for i, (split, _, label) in places]
    (tmp_path / "set.txt").write_text("\n".join(rows) + "\n")
    (tmp_path / "dead.py").write_text("import numpy\ndef encode(texts):\n    return numpy.ones((len(texts), 2))\n")
    words = ["the", "river", "number", "x", "y", ".", *map(str, range(144))]
    (tmp_path / "v.txt").write_text("".join(f"{w} {i % 5} {i % 7} {i % 3}.5\n" for i, w in enumerate(words)))
    return tmp_path


def printed_by(*words):
    """The exit code of a command, and what it prints on standard error and output."""
    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()) as out:
        code = app(list(words), result_action="return_value")
    return code, " ".join(err.getvalue().split()), " ".join(out.getvalue().split())


def test_run_encode_and_check_report_it(files):
    command = ["-e", "py:dead.py?version=1", "-e", "vec:v.txt", "-e", "static:"]
    for _ in range(2):  # and again, when nothing is left to do
        _, err, _ = printed_by("run", "set.txt", *command, "-o", "run")
        assert "warning: py:dead.py?version=1: 144 of 144 distinct texts have the same vector" in err
        assert "note: py:dead.py?version=1: Its vectors are stored under version=1 and the source of dead.py; " in err
        assert "warning: vec:v.txt: 20.0% of the running tokens have no word vector" in err
        assert "add tokenise=simple" in err
        assert "static:" not in err
    _, err, _ = printed_by("encode", "set.txt", *command)
    assert "warning: py:dead.py?version=1: 144 of 144 distinct texts" in err
    assert "warning: vec:v.txt: 20.0% of the running tokens" in err
    code, _, out = printed_by("check", "py:dead.py?version=1")
    assert code == 1
    assert "failed different texts have different vectors in none of English" in out
    assert "warn its identity covers everything that can change a vector Its vectors are stored under version=1" in out
    code, _, out = printed_by("check", "vec:v.txt")
    assert "warn it has vectors for the words of texts" in out
    assert printed_by("check", "static:")[0] == 0
