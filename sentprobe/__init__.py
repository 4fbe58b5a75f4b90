"""Ask a sentence encoder what it knows.

Importing sentprobe reads no file, opens no connection and loads nothing heavy: each name is loaded when it is first
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentprobe.core.public import public_names

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from sentprobe.annotate.run import AnnotatedCorpus as AnnotatedCorpus
    from sentprobe.annotate.run import annotate_files as annotate_files
    from sentprobe.audit import Audit as Audit
    from sentprobe.audit import Finding as Finding
    from sentprobe.audit import audit_set as audit_set
    from sentprobe.core.cluster import joined as on_cluster
    from sentprobe.corpus import Corpus as Corpus
    from sentprobe.corpus import Sentence as Sentence
    from sentprobe.corpus import Tree as Tree
    from sentprobe.data.contrast_set import ContrastSet as ContrastSet
    from sentprobe.data.dataset import Dataset as Dataset
    from sentprobe.data.scored_pairs import ScoredPairs as ScoredPairs
    from sentprobe.data.sources import find_sets as find_sets
    from sentprobe.data.tables import read_senteval as read_senteval
    from sentprobe.data.tables import read_xprobe as read_xprobe
    from sentprobe.encoders import load as load_encoder
    from sentprobe.encoders.embed import Embeddings as Embeddings
    from sentprobe.encoders.embed import embed as embed_texts
    from sentprobe.encoders.objects import as_encoder as as_encoder
    from sentprobe.errors import SentProbeError as SentProbeError
    from sentprobe.make import SkippedTask as SkippedTask
    from sentprobe.make import make_sets as make_sets
    from sentprobe.make.contrasts import make_contrasts as make_contrasts
    from sentprobe.make.request import select_tasks as select_tasks
    from sentprobe.probes import Probe as Probe
    from sentprobe.probes import parse as load_probe
    from sentprobe.report import Report as Report
    from sentprobe.report.figure import write as write_figure
    from sentprobe.results.compare import Comparison as Comparison
    from sentprobe.results.compare import TieGroups as TieGroups
    from sentprobe.results.compare import compare as compare
    from sentprobe.results.compare import ties as ties
    from sentprobe.results.result import Result as Result
    from sentprobe.results.run import join as join_runs
    from sentprobe.run import Run as Run
    from sentprobe.run import evaluate as evaluate
    from sentprobe.run.own_score import ControlComparison as ControlComparison
    from sentprobe.run.own_score import compare_with_controls as compare_with_controls
    from sentprobe.run.pairs import evaluate_pairs as evaluate_pairs
    from sentprobe.tasks import Example as Example
    from sentprobe.tasks import Policy as Policy
    from sentprobe.tasks import Task as Task
    from sentprobe.tasks import load_task as load_task

_HOMES = {
    "AnnotatedCorpus": "sentprobe.annotate.run",
    "Audit": "sentprobe.audit",
    "Comparison": "sentprobe.results.compare",
    "ContrastSet": "sentprobe.data.contrast_set",
    "ControlComparison": "sentprobe.run.own_score",
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
    "ScoredPairs": "sentprobe.data.scored_pairs",
    "SentProbeError": "sentprobe.errors",
    "Sentence": "sentprobe.corpus",
    "SkippedTask": "sentprobe.make",
    "Task": "sentprobe.tasks",
    "TieGroups": "sentprobe.results.compare",
    "Tree": "sentprobe.corpus",
    "as_encoder": "sentprobe.encoders.objects",
    "annotate_files": "sentprobe.annotate.run",
    "audit_set": "sentprobe.audit",
    "compare": "sentprobe.results.compare",
    "compare_with_controls": "sentprobe.run.own_score",
    "embed_texts": "sentprobe.encoders.embed:embed",
    "evaluate": "sentprobe.run",
    "evaluate_pairs": "sentprobe.run.pairs",
    "find_sets": "sentprobe.data.sources",
    "join_runs": "sentprobe.results.run:join",
    "load_encoder": "sentprobe.encoders:load",
    "load_probe": "sentprobe.probes:parse",
    "load_task": "sentprobe.tasks",
    "make_contrasts": "sentprobe.make.contrasts",
    "make_sets": "sentprobe.make",
    "on_cluster": "sentprobe.core.cluster:joined",
    "read_senteval": "sentprobe.data.tables",
    "read_xprobe": "sentprobe.data.tables",
    "select_tasks": "sentprobe.make.request",
    "ties": "sentprobe.results.compare",
    "write_figure": "sentprobe.report.figure:write",
}

__all__ = [
    "AnnotatedCorpus",
    "Audit",
    "Comparison",
    "ContrastSet",
    "ControlComparison",
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
    "ScoredPairs",
    "SentProbeError",
    "Sentence",
    "SkippedTask",
    "Task",
    "TieGroups",
    "Tree",
    "annotate_files",
    "as_encoder",
    "audit_set",
    "compare",
    "compare_with_controls",
    "embed_texts",
    "evaluate",
    "evaluate_pairs",
    "find_sets",
    "join_runs",
    "load_encoder",
    "load_probe",
    "load_task",
    "make_contrasts",
    "make_sets",
    "on_cluster",
    "read_senteval",
    "read_xprobe",
    "select_tasks",
    "ties",
    "write_figure",
]

if not TYPE_CHECKING:
    __getattr__, _ = public_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
