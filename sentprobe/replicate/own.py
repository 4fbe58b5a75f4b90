"""A finding of one's own as a TOML file: what is claimed, before it is tested."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from sentprobe.core.arguments import did_you_mean
from sentprobe.errors import UsageError
from sentprobe.replicate.claim import FINDINGS, Claim
from sentprobe.replicate.evidence import Role, Scope
from sentprobe.replicate.statistics import BestOf, Cells, Correlated, Difference, Expected, Ordered, Statistic

ABOUT = ("name", "paper", "where", "note")
SCOPE: Mapping[str, type | tuple[type, ...]] = {
    "tasks": list, "languages": list, "metric": str, "expect": str, "margin": (int, float), "cells": str,
}  # fmt: skip
STATISTICS: Mapping[str, tuple[str, ...]] = {
    "difference": ("first", "second"),
    "best of": ("first", "rivals"),
    "ordered": ("sizes",),
    "correlated": ("encoders", "first_tasks", "second_tasks"),
}
"""The statistics, and what each needs besides its scope."""
CHOICES = {"expect": get_args(Expected), "cells": get_args(Cells)}


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

    def role(key: str) -> Role:
        return Role(_text(path, entries, key))

    if kind == "difference":
        second = entries.get("second")
        number = isinstance(second, (int, float)) and not isinstance(second, bool)
        return Difference(role("first"), float(second) if number else role("second"), **scope)  # type: ignore[arg-type]
    if kind == "correlated":
        first, second = (Scope(tasks=_names(path, key, entries.get(key))) for key in STATISTICS[kind][1:])
        return Correlated(Role(role("encoders").name, "{encoder}"), first, second, **scope)
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
