"""The sides of a comparison: the results of one encoder, set by set."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from sonde.baselines import BASELINES
from sonde.errors import UsageError
from sonde.result import Result
from sonde.run.folder import Run
from sonde.run.loop import ENCODER_BASELINES

ONE_OF = ("probe", "limit", "device", "sonde", "id")
"""What an encoder is compared with one value of."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: an encoder with a probe, by the sets it has results for."""

    name: str
    results: dict[str, list[Result]]
    """By set, one per seed; of several layers the one that dev chose."""


def select_side(run: Run, text: str) -> Side:
    """The results that ``encoder[|layer=L][|probe=P]…`` names; an encoder may be shortened to a part of its name."""
    name, *parts = [text] if text in run.encoders else text.split("|")
    encoder = _encoder(run, name)
    found = [r for r in run.results if r.cell.encoder == encoder]
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in ("layer", *ONE_OF):
            raise UsageError(
                f"{text!r}: met {part!r}; expected layer, {', '.join(ONE_OF)} with = and a value after the encoder."
            )
        there = dict.fromkeys(str(getattr(r.cell, key)) for r in found)
        if value not in there:
            raise UsageError(f"{text!r}: {encoder} has no results with {key}={value}; it has {', '.join(there)}.")
        found = [r for r in found if str(getattr(r.cell, key)) == value]
    for key in ONE_OF:
        values = list(dict.fromkeys(str(getattr(r.cell, key)) for r in found))
        if len(values) > 1:
            example = f"'{encoder}|{key}={values[-1]}'"
            raise UsageError(f"{encoder} has results with {key} {', '.join(values)}; say which, as in {example}.")
    groups: dict[str, dict[str | None, list[Result]]] = {}
    for r in found:
        if r.metric == "accuracy" and r.n["te"] > 1:  # paired tests are about right and wrong, of some rows
            groups.setdefault(f"{r.cell.dataset}#{r.cell.data} {r.cell.limit}", {}).setdefault(r.cell.layer, []).append(
                r
            )
    return Side(text, {place: best_layer(by_layer) for place, by_layer in groups.items()})


def best_layer(by_layer: dict[str | None, list[Result]]) -> list[Result]:
    """The results of the layer with the highest accuracy on dev, of several the first."""
    return max(by_layer.values(), key=lambda rs: sum(r.dev_score or 0.0 for r in rs) / len(rs))


def non_baseline_encoders(run: Run) -> tuple[str, ...]:
    """The encoders of a run that are no baselines."""
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
