"""What the measures beyond accuracy cost, in fits of the plain probe ``linear``, in one run.

    python benchmarks/measures.py [--rounds 3] [--rows 10000] [--test 5000] [--dimensions 384] [--classes 2 6]

Vectors are made up: correlated, as those of encoders are, with the label in some of the directions; there are 2,000 dev
rows and as many test rows as ``--test`` says. The plain fit has its six penalties, and is scored on test, as in a run.
Each measure gets what a run has by then: the plain probe, its penalty and log-probabilities, and the training
statistics, which all fits on the same rows share. Seconds are processor time on one thread, the least of the rounds; a
line is one measure and its ratio to the plain fit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from sentprobe.probes import Features, fit, named
from sentprobe.probes.calibration import fit_temperature, scaled
from sentprobe.probes.capacity import capacity
from sentprobe.probes.convex import TrainingStatistics
from sentprobe.probes.online import online
from sentprobe.stats import bits
from sentprobe.stats.information import information, prior

SHORT = "--rounds 1 --rows 1000 --test 1000 --dimensions 128 --classes 2"

DEV = 2000


def draw(n: int, d: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors whose k-th principal deviation is k ** -0.5, and labels drawn by logits in 64 of these directions."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.arange(1, d + 1)[:, None] ** -0.5
    x = rng.normal(size=(n, d))
    told = x[:, :64] @ rng.normal(size=(min(64, d), classes)) / 4
    return (x @ turn + 0.3).astype(np.float32), (told + rng.gumbel(size=told.shape)).argmax(axis=1)


def works(n: int, d: int, classes: int, test: int) -> Mapping[str, Callable[[], Any]]:
    """What is timed, by name; the plain probe first."""
    x, y = draw(n + DEV + test, d, classes)
    parts = [slice(0, n), slice(n, n + DEV), slice(n + DEV, None)]
    train, dev, held = (Features.of(x[part]) for part in parts)
    train_y, dev_y, held_y = (y[part] for part in parts)

    def plain() -> Any:
        found = fit(named("linear"), train, train_y, dev, dev_y, classes)[0]
        return found, found.model.scores(held)

    found, logs = plain()
    dev_logs, l2 = found.model.scores(dev), found.chosen["l2"]
    statistics = TrainingStatistics.of(train, train_y, classes)
    shares = prior(train_y, classes)
    code = {"seed": 1, "statistics": statistics}

    def usable() -> Any:
        sure = scaled(logs, fit_temperature(dev_logs, dev_y))
        return information(-bits(sure, held_y), held_y, shares)

    return {
        "plain": plain,
        "statistics": lambda: TrainingStatistics.of(train, train_y, classes),
        "online, 3 orders": lambda: online(train, train_y, dev, dev_y, classes, **code),
        "online with curve": lambda: online(train, train_y, dev, dev_y, classes, test=held, test_labels=held_y, **code),
        "information": usable,
        "capacity": lambda: capacity(
            train, train_y, dev, dev_y, held, held_y, classes, l2=l2, plain=found.model, statistics=statistics
        ),
    }


def main() -> None:
    """Print a block of lines per number of classes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--test", type=int, default=5_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 6])
    arguments = parser.parse_args()
    with threadpool_limits(limits=1):
        for classes in arguments.classes:
            timed = works(arguments.rows, arguments.dimensions, classes, arguments.test)
            seconds = dict.fromkeys(timed, np.inf)
            for _ in range(arguments.rounds):
                for name, work in timed.items():  # in turn, so that a busy machine hinders all
                    start = time.process_time()
                    work()
                    seconds[name] = min(seconds[name], time.process_time() - start)
            print(f"{arguments.rows:,} x {arguments.dimensions}, {classes} classes")
            for name, spent in seconds.items():
                print(f"  {name:20} {spent:8.3f} s {spent / seconds['plain']:6.2f} x", flush=True)


if __name__ == "__main__":
    main()
