"""Sentence pairs and word vectors for the benchmark of training: from files, or made up."""

from __future__ import annotations

import random
from pathlib import Path

SPLITS = ("train", "dev", "test")
LABELS = ("entailment", "neutral", "contradiction")
Pair = tuple[str, str, str]
Pairs = dict[str, list[Pair]]


def read_pairs(folder: Path) -> Pairs:
    """Pairs in InferSent's layout."""
    found = {}
    for split in SPLITS:
        columns = [(folder / f"{name}.{split}").read_text("utf-8").splitlines() for name in ("s1", "s2", "labels")]
        found[split] = list(zip(*columns, strict=True))
    return found  # type: ignore[return-value]


def made_up(count: int) -> Pairs:
    """Sentences of the built-in corpus, with one of them, or the beginning of the first."""
    from sentprobe.corpus import Corpus

    rng = random.Random(0)
    texts = [" ".join(sentence.forms) for sentence in Corpus.synthetic(count + 400)]
    pairs = []
    for text in texts:
        label = rng.choice(LABELS)
        half = " ".join(text.split()[: len(text.split()) // 2 + 1])
        pairs.append((text, {"entailment": half, "neutral": rng.choice(texts)}.get(label, f"not {half}"), label))
    return {"train": pairs[400:], "dev": pairs[:200], "test": pairs[200:400]}


def write_vectors(path: Path, pairs: Pairs, width: int = 100) -> None:
    """Random vectors of all words."""
    rng = random.Random(0)
    words = dict.fromkeys(word for each in pairs.values() for one in each for text in one[:2] for word in text.split())
    with path.open("w", encoding="utf-8") as out:
        for word in ("<s>", "</s>", *words):
            out.write(f"{word} {' '.join(f'{rng.gauss(0, 0.5):.4f}' for _ in range(width))}\n")
