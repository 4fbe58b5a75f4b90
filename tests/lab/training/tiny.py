"""Small data and trainings, from the built-in grammar."""

import numpy as np
from safetensors.numpy import load_file

from sentprobe.corpus import Corpus
from sentprobe.lab.training.request import make_request
from sentprobe.lab.training.train import train

SIZES = {"hidden": 8}


def sentences(n, seed=0):
    """Texts of the built-in grammar."""
    return [sentence.text for sentence in Corpus.synthetic(n, seed=seed)]


def write_pairs(path, n=60, seed=0):
    """Pairs whose label can be learned: the second sentence is the first, another one, or the first without an end."""
    texts = sentences(2 * n, seed)
    lines = []
    for i in range(n):
        kind = ("entailment", "neutral", "contradiction")[i % 3]
        first = texts[i]
        second = {"entailment": first, "neutral": texts[n + i], "contradiction": "not " + first}[kind]
        lines.append(f"{first}\t{second}\t{kind}\n")
    path.write_text("".join(lines))
    return str(path)


def request(tmp_path, objective="nli", encoder="bilstm-max", *, settings=None, options=None, **more):
    """A request that trains in a second."""
    if "train" not in more:
        more |= {"train": (write_pairs(tmp_path / "train.tsv"),), "dev": (write_pairs(tmp_path / "dev.tsv", 30, 1),)}
    options = {"optimiser": "adam", "batch": 16, "epochs": 2, "patience": 0, **(options or {})}
    settings = {**SIZES, "head": 16, **(settings or {})}
    return make_request(objective, encoder, settings=settings, options=options, width=12, **more)


def weights(folder, checkpoint):
    """The weights of a checkpoint."""
    return load_file(folder / checkpoint / "model.safetensors")


def same_weights(one, two, checkpoints=("epoch-001", "epoch-002")):
    """Whether all weights of two folders are equal, bit for bit."""
    for name in checkpoints:
        a, b = weights(one, name), weights(two, name)
        if a.keys() != b.keys() or not all(np.array_equal(a[key], b[key]) for key in a):
            return False
    return True


__all__ = ["request", "same_weights", "sentences", "train", "weights", "write_pairs"]
