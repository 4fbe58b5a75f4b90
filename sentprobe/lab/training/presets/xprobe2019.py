"""The six encoders of X-Probe: BiLSTM, structured self-attention and CNN, each pooled in two ways."""

from __future__ import annotations

from sentprobe.core.arguments import Value
from sentprobe.lab.training.objective import TrainingPreset
from sentprobe.lab.training.presets._training import ADAM

PAPER = "Ravishankar, Øvrelid and Velldal (2019), Probing Multilingual Sentence Representations With X-Probe"
RNN: dict[str, Value] = {"hidden": 512, "layers": 2, "dropout": 0.1}
ATTENTION: dict[str, Value] = {**RNN, "heads": 60, "mlp": 150}
FILTERS: dict[str, Value] = {"kernels": "3-4-5", "channels": 800, "project": 1024}
ENCODERS = (
    ("rnn-max", "bilstm-max", RNN),
    ("rnn-last", "bilstm-last", RNN),
    ("attention-max", "self-attention-max", ATTENTION),
    ("attention-last", "self-attention-last", ATTENTION),
    ("cnn-max", "cnn-max", FILTERS),
    ("cnn-mean", "cnn-mean", FILTERS),
)
"""Name in the paper, architecture, settings (its table 2)."""

presets = tuple(
    TrainingPreset(
        name=f"xprobe2019/{name}",
        summary=f"{encoder} of X-Probe, 1024 dimensions",
        encoder=encoder,
        settings=settings,
        # when training stopped, and the size of the classifier, are not printed
        training={**ADAM, "batch": 10, "patience": 5, "consecutive": True, "epochs": 20},
        objective={"nli": {"head": 512}, "align": {"negatives": 0.25, "loss": "norm", "select": "accuracy"}},
        # copies stop "if the validation accuracy does not improve for two consecutive epochs"; their word vectors stay
        objective_training={"align": {"patience": 2}},
        paper=PAPER,
        size=1024,
        order=50 + number,
    )
    for number, (name, encoder, settings) in enumerate(ENCODERS)
)
