"""Native code that dies: the text that kills it is left out and named, and the rest is annotated."""

import json
import os
import signal
from pathlib import Path

import pytest

from sentprobe.annotate import chunks as chunking
from sentprobe.annotate.sources import text
from sentprobe.core.processes import Child, ChildDied, Children
from sentprobe.errors import AnnotatorError, RunError, SentProbeWarning
from tests.annotate.test_annotate import run, texts_of
from tests.command_line import sentprobe
from tests.core.test_workers import Command

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals kill the child")


@pytest.fixture
def small(monkeypatch):
    """Chunks of three pieces, and pieces of a paragraph: every crash costs a process."""
    monkeypatch.setattr(chunking, "CHUNK_PIECES", 3)
    monkeypatch.setattr(text, "PIECE_CHARACTERS", 10)


def written(*words, n=40):
    """Paragraphs, of which some have a word that does something to the annotator, by place."""
    lines = [f"The dog number {i} barks." for i in range(n)]
    for place, word in words:
        lines[place] = f"Nobody ran {word} {place} here."
    Path("text.txt").write_text("\n\n".join(lines), "utf-8")
    return [line for i, line in enumerate(lines) if i not in dict(words)]


@pytest.mark.parametrize("places", [(7,), (0, 1, 14), (3, 4, 5)], ids=["one", "edges", "a whole chunk"])
def test_texts_that_crash_the_annotator_are_left_out_and_named(rules, small, places):
    kept = written(*((place, "CRASH") for place in places), n=15)
    for jobs in (1, 3):
        found = run(rules, "text.txt", out=f"{jobs}.conllu", jobs=jobs)
        assert texts_of(f"{jobs}.conllu") == kept
        assert found.card["dropped"] == {"the annotator crashed": len(places)}
        assert found.card["crashed"] == [
            f"'text', at 'Nobody ran CRASH {place} here.': the annotator crashed (SIGSEGV)" for place in places
        ]
    assert Path("1.conllu").read_bytes() == Path("3.conllu").read_bytes()


def test_after_an_interruption_a_crash_is_counted_once(rules, small):
    written((3, "CRASH"), (13, "STOP"), n=20)
    expected = run(rules, "text.txt", out="whole.conllu").card
    Path("armed").touch()
    with pytest.raises(KeyboardInterrupt):
        run(rules, "text.txt")
    assert len(json.loads(Path("out.conllu.part/checksums.json").read_bytes())["crashes"]) == 1
    Path("armed").unlink()
    card = run(rules, "text.txt").card
    of_name = {"file": "", "checksum": ""}
    assert {**card, **of_name} == {**expected, **of_name}
    assert Path("out.conllu").read_bytes() == Path("whole.conllu").read_bytes()


def test_an_annotator_that_always_crashes_is_an_error(rules, small):
    written()
    done = sentprobe("annotate", "text.txt", "--with", "py:rules.py:broken", "-o", "out.conllu")
    assert done.returncode == 1
    assert "The annotator py:rules.py:broken crashes on every text (SIGABRT)" in done.stderr
    assert not Path("out.conllu").exists()


def test_texts_that_all_crash_are_an_error_though_others_might_not(rules, small):
    written(*((place, "CRASH") for place in range(5)), n=5)
    with pytest.raises(AnnotatorError, match=r"crashes on every text \(the first: 'text', at 'Nobody ran CRASH 0"):
        run(rules, "text.txt")
    written((0, "CRASH"), n=1)
    with pytest.raises(AnnotatorError, match="crashes on every text"):
        run(rules, "text.txt", out="single.conllu")


def test_an_annotator_that_crashes_while_it_is_loaded_or_scored(rules):
    Path("dead.py").write_text("import os\nos.abort()\n")
    written(n=2)
    done = sentprobe("annotate", "text.txt", "--with", "py:dead.py", "-o", "out.conllu")
    assert done.returncode == 1
    assert "py:dead.py crashes while it is loaded (SIGABRT)" in done.stderr
    run(rules, "text.txt", out="gold.conllu")
    done = sentprobe("annotate", "--evaluate", "gold.conllu", "--with", "py:rules.py:broken")
    assert done.returncode == 1
    assert "py:rules.py:broken crashes on the text of gold.conllu (SIGABRT)" in done.stderr


def test_a_worker_that_is_killed_is_no_crash(rules, small):
    kept = written((13, "MEMORY"))
    with pytest.raises(RunError, match=r"'Nobody ran MEMORY 13 here.' was killed \(SIGKILL\).*memory.*--skip-bad"):
        run(rules, "text.txt")
    assert json.loads(Path("out.conllu.part/checksums.json").read_bytes())["pieces"] == 12
    found = run(rules, "text.txt", out="s.conllu", skip_bad=True)
    assert texts_of("s.conllu") == kept
    assert found.card["dropped"] == {"the worker was killed": 1}


def test_markup_that_no_parser_survives(rules):
    pytest.importorskip("mwparserfromhell")
    texts = [f"The dog number {i} barks." for i in range(20)]
    texts[11] = "= a " * 100_000  # headings in headings, for each of which the parser's C code calls itself
    page = "<page><ns>0</ns><id>{}</id><revision><text>{}</text></revision></page>"
    Path("d.xml").write_text(f"<mediawiki>{''.join(map(page.format, range(20), texts))}</mediawiki>", "utf-8")
    done = sentprobe("annotate", "d.xml", "--with", rules, "-o", "out.conllu")
    assert done.returncode == 0, done.stderr
    assert "warning: left out 'd-11', at '= a = a" in done.stderr
    assert "the parser of the markup crashed (SIGSEGV)" in done.stderr
    assert texts_of("out.conllu") == texts[:11] + texts[12:]


@pytest.mark.parametrize(("number", "group"), [(signal.SIGKILL, False), (signal.SIGTERM, False), (signal.SIGINT, True)])
def test_no_child_outlives_the_command(rules, number, group):
    Path("slow.py").write_text(
        "import time, pathlib\ndef annotate(texts):\n    pathlib.Path('begun').touch()\n    time.sleep(600)\n"
    )
    written()
    command = Command("annotate", "text.txt", "--with", "py:slow.py", "-o", "out.conllu", "--jobs", "2", cwd=Path.cwd())
    assert command.wait_for(Path("begun").exists)
    code, said = command.end(number, group=group)
    assert code in (-number, 128 + number)
    assert "Traceback" not in said


# The child itself


def warn_and_double(n):
    import warnings

    warnings.warn(f"{n} is doubled", SentProbeWarning, stacklevel=1)
    return 2 * n


def leave_a_process_and_die():
    if not os.fork():
        import time

        time.sleep(3)  # with the pipe of the child
        os._exit(0)
    os.kill(os.getpid(), signal.SIGSEGV)


class _Local(Exception):
    def __init__(self, a, b):
        super().__init__(f"{a} {b}")


def raise_what_cannot_be_sent():
    raise _Local(1, 2)


def test_a_child_answers_warns_raises_dies_and_answers_again():
    child = Child()
    try:
        with pytest.warns(SentProbeWarning, match="4 is doubled"):
            assert child.call(warn_and_double, 4) == 8
        with pytest.raises(ZeroDivisionError):
            child.call(divmod, 1, 0)
        with pytest.raises(RunError, match="_Local: 1 2"):
            child.call(raise_what_cannot_be_sent)
        with pytest.raises(ChildDied) as caught:
            child.call(os._exit, 7)
        assert (caught.value.code, str(caught.value), caught.value.was_killed) == (7, "exit code 7", False)
        with pytest.raises(ChildDied, match="SIGSEGV"):
            child.call(leave_a_process_and_die)
        assert child.call(pow, 2, 10) == 1024
    finally:
        child.close()
    with pytest.raises(RunError):
        child.call(pow, 2, 10)


def test_children_answer_in_order():
    with Children(3) as children:
        assert list(children.map(lambda child, i: child.call(pow, 2, i), range(20))) == [2**i for i in range(20)]
