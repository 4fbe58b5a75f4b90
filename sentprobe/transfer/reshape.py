"""Converts published files to SentEval's format. Sentences are left as they are: nothing is tokenised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from sentprobe.core.reader import read_tsv, wrong_width
from sentprobe.data.layouts.xnli import NO_GOLD
from sentprobe.errors import CorpusError

_SICK = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")


def reshape(step: str, folder: Path) -> None:
    """Apply the step of this name to the files in a folder."""
    RESHAPE_STEPS[step](folder)


def _trec(folder: Path) -> None:
    """Remove quotation marks and backticks, as SentEval does."""
    for path in folder.glob("*.label"):
        path.write_bytes(path.read_bytes().replace(b"`", b"").replace(b"'", b""))


def _snli(folder: Path) -> None:
    """Three files for each split, without the pairs that have no gold label."""
    for part in ("train", "dev", "test"):
        raw = folder / f"snli_1.0_{part}.txt"
        columns = [*zip(*_columns(raw, ("sentence1", "sentence2", "gold_label")), strict=True)] or [(), (), ()]
        gold = [label != NO_GOLD for label in columns[2]]
        for name, cells in zip(("s1", "s2", "labels"), columns, strict=True):
            kept = (cell for cell, has in zip(cells, gold, strict=True) if has)
            (folder / f"{name}.{part}").write_text("".join(f"{cell}\n" for cell in kept), "utf-8", newline="\n")
        raw.unlink()


def _sick(folder: Path) -> None:
    """The three files of SemEval-2014, from the single file with everything."""
    raw = folder / "SICK.txt"
    columns = (*_SICK[:4], "entailment_label", "SemEval_set")
    rows = list(_columns(raw, columns))
    for part, name in (("TRAIN", "train"), ("TRIAL", "trial"), ("TEST", "test_annotated")):
        lines = ["\t".join(_SICK), *("\t".join(row[:5]) for row in rows if row[5] == part)]
        (folder / f"SICK_{name}.txt").write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
    raw.unlink()


def _columns(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """These columns of a table with a header; lines may be longer or shorter than the header."""
    rows = read_tsv(str(path))
    names = [name.strip() for name in next(rows, (1, [""]))[1]]
    if missing := [name for name in columns if name not in names]:
        raise CorpusError(str(path), 1, f"no column {missing[0]!r}", "the columns of the release")
    places = [names.index(name) for name in columns]
    for number, cells in rows:
        if len(cells) <= max(places):
            raise wrong_width(str(path), number, cells, f"at least {max(places) + 1}")
        yield tuple(cells[place].strip() for place in places)


RESHAPE_STEPS: dict[str, Callable[[Path], None]] = {"trec": _trec, "snli": _snli, "sick": _sick}
"""The steps by their names in remote_sets.toml."""
