"""What is wrong with a probing set, as coded findings. One file, one family of checks with the meaning of its codes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from sonde.audit import duplicates, labels, size, targets
from sonde.audit.finding import SEVERITIES, Code, Finding
from sonde.audit.rows import Rows
from sonde.data.dataset import Dataset
from sonde.data.expected import Expectations, expectations_for
from sonde.errors import UsageError

__all__ = ["Audit", "Code", "Finding", "audit_quickly", "audit_set", "codes", "explain"]

Check = Callable[[Rows, Expectations], Iterator[Finding]]
QUICK: tuple[Check, ...] = (labels.labels, duplicates.duplicates, targets.targets, size.size)
"""Checks that need no arithmetic to speak of; `make` runs them on every set."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found in one set, gravest first, and how well classifiers that should not work do on it."""

    name: str
    task: str
    language: str | None
    digest: str
    sizes: dict[str, int]
    classes: int
    findings: tuple[Finding, ...]
    measures: tuple[Any, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make the set's scores mean something else than they seem to."""
        return tuple(f for f in self.findings if f.severity == "error")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON and manifests."""
        return asdict(self)


def audit_set(dataset: Dataset, expected: Expectations | None = None) -> Audit:
    """Look for everything that is known to go wrong; ``expected`` tells what the manifest or the task's name do not."""
    expectations = expected or expectations_for(dataset)
    return audit_rows(dataset, Rows.of(dataset, expectations.inputs), expectations)


def audit_rows(dataset: Dataset, rows: Rows, expectations: Expectations) -> Audit:
    """The same for a set whose rows are columns already."""
    from sonde.audit import balance, forms, habits, language, shortcuts, text

    of_classes = (*QUICK, targets.likely_targets, forms.forms, balance.balance, balance.lengths)
    of_rows: tuple[Check, ...] = of_classes if expectations.classes else (duplicates.duplicates, forms.forms)
    found = [f for check in of_rows for f in check(rows, expectations)]
    for column, sentences in (("", rows), *rows.further_sentences(expectations.inputs)):
        of_text: tuple[Check, ...] = (text.text, habits.habits, language.language)
        told = [f for check in of_text for f in check(sentences, expectations)]
        found += [replace(f, message=f"{column}: {f.message}") for f in told] if column else told
    more, measures = shortcuts.shortcuts(rows, expectations) if expectations.classes else ((), ())
    return Audit(
        dataset.name,
        dataset.task,
        dataset.language,
        dataset.digest,
        {split: rows.sizes[split] for split in rows.splits},
        len(rows.labels),
        _sorted([*found, *more]),
        tuple(measures),
    )


def audit_quickly(dataset: Dataset, expected: Expectations) -> tuple[Finding, ...]:
    """Copies, labels, targets and size only."""
    rows = Rows.of(dataset, expected.inputs)
    return _sorted(f for check in QUICK for f in check(rows, expected))


def _sorted(found: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda f: (SEVERITIES.index(f.severity), f.code, f.split or "", f.message)))


def codes() -> dict[str, tuple[Code, ...]]:
    """Every code there is, by family."""
    from sonde.audit import balance, collection, forms, habits, language, shortcuts, text

    return {
        "copies": (*duplicates.CODES, *forms.CODES, *collection.CODES),
        "labels": (*labels.CODES, *balance.CODES[:2]),
        "targets": targets.CODES,
        "shortcuts": shortcuts.CODES,
        "length": balance.CODES[2:],
        "text": (*text.CODES, *habits.CODES, *language.CODES),
        "size": size.CODES,
    }


def explain(name: str) -> Code:
    """What a code stands for."""
    every = {code.name: code for family in codes().values() for code in family}
    if name not in every:
        near = difflib.get_close_matches(name, every, n=2)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"There is no finding called {name!r}.{hint} The codes are {', '.join(every)}.")
    return every[name]
