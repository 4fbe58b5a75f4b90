"""The probe ``linear`` beside scikit-learn's LogisticRegression over the same L2 grid, in one run; and its memory.

    python benchmarks/linear.py [--rounds 3] [--only 1000] [--sets xprobe/en]
    python benchmarks/linear.py memory

Vectors are made up: correlated, as those of encoders are, with the label in some of the directions; for 1000 classes,
means of word vectors of which one is the label's. With ``--sets`` they are those of ``static:`` for the sentences of
sets in any form that ``sonde audit`` reads; a set without tr is trained on 85 % of va. scikit-learn gets float32, its
StandardScaler, its default tolerance and as many iterations as it takes, and fits each penalty anew, as GridSearchCV
does. Seconds are processor time on one thread. Accuracies are those of the test rows, with the L2 that dev chooses.
Needs scikit-learn.

``memory`` fits 100,000 x 4096 numbers, from memory and from a memory-map, each in a process of its own, and prints the
highest resident size: of everything, and without the pages of files, which a memory-map can give back at any time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sonde.probes import Features, convex, named

SHORT = "--rounds 1 --only '8,500 x 256, 2'"

Rows = tuple[np.ndarray, np.ndarray]
PROBE = named("linear")


def correlated(n: int, d: int, classes: int) -> Rows:
    """Vectors whose k-th principal deviation is k ** -0.5, and labels drawn by logits in 64 of these directions."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.arange(1, d + 1)[:, None] ** -0.5
    weights = rng.normal(size=(64, classes)) / 4
    x, y = np.empty((n, d), np.float32), np.empty(n, np.int64)
    for at in range(0, n, 4096):
        part = rng.normal(size=(min(4096, n - at), d))
        y[at : at + 4096] = (part[:, :64] @ weights + rng.gumbel(size=(len(part), classes))).argmax(axis=1)
        x[at : at + 4096] = part @ turn + 0.3
    return x, y


def word_content(n: int, d: int, classes: int) -> Rows:
    """Means of twelve word vectors, eleven of them of words by Zipf's law and one of the word that is the label."""
    rng = np.random.default_rng(0)
    words = rng.normal(size=(20_000, d)) * np.arange(1, d + 1) ** -0.5
    words = (words @ np.linalg.qr(rng.normal(size=(d, d)))[0]).astype(np.float32)
    shares = 1 / np.arange(1, len(words) + 1)
    y, x = rng.integers(classes, size=n), np.empty((n, d), np.float32)
    for at in range(0, n, 1024):
        others = rng.choice(len(words), size=(len(x[at : at + 1024]), 11), p=shares / shares.sum())
        x[at : at + 1024] = (words[others].sum(axis=1) + words[2000 + y[at : at + 1024]]) / 12
    return x, y


def made(only: str) -> Iterator[tuple[str, int, list[Rows]]]:
    """Name, classes, and training, dev and test rows."""
    shapes = [(n, d, c) for n in (8_500, 100_000) for d in (256, 384) for c in (2, 6)] + [(100_000, 300, 1000)]
    for n, d, classes in shapes:
        name = f"{n:,} x {d}, {classes} classes"
        if only in name:
            x, y = (word_content if classes == 1000 else correlated)(n + 10_000, d, classes)
            yield name, classes, [(x[a:b], y[a:b]) for a, b in ((0, n), (n, n + 5000), (n + 5000, n + 10_000))]


def real(path: str, only: str) -> Iterator[tuple[str, int, list[Rows]]]:
    """The same of sets on disk."""
    from sonde.data.sources import find_sets
    from sonde.encoders import load

    encoder = load("static:")
    for source in find_sets([path]):
        if only not in source.name:
            continue
        rows = dict(source.load().rows)
        if not rows.get("tr"):
            order = np.random.default_rng(0).permutation(len(rows["va"])).tolist()
            cut = round(0.85 * len(order))
            rows["tr"], rows["va"] = ([rows["va"][i] for i in part] for part in (order[:cut], order[cut:]))
        number = {label: i for i, label in enumerate(sorted({row.label for row in rows["tr"]}))}
        parts = [
            (encoder([row.text for row in rows[split]]), np.array([number.get(row.label, -1) for row in rows[split]]))
            for split in ("tr", "va", "te")
        ]
        yield f"{source.name}, {len(parts[0][0]):,} rows, {len(number)} classes", len(number), parts


def ours(parts: list[Rows], classes: int) -> tuple[str, float]:
    """Readings of the rows for each penalty, and the accuracy on test."""
    (x, y), (dev_x, dev_y), (test_x, test_y) = parts
    found = convex.fit(PROBE, Features.of(x), y, Features.of(dev_x), dev_y, classes, seeds=(1,))[0]
    passes = " ".join(f"{point['passes']}{'' if point['converged'] else '!'}" for point in found.tried)
    return passes, float((found.model.scores(Features.of(test_x)).argmax(axis=1) == test_y).mean())


def theirs(parts: list[Rows]) -> tuple[str, float]:
    """Iterations for each penalty, and the accuracy on test."""
    (x, y), (dev_x, dev_y), (test_x, test_y) = parts
    scaler = StandardScaler().fit(x)
    x, dev_x, test_x = (scaler.transform(part) for part in (x, dev_x, test_x))
    models = [LogisticRegression(C=1 / (len(y) * l2), max_iter=100_000).fit(x, y) for l2 in PROBE.l2]
    best = max(reversed(models), key=lambda model: model.score(dev_x, dev_y))  # the strongest penalty first
    return " ".join(str(model.n_iter_[0]) for model in models), float(best.score(test_x, test_y))


def speed(rounds: int, only: str, sets: str | None) -> None:
    """Print one line per shape; the two take turns, so that a busy machine hinders both."""
    print(f"{'':38} {'linear':>8} {'sklearn':>8} {'ratio':>7} {'test':>6} {'sklearn':>7}  passes / iterations")
    for name, classes, parts in real(sets, only) if sets else made(only):
        works = {"linear": lambda p=parts, c=classes: ours(p, c), "sklearn": lambda p=parts: theirs(p)}
        seconds: dict[str, list[float]] = {work: [] for work in works}
        found = {}
        for _ in range(rounds if classes < 100 else 1):
            for work, do in works.items():
                start = time.process_time()
                found[work] = do()
                seconds[work].append(time.process_time() - start)
        a, b = (min(seconds[work]) for work in works)
        (passes, test), (iterations, other) = found["linear"], found["sklearn"]
        print(
            f"{name:38} {a:8.2f} {b:8.2f} {b / a:6.1f}x {100 * test:6.2f} {100 * other:7.2f}  {passes} / {iterations}"
        )


def memory(rows: int = 100_000, dimensions: int = 4096) -> None:
    """Print the highest resident sizes of two processes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "features.npy"
        table = np.lib.format.open_memmap(path, "w+", np.float32, (rows, dimensions))
        for start, part in drawn(rows, dimensions):
            table[start : start + len(part)] = part
        table.flush()
        del table
        for place in ("memory", str(path)):
            subprocess.run([sys.executable, __file__, "fit", place, str(rows), str(dimensions)], check=True)


def drawn(rows: int, dimensions: int) -> Iterator[tuple[int, np.ndarray]]:
    """Correlated vectors, a block at a time."""
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(64, dimensions)).astype(np.float32)
    for start in range(0, rows, 1000):
        m = min(1000, rows - start)
        shared = rng.normal(size=(m, 64)).astype(np.float32)
        yield start, shared @ mix / 8 + rng.normal(size=(m, dimensions)).astype(np.float32)


def fit_here(place: str, rows: int, dimensions: int) -> None:
    """Fit, and print what it took."""
    if place == "memory":
        table = np.empty((rows, dimensions), np.float32)
        for start, part in drawn(rows, dimensions):
            table[start : start + len(part)] = part
    else:
        table = np.load(place, mmap_mode="r")
    noise = np.random.default_rng(1).normal(scale=5, size=rows)
    labels = (table[:, :8].sum(axis=1) > noise).astype(np.int64)
    features, dev = Features.of(table), np.arange(0, rows, 50)
    highest, done = {"VmRSS": 0, "RssAnon": 0}, threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            for name, kilobytes in resident().items():
                highest[name] = max(highest.get(name, 0), kilobytes)

    before, start, watcher = resident(), time.process_time(), threading.Thread(target=watch)
    watcher.start()
    found = convex.fit(PROBE, features, labels, features.select(dev), labels[dev], 2, seeds=(1,))[0]
    done.set()
    watcher.join()
    size = table.nbytes
    print(
        f"{'in memory' if place == 'memory' else 'memory-map'}: features {size / 1e9:.2f} GB; "
        f"resident at most {highest['VmRSS'] / 1e6:.2f} GB ({1e3 * highest['VmRSS'] / size:.2f} x features), "
        f"without files {highest['RssAnon'] / 1e6:.2f} GB; before {before['VmRSS'] / 1e6:.2f} and "
        f"{before['RssAnon'] / 1e6:.2f} GB; {time.process_time() - start:.0f} s, dev {100 * found.dev:.1f}, "
        f"passes {[point['passes'] for point in found.tried]}"
    )


def resident() -> dict[str, int]:
    """Resident kilobytes of this process as Linux tells them: all, and those that are not of files."""
    lines = (line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(value.split()[0]) for name, value in lines if name in ("VmRSS", "RssAnon")}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["speed"], help="speed or memory")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="part of the name of a line")
    parser.add_argument("--sets")
    arguments = parser.parse_args()
    with threadpool_limits(limits=1):
        match arguments.what:
            case ["memory"]:
                memory()
            case ["fit", place, rows, dimensions]:
                fit_here(place, int(rows), int(dimensions))
            case _:
                speed(arguments.rounds, arguments.only, arguments.sets)


if __name__ == "__main__":
    main()
