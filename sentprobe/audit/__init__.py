"""What is wrong with a dataset, as coded findings. One file of ``checks`` = one family of codes."""

from sentprobe.audit.check import AUDIT_CHECKS, AuditCheck, codes, explain
from sentprobe.audit.finding import Code, Finding, ShortcutScore
from sentprobe.audit.one_set import Audit, audit_quickly, audit_set

__all__ = [
    "AUDIT_CHECKS",
    "Audit",
    "AuditCheck",
    "Code",
    "Finding",
    "ShortcutScore",
    "audit_quickly",
    "audit_set",
    "codes",
    "explain",
]
