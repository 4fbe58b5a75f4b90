"""Dask: joblib's own backend, which makes a call again where the worker was lost."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import dask
from distributed import Client, LocalCluster
from distributed.scheduler import KilledWorker
from joblib._dask import DaskDistributedBackend

from sentprobe.core.agreement import CONNECT_SECONDS, LOOPBACK, RETRIES, WORKERS_LOST, Cluster
from sentprobe.errors import RunError, UsageError, describe_error

NO_PAGES: dict[str, list[str]] = {f"distributed.{who}.http.routes": [] for who in ("scheduler", "worker", "nanny")}
"""No dashboard, and no other pages either."""
NOTICE_SECONDS = 5.0
"""How long a scheduler may take to notice that a worker is gone."""


def join(address: str, stack: ExitStack) -> Cluster:
    """Join the cluster of a scheduler, or start one on this machine."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    for name in (*names, "asyncio", "tornado.application"):  # which log what a lost connection leaves undone
        logger = logging.getLogger(name)
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL)
    stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}))
    where: dict[str, Any] = {"address": address}
    name = f"Dask at {address}"
    if not address:
        name = "Dask, started on this machine for this command"
        with dask.config.set({**NO_PAGES, "distributed.scheduler.allowed-failures": RETRIES}):
            local = LocalCluster(
                n_workers=os.cpu_count(),
                threads_per_worker=1,
                host=LOOPBACK,
                silence_logs=logging.CRITICAL,
                dashboard_address=f"{LOOPBACK}:0",
                worker_dashboard_address=f"{LOOPBACK}:0",
            )
        where["address"] = stack.enter_context(local)
    elif address.endswith(".json"):
        if not Path(address).is_file():
            raise UsageError(f"--cluster dask:{address}: there is no such file; expected that of a Dask scheduler.")
        where = {"scheduler_file": address}
    client = stack.enter_context(Client(**where, timeout=CONNECT_SECONDS, set_as_default=False))
    return Cluster(
        name,
        workers=len(client.ncores()),
        on_nodes=lambda call: on_nodes(client, call),
        backend=DaskTasks(client=client),
        is_alive=lambda: is_connected(client),
    )


def is_connected(client: Any) -> bool:
    """Whether the scheduler still answers."""
    try:
        return bool(
            client.status == "running" and client.sync(client.scheduler.identity, callback_timeout=NOTICE_SECONDS)
        )
    except Exception:  # of any part of it that is gone
        return False


def on_nodes(client: Any, call: Any) -> dict[str, Any]:
    """What a call returned or raised in every worker process; one that dies meanwhile is no part of the cluster."""
    answers = dict(client.run(call, on_error="return"))
    silent = {node for node, answer in answers.items() if isinstance(answer, OSError)}
    until = time.monotonic() + NOTICE_SECONDS
    while silent & client.ncores().keys() and time.monotonic() < until:
        time.sleep(0.1)
    gone = silent - client.ncores().keys()
    return {node: answer for node, answer in answers.items() if node not in gone}


class Lost(NamedTuple):
    """In place of the result of a call that was lost."""

    error: BaseException


class DaskTasks(DaskDistributedBackend):  # type: ignore[misc]
    """The same backend, which also says that a call was lost, or it would be waited for."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """The number of calls at a time; at least two, since joblib would make a single one here."""
        return max(2, int(super().effective_n_jobs(n_jobs)))

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], Any]) -> Any:
        """Make a task of a call."""
        future = super().submit(func, callback)
        future.add_done_callback(lambda done: callback(Lost(done.exception())) if done.exception() else None)
        return future

    def retrieve_result_callback(self, out: Any) -> Any:
        """The result of a task, or what it raised."""
        error = out.error if isinstance(out, Lost) else out
        if isinstance(error, KilledWorker | CancelledError):  # too often, or with the scheduler
            raise RunError(WORKERS_LOST) from error
        if isinstance(out, Lost):
            raise RunError(f"A worker of the cluster cannot make a call: {describe_error(out.error)}") from out.error
        return super().retrieve_result_callback(out)
