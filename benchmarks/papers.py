"""A run of the papers' size: ten sets of 120,000 sentences, the whole grid, intervals and baselines, in one process.

    python benchmarks/papers.py [--rows 120000] [--dimension 1024] [--sets word_content,bigram_shift] [--check]
    python benchmarks/papers.py growth [--rows 12000] [--dimension 256]

Sets have the sizes (100k/10k/10k) and classes of Conneau et al. (2018). Sentences and vectors are made up
(``common/made_up.py``) and written to files: ``sentprobe.evaluate`` reads the sets as SentEval's and the vectors as
``npy:``, as it would for a user. ``--folder`` keeps them there for the next time; it takes 4 bytes per number.

Prints seconds of processor time on one thread, per set and in all: the probe (its whole grid), the probes retrained for
intervals, baselines that read words, encoders that are baselines, and the rest, that is reading, scoring and saving.
Then the resident memory at most, above what Python and its modules take, and its ratio to the vectors of one set:
without the pages of files, which the system takes back when it needs them. ``--check`` compares the accuracy on dev
with that at an optimum found by another program with far smaller tolerance, for the penalty that was chosen; this takes
long, and leaves out sets with more than 100 classes.

``growth`` shows how the seconds grow with rows, dimensions, classes and sets.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from common.made_up import CLASSES, write
from common.memory import resident, watched

SHORT = "--rows 1200 --dimension 64 --sets sentence_length,word_content,bigram_shift --check"

KINDS = ("probe", "intervals", "words", "encoders", "rest")
MAX_CHECKED_CLASSES = 100
LEAST = 0.05
"""Seconds from which growth is shown."""


class Ledger:
    """Seconds of processor time by set and kind of work; what is inside other work is not counted twice."""

    def __init__(self) -> None:
        self.spent: Counter[tuple[str, str]] = Counter()
        self._now = [("", "rest")]
        self._since = time.process_time()

    @property
    def where(self) -> tuple[str, str]:
        """The set and the kind of what is done now."""
        return self._now[-1]

    def settle(self) -> None:
        """Count what was spent since the last time."""
        now = time.process_time()
        self.spent[self.where] += now - self._since
        self._since = now

    @contextmanager
    def counting(self, name: str, kind: str) -> Iterator[None]:
        """Count what is done in the block as this."""
        self.settle()
        self._now.append((name, kind))
        try:
            yield
        finally:
            self.settle()
            self._now.pop()

    def wrap(self, module: Any, name: str, of: Callable[..., tuple[str, str]]) -> None:
        """Count the calls of a function of a module; ``of`` says, from the arguments, as what."""
        function = getattr(module, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            with self.counting(*of(*args, **kwargs)):
                return function(*args, **kwargs)

        setattr(module, name, counted)


def watch_run() -> Ledger:
    """A ledger of the runs of this process."""
    from sentprobe.run import encoder, fit, inputs, pool

    ledger = Ledger()

    def inside(kind: str) -> Callable[..., tuple[str, str]]:
        return lambda *_, **__: (ledger.where[0], "encoders" if ledger.where[1] == "encoders" else kind)

    ledger.wrap(inputs, "baseline_result", lambda cell, baselines, splits: (splits.name, "words"))
    ledger.wrap(fit, "fit", inside("probe"))
    ledger.wrap(fit, "retrain", inside("intervals"))
    ledger.wrap(
        encoder, "probe_encoder", lambda context, name, *_: ("", "encoders" if name.startswith("baseline:") else "rest")
    )
    compute_cells = pool.compute_cells

    def counted_cells(job: Any) -> Any:
        with ledger.counting(job.splits.name, ledger.where[1]):
            return compute_cells(job)

    pool.compute_cells = counted_cells
    return ledger


def run(folder: Path, baselines: list[str] | None) -> None:
    """Evaluate, and print as JSON what it took."""
    from sentprobe import evaluate, find_sets
    from sentprobe.run import encoder, loop

    ledger = watch_run()
    loop.probe_encoder = encoder.probe_encoder
    vectors, more = folder / "vectors.npy", {} if baselines is None else {"baselines": baselines}
    name = f"npy:{vectors}?texts={folder / 'texts.txt'}"
    with tempfile.TemporaryDirectory() as out:
        before = resident()
        with watched() as highest:
            found = evaluate(name, find_sets([folder / "probing"]), out, **more)
        ledger.settle()
        if found.failures:
            raise SystemExit("\n".join(f"{f.cell.dataset}: {f.error}" for f in found.failures))
        results = {r.cell.dataset: r for r in found if r.cell.encoder == name}
        print(
            json.dumps(
                {
                    "spent": [[*where, seconds] for where, seconds in ledger.spent.items()],
                    "memory": {key: size - before[key] for key, size in highest.items()},
                    "sets": {
                        each: {"dev": r.dev_score, "l2": r.chosen["l2"], "test": r.score, "retrained": r.resamples,
                               "passes": [point["passes"] for point in r.tried]}
                        for each, r in results.items()
                    },
                }
            )
        )  # fmt: skip


def measured(folder: Path, names: list[str], rows: int, dimension: int, baselines: str | None) -> dict[str, Any]:
    """Make the sets, unless they are there, and run them in a process of their own, on one thread."""
    if not (folder / "vectors.npy").exists():
        write(folder, names, rows, dimension)
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, __file__, "run", "--folder", str(folder)]
    command += [] if baselines is None else ["--baselines", baselines]
    done = subprocess.run(command, stdout=subprocess.PIPE, env={**os.environ, **one}, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def optimum(folder: Path, names: list[str], name: str, rows: int, l2: float) -> float:
    """The accuracy on dev at an optimum by L-BFGS in float64, in coordinates in which the rows are uncorrelated."""
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    first = rows * names.index(name)
    table = np.load(folder / "vectors.npy", mmap_mode="r")[first : first + rows]
    lines = (folder / "probing" / f"{name}.txt").read_text().splitlines()
    splits, labels = zip(*(line.split("\t")[:2] for line in lines), strict=True)
    known = sorted(set(labels))
    y = np.array([known.index(label) for label in labels])
    train, dev = (np.flatnonzero([s == split for s in splits]) for split in ("tr", "va"))
    x = table[train].astype(np.float64)
    mean, scale = x.mean(axis=0), x.std(axis=0)
    x = (x - mean) / scale
    root = np.linalg.cholesky(x.T @ x / len(x) / len(known) + l2 * np.eye(x.shape[1])).T
    white = np.linalg.inv(root)
    x = np.column_stack([x @ white, np.ones(len(x))])
    of_train, classes = y[train], len(known)
    rows_of = np.arange(len(train))
    # two classes have one vector of weights, and the penalty of one
    factor = 2.0 if classes == 2 else 1.0

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        point = flat.reshape(classes, -1)
        logs = log_softmax(x @ point.T, axis=1)
        plain = point[:, :-1] @ white.T
        value = factor * l2 / 2 * (plain**2).sum() - logs[rows_of, of_train].mean()
        slope = np.exp(logs)
        slope[rows_of, of_train] -= 1
        gradient = slope.T @ x / len(x)
        gradient[:, :-1] += factor * l2 * plain @ white
        return float(value), gradient.ravel()

    options = {"maxiter": 3000, "maxfun": 4000, "ftol": 1e-15, "gtol": 1e-8, "maxcor": 20}
    found = minimize(loss, np.zeros(classes * x.shape[1]), jac=True, method="L-BFGS-B", options=options).x
    point = found.reshape(classes, -1)
    scores = ((table[dev] - mean) / scale) @ white @ point[:, :-1].T + point[:, -1]
    return float((scores.argmax(axis=1) == y[dev]).mean())


def show(found: dict[str, Any], names: list[str], rows: int, dimension: int) -> dict[str, float]:
    """Print the table; the seconds of each set, and of everything."""
    spent = {(name, kind): seconds for name, kind, seconds in found["spent"]}
    print(f"{rows:,} rows x {dimension:,}")
    print(f"{'':24} {'classes':>7}" + "".join(f"{kind:>10}" for kind in (*KINDS, "all")) + "    dev   test  passes")
    totals = {}
    for name in ("", *names):
        line = [spent.get((name, kind), 0.0) for kind in KINDS]
        totals[name] = sum(line)
        about = ""
        if name:
            one = found["sets"][name]
            about = f"{100 * one['dev']:7.2f}{100 * one['test']:7.2f}  {' '.join(map(str, one['passes']))}"
        cells = "".join(f"{seconds:10.1f}" for seconds in (*line, totals[name]))
        print(f"{name or '(not of one set)':24} {CLASSES.get(name, ''):>7}{cells}{about}")
    kinds = [sum(spent.get((name, kind), 0.0) for name in ("", *names)) for kind in KINDS]
    print(f"{'all':24} {'':7}" + "".join(f"{seconds:10.1f}" for seconds in (*kinds, sum(kinds))))
    return {**totals, "": sum(kinds)}


def full(arguments: argparse.Namespace, folder: Path) -> None:
    """One run, and its figures."""
    names, rows, d = arguments.sets.split(","), arguments.rows, arguments.dimension
    found = measured(folder, names, rows, d, arguments.baselines)
    totals = show(found, names, rows, d)
    size = 4 * rows * d
    for name, what in (("VmRSS", "all"), ("RssAnon", "without files")):
        print(f"memory, {what}: {found['memory'][name] / 1e9:.2f} GB, {found['memory'][name] / size:.2f} x one set")
    spent = {(name, kind): seconds for name, kind, seconds in found["spent"]}
    again = [name for name in names if found["sets"][name]["retrained"]]
    print(f"= papers/seconds {totals['']:.2f}")
    if "word_content" in names:
        print(f"= papers/seconds-word-content {totals['word_content']:.2f}")
    if again:
        probe, intervals = (sum(spent[name, kind] for name in again) for kind in ("probe", "intervals"))
        print(f"= papers/intervals-over-probe {intervals / probe:.2f}")
    print(f"= papers/memory-over-one-set {found['memory']['RssAnon'] / size:.2f}")
    if arguments.check:
        below = []
        for name in (n for n in names if CLASSES[n] <= MAX_CHECKED_CLASSES):
            one = found["sets"][name]
            best = optimum(folder, names, name, rows, one["l2"])
            below.append(100 * (best - one["dev"]))
            print(f"{name}: dev {100 * one['dev']:.2f}, at the optimum {100 * best:.2f} (L2 {one['l2']:g})")
        print(f"= papers/dev-off-optimum {max(map(abs, below)):.3f}")


def growth(arguments: argparse.Namespace, folder: Path) -> None:
    """How seconds grow, from the smallest to the given size in each respect, other things equal."""
    n, d, names = arguments.rows, arguments.dimension, list(CLASSES)
    cases: dict[str, list[tuple[float, list[str], int, int]]] = {
        "rows": [(rows, ["bigram_shift"], rows, d) for rows in (n // 10, n // 3, n)],
        "dimensions": [(width, ["bigram_shift"], n, width) for width in (d // 4, d // 2, d)],
        "classes": [(CLASSES[each], [each], n, d) for each in ("bigram_shift", "sentence_length", "top_constituents")],
        "sets": [(many, names[-many:], n, d) for many in (1, 2, 6)],
    }
    print(" " * 23 + "".join(f"{kind:>10}" for kind in (*KINDS, "all")))
    for respect, shapes in cases.items():
        lines = []
        for i, (amount, some, rows, width) in enumerate(shapes):
            found = measured(folder / f"{respect}-{i}", some, rows, width, arguments.baselines)
            spent: Counter[str] = Counter()
            for _, kind, seconds in found["spent"]:
                spent[kind] += seconds
            lines.append((amount, *(spent[kind] for kind in KINDS), spent.total()))
            cells = "".join(f"{seconds:10.1f}" for seconds in lines[-1][1:])
            print(f"{respect:12} {amount:>9,} {cells}", flush=True)
        (first, *less), (last, *more) = lines[0], lines[-1]
        both = [(a, b) if min(a, b) >= LEAST else (1, np.nan) for a, b in zip(less, more, strict=True)]
        print(f"{'  as a power':22} " + "".join(f"{np.log(b / a) / np.log(last / first):10.2f}" for a, b in both))


def main() -> None:
    """Make, run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="full", choices=("full", "growth", "run"))
    parser.add_argument("--rows", type=int, default=120_000)
    parser.add_argument("--dimension", type=int, default=1024)
    parser.add_argument("--sets", default=",".join(CLASSES), help="comma-separated")
    parser.add_argument("--baselines", help="comma-separated (default: those of `sentprobe run`)")
    parser.add_argument("--folder", type=Path, help="where the sets are, or will be")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.what == "run":
        run(given.folder, None if given.baselines is None else [name for name in given.baselines.split(",") if name])
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary) / "sets"
        (growth if given.what == "growth" else full)(given, folder)


if __name__ == "__main__":
    main()
