"""Corpus + tasks → probing sets: count, propose, finish."""

from __future__ import annotations

import math
import platform
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from random import Random
from statistics import correlation, fmean
from typing import Any, Literal, TypeVar

from sonde import __version__
from sonde.audit import audit_quickly, audit_set
from sonde.core.arguments import StringsOrPaths
from sonde.core.hashing import mix
from sonde.core.third_party import third_party_code
from sonde.core.workers import map_in_workers
from sonde.corpus.corpus import Corpus, gc_paused
from sonde.corpus.near_duplicates import near_duplicate_key
from sonde.data.dataset import Dataset
from sonde.data.expected import expected
from sonde.errors import TooFewError, UsageError, describe_error, error_location
from sonde.make.exclusion import ExcludedSentences
from sonde.make.sketch import (
    Candidate,
    Job,
    Pool,
    ReadLog,
    count_shard,
    propose_packed,
    propose_shard,
    strata_of,
    tie_break_key,
    unpack_pools,
)
from sonde.make.split import Selection, select
from sonde.task import FIELD_REQUIREMENTS, SPLITS, Counts, Example, Policy, Task, effective_fields

COVERAGE = 0.1
"""A reading is used if at least this share of the sentences has its columns."""
POOL_MARGIN = 64
"""Room that even the smallest pool has."""
MIN_SPLIT_ROWS = 10
"""A split with fewer rows than this is not made."""
SLACK = 4
"""Where there are many cells, they hold up to this many times the rows asked for together."""

Progress = Callable[[str, int, int | None], None]
"""Called with a stage, what is done and what there is in all, in sentences, or in shards when there are workers."""


def no_progress(stage: str, done: int, of: int | None) -> None:
    """No progress is shown."""


T = TypeVar("T")
Request = tuple[str, Task, Policy] | Task
"""A suite, a task of it and a policy, as ``wanted`` gives them; or a task."""


@dataclass(frozen=True, slots=True)
class SkippedTask:
    """A set that cannot be made, and why."""

    name: str
    task: str
    reason: str
    kind: Literal["columns", "setting", "too few", "unsound", "failed"]
    """``setting``: the policy was changed in a way that has no effect; ``failed``: the task raised an error."""


def make_sets(
    corpus: Corpus,
    tasks: Request | Iterable[Request],
    *,
    seed: int = 1111,
    jobs: int = 1,
    shards: int | None = None,
    exclude: ExcludedSentences | StringsOrPaths = (),
    exclusive: bool = False,
    skip_bad: bool = False,
    audit: bool = False,
    progress: Progress | None = None,
) -> Iterator[Dataset | SkippedTask]:
    """Make a set for every (suite, task, policy), or this one, one after the other, from two passes over the corpus.

    A task alone comes under the first policy it has.

    The corpus is read in ``shards`` parts (by default one per worker process, ``jobs``); the result is the same.
    ``exclude`` are sentences to withhold, with those that they were made from; ``exclusive`` uses a sentence in one
    task only; ``audit`` looks for shortcuts and damaged text too, and not only for copies, contradictions and leaks.
    """
    tasks = _requests(tasks)
    if not tasks:
        raise UsageError("There is nothing to make: name a suite or a task.")
    progress = progress or no_progress
    early = ReadLog()
    source = corpus.load_into_memory(early.record if skip_bad else None) if jobs == 1 and corpus.is_small else corpus
    expected = len(source.loaded) if source.loaded is not None else source.builtin or None
    counts, seen = count(source, [t for _, t, _ in tasks], jobs, skip_bad, progress, shards or jobs, expected)
    seen.add(early)
    if not counts.sentences:
        raise TooFewError(f"The corpus {corpus.name} has no sentences.")
    ready: list[Job] = []
    for suite, task, policy in tasks:
        job = _planned(suite, task, policy, counts, seed)
        if isinstance(job, SkippedTask):
            yield job
        else:
            ready.append(job)
    facts = _corpus_facts(corpus, counts, seen)
    for table in (counts.words, counts.first_words, counts.bigrams, counts.folded):
        table.clear()
    pools = [_empty(job, len(ready) if exclusive else 1) for job in ready]
    excluded = exclude if isinstance(exclude, ExcludedSentences) else ExcludedSentences.of(exclude)
    propose(source, ready, pools, jobs, excluded, progress, shards or jobs, counts.sentences)
    del source  # it may hold the whole of a small corpus
    order = list(range(len(ready)))
    if exclusive:  # the scarcest first, or they would find their few sentences taken
        order.sort(key=lambda i: (sum(pools[i].proposed.values()), ready[i].task.name))
    used: set[int] = set()
    for i in order:
        yield _finished(ready[i], pools[i], corpus, facts, used if exclusive else None, audit)
        pools[i] = Pool(1)


def _requests(given: Request | Iterable[Request]) -> list[tuple[str, Task, Policy]]:
    alone = isinstance(given, Task) or (isinstance(given, tuple) and len(given) == 3 and isinstance(given[0], str))
    out: list[tuple[str, Task, Policy]] = []
    for each in [given] if alone or not isinstance(given, Iterable) or isinstance(given, str) else given:
        match each:
            case Task():
                suite, policy = next(iter(each.policies.items()))
                out.append((suite, each, policy))
            case (str() as suite, Task() as task, Policy() as policy):
                out.append((suite, task, policy))
            case _:
                raise UsageError(f"Expected a (suite, task, policy), as `select_tasks` gives them, got {each!r:.80}.")
    return out


def _planned(suite: str, task: Task, policy: Policy, counts: Counts, seed: int) -> Job | SkippedTask:
    name = f"{suite}/{task.name}"
    reading = choose_reading(task, policy, counts)
    if isinstance(reading, UsageError):
        return SkippedTask(name, task.name, reading.args[0], "columns")
    if idle := _idle(task, policy, reading):
        return SkippedTask(name, task.name, idle, "setting")
    if task.name in counts.failed:
        return SkippedTask(name, task.name, counts.failed[task.name], "failed")
    try:
        with third_party_code:
            plan = task.plan(counts, policy, reading) if task.plan else None
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # whatever a task does, the others are still to be made
        return SkippedTask(name, task.name, f"its plan failed: {describe_error(e)}{error_location(e)}", "failed")
    return Job(task, policy, suite, reading, plan, seed)


def _idle(task: Task, policy: Policy, reading: str) -> str | None:
    """Why a policy would not do what it says, if it was changed in a field that has no effect under the reading."""
    known = effective_fields(task, policy, {reading})
    usual = (Policy(), *task.policies.values())
    for field in fields(Policy):
        value = getattr(policy, field.name)
        if field.name in known or value in [getattr(one, field.name) for one in usual]:
            continue
        others = [other for other in task.readings if field.name in effective_fields(task, policy, {other})]
        if others:
            where = (
                f"on the {reading} reading, the one that is used on this corpus; it has one on {' and '.join(others)}"
            )
        else:
            where = f"on {task.name}" + (
                f"; it needs {FIELD_REQUIREMENTS[field.name]}" if field.name in FIELD_REQUIREMENTS else ""
            )
        return f"the setting {field.name} has no effect {where}. Leave it out"
    return None


def _finished(
    job: Job, pool: Pool, corpus: Corpus, facts: Mapping[str, Any], used: set[int] | None, audit: bool
) -> Dataset | SkippedTask:
    name = f"{job.suite}/{job.task.name}"
    if pool.failed:
        return SkippedTask(name, job.task.name, pool.failed, "failed")
    try:
        with third_party_code:
            return finish(job, pool, corpus, facts, used, audit)
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        return SkippedTask(name, job.task.name, f"it failed: {describe_error(e)}{error_location(e)}", "failed")


def count(
    corpus: Corpus,
    tasks: Sequence[Task],
    jobs: int = 1,
    skip_bad: bool = False,
    progress: Progress = no_progress,
    shards: int = 1,
    sentences: int | None = None,
) -> tuple[Counts, ReadLog]:
    """The first pass: count in every shard and add up."""
    counts, seen = Counts(), ReadLog()
    calls = [(corpus, shard, shards, tasks, skip_bad) for shard in range(shards)]
    for part, noted in _fan_out(count_shard, calls, jobs, "count", progress, sentences):
        counts.add(part)
        seen.add(noted)
    return counts, seen


@gc_paused()
def propose(
    corpus: Corpus,
    ready: Sequence[Job],
    pools: Sequence[Pool],
    jobs: int = 1,
    exclude: ExcludedSentences | None = None,
    progress: Progress = no_progress,
    shards: int = 1,
    sentences: int | None = None,
) -> None:
    """The second pass: fill a pool per job in every shard and merge them into ``pools``."""
    if not ready:
        return
    calls = [(corpus, k, shards, ready, [Pool(p.limit) for p in pools], exclude) for k in range(shards)]
    parts: Iterator[list[Pool]]
    if jobs == 1:
        parts = _fan_out(propose_shard, calls, jobs, "propose", progress, sentences)
    else:
        parts = map(unpack_pools, _fan_out(propose_packed, calls, jobs, "propose", progress, sentences))
    for part in parts:
        for mine, theirs in zip(pools, part, strict=True):
            mine.merge(theirs)


@gc_paused()
def finish(
    job: Job, pool: Pool, corpus: Corpus, facts: Mapping[str, Any], used: set[int] | None, audit: bool = False
) -> Dataset | SkippedTask:
    """The last step: drop duplicates, balance, split, and write the manifest."""
    name = f"{job.suite}/{job.task.name}"
    cells = _distinct(pool, bool(job.task.changes), used)
    try:
        chosen = select(cells, job.task, job.policy, pool.proposed)
        rows = {split: _rows(job, split, chosen.splits[split]) for split in SPLITS}
        _check(rows, chosen)
    except TooFewError as e:
        return SkippedTask(name, job.task.name, str(e), "too few")
    if used is not None:
        used.update(c[1] for items in chosen.splits.values() for c in items)
    dataset = Dataset(name, job.task.name, job.task.version, corpus.language, chosen.labels, rows)
    expectations = expected(job.task, job.policy.disjoint, corpus.language, job.policy.balance == "natural")
    findings = audit_quickly(dataset, expectations)
    if errors := [f.message for f in findings if f.severity == "error" or f.code in FATAL_CODES]:
        return SkippedTask(name, job.task.name, f"the set would not be sound: {'; '.join(errors)}", "unsound")
    manifest = {
        "format": "sonde.manifest.v1",
        "name": name,
        "suite": job.suite,
        "task": job.task.name,
        "version": job.task.version,
        "question": job.task.question,
        "paper": job.task.paper,
        "solved_by": sorted(job.task.solved_by),
        "inputs": list(job.task.inputs),
        "language": corpus.language,
        "labels": list(chosen.labels),
        "corpus": dict(facts),
        "reading": {"name": job.reading, "columns": sorted(job.task.readings[job.reading])},
        "seed": job.seed,
        "policy": {
            k: v
            for k, v in asdict(job.policy).items()
            if k in ALWAYS_RECORDED
            or (v != getattr(Policy(), k) and k in effective_fields(job.task, job.policy, {job.reading}))
        },
        "sizes": {
            "asked": dict(zip(SPLITS, job.policy.sizes, strict=True)),
            "drawn": _lengths(chosen.splits),
            "made": _lengths(rows),
        },
        "stages": {
            "proposed": dict(sorted(pool.proposed.items())),
            "rejected": dict(pool.rejected.most_common()),
            "kept in the pool": dict(sorted(_pooled(cells).items())),
            "near-duplicates of these": sum(c[2] - 1 for items in cells.values() for c in items),
            "cells cut to their limit": sum(len(items) == pool.limit for items in pool.cells.values()),
            "cap per target form": chosen.cap,
        },
        **describe(dataset),
        **_notes(chosen.splits),
        "audit": [asdict(f) for f in findings],
        "versions": {"sonde": __version__, "python": platform.python_version()},
    }
    if audit:
        whole = audit_set(dataset, expectations).to_dict()
        manifest |= {"audit": whole["findings"], "shortcuts": whole["measures"]}
    return replace(dataset, manifest=manifest)


FATAL_CODES = frozenset(
    {"copies-across-splits", "near-copies-across-splits", "two-labels", "missing-class", "wrong-label"}
)
"""What no set made here has, not even once."""
ALWAYS_RECORDED = frozenset({"sizes", "length", "balance", "strata", "disjoint"})


def describe(dataset: Dataset) -> dict[str, Any]:
    """What a reader wants to know of the rows: balance, lengths, correlation, target overlap."""
    counts = {split: Counter(row.label for row in dataset.rows[split]) for split in SPLITS}
    histogram: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for _, row in dataset:
        histogram[row.label][len(row.tokens)] += 1
    keys = {split: {row.key for row in dataset.rows[split] if row.key} for split in SPLITS}
    return {
        "counts": {split: dict(sorted(c.items())) for split, c in counts.items()},
        "majority": {split: round(max(c.values()) / sum(c.values()), 4) for split, c in counts.items()},
        "lengths": {label: {str(n): k for n, k in sorted(c.items())} for label, c in sorted(histogram.items())},
        "label_length_correlation": {split: length_correlation(dataset, split) for split in SPLITS},
        "targets": {
            "forms": {split: len(keys[split]) for split in SPLITS},
            "shared": len(keys["tr"] & keys["va"] | keys["tr"] & keys["te"] | keys["va"] & keys["te"]),
        },
    }


def length_correlation(dataset: Dataset, split: str) -> float:
    """How far the label tells the length: Pearson's r for numbers and two labels, otherwise the correlation ratio.

    The ratio is corrected for the number of classes (the root of epsilon squared), or many small classes would always
    seem to tell the length.
    """
    rows = dataset.rows[split]
    lengths = [float(len(row.tokens)) for row in rows]
    if len(set(lengths)) < 2:
        return 0.0
    if len(dataset.labels) == 2 or all(label.isdigit() for label in dataset.labels):
        order = {label: i for i, label in enumerate(dataset.labels)}
        values = [float(row.label) if row.label.isdigit() else float(order[row.label]) for row in rows]
        return round(correlation(values, lengths), 4) if len(set(values)) > 1 else 0.0
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for row, n in zip(rows, lengths, strict=True):
        groups[row.label].append(n)
    whole = sum((n - fmean(lengths)) ** 2 for n in lengths)
    within = sum((n - fmean(g)) ** 2 for g in groups.values() for n in g)
    if len(rows) == len(groups):
        return 0.0
    chance = (len(groups) - 1) * within / (len(rows) - len(groups))
    return round(math.sqrt(max(0.0, (whole - within - chance) / whole)), 4)


def choose_reading(task: Task, policy: Policy, counts: Counts) -> str | UsageError:
    """The first reading whose columns the corpus has, or an error that says which columns are missing."""
    missing: list[str] = []
    for reading in policy.readings or tuple(task.readings):
        lacks = [c for c in sorted(task.readings[reading]) if counts.columns[c] < COVERAGE * counts.sentences]
        if not lacks:
            return reading
        missing.append(f"{' and '.join(COLUMN_NAMES.get(c, c) for c in lacks)} ({reading} reading)")
    return UsageError(f"the corpus lacks {', and '.join(missing)}")


COLUMN_NAMES = {
    "upos": "UD parts of speech",
    "feats": "UD features",
    "heads": "dependency heads",
    "tree": "constituency trees",
    "penn": "Penn tags",
}


def _empty(job: Job, sharing: int = 1) -> Pool:
    """A pool large enough for the sizes asked for, as often as there are jobs that take from it, and no larger."""
    policy, labels = job.policy, job.task.labels
    rows = sum(policy.sizes)
    if policy.balance == "natural":
        return Pool(rows * sharing + POOL_MARGIN)
    fewest = len(labels) if isinstance(labels, tuple) else policy.min_classes
    most = len(labels) if isinstance(labels, tuple) else policy.classes or len(policy.bins) or fewest
    limit = rows // fewest
    if policy.strata == "exact" or most > fewest:
        # many cells: a share of the rows each, with slack for those that come out unevenly
        strata = len(strata_of(policy)) if policy.strata == "exact" else 1
        limit = min(limit, SLACK * rows // (most * strata))
    return Pool(limit * sharing + POOL_MARGIN)


def _fan_out(
    call: Callable[..., T],
    calls: Sequence[tuple[Any, ...]],
    jobs: int,
    stage: str,
    progress: Progress,
    sentences: int | None,
) -> Iterator[T]:
    """Run the calls here or in worker processes, and hand back results as they come."""
    if jobs == 1:
        progress(stage, 0, sentences)
        for arguments in calls:
            yield call(*arguments, tick=lambda n: progress(stage, n, sentences))
        return
    progress(stage, 0, len(calls))
    for done, result in enumerate(map_in_workers(call, calls, jobs, in_order=False), 1):
        yield result
        progress(stage, done, len(calls))


def _distinct(pool: Pool, changed: bool, used: set[int] | None) -> dict[tuple[str, str], list[Candidate]]:
    """The cells by label, without near-duplicates of each other, in original or changed form, or of used sentences."""
    owner: dict[int, tuple[tuple[str, str], Candidate]] = {}
    for cell, items in sorted(pool.cells.items()):
        for c in items:
            other = owner.setdefault(c[1], (cell, c))
            if other[1] is not c and tie_break_key(c) < tie_break_key(other[1]):
                owner[c[1]] = (cell, c)
    cells: dict[tuple[str, str], list[Candidate]] = {}
    taken: set[int] = set()
    for cell, items in sorted(pool.cells.items()):
        for c in items:
            if owner[c[1]][1] is not c or (used is not None and c[1] in used):
                continue
            if changed and (text := near_duplicate_key(c[3].text)) != c[1]:
                if text in owner or text in taken:
                    continue
                taken.add(text)
            cells.setdefault((c[3].label, cell[1]), []).append(c)
    return cells


def _rows(job: Job, split: str, items: Sequence[Candidate]) -> list[Example]:
    """The rows of one split in an order that says nothing."""
    shuffled = [_without_notes(c[3]) for c in sorted(items, key=lambda c: mix(c[0] ^ 0x5DEECE66D))]
    if job.task.complete is None:
        return shuffled
    rng = Random(f"{job.seed}/{job.task.name}/{split}")
    rows = job.task.complete(shuffled, rng)
    rng.shuffle(rows)
    return rows


NOTE_PREFIX = "#"
"""Further columns whose names begin so are notes of a task: the manifest counts them, and the rows do without."""


def _without_notes(e: Example) -> Example:
    return e._replace(extra=tuple(c for c in e.extra if not c[0].startswith(NOTE_PREFIX))) if e.extra else e


def _notes(splits: Mapping[str, Sequence[Candidate]]) -> dict[str, dict[str, dict[str, float]]]:
    """Of every note, by name and split, the share of examples with each value."""
    found: defaultdict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for split, items in splits.items():
        met: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for name, value in (c for item in items for c in item[3].extra if c[0].startswith(NOTE_PREFIX)):
            met[name.removeprefix(NOTE_PREFIX)][value] += 1
        for name, counts in met.items():
            found[name][split] = {value: round(n / len(items), 4) for value, n in sorted(counts.items())}
    return dict(found)


def _check(rows: Mapping[str, Sequence[Example]], chosen: Selection) -> None:
    """No split is empty, lacks a class, or has one class only."""
    for split, found in rows.items():
        labels = {row.label for row in found}
        wanted = set(chosen.labels)
        if len(labels) < 2 or wanted - labels or len(found) < MIN_SPLIT_ROWS:
            missing = ", ".join(sorted(wanted - labels)[:5])
            raise TooFewError(
                f"the corpus is too small: {split} would have {len(found)} rows{missing and f' and no {missing}'}; "
                f"expected at least {MIN_SPLIT_ROWS} rows and every class. "
                "Give a larger corpus, or a larger share to this split with --sizes"
            )


def _pooled(cells: Mapping[tuple[str, str], Sequence[Candidate]]) -> Counter[str]:
    out: Counter[str] = Counter()
    for (label, _), items in cells.items():
        out[label] += len(items)
    return out


def _lengths(splits: Mapping[str, Sequence[object]]) -> dict[str, int]:
    return {split: len(found) for split, found in splits.items()}


def _corpus_facts(corpus: Corpus, counts: Counts, seen: ReadLog) -> dict[str, Any]:
    return {
        "name": corpus.name,
        "language": corpus.language,
        "synthetic": corpus.is_synthetic,
        "digest": f"{seen.digest:032x}"[:16],
        "sentences": counts.sentences,
        "words": counts.tokens,
        "columns": dict(sorted(counts.columns.items())),
        "bigrams_thinned": counts.level,
        "files": [f.rsplit("/", 1)[-1] for f in (*corpus.files, *corpus.trees)],
        "skipped": {"sentences": seen.malformed, "listed": seen.messages},
    }
