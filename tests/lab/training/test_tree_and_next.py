"""What the objectives ``tree`` and ``next`` make of their data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sentprobe.corpus.brackets import parse_tree
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.errors import CorpusError
from sentprobe.lab.training import OBJECTIVES
from sentprobe.lab.training.objectives.next import KIND, pair_rows
from sentprobe.lab.training.objectives.tree import linearise, score
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import make_request
from sentprobe.lab.training.rows import DataRow
from sentprobe.lab.training.seq2seq import DecodedDev
from sentprobe.lab.training.targets import END, FILE, learn_tokens, read_targets
from tests.lab.networks.folders import sealed

TREES = (
    "(ROOT (S (NP-SBJ (DT The) (JJ old) (NN boat)) (VP (VBD sank) (ADVP (RB slowly))) (. .)))",
    "(ROOT (NP (NNS Boats)))",
    "(ROOT (S (VP (VB Stop)) (. !)))",
)
LINES = (
    "(ROOT (S (NP DT JJ NN )NP (VP VBD (ADVP RB )ADVP )VP . )S )ROOT",
    "(ROOT (NP NNS )NP )ROOT",
    "(ROOT (S (VP VB )VP . )S )ROOT",
)


def _plan(path: Path, objective: str, lines: list[str], **more: Any) -> TrainingPlan:
    (path / "train.tsv").write_text("".join(f"{line}\n" for line in lines))
    settings = {"hidden": 4, "decoder": 4, "target_width": 4, **more.pop("settings", {})}
    withheld = frozenset(map(near_duplicate_key, more.pop("withheld", ())))
    if not more.get("held_out"):
        more["dev"] = (str(path / "train.tsv"),)
    request = make_request(
        objective, "bilstm-max", settings=settings, train=(str(path / "train.tsv"),), width=4, **more
    )
    return TrainingPlan(request, path / "data", withheld)


def _prepare(plan: TrainingPlan) -> Any:
    return OBJECTIVES.get(plan.request.objective).prepare(plan)


def _scores(prepared: Any) -> set[str]:
    with torch.no_grad():
        return set(prepared.evaluate())


def _targets(path: Path, prepared: Any) -> list[str]:
    found = prepared.streams[0]
    return read_targets(sealed(path / "written", tokenizer=prepared.files[FILE])).decode(
        found.collate(np.arange(found.size)).target.tolist()
    )


@pytest.mark.parametrize(("tree", "line"), list(zip(TREES, LINES, strict=True)))
def test_a_tree_becomes_brackets_and_tags(tree: str, line: str) -> None:
    assert linearise(parse_tree(tree)) == line


def test_deep_trees_need_no_recursion() -> None:
    depth = 900
    line = linearise(parse_tree("(S " * depth + "(NN x)" + ")" * depth))
    assert line.split() == ["(ROOT", *["(S"] * depth, "NN", *[")S"] * depth, ")ROOT"]


def test_trees_are_targets_of_their_words(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "tree", list(TREES), max_length=6, withheld=["stop!"])
    prepared = _prepare(plan)
    assert _targets(tmp_path, prepared) == list(LINES[:2])
    assert plan.counts["train"] == {"read": 3, "used": 2, "withheld": 1, "target too long": 0}
    assert {"The", "old", "boat", "Boats", "."} <= set(prepared.inputs.vocabulary.words)
    assert "Stop" not in prepared.inputs.vocabulary.words
    assert prepared.facts["target vocabulary"] == len({*LINES[0].split(), *LINES[1].split()}) + 3
    assert prepared.selection == "token accuracy"
    assert _scores(prepared) == {"token accuracy", "exact match", "perplexity"}


def test_sentences_of_trees_that_are_too_long_are_left_out(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "tree", list(TREES), max_length=5)
    assert _targets(tmp_path, _prepare(plan)) == list(LINES[1:])
    assert plan.counts["train"]["too long"] == 1


def test_a_line_that_is_no_tree_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"train\.tsv:2.*no tree"):
        _prepare(_plan(tmp_path, "tree", [TREES[0], "(S (NN"]))


def test_token_accuracy_and_exact_match() -> None:
    """Ends count: of 4 + 3 + 2 reference tokens, 4 + 1 + 1 are right."""
    references = [[3, 4, 5, END], [3, 4, END], [3, END]]
    outputs = [[3, 4, 5, END], [3, END], [3, 3, 3, END]]
    found = score(DecodedDev(outputs, references, learn_tokens([]), {}))
    assert found == {"token accuracy": pytest.approx(100 * 6 / 9), "exact match": pytest.approx(100 / 3)}


def _rows(*texts: tuple[str, str]) -> list[DataRow]:
    return [DataRow(values, "file.txt", number) for number, values in enumerate(texts, 1)]


def test_pairs_are_neighbours_in_one_document() -> None:
    rows = _rows(("1", "a"), ("1", "b"), ("1", "c"), ("2", "d"), ("3", "e"), ("3", "f"), ("1", "g"))
    found = list(pair_rows(rows))
    assert [row.values[1:] for row in found] == [("a", "b"), ("b", "c"), ("e", "f")]
    assert [row.line for row in found] == [1, 2, 5]


def test_no_pair_crosses_a_block() -> None:
    rows = _rows(*(("1", str(n)) for n in range(10)), ("2", "x"), ("2", "y"))
    found = [(row.values[1:], row.values[0]) for row in pair_rows(rows, 4)]
    assert [pair for pair, _ in found] == [
        ("0", "1"), ("1", "2"), ("2", "3"), ("4", "5"), ("5", "6"), ("6", "7"), ("8", "9"), ("x", "y"),
    ]  # fmt: skip
    assert [len({name for pair, name in found if pair[0] in part}) for part in ("012", "456", "8", "x")] == [1] * 4
    assert len({name for _, name in found}) == 4


def test_a_gap_is_not_bridged(tmp_path: Path) -> None:
    """Sentence 3 is withheld: 2-3 and 3-4 are left out, and there is no pair 2-4."""
    texts = [f"sentence {word}" for word in "one two three four five six".split()]
    lines = [f"doc\t{text}" for text in texts]
    plan = _plan(tmp_path, "next", lines, withheld=["Sentence THREE!"], settings={"codes": 30})
    prepared = _prepare(plan)
    assert plan.counts["train"] == {"read": 5, "used": 3, "withheld": 2, "target too long": 0}
    assert _targets(tmp_path, prepared) == [texts[1], texts[4], texts[5]]
    assert (prepared.selection, prepared.maximise) == ("perplexity", False)
    assert _scores(prepared) == {"perplexity"}


def test_documents_are_held_out_as_a_whole(tmp_path: Path) -> None:
    """Their names differ in digits only, which near-duplicates may."""
    lines = [f"doc{d}\t{'abcdefgh'[d]} word {'abcdefgh'[i]}" for d in range(8) for i in range(5)]
    plan = _plan(tmp_path, "next", lines, held_out=6, settings={"codes": 0})
    prepared = _prepare(plan)
    assert plan.counts["train"]["used"] == 4 * 6
    assert plan.counts["dev"]["used"] == 4 * 2
    assert len({text[0] for text in _targets(tmp_path, prepared)}) == 6


def test_both_sentences_of_trees_are_withheld(tmp_path: Path) -> None:
    """Rows of trees have texts beside their values: those of the next sentence count as well."""
    (tmp_path / "train.trees").write_text("".join(f"{tree}\n" for tree in (*TREES, *TREES[1:2])))
    source = str(tmp_path / "train.trees")
    plan = _plan(tmp_path, "next", [], withheld=["stop!"])
    plan.request = replace(plan.request, train=(source,), dev=(source,))
    rows = [row.values[1:] for row in plan.rows("train", KIND.fields, KIND.arrangement(plan))]
    assert rows == [("The old boat sank slowly .", "Boats")]
    assert plan.counts["train"]["withheld"] == 2


def test_documents_are_cut_only_to_hold_parts_out(tmp_path: Path) -> None:
    lines = [f"{a} {b} word" for a in "abcdefghijklmnop" for b in "abcdefghijklmnop"]
    (tmp_path / "data").mkdir()
    for name, end in (("train.txt", "one"), ("dev.txt", "two")):
        (tmp_path / "data" / name).write_text("".join(f"{line} {end}\n" for line in lines))
    plan = _plan(tmp_path, "next", lines)
    plan.request = replace(plan.request, train=(str(tmp_path / "data"),), dev=())  # dev is found in the folder
    assert len(list(plan.rows("train", KIND.fields, KIND.arrangement(plan)))) == 255
