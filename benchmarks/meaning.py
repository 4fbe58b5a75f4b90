"""All controls and measures of one encoder on nine tasks beside its plain probes ``linear``, in one run.

    python benchmarks/meaning.py [--rows 10000] [--rounds 2] [--only online,erasure]

Tasks and vectors are made up: texts of eight to sixteen words by Zipf's law, vectors of 384 dimensions that are the sum
of those of the words, by place, so that order matters, and labels drawn by logits in 64 directions of them. There are
1,000 rows each to choose and to test on, two to six classes, and in five of the tasks target forms, the rarest words.
The run is that of ``sonde.run.evaluate``; the work of its cells is timed by name, in seconds of processor time on one
thread, the least of the rounds. The goal is that the cells of controls and measures take, in all, 15 times what those
of the plain probes do, or less. What is left is to make texts, to encode by the encoders that are taken for given, to
read and to write; that of a run without controls and measures is taken off. It is told apart, for it goes through the
words of texts one by one, and a plain probe takes less time for a text than that. To encode by the encoder itself is
not counted, as it is next to nothing here and most of the time elsewhere; how many texts there are stands below.
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

from sonde.data.dataset import Dataset
from sonde.encoders import Identity
from sonde.run import Run, encoder, evaluate
from sonde.run.control import CONTROLS
from sonde.run.unit import Unit
from sonde.task import Example

SHORT = "--rows 500 --rounds 1 --only key,online"

DIMENSIONS, WORDS, DEV, TEST = 384, 5_000, 1_000, 1_000
CLASSES = (6, 5, 4, 3, 2, 2, 2, 2, 2)
KEYED = 4
"""Tasks from this place on have target forms."""
GOAL = 15.0
REST = "the rest"


def word(number: int) -> str:
    """Three letters."""
    return "".join(chr(ord("a") + number // 26**i % 26) for i in range(3))


class MadeUp:
    """Vectors of texts: those of words, whose k-th principal deviation is k ** -0.5, by place in the sentence."""

    identity = Identity.of("py", "made up", dimensions=DIMENSIONS)
    batch_size = 1024

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
    worker_for = encoder.worker_for

    def watched(unit: Unit) -> Callable[[Unit], list[Any]]:
        def work(unit: Unit) -> list[Any]:
            start = time.process_time()
            try:
                return worker_for(unit)(unit)
            finally:
                spent[unit.parts.variant or "plain"] += time.process_time() - start

        return work

    return watched


def once(made: MadeUp, sets: Sequence[Dataset], **asked: Any) -> tuple[dict[str, float], Run]:
    """Seconds by name of what a run does besides to encode, and the run, whose folder is gone."""
    spent: dict[str, float] = defaultdict(float)
    made.seconds, made.texts = 0.0, 0
    worker_for = encoder.worker_for
    encoder.worker_for = timed(spent)  # type: ignore[assignment]
    try:
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            run = evaluate({"made up": made}, sets, f"{folder}/run", baselines=(), **asked)
            whole = time.process_time() - start
    finally:
        encoder.worker_for = worker_for
    return {**spent, REST: whole - made.seconds - sum(spent.values())}, run


def least(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    """The fewest seconds of each name."""
    return {name: min(each[name] for each in rounds) for name in rounds[0]}


def main() -> None:
    """Print a line per control and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", help="controls and measures, comma-separated")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else ["all"]
    asked = {
        "controls": [name for name in names if name in (*CONTROLS, "all")],
        "measures": [name for name in names if name not in CONTROLS],
    }
    with threadpool_limits(limits=1):
        made = MadeUp()
        sets = [task(made, arguments.rows, classes, i) for i, classes in enumerate(CLASSES)]
        # what is imported and compiled the first time is not counted
        once(made, [task(made, 400, 3, 98), task(made, 400, 2, 99)], **asked)
        bare, full = [], []
        for _ in range(arguments.rounds):
            bare.append(once(made, sets)[0])
            seconds, run = once(made, sets, **asked)
            full.append(seconds)
    before, after = least(bare), least(full)
    plain = min(before["plain"], after.pop("plain"))
    after[REST] -= before[REST]
    print(f"{len(run)} plain results, {len(run.extras)} others, {len(run.failures)} failures; "
          f"plain scores {', '.join(f'{100 * r.score:.0f}' for r in run)}")  # fmt: skip
    print(f"{'plain':16} {plain:8.1f} s")
    for name, seconds in after.items():
        print(f"{name:16} {seconds:8.1f} s {seconds / plain:6.2f}x")
    whole = sum(after.values())
    cells = whole - after[REST]
    print(f"{'the cells':16} {cells:8.1f} s {cells / plain:6.2f}x (goal {GOAL:g}x)")
    print(f"{'in all':16} {whole:8.1f} s {whole / plain:6.2f}x")
    run_before = plain + before[REST]
    print(f"a run without them takes {run_before:.1f} s, with them {1 + whole / run_before:.2f} times as much")
    own = sum(len(found) for each in sets for found in each.rows.values())
    print(f"{made.texts:,} texts were encoded, {own:,} of them for the plain probes: {made.texts / own:.2f}x")


if __name__ == "__main__":
    main()
