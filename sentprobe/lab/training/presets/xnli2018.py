"""The encoders of XNLI: X-CBOW and X-BiLSTM, in English (``nli``), and their copies in other languages (``align``)."""

from __future__ import annotations

from sentprobe.core.arguments import Value
from sentprobe.lab.training.objective import TrainingPreset
from sentprobe.lab.training.presets._training import ADAM

PAPER = (
    "Conneau, Rinott, Lample, Williams, Bowman, Schwenk and Stoyanov (2018), XNLI: Evaluating Cross-lingual Sentence "
    "Representations"
)
ENCODERS: tuple[tuple[str, str, dict[str, Value]], ...] = (
    ("x-cbow", "bow-mean", {}),
    ("x-bilstm-last", "bilstm-last", {"hidden": 512, "layers": 1}),
    ("x-bilstm-max", "bilstm-max", {"hidden": 512, "layers": 1}),
)
"""Name in the paper, architecture, settings. "512 hidden units" are taken as per direction, of one layer."""

presets = tuple(
    TrainingPreset(
        name=f"xnli2018/{name}",
        summary=f"{encoder} of XNLI",
        encoder=encoder,
        settings=settings,
        training=ADAM,
        objective={
            "nli": {"head": 128, "head_layers": 1, "nonlinear": True, "head_dropout": 0.1},
            "align": {"negatives": 0.25, "loss": "norm", "select": "loss" if encoder == "bow-mean" else "accuracy"},
        },
        # not printed; with Adam's 0.001, a bag of words learns little in 20 epochs, from given vectors or without
        objective_training={"align": {"lr": 0.01}} if encoder == "bow-mean" else {},
        fine_tune=("align",),
        paper=PAPER,
        order=90 + number,
    )
    for number, (name, encoder, settings) in enumerate(ENCODERS)
)
