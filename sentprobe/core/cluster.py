"""A cluster as workers: calls that ``sentprobe.core.workers`` makes are made on Ray or Dask, through joblib.

A cluster is joined for one command. Before any work, every node is asked whether it has the versions and files of the
command, and so is every worker with every call, since it may have joined later (``sentprobe.core.agreement``). What was
started here is shut down at the end; what was joined is left as it was.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sentprobe.core.agreement import Cluster, WorkerAgreement, require
from sentprobe.core.arguments import did_you_mean, resolve_jobs
from sentprobe.core.install import pip_install
from sentprobe.errors import NotInstalled, SentProbeError, UsageError, describe_error

PACKAGES = {"ray": ("ray",), "dask": ("dask", "distributed")}
"""The kinds of clusters, and what they need."""
ADVICE = {
    "ray": "Expected the address that `ray start --head` printed, on a machine that is a node of that cluster, and "
    "RAY_AUTH_MODE set as it is there.",
    "dask": "Expected the address that `dask scheduler` printed, or the file of its --scheduler-file.",
}


_current: Cluster | None = None


def current_cluster() -> Cluster | None:
    """The cluster that calls of workers are made on, if there is one."""
    return _current


@contextmanager
def joined(
    typed: str | None, jobs: int, *, reads: Sequence[str | Path] = (), writes: Sequence[Path] = ()
) -> Iterator[int]:
    """Join a cluster, or start one, for the calls of workers inside; their number, which without a cluster is ``jobs``.

    Parameters
    ----------
    typed
        ``ray`` or ``dask``, to start one on this machine; ``ray:auto``, ``ray:HOST:PORT``, ``dask:tcp://HOST:PORT`` or
        ``dask:FILE``, the file of a Dask scheduler, to join one. None: worker processes of this machine.
    jobs
        Worker processes of this machine.
    reads
        Files and folders that all nodes must see.
    writes
        Folders that all nodes must share, since their workers write to them.

    Raises
    ------
    UsageError
        If there is no such cluster, or its nodes have other versions, or do not see the files.

    Examples
    --------
    >>> from sentprobe import Corpus, make_sets, on_cluster, select_tasks
    >>> requests = select_tasks("conneau2018", "bigram_shift", sizes="100/20/20")
    >>> with on_cluster(None, 1) as workers:  # "dask:/shared/scheduler.json" instead of None joins a cluster
    ...     (dataset,) = make_sets(Corpus.synthetic(800), requests, jobs=workers)
    >>> dataset.name
    'conneau2018/bigram_shift'
    """
    global _current
    if typed is None:
        yield resolve_jobs(jobs)
        return
    kind, _, address = typed.partition(":")
    if kind not in PACKAGES:
        hint = did_you_mean(kind, PACKAGES, n=1)
        raise UsageError(f"--cluster {typed}: there is no kind of cluster {kind!r}; expected ray or dask.{hint}")
    if jobs > 1:
        raise UsageError(f"--jobs {jobs} is about this machine, and --cluster uses all workers of it: leave one out.")
    for package in PACKAGES[kind]:
        if find_spec(package) is None:
            raise NotInstalled(f"--cluster {typed} needs {package}, which is not installed: {pip_install('cluster')}")
    with ExitStack() as stack:
        try:
            cluster = _join(kind)(address, stack)
        except (SentProbeError, KeyboardInterrupt):
            raise
        except BaseException as e:
            if not address:
                raise UsageError(
                    f"--cluster {typed}: the cluster cannot be started: {_first_line(e)}. Is this machine too busy? "
                    "--jobs needs no cluster."
                ) from e
            raise UsageError(f"--cluster {typed}: the cluster does not answer: {_first_line(e)}. {ADVICE[kind]}") from e
        tokens = [stack.enter_context(_token(folder)) for folder in writes]  # for workers that join later, too
        cluster = replace(cluster, agreement=_agreement(cluster, typed, reads, tokens))
        from joblib import parallel_config

        stack.enter_context(parallel_config(cluster.backend))
        _current, before = cluster, _current
        try:
            yield max(2, cluster.workers)  # with 1, calls would be made here
        finally:
            _current = before


def _join(kind: str) -> Callable[[str, ExitStack], Cluster]:
    """How to join a cluster of a kind; at the end of the stack, it is left."""
    if kind == "ray":
        from sentprobe.core.ray_cluster import join
    else:
        from sentprobe.core.dask_cluster import join
    return join


def _first_line(error: BaseException) -> str:
    return next(iter(describe_error(error).splitlines()), "").rstrip(". ")


# What every node has


def _agreement(cluster: Cluster, typed: str, reads: Sequence[str | Path], tokens: Sequence[str]) -> WorkerAgreement:
    """What all nodes have; UsageError if a node has other versions, or does not see the same files."""
    agreement = WorkerAgreement.of(reads, tokens)
    answers = cluster.on_nodes(partial(_difference_on_node, os.getcwd(), agreement))  # noqa: PTH109
    if not answers:
        raise UsageError(f"--cluster {typed}: the cluster has no workers. Start some, and try again.")
    for node, answer in answers.items():
        if isinstance(answer, BaseException):
            raise UsageError(
                f"--cluster {typed}: the worker {node} cannot run sentprobe: {_first_line(answer)}. "
                "Expected the same environment on all nodes."
            )
        if answer:
            raise UsageError(f"--cluster {typed}: the worker {node} {answer}.")
    return agreement


def _difference_on_node(directory: str, agreement: WorkerAgreement) -> str:
    """What is different on a node; empty if there is nothing."""
    _change_directory(directory)
    return agreement.disagreement()


@contextmanager
def _token(folder: Path) -> Iterator[str]:
    """A file with a random name and size, for others to find."""
    token = folder / f".sentprobe-{secrets.token_hex(8)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        token.write_bytes(bytes(1 + secrets.randbelow(1000)))
    except OSError as e:
        raise UsageError(f"{folder} cannot be written to: {e.strerror or e}. Workers write to it.") from None
    try:
        yield os.fspath(token)
    finally:
        with suppress(OSError):
            token.unlink()


# Calls on a worker

_call_lock = threading.Lock()


def call_on_worker(
    agreement: WorkerAgreement | None, directory: str | None, call: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    """Make a call in the working directory of the command, and no other at the same time.

    UsageError if this worker does not have what all must have.

    A worker of Dask may have several threads, and the working directory, or what isolates third-party code, is one for
    all. The arguments are one tuple, or joblib would leave large arrays with a single worker of Dask, which may die.
    """
    with _call_lock:
        _change_directory(directory)
        if agreement is not None:
            require(agreement)
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        return call(*arguments)


def _change_directory(directory: str | None) -> None:
    if directory is not None:
        with suppress(OSError):  # then only absolute paths are of use
            os.chdir(directory)
