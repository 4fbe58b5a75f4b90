"""Parts of other packages: each kind of part is one file and one entry point, and shows wherever its kind does."""

import json
import sys
import textwrap

import pytest

from tests.audit.plants import sound
from tests.command_line import process, sentprobe


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Writes a module and its entry point, as an installed package has them; this and other processes find it."""

    def write(group, entry, module, text):
        sys.modules.pop(module, None)  # that of another test
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(text), "utf-8")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", "utf-8")
        (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n", "utf-8")

    monkeypatch.syspath_prepend(tmp_path)
    return write


CHECK = """
    from sentprobe.audit import AuditCheck, Code, Finding

    CODE = Code("shouting", "rows in capitals", "Rows that are all capitals.", "Lower-case them.")

    def find(rows, expectations):
        loud = [text for text in rows.texts if text.isupper()]
        if loud:
            yield Finding(CODE.name, "warning", f"{len(loud)} rows shout", CODE.advice, None, len(loud))

    audit_check = AuditCheck(name="shouting", topic="style", codes=(CODE,), in_set=find, quick=True)
"""


@pytest.fixture
def loud(package, tmp_path):
    """A set with three rows in capitals, and the check that finds them."""
    package("sentprobe.audit_checks", "shouting = loud_check", "loud_check", CHECK)
    lines = [f"{split}\t{row.label}\t{row.text}\n" for split, row in sound()]
    lines[:3] = [line[:5] + line[5:].upper() for line in lines[:3]]
    path = tmp_path / "own.txt"
    path.write_text("".join(lines), "utf-8")
    return path


def test_an_audit_check_is_run_explained_documented_and_listed(loud):
    (found,) = json.loads(sentprobe("audit", loud, "--json").stdout)["sets"][0]["findings"]
    assert (found["code"], found["severity"], found["count"]) == ("shouting", "warning", 3)
    assert "3 rows shout" in sentprobe("audit", loud).stdout
    assert "What to do: Lower-case them." in sentprobe("audit", "--explain", "shouting").stdout
    assert "## Style\n\n### shouting\n\n*Rows in capitals.*" in sentprobe("audit", "--explain", "all").stdout
    assert "shouting" in sentprobe("ls", "audit-checks").stdout


def test_a_quick_audit_check_is_in_the_manifest_and_on_the_page(package, tmp_path):
    package("sentprobe.audit_checks", "shouting = loud_check", "loud_check", CHECK.replace(".isupper()", ""))
    words = ("make", "--builtin", 1500, "-t", "sentence_length", "--sizes", "60/12/12", "-o", tmp_path / "sets")
    assert sentprobe(*words).returncode == 0
    (path,) = (tmp_path / "sets").rglob("manifest.json")
    assert "shouting" in {f["code"] for f in json.loads(path.read_text("utf-8"))["audit"]}
    run = tmp_path / "run"
    words = ("run", tmp_path / "sets", "-e", "baseline:length", "--resample", 0, "-o", run)
    done = sentprobe(*words)
    assert done.returncode == 0, done.stderr
    assert sentprobe("report", run).returncode == 0
    assert "84 rows shout" in (run / "report.html").read_text("utf-8")


def test_a_broken_audit_check_is_left_out_with_a_warning(package, loud):
    package("sentprobe.audit_checks", "broken = broken_check", "broken_check", "raise RuntimeError('half installed')")
    done = sentprobe("audit", loud)
    assert done.returncode == 0
    assert "3 rows shout" in done.stdout
    assert "warning: The audit check 'broken' of broken_check cannot be loaded: RuntimeError: half installed" in (
        " ".join(done.stderr.split())
    )


CONTRAST = """
    from sentprobe.extend import ContrastRule, RowsRead

    def rewrite(s, context):
        if " old " in s.text:
            yield s.text.replace(" old ", " new ")

    contrast_rule = ContrastRule(
        name="age", effect="contrast", summary="old becomes new", rewrite=rewrite,
        rows_read=(RowsRead(language="en", corpus="mine", wrong=1, date="2026-01-01"),),
    )
"""


def test_a_contrast_rule_is_used_listed_and_checked(package, tmp_path):
    package("sentprobe.contrast_rules", "age = age_rule", "age_rule", CONTRAST)
    done = sentprobe("make", "--builtin", 1500, "--contrast", "age", "-o", tmp_path / "sets")
    assert done.returncode == 0, done.stderr
    assert "age" in done.stdout
    assert "1/50" in done.stdout
    (path,) = (tmp_path / "sets").rglob("manifest.json")
    assert json.loads(path.read_text("utf-8"))["rules"]["age"]["summary"] == "old becomes new"
    assert "mine 1 of 50" in sentprobe("ls", "contrast-rules").stdout
    assert sentprobe("check", "age").returncode == 0


VERB = """
    from pathlib import Path

    Path(__file__).with_name("imported").touch()

    def greet(name: str, /, *, loud: bool = False) -> int:
        '''Greet someone.

        Parameters
        ----------
        name: str
            Whom to greet.
        loud: bool
            In capitals.
        '''
        greeting = f"hello {name}"
        import sys

        sys.stdout.write((greeting.upper() if loud else greeting) + "\\n")
        return 2
"""


def test_a_verb_is_in_the_help_and_is_imported_when_it_is_called(package, tmp_path, monkeypatch):
    package("sentprobe.verbs", "greet = greeting:greet", "greeting", VERB)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    listed = process("--help").stdout
    assert "│ greet        From greeting 1.0." in listed
    assert "│ ls  " in listed
    assert not (tmp_path / "imported").exists()
    done = process("greet", "world", "--loud")
    assert (done.returncode, done.stdout) == (2, "HELLO WORLD\n")
    assert (tmp_path / "imported").exists()
    own = process("greet", "--help")
    assert own.returncode == 0
    assert "Usage: sentprobe greet" in own.stdout
    assert "Whom to greet." in own.stdout
    assert process("greet").returncode == 1
    assert "greet" in process("ls", "verbs").stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise RuntimeError('half installed')", "'bad' of bad_verb cannot be loaded: RuntimeError: half installed"),
        ("bad = 3", "The verb 'bad' of bad_verb: expected a function or an App, got int."),
        ("def bad():\n    return 1 / 0", "The verb 'bad' of bad_verb failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_broken_verb_breaks_no_other(package, tmp_path, monkeypatch, text, message):
    package("sentprobe.verbs", "bad = bad_verb:bad", "bad_verb", text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    assert "│ bad " in process("--help").stdout
    assert process("ls", "suites").returncode == 0
    done = process("bad")
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_verb_whose_name_is_taken_is_left_out(package, tmp_path, monkeypatch):
    package("sentprobe.verbs", "ls = greeting:greet", "greeting", VERB)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    assert "greeting" not in process("--help").stdout
    assert "conneau2018" in process("ls", "suites").stdout


ANNOTATOR = """
    from sentprobe.annotate.annotator import Annotator, Loaded, Model
    from sentprobe import Sentence

    def load(name, options):
        model = Model(name, "1", "shouter", "", None, False, ("upos",), splits=True)
        def annotate(texts, is_split):
            return [[Sentence("", t, tuple(t.split()), upos=("X",) * len(t.split()))] for t in texts]
        return Loaded(model, annotate)

    annotator = Annotator("shouter", "Says X to everything.", load, {"volume": "how loud"})
"""
SOURCE = """
    from sentprobe.annotate.source import Piece, TextSource, split_paragraphs

    def read(path, name, reading, on_bad):
        from pathlib import Path
        yield Piece(name, Path(path).read_text("utf-8").replace("|", "\\n"), True)

    text_source = TextSource("piped", "Lines with pipes.", (".piped",), read, split_paragraphs, "sentences")
"""


def test_an_annotator_and_a_text_source_are_listed_and_used(package, tmp_path):
    package("sentprobe.annotators", "shouter = own_shouter", "own_shouter", ANNOTATOR)
    package("sentprobe.text_sources", "piped = own_piped", "own_piped", SOURCE)
    assert "Says X to everything." in sentprobe("ls", "annotators").stdout
    assert "Lines with pipes." in sentprobe("ls", "text-sources").stdout
    (tmp_path / "a.piped").write_text("One two|three", "utf-8")
    out = tmp_path / "a.conllu"
    done = sentprobe("annotate", tmp_path / "a.piped", "--with", "shouter:loud?volume=9", "-o", out)
    assert done.returncode == 0, done.stderr
    assert "# text = three\n1\tthree\t_\tX\t_\t_\t_\t_\t_\t_\n" in out.read_text("utf-8")
