"""The two sides of the benchmark of training, each as a job of a process of its own."""

from __future__ import annotations

import json
import resource
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common import infersent

WARM_UP = 5
"""Batches that do not count."""


@dataclass
class Meter:
    """Words and seconds of each training step, of either side, seen through hooks of torch."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    words: list[int] = field(default_factory=list)

    def before(self, module: Any, _args: Any) -> None:
        """Note when a step begins."""
        if self.counts(module):
            self.cpu.append(time.process_time())
            self.wall.append(time.perf_counter())

    def after(self, module: Any, args: Any, output: Any) -> None:
        """Note the words of a step; each sentence has <s> and </s> besides."""
        if self.counts(module):
            if type(module).__name__ == "NLINet":
                self.words.append(sum(int(sum(lengths)) - 2 * len(lengths) for _, lengths in args))
            else:
                self.words.append(output.words - 4 * output.units)

    @staticmethod
    def counts(module: Any) -> bool:
        """Whether it is the whole model, at training."""
        return module.training and hasattr(module, "encoder")

    def summary(self) -> dict[str, float]:
        """From the beginning of the first step after the warm-up to the beginning of the last."""
        first = min(WARM_UP, len(self.cpu) - 2)
        cpu, wall = (clock[-1] - clock[first] for clock in (self.cpu, self.wall))
        return {"words": sum(self.words[first:-1]), "cpu": cpu, "wall": wall}


def train_here(job: dict[str, Any]) -> dict[str, Any]:
    """Train, and say what it took."""
    from torch.nn.modules import module

    meter = Meter()
    module.register_module_forward_pre_hook(meter.before)
    module.register_module_forward_hook(meter.after)
    data, hidden, batch, seed = Path(job["data"]), str(job["hidden"]), job["batch"], job["seed"]
    if job["side"] == "infersent":
        words = [
            "--nlipath", str(data), "--word_emb_path", job["vectors"], "--word_emb_dim", str(job["width"]),
            "--encoder_type", "InferSent", "--enc_lstm_dim", hidden, "--batch_size", str(batch), "--seed", str(seed),
            "--outputdir", job["out"],
        ]  # fmt: skip
        dev = infersent.train(Path(job["code"]), words, job["epochs"])
    else:
        from sentprobe.lab.training.request import make_request
        from sentprobe.lab.training.train import train

        dev = []
        request = make_request(
            "nli", "bilstm-max", settings={"hidden": hidden}, train=(str(data / "train.tsv"),),
            options={"optimiser": "sgd", "epochs": job["epochs"], "batch": batch, "seed": seed},
            dev=(str(data / "dev.tsv"),), vectors=job["vectors"], tokenise="space", case="as-is",
        )  # fmt: skip
        train(request, Path(job["out"]), lambda report: dev.extend(report.scores.values()))
    return {**(meter.summary() if job["epochs"] else {}), "dev": dev}


def encode_here(job: dict[str, Any]) -> dict[str, Any]:
    """Encode texts, and say what it took."""
    texts = Path(job["texts"]).read_text("utf-8").splitlines()
    if job["side"] == "infersent":
        width, hidden = job["width"], job["hidden"]
        model = infersent.build_encoder(Path(job["code"]), Path(job["vectors"]), width, hidden, texts)
        known, encode = model.word_vec, lambda some: model.encode(some, bsize=job["batch"], tokenize=False)
    else:
        from sentprobe.encoders import load
        from sentprobe.encoders.embed import embed

        encoder: Any = load(f"trained:{job['out']}?epoch=0")
        known, encode = encoder.vocabulary.index, lambda some: embed(encoder, some)
    encode(texts[: job["batch"]])  # whatever is done once only
    words = sum(word in known for text in texts for word in text.split())
    start, began = time.process_time(), time.perf_counter()
    encode(texts)
    return {"words": words, "cpu": time.process_time() - start, "wall": time.perf_counter() - began}


def child(job: dict[str, Any]) -> None:
    """Do one job on one thread, and print what it took as JSON."""
    import torch

    torch.set_num_threads(1)
    found = (encode_here if job["work"] == "encode" else train_here)(job)
    used = resource.getrusage(resource.RUSAGE_SELF)
    found |= {"memory": 1024 * used.ru_maxrss, "process": used.ru_utime + used.ru_stime}
    print(f"\n{json.dumps(found)}", flush=True)
