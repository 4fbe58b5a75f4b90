"""What a check finds, and what the code of a finding stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sonde.core.hashing import hash_64

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
MAX_EXAMPLES = 3
"""Examples kept with a finding."""
EXAMPLE_WORDS, EXAMPLE_CHARS = 8, 60
"""The most an example shows of a sentence."""
ERROR_SHARE = 0.01
"""A fault in fewer rows than this cannot move a score by a point: a warning. From here on it is an error."""


@dataclass(frozen=True, slots=True)
class Code:
    """What a code means: what is measured, when it is reported and how gravely, why it matters, what to do."""

    name: str
    title: str
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: a code, how bad it is, what was seen where, and what to do about it."""

    code: str
    severity: Severity
    message: str
    advice: str
    split: str | None = None
    count: int = 0
    """How many rows, strings, classes or forms are affected; the message says of what."""
    examples: tuple[str, ...] = ()
    evidence: Mapping[str, float | int | str] = field(default_factory=dict)
    """The numbers behind the message, by name."""


def severity_by_share(count: int, of: int) -> Severity:
    """An error if the share of rows is large enough to move a score by a point, otherwise a warning."""
    return "error" if count >= ERROR_SHARE * of else "warning"


def some(texts: Iterable[str]) -> tuple[str, ...]:
    """A few words of a few texts, the same ones in whatever order they come."""
    return tuple(first_words(text) for text in sorted(set(texts), key=hash_64)[:MAX_EXAMPLES])


def first_words(text: str) -> str:
    """The first words of a text."""
    words = text.split()
    start = " ".join(words[:EXAMPLE_WORDS])[:EXAMPLE_CHARS]
    return start if start == " ".join(words) else f"{start} …"


def around(t: str, start: int, end: int) -> str:
    """A few words around a place, invisible characters made visible; not the whole text if there is more of it."""
    found = t
    for words in (2, 1, 0):
        if found == t:
            head, tail = t[:start].split(" ")[-words - 1 :], t[end:].split(" ")[: words + 1]
            found = " ".join(head) + t[start:end] + " ".join(tail)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in found)
