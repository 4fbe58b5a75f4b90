"""The complete state of an unfinished training in one file, so that it goes on as if it had never stopped.

Weights, the optimiser's state, the place in the data, and the schedule. The order of the data and all random numbers
are functions of the seed and that place.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from sentprobe.core.files import write_atomically
from sentprobe.core.json_files import read_json
from sentprobe.errors import DataError

FILE, CONFIG = "resume.safetensors", "config.json"


def save_state(folder: Path, model: nn.Module, optimiser: torch.optim.Optimizer | None, facts: dict[str, Any]) -> None:
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
    about = json.dumps({**facts, "optimiser": plain, "training": _digest(folder)})
    content = save({k: v.detach().cpu().clone().contiguous() for k, v in tensors.items()}, {"about": about})
    write_atomically(folder / FILE, content)


def load_facts(folder: Path) -> dict[str, Any] | None:
    """The numbers and texts of an unfinished training, or None if there is none."""
    file = folder / FILE
    if not file.is_file():
        return None
    try:
        with safe_open(file, "pt") as opened:
            found: dict[str, Any] = json.loads((opened.metadata() or {})["about"])
    except (OSError, SafetensorError, ValueError, KeyError) as e:
        raise DataError(
            f"{file} is damaged: {e}. Delete it, and training begins again; finished checkpoints are kept meanwhile."
        ) from None
    if found.get("training") != _digest(folder):
        raise DataError(f"{file} is of another training than {folder / CONFIG}. Delete it, and training begins again.")
    return found


def _digest(folder: Path) -> str:
    """What cannot change in the course of a training: objective, network, data, settings, seed."""
    config = read_json(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    request = dict(config.get("request", {}))
    request["options"] = request.get("options", {}).get("seed")
    facts = [request, config.get("network"), config.get("data")]
    return hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=16).hexdigest()


def load_state(folder: Path, model: nn.Module, optimiser: torch.optim.Optimizer | None) -> None:
    """Restore weights and optimiser."""
    file = folder / FILE
    facts = load_facts(folder) or {}
    with safe_open(file, "pt") as opened:
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - it is no dictionary
    model.load_state_dict({n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
    if optimiser is None:
        return
    state: dict[int, dict[str, Any]] = {int(n): dict(values) for n, values in facts["optimiser"].items()}
    for name, tensor in tensors.items():
        if name.startswith("optimiser."):
            _, number, key = name.split(".", 2)
            state.setdefault(int(number), {})[key] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
