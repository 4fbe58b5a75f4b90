"""Training from a request to a folder."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from sonde.core.files import make_folder, write_atomically
from sonde.errors import UsageError
from sonde.networks.folder import FORMAT, TrainedFolder, read_json, write_json
from sonde.training import OBJECTIVES, PRESETS
from sonde.training.card import write_card
from sonde.training.history import why_finished
from sonde.training.log import Report
from sonde.training.objective import Prepared
from sonde.training.plan import Plan
from sonde.training.request import Request
from sonde.training.sources import describe_sources
from sonde.training.withhold import read_withheld

DATA = ".data"
"""The folder of examples as numbers, while training goes on."""
ALLOWED = ("epochs", "patience", "every")
"""Options that may differ when training is resumed."""
ROLES = ("train", "dev", "withhold")
"""What files are read for."""
SOFTWARE = ("torch", "accelerate", "safetensors", "numpy")
"""Packages whose versions are recorded."""


def train(request: Request, folder: Path, report: Callable[[Report], None] = lambda _: None) -> TrainedFolder:
    """Train an encoder, or go on where an earlier call was interrupted.

    Parameters
    ----------
    request : Request
        What to train, from ``make_request``.
    folder : Path
        Where everything is written; a new folder, or one of the same request.
    report : callable
        Called with a Report as training goes on.

    Returns
    -------
    TrainedFolder
        The folder, which ``trained:FOLDER`` names as an encoder.
    """
    _check_same(request, folder)
    if is_finished(request, folder):
        return TrainedFolder(folder)
    make_folder(folder)
    sources = {role: describe_sources(getattr(request, role)) for role in ROLES}
    _check_unchanged(sources, folder)
    data = folder / DATA

    def reported(one: Report) -> None:
        if one.checkpoint:
            write_card(TrainedFolder(folder))
        report(one)

    try:
        from sonde.training.loop import run_loop

        plan = Plan(request, data, read_withheld(request.withhold))
        prepared = OBJECTIVES.get(request.objective).prepare(plan)
        inputs = prepared.inputs
        write_json(folder / "vocabulary.json", list(inputs.vocabulary.words))
        if inputs.config.frozen:
            _write_vectors(folder / "vectors.npy", inputs.table)
        for name, content in prepared.files.items():
            write_atomically(folder / name, content)
        write_json(folder / "config.json", {**_config(request, plan, prepared), "data": sources})
        write_card(TrainedFolder(folder))
        run_loop(folder, prepared, request.options, reported)
        write_card(TrainedFolder(folder))
    finally:
        shutil.rmtree(data, ignore_errors=True)
        with suppress(OSError):  # it is not empty
            folder.rmdir()
    return TrainedFolder(folder)


def is_finished(request: Request, folder: Path) -> bool:
    """Whether a folder has a training that has ended, and that this request would not prolong."""
    return (folder / "config.json").is_file() and bool(why_finished(TrainedFolder(folder), request.options.epochs))


def _config(request: Request, plan: Plan, prepared: Prepared) -> dict[str, Any]:
    from sonde import __version__

    return {
        "format": FORMAT,
        "network": msgspec.to_builtins(prepared.inputs.config),
        "request": msgspec.to_builtins(request),
        "rows": {role: dict(counts) for role, counts in plan.counts.items()},
        "facts": {**prepared.inputs.facts, **prepared.facts},
        "selection": prepared.selection,
        "maximise": prepared.maximise,
        "trains": bool(prepared.streams),
        "size": int(prepared.model.encoder.size),  # type: ignore[arg-type]
        "parameters": _parameters(prepared),
        "paper": PRESETS.get(request.preset).paper if request.preset else "",
        "sonde": __version__,
        "software": {"python": platform.python_version(), **{name: version(name) for name in SOFTWARE}},
    }


def _parameters(prepared: Prepared) -> dict[str, int]:
    """How many are trained, in the encoder and in the rest, and how many are fixed, as given word vectors are."""
    model: Any = prepared.model
    inside = {id(p) for p in model.encoder.parameters()}
    every = list(model.parameters())
    trained = [p for p in every if p.requires_grad or prepared.update is not None]
    fixed = sum(p.numel() for p in every) - sum(p.numel() for p in trained) + sum(b.numel() for b in model.buffers())
    encoder = sum(p.numel() for p in trained if id(p) in inside)
    return {"encoder": encoder, "others": sum(p.numel() for p in trained) - encoder, "fixed": fixed}


def _write_vectors(file: Path, table: Any) -> None:
    import io

    import numpy as np

    out = io.BytesIO()
    np.save(out, table, allow_pickle=False)
    write_atomically(file, out.getbuffer())


def _check_same(request: Request, folder: Path) -> None:
    """Refuse a folder that has something else."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / "config.json").is_file():
        if folder.is_dir() and all(
            place.name in (DATA, "vocabulary.json", "vectors.npy") for place in folder.iterdir()
        ):
            return  # it was interrupted while reading the data
        raise UsageError(f"{folder} exists and is no folder of `sonde train`; choose another one.")
    before, now = read_json(folder / "config.json").get("request", {}), msgspec.to_builtins(request)
    for key in sorted({*before, *now} - {"options"}):
        _refuse(folder, key, before.get(key), now.get(key))
    for key in sorted({*before.get("options", {}), *now["options"]} - set(ALLOWED)):
        _refuse(folder, key, before["options"].get(key), now["options"].get(key))


def _check_unchanged(sources: Mapping[str, Any], folder: Path) -> None:
    """Refuse to go on with files that are not those with which training began."""
    before = read_json(folder / "config.json").get("data", {}) if (folder / "config.json").is_file() else {}
    for role, files in before.items():
        changed = [one["name"] for one in (*files, *sources[role]) if one not in files or one not in sources[role]]
        if changed:
            raise UsageError(
                f"{changed[0]} ({role}) is not what it was when the training in {folder} began: restore it, or choose "
                "another folder."
            )


def _refuse(folder: Path, key: str, before: object, now: object) -> None:
    if before != now and list(before if isinstance(before, list | tuple) else [before]) != list(
        now if isinstance(now, list | tuple) else [now]
    ):
        raise UsageError(
            f"{folder} has an encoder with {key.replace('_', ' ')} {before!r}, and this is {now!r}: choose another "
            "folder, or repeat the command with which it was begun."
        )
