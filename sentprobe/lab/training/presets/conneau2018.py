"""The three encoders of "What you can cram into a single vector".

"2 layers", "512 hidden units", "about 4M parameters" and "input embedding 1024" of the BiLSTMs do not agree. Presets
have 512 units per direction, and 256 if their names end in ``-4m``: so two layers have about 4M parameters.
"""

from __future__ import annotations

from sentprobe.core.arguments import Value
from sentprobe.lab.training.objective import TrainingPreset
from sentprobe.lab.training.presets._training import ADAM, MOMENTUM

PAPER = (
    "Conneau, Kruszewski, Lample, Barrault and Baroni (2018), What you can cram into a single $&!#* vector: Probing "
    "sentence embeddings for linguistic properties"
)
CODES = 40_000
"""Merges of the byte-pair encoding of targets."""


def _objectives(embedding: int) -> dict[str, dict[str, Value]]:
    """The classifier of NLI is an MLP with 100 hidden units; target tokens have the tuned "input embedding size"."""
    decoder: dict[str, Value] = {"decoder": 512, "decoder_layers": 2, "target_width": embedding}
    return {
        "nli": {"head": 100, "head_layers": 1, "nonlinear": True},
        **{name: {**decoder, "codes": CODES} for name in ("translate", "autoencode", "next")},
        "tree": decoder,
    }


def _bilstm(pool: str, *, small: bool) -> TrainingPreset:
    units = 256 if small else 512
    return TrainingPreset(
        name=f"conneau2018/bilstm-{pool}{'-4m' if small else ''}",
        summary=f"bilstm-{pool} with 2 layers of {units} units per direction"
        + (", inputs projected to 1024 dimensions" if small else ""),
        encoder=f"bilstm-{pool}",
        settings={"hidden": units, "layers": 2},
        training=ADAM,
        objective=_objectives(1024),
        inputs={"projection": 1024} if small else {},
        paper=PAPER,
        parameters=4_000_000,
        order=30 + 2 * small + (pool == "max"),
    )


presets = (
    *(_bilstm(pool, small=small) for small in (False, True) for pool in ("last", "max")),
    TrainingPreset(
        name="conneau2018/gated-convnet",
        summary="gated-convnet with 8 layers of 512 units",
        encoder="gated-convnet",
        settings={"hidden": 512, "layers": 8, "kernel": 3},
        training=MOMENTUM,
        objective=_objectives(512),
        paper=PAPER,
        parameters=12_000_000,
        order=34,
    ),
)
