"""Import time, and the errors for invalid arrays."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

from sentprobe import stats
from sentprobe.errors import DataError, TooFewError, UsageError
from sentprobe.stats import inputs, level


def test_importing_loads_numpy_only():
    code = "import sys, sentprobe.stats; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" in loaded
    assert {"scipy", "sklearn", "statsmodels", "pandas", "torch"}.isdisjoint(loaded)


def test_every_public_name_is_there_and_explained():
    for name in stats.__all__:
        assert getattr(stats, name).__doc__, name


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: stats.bootstrap([0.0, np.nan], seed=1), DataError, "1 values that are not finite"),
        (lambda: stats.bootstrap([], seed=1), TooFewError, "at least 1"),
        (lambda: stats.bootstrap([1.0], seed=1), TooFewError, "only one row or cluster"),
        (lambda: stats.bootstrap(["a", "b"], seed=1), DataError, "must be numbers"),
        (lambda: stats.bootstrap([[1.0, 2.0]], seed=1), DataError, r"\(1, 2\)"),
        (lambda: stats.bootstrap([1.0, 2.0], seed=1, draws=10), UsageError, "at least 100, got 10"),
        (lambda: stats.bootstrap([1.0, 2.0], seed=1, level=95), UsageError, "between 0 and 1, got 95"),
        (lambda: stats.cluster_bootstrap([1.0, 2.0], ["a", "a"], seed=1), TooFewError, "only one row or cluster"),
        (lambda: stats.cluster_bootstrap([1.0, 2.0], ["a"], seed=1), DataError, "2 rows and 1 clusters"),
        (lambda: stats.wilson(3, 0), UsageError, "3 of 0"),
        (lambda: stats.wilson(4, 3), UsageError, "4 of 3"),
        (lambda: stats.mcnemar([0, 1, 2], [0, 1, 1]), DataError, "0 or 1"),
        (lambda: stats.mcnemar([0, 1], [0, 1, 1]), DataError, "2 rows and second_right 3"),
        (lambda: stats.paired_bootstrap([0, 1], [0, 1, 1], seed=1), DataError, "first has 2 rows and second 3"),
        (lambda: stats.detectable(1.5, 100), UsageError, "1.5"),
        (lambda: stats.holm([0.1, np.nan]), DataError, "between 0 and 1"),
        (lambda: stats.letters(["x", "y"], {}), DataError, "one p-value for each"),
        (lambda: stats.letters(["x", "y"], {("x", "y"): 1, ("y", "x"): 0}), DataError, "one p-value for each"),
        (lambda: stats.tie_groups({"x": [0, 1], "y": [1]}), DataError, "x has 2 rows and y 1"),
        (lambda: stats.corrected_t([0.1], 90, 10), TooFewError, "at least 2"),
        (lambda: stats.corrected_t([0.1, 0.2], 0, 10), UsageError, "above 0"),
        (lambda: stats.correlate([1, 2], [1, 2], seed=1), TooFewError, "at least 3"),
        (lambda: stats.correlate([1, 1, 1], [1, 2, 3], seed=1), DataError, "vary"),
        (lambda: stats.correlate([1, 2, 4], [1, 2, 3], kind="kendall", seed=1), UsageError, "kendall"),
        (lambda: stats.accuracy([0.5], [1]), DataError, "one integer per row"),
        (lambda: stats.accuracy([], np.array([], int)), DataError, "predicted"),
        (lambda: stats.accuracy([-1], [0]), DataError, "at least 0, got -1"),
        (lambda: stats.accuracy([0], [-2]), DataError, "at least -1, got -2"),
        (lambda: stats.confusion([0, 3], [0, 1], 3), DataError, "classes 0 … 2, got 3"),
        (lambda: stats.log2_loss(np.full((2, 2), 0.5), [0, 1]), DataError, "logarithms"),
        (lambda: stats.log2_loss(np.full((2, 2), np.nan), [0, 1]), DataError, "NaN"),
        (lambda: stats.log2_loss(np.zeros((2, 2)), [0, 2]), DataError, r"got \(2, 2\)"),
    ],
)
def test_what_is_invalid_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_there_is_one_zero():
    """A zero of its own would be a value of its own where alike values are counted by their bits."""
    assert not np.signbit(inputs.numbers([-0.0, 0.0], "x")).any()


def test_levels_are_the_usual_ones_everywhere():
    """95 % intervals, tests at 5 % and a power of 80 %; a number of draws is part of a number that was published."""
    functions = [found for name in stats.__all__ if inspect.isfunction(found := getattr(stats, name))]
    defaults = [(f.__name__, p.name, p.default) for f in functions for p in inspect.signature(f).parameters.values()]
    # None: what sentprobe.stats.level says when the function is called
    usual = {"level": None, "alpha": None, "power": 0.8}
    assert {(name, value) for _, name, value in defaults if name in usual} == set(usual.items())
    assert (level.LEVEL, level.ALPHA) == (0.95, 0.05)
    assert {function: value for function, name, value in defaults if name == "draws"} == {
        "bootstrap": 2000, "cluster_bootstrap": 2000, "paired_bootstrap": 10_000, "permutation": 10_000,
        "hierarchical_bootstrap": 2000, "correlate": 10_000,
    }  # fmt: skip
