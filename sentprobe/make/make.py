"""Corpus + tasks → probing sets: count, propose, finish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sentprobe.core.arguments import Progress, StringsOrPaths
from sentprobe.core.cluster import current_cluster
from sentprobe.corpus.corpus import Corpus, shard_count
from sentprobe.data.dataset import Dataset
from sentprobe.errors import TooFewError, UsageError
from sentprobe.make.filters import ExcludedSentences
from sentprobe.make.finish import finish_all, finish_exclusively
from sentprobe.make.job import Job, SkippedTask, empty_pool, prepare_job
from sentprobe.make.manifest import corpus_facts
from sentprobe.make.passes import ReadLog, count, no_progress, propose
from sentprobe.make.relax import make_relaxed
from sentprobe.tasks import Policy, Task

TaskRequest = tuple[str, Task, Policy] | Task
"""A suite, a task of it and a policy, as ``select_tasks`` returns them; or a task."""


def make_sets(
    corpus: Corpus,
    tasks: TaskRequest | Iterable[TaskRequest],
    *,
    seed: int = 1111,
    jobs: int = 1,
    shards: int | None = None,
    exclude: ExcludedSentences | StringsOrPaths = (),
    exclusive: bool = False,
    skip_bad: bool = False,
    audit: bool = False,
    relax: bool = False,
    label_errors: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Progress | None = None,
) -> Iterator[Dataset | SkippedTask]:
    """Make one probing set per task, from two passes over the corpus.

    The result depends neither on the order of the sentences nor on ``jobs`` and ``shards``.

    Parameters
    ----------
    corpus
        Where the sentences come from.
    tasks
        What `select_tasks` returns: (suite, task, policy) triples, or one of them. A `Task` alone is made under the
        first policy it has.
    seed
        Every random choice derives from it, the task and the sentence.
    jobs
        Worker processes; 1 works in this process.
    shards
        Into how many parts the corpus is read; by default one per worker, or four on a cluster.
    exclude
        Sentences to exclude, together with those they were made from.
    exclusive
        Use a sentence in one set only; where they are scarce, they are shared out so that the smallest set has as
        many rows as possible.
    skip_bad
        Skip malformed sentences and list them in the manifest, instead of raising `CorpusError`.
    audit
        Audit for shortcuts and damaged text too, not only for duplicates, contradictions and leaks.
    relax
        Make sets that the corpus is too small for with wider policies: smaller classes, then target forms of any
        frequency, then fewer classes, then other lengths. Each costs two more passes; the manifest says what was
        relaxed.
    label_errors
        How often the annotator of the corpus labels sentences wrongly, by set, as
        `sentprobe.make.label_errors.measure_label_errors` finds it; for manifests and audits.
    progress
        Called with a stage, how much is done and the total.

    Yields
    ------
    Dataset or SkippedTask
        The set, or why it could not be made.

    Raises
    ------
    UsageError
        If there are no tasks.
    CorpusError
        If a sentence is malformed, unless ``skip_bad``.

    Examples
    --------
    >>> from sentprobe import Corpus, make_sets, select_tasks
    >>> requests = select_tasks(tasks="bigram_shift", sizes="60/20/20")
    >>> (dataset,) = make_sets(Corpus.synthetic(300), requests)
    >>> dataset
    Dataset('conneau2018/bigram_shift', en, 2 labels, train 60, dev 20, test 20)
    """
    requests = _requests(tasks)
    if not requests:
        raise UsageError("There is nothing to make: name a suite or a task.")
    if relax and exclusive:
        raise UsageError("relax and exclusive exclude each other: sentences are shared out before sets are relaxed.")
    make = partial(
        _make,
        corpus,
        seed=seed,
        jobs=jobs,
        shards=shards,
        exclude=exclude,
        exclusive=exclusive,
        skip_bad=skip_bad,
        audit=audit,
        label_errors=label_errors or {},
        progress=progress or no_progress,
    )
    yield from make_relaxed(requests, make) if relax else make(requests)


def _make(
    corpus: Corpus,
    requests: Sequence[tuple[str, Task, Policy]],
    *,
    seed: int,
    jobs: int,
    shards: int | None,
    exclude: ExcludedSentences | StringsOrPaths,
    exclusive: bool,
    skip_bad: bool,
    audit: bool,
    label_errors: Mapping[str, Mapping[str, Any]],
    progress: Progress,
) -> Iterator[Dataset | SkippedTask]:
    """Count, propose and finish: one set per request."""
    reading = ReadLog()
    shards = shards or shard_count(corpus, jobs, current_cluster() is not None)
    with corpus.read_twice(jobs == 1, reading.record if skip_bad else None) as source:
        sentences = len(source.loaded) if source.loaded is not None else source.builtin or None
        counts, log = count(source, [t for _, t, _ in requests], jobs, skip_bad, progress, shards, sentences)
        log.add(reading)
        if not counts.sentences:
            bad = f" that could be read: {log.first_error}" if log.first_error else ""
            raise TooFewError(f"The corpus {corpus.name} has no sentence{bad or 's'}.")
        ready: list[Job] = []
        for suite, task, policy in requests:
            job = prepare_job(suite, task, policy, counts, seed, corpus.language)
            if isinstance(job, SkippedTask):
                yield job
            else:
                ready.append(replace(job, label_errors=label_errors.get(job.name)))
        facts = corpus_facts(corpus, counts, log)
        counts.drop_tables()
        pools = [empty_pool(job, len(ready) if exclusive else 1) for job in ready]
        excluded = exclude if isinstance(exclude, ExcludedSentences) else ExcludedSentences.of(exclude)
        propose(source, ready, pools, jobs, excluded, progress, shards, counts.sentences)
    del source  # it may hold a small corpus in memory
    if exclusive:
        yield from finish_exclusively(ready, pools, corpus, facts, audit)
    else:
        yield from finish_all(ready, pools, corpus, facts, audit, jobs)


def _requests(tasks: TaskRequest | Iterable[TaskRequest]) -> list[tuple[str, Task, Policy]]:
    single = isinstance(tasks, Task) or (isinstance(tasks, tuple) and len(tasks) == 3 and isinstance(tasks[0], str))
    out: list[tuple[str, Task, Policy]] = []
    for item in [tasks] if single or not isinstance(tasks, Iterable) or isinstance(tasks, str) else tasks:
        match item:
            case Task():
                suite, policy = next(iter(item.policies.items()))
                out.append((suite, item, policy))
            case (str() as suite, Task() as task, Policy() as policy):
                out.append((suite, task, policy))
            case _:
                raise UsageError(f"Expected a (suite, task, policy), as `select_tasks` returns, got {item!r:.80}.")
    return out
