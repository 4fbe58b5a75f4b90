"""The last step of ``make``: from a pool of candidates to a finished set, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from sonde.audit import audit_quickly, audit_set
from sonde.core.hashing import mix
from sonde.core.memory import gc_paused
from sonde.core.third_party import third_party_code
from sonde.core.workers import map_largest_first
from sonde.corpus.corpus import Corpus
from sonde.corpus.near_duplicates import near_duplicate_key
from sonde.data.dataset import Dataset
from sonde.data.expected import expected
from sonde.errors import TooFewError, describe_error
from sonde.make.candidates import Candidate, Cell, Pool, pack_pools, tie_break_key, unpack_pools
from sonde.make.job import Job, SkippedTask
from sonde.make.manifest import build_manifest, without_notes
from sonde.make.relax import advice
from sonde.make.split import Selection, select
from sonde.task import SPLITS, Example
from sonde.task.third_party import failure_location

MIN_SPLIT_ROWS = 10
"""A set with a split of fewer rows than this is not made."""
FATAL_CODES = frozenset(
    {"copies-across-splits", "near-copies-across-splits", "two-labels", "missing-class", "wrong-label"}
)
"""Findings that no set made here may have, not even once."""


def finish_all(
    jobs: Sequence[Job], pools: list[Pool], corpus: Corpus, facts: Mapping[str, Any], audit: bool, workers: int
) -> Iterator[Dataset | SkippedTask]:
    """The sets in order, finished here or in worker processes; each pool is dropped when it is no longer needed."""
    corpus = replace(corpus, loaded=None)  # the sentences are in the pools
    if workers == 1 or len(jobs) < 2:
        for i, job in enumerate(jobs):
            yield finish_safely(job, pools[i], corpus, facts, None, audit)
            pools[i] = Pool(1)
        return
    calls, sizes = [], []
    for i, job in enumerate(jobs):
        sizes.append(sum(map(len, pools[i].cells.values())))
        calls.append((job, pools[i].limit, pack_pools(pools[i : i + 1]), corpus, facts, audit))
        pools[i] = Pool(1)
    yield from map_largest_first(_finish_packed, calls, sizes, workers)


def _finish_packed(
    job: Job, limit: int, packed: bytes, corpus: Corpus, facts: Mapping[str, Any], audit: bool
) -> Dataset | SkippedTask:
    (pool,) = unpack_pools(packed)
    return finish_safely(job, replace(pool, limit=limit), corpus, facts, None, audit)


def finish_safely(
    job: Job, pool: Pool, corpus: Corpus, facts: Mapping[str, Any], used: set[int] | None, audit: bool
) -> Dataset | SkippedTask:
    """The set, or the reason why there is none, whatever the task's own code does."""
    if pool.failed:
        return SkippedTask(job.name, job.task.name, pool.failed, "failed")
    try:
        with third_party_code:
            return finish(job, pool, corpus, facts, used, audit)
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        where = failure_location(e, job.task.complete)
        return SkippedTask(job.name, job.task.name, f"it failed: {describe_error(e)}{where}", "failed")


@gc_paused()
def finish(
    job: Job, pool: Pool, corpus: Corpus, facts: Mapping[str, Any], used: set[int] | None, audit: bool = False
) -> Dataset | SkippedTask:
    """Drop duplicates, balance, split, audit, and write the manifest.

    ``used`` are the near-duplicate keys of sentences that other sets have taken; those of this set are added to them.
    """
    task, policy = job.task, job.policy
    cells = _distinct(pool, bool(task.changes), used)
    try:
        chosen = select(cells, task, policy, pool.proposed)
        rows = {split: _rows(job, split, chosen.splits[split]) for split in SPLITS}
        _check_splits(rows, chosen)
    except TooFewError as e:
        why = advice(task, policy, job.reading, pool.rejected)
        return SkippedTask(job.name, task.name, f"{e}.{why}", "too few")
    if used is not None:
        used.update(c.near_key for items in chosen.splits.values() for c in items)
    dataset = Dataset(job.name, task.name, task.version, corpus.language, chosen.labels, rows)
    expectations = expected(task, policy.disjoint, corpus.language, policy.balance == "natural")
    findings = audit_quickly(dataset, expectations)
    if errors := [f.message for f in findings if f.severity == "error" or f.code in FATAL_CODES]:
        return SkippedTask(job.name, task.name, f"the set would not be sound: {'; '.join(errors)}", "unsound")
    manifest = build_manifest(job, pool, cells, chosen, dataset, facts, findings)
    if audit:
        full = audit_set(dataset, expectations).to_dict()
        manifest |= {"audit": full["findings"], "shortcuts": full["measures"]}
    return replace(dataset, manifest=manifest)


def _distinct(pool: Pool, changed: bool, used: set[int] | None) -> dict[Cell, list[Candidate]]:
    """The cells by label, without near-duplicates of each other, in original or changed form, or of used sentences."""
    found = sorted(pool.cells.items())
    owner: dict[int, Candidate] = {}
    for _, items in found:
        for c in items:
            other = owner.setdefault(c.near_key, c)
            if other is not c and tie_break_key(c) < tie_break_key(other):
                owner[c.near_key] = c
    cells: dict[Cell, list[Candidate]] = {}
    taken: set[int] = set()
    for cell, items in found:
        for c in items:
            if owner[c.near_key] is not c or (used is not None and c.near_key in used):
                continue
            if changed and (text := near_duplicate_key(c.example.text)) != c.near_key:
                if text in owner or text in taken:
                    continue
                taken.add(text)
            cells.setdefault((c.label, cell[1]), []).append(c)
    return cells


def _rows(job: Job, split: str, items: Sequence[Candidate]) -> list[Example]:
    """The rows of one split, in an order that carries no information."""
    shuffled = [without_notes(c.example) for c in sorted(items, key=lambda c: mix(c.priority ^ 0x5DEECE66D))]
    if job.task.complete is None:
        return shuffled
    rng = Random(f"{job.seed}/{job.task.name}/{split}")
    rows = job.task.complete(shuffled, rng)
    rng.shuffle(rows)
    return rows


def _check_splits(rows: Mapping[str, Sequence[Example]], chosen: Selection) -> None:
    """No split is empty, lacks a class, or has one class only."""
    for split, found in rows.items():
        labels = {row.label for row in found}
        expected_labels = set(chosen.labels)
        if len(labels) < 2 or expected_labels - labels or len(found) < MIN_SPLIT_ROWS:
            missing = ", ".join(sorted(expected_labels - labels)[:5])
            raise TooFewError(
                f"the corpus is too small: {split} would have {len(found)} rows{missing and f' and no {missing}'}; "
                f"expected at least {MIN_SPLIT_ROWS} rows and every class. "
                "Give a larger corpus, or a larger share to this split with --sizes"
            )
