"""What every probing score is shown beside: classifiers that read a set's words, or not even these.

    majority    the most frequent label of the training rows, of several the first by name
    length      multinomial logistic regression on the number of tokens
    nb-uni      multinomial naive Bayes on the tf-idf weights of words
    nb-bi       the same on words and pairs of neighbours

They are the rows "Majority vote", "Length", "NB-uni-tfidf" and "NB-bi-tfidf" of Conneau et al. (2018), who say little
of how they were made. Here "bi" is words *and* pairs: their NB-bi finds the word of word content nearly as often as
their NB-uni, and pairs alone find less than half of what words do. Words are lower-cased, so that what capitals tell
stays out; an audit measures that. Everything is learned on tr, and how much to smooth is chosen on va; without tr, va
is learned from and nothing is chosen, as in an audit. Further inputs of a task, such as the word of "is this word in
the sentence?", are features of their own for naive Bayes.
"""

from __future__ import annotations

import difflib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax

from sonde.audit.bayes import predict
from sonde.core.arguments import as_list
from sonde.data.dataset import Dataset
from sonde.data.expected import expectations_for
from sonde.errors import DataError, UsageError
from sonde.task import Example

BASELINES = ("majority", "length", "nb-uni", "nb-bi")
"""The names, as in the papers' tables from top to bottom."""
CONSTANT_BASELINES = ("majority",)
"""Those that look at no row: what they reach is the share of one label among the test rows, a fact of the set."""
ALPHAS = (1.0, 0.01, 0.1, 10.0, 100.0)
"""What naive Bayes adds to every weight. The first is used if there is nothing to choose on, or if all are as good."""
L2_STRENGTHS = (512.0, 64.0, 8.0, 1.0, 0.25)
"""What the likelihood is multiplied by against the L2 penalty, scikit-learn's C. One number per row is hard to overfit,
so the weakest penalty stands first."""

T = TypeVar("T")


@dataclass(frozen=True)
class Prediction:
    """What a baseline says of each test row, and how often it is right."""

    name: str
    labels: tuple[str, ...]
    """The predicted label of each row of te, in order."""
    accuracy: float
    rows: int
    settings: Mapping[str, object]
    """What it was trained on, what was chosen and where, and what it looked at, as plain data."""


@dataclass(frozen=True)
class _Parts:
    """The rows to learn from, to choose on, and to predict."""

    names: tuple[str, str | None]
    train: Sequence[Example]
    choose: Sequence[Example]
    test: Sequence[Example]
    labels: tuple[str, ...]
    """The labels of the training rows, sorted."""

    def numbers(self, rows: Sequence[Example]) -> np.ndarray:
        """The number of each row's label; -1 if it was not met in training."""
        number = {label: i for i, label in enumerate(self.labels)}
        return np.array([number.get(row.label, -1) for row in rows], np.int64)


def baseline(name: str, dataset: Dataset) -> Prediction:
    """Train the baseline of this name and predict the test rows."""
    parts = _parts(dataset)
    match name:
        case "majority":
            found, settings = _majority(parts)
        case "length":
            found, settings = _length(parts)
        case "nb-uni" | "nb-bi":
            found, settings = _bayes(parts, expectations_for(dataset).inputs, pairs=name == "nb-bi")
        case _:
            near = difflib.get_close_matches(name, BASELINES, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise UsageError(f"There is no baseline {name!r}.{hint} The baselines are {', '.join(BASELINES)}.")
    labels = tuple(parts.labels[i] for i in found.tolist())
    right = sum(label == row.label for label, row in zip(labels, parts.test, strict=True))
    trained_on, chosen_on = parts.names
    more = {"trained_on": trained_on} if name == "majority" else {"trained_on": trained_on, "chosen_on": chosen_on}
    return Prediction(name, labels, right / len(labels), len(labels), {**more, **settings})


def _parts(dataset: Dataset) -> _Parts:
    train, va, test = (dataset.rows.get(split, ()) for split in ("tr", "va", "te"))
    if not test:
        raise DataError(f"{dataset.name} has no te rows; a baseline is scored on te. Give the set a test part.")
    if not (train or va):
        raise DataError(f"{dataset.name} has neither tr nor va rows; a baseline learns from tr, or else from va.")
    names = ("tr", "va" if va else None) if train else ("va", None)
    train, va = (train, va) if train else (va, ())
    return _Parts(names, train, va, test, tuple(sorted({row.label for row in train})))


def _choose(grid: Sequence[float], guess: Callable[[float, T], np.ndarray], parts: _Parts, dev: T) -> float:
    """The setting whose guesses are right most often on the rows to choose on: the first of several as good."""
    if not parts.choose:
        return grid[0]
    truth = parts.numbers(parts.choose)
    hits = [int((guess(setting, dev) == truth).sum()) for setting in grid]
    return grid[hits.index(max(hits))]


def _majority(parts: _Parts) -> tuple[np.ndarray, dict[str, object]]:
    seen = Counter(row.label for row in parts.train)
    most = min(parts.labels, key=lambda label: (-seen[label], label))
    return np.full(len(parts.test), parts.labels.index(most)), {"label": most, "share": seen[most] / seen.total()}


# length


def _length(parts: _Parts) -> tuple[np.ndarray, dict[str, object]]:
    """Sentences of one length have one score, so the fit is over the table of lengths and labels, not over rows.

    That makes a thousand classes as cheap as two, which it is not in scikit-learn: rows × classes scores at each step.
    """
    sizes = _sizes(parts.train)
    mean, deviation = float(sizes.mean()), float(sizes.std()) or 1.0
    lengths, place = np.unique(sizes, return_inverse=True)
    table = np.zeros((len(lengths), len(parts.labels)))
    np.add.at(table, (place, parts.numbers(parts.train)), 1.0)

    def guess(strength: float, given: np.ndarray) -> np.ndarray:
        slope, start = _fit((lengths - mean) / deviation, table, strength)
        other, where = np.unique(given, return_inverse=True)
        scores = np.outer((other - mean) / deviation, slope) + start
        # classes as frequent and as long on average have one score: the first by name, not the last bit, decides
        return np.asarray(scores.round(6).argmax(axis=1)[where])

    strength = _choose(L2_STRENGTHS, guess, parts, _sizes(parts.choose))
    return guess(strength, _sizes(parts.test)), {"C": strength, "feature": "tokens, standardised"}


def _sizes(rows: Sequence[Example]) -> np.ndarray:
    return np.array([len(row.tokens) for row in rows], np.float64)


def _fit(x: np.ndarray, table: np.ndarray, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Slope and intercept per class of the logistic regression over values x (n) met table (n, classes) times each.

    The intercepts are not penalised, as in scikit-learn.
    """
    classes, per_value, total = table.shape[1], table.sum(axis=1, keepdims=True), table.sum()

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        slope, start = weights.reshape(2, classes)
        logs = log_softmax(np.outer(x, slope) + start, axis=1)
        excess = per_value * np.exp(logs) - table
        value = 0.5 / strength * (slope @ slope) - (table * logs).sum()
        return float(value / total), np.concatenate([x @ excess + slope / strength, excess.sum(axis=0)]) / total

    begin = np.concatenate([np.zeros(classes), np.log(table.sum(axis=0) / total)])
    options = {"maxiter": 5000, "maxfun": 10_000, "ftol": 1e-14, "gtol": 1e-9, "maxcor": 20}
    slope, start = minimize(loss, begin, jac=True, method="L-BFGS-B", options=options).x.reshape(2, classes)
    return slope, start


# naive Bayes


@dataclass(frozen=True)
class _Words:
    """What naive Bayes has learned."""

    ids: dict[str, int]
    """The number of each feature."""
    train: sparse.csr_array
    """tf-idf weights (rows, features)."""
    label: np.ndarray
    test: sparse.csr_array
    alpha: float


def _learn(parts: _Parts, inputs: tuple[str, ...], pairs: bool) -> _Words:
    ids: dict[str, int] = {}
    counts = _counts(parts.train, ids, inputs, pairs, grow=True)
    met_in = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log((1 + len(parts.train)) / (1 + met_in)) + 1
    train, label = _weighed(counts, rarity), parts.numbers(parts.train)
    dev, test = (_weighed(_counts(rows, ids, inputs, pairs), rarity) for rows in (parts.choose, parts.test))

    def guess(alpha: float, given: sparse.csr_array) -> np.ndarray:
        return predict(train, label, given, len(parts.labels), alpha)

    return _Words(ids, train, label, test, _choose(ALPHAS, guess, parts, dev))


def bayes_curve(dataset: Dataset, subsets: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Which test rows nb-uni has right that learned from some rows of tr, given by their numbers; one array per subset.

    All of va is chosen on. Words are counted once, and of all rows together this is the baseline.
    """
    parts, inputs = _parts(dataset), expectations_for(dataset).inputs
    ids: dict[str, int] = {}
    train = _counts(parts.train, ids, inputs, pairs=False, grow=True)
    dev, test = (_counts(rows, ids, inputs, pairs=False) for rows in (parts.choose, parts.test))
    labels, truth = parts.numbers(parts.train), parts.numbers(parts.test)
    for subset in subsets:
        some = train[subset]
        met = np.unique(some.indices)  # no other word is known
        own, own_dev, own_test = (counts[:, met] for counts in (some, dev, test))
        rarity = np.log((1 + len(subset)) / (1 + np.bincount(own.indices, minlength=len(met)))) + 1
        weights, label = _weighed(own, rarity), labels[subset]

        def guess(
            alpha: float, given: sparse.csr_array, weights: sparse.csr_array = weights, label: np.ndarray = label
        ) -> np.ndarray:
            return predict(weights, label, given, len(parts.labels), alpha)

        alpha = _choose(ALPHAS, guess, parts, _weighed(own_dev, rarity))
        yield guess(alpha, _weighed(own_test, rarity)) == truth


def _bayes(parts: _Parts, inputs: tuple[str, ...], *, pairs: bool) -> tuple[np.ndarray, dict[str, object]]:
    learned = _learn(parts, inputs, pairs)
    columns = {name for row in parts.train for name, _ in row.extra}
    settings: dict[str, object] = {
        "alpha": learned.alpha, "ngrams": [1, 2] if pairs else [1], "lower_case": True,
        "inputs": [name for name in inputs if name in columns], "features": len(learned.ids),
    }  # fmt: skip
    return predict(learned.train, learned.label, learned.test, len(parts.labels), learned.alpha), settings


def top_features(dataset: Dataset, name: str = "nb-uni", top: int = 10) -> dict[str, list[tuple[str, float]]]:
    """What speaks most for each label to naive Bayes: up to ``each`` features with their log-odds, highest first.

    The log-odds of a feature are ln p(feature | label) - ln p(feature | any other label), smoothed as the baseline is.
    Features are lower-cased words; of ``nb-bi`` also pairs, joined by a space; those of a further input stand after its
    name and a tab.
    """
    if name not in ("nb-uni", "nb-bi"):
        raise UsageError(f"{name!r} has no features to tell; expected nb-uni or nb-bi.")
    parts = _parts(dataset)
    learned = _learn(parts, expectations_for(dataset).inputs, name == "nb-bi")
    n, width, alpha = len(learned.label), learned.train.shape[1], learned.alpha
    owner = sparse.csr_array((np.ones(n), (learned.label, np.arange(n))), shape=(len(parts.labels), n))
    weights = (owner @ learned.train).tocsr()
    whole = np.asarray(weights.sum(axis=0)).ravel()
    total, features = whole.sum(), list(learned.ids)
    found: dict[str, list[tuple[str, float]]] = {}
    for i, label in enumerate(parts.labels):
        here = weights.indices[weights.indptr[i] : weights.indptr[i + 1]]  # no other feature speaks for the label
        mine = weights.data[weights.indptr[i] : weights.indptr[i + 1]]
        rest = np.maximum(whole[here] - mine, 0.0)
        odds = np.log((mine + alpha) / (mine.sum() + alpha * width))
        odds -= np.log((rest + alpha) / (total - mine.sum() + alpha * width))
        best = sorted(zip((-odds).tolist(), [features[j] for j in here.tolist()], strict=True))[:top]
        found[label] = [(feature, -odd) for odd, feature in best if odd < -1e-9]  # what is less, rounding may make
    return found


def _features(row: Example, inputs: tuple[str, ...], pairs: bool) -> Iterator[str]:
    """Lower-cased words, pairs joined by a space, and the same of each further input after its name and a tab."""
    texts = [("", " ".join(row.tokens)), *((f"{name}\t", text) for name, text in row.extra if name in inputs)]
    for mark, text in texts:
        words = [mark + word for word in text.lower().split(" ") if word]
        yield from words
        if pairs:
            yield from (f"{a} {b}" for a, b in pairwise(words))


def _counts(
    rows: Sequence[Example], ids: dict[str, int], inputs: tuple[str, ...], pairs: bool, *, grow: bool = False
) -> sparse.csr_array:
    """How often each row has each feature (rows, features); those without a number get one, or are left out."""
    found, starts = array("i"), array("q", [0])
    for row in rows:
        for feature in _features(row, inputs, pairs):
            number = ids.setdefault(feature, len(ids)) if grow else ids.get(feature, -1)
            if number >= 0:
                found.append(number)
        starts.append(len(found))
    cells = (np.ones(len(found)), np.array(found, np.int32), np.array(starts, np.int64))
    matrix = sparse.csr_array(cells, shape=(len(rows), max(1, len(ids))))
    matrix.sum_duplicates()
    return matrix


def _weighed(counts: sparse.csr_array, rarity: np.ndarray) -> sparse.csr_array:
    """Counts times rarity, each row of length 1: scikit-learn's tf-idf."""
    data = counts.data * rarity[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    norm = np.sqrt(np.bincount(row, data * data, minlength=counts.shape[0]))
    return sparse.csr_array((data / norm[row], counts.indices, counts.indptr), shape=counts.shape)


def print_baselines(datasets: Dataset | Iterable[Dataset], *, published: bool = False) -> None:
    """A table of what the baselines reach on te; ``published``: also what papers printed of other sets of the task."""
    from rich.table import Table

    from sonde.console import out
    from sonde.published import human
    from sonde.published import published as printed_rows
    from sonde.stats.intervals import wilson

    table = Table(box=None, pad_edge=False, header_style="bold")
    others = ("nb-uni (another set)", "human (another set)") if published else ()
    for column in ("set", "te", *BASELINES, "±", *others):
        table.add_column(column, justify="left" if column == "set" else "right")
    for dataset in as_list(datasets, Dataset, "a set"):
        found = [baseline(name, dataset) for name in BASELINES]
        best = max(found, key=lambda p: p.accuracy)
        low, high = wilson(best.accuracy * best.rows, best.rows)
        suite = dataset.name.split("/")[0]
        people = human(dataset.task, suite)
        printed = [r for r in printed_rows(dataset.task, suite=suite) if r.kind == "baseline" and "NB-uni" in r.model]
        beside = (printed[0] if printed else None, people)
        table.add_row(
            dataset.name,
            f"{best.rows:,}",
            *(f"{100 * p.accuracy:.1f}" for p in found),
            "" if best.name in CONSTANT_BASELINES else f"{50 * (high - low):.1f}",
            *(f"{100 * row.value:.1f}" if row else "" for row in beside if published),
        )
    out().print(table)
