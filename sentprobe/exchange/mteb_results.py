"""Results as MTEB writes them, and MTEB's own scores beside those of a run.

MTEB has a file per model and task, ``results/MODEL/REVISION/TASK.json``. The tasks of ``mteb_tasks`` have the digest of
their set as the revision of their dataset, so that a score is only ever shown beside others on the same rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from sentprobe import __version__
from sentprobe.core.files import encode_json, make_folder, write_atomically
from sentprobe.core.formatting import ABSENT, POINTS
from sentprobe.core.install import pip_install
from sentprobe.core.table import CellText, Table, TableColumn
from sentprobe.errors import DataError, NotInstalled, UsageError
from sentprobe.exchange.mteb_tasks import task_name
from sentprobe.exchange.result_file import BASELINE_NAMES
from sentprobe.report.page.section import Section
from sentprobe.report.score_table import score_text
from sentprobe.report.types import Summary
from sentprobe.results.metric import DEFAULT_METRIC
from sentprobe.results.records import read_aliases
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.sides import best_layer, shown_names
from sentprobe.stats import wilson

SPLIT, SUBSET = "test", "default"
NO_REVISION = "no_revision_available"
TEMPLATE = """\
{{ macros.number_table(table) }}
{% for note in notes %}
<p class="muted">{{ note }}</p>
{% endfor %}
"""


class _TaskFile(msgspec.Struct):
    """The fields of a TASK.json that are read."""

    task_name: str
    dataset_revision: str
    scores: dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class _Score:
    model: str
    task: str
    data: str
    """The digest of the set."""
    accuracy: float


# Out


def write_mteb_results(run: Run, folder: Path | str, *, encoders: Sequence[str] = ()) -> list[Path]:
    """Write the accuracies of a run as MTEB's result files, which ``mteb.load_results`` reads.

    Scores in folds are left out, since MTEB's are on the test split.

    Parameters
    ----------
    run
        The run.
    folder
        The results folder; models are added to it.
    encoders
        Only these encoders. Default: all.

    Returns
    -------
    list[Path]
        The files of the tasks.
    """
    folder, aliases, written = Path(folder), read_aliases(run.info), []
    selected = set(shown_names(run, encoders)) if encoders else None
    groups: dict[tuple[str, str], dict[str | None, list[Result]]] = {}
    for result in run.results:
        cell = result.cell
        name = aliases.get(cell.encoder, cell.encoder)
        if cell.encoder in BASELINE_NAMES or result.metric != DEFAULT_METRIC or cell.folds or cell.limit:
            continue
        if selected is None or not selected.isdisjoint((name, run.recipes.get(cell.encoder))):
            groups.setdefault((name, cell.data), {}).setdefault(cell.layer, []).append(result)
    if not groups:
        raise UsageError(
            f"{run.folder} has no accuracies on test splits, which MTEB's results are: run with --folds 0 and no limit."
        )
    for (name, _), by_layer in groups.items():
        results = best_layer(by_layer)
        model = folder / "results" / _file_name(name) / (results[0].cell.id or NO_REVISION)
        make_folder(model)
        path = model / f"{task_name(results[0].cell.task, results[0].language)}.json"
        write_atomically(path, encode_json(_task_result(results)))
        write_atomically(model / "model_meta.json", encode_json(_model_meta(name, results[0].cell.id)))
        written.append(path)
    return written


def _file_name(name: str) -> str:
    """A model's name as a folder; MTEB has two underscores for a slash."""
    return re.sub(r"[^\w.-]+", "_", name.replace("/", "__")).strip(".") or "encoder"


def _task_result(results: Sequence[Result]) -> dict[str, Any]:
    accuracy = sum(result.score for result in results) / len(results)
    f1 = [result.macro_f1 for result in results if result.macro_f1 is not None]
    scores = {
        "accuracy": accuracy,
        **({"f1": sum(f1) / len(f1)} if f1 else {}),
        "main_score": accuracy,
        "hf_subset": SUBSET,
        "languages": [_mteb_language(results[0].language)],
        "scores_per_experiment": [{"accuracy": result.score} for result in results],
    }
    return {
        "dataset_revision": results[0].cell.data,
        "task_name": task_name(results[0].cell.task, results[0].language),
        "mteb_version": _mteb_version(),
        "scores": {SPLIT: [scores]},
        "evaluation_time": sum(sum(result.seconds.values()) for result in results),
        "kg_co2_emissions": None,
        "sentprobe": {"version": __version__, "signatures": [result.signature for result in results]},
    }


def _mteb_language(code: str | None) -> str:
    """A language and its script, as MTEB has them: en is eng-Latn."""
    _mteb_version()
    from mteb.languages import iso_mappings

    return iso_mappings._hf_lang_to_iso_lang_script(code or "und") or f"{code or 'und'}-Zyyy"


def _mteb_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mteb")
    except PackageNotFoundError:
        raise NotInstalled(f"Results in MTEB's format need mteb: {pip_install('mteb')}") from None


def _model_meta(name: str, revision: str | None) -> dict[str, Any]:
    """What MTEB needs to know of a model that it cannot load."""
    from mteb.models.model_meta import ModelMeta

    identity = {"name": name if "/" in name else f"sentprobe/{name}", "revision": revision or NO_REVISION}
    return dict(json.loads(ModelMeta.create_empty(identity).model_dump_json()))


# In


def is_mteb_folder(folder: Path) -> bool:
    """Whether a folder holds results of MTEB: a cache of it, its ``results``, or those of one model."""
    return folder.is_dir() and next(_task_files(folder), None) is not None


def _task_files(folder: Path) -> Iterator[Path]:
    """The files of tasks, which are next to that of their model, in a fixed order."""
    for meta in sorted(folder.rglob("model_meta.json")):
        yield from (path for path in sorted(meta.parent.glob("*.json")) if path != meta)


def _read_scores(folder: Path) -> Iterator[_Score]:
    for path in _task_files(folder):
        try:
            file = msgspec.json.decode(path.read_bytes(), type=_TaskFile)
        except (OSError, ValueError) as e:
            raise DataError(f"{path} is not a result of MTEB: {e}.") from e
        for entry in file.scores.get(SPLIT, ()):
            accuracy = entry.get("accuracy")
            if isinstance(accuracy, float | int) and 0 <= accuracy <= 1:
                model = path.parent.parent.name.replace("__", "/")
                yield _Score(model, file.task_name, file.dataset_revision, float(accuracy))


def mteb_section(summary: Summary, folders: Iterable[Path]) -> Section:
    """A section of the page of a run with MTEB's scores on its sets.

    Raises
    ------
    UsageError
        If MTEB has no score on a set of the run.
    """
    table, notes = mteb_table(summary, folders)
    return Section(
        name="mteb",
        order=25,
        title="MTEB",
        intro="Accuracies that MTEB computed on the same test rows, beside those of the run. MTEB keeps no "
        "predictions, so that there are intervals, but no paired tests.",
        template=TEMPLATE,
        data=lambda page: {"table": table, "notes": notes},
    )


def mteb_table(summary: Summary, folders: Iterable[Path]) -> tuple[Table, list[str]]:
    """A row per set that MTEB has a score on, with the encoders of the run and MTEB's models; and what is left out."""
    scores = [score for folder in folders for score in _read_scores(folder)]
    by_set = {s.data: s for s in summary.sets if s.folds is None and s.scored_by == DEFAULT_METRIC}
    usable = [score for score in scores if score.data in by_set]
    notes = sorted({_left_out(score, summary) for score in scores if score.data not in by_set})
    if not usable:
        raise UsageError(
            f"MTEB has no score on a test split of {summary.folder}. {' '.join(notes)} `sentprobe export mteb` writes "
            "sets as tasks."
        )
    sets = [s for data, s in by_set.items() if any(score.data == data for score in usable)]
    models = list(dict.fromkeys(score.model for score in usable))
    accuracies = {(score.model, score.data): score.accuracy for score in usable}
    columns = [
        TableColumn(column.label, [score_text(s.cells[i], s.scored_by) for s in sets])
        for i, column in enumerate(summary.columns)
    ]
    columns += [
        TableColumn([model, "MTEB"], [_scored(accuracies.get((model, s.data)), s.n["te"]) for s in sets])
        for model in models
    ]
    return Table([TableColumn(["set"], [s.label for s in sets], "left"), *columns], "Beside MTEB"), notes


def _scored(accuracy: float | None, n: int) -> CellText:
    """An accuracy with Wilson's interval."""
    if accuracy is None:
        return CellText(ABSENT)
    low, high = wilson(accuracy * n, n)
    return CellText(POINTS.number(accuracy), POINTS.half_width(low, high))


def _left_out(score: _Score, summary: Summary) -> str:
    same = next((s for s in summary.sets if s.data == score.data), None)
    if same is not None:
        return f"{score.task} is left out: the run has {same.name} in folds; run it with --folds 0, too."
    return f"{score.task} is left out: the run has no set with the digest {score.data}."
