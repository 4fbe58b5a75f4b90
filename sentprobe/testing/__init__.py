"""Conformance checks that anyone can run on their own parts.

``sentprobe check`` prints those of tasks, encoders and annotators.
"""

from sentprobe.testing.alignments import check_alignment_method, examine_alignment_method
from sentprobe.testing.annotators import check_annotator, examine_annotator
from sentprobe.testing.architectures import check_architecture, examine_architecture
from sentprobe.testing.encoders import check_encoder, examine_encoder
from sentprobe.testing.tasks import check_task, examine_task
from sentprobe.testing.verdict import Verdict

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
