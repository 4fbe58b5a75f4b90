"""The command line, as a user sees it: what it prints, and its exit code."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from sentprobe import embed_texts, load_encoder
from sentprobe.cli.encode import encode
from sentprobe.cli.listings import LISTINGS
from sentprobe.encoders.store import Store
from tests.audit.plants import ADVERBS, NOUNS, VERBS
from tests.command_line import PLAIN, process, sentprobe

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "probes"
    done = sentprobe(
        "make", "--builtin", 4000, "-t", "bigram_shift", "-t", "passive", "--sizes", "200/40/40", "-o", folder
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_help(snapshot):
    done = sentprobe("--help")
    assert done.returncode == 0
    assert done.stdout == snapshot
    assert sentprobe("make", "--help").stdout == snapshot
    assert sentprobe("run", "--help").stdout == snapshot


def test_the_examples_in_the_help_are_commands():
    from sentprobe.cli import app
    from sentprobe.cli._verbs import VERBS

    examples = [verb.examples for verb in VERBS.parts().values()]
    commands = [shlex.split(line) for text in examples for line in text.splitlines() if line.startswith("  ")]
    assert len(commands) >= 6
    for words in commands:
        assert words[0] == "sentprobe"
        assert len(shlex.join(words)) <= 78  # in a terminal of 80 columns it is on one line
        app.parse_args(words[1:], exit_on_error=False, print_error=False)


def test_every_built_in_verb_has_a_group_in_the_help():
    from sentprobe.cli._verbs import GROUPS, VERBS, built_in_verbs

    assert {VERBS[name].group for name in built_in_verbs()} == set(GROUPS)


@pytest.mark.skipif(sys.platform == "win32", reason="cyclopts completes for bash, zsh and fish")
def test_the_shell_completes_verbs_and_options(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash"}
    words = [sys.executable, "-m", "sentprobe", "--install-completion"]
    subprocess.run(words, check=True, env=environment, capture_output=True)
    (script,) = tmp_path.rglob("completions/sentprobe*")
    assert all(word in script.read_text() for word in ("compare", "--controls", "--as-language"))


def test_version():
    import sentprobe as package

    assert process("--version").stdout.strip() == package.__version__


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
        ("audit",),
        ("audit", "gone"),
        ("audit", ".", "--text", "sentence"),
        ("audit", ".", "--split", "part"),
        ("audit", "--explain", "same-splits"),
        ("audit", ".", "--task", "subj_nummer"),
        ("show", "gone"),
        ("check", "gone.py"),
        ("ls", "everything"),
        ("make", "--builtin", "100", "--skip-bad"),
    ],
)
def test_wrong_use_ends_with_one_and_a_plain_message(words, tmp_path, snapshot):
    done = sentprobe(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stdout + done.stderr == snapshot
    assert list(tmp_path.iterdir()) == []


def test_a_malformed_corpus_names_file_and_line(tmp_path):
    done = sentprobe("make", DATA / "invalid/conllu_nine_columns.conllu", "-o", tmp_path / "out")
    assert done.returncode == 1
    assert "conllu_nine_columns.conllu:" in done.stderr
    assert "expected 10" in done.stderr
    assert not (tmp_path / "out").exists()


def test_debug_shows_the_traceback(tmp_path):
    done = process("make", "gone.conllu", "--debug", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "UsageError" in done.stderr


SPLIT_FILES = ("train.parquet", "validation.parquet", "test.parquet")


def test_make_writes_six_files_a_set_and_a_card(probes):
    for task, suite in (("bigram_shift", "conneau2018"), ("passive", "universal2019")):
        found = sorted(p.name for p in (probes / suite / task).iterdir())
        assert found == sorted(["manifest.json", "rows.parquet", f"{task}.txt", *SPLIT_FILES])
    assert (probes / "README.md").is_file()


def test_the_built_in_corpus_is_called_synthetic(tmp_path):
    done = sentprobe("make", "--builtin", 1500, "-t", "sentence_length", "--sizes", "60/12/12", "-o", tmp_path)
    assert "1,500 synthetic sentences of builtin" in done.stderr


def test_some_sets_that_cannot_be_made_end_with_two(tmp_path):
    text = tmp_path / "plain.txt"
    names = [a + b + c for a in "abcdefghij" for b in "klmnopqrst" for c in "uvwxyzaeio"]
    text.write_text("\n".join(f"{'very ' * (3 + i % 24)}good {name}" for i, name in enumerate(names)))
    done = sentprobe("make", text, "-s", "conneau2018", "--sizes", "60/12/12", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert (
        "not made: conneau2018/tree_depth: the corpus lacks constituency trees (constituency reading), and dependency"
        in done.stderr
    )
    assert (tmp_path / "out/conneau2018/sentence_length/manifest.json").exists()


def test_nothing_made_ends_with_one(tmp_path):
    done = sentprobe("make", "--builtin", 20, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.count("not made:") == 9


def test_standard_input(tmp_path):
    from io import StringIO

    from sentprobe.corpus import Corpus
    from sentprobe.corpus.conllu import write_conllu

    text = StringIO()
    write_conllu(Corpus.synthetic(1500), text)
    done = sentprobe(
        "make", "-", "-t", "sentence_length", "--sizes", "60/12/12", "-o", tmp_path / "out", stdin=text.getvalue()
    )
    assert done.returncode == 0, done.stderr


def test_show(probes):
    done = sentprobe("show", probes)
    assert done.returncode == 0
    assert "conneau2018/bigram_shift" in done.stdout
    assert "universal2019/passive" in done.stdout
    rows = sentprobe("show", probes, "--examples", 3, "-t", "passive").stdout
    assert "Is the main clause passive? (synthetic corpus)" in rows
    assert rows.count("    ") >= 6
    assert rows.count("[") == 6  # the predicate of each row
    assert (
        sentprobe("show", probes, "--examples", 3, "--seed", 5).stdout
        != sentprobe("show", probes, "--examples", 3).stdout
    )
    assert "it has bigram_shift, passive" in sentprobe("show", probes, "-t", "tense").stderr


def test_a_sentence_cannot_style_the_terminal(tmp_path):
    from sentprobe.data.dataset import Dataset
    from sentprobe.tasks import SPLITS, Example

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
    done = sentprobe("show", tmp_path, "--examples", 1)
    assert done.returncode == 0, done.stderr
    assert "[bold]loud[/bold] [[/]]" in done.stdout
    assert "[red]A" in done.stdout


INTERRUPTED = """
import os, signal
from sentprobe.cli import main
from sentprobe.corpus import spool

signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, a shell has interrupts ignored
real = spool.sentence

def sentence(index, seed):
    if index == 500:
        os.kill(os.getpid(), signal.SIGINT)
    return real(index, seed)

spool.sentence = sentence
main()
"""


def test_an_interrupt_ends_with_130_and_keeps_what_was_written(tmp_path):
    from sentprobe.data.dataset import Dataset

    out = tmp_path / "out"
    assert (
        sentprobe("make", "--builtin", 1500, "-t", "sentence_length", "--sizes", "60/12/12", "-o", out).returncode == 0
    )
    words = ["make", "--builtin", "400000", "-s", "conneau2018", "--jobs", "1", "-o", str(out)]
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 130
    assert "interrupted" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(Dataset.load(out / "conneau2018/sentence_length")) == 84
    assert sorted(p.name for p in out.rglob("*") if p.is_file()) == sorted(
        ["README.md", "manifest.json", "rows.parquet", "sentence_length.txt", *SPLIT_FILES]
    )


@pytest.mark.parametrize("words", ["show {} --examples 100", "--help", "run --help"])
def test_a_closed_pipe_is_no_error(probes, words):
    command = f"{sys.executable} -m sentprobe {words.format(probes)} | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, env={**os.environ, **PLAIN}
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_set_that_can_no_longer_be_made_does_not_pass_for_a_new_one(tmp_path):
    words = ("-t", "passive", "--sizes", "100/20/20", "-o", tmp_path)
    assert sentprobe("make", "--builtin", 4000, *words).returncode == 0
    assert sentprobe("make", "--builtin", 30, *words).returncode == 1
    assert sentprobe("show", tmp_path).returncode == 1


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
    done = sentprobe("make", "--builtin", 1500, *words, cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr) > 40


@pytest.mark.parametrize("setting", ["classes=null", "strata=exact"])
def test_odd_policies_that_can_be_met_are(setting, tmp_path):
    done = sentprobe(
        "make", "--builtin", 4000, "-t", "top_dependencies", "--sizes", "200/40/40", "--set", setting, "-o", tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "universal2019/top_dependencies/manifest.json").exists()


def test_sizes_and_set_may_meet(tmp_path):
    done = sentprobe(
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
        "from sentprobe import Example, Task\n"
        "task = Task(name='bad', version=1, question='What', paper='', labels=('A', 'B'),\n"
        "            propose=lambda s, c: Example.of(s, 'A'))\n"
    )
    done = sentprobe("check", path)
    assert done.returncode == 1
    assert "failed its name, version, question and labels are filled in" in done.stdout
    assert "got 'What'" in done.stdout


def test_ls(snapshot):
    assert sentprobe("ls", "suites").stdout == snapshot
    assert "bigram_shift" in sentprobe("ls", "tasks").stdout


def test_ls_alone_lists_the_kinds_and_loads_none_of_them():
    _, *rows = sentprobe("ls").stdout.splitlines()
    described = {row.split()[0]: row.split(maxsplit=1)[1] for row in rows}
    assert described == {name: listing.summary for name, listing in LISTINGS.parts().items()}
    script = (
        "import sys; sys.argv = ['sentprobe', 'ls']\n"
        "from sentprobe.cli import main\n"
        "try: main()\n"
        "except SystemExit: print(sorted({'numpy', 'sentprobe.tasks', 'sentprobe.encoders'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("what", list(LISTINGS))
def test_every_kind_of_part_is_listed_with_a_description(what):
    if what in ("architectures", "objectives"):
        pytest.importorskip("torch")
    done = sentprobe("ls", what)
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert len(header.split()) >= 2
    assert rows or what == "store"
    assert all(len(row.split()) >= 2 or row.startswith(" ") for row in rows)


def test_excluded_sentences_by_file(probes, tmp_path):
    import pyarrow.parquet as pq

    from sentprobe.corpus import Corpus

    used = set(pq.read_table(probes / "conneau2018/bigram_shift/rows.parquet")["source"].to_pylist())
    held = tmp_path / "held.txt"
    held.write_text("\n".join(s.text for s in Corpus.synthetic(4000) if s.id in used))
    done = sentprobe(
        "make", "--builtin", 4000, "-t", "bigram_shift", "--sizes", "200/40/40", "--exclude", held, "-o", tmp_path / "o"
    )
    assert done.returncode == 0
    again = set(pq.read_table(tmp_path / "o/conneau2018/bigram_shift/rows.parquet")["source"].to_pylist())
    assert not used & again


@pytest.fixture
def faulty(tmp_path):
    """A SentEval file whose va and te are the same."""
    path = tmp_path / "past_present.txt"
    sentences = [f"{a} {b} {c} here ." for a in VERBS[:12] for b in NOUNS[:12] for c in ADVERBS[:2]]
    lines = [
        f"{split}\t{('PAST', 'PRES')[i // 2 % 2]}\t{name} {sentence}\n"
        for split, name in (("tr", "One"), ("va", "Two"), ("te", "Two"))
        for i, sentence in enumerate(sentences)
    ]
    path.write_text("".join(lines), "utf-8")
    return path


def test_audit_says_what_is_wrong_and_ends_as_it_is_told(faulty):
    done = sentprobe("audit", faulty)
    assert done.returncode == 0
    assert "same-split" in done.stdout
    assert "1 error" in done.stderr
    assert sentprobe("audit", faulty, "--strict").returncode == 1


def test_audit_of_sets_made_here_finds_no_error(probes):
    done = sentprobe("audit", probes, "--strict", "--min-severity", "warning", "--jobs", 1)
    assert done.returncode == 0, done.stdout
    assert "bigram_shift" in done.stdout
    assert "0 errors" in done.stderr


def test_audit_as_json_and_markdown(faulty):
    data = json.loads(sentprobe("audit", faulty, "--json").stdout)
    (found,) = data["sets"]
    assert found["findings"][0]["code"] == "same-split"
    assert found["findings"][0]["count"] == 288
    text = sentprobe("audit", faulty, "--format", "md", "--min-severity", "error").stdout
    assert "| error | same-split | dev/test | 288 |" in text
    assert "small-test" not in text


def test_audit_of_a_table_with_named_columns(tmp_path):
    for name, k in (("train.csv", 200), ("test.csv", 100)):
        rows = [f'{i % 2},"{name} {VERBS[i % 30]}, {NOUNS[i // 30]}"' for i in range(k)]
        (tmp_path / name).write_text("mood,review\n" + "\n".join(rows) + "\n", "utf-8")
    done = sentprobe("audit", "train.csv", "test.csv", "--text", "review", "--label", "mood", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sets"][0]["sizes"] == {"tr": 200, "te": 100}


def test_a_set_that_cannot_be_read_ends_with_two(faulty):
    (faulty.parent / "broken.txt").write_text("te\tA\tfine\n" * 20 + "te\tA\n", "utf-8")
    done = sentprobe("audit", faulty.parent, "--jobs", 1)
    assert done.returncode == 2
    assert "broken.txt:21" in done.stderr
    assert "same-split" in done.stdout


def test_explain_prints_the_entry_of_the_docs():
    done = sentprobe("audit", "--explain", "same-split")
    assert done.returncode == 0
    assert "two splits are the same set" in done.stdout
    assert "What to do:" in done.stdout


def test_make_notes_a_full_audit_when_asked(tmp_path):
    words = ("make", "--builtin", 3000, "-t", "bigram_shift", "--sizes", "300/100/100", "--audit", "-o", tmp_path)
    assert sentprobe(*words).returncode == 0
    (path,) = tmp_path.rglob("manifest.json")
    manifest = json.loads(path.read_text("utf-8"))
    assert {m["name"] for m in manifest["shortcuts"]} >= {"length", "unigrams"}


def test_nothing_that_comes_with_the_data_reaches_the_terminal_or_the_page(tmp_path):
    bad = "\x1b[2J<script>|[bold]"
    rows = [f"te\t{bad}\tsame {bad} words here .\n" for _ in range(60)] + ["te\tB\tother words stand here .\n"] * 60
    (tmp_path / "set.txt").write_text("".join(rows), "utf-8")
    for words in ((), ("--format", "md")):
        done = sentprobe("audit", "set.txt", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
    assert "<script>" not in done.stdout
    assert json.loads(sentprobe("audit", "set.txt", "--json", cwd=tmp_path).stdout)["sets"]


def test_one_unfit_table_does_not_stop_the_others(tmp_path):
    (tmp_path / "a.tsv").write_text("s\tl\n" + "one two\tA\nthree four\tB\n" * 5, "utf-8")
    (tmp_path / "b.tsv").write_text("other\tcolumns\nx\ty\n", "utf-8")
    done = sentprobe("audit", ".", "--text", "s", "--label", "l", cwd=tmp_path)
    assert done.returncode == 2
    assert "b.tsv" in done.stderr
    (tmp_path / "a.tsv").unlink()
    assert sentprobe("audit", ".", "--text", "s", "--label", "l", cwd=tmp_path).returncode == 1


def test_a_set_is_not_read_from_standard_input(tmp_path):
    done = sentprobe("audit", "-", cwd=tmp_path)
    assert done.returncode == 1
    assert "standard input" in done.stderr


def test_check_an_encoder(tmp_path):
    done = sentprobe("check", "static:")
    assert done.returncode == 0, done.stdout
    (tmp_path / "mine.py").write_text("def encode(texts):\n    return [[len(texts), len(t)] for t in texts]\n", "utf-8")
    done = sentprobe("check", "py:mine.py:encode", cwd=tmp_path)
    assert done.returncode == 1
    assert "failed a vector does not depend on the other texts of the batch" in done.stdout


def test_the_texts_of_sets_are_printed_once_and_come_back_as_vectors(probes, tmp_path):
    done = sentprobe("sentences", probes)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == len(set(lines)) > 500
    train = sentprobe("sentences", probes, "--split", "train").stdout.splitlines()
    assert 0 < len(train) < len(lines)
    assert set(train) < set(lines)
    for wrong in (("--split", "tr"), ("--split", "dev", "--sources")):
        assert sentprobe("sentences", probes, *wrong).returncode == 1
    (tmp_path / "texts.txt").write_text(done.stdout, "utf-8")
    numpy.save(tmp_path / "vectors.npy", numpy.arange(3 * len(lines), dtype="float32").reshape(-1, 3))
    encoder = load_encoder(f"npy:{tmp_path / 'vectors.npy'}?texts={tmp_path / 'texts.txt'}")
    assert encoder([lines[7]]).tolist() == [[21.0, 22.0, 23.0]]
    assert sentprobe("check", f"npy:{tmp_path / 'vectors.npy'}?texts={tmp_path / 'texts.txt'}").returncode == 0


def test_the_schemes_and_the_store_are_listed(tmp_path, monkeypatch):
    done = sentprobe("ls", "encoders")
    assert "static:" in done.stdout
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path))
    assert sentprobe("ls", "store").returncode == 0
    embed_texts(load_encoder("static:?dim=64"), ["one", "two"], store=Store(tmp_path / "store"))
    listed = sentprobe("ls", "store").stdout
    assert "static:minilm" in listed
    assert " 64 " in listed


def test_a_set_that_cannot_be_read_does_not_stop_the_others(tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets/good.txt").write_text("tr\tA\tIt rains .\nva\tB\tIt snows .\nte\tA\tIt hails .\n")
    (tmp_path / "sets/bad.txt").write_text("tr\tA\tIt rains .\nva\tB\tIt snows .\nte and no more\n")
    done = sentprobe("sentences", "sets", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "It rains .\nIt snows .\nIt hails .\n")
    assert done.stderr.startswith("not read: bad: ")
    assert "bad.txt:3" in done.stderr
    done = sentprobe("encode", "sets", "-e", "static:?dim=64", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[1].split()[1]) == (2, "3")
    assert "not read: bad: " in done.stderr
    for verb in ("sentences", "encode"):
        done = sentprobe(verb, "sets/bad.txt", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.count("not read: bad: ") == 1


def test_warnings_of_ours_are_told_as_such(tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "own.txt").write_text("tr\tA\tIt rains .\nva\tB\tIt snows .\nte\tA\tIt hails .\n")
    (tmp_path / "own.vec").write_text("it 1 2 3\nrains 4 5 6\nsnows 7 8 9\nhails 1 1 0\n. 0 0 1\n")
    words = ("encode", "own.txt", "-e", "static:?dim=64", "-e", "vec:own.vec")
    assert "warning: " not in sentprobe(*words, cwd=tmp_path).stderr.replace("warning: vec:own.vec", "")
    for path in (tmp_path / "cache").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-9])
    done = sentprobe(*words, cwd=tmp_path)
    assert done.returncode == 0
    told = [line for line in done.stderr.splitlines() if str(tmp_path / "cache") in line]
    assert len(told) >= 2, done.stderr
    assert all(line.startswith("warning: ") for line in told), done.stderr
    assert ".py:" not in done.stderr
    assert "Warning" not in done.stderr


def test_encode_keeps_vectors_and_writes_them_down(probes, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    first = sentprobe("encode", probes, "-e", "static:?dim=64", "-o", tmp_path / "out")
    assert first.returncode == 0, first.stderr
    texts = (tmp_path / "out/static-dim-64/texts.txt").read_text("utf-8").splitlines()
    vectors = numpy.load(tmp_path / "out/static-dim-64/vectors.npy")
    assert vectors.shape == (len(texts), 64)
    assert numpy.allclose(vectors[3], load_encoder("static:?dim=64")([texts[3]])[0])
    words = first.stdout.splitlines()[1].split()
    assert words[1] == words[2] == str(len(texts))
    assert sentprobe("encode", probes, "-e", "static:?dim=64").stdout.splitlines()[1].split()[2] == "0"
    assert sentprobe("encode", probes, "-e", "static:?dim=64", "--no-store").stdout.splitlines()[1].split()[2] != "0"
    for words in (("encode",), ("encode", probes, "--batch-size", 0), ("encode", probes, "-e", "nothing")):
        assert sentprobe(*words).returncode == 1


def test_baselines_are_shown_beside_the_papers(probes):
    done = sentprobe("show", probes, "--baselines", "--task", "bigram_shift")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].split()[:6] == ["set", "test", "majority", "length", "nb-uni", "nb-bi"]
    assert done.stdout.splitlines()[1].split()[1:3] == ["40", "50.0"]


def test_workers_of_encode_read_and_encode_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    for k in range(3):
        lines = (f"{('tr', 'tr', 'va', 'te')[i % 4]}\t{i % 2}\tset {k} has {i} rows\n" for i in range(60))
        (tmp_path / f"set{k}.txt").write_text("".join(lines), "utf-8")
    (tmp_path / "unreadable.txt").write_text("tr\tA\tfine\n" * 20 + "tr\tA\n", "utf-8")
    monkeypatch.setattr("sentprobe.cli._sets.MIN_WORKER_BYTES", 100)
    monkeypatch.setattr("sentprobe.encoders.embed.MIN_WORKER_TEXTS", 20)
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        assert encode(str(tmp_path / "*.txt"), encoder=("baseline:words?dim=8",), out=out, jobs=jobs) == 2
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / j).rglob("*") if p.is_file()} for j in ("1", "2"))
    assert one == two
    assert len(numpy.load(next((tmp_path / "2").rglob("vectors.npy")))) == 180


def test_options_mean_the_same_in_every_verb():
    """A short name is that of one option, and what selects never changes a setting or declares a property."""
    from sentprobe.cli._verbs import built_in_verbs, make_app

    helps = {}

    def collect(app, name):
        for part in app:
            if not part.startswith("-"):
                collect(app[part], f"{name} {part}".strip())
        if app.default_command:
            for argument in app.assemble_argument_collection(parse_docstring=True):
                for text in argument.names:
                    helps.setdefault(text, {})[name] = (argument.name, argument.parameter.help or "")

    collect(make_app(built_in_verbs()), "")
    shorts = {name: {long for long, _ in verbs.values()} for name, verbs in helps.items() if len(name) == 2}
    shared = {"-d": {"--data", "--dictionary"}}  # of words, whose data are dictionaries
    assert {name: longs for name, longs in shorts.items() if len(longs) > 1} == shared
    selecting = ("Only the", "Only this", "Only pairs", "Make only", "Make every", "The encoders")
    selecting += ("With --builtin", "For --builtin")
    for option in ("--task", "--suite", "--language", "--encoder"):
        for verb, (_, text) in helps[option].items():
            assert text.startswith((*selecting, "scheme:name")), (option, verb, text)
    for option in ("--task", "--suite", "--encoder"):
        assert all(f"-{option[2]}" in helps and verb in helps[f"-{option[2]}"] for verb in helps[option])
    assert all("setting" in text or "policy" in text for _, text in helps["--set"].values())
