"""How often intervals cover if every row is tested once, in five folds, and how often equals differ: simulated.

    python benchmarks/fold_coverage.py [--reps 200] [--rows 200,400,1000] [--dimensions 50,300] [--groups 1,6]
    python benchmarks/fold_coverage.py --baselines [--reps 200] [--rows 400]

Gaussian vectors of two equally good encoders, whose noise correlates (0.5). In every repetition the rows are drawn
anew; in each fold 15 % of the training rows are dev, the probe ``linear`` is tuned and fitted, and trained again
without tenths of the rows, as `sentprobe run` does. With ``--groups 6``, rows come in groups of six that share some of
their noise. With ``--baselines`` naive Bayes and length, on generated sentences, in five folds and on one split; two
that read different sentences of the same labels are equal. The truth is the mean of the scores of all repetitions. The
standard error of a coverage of 95 % is 1.5 points from 200 repetitions.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

from sentprobe.data.dataset import Dataset
from sentprobe.data.splits import Split, splits_of
from sentprobe.probes import Features, fit, parse
from sentprobe.probes.baselines.predict import Baselines
from sentprobe.probes.fitting import leave_groups_out
from sentprobe.run.resample import bootstrap_choices, dev_draws
from sentprobe.stats.intervals import proportion_interval, wilson
from sentprobe.stats.means import ScoredRows
from sentprobe.stats.training import BASELINE_GROUPS, LINEAR_GROUPS, Retrained, Systems
from sentprobe.tasks import Example

SHORT = "--reps 6 --rows 200 --dimensions 50"

FOLDS, DEV, SHARED = 5, 0.15, 0.5
LEARNED = ("length", "nb-uni", "nb-bi")


def divide(rng, cluster, parts):
    """A part (n,) of each row; the rows of a cluster (n,) stay together."""
    part = np.empty(cluster.max() + 1, np.int64)
    part[rng.permutation(len(part))] = np.arange(len(part)) % parts
    return part[cluster]


def fold_rows(rng, cluster, rounds=1, groups=LINEAR_GROUPS):
    """Train, dev and test rows of each fold; the groups (rounds, n) of all rows; and the fold (n,) of each."""
    fold = divide(rng, cluster, FOLDS)
    held_out = divide(rng, cluster, round(1 / DEV)) == 0
    rows = [(np.flatnonzero((fold != k) & ~held_out), np.flatnonzero((fold != k) & held_out)) for k in range(FOLDS)]
    tested = [np.flatnonzero(fold == k) for k in range(FOLDS)]
    assigned = np.array([divide(rng, cluster, groups) for _ in range(rounds)])
    return [(*learned, test) for learned, test in zip(rows, tested, strict=True)], assigned, fold


def draw(rng, n, d, classes, size, separation):
    """Clusters (n,), labels (n,) and the vectors (n, d) of two encoders."""
    cluster = np.arange(n) // size
    labels = rng.integers(0, classes, n)
    if size > 1:  # half of the rows have the label of their cluster
        labels = np.where(rng.random(n) < 0.5, labels, rng.integers(0, classes, cluster.max() + 1)[cluster])
    means = np.random.default_rng(classes).standard_normal((classes, d))
    means -= means.mean(axis=0)
    means *= separation / np.linalg.norm(means, axis=1, keepdims=True)

    def noise():
        rows = rng.standard_normal((n, d))
        if size == 1:
            return rows
        return math.sqrt(0.75) * rows + math.sqrt(0.25) * rng.standard_normal((cluster.max() + 1, d))[cluster]

    common = math.sqrt(SHARED) * noise() + means[labels]
    return cluster, labels, [(common + math.sqrt(1 - SHARED) * noise()).astype(np.float32) for _ in range(2)]


def retrained_probe(vectors, labels, classes, folds, groups, fold):
    """Which rows (n,) the probe of their fold has right, and the retrained ones."""
    _, probe = parse("linear")
    correct = np.empty(len(labels))
    trained, chosen = np.empty((LINEAR_GROUPS, len(labels))), np.empty((20, len(labels)))
    for train, dev, test in folds:
        parts = [Features.of(vectors[rows]) for rows in (train, dev, test)]
        (fitted,) = fit(probe, parts[0], labels[train], parts[1], labels[dev], classes)
        models = leave_groups_out(
            probe, fitted, parts[0], labels[train], parts[1], labels[dev], classes, groups[:, train]
        )
        split = Split([str(i) for i in dev], {}, labels[dev], [None] * len(dev))

        def right(model, features=parts[2], expected=labels[test]):
            return model.scores(features).argmax(axis=1) == expected

        correct[test] = right(fitted.model)
        trained[:, test] = [right(model) for model in models]
        candidates = np.array([right(model) for model in fitted.candidates])
        chosen[:, test] = candidates[bootstrap_choices(probe, fitted.candidates, parts[1], split)]
    wide = vectors.shape[1] > len(folds[0][0])
    return correct, Retrained(trained, LINEAR_GROUPS, chosen, wide, fold)


def sentences(rng, labels):
    """A sentence for each label (n,), of words that lean towards it."""
    words = 1500
    tilt = np.exp(0.4 * np.random.default_rng(1).standard_normal((2, words))) / np.arange(1, words + 1)
    shares = np.cumsum(tilt / tilt.sum(axis=1, keepdims=True), axis=1)
    examples = []
    for label in labels.tolist():
        drawn = np.searchsorted(shares[label], rng.random(5 + rng.poisson(6 + label)))
        tokens = tuple(f"w{min(i, words - 1)}" for i in drawn.tolist())
        examples.append(Example("ab"[label], tokens, " ".join(tokens)))
    return examples


def retrained_baseline(name, examples, folds, groups, fold):
    """Which of the test rows a baseline has right, and the retrained ones; of one split if ``fold`` is None."""
    tests = np.concatenate([test for _, _, test in folds])
    correct, trained, chosen = [], [], []
    for rows in folds:
        parts = {split: [examples[i] for i in part] for split, part in zip(("tr", "va", "te"), rows, strict=True)}
        baselines = Baselines(splits_of(Dataset("generated/words", "words", 1, "en", ("a", "b"), parts)))
        truth = baselines.splits.test.label_names
        correct.append(np.array(baselines.predict(name).labels) == np.array(truth))
        again = baselines.retrain(name, groups[:, rows[0]], dev_draws(baselines.splits.dev))
        trained.append(again.trained)
        chosen.append(again.chosen)
    order = np.argsort(tests)
    correct, trained, chosen = (np.concatenate(parts, axis=-1)[..., order] for parts in (correct, trained, chosen))
    return correct.astype(np.float64), Retrained(trained, BASELINE_GROUPS, chosen, folds=fold)


def summary(estimates):
    """Coverage of rows alone and of the interval, and false differences by both, in percent; half the width."""
    scores = np.array([score.value for score, *_ in estimates])
    expected = scores.mean()
    plain, covered, differ_plain, differ = [], [], [], []
    for _, alone, interval, difference, of_rows in estimates:
        plain.append(alone[0] <= expected <= alone[1])
        covered.append(interval[0] <= expected <= interval[1])
        differ_plain.append(of_rows.p <= 0.05)
        differ.append(difference.p <= 0.05)
    half = 50 * np.mean([interval[1] - interval[0] for _, _, interval, *_ in estimates])
    return expected, half, *(100 * float(np.mean(hits)) for hits in (plain, covered, differ_plain, differ))


def estimate(cluster, sides):
    """The score of the first of two systems with its intervals, and the difference, with training rows and without."""
    rows = ScoredRows.of(len(cluster), cluster)
    correct = np.array([side[0] for side in sides])
    systems, tested = Systems(rows, correct, [side[1] for side in sides]), Systems(rows, correct)
    score, plain = systems.score(0), tested.score(0)
    alone = proportion_interval(plain, rows) if rows.clustered else wilson(correct[0].sum(), len(cluster))
    return score, alone, proportion_interval(score, rows), systems.difference(0, 1), tested.difference(0, 1)


def report(label, estimates, spent):
    """Print a line; the coverage and the share of false differences."""
    expected, half, plain, covered, differ_plain, differ = summary(estimates)
    print(
        f"{label:<34} {100 * expected:>8.1f} {half:>6.1f} {len(estimates):>5} {plain:>9.1f} {covered:>8.1f}"
        f" {differ_plain:>9.1f} {differ:>8.1f} {spent / len(estimates):>8.2f}",
        flush=True,
    )
    return covered, differ


def encoders(args, n, d, classes, size):
    """A cell of the table of encoders."""
    rng, estimates, started = np.random.default_rng([n, d, classes, size]), [], time.process_time()
    for _ in range(args.reps):
        cluster, labels, vectors = draw(rng, n, d, classes, size, args.separation)
        folds, groups, fold = fold_rows(rng, cluster)
        sides = [retrained_probe(side, labels, classes, folds, groups, fold) for side in vectors]
        estimates.append(estimate(cluster, sides))
    label = f"linear n={n} d={d} classes={classes}" + (f" groups={size}" if size > 1 else "")
    return report(label, estimates, time.process_time() - started)


def baselines(args, n, name, folded):
    """A cell of the table of baselines: five folds of n rows, or n training rows and a thousand test rows."""
    rng, estimates, started = np.random.default_rng([n, LEARNED.index(name)]), [], time.process_time()
    for _ in range(args.reps):
        if folded:
            folds, groups, fold = fold_rows(rng, np.arange(n), 4, BASELINE_GROUPS)
            total, tests = n, np.arange(n)
        else:
            total = n + n // 4 + 1000
            tests = np.arange(n + n // 4, total)
            folds, fold = [(np.arange(n), np.arange(n, n + n // 4), tests)], None
            groups = np.array([divide(rng, np.arange(n), BASELINE_GROUPS) for _ in range(10)])
        labels = rng.integers(0, 2, total)
        sides = [retrained_baseline(name, sentences(rng, labels), folds, groups, fold) for _ in range(2)]
        estimates.append(estimate(np.arange(len(tests)), sides))
    return report(f"{name} n={n} {'in folds' if folded else 'one split'}", estimates, time.process_time() - started)


def main():
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--reps", type=int, default=200)
    parser.add_argument("--rows", default="200,400,1000")
    parser.add_argument("--dimensions", default="50,300")
    parser.add_argument("--classes", default="2")
    parser.add_argument("--groups", default="1")
    parser.add_argument("--separation", type=float, default=1.0)
    parser.add_argument("--baselines", action="store_true")
    args = parser.parse_args()
    print("covers the expected accuracy (%), and two equal systems 'differ' at 5 % (%): by test rows alone, and in all")
    print(f"{'':<34} accuracy      ±  reps      rows  with all      rows with all CPU s/rep")
    sizes, dimensions, classes, groups = (
        [int(value) for value in text.split(",")] for text in (args.rows, args.dimensions, args.classes, args.groups)
    )
    if args.baselines:
        cells = [baselines(args, n, name, folded) for n in sizes for name in LEARNED for folded in (True, False)]
    else:
        cells = [encoders(args, n, d, c, size) for n in sizes for d in dimensions for c in classes for size in groups]
    covered, differ = np.mean(cells, axis=0)
    print(f"= fold_coverage/covered {covered:.2f}")
    print(f"= fold_coverage/differ {differ:.2f}")


if __name__ == "__main__":
    main()
