"""The last step of ``make``: from pools of candidates to finished sets, or the reasons why there are none.

Sets are finished one by one, unless a sentence may be in one set only: then the candidates are shared out first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from sentprobe.data.expectations import task_expectations
from sentprobe.errors import TooFewError, describe_error
from sentprobe.make.candidates import Candidate, Cell, Cells, Pool, pack_pools, tie_break_key, unpack_pools
from sentprobe.make.job import Job, SkippedTask
from sentprobe.make.manifest import build_manifest, without_notes
from sentprobe.make.relax import advice
from sentprobe.make.selection import Selection, check_splits, select
from sentprobe.tasks import SPLITS, Example
from sentprobe.tasks.task import failure_location

FATAL_CODES = frozenset(
    {"copies-across-splits", "near-copies-across-splits", "two-labels", "missing-class", "wrong-label"}
)
"""Findings that no set made here may have, not even once."""
LEVELS, STEP = 12, 1.4
"""Levels of sharing out, and the ratio of one to the next: the lowest is a fortieth of the highest."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a set gets when no sentence may be in two sets."""

    selection: Selection | TooFewError
    """Its rows, or why it has none."""
    cells: Cells
    """Its candidates that no other set holds."""
    rows_unshared: int
    """How many rows it would have if it had all its candidates."""


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
        selection = share.selection if share else select(cells, task, policy, pool.proposed)
        if isinstance(selection, TooFewError):
            raise selection
        rows = {split: _rows(job, split, selection.splits[split]) for split in SPLITS}
        check_splits(rows, selection.labels)
    except TooFewError as e:
        hint = advice(task, policy, job.reading, pool.rejected)
        if share and share.rows_unshared:
            hint += f" Without --exclusive it would have {share.rows_unshared:,} rows."
        return SkippedTask(job.name, task.name, f"{e}.{hint}", "too few")
    dataset = Dataset(job.name, task.name, task.version, corpus.language, selection.labels, rows)
    errors = _label_errors(job, facts)
    expectations = task_expectations(task, policy.disjoint, corpus.language, policy.balance == "natural")
    expectations = replace(expectations, label_errors=errors)
    findings = audit_quickly(dataset, expectations)
    if fatal := [f.message for f in findings if f.severity == "error" or f.code in FATAL_CODES]:
        return SkippedTask(job.name, task.name, f"the set would not be sound: {'; '.join(fatal)}", "unsound")
    manifest = build_manifest(job, pool, cells, selection, dataset, facts, findings, errors)
    if share:
        manifest["sizes"]["without --exclusive"] = share.rows_unshared
    if audit:
        full = audit_set(dataset, expectations).to_dict()
        manifest |= {"audit": full["findings"], "shortcuts": full["measures"]}
    return replace(dataset, manifest=manifest)


def _label_errors(job: Job, facts: Mapping[str, Any]) -> Mapping[str, Any] | str | None:
    """How often the annotator's labels of this set are wrong; nothing if people annotated the corpus, or none did."""
    annotation = facts.get("annotation")
    if not annotation or not job.task.readings[job.reading]:
        return None
    return (
        job.label_errors or f"not measured ({', '.join(str(provenance.get('annotator')) for provenance in annotation)})"
    )


def _distinct(pool: Pool, changed: bool) -> dict[Cell, list[Candidate]]:
    """The cells by label, without near-duplicates of each other, in original or changed form."""
    pooled = sorted(pool.cells.items())
    owner: dict[int, Candidate] = {}
    for _, items in pooled:
        for c in items:
            duplicate = owner.setdefault(c.near_key, c)
            if duplicate is not c and tie_break_key(c) < tie_break_key(duplicate):
                owner[c.near_key] = c
    cells: dict[Cell, list[Candidate]] = {}
    taken: set[int] = set()
    for cell, items in pooled:
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


# Who gets which sentence when a sentence may be in one set only


def share_out(jobs: Sequence[Job], cells: Sequence[Cells], proposed: Sequence[Mapping[str, int]]) -> list[Share]:
    """Share the candidates out among the jobs, so that no sentence is in two sets.

    The sets grow together up to a level, a share of the requested rows, that rises step by step. At every level each
    set below it is selected again from the candidates that no other set holds, the one with the fewest candidates
    first; a set that finds no more keeps what it has. So a set is short where its candidates ran out, not because
    others came first.

    Which rows a set takes is decided by their priorities, never by who else wants them: frequent classes could avoid
    contested sentences and rare ones could not, and the classes would differ in more than the label.
    """
    numbers = range(len(jobs))
    unshared = [_size(_select(jobs[i], cells[i], proposed[i], None)) for i in numbers]
    requested = [sum(job.policy.sizes) for job in jobs]
    top = max((unshared[i] / requested[i] for i in numbers), default=0.0)
    order = sorted(numbers, key=lambda i: (sum(map(len, cells[i].values())), jobs[i].name))
    for levels in ([top], [top / STEP**k for k in reversed(range(LEVELS))]):
        held, owner = _fill(levels, order, unshared, requested, jobs, cells, proposed)
        if list(map(_size, held)) == unshared:  # there is enough for all, whoever comes first
            break
    return [Share(held[i], _free(cells[i], owner, i), unshared[i]) for i in numbers]


def _fill(
    levels: Sequence[float],
    order: Sequence[int],
    unshared: Sequence[int],
    requested: Sequence[int],
    jobs: Sequence[Job],
    cells: Sequence[Cells],
    proposed: Sequence[Mapping[str, int]],
) -> tuple[list[Selection | TooFewError], dict[int, int]]:
    """What every job holds after the last level; and the job that holds each sentence, by near-duplicate key."""
    held: list[Selection | TooFewError] = [TooFewError("")] * len(jobs)
    owner: dict[int, int] = {}
    for at, level in enumerate(levels):
        for i in order:
            targets = [min(unshared[i], round(higher * requested[i])) for higher in levels[at:]]
            if 0 < targets[0] <= _size(held[i]):
                continue
            free = _free(cells[i], owner, i)
            selection = _select(jobs[i], free, proposed[i], targets[0])
            if level == levels[0]:  # a set of many classes needs more than the lowest level to exist at all
                for target in targets[1:]:
                    if isinstance(selection, Selection):
                        break
                    selection = _select(jobs[i], free, proposed[i], target)
            if not isinstance(held[i], Selection) or _size(selection) > _size(held[i]):
                for key in _keys(held[i]):
                    del owner[key]
                owner |= dict.fromkeys(_keys(selection), i)
                held[i] = selection
    return held, owner


def _select(job: Job, cells: Cells, proposed: Mapping[str, int], most: int | None) -> Selection | TooFewError:
    try:
        selection = select(cells, job.task, job.policy, proposed, most)
        if job.task.complete is None:
            check_splits(selection.splits, selection.labels)
    except TooFewError as e:
        return e
    return selection


def _size(selection: Selection | TooFewError) -> int:
    return sum(map(len, selection.splits.values())) if isinstance(selection, Selection) else 0


def _keys(selection: Selection | TooFewError) -> Iterator[int]:
    splits = selection.splits.values() if isinstance(selection, Selection) else ()
    return (c.near_key for items in splits for c in items)


def _free(cells: Cells, owner: Mapping[int, int], job: int) -> dict[Cell, list[Candidate]]:
    """The candidates that no other job holds."""
    return {cell: [c for c in items if owner.get(c.near_key, job) == job] for cell, items in cells.items()}
