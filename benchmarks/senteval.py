"""How much faster the drop-in is than SentEval itself, on the same vectors and the same CPU, task by task.

    python benchmarks/senteval.py SENTEVAL DATA [TASK…] [--kfold 5] [--dimensions 256]

SENTEVAL is a checkout, whose CUDA calls are taken out at run time; DATA its data folder. Each side runs in a process of
its own, single-threaded, with the built-in encoder, blown up by a fixed random projection for other dimensions:
SentEval, the drop-in, and the drop-in with ``fast``. Prints CPU seconds without encoding and imports, SentEval's by
ours, the peak memory of the drop-in divided by SentEval's, scores, their largest difference, and whether the
penalties that were chosen are the same.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

SHORT = "{senteval} {senteval}/data MR --kfold 2"

TASKS = (
    "MR", "CR", "TREC", "MRPC", "SST2", "SST5", "SICKEntailment", "SICKRelatedness", "STSBenchmark", "STS14",
    "Tense", "SubjNumber", "BigramShift", "OddManOut",
)  # fmt: skip
SIDES = ("upstream", "exact", "fast")
CHOICE = re.compile(r"[Bb]est param found .*reg = (\S+)\s+with")


def main() -> None:
    """Run all sides on every task."""
    parser = argparse.ArgumentParser()
    parser.add_argument("senteval")
    parser.add_argument("data")
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--kfold", type=int, default=5)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--side", default="")
    given = parser.parse_args()
    if given.side:
        print(json.dumps(side(given)))
        return
    print(f"{'task':16} {'upstream s':>10} {'exact':>7} {'fast':>7} {'memory':>6}  dev / test of each; differences; L2")
    speedups, differences = [], []
    for task in given.tasks:
        words = [given.senteval, given.data, task, f"--kfold={given.kfold}", f"--dimensions={given.dimensions}"]
        found = {name: run([*words, f"--side={name}"]) for name in SIDES}
        one, two, three = found.values()
        scores = "  ".join(f"{each['dev']} / {each['test']}" for each in found.values())
        apart = [max(abs(one["all"][k] - each["all"][k]) for k in one["all"]) for each in (two, three)]
        speedups.append(one["seconds"] / two["seconds"])
        differences.append(apart[0])
        same = "same L2" if one["chosen"] == two["chosen"] else f"L2 {one['chosen']} and {two['chosen']}"
        print(
            f"{task:16} {one['seconds']:10.1f} {one['seconds'] / two['seconds']:6.1f}x "
            f"{one['seconds'] / three['seconds']:6.1f}x {two['megabytes'] / one['megabytes']:6.2f}  "
            f"{scores}; {apart[0]:.2g}, {apart[1]:.2g}; {same if one['chosen'] else 'no L2'}",
            flush=True,
        )
    print(f"= senteval/exact-speedup {min(speedups):.2f}")
    print(f"= senteval/difference {max(differences):.4f}")


def run(words: list[str]) -> dict[str, Any]:
    """One side, in a process with one thread."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, __file__, *words], env={**os.environ, **one}, stdout=subprocess.PIPE, check=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def side(given: argparse.Namespace) -> dict[str, Any]:
    """CPU seconds, peak memory and scores of one task."""
    import numpy as np

    from sentprobe.encoders import load

    if given.side == "upstream":
        senteval = upstream(given.senteval)
    else:
        import sentprobe.senteval as senteval
    encoder, spent = load("static:"), [0.0]
    grow = np.random.default_rng(0).standard_normal((256, given.dimensions)).astype(np.float32) / 16

    def batcher(params: object, batch: list[list[str]]) -> np.ndarray:
        started = time.process_time()
        vectors = np.asarray(encoder([" ".join(map(str, words)) or "." for words in batch]), np.float32)
        made = vectors if given.dimensions == 256 else np.tanh(vectors @ grow)
        spent[0] += time.process_time() - started
        return made

    classifier = {"nhid": 0, "optim": "adam", "batch_size": 64, "tenacity": 5, "epoch_size": 4}
    if given.side == "fast":
        classifier["fast"] = True
    params = {"task_path": given.data, "usepytorch": True, "kfold": given.kfold, "classifier": classifier}
    if given.side != "upstream":  # compile before anything is timed; SentEval imports these at its top
        import scipy.stats  # noqa: F401

        from sentprobe.probes import Features, fit, named

        tiny = Features.of(np.eye(8, dtype=np.float32))
        fit(named("senteval"), tiny, np.arange(8) % 2, tiny, np.arange(8) % 2, 2)
        params["sts_mode"] = "supervised"  # SimCSE's cosines, too, would be more work than SentEval does
    chosen: list[float] = []
    logging.getLogger().addHandler(Listener(chosen))
    logging.getLogger().setLevel(logging.INFO)
    started = time.process_time()
    found = senteval.engine.SE(params, batcher, lambda params, samples: None).eval(given.tasks[0])
    seconds = time.process_time() - started - spent[0]
    every = dict(numbers(found))
    return {
        "seconds": seconds,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        "dev": every.get("devacc", every.get("devpearson")),
        "test": every.get("acc", every.get("pearson", every.get("all.spearman.mean"))),
        "all": every,
        "chosen": chosen,
    }


class Listener(logging.Handler):
    """Notes the penalties that the log speaks of."""

    def __init__(self, chosen: list[float]) -> None:
        super().__init__()
        self.chosen = chosen

    def emit(self, record: logging.LogRecord) -> None:
        """Note one."""
        if said := CHOICE.search(record.getMessage()):
            self.chosen.append(float(said[1]))


def numbers(found: dict[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """The scores in a result, by path."""
    for name, value in found.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{before}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield before + name, float(value)
        elif name in ("pearson", "spearman"):  # scipy's result: the correlation and its p-value
            yield before + name, float(value[0])


def upstream(path: str) -> object:
    """SentEval as it is, but for CUDA and what Python and torch no longer have."""
    import inspect

    import torch

    sys.path.insert(0, path)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.Tensor.cuda = lambda self, *_, **__: self
    torch.nn.Module.cuda = lambda self, *_, **__: self
    torch.cuda.manual_seed = lambda seed: None
    torch.cuda.is_available = lambda: True  # or it refuses to learn relatedness
    inspect.getargspec = lambda f: inspect.getfullargspec(f)[:4]
    import numpy as np
    import senteval
    from senteval import sts
    from senteval.tools import validation

    class Older:
        """numpy as it was: lists of unequal length make an array of lists."""

        __getattr__ = staticmethod(lambda name: getattr(np, name))
        array = staticmethod(
            lambda rows: np.fromiter(rows, object, len(rows)) if isinstance(rows[0], list) else np.array(rows)
        )

    sts.np = Older()

    made = validation.MLP
    validation.MLP = lambda *given, **more: made(*given, **{**more, "cudaEfficient": True})
    return senteval


if __name__ == "__main__":
    main()
