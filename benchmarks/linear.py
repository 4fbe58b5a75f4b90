"""The probe ``linear`` beside scikit-learn's LogisticRegression over the same L2 grid, in one run; and its memory.

    python benchmarks/linear.py [--rows 1000 10000 100000] [--dimensions 50 300 1024 2048 4096] [--classes 2 6 20 1000]
    python benchmarks/linear.py --sets xprobe/en
    python benchmarks/linear.py memory

Vectors are made up: correlated, as those of encoders are, with the label in some of the directions; for 1000 classes,
means of word vectors of which one is the label's. With ``--sets`` they are those of ``static:`` for the sentences of
sets in any form that ``sentprobe audit`` reads; a set without tr is trained on 85 % of va.

scikit-learn gets float32, its StandardScaler and lbfgs. It fits the penalties from the strongest to the weakest, with
and without a warm start, at tolerances from 3e-2 down to 1e-6. The time that counts is the least with which it reaches
the same result: the dev accuracy of the chosen penalty within 0.1 points, and its loss within 0.001. It may take
``--budget`` times as long as we did (for each tolerance); a ratio of ``>`` means that it did not get there. Seconds are
processor time on one thread, the least of three rounds below a second. Needs scikit-learn.

``memory`` fits 100,000 x 4096 numbers, from memory and from a memory-map, each in a process of its own, and prints the
highest resident size: of everything, and without the pages of files, which a memory-map can give back at any time.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sentprobe.probes import Features, convex, named

SHORT = "--rows 1000 10000 --dimensions 50 300 --classes 2 6"

Rows = tuple[np.ndarray, np.ndarray]
PROBE = named("linear")
TOLERANCES = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
"""Those of scikit-learn that are tried."""


def correlated(n: int, d: int, classes: int) -> Rows:
    """Vectors whose k-th principal deviation is k ** -0.5, and labels drawn by logits in 64 of these directions."""
    rng = np.random.default_rng(0)
    turn = (np.linalg.qr(rng.normal(size=(d, d)))[0] * np.arange(1, d + 1)[:, None] ** -0.5).astype(np.float32)
    weights = rng.normal(size=(min(d, 64), classes)) / 4
    x, y = np.empty((n, d), np.float32), np.empty(n, np.int64)
    for at in range(0, n, 4096):
        part = rng.standard_normal((min(4096, n - at), d), np.float32)
        logits = part[:, : len(weights)] @ weights
        y[at : at + 4096] = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        x[at : at + 4096] = part @ turn + np.float32(0.3)
    return x, y


def word_content(n: int, d: int, classes: int) -> Rows:
    """Means of twelve word vectors, eleven of them of words by Zipf's law and one of the word that is the label."""
    rng = np.random.default_rng(0)
    words = rng.normal(size=(20_000, d)) * np.arange(1, d + 1) ** -0.5
    words = (words @ np.linalg.qr(rng.normal(size=(d, d)))[0]).astype(np.float32)
    shares = np.cumsum(1 / np.arange(1, len(words) + 1))
    shares /= shares[-1]
    y, x = rng.integers(classes, size=n), np.empty((n, d), np.float32)
    for at in range(0, n, 1024):
        others = np.searchsorted(shares, rng.random((len(x[at : at + 1024]), 11)))
        x[at : at + 1024] = (words[others].sum(axis=1) + words[2000 + y[at : at + 1024]]) / 12
    return x, y


def made(rows: list[int], dimensions: list[int], classes: list[int]) -> Iterator[tuple[str, int, list[Rows]]]:
    """Name, classes, and training and dev rows."""
    for n in rows:
        for d in dimensions:
            for c in classes:
                dev = max(1000, min(5000, n))
                x, y = (word_content if c == 1000 else correlated)(n + dev, d, c)
                yield f"{n:,} x {d}, {c} classes", c, [(x[:n], y[:n]), (x[n:], y[n:])]


def real(path: str) -> Iterator[tuple[str, int, list[Rows]]]:
    """The same of sets on disk."""
    from sentprobe.data.sources import find_sets
    from sentprobe.encoders import load

    encoder = load("static:")
    for source in find_sets([path]):
        rows = dict(source.load().rows)
        if not rows.get("tr"):
            order = np.random.default_rng(0).permutation(len(rows["va"])).tolist()
            cut = round(0.85 * len(order))
            rows["tr"], rows["va"] = ([rows["va"][i] for i in part] for part in (order[:cut], order[cut:]))
        number = {label: i for i, label in enumerate(sorted({row.label for row in rows["tr"]}))}
        parts = [
            (encoder([row.text for row in rows[split]]), np.array([number.get(row.label, -1) for row in rows[split]]))
            for split in ("tr", "va")
        ]
        yield f"{source.name}, {len(parts[0][0]):,} rows, {len(number)} classes", len(number), parts


def ours(parts: list[Rows], classes: int) -> tuple[float, float, str]:
    """Dev accuracy and loss of the chosen penalty; readings of the rows for each penalty, the strongest first."""
    (x, y), (dev_x, dev_y) = parts
    found = convex.fit(PROBE, Features.of(x), y, Features.of(dev_x), dev_y, classes, seeds=(1,))[0]
    (best,) = [point for point in found.tried if point["l2"] == found.chosen["l2"]]
    return best["accuracy"], best["loss"], " ".join(str(point["passes"]) for point in found.tried)


class LateError(Exception):
    """The budget is spent."""


def theirs(parts: list[Rows], tolerance: float, warm: bool, budget: float) -> tuple[float, float, str] | None:
    """The same by scikit-learn, with its iterations; None if it takes longer than the budget of seconds."""

    def stop(*_: Any) -> None:
        raise LateError

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, budget)
    try:
        return _theirs(parts, tolerance, warm)
    except LateError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _theirs(parts: list[Rows], tolerance: float, warm: bool) -> tuple[float, float, str]:
    (x, y), (dev_x, dev_y) = parts
    scaler = StandardScaler().fit(x)
    x, dev_x = scaler.transform(x), scaler.transform(dev_x)
    model = LogisticRegression(max_iter=10_000, tol=tolerance, warm_start=warm)
    found, iterations = [], []
    for l2 in sorted(PROBE.l2, reverse=True):
        model.set_params(C=1 / (len(y) * l2)).fit(x, y)
        iterations.append(str(model.n_iter_[0]))
        shares = np.full((len(dev_y), max(int(y.max()), int(dev_y.max())) + 1), 1e-9)
        shares[:, model.classes_] = model.predict_proba(dev_x)
        loss = -np.log(np.maximum(shares[np.arange(len(dev_y)), dev_y], 1e-30)).mean()
        found.append((float((shares.argmax(axis=1) == dev_y).mean()), float(loss)))
    best = max(found, key=lambda each: (each[0], -each[1]))
    return *best, " ".join(iterations)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work gives, and its processor time."""
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def speed(shapes: Iterator[tuple[str, int, list[Rows]]], budget: float) -> None:
    """Print one line per shape."""
    print(f"{'':32} {'linear':>8} {'sklearn':>8} {'ratio':>7} {'dev':>6} {'loss':>7}  passes / iterations (tolerance)")
    ratios = []
    for name, classes, parts in shapes:
        (accuracy, loss, passes), seconds = timed(lambda p=parts, c=classes: ours(p, c))
        for _ in range(2 if seconds < 1 else 0):
            seconds = min(seconds, timed(lambda p=parts, c=classes: ours(p, c))[1])
        best, how = budget * seconds, ""
        for tolerance in TOLERANCES:
            late = 0
            for warm in (True, False):
                found, spent = timed(lambda p=parts, t=tolerance, w=warm, b=best: theirs(p, t, w, max(b, 0.05)))
                if found and abs(found[0] - accuracy) <= 0.00101 and abs(found[1] - loss) <= 0.001 and spent < best:
                    best, how = spent, f"{found[2]} ({tolerance:g}{', warm' if warm else ''})"
                late += found is None
            if how or late == 2:  # lower tolerances take longer
                break
        ratios.append(best / seconds)
        print(
            f"{name:32} {seconds:8.3f} {best:8.3f} {'' if how else '>'}{best / seconds:6.1f}x {100 * accuracy:6.2f} "
            f"{loss:7.4f}  {passes} / {how or 'not reached'}",
            flush=True,
        )
    print(f"= linear/least-ratio {min(ratios):.3f}")
    print(f"= linear/median-ratio {float(np.median(ratios)):.3f}")


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
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[50, 300, 1024, 2048, 4096])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 6, 20, 1000])
    parser.add_argument("--budget", type=float, default=5.0)
    parser.add_argument("--sets")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", module="sklearn")
    with threadpool_limits(limits=1):
        match given.what:
            case ["memory"]:
                memory()
            case ["fit", place, rows, dimensions]:
                fit_here(place, int(rows), int(dimensions))
            case _:
                shapes = real(given.sets) if given.sets else made(given.rows, given.dimensions, given.classes)
                speed(shapes, given.budget)


if __name__ == "__main__":
    main()
