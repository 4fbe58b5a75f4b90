"""The Transformers of XLM: 12 layers for XNLI, 6 for translation, over learned words of the width of the layers."""

from __future__ import annotations

from sentprobe.lab.training.objective import TrainingPreset
from sentprobe.lab.training.presets._training import ADAM

PAPER = "Lample and Conneau (2019), Cross-lingual Language Model Pretraining"
# 64 streams of 256 tokens; 64 pairs of sentences have about the 4,000 tokens of the paper
STREAMS = {"codes": 80_000, "tokens": 64 * 256}
PAIRS = {"codes": 80_000, "tokens": 4000}

presets = tuple(
    TrainingPreset(
        name=f"xlm2019/{layers}-layers",
        summary=f"Transformer of XLM with {layers} layers, as for {use}",
        encoder="transformer",
        settings={"hidden": 1024, "layers": layers, "heads": 8, "pool": "first", "dropout": 0.1},
        # printed: "linear warm-up" and rates from 1e-4 to 5e-4, but not the number of steps
        training={**ADAM, "lr": 1e-4, "warmup": 4000},
        objective_training={"xnli": {"lr": 2e-5, "warmup": 0}},
        inputs={"width": 1024},
        objective={
            "clm": STREAMS,
            "mlm": STREAMS,
            "tlm": PAIRS,
            "mlm+tlm": STREAMS,
            "xnli": {},
            "mt": {"tokens": 2000},
        },
        paper=PAPER,
        size=1024,
        order=100 + number,
    )
    for number, (layers, use) in enumerate(((12, "XNLI"), (6, "translation")))
)
