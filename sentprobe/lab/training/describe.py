"""What ``config.json`` says about a training beyond its request: sizes, files with digests, and software."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sentprobe.lab.networks.folder import CONFIG, TrainedFolder
from sentprobe.lab.training import PRESETS
from sentprobe.lab.training.digests import describe_sources
from sentprobe.lab.training.history import why_finished
from sentprobe.lab.training.objective import Prepared
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.reading import DEV, TRAIN
from sentprobe.lab.training.request import TrainingRequest

SOFTWARE = ("torch", "accelerate", "safetensors", "numpy")
"""Packages whose versions are recorded."""


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


def describe_data(plan: TrainingPlan) -> dict[str, list[dict[str, Any]]]:
    """What was read, by what for: of folders, the files of train and dev only."""
    return {
        **{role: describe_sources(plan.files(role)) for role in (TRAIN, DEV)},
        "withhold": describe_sources(plan.request.withhold),
        **plan.others,
    }


def check_data_unchanged(data: Mapping[str, Any], folder: Path) -> None:
    """Refuse to go on with files that are not those with which training began."""
    before = TrainedFolder(folder).config.get("data", {}) if (folder / CONFIG).is_file() else {}
    for role, files in before.items():
        now = data.get(role, [])
        if changed := [file["name"] for file in (*files, *now) if file not in files or file not in now]:
            raise TrainedFolder(folder).job.changed_input(f"{changed[0]} ({role})", "training")


def check_words_unchanged(prepared: Prepared, folder: Path) -> None:
    """Refuse to go on with other words, codes or word vectors than those with which training began."""
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


def is_finished(request: TrainingRequest, folder: Path) -> bool:
    """Whether a folder has a training that has ended, and that this request would not prolong."""
    return (folder / CONFIG).is_file() and bool(why_finished(TrainedFolder(folder), request.options))
