"""What the baselines of a run cost beside one encoder: their share of the processor time, and the memory they add.

    python benchmarks/baselines.py [--encoder st:MODEL] [--sets PATH…] [--rows 8000] [--rounds 3]

Each run is a process of its own, on one thread: with all baselines, without any, and with all where an earlier run has
kept their results. Encoding is part of the time; vectors are never read from the store. Without ``--sets``, sets are
made from the built-in corpus, with ``--rows`` training rows. The encoder ``made`` is a function that returns 384
numbers at once, so that hardly anything but probing remains. Memory is the highest resident size above that of the
imported packages, in tables of 384 float32 numbers per text of the largest set.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SHORT = "--sets {sets} --encoder st:{model} --rounds 1"
DIMENSIONS = 384
TASKS = ("bigram_shift", "sentence_length", "subj_number", "tree_depth", "word_content")


def made(texts: list[str]) -> np.ndarray:
    """384 numbers for each text, by its length and its first letters."""
    numbers = np.array([[len(text), *map(ord, text[:15].ljust(15))] for text in texts], np.float32)
    return np.sin(np.repeat(numbers, DIMENSIONS // 16, axis=1) * np.arange(1, DIMENSIONS + 1, dtype=np.float32))


def run(kind: str, encoder: str, sets: list[str], store: str) -> dict[str, Any]:
    """One run in this process: processor seconds, bytes above the imports, texts, and seconds of each baseline."""
    from sentprobe.data.sources import find_sets
    from sentprobe.encoders.store import Store
    from sentprobe.run import evaluate, loop

    sources, encoders = find_sets(sets), {"made": made} if encoder == "made" else [encoder]
    before, started = _peak(), _seconds()
    with tempfile.TemporaryDirectory() as folder:
        more: dict[str, Any] = {"baselines": []} if kind == "none" else {}
        kept = Store(Path(store)) if kind in ("kept", "keep") else None  # "keep" has no encoder, and stores no vectors
        found = evaluate([] if kind == "keep" else encoders, sources, folder, store=kept, **more)
        spent: dict[str, float] = {}
        for result in found:
            spent[result.cell.encoder] = spent.get(result.cell.encoder, 0.0) + sum(result.seconds.values())
        baselines = (*loop.BASELINES, *loop.ENCODER_BASELINES)
        texts = max(sum(len(rows) for rows in source.load().rows.values()) for source in sources)
        return {
            "seconds": _seconds() - started, "bytes": _peak() - before, "texts": texts, "sets": len(sources),
            "spent": {name: spent[name] for name in baselines if name in spent},
        }  # fmt: skip


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def in_process(kind: str, encoder: str, sets: list[str], store: str) -> dict[str, Any]:
    """The same in a process of its own, on one thread."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    words = [sys.executable, __file__, "--kind", kind, "--encoder", encoder, "--store", store, "--sets", *sets]
    done = subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, **threads})
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Run the kinds in turn, and print shares of the median times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="made")
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.kind:
        print(json.dumps(run(given.kind, given.encoder, given.sets, given.store)))
        return
    with tempfile.TemporaryDirectory() as folder:
        sets = given.sets or [_make(Path(folder) / "sets", given.rows)]
        found: dict[str, list[dict[str, Any]]] = {"none": [], "all": [], "kept": []}
        for i in range(given.rounds):
            store = f"{folder}/store-{i}"
            in_process("keep", given.encoder, sets, store)
            for kind, each in found.items():
                each.append(in_process(kind, given.encoder, sets, store))
    seconds = {kind: float(np.median([each["seconds"] for each in runs])) for kind, runs in found.items()}
    peaks = {kind: max(each["bytes"] for each in runs) for kind, runs in found.items()}
    one = found["all"][0]
    table = 4 * DIMENSIONS * one["texts"]
    print(f"{one['sets']} sets, the largest of {one['texts']:,} texts; encoder {given.encoder}")
    print(f"{'':18}  seconds  baselines  memory")
    for kind, text in (("none", "no baselines"), ("all", "all baselines"), ("kept", "kept baselines")):
        share = 1 - seconds["none"] / seconds[kind]
        print(f"{text:18}  {seconds[kind]:7.1f}  {share:9.1%}  {peaks[kind] / table:6.2f}")
    print("seconds of each:", ", ".join(f"{name} {spent:.2f}" for name, spent in one["spent"].items()))
    print(f"= baselines/share {1 - seconds['none'] / seconds['all']:.3f}")
    print(f"= baselines/share-kept {1 - seconds['none'] / seconds['kept']:.3f}")
    print(f"= baselines/memory {peaks['all'] / peaks['none']:.3f}")


def _make(folder: Path, rows: int) -> str:
    """Sets of the built-in corpus."""
    tasks = [word for task in TASKS for word in ("--task", task)]
    sizes = f"{rows}/{rows // 10}/{rows // 10}"
    words = ["make", "--builtin", str(8 * rows), "--suite", "conneau2018", *tasks, "--sizes", sizes]
    subprocess.run([sys.executable, "-m", "sentprobe", *words, "--out", str(folder)], check=True, capture_output=True)
    return str(folder)


if __name__ == "__main__":
    main()
