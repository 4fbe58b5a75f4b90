"""Encoders of a run: loaded once, asked one at a time, and refused if they are others by now."""

import threading
import time

import numpy as np
import pytest

from sentprobe.encoders import Identity, load
from sentprobe.errors import EncoderError, NotInstalled, SentProbeError, UsageError
from sentprobe.serve import encoders as module
from sentprobe.serve.encoders import Encoders

STATIC = str(load("static:?dim=64").identity)


class Slow:
    """Notes whether it is ever asked by two threads at once."""

    def __init__(self, name):
        self.identity = Identity.of("static", name)
        self.inside = 0
        self.met = []

    def __call__(self, texts):
        self.inside += 1
        self.met.append(self.inside)
        time.sleep(0.02)
        self.inside -= 1
        return np.ones((len(texts), 3), np.float32)


def test_vectors_are_the_encoders_own():
    found = Encoders().vectors("static:?dim=64", STATIC, ["One sentence.", "Another"])
    assert np.array_equal(found.vectors, load("static:?dim=64")(["One sentence.", "Another"]))


def test_vectors_that_were_rounded_in_the_run_are_rounded_here():
    half = str(load("static:?dim=64").identity.with_facts(kept="float16"))
    found = Encoders().vectors("static:?dim=64", half, ["One sentence."])
    assert found.vectors.dtype == np.float16


def test_an_encoder_is_loaded_once_and_asked_by_one_thread_at_a_time(monkeypatch):
    made = []

    def slow(name):
        time.sleep(0.02)
        made.append(Slow(name))
        return made[-1]

    monkeypatch.setattr(module, "load", slow)
    here, errors = Encoders(), []

    def ask(name):
        try:
            here.vectors(name, str(Identity.of("static", name)), ["text"])
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=ask, args=(f"static:{i % 2}",)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(encoder.identity.name for encoder in made) == ["static:0", "static:1"]
    assert [encoder.met for encoder in made] == [[1] * 6] * 2


def test_two_encoders_do_not_wait_for_each_other(monkeypatch):
    both = threading.Barrier(2)

    class Meeting(Slow):
        def __call__(self, texts):
            both.wait(timeout=20)  # passes only if the other is asked, too
            return np.ones((len(texts), 3), np.float32)

    monkeypatch.setattr(module, "load", Meeting)
    here, done = Encoders(), []

    def ask(name):
        done.append(here.vectors(name, str(Identity.of("static", name)), ["text"]))

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("static:a", "static:b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 2


def test_an_encoder_that_is_another_one_by_now_is_refused():
    with pytest.raises(EncoderError, match=r"static:\?dim=64 has changed since the run.*run again in a new folder"):
        Encoders().vectors("static:?dim=64", STATIC.replace("dim=64", "dim=128"), ["text"])
    with pytest.raises(EncoderError, match="has no identity"):
        Encoders().vectors("static:?dim=64", None, ["text"])


@pytest.mark.parametrize("name", ["knowing", "my model", "", "x:y", "static"])
def test_a_function_that_was_given_in_python_cannot_be_loaded(name):
    with pytest.raises(UsageError, match="was passed to the run as a function"):
        Encoders().vectors(name, "x", ["text"])


def test_a_program_is_run_only_if_it_is_named(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\nPath('ran').touch()\ndef encode(texts): return [[float(len(t))] for t in texts]\n"
    )
    monkeypatch.chdir(tmp_path)
    name = "py:mine.py:encode?version=1"
    with pytest.raises(UsageError, match=r"is a program.*--trust 'py:mine\.py:encode\?version=1'"):
        Encoders().vectors(name, "x", ["text"])
    assert not (tmp_path / "ran").exists()
    identity = str(load(name).identity)
    assert Encoders([name]).vectors(name, identity, ["text"]).vectors.tolist() == [[4.0]]
    (tmp_path / "mine.py").write_text("def encode(texts): return [[0.0] for t in texts]\n")
    with pytest.raises(EncoderError, match="has changed since the run"):
        Encoders([name]).vectors(name, identity, ["text"])


def test_what_is_fitted_on_a_whole_run_is_refused(tmp_path):
    (tmp_path / "v.txt").write_text("the 1 0\nof 0 1\n")
    with pytest.raises(UsageError, match="fitted on the texts of all sets"):
        Encoders().vectors(f"vec:{tmp_path / 'v.txt'}?pool=idf", "x", ["the"])


def test_missing_files_and_packages_are_named(tmp_path, monkeypatch):
    with pytest.raises(SentProbeError, match=r"gone\.txt"):
        Encoders().vectors(f"vec:{tmp_path / 'gone.txt'}", "x", ["the"])

    def missing(name):
        raise NotInstalled(f"{name} needs torch: pip install torch.")

    monkeypatch.setattr(module, "load", missing)
    with pytest.raises(NotInstalled, match="pip install"):
        Encoders().vectors("st:model", "x", ["the"])

    def broken(name):
        raise OSError("cannot map file")

    monkeypatch.setattr(module, "load", broken)
    with pytest.raises(EncoderError, match="st:model cannot be loaded: OSError: cannot map file"):
        Encoders().vectors("st:model", "x", ["the"])


def test_a_failed_load_is_tried_again(monkeypatch, tmp_path):
    here, name = Encoders(), f"vec:{tmp_path / 'v.txt'}"
    with pytest.raises(SentProbeError):
        here.vectors(name, "x", ["the"])
    (tmp_path / "v.txt").write_text("the 1 0\nof 0 1\n")
    assert here.vectors(name, str(load(name).identity), ["the of"]).vectors.shape == (1, 2)
