"""`sentprobe align` as a user sees it: its help, its lists, what it prints, and how it ends."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.folder import AlignmentFolder
from sentprobe.results.run import Run
from tests.command_line import PLAIN, sentprobe
from tests.lab.alignment.planted import write_planted

PAIRS = ("a.vec", "b.vec", "--dictionary", "ab.txt")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with two spaces and a dictionary."""
    folder = tmp_path_factory.mktemp("align")
    write_planted(folder, noise=0.1)
    return folder


@pytest.fixture(scope="module")
def done(place):
    """An alignment, and what it printed."""
    return sentprobe("align", *PAIRS, "--dev", "ab.txt", "--refine", 2, "--export", "text", "-o", "out", cwd=place)


def test_help(snapshot):
    done = sentprobe("align", "--help")
    assert done.returncode == 0
    assert done.stdout == snapshot


def test_the_lists_have_every_method_with_its_settings():
    for done in (sentprobe("align", "--list"), sentprobe("ls", "alignment-methods")):
        assert done.returncode == 0, done.stderr
        for name in METHODS:
            assert f"\n{name} " in done.stdout
    listed = sentprobe("align", "--list", "--method", "vecmap")
    for name, setting in METHODS["vecmap"].settings.items():
        assert name in listed.stdout
        assert setting.doc[:20] in listed.stdout


def test_a_method_that_does_not_exist_is_refused_with_all_there_are(place):
    failed = sentprobe("align", *PAIRS, "--method", "bset", "-o", "other", cwd=place)
    assert failed.returncode == 1
    assert "There is no alignment method 'bset'. Did you mean best" in failed.stderr
    assert failed.stderr.rstrip().endswith("auto, best.")


def test_what_is_printed(done):
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "Aligning up to 200,000 words of a.vec and b.vec by procrustes, 1 try; 1 job; writing to out/",
        "method procrustes: a dictionary is given",
        "a.vec: 200 words, 10 dimensions",
        "b.vec: 200 words, 10 dimensions",
        "ab.txt: 200 of 200 pairs, 200 source words",
        *(line for line in done.stderr.splitlines() if line.startswith("seed 0: criterion 0.9")),
        "writing out/source.vec",
        "writing out/target.vec",
    ]
    assert "off orthogonal" in done.stderr
    assert "dev P@1 CSLS 99.5" in done.stderr
    out = {line.partition(":")[0]: line for line in done.stdout.splitlines()}
    assert "procrustes, chosen since a dictionary is given" in out["method"]
    assert out["next"].endswith("sentprobe words out --dictionary TEST")
    assert "sentprobe run -e vec:out/source.vec -d SETS" in done.stdout


def test_the_same_command_again(place, done):
    again = sentprobe("align", *PAIRS, "--dev", "ab.txt", "--refine", 2, "--export", "text", "-o", "out", cwd=place)
    assert (again.returncode, again.stdout) == (0, done.stdout)


def test_show(place, done):
    shown = sentprobe("show", "out", cwd=place)
    assert shown.returncode == 0, shown.stderr
    for text in ("a.vec, 200 words, 10 dimensions", "refine 2", "dev P@1 CSLS", "99.5"):
        assert text in shown.stdout
    assert sentprobe("show", "out", "--format", "md", cwd=place).stdout == (place / "out" / "card.md").read_text(
        "utf-8"
    )
    found = json.loads(sentprobe("show", "out", "--format", "json", cwd=place).stdout)
    assert (found["method"], len(found["history"])) == ("procrustes", 3)
    rows = list(csv.DictReader(io.StringIO(sentprobe("show", "out", "--format", "csv", cwd=place).stdout)))
    assert [row["number"] for row in rows] == ["0", "1", "2"]
    assert "\\toprule" in sentprobe("show", "out", "--format", "tex", cwd=place).stdout
    wrong = sentprobe("show", "out", "--examples", 3, cwd=place)
    assert (wrong.returncode, "is an alignment" in wrong.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.vec",), "Name two files"),
        (PAIRS, "-o FOLDER"),
        ((*PAIRS, "-o", "x", "--tries", "many"), "--tries many: expected a number"),
        ((*PAIRS, "-o", "x", "--tries", ","), "expected a number of tries"),
        ((*PAIRS, "-o", "x", "--set", "epochs"), "expected KEY=VALUE"),
        ((*PAIRS, "-o", "x", "--set", "a=1", "--set", "a=2"), "contradict"),
        ((*PAIRS, "-o", "x", "--method", "magic"), "no alignment method 'magic'"),
        ((*PAIRS, "-o", "x", "--steps", "unit,whiten"), "no step 'whiten'"),
        (("a.vec", "c.vec", "--dictionary", "ab.txt", "-o", "x"), "c.vec"),
        (("a.vec", "b.vec", "--dictionary", "no.txt", "-o", "x"), "there is no file 'no.txt'"),
        (("a.vec", "b.vec", "--dictionary", "numerals", "-o", "x"), "0 of 0 pairs of numerals"),
    ],
)
def test_wrong_usage(place, words, message):
    wrong = sentprobe("align", *words, cwd=place)
    assert wrong.returncode == 1
    assert message in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert not (place / "x" / "alignment.json").exists()


def test_one_seed_of_its_own(place):
    done = sentprobe("align", *PAIRS, "--tries", "7,", "--steps", "none", "-o", "seven", cwd=place)
    assert done.returncode == 0, done.stderr
    assert json.loads((place / "seven" / "alignment.json").read_text("utf-8"))["chosen"] == 7


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_alignment_resumes_with_the_same_map(tmp_path):
    write_planted(tmp_path, n=150, dim=8, noise=0.4)
    command = ["align", *PAIRS, "--refine", "25"]
    whole = sentprobe(*command, "-o", "whole", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    words = [sys.executable, "-m", "sentprobe", *command, "-o", "cut"]
    process = subprocess.Popen(words, cwd=tmp_path, env={**os.environ, **PLAIN}, stderr=subprocess.DEVNULL)
    history = tmp_path / "cut" / "maps" / "seed-0" / "history.jsonl"
    while process.poll() is None and not (history.is_file() and history.read_bytes().count(b"\n") > 3):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL  # it had not ended
    assert not (tmp_path / "cut" / "map.safetensors").exists()
    assert sentprobe(*command, "-o", "cut", cwd=tmp_path).returncode == 0
    one, two = ((tmp_path / name / "map.safetensors").read_bytes() for name in ("cut", "whole"))
    assert one == two


def test_several_seeds_have_tries_of_their_own_and_are_one_system(place):
    words = ("align", *PAIRS[:2], "--method", "vecmap", "--words", "60", "--tries", 2)
    done = sentprobe(*words, "--seeds", 2, "-o", "seeds", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "sentprobe words 'seeds/seed-*' --dictionary TEST" in done.stdout
    configs = [AlignmentFolder(place / "seeds" / f"seed-{seed}").config for seed in (0, 1)]
    assert [config["request"]["tries"] for config in configs] == [[0, 1], [2, 3]]
    alone = sentprobe(*words[:-1], "2,3", "-o", "alone", cwd=place)
    assert alone.returncode == 0, alone.stderr
    assert AlignmentFolder(place / "alone").config["seeds"] == configs[1]["seeds"]
    scored = sentprobe("words", "seeds/seed-*", "--dictionary", "ab.txt", "-o", "scored", cwd=place)
    assert scored.returncode == 0, scored.stderr
    assert "means of 2 trainings" in scored.stdout
    assert Run.load(place / "scored").recipes == {f"seeds/seed-{seed}": "seeds/seed-*" for seed in (0, 1)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--dictionary", "ab.txt"),
            "--seeds is for one method whose result depends on a seed, and procrustes is none",
        ),
        (("--method", "best"), "--seeds is for one method whose result depends on a seed, and best is none"),
        (("--tries", "3,7"), "--seeds needs a number of tries, and not their seeds"),
    ],
)
def test_seeds_that_would_all_be_the_same_are_refused(place, words, message):
    failed = sentprobe("align", *PAIRS[:2], *words, "--seeds", 2, "-o", "none", cwd=place)
    assert failed.returncode == 1
    assert message in " ".join(failed.stderr.split())
    assert not (place / "none").exists()
