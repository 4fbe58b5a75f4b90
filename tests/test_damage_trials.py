"""Random damage over the files of runs and of sets: told, or harmless, and never another number or a traceback."""

import signal

import pytest

from benchmarks.damage import SILENT, TOLD, TRACEBACK, World, trials
from benchmarks.damaged_folders import KINDS as FOLDERS
from benchmarks.damaged_folders import Folders
from benchmarks.kills import VERBS, run

KINDS = (
    "run.json",
    "results.jsonl",
    "predictions",
    "probes",
    "datasets",
    "manifest",
    "rows.parquet",
    "SentEval text",
    "store",
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("damage") / "world")


def test_no_damage_gives_another_number_or_a_traceback(world):
    found = list(trials(world, 15 * len(KINDS), seed=1, kinds=KINDS))
    assert {kind for kind, *_ in found} == set(KINDS)
    assert [trial for trial in found if trial[2] in (SILENT, TRACEBACK)] == []
    assert len({way for _, way, *_ in found}) == 10


NEEDS = {"training": "torch", "language model": "transformers", "translation": "tokenizers"}


@pytest.mark.parametrize("kind", FOLDERS)
def test_no_damage_to_a_folder_is_used_in_silence(kind, tmp_path, monkeypatch):
    """Finished folders are read, interrupted ones resumed, after flips, swaps, edits, lost lines, …"""
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
        pytest.importorskip("accelerate")
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    found = list(trials(Folders(tmp_path / "world", [kind]), 25, seed=1))
    assert [trial for trial in found if trial[2] in (SILENT, TRACEBACK)] == []
    assert len([trial for trial in found if trial[2] == TOLD]) >= 10
    assert len({way for _, way, *_ in found}) >= 7


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL on Windows")
@pytest.mark.parametrize("verb", VERBS)
def test_a_command_that_was_killed_ends_as_if_it_had_not_been(verb):
    if "annotate" not in verb and verb != "words":
        pytest.importorskip("torch")
        pytest.importorskip("accelerate")
    assert run(verb, 1, seed=3) == (1, [])
