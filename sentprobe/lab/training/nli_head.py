"""The classifier of an encoder that was trained with ``nli``, to be applied to vectors of other encoders."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from sentprobe.encoders import Spec
from sentprobe.errors import UsageError
from sentprobe.lab.networks.folder import open_folder
from sentprobe.lab.schemes.trained import checkpoint_of
from sentprobe.lab.training.objectives._classifier import build_head
from sentprobe.lab.training.objectives.nli import LABELS


def load_nli_head(name: str, why: str) -> tuple[nn.Module, int]:
    """The classifier of ``trained:FOLDER``, on ``features`` of two vectors, and the size of these vectors.

    It is that of the checkpoint that the name stands for. ``why`` begins the message if there is none.
    """
    spec = Spec.parse(name)
    folder = open_folder(Path(spec.path).expanduser()) if spec.scheme == "trained" else None
    request = folder.config.get("request", {}) if folder else {}
    if folder is None or request.get("objective") != "nli":
        raise UsageError(f"{why} needs an encoder that was trained with nli, and {name} was not.")
    if options := sorted({"layer", "pool", "random"} & dict(spec.options).keys()):
        raise UsageError(f"{why} needs the vectors that the classifier was trained on: leave {options[0]} out.")
    size = int(folder.config["size"])
    head = build_head(4 * size, request["objective_settings"], len(LABELS))
    weights = folder.weights(checkpoint_of(spec, folder))
    head.load_state_dict(
        {key.removeprefix("head."): value for key, value in weights.items() if key.startswith("head.")}
    )
    return head.eval(), size
