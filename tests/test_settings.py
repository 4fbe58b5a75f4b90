"""A setting that has no effect is refused, and no manifest says that it was applied."""

import sys
from dataclasses import fields, replace

import pytest

from sentprobe.cli import main
from sentprobe.corpus import Corpus
from sentprobe.errors import UsageError
from sentprobe.make import SkippedTask, choose_reading, count, make_sets
from sentprobe.make.request import select_tasks
from sentprobe.probes import parse
from sentprobe.report.figure import write
from sentprobe.tasks import SUITES, TASK_SPECIFIC_FIELDS, TASKS, Context, Policy, effective_fields, load_task

MEASURED = frozenset(f.name for f in fields(Policy))


@pytest.mark.parametrize(
    ("suites", "tasks", "setting", "message"),
    [
        (
            "universal2019",
            "tree_depth",
            "punctuation=final",
            r"punctuation is used by top_constituents \(constituency reading\)",
        ),
        (
            "universal2019",
            (),
            "punctuation=final",
            r"no effect on sentence_length, .*top_constituents \(constituency reading\)",
        ),
        ("conneau2018", "passive", "tree_depth.depths=[2,6]", "not in conneau2018"),
        ((), "passive", "tolerance=0.5", "tolerance is used by odd_man_out"),
        ((), "tree_depth", 'tree_depth.upos=["VERB"]', "upos is used by past_present"),
        ((), "passive", "classes=3", "needs a task whose labels depend on the corpus"),
        ((), "passive", "decorrelate=gaussian", 'needs balance=equal and strata="exact"'),
        ("adi2017", (), "remainder=drop", "needs balance=equal"),
        ("universal2019", "passive", "band_tokens=1000", "needs a band"),
        ("conneau2018", "tree_depth", "cap=0.5", "cap is used by obj_number, odd_man_out, passive"),
    ],
)
def test_a_setting_without_effect_is_refused(suites, tasks, setting, message):
    with pytest.raises(UsageError, match=message):
        select_tasks(suites, tasks, settings=setting)


def test_a_setting_for_all_is_for_those_that_know_it():
    found = {
        task.name: policy for _, task, policy in select_tasks("conneau2018", settings=["tolerance=0.5", "min_class=9"])
    }
    assert found["odd_man_out"].tolerance == 0.5
    assert {policy.tolerance for name, policy in found.items() if name != "odd_man_out"} == {1.0}
    assert {policy.min_class for policy in found.values()} == {9}


def test_a_reading_that_does_not_know_a_setting_makes_no_set(builtin):
    # the built-in corpus has trees and heads; without the trees, the dependency reading is left
    heads = Corpus.of([replace(s, tree=None) for s in builtin][:3000], name="heads", language="en")
    (asked,) = select_tasks("conneau2018", "top_constituents", settings="punctuation=final", sizes="200/50/50")
    (found,) = make_sets(heads, asked)
    assert isinstance(found, SkippedTask)
    assert found.kind == "setting"
    assert found.reason == (
        "the setting punctuation has no effect on the dependency reading, the one used on this corpus; "
        "it has one on constituency. Leave it out"
    )
    (plain,) = select_tasks("conneau2018", "top_constituents", sizes="200/50/50", settings="min_classes=2")
    (made,) = make_sets(heads, plain)
    assert made.manifest["reading"]["name"] == "dependency"
    assert "punctuation" not in made.manifest["policy"]


def test_depths_can_be_fixed_on_both_readings(builtin):
    for suite, reading in (("conneau2018", "constituency"), ("universal2019", "dependency")):
        depths = "[6,8]" if reading == "constituency" else "[3,5]"
        (asked,) = select_tasks(suite, "tree_depth", settings=f"depths={depths}", sizes="180/45/45")
        (made,) = make_sets(builtin, asked)
        assert made.manifest["reading"]["name"] == reading
        assert made.labels == (("06", "07", "08") if reading == "constituency" else ("03", "04", "05"))
        assert made.manifest["policy"]["depths"] == ((6, 8) if reading == "constituency" else (3, 5))
    (asked,) = select_tasks("universal2019", "tree_depth", settings="depths=[3,30]", sizes="180/45/45")
    (found,) = make_sets(builtin, asked)
    assert isinstance(found, SkippedTask)
    assert "too few sentences of some depths" in found.reason
    assert "30 0" in found.reason
    with pytest.raises(UsageError, match="two depths or more"):
        select_tasks("universal2019", "tree_depth", settings="depths=[4,4]")


def test_python_is_told_as_well(small):
    odd = replace(load_task("passive").policies["universal2019"], ranks=(1, 5), sizes=(60, 20, 20))
    (found,) = make_sets(small, ("mine", load_task("passive"), odd))
    assert (found.kind, found.reason) == ("setting", "the setting ranks has no effect on passive. Leave it out")


class Recording:
    """A policy that remembers which of its fields were read."""

    def __init__(self, policy, read):
        self._policy, self._read = policy, read

    def __getattr__(self, name):
        if name in MEASURED:
            self._read.add(name)
        return getattr(self._policy, name)


@pytest.mark.parametrize("name", sorted({name for suite in SUITES.values() for name in suite}))
def test_a_task_declares_what_it_reads(name, builtin):
    task = load_task(name)
    assert task.settings is not None
    sentences = list(builtin)[:400]
    for policy in task.policies.values():
        counts, _ = count(Corpus.of(sentences), [task])
        for reading in task.readings:
            if not isinstance(choose_reading(task, replace(policy, readings=(reading,)), counts), str):
                continue
            read = set()
            own = Recording(policy, read)
            context = Context(own, reading, task.plan(counts, own, reading) if task.plan else None)
            for s in sentences:
                task.propose(s, context)
            declared = effective_fields(task, replace(policy, band=policy.band or (1, 2), balance="equal"), {reading})
            assert read & set(TASK_SPECIFIC_FIELDS) <= declared, (reading, read)
            # and nothing is declared that is not read: what is left is used when the rows are chosen
            assert declared & set(TASK_SPECIFIC_FIELDS) <= read | {"disjoint", "cap", "band_tokens"}, reading


def test_every_built_in_task_is_in_a_suite():
    assert set(TASKS) >= {name for suite in SUITES.values() for name in suite}


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        ("linear?dropout=0.2", "convex probe is brought to its optimum"),
        ("linear?optimiser=sgd", "convex probe"),
        ("senteval?dropout=0.2", "no hidden layer"),
        ("senteval?activation=relu", "no hidden layer"),
        ("senteval?hidden=50&drop=after", "no dropout"),
    ],
)
def test_an_option_of_a_probe_without_effect_is_refused(probe, message):
    with pytest.raises(UsageError, match=message):
        parse(probe)


def test_options_of_a_probe_with_effect_are_taken():
    for probe in (
        "linear?l2=1",
        "linear?watch=loss",
        "senteval?drop=after&dropout=0.1&hidden=50",
        "mlp?activation=relu",
    ):
        assert parse(probe)[0] == probe


@pytest.mark.parametrize(
    "words",
    [
        "make --builtin 9 --name x", "make --builtin 9 --tokenise space", "make --builtin 9 --trees x",
        "make --builtin 9 --format conllu", "run own.txt --train x", "run own.txt --no-store --store-limit 1",
        "encode own.txt --no-store --store-limit 1", "run own.txt --suite nonsense",
        "show run --signatures --format csv", "show run --format csv --metric macro_f1",
    ],
)  # fmt: skip
def test_an_option_of_a_command_without_effect_is_refused(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.txt").write_text("tr\ta\tone two\nva\tb\ttwo\nte\ta\tthree\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    monkeypatch.setattr(sys, "argv", ["sentprobe", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert any(word in said for word in ("no effect", "leave", "No set belongs to the suite nonsense")), said


@pytest.mark.parametrize(
    ("kind", "options"),
    [("intervals", {"mode": "above"}), ("heatmap", {"lines": "set"}), ("layers", {"relative_to": "en"}),
     ("heatmap", {"relative_to": "en"})],
)  # fmt: skip
def test_an_option_of_a_figure_without_effect_is_refused(kind, options, tmp_path):
    with pytest.raises(UsageError, match="has no effect"):
        write({}, kind, tmp_path / "x.csv", **options)
