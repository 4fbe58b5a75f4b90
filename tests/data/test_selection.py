"""Tasks and languages select sets, in every verb alike; what a manifest says is not overridden."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sentprobe.data.sources import find_sets
from sentprobe.errors import UsageError
from sentprobe.run import Run
from tests.command_line import sentprobe
from tests.run.sets import dataset

MANIFEST = {
    "question": "?", "corpus": {"name": "own", "synthetic": False}, "reading": {"name": "text"}, "sizes": {},
    "majority": {}, "label_length_correlation": {}, "audit": [], "version": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """Two tasks in two languages, made, and a file of somebody else."""
    folder = tmp_path_factory.mktemp("sets")
    for language in ("en", "fr"):
        for task in ("past_present", "bigram_shift"):
            name = f"conneau2018/{task}"
            facts = {**MANIFEST, "name": name, "task": task, "language": language, "labels": ["c0", "c1"]}
            replace(dataset(name), language=language, manifest=facts).save(folder / language / task)
    lines = [f"{split}\t{row.label}\t{' '.join(row.tokens)}\n" for split, row in dataset()]
    (folder / "mine.txt").write_text("".join(lines))
    return folder


def found(*given, **more):
    return [(source.task, source.language) for source in find_sets([str(path) for path in given], **more)]


def test_tasks_and_languages_select(sets):
    assert found(sets, task="past_present") == [("past_present", "en"), ("past_present", "fr")]
    assert found(sets, language=["fr"]) == [("bigram_shift", "fr"), ("past_present", "fr")]
    assert found(sets, task=["mine", "bigram_shift"], language="en") == [("bigram_shift", "en")]
    assert len(found(sets)) == 5


def test_what_selects_nothing_is_refused_with_what_is_there(sets):
    with pytest.raises(UsageError, match=r"--task past_presant: .*Did you mean past_present\?.*--as-task past_presant"):
        find_sets(sets, task="past_presant")
    with pytest.raises(UsageError, match=r"--language pl: .*they are in: en, fr, unknown.*--as-language pl"):
        find_sets(sets, language="pl")


def test_a_task_may_be_a_file(sets, tmp_path):
    from sentprobe.tasks.definitions import bigram_shift

    text = Path(bigram_shift.__file__).read_text("utf-8")
    (tmp_path / "own.py").write_text(text, "utf-8")
    assert found(sets, task=str(tmp_path / "own.py"), language="fr") == [("bigram_shift", "fr")]


def test_files_without_a_manifest_are_named(sets):
    assert found(sets / "mine.txt", as_task="past_present", as_language="pl") == [("past_present", "pl")]
    assert found(sets / "mine.txt", as_task="tense", task="tense") == [("tense", None)]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"as_task": "bigram_shift"}, "The manifest of .*past_present says that its task is past_present"),
        ({"as_language": "fr"}, "The manifest of .*past_present says that its language is en"),
    ],
)
def test_a_manifest_is_not_overridden(sets, more, says):
    with pytest.raises(UsageError, match=says):
        find_sets(sets / "en/past_present", **more)
    same = {"as_task": "past_present", "as_language": "en"}
    assert found(sets / "en/past_present", **same) == [("past_present", "en")]  # which is what it says


def test_every_verb_selects_alike(sets, tmp_path):
    words = ("-t", "past_present", "--language", "fr")
    done = sentprobe(
        "run", sets, *words, "-e", "baseline:length", "-o", tmp_path / "run", "--no-store", "--resample", "0"
    )
    assert done.returncode == 0, done.stderr
    assert {(d["task"], d["language"]) for d in Run.load(tmp_path / "run").info["datasets"]} == {("past_present", "fr")}
    audits = json.loads(sentprobe("audit", sets, *words, "--json", "-j", "1").stdout)["sets"]
    assert [(a["task"], a["language"]) for a in audits] == [("past_present", "fr")]
    assert "bigram" not in sentprobe("show", sets, *words).stdout
    assert sentprobe("show", sets, *words).stdout.count("conneau2018/past_present") == 1
    assert "past_present" in sentprobe("show", tmp_path / "run", *words).stdout
    for verb, where in (("run", sets), ("audit", sets), ("show", sets), ("show", tmp_path / "run")):
        refused = sentprobe(verb, where, "--language", "xx")
        assert refused.returncode == 1
        assert "--language xx: no set" in refused.stderr
    done = sentprobe(
        "audit", sets / "mine.txt", "--as-language", "en", "--as-task", "bigram_shift", "--json", "-j", "1"
    )
    (audit,) = json.loads(done.stdout)["sets"]
    assert (audit["task"], audit["language"]) == ("bigram_shift", "en")
    assert "is not overridden" in sentprobe("audit", sets / "en", "--as-task", "bigram_shift").stderr
