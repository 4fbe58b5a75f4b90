"""Results of baselines are computed once per set, whatever the run, and are the same as if computed again."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from sentprobe.core.hashing import digest
from sentprobe.data.sources import find_sets
from sentprobe.encoders.store import RESULTS_FOLDER, Store, StoreWarning
from sentprobe.probes.baselines import BASELINES
from sentprobe.results.verify import matches_checksum, predictions_path
from sentprobe.run import Run, evaluate, inputs, loop, result_cache
from sentprobe.run.repeat import repeat
from tests.run.sets import Knowing, dataset, same

ALL = {*BASELINES, *loop.ENCODER_BASELINES}


def baselines_of(run):
    return {r.cell.encoder: r for r in run if r.cell.encoder in ALL}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def forbidden(monkeypatch):
    """No baseline may be computed."""

    def refuse(*args, **_):
        raise AssertionError(f"computed: {args[:1]}")

    def forbid():
        monkeypatch.setattr(inputs, "baseline_result", refuse)
        monkeypatch.setattr("sentprobe.encoders.schemes.baseline.Hash.sparse_vectors", refuse)
        monkeypatch.setattr("sentprobe.encoders.schemes.baseline.Random.__call__", refuse)

    return forbid


def test_a_later_run_of_another_encoder_has_the_same_baselines_without_computing_them(tmp_path, store, forbidden):
    sets = [dataset(), dataset("own/other", classes=3, keys=9)]
    first = evaluate({"k": Knowing(3)}, sets, tmp_path / "one", store=store)
    computed = evaluate({"n": Knowing(3, "n", noise=1.0)}, sets, tmp_path / "two")
    forbidden()
    again = evaluate({"n": Knowing(3, "n", noise=1.0)}, sets, tmp_path / "three", store=store)
    assert again.failures == ()
    assert len(baselines_of(first)) == len(ALL)
    assert same(computed, again)
    for one, two in zip(computed, again, strict=True):
        assert replace(one, seconds={}) == replace(two, seconds={})  # with the digests of all files
        assert one.seconds.keys() == two.seconds.keys()
    assert {r.cell.encoder: r.seconds["encode"] for r in again if "baseline:" in r.cell.encoder} == dict.fromkeys(
        loop.ENCODER_BASELINES, 0.0
    )
    for result in Run.load(tmp_path / "three"):  # which warns about damage
        assert matches_checksum(predictions_path(tmp_path / "three", result), result.files["predictions"])
    assert again.model(baselines_of(again)["baseline:hash"]).shape == (3, 4096)


def test_a_set_is_known_by_its_rows_and_not_by_its_name(tmp_path, store, forbidden):
    given = dataset()
    evaluate([], [given], tmp_path / "one", store=store)
    forbidden()
    run = evaluate([], [replace(given, name="elsewhere/task", language="de")], tmp_path / "two", store=store)
    assert run.failures == ()
    assert {(r.cell.dataset, r.language, r.key) for r in run} == {("elsewhere/task", "de", r.cell.key) for r in run}
    assert len(run) == len(ALL)


@pytest.mark.parametrize("change", [{"limit": 30}, {"probe_seeds": 7}, {"rows": True}, {"task": True}])
def test_whatever_changes_a_result_is_computed_again(tmp_path, store, change):
    given = dataset()
    evaluate([], [given], tmp_path / "one", store=store)
    files = set((store.root / RESULTS_FOLDER).iterdir())
    if change.pop("rows", False):
        given = dataset(n=(120, 40, 61))
    if change.pop("task", False):
        given = replace(given, task="another")
    run = evaluate([], [given], tmp_path / "two", store=store, **change)
    new = set((store.root / RESULTS_FOLDER).iterdir()) - files
    assert len(new) == (2 if "probe_seeds" in change else len(ALL))  # those that learn from words have no seed
    assert same(run, evaluate([], [given], tmp_path / "three", **change))


def test_results_of_other_versions_are_not_used(tmp_path, store, monkeypatch):
    evaluate([], [dataset()], tmp_path / "one", store=store)
    monkeypatch.setattr(result_cache, "CACHE_VERSION", result_cache.CACHE_VERSION + 1)
    evaluate([], [dataset()], tmp_path / "two", store=store)
    assert len(list((store.root / RESULTS_FOLDER).iterdir())) == 2 * len(ALL)


def test_without_a_store_nothing_is_cached(tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    evaluate([], [dataset()], tmp_path / "run")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("damage", ["a byte", "the end", "everything", "another file", "its arrays"])
def test_a_damaged_file_is_reported_and_computed_again(tmp_path, store, damage):
    first = evaluate([], [dataset()], tmp_path / "one", store=store)
    paths = sorted((store.root / RESULTS_FOLDER).iterdir())
    whole = [path.read_bytes() for path in paths]
    content = bytearray(whole[0])
    if damage == "a byte":
        content[len(content) // 2] ^= 1
    elif damage == "its arrays":
        line, _, probe = msgspec.msgpack.decode(whole[0][32:])
        encoded = msgspec.msgpack.encode((line, b"no arrays", probe))
        content = bytearray(digest(encoded).encode() + encoded)
    elif damage == "another file":
        content = bytearray(b"0" * 200)
    else:
        del content[len(content) // 2 if damage == "the end" else 0 :]
    paths[0].write_bytes(content)
    with pytest.warns(StoreWarning, match="computed again"):
        again = evaluate([], [dataset()], tmp_path / "two", store=store)
    assert same(first, again)
    assert sorted((store.root / RESULTS_FOLDER).iterdir()) == paths
    third = evaluate([], [dataset()], tmp_path / "three", store=store)  # no warning
    assert same(first, third)


def test_a_folder_that_cannot_be_written_to_costs_a_warning_only(tmp_path, store):
    store.root.mkdir()
    (store.root / RESULTS_FOLDER).write_text("a file where a folder should be")
    with pytest.warns(StoreWarning, match="not cached"):
        run = evaluate([], [dataset()], tmp_path / "run", store=store)
    assert len(run) == len(ALL)


def test_kept_results_count_towards_the_limit_of_the_store(tmp_path, store):
    evaluate([], [dataset()], tmp_path / "one", store=store)
    small = Store(store.root, limit=0)
    assert small.evict() > 0
    assert list((store.root / RESULTS_FOLDER).iterdir()) == []


def test_a_baseline_is_repeated_by_computing_it(tmp_path, store, monkeypatch):
    file = tmp_path / "task.txt"
    file.write_text("".join(f"{split}\t{row.label}\t{row.text}\n" for split, row in dataset()))
    run = evaluate([], find_sets([str(file)]), tmp_path / "run", store=store)
    calls = []
    work = inputs.baseline_result
    monkeypatch.setattr(inputs, "baseline_result", lambda *args: [calls.append(args), work(*args)][1])
    for name in ("nb-uni", "baseline:hash"):
        assert repeat(baselines_of(run)[name].signature, run=run, store=store).same
    assert len(calls) == 1


def test_predictions_that_were_lost_are_restored(tmp_path, store, forbidden):
    first = evaluate([], [dataset()], tmp_path / "run", store=store)
    lost = predictions_path(tmp_path / "run", baselines_of(first)["nb-bi"])
    before = lost.read_bytes()
    lost.unlink()
    forbidden()
    evaluate([], [dataset()], tmp_path / "run", store=store)
    assert lost.read_bytes() == before
    assert np.load(lost)["predicted"].shape == (60,)
