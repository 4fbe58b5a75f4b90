"""Whatever is wrong in a user's file, the message names its line."""

import re

import pytest

from sentprobe.corpus import Corpus
from sentprobe.errors import UsageError
from sentprobe.make import SkippedTask, make_sets
from sentprobe.tasks import Example, Policy, Task, load_task

TASK = """
task = Task(
    name="mine", version=1, question="?", paper="", propose=propose, labels=("a", "b"), {more}
    policies={{"ours": Policy(sizes=(40, 12, 12))}},
)
"""
HEAD = "from sentprobe import Example, Policy, Task\n\n\n"  # the function begins on line 4
PROPOSE = 'def propose(s, context):\n    return Example.of(s, "ab"[len(s) % 2])\n'


def written(tmp_path, code, more=""):
    path = tmp_path / "mine.py"
    path.write_text(HEAD + code + TASK.format(more=more))
    return path


@pytest.mark.parametrize(
    ("code", "message", "line"),
    [
        ("def propose(s, context:\n    pass\n", "SyntaxError", 4),
        ("  x = 1\n", "IndentationError", 4),
        ("import nonesuch_module\n", "ModuleNotFoundError: No module named 'nonesuch_module'", 4),
        ("from sentprobe import nonesuch\n", "ImportError", 4),
        ("import json\n\njson.loads('{')\n", "JSONDecodeError", 6),  # it fails inside the library, and is called here
        ("x = 1\n1 / 0\n", "ZeroDivisionError", 5),
        ("import sys\nsys.exit(3)\n", r"it called sys.exit\(3\)", 5),
    ],
)
def test_a_file_that_does_not_run(tmp_path, code, message, line):
    path = written(tmp_path, code)
    with pytest.raises(UsageError, match=rf"mine\.py does not run: {message}") as caught:
        load_task(path)
    assert f"({path}:{line})" in str(caught.value)


@pytest.mark.parametrize(
    ("code", "more", "message", "line"),
    [
        ("def propose(s):\n    pass\n", "", r"expected a function propose\(sentence, context\), got propose\(s\)", 4),
        ("def propose(s, context, more):\n    pass\n", "", r"got propose\(s, context, more\)", 4),
        (PROPOSE + "\n\ndef plan(counts):\n    pass\n", "plan=plan,", r"plan\(counts, policy, reading\), got", 8),
        (PROPOSE + "\n\ndef count():\n    pass\n", "count=count,", r"count\(sentence\), got count\(\)", 8),
        (PROPOSE + "\n\ndef fill(rows):\n    pass\n", "complete=fill,", r"complete\(examples, rng\), got fill", 8),
    ],
)
def test_a_function_that_does_not_take_what_it_is_given(tmp_path, code, more, message, line):
    path = written(tmp_path, code, more)
    with pytest.raises(UsageError, match=message) as caught:
        load_task(path)
    assert f"({path}:{line})" in str(caught.value)


def test_what_is_not_a_function_is_said(tmp_path):
    with pytest.raises(UsageError, match=r"expected `propose` to be a function propose\(sentence, context\), got 3"):
        load_task(written(tmp_path, "propose = 3\n"))
    with pytest.raises(UsageError, match="has no `propose`"):
        load_task(written(tmp_path, "propose = None\n"))


def test_functions_with_defaults_and_callable_objects_are_fine(tmp_path):
    assert load_task(written(tmp_path, PROPOSE.replace("context", "context=None, *rest"))).name == "mine"
    code = "class Propose:\n    def __call__(self, s, context):\n        return None\n\n\npropose = Propose()\n"
    assert load_task(written(tmp_path, code)).name == "mine"


@pytest.mark.parametrize(
    ("code", "more", "message", "line"),
    [
        ("def propose(s, context):\n    return s.nonesuch\n", "", "it failed on the sentence .*AttributeError", 5),
        (
            "import json\n\n\ndef propose(s, context):\n    return json.loads('{')\n",
            "",
            "it failed on the sentence .*JSONDecodeError",
            8,
        ),
        ("def propose(s, context):\n    return 3\n", "", "expected an Example, a reason or None, got 3", 4),
        (PROPOSE + "\n\ndef plan(c, p, r):\n    return c[0]\n", "plan=plan,", "its plan failed: TypeError", 9),
        (PROPOSE + "\n\ndef count(s):\n    yield s[0]\n", "count=count,", "it failed on the sentence .*TypeError", 9),
        (PROPOSE + "\n\ndef fill(rows, rng):\n    1 / 0\n", "complete=fill,", "it failed: ZeroDivisionError", 9),
    ],
)
def test_an_error_while_a_set_is_made(tmp_path, code, more, message, line):
    path = written(tmp_path, code, more)
    (found,) = make_sets(Corpus.synthetic(200), load_task(path))
    assert isinstance(found, SkippedTask)
    assert found.kind == "failed"
    assert re.search(message, found.reason)
    assert found.reason.endswith(f"({path}:{line})")


def test_a_wrong_call_of_a_task_that_was_not_loaded_names_the_definition():
    def propose(s):
        return Example.of(s, "a")

    task = Task(
        name="t", version=1, question="?", paper="", propose=propose, labels=("a", "b"), policies={"o": Policy()}
    )
    (found,) = make_sets(Corpus.synthetic(20), task)
    assert found.reason.endswith(f"({__file__}:{propose.__code__.co_firstlineno})")


def test_a_module_that_cannot_be_imported(tmp_path, monkeypatch):
    (tmp_path / "broken_tasks.py").write_text("x = 1\n1 / 0\n")
    (tmp_path / "torn_tasks.py").write_text("\n\ndef (\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError, match=r"names the module 'broken_tasks', .*ZeroDivisionError.*broken_tasks\.py:2\)"):
        load_task("broken_tasks:task")
    with pytest.raises(UsageError, match=r"SyntaxError.*torn_tasks\.py:3\)"):
        load_task("torn_tasks:task")


def test_an_entry_point_that_cannot_be_loaded(tmp_path, monkeypatch):
    package = tmp_path / "plugin"
    (package / "plug-1.0.dist-info").mkdir(parents=True)
    (package / "broken_entry.py").write_text("x = 1\n1 / 0\n")
    (package / "plug-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n")
    (package / "plug-1.0.dist-info/entry_points.txt").write_text("[sentprobe.tasks]\nbroken = broken_entry:task\n")
    monkeypatch.syspath_prepend(str(package))
    message = r"The task 'broken' of plug cannot be loaded: ZeroDivisionError.*broken_entry\.py:2\)"
    with pytest.raises(UsageError, match=message):
        load_task("broken")
