"""The sides of a comparison: the results of one encoder, set by set."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from sonde.baselines import BASELINES, ENCODER_BASELINES
from sonde.errors import UsageError
from sonde.result import Result
from sonde.run.folder import Run

ONE_OF = ("probe", "limit", "device", "sonde", "id")
"""Facts that must have one value on each side of a comparison."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: the results of an encoder with one probe, by set."""

    name: str
    results: dict[str, list[Result]]
    """By set, one per seed; of several layers, the one chosen on dev."""


def select_side(run: Run, text: str) -> Side:
    """The results of ``encoder[|layer=L][|probe=P]…``; part of the name is enough if it is unambiguous."""
    name, *parts = [text] if text in run.encoders else text.split("|")
    encoder = _encoder(run, name)
    found = [r for r in run.results if r.cell.encoder == encoder]
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in ("layer", *ONE_OF):
            raise UsageError(
                f"{text!r}: expected name=value after the encoder, where name is one of "
                f"layer, {', '.join(ONE_OF)}; got {part!r}."
            )
        known = dict.fromkeys(str(getattr(r.cell, key)) for r in found)
        if value not in known:
            raise UsageError(f"{text!r}: {encoder} has no results with {key}={value}; it has {', '.join(known)}.")
        found = [r for r in found if str(getattr(r.cell, key)) == value]
    for key in ONE_OF:
        values = list(dict.fromkeys(str(getattr(r.cell, key)) for r in found))
        if len(values) > 1:
            example = f"'{encoder}|{key}={values[-1]}'"
            raise UsageError(f"{encoder} has results with {key} {', '.join(values)}; choose one, as in {example}.")
    groups: dict[str, dict[str | None, list[Result]]] = {}
    for r in found:
        if r.metric == "accuracy" and r.n["te"] > 1:  # paired tests need rows that are right or wrong
            groups.setdefault(f"{r.cell.dataset}#{r.cell.data} {r.cell.limit}", {}).setdefault(r.cell.layer, []).append(
                r
            )
    return Side(text, {place: best_layer(by_layer) for place, by_layer in groups.items()})


def best_layer(by_layer: dict[str | None, list[Result]]) -> list[Result]:
    """The results of the layer with the highest accuracy on dev; the first if several are best."""
    return max(by_layer.values(), key=lambda rs: sum(r.dev_score or 0.0 for r in rs) / len(rs))


def non_baseline_encoders(run: Run) -> tuple[str, ...]:
    """The encoders of a run that are not baselines."""
    return tuple(name for name in run.encoders if name not in (*BASELINES, *ENCODER_BASELINES))


def _encoder(run: Run, name: str) -> str:
    if name in run.encoders:
        return name
    near = [encoder for encoder in run.encoders if name in encoder]
    if name and len(near) == 1:
        return near[0]
    close = near or difflib.get_close_matches(name, run.encoders, n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise UsageError(f"{run.folder} has no results of {name!r}.{hint} It has {', '.join(run.encoders) or 'none'}.")
