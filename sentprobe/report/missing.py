"""What a run should have and has not: cells that were requested and neither finished nor failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sentprobe.core.formatting import count_of
from sentprobe.report.grid import BASELINE_NAMES, Grid
from sentprobe.report.names import short_names
from sentprobe.report.types import MissingCells, Summary
from sentprobe.report.wording import listed
from sentprobe.results.records import read_aliases
from sentprobe.results.run import Run

MAX_NAMED = 4
"""Up to this many encoders or sets are named."""
IDENTICAL = "not run yet, or the same as another encoder or set of this run, whose results are shown under its name"


def missing_cells(run: Run, grid: Grid) -> tuple[MissingCells, ...]:
    """What the last command requested that neither finished nor failed, by encoder.

    A result has one name, the last that it was requested by: an encoder that is the same as another is missing, too.
    """
    requested: Mapping[str, Any] = run.info.get("asked", {})  # by the last command
    datasets = run.info.get("datasets", ())
    selected = requested.get("datasets", [d["digest"] for d in datasets])
    names = {d["digest"]: d["name"] for d in datasets if d["digest"] in selected}
    split = {r.cell.data for r in run.results if (r.metric, r.trained_on, r.chosen_on) == ("accuracy", "tr", "va")}
    several = len({run.folder_of(r) for r in run.results}) > 1  # runs that were joined request different things
    done: dict[str, set[str]] = {}
    for column in (*grid.columns, *grid.baselines):
        tried = {place.data for found, place in grid.failed if found == column}
        finished = {place.data for place in grid.results.get(column, {})}
        done.setdefault(column.encoder, set()).update(tried | finished)
    found, aliases = [], read_aliases(run.info)
    for encoder in requested.get("encoders", run.info.get("encoders", ())):
        if encoder in grid.failed_encoders or (several and encoder in done):
            continue
        # baselines are run on sets that are split and scored by accuracy only
        wanted = {d: name for d, name in names.items() if encoder not in BASELINE_NAMES or d in split}
        sets = [name for digest, name in wanted.items() if digest not in done.get(encoder, ())]
        if sets or not (names or encoder in done):
            alias = aliases.get(encoder)
            found.append(MissingCells(encoder=encoder, alias=alias, sets=tuple(sets), requested=len(wanted)))
    return tuple(found)


def missing_notes(missing: Sequence[MissingCells], sets: Sequence[str]) -> Iterator[str]:
    """The same as notes of a table; ``sets`` are the names of those that have results."""
    absent = [each.alias or each.encoder for each in missing if len(each.sets) == each.requested]
    nobody = dict.fromkeys(name for each in missing for name in each.sets if name not in sets)
    if absent or nobody:
        yield f"There are no results for {', '.join([*absent, *nobody])}: {IDENTICAL}."
    for each in missing:
        some = [name for name in each.sets if name in sets]
        if some and len(each.sets) < each.requested:
            yield f"There are no results of {each.alias or each.encoder} for {', '.join(some)}: {IDENTICAL}."


def missing_line(summary: Summary) -> str:
    """In a sentence, for the top of a page: what of the run is missing; empty if it is complete."""
    if not summary.missing:
        return ""
    known = list(dict.fromkeys([*(c.encoder for c in summary.columns), *(each.encoder for each in summary.missing)]))
    short = dict(zip(known, short_names(known), strict=True))
    short |= {each.encoder: each.alias for each in summary.missing if each.alias}
    cells = sum(len(each.sets) for each in summary.missing)
    parts = [
        f"{short[each.encoder]} on {'all sets' if len(each.sets) == each.requested else _sets(each)}"
        for each in summary.missing
    ]
    count = f"{count_of(cells, 'requested cell')} {'has' if cells == 1 else 'have'} no result"
    return (
        f"{count if cells else 'nothing was finished'}. "
        f"Missing: {listed(parts, most=2 * MAX_NAMED, more='more')}. The same command continues it. If two "
        "encoders are the same, both results are under the last name, and the other one is listed here."
    )


def _sets(each: MissingCells) -> str:
    return listed([name.rsplit("/", 1)[-1] for name in each.sets], most=MAX_NAMED, more="more sets")
