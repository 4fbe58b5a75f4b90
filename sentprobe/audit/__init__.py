"""What is wrong with a dataset, as coded findings. One file of ``checks`` = one family of codes."""

from sentprobe.audit.audit import Audit, audit_quickly, audit_set
from sentprobe.audit.check import AUDIT_CHECKS, AuditCheck, Code, Finding, ShortcutScore, codes, explain

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
