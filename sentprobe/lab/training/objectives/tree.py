"""Parsing: the constituency tree of a sentence, as a sequence of brackets and tags, from its vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from sentprobe.corpus.brackets import parse_tree
from sentprobe.errors import CorpusError, DataError
from sentprobe.lab.training.objective import Objective
from sentprobe.lab.training.plan import Arrangement
from sentprobe.lab.training.rows import DataRow
from sentprobe.lab.training.seq2seq import DECODED, OPTIMISERS, SETTINGS, DecodedDev, Seq2Seq, prepare
from sentprobe.lab.training.targets import learn_tokens
from sentprobe.sentence import Tree


def linearise(tree: Tree) -> str:
    """The tree, depth first: ``(X`` and ``)X`` for a node without its function tags, and for each word its tag."""
    out: list[str] = []
    stack: list[Tree | str] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            out.append(item)
        elif item.nodes:
            out.append(f"({item.category}")
            stack.append(f"){item.category}")
            stack.extend(reversed(item.nodes))
        else:
            out.append(item.label)
    return " ".join(out)


def read_trees(rows: Iterable[DataRow]) -> Iterator[DataRow]:
    """Rows with the words and the linearised tree of each bracketed tree."""
    for row in rows:
        try:
            tree = parse_tree(row.values[0])
        except DataError as e:
            raise CorpusError(row.path, row.line, f"no tree ({e})", "a bracketed tree") from None
        yield row._replace(values=(" ".join(word for _, word in tree.leaves()), linearise(tree)))


def score(dev: DecodedDev) -> dict[str, float]:
    """Token accuracy and exact match, in percent.

    The accuracy is the share of the tokens of the references, their ends included, that outputs have in the same place.
    """
    right = exact = total = 0
    for output, reference in zip(dev.outputs, dev.references, strict=True):
        right += sum(a == b for a, b in zip(output, reference, strict=False))
        exact += output == reference
        total += len(reference)
    return {"token accuracy": 100 * right / total, "exact match": 100 * exact / len(dev.references)}


KIND = Seq2Seq(
    ("tree",),
    lambda row: (row.values[0], row.values[1]),
    "token accuracy",
    arrangement=lambda _: Arrangement(("text", "tree"), read_trees),
    learn=lambda texts, _: learn_tokens(texts),
    scores=score,
    facts=lambda settings: {"decoding": "greedy" if settings["beam"] == 1 else f"beam of {settings['beam']}"},
)

objective = Objective(
    "tree",
    "the constituency tree of a sentence",
    "bracketed trees, as in the Penn Treebank",
    partial(prepare, kind=KIND),
    {**SETTINGS, **DECODED, "max_target": replace(SETTINGS["max_target"], default=500)},  # some four for each word
    OPTIMISERS,
    order=32,
)
