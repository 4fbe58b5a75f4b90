"""Every choice a paper makes, or leaves open, in building a set."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from sentprobe.core.arguments import check_literals
from sentprobe.errors import UsageError

Range = tuple[int, int]


LENGTH_BINS: tuple[Range, ...] = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))
"""The length bins of the released SentEval sets; classes are balanced inside each, so that length is not a cue."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Policy:
    """Every choice that a paper makes, or leaves open, in building a set. Data, not code.

    Every field can be changed with ``sentprobe make --set field=value``.

    Parameters
    ----------
    sizes
        Rows in train, validation and test; scaled down together when the corpus is smaller.
    floor
        Rows that validation and test keep when the sizes are scaled down, as long as that is at most a fifth
        each.
    length
        Tokens in a sentence, both ends included.
    bins
        Length classes (sentence_length).
    classes
        How many classes there may be at most; None: as many as the task proposes. Of length bins, the first are kept.
    min_classes
        Fewer classes than this and the set is not made.
    min_class
        A class with fewer examples than this is left out, or the set is not made if its classes are fixed.
    balance
        Equal counts per class in every split and stratum, or the distribution of the corpus.
    remainder
        Rows left over when a size is not a multiple of the class count: given to the largest pools, or dropped.
    strata
        Length bins inside which classes are balanced; ``exact``: every length is a bin of its own; empty: none.
    decorrelate
        Equal length histograms for every class, or SentEval's bivariate Gaussian over (length, label).
    disjoint
        A target form occurs in one split only.
    band
        Occurrences of the target form in a corpus of ``band_tokens`` words, scaled to the corpus at hand.
    band_tokens
        The source of the SentEval sets: 203 million words (Paperno et al. 2016, section 3).
    trim
        Drop target forms seen fewer than this many times, and this share of the most frequent form types.
    cap
        One target form has at most this share of the rows its class could have, and never fewer than five.
    readings
        Which of the task's readings of the annotation may be used, best first; empty: all, as the task lists
        them.
    depths
        The depths that are the classes, smallest and largest (tree_depth); None: neighbouring depths that the corpus
        has enough rows of, of constituency trees 5 to 12 at most.
    ranks
        Frequency ranks of the target words (word_content).
    letters
        Letters that a target word has at least (word_content). A sign that stands for a syllable (Hangul, katakana,
        Ethiopic, …) counts as two, and a Chinese character as three.
    tolerance
        Largest difference of log counts between an original and a replaced bigram, natural log (odd_man_out).
    domain
        UD parts of speech that may be replaced (odd_man_out); empty: any word.
    subtypes
        Keep relation subtypes such as ``aux:pass`` in labels (top_dependencies).
    punctuation
        Sequences of constituents with punctuation, as they are, or only those with a full stop at the end and no other
        punctuation, as in the released SentEval set (top_constituents).
    upos
        UD parts of speech the target must have; empty: any.
    tense
        Drop roots whose finite auxiliary contradicts their Tense, or look at the root alone (past_present).
    clauses
        What classes are balanced over (coordination_inversion): which clause is ``longer``, also by how much
        (``lengths``), or ``none``.
    pool
        Tasks with the same pool name draw the same sentences; empty: the task's own.

    Examples
    --------
    >>> from sentprobe import Policy
    >>> Policy(sizes=(400, 80, 80), length=(5, 12))
    Policy(sizes=(400, 80, 80), length=(5, 12))
    >>> Policy().sizes
    (100000, 10000, 10000)
    """

    sizes: tuple[int, int, int] = (100_000, 10_000, 10_000)
    floor: int = 500
    length: Range = (5, 28)
    bins: tuple[Range, ...] = ()
    classes: int | None = None
    min_classes: int = 2
    min_class: int = 24
    balance: Literal["equal", "natural"] = "equal"
    remainder: Literal["spread", "drop"] = "spread"
    strata: tuple[Range, ...] | Literal["exact"] = LENGTH_BINS
    decorrelate: Literal["exact", "gaussian"] = "exact"
    disjoint: bool = False
    band: Range | None = None
    band_tokens: int = 203_000_000
    trim: tuple[int, float] | None = None
    cap: float | None = None
    readings: tuple[str, ...] = ()
    depths: Range | None = None
    ranks: Range = (2001, 3000)
    letters: int = 4
    tolerance: float = 1.0
    domain: tuple[str, ...] = ()
    subtypes: bool = True
    punctuation: Literal["kept", "final"] = "kept"
    upos: tuple[str, ...] = ()
    tense: Literal["clause", "root"] = "clause"
    clauses: Literal["longer", "lengths", "none"] = "longer"
    pool: str = ""

    @property
    def most_classes(self) -> int:
        """The most classes there may be; few rows cannot be divided among many classes."""
        affordable = max(2, self.min_classes, sum(self.sizes) // self.min_class)
        return min(self.classes or affordable, affordable)

    def __repr__(self) -> str:
        changed = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default)
        return f"Policy({', '.join(changed)})"

    def __post_init__(self) -> None:
        """Refuse values that make no sense."""
        check_literals(self, "A policy")
        ranges = (
            self.length,
            self.ranks,
            self.depths or (0, 0),
            *self.bins,
            *(() if self.strata == "exact" else self.strata),
        )
        if min(self.sizes) < 1 or any(low > high or low < 0 for low, high in (*ranges, self.band or (1, 1))):
            raise UsageError(f"A policy needs positive sizes and ranges from low to high, got {self}.")
        least = {"min_classes": 2, "min_class": 1, "floor": 0, "band_tokens": 1, "tolerance": 0, "classes": 2, "cap": 0}
        least |= {"letters": 1}
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None and value < low:
                raise UsageError(f"A policy's {name} must be at least {low}, got {value}.")
        if self.depths is not None and not 0 < self.depths[0] < self.depths[1]:
            raise UsageError(f"A policy's depths must be two depths or more, from 1 on, got {self.depths}.")
        if self.band is not None and self.band[0] < 1:
            raise UsageError(f"A policy's band must begin at 1 or more, got {self.band}.")
