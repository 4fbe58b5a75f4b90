"""The level of confidence intervals and that of significance tests: each stands here once, with its text.

Both are read when something is computed or written, not when a module is imported: nothing else copies them. Texts that
are data, such as the caption of a chart, say ``{level}`` and ``{alpha}``, which ``with_levels`` fills in.
"""

from __future__ import annotations

from statistics import NormalDist

from sentprobe.errors import UsageError

LEVEL = 0.95
"""How often a confidence interval covers what it is about."""
ALPHA = 0.05
"""How often a test of no difference finds one: p-values up to it are significant."""


def checked_level(level: float | None) -> float:
    """A given level, or ``LEVEL`` for None; UsageError unless it is between 0 and 1."""
    if level is None:
        return LEVEL
    if not 0 < level < 1:
        raise UsageError(f"level must be between 0 and 1, got {level}.")
    return float(level)


def normal_quantile(level: float | None = None) -> float:
    """Standard errors on each side of an interval of a number that is normally distributed."""
    return NormalDist().inv_cdf((1 + checked_level(level)) / 2)


def standard_errors() -> float:
    """The same at ``LEVEL`` with six decimals, 1.959964 at 95 %, with which all results so far were computed."""
    return round(normal_quantile(), 6)


def level_text(space: str = " ") -> str:
    """The level as it is written: 95 %; a page separates number and sign by a space that does not break."""
    return f"{100 * LEVEL:g}{space}%"


def alpha_text(space: str = " ") -> str:
    """The level of significance as it is written: 5 %."""
    return f"{100 * ALPHA:g}{space}%"


def with_levels(text: str, space: str = " ") -> str:
    """A text with its ``{level}`` and ``{alpha}`` filled in."""
    return text.replace("{level}", level_text(space)).replace("{alpha}", alpha_text(space))
