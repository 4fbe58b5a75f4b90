"""What erasing properties costs beside the plain probe ``linear``, in one run; and a mix of layers beside all layers.

    python benchmarks/erase.py [--rows 10000] [--draws 3] [--words] [--inlp]
    python benchmarks/erase.py mix [--rows 10000] [--layers 13]

Vectors are made up: correlated, as those of encoders are, of 384 dimensions, and nine tasks have rows of their own with
labels in some of the directions; ``--words`` makes one of them a task of 1000 classes. For each task, the plain probe
over its whole grid comes first, with its scores of 10,000 test rows. Then the whole row of the erasure map: moments and
LEACE of the task; and, for the erasers of all nine tasks, for ``--draws`` random erasers of each rank, and for the
task's own eraser with the class told again, the fit at the plain probe's penalty from its weights on, and the scores of
the test rows. Seconds are processor time on one thread; the two take turns, and the lowest of three rounds counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from sentprobe.probes import Features, Fit, convex, mix, named
from sentprobe.probes.erase import Eraser, VectorMoments, leace, random_directions
from sentprobe.probes.erased_probes import measure, measure_reinjected
from sentprobe.probes.nullspace import inlp
from sentprobe.probes.standardised_rows import StandardisedRows

SHORT = "--rows 1000 --draws 1"

DIMENSIONS, TEST, DEV = 384, 10_000, 2_000
CLASSES = (6, 20, 7, 2, 2, 2, 2, 2, 2)
"""Of nine tasks as in Conneau et al. (2018): sentence length, top constituents, tree depth, and six with two."""
PROBE = named("linear")


@dataclass(frozen=True)
class Task:
    """Vectors and labels."""

    classes: int
    train: Features
    labels: np.ndarray
    dev: Features
    dev_labels: np.ndarray
    test: Features
    test_labels: np.ndarray


def made(n: int, classes: int, seed: int) -> Task:
    """Vectors whose k-th principal deviation is k ** -0.5, and labels drawn by logits in 64 of these directions."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(DIMENSIONS, DIMENSIONS)))[0]
    turn *= np.arange(1, DIMENSIONS + 1)[:, None] ** -0.5
    hidden = rng.normal(size=(n + DEV + TEST, DIMENSIONS))
    logits = hidden[:, rng.permutation(128)[:64]] @ rng.normal(size=(64, classes)) / 4
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    x = (hidden @ turn + 0.3).astype(np.float32)
    parts = [slice(n), slice(n, n + DEV), slice(n + DEV, None)]
    return Task(classes, *(each for part in parts for each in (Features.of(x[part].copy()), y[part])))


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Processor seconds, and what was found."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def plain(task: Task) -> Fit:
    """The probe as a run fits it, and its scores."""
    found = convex.fit(PROBE, task.train, task.labels, task.dev, task.dev_labels, task.classes, seeds=(1,))[0]
    found.model.scores(task.test)
    return found


def row(task: Task, own: int, erasers: list[Eraser], found: Fit, draws: int) -> list[float]:
    """All that one task adds to the map: accuracies under each eraser, under the random ones, and told again."""
    moments = VectorMoments.of(task.train)
    erasers = [*erasers[:own], leace(task.train, task.labels, task.classes, moments), *erasers[own + 1 :]]
    ranks = sorted({eraser.rank for eraser in erasers})
    control = [random_directions(DIMENSIONS, rank, seed, moments) for rank in ranks for seed in range(draws)]
    rows, l2, start = (
        StandardisedRows.of(task.train, task.labels, task.classes, moments),
        found.chosen["l2"],
        found.model,
    )
    scores = list(measure(rows, [*erasers, *control], task.test, l2, start))
    scores.append(measure_reinjected(rows, erasers[own], task.test, task.test_labels, l2))
    return [float((logs.argmax(axis=1) == task.test_labels).mean()) for logs in scores]


def erase(rows: int, draws: int, words: bool, also_inlp: bool) -> None:
    """Print one line per task."""
    classes = (6, 1000, 20, 7, 2, 2, 2, 2, 2) if words else CLASSES
    tasks = [made(rows, k, seed) for seed, k in enumerate(classes, 1)]
    erasers = [leace(task.train, task.labels, task.classes) for task in tasks]
    print(f"{'':24} {'linear':>8} {'erasure':>8} {'ratio':>6}  plain, own erased, others erased, random, told again")
    totals = np.zeros(2)
    for i, task in enumerate(tasks):
        seconds: list[list[float]] = [[], []]
        for _ in range(3 if task.classes < 100 else 1):
            spent, found = timed(lambda t=task: plain(t))
            seconds[0].append(spent)
            spent, accuracies = timed(lambda t=task, i=i, f=found: row(t, i, erasers, f, draws))
            seconds[1].append(spent)
        a, b = (min(each) for each in seconds)
        totals += a, b
        before = (found.model.scores(task.test).argmax(axis=1) == task.test_labels).mean()
        others = np.mean([*accuracies[:i], *accuracies[i + 1 : len(tasks)]])
        shown = (before, accuracies[i], others, np.mean(accuracies[len(tasks) : -1]), accuracies[-1])
        name = f"{rows:,} rows, {task.classes} classes"
        print(f"{name:24} {a:8.2f} {b:8.2f} {b / a:5.1f}x  {' '.join(f'{100 * each:5.1f}' for each in shown)}")
        if also_inlp:
            spent, eraser = timed(
                lambda t=task, f=found: inlp(t.train, t.labels, t.classes, t.dev, t.dev_labels, l2=f.chosen["l2"])
            )
            print(f"{'  INLP':24} {'':8} {spent:8.2f} {spent / a:5.1f}x  {eraser.rank} directions")
    print(f"{'all':24} {totals[0]:8.2f} {totals[1]:8.2f} {totals[1] / totals[0]:5.1f}x")


def layers(rows: int, count: int) -> None:
    """Print one line per number of classes: a mix of all layers at one penalty, and the plain probe on each layer."""
    print(f"{'':24} {'linear':>8} {'mix':>8} {'ratio':>6}  planted, centre, fits")
    for classes in (2, 6):
        rng = np.random.default_rng(0)
        turn = np.linalg.qr(rng.normal(size=(DIMENSIONS, DIMENSIONS)))[0]
        turn *= np.arange(1, DIMENSIONS + 1)[:, None] ** -0.5
        hidden, planted, tables = rng.normal(size=(rows, DIMENSIONS)), count // 2, []
        for i in range(count):
            hidden = 0.95 * hidden + np.sqrt(1 - 0.95**2) * rng.normal(size=hidden.shape) if i else hidden
            tables.append(Features.of((hidden @ turn).astype(np.float32)))
            if i == planted:
                logits = hidden[:, :64] @ rng.normal(size=(64, classes)) / 4
                y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        a, _ = timed(
            lambda t=tables, y=y, c=classes: [convex.fit(PROBE, each, y, each, y, c, seeds=(1,))[0] for each in t]
        )
        b, found = timed(lambda t=tables, y=y, c=classes: mix.fit(t, y, c, l2=1e-2))
        name = f"{count} x {rows:,}, {classes} classes"
        print(f"{name:24} {a:8.2f} {b:8.2f} {b / a:5.1f}x  {planted} {found.centre:.2f} {found.steps}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="erase", choices=["erase", "mix"])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--inlp", action="store_true")
    parser.add_argument("--layers", type=int, default=13)
    arguments = parser.parse_args()
    with threadpool_limits(limits=1):
        if arguments.what == "mix":
            layers(arguments.rows, arguments.layers)
        else:
            erase(arguments.rows, arguments.draws, arguments.words, arguments.inlp)


if __name__ == "__main__":
    main()
