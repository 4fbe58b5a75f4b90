"""All controls and measures of one encoder on nine tasks beside its plain probes ``linear``, in one run.

    python benchmarks/meaning.py [--rows 10000] [--only online,erasure]

Tasks and vectors are made up: texts of eight to sixteen words by Zipf's law, vectors of 384 dimensions that are the sum
of those of the words, by place, so that order matters, and labels drawn by logits in 64 directions of them. There are
1,000 rows each to choose and to test on, two to six classes, and in five of the tasks target forms, the rarest words.
The run is that of ``sonde.run.evaluate``; the work of its cells is timed by name, in seconds of processor time on one
thread. What is left is to make sets, to encode by the encoders that are taken for given, to read and to write; that of
a run without controls and measures is taken off. To encode by the encoder itself is not counted, as it is next to
nothing here and most of the time elsewhere; how many texts there are stands below. The goal is that controls and
measures take, in all, 15 times what the plain probes do, or less.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from sonde.dataset import Dataset
from sonde.encoders import Identity
from sonde.run import Run, encoder, evaluate
from sonde.run.cells import Unit
from sonde.run.controls import CONTROLS
from sonde.task import Example

DIMENSIONS, WORDS, DEV, TEST = 384, 5_000, 1_000, 1_000
CLASSES = (6, 5, 4, 3, 2, 2, 2, 2, 2)
KEYED = 4
"""Tasks from this place on have target forms."""
GOAL = 15.0


def word(number: int) -> str:
    """Three letters."""
    return "".join(chr(ord("a") + number // 26**i % 26) for i in range(3))


class MadeUp:
    """Vectors of texts: those of words, whose k-th principal deviation is k ** -0.5, by place in the sentence."""

    identity = Identity.of("py", "made up", dimensions=DIMENSIONS)

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        turn = np.linalg.qr(rng.normal(size=(DIMENSIONS, DIMENSIONS)))[0]
        turn *= np.arange(1, DIMENSIONS + 1)[:, None] ** -0.5
        self.table = (rng.normal(size=(WORDS, DIMENSIONS)) @ turn).astype(np.float32)
        self.places = rng.uniform(0.5, 1.5, size=64).astype(np.float32)
        self.number = {word(i): i for i in range(WORDS)}
        self.seconds, self.texts = 0.0, 0

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors (n, DIMENSIONS)."""
        start = time.process_time()
        made = np.empty((len(texts), DIMENSIONS), np.float32)
        for i, text in enumerate(texts):
            words = [self.number[each] for each in text.split() if each in self.number]
            made[i] = self.places[: len(words)] @ self.table[words]
        self.seconds += time.process_time() - start
        self.texts += len(texts)
        return made


def task(made: MadeUp, rows: int, classes: int, number: int) -> Dataset:
    """One set, whose texts no other has."""
    rng = np.random.default_rng(number + 1)
    shares = 1 / np.arange(10, WORDS + 10)
    words = rng.choice(WORDS, size=(rows + DEV + TEST, 16), p=shares / shares.sum())
    drawn = [row[: rng.integers(8, 17)] for row in words.tolist()]
    texts = [" ".join([*map(word, row), f"{number}.{i}"]) for i, row in enumerate(drawn)]
    vectors = made(texts)
    logits = (vectors - vectors.mean(axis=0)) @ rng.normal(size=(DIMENSIONS, 64)) @ rng.normal(size=(64, classes))
    labels = (2 * logits / logits.std() + rng.gumbel(size=logits.shape)).argmax(axis=1)
    examples = [
        Example(str(label), tuple(text.split()), text, key=word(max(row)) if number >= KEYED else None)
        for text, label, row in zip(texts, labels.tolist(), drawn, strict=True)
    ]
    parts = {"tr": examples[:rows], "va": examples[rows : rows + DEV], "te": examples[rows + DEV :]}
    return Dataset(f"made/task{number}", f"task{number}", 1, None, tuple(map(str, range(classes))), parts, {})


def timed(spent: dict[str, float]) -> Callable[[Unit], Callable[[Unit], list[Any]]]:
    """What the loop asks for the work of its cells, with a watch on it."""
    work_of = encoder.work_of

    def watched(unit: Unit) -> Callable[[Unit], list[Any]]:
        def work(unit: Unit) -> list[Any]:
            start = time.process_time()
            try:
                return work_of(unit)(unit)
            finally:
                spent[unit.parts.variant or "plain"] += time.process_time() - start

        return work

    return watched


def main() -> None:
    """Print a line per control and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--only", help="controls and measures, set off by commas")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else None
    controls = ["all"] if names is None else [name for name in names if name in CONTROLS]
    measures = ["all"] if names is None else [name for name in names if name not in controls]
    spent: dict[str, float] = defaultdict(float)
    encoder.work_of = timed(spent)  # type: ignore[assignment]
    with threadpool_limits(limits=1), tempfile.TemporaryDirectory() as folder:
        made = MadeUp()
        sets = [task(made, arguments.rows, classes, i) for i, classes in enumerate(CLASSES)]
        # what is imported and compiled the first time is not counted
        small = [task(made, 400, 3, 98), task(made, 400, 2, 99)]
        evaluate({"made up": made}, small, f"{folder}/small", controls=controls, measures=measures, beside=())

        def rest(name: str, **asked: Any) -> tuple[float, Run]:
            """What a run takes besides the work of its cells and the encoder, in seconds; and the run."""
            spent.clear()
            made.seconds, made.texts = 0.0, 0
            start = time.process_time()
            run = evaluate({"made up": made}, sets, f"{folder}/{name}", beside=(), **asked)
            return time.process_time() - start - made.seconds - sum(spent.values()), run

        before, _ = rest("plain")
        after, run = rest("all", controls=controls, measures=measures)
    plain, work = spent.pop("plain"), sum(spent.values())
    print(f"{len(run)} plain results, {len(run.extras)} others, {len(run.failures)} failures; "
          f"plain scores {', '.join(f'{100 * r.score:.0f}' for r in run)}")  # fmt: skip
    own = sum(len(found) for each in sets for found in each.rows.values())
    print(f"{'plain':16} {plain:8.1f} s")
    for name, seconds in spent.items():
        print(f"{name:16} {seconds:8.1f} s {seconds / plain:6.2f}x")
    more = after - before
    print(f"{'their work':16} {work:8.1f} s {work / plain:6.2f}x")
    print(f"{'the rest':16} {more:8.1f} s {more / plain:6.2f}x")
    print(f"{'in all':16} {work + more:8.1f} s {(work + more) / plain:6.2f}x (goal {GOAL:g}x)")
    whole = (after + work + plain) / (before + plain)
    print(f"a run without them {before + plain:.1f} s, with them {after + work + plain:.1f} s: {whole:.2f}x")
    print(f"{made.texts:,} texts were encoded, {own:,} of them for the plain probes: {made.texts / own:.2f}x")


if __name__ == "__main__":
    main()
