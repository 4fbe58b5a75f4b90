"""How often `sentprobe replicate --published` gives a wrong verdict: simulated tables of two encoders on ten tasks.

    python benchmarks/replicate.py [DRAWS]

Both encoders are tested on the same 10,000 rows of each task, and are right on the same rows as often as by chance or
more often; the table has their accuracies, rounded as papers round them. A row is a claim that is just not true, or
just true: the share of tables whose verdict is held, or contradicted. The last rows are claims that are true by two
points.
"""

from __future__ import annotations

import sys

import numpy as np

from sentprobe.published import PublishedRow
from sentprobe.replicate import Claim, Difference, Models, PrintedResults
from sentprobe.replicate.decide import verdict_of_tests
from sentprobe.replicate.evidence import ClaimScore
from sentprobe.replicate.vocabulary import Cells, CellTest, Tested

SHORT = "100"
ROWS, TASKS, ACCURACY = 10_000, 10, 0.8
CORRELATIONS = (0.0, 0.3, 0.6)
"""Of being right, between the two encoders on the same row."""
FAR = 0.05
"""A difference that is beyond doubt."""
CLAIMS: dict[str, tuple[Cells, str, tuple[float, ...]]] = {
    "every task, one of which is equal": ("every", "held", (0.0, *(FAR,) * 9)),
    "every task, all equal": ("every", "contradicted", (0.0,) * 10),
    "most tasks, five equal": ("most", "held", (*(0.0,) * 5, *(FAR,) * 5)),
    "most tasks, six equal, four lower": ("most", "contradicted", (*(0.0,) * 6, *(-FAR,) * 4)),
    "mean, all equal": ("mean", "held", (0.0,) * 10),
}
"""How many cells are claimed, the wrong verdict, and the true differences."""
TRUE: dict[str, tuple[Cells, str, tuple[float, ...]]] = {
    f"true by two points: {cells}": (cells, "held", (0.02,) * 10) for cells in ("every", "most", "mean")
}


def accuracies(difference: float, correlation: float, rng: np.random.Generator) -> tuple[float, float]:
    """What a table would print for two encoders on the same rows."""
    first, second = ACCURACY + difference / 2, ACCURACY - difference / 2
    both = first * second + correlation * (first * (1 - first) * second * (1 - second)) ** 0.5
    counts = rng.multinomial(ROWS, [both, first - both, second - both, 1 - first - second + both])
    return round((counts[0] + counts[1]) / ROWS, 3), round((counts[0] + counts[2]) / ROWS, 3)


def printed(model: str, task: str, value: float) -> ClaimScore:
    """A cell of the table."""
    row = PublishedRow("conneau2018", "2", model, "model", "en", "conneau2018", task, "accuracy", value)
    return ClaimScore(model, {}, task, "en", task, "accuracy", value, model, row)


def outcome(cells: Cells, differences: tuple[float, ...], correlation: float, rng: np.random.Generator) -> str:
    """The verdict from one simulated table."""
    evidence, tests = PrintedResults("conneau2018"), []
    for i, difference in enumerate(differences):
        scores = zip(("first", "second"), accuracies(difference, correlation, rng), strict=True)
        contrast = evidence.contrast(*(printed(model, f"task {i}", value) for model, value in scores))
        tests.append(CellTest.of(contrast, "above", 0.0))
    statistic = Difference(Models("first"), Models("second"), cells=cells)
    claim = Claim(name="claim", paper="conneau2018", where="table 2", sentence="It is so.", statistic=statistic)
    return verdict_of_tests(claim, [Tested(tests)], evidence.rule).outcome


def main() -> None:
    """Print the share of wrong verdicts for each kind of claim, and how often true ones hold."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    rng = np.random.default_rng(1)
    shares = {}
    for name, (cells, verdict, differences) in {**CLAIMS, **TRUE}.items():
        for correlation in CORRELATIONS:
            label = f"{name}, correlation {correlation}"
            outcomes = [outcome(cells, differences, correlation, rng) for _ in range(draws)]
            shares[name, correlation] = 100 * outcomes.count(verdict) / draws
            print(f"{label:<55} {verdict:<12}{shares[name, correlation]:6.1f} %")
    wrong = max(share for (name, _), share in shares.items() if name in CLAIMS)
    print(f"= replicate/wrong {wrong:.1f}")
    print(f"= replicate/held {min(share for (name, _), share in shares.items() if name in TRUE):.1f}")


if __name__ == "__main__":
    main()
