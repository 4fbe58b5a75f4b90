"""The command line, as a user meets it: what it prints and the code it ends with."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
ENVIRONMENT = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}


def sonde(*words, cwd=None, stdin=None):
    return subprocess.run(
        [sys.executable, "-m", "sonde", *map(str, words)],
        capture_output=True, text=True, cwd=cwd, env=ENVIRONMENT, input=stdin, timeout=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "probes"
    done = sonde("make", "--builtin", 4000, "-t", "bigram_shift", "-t", "passive", "--sizes", "200/40/40", "-o", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_help(snapshot):
    done = sonde("--help")
    assert done.returncode == 0
    assert done.stdout == snapshot
    assert sonde("make", "--help").stdout == snapshot


def test_version():
    import sonde as package

    assert sonde("--version").stdout.strip() == package.__version__


@pytest.mark.parametrize(
    "words",
    [
        ("mkae",),
        ("make",),
        ("make", "--builtin", "10", "x.conllu"),
        ("make", "gone.conllu"),
        ("make", "--builtin", "many"),
        ("make", "--builtin", "100", "--suite", "conneau"),
        ("make", "--builtin", "100", "--task", "subj_nummer"),
        ("make", "--builtin", "100", "--sizes", "10/10"),
        ("make", "--builtin", "100", "--length", "9"),
        ("make", "--builtin", "100", "--set", "colour=red"),
        ("make", "--builtin", "100", "--exclude", "gone.txt"),
        ("show", "gone"),
        ("check", "gone.py"),
        ("ls", "everything"),
    ],
)
def test_wrong_use_ends_with_one_and_a_plain_message(words, tmp_path, snapshot):
    done = sonde(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stdout + done.stderr == snapshot
    assert list(tmp_path.iterdir()) == []


def test_a_malformed_corpus_names_file_and_line(tmp_path):
    done = sonde("make", DATA / "invalid/conllu_nine_columns.conllu", "-o", tmp_path / "out")
    assert done.returncode == 1
    assert "conllu_nine_columns.conllu:" in done.stderr
    assert "expected 10" in done.stderr
    assert not (tmp_path / "out").exists()


def test_debug_shows_the_traceback(tmp_path):
    done = sonde("make", "gone.conllu", "--debug", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "UsageError" in done.stderr


def test_make_writes_three_files_a_set(probes):
    for task, suite in (("bigram_shift", "conneau2018"), ("passive", "universal2019")):
        found = sorted(p.name for p in (probes / suite / task).iterdir())
        assert found == sorted(["manifest.json", "rows.parquet", f"{task}.txt"])


def test_the_built_in_corpus_is_called_synthetic(tmp_path):
    done = sonde("make", "--builtin", 1500, "-t", "sentence_length", "--sizes", "60/12/12", "-o", tmp_path)
    assert "1,500 synthetic sentences of builtin" in done.stderr


def test_some_sets_that_cannot_be_made_end_with_two(tmp_path):
    text = tmp_path / "plain.txt"
    names = [a + b + c for a in "abcdefghij" for b in "klmnopqrst" for c in "uvwxyzaeio"]
    text.write_text("\n".join(f"{'very ' * (3 + i % 24)}good {name}" for i, name in enumerate(names)))
    done = sonde("make", text, "-s", "conneau2018", "--sizes", "60/12/12", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert (
        "not made: conneau2018/tree_depth: the corpus lacks constituency trees (constituency reading), and dependency"
        in done.stderr
    )
    assert (tmp_path / "out/conneau2018/sentence_length/manifest.json").exists()


def test_nothing_made_ends_with_one(tmp_path):
    done = sonde("make", "--builtin", 20, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.count("not made:") == 9


def test_standard_input(tmp_path):
    from io import StringIO

    from sonde.corpus import Corpus
    from sonde.corpus.conllu import write_conllu

    text = StringIO()
    write_conllu(Corpus.synthetic(1500), text)
    done = sonde(
        "make", "-", "-t", "sentence_length", "--sizes", "60/12/12", "-o", tmp_path / "out", stdin=text.getvalue()
    )
    assert done.returncode == 0, done.stderr


def test_show(probes):
    done = sonde("show", probes)
    assert done.returncode == 0
    assert "conneau2018/bigram_shift" in done.stdout
    assert "universal2019/passive" in done.stdout
    rows = sonde("show", probes, "--examples", 3, "-t", "passive").stdout
    assert "Is the main clause passive? (synthetic corpus)" in rows
    assert rows.count("    ") >= 6
    assert rows.count("[") == 6  # the predicate of each row
    assert sonde("show", probes, "--examples", 3, "--seed", 5).stdout != sonde("show", probes, "--examples", 3).stdout
    assert "it has bigram_shift, passive" in sonde("show", probes, "-t", "tense").stderr


def test_a_sentence_cannot_style_the_terminal(tmp_path):
    from sonde.dataset import Dataset
    from sonde.task import SPLITS, Example

    row = Example("[red]A", ("[bold]loud[/bold]", "[/]"), "x", marks=(1,))
    facts = {
        "name": "m/t",
        "task": "t",
        "version": 1,
        "language": None,
        "labels": ["[red]A"],
        "question": "Q?",
        "reading": {},
        "sizes": {},
        "majority": {},
        "label_length_correlation": {},
        "audit": [],
        "corpus": {"synthetic": False},
    }
    Dataset("m/t", "t", 1, None, ("[red]A",), {split: [row] for split in SPLITS}, facts).save(tmp_path / "m/t")
    done = sonde("show", tmp_path, "--examples", 1)
    assert done.returncode == 0, done.stderr
    assert "[bold]loud[/bold] [[/]]" in done.stdout
    assert "[red]A" in done.stdout


def test_an_interrupt_ends_with_130_and_keeps_what_was_written(tmp_path):
    from sonde.dataset import Dataset

    out = tmp_path / "out"
    assert sonde("make", "--builtin", 1500, "-t", "sentence_length", "--sizes", "60/12/12", "-o", out).returncode == 0
    # a shell starts its background jobs with interrupts ignored, and they would inherit that
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from sonde.cli import main; main()"
    words = ["make", "--builtin", "400000", "-s", "conneau2018", "-o", str(out)]
    process = subprocess.Popen([sys.executable, "-c", code, *words], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert len(Dataset.load(out / "conneau2018/sentence_length")) == 84
    assert sorted(p.name for p in out.rglob("*") if p.is_file()) == [
        "manifest.json",
        "rows.parquet",
        "sentence_length.txt",
    ]


def test_a_closed_pipe_is_no_error(probes):
    command = f"{sys.executable} -m sonde show {probes} --examples 100 | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_set_that_can_no_longer_be_made_does_not_pass_for_a_new_one(tmp_path):
    words = ("-t", "passive", "--sizes", "100/20/20", "-o", tmp_path)
    assert sonde("make", "--builtin", 4000, *words).returncode == 0
    assert sonde("make", "--builtin", 30, *words).returncode == 1
    assert sonde("show", tmp_path).returncode == 1


@pytest.mark.parametrize(
    "words",
    [
        ("--sizes", "1/1/1", "-t", "past_present"),
        ("--set", 'readings=["nope"]', "-t", "past_present"),
        ("--set", "min_classes=0"),
        ("--set", "band=[0,10]"),
        ("--set", "cap=-1"),
        ("-t", "..foo"),
        ("-t", ":x"),
        ("-s", "conneau2018", "-t", "passive"),
        ("-o", "taken"),
    ],
)
def test_odd_wishes_get_a_plain_answer(words, tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = sonde("make", "--builtin", 1500, *words, cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr) > 40


@pytest.mark.parametrize("setting", ["classes=null", "strata=exact"])
def test_odd_policies_that_can_be_met_are(setting, tmp_path):
    done = sonde(
        "make", "--builtin", 4000, "-t", "top_dependencies", "--sizes", "200/40/40", "--set", setting, "-o", tmp_path
    )
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr


def test_sizes_and_set_may_meet(tmp_path):
    done = sonde(
        "make",
        "--builtin",
        1500,
        "-t",
        "sentence_length",
        "--sizes",
        "60/12/12",
        "--set",
        "sizes=[120,24,24]",
        "-o",
        tmp_path,
    )
    assert done.returncode == 0
    assert "168" in done.stdout


def test_check_says_which_rule_is_broken(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text(
        "from sonde import Example, Task\n"
        "task = Task(name='bad', version=1, question='What', paper='', labels=('A', 'B'),\n"
        "            propose=lambda s, c: Example.of(s, 'A'))\n"
    )
    done = sonde("check", path)
    assert done.returncode == 1
    assert "failed its name, version, question and labels are filled in" in done.stdout
    assert "got 'What'" in done.stdout


def test_ls(snapshot):
    assert sonde("ls", "suites").stdout == snapshot
    assert "bigram_shift" in sonde("ls", "tasks").stdout


def test_excluded_sentences_by_file(probes, tmp_path):
    import pyarrow.parquet as pq

    from sonde.corpus import Corpus

    used = set(pq.read_table(probes / "conneau2018/bigram_shift/rows.parquet")["source"].to_pylist())
    held = tmp_path / "held.txt"
    held.write_text("\n".join(s.text for s in Corpus.synthetic(4000) if s.id in used))
    done = sonde(
        "make", "--builtin", 4000, "-t", "bigram_shift", "--sizes", "200/40/40", "--exclude", held, "-o", tmp_path / "o"
    )
    assert done.returncode == 0
    again = set(pq.read_table(tmp_path / "o/conneau2018/bigram_shift/rows.parquet")["source"].to_pylist())
    assert not used & again
