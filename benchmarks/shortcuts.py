"""How far classifiers that should not work get on probing sets: naive Bayes on words, and length alone.

    python benchmarks/shortcuts.py probes/ [probes2/ …]

Trains on tr and tests on va and te together (nothing is tuned). Prints accuracy with
its Wilson interval; + and - say that the majority rate lies below or above it. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sentprobe.data.dataset import Dataset, find_set_folders
from sentprobe.stats.intervals import wilson

SHORT = "{sets}"


def split_words(text: str) -> list[str]:
    """The tokens of a row."""
    return text.split(" ")


def lengths(texts: list[str]) -> np.ndarray:
    """Row → its number of tokens, shape (n, 1)."""
    return np.array([[len(split_words(t))] for t in texts], float)


MODELS = {
    "length": lambda: make_pipeline(FunctionTransformer(lengths), StandardScaler(), LogisticRegression(max_iter=1000)),
    "nb-uni": lambda: make_pipeline(TfidfVectorizer(tokenizer=split_words, token_pattern=None), MultinomialNB()),
    "nb-bi": lambda: make_pipeline(
        TfidfVectorizer(tokenizer=split_words, token_pattern=None, ngram_range=(1, 2)), MultinomialNB()
    ),
    "nb-uni cased": lambda: make_pipeline(
        TfidfVectorizer(tokenizer=split_words, token_pattern=None, lowercase=False), MultinomialNB()
    ),
}


def main() -> None:
    """Print one line per set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--task", action="append", default=[])
    arguments = parser.parse_args()
    for top in arguments.folders:
        for folder in find_set_folders(top):
            if arguments.task and folder.name not in arguments.task:
                continue
            data = Dataset.load(folder)
            x = {s: [" ".join(r.tokens) for r in data.rows[s]] for s in ("tr", "va", "te")}
            y = {s: [r.label for r in data.rows[s]] for s in ("tr", "va", "te")}
            test_x, test_y = x["va"] + x["te"], y["va"] + y["te"]
            majority = max(test_y.count(c) for c in data.labels) / len(test_y)
            print(f"{top.name:18} {data.name:38} n={len(test_y):5} majority {100 * majority:5.1f}", end="")
            for name, model in MODELS.items():
                fitted = model().fit(x["tr"], y["tr"])
                hits = int((fitted.predict(test_x) == np.array(test_y)).sum())
                low, high = wilson(hits, len(test_y))
                mark = " " if low <= majority <= high else "+" if low > majority else "-"
                print(f"  {name} {100 * hits / len(test_y):5.1f} [{100 * low:.1f},{100 * high:.1f}]{mark}", end="")
            print()


if __name__ == "__main__":
    main()
