"""Processes that this one starts: they end when it does, leave Ctrl-C to it, and may die without ending it.

``sentprobe.core.workers`` makes many calls with joblib, whose pool is lost with its first worker. A child is one
process, started when it is first called and again after it died: whoever calls it can find out which call kills.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from os import _exit  # the real one, whatever third-party code runs: see sentprobe/core/third_party.py
from pathlib import Path
from typing import Any, TypeVar

from sentprobe.errors import RunError, SentProbeWarning, describe_error

T = TypeVar("T")
I = TypeVar("I")  # noqa: E741

PARENT_POLL_SECONDS = 0.2
"""Seconds between two checks of a worker for its parent."""
CALL_POLL_SECONDS = 0.5
"""Seconds between two looks at a child that works: one that left processes behind may die without closing its pipe."""
CALLS_PER_CHILD = 2
"""Calls that are waiting or working, for each child."""
SERVE = "import sys; sys.path[:] = sys.argv[2:]; from sentprobe.core.processes import serve; serve(int(sys.argv[1]))"
REAP = "import sys; sys.path[:] = sys.argv[2:]; from sentprobe.core.processes import reap; reap(sys.argv[1])"
GRACE_SECONDS = 2.0
"""How long processes have to end by themselves, after the command has ended."""
WAIT_SECONDS = 10
"""How long a command waits for the last of them."""

# What every such process does


@contextmanager
def blocked_signals() -> Iterator[None]:
    """What stops a command is blocked while a worker starts, which inherits that.

    So it prints no traceback before it can ignore Ctrl-C, which ``begin_worker`` does.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stopping_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def stopping_signals() -> set[signal.Signals]:
    """The signals that stop a command, where the system has them."""
    return {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}


def begin_worker(parent: int, directory: str | None = None) -> None:
    """The first thing a worker does.

    joblib keeps workers for later calls as long as these arguments are the same: ``directory`` is there so that workers
    of another working directory, in which relative paths are other files, are not used again.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all processes, and the parent handles it
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stopping_signals())
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # one thread per worker, as for BLAS
    threading.Thread(target=_watch, args=(parent,), name="watch the parent", daemon=True).start()


def _watch(parent: int) -> None:
    """Exit as soon as the parent is not the process that started this one.

    Linux can send a signal when the parent dies (PR_SET_PDEATHSIG), but it does so when the *thread* that started the
    worker ends, which may be any thread of a pool.
    """
    if os.name == "nt":  # where a process keeps its parent's id, and a handle shows when the parent has ended
        from multiprocessing import parent_process

        if (mother := parent_process()) is not None:
            mother.join()
            _exit(1)
        return
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_SECONDS)
    _exit(1)  # without the usual clean-up, which could wait for the parent


# Children


class ChildDied(Exception):
    """The child ended before it had an answer."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    @property
    def was_killed(self) -> bool:
        """Whether something else ended it, as the system does with a process that needs too much memory."""
        return -self.code in {getattr(signal, name, None) for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")}

    def __str__(self) -> str:
        """How it ended: ``SIGSEGV``."""
        with suppress(ValueError):
            return signal.Signals(-self.code).name
        return f"exit code {self.code if self.code >= 0 else hex(self.code & 0xFFFFFFFF)}"


class Child:
    """One process that makes one call at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Any = None
        self._lock = threading.Lock()
        self._is_closed = False

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """The result of a call, or what it raised; ChildDied if the process dies of it."""
        process = self._started()
        try:
            self._pipe.send((function, arguments))
            while not self._pipe.poll(CALL_POLL_SECONDS):
                if process.poll() is not None and not self._pipe.poll():
                    raise EOFError
            warned, error, result = self._pipe.recv()
        except (EOFError, OSError):
            raise ChildDied(self._ended(process)) from None
        for message, category in warned:
            warnings.warn(message, category, stacklevel=2)
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_closed:
                raise RunError("The command is being ended.")
            if self._process is not None:
                return self._process
            self._pipe, child_end = Pipe()
            number = child_end.fileno()
            options: dict[str, Any] = {"pass_fds": (number,)}
            if os.name == "nt":
                os.set_handle_inheritable(number, True)  # type: ignore[attr-defined]
                options = {"close_fds": False}
            with blocked_signals():
                self._process = subprocess.Popen(  # noqa: S603 - this Python, and our own code
                    [sys.executable, "-c", SERVE, str(number), *sys.path], stdin=subprocess.DEVNULL, **options
                )
            child_end.close()
            self._pipe.send(os.getpid())
            return self._process

    def _ended(self, process: subprocess.Popen[bytes]) -> int:
        with self._lock:
            process.kill()  # it may have closed the pipe only
            self._pipe.close()
            self._process = None
            return process.wait()

    def close(self) -> None:
        """End the process, whatever it does; what waits for it is told that it died."""
        with self._lock:
            self._is_closed = True
            if (process := self._process) is not None:
                process.kill()
                process.wait()


class Children:
    """Some children, for calls that are made at the same time; a context, at whose end they are ended."""

    def __init__(self, count: int) -> None:
        self._all = [Child() for _ in range(count)]
        self._idle = deque(self._all)

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *error: object) -> None:
        for child in self._all:
            child.close()

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """A call of the child that is called first."""
        return self._all[0].call(function, *arguments)

    def map(self, work: Callable[[Child, I], T], items: Iterable[I]) -> Iterator[T]:
        """What ``work`` returns, which is given an idle child and an item each, in order."""
        waiting: deque[Future[T]] = deque()

        def done(item: I) -> T:
            child = self._idle.popleft()  # there are as many as threads
            try:
                return work(child, item)
            finally:
                self._idle.appendleft(child)

        with ThreadPoolExecutor(len(self._all), "calls of children") as pool:
            try:
                for item in items:
                    waiting.append(pool.submit(done, item))
                    while len(waiting) >= CALLS_PER_CHILD * len(self._all):
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            except BaseException:  # nobody wants the other results, and what works must not be waited for
                pool.shutdown(wait=False, cancel_futures=True)
                self.__exit__()
                raise


# In the child


def serve(number: int) -> None:
    """Answer calls until the parent closes the pipe."""
    if os.name == "nt":
        from multiprocessing.connection import PipeConnection as Connection  # type: ignore[attr-defined]
    else:
        from multiprocessing.connection import Connection
    sys.argv = ["sentprobe"]
    pipe: Any = Connection(number)
    warned: list[tuple[str, type[Warning]]] = []
    show_other = warnings.showwarning

    def keep(message: Any, category: type[Warning], *where: Any) -> None:
        if issubclass(category, SentProbeWarning):
            warned.append((str(message), category))
        else:
            show_other(message, category, *where)

    warnings.simplefilter("always", SentProbeWarning)
    warnings.showwarning = keep  # type: ignore[assignment]
    with suppress(EOFError, OSError):
        parent = pipe.recv()
        begin_worker(parent)
        while True:
            function, arguments = pipe.recv()
            error = result = None
            try:
                result = function(*arguments)
            except BaseException as e:
                error = e
            _send(pipe, (warned, error, result))
            warned.clear()


def _send(pipe: Any, answer: tuple[Any, BaseException | None, Any]) -> None:
    """Send an answer; an error that cannot be sent, or not be read there, is described."""
    from multiprocessing.reduction import ForkingPickler

    warned, error, _ = answer
    try:
        if error is not None:
            ForkingPickler.loads(bytes(ForkingPickler.dumps(error)))
        pipe.send(answer)
    except OSError:
        raise
    except Exception as e:
        pipe.send((warned, RunError(describe_error(error if error is not None else e)), None))


# Orphans


@contextmanager
def no_orphans(folder: Path) -> Iterator[None]:
    """End all processes that have a file in this folder open, when the context or this process ends.

    Ray's own processes end with the one that started them, but not their agents, which take minutes to notice. What all
    of them have is an open file in the folder of their session, which is ours: so a process that does nothing but wait
    for the end of the command ends whatever has one, and removes the folder. Linux shows who has a file open.
    """
    if not Path("/proc/self/fd").is_dir():
        yield
        return
    with blocked_signals():  # which the watcher inherits: only the end of the command counts
        watcher = subprocess.Popen(  # noqa: S603 - this Python, and our own code
            [sys.executable, "-c", REAP, str(folder), *sys.path], stdin=subprocess.PIPE, start_new_session=True
        )
    assert watcher.stdin is not None
    try:
        yield
    finally:
        watcher.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            watcher.wait(WAIT_SECONDS)


def reap(folder: str) -> None:
    """Wait for the end of the command, which has the other end of standard input, and then clean up after it."""
    command = os.getppid()
    sys.stdin.buffer.read()
    until = time.monotonic() + GRACE_SECONDS
    while (alive := [pid for pid in users_of(folder) if pid != command]) and time.monotonic() < until:
        time.sleep(0.1)
    for pid in alive:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def users_of(folder: str) -> list[int]:
    """The processes, but for this one, that have a file below a folder open."""
    below, pids = folder.rstrip("/") + "/", []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):  # of another user, or it has ended
                if any(str(file.readlink()).startswith(below) for file in (entry / "fd").iterdir()):
                    pids.append(int(entry.name))
    return pids
