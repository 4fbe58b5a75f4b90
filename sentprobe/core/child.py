"""A process that makes calls and may die: a crash of native code ends it, and not the command.

``sentprobe.core.workers`` makes many calls with joblib, whose pool is lost with its first worker. A child is one
process, started when it is first called and again after it died: whoever calls it can find out which call kills.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import Pipe
from typing import Any, TypeVar

from sentprobe.core.signals import blocked_signals
from sentprobe.core.workers import begin_worker
from sentprobe.errors import RunError, SentProbeWarning, describe_error

T = TypeVar("T")
I = TypeVar("I")  # noqa: E741

POLL_SECONDS = 0.5
"""Seconds between two looks at a child that works: one that left processes behind may die without closing its pipe."""
AHEAD = 2
"""Calls that are waiting or working, for each child."""
START = "import sys; sys.path[:] = sys.argv[2:]; from sentprobe.core.child import serve; serve(int(sys.argv[1]))"


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
            while not self._pipe.poll(POLL_SECONDS):
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
            self._pipe, other = Pipe()
            number = other.fileno()
            options: dict[str, Any] = {"pass_fds": (number,)}
            if os.name == "nt":
                os.set_handle_inheritable(number, True)  # type: ignore[attr-defined]
                options = {"close_fds": False}
            with blocked_signals():
                self._process = subprocess.Popen(  # noqa: S603 - this Python, and our own code
                    [sys.executable, "-c", START, str(number), *sys.path], stdin=subprocess.DEVNULL, **options
                )
            other.close()
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
                    while len(waiting) >= AHEAD * len(self._all):
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
    shown = warnings.showwarning

    def keep(message: Any, category: type[Warning], *where: Any) -> None:
        if issubclass(category, SentProbeWarning):
            warned.append((str(message), category))
        else:
            shown(message, category, *where)

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
