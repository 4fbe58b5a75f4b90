"""Kinds of runs: what columns and their probes are called, and what is said of scores that no probe was trained for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sentprobe.core.plugins import Kind, part_repr


def _nothing(summary: Any) -> Iterable[str]:
    return ()


@dataclass(frozen=True, kw_only=True)
class RunKind:
    """A kind of run: one object in one file.

    Parameters
    ----------
    name
        What it is of, in a word.
    summary
        The same in a line.
    command
        What writes such runs.
    probes
        What stands in the place of a probe in its results; none: probes are trained.
    way
        What these are called.
    noun
        What a column is called.
    columns
        What columns are called at the beginning of a sentence about all of them.
    tested
        What its paired tests are about, if not about encoders or probes.
    mark_note
        What the mark of scores means that are not significantly better than a baseline, if not what it usually means.
    no_errors
        Why a page has no errors, if it has none.
    score_note
        The first line of a legend, from the kinds of intervals in the table; None: it is made from the metric.
    notes
        What a legend says of ``probes`` and baselines, from a ``Summary``.
    set_notes
        How sets are scored, by the name of the task.

    Examples
    --------
    >>> from sentprobe.results.run_kind import RUN_KINDS
    >>> RUN_KINDS.get("words"), RUN_KINDS.get("words").noun
    (RunKind('words'), 'system')
    """

    name: str
    summary: str
    command: str = "sentprobe run"
    probes: frozenset[str] = frozenset()
    way: str = "probe"
    noun: str = "encoder"
    columns: str = "Encoders"
    tested: str = ""
    mark_note: str = ""
    no_errors: str = "No set is scored by accuracy, or its predictions cannot be read."
    score_note: Callable[[set[str]], str] | None = None
    notes: Callable[[Any], Iterable[str]] = _nothing
    set_notes: Callable[[], Mapping[str, str]] = dict

    __repr__ = part_repr

    @property
    def trains_probes(self) -> bool:
        """Whether its scores are of probes: controls, audits and seeds are about these."""
        return not self.probes


RUN_KINDS = Kind("run kind", "sentprobe.results.run_kinds", RunKind)
"""All kinds of runs but that of `sentprobe run`; also those that other packages offer."""
PROBING = RunKind(name="probing", summary="Probes of sentence encoders.")


def run_kind(probes: Iterable[str | None]) -> RunKind:
    """The kind of a run with results of these probes; None: of none."""
    names = set(probes)
    kinds = (kind for kind in RUN_KINDS.parts().values() if names and names <= {None, *kind.probes})
    return next(kinds, PROBING)


def other_kinds(probes: Iterable[str | None]) -> list[RunKind]:
    """The kinds of which a run has something in the place of probes, by what stands there."""
    names = set(probes)
    return [kind for kind in RUN_KINDS.parts().values() if names & kind.probes]


def set_notes(probes: Iterable[str | None]) -> Mapping[str, str]:
    """How sets of kinds other than probing are scored, by task: of the kind of a run, and of others that it has."""
    names = set(probes)
    kinds = {kind.name: kind for kind in (run_kind(names), *other_kinds(names))}
    return {task: text for kind in kinds.values() for task, text in kind.set_notes().items()}
