"""How fast texts become vectors: beside the library itself, sorted by length and not, and a second time.

    python benchmarks/encode.py FOLDER_OF_A_MODEL TEXTS.txt [--texts 2000] [--rounds 2]

TEXTS.txt has one sentence a line. Prints throughput of `sonde.embed` with `st:` over that of calling
sentence-transformers' tokeniser and model on batches sorted perfectly by length, and on batches as they come, in one
run, sides taking turns; and the time of a second run, all in the store, under the first. Needs sentence-transformers.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sonde.embed import embed
from sonde.encoders import load
from sonde.store import Store

BATCH = 64


def timed(call: Callable[[], object]) -> float:
    """Seconds of a call."""
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("file", type=Path)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    import torch
    from sentence_transformers import SentenceTransformer

    texts = list(dict.fromkeys(line for line in arguments.file.read_text("utf-8").split("\n") if line.strip()))
    texts = random.Random(0).sample(texts, min(arguments.texts, len(texts)))
    model = SentenceTransformer(arguments.model, device="cpu")
    encoder = load(f"st:{arguments.model}")

    def library(order: list[str]) -> None:
        with torch.inference_mode():
            for a in range(0, len(order), BATCH):
                model(model.preprocess(order[a : a + BATCH]))

    by_length = sorted(texts, key=lambda t: -len(model.tokenizer.tokenize(t)))
    best = dict.fromkeys(("sonde", "sorted", "as they come"), float("inf"))
    for _ in range(arguments.rounds):
        best["sonde"] = min(best["sonde"], timed(lambda: embed(encoder, texts)))
        best["sorted"] = min(best["sorted"], timed(lambda: library(by_length)))
        best["as they come"] = min(best["as they come"], timed(lambda: library(texts)))
    for name, seconds in best.items():
        print(f"{name:14} {len(texts) / seconds:8.1f} texts/s")
    print(f"sonde over perfectly sorted batches {best['sorted'] / best['sonde']:.2f}")
    print(f"sonde over batches as they come     {best['as they come'] / best['sonde']:.2f}")
    with tempfile.TemporaryDirectory() as folder:
        first = timed(lambda: embed(encoder, texts, store=Store(Path(folder))))
        second = timed(lambda: embed(encoder, texts, store=Store(Path(folder))))
    print(f"second run, from the store          {first / second:.0f} times as fast")


if __name__ == "__main__":
    main()
