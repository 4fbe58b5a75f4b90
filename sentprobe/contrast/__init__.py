"""Rules that rewrite a sentence with one edit: contrasts change its meaning, positives keep it."""

from sentprobe.contrast.rule import BUILT_IN, CONTRAST_RULES, ContrastRule, RowsRead, split_rules

__all__ = ["BUILT_IN", "CONTRAST_RULES", "ContrastRule", "RowsRead", "split_rules"]
