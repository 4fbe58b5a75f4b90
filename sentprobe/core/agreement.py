"""A cluster, and what all its machines must have in common: code, versions of packages, and files.

It is looked at on every node before any work, and goes with every call: a worker that joins a cluster later, with other
code or other files, refuses the call instead of returning other results.
"""

from __future__ import annotations

import hashlib
import os
import platform
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from sentprobe.core.files import is_remote
from sentprobe.errors import UsageError

NUMERIC_PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "ftfy",
    "py3langid",
    "torch",
    "transformers",
    "sentence-transformers",
    "tokenizers",
    "mwparserfromhell",
    "pyarrow",
)
"""Packages that results depend on; an optional one that some nodes lack would make them differ."""
CODE = (".py", ".toml", ".csv", ".json", ".txt")
"""Files of this package that results may depend on."""
MAX_HASHED_BYTES = 2 << 30
"""Files are compared as a whole if all of them have no more than this; hashing takes some seconds. Of larger corpora,
as much is compared in blocks all over each file."""
BLOCK_BYTES = 1 << 16
RECHECK_SECONDS = 30.0
"""How often a worker looks whether files have changed."""


@dataclass(frozen=True)
class WorkerAgreement:
    """What a worker must have; sent with every call."""

    versions: tuple[tuple[str, str], ...]
    """By name, that of this package with a digest of its code."""
    files: tuple[tuple[str, str], ...] = ()
    """Paths and digests of contents; those that are not here are not looked for there."""
    share: float = 1.0
    """The part of each file that is compared."""
    tokens: frozenset[str] = frozenset()
    """Those of the files that were made to find out whether their folder is shared."""

    @classmethod
    def of(cls, reads: Iterable[str | Path], tokens: Sequence[str] = ()) -> WorkerAgreement:
        """What this process has; of a folder, all files in it."""
        paths = [*dict.fromkeys(file for path in reads for file in _files(os.fspath(path))), *tokens]
        sizes = [size for path in paths if (size := _size(path)) is not None]
        share = min(1.0, MAX_HASHED_BYTES / max(1, sum(sizes)))
        digests = [(path, digest) for path in paths if (digest := digest_of(path, share)) is not None]
        return cls(tuple(own_versions().items()), tuple(digests), share, frozenset(tokens))

    def disagreement(self) -> str:
        """What this process has that is different, as the rest of a sentence about it; empty if there is nothing."""
        versions = own_versions()
        for name, expected in self.versions:
            if (got := versions.get(name, "not installed")) != expected:
                return (
                    f"has {name} {got}, and this command {expected}; expected the same, or results would differ. "
                    "Install the same there, and start the worker again"
                )
        for path, expected in self.files:
            if (content := digest_of(path, self.share)) != expected:
                if path in self.tokens:
                    return (
                        f"does not see {path}: {Path(path).parent} is not shared. Name a path on storage that all "
                        "nodes see, such as SENTPROBE_CACHE for the store, or add --no-store"
                    )
                what = "no file" if content is None else "another file"
                return f"has {what} {path}: the nodes must share it. Name a path on storage that all nodes see"
        return ""


_checked: dict[WorkerAgreement, float] = {}


def require(agreement: WorkerAgreement) -> None:
    """Raise UsageError if this process does not have what was agreed on; files are looked at again after a while."""
    if time.monotonic() - _checked.get(agreement, -RECHECK_SECONDS) < RECHECK_SECONDS:
        return
    if problem := agreement.disagreement():
        raise UsageError(
            f"The worker {socket.gethostname()} (process {os.getpid()}) of the cluster {problem}. It was given no work."
        )
    _checked.clear()  # of other commands
    _checked[agreement] = time.monotonic()


# What a process has


@cache
def own_versions() -> Mapping[str, str]:
    """The versions of what results depend on, as first used here: those of a checkout may change."""
    packages = {name: _installed_version(name) for name in (*NUMERIC_PACKAGES, *_plugins())}
    return {"Python": platform.python_version(), "sentprobe": _own_version(), **packages}


def _installed_version(package: str) -> str:
    """The version of a package, without what it was built for, such as +cu128."""
    try:
        return metadata.version(package).partition("+")[0]
    except metadata.PackageNotFoundError:
        return "not installed"


def _plugins() -> list[str]:
    """The packages that offer parts: tasks, encoders, probes."""
    groups = [group for group in metadata.entry_points().groups if group.startswith("sentprobe.")]
    entries = (entry for group in groups for entry in metadata.entry_points(group=group))
    return sorted({entry.dist.name for entry in entries if entry.dist is not None} - {"sentprobe"})


def _own_version() -> str:
    from sentprobe import __version__

    root, digest = Path(__file__).parents[1], hashlib.blake2b(digest_size=4)
    for path in sorted(path for path in root.rglob("*") if path.suffix in CODE and "__pycache__" not in path.parts):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return f"{__version__} ({digest.hexdigest()})"


def _files(path: str) -> Iterator[str]:
    """A file, or all files of a folder but for hidden ones; what is at an address is the same everywhere."""
    if is_remote(path):
        return
    if not Path(path).is_dir():
        yield path
        return
    for folder, names, files in os.walk(path):
        names[:] = sorted(name for name in names if not name.startswith((".", "__pycache__")))
        yield from (os.path.join(folder, name) for name in sorted(files) if not name.startswith("."))  # noqa: PTH118


def _size(path: str) -> int | None:
    try:
        return Path(path).stat().st_size
    except OSError:
        return None


_digests: dict[tuple[str, float], tuple[tuple[int, int, int], str]] = {}


def digest_of(path: str, share: float = 1.0) -> str | None:
    """A digest of the content of a file, or of blocks that are a share of it; None if it cannot be read.

    It is computed again if the file was touched.
    """
    try:
        with Path(path).open("rb") as file:
            status = os.fstat(file.fileno())
            stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
            cached = _digests.get((path, share))
            if cached is not None and cached[0] == stamp:
                return cached[1]
            state = hashlib.blake2b(str(status.st_size).encode(), digest_size=16)
            step = BLOCK_BYTES if share >= 1 else max(BLOCK_BYTES, int(BLOCK_BYTES / share))
            ends = () if share >= 1 else (max(0, status.st_size - BLOCK_BYTES),)
            for at in (*range(0, status.st_size, step), *ends):
                file.seek(at)
                state.update(file.read(BLOCK_BYTES))
    except OSError:
        return None
    _digests[path, share] = stamp, state.hexdigest()
    return state.hexdigest()


# Clusters


CONNECT_SECONDS, CHECK_SECONDS = 10, 60
"""How long a cluster may take to answer, and its nodes to say what they have."""
RETRIES = 3
"""How often a call is made again after a worker was lost: one that needs too much memory loses every one."""
WORKERS_LOST = (
    "Workers of the cluster were lost before their work was done, and so were those that it was given to next: they "
    "ran out of memory or were killed, or the cluster was shut down. Try again with fewer or larger workers."
)
CLUSTER_GONE = (
    "The cluster does not answer any more: its scheduler or head was ended, or the network is down. Results that were "
    "written are kept: the same command goes on with them, on another cluster or with --jobs."
)
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Cluster:
    """A cluster that this process is connected to."""

    name: str
    """What it is, and where."""
    workers: int
    """How many calls it makes at a time."""
    on_nodes: Callable[[Callable[[], Any]], Mapping[str, Any]]
    """Makes a call on every node, or in every worker process: what it returned or raised, by the name of the node."""
    backend: Any
    """That of joblib."""
    is_alive: Callable[[], bool] = lambda: True
    """Whether its scheduler still answers."""
    agreement: WorkerAgreement | None = None
    """What its workers must have, once they were asked."""
