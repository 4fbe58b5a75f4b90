"""How often intervals cover, and how often two equal encoders are said to differ: simulated.

    python benchmarks/interval_coverage.py [--reps 200] [--seconds 30] [--seed 2]
                                           [--rows 100,400,2000,10000] [--dimensions 50,200,1000] [--separation 1,2]
    python benchmarks/interval_coverage.py --clusters

Two classes with Gaussian vectors; two encoders that know equally much, whose noise correlates (0.5). In every
repetition training, dev and test rows are drawn anew, the probe ``linear`` is tuned and fitted, and trained again as
`sentprobe run` does; dev has a fifth of the training rows, 50 at least. The truth is the mean accuracy of all probes of
a size, each of which is known exactly: that of a linear probe on Gaussian classes has a closed form. Test rows are
drawn as what probes read of them, which has the same distribution and takes no memory. The
standard error of a coverage of 95 % is 1.5 points from 200 repetitions, of which each has two encoders. ``evenness`` is
the standard deviation of half widths over their mean: of the jackknife alone, and of the interval.

With ``--clusters``: shares right of rows in clusters, few or uneven, by the interval over clusters and by the
percentile bootstrap that it replaced.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace

import numpy as np
from scipy.stats import norm

from sentprobe.data.splits import Split
from sentprobe.probes import Features, fit, named, parse
from sentprobe.probes.fitting import leave_groups_out
from sentprobe.probes.kind import kind_of
from sentprobe.run.resample import DEV_DRAWS, bootstrap_choices
from sentprobe.stats.intervals import cluster_bootstrap, proportion_interval, wilson
from sentprobe.stats.means import ScoredRows
from sentprobe.stats.paired import mcnemar
from sentprobe.stats.training import LINEAR_GROUPS as GROUPS
from sentprobe.stats.training import Retrained, Systems

SHORT = "--reps 10 --rows 400 --dimensions 50"

RESAMPLES = kind_of(named("linear")).resamples
TEST = (200, 1000, 10_000)
SHARED = 0.5
"""Correlation of the noise of the two encoders."""


def draw(rng, n, shift):
    """Labels (n,) and the vectors (n, d) of two encoders."""
    labels = rng.integers(0, 2, n)
    common = rng.standard_normal((n, len(shift)))
    noise = (rng.standard_normal((n, len(shift))) for _ in range(2))
    moved = np.outer(2 * labels - 1, shift)
    vectors = [(math.sqrt(SHARED) * common + math.sqrt(1 - SHARED) * own + moved).astype(np.float32) for own in noise]
    return labels, vectors


def line(model):
    """The weights and the bias of the second class against the first."""
    return model.weights[1] - model.weights[0], model.bias[1] - model.bias[0]


def exact(weights, bias, shift):
    """The accuracy of a line on Gaussian classes."""
    length, middle = np.linalg.norm(weights), weights @ shift
    return 0.5 * (norm.cdf((middle + bias) / length) + norm.cdf((middle - bias) / length))


def correct(rng, n, lines, shift):
    """Whether each test row (probes, n) of two encoders' lines is right; rows are drawn as their projections."""
    one, two = (np.array([weights for weights, _ in side]) for side in lines)
    bias = np.array([bias for side in lines for _, bias in side])
    cross = SHARED * one @ two.T
    values, vectors = np.linalg.eigh(np.block([[one @ one.T, cross], [cross.T, two @ two.T]]))
    labels = rng.integers(0, 2, n)
    seen = rng.standard_normal((n, len(bias))) @ (vectors * np.sqrt(np.maximum(values, 0))).T
    seen += np.outer(2 * labels - 1, np.concatenate([one @ shift, two @ shift])) + bias
    return ((seen > 0) == (labels == 1)[:, None]).T


def simulate(n, d, reps, seconds, separation, rng):
    """A line of the table per size of the test set; the coverage in percent, and the evenness over the jackknife's."""
    shift = np.full(d, separation / math.sqrt(d))
    _, probe = parse("linear")
    truth, said = [], {te: [] for te in TEST}
    spent = time.process_time()
    while len(said[TEST[0]]) < reps and time.process_time() - spent < seconds:
        labels, vectors = draw(rng, n, shift)
        dev_labels, dev = draw(rng, max(50, n // 5), shift)
        groups = np.array([rng.permutation(n) % GROUPS for _ in range(RESAMPLES // GROUPS)])
        lines = []
        for train, held in zip(map(Features.of, vectors), map(Features.of, dev), strict=True):
            (found,) = fit(probe, train, labels, held, dev_labels, 2)
            again = leave_groups_out(probe, found, train, labels, held, dev_labels, 2, groups)
            part = Split([str(i) for i in range(len(held))], {}, dev_labels, [None] * len(held))
            other = [found.candidates[i] for i in bootstrap_choices(probe, found.candidates, held, part)]
            lines.append([line(model) for model in (found.model, *again, *other)])
        truth += [exact(*side[0], shift) for side in lines]
        right = correct(rng, max(TEST), lines, shift).astype(np.float64).reshape(2, 1 + RESAMPLES + DEV_DRAWS, -1)
        for te in TEST:
            some = right[:, :, :te]
            rows = ScoredRows.of(te)
            jackknife = [Retrained(each[1 : RESAMPLES + 1], GROUPS, each[RESAMPLES + 1 :], d > n) for each in some]
            systems = Systems(rows, some[:, 0], [replace(side, train_rows=n) for side in jackknife])
            alone = Systems(rows, some[:, 0], jackknife)
            of_probe = [(wilson(side.sum(), te),) for side in some[:, 0]]
            of_encoder = [
                [proportion_interval(one.score(i), rows) for one in (alone, systems)] for i in range(len(some))
            ]
            tests = (
                mcnemar(some[0, 0], some[1, 0]).p_mid,
                alone.difference(0, 1).p,
                systems.difference(0, 1).p,
            )
            said[te].append(([(*one, *two) for one, two in zip(of_probe, of_encoder, strict=True)], tests))
    expected = float(np.mean(truth))
    spent = (time.process_time() - spent) / len(said[TEST[0]])
    of_encoder = []
    for te in TEST:
        intervals = np.array([by_side for by_side, _ in said[te]])  # (reps, encoders, 3 kinds, 2 ends)
        covered = 100 * ((intervals[..., 0] <= expected) & (expected <= intervals[..., 1])).mean(axis=(0, 1))
        false = 100 * (np.array([p for _, p in said[te]]) <= 0.05).mean(axis=0)
        widths = 50 * (intervals[..., 1] - intervals[..., 0])
        evenness = widths.std(axis=(0, 1)) / widths.mean(axis=(0, 1))
        of_encoder.append((covered[2], evenness[2] / evenness[1]))
        cells = [
            f"{covered[k]:>6.1f} {false[k]:>6.1f} {widths[..., k].mean():>6.2f} {evenness[k]:>5.2f}" for k in range(3)
        ]
        print(
            f"{n:>6} {te:>6} {d:>5} {100 * expected:>8.1f} {100 * np.std(truth):>6.2f} {len(said[te]):>5}"
            f" {' |'.join(cells)} |{spent:>6.2f}",
            flush=True,
        )
    return of_encoder


def clusters(reps, rng):
    """Shares right of rows in clusters, by three intervals."""
    print(f"{'sizes':>6} {'clusters':>8} {'correlation':>11} {'over clusters':>13} {'bootstrap':>9} {'wilson':>7}")
    for kind in ("even", "zipf"):
        for m in (5, 10, 20, 50, 200):
            sizes = np.full(m, 10) if kind == "even" else np.maximum(1, np.rint(60 / np.arange(1, m + 1) ** 0.9))
            for correlation in (0.0, 0.2, 0.6):
                hits = np.zeros(3)
                for _ in range(reps):
                    cluster = np.repeat(np.arange(m), sizes.astype(int))
                    weight = 1 / correlation - 1 if correlation else 0.0
                    share = rng.beta(0.75 * weight, 0.25 * weight, m) if correlation else np.full(m, 0.75)
                    right = rng.random(len(cluster)) < share[cluster]
                    rows = ScoredRows.of(len(right), cluster)
                    plain = wilson(right.sum(), len(right))
                    drawn = cluster_bootstrap(right, cluster, seed=0, draws=1000)
                    found = proportion_interval(rows.mean(right), rows)
                    hits += [low <= 0.75 <= high for low, high in (found, drawn, plain)]
                print(f"{kind:>6} {m:>8} {correlation:>11} " + "{:>13.1f} {:>9.1f} {:>7.1f}".format(*100 * hits / reps))


def main():
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--reps", type=int, default=200)
    parser.add_argument("--rows", default="100,400,2000,10000")
    parser.add_argument("--dimensions", default="50,200,1000")
    parser.add_argument("--separation", default="1.0")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--clusters", action="store_true")
    args = parser.parse_args()
    if args.clusters:
        clusters(args.reps, np.random.default_rng(0))
        return
    print("covers the expected accuracy (%), two equal encoders 'differ' at 5 % (%), half width and its evenness")
    print(f"{'':<40} by test rows              | by the jackknife         | moderated")
    print("  train   test     d accuracy     sd  reps" + " covers differ      ±  even |" * 3 + "CPU s/rep")
    found = []
    for n in map(int, args.rows.split(",")):
        for d in map(int, args.dimensions.split(",")):
            for separation in map(float, args.separation.split(",")):
                found += simulate(n, d, args.reps, args.seconds, separation, np.random.default_rng([args.seed, n, d]))
    covered, evenness = np.mean(found, axis=0)
    print(f"= interval_coverage/encoder {covered:.2f}")
    print(f"= interval_coverage/evenness {evenness:.2f}")


if __name__ == "__main__":
    main()
