"""The last step of ``make``: from a pool of candidates to a finished set, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from sentprobe.audit import audit_quickly, audit_set
from sentprobe.core.hashing import mix
from sentprobe.core.resources import gc_paused
from sentprobe.core.third_party import third_party_code
from sentprobe.core.workers import map_largest_first
from sentprobe.corpus.corpus import Corpus
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.data.dataset import Dataset
from sentprobe.data.expected import expected
from sentprobe.errors import TooFewError, describe_error
from sentprobe.make.candidates import Candidate, Cell, Pool, pack_pools, tie_break_key, unpack_pools
from sentprobe.make.job import Job, SkippedTask
from sentprobe.make.manifest import build_manifest, without_notes
from sentprobe.make.relax import advice
from sentprobe.make.sharing import Share, share_out
from sentprobe.make.split import check_splits, select
from sentprobe.tasks import SPLITS, Example
from sentprobe.tasks.task import failure_location

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


def finish_exclusively(
    jobs: Sequence[Job], pools: list[Pool], corpus: Corpus, facts: Mapping[str, Any], audit: bool
) -> Iterator[Dataset | SkippedTask]:
    """The sets in order, with no sentence in two of them."""
    cells = [_distinct_safely(job, pool) for job, pool in zip(jobs, pools, strict=True)]
    shares = share_out(jobs, cells, [pool.proposed for pool in pools])
    for i, share in enumerate(shares):
        yield finish_safely(jobs[i], pools[i], corpus, facts, share, audit)
        pools[i] = Pool(1)


def _finish_packed(
    job: Job, limit: int, packed: bytes, corpus: Corpus, facts: Mapping[str, Any], audit: bool
) -> Dataset | SkippedTask:
    (pool,) = unpack_pools(packed)
    return finish_safely(job, replace(pool, limit=limit), corpus, facts, None, audit)


def finish_safely(
    job: Job, pool: Pool, corpus: Corpus, facts: Mapping[str, Any], share: Share | None, audit: bool
) -> Dataset | SkippedTask:
    """The set, or the reason why there is none, whatever the task's own code does."""
    if pool.failed:
        return SkippedTask(job.name, job.task.name, pool.failed, "failed")
    try:
        with third_party_code:
            return finish(job, pool, corpus, facts, share, audit)
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        where = failure_location(e, job.task.complete)
        return SkippedTask(job.name, job.task.name, f"it failed: {describe_error(e)}{where}", "failed")


@gc_paused()
def finish(
    job: Job, pool: Pool, corpus: Corpus, facts: Mapping[str, Any], share: Share | None, audit: bool = False
) -> Dataset | SkippedTask:
    """Drop duplicates, balance, split, audit, and write the manifest; ``share`` is what an exclusive set may use."""
    task, policy = job.task, job.policy
    cells = share.cells if share else _distinct(pool, bool(task.changes))
    try:
        chosen = share.chosen if share else select(cells, task, policy, pool.proposed)
        if isinstance(chosen, TooFewError):
            raise chosen
        rows = {split: _rows(job, split, chosen.splits[split]) for split in SPLITS}
        check_splits(rows, chosen.labels)
    except TooFewError as e:
        why = advice(task, policy, job.reading, pool.rejected)
        if share and share.alone:
            why += f" Without --exclusive it would have {share.alone:,} rows."
        return SkippedTask(job.name, task.name, f"{e}.{why}", "too few")
    dataset = Dataset(job.name, task.name, task.version, corpus.language, chosen.labels, rows)
    expectations = expected(task, policy.disjoint, corpus.language, policy.balance == "natural")
    errors = _label_errors(job, facts)
    expectations = replace(expectations, label_errors=errors)
    findings = audit_quickly(dataset, expectations)
    if fatal := [f.message for f in findings if f.severity == "error" or f.code in FATAL_CODES]:
        return SkippedTask(job.name, task.name, f"the set would not be sound: {'; '.join(fatal)}", "unsound")
    manifest = build_manifest(job, pool, cells, chosen, dataset, facts, findings, errors)
    if share:
        manifest["sizes"]["without --exclusive"] = share.alone
    if audit:
        full = audit_set(dataset, expectations).to_dict()
        manifest |= {"audit": full["findings"], "shortcuts": full["measures"]}
    return replace(dataset, manifest=manifest)


def _label_errors(job: Job, facts: Mapping[str, Any]) -> Mapping[str, Any] | str | None:
    """How often the annotator's labels of this set are wrong; nothing if people annotated the corpus, or none did."""
    annotation = facts.get("annotation")
    if not annotation or not job.task.readings[job.reading]:
        return None
    return job.label_errors or f"not measured ({', '.join(str(one.get('annotator')) for one in annotation)})"


def _distinct(pool: Pool, changed: bool) -> dict[Cell, list[Candidate]]:
    """The cells by label, without near-duplicates of each other, in original or changed form."""
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
            if owner[c.near_key] is not c:
                continue
            if changed and (text := near_duplicate_key(c.example.text)) != c.near_key:
                if text in owner or text in taken:
                    continue
                taken.add(text)
            cells.setdefault((c.label, cell[1]), []).append(c)
    return cells


def _distinct_safely(job: Job, pool: Pool) -> dict[Cell, list[Candidate]]:
    """The same; none of a task that failed, or whose examples cannot be compared."""
    if pool.failed:
        return {}
    try:
        with third_party_code:
            return _distinct(pool, bool(job.task.changes))
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        pool.failed = f"it failed: {describe_error(e)}"
        return {}


def _rows(job: Job, split: str, items: Sequence[Candidate]) -> list[Example]:
    """The rows of one split, in an order that carries no information."""
    shuffled = [without_notes(c.example) for c in sorted(items, key=lambda c: mix(c.priority ^ 0x5DEECE66D))]
    if job.task.complete is None:
        return shuffled
    rng = Random(f"{job.seed}/{job.task.name}/{split}")
    rows = job.task.complete(shuffled, rng)
    rng.shuffle(rows)
    return rows
