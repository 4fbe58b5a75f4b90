"""Ray: each call is a task, which Ray places on a node, and makes again where the worker or the node was lost.

The backend that comes with Ray (``ray.util.joblib``) does not do: it hands calls in turn to a fixed pool of actors,
idle or not, returns results only when all are there, and fails when a node that has actors is removed.
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any

from joblib.parallel import ParallelBackendBase

from sentprobe.core.agreement import CHECK_SECONDS, CONNECT_SECONDS, LOOPBACK, RETRIES, WORKERS_LOST, Cluster
from sentprobe.core.folders import scratch_folder
from sentprobe.core.network import call_within
from sentprobe.core.processes import no_orphans
from sentprobe.errors import RunError

LONGEST_FOLDER = 40
"""Bytes of the path of Ray's folder: sockets are in it, whose paths have at most 107."""


def join(address: str, stack: ExitStack) -> Cluster:
    """Join the cluster at an address, or start one on this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would be sent to its makers
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or it warns that this will be the default
    host, _, port = address.rpartition(":")
    if not address or host in (LOOPBACK, "localhost"):  # or it uses the address that others know this machine by
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    if port.isdecimal():
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()  # it would try for minutes
    import ray

    quiet: dict[str, Any] = {"logging_level": logging.CRITICAL, "log_to_driver": False}
    if ray.is_initialized():  # by who calls this, and theirs to end
        name = f"Ray at {ray.get_runtime_context().gcs_address}"
    else:
        if not address:
            stack.enter_context(_own_token())
            quiet |= _own_folder(stack)
        stack.callback(ray.shutdown)
        with _own_handlers():
            if address:
                name = f"Ray at {address}"
                call_within(CONNECT_SECONDS, partial(ray.init, address, **quiet))
            else:  # not in another thread, since what is started would end with it
                name = "Ray, started on this machine for this command"
                ray.init("local", include_dashboard=False, _node_ip_address=LOOPBACK, **quiet)
    with suppress(AttributeError):  # which prints messages of the cluster on standard output, where results go
        ray._private.worker.print_to_stdstream = lambda *_, **__: None
    workers = int(sum(node["Resources"].get("CPU", 0) for node in _nodes()))
    return Cluster(name, workers, on_nodes, RayTasks(), is_connected)


def _own_folder(stack: ExitStack) -> dict[str, str]:
    """Where a Ray of ours keeps its session: a temporary folder that is removed with all that uses it."""
    folder = stack.enter_context(scratch_folder())
    if len(os.fsencode(folder)) > LONGEST_FOLDER:
        return {}
    stack.enter_context(no_orphans(folder))
    return {"_temp_dir": str(folder)}


@contextmanager
def _own_handlers() -> Iterator[None]:
    """Keep the handler of SIGTERM, which Ray replaces by one that ends the process in a way of its own.

    It does so while it starts, so that putting the handler back afterwards would be too late for a signal that comes
    meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    set_handler, before = signal.signal, signal.getsignal(signal.SIGTERM)
    signal.signal = lambda number, handler: None if number == signal.SIGTERM else set_handler(number, handler)  # type: ignore[assignment]
    try:
        yield
    finally:
        signal.signal = set_handler
        if before is not None:
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _own_token() -> Iterator[None]:
    """Have Ray, which admits only who knows a token, use one for this command instead of one in a file."""
    if any(name.startswith("RAY_AUTH_") for name in os.environ):  # whoever set that knows why
        yield
        return
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    try:
        yield
    finally:
        for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_MODE"):  # Ray sets the other one
            os.environ.pop(name, None)


def _nodes() -> list[dict[str, Any]]:
    """The nodes that have processors."""
    import ray

    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]


def is_connected() -> bool:
    """Whether the head still answers."""
    try:
        return bool(call_within(CONNECT_SECONDS, _nodes))
    except Exception:  # of any part of it that is gone
        return False


def on_nodes(call: Callable[[], Any]) -> dict[str, Any]:
    """What a call returned or raised on every node."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    answers: dict[str, Any] = {}
    refs = {}
    for node in _nodes():
        affinity = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        name = f"{node['NodeManagerHostname']} ({node['NodeID'][:8]})"
        refs[name] = ray.remote(num_cpus=0, scheduling_strategy=affinity)(call_in_task).remote(call)
    for name, ref in refs.items():
        try:
            answers[name] = ray.get(ref, timeout=CHECK_SECONDS)
        except (ray.exceptions.NodeDiedError, ray.exceptions.TaskUnschedulableError):
            continue  # the node is gone
        except ray.exceptions.RayError as e:
            answers[name] = getattr(e, "cause", None) or e
    return answers


def call_in_task(call: Callable[[], Any]) -> Any:
    """Make a call; by this name it is listed by Ray."""
    return call()


class RayTasks(ParallelBackendBase):  # type: ignore[misc]
    """A backend of joblib whose calls are tasks of Ray."""

    supports_retrieve_callback = True

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        """Get ready for calls."""
        import ray

        self.parallel = parallel
        self._remote = ray.remote(max_retries=RETRIES, scheduling_strategy="SPREAD")(call_in_task)
        self._refs: dict[Any, Any] = {}
        self._callbacks = ThreadPoolExecutor(1)  # a thread of Ray's would have to submit the next call
        return n_jobs

    def effective_n_jobs(self, n_jobs: int) -> int:
        """The number of calls at a time, as it was requested."""
        return n_jobs

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], Any] | None = None) -> Any:
        """Make a task of a call."""
        ref = self._remote.remote(func)
        future = ref.future()
        self._refs[future] = ref
        future.add_done_callback(partial(self._done, callback))
        return future

    def _done(self, callback: Callable[[Any], Any] | None, future: Future[Any]) -> None:
        self._refs.pop(future, None)
        if callback is not None:
            with suppress(RuntimeError):  # nobody waits any more
                self._callbacks.submit(callback, future)

    def retrieve_result_callback(self, future: Future[Any]) -> Any:
        """The result of a task, or what it raised."""
        import ray

        try:
            return future.result()
        except ray.exceptions.RayTaskError as e:
            raise e.cause if isinstance(getattr(e, "cause", None), BaseException) else e from None
        except ray.exceptions.RayError as e:
            raise RunError(WORKERS_LOST) from e

    def abort_everything(self, **_: Any) -> None:
        """Cancel what is not done."""
        import ray

        for ref in [*self._refs.values()]:
            with suppress(Exception):
                ray.cancel(ref, force=True)

    def terminate(self) -> None:
        """Clean up after the calls."""
        self._callbacks.shutdown(wait=False)
