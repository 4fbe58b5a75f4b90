"""How often intervals cover if every row is tested once, in five folds, and how often equals differ: simulated.

    python benchmarks/fold_coverage.py [--probe linear] [--reps 200] [--seconds 30] [--seed 2]
                                       [--rows 200,400,1000] [--dimensions 50,300] [--classes 2,6,20] [--groups 1,6]
    python benchmarks/fold_coverage.py --baselines [--reps 200] [--rows 400]

Gaussian vectors of two equally good encoders, whose noise correlates (0.5). In every repetition the rows are drawn
anew; in each fold 15 % of the training rows are dev, the probe is tuned and fitted, and trained again without tenths of
the rows, as `sentprobe run` does. The probe is ``linear``, or ``ridge``: least squares with a penalty that dev chooses,
which is a twentieth of the work and can be repeated often enough. With ``--groups 6``, rows come in groups of six that
share some of their noise and labels. The factors of ``sentprobe/stats/training.py`` were found with seed 1; any other
measures them. With ``--baselines`` naive Bayes and length, on generated sentences, in five folds and on one split; two
that read different sentences of the same labels are equal. The truth is the mean of the scores of all repetitions. The
± of a line is two standard errors; ! is beyond 93–97 %, or 4–6 % for false differences, by more than that.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from sentprobe.data.dataset import Dataset
from sentprobe.data.splits import Split, splits_of
from sentprobe.probes import Features, fit, parse
from sentprobe.probes.baselines.predict import Baselines
from sentprobe.probes.fitting import leave_groups_out
from sentprobe.run.resample import bootstrap_choices, dev_draws
from sentprobe.stats.intervals import proportion_interval, wilson
from sentprobe.stats.means import ScoredRows
from sentprobe.stats.training import BASELINE_GROUPS, LINEAR_GROUPS, Retrained, Systems, mutual_share
from sentprobe.tasks import Example

SHORT = "--probe ridge --reps 60 --rows 200,400 --dimensions 50"

FOLDS, DEV, SHARED = 5, 0.15, 0.5
LEARNED = ("length", "nb-uni", "nb-bi")
SEPARATION = {2: 1.0, 6: 1.5, 20: 2.0}
"""Between the means of classes and their centre, in standard deviations of the noise of a dimension."""
PENALTIES = 10.0 ** np.arange(-3, 2)


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

    def noise(share):
        rows = rng.standard_normal((n, d), dtype=np.float32)
        if size > 1:
            of_clusters = rng.standard_normal((cluster.max() + 1, d), dtype=np.float32)
            rows = math.sqrt(0.75) * rows + math.sqrt(0.25) * of_clusters[cluster]
        return math.sqrt(share) * rows

    common = noise(SHARED) + means[labels].astype(np.float32)
    return cluster, labels, [common + noise(1 - SHARED) for _ in range(2)]


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
    return correct, Retrained(trained, LINEAR_GROUPS, chosen, wide, fold, mutual_share(labels))


def retrained_ridge(vectors, labels, classes, folds, groups, fold):
    """The same of least squares, all of whose fits are solutions of linear equations."""
    vectors = np.column_stack([vectors, np.full(len(vectors), 5, np.float32)])  # a bias that is hardly penalised
    targets = (np.eye(classes, dtype=np.float32)[labels] - 1 / classes)[:, classes == 2 :]
    n, d = vectors.shape
    dual = d > len(folds[0][0])
    kernel = vectors @ vectors.T if dual else None
    correct, trained, chosen = np.empty(n), np.empty((LINEAR_GROUPS, n)), np.empty((20, n))

    def right(read, weights, rows):
        scores = (read @ np.concatenate(weights, axis=1)).reshape(len(rows), len(weights), -1)
        predicted = scores[..., 0] > 0 if classes == 2 else scores.argmax(axis=-1)
        return (predicted == labels[rows, None]).T

    for train, dev, test in folds:
        x, y, penalties = vectors[train], targets[train], PENALTIES * len(train)
        left_out = [groups[0, train] == group for group in range(LINEAR_GROUPS)]
        matrix, rightside = (kernel[np.ix_(train, train)], y) if dual else (x.T @ x, x.T @ y)
        solutions = [penalised(matrix, rightside, penalty) for penalty in penalties]
        read_dev, read_test = (kernel[np.ix_(rows, train)] if dual else vectors[rows] for rows in (dev, test))
        on_dev, on_test = right(read_dev, solutions, dev), right(read_test, solutions, test)
        best = strongest_best(on_dev.mean(axis=1))
        if dual:  # without some rows, from the inverse of the equations with them
            inverse = penalised(matrix, np.eye(len(train), dtype=np.float32), penalties[best])
            whole = solutions[best]
            again = [
                whole - inverse[:, rows] @ np.linalg.solve(inverse[np.ix_(rows, rows)], whole[rows])
                for rows in left_out
            ]
        else:
            again = [
                penalised(matrix - x[rows].T @ x[rows], rightside - x[rows].T @ y[rows], penalties[best])
                for rows in left_out
            ]
        correct[test], trained[:, test] = on_test[best], right(read_test, again, test)
        draws = dev_draws(Split([str(i) for i in dev], {}, labels[dev], [None] * len(dev)))
        chosen[:, test] = on_test[[strongest_best(on_dev @ times) for times in draws]]
    return correct, Retrained(trained, LINEAR_GROUPS, chosen, dual, fold, mutual_share(labels))


def penalised(matrix, rightside, penalty):
    """The solution of (matrix + penalty) x = rightside."""
    matrix = matrix.copy()
    matrix.flat[:: len(matrix) + 1] += penalty
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    return cho_solve(factor, rightside, check_finite=False)


def strongest_best(scores):
    """The last index of the highest of scores (penalties,), which are sorted by penalty."""
    rounded = np.round(scores, 9)
    return len(rounded) - 1 - int(rounded[::-1].argmax())


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
    """The expected accuracy and half the width; coverage of rows alone and of the interval, and false differences by
    both, in percent; and the standard errors of the second and the fourth."""
    expected = np.mean([score.value for sides, _, _ in estimates for score, *_ in sides])
    plain, covered = (
        np.array([[low <= expected <= high for low, high in (side[k] for side in sides)] for sides, _, _ in estimates])
        for k in (1, 2)
    )
    differ, differ_plain = (
        np.array([test.p <= 0.05 for test in tests]) for tests in list(zip(*estimates, strict=True))[1:]
    )
    half = 50 * np.mean([side[2][1] - side[2][0] for sides, _, _ in estimates for side in sides])
    errors = [100 * by_set.std() / math.sqrt(len(estimates)) for by_set in (covered.mean(axis=1), differ)]
    return expected, half, *(100 * float(hits.mean()) for hits in (plain, covered, differ_plain, differ)), *errors


def estimate(cluster, sides):
    """The scores of two systems with intervals by rows alone and in all, and the difference in all and by rows."""
    rows = ScoredRows.of(len(cluster), cluster)
    correct = np.array([side[0] for side in sides])
    systems, tested = Systems(rows, correct, [side[1] for side in sides]), Systems(rows, correct)
    scores = []
    for i in range(2):
        plain, score = tested.score(i), systems.score(i)
        alone = proportion_interval(plain, rows) if rows.clustered else wilson(correct[i].sum(), len(cluster))
        scores.append((score, alone, proportion_interval(score, rows)))
    return scores, systems.difference(0, 1), tested.difference(0, 1)


def report(label, estimates, spent):
    """Print a line; the coverage and the share of false differences."""
    expected, half, plain, covered, differ_plain, differ, *errors = summary(estimates)
    marks = [
        "!" if abs(share - middle) > 1 + width + 2 * error else " "
        for share, middle, width, error in ((covered, 95, 1, errors[0]), (differ, 5, 0, errors[1]))
    ]
    print(
        f"{label:<38} {100 * expected:>8.1f} {half:>6.2f} {len(estimates):>5} {plain:>6.1f} {covered:>6.1f}{marks[0]}"
        f"±{2 * errors[0]:>3.1f} {differ_plain:>6.1f} {differ:>6.1f}{marks[1]}±{2 * errors[1]:>3.1f}"
        f" {spent / len(estimates):>8.2f}",
        flush=True,
    )
    return covered, differ


def encoders(args, n, d, classes, size):
    """A cell of the table of encoders."""
    rng = np.random.default_rng([args.seed, n, d, classes, size])
    probe = retrained_ridge if args.probe == "ridge" else retrained_probe
    estimates, started = [], time.process_time()
    while len(estimates) < args.reps and time.process_time() - started < args.seconds:
        separation = args.separation or SEPARATION.get(classes, 1.0)
        cluster, labels, vectors = draw(rng, n, d, classes, size, separation)
        folds, groups, fold = fold_rows(rng, cluster)
        if any(len(np.unique(groups[0, train])) < LINEAR_GROUPS or not len(dev) for train, dev, _ in folds):
            continue  # a run does not retrain then
        estimates.append(estimate(cluster, [probe(side, labels, classes, folds, groups, fold) for side in vectors]))
    label = f"{args.probe} n={n} d={d} classes={classes}" + (f" groups={size}" if size > 1 else "")
    return report(label, estimates, time.process_time() - started)


def baselines(args, n, name, folded):
    """A cell of the table of baselines: five folds of n rows, or n training rows and a thousand test rows."""
    rng, estimates, started = np.random.default_rng([args.seed, n, LEARNED.index(name)]), [], time.process_time()
    while len(estimates) < args.reps and time.process_time() - started < args.seconds:
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
    parser.add_argument("--separation", type=float)
    parser.add_argument("--probe", choices=("linear", "ridge"), default="linear")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--baselines", action="store_true")
    args = parser.parse_args()
    print("covers the expected accuracy (%), and two equal systems 'differ' at 5 % (%): by test rows alone, and in all")
    print(f"{'':<38} accuracy      ±  reps   rows   with all    rows   with all CPU s/rep")
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
