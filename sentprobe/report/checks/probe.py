"""Checks of how the probe was trained and chosen."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import suppress
from typing import Any

from sentprobe.core.formatting import POINTS
from sentprobe.data.layouts import LAYOUTS
from sentprobe.errors import SentProbeError
from sentprobe.probes import Probe, parse
from sentprobe.probes.kind import kind_of
from sentprobe.report.cells import MIN_GRID_SIZE
from sentprobe.report.check import MARGIN, Check, CheckFinding, ScoredCell, differs_significantly, scored_cells
from sentprobe.report.types import CellSummary, Summary
from sentprobe.results.result import Signature
from sentprobe.stats.level import alpha_text

RECOMMENDED_SEEDS = 5
"""Seeds to average over, as in Holmes (Waldis et al. 2024)."""
COVER_CAPACITY = 2
"""Rows per dimension up to which a hyperplane more likely than not separates any two classes (Cover 1965, IEEE Trans.
Electron. Comput. 14:326)."""


def mlp_gain(summary: Summary) -> CheckFinding | None:
    """Sets on which an MLP finds more than a linear probe."""
    pairs = [pair for columns in _by_encoder(summary) for pair in _flat_and_deep(columns)]
    if not pairs:
        return None
    gains = [
        (flat, deep)
        for flat, deep in pairs
        if deep.cell.accuracy - flat.cell.accuracy > MARGIN and _differ(flat.cell, deep.cell)
    ]
    if not gains:
        text = f"{len(pairs)} of {len(pairs)} pairs of a linear probe and an MLP: no significant gain above 3 points."
        return CheckFinding("passed", "An MLP finds little more than a linear probe", text)
    text = (
        f"{len(gains)} of {len(pairs)} pairs of a linear probe and an MLP: the MLP is more than 3 points better, "
        "and significantly different. What it finds there is in the vectors, but not linearly decodable."
    )
    where = [
        f"{deep.name}: {POINTS.number(deep.cell.accuracy)}, {flat.column.probe} {POINTS.number(flat.cell.accuracy)}"
        for flat, deep in gains
    ]
    return CheckFinding("tip", "An MLP finds more than a linear probe", text, where)


def _by_encoder(summary: Summary) -> list[list[ScoredCell]]:
    """Results that differ in their probe only."""
    groups: dict[tuple[Any, ...], list[ScoredCell]] = {}
    for scored_cell in scored_cells(summary):
        if scored_cell.predicts_classes:
            groups.setdefault(
                (*scored_cell.sample, scored_cell.column.encoder, scored_cell.column.identity), []
            ).append(scored_cell)
    return list(groups.values())


def _flat_and_deep(columns: list[ScoredCell]) -> list[tuple[ScoredCell, ScoredCell]]:
    """Each MLP with the best probe that has no hidden layer."""
    probed = [(n, any(probe.hidden)) for n in columns if (probe := _probe(n)) is not None]
    best = max((n for n, units in probed if not units), key=lambda n: n.cell.accuracy, default=None)
    return [] if best is None else [(best, n) for n, units in probed if units]


def _probe(scored_cell: ScoredCell) -> Probe | None:
    """The probe as it was used on a set; None for one that this version does not know."""
    with suppress(SentProbeError):
        text = scored_cell.column.probe
        return None if text is None else parse(text)[1].of_task(scored_cell.set_summary.task)
    return None


def _differ(a: CellSummary, b: CellSummary) -> bool:
    """Whether two are significantly different; without letters, nothing speaks against it."""
    return not a.letters or not b.letters or set(a.letters).isdisjoint(b.letters)


def dev_test_gap(summary: Summary) -> CheckFinding | None:
    """Scores that are further from the dev score than sampling explains."""
    scores: list[tuple[ScoredCell, float, int]] = []
    for n in scored_cells(summary):
        rows = int(Signature.parse(n.cell.signatures[0]).n.split("/")[1])
        probe = _probe(n)
        by_class = probe is not None and probe.weights == "balanced"  # whose dev score is the balanced accuracy
        if n.predicts_classes and n.cell.dev_score is not None and rows and not by_class:
            scores.append((n, n.cell.dev_score, rows))
    if not scores:
        return None
    # dev is as noisy per row, or per target form, as test, and both count
    scale = [math.sqrt(1 + n.cell.n / rows) for n, _, rows in scores]
    apart = differs_significantly([n.cell for n, _, _ in scores], [dev for _, dev, _ in scores], scale)
    gaps = [
        (n, dev) for (n, dev, _), far in zip(scores, apart, strict=True) if far and abs(dev - n.cell.accuracy) > MARGIN
    ]
    if not gaps:
        text = f"{len(scores)} of {len(scores)} scores: test is within 3 points of dev, or sampling explains the gap."
        return CheckFinding("passed", "Dev and test agree", text)
    higher = sum(dev > n.cell.accuracy for n, dev in gaps)
    text = (
        f"{len(gaps)} of {len(scores)} scores: dev and test are more than 3 points apart, which sampling does not "
        f"explain (Holm over the scores, {alpha_text()}); dev is higher in {higher} of {len(gaps)}."
    )
    where = [f"{n.name}: dev {POINTS.number(dev)}, test {POINTS.number(n.cell.accuracy)}" for n, dev in gaps]
    return CheckFinding("tip", "Dev and test differ", text, where)


def grid_edge(summary: Summary) -> CheckFinding | None:
    """Scores for which dev chose an L2 at the edge of the grid."""
    tuned = [n for n in scored_cells(summary) if n.predicts_classes and _grid(n) >= MIN_GRID_SIZE]
    if not tuned:
        return None
    edges = [n for n in tuned if n.cell.edge and not _nothing(n)]
    if not edges:
        text = (
            f"{len(tuned)} of {len(tuned)} scores: the L2 chosen on dev lies inside the grid, or nothing was learned."
        )
        return CheckFinding("passed", "The L2 grid is wide enough", text)
    counts = Counter(n.cell.edge for n in edges)
    ends = " or ".join(f"the {end} ({counts[end]})" for end in ("weakest", "strongest") if counts[end])
    text = f"{len(edges)} of {len(tuned)} scores: dev chose {ends} L2 of the grid, so one beyond it may be better."
    return CheckFinding("tip", "L2 at the edge of the grid", text, [f"{n.name}: {n.cell.edge}" for n in edges])


def _grid(scored_cell: ScoredCell) -> int:
    probe = _probe(scored_cell)
    return 0 if probe is None else len(probe.l2)


def _nothing(scored_cell: ScoredCell) -> bool:
    """Whether the probe learned nothing, so that the choice of L2 is random."""
    majority = scored_cell.baselines.get("majority")
    return majority is not None and scored_cell.low <= majority.accuracy


def not_converged(summary: Summary) -> CheckFinding | None:
    """Scores of probes whose search for the optimum was given up."""
    convex = [n for n in scored_cells(summary) if (probe := _probe(n)) is not None and probe.kind == "convex"]
    if not convex:
        return None
    stopped = [n.name for n in convex if not n.cell.converged]
    if not stopped:
        text = f"{len(convex)} of {len(convex)} scores: the search ended where the loss is lowest."
        return CheckFinding("passed", "Convex probes are at their optimum", text)
    text = (
        f"{len(stopped)} of {len(convex)} scores: the search was given up after as many reads of the rows as the probe "
        "allows, before the optimum. Other versions, orders or machines may give other scores."
    )
    return CheckFinding("tip", "Some convex probes are not at their optimum", text, stopped)


def one_seed(summary: Summary) -> CheckFinding | None:
    """Scores that another seed could change, by an unknown amount."""
    every = [] if not summary.kind.trains_probes else list(scored_cells(summary))
    if not every:
        return None
    moved = [n for n in every if _moves(n)]
    once = [n for n in moved if n.cell.seeds == 1]
    if once:
        text = (
            f"{len(once)} of {len(every)} scores: from one seed, though another seed may give another score. Their "
            f"intervals do not cover that; {RECOMMENDED_SEEDS} seeds would."
        )
        return CheckFinding("tip", "Only one seed", text, [n.name for n in once])
    if not moved:
        text = f"None of {len(every)} scores depends on a seed: a convex loss has one optimum."
    else:
        text = f"{len(moved)} of {len(every)} scores depend on a seed, and are means over two or more."
    return CheckFinding("passed", "Seeds are accounted for", text)


def _moves(scored_cell: ScoredCell) -> bool:
    """Whether a seed matters: for folds, for SentEval's own regressions, and for MLPs."""
    layout, probe = LAYOUTS.get(scored_cell.set_summary.task), _probe(scored_cell)
    protocol = layout.protocol if layout else "split"
    if protocol == "split":
        return probe is None or kind_of(probe).seeded
    return protocol != "similarity"  # nothing is trained for those


def wide_vectors(summary: Summary) -> CheckFinding | None:
    """Scores from so few training rows that a linear probe can fit any labels."""
    scores = [n for n in scored_cells(summary) if n.predicts_classes and n.cell.dimension]
    if not scores:
        return None
    wide = [n for n in scores if n.cell.train_n <= COVER_CAPACITY * (n.cell.dimension or 0)]
    if not wide:
        text = f"{len(scores)} of {len(scores)} scores: more than twice as many training rows as dimensions."
        return CheckFinding("passed", "Enough training rows for the dimensions", text)
    text = (
        f"{len(wide)} of {len(scores)} scores: at most twice as many training rows as dimensions, so that a linear "
        "probe can probably fit any labels of two classes; L2 decides what it finds, and encoders of different "
        "dimensions are hard to compare."
    )
    where = [f"{n.name}: {n.cell.train_n:,} rows, {n.cell.dimension:,} dimensions" for n in wide]
    return CheckFinding("tip", "Few training rows for the dimensions", text, where)


checks = (
    Check(
        name="mlp-gain",
        order=130,
        find=mlp_gain,
        advice="Name the probe with the score, and compare encoders by the same probe.",
        doc="""
A tip where an MLP is more than 3 points better than the best probe without a hidden layer on the same encoder, unless
the letters say that the two are not significantly different. The vectors then hold something that a linear probe
misses; Conneau et al. (2018) found it for tree depth, odd man out and coordination inversion.
""",
    ),
    Check(
        name="dev-test-gap",
        order=140,
        find=dev_test_gap,
        advice="Run `sentprobe audit` on the set; look at lengths and labels by split.",
        doc="""
A tip where the accuracy on dev, by which hyperparameters were chosen, and that on test are more than 3 points apart,
and significantly so, with dev taken to be as noisy per row as test. Dev is naturally a little higher, as the best of a
grid and of the layers. A larger gap says that dev and test were not drawn alike, or that one of them shares rows with
train. The score on test was not used for any choice, and remains valid.
""",
    ),
    Check(
        name="grid-edge",
        order=150,
        find=grid_edge,
        advice='Use a wider grid, as in `-p "linear?l2=0.01,0.1,1,10,100"`.',
        doc="""
A tip where the L2 that dev chose is the weakest or the strongest of three or more, and the score is significantly
above the most frequent label; at chance the choice is random.
""",
    ),
    Check(
        name="not-converged",
        order=155,
        find=not_converged,
        advice="Use a higher limit, as in `-p 'linear?passes=1000'`, or no penalties as weak as the one chosen.",
        doc="""
A tip where the search for the optimum of a `linear` probe, at the penalty that dev chose, ended at the limit of
`passes` and not at the optimum: such a probe is one of many that could have been trained.
""",
    ),
    Check(
        name="wide-vectors",
        order=160,
        find=wide_vectors,
        advice="Use more training rows, or encoders of the same dimension.",
        doc="""
A tip where there are at most two training rows per dimension: a hyperplane then more likely than not separates two
classes whatever their labels (Cover 1965), and L2 decides how much of that is kept. Longer vectors have an advantage,
or a disadvantage, that has nothing to do with what they encode.
""",
    ),
    Check(
        name="one-seed",
        order=170,
        find=one_seed,
        advice="Use `--probe-seeds 5`, as Holmes (Waldis et al. 2024) does; the report then shows means, and intervals "
        "over rows and seeds.",
        doc="""
A tip where a score depends on a seed (MLPs, tasks with folds, SentEval's regressions on pairs) and there is only one:
intervals do not cover what another seed would give. A convex probe on fixed splits has no seed, and nothing is trained
for similarity.
""",
    ),
)
