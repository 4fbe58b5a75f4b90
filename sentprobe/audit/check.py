"""An audit check is one file: its codes with their meaning, and a function that looks for them.

The built-in checks are the files of ``sentprobe/audit/checks``, each with its check in a variable ``audit_check``.
Another package offers one as an entry point of the group ``sentprobe.audit_checks``. Running, ``sentprobe audit
--explain`` and the page of codes all take the checks from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentprobe.audit.finding import Code, Finding, ShortcutScore
from sentprobe.core.arguments import did_you_mean
from sentprobe.core.plugins import Kind
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.errors import UsageError


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
    """A family of codes and the functions that look for them: in a set, in each column of sentences, or across sets."""

    name: str
    topic: str
    """The heading under which its codes are documented."""
    codes: tuple[Code, ...]
    """Every code that its findings may have."""
    in_set: Callable[[Split, Expectations], Iterable[Finding | ShortcutScore]] | None = None
    """Called once per set; scores of shallow classifiers are kept with the audit."""
    in_sentences: Callable[[Split, Expectations], Iterable[Finding]] | None = None
    """Called with the sentences as the rows' text, and again with each further input that is a sentence."""
    in_collection: Callable[[Sequence[SentenceKeys]], Iterable[Finding]] | None = None
    """Called once with all sets that are audited together."""
    needs_classes: bool = False
    """Skipped if the labels are scores or image indices, not classes."""
    quick: bool = False
    """Fast enough for ``sentprobe make`` and ``sentprobe run`` to run it on every set."""
    order: int = 100
    """Position among the checks, both when they run and on the page of codes."""

    @property
    def summary(self) -> str:
        """Its codes, for lists."""
        return ", ".join(code.name for code in self.codes)


AUDIT_CHECKS = Kind("audit check", "sentprobe.audit.checks", AuditCheck)


def codes() -> dict[str, tuple[Code, ...]]:
    """All codes, by topic."""
    found: dict[str, tuple[Code, ...]] = {}
    for check in AUDIT_CHECKS.parts().values():
        found[check.topic] = (*found.get(check.topic, ()), *check.codes)
    return found


def explain(name: str) -> Code:
    """What a code means; raises UsageError if no code has this name."""
    every = {code.name: code for code in _every_code()}
    if name not in every:
        hint = did_you_mean(name, every)
        raise UsageError(f"There is no audit code {name!r}.{hint} Expected one of {', '.join(every)}.")
    return every[name]


def _every_code() -> Iterator[Code]:
    for found in codes().values():
        yield from found
