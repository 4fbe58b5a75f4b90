"""A finding: a claim as a predicate, which printed results and runs can be tested by; your own are read from TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.plugins import Kind, part_repr
from sentprobe.errors import UsageError
from sentprobe.replicate.evidence import Models, Scope
from sentprobe.replicate.vocabulary import BestOf, Cells, Correlated, Difference, Expected, Ordered, Statistic

ABOUT = ("name", "paper", "where", "note")
SCOPE: Mapping[str, type | tuple[type, ...]] = {
    "tasks": list, "languages": list, "table": str, "metric": str, "expect": str, "margin": (int, float), "cells": str,
}  # fmt: skip
STATISTICS: Mapping[str, tuple[str, ...]] = {
    "difference": ("first", "second"),
    "best of": ("first", "rivals"),
    "ordered": ("sizes",),
    "correlated": ("encoders", "first_tasks", "second_tasks"),
}
"""The statistics, and what each needs besides its scope."""
CHOICES = {"expect": get_args(Expected), "cells": get_args(Cells)}


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
    >>> from sentprobe.replicate import Claim, Difference, Models
    >>> claim = Claim(
    ...     name="mine", paper="ours", where="abstract", sentence="Ours knows the number of the subject better.",
    ...     statistic=Difference(Models("ours"), Models("theirs"), tasks=("subj_number",)),
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
    def roles(self) -> tuple[Models, ...]:
        """The encoders that it is about."""
        return tuple({role.name: role for part in self.parts for role in part.roles}.values())

    @property
    def role_names(self) -> tuple[str, ...]:
        """What ``--as`` takes."""
        return tuple(role.name for role in self.roles)


FINDINGS = Kind("finding", "sentprobe.replicate.findings", Claim)
"""All findings, also those that other packages offer as entry points of the group ``sentprobe.findings``."""


def load_claim(name: str) -> Claim | None:
    """The finding of this name, or in this TOML file; None if there is none."""
    if name.endswith(".toml"):
        return read_claim(name)
    return FINDINGS.parts().get(name)


def read_claim(path: Path | str) -> Claim:
    """A claim from a TOML file; UsageError names what is wrong with it."""
    path = Path(path)
    try:
        entries = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UsageError(f"There is no file {str(path)!r}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise UsageError(f"{path} is not a TOML file: {e}.") from None
    kind = _text(path, entries, "statistic")
    if kind not in STATISTICS:
        raise UsageError(
            f"{path}: there is no statistic {kind!r}.{did_you_mean(kind, STATISTICS)} Expected one of "
            f"{', '.join(STATISTICS)}."
        )
    allowed = ("statistic", "sentence", *ABOUT, *SCOPE, *STATISTICS[kind])
    for key in entries:
        if key not in allowed:
            hint = did_you_mean(key, allowed)
            raise UsageError(f"{path}: unexpected {key!r}.{hint} A {kind} has {', '.join(allowed)}.")
    return Claim(
        name=str(entries.get("name", path.stem)),
        paper=str(entries.get("paper", "")),
        where=str(entries.get("where", path.name)),
        sentence=_text(path, entries, "sentence"),
        statistic=_statistic(path, kind, entries),
        note=str(entries.get("note", "")),
    )


def _text(path: Path, entries: Mapping[str, Any], key: str) -> str:
    value = entries.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f'{path}: expected a text, {key} = "…"; got {"nothing" if value is None else repr(value)}.')
    return value


def _statistic(path: Path, kind: str, entries: Mapping[str, Any]) -> Statistic:
    scope = {key: _setting(path, key, entries[key]) for key in SCOPE if key in entries}

    def role(key: str) -> Models:
        name = _text(path, entries, key)
        return Models(name, name)

    if kind == "difference":
        second = entries.get("second")
        number = isinstance(second, (int, float)) and not isinstance(second, bool)
        return Difference(role("first"), float(second) if number else role("second"), **scope)  # type: ignore[arg-type]
    if kind == "correlated":
        first, second = (Scope(tasks=_names(path, key, entries.get(key))) for key in STATISTICS[kind][1:])
        try:
            return Correlated(Models(role("encoders").name, "{encoder}"), first, second, **scope)
        except UsageError as e:
            raise UsageError(f"{path}: {e}") from None
    build: Mapping[str, Callable[..., Statistic]] = {"best of": BestOf, "ordered": Ordered}
    return build[kind](*map(role, STATISTICS[kind]), **scope)


def _setting(path: Path, key: str, value: object) -> Any:
    """The value of a key of the scope."""
    expected = SCOPE[key]
    if expected is list:
        return _names(path, key, value)
    if not isinstance(value, expected) or isinstance(value, bool):
        raise UsageError(f"{path}: {key} = {value!r}: expected a {'text' if expected is str else 'number'}.")
    if key in CHOICES and value not in CHOICES[key]:
        raise UsageError(f"{path}: {key} = {value!r}: expected one of {', '.join(CHOICES[key])}.")
    if key == "margin" and abs(float(value)) >= 1:  # type: ignore[arg-type]
        raise UsageError(f"{path}: margin = {value}: expected a share of one, such as 0.01 for a point.")
    return value


def _names(path: Path, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise UsageError(f'{path}: {key} = {value!r}: expected a list of names, as in {key} = ["subj_number"].')
    return tuple(value)
