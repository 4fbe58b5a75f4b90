"""The maps along the way of alignments, from the history of a folder or from a run of `sentprobe words`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose
from pathlib import Path
from typing import Any

from sentprobe.core.table import plain
from sentprobe.lab.alignment.folder import open_alignment
from sentprobe.report.drawing.chart import Options, selected_sets
from sentprobe.report.names import short_names
from sentprobe.report.types import MapPoint, Summary

SCORINGS = ("csls", "nn", "isf")
"""How neighbours are scored for the precision, the best choice first."""
DEV = {"dev_csls": "csls", "dev_nn": "nn"}
"""What lines of the history call the precision on the dictionary of --dev."""
CHOSEN, HIGHEST = "the map that was chosen", "the highest criterion"
"""What a ring may be around."""
TOLERANCE = 1e-6
"""How far two criteria of one map may be apart, by rounding."""


@dataclass(frozen=True)
class TracedMap:
    """A map along the way, from the history of an alignment or from a run."""

    panel: str
    series: str
    stage: str
    number: int
    criterion: float | None
    precision: float | None = None
    interval: tuple[float | None, float | None] = (None, None)
    scoring: str | None = None
    ring: str | None = None
    set: int | None = None


def maps_of_folder(path: str) -> list[TracedMap]:
    """The lines of the history, a series per seed."""
    folder = open_alignment(path)
    name = plain(Path(path).resolve().name)
    history = folder.history()
    chosen = _chosen_line(folder.config, history)
    found = []
    for line in history:
        key = next((key for key in DEV if line.get(key) is not None), None)
        found.append(
            TracedMap(
                name,
                f"seed {line['seed']}",
                str(line["stage"]),
                int(line["number"]),
                line.get("criterion"),
                None if key is None else float(line[key]),
                scoring=None if key is None else DEV[key],
                ring=CHOSEN if line is chosen else None,
            )
        )
    return found if chosen is not None else _with_highest(found)


def _chosen_line(config: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The line of the map that was chosen: of the chosen seed, the round of refinement or else what has its criterion;
    None if there is none."""
    seed = next((s for s in config.get("seeds", ()) if s["seed"] == config.get("chosen")), None)
    if seed is None:
        return None
    own = [line for line in history if line["seed"] == seed["seed"]]
    if "round" in seed:
        return next((line for line in own if (line["stage"], line["number"]) == ("refine", seed["round"])), None)
    same = [
        line for line in own
        if line["stage"] != "refine" and line.get("criterion") is not None
        and isclose(line["criterion"], seed.get("criterion") or 0, abs_tol=TOLERANCE)
    ]  # fmt: skip
    return same[-1] if same else None


def _with_highest(found: Sequence[TracedMap]) -> list[TracedMap]:
    """Per panel without a ring, one around the highest criterion."""
    known = {m.panel for m in found if m.ring}
    best: dict[str, tuple[float, int]] = {}
    for i, m in enumerate(found):
        if m.criterion is not None and m.panel not in known:
            best[m.panel] = max(best.get(m.panel, (m.criterion, i)), (m.criterion, i), key=lambda pair: pair[0])
    ringed = {i for _, i in best.values()}
    return [replace(m, ring=HIGHEST) if i in ringed else m for i, m in enumerate(found)]


def maps_of_run(summary: Summary, options: Options) -> list[TracedMap]:
    """The maps of a run of `sentprobe words`; of several scorings, the first of ``SCORINGS``."""
    points = summary.word_spaces.maps if summary.word_spaces is not None else ()
    titles = selected_sets(summary, options.sets)
    points = tuple(p for p in points if p.set in titles and (not options.columns or p.column in options.columns))
    scorings = {summary.columns[p.column].probe for p in points}
    scoring = next((name for name in SCORINGS if name in scorings), None)
    kept = [p for p in points if summary.columns[p.column].probe == scoring]
    names = list(dict.fromkeys(p.alignment for p in kept))
    short = dict(zip(names, short_names(names), strict=True))
    several = len({p.set for p in kept}) > 1

    def panel(p: MapPoint) -> str:
        return short[p.alignment] + (f", {titles[p.set]}" if several else "")

    found = [
        TracedMap(
            panel(p), "chosen seed" if p.seed is None else f"seed {p.seed}", p.stage, p.number, p.criterion, p.value,
            (p.low, p.high), scoring, CHOSEN if p.chosen else None, p.set,
        )
        for p in kept
    ]  # fmt: skip
    return _with_highest(found)
