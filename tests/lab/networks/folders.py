"""Folders of tiny trained encoders, written without training."""

from contextlib import contextmanager

import msgspec
import numpy as np

from sentprobe.core.files import encode_json
from sentprobe.core.job_folder import JobFolder
from sentprobe.lab.networks.architecture import NetworkConfig
from sentprobe.lab.networks.folder import FORMAT, TrainedFolder

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


def sealed(path, **files):
    """Write files, by their names without suffix, as `sentprobe train` would have; returns the folder."""
    job = JobFolder(path, "sentprobe train")
    with job.writing():
        job.write({f"{name}.json": content if isinstance(content, bytes) else encode_json(content)
                   for name, content in files.items()})  # fmt: skip
    return job


def write_folder(path, epochs=3, *, hidden=8, width=6, metric="accuracy", frozen=True, steps=(), **more):
    """A BiLSTM with max pooling at several checkpoints, whose weights change a little with each."""
    config = NetworkConfig(
        architecture=more.pop("architecture", "bilstm-max"),
        settings={"hidden": hidden, "layers": 1, "dropout": 0.0} | more.pop("settings", {}),
        words=len(WORDS), width=width, frozen=frozen, **more,
    )  # fmt: skip
    selection = {"selection": metric, "maximise": metric != "perplexity"}
    folder = TrainedFolder(path)
    with folder.job.writing():
        about = {"format": FORMAT, "network": msgspec.to_builtins(config), **selection}
        folder.job.write({"config.json": encode_json(about), "vocabulary.json": encode_json(WORDS)})
        if frozen:
            table = np.random.default_rng(5).normal(size=(len(WORDS) + 1, width)).astype(np.float32)
            np.save(path / "given.npy", table)
            folder.job.write({"vectors.npy": path / "given.npy"})
            (path / "given.npy").unlink()
        _write_checkpoints(folder, epochs, steps, metric)
    return folder


def _write_checkpoints(folder, epochs, steps, metric):
    import torch

    network = folder.encoder(None)
    for epoch in range(epochs + 1):
        weights = {f"encoder.{name}": w + 0.3 * epoch * torch.sign(w) for name, w in network.state_dict().items()}
        name = f"epoch-{epoch:03d}"
        folder.write_checkpoint(name, {**weights, "head.weight": torch.ones(2, 2)}, epoch, 10 * epoch)
        if epoch:
            facts = {"of": 10, "steps": 10, "lr": 0.1, "words_per_second": 100.0, "loss": 1.0}
            folder.job.append("training.jsonl", {"epoch": epoch, "step": 10 * epoch, **facts})
            score = 40 / epoch if metric == "perplexity" else 50.0 + epoch
            scores = {"scores": {metric: score, "loss": 3.0}, "checkpoint": name}
            folder.job.append("training.jsonl", {"epoch": epoch, "step": 10 * epoch, **facts, **scores})
    for step in steps:
        folder.write_checkpoint(f"step-{step:06d}", weights, epochs, step)
    best = {"checkpoint": f"epoch-{max(1, epochs - 1):03d}"}
    folder.job.write({"best.json": encode_json(best)})
