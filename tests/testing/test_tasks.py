"""The conformance check, on every built-in task and on tasks that break the rules."""

import pytest

from sentprobe.corpus import Corpus
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.tasks import TASKS, Example, Policy, Task, load_task
from sentprobe.testing import check_task, examine_task


@pytest.fixture(scope="module")
def corpus(small):
    return Corpus.of(small.loaded[:1000], name="builtin", language="en")


@pytest.mark.parametrize("name", [*TASKS, "morph:nsubj.Number", "relation:cop"])
def test_every_built_in_task_keeps_the_rules(name, builtin):
    from dataclasses import replace

    task = load_task(name)
    # these have many classes, or balance lengths as well
    enough, sizes = {"tree_depth": (8000, (100, 20, 20)), "word_content": (3000, (100, 20, 20))}.get(
        name, (1500, (60, 12, 12))
    )
    policies = {suite: replace(p, sizes=sizes) for suite, p in task.policies.items()}
    check_task(replace(task, policies=policies), Corpus.of(builtin.loaded[:enough], "builtin", "en"))


def task(propose, **more):
    facts = {
        "name": "mine",
        "version": 1,
        "question": "What?",
        "paper": "",
        "labels": ("A", "B"),
        "policies": {"mine": Policy(sizes=(100, 20, 20))},
    }
    return Task(propose=propose, **(facts | more))


def honest(s, context):
    return Example.of(s, "AB"[context.draw(2)])


def failed(t, corpus):
    return [v.rule for v in examine_task(t, corpus) if not v.passed]


def test_an_honest_task_passes(corpus):
    assert failed(task(honest), corpus) == []


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"name": "Not Good"}, "name, version, question"),
        ({"version": 0}, "name, version, question"),
        ({"question": "What"}, "name, version, question"),
        ({"labels": ("A",)}, "name, version, question"),
        ({"readings": {"x": frozenset({"colour"})}}, "columns that exist"),
        ({"policies": {"m": Policy(readings=("nope",))}}, "columns that exist"),
    ],
)
def test_facts_are_checked(wrong, rule, corpus):
    assert any(rule in r for r in failed(task(honest, **wrong), corpus))


def test_state_kept_between_sentences_is_found(corpus):
    seen = []

    def stateful(s, context):
        seen.append(s)
        return Example.of(s, "AB"[len(seen) % 2])

    assert "mine: the same sentence gets the same proposal, in any order" in failed(task(stateful), corpus)


@pytest.mark.parametrize(
    ("propose", "rule"),
    [
        (lambda s, c: 3, "each sentence gets an example or a reason"),
        (lambda s, c: Example.of(s, "C"), "each sentence gets an example or a reason"),
        (lambda s, c: Example("A", ("a b",), "a b", s.id), "each sentence gets an example or a reason"),
        (lambda s, c: Example("A", ("a",), "a", s.id, marks=(5,)), "each sentence gets an example or a reason"),
        (lambda s, c: Example("A", ("a",), "a", "elsewhere"), "each sentence gets an example or a reason"),
        (lambda s, c: "never", "some sentence gets an example"),
        (lambda s, c: Example.of(s, "A"), "a set comes out"),
        (lambda s, c: 1 / 0, "each sentence gets an example or a reason"),
    ],
)
def test_broken_proposals_are_found(propose, rule, corpus):
    assert any(rule in r for r in failed(task(propose), corpus))


def test_check_task_raises_with_the_rule(corpus):
    with pytest.raises(SentProbeError, match="mine breaks a rule"):
        check_task(task(lambda s, c: "never"), corpus)


# Where tasks come from


FILE = """
from sentprobe import Example, Task

def propose(s, context):
    return Example.of(s, "even" if len(s.tokens) % 2 == 0 else "odd")

task = Task(
    name="parity", version=1, question="Is the number of words even?", paper="", propose=propose, labels=("even", "odd")
)
"""


def test_a_task_from_a_file(tmp_path):
    path = tmp_path / "parity.py"
    path.write_text(FILE)
    assert load_task(str(path)).name == "parity"


def test_a_task_file_may_define_dataclasses_and_is_not_left_in_the_way(tmp_path):
    import sys

    path = tmp_path / "json.py"
    lines = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n\n@dataclass\nclass A:\n    x: int\n"
    )
    path.write_text(lines + FILE)
    before = sys.modules.get("json")
    assert load_task(str(path)).name == "parity"
    assert sys.modules.get("json") is before


def test_a_task_from_a_module_and_an_entry_point(tmp_path, monkeypatch):
    package = tmp_path / "plugin"
    (package / "plugin-1.0.dist-info").mkdir(parents=True)
    (package / "plugin_tasks.py").write_text(FILE)
    (package / "plugin-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (package / "plugin-1.0.dist-info/entry_points.txt").write_text("[sentprobe.tasks]\nparity = plugin_tasks:task\n")
    monkeypatch.syspath_prepend(str(package))
    assert load_task("plugin_tasks:task").name == "parity"
    assert "parity" in TASKS
    assert load_task("parity").question == "Is the number of words even?"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x = 1\n", "defines no task"),
        ("import nonesuch_module\n", "does not run: ModuleNotFoundError"),
        ("def (\n", "does not run: SyntaxError"),
    ],
)
def test_a_bad_task_file_is_named(tmp_path, content, message):
    path = tmp_path / "bad.py"
    path.write_text(content)
    with pytest.raises(UsageError, match=message) as caught:
        load_task(str(path))
    assert "bad.py" in str(caught.value)


def test_missing_files_and_modules_are_named():
    with pytest.raises(UsageError, match=r"There is no file gone\.py"):
        load_task("gone.py")
    with pytest.raises(UsageError, match="nonesuch"):
        load_task("nonesuch.module:task")
