"""A run that was moved: relative paths of encoders and sets, and encoders that cannot be loaded again."""

import shutil

import pytest

from sentprobe.cli import app
from sentprobe.data.sources import find_sets
from sentprobe.encoders import load
from sentprobe.errors import EncoderError
from sentprobe.run import Run, evaluate
from sentprobe.run.info import base_folders, read_unloadable, resolve_encoder, why_not_reloadable
from sentprobe.run.repeat import repeat
from sentprobe.serve.encoders import Encoders
from tests.run.sets import Knowing, dataset, rows

pytestmark = pytest.mark.filterwarnings("ignore:.*does not know")  # four vectors are enough here

VECTORS = "4 2\nc00 1 0\nc10 0 1\nbal 1 1\nden 0 0.5\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with word vectors, a set and a run, all named by relative paths from that folder."""
    root = tmp_path / "project"
    (root / "models").mkdir(parents=True)
    (root / "models" / "small.vec").write_text(VECTORS)
    lines = [f"{s}\t{r.label}\t{r.text}" for i, s in enumerate(("tr", "va", "te")) for r in rows(40, i)]
    (root / "data").mkdir()
    (root / "data" / "labels.txt").write_text("\n".join(lines))
    monkeypatch.chdir(root)
    evaluate("vec:models/small.vec", find_sets("data"), "out/my-run", baselines=[], resample=0)
    return root


def identity(run):
    return run.results[0].cell.identity


def test_the_folder_of_the_command_is_recorded(project):
    run = Run.load(project / "out" / "my-run")
    assert run.info["places"] == [[str(project), "../.."]]


@pytest.mark.parametrize("how", ["elsewhere", "moved with its surroundings", "copied into the run", "here"])
def test_relative_paths_are_found(project, tmp_path, monkeypatch, how):
    folder, models = project / "out" / "my-run", project / "models"
    other = tmp_path / "other"
    other.mkdir()
    if how == "moved with its surroundings":
        shutil.move(project, other / "renamed")
        folder = other / "renamed" / "out" / "my-run"
    elif how == "copied into the run":
        shutil.move(models, folder / "models")
        folder = shutil.move(folder, other / "run")
    elif how == "here":
        shutil.move(models, other / "models")
    monkeypatch.chdir(other)
    run = Run.load(folder)
    found = Encoders(run=run.folder).vectors("vec:models/small.vec", identity(run), ["c00 bal"])
    assert found.vectors.tolist() == [[1, 0.5]]


def test_what_is_nowhere_is_refused_with_where_it_was_looked_for(project, tmp_path, monkeypatch):
    shutil.rmtree(project / "models")
    monkeypatch.chdir(tmp_path)
    run = Run.load(project / "out" / "my-run")
    looked = f"{project}, {project / 'out' / 'my-run'}, {tmp_path}"
    with pytest.raises(EncoderError, match=f"A relative path was looked for in {looked}"):
        Encoders(run=run.folder).vectors("vec:models/small.vec", identity(run), ["c00"])


def test_another_file_of_the_same_name_is_not_the_encoder(project, monkeypatch):
    run = Run.load(project / "out" / "my-run")
    (project / "models" / "small.vec").write_text(VECTORS.replace("1 0", "0 1"))
    with pytest.raises(EncoderError, match="has changed since the run"):
        Encoders(run=run.folder).vectors("vec:models/small.vec", identity(run), ["c00"])


@pytest.mark.parametrize("name", ["static:", "hf:bert-base-uncased", "function", "vec:/abs/x.vec", "py:gone.py:f"])
def test_other_names_stay(tmp_path, name):
    assert resolve_encoder(name, [tmp_path]) == name


def test_the_file_of_a_python_encoder_is_found(tmp_path):
    (tmp_path / "mine.py").write_text("")
    assert resolve_encoder("py:mine.py:encode?version=1", [tmp_path]) == f"py:{tmp_path}/mine.py:encode?version=1"


def test_a_result_of_a_moved_run_is_repeated(project, tmp_path, monkeypatch):
    shutil.move(project, tmp_path / "renamed")
    monkeypatch.chdir(tmp_path / "renamed")
    run = Run.load("out/my-run")
    assert base_folders(run.folder, run.info)[0] == tmp_path / "renamed"
    assert repeat(run.results[0].signature, run=run).same


# Encoders that cannot be loaded again


def test_why_an_encoder_cannot_be_loaded_again(tmp_path):
    run = evaluate({"mine": Knowing()}, dataset(), tmp_path / "run", baselines=[], resample=0)
    assert "passed as a function; name it as py:FILE.py:FUNCTION" in read_unloadable(run.info)["mine"]
    assert why_not_reloadable("static:", is_object=False, is_fitted=False, identity="x") is None
    assert "fitted on the texts" in why_not_reloadable("vec:x?pool=idf", is_object=False, is_fitted=True, identity="x")
    assert "py:m.py:f?version=1" in why_not_reloadable("py:m.py:f", is_object=False, is_fitted=False, identity=None)
    assert load("static:?dim=64")  # by its name


def test_the_command_tells(project, capsys):
    (project / "mine.py").write_text("def encode(texts):\n    return [[len(t), t.count('c0')] for t in texts]\n")
    words = ["run", "-e", "py:mine.py:encode", "-e", "static:?dim=64", "-d", "data", "-o", "told", "--no-store"]
    assert app([*words, "-j", "1", "--resample", "0"], result_action="return_value", exit_on_error=False) == 0
    said = capsys.readouterr().err
    assert "note: py:mine.py:encode cannot be loaded again: it has no identity; give it one" in said
    assert "static:?dim=64 cannot" not in said
