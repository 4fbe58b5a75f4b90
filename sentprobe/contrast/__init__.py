"""Rules that rewrite a sentence with one edit: contrasts change its meaning, positives keep it."""

from sentprobe.contrast.rule import CONTRAST_RULES, ContrastRule, Reading, split_rules

__all__ = ["CONTRAST_RULES", "ContrastRule", "Reading", "split_rules"]
