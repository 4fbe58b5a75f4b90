"""Ask a sentence encoder what it knows.

Importing sentprobe reads no file, opens no connection and loads nothing heavy: each name is loaded when it is first
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from sentprobe.audit import Audit as Audit
    from sentprobe.audit import Finding as Finding
    from sentprobe.audit import audit_set as audit_set
    from sentprobe.corpus import Corpus as Corpus
    from sentprobe.corpus import Sentence as Sentence
    from sentprobe.corpus import Tree as Tree
    from sentprobe.data.dataset import Dataset as Dataset
    from sentprobe.data.sources import find_sets as find_sets
    from sentprobe.data.tables import read_senteval as read_senteval
    from sentprobe.data.tables import read_xprobe as read_xprobe
    from sentprobe.encoders import load as load_encoder
    from sentprobe.encoders.embed import Embeddings as Embeddings
    from sentprobe.encoders.embed import embed as embed_texts
    from sentprobe.errors import SentProbeError as SentProbeError
    from sentprobe.make import SkippedTask as SkippedTask
    from sentprobe.make import make_sets as make_sets
    from sentprobe.make.request import select_tasks as select_tasks
    from sentprobe.probes import Probe as Probe
    from sentprobe.report import Report as Report
    from sentprobe.results.result import Result as Result
    from sentprobe.run import Run as Run
    from sentprobe.run import evaluate as evaluate
    from sentprobe.tasks import Example as Example
    from sentprobe.tasks import Policy as Policy
    from sentprobe.tasks import Task as Task
    from sentprobe.tasks import load_task as load_task

_HOMES = {
    "Audit": "sentprobe.audit",
    "Corpus": "sentprobe.corpus",
    "Dataset": "sentprobe.data.dataset",
    "Embeddings": "sentprobe.encoders.embed",
    "Example": "sentprobe.tasks",
    "Finding": "sentprobe.audit",
    "Policy": "sentprobe.tasks",
    "Probe": "sentprobe.probes",
    "Report": "sentprobe.report",
    "Result": "sentprobe.results.result",
    "Run": "sentprobe.run",
    "Sentence": "sentprobe.corpus",
    "SentProbeError": "sentprobe.errors",
    "Task": "sentprobe.tasks",
    "Tree": "sentprobe.corpus",
    "SkippedTask": "sentprobe.make",
    "audit_set": "sentprobe.audit",
    "embed_texts": "sentprobe.encoders.embed:embed",
    "evaluate": "sentprobe.run",
    "find_sets": "sentprobe.data.sources",
    "load_encoder": "sentprobe.encoders:load",
    "load_task": "sentprobe.tasks",
    "make_sets": "sentprobe.make",
    "read_senteval": "sentprobe.data.tables",
    "read_xprobe": "sentprobe.data.tables",
    "select_tasks": "sentprobe.make.request",
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
    "SentProbeError",
    "Sentence",
    "SkippedTask",
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
        raise AttributeError(f"module 'sentprobe' has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = home.partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
