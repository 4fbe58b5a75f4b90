"""A run on disk: what was written is read, what was torn is not, and two do not write at once."""

import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

from sentprobe.core import job_folder
from sentprobe.errors import CorruptionWarning, RunError
from sentprobe.probes import Features
from sentprobe.report.summary import summarise
from sentprobe.results import log, verify
from sentprobe.results import run as run_module
from sentprobe.results.compare import compare
from sentprobe.results.log import open_log
from sentprobe.results.records import read_info
from sentprobe.results.result import Failure
from sentprobe.run import Run, evaluate
from tests.run.sets import Knowing, dataset


@pytest.fixture
def run(tmp_path):
    return evaluate({"knowing": Knowing()}, [dataset()], tmp_path / "run")


def test_predictions_and_rows_belong_together(run):
    result = next(r for r in run if r.cell.encoder == "knowing")
    found, rows = run.predictions(result), run.rows(result)
    assert [result.labels[i] for i in found["truth"]] == [row.label for row in rows]
    assert result.accuracy == pytest.approx((found["predicted"] == found["truth"]).mean())
    assert found["probabilities"].shape == (60, 2)
    assert found["probabilities"].sum(axis=1) == pytest.approx(np.ones(60), abs=2e-3)
    assert np.exp2(found["log2"]) == pytest.approx(found["probabilities"][np.arange(60), found["truth"]], abs=1e-3)
    assert result.log2_loss == pytest.approx(-found["log2"].mean(), abs=1e-4)
    assert (run.correct(result) == (found["predicted"] == found["truth"])).all()


ARRAYS = {
    "numbers": np.arange(6, dtype=np.int32).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "halves": np.zeros((3, 0), np.float16),
    "name": np.array("relu"),
    "none": np.zeros(0, np.uint8),
    "value": np.array(2.5),
}


@pytest.mark.parametrize("compressed", [True, False])
def test_arrays_are_read_as_numpy_reads_them(compressed):
    content = verify.to_npz(ARRAYS, compressed=compressed)
    for found in (verify.from_npz(content), verify.from_npz(content, ["name", "columns"])):
        for name, array in found.items():
            np.testing.assert_array_equal(array, ARRAYS[name], strict=True)
            assert array.flags.writeable
    assert list(verify.from_npz(content)) == list(ARRAYS)


def test_predictions_are_read_once_for_all_comparisons(tmp_path, monkeypatch):
    named = {name: Knowing(noise=noise, name=name) for name, noise in (("a", 0.4), ("b", 0.9), ("c", 1.5))}
    made = evaluate(named, [dataset(keys=9)], tmp_path / "run", probe_seeds=(1, 2), resample=10)
    read, files = run_module.read_predictions, []

    def counted(place, result, names):
        files.append(result.key)
        return read(place, result, names)

    monkeypatch.setattr(run_module, "read_predictions", counted)
    for limit in (run_module.MAX_CACHED_BYTES, 0):
        monkeypatch.setattr(run_module, "MAX_CACHED_BYTES", limit)
        files.clear()
        run = Run.load(made.folder)
        found = summarise(run), compare(run, "a", "b"), compare(run, "b", "c")
        if limit:
            assert len(files) == len(set(files)) == 12  # two seeds of three encoders, and the baselines
            expected = found
        else:
            assert len(files) > 14
            assert found == expected
    with pytest.raises(ValueError, match="read-only"):
        Run.load(made.folder).paired_arrays(made.results[0])["predicted"][0] = 1


def test_a_run_that_is_finished_writes_run_json_when_it_begins_and_ends(tmp_path, monkeypatch):
    sets = [dataset(f"own/{name}") for name in "abcd"]

    def command():
        evaluate({"knowing": Knowing()}, sets, tmp_path / "run", baselines=["majority"], resample=0)

    command()
    write, files = job_folder.write_atomically, []

    def counted(path, content):
        files.append(path.name)
        write(path, content)

    for module in (job_folder, log):
        monkeypatch.setattr(module, "write_atomically", counted)
    command()
    assert files == ["run.json", "run.json"]
    assert [d["name"] for d in Run.load(tmp_path / "run").info["datasets"]] == [each.name for each in sets]


def test_run_json_is_written_before_the_next_result(run):
    result = run.results[0]
    with open_log(run.folder) as opened:
        opened.describe(commands=["one", "two"])
        opened.add(result, dict(run.predictions(result)))
        assert read_info(run.folder)["commands"] == ["one", "two"]


def test_a_data_frame_has_a_row_per_result(run):
    frame = run.frame()
    assert len(frame) == len(run) == 7  # the encoder, four baselines of words, random and hashed vectors
    assert set(frame.encoder) == {
        "knowing",
        "majority",
        "length",
        "nb-uni",
        "nb-bi",
        "baseline:random",
        "baseline:hash",
    }
    best = frame.set_index("encoder").loc["knowing"]
    assert best.score == 1.0
    assert best.majority == 0.5
    assert best.low < best.score <= best.high


def test_a_torn_line_is_not_a_result_and_is_cut_off(run):
    path = run.folder / "results.jsonl"
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    path.write_bytes(content + lines[-1][:-7])  # as a crash leaves it
    assert len(Run.load(run.folder)) == len(run)
    with open_log(run.folder) as log:
        assert len(log.done) == len(run)
        assert path.read_bytes() == content
    path.write_bytes(content[:-7])  # of a command that had ended
    with pytest.warns(CorruptionWarning, match=r"results\.jsonl is damaged: expected 7 lines, got 6"):
        assert len(Run.load(run.folder)) == len(run) - 1
    with warnings.catch_warnings(action="ignore"), open_log(run.folder) as log:
        assert len(log.done) == len(run) - 1
        assert path.read_bytes() == b"".join(lines[:-1])
    assert len(Run.load(run.folder)) == len(run) - 1


def test_the_last_line_about_a_cell_counts(run):
    result = run.results[0]
    with open_log(run.folder) as log:
        log.add(replace(result, score=0.25))
    again = Run.load(run.folder)
    assert len(again) == len(run)
    assert again.results[0].accuracy == 0.25


def test_a_failure_no_longer_counts_once_its_cell_is_finished(run):
    result = run.results[0]
    with open_log(run.folder) as log:
        log.add(Failure(key=result.key, cell=result.cell, error="out of memory", kind="MemoryError"))
        assert len(Run.load(run.folder).failures) == 1
        log.add(result)
    assert Run.load(run.folder).failures == ()


@pytest.mark.parametrize(
    "damage", [lambda p: p.write_bytes(b"x"), lambda p: p.unlink(), lambda p: np.savez(p, predicted=[1])]
)
def test_predictions_that_are_not_as_written(run, damage):
    result = run.results[0]
    damage(run.folder / "predictions" / f"{result.key}.npz")
    with pytest.raises(RunError, match="predictions"):
        run.correct(result)


def test_no_object_is_unpickled(run):
    result = run.results[0]
    path = run.folder / "predictions" / f"{result.key}.npz"
    np.savez(path, predicted=np.array([{}] * 60, object), truth=np.zeros(60))
    with pytest.raises(RunError):
        run.predictions(result)


@pytest.mark.parametrize("probe", ["linear", "senteval?hidden=6&passes=2", "senteval?standardise=true&passes=2"])
def test_the_saved_probe_gives_the_predictions_of_the_run(tmp_path, probe):
    encoder = Knowing(3, noise=1.0)
    given = dataset(classes=3)
    run = evaluate({"knowing": encoder}, [given], tmp_path / "run", probes=[probe], baselines=[])
    (result,) = run.results
    logs = run.model(result).scores(Features.of(encoder([row.text for row in run.rows(result)])))
    found = run.predictions(result)
    assert (logs.argmax(axis=1) == found["predicted"]).all()
    # probabilities are kept as float16, which has 11 bits
    assert np.exp(logs) == pytest.approx(found["probabilities"], abs=2**-11)
    known = found["log2"][np.arange(60)]
    assert logs[np.arange(60), found["truth"]] / np.log(2) == pytest.approx(known, abs=1e-5)


def test_a_probe_with_further_inputs_is_kept_too(tmp_path):
    rows = {s: [r._replace(extra=(("word", r.tokens[0]),)) for r in rs] for s, rs in dataset().rows.items()}
    given = replace(dataset(), rows=rows, manifest={"inputs": ["word"]})
    run = evaluate({"knowing": Knowing()}, [given], tmp_path / "run", baselines=[])
    assert run.dataset(run.results[0])["inputs"] == ["word"]
    vectors = [np.concatenate([Knowing()([r.text])[0], Knowing()([r.tokens[0]])[0]]) for r in run.rows(run.results[0])]
    logs = run.model(run.results[0]).scores(Features.of(np.stack(vectors)))
    assert (logs.argmax(axis=1) == run.predictions(run.results[0])["predicted"]).all()


def test_baselines_of_words_and_large_probes_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("sentprobe.run.fit.MAX_SAVED_BYTES", 39)  # 2 x 3 weights take 24 bytes, two biases 16
    run = evaluate({"knowing": Knowing()}, [dataset()], tmp_path / "run", baselines=["majority"])
    assert list((run.folder / "probes").iterdir()) == []
    for result in run:
        with pytest.raises(RunError, match=r"no probe of (knowing|majority) on own/task.*run again in a new folder"):
            run.model(result)
    monkeypatch.undo()
    again = evaluate({"knowing": Knowing()}, [dataset()], tmp_path / "run", baselines=["majority"])
    assert list((again.folder / "probes").iterdir()) == []  # a cell is done with or without


def _other_probe(path):
    np.savez(path, weights=np.zeros((5, 3)), bias=np.zeros(5))


@pytest.mark.parametrize(
    "damage",
    [lambda p: p.write_bytes(b"PK"), lambda p: p.write_bytes(p.read_bytes()[:-30]), lambda p: np.savez(p, layer0=[1]),
     lambda p: np.savez(p, weights=np.array([[{}]], object), bias=np.zeros(1)), _other_probe],
)  # fmt: skip
def test_a_probe_that_is_not_as_written(run, damage):
    result = next(r for r in run if r.cell.encoder == "knowing")
    damage(run.folder / "probes" / f"{result.key}.npz")
    with pytest.raises(RunError, match=r"probes.*digest does not match.*computes it again"):
        run.model(result)


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("…")
    with pytest.raises(RunError, match="is not a run"):
        evaluate({"knowing": Knowing()}, [dataset()], tmp_path)
    with pytest.raises(RunError, match="is not a run"):
        Run.load(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_run_of_another_format(run):
    (run.folder / "run.json").write_text('{"format": 99}')
    with pytest.raises(RunError, match="format 99"):
        Run.load(run.folder)


def test_one_process_at_a_time(run):
    code = f"from sentprobe.results.log import open_log\nwith open_log({str(run.folder)!r}): pass"
    with open_log(run.folder):
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Another process is writing" in other.stderr
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_full_disk_loses_nothing(run, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    before = (run.folder / "results.jsonl").read_bytes()
    monkeypatch.setattr("sentprobe.core.files.os.fsync", full)
    with pytest.raises(RunError, match=r"No space left on device.*saved.*same command"):
        evaluate({"knowing": Knowing(), "other": Knowing(name="other")}, [dataset()], run.folder)
    monkeypatch.undo()
    assert (run.folder / "results.jsonl").read_bytes().startswith(before)
    again = evaluate({"knowing": Knowing(), "other": Knowing(name="other")}, [dataset()], run.folder)
    assert len(again) == len(run) + 1
    assert again.failures == ()
