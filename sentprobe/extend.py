"""What parts of your own are made of: measures, controls, metrics, charts, checks, annotators, encoder schemes, ….

One import line has what a part needs; each name is loaded when it is first used. `sentprobe` itself has what all
scripts use, tasks included, and `sentprobe.lab` the parts of training and alignment. docs/architecture.md lists the
kinds of parts, with the folder and the entry point group of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentprobe.core.public import public_names

if TYPE_CHECKING:
    from sentprobe.annotate.annotator import Annotator as Annotator
    from sentprobe.annotate.annotator import Loaded as LoadedAnnotator
    from sentprobe.annotate.annotator import Model as AnnotationModel
    from sentprobe.annotate.source import Piece as Piece
    from sentprobe.annotate.source import ReadOptions as ReadOptions
    from sentprobe.annotate.source import TextSource as TextSource
    from sentprobe.audit import AuditCheck as AuditCheck
    from sentprobe.audit import Code as Code
    from sentprobe.audit import ShortcutScore as ShortcutScore
    from sentprobe.cli.listings import Listing as Listing
    from sentprobe.contrast import ContrastRule as ContrastRule
    from sentprobe.contrast import RowsRead as RowsRead
    from sentprobe.core.folders import FolderType as FolderType
    from sentprobe.core.formatting import NumberFormat as NumberFormat
    from sentprobe.core.table import Table as Table
    from sentprobe.data.splits import Splits as Splits
    from sentprobe.data.splits import has_train_test_split as has_train_test_split
    from sentprobe.encoders import Encoder as Encoder
    from sentprobe.encoders import Identity as Identity
    from sentprobe.encoders import Spec as Spec
    from sentprobe.encoders import TrainingScore as TrainingScore
    from sentprobe.probes import Features as Features
    from sentprobe.probes import Fit as Fit
    from sentprobe.probes import Preset as Preset
    from sentprobe.probes import ProbeKind as ProbeKind
    from sentprobe.report.check import Check as Check
    from sentprobe.report.check import CheckFinding as CheckFinding
    from sentprobe.report.drawing import Chart as Chart
    from sentprobe.report.drawing import OnPage as OnPage
    from sentprobe.report.drawing import Options as ChartOptions
    from sentprobe.report.drawing import figure_style as figure_style
    from sentprobe.report.drawing import single_view as single_view
    from sentprobe.report.extension import SummaryExtension as SummaryExtension
    from sentprobe.report.page.section import PageData as PageData
    from sentprobe.report.page.section import Section as Section
    from sentprobe.report.types import Summary as Summary
    from sentprobe.results.metric import Metric as Metric
    from sentprobe.results.run_kind import RunKind as RunKind
    from sentprobe.run.control import Control as Control
    from sentprobe.run.job import FitJob as FitJob
    from sentprobe.run.job import features_of as features_of
    from sentprobe.run.measure import Measure as Measure
    from sentprobe.run.measure import empty_result as empty_result
    from sentprobe.run.scoring import classification_result as classification_result
    from sentprobe.run.variant import Objection as Objection
    from sentprobe.run.variant import PlainScore as PlainScore
    from sentprobe.run.variant import Support as Support
    from sentprobe.run.variant import VariantColumn as VariantColumn
    from sentprobe.run.variant import VariantSummary as VariantSummary
    from sentprobe.run.variant import points as points
    from sentprobe.run.variant import scores_as_high as scores_as_high
    from sentprobe.tasks import TASK_SPECIFIC_FIELDS as TASK_SPECIFIC_FIELDS
    from sentprobe.tasks import Context as Context
    from sentprobe.tasks import ParametricTask as ParametricTask

_HOMES = {
    "AnnotationModel": "sentprobe.annotate.annotator:Model",
    "Annotator": "sentprobe.annotate.annotator",
    "AuditCheck": "sentprobe.audit",
    "Chart": "sentprobe.report.drawing",
    "ChartOptions": "sentprobe.report.drawing:Options",
    "Check": "sentprobe.report.check",
    "CheckFinding": "sentprobe.report.check",
    "Code": "sentprobe.audit",
    "Context": "sentprobe.tasks",
    "ContrastRule": "sentprobe.contrast",
    "Control": "sentprobe.run.control",
    "Encoder": "sentprobe.encoders",
    "Features": "sentprobe.probes",
    "Fit": "sentprobe.probes",
    "FitJob": "sentprobe.run.job",
    "FolderType": "sentprobe.core.folders",
    "Identity": "sentprobe.encoders",
    "Listing": "sentprobe.cli.listings",
    "LoadedAnnotator": "sentprobe.annotate.annotator:Loaded",
    "Measure": "sentprobe.run.measure",
    "Metric": "sentprobe.results.metric",
    "NumberFormat": "sentprobe.core.formatting",
    "Objection": "sentprobe.run.variant",
    "OnPage": "sentprobe.report.drawing",
    "PageData": "sentprobe.report.page.section",
    "ParametricTask": "sentprobe.tasks",
    "Piece": "sentprobe.annotate.source",
    "PlainScore": "sentprobe.run.variant",
    "Preset": "sentprobe.probes",
    "ProbeKind": "sentprobe.probes",
    "ReadOptions": "sentprobe.annotate.source",
    "RowsRead": "sentprobe.contrast",
    "RunKind": "sentprobe.results.run_kind",
    "Section": "sentprobe.report.page.section",
    "ShortcutScore": "sentprobe.audit",
    "Spec": "sentprobe.encoders",
    "Splits": "sentprobe.data.splits",
    "Summary": "sentprobe.report.types",
    "Support": "sentprobe.run.variant",
    "SummaryExtension": "sentprobe.report.extension",
    "TASK_SPECIFIC_FIELDS": "sentprobe.tasks",
    "Table": "sentprobe.core.table",
    "TextSource": "sentprobe.annotate.source",
    "TrainingScore": "sentprobe.encoders",
    "VariantColumn": "sentprobe.run.variant",
    "VariantSummary": "sentprobe.run.variant",
    "classification_result": "sentprobe.run.scoring",
    "empty_result": "sentprobe.run.measure",
    "features_of": "sentprobe.run.job",
    "figure_style": "sentprobe.report.drawing",
    "has_train_test_split": "sentprobe.data.splits",
    "points": "sentprobe.run.variant",
    "scores_as_high": "sentprobe.run.variant",
    "single_view": "sentprobe.report.drawing",
}

__all__ = [
    "TASK_SPECIFIC_FIELDS",
    "AnnotationModel",
    "Annotator",
    "AuditCheck",
    "Chart",
    "ChartOptions",
    "Check",
    "CheckFinding",
    "Code",
    "Context",
    "ContrastRule",
    "Control",
    "Encoder",
    "Features",
    "Fit",
    "FitJob",
    "FolderType",
    "Identity",
    "Listing",
    "LoadedAnnotator",
    "Measure",
    "Metric",
    "NumberFormat",
    "Objection",
    "OnPage",
    "PageData",
    "ParametricTask",
    "Piece",
    "PlainScore",
    "Preset",
    "ProbeKind",
    "ReadOptions",
    "RowsRead",
    "RunKind",
    "Section",
    "ShortcutScore",
    "Spec",
    "Splits",
    "Summary",
    "SummaryExtension",
    "Support",
    "Table",
    "TextSource",
    "TrainingScore",
    "VariantColumn",
    "VariantSummary",
    "classification_result",
    "empty_result",
    "features_of",
    "figure_style",
    "has_train_test_split",
    "points",
    "scores_as_high",
    "single_view",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = public_names(__name__, _HOMES)
