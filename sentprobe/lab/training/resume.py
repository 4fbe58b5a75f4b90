"""The complete state of an unfinished training in one file, so that it goes on as if it had never stopped.

Weights and the optimiser's state; and beside its digest, in ``checksums.json``, the place in the data and the schedule.
The order of the data and all random numbers are functions of the seed and that place.
"""

from __future__ import annotations

import json
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from sentprobe.core.job_folder import JobFolder
from sentprobe.errors import DataError
from sentprobe.lab.networks.folder import RESUME
from sentprobe.lab.training.history import state_facts


def save_state(
    job: JobFolder, model: nn.Module, optimiser: torch.optim.Optimizer | None, facts: dict[str, Any]
) -> None:
    """Write everything; ``facts`` are the numbers and texts."""
    tensors: dict[str, Tensor] = {f"model.{name}": value for name, value in model.state_dict().items()}
    plain: dict[str, dict[str, Any]] = {}
    if optimiser is not None:
        for number, state in optimiser.state_dict()["state"].items():
            for key, value in state.items():
                if isinstance(value, Tensor):
                    tensors[f"optimiser.{number}.{key}"] = value
                else:
                    plain.setdefault(str(number), {})[key] = value
    content = save({k: v.detach().cpu().clone().contiguous() for k, v in tensors.items()})
    # as text: a score may be infinite, for which JSON has no number
    job.write({RESUME: content}, {"state": json.dumps({**facts, "optimiser": plain})})


def load_facts(job: JobFolder) -> dict[str, Any] | None:
    """The numbers and texts of an unfinished training; None if there is none, or its state was deleted."""
    return state_facts(job) if job.is_begun and job.is_there(RESUME) else None


def load_state(job: JobFolder, model: nn.Module, optimiser: torch.optim.Optimizer | None) -> None:
    """Restore weights and optimiser."""
    job.verify(RESUME)
    try:
        tensors = load_file(job.path / RESUME)
    except (OSError, SafetensorError) as e:
        raise DataError(f"{job.path / RESUME} cannot be read: {e}.") from None
    model.load_state_dict({n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
    if optimiser is None:
        return
    state: dict[int, dict[str, Any]] = {int(n): dict(values) for n, values in state_facts(job)["optimiser"].items()}
    for name, tensor in tensors.items():
        if name.startswith("optimiser."):
            _, number, key = name.split(".", 2)
            state.setdefault(int(number), {})[key] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
