"""What two jobs gain: `make`, `audit`, `encode` and `run` with --jobs 1 against --jobs 2, and equal results.

    python benchmarks/jobs.py [make] [audit] [encode] [run] [--sentences 60000] [--texts 400000] [--rows 20000]
                              [--encoders static: baseline:words] [--rounds 2]

The default sizes are jobs of half a minute to a minute. The two numbers of jobs take turns; each time is the smallest
of the rounds, because a shared machine can only add to it. Wall times mean something only if two cores are idle. For a
busy machine there is an estimate from CPU seconds, which assumes that the main thread works alone and all else is
shared by two cores: CPU of one job / (main thread of two jobs + half of the rest). It is too low for `run`, whose main
thread encodes while probes are fitted, and too high for `encode`, where even one job uses two cores some of the time:
the tokenizer of static: has threads of its own, except in workers.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from common.bytecode import with_bytecode

SHORT = "make audit encode --sentences 3000 --texts 70000 --rows 400 --rounds 1"

SUITE = "conneau2018"
MAIN = """
import runpy, sys, time
sys.argv = sys.argv[1:]
try:
    runpy.run_module("sentprobe", run_name="__main__")
finally:
    print(time.thread_time(), file=sys.stderr)
"""
"""Runs sentprobe, and prints the CPU seconds of its main thread last."""


class Cost(NamedTuple):
    """Seconds of one command."""

    wall: float
    cpu: float
    main: float


def measure(words: list[str], out: Path | None = None) -> Cost:
    """Run a command in a child process; what it prints goes to ``out``."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-c", MAIN, "sentprobe", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=with_bytecode())
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 2):
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    if out is not None:
        out.write_text(done.stdout, "utf-8")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu, float(done.stderr.split()[-1]))


def compare(verb: str, rounds: int, once: Callable[[int, Path], Cost], content: Callable[[Path], object]) -> None:
    """One job against two, in turns, and whether their results are equal."""
    best: dict[int, Cost] = {}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(rounds):
            for jobs in (1, 2):
                out = Path(folder, f"{jobs}-{i}")
                cost = once(jobs, out)
                best[jobs] = Cost(*map(min, cost, best.get(jobs, cost)))
                print(
                    f"{verb:7} {jobs} job{'s' * (jobs > 1):1}  wall {cost.wall:6.1f}  CPU {cost.cpu:6.1f}  "
                    f"main {cost.main:5.1f}   load {os.getloadavg()[0]:.1f}",
                    flush=True,
                )
        if content(Path(folder, "1-0")) != content(Path(folder, "2-0")):
            sys.exit(f"{verb}: two jobs give other results than one.")
    wall, idle = best[1].wall / best[2].wall, best[1].cpu / (best[2].main + (best[2].cpu - best[2].main) / 2)
    print(f"{verb:7} speed-up of two jobs: {wall:.2f}, on idle cores about {idle:.2f}, with the same results")
    print(f"= jobs/{verb} {wall:.3f}\n= jobs/{verb}-idle {idle:.3f}", flush=True)


def make_words(sentences: int, rows: int, out: Path) -> list[str]:
    """The command that makes a suite."""
    return [
        "make", "--builtin", str(sentences), "--suite", SUITE, "--sizes", f"{rows}/{rows // 10}/{rows // 10}",
        "--out", str(out),
    ]  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    """The content of a file, or of all files below a folder."""
    if folder.is_file():
        return {"": folder.read_bytes()}
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def results(folder: Path) -> object:
    """The scores and predictions of a run."""
    from sentprobe.run import Run

    run = Run.load(folder)
    return {
        found.key: (found.score, found.interval, {k: v.tobytes() for k, v in run.predictions(found).items()})
        for found in run
    }


def write_texts(path: Path, texts: int) -> None:
    """Sets of different sentences of made-up words, 50,000 texts each."""
    rng = random.Random(0)
    words = ["".join(rng.choices("aeioulnrstkmpd", k=rng.randint(2, 9))) for _ in range(20_000)]
    path.mkdir()
    for part, start in enumerate(range(0, texts, 50_000)):
        with (path / f"set{part}.txt").open("w", encoding="utf-8") as out:
            for i in range(start, min(start + 50_000, texts)):
                split = ("tr", "tr", "va", "te")[i % 4]
                out.write(f"{split}\t{i % 8 // 4}\t{' '.join(rng.choices(words, k=rng.randint(5, 25)))} {i}\n")


def main() -> None:
    """Compare the verbs that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verbs", nargs="*", default=["make", "audit", "encode", "run"])
    parser.add_argument("--sentences", type=int, default=60_000)
    parser.add_argument("--texts", type=int, default=400_000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--encoders", nargs="+", default=["static:", "baseline:words"])
    parser.add_argument("--rounds", type=int, default=2)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sets, texts = Path(folder, "sets"), Path(folder, "texts")
        if {"audit", "run"} & {*a.verbs}:
            measure(make_words(a.sentences, a.rows, sets))
        if "encode" in a.verbs:
            write_texts(texts, a.texts)
        encoders = [word for name in a.encoders for word in ("-e", name)]
        for verb in a.verbs:
            commands: dict[str, Callable[[int, Path], Cost]] = {
                "make": lambda n, out: measure([*make_words(a.sentences, a.rows, out), "--jobs", str(n)]),
                "audit": lambda n, out: measure(["audit", str(sets), "--format", "json", "--jobs", str(n)], out),
                "encode": lambda n, out: measure(
                    ["encode", str(texts), *encoders, "--no-store", "--out", str(out), "--jobs", str(n)]
                ),
                "run": lambda n, out: measure(
                    ["run", str(sets), *encoders, "--no-store", "--out", str(out), "--jobs", str(n)]
                ),
            }
            compare(verb, a.rounds, commands[verb], results if verb == "run" else files)


if __name__ == "__main__":
    main()
