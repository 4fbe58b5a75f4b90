"""The two sides of the benchmark of alignment, each as a job of a process of its own.

MUSE's code runs as it is. What it needs of older versions is lent to it: ``inspect.getargspec``. Its ``volatile`` no
longer does anything in torch, so that its discriminator steps also record the (small) graph of the mapping.
"""

from __future__ import annotations

import inspect
import json
import logging
import resource
import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

AT = (1, 5, 10)
MUSE_PARAMS = {
    "cuda": False, "dico_method": "csls_knn_10", "dico_build": "S2T&T2S", "dico_threshold": 0, "dico_max_rank": 15000,
    "dico_min_size": 0, "dico_max_size": 0, "batch_size": 32, "dis_most_frequent": 0, "dis_smooth": 0.1,
    "dis_lambda": 1, "dis_clip_weights": 0, "dis_layers": 2, "dis_hid_dim": 2048, "dis_dropout": 0.0,
    "dis_input_dropout": 0.1, "map_beta": 0.001, "src_lang": "en", "tgt_lang": "fr", "max_vocab": -1,
}  # fmt: skip
"""The defaults of its unsupervised.py, but for dico_build, which is the paper's, as ours."""
OUR_SETTINGS = {
    "hidden": 2048, "layers": 2, "input_dropout": 0.1, "dropout": 0.0, "smoothing": 0.1, "most_frequent": 0,
    "scale": 0.0, "batch": 32, "dis_lambda": 1.0, "clip": 0.0, "beta": 0.001,
    "lr": 0.1,
}  # fmt: skip
"""The same for ours."""


def muse(job: dict[str, Any]) -> dict[str, Any]:
    """Do a job with MUSE's code."""
    inspect.getargspec = inspect.getfullargspec  # type: ignore[attr-defined]
    warnings.simplefilter("ignore")
    sys.path.insert(0, job["muse"])
    logging.disable(logging.CRITICAL)
    import torch
    from src.dictionary import Dictionary
    from src.evaluation import Evaluator
    from src.models import Discriminator
    from src.trainer import Trainer
    from src.utils import load_embeddings
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)
    params = Namespace(**MUSE_PARAMS, emb_dim=job["width"], dico_eval=job.get("test"))
    params.src_emb, params.tgt_emb = job["source"], job["target"]
    if job["source"].endswith(".npy"):
        rows = [torch.from_numpy(np.load(job[side])) for side in ("source", "target")]
        words = [
            Dictionary({i: w for w, i in known.items()}, known, lang)
            for known, lang in zip(map(names, rows), ("en", "fr"), strict=True)
        ]
    else:
        words, rows = zip(*(load_embeddings(params, source=side) for side in (True, False)), strict=True)
    params.src_dico, params.tgt_dico = words
    tables = [nn.Embedding.from_pretrained(each, sparse=True) for each in rows]
    mapping, discriminator = nn.Linear(job["width"], job["width"], bias=False), None
    mapping.weight.data.copy_(torch.eye(job["width"]))
    if job["work"] == "epoch":
        params.map_optimizer = params.dis_optimizer = "sgd,lr=0.1"
        discriminator = Discriminator(params)
    trainer = Trainer(*tables, mapping, discriminator, params)
    evaluator, log = Evaluator(trainer), {}  # type: ignore[var-annotated]

    def evaluate() -> dict[str, Any]:
        evaluator.word_translation(log)
        return {
            f"{m}@{k}": log[f"precision_at_{k}-{n}"] for m, n in (("nn", "nn"), ("csls", "csls_knn_10")) for k in AT
        }

    def refine() -> dict[str, Any]:
        trainer.build_dictionary()
        trainer.procrustes()
        evaluator.dist_mean_cosine(log)
        return {"pairs": len(trainer.dico), "criterion": log["mean_cosine-csls_knn_10-S2T-10000"]}

    def epoch() -> dict[str, Any]:
        stats: dict[str, list[float]] = {"DIS_COSTS": []}
        for _ in range(job["iterations"]):
            for _ in range(job["dis_steps"]):
                trainer.dis_step(stats)
            trainer.mapping_step(stats)
        return {"loss": float(np.mean(stats["DIS_COSTS"]))}

    if "train" in job:
        trainer.load_training_dico(job["train"])
        trainer.procrustes()
    return timed({"evaluate": evaluate, "refine": refine, "epoch": epoch}[job["work"]])


def names(rows: Any) -> dict[str, int]:
    """Word → rank, for the words of planted spaces: w0, w1, …"""
    return {f"w{i}": i for i in range(len(rows))}


def sentprobe(job: dict[str, Any]) -> dict[str, Any]:
    """Do the same job with ours."""
    from sentprobe.lab.alignment.dictionary import match, read_dictionary
    from sentprobe.lab.alignment.map_scores import MUSE_TARGETS, criterion, mapped
    from sentprobe.lab.alignment.method import Matrices
    from sentprobe.lab.alignment.methods.procrustes import orthogonal
    from sentprobe.lab.alignment.refine import refine
    from sentprobe.lab.alignment.retrieval import CslsIndex, nearest
    from sentprobe.lab.alignment.space import Space, read_space

    if job["source"].endswith(".npy"):
        arrays = [np.load(job[side]) for side in ("source", "target")]
        one, two = (Space(job["source"], [f"w{i}" for i in range(len(each))], each, "") for each in arrays)
    else:
        one, two = (read_space(job[side]) for side in ("source", "target"))
    matrices = Matrices(np.eye(job["width"], dtype=np.float32))
    if "train" in job:
        source, target = match(read_dictionary(job["train"]), one, two).rows.T
        matrices = Matrices(orthogonal(one.vectors[source], two.vectors[target]))

    def evaluate() -> dict[str, Any]:
        pairs = match(read_dictionary(job["test"]), one, two).rows
        words, group = np.unique(pairs[:, 0], return_inverse=True)
        source, target = mapped(one.vectors, matrices.source), mapped(two.vectors, None)
        queries = source[words]
        found = {"nn": nearest(queries, target, 10), "csls": CslsIndex(source, target).nearest(queries, 10)}
        scores = {}
        for name, each in found.items():
            right = each.rows[group] == pairs[:, 1:]
            for k in AT:
                hit = np.bincount(group, right[:, :k].any(1)) > 0
                scores[f"{name}@{k}"] = float(100 * hit.mean())
        return scores

    def one_round() -> dict[str, Any]:
        (found,) = refine(one.vectors, two.vectors, matrices, 1)
        rounds.append(found.matrices)
        return {"pairs": len(found.pairs), "criterion": found.criterion}

    def epoch() -> dict[str, Any]:
        from sentprobe.lab.alignment.methods.adversarial import (
            SETTINGS,
            AdversarialOptions,
            discriminator_rows,
            start,
            train_epoch,
        )

        values: dict[str, Any] = {name: setting.default for name, setting in SETTINGS.items()} | OUR_SETTINGS
        values |= {"epoch_size": job["iterations"] * values["batch"], "dis_steps": job["dis_steps"]}
        values["updates"] = job["updates"]
        options = AdversarialOptions(**values)
        rows = [discriminator_rows(space.vectors, options) for space in (one, two)]
        state = start(job["width"], options, np.random.default_rng(0))
        return {"loss": train_epoch(*rows, state, options, np.random.default_rng(1))["discriminator_loss"]}

    rounds: list[Matrices] = []
    found = timed({"evaluate": evaluate, "refine": one_round, "epoch": epoch}[job["work"]])
    if rounds:  # as MUSE defines it, beyond what is timed
        found["criterion"] = criterion(one.vectors, two.vectors, rounds[0], targets=MUSE_TARGETS)
    return found


def timed(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What it returns, and the CPU seconds it took."""
    start = time.process_time()
    found = work()
    return {**found, "cpu": time.process_time() - start}


def child(job: dict[str, Any]) -> None:
    """Do one job, and print what came out as JSON."""
    found = {"muse": muse, "sentprobe": sentprobe}[job["side"]](job)
    found["memory"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\n{json.dumps(found)}", flush=True)


def write_planted(folder: Path, count: int, width: int, noise: float = 1.2, seed: int = 0) -> dict[str, str]:
    """A space whose k-th principal deviation is k ** -0.5; a turned, noisy and shuffled copy of it; two dictionaries.

    Neighbouring ranks change places only within a tenth of the words, so that frequent words translate to such.
    """
    from sentprobe.lab.alignment.retrieval import BLOCK

    rng = np.random.default_rng(seed)
    deviations = (np.arange(1, width + 1) ** -0.5).astype(np.float32)
    turn = np.linalg.qr(rng.standard_normal((width, width)))[0].astype(np.float32)
    files = {side: str(folder / f"{side}-{count}.npy") for side in ("source", "target")}
    source, target = (np.lib.format.open_memmap(name, "w+", np.float32, (count, width)) for name in files.values())
    place = np.argsort(np.arange(count) + rng.uniform(0, count / 10, count)).argsort()
    for at in range(0, count, BLOCK):
        here = slice(at, min(at + BLOCK, count))
        rows = rng.standard_normal((here.stop - at, width), np.float32) * deviations
        source[here] = rows
        rows += noise * rng.standard_normal(rows.shape, np.float32) * deviations
        target[place[here]] = rows @ turn
    first = min(5000, count // 10)
    for name, start, end in (("train", 0, first), ("test", first, first + min(1500, first))):
        files[name] = str(folder / f"{name}-{count}.txt")
        Path(files[name]).write_text("".join(f"w{i} w{place[i]}\n" for i in range(start, end)), "utf-8")
    return files
