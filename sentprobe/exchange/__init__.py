"""Results that leave and come in: files for other labs, a leaderboard of them, and MTEB's tasks and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentprobe.core.public import public_names

if TYPE_CHECKING:
    from sentprobe.exchange.boards import Leaderboard as Leaderboard
    from sentprobe.exchange.boards import leaderboard as leaderboard
    from sentprobe.exchange.mteb_results import write_mteb_results as write_mteb_results
    from sentprobe.exchange.mteb_tasks import write_mteb_tasks as write_mteb_tasks
    from sentprobe.exchange.result_file import export_results as export_results

_HOMES = {
    "Leaderboard": "sentprobe.exchange.boards",
    "export_results": "sentprobe.exchange.result_file",
    "leaderboard": "sentprobe.exchange.boards",
    "write_mteb_results": "sentprobe.exchange.mteb_results",
    "write_mteb_tasks": "sentprobe.exchange.mteb_tasks",
}

__all__ = ["Leaderboard", "export_results", "leaderboard", "write_mteb_results", "write_mteb_tasks"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = public_names(__name__, _HOMES)
