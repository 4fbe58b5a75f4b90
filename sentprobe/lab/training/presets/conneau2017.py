"""The seven encoders of InferSent, at the sizes that transferred best (table 3.6 of Conneau's thesis)."""

from __future__ import annotations

from sentprobe.lab.training.objective import TrainingPreset
from sentprobe.lab.training.presets._training import INFERSENT

PAPER = (
    "Conneau, Kiela, Schwenk, Barrault and Bordes (2017), Supervised Learning of Universal Sentence Representations "
    "from Natural Language Inference Data"
)
ENCODERS = (
    ("lstm", 2048, {"hidden": 2048, "layers": 1}),
    ("gru", 4096, {"hidden": 4096, "layers": 1}),
    ("bigru-last", 4096, {"hidden": 2048, "layers": 1}),
    ("bilstm-mean", 4096, {"hidden": 2048, "layers": 1}),
    ("bilstm-max", 4096, {"hidden": 2048, "layers": 1}),
    # only the size 4096 is printed: four views of 1024-d states, four layers of 1024 maps
    ("inner-attention", 4096, {"hidden": 512, "layers": 1, "views": 4}),
    ("hconvnet", 4096, {"hidden": 1024, "layers": 4, "kernel": 3}),
)
"""Architecture, printed size, settings."""

presets = tuple(
    TrainingPreset(
        name=f"conneau2017/{encoder}",
        summary=f"{encoder} of InferSent, {size} dimensions",
        encoder=encoder,
        settings={**settings, "dropout": 0.0},
        training=INFERSENT,
        objective={"nli": {"head": 512}, "classify": {}},
        paper=PAPER,
        size=size,
        order=10 + number,
    )
    for number, (encoder, size, settings) in enumerate(ENCODERS)
)
