"""What a check finds, and what the code of a finding means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sentprobe.core.hashing import hash_64

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
MAX_EXAMPLES = 3
"""Examples kept with a finding."""
EXAMPLE_WORDS, EXAMPLE_CHARS = 8, 60
"""Words and characters of a sentence that an example shows at most."""
ERROR_SHARE = 0.01
"""A defect in a smaller share of the rows cannot move a score by a point: a warning; from here on, an error."""
SPLIT_NAMES = {"tr": "train", "va": "dev", "te": "test"}
"""What messages call a split; findings and files use the short name."""


@dataclass(frozen=True, slots=True)
class Code:
    """What a code means: what is measured, when it is reported and how severe it is, why it matters, what to do."""

    name: str
    title: str
    meaning: str
    advice: str


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
    evidence: Mapping[str, float | int | str] = field(default_factory=dict)

    def __repr__(self) -> str:
        split = f" ({self.split})" if self.split else ""
        return f"<Finding {self.severity} {self.code}{split}: {self.message}>"


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


def some(texts: Iterable[str]) -> tuple[str, ...]:
    """The first words of a few texts; which ones does not depend on their order."""
    return tuple(first_words(text) for text in sorted(set(texts), key=hash_64)[:MAX_EXAMPLES])


def first_words(text: str) -> str:
    """The first words of a text."""
    words = text.split()
    start = " ".join(words[:EXAMPLE_WORDS])[:EXAMPLE_CHARS]
    return start if start == " ".join(words) else f"{start} …"


def around(t: str, start: int, end: int) -> str:
    """A few words around a place, with invisible characters escaped; never all of a longer text."""
    found = t
    for words in (2, 1, 0):
        if found == t:
            head, tail = t[:start].split(" ")[-words - 1 :], t[end:].split(" ")[: words + 1]
            found = " ".join(head) + t[start:end] + " ".join(tail)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in found)
