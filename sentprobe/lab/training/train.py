"""Training from a request to a folder, and what its ``config.json`` says: sizes, files with digests, and software."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.files import encode_json
from sentprobe.lab.networks.folder import CONFIG, FORMAT, VECTORS, VOCABULARY, TrainedFolder
from sentprobe.lab.training import OBJECTIVES, PRESETS
from sentprobe.lab.training.card import write_card
from sentprobe.lab.training.history import TrainingReport, why_finished
from sentprobe.lab.training.objective import Prepared
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import TrainingRequest
from sentprobe.lab.training.row_filter import read_withheld
from sentprobe.lab.training.sources import DEV, TRAIN, describe_sources

SOFTWARE = ("torch", "accelerate", "safetensors", "numpy")
"""Packages whose versions are recorded."""
DATA = ".data"
"""The folder of examples as numbers, during training."""
SCORING_TIME = timedelta(days=1)
"""How long processes wait for the main one, which scores alone."""
MAY_CHANGE = ("epochs", "patience", "every")
"""Options that may differ when training is resumed; epochs only if learning rates do not depend on their number."""


def train(
    request: TrainingRequest, folder: Path, report: Callable[[TrainingReport], None] = lambda _: None
) -> TrainedFolder:
    """Train an encoder, or resume where an earlier call was interrupted.

    Parameters
    ----------
    request : TrainingRequest
        What to train, from ``make_request``.
    folder : Path
        Where everything is written; a new folder, or one of the same request.
    report : callable
        Called with a TrainingReport at every report.

    Returns
    -------
    TrainedFolder
        The folder, which ``trained:FOLDER`` names as an encoder.
    """
    from accelerate import PartialState

    from sentprobe.lab.training.loop import run_loop

    trained = TrainedFolder(folder)
    _check_same(request, trained)
    if is_finished(request, folder):
        trained.verify()
        _note_end(request, trained)
        return TrainedFolder(folder)

    def report_and_write(progress: TrainingReport) -> None:
        if progress.checkpoint:
            write_card(TrainedFolder(folder))
        report(progress)

    state = PartialState(cpu=join_processes(), timeout=SCORING_TIME)
    state.wait_for_everyone()
    data = folder / DATA / str(state.process_index)
    with trained.job.writing() if state.is_main_process else nullcontext():
        state.wait_for_everyone()  # nothing is written before the folder is locked
        try:
            if state.is_main_process and trained.job.is_begun:
                trained.verify()
            plan = TrainingPlan(request, data, read_withheld(request.withhold))
            prepared = OBJECTIVES.get(request.objective).prepare(plan)
            files = describe_data(plan)
            check_data_unchanged(files, folder)
            check_words_unchanged(prepared, folder)
            if state.is_main_process:
                _write_files(trained, request, plan, prepared, files)
            state.wait_for_everyone()
            run_loop(trained, prepared, request.options, report_and_write)
        finally:
            shutil.rmtree(data, ignore_errors=True)
            for empty in (folder / DATA, folder):
                with suppress(OSError):  # not empty: other processes still read, or there is something to keep
                    empty.rmdir()
        if state.is_main_process:
            shutil.rmtree(folder / DATA, ignore_errors=True)
            write_card(TrainedFolder(folder))
    return TrainedFolder(folder)


def _write_files(
    folder: TrainedFolder, request: TrainingRequest, plan: TrainingPlan, prepared: Prepared, files: dict[str, Any]
) -> None:
    """Everything but the weights; the configuration last, since it makes a folder that of an encoder."""
    from sentprobe import __version__

    inputs = prepared.inputs
    vectors = {VECTORS: plan.folder / VECTORS} if inputs.config.frozen else {}
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
    words = encode_json(list(inputs.vocabulary.words))
    folder.job.write({VOCABULARY: words, **vectors, **prepared.files, CONFIG: encode_json(config)})
    write_card(TrainedFolder(folder.path))


def _note_end(request: TrainingRequest, folder: TrainedFolder) -> None:
    """Record a request that ends a training before the end that was requested earlier."""
    if not why_finished(folder):
        with folder.job.writing():
            folder.job.write({CONFIG: encode_json({**folder.config, "request": msgspec.to_builtins(request)})})
        write_card(TrainedFolder(folder.path))


def _check_same(request: TrainingRequest, folder: TrainedFolder) -> None:
    """Refuse a folder with something else in it."""
    if (folder.path / CONFIG).is_file():
        before, now = _flat(folder.config.get("request", {})), _flat(_plain(request))
        fixed = {"epochs"} if OBJECTIVES.get(request.objective).plans_epochs else set()
        folder.job.check_same("an encoder", before, now, {*before, *now} - {*MAY_CHANGE} | fixed)
    else:
        folder.job.check_own({DATA})


def _flat(request: dict[str, Any]) -> dict[str, Any]:
    """A request with its settings and options among its other values."""
    groups = ("encoder_settings", "objective_settings", "options")
    plain = {key: value for key, value in request.items() if key not in groups}
    return {**plain, **{key: value for group in groups for key, value in request.get(group, {}).items()}}


def _plain(request: TrainingRequest) -> dict[str, Any]:
    """A request as it is read from JSON."""
    values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(request))
    return values


def is_finished(request: TrainingRequest, folder: Path) -> bool:
    """Whether a folder has a training that has ended, and that this request would not prolong."""
    return (folder / CONFIG).is_file() and bool(why_finished(TrainedFolder(folder), request.options))


def check_data_unchanged(data: Mapping[str, Any], folder: Path) -> None:
    """Refuse to resume with files that have changed since training started."""
    before = TrainedFolder(folder).config.get("data", {}) if (folder / CONFIG).is_file() else {}
    for role, files in before.items():
        now = data.get(role, [])
        if changed := [file["name"] for file in (*files, *now) if file not in files or file not in now]:
            raise TrainedFolder(folder).job.changed_input(f"{changed[0]} ({role})", "training")


def check_words_unchanged(prepared: Prepared, folder: Path) -> None:
    """Refuse to resume with words, codes or word vectors that have changed since training started."""
    if not (folder / CONFIG).is_file():
        return
    before, inputs = TrainedFolder(folder), prepared.inputs
    if before.config.get("facts", {}).get("vectors digest") != inputs.facts.get("vectors digest"):
        raise before.job.changed_input(f"{inputs.facts.get('vectors')} (vectors)", "training")
    if before.network != inputs.config or list(before.vocabulary.words) != list(inputs.vocabulary.words):
        raise before.job.changed_input("The vocabulary that this version of sentprobe makes of the data", "training")
    for name, content in prepared.files.items():
        # the tokens of a decoder are not in the vocabulary; weights with other ones would be of no use
        if before.job.is_there(name) and before.job.read(name) != content:
            raise before.job.changed_input(f"{name}, as this version of sentprobe makes it of the data,", "training")


def describe_data(plan: TrainingPlan) -> dict[str, list[dict[str, Any]]]:
    """What was read, by what for: of folders, the files of train and dev only."""
    return {
        **{role: describe_sources(plan.files(role)) for role in (TRAIN, DEV)},
        "withhold": describe_sources(plan.request.withhold),
        **plan.further_data,
    }


def describe_model(request: TrainingRequest, prepared: Prepared) -> dict[str, Any]:
    """Sizes of the model, the paper of the preset, and versions."""
    model: Any = prepared.model
    return {
        "trains": bool(prepared.streams),
        "size": int(model.encoder.size),
        "parameters": count_parameters(prepared),
        "paper": PRESETS.get(request.preset).paper if request.preset else "",
        "software": {"python": platform.python_version(), **{name: version(name) for name in SOFTWARE}},
    }


def count_parameters(prepared: Prepared) -> dict[str, int]:
    """How many are trained, in the encoder and in the rest, and how many are fixed, as given word vectors are."""
    model: Any = prepared.model
    in_encoder = {id(p) for p in model.encoder.parameters()}
    parameters = list(model.parameters())
    trained = [p for p in parameters if p.requires_grad or prepared.update is not None]
    encoder, total = (sum(p.numel() for p in group) for group in ([p for p in trained if id(p) in in_encoder], trained))
    inputs = prepared.inputs
    frozen_vectors = 0 if inputs.table is None or not inputs.config.frozen else inputs.table.size
    fixed = sum(p.numel() for p in parameters) - total + frozen_vectors
    return {"encoder": encoder, "others": total - encoder, "fixed": fixed}


def is_main_process() -> bool:
    """Whether this is the one of several processes that prints; launchers number them."""
    return os.environ.get("RANK", "0") == "0"


def join_processes() -> bool:
    """Whether this is one of several processes without GPUs, of which accelerate needs to be told.

    Otherwise each of them would train alone, and all would write to the same folder.
    """
    import torch

    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not torch.cuda.is_available():
        os.environ["ACCELERATE_USE_CPU"] = "true"  # what the loop's Accelerator reads
        return True
    return False
