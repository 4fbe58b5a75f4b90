"""Conformance checks that anyone can run on their own parts.

``sonde check`` prints those of tasks, encoders and annotators.
"""

from sonde.testing.alignments import check_alignment_method, examine_alignment_method
from sonde.testing.annotators import check_annotator, examine_annotator
from sonde.testing.architectures import check_architecture, examine_architecture
from sonde.testing.encoders import check_encoder, examine_encoder
from sonde.testing.tasks import check_task, examine_task
from sonde.testing.verdict import Verdict

__all__ = [
    "Verdict",
    "check_alignment_method",
    "check_annotator",
    "check_architecture",
    "check_encoder",
    "check_task",
    "examine_alignment_method",
    "examine_annotator",
    "examine_architecture",
    "examine_encoder",
    "examine_task",
]
