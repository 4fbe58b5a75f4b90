"""What an objective works with: the request, the rows of its sources without those left out, and word inputs."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.core.arguments import Settings
from sentprobe.errors import DataError, SentProbeWarning, UsageError
from sentprobe.lab.training.examples import ExampleWriter
from sentprobe.lab.training.inputs import EncoderInputs, make_inputs
from sentprobe.lab.training.request import TrainingRequest
from sentprobe.lab.training.row_filter import (
    HELD_OUT,
    REASONS,
    USED,
    RowRules,
    choose,
    decide,
    decide_and_count_copies,
    decide_and_hold_out,
)
from sentprobe.lab.training.rows import DataRow, part_files, read_part
from sentprobe.lab.training.sources import DEV, LABEL, TRAIN, DataPart, DataSources, find_sources

__all__ = ["LABEL", "Arrangement", "EncoderInputs", "TrainingPlan"]

MANY_COPIES, MANY_COPIES_SHARE = 50, 0.01
"""How many dev rows, and what share of them, may be copies of training rows without a warning."""


@dataclass(frozen=True)
class Arrangement:
    """How the rows of a source become those of an objective: before any is left out, so that neighbours are known."""

    fields: tuple[str, ...]
    """Of the rows that it makes."""
    make: Callable[[Iterable[DataRow]], Iterator[DataRow]]
    """Called with the rows of each file."""


@dataclass(frozen=True)
class _RowForm:
    """The fields of the rows that are read, and of those made of them."""

    fields: tuple[str, ...]
    arrangement: Arrangement | None

    @property
    def made(self) -> tuple[str, ...]:
        """The fields of the rows that are made."""
        return self.arrangement.fields if self.arrangement else self.fields


@dataclass(frozen=True)
class _RowDecision:
    """What becomes of rows."""

    sources: DataSources
    train: bytearray
    """A byte for each row; those that are held out are among them."""
    dev: bytearray
    copies: int = 0
    """Dev rows that are near-duplicates of training rows."""


@dataclass(eq=False)
class TrainingPlan:
    """A request, and what its objective has read so far."""

    request: TrainingRequest
    folder: Path
    """Where examples are written to; it is deleted when training has ended. Each process has its own."""
    withheld: frozenset[int] = frozenset()
    """Sentences of probing sets, by their near-duplicate keys."""
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    """Rows by role (train, dev) and what became of them: read, used, withheld, too long, …"""
    further_data: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """What else the objective learns from, by its role: name and digest of each. It may not change before resuming."""
    _decided: dict[tuple[tuple[str, ...], ...], _RowDecision] = field(default_factory=dict)

    def __post_init__(self) -> None:
        request = self.request
        for name, least in (("max_length", 1), ("words", 1), ("width", 1), ("projection", 0), ("held_out", 0)):
            if getattr(request, name) < least:
                flag = f"--{name.replace('_', '-')}"
                raise UsageError(f"{flag} {getattr(request, name)}: expected a number from {least} on.")
        if request.fine_tune and not request.vectors:
            raise UsageError(
                "--fine-tune is for given word vectors: add --vectors, or leave it out. Others are learned."
            )
        if request.held_out and request.dev:
            raise UsageError(
                f"--held-out {request.held_out} is for training without --dev, and --dev is {', '.join(request.dev)}: "
                "leave one of them out."
            )

    @property
    def settings(self) -> Settings:
        """The settings of the objective."""
        return self.request.objective_settings

    def rows(self, role: str, fields: Sequence[str], arrangement: Arrangement | None = None) -> Iterator[DataRow]:
        """The rows of train or dev, without those withheld, those too long, and those with an empty field.

        Withheld are training rows only.
        """
        form = _RowForm(tuple(fields), arrangement)
        key = (form.fields, form.made)
        if key not in self._decided:
            self._decided[key] = self._decide(form)
        decision = self._decided[key]
        held_out = role == DEV and self.request.held_out > 0
        parts, row_status = decision.sources.train, decision.train
        if role == DEV and not held_out:
            parts, row_status = decision.sources.dev, decision.dev
            if not parts:
                raise _no_dev()
        wanted_status = HELD_OUT if held_out else USED
        counts = self.counts[role] = _count(row_status, wanted_status)
        if role == DEV and decision.copies:
            counts["also in train"] = decision.copies
        if not counts["used"]:
            reasons = ", ".join(f"{n:,} {why}" for why, n in counts.items() if n)
            purpose = "train on" if role == TRAIN else "score"
            raise DataError(f"{', '.join(map(str, parts))}: nothing is left to {purpose} ({reasons}).")
        return choose(self._read(parts, form), row_status, wanted_status)

    def files(self, role: str) -> list[str]:
        """The files that train or dev was read from, each once."""
        parts = [part for decision in self._decided.values() for part in getattr(decision.sources, role)]
        return list(dict.fromkeys(file for part in parts for file in part_files(part)))

    def writer(self, name: str, sequences: Sequence[str], numbers: Sequence[str] = ()) -> ExampleWriter:
        """Files for the examples of this name."""
        return ExampleWriter(self.folder / name, sequences, numbers)

    def inputs(self, texts: Callable[[], Iterable[str]], *, bag: bool = False) -> EncoderInputs:
        """The words of the encoder: those of the word vectors, or the most frequent ones of the training texts.

        ``texts`` is called once, and gives all training texts. A ``bag`` of words has no marks of begin and end.
        """
        return make_inputs(self.request, texts(), self.folder, bag)

    def _read(self, parts: Iterable[DataPart], form: _RowForm) -> Iterator[DataRow]:
        for part in parts:
            rows = read_part(part, form.fields, self.request.columns)
            yield from form.arrangement.make(rows) if form.arrangement else rows

    def _decide(self, form: _RowForm) -> _RowDecision:
        """Read everything once."""
        request = self.request
        sources = find_sources(request, form.fields)
        rules = RowRules(form.made, request.max_length, self.withheld)
        train = self._read(sources.train, form)
        if request.held_out:
            row_status = decide_and_hold_out(train, rules, request.held_out, request.options.seed)
            return _RowDecision(sources, row_status, bytearray())
        if not sources.dev:
            self._require_dev()
            return _RowDecision(sources, decide(train, rules), bytearray())
        dev = decide(self._read(sources.dev, form), RowRules(form.made, request.max_length))
        rows = choose(self._read(sources.dev, form), dev, USED)
        row_status, copies = decide_and_count_copies(train, rules, rows)
        if copies > max(MANY_COPIES, MANY_COPIES_SHARE * dev.count(USED)) and not sources.same:
            warnings.warn(
                f"{copies:,} of {dev.count(USED):,} dev rows are near-duplicates of training rows, so that dev scores "
                "may be too high. Leave them out of one side, or hold out training rows with --held-out N.",
                SentProbeWarning,
                stacklevel=3,
            )
        return _RowDecision(sources, row_status, dev, copies)

    def _require_dev(self) -> None:
        """Refuse to train without dev data, before anything is read, unless the objective needs none."""
        from sentprobe.lab.training import OBJECTIVES

        objective = OBJECTIVES.get(self.request.objective)
        if objective.trains and objective.needs_dev:
            raise _no_dev()


def _no_dev() -> UsageError:
    return UsageError("There is no dev data: name it with --dev, or hold out training rows with --held-out N.")


def _count(row_status: bytearray, wanted_status: int) -> Counter[str]:
    """Rows by what became of them; those that were left out are counted with the rows to train on."""
    counts = np.bincount(np.frombuffer(row_status, np.uint8), minlength=HELD_OUT + 1).tolist()
    if wanted_status == HELD_OUT:
        return Counter(read=counts[HELD_OUT], used=counts[HELD_OUT])
    left_out = {reason: counts[status] for status, reason in REASONS.items() if counts[status]}
    return Counter(read=len(row_status) - counts[HELD_OUT], **left_out, used=counts[USED])
