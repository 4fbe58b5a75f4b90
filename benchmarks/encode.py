"""How fast texts become vectors: beside the library itself, sorted by length and not, and a second time.

    python benchmarks/encode.py FOLDER_OF_A_MODEL TEXTS.txt [--texts 2000] [--rounds 5] [--threads 1]

TEXTS.txt has one sentence a line. Prints throughput of `sentprobe.encoders.embed` with `st:` over that of calling
sentence-transformers' tokeniser and model on batches of 64 sorted perfectly by length, in several rounds, and on
batches as they come, in one, which takes long. The two sides take turns batch by batch, so that what else the machine
does slows down both; the processor's seconds are what counts on a busy one. Last the time of a second run, all in the
store, under the first. Needs sentence-transformers.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.encoders import load
from sentprobe.encoders.embed import embed
from sentprobe.encoders.store import Store

SHORT = "{model} {texts} --texts 128 --rounds 1"

BATCH = 64


def timed(call: Callable[[], object]) -> np.ndarray:
    """Seconds of the processor and of the clock that a call takes."""
    before = time.process_time(), time.perf_counter()
    call()
    return np.subtract((time.process_time(), time.perf_counter()), before)


class Turns:
    """An encoder; whenever it has encoded some texts, the library encodes as many in an order of its own."""

    def __init__(self, encoder: Any, library: Callable[[Sequence[str]], object], order: Sequence[str]) -> None:
        self.encoder, self.library, self.order = encoder, library, order
        self.batch_size, self.cost = encoder.batch_size, encoder.cost
        self.done = self.followed = 0
        self.seconds = np.zeros(2)

    def __call__(self, texts: Sequence[str]) -> Any:
        """Vectors of the texts."""
        vectors = self.encoder(texts)
        self.done += len(texts)
        while self.followed < len(self.order) and (self.followed + BATCH <= self.done or self.done == len(self.order)):
            some = self.order[self.followed : self.followed + BATCH]
            self.seconds += timed(partial(self.library, some))
            self.followed += len(some)
        return vectors


def gain(
    encoder: Any, library: Callable[[Sequence[str]], object], texts: Sequence[str], order: Sequence[str]
) -> np.ndarray:
    """The library's seconds over those of sentprobe, of the processor and of the clock."""
    turns = Turns(encoder, library, order)
    both = timed(lambda: embed(turns, texts))
    return turns.seconds / (both - turns.seconds)


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("file", type=Path)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(arguments.threads)
    texts = list(dict.fromkeys(line for line in arguments.file.read_text("utf-8").split("\n") if line.strip()))
    texts = random.Random(0).sample(texts, min(arguments.texts, len(texts)))
    model = SentenceTransformer(arguments.model, device="cpu")
    encoder = load(f"st:{arguments.model}")

    def library(some: Sequence[str]) -> None:
        with torch.inference_mode():
            model(model.preprocess(list(some)))

    by_length = sorted(texts, key=lambda t: -len(model.tokenizer.tokenize(t)))
    gain(encoder, library, texts[:BATCH], texts[:BATCH])  # whatever is done once only
    rounds = [gain(encoder, library, texts, by_length) for _ in range(arguments.rounds)]
    for clock, ratios in zip(("processor", "clock"), np.transpose(rounds).tolist(), strict=True):
        span = f"{min(ratios):.3f} to {max(ratios):.3f} in {len(ratios)} rounds"
        print(
            f"sentprobe over perfectly sorted batches, {clock:9}  {statistics.median(ratios):.3f}  ({span})", flush=True
        )
    for clock, ratio in zip(("processor", "clock"), gain(encoder, library, texts, texts).tolist(), strict=True):
        print(f"sentprobe over batches as they come, {clock:9}      {ratio:.2f}")
    print(f"= encode/over-sorted {np.median(rounds, axis=0)[0]:.3f}")
    with tempfile.TemporaryDirectory() as folder:
        first, second = (timed(lambda: embed(encoder, texts, store=Store(Path(folder))))[1] for _ in range(2))
    print(f"second run, from the store                      {first / second:.0f} times as fast")
    print(f"= encode/second-run-speedup {first / second:.1f}")


if __name__ == "__main__":
    main()
