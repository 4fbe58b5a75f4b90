"""What a finding is: a claim of a paper as a predicate, which printed results and runs can be tested by."""

from __future__ import annotations

from dataclasses import dataclass

from sentprobe.core.plugins import Kind, part_repr
from sentprobe.replicate.evidence import Role
from sentprobe.replicate.statistics import Statistic


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim, the statistic that it is about, and what is expected of it.

    Parameters
    ----------
    name
        As in ``sentprobe replicate NAME``; that of its file.
    paper
        A key of ``sentprobe.published.papers()``; of your own findings, any text.
    where
        The section, the table or the figure. "read from" says that the paper prints the numbers, and does not word the
        claim.
    sentence
        The claim, in one sentence.
    statistic
        What it says about scores; of several, all have to hold.
    note
        What the printed cells cannot decide, or how they were read.

    Examples
    --------
    >>> from sentprobe.replicate import Claim, Difference, Role
    >>> claim = Claim(
    ...     name="mine", paper="ours", where="abstract", sentence="Ours knows the number of the subject better.",
    ...     statistic=Difference(Role("ours"), Role("theirs"), tasks=("subj_number",)),
    ... )
    >>> claim, claim.role_names
    (Claim('mine'), ('ours', 'theirs'))
    """

    name: str
    paper: str
    where: str
    sentence: str
    statistic: Statistic | tuple[Statistic, ...]
    note: str = ""

    __repr__ = part_repr

    @property
    def parts(self) -> tuple[Statistic, ...]:
        """Its statistics."""
        return self.statistic if isinstance(self.statistic, tuple) else (self.statistic,)

    @property
    def roles(self) -> tuple[Role, ...]:
        """The encoders that it is about."""
        return tuple({role.name: role for part in self.parts for role in part.roles}.values())

    @property
    def role_names(self) -> tuple[str, ...]:
        """What ``--as`` takes."""
        return tuple(role.name for role in self.roles)


FINDINGS = Kind("finding", "sentprobe.replicate.findings", Claim)
"""All findings, also those that other packages offer as entry points of the group ``sentprobe.findings``."""
