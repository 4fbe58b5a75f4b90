"""How much faster the drop-in is than SentEval itself, on the same vectors and the same CPU, task by task.

    python benchmarks/senteval.py SENTEVAL DATA [TASK…] [--kfold 5] [--dimensions 256] [--fast]

SENTEVAL is a checkout, whose CUDA calls are taken out at run time; DATA its data folder. Each side runs in a process of
its own, single-threaded, with the built-in encoder, blown up by a fixed random projection for other dimensions. Prints
CPU seconds without encoding, their ratio, peak memory, and dev and test scores of both.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

TASKS = ("CR", "TREC", "SST5", "MRPC", "SICKEntailment")


def main() -> None:
    """Run both sides on every task."""
    parser = argparse.ArgumentParser()
    parser.add_argument("senteval")
    parser.add_argument("data")
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--kfold", type=int, default=5)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--side", default="")
    given = parser.parse_args()
    if given.side:
        print(json.dumps(side(given)))
        return
    head = f"{'task':16} {'upstream s':>10} {'sonde s':>8} {'ratio':>7} {'MB of both':>11}"
    print(f"{head}  upstream dev / test    sonde dev / test")
    for task in given.tasks:
        words = [given.senteval, given.data, task, f"--kfold={given.kfold}", f"--dimensions={given.dimensions}"]
        one, two = (
            run([*words, f"--side={name}", *(["--fast"] if given.fast else [])]) for name in ("upstream", "sonde")
        )
        print(
            f"{task:16} {one['seconds']:10.1f} {two['seconds']:8.2f} {one['seconds'] / two['seconds']:6.1f}x "
            f"{one['megabytes']:5.0f}/{two['megabytes']:5.0f}  {one['dev']:8} / {one['test']:8}  "
            f"{two['dev']:8} / {two['test']:8}",
            flush=True,
        )


def run(words: list[str]) -> dict[str, float]:
    """One side, in a process with one thread."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, __file__, *words], env={**os.environ, **one}, stdout=subprocess.PIPE, check=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def side(given: argparse.Namespace) -> dict[str, float]:
    """CPU seconds, peak memory and scores of one task."""
    import numpy as np

    from sonde.encoders import load

    if given.side == "upstream":
        senteval = upstream(given.senteval)
    else:
        import sonde.senteval as senteval
    encoder, spent = load("static:"), [0.0]
    grow = np.random.default_rng(0).standard_normal((256, given.dimensions)).astype(np.float32) / 16

    def batcher(params: object, batch: list[list[str]]) -> np.ndarray:
        started = time.process_time()
        vectors = np.asarray(encoder([" ".join(map(str, words)) or "." for words in batch]), np.float32)
        made = vectors if given.dimensions == 256 else np.tanh(vectors @ grow)
        spent[0] += time.process_time() - started
        return made

    classifier = {"nhid": 0, "optim": "adam", "batch_size": 64, "tenacity": 5, "epoch_size": 4}
    if given.fast and given.side == "sonde":
        classifier["fast"] = True
    params = {"task_path": given.data, "usepytorch": True, "kfold": given.kfold, "classifier": classifier}
    if given.side == "sonde":  # compile before anything is timed
        from sonde.probes import PROBES, Features, fit

        tiny = Features.of(np.eye(8, dtype=np.float32))
        fit(PROBES["senteval"], tiny, np.arange(8) % 2, tiny, np.arange(8) % 2, 2)
    started = time.process_time()
    found = senteval.engine.SE(params, batcher, lambda params, samples: None).eval(given.tasks[0])
    seconds = time.process_time() - started - spent[0]
    dev = found.get("devacc", found.get("devpearson"))
    test = found.get("acc", found.get("pearson"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {"seconds": seconds, "megabytes": peak, "dev": float(dev), "test": float(test)}


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
    inspect.getargspec = lambda f: inspect.getfullargspec(f)[:4]
    import senteval
    from senteval.tools import validation

    made = validation.MLP
    validation.MLP = lambda *given, **more: made(*given, **{**more, "cudaEfficient": True})
    return senteval


if __name__ == "__main__":
    main()
