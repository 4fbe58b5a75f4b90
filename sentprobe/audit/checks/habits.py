"""Writing conventions that differ between classes or splits: full stops, quotes, capitals, spaces."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from unicodedata import category

from sentprobe.audit.check import AuditCheck, Code, Finding, excerpt, pick_examples
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split

MIXED_TOKENISATION = Code(
    "mixed-tokenisation",
    "a writing convention that differs between classes or splits",
    "Compares, between classes and between splits, the shares of rows that have the final full stop attached to "
    "its word, commas attached, typographic quotes, Penn quotes (``), curly apostrophes, double or unusual spaces, "
    "contractions split, no final punctuation or an initial capital; rows to which the convention does not apply "
    "are left out. There is a finding for each share that differs by 5 points or more with p < 0.0001 "
    "(chi-square). What counts is that difference times the share of rows to which the convention applies: below "
    "5 points a note, from there a warning, from 50 points an error. The difference is that of the highest and the "
    "lowest share among groups of 20 rows or more; beyond 10 classes it is twice the standard deviation of the "
    "shares that chance leaves unexplained, which is the same for two equal classes. Sentence ends and capitals "
    "are ignored where the task is about punctuation or edges. A probe that sees the convention needs no "
    "linguistics.",
    "Normalise all rows to one convention before the set is made, from sources that are mixed evenly.",
)
MAX_P_HABIT = 1e-4
APART, FAR_APART = 0.05, 0.5
FEW_ROWS, MANY_GROUPS = 20, 10


class Convention(NamedTuple):
    """A writing convention with two variants; ``pattern`` matches where a text shows which one it uses."""

    name: str
    pattern: re.Pattern[str]
    covered_by: frozenset[str] = frozenset()
    """Cues that a task may declare legitimate, which make this one legitimate too."""


CONVENTIONS: tuple[Convention, ...] = (
    Convention("final full stop attached", re.compile(r"\.\s*$"), frozenset({"edges", "punctuation"})),
    Convention("commas attached", re.compile(r", ")),
    Convention("typographic quotes", re.compile(r'["“”„«»]')),
    Convention("Penn quotes", re.compile(r"``|''|[\"“”„«»]")),
    Convention("curly apostrophes", re.compile(r"['’]")),
    Convention("double or unusual spaces", re.compile(r"\s\s|^\s|\s$|[^\S ]|$")),
    Convention("contractions split", re.compile(r"['’]")),
    Convention("no final punctuation", re.compile(r"\S\s*$"), frozenset({"edges", "punctuation"})),
    Convention("initial capital", re.compile(r"\w"), frozenset({"edges"})),
)
CURLY_QUOTES = re.compile("[“”„«»]")
CONTRACTED = re.compile(
    r"(?P<split>\w ['’](?:s|t|ll|re|ve|d|m)\b|\w n['’]t\b|(?<!\w)(?:[cdjlmnst]|qu)['’] \w)"
    r"|(?P<joined>\w['’](?:s|t|ll|re|ve|d|m)\b|(?<!\w)(?:[cdjlmnst]|qu)['’]\w)",
    re.IGNORECASE,
)


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Conventions whose share differs between classes or splits."""
    variants = {t: _variants(t) for t in dict.fromkeys(rows.texts)}
    tables: defaultdict[tuple[int, bool, str], Counter[str]] = defaultdict(Counter)
    for across, column in (("classes", rows.label_names), ("splits", rows.splits)):
        for group, t in set(zip(column, rows.texts, strict=True)):  # duplicates add no evidence
            for i, variant in variants[t]:
                tables[i, variant, across][group] += 1
    for i, convention in enumerate(CONVENTIONS):
        for across in ("classes", "splits"):
            has, lacks = tables[i, True, across], tables[i, False, across]
            groups = [(has[g], has[g] + lacks[g]) for g in has.keys() | lacks.keys()]
            apart = None if convention.covered_by & expectations.solved_by else difference(groups)
            if apart is not None:
                rarer = (i, has.total() <= lacks.total())
                texts = (t for t, applying in variants.items() if rarer in applying)
                yield _differs(convention, across, groups, apart, len(rows), texts)


def _differs(
    convention: Convention, across: str, groups: list[tuple[int, int]], apart: float, rows: int, texts: Iterable[str]
) -> Finding:
    """One convention that differs between classes or splits."""
    count, total = sum(k for k, _ in groups), sum(n for _, n in groups)
    evidence: dict[str, float | int | str] = {"rows": total, "habit": convention.name, "across": across}
    message = f"{convention.name}: the share differs by {100 * apart:.0f} points between {across}"
    if len(groups) <= MANY_GROUPS:
        shares = [k / n for k, n in groups if n >= FEW_ROWS]
        evidence |= {"lowest": round(min(shares), 4), "highest": round(max(shares), 4)}
        message += f", from {min(shares):.0%} to {max(shares):.0%}"
    weight = apart * total / rows
    return MIXED_TOKENISATION.finding(
        "error" if weight >= FAR_APART else "warning" if weight >= APART else "note",
        message,
        count=min(count, total - count),
        examples=pick_examples(excerpt(t, *m.span()) for t in texts if (m := convention.pattern.search(t))),
        evidence=evidence | {"difference": round(apart, 4)},
    )


def _variants(t: str) -> tuple[tuple[int, bool], ...]:
    """How a text is written: (index of the convention, whether it has it), for the conventions that apply to it."""
    out: list[tuple[int, bool]] = []
    bare = t.strip()
    if bare.endswith(".") and not bare.endswith((". .", "..")):
        out.append((0, bare[-2:-1] != " "))
    if (comma := t.find(", ")) > 0:
        out.append((1, t[comma - 1] != " "))
    straight, curly = '"' in t, not t.isascii() and CURLY_QUOTES.search(t) is not None
    if straight != curly:
        out.append((2, curly))
    penn = "``" in t or "''" in t
    if straight or curly or penn:
        out.append((3, penn))
    straight, curly = "'" in t, "’" in t
    if straight != curly:
        out.append((4, curly))
    out.append((5, "  " in t or len(bare) < len(t) or (not t.isprintable() and " ".join(t.split()) != t)))
    if (straight or curly) and (m := CONTRACTED.search(t)):
        out.append((6, m.lastgroup == "split"))
    if bare:
        out.append((7, category(bare[-1])[0] in "LMN"))
    first = next((c for c in bare if c.isalpha()), "")
    if first.lower() != first.upper():
        out.append((8, first.isupper()))
    return tuple(out)


def difference(groups: Iterable[tuple[int, int]]) -> float | None:
    """By how much the share k / n differs between groups (k, n), if significantly and by enough to matter."""
    groups = sorted(g for g in groups if g[1])
    count, total = sum(k for k, _ in groups), sum(n for _, n in groups)
    if len(groups) < 2 or not 0 < count < total:
        return None
    variance, free = count / total * (1 - count / total), len(groups) - 1
    chi2 = sum((k - n * count / total) ** 2 / n for k, n in groups) / variance
    if len(groups) > MANY_GROUPS:
        apart = 2 * (variance * max(0.0, chi2 - free) / total) ** 0.5
    else:
        shares = [k / n for k, n in groups if n >= FEW_ROWS] or [0.0]
        apart = max(shares) - min(shares)
    if apart < APART:
        return None
    from scipy.special import chdtrc

    return apart if chdtrc(free, chi2) < MAX_P_HABIT else None


audit_check = AuditCheck(name="habits", topic="text", codes=(MIXED_TOKENISATION,), in_sentences=find, order=61)
