"""What is known about a set before any score: where it came from, its labels, published results, and errors in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sentprobe.core.formatting import count_of
from sentprobe.errors import SentProbeError
from sentprobe.report.published import Published, published_results
from sentprobe.report.result_grid import Grid, SetKey
from sentprobe.report.types import AuditFinding, SetSummary, Summary
from sentprobe.results.metric import DEFAULT_METRIC, metric_named, table_metrics
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.scores import applies
from sentprobe.tasks import TASKS, load_task

SOURCE_KINDS = {
    "made": "made by sentprobe",
    "senteval": "a file in SentEval's format",
    "xprobe": "files in X-Probe's format",
    "table": "a table",
    "pairs": "pairs or triplets",
}
"""What a source of each kind is; others are transfer sets, and go by their own names."""


def describe_set(
    run: Run, grid: Grid, set_key: SetKey, *, metric: str = DEFAULT_METRIC, published: bool = False
) -> SetSummary:
    """A set without its cells.

    ``metric``: what to score it by, unless it is the default; ``published``: also results that papers printed for other
    sets.
    """
    layers = (grid.layers(column, set_key) for column in (*grid.columns, *grid.baselines))
    results = [r for by_layer in layers for by_seed in by_layer.values() for r in by_seed]
    every = [d for d in run.info.get("datasets", ()) if d["digest"] == set_key.data]
    info: Mapping[str, Any] = next((d for d in every if d["name"] == set_key.name), every[0] if every else {})
    cell = results[0].cell if results else next(f.cell for (_, key), f in grid.failed.items() if key == set_key)
    language = results[0].language if results else info.get("language")
    twins = sum(key.name == set_key.name for key in grid.sets)
    audit = info.get("audit")
    scored_by = _scored_by(results, info, metric)
    if results and scored_by != results[0].metric:  # which published scores are of
        printed = Published()
    else:
        printed = published_results(info, set_key.name, cell.task, language, results, other_sets=published)
    return SetSummary(
        name=set_key.name,
        label=set_key.name if twins == 1 else f"{set_key.name} #{set_key.data[:8]}",
        data=set_key.data,
        task=cell.task,
        version=cell.version,
        language=language,
        classes=max((len(r.labels) for r in results), default=len(info.get("labels", ()))),
        label_names=label_names_of(cell.task, results[0].labels if results else info.get("labels", ())),
        n=dict(max((r.n for r in results), key=lambda n: n["te"], default=info.get("rows", {}))),
        folds=results[0].cell.folds if results else info.get("folds"),
        scored_by=scored_by,
        synthetic=any(r.synthetic for r in results),
        question=info.get("question"),
        corpus=info.get("corpus"),
        source=_source(info.get("source")),
        inputs=tuple(info.get("inputs", ())),
        audit=None if audit is None else tuple(map(_finding, audit)),
        redundancy=info.get("redundancy") or {},
        printed_for=printed.extent,
        human=printed.human,
        published=printed.models,
    )


def _scored_by(results: Sequence[Result], info: Mapping[str, Any], requested: str) -> str:
    """The metric of a set: the requested one, else that of its manifest, if results can be scored by it."""
    recorded = results[0].metric if results else DEFAULT_METRIC
    name = info.get("metric") if requested == DEFAULT_METRIC else requested
    return name if name and results and applies(metric_named(name), results[0]) else recorded


def metric_note(run: Run) -> Iterator[str]:
    """Sets whose manifests name a metric that is not installed."""
    for info in run.info.get("datasets", ()):
        if (name := info.get("metric")) and name not in table_metrics():
            yield f"{info['name']}: its metric {name} is not installed; its scores are of the metric of its results."


def label_names_of(task: str, labels: Iterable[str]) -> dict[str, str]:
    """What the labels of a set mean, if its task is known and has these labels."""
    if task not in TASKS:
        return {}
    try:
        names = load_task(task).label_names
    except SentProbeError:  # a task of another package that cannot be loaded
        return {}
    return {label: names[label] for label in labels if label in names}


def _source(source: Mapping[str, Any] | None) -> str | None:
    """Where a set was read from, in a few words: of a long path its end."""
    if not source or not source["paths"]:
        return None
    path = Path(source["paths"][0])
    end = path.parent if len(source["paths"]) > 1 else path
    kind = str(source["kind"])
    return f"{SOURCE_KINDS.get(kind, kind)}: {path_end(end)}"


def path_end(path: Path) -> str:
    """The last three parts of a path: what is above them belongs to the machine that the run was made on."""
    return "/".join(part for part in path.parts[-3:] if part != path.anchor)


def _finding(finding: Mapping[str, Any]) -> AuditFinding:
    return AuditFinding(code=finding["code"], severity=finding["severity"], message=finding["message"])


# Errors that audits found


MAX_FINDINGS = 6
"""Of more, the first and how many others there are; every one is in the page's section on data quality."""


def errors_of(s: SetSummary) -> list[AuditFinding]:
    """The errors of a set; none if it was not audited."""
    return [finding for finding in s.audit or () if finding.severity == "error"]


def error_codes(s: SetSummary) -> str:
    """Their codes, for one cell of a table."""
    return ", ".join(dict.fromkeys(finding.code for finding in errors_of(s)))


def erroneous_sets(info: Mapping[str, Any]) -> dict[str, str]:
    """The codes of the errors in the sets that run.json describes, by the name of the set."""
    codes: dict[str, dict[str, None]] = {}
    for described in info.get("datasets", ()):
        for finding in described.get("audit") or ():
            if finding["severity"] == "error":
                codes.setdefault(described["name"], {})[finding["code"]] = None
    return {name: ", ".join(set_codes) for name, set_codes in codes.items()}


def data_errors(summary: Summary) -> list[str]:
    """What scores on sets with errors are worth, and a line for each error; nothing if there are none."""
    errors = [(s, finding) for s in summary.sets for finding in errors_of(s)]
    if not errors:
        return []
    sets = len({(s.name, s.data) for s, _ in errors})
    where = count_of(sets, "set") if sets == len(summary.sets) else f"{sets} of {len(summary.sets)} sets"
    lines = [f"Data errors in {where}: scores there do not mean what they seem to."]
    listed_errors = errors if len(errors) <= MAX_FINDINGS else errors[: MAX_FINDINGS - 1]
    lines += [f"{s.label}: {finding.message} ({finding.code})." for s, finding in listed_errors]
    if unlisted := errors[len(listed_errors) :]:
        names = len({(s.name, s.data) for s, _ in unlisted})
        lines.append(
            f"{count_of(len(unlisted), 'more error')} in {count_of(names, 'set')}: `sentprobe audit` lists them."
        )
    return lines
