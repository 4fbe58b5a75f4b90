"""What a run reads: encoders by name, and sets, each read once, divided into splits and given its baselines."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import msgspec

from sentprobe import __version__
from sentprobe.audit import audit_quickly
from sentprobe.core.resources import return_free_memory
from sentprobe.data.dataset import Dataset
from sentprobe.data.expectations import expectations_for
from sentprobe.data.folds import divided
from sentprobe.data.lookalike_labels import MERGED, refuse_lookalikes
from sentprobe.data.random_split import split_name
from sentprobe.data.sources import Source
from sentprobe.data.splits import Splits, sampled, splits_of
from sentprobe.encoders import check_name, expand_names
from sentprobe.encoders.objects import as_encoder
from sentprobe.errors import DataError, SentProbeError, SentProbeWarning, UsageError, describe_error
from sentprobe.probes.baselines.predict import Baselines
from sentprobe.published.releases import content_digests
from sentprobe.results.records import Recipe, dataset_failure_cell, is_bare, protocol_text
from sentprobe.run.cells import PreparedSet, RunContext, set_cell
from sentprobe.run.fit import baseline_result
from sentprobe.run.folds import folded_baseline, join_results
from sentprobe.run.info import add_recipe, split_aliases, split_recipes
from sentprobe.run.measures import learning
from sentprobe.run.resample import has_enough_resamples
from sentprobe.run.result_cache import ResultCache
from sentprobe.run.transfer import nested_baseline
from sentprobe.run.variants import Variants

CURVE_BASELINE = "nb-uni"
"""The baseline whose learning curve is drawn with those of encoders."""

Encoder = str | Callable[[Sequence[str]], Any]
"""Models in memory, such as a SentenceTransformer, may take its place."""
Encoders = Encoder | Iterable[Encoder] | Mapping[str, Encoder | Sequence[Encoder]]


def _is_utf8(name: str) -> bool:
    """Whether a name has no lone surrogate."""
    return name.encode(errors="replace").decode() == name


# Encoders


@dataclass(frozen=True)
class NamedEncoders:
    """The encoders of a request."""

    by_name: dict[str, Callable[..., Any] | None]
    """None for those that are loaded by name."""
    aliases: dict[str, str]
    """The names that users gave to them, by encoder."""
    recipes: dict[str, Recipe]
    """By encoder, the recipe that it is a training of, if it is of any."""


def named_encoders(encoders: Encoders) -> NamedEncoders:
    """Encoders by name, with their aliases and recipes.

    A string that names no encoder is refused before anything is read or loaded.
    """
    functions: dict[str, Callable[..., Any]] = {}
    recipes: dict[str, Recipe] = {}
    if isinstance(encoders, Mapping):
        encoders, functions, recipes = _from_mapping(encoders)
    aliases: dict[str, str] = {}
    if isinstance(encoders, Sequence):
        encoders, of_names = split_recipes([encoders] if isinstance(encoders, str) else encoders)
        encoders, aliases = split_aliases(encoders)
        recipes |= of_names
    named = {**functions, **_by_name(encoders)}
    if clash := sorted({recipe.name for recipe in recipes.values()} & {*named, *aliases.values()}):
        raise UsageError(f"Both an encoder and several trainings are called {clash[0]!r}; expected different names.")
    if invalid := [name for name in named if not _is_utf8(name)]:
        raise UsageError(f"The encoder {invalid[0]!r} has a lone surrogate in its name; expected UTF-8.")
    for name, function in named.items():
        if function is None:
            check_name(name)
    return NamedEncoders(named, aliases, recipes)


def _from_mapping(
    encoders: Mapping[str, Encoder | Sequence[Encoder]],
) -> tuple[list[str], dict[str, Callable[..., Any]], dict[str, Recipe]]:
    """What a mapping has: texts with their aliases, functions by name, and the recipes of trainings."""
    texts: list[str] = []
    functions: dict[str, Callable[..., Any]] = {}
    recipes: dict[str, Recipe] = {}
    for name, value in encoders.items():
        encoder = as_encoder(value)  # a model with its tokenizer is one encoder, too
        by_title: dict[str, Any] = {name: encoder}
        if several := isinstance(encoder, Sequence) and not isinstance(encoder, str) and not callable(encoder):
            by_title = {f"{name} {i}": as_encoder(training) for i, training in enumerate(encoder, 1)}
        if not by_title or not all(isinstance(encoder, str) or callable(encoder) for encoder in by_title.values()):
            raise UsageError(f"Expected {name!r} to be an encoder, or a list of its trainings, got {value!r:.80}.")
        if len(set(map(id, by_title.values()))) < len(by_title):
            raise UsageError(f"{name}: an encoder is listed twice; expected each training once.")
        functions |= {title: encoder for title, encoder in by_title.items() if callable(encoder)}
        texts += [f"{title}={encoder}" for title, encoder in by_title.items() if isinstance(encoder, str)]
        if several:
            names = [encoder if isinstance(encoder, str) else title for title, encoder in by_title.items()]
            add_recipe(recipes, Recipe(name), names)
    return texts, functions, recipes


def _by_name(encoders: Encoders) -> dict[str, Callable[..., Any] | None]:
    """Encoders by name; None for those that are loaded by name."""
    named: dict[str, Callable[..., Any] | None] = {}
    encoders = as_encoder(encoders)
    if not isinstance(encoders, Iterable) and not callable(encoders):
        raise UsageError(f"Expected encoders, texts such as static: or functions, got {encoders!r:.80}.")
    for encoder in map(as_encoder, [encoders] if isinstance(encoders, str) or callable(encoders) else encoders):
        if isinstance(encoder, str):
            for name in expand_names([encoder]):
                named.setdefault(name, None)
            continue
        if not callable(encoder):
            raise UsageError(f"Expected an encoder, a string such as static: or a function, got {encoder!r:.80}.")
        function: Any = encoder.func if isinstance(encoder, partial) else encoder
        name = str(getattr(function, "__name__", type(function).__name__))
        if name in named:
            raise UsageError(f"Two encoders are called {name}; give them names: evaluate({{'a': …, 'b': …}}, …).")
        named[name] = encoder
    return named


# Sets


def read_sets(
    context: RunContext, datasets: Sequence[Dataset | Source], baselines: Sequence[str], variants: Variants
) -> Iterator[PreparedSet]:
    """Read each set once, run the baselines that learn from words, and keep only the columns that the loop needs."""
    options, log = context.options, context.log
    seen: set[tuple[str, str]] = set()
    for i, source in enumerate(datasets):
        if options.progress:
            options.progress(f"sets: {source.name} and its baselines", i, len(datasets))
        if invalid := [name for name in (source.name, source.task) if not _is_utf8(name)]:
            raise UsageError(f"The set or task {invalid[0]!r} has a lone surrogate in its name; expected UTF-8.")
        try:
            dataset = source if isinstance(source, Dataset) else source.load()
            splits = probing_splits(dataset, options.limit, options.folds)
        except SentProbeError as e:
            context.fail(dataset_failure_cell(source.task, source.name), e)
            continue
        log.forget(dataset_failure_cell(source.task, source.name).key)
        if (splits.name, splits.digest) in seen:
            continue
        seen.add((splits.name, splits.digest))
        _refuse_another_split(context, splits)
        log.describe(datasets=[{**_set_entry(dataset, source, log.info), "folds": splits.fold_count}])
        log.save_rows(sampled(dataset, options.limit), splits.digest, options.limit, splits.fold_count)
        if (
            CURVE_BASELINE in baselines
            and learning.measure.name in variants.measures
            and learning.measure.applies_to(splits)
        ):
            _add_baseline_curve(context, splits)
        accuracies = dict(_baseline_accuracies(context, dataset, splits, baselines))
        splits = splits.without_examples()
        del dataset
        return_free_memory()
        yield PreparedSet(splits, accuracies)
    if options.progress:
        options.progress("sets", len(datasets), len(datasets))


def probing_splits(dataset: Dataset, limit: int | None = None, folds: int | None = None) -> Splits:
    """The splits of a set, or its folds; DataError if its labels or further inputs are not fit to be probed."""
    expectations = expectations_for(dataset)
    if expectations.classes:
        refuse_lookalikes(dataset, expectations.labels or ())
    splits = divided(dataset, limit, folds)
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


def _refuse_another_split(context: RunContext, splits: Splits) -> None:
    """A table that was split otherwise in the same folder would be another set of the same name.

    A set in folds has other test rows than on its test split, so that results cannot stand beside each other.
    """
    for entry in context.log.info.get("datasets", ()):
        same_rows = (entry["name"], entry["digest"]) == (splits.name, splits.digest)
        if same_rows and entry.get("folds") != splits.fold_count and not is_bare(entry):
            raise UsageError(
                f"{context.log.folder} has results of {splits.name} {protocol_text(entry.get('folds'))}; got "
                f"{protocol_text(splits.fold_count)}. Use --folds {entry.get('folds') or 0}, or another folder (-o)."
            )
        recorded = split_name(entry.get("split"))
        if entry["name"] == splits.name and recorded != splits.split and (recorded or splits.split):
            raise UsageError(
                f"{context.log.folder} has results of {splits.name} split {recorded or 'by its files'}; got "
                f"{splits.split or 'the splits of its files'}. Use the same --split, --group and --split-seed, or "
                "another folder (-o)."
            )


def _set_entry(dataset: Dataset, source: Dataset | Source, info: Mapping[str, Any]) -> dict[str, Any]:
    """What run.json records about a set. The digests of its content are not computed again, nor is its audit."""
    manifest = dataset.manifest
    file = source.paths[0] if isinstance(source, Source) and source.kind == "senteval" else None
    entries = [d for d in info.get("datasets", ()) if (d["name"], d["digest"]) == (dataset.name, dataset.digest)]
    content = next((d["content"] for d in entries if d.get("content")), None) or content_digests(dataset, file)
    audit = next((d["audit"] for d in entries if d.get("audit") is not None), manifest.get("audit"))
    return {
        "name": dataset.name,
        "task": dataset.task,
        "version": dataset.version,
        "language": dataset.language,
        "digest": dataset.digest,
        "labels": list(dataset.labels),
        "question": manifest.get("question"),
        "inputs": list(expectations_for(dataset).inputs),
        "corpus": manifest.get("corpus", {}).get("name"),
        "rows": {split: len(rows) for split, rows in dataset.rows.items()},
        "split": manifest.get("split"),
        "merged_labels": manifest.get(MERGED),
        "content": content,
        "source": _source_entry(source) if isinstance(source, Source) else None,
        "audit": _quick_audit(dataset) if audit is None else audit,
        "redundancy": manifest.get("redundancy", {}).get("te"),
        **({"metric": manifest["metric"]} if manifest.get("metric") else {}),
    }


def _quick_audit(dataset: Dataset) -> list[dict[str, Any]] | None:
    """What the quick checks find in all rows of a set, as in the manifests that `sentprobe make` writes."""
    try:
        return [asdict(finding) for finding in audit_quickly(dataset, expectations_for(dataset))]
    except Exception as e:  # checks may be of other packages, and scores do not depend on them
        text = f"{dataset.name} was not audited: {describe_error(e)}"
        warnings.warn(SentProbeWarning(text), stacklevel=2)
        return None


def _source_entry(source: Source) -> Any:
    """A source as plain data, with absolute paths."""
    return msgspec.to_builtins(replace(source, paths=tuple(map(os.path.abspath, source.paths))))


def _baseline_accuracies(
    context: RunContext, dataset: Dataset, splits: Splits, names: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """The accuracy of each baseline that learns from words, which is computed unless it is in the run or the cache."""
    if not splits.labels:
        return
    dev_is_held_out = splits.protocol == "split" and not splits.folds and splits.chosen_on != "va"
    trained_on = splits_of(dataset, context.options.limit, hold_out_dev=False) if dev_is_held_out else splits
    cache, baselines = ResultCache(context.options.store), Baselines(trained_on)
    is_nested = splits.protocol == "nested"
    resample = context.options.resample
    for name in names:
        cell = replace(set_cell(splits, name), identity=name, limit=context.options.limit, sentprobe=__version__)
        result = context.log.done.get(cell.key) or cache.restore(context.log, cell, splits, {})
        if result is None or not (is_nested or has_enough_resamples(result, resample)):
            try:
                result, arrays = (
                    nested_baseline(cell, baselines, splits)
                    if is_nested
                    else (folded_baseline if splits.folds else baseline_result)(cell, baselines, splits, resample)
                )
            except KeyboardInterrupt:
                raise
            except BaseException as e:  # whatever goes wrong in one baseline, the run continues
                context.fail(cell, e)
                continue
            context.log.add(result, arrays)
            cache.save(context.log, cell, splits)
        yield name, result.accuracy


def _add_baseline_curve(context: RunContext, splits: Splits) -> None:
    """Compute the learning curve of a baseline, to compare those of encoders with."""
    if splits.chosen_on != "va" and not splits.folds:  # encoders are trained on some of its rows only
        return
    cell = replace(
        set_cell(splits, CURVE_BASELINE),
        identity=CURVE_BASELINE,
        limit=context.options.limit,
        sentprobe=__version__,
        seed=context.seeds[0],
        variant=learning.measure.name,
    )
    if cell.key in context.log.done:
        return
    try:
        if splits.folds:
            curves = [(*learning.baseline_curve(cell, fold), None) for fold in splits.folds]
            result, arrays, _ = join_results(splits, curves, learning.measure.over_folds)
            context.log.add(result, arrays)
        else:
            context.log.add(*learning.baseline_curve(cell, splits))
    except Exception as e:
        context.fail(cell, e)
