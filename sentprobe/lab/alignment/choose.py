"""The best method: every one that applies is tried, and judged by what it was not shown."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sentprobe.errors import SentProbeError, UsageError
from sentprobe.lab.alignment.folder import CANDIDATES, CONFIG, MAPS, AlignmentFolder
from sentprobe.lab.alignment.method import Report, Reporter
from sentprobe.lab.alignment.request import Request, applicable, make_request

Align = Callable[[Request, Path], AlignmentFolder]


def choose(request: Request, folder: Path, report: Reporter, align: Align) -> tuple[Request, list[dict[str, Any]]]:
    """A request for the best method, and what was found of each, by ``align`` in a folder of its own.

    With a dictionary, the score is P@1 under CSLS of a held-out fifth of its source words, and the best method is then
    trained on all of it. Without one, it is the criterion after a fit to the method's own translations, which is
    comparable between methods.
    """
    found = [_try(request, method.name, folder, report, align) for method in applicable(bool(request.dictionary))]
    if all("error" in one for one in found):
        raise SentProbeError(f"No method could be used. The first one, {found[0]['method']}: {found[0]['error']}")
    best = max((one for one in found if "error" not in one), key=lambda one: one["score"])
    what = "P@1 on held-out words" if request.dictionary else "the criterion"
    chosen = make_request(
        request.source, request.target, method=best["method"], words=request.words,
        dictionary=request.dictionary, dev=request.dev, seeds=request.seeds or None,
    )  # fmt: skip
    if not request.dictionary:  # it has seen all that there is
        _adopt(folder / CANDIDATES / best["method"], folder)
    return replace(chosen, why=f"{what} is highest, {best['score']:.3f}"), found


def _try(request: Request, name: str, folder: Path, report: Reporter, align: Align) -> dict[str, Any]:
    report(Report("note", text=f"trying {name}"))
    one = make_request(
        request.source, request.target, method=name, words=request.words, dictionary=request.dictionary,
        dev=request.dev, seeds=request.seeds or None, held_out=bool(request.dictionary),
    )  # fmt: skip
    try:
        config = align(one, folder / CANDIDATES / name).config
    except UsageError:
        raise
    except SentProbeError as e:
        report(Report("note", text=f"{name}: {e}"))
        return {"method": name, "error": str(e)}
    found: dict[str, Any] = {"method": name, "score": _score(config), "criterion": best_criterion(config)}
    if "held_out" in config:
        found.update({f"held_out_{key}": value for key, value in config["held_out"].items()})
    report(Report("note", text=f"{name}: {found['score']:.3f}"))
    return found


def _score(config: Mapping[str, Any]) -> float:
    return float(config["held_out"]["csls"] if "held_out" in config else config["start"]["fit"])


def best_criterion(config: Mapping[str, Any]) -> float | None:
    """The criterion of the seed that was chosen."""
    return next((s.get("criterion") for s in config["seeds"] if s["seed"] == config.get("chosen")), None)


def _adopt(candidate: Path, folder: Path) -> None:
    """Take over the maps and the history of a candidate, whose request is the same."""
    if (folder / CONFIG).is_file():
        return
    shutil.copytree(candidate / MAPS, folder / MAPS, dirs_exist_ok=True)
