"""Random damage over the files of runs and of sets: told, or harmless, and never another number or a traceback."""

import pytest

from benchmarks.damage import SILENT, TRACEBACK, World, trials

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
    assert len({way for _, way, *_ in found}) == 8
