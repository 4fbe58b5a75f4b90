"""What is known about a set before any number: where it came from, what its audit found, what papers printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sonde.audit.finding import SEVERITIES
from sonde.errors import SondeError
from sonde.probes.probe import parse
from sonde.published import TRANSFER, Row, human, published
from sonde.report.grid import Grid, Place
from sonde.result import Result
from sonde.run.folder import Run

PRINTED = 30
"""The most printed rows that are shown beside a set: as many as one table of Conneau et al. (2018) has for a task."""
MLP, LOGISTIC = "2", "4"
"""The tables of Conneau et al. (2018) with the same models under a probe with a hidden layer, and without one."""
KINDS = {
    "made": "made by sonde",
    "senteval": "a file in SentEval's format",
    "xprobe": "files in X-Probe's format",
    "table": "a table",
}
"""What a source of each kind is; others are transfer sets, and go by their own names."""


def described(run: Run, grid: Grid, place: Place) -> dict[str, Any]:
    """A set as the summary has it, without its cells."""
    layers = (grid.layers(column, place) for column in (*grid.columns, *grid.baselines))
    results = [r for by_layer in layers for found in by_layer.values() for r in found]
    every = [d for d in run.info.get("datasets", ()) if d["digest"] == place.data]
    said: Mapping[str, Any] = next((d for d in every if d["name"] == place.name), every[0] if every else {})
    cell = results[0].cell if results else next(f.cell for (_, other), f in grid.failed.items() if other == place)
    language = results[0].language if results else said.get("language")
    prefix = place.name.split("/")[0]
    bayes = [row for row in published(cell.task, suite=prefix) if row.model.startswith("NB-")]
    twins = sum(other.name == place.name for other in grid.sets)
    return {
        "name": place.name,
        "label": place.name if twins == 1 else f"{place.name} #{place.data[:8]}",
        "data": place.data,
        "task": cell.task,
        "version": cell.version,
        "language": language,
        "classes": max((len(r.labels) for r in results), default=len(said.get("labels", ()))),
        "n": dict(max((r.n for r in results), key=lambda n: n["te"], default=said.get("rows", {}))),
        "scored_by": results[0].metric if results else "accuracy",
        "synthetic": any(r.synthetic for r in results),
        "question": said.get("question"),
        "corpus": said.get("corpus"),
        "source": _source(said.get("source")),
        "inputs": list(said.get("inputs", ())),
        "audit": _audit(said.get("audit")),
        "human": next(_accuracies([human(cell.task, prefix)], language), None),
        # a paper may print the same row in two tables
        "paper": list({row["model"]: row for row in _accuracies(bayes, language)}.values()),
        "printed": _printed(cell.task, _suite(cell.task, prefix, said.get("source")), language, results),
    }


def _source(source: Mapping[str, Any] | None) -> str | None:
    """Where a set was read from, in a few words: of a long path its end."""
    if not source or not source["paths"]:
        return None
    path = Path(source["paths"][0])
    end = path.parent if len(source["paths"]) > 1 else path
    kind = str(source["kind"])
    return f"{KINDS.get(kind, kind)}: {'/'.join(part for part in end.parts[-3:] if part != end.anchor)}"


def _audit(findings: Sequence[Mapping[str, Any]] | None) -> dict[str, Any] | None:
    if findings is None:
        return None
    counts = Counter(finding["severity"] for finding in findings)
    kept = ("code", "severity", "message")
    return {
        **{severity: counts[severity] for severity in SEVERITIES},
        "findings": [{name: finding[name] for name in kept} for finding in findings],
    }


def _suite(task: str, prefix: str, source: Mapping[str, Any] | None) -> str:
    """The suite that a set is of, by what papers call it."""
    if task in TRANSFER:
        return "transfer"
    return "xprobe2019" if source and source["kind"] == "xprobe" else prefix


def _accuracies(rows: Iterable[Row | None], language: str | None) -> Iterator[dict[str, Any]]:
    """Printed accuracies, those for another language left out."""
    for row in rows:
        if row is not None and row.metric == "accuracy" and language in (None, row.language):
            yield {"model": row.model, "accuracy": row.value, "paper": row.paper, "table": row.table}


def _printed(task: str, suite: str, language: str | None, results: Sequence[Result]) -> list[dict[str, Any]]:
    """What papers printed of the suite's own set, in their order; of too many rows, the best models and all others.

    Of two tables that differ in the probe, the one whose probe is like that of the results.
    """
    rows = [row for row in published(task, suite=suite) if row.metric == "accuracy"]
    if language is None and len({row.language for row in rows}) > 1:
        return []  # there is no telling which of them the set is in
    other = MLP if all(_flat(probe, task) for probe in {r.cell.probe for r in results}) else LOGISTIC
    once: dict[tuple[str, float], Row] = {}
    for row in rows:
        if language in (None, row.language) and (row.suite, row.table) != ("conneau2018", other):
            once.setdefault((row.model, row.value), row)
    kept = sorted(once.values(), key=lambda row: (row.kind == "model", -row.value))[:PRINTED]
    return [
        {"model": r.model, "kind": r.kind, "accuracy": r.value, "paper": r.paper, "table": r.table}
        for r in once.values()
        if r in kept
    ]


def _flat(probe: str | None, task: str) -> bool:
    """Whether a probe has no hidden layer, as those that learn from words have none."""
    with suppress(SondeError):  # a probe that a later version knows
        return probe is None or parse(probe)[1].of_task(task).hidden == (0,)
    return False
