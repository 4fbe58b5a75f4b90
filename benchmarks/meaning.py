"""What controls and measures cost, in plain probes: a run with all of them beside the same run without.

    python benchmarks/meaning.py [--rows 2000 10000] [--classes 2 6 20] [--dimensions 384] [--rounds 1] [--only NAMES]
    python benchmarks/meaning.py --sets PATH… [--encoder static:]

Without ``--sets``, tasks and vectors are made up: texts of eight to sixteen words by Zipf's law, vectors that are the
sum of those of the words, by place, so that order matters, and labels drawn by logits in 64 directions of them. A run
has a set for each number of classes, with 1,000 rows each for dev and test; sets of two classes have target forms.

The run is that of ``sentprobe.run.evaluate``, with the probe ``linear`` and without baselines. A plain cell is the fit
over the whole grid, the retrained probes of its interval, and its scores. Seconds are processor time on one thread; the
two runs take turns, and the least of the rounds counts. The table has a line per control and measure, in plain cells of
the same set. Below it is what both runs take in all, with what is not in any cell: making texts, reading and writing.
The ratio of the two is without the time for encoding, which a store of vectors saves; the last line has it with that
time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from sentprobe.data.dataset import Dataset
from sentprobe.data.sources import Source, find_sets
from sentprobe.encoders import Identity
from sentprobe.run import Run, encoder, evaluate, pool
from sentprobe.run.control import CONTROLS
from sentprobe.run.job import FitJob
from sentprobe.tasks.example import Example

SHORT = "--rows 1000 --classes 2 6 --dimensions 128"

WORDS, DEV, TEST = 5_000, 1_000, 1_000
PLAIN = "plain"


def word(number: int) -> str:
    """Three letters."""
    return "".join(chr(ord("a") + number // 26**i % 26) for i in range(3))


class MadeUp:
    """Vectors of texts: those of words, whose k-th principal deviation is k ** -0.5, by place in the sentence."""

    batch_size = 1024

    def __init__(self, dimensions: int) -> None:
        self.identity = Identity.of("py", "made up", dimensions=dimensions)
        rng = np.random.default_rng(0)
        turn = np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0]
        turn *= np.arange(1, dimensions + 1)[:, None] ** -0.5
        self.table = (rng.normal(size=(WORDS, dimensions)) @ turn).astype(np.float32)
        self.places = rng.uniform(0.5, 1.5, size=64).astype(np.float32)
        self.number = {word(i): i for i in range(WORDS)}

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors (n, dimensions)."""
        made = np.empty((len(texts), self.table.shape[1]), np.float32)
        for i, text in enumerate(texts):
            words = [self.number[each] for each in text.split() if each in self.number]
            made[i] = self.places[: len(words)] @ self.table[words]
        return made


def task(made: MadeUp, rows: int, classes: int, number: int) -> Dataset:
    """One set, whose texts no other has."""
    rng = np.random.default_rng(number + 1)
    shares = 1 / np.arange(10, WORDS + 10)
    words = rng.choice(WORDS, size=(rows + DEV + TEST, 16), p=shares / shares.sum())
    drawn = [row[: rng.integers(8, 17)] for row in words.tolist()]
    texts = [" ".join([*map(word, row), f"{number}.{i}"]) for i, row in enumerate(drawn)]
    vectors = made(texts)
    logits = (vectors - vectors.mean(axis=0)) @ rng.normal(size=(vectors.shape[1], 64)) @ rng.normal(size=(64, classes))
    labels = (2 * logits / logits.std() + rng.gumbel(size=logits.shape)).argmax(axis=1)
    examples = [
        Example(f"{label:02}", tuple(text.split()), text, key=word(max(row)) if classes == 2 else None)
        for text, label, row in zip(texts, labels.tolist(), drawn, strict=True)
    ]
    parts = {"tr": examples[:rows], "va": examples[rows : rows + DEV], "te": examples[rows + DEV :]}
    return Dataset(
        f"{classes} classes", f"task{number}", 1, None, tuple(sorted({e.label for e in examples})), parts, {}
    )


class Spent(NamedTuple):
    """Processor seconds of one run."""

    cells: dict[tuple[str, str], float]
    """By set and by control or measure."""
    encoding: float
    whole: float


def once(encoders: Any, sets: Sequence[Dataset | Source], **options: Any) -> tuple[Spent, Run]:
    """The seconds of a run, and the run, whose folder is gone."""
    cells: dict[tuple[str, str], float] = defaultdict(float)
    encoding = [0.0]
    compute_cells, embed = pool.compute_cells, encoder.embed

    def timed_cells(job: FitJob) -> list[Any]:
        start = time.process_time()
        try:
            return compute_cells(job)
        finally:
            cells[job.splits.name, job.splits.variant or PLAIN] += time.process_time() - start

    def timed_embed(*arguments: Any, **named: Any) -> Any:
        start = time.process_time()
        try:
            return embed(*arguments, **named)
        finally:
            encoding[0] += time.process_time() - start

    pool.compute_cells, encoder.embed = timed_cells, timed_embed
    try:
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            run = evaluate(encoders, sets, f"{folder}/run", baselines=(), **options)
            whole = time.process_time() - start
    finally:
        pool.compute_cells, encoder.embed = compute_cells, embed
    return Spent(dict(cells), encoding[0], whole), run


def least(rounds: Sequence[Spent]) -> Spent:
    """The fewest seconds of each."""
    cells = {name: min(each.cells[name] for each in rounds) for name in rounds[0].cells}
    return Spent(cells, min(each.encoding for each in rounds), min(each.whole for each in rounds))


def table(title: str, encoders: Any, sets: Sequence[Dataset | Source], rounds: int, options: dict[str, Any]) -> float:
    """Print the costs of one run; return the ratio."""
    bare, full = [], []
    for _ in range(rounds):
        bare.append(once(encoders, sets, resample=options["resample"])[0])
        spent, run = once(encoders, sets, **options)
        full.append(spent)
    without, all_of = least(bare), least(full)
    names = list(dict.fromkeys(name for name, _ in without.cells))
    plain = {name: min(each.cells[name, PLAIN] for each in (without, all_of)) for name in names}
    scores = ", ".join(f"{100 * result.score:.0f}" for result in run)
    print(f"{title}: {len(run)} plain results ({scores}), {len(run.extras)} others, {len(run.failures)} failures")
    width = max(9, *(len(name.rpartition("/")[2]) + 1 for name in names))
    print(" " * 16 + "".join(f"{name.rpartition('/')[2]:>{width}}" for name in (*names, "all")))
    print(f"{'plain, seconds':16}" + "".join(f"{s:{width}.2f}" for s in (*plain.values(), sum(plain.values()))))
    total = defaultdict(float)
    for variant in dict.fromkeys(variant for _, variant in all_of.cells if variant != PLAIN):
        line = []
        for name in names:
            seconds = all_of.cells.get((name, variant), 0.0)
            total[name] += seconds
            line.append(seconds / plain[name])
        whole = sum(all_of.cells.get((name, variant), 0.0) for name in names)
        print(f"{variant:16}" + "".join(f"{r:{width}.2f}" for r in (*line, whole / sum(plain.values()))))
    line = [total[name] / plain[name] for name in names]
    print(
        f"{'all of them':16}" + "".join(f"{r:{width}.2f}" for r in (*line, sum(total.values()) / sum(plain.values())))
    )
    for what, spent in (("without", without), ("with", all_of)):
        cells = sum(spent.cells.values())
        rest = spent.whole - spent.encoding - cells
        print(f"a run {what} them: cells {cells:.2f} s, encoding {spent.encoding:.2f} s, the rest {rest:.2f} s")
    ratio = (all_of.whole - all_of.encoding) / (without.whole - without.encoding)
    print(f"ratio {ratio:.2f}, with encoding {all_of.whole / without.whole:.2f}\n", flush=True)
    return ratio


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 10_000])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 6, 20])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[384])
    parser.add_argument("--resample", type=int, help="probes to retrain in a plain cell; by default as in a run")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", help="controls and measures, comma-separated")
    parser.add_argument("--sets", type=Path, nargs="+")
    parser.add_argument("--encoder", default="static:")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else ["all"]
    options = {
        "resample": arguments.resample,
        "controls": [name for name in names if name in (*CONTROLS, "all")],
        "measures": [name for name in names if name not in CONTROLS],
    }
    with threadpool_limits(limits=1):
        warm = MadeUp(16)  # what is imported and compiled the first time is not counted
        once({"made up": warm}, [task(warm, 400, 3, 98), task(warm, 400, 2, 99)], **options)
        if arguments.sets:
            sets = find_sets(arguments.sets)
            print(f"= meaning/sets {table(arguments.encoder, arguments.encoder, sets, arguments.rounds, options):.2f}")
            return
        for d in arguments.dimensions:
            made = MadeUp(d)
            for rows in arguments.rows:
                made_up = [task(made, rows, classes, i) for i, classes in enumerate(arguments.classes)]
                ratio = table(f"{rows:,} x {d}", {"made up": made}, made_up, arguments.rounds, options)
                print(f"= meaning/{rows}x{d} {ratio:.2f}\n")


if __name__ == "__main__":
    main()
