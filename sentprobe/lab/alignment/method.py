"""What a method of alignment is, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import Setting, Settings, Value
from sentprobe.core.plugins import part_repr
from sentprobe.lab.alignment.space import Matrix, Rows


class Matrices(NamedTuple):
    """What a method finds: matrices that take prepared rows of either side to the common space, as x @ matrix."""

    source: Matrix
    """(d, k)."""
    target: Matrix | None = None
    """(d, k); None: the identity."""


Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Problem:
    """Two spaces to be aligned. Methods read it and never change its arrays."""

    source: Matrix
    """(n, d): prepared vectors, the most frequent word first."""
    target: Matrix
    """(m, d)."""
    pairs: Rows | None
    """(p, 2): rows of source and target of a dictionary; None if there is none."""
    settings: Settings
    seed: int = 0
    criterion: Callable[[Matrices], float] = lambda matrices: float("nan")
    """The unsupervised criterion: mean cosine of the CSLS translations of the most frequent words."""
    report: Callable[[str, int, Matrices | None, Mapping[str, float]], None] = lambda stage, number, matrices, facts: (
        None
    )
    """Called after every epoch or round: its stage (``epoch``, ``round``), its number from 1, the matrices so far and
    what is known of them (criterion, loss, pairs, …). Matrices are kept, so that they can be evaluated later."""
    load: Callable[[], Arrays | None] = lambda: None
    """What ``save`` was given by an interrupted run; None if there is none."""
    save: Callable[[Arrays], None] = lambda arrays: None
    """Keep all that is needed to go on from here, so that an interrupted run ends as an uninterrupted one does."""

    def rng(self, *stream: int) -> np.random.Generator:
        """Random numbers that depend on the seed and these numbers only: of an epoch, say, or a round."""
        return np.random.default_rng([self.seed, *stream])


@dataclass(frozen=True)
class Method:
    """How two spaces are aligned.

    Parameters
    ----------
    name
        What users type: ``procrustes``.
    summary
        One line.
    solve
        A SentProbeError if there is no solution, with the reason and advice.
    dictionary
        Whether it needs a dictionary of pairs.
    settings
        Its settings, by name, with their defaults.
    presets
        Settings that are used together, such as those of a paper, by the name that users type.
    steps
        The steps that prepare both spaces unless others are requested.
    refine
        Rounds of refinement unless another number is requested.
    seeded
        Whether the solution depends on the seed, so that several are tried and the best one is kept.
    orthogonal
        Whether the matrices are (nearly) orthogonal, so that neighbours within a language do not change.
    order
        Its place in lists.

    Examples
    --------
    >>> import numpy as np
    >>> from sentprobe.lab import AlignmentMethod, Matrices
    >>> def solve(problem):
    ...     rows, columns = problem.pairs.T
    ...     u, _, v = np.linalg.svd(problem.source[rows].T @ problem.target[columns])
    ...     return Matrices(u @ v)
    >>> AlignmentMethod("rotation", "the orthogonal map of the pairs", solve)
    Method('rotation')
    """

    name: str
    summary: str
    solve: Callable[[Problem], Matrices]
    dictionary: Literal["needed", "optional", "unused"] = "needed"
    settings: Mapping[str, Setting] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    refine: int = 0
    seeded: bool = False
    orthogonal: bool = True
    order: int = 0

    __repr__ = part_repr


@dataclass(frozen=True)
class ProgressReport:
    """Where an alignment is: after an epoch or a round (``stage``), at the end of a seed, or a line to be shown."""

    stage: str
    seed: int = 0
    number: int = 0
    facts: Mapping[str, float] = field(default_factory=dict)
    text: str = ""
    """For stage ``note``."""


Reporter = Callable[[ProgressReport], None]


def note(text: str) -> ProgressReport:
    """A line to be printed."""
    return ProgressReport("note", text=text)
