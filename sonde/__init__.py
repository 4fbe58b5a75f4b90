"""Ask a sentence encoder what it knows.

Importing sonde reads no file, opens no connection and loads nothing heavy: each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from sonde.audit import Audit as Audit
    from sonde.audit import Finding as Finding
    from sonde.audit import audit_set as audit_set
    from sonde.corpus import Corpus as Corpus
    from sonde.corpus import Sentence as Sentence
    from sonde.corpus import Tree as Tree
    from sonde.data.dataset import Dataset as Dataset
    from sonde.data.sources import find_sets as find_sets
    from sonde.data.tables import read_senteval as read_senteval
    from sonde.data.tables import read_xprobe as read_xprobe
    from sonde.encoders import load as load_encoder
    from sonde.encoders.embed import Embeddings as Embeddings
    from sonde.encoders.embed import embed as embed_texts
    from sonde.errors import SondeError as SondeError
    from sonde.make import SkippedTask as SkippedTask
    from sonde.make import make_sets as make_sets
    from sonde.make.request import select_tasks as select_tasks
    from sonde.probes import Probe as Probe
    from sonde.report import Report as Report
    from sonde.result import Result as Result
    from sonde.run import Run as Run
    from sonde.run import evaluate as evaluate
    from sonde.task import Example as Example
    from sonde.task import Policy as Policy
    from sonde.task import Task as Task
    from sonde.tasks import load as load_task

_HOMES = {
    "Audit": "sonde.audit",
    "Corpus": "sonde.corpus",
    "Dataset": "sonde.data.dataset",
    "Embeddings": "sonde.encoders.embed",
    "Example": "sonde.task",
    "Finding": "sonde.audit",
    "Policy": "sonde.task",
    "Probe": "sonde.probes",
    "Report": "sonde.report",
    "Result": "sonde.result",
    "Run": "sonde.run",
    "Sentence": "sonde.corpus",
    "SondeError": "sonde.errors",
    "Task": "sonde.task",
    "Tree": "sonde.corpus",
    "SkippedTask": "sonde.make",
    "audit_set": "sonde.audit",
    "embed_texts": "sonde.encoders.embed:embed",
    "evaluate": "sonde.run",
    "find_sets": "sonde.data.sources",
    "load_encoder": "sonde.encoders:load",
    "load_task": "sonde.tasks:load",
    "make_sets": "sonde.make",
    "read_senteval": "sonde.data.tables",
    "read_xprobe": "sonde.data.tables",
    "select_tasks": "sonde.make.request",
}

__all__ = [
    "Audit",
    "Corpus",
    "Dataset",
    "Embeddings",
    "Example",
    "Finding",
    "Policy",
    "Probe",
    "Report",
    "Result",
    "Run",
    "Sentence",
    "SkippedTask",
    "SondeError",
    "Task",
    "Tree",
    "audit_set",
    "embed_texts",
    "evaluate",
    "find_sets",
    "load_encoder",
    "load_task",
    "make_sets",
    "read_senteval",
    "read_xprobe",
    "select_tasks",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sonde' has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = home.partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
