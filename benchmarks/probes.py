"""How much faster the probes are than SentEval's classifier on the same CPU, in one run.

    python benchmarks/probes.py [--senteval FOLDER] [--numpy] [CASE…]

The peer is a checkout of SentEval, whose CUDA calls are taken out at run time, or else a plain loop in torch with the
same rule: one fit after the other, and the best one again, as SentEval does. Rows are random, with labels that depend
on them, in part on products. Prints CPU seconds of both, single-threaded, their ratio, and dev / test accuracy. Where
passes are limited, they are for both: the work is the same, the accuracy is not that of a finished training. The
kernels are compiled before anything is timed. Needs torch, and numba unless ``--numpy``; SentEval needs scikit-learn.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from sentprobe.probes import Features, Probe, fit, named, network
from sentprobe.probes.network import steps_numpy, training
from sentprobe.probes.network.group import GridPoint

SHORT = "8.5k-256"

SEED = 1111
EVERY = 4
"""Passes between two looks of SentEval."""


@dataclass(frozen=True)
class Case:
    """Sizes, and the probes that are compared with SentEval's rule at these."""

    rows: int
    dimensions: int
    classes: int
    probes: tuple[tuple[str, Probe], ...]


EXACT = named("senteval")
CASES = {
    "8.5k-256": Case(8_500, 256, 2, (("senteval", EXACT), ("linear", named("linear")))),
    "8.5k-384-6": Case(8_500, 384, 6, (("senteval", EXACT), ("linear", named("linear")))),
    "8.5k-2048": Case(8_500, 2_048, 2, (("senteval", EXACT),)),
    "100k-256": Case(100_000, 256, 2, (("senteval", replace(EXACT, passes=8)),)),
    "100k-384": Case(100_000, 384, 2, (("senteval", replace(EXACT, passes=8)),)),
    "100k-2048": Case(100_000, 2_048, 2, (("senteval", replace(EXACT, passes=4)),)),
    "words": Case(10_000, 256, 1_000, (("senteval", replace(EXACT, passes=4)),)),
    "mlp": Case(8_500, 256, 2, (("conneau2018", named("conneau2018")), ("mlp", named("mlp")))),
}


@dataclass(frozen=True)
class Parts:
    """Features (n, d) and labels of train, dev and test."""

    train: tuple[np.ndarray, np.ndarray]
    dev: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]
    classes: int

    @classmethod
    def of(cls, case: Case) -> Parts:
        """Random rows and labels that can be told in part, so that neither side is at chance or at its end."""
        draw = np.random.default_rng(0)
        sizes = [case.rows, max(1_500, case.rows // 10), 10_000]
        x = draw.standard_normal((sum(sizes), case.dimensions), dtype=np.float32)
        weights = draw.standard_normal((case.dimensions, case.classes), dtype=np.float32)
        told = x @ weights
        told += 0.5 * (x * np.roll(x, 1, axis=1)) @ draw.standard_normal(weights.shape, dtype=np.float32)
        told += 0.8 * np.sqrt(case.dimensions) * draw.standard_normal(told.shape, dtype=np.float32)
        labels, stops = told.argmax(axis=1), np.cumsum(sizes)[:-1]
        return cls(*zip(np.split(x, stops), np.split(labels, stops), strict=True), case.classes)


Trained = tuple[float, Callable[[torch.Tensor], torch.Tensor]]
Peer = Callable[[Probe, GridPoint, Parts], Trained]


def plain(probe: Probe, setting: GridPoint, parts: Parts) -> Trained:
    """One fit by SentEval's rule, as anybody would write it: accuracy on dev, and the model."""
    torch.manual_seed(SEED)
    orders = np.random.RandomState(SEED)
    (x, y), (v, w) = ((torch.from_numpy(each[0]), torch.from_numpy(each[1])) for each in (parts.train, parts.dev))
    model = torch.nn.Sequential(torch.nn.Linear(x.shape[1], setting.hidden or parts.classes))
    if setting.hidden:
        model.append(torch.nn.Dropout(setting.dropout))
        model.append(torch.nn.Sigmoid())
        model.append(torch.nn.Linear(setting.hidden, parts.classes))
    optimiser = torch.optim.Adam(model.parameters(), lr=probe.rate, weight_decay=setting.l2)
    best, kept, borne, stopped, passes = -1.0, model, 0, False, 0
    while not stopped and passes <= probe.passes:
        model.train()
        for _ in range(probe.every):
            for rows in torch.from_numpy(orders.permutation(len(x))).split(probe.batch):
                optimiser.zero_grad()
                torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
                optimiser.step()
        passes += probe.every
        model.eval()
        with torch.no_grad():
            accuracy = float((model(v).argmax(dim=1) == w).double().mean())
        if accuracy > best:
            best, kept = accuracy, copy.deepcopy(model)
        else:
            stopped = borne >= probe.patience
            borne += 1
    return best, kept.eval()


def upstream(folder: str) -> Peer:
    """SentEval's own classifier, on the CPU."""
    torch.nn.Module.cuda = lambda self: self
    torch.Tensor.cuda = lambda self: self
    torch.cuda.manual_seed = lambda seed: None
    inspect.getargspec = lambda f: inspect.getfullargspec(f)[:4]  # gone from Python since SentEval was written
    sys.path.insert(0, folder)
    from senteval.tools.classifier import MLP

    def fit(probe: Probe, setting: GridPoint, parts: Parts) -> Trained:
        options = {
            "nhid": setting.hidden, "dropout": setting.dropout, "optim": "adam", "batch_size": probe.batch,
            "tenacity": probe.patience, "epoch_size": probe.every, "max_epoch": probe.passes,
        }  # fmt: skip
        d, classes = parts.train[0].shape[1], parts.classes
        found = MLP(options, inputdim=d, nclasses=classes, l2reg=setting.l2, seed=SEED, cudaEfficient=True)
        return found.fit(*parts.train, validation_data=parts.dev), found.model.eval()

    return fit


def theirs(peer: Peer, probe: Probe, parts: Parts) -> tuple[float, float, float]:
    """CPU seconds, and accuracy on dev and test: every point of the grid, and the best one again."""
    start = time.process_time()
    grid = network.settings(probe, parts.train[0].shape[1])
    scores = [round(100 * peer(probe, setting, parts)[0], 2) for setting in grid]
    dev, model = peer(probe, grid[scores.index(max(scores))], parts)
    spent = time.process_time() - start
    with torch.no_grad():
        hits = model(torch.from_numpy(parts.test[0])).argmax(dim=1).numpy() == parts.test[1]
    return spent, 100 * dev, 100 * float(hits.mean())


def ours(probe: Probe, parts: Parts) -> tuple[float, float, float, float]:
    """The same of this library; and how many passes a point of the grid took on average."""
    train, dev = Features.of(parts.train[0]), Features.of(parts.dev[0])
    start = time.process_time()
    found = fit(probe, train, parts.train[1], dev, parts.dev[1], parts.classes, seeds=[SEED])[0]
    spent = time.process_time() - start
    hits = found.model.scores(Features.of(parts.test[0])).argmax(axis=1) == parts.test[1]
    passes = float(np.mean([tried["passes"] for tried in found.tried]))
    return spent, 100 * found.dev, 100 * float(hits.mean()), passes


def main() -> None:
    """Print a line per case and probe."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"{', '.join(CASES)} (default: all)")
    parser.add_argument("--senteval", metavar="FOLDER", help="a checkout of facebookresearch/SentEval")
    parser.add_argument("--numpy", action="store_true", help="leave numba out")
    arguments = parser.parse_args()
    peer = upstream(arguments.senteval) if arguments.senteval else plain
    if arguments.numpy:
        training._engine = lambda device: steps_numpy
    torch.set_num_threads(1)
    ratios: dict[str, list[float]] = {}
    with threadpool_limits(1):
        for name in arguments.cases or CASES:
            case = CASES[name]
            parts = Parts.of(case)
            slow: tuple[float, float, float] | None = None
            for label, probe in case.probes:
                short = replace(parts, train=(parts.train[0][:64], parts.train[1][:64]))
                start = time.process_time()
                ours(replace(probe, passes=0), short)
                ready = time.process_time() - start
                spent, dev, test, passes = ours(probe, parts)
                slow = slow or theirs(peer, replace(probe, every=EVERY), parts)
                ratios.setdefault(label, []).append(slow[0] / spent)
                print(
                    f"{name:11} {label:11} {case.rows:7,} x {case.dimensions:<5,} {case.classes:5,} classes "
                    f"{passes:5.1f} passes  ours {spent:6.2f} s (+ {ready:.1f} s to compile)  peer {slow[0]:7.2f} s "
                    f"{slow[0] / spent:6.1f} x   dev {dev:.2f} / {slow[1]:.2f}  test {test:.2f} / {slow[2]:.2f}",
                    flush=True,
                )
    for label, found in ratios.items():
        print(f"= probes/{label}-speedup {min(found):.2f}")


if __name__ == "__main__":
    main()
