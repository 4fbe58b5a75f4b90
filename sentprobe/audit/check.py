"""What a check of the audit is, and what it finds.

A check is one file: its codes with their meaning, and a function that looks for them. The built-in checks are the files
of ``sentprobe/audit/checks``, each with its check in a variable ``audit_check``. Another package offers one as an entry
point of the group ``sentprobe.audit_checks``. Running, ``sentprobe audit --explain`` and the page of codes all take the
checks from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from sentprobe.core.arguments import did_you_mean, listed_names
from sentprobe.core.hashing import hash_64
from sentprobe.core.plugins import Kind, part_repr
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.errors import UsageError
from sentprobe.tasks import SPLIT_NAMES

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
MAX_EXAMPLES = 3
"""Examples that a finding has at most."""
EXAMPLE_WORDS, EXAMPLE_CHARS = 8, 60
"""Words and characters of a sentence that an example shows at most."""
ERROR_SHARE = 0.01
"""A defect in a smaller share of the rows cannot move a score by a point: a warning; from here on, an error."""
Evidence = Mapping[str, float | int | str]
"""The numbers behind a message, by name."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a dataset: a code, how severe it is, what was found where, and what to do about it.

    Parameters
    ----------
    code: str
        What kind of defect it is; ``sentprobe audit --explain CODE`` says what is measured.
    severity: str
        ``error``, ``warning`` or ``note``.
    message: str
        What was found, with numbers.
    advice: str
        What to do about it.
    split: str | None
        ``tr``, ``va`` or ``te``, or two of them as in ``va/te``; None if it is about the whole set.
    count: int
        How many rows, strings, classes or forms are affected; the message says which.
    examples: tuple[str, ...]
        A few short excerpts.
    evidence: Mapping[str, float | int | str]
        The numbers behind the message, by name.

    Examples
    --------
    >>> from sentprobe import Finding
    >>> Finding("small-test", "note", "test has 200 rows", "Use a larger test set.", "te", 200)
    <Finding note small-test (te): test has 200 rows>
    """

    code: str
    severity: Severity
    message: str
    advice: str
    split: str | None = None
    count: int = 0
    examples: tuple[str, ...] = ()
    evidence: Evidence = field(default_factory=dict)

    def __repr__(self) -> str:
        split = f" ({self.split})" if self.split else ""
        return f"<Finding {self.severity} {self.code}{split}: {self.message}>"


@dataclass(frozen=True, slots=True)
class Code:
    """What a code means: what is measured, when it is reported and how severe it is, why it matters, what to do."""

    name: str
    title: str
    meaning: str
    advice: str

    def finding(
        self,
        severity: Severity,
        message: str,
        split: str | None = None,
        count: int = 0,
        examples: tuple[str, ...] = (),
        evidence: Evidence | None = None,
    ) -> Finding:
        """A finding with this code and its advice."""
        return Finding(self.name, severity, message, self.advice, split, count, examples, evidence or {})

    def finding_in_rows(
        self,
        split: str,
        count: int,
        size: int,
        examples: tuple[str, ...],
        severity: Severity | None = None,
        evidence: Evidence | None = None,
    ) -> Finding:
        """The finding that ``count`` of the ``size`` rows of a split have the defect; by default severe by share."""
        message = f"{count:,} of the {size:,} {SPLIT_NAMES[split]} rows: {self.title}"
        severity = severity or severity_by_share(count, size)
        return self.finding(severity, message, split, count, examples, {"rows": size, **(evidence or {})})


@dataclass(frozen=True, slots=True)
class ShortcutScore:
    """How well one classifier does that sees only a shallow cue."""

    name: str
    accuracy: float
    low: float
    high: float
    majority: float
    rows: int
    trained_on: str
    expected: bool
    """Whether the task declares that this cue may predict the label."""

    @property
    def gain(self) -> float:
        """The share of the majority baseline's errors that it removes, at the lower end of its interval."""
        return (self.low - self.majority) / (1 - self.majority) if self.majority < 1 else 0.0


def severity_by_share(count: int, of: int) -> Severity:
    """An error if the share of rows is large enough to move a score by a point, otherwise a warning."""
    return "error" if count >= ERROR_SHARE * of else "warning"


def share_evidence(count: int, of: int) -> dict[str, float | int | str]:
    """The rows of a split, and the share of them that a finding is about."""
    return {"rows": of, "share": round(count / of, 4)}


def pick_examples(texts: Iterable[str]) -> tuple[str, ...]:
    """The first words of a few texts; which ones does not depend on their order."""
    return tuple(first_words(text) for text in sorted(set(texts), key=hash_64)[:MAX_EXAMPLES])


def first_words(text: str) -> str:
    """The first words of a text."""
    words = text.split()
    start = " ".join(words[:EXAMPLE_WORDS])[:EXAMPLE_CHARS]
    return start if start == " ".join(words) else f"{start} …"


def excerpt(text: str, start: int, end: int) -> str:
    """A few words around a span of a text, with invisible characters escaped; never all of a longer text."""
    excerpt = text
    for words in (2, 1, 0):
        if excerpt == text:
            before, after = text[:start].split(" ")[-words - 1 :], text[end:].split(" ")[: words + 1]
            excerpt = " ".join(before) + text[start:end] + " ".join(after)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in excerpt)


# Checks


@dataclass(frozen=True, slots=True)
class SentenceKeys:
    """The near-duplicate keys of one set's sentences, by split: eight bytes per sentence."""

    name: str
    keys: Mapping[str, npt.NDArray[np.uint64]]

    @classmethod
    def of(cls, name: str, rows: Split) -> SentenceKeys:
        """The keys of the sentences alone, whatever else the probe is given."""
        split, key = np.array(rows.splits), np.array(rows.sentence_keys, np.uint64)
        return cls(name, {s: np.unique(key[split == s]) for s in rows.split_names})


@dataclass(frozen=True, kw_only=True)
class AuditCheck:
    """A family of codes and the functions that look for them: in a set, in each column of sentences, or across sets.

    Parameters
    ----------
    name
        What it is called in lists.
    topic
        The heading under which its codes are documented.
    codes
        Every code that its findings may have.
    in_set
        Called once per set; scores of shallow classifiers are kept with the audit.
    in_sentences
        Called with the sentences as the rows' text, and again with each further input that is a sentence.
    in_collection
        Called once with all sets that are audited together.
    needs_classes
        Skipped if the labels are scores or image indices, not classes.
    quick
        Fast enough for ``sentprobe make`` and ``sentprobe run`` to run it on every set.
    order
        Position among the checks, both when they run and on the page of codes.

    Examples
    --------
    >>> from sentprobe.extend import AuditCheck, Code
    >>> shouting = Code("shouting", "rows in capitals", "Rows whose text is all capitals.", "Lower-case them.")
    >>> def find(rows, expectations):
    ...     if count := sum(text.isupper() for text in rows.texts):
    ...         yield shouting.finding("note", f"{count} rows are all capitals", count=count)
    >>> AuditCheck(name="shouting", topic="style", codes=(shouting,), in_set=find)
    AuditCheck('shouting')
    """

    name: str
    topic: str
    codes: tuple[Code, ...]
    in_set: Callable[[Split, Expectations], Iterable[Finding | ShortcutScore]] | None = None
    in_sentences: Callable[[Split, Expectations], Iterable[Finding]] | None = None
    in_collection: Callable[[Sequence[SentenceKeys]], Iterable[Finding]] | None = None
    needs_classes: bool = False
    quick: bool = False
    order: int = 100

    __repr__ = part_repr

    @property
    def summary(self) -> str:
        """Its codes, for lists."""
        return ", ".join(code.name for code in self.codes)


AUDIT_CHECKS = Kind("audit check", "sentprobe.audit.checks", AuditCheck)


def codes() -> dict[str, tuple[Code, ...]]:
    """All codes, by topic."""
    by_topic: dict[str, tuple[Code, ...]] = {}
    for check in AUDIT_CHECKS.parts().values():
        by_topic[check.topic] = (*by_topic.get(check.topic, ()), *check.codes)
    return by_topic


def explain(name: str) -> Code:
    """What a code means; raises UsageError if no code has this name."""
    by_name = {code.name: code for topic_codes in codes().values() for code in topic_codes}
    if name not in by_name:
        hint = did_you_mean(name, by_name)
        raise UsageError(f"There is no audit code {name!r}.{hint} Expected one of {listed_names(by_name)}.")
    return by_name[name]
