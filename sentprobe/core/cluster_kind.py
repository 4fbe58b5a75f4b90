"""What the kinds of clusters have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sentprobe.core.agreement import Agreement

CONNECT_SECONDS, CHECK_SECONDS = 10, 60
"""How long a cluster may take to answer, and its nodes to say what they have."""
RETRIES = 3
"""How often a call is made again after a worker was lost: one that needs too much memory loses every one."""
LOST = (
    "Workers of the cluster were lost before their work was done, and so were those that it was given to next: they "
    "ran out of memory or were killed, or the cluster was shut down. Try again with fewer or larger workers."
)
GONE = (
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
    agreement: Agreement | None = None
    """What its workers must have, once they were asked."""
