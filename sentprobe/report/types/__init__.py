"""What is shown of a run, typed: everything that page, tables, figures, notebooks and JSON are written from.

``sentprobe.report.summary.summarise`` makes a ``Summary`` of a ``Run``; ``full_summary`` adds what only the page and
the figures need. ``docs/summary.schema.json`` is derived from these types.
"""

from sentprobe.report.types.analyses import (
    CorrelationCell,
    CorrelationMatrix,
    CurvePoint,
    Curves,
    FrequencyCurve,
    LanguageComparison,
    LanguageCorrelation,
    MapPoint,
    ProfilePoint,
    SetRef,
    WordSpaces,
)
from sentprobe.report.types.cell import BaselineComparison, Cell, Information, Meaning, MeaningKind, Score, Verdict
from sentprobe.report.types.errors import Bin, ColumnErrors, Confusion, SetErrors, ShownRow
from sentprobe.report.types.people import AnswerShare, HumanResult
from sentprobe.report.types.sets import AuditFinding, PublishedResult, SetSummary
from sentprobe.report.types.summary import (
    VERSION,
    CheckResult,
    Column,
    Diagnosis,
    FailureSummary,
    LayerTable,
    MissingCells,
    Reproduction,
    Seconds,
    Summary,
    Symptom,
    TrainingScore,
    TransferMean,
)

__all__ = [
    "VERSION",
    "AnswerShare",
    "AuditFinding",
    "BaselineComparison",
    "Bin",
    "Cell",
    "CheckResult",
    "Column",
    "ColumnErrors",
    "Confusion",
    "CorrelationCell",
    "CorrelationMatrix",
    "CurvePoint",
    "Curves",
    "Diagnosis",
    "FailureSummary",
    "FrequencyCurve",
    "HumanResult",
    "Information",
    "LanguageComparison",
    "LanguageCorrelation",
    "LayerTable",
    "MapPoint",
    "Meaning",
    "MeaningKind",
    "MissingCells",
    "ProfilePoint",
    "PublishedResult",
    "Reproduction",
    "Score",
    "Seconds",
    "SetErrors",
    "SetRef",
    "SetSummary",
    "ShownRow",
    "Summary",
    "Symptom",
    "TrainingScore",
    "TransferMean",
    "Verdict",
    "WordSpaces",
]
