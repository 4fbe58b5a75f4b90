"""Training from a request to a folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.files import copy_atomically, make_folder, write_atomically
from sentprobe.core.json_files import read_json, write_json
from sentprobe.core.lock import locked
from sentprobe.errors import UsageError
from sentprobe.networks.folder import FORMAT, VECTORS, TrainedFolder
from sentprobe.training import OBJECTIVES
from sentprobe.training.card import write_card
from sentprobe.training.describe import (
    check_data_unchanged,
    check_words_unchanged,
    describe_data,
    describe_model,
    is_finished,
)
from sentprobe.training.history import why_finished
from sentprobe.training.launch import join_processes
from sentprobe.training.log import Report
from sentprobe.training.objective import Prepared
from sentprobe.training.plan import Plan
from sentprobe.training.request import Request
from sentprobe.training.withhold import read_withheld

DATA = ".data"
"""The folder of examples as numbers, while training goes on."""
SCORING_TIME = timedelta(days=1)
"""How long processes wait for the main one, which scores alone."""
MAY_CHANGE = ("epochs", "patience", "every")
"""Options that may differ when training is resumed; epochs only if learning rates do not depend on their number."""


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
    from accelerate import PartialState

    from sentprobe.training.loop import run_loop

    _check_same(request, folder)
    if is_finished(request, folder):
        _note_end(request, folder)
        return TrainedFolder(folder)

    def report_and_write(one: Report) -> None:
        if one.checkpoint:
            write_card(TrainedFolder(folder))
        report(one)

    state = PartialState(cpu=join_processes(), timeout=SCORING_TIME)
    state.wait_for_everyone()
    make_folder(folder)
    data = folder / DATA / str(state.process_index)
    with locked(folder, folder, UsageError) if state.is_main_process else nullcontext():
        state.wait_for_everyone()  # nothing is written before the folder is locked
        try:
            plan = Plan(request, data, read_withheld(request.withhold))
            prepared = OBJECTIVES.get(request.objective).prepare(plan)
            files = describe_data(plan)
            check_data_unchanged(files, folder)
            check_words_unchanged(prepared.inputs, folder)
            if state.is_main_process:
                _write_files(folder, request, plan, prepared, files)
            state.wait_for_everyone()
            run_loop(folder, prepared, request.options, report_and_write)
        finally:
            shutil.rmtree(data, ignore_errors=True)
            for empty in (folder / DATA, folder):
                with suppress(OSError):  # not empty: other processes still read, or there is something to keep
                    empty.rmdir()
        if state.is_main_process:
            shutil.rmtree(folder / DATA, ignore_errors=True)
            write_card(TrainedFolder(folder))
    return TrainedFolder(folder)


def _write_files(folder: Path, request: Request, plan: Plan, prepared: Prepared, files: dict[str, Any]) -> None:
    """Everything but the weights; the configuration last, since it makes a folder that of an encoder."""
    from sentprobe import __version__

    inputs = prepared.inputs
    write_json(folder / "vocabulary.json", list(inputs.vocabulary.words))
    if inputs.config.frozen:
        copy_atomically(plan.folder / VECTORS, folder / VECTORS)
    for name, content in prepared.files.items():
        write_atomically(folder / name, content)
    config = {
        **prepared.transformers,
        "format": FORMAT,
        "network": msgspec.to_builtins(inputs.config),
        "request": msgspec.to_builtins(request),
        "rows": {role: dict(counts) for role, counts in plan.counts.items()},
        "facts": {**inputs.facts, **prepared.facts},
        "selection": prepared.selection,
        "maximise": prepared.maximise,
        "data": files,
        **describe_model(request, prepared),
        "sentprobe": __version__,
    }
    write_json(folder / "config.json", config)
    write_card(TrainedFolder(folder))


def _note_end(request: Request, folder: Path) -> None:
    """Record a request that ends a training before the end that was requested earlier."""
    config = dict(TrainedFolder(folder).config)
    if not why_finished(TrainedFolder(folder)):
        write_json(folder / "config.json", {**config, "request": msgspec.to_builtins(request)})
        write_card(TrainedFolder(folder))


def _check_same(request: Request, folder: Path) -> None:
    """Refuse a folder with something else in it."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder.")
    if not (folder / "config.json").is_file():
        unfinished = (
            DATA,
            "vocabulary.json",
            VECTORS,
            "tokenizer.json",
            "tokenizer_config.json",
        )  # it was interrupted while reading
        if foreign := sorted(place.name for place in folder.iterdir() if place.name not in unfinished):
            raise UsageError(f"{folder} has {foreign[0]}, and is no folder of `sentprobe train`; choose another one.")
        return
    before, now = _flat(read_json(folder / "config.json").get("request", {})), _flat(_plain(request))
    fixed = {"epochs"} if OBJECTIVES.get(request.objective).plans_epochs else set()
    for key in sorted({*before, *now} - {*MAY_CHANGE} | fixed):
        if before.get(key) != now.get(key):
            raise UsageError(
                f"{folder} has an encoder with {key.replace('_', ' ')} {_shown(before.get(key))}, and this is "
                f"{_shown(now.get(key))}: choose another folder, or repeat the command with which it was begun."
            )


def _flat(request: dict[str, Any]) -> dict[str, Any]:
    """A request with its settings and options among its other values."""
    groups = ("encoder_settings", "objective_settings", "options")
    plain = {key: value for key, value in request.items() if key not in groups}
    return {**plain, **{key: value for group in groups for key, value in request.get(group, {}).items()}}


def _shown(value: object) -> str:
    """A value of a request as users type it."""
    return ",".join(map(str, value)) or "(none)" if isinstance(value, list) else str(value)


def _plain(request: Request) -> dict[str, Any]:
    """A request as it is read from JSON."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(request))
    return found
