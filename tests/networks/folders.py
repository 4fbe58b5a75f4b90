"""Folders of tiny trained encoders, written without training."""

import json
from contextlib import contextmanager

import msgspec
import numpy as np

from sentprobe.core.json_files import write_json
from sentprobe.networks.config import NetworkConfig
from sentprobe.networks.folder import FORMAT, TrainedFolder

WORDS = (
    "the of and a to in was it for on with as he be at by had boats clouds gardens rivers towers river very high dog "
    "chased two cats she never drinks cold milk rain after window . <s> </s>"
).split()


@contextmanager
def one_thread():
    """Networks this small are slower with several threads, and much slower on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def write_folder(path, epochs=3, *, hidden=8, width=6, metric="accuracy", frozen=True, steps=(), **more):
    """A BiLSTM with max pooling at several checkpoints, whose weights change a little with each."""
    import torch

    config = NetworkConfig(
        architecture=more.pop("architecture", "bilstm-max"),
        settings={"hidden": hidden, "layers": 1, "dropout": 0.0} | more.pop("settings", {}),
        words=len(WORDS), width=width, frozen=frozen, **more,
    )  # fmt: skip
    path.mkdir(parents=True)
    selection = {"selection": metric, "maximise": metric != "perplexity"}
    write_json(path / "config.json", {"format": FORMAT, "network": msgspec.to_builtins(config), **selection})
    write_json(path / "vocabulary.json", WORDS)
    if frozen:
        table = np.random.default_rng(5).normal(size=(len(WORDS) + 1, width)).astype(np.float32)
        np.save(path / "vectors.npy", table)
    folder = TrainedFolder(path)
    network = folder.encoder(None)
    lines = []
    for epoch in range(epochs + 1):
        weights = {f"encoder.{name}": w + 0.3 * epoch * torch.sign(w) for name, w in network.state_dict().items()}
        name = f"epoch-{epoch:03d}"
        folder.write_checkpoint(name, {**weights, "head.weight": torch.ones(2, 2)}, epoch, 10 * epoch)
        if epoch:
            lines.append({"epoch": epoch, "step": 10 * epoch, "loss": 1.0})
            score = 40 / epoch if metric == "perplexity" else 50.0 + epoch
            lines.append({"epoch": epoch, "scores": {metric: score, "loss": 3.0}, "checkpoint": name})
    for step in steps:
        folder.write_checkpoint(f"step-{step:06d}", weights, epochs, step)
    (path / "training.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    write_json(path / "best.json", {"checkpoint": f"epoch-{max(1, epochs - 1):03d}"})
    return folder
