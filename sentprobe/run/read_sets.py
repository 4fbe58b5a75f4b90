"""The datasets of a run: each is read once, described in run.json, and given its baselines."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import msgspec

from sentprobe import __version__
from sentprobe.audit import audit_quickly
from sentprobe.core.resources import return_free_memory
from sentprobe.data.dataset import Dataset
from sentprobe.data.expected import expectations_for
from sentprobe.data.lookalike_labels import MERGED, refuse_lookalikes
from sentprobe.data.random_split import split_name
from sentprobe.data.sources import Source
from sentprobe.data.splits import Splits, sampled, splits_of
from sentprobe.errors import DataError, SentProbeError, SentProbeWarning, UsageError, describe_error
from sentprobe.probes.baselines.predict import Baselines
from sentprobe.published.content import content_digests
from sentprobe.results.records import dataset_failure_cell
from sentprobe.results.result import Cell
from sentprobe.run.cells import baseline_result
from sentprobe.run.config import RunConfig
from sentprobe.run.kept import KeptResults
from sentprobe.run.measures import learning
from sentprobe.run.transfer import nested_baseline
from sentprobe.run.variants import Variants

CURVE_BASELINE = "nb-uni"
"""The baseline whose learning curve is drawn with those of encoders."""


def is_utf8(name: str) -> bool:
    """Whether a name has no lone surrogate."""
    return name.encode(errors="replace").decode() == name


def read_sets(
    config: RunConfig, datasets: Sequence[Dataset | Source], learners: Sequence[str], variants: Variants
) -> Iterator[tuple[Splits, Mapping[str, float]]]:
    """Read each set once, run the baselines that learn from words, and keep what the loop needs."""
    seen: set[tuple[str, str]] = set()
    for i, given in enumerate(datasets):
        if config.options.progress:
            config.options.progress(f"sets: {given.name} and its baselines", i, len(datasets))
        if odd := [name for name in (given.name, given.task) if not is_utf8(name)]:
            raise UsageError(f"The set or task {odd[0]!r} has a lone surrogate in its name; expected UTF-8.")
        try:
            dataset = given if isinstance(given, Dataset) else given.load()
            parts = probing_splits(dataset, config.options.limit)
        except SentProbeError as e:
            config.fail(dataset_failure_cell(given.task, given.name), e)
            continue
        config.log.forget(dataset_failure_cell(given.task, given.name).key)
        if (parts.name, parts.digest) in seen:
            continue
        seen.add((parts.name, parts.digest))
        _refuse_another_split(config, parts)
        config.log.describe(datasets=[_about(dataset, given, config.log.info)])
        config.log.save_rows(sampled(dataset, config.options.limit), parts.digest, config.options.limit)
        if (
            CURVE_BASELINE in learners
            and learning.measure.name in variants.measures
            and learning.measure.applies_to(parts)
        ):
            _curve(config, parts)
        scores = dict(_baselines(config, dataset, parts, learners))
        parts = parts.without_examples()
        del dataset
        return_free_memory()
        yield parts, scores
    if config.options.progress:
        config.options.progress("sets", len(datasets), len(datasets))


def probing_splits(dataset: Dataset, limit: int | None = None) -> Splits:
    """The splits of a set; DataError if its labels or further inputs are not fit to be probed."""
    expectations = expectations_for(dataset)
    if expectations.classes:
        refuse_lookalikes(dataset, expectations.labels or ())
    splits = splits_of(dataset, limit)
    if len(splits.labels) == 1:
        raise DataError(
            f"{dataset.name}: expected at least two labels in {splits.trained_on}, got only {splits.labels[0]}."
        )
    for rows in (splits.train, splits.dev, splits.test):
        for name in rows.requested_inputs:
            if name not in rows.inputs:
                text = next(row.text for row in rows.examples if name not in dict(row.extra))
                raise DataError(
                    f"{dataset.name}: the task {dataset.task} needs the column {name!r}, which the row {text[:60]!r} "
                    "does not have. Read the set from the folder that `sentprobe make` wrote, or name its columns."
                )
    return splits


def _refuse_another_split(config: RunConfig, parts: Splits) -> None:
    """A table that was split otherwise in the same folder would be another set of the same name."""
    for there in config.log.info.get("datasets", ()):
        before = split_name(there.get("split"))
        if there["name"] == parts.name and before != parts.split and (before or parts.split):
            raise UsageError(
                f"{config.log.folder} has results of {parts.name} split {before or 'by its files'}; got "
                f"{parts.split or 'the splits of its files'}. Use the same --split, --group and --split-seed, or "
                "another folder (-o)."
            )


def _about(dataset: Dataset, given: Dataset | Source, info: Mapping[str, Any]) -> dict[str, Any]:
    """What run.json records about a set. The digests of its content are not computed again, nor is its audit."""
    manifest = dataset.manifest
    file = given.paths[0] if isinstance(given, Source) and given.kind == "senteval" else None
    before = [d for d in info.get("datasets", ()) if (d["name"], d["digest"]) == (dataset.name, dataset.digest)]
    content = next((d["content"] for d in before if d.get("content")), None) or content_digests(dataset, file)
    audit = next((d["audit"] for d in before if d.get("audit") is not None), manifest.get("audit"))
    audit = _quick_audit(dataset) if audit is None else audit
    return {
        "name": dataset.name, "task": dataset.task, "version": dataset.version, "language": dataset.language,
        "digest": dataset.digest, "labels": list(dataset.labels), "question": manifest.get("question"),
        "inputs": list(expectations_for(dataset).inputs), "corpus": manifest.get("corpus", {}).get("name"),
        "rows": {split: len(rows) for split, rows in dataset.rows.items()}, "split": manifest.get("split"),
        "merged_labels": manifest.get(MERGED),
        "content": content,
        "source": _kept(given) if isinstance(given, Source) else None, "audit": audit,
        "redundancy": manifest.get("redundancy", {}).get("te"),
    }  # fmt: skip


def _quick_audit(dataset: Dataset) -> list[dict[str, Any]] | None:
    """What the quick checks find in all rows of a set, as in the manifests that `sentprobe make` writes."""
    try:
        return [asdict(finding) for finding in audit_quickly(dataset, expectations_for(dataset))]
    except Exception as e:  # checks may be of other packages, and scores do not depend on them
        text = f"{dataset.name} was not audited: {describe_error(e)}"
        warnings.warn(SentProbeWarning(text), stacklevel=2)
        return None


def _kept(source: Source) -> Any:
    """A source as plain data, with absolute paths."""
    return msgspec.to_builtins(replace(source, paths=tuple(map(os.path.abspath, source.paths))))


def _baselines(
    config: RunConfig, dataset: Dataset, parts: Splits, learners: Sequence[str]
) -> Iterator[tuple[str, float]]:
    if not parts.labels:
        return
    is_divided = parts.protocol == "split" and parts.chosen_on != "va"
    trained = splits_of(dataset, config.options.limit, hold_out_dev=False) if is_divided else parts
    kept, baselines = KeptResults(config.options.store), Baselines(trained)
    work = nested_baseline if parts.protocol == "nested" else baseline_result
    for name in learners:
        cell = Cell(
            task=parts.task, version=parts.version, dataset=parts.name, data=parts.digest, encoder=name,
            identity=name, limit=config.options.limit, sentprobe=__version__,
        )  # fmt: skip
        done = config.log.done.get(cell.key) or kept.restore(config.log, cell, parts, {})
        if done is None:
            try:
                done, arrays = work(cell, baselines, parts)
            except KeyboardInterrupt:
                raise
            except BaseException as e:  # whatever goes wrong in one baseline, the run continues
                config.fail(cell, e)
                continue
            config.log.add(done, arrays)
            kept.keep(config.log, cell, parts)
        yield name, done.accuracy


def _curve(config: RunConfig, parts: Splits) -> None:
    """Compute the learning curve of a baseline, to compare those of encoders with."""
    if parts.chosen_on != "va":  # encoders are trained on some of its rows only
        return
    cell = Cell(
        task=parts.task, version=parts.version, dataset=parts.name, data=parts.digest, encoder=CURVE_BASELINE,
        identity=CURVE_BASELINE,
        limit=config.options.limit, sentprobe=__version__, seed=config.seeds[0], variant=learning.measure.name,
    )  # fmt: skip
    if cell.key in config.log.done:
        return
    try:
        config.log.add(*learning.baseline_curve(cell, parts))
    except Exception as e:
        config.fail(cell, e)
