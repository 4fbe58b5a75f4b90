"""Conformance checks that anyone can run on their own parts.

``sentprobe check`` prints those of tasks, encoders, annotators, contrast rules and findings; ``sentprobe.lab.testing``
has those of architectures and alignment methods.
"""

from sentprobe.testing.annotators import check_annotator, examine_annotator
from sentprobe.testing.contrast_rules import check_contrast_rule, examine_contrast_rule
from sentprobe.testing.encoders import check_encoder, examine_encoder
from sentprobe.testing.findings import check_finding, examine_finding
from sentprobe.testing.tasks import check_task, examine_task
from sentprobe.testing.verdict import Verdict

__all__ = [
    "Verdict",
    "check_annotator",
    "check_contrast_rule",
    "check_encoder",
    "check_finding",
    "check_task",
    "examine_annotator",
    "examine_contrast_rule",
    "examine_encoder",
    "examine_finding",
    "examine_task",
]
