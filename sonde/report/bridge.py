"""The summary as the dictionary it was → typed. Goes when ``summarise`` makes the types itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sonde.report.types import Cell, Summary
from sonde.run.variant import VariantSummary

AnySummary = Summary | Mapping[str, Any]


def typed(old: Mapping[str, Any]) -> Summary:
    """The typed summary of what ``full_summary`` returns."""
    new = dict(old)
    meaning = new.pop("meaning")
    new["interpretations"] = (meaning or {}).get("readings", {})
    new["version"] = 4
    new.pop("try", None)
    new["sets"] = [
        _set(s, [_variants(c) for c in meaning["sets"][i]] if meaning else []) for i, s in enumerate(old["sets"])
    ]
    new["layers"] = [{**t, "cells": [[c and _cell(c) for c in row] for row in t["cells"]]} for t in old["layers"]]
    new["errors"] = [e and _errors(e) for e in new.pop("mistakes", [])]
    new["reproduction"] = new.pop("repeat", None)
    if found := new.get("correlations"):
        cells = [[c and {**c, "significant": c["drawn"]} for c in row] for row in found["cells"]]
        new["correlations"] = {**found, "required": found["least"], "description": found["how"], "cells": cells}
    return msgspec.convert(new, Summary, strict=False, from_attributes=True)


def _set(old: Mapping[str, Any], variants: list[Any]) -> dict[str, Any]:
    failed = {i: c["failure"] for i, c in enumerate(old["cells"]) if c and "failure" in c}
    failed_baselines = {i: c["failure"] for i, c in enumerate(old["baselines"]) if c and "failure" in c}
    return {
        **old,
        "audit": old["audit"] and old["audit"]["findings"],
        "published": old["printed"],
        "cells": [_cell(c) for c in old["cells"]],
        "baselines": [_cell(c) for c in old["baselines"]],
        "failed": failed,
        "failed_baselines": failed_baselines,
        "variants": variants,
    }


def _cell(old: Mapping[str, Any] | None) -> Cell | None:
    return None if old is None or "failure" in old else msgspec.convert(dict(old), Cell, strict=False)


def _variants(old: Mapping[str, Any] | None) -> list[VariantSummary]:
    if old is None:
        return []
    found = [
        VariantSummary(
            name=n, of=n, kind="control", value=c["value"], low=c["low"], high=c["high"], n=c["n"], lost=c["lost"]
        )
        for n, c in old["controls"].items()
    ]
    if c := old["learning"]:
        found.append(
            VariantSummary(
                name="learning",
                of="learning",
                kind="measure",
                value=c["value"],
                low=c["low"],
                high=c["high"],
                points=tuple(c["points"]),
                baselines={k: tuple(v) for k, v in c["baselines"].items()},
            )
        )
    return found


def _errors(old: Mapping[str, Any]) -> dict[str, Any]:
    def row(one: Mapping[str, Any]) -> dict[str, Any]:
        return {**one, "label": one.get("label", one.get("truth"))}

    def column(one: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if one is None:
            return None
        bins = {k: one[k] and [{**b, "correct": b["right"]} for b in one[k]] for k in ("length", "target")}
        counts = one["said"] and [(c["truth"], c["predicted"]) for c in one["said"]]
        return {**one, **bins, "errors": [row(e) for e in one["errors"]], "label_counts": counts}

    return {
        **old,
        "columns": [column(c) for c in old["columns"]],
        "doubtful": [row(r) for r in old["doubtful"]],
        "easiest": [row(r) for r in old["telling"]],
    }


def as_typed(summary: AnySummary) -> Summary:
    """The typed summary, whichever is given."""
    if isinstance(summary, Summary):
        return summary
    found = typed(summary)
    _MEANINGS[id(found.interpretations)] = (found.interpretations, summary["meaning"])
    return found


_MEANINGS: dict[int, tuple[Mapping[str, str], Any]] = {}


def untyped(summary: Summary) -> dict[str, Any]:
    """The dictionary that tables are still made from."""
    old: dict[str, Any] = msgspec.to_builtins(summary)
    old["sets"] = untyped_sets(summary, range(len(summary.sets)))
    old["meaning"] = _MEANINGS.get(id(summary.interpretations), (None, None))[1]
    return old


def untyped_sets(summary: Summary, which: Any) -> list[dict[str, Any]]:
    """Some of its sets."""
    found = []
    for i in which:
        own = summary.sets[i]
        old = msgspec.to_builtins(own)
        old["printed"] = old.pop("published")
        for name, failed in (("cells", own.failed), ("baselines", own.failed_baselines)):
            old[name] = [
                {"failure": failed[j]} if j in failed else c and {k: v for k, v in c.items() if k != "by_dev"}
                for j, c in enumerate(old[name])
            ]
        found.append(old)
    return found
