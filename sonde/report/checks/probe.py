"""Checks of how the probe was trained and chosen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sonde.data.layouts import LAYOUTS
from sonde.errors import SondeError
from sonde.probes import Probe, parse
from sonde.probes.kind import kind_of
from sonde.report.checks.check_result import (
    MARGIN,
    CheckResult,
    ScoredCell,
    Summary,
    check_result,
    differs_significantly,
    points,
    scored_cells,
)
from sonde.result import Signature

MIN_GRID_SIZE = 3
"""Values of L2 from which on a grid has an inside."""
RECOMMENDED_SEEDS = 5
"""Seeds that the spread should be taken over; Holmes (Waldis et al. 2024) takes as many."""
COVER_CAPACITY = 2
"""Rows per dimension up to which a plane is more likely than not to part any two classes (Cover 1965, IEEE Trans.
Electron. Comput. 14:326)."""


def mlp_gain(summary: Summary) -> CheckResult | None:
    """Sets on which a network finds more than a linear probe does."""
    pairs = [pair for several in _by_encoder(summary) for pair in _flat_and_deep(several)]
    if not pairs:
        return None
    gains = [
        (flat, deep)
        for flat, deep in pairs
        if deep.cell["accuracy"] - flat.cell["accuracy"] > MARGIN and _differ(flat.cell, deep.cell)
    ]
    if not gains:
        text = f"{len(pairs)} of {len(pairs)} pairs of a linear probe and a network: no significant gain over 3 points."
        return check_result("mlp-gain", "passed", "A network finds little more than a linear probe", text)
    text = (
        f"{len(gains)} of {len(pairs)} pairs of a linear probe and a network: the network is more than 3 points "
        "better, and significantly different. What it finds there is in the vectors, but not for a linear probe."
    )
    where = [
        f"{deep.name}: {points(deep.cell['accuracy'])}, {flat.column['probe']} {points(flat.cell['accuracy'])}"
        for flat, deep in gains
    ]
    return check_result("mlp-gain", "tip", "A network finds more than a linear probe", text, where)


def _by_encoder(summary: Summary) -> list[list[ScoredCell]]:
    """Numbers that differ in their probe only."""
    found: dict[tuple[Any, ...], list[ScoredCell]] = {}
    for n in scored_cells(summary):
        if n.set_summary["scored_by"] == "accuracy":
            found.setdefault((*n.sample, n.column["encoder"], n.column["identity"]), []).append(n)
    return list(found.values())


def _flat_and_deep(several: list[ScoredCell]) -> list[tuple[ScoredCell, ScoredCell]]:
    """Each network with the best probe that has no hidden layer."""
    known = [(n, any(probe.hidden)) for n in several if (probe := _probe(n)) is not None]
    best = max((n for n, units in known if not units), key=lambda n: n.cell["accuracy"], default=None)
    return [] if best is None else [(best, n) for n, units in known if units]


def _probe(number: ScoredCell) -> Probe | None:
    """The probe as it was used on a set; None for one that a later version knows."""
    with suppress(SondeError):
        text = number.column["probe"]
        return None if text is None else parse(text)[1].of_task(number.set_summary["task"])
    return None


def _differ(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    """Whether two are significantly different; where there are no letters, nothing speaks against it."""
    return not one["letters"] or not two["letters"] or set(one["letters"]).isdisjoint(two["letters"])


def dev_test_gap(summary: Summary) -> CheckResult | None:
    """Numbers that are further from what dev gave than the rows of both explain."""
    found = []
    for n in scored_cells(summary):
        rows = int(Signature.parse(n.cell["signatures"][0]).n.split("/")[1])
        if n.set_summary["scored_by"] == "accuracy" and n.cell["dev_score"] is not None and rows:
            found.append((n, rows))
    if not found:
        return None
    # dev is as noisy as te per row, or per target form, and both count
    scale = [math.sqrt(1 + n.cell["n"] / rows) for n, rows in found]
    apart = differs_significantly([n.cell for n, _ in found], [n.cell["dev_score"] for n, _ in found], scale)
    gaps = [
        n
        for (n, _), far in zip(found, apart, strict=True)
        if far and abs(n.cell["dev_score"] - n.cell["accuracy"]) > MARGIN
    ]
    if not gaps:
        text = f"{len(found)} of {len(found)} numbers: te is within 3 points of dev, or as near as their rows allow."
        return check_result("dev-test-gap", "passed", "Dev and te agree", text)
    higher = sum(n.cell["dev_score"] > n.cell["accuracy"] for n in gaps)
    text = (
        f"{len(gaps)} of {len(found)} numbers: dev and te are more than 3 points apart, and further than their rows "
        f"explain (Holm over the numbers, 5 %); dev is higher in {higher} of {len(gaps)}."
    )
    where = [f"{n.name}: dev {points(n.cell['dev_score'])}, te {points(n.cell['accuracy'])}" for n in gaps]
    return check_result("dev-test-gap", "tip", "Dev and te differ", text, where)


def grid_edge(summary: Summary) -> CheckResult | None:
    """Numbers for which dev chose an L2 beyond which nothing was tried."""
    found = [n for n in scored_cells(summary) if n.set_summary["scored_by"] == "accuracy" and _grid(n) >= MIN_GRID_SIZE]
    if not found:
        return None
    edges = [n for n in found if n.cell["edge"] and not _nothing(n)]
    if not edges:
        text = (
            f"{len(found)} of {len(found)} numbers: the L2 chosen on dev lies inside the grid, or nothing was learned."
        )
        return check_result("grid-edge", "passed", "The grid of L2 is wide enough", text)
    counts = Counter(n.cell["edge"] for n in edges)
    ends = " or ".join(f"the {end} ({counts[end]})" for end in ("weakest", "strongest") if counts[end])
    text = f"{len(edges)} of {len(found)} numbers: dev chose {ends} L2 of the grid, so that one beyond may do better."
    return check_result(
        "grid-edge", "tip", "L2 at the edge of its grid", text, [f"{n.name}: {n.cell['edge']}" for n in edges]
    )


def _grid(number: ScoredCell) -> int:
    probe = _probe(number)
    return 0 if probe is None else len(probe.l2)


def _nothing(number: ScoredCell) -> bool:
    """Whether nothing was found to be learned, so that it is luck which L2 is chosen."""
    return "majority" in number.baselines and number.cell["low"] <= number.baselines["majority"]["accuracy"]


def one_seed(summary: Summary) -> CheckResult | None:
    """Numbers that another seed could move, by how much nobody knows."""
    every = list(scored_cells(summary))
    if not every:
        return None
    moved = [n for n in every if _moves(n)]
    once = [n for n in moved if n.cell["seeds"] == 1]
    if once:
        text = (
            f"{len(once)} of {len(every)} numbers: from one seed, though another seed may give another number. Their "
            f"intervals do not say by how much; {RECOMMENDED_SEEDS} seeds would."
        )
        return check_result("one-seed", "tip", "One seed only", text, [n.name for n in once])
    if not moved:
        text = f"None of {len(every)} numbers depends on a seed: a convex loss has one optimum."
    else:
        text = f"{len(moved)} of {len(every)} numbers depend on a seed, and are means of two or more."
    return check_result("one-seed", "passed", "Seeds are accounted for", text)


def _moves(number: ScoredCell) -> bool:
    """Whether a seed matters: to which rows make a fold, to SentEval's own regressions, and to networks."""
    layout, probe = LAYOUTS.get(number.set_summary["task"]), _probe(number)
    protocol = layout.protocol if layout else "split"
    if protocol == "split":
        return probe is None or kind_of(probe).seeded
    return protocol != "similarity"  # of which nothing is learned


def wide_vectors(summary: Summary) -> CheckResult | None:
    """Numbers from fewer training rows than it takes to keep a linear probe from fitting anything."""
    found = [n for n in scored_cells(summary) if n.set_summary["scored_by"] == "accuracy" and n.cell["dimension"]]
    if not found:
        return None
    wide = [n for n in found if n.cell["train_n"] <= COVER_CAPACITY * n.cell["dimension"]]
    if not wide:
        text = f"{len(found)} of {len(found)} numbers: more than twice as many rows to learn from as dimensions."
        return check_result("wide-vectors", "passed", "Rows enough for the dimensions", text)
    text = (
        f"{len(wide)} of {len(found)} numbers: at most twice as many rows to learn from as dimensions, so that a "
        "linear probe can likely fit any labels of two classes; L2 decides what it finds, and vectors of different "
        "sizes do not compare well."
    )
    where = [f"{n.name}: {n.cell['train_n']:,} rows, {n.cell['dimension']:,} dimensions" for n in wide]
    return check_result("wide-vectors", "tip", "Few rows for so many dimensions", text, where)
