"""The check of annotators: each rule finds the fault that it is for."""

from dataclasses import replace

import pytest

from sentprobe import Sentence
from sentprobe.annotate.annotator import Loaded, Model
from sentprobe.errors import SentProbeError
from sentprobe.testing import check_annotator, examine_annotator
from tests.annotate.rules import annotate
from tests.command_line import sentprobe

MODEL = Model("m", "1", "tests", "CC0", "en", True, ("upos", "heads", "deprels"), splits=True)


def loaded(fault=None, model=MODEL):
    """The annotator by rules, with a fault or none."""
    calls = []

    def call(texts, is_split):
        calls.append(texts)
        found = [some if text else [] for text, some in zip(texts, annotate(texts, is_split), strict=True)]
        match fault:
            case "fewer":
                return found[1:]
            case "none":
                return [[] for _ in texts]
            case "raises":
                raise RuntimeError("no model")
            case "loses":
                return [some[:1] for some in found]
            case "changes":
                return [[replace(s, forms=tuple(map(str.lower, s.forms))) for s in some] for some in found]
            case "varies":
                return [[replace(s, upos=("X" if len(calls) % 2 else "Y",) * len(s)) for s in some] for some in found]
            case "batch":
                return [[replace(s, upos=(f"N{len(texts)}",) * len(s)) for s in some] for some in found]
            case "splits":
                return [some * (1 + is_split) for some in found]
            case "empty":
                return found if texts and texts != [""] else [[Sentence("", "x", ("x",))]]
            case "tab":
                return [[replace(s, upos=("a\tb",) * len(s)) for s in some] for some in found]
            case "relations":
                return [[replace(s, deprels=("dobj",) * len(s)) for s in some] for some in found]
            case "cycles":
                return [
                    [replace(s, heads=tuple((i + 1) % len(s) for i in range(len(s)))) for s in some] for some in found
                ]
        return found

    return Loaded(model, call)


def test_one_without_a_fault_follows_all_rules():
    verdicts = list(examine_annotator(loaded()))
    assert len(verdicts) == 11
    assert all(v.passed and not v.warning for v in verdicts), [v for v in verdicts if not v.passed or v.warning]


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ("fewer", "it gives sentences for each text"),
        ("none", "it gives sentences for each text. got none for"),
        ("raises", "it gives sentences for each text. got RuntimeError: no model"),
        ("loses", "the sentences have the text's words, all of them"),
        ("changes", "the sentences have the text's words, all of them"),
        ("varies", "the same texts get the same sentences again"),
        ("batch", "a text's sentences do not depend on the other texts"),
        ("splits", "sentences that are split are not split again"),
        ("empty", "it takes no texts, and an empty one"),
        ("tab", "its sentences can be written as CoNLL-U"),
        ("relations", "its relations are those of Universal Dependencies, if it says so"),
    ],
)
def test_a_fault_is_found(fault, rule):
    with pytest.raises(SentProbeError) as error:
        check_annotator(loaded(fault))
    assert rule in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": ""}, "it leaves version empty"),
        ({"columns": ("upos", "heads", "deprels", "mood")}, "there is no column 'mood'"),
        ({"columns": ("upos", "heads")}, "it fills deprels, and does not say so"),
        ({"columns": ("upos", "heads", "deprels", "feats")}, "it says that it fills feats, and does not"),
    ],
)
def test_what_a_model_states_is_checked(change, message):
    with pytest.raises(SentProbeError, match=message):
        check_annotator(loaded(model=replace(MODEL, **change)))


def test_heads_that_are_not_trees_are_a_warning():
    *_, last = examine_annotator(loaded("cycles"))
    assert last.passed
    assert last.warning
    check_annotator(loaded("relations", replace(MODEL, universal=False)))


def test_the_command_checks_annotators(tmp_path):
    from pathlib import Path

    import tests.annotate.rules as module

    (tmp_path / "own.py").write_text(Path(module.__file__).read_text("utf-8"), "utf-8")
    done = sentprobe("check", "py:own.py:annotate", "--annotator", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "ok     its model has a name, a version and known columns"
    assert "it takes no texts, and an empty one" in done.stdout
