"""Damaged runs: damage is reported, no score comes from it, and the same command repairs it."""

import json
import re
import shutil
import warnings
from dataclasses import replace

import numpy as np
import pytest

from sentprobe.core.hashing import digest
from sentprobe.core.seal import seal_document
from sentprobe.errors import CorruptionWarning, RunError, UsageError
from sentprobe.report.summary import summarise
from sentprobe.results.compare import compare
from sentprobe.results.log import open_log
from sentprobe.results.records import to_line
from sentprobe.results.result import Failure
from sentprobe.run import Run, evaluate, join
from tests.run.sets import Knowing, dataset, same

SETS = [dataset("own/one", keys=9), dataset("own/two", keys=12, n=(130, 40, 60))]
CURVE_BASELINE = ["majority"]


def encoders():
    return {name: Knowing(noise=noise, name=name) for name, noise in (("good", 0.4), ("fair", 0.9))}


def command(folder, named=None, sets=SETS, **more):
    named = named or encoders()
    return evaluate(named, sets, folder, baselines=CURVE_BASELINE, **more), named


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return command(tmp_path_factory.mktemp("made") / "run")[0]


@pytest.fixture
def run(made, tmp_path):
    shutil.copytree(made.folder, tmp_path / "run")
    return Run.load(tmp_path / "run")


def damaged(folder, *notes):
    """What is left of a run for which this damage is reported."""
    with pytest.warns(CorruptionWarning) as caught:
        found = Run.load(folder)
    assert tuple(str(warning.message) for warning in caught) == found.damaged
    assert len(found.damaged) == len(notes)
    for note, text in zip(found.damaged, notes, strict=True):
        assert re.search(text, note)
    assert set(found.damaged) <= set(summarise(found).notes)
    return found


def put_right(made, folder, redone):
    """The same command again does these cells and no other; then all is as it was."""
    before = {r.key for r in made if r.cell.encoder != "majority"}
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        again, named = command(folder)
    assert notes
    assert all(str(warning.message).endswith(".") for warning in notes)  # what happened and what is done, not a path
    assert {name for name, encoder in named.items() if encoder.encoded} == {r.cell.encoder for r in redone} - {
        "majority"
    }
    assert before <= {r.key for r in again}
    assert same(made, again)
    assert again.damaged == Run.load(folder).damaged == ()
    assert command(folder)[0].damaged == ()


def of(run, encoder, dataset="own/one"):
    return next(r for r in run if (r.cell.encoder, r.cell.dataset) == (encoder, dataset))


# lines


def test_lines_of_another_run_leave_a_damaged_file(run):
    """A result without predictions here is not this run's own; of a file that is as it was written all lines stay."""
    path = run.folder / "results.jsonl"
    whole, cell = path.read_bytes(), replace(run.results[0].cell, seed=99)
    line = to_line(replace(run.results[0], key=cell.key, cell=cell), whole.count(b"\n")) + b"\n"
    for more, stays in ((line, True), (line + b"{}\n", False)):
        path.write_bytes(whole + more)
        with warnings.catch_warnings(action="ignore"), open_log(run.folder) as log:
            assert set(log.done) == {r.key for r in run}
        assert (cell.key in path.read_text("utf-8")) == stays


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (rb'"score":[0-9.]+', b'"score":0.99'),
        (rb'"interval":\[', b'"interval":[ '),
        (rb'"key":"(.)', b'"key":"x'),
        (rb'"score":[0-9.]+', b'"score":"much"'),
        (rb'"result":\{', b'"result":[{'),
        (rb'"good"', b'"g\xffod"'),
        (rb'"checksum":"[0-9a-f]{4}', b'"checksum":"0000'),
        (rb',"checksum":"[0-9a-f]+"', b""),
    ],
)
def test_an_edited_record_is_reported_left_out_and_recomputed(made, run, old, new):
    path, victim = run.folder / "results.jsonl", of(run, "good")
    lines = path.read_bytes().splitlines(keepends=True)
    (i,) = [i for i, line in enumerate(lines) if victim.key.encode() in line]
    lines[i] = re.sub(old, new, lines[i], count=1)
    path.write_bytes(b"".join(lines))
    found = damaged(run.folder, rf"results\.jsonl:{i + 1}: .*The command that made the run computes")
    assert {r.key for r in found} == {r.key for r in run} - {victim.key}
    cells = {s.name: s.cells for s in summarise(found).sets}
    assert cells["own/one"][0] is None
    put_right(made, run.folder, [victim])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda x: x[:2] + x[3:], "expected 6 lines, got 5"),
        (lambda x: [*x, x[0]], "expected 6 lines, got 7"),
        (lambda x: x[:-1], "expected 6 lines, got 5"),
        (lambda x: x[::-1], "were changed or reordered"),
    ],
)
def test_lines_that_are_removed_repeated_or_moved_are_reported(made, run, change, what):
    path = run.folder / "results.jsonl"
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    found = damaged(run.folder, rf"results\.jsonl is damaged: .*{what}")
    lost = [r for r in run if r.key not in {other.key for other in found}]
    put_right(made, run.folder, lost)


def test_many_damaged_lines_are_reported_briefly(run):
    path = run.folder / "results.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"score"', b'"Score"'))
    assert not damaged(run.folder, ":1:", ":2:", ":3:", "3 more lines").results


def test_a_number_that_no_longer_counted_does_not_come_back(tmp_path):
    """An encoder without an identity is called again by every command, and its earlier results are retracted."""
    folder = tmp_path / "run"
    for sign in (1, -1):
        evaluate({"f": lambda texts, sign=sign: sign * Knowing(noise=1.0)(texts)}, [SETS[0]], folder, baselines=())
    path = folder / "results.jsonl"
    old, gone, new = path.read_bytes().splitlines(keepends=True)
    assert b'"gone"' in gone
    for wrong in (gone.replace(b'"gone"', b'"gome"'), gone.replace(b'"key":"', b'"key":"x')):
        path.write_bytes(old + wrong)
        assert damaged(folder, r"results\.jsonl:2").results == ()
    for lines in (old + gone.replace(b"gone", b"g"), old, old + gone + old, gone + old, old + new.replace(b"f", b"g")):
        path.write_bytes(lines)
        with pytest.warns(CorruptionWarning):
            assert Run.load(folder).results == ()


# predictions, rows and probes


def swap(one, two):
    content = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(content)


def test_swapped_predictions_are_reported_and_recomputed(made, run):
    pair = [of(run, "good"), of(run, "fair")]
    swap(*(run.folder / "predictions" / f"{r.key}.npz" for r in pair))
    for r in pair:
        with pytest.raises(RunError, match="digest does not match"):
            run.predictions(r)
    found = damaged(run.folder, *(f"{r.key}.npz is damaged.*{r.cell.encoder} on own/one" for r in pair))
    assert {r.key for r in run} - {r.key for r in found} == {r.key for r in pair}
    (row,) = compare(found, "good", "fair")
    assert row.dataset == "own/two"
    put_right(made, run.folder, pair)


def test_swapped_rows_are_reported_and_written_again(made, run):
    before = [row.p for row in compare(run, "good", "fair")]
    swap(*(run.folder / "datasets" / f"{d.digest}.parquet" for d in SETS))
    found = damaged(run.folder, *(f"{d.digest}.parquet, the test rows of {d.name}" for d in SETS))
    assert found.results == run.results  # their numbers do not come from there
    with pytest.raises(RunError, match=r"test rows of own/one.*digest does not match"):
        compare(found, "good", "fair")
    put_right(made, run.folder, [])
    assert [row.p for row in compare(Run.load(run.folder), "good", "fair")] == before


def test_the_rows_of_a_sample_are_checked_as_well(tmp_path):
    run, _ = command(tmp_path / "run", sets=SETS[:1], limit=30)
    whole, _ = command(tmp_path / "run", sets=SETS[:1])
    assert len(whole) == 2 * len(run)
    one, two = (tmp_path / "run" / "datasets" / f"{SETS[0].digest}{name}.parquet" for name in ("", "-30"))
    shutil.copy(one, two)
    with pytest.warns(CorruptionWarning, match=r"-30\.parquet"):
        found = Run.load(tmp_path / "run")
    partial = next(r for r in found if r.partial)
    with pytest.raises(RunError, match=r"-30\.parquet"):
        found.rows(partial)
    assert len(found.rows(next(r for r in found if not r.partial))) == 60


def test_a_swapped_probe_is_reported_and_retrained(made, run):
    pair = [of(run, "good"), of(run, "fair")]
    swap(*(run.folder / "probes" / f"{r.key}.npz" for r in pair))
    assert Run.load(run.folder).results == run.results  # no number comes from there
    for r in pair:
        with pytest.raises(RunError, match=r"probes.*digest does not match"):
            run.model(r)
    put_right(made, run.folder, pair)


def test_missing_predictions_and_rows_are_reported(made, run):
    victim = of(run, "good")
    (run.folder / "predictions" / f"{victim.key}.npz").unlink()
    found = damaged(run.folder, "prediction file .*missing")
    assert found.results == run.results
    with pytest.raises(RunError, match="cannot be read"):
        found.correct(victim)
    again, named = command(run.folder)
    assert [name for name, encoder in named.items() if encoder.encoded] == ["good"]
    assert same(made, again)


def test_predictions_rows_and_scores_must_agree(run):
    """Whoever knows how digests are made can write anything, but not two things that disagree."""
    result = of(run, "good")
    arrays = dict(run.predictions(result))
    correct = run.correct(result)
    with open_log(run.folder) as log:
        log.add(result, {**arrays, "predicted": 1 - arrays["predicted"]})
    with pytest.raises(RunError, match=r"expected accuracy .*, got"):
        run_right(run.folder)
    with open_log(run.folder) as log:
        log.add(result, {**arrays, "predicted": 1 - arrays["predicted"], "truth": 1 - arrays["truth"]})
    found = Run.load(run.folder)
    assert (found.correct(of(found, "good")) == correct).all()
    with pytest.raises(RunError, match="does not hold the test rows of good"):
        found.rows(of(found, "good"))


def run_right(folder):
    found = Run.load(folder)
    return found.correct(of(found, "good"))


def test_damage_of_joined_runs_is_reported(run, made):
    (run.folder / "predictions" / f"{of(run, 'good').key}.npz").write_bytes(b"")
    with pytest.warns(CorruptionWarning):
        found = Run.load(run.folder)
    joined = join([found, made])
    assert joined.damaged == found.damaged
    assert joined.folder_of(of(joined, "good")) == made.folder  # the other run has it
    assert joined.correct(of(joined, "good")).mean() == of(made, "good").score


# run.json


@pytest.mark.parametrize(
    "change",
    [
        lambda b: b.replace(b"own/one", b"own/\xffne"), lambda b: b[:100], lambda b: b"", lambda b: b"[]",
        lambda b: b"[" * 100_000, lambda b: b.replace(b'"good"', b'"food"'),
        lambda b: json.dumps({**json.loads(b), "datasets": {}}).encode(),
        lambda b: json.dumps({**json.loads(b), "seeds": "1111"}).encode(), None,
    ],
)  # fmt: skip
def test_what_the_results_tell_is_used_in_place_of_a_damaged_run_json(made, run, change):
    path = run.folder / "run.json"
    path.unlink() if change is None else path.write_bytes(change(path.read_bytes()))
    found = damaged(run.folder, r"run\.json.*the same command writes it again")
    assert {r.key for r in found} == {r.key for r in run}
    assert same(made, found)
    assert [row.p for row in compare(found, "good", "fair")] == [row.p for row in compare(made, "good", "fair")]
    put_right(made, run.folder, [])
    assert Run.load(run.folder).info["datasets"] == made.info["datasets"]


def test_a_run_json_may_be_reformatted(run):
    path = run.folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()), sort_keys=True))
    assert Run.load(run.folder) == run


def test_nothing_is_made_of_a_damaged_run_json_without_results(tmp_path):
    (tmp_path / "run.json").write_bytes(b"\xff")
    for use in (Run.load, lambda folder: command(folder)):
        with pytest.raises(RunError, match="is not a run"):
            use(tmp_path)
    (tmp_path / "run.json").write_bytes(seal_document({"format": 99}))
    for use in (Run.load, lambda folder: command(folder)):
        with pytest.raises(RunError, match="format 99"):
            use(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


# failures that are history


class Broken:
    identity = Knowing().identity

    def __call__(self, texts):
        raise RuntimeError("out of order")


def test_a_failure_that_is_no_longer_requested_does_not_count(tmp_path):
    wrong, _ = command(tmp_path / "run", {"goood": Broken(), "good": Knowing()}, SETS[:1])
    assert {f.cell.encoder for f in wrong.failures} == {"goood"}
    correct, _ = command(tmp_path / "run", {"good": Knowing()}, SETS[:1])
    for found in (correct, Run.load(tmp_path / "run"), join([correct, correct])):
        assert found.failures == ()
        assert summarise(found).failures == ()
        assert summarise(found).notes == ()
        assert [column.encoder for column in summarise(found).columns] == ["good"]
    again, _ = command(tmp_path / "run", {"goood": Broken()}, SETS[:1])
    assert {f.cell.encoder for f in again.failures} == {"goood"}


def test_a_set_that_is_no_longer_requested_is_not_a_failure(tmp_path):
    lost = dataset("own/lost", n=(20, 10, 0))
    wrong, _ = command(tmp_path / "run", sets=[lost, SETS[0]])
    assert [f.cell.dataset for f in wrong.failures] == ["own/lost"]
    assert command(tmp_path / "run", sets=SETS[:1])[0].failures == ()


def test_a_failure_of_the_last_command_counts_until_its_cell_is_finished(made, run):
    lost = of(run, "good")
    with open_log(run.folder) as log:
        log.add(Failure(key=lost.key, cell=lost.cell, error="out of memory", kind="MemoryError"))
    found = Run.load(run.folder)
    assert [f.key for f in found.failures] == [lost.key]
    assert [f.key for f in join([found, found]).failures] == [lost.key]
    assert join([found, made]).failures == ()
    assert command(run.folder)[0].failures == ()


# what is no accuracy is not called one


def test_another_metric_has_no_accuracy(run):
    from dataclasses import replace

    result = run.results[0]
    assert result.accuracy == result.score
    with pytest.raises(UsageError, match="scored by pearson"):
        _ = replace(result, metric="pearson").accuracy


def test_digests_are_those_of_the_files(run):
    for r in run:
        assert r.files["predictions"] == digest((run.folder / "predictions" / f"{r.key}.npz").read_bytes())
        assert r.files["rows"] == digest((run.folder / "datasets" / f"{r.cell.data}.parquet").read_bytes())
        assert ("probe" in r.files) == (r.cell.encoder != "majority") == run.has_model(r)
    assert len({np.asarray(run.correct(r)).tobytes() for r in run}) > 1
