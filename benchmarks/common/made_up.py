"""Made-up probing sets in the shapes of Conneau et al. (2018), with made-up vectors: files as a user would have them.

``write`` fills a folder with SentEval's files (``probing/TASK.txt``), one array of vectors for the sentences of all
sets (``vectors.npy``), and these sentences (``texts.txt``): the encoder is ``npy:vectors.npy?texts=texts.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.fft import dct

CLASSES = {
    "sentence_length": 6,
    "word_content": 1000,
    "tree_depth": 7,
    "top_constituents": 20,
    "bigram_shift": 2,
    "past_present": 2,
    "subj_number": 2,
    "obj_number": 2,
    "odd_man_out": 2,
    "coordination_inversion": 2,
}
"""Tasks and their number of classes."""
VOCABULARY = 20_000
FIRST_TARGET = 2000
"""The rank of the first of the words that word_content asks for."""
TOLD = 64
"""Directions, of the largest deviations, in which labels can be told."""
WORDS = 12
"""Words of a sentence of word_content."""
BLOCK = 1000
"""Rows that are made at a time."""

Block = tuple[np.ndarray, np.ndarray, list[list[int]]]
"""Vectors (m, d), labels (m,), and the words of each sentence."""


def write(folder: Path, names: list[str], rows: int, dimension: int) -> None:
    """Write sets of this many rows, ten twelfths of them to train on, and their vectors."""
    (folder / "probing").mkdir(parents=True)
    shape = (rows * len(names), dimension)
    table = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, shape)
    seen: set[tuple[int, ...]] = set()
    at = 0
    with (folder / "texts.txt").open("w") as texts:
        for name in names:
            last = at + rows
            with (folder / "probing" / f"{name}.txt").open("w") as file:
                for x, y, sentences in _blocks(name, rows, dimension, seen):
                    table[at : at + len(x)] = x
                    for i, (label, words) in enumerate(zip(y.tolist(), sentences, strict=True), at + rows - last):
                        text = " ".join(map(word, words))
                        split = "tr" if 12 * i < 10 * rows else "va" if 12 * i < 11 * rows else "te"
                        file.write(f"{split}\t{label}\t{text}\n")
                        texts.write(f"{text}\n")
                    at += len(x)
    table.flush()


def word(rank: int) -> str:
    """The word of a rank: frequent ones are short."""
    letters = ""
    rank += 26
    while rank:
        rank, letter = divmod(rank, 26)
        letters = chr(97 + letter) + letters
    return letters


def _blocks(name: str, rows: int, dimension: int, seen: set[tuple[int, ...]]) -> Iterator[Block]:
    """The rows of a set; no sentence is in ``seen``, to which they are added."""
    classes = CLASSES[name]
    rng = np.random.default_rng([*name.encode()])
    spectrum = (np.arange(1, dimension + 1) ** -0.5).astype(np.float32)
    signs = rng.choice(np.array([-1, 1], np.float32), dimension)
    shares = 1 / np.arange(1, VOCABULARY + 1)
    cumulated = np.cumsum(shares / shares.sum())

    def zipf(n: int) -> np.ndarray:
        return np.minimum(np.searchsorted(cumulated, rng.random(n)), VOCABULARY - 1)

    def rotated(found: np.ndarray) -> np.ndarray:
        """Vectors whose k-th principal deviation is k ** -0.5, in directions of all dimensions."""
        once = dct(found * spectrum, norm="ortho", axis=1) * signs
        return dct(once, norm="ortho", axis=1, overwrite_x=True)

    if name == "word_content":
        table = rotated(rng.standard_normal((VOCABULARY, dimension), np.float32))
    else:
        weights = rng.normal(size=(min(TOLD, dimension), classes)) / 4
    for start in range(0, rows, BLOCK):
        m = min(BLOCK, rows - start)
        sentences: list[list[int]] = []
        if name == "word_content":
            y = rng.integers(classes, size=m)
        else:
            z = rng.standard_normal((m, dimension), np.float32)
            y = (z[:, : len(weights)] @ weights + rng.gumbel(size=(m, classes))).argmax(axis=1)
            x = rotated(z) + np.float32(0.3)
        for label in y.tolist():
            while True:
                if name == "word_content":
                    words = zipf(WORDS)
                    words[rng.integers(WORDS)] = FIRST_TARGET + label
                elif name == "sentence_length":
                    words = zipf(5 + 4 * label + int(rng.integers(4)))
                else:
                    words = zipf(int(rng.integers(5, 29)))
                if (found := tuple(words.tolist())) not in seen:
                    break
            seen.add(found)
            sentences.append(list(found))
        if name == "word_content":
            x = table[np.array(sentences)].mean(axis=1)
        yield x, y, sentences
