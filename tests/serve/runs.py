"""A small run whose probes can be asked, and sets whose truth can be computed."""

import threading
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from sentprobe.data.dataset import Dataset
from sentprobe.run import evaluate
from sentprobe.serve import Server
from sentprobe.tasks import Example
from tests.run.sets import dataset

WORDS = ("boats", "clouds", "gardens", "rivers", "towers")
FILLERS = "the of and a to in was it for on with as he be at by had".split()
LENGTH, CONTENT, WORD = "conneau2018/sentence_length", "conneau2018/word_content", "adi2017/word_presence"
BINS = {"0": (3, 5), "1": (6, 8), "2": (9, 12)}


def _set(name, labels, row):
    splits = {}
    for i, (split, n) in enumerate({"tr": 180, "va": 60, "te": 120}.items()):
        rng = np.random.default_rng(i)
        splits[split] = []
        for j in range(n):
            words = tuple(row(rng, labels[j % len(labels)]))
            splits[split].append(Example(labels[j % len(labels)], words, " ".join(words), f"{split}:{j}"))
    about = {"question": f"What about {name}?", "corpus": {"name": "own", "synthetic": False}}
    return Dataset(name, name.split("/")[1], 1, "en", labels, splits, about)


def sentence_length():
    def row(rng, label):
        low, high = BINS[label]
        return rng.choice(FILLERS, size=rng.integers(low, high + 1))

    return _set(LENGTH, tuple(BINS), row)


def word_content():
    def row(rng, label):
        words = list(rng.choice(FILLERS, size=4))
        words.insert(int(rng.integers(5)), label)
        return words

    return _set(CONTENT, WORDS, row)


def word_presence():
    """Rows with a word beside the sentence."""
    given = dataset(WORD)
    rows = {s: [r._replace(extra=(("word", r.tokens[0]),)) for r in rs] for s, rs in given.rows.items()}
    return replace(given, rows=rows, manifest={**given.manifest, "inputs": ["word"]})


def run(folder, encoders=("static:", "static:?dim=64"), sets=(sentence_length, word_content), **more):
    baselines = more.pop("baselines", ["majority", "baseline:hash"])
    return evaluate(encoders, [make() for make in sets], folder, baselines=baselines, **more)


@contextmanager
def running(folder, **more):
    """A server of a run, in a thread of its own, at a port that is free."""
    with Server(folder, **more) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
