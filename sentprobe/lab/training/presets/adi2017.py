"""The auto-encoder (ED) and the mean of skip-gram vectors (CBOW) of Adi et al., at five sizes, which words share."""

from __future__ import annotations

from sentprobe.lab.training.objective import TrainingPreset
from sentprobe.lab.training.presets._training import ADAGRAD

PAPER = (
    "Adi, Kermany, Belinkov, Lavi and Goldberg (2017), Fine-grained Analysis of Sentence Embeddings Using Auxiliary "
    "Prediction Tasks"
)
SIZES = (100, 300, 500, 750, 1000)
WORDS = 50_000
"""The vocabulary."""
LONGEST = 70
"""Words of a sentence; the paper leaves out those of fewer than 5, too."""

presets = (
    *(
        TrainingPreset(
            name=f"adi2017/ed-{size}",
            summary=f"LSTM auto-encoder that reads backwards, {size} dimensions",
            encoder="lstm-reversed",
            settings={"hidden": size, "layers": 1, "dropout": 0.1},
            # the norm at which gradients were clipped is not printed
            training={**ADAGRAD, "batch": 32, "clip": 5.0, "patience": 5, "consecutive": True},
            objective={"reconstruct": {}},
            inputs={"width": size, "words": WORDS, "max_length": LONGEST},
            paper=PAPER,
            size=size,
            order=70 + number,
        )
        for number, size in enumerate(SIZES)
    ),
    *(
        TrainingPreset(
            name=f"adi2017/cbow-{size}",
            summary=f"mean of skip-gram vectors, {size} dimensions",
            encoder="bow-mean",
            objective={"words": {}},
            inputs={"width": size, "words": WORDS, "max_length": LONGEST},
            paper=PAPER,
            size=size,
            order=80 + number,
        )
        for number, size in enumerate(SIZES)
    ),
)
