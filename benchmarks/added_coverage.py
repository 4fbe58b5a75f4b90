"""How often the bits that vectors add to a baseline are those that were planted: simulated.

    python benchmarks/added_coverage.py [--reps 200] [--sizes 600/200/400,600/200/4000] [--cases copy,words,…]

In every repetition train, dev and test rows of two classes are drawn anew, and measured as ``given:ENCODER`` does. In
the first cases the vectors are a function of the baseline, which decides the label but for noise: they add 0 bits.

    copy        the baseline itself, 20 dimensions
    map         30 random linear functions of it
    scaled      the same, where the baseline's dimensions are correlated and of very different sizes
    tanh        40 functions of it that are not linear
    words       the mean of a random vector per word; the baseline is the bag of these words, 600 kinds
    noise       20 dimensions that have nothing to do with anything

In the others they add a known number of bits:

    flipped     the label, wrong in 20 % of the rows, beside 20 dimensions of noise; the baseline has it wrong in 25 %
    weak        the same, wrong in 40 %
    sum         the label is decided by the sum of two numbers, of which the baseline has one, and the vectors the other

``above`` and ``below`` are the shares of intervals above and below the truth. The standard error of a coverage of 95 %
is 1.5 points from 200 repetitions. Vectors that add something are credited with a little less than what they add, as a
probe of a few hundred rows is not the best there is; the interval covers samples of test and dev rows, not that.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.special import entr, expit

from sentprobe.probes import Features
from sentprobe.probes.added import Labels, SplitFeatures, add_vectors, probe_baseline
from sentprobe.stats.information import conditional
from sentprobe.stats.means import mean

SHORT = "--reps 3 --sizes 300/100/200"
FOLDS = 5
NOTHING = ("copy", "map", "scaled", "tanh", "words", "noise")


def entropy(p):
    """Of a share, in bits."""
    return (entr(p) + entr(1 - p)) / np.log(2)


def of_dimensions(rng, n, case):
    """A baseline of 20 dimensions that decides the label but for noise, and functions of it."""
    hidden = rng.standard_normal((n, 20))
    labels = rng.random(n) < expit(hidden @ rng.standard_normal(20) / np.sqrt(5))
    turn = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    baseline = hidden * np.geomspace(1, 0.03, 20) @ turn if case == "scaled" else hidden
    vectors = {
        "copy": lambda: hidden,
        "map": lambda: hidden @ rng.standard_normal((20, 30)),
        "scaled": lambda: hidden @ rng.standard_normal((20, 30)),
        "tanh": lambda: np.tanh(0.7 * hidden @ rng.standard_normal((20, 40))),
        "noise": lambda: rng.standard_normal((n, 20)),
    }[case]()
    return labels, baseline.astype(np.float32), vectors, 0.0


def of_words(rng, n, kinds=600):
    """Bags of words by Zipf's law, some of which tell the label, and the mean of random vectors of the words."""
    frequent = 1 / np.arange(1, kinds + 1)
    sizes = rng.integers(5, 15, n)
    words = rng.choice(kinds, sizes.sum(), p=frequent / frequent.sum())
    counts = csr_array((np.ones(len(words), np.float32), words, np.append(0, sizes.cumsum())), shape=(n, kinds))
    counts.sum_duplicates()
    bags = csr_array(counts / np.sqrt((counts * counts).sum(axis=1))[:, None], dtype=np.float32)
    labels = rng.random(n) < expit(3 * bags @ (rng.standard_normal(kinds) * (rng.random(kinds) < 0.3)))
    return labels, bags, counts @ rng.standard_normal((kinds, 60)) / sizes[:, None], 0.0


def of_flips(rng, n, wrong, given_wrong=0.25):
    """Two noisy copies of the label: one is given, and one is in the vectors."""
    labels = rng.random(n) < 0.5
    given, told = labels ^ (rng.random(n) < given_wrong), labels ^ (rng.random(n) < wrong)
    baseline = np.column_stack([given, rng.standard_normal((n, 10))]).astype(np.float32)
    vectors = np.column_stack([told, rng.standard_normal((n, 20))])
    left = 0.0  # the entropy of the label given both
    for first in (given_wrong, 1 - given_wrong):
        for second in (wrong, 1 - wrong):
            both = first * second + (1 - first) * (1 - second)
            left += both / 2 * entropy(first * second / both)
    return labels, baseline, vectors, float(entropy(given_wrong) - left)


def of_sum(rng, n, size=1.5):
    """A label that is decided by the sum of two numbers, the first of which is given."""
    one, two = size * rng.standard_normal((2, n))
    labels = rng.random(n) < expit(one + two)
    baseline = np.column_stack([one, rng.standard_normal((n, 9))]).astype(np.float32)
    vectors = np.column_stack([two, one + rng.standard_normal(n), rng.standard_normal((n, 8))])
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    decided = expit(size * (points[:, None] + points))
    return labels, baseline, vectors, float(weights @ entropy(decided @ weights) - weights @ entropy(decided) @ weights)


def draw(case, sizes, seed):
    """Labels of train, dev and test, the baseline and the vectors of these rows, and the bits that they add."""
    rng, n = np.random.default_rng(seed), sum(sizes)
    if case == "words":
        labels, baseline, vectors, truth = of_words(rng, n)
    elif case in ("flipped", "weak"):
        labels, baseline, vectors, truth = of_flips(rng, n, 0.2 if case == "flipped" else 0.4)
    elif case == "sum":
        labels, baseline, vectors, truth = of_sum(rng, n)
    else:
        labels, baseline, vectors, truth = of_dimensions(rng, n, case)
    ends = np.append(0, np.cumsum(sizes))
    parts = [np.arange(start, stop) for start, stop in pairwise(ends)]
    given, own = (
        SplitFeatures(*(Features.of(x[rows]) for rows in parts)) for x in (baseline, vectors.astype(np.float32))
    )
    return [labels[rows].astype(np.int64) for rows in parts], given, own, truth


def measure(labels, given, own):
    """What the vectors add, as ``given:ENCODER`` measures it."""
    known = Labels(labels[0], labels[1], 2)
    found = add_vectors(probe_baseline([given], known, np.arange(len(labels[0])) % FOLDS), own, known)
    rows = np.arange(len(labels[2]))
    without, with_vectors = (logs[rows, labels[2]] / np.log(2) for logs in found.log_probabilities())
    return conditional(with_vectors, without, labels[2], fitted=mean(found.influence(labels[2])))


def main() -> None:
    """Print one line per case and size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=200)
    parser.add_argument("--sizes", default="600/200/400,600/200/4000")
    parser.add_argument("--cases", default=",".join((*NOTHING, "flipped", "weak", "sum")))
    options = parser.parse_args()
    print(f"{'':10} {'rows':>14} {'truth':>7} {'mean':>8} {'±':>7} {'half':>7} {'covers':>7} {'above':>6} {'below':>6}")
    for case in options.cases.split(","):
        for sizes in (tuple(map(int, text.split("/"))) for text in options.sizes.split(",")):
            found = []
            for seed in range(options.reps):
                *drawn, truth = draw(case, sizes, [seed, sum(map(ord, case))])
                added = measure(*drawn)
                found.append((added.bits, added.low, added.high))
            bits, low, high = np.array(found).T
            above, below = (low > truth).mean(), (high < truth).mean()
            print(
                f"{case:10} {'/'.join(map(str, sizes)):>14} {truth:7.4f} {bits.mean():8.4f} "
                f"{bits.std() / len(bits) ** 0.5:7.4f} {(high - low).mean() / 2:7.4f} {1 - above - below:7.1%} "
                f"{above:6.1%} {below:6.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
