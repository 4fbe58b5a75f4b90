"""What the command line says of damage, and how it ends."""

from pathlib import Path

import pytest

from sentprobe import Corpus, make_sets, select_tasks
from sentprobe.cli import app
from sentprobe.errors import RunError, SentProbeError

TASKS = ("passive", "past_present")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    for found in make_sets(Corpus.synthetic(3000), select_tasks([], list(TASKS), sizes="120/30/40")):
        found.save(folder / found.task)
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def sentprobe(made, tmp_path, monkeypatch, capsys):
    """A command, in a folder with two sets: its exit code and what it prints, on one line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    for path, content in made.items():
        (tmp_path / "sets" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sets" / path).write_bytes(content)

    def run(*words):
        code = app(list(words), result_action="return_value", exit_on_error=False)
        printed = capsys.readouterr()
        return code, " ".join(printed.out.split()), " ".join(printed.err.split())

    return run


RUN = ("run", "-d", "sets", "-o", "run", "--no-store", "--folds", "0", "--resample", "0", "-e")
ONE, TWO = "baseline:random?dim=8", "baseline:words"


@pytest.mark.parametrize("wrong", ["npy:damaged.npy", "baseline:rondom"])
def test_the_right_command_after_a_wrong_one_ends_well(sentprobe, wrong):
    Path("damaged.npy").write_bytes(b"damaged")
    assert sentprobe(*RUN, wrong, "-e", ONE)[0] == 2
    code, out, _ = sentprobe(*RUN, ONE)
    assert code == 0
    assert wrong not in out
    code, out, _ = sentprobe("show", "run")
    assert (code, wrong in out) == (0, False)
    code, out, _ = sentprobe(*RUN, wrong)
    assert code == 2
    assert wrong in out


def test_the_right_command_after_a_bad_set_ends_well(sentprobe, tmp_path):
    path = tmp_path / "sets/passive/rows.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:-9])
    code, out, _ = sentprobe(*RUN, ONE)
    assert code == 2
    assert "rows.parquet is not what the manifest describes" in out
    path.write_bytes(content)
    assert sentprobe(*RUN, ONE)[0] == 0


def test_damage_of_a_run_is_reported_by_every_command_and_repaired_by_one(sentprobe, tmp_path):
    assert sentprobe(*RUN, ONE, "-e", TWO)[0] == 0
    before = sentprobe("show", "run", "--format", "csv")
    assert before[2] == ""
    path = tmp_path / "run/results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    (victim,) = [i for i, line in enumerate(lines) if b"dim=8" in line and b'"passive"' in line and b'"result"' in line]
    lines[victim] = lines[victim].replace(b'"score":0.', b'"score":0.9', 1)
    path.write_bytes(b"".join(lines))
    note = f"run/results.jsonl:{victim + 1}: this line is damaged"
    code, out, _ = sentprobe("show", "run")
    assert (code, note in out) == (0, True)
    for words in (
        ("show", "run", "--format", "csv"), ("show", "run", "--format", "md"), ("show", "run", "--signatures"),
        ("compare", "run", "dim=8", "words"), ("report", "run", "-o", "page.html"),
        ("figure", "run", "-k", "intervals", "-o", "figure.csv"),
    ):  # fmt: skip
        code, _, err = sentprobe(*words)
        assert (code, note in err) == (0, True), words
    assert note in (tmp_path / "page.html").read_text("utf-8")
    code, _, err = sentprobe(*RUN, ONE, "-e", TWO)
    assert (code, note in err) == (0, True)
    assert sentprobe("show", "run", "--signatures")[2] == ""
    assert len(path.read_bytes().splitlines()) == len(lines)


@pytest.mark.parametrize("name", ["manifest.json", "rows.parquet"])
def test_one_bad_set_does_not_stop_the_others(sentprobe, tmp_path, name):
    path = tmp_path / "sets/passive" / name
    path.write_bytes(path.read_bytes().replace(b"a", b"\xff"))
    for words in (("show", "sets", "--examples", "1"), ("show", "sets", "--baselines"), ("audit", "sets", "-j", "1")):
        code, out, err = sentprobe(*words)
        assert code == 2, words
        assert "past_present" in out, words
        assert f"passive/{name}" in err, words
    code, out, err = sentprobe("show", "sets")
    assert (code, "past_present" in out) == (2 if name == "manifest.json" else 0, True)
    code, out, _ = sentprobe(*RUN, ONE)
    assert code == 2
    assert f"passive/{name}" in out


def test_sets_that_are_all_bad(sentprobe, tmp_path):
    for path in tmp_path.rglob("manifest.json"):
        path.write_bytes(b"\xff")
    assert sentprobe("show", "sets")[0] == 1
    with pytest.raises(SentProbeError, match=r"manifest\.json cannot be read"):
        sentprobe(*RUN, ONE)


def test_a_lost_run_json_is_made_up_for(sentprobe, tmp_path):
    assert sentprobe(*RUN, ONE)[0] == 0
    (tmp_path / "run/run.json").write_bytes(b"\xff")
    code, out, _ = sentprobe("show", "run")
    assert (code, "run/run.json cannot be read" in out, "dim=8" in out) == (0, True, True)
    (tmp_path / "run/run.json").unlink()
    code, out, _ = sentprobe("show", "run")
    assert (code, "There is no run/run.json" in out, "dim=8" in out) == (0, True, True)
    (tmp_path / "run/results.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(RunError, match=r"run is not a run: There is no run/run\.json"):
        sentprobe("show", "run")
