"""Alignment beside MUSE's own code, in one run: precision, evaluation, refinement, memory, and adversarial training.

    python benchmarks/align.py [precision] [evaluate] [refine] [memory] [epoch] [--muse FOLDER]
                               [--source FILE --target FILE --train FILE --test FILE]
                               [--words 50000] [--many 200000] [--width 300] [--iterations 200] [--dis-steps 1]
                               [--rounds 3]

``--muse`` is a checkout of facebookresearch/MUSE at commit 3159355, without faiss; without it, only memory is measured.
``--source`` and ``--target`` are word vectors as text with a header, ``--train`` and ``--test`` are dictionaries, all
for precision; without them, and for everything else, spaces are planted: vectors whose k-th principal deviation is
k ** -0.5, and a turned, noisy and shuffled copy of them.

Both sides work on one thread, in turns, each in a process of its own. Seconds are CPU seconds without reading files;
the ratio is the median of the rounds. They do the same:

- evaluate: precision at 1, 5 and 10 of nearest neighbours and of CSLS, for 1,500 words (MUSE: word_translation).
- refine: the dictionary of mutual neighbours, Procrustes, and the criterion of the result (MUSE: build_dictionary with
  S2T&T2S, procrustes, dist_mean_cosine). Ours includes the criterion before, by which it knows when to stop. MUSE's
  dist_mean_cosine computes the criterion with nearest neighbours, too, which cannot be turned off.
- epoch: as many iterations of one discriminator step, as in the paper (MUSE's default is ``--dis-steps 5``),
  and one mapping step, batches of 32, 2 x 2048 hidden units. Ours also with ``updates=joint``, where the mapping is
  updated from the pass of the discriminator: fewer operations than MUSE's for as many updates.
- memory: the largest resident memory of the whole process while evaluating, over the size of both tables.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common.align_sides import AT, child, write_planted

SHORT = "--muse {muse} --words 4000 --many 40000 --width 100 --iterations 20 --rounds 1"


def run(side: str, given: argparse.Namespace, **job: Any) -> dict[str, Any]:
    """What a job of one side printed."""
    words = {"side": side, "muse": str(given.muse), "width": given.width} | job
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--child", json.dumps(words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]
    if done.returncode or len(found) != 1:
        sys.exit(f"{side} ended with exit code {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return dict(found[0])


def compare(what: str, given: argparse.Namespace, name: str, **job: Any) -> list[dict[str, dict[str, Any]]]:
    """Both sides in turns; prints the ratio of CPU seconds and returns what they found, by round."""
    found = [{side: run(side, given, **job) for side in ("sentprobe", "muse")} for _ in range(given.rounds)]
    ratios = [each["muse"]["cpu"] / each["sentprobe"]["cpu"] for each in found]
    seconds = {side: statistics.median(each[side]["cpu"] for each in found) for side in ("sentprobe", "muse")}
    memory = {side: max(each[side]["memory"] for each in found) / 1e6 for side in seconds}
    print(
        f"{what}: CPU {seconds['sentprobe']:.2f} s, MUSE {seconds['muse']:.2f} s, ratio "
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}); memory {memory['sentprobe']:,.0f} "
        f"and {memory['muse']:,.0f} MB",
        flush=True,
    )
    print(f"= align/{name}-speedup {statistics.median(ratios):.3f}", flush=True)
    return found


def difference(each: dict[str, dict[str, Any]]) -> float:
    """The largest difference of a precision, in points."""
    names = [f"{name}@{k}" for name in ("nn", "csls") for k in AT]
    for side, found in each.items():
        print(f"  {side:5} " + ", ".join(f"{name} {found[name]:.4f}" for name in names), flush=True)
    return float(max(abs(each["sentprobe"][name] - each["muse"][name]) for name in names))


def precision(given: argparse.Namespace, planted: dict[str, str]) -> None:
    """Procrustes and precision, on real vectors if there are any."""
    files = {name: getattr(given, name) for name in ("source", "target", "train", "test")}
    job: dict[str, Any] = {name: str(file) for name, file in files.items()} if all(files.values()) else planted
    if job is not planted:
        with files["source"].open(encoding="utf-8") as lines:
            job["width"] = int(lines.readline().split()[1])
    each = {side: run(side, given, work="evaluate", **job) for side in ("sentprobe", "muse")}
    print(f"precision, {'planted' if job is planted else files['source'].name}:")
    print(f"= align/precision-difference {difference(each):.6f}", flush=True)


def evaluate(given: argparse.Namespace, planted: dict[str, str]) -> None:
    """Word translation."""
    found = compare(f"evaluation, {given.words:,} words", given, "evaluate", work="evaluate", **planted)
    print(f"  largest difference of a precision: {difference(found[0]):.6f}")


def refine(given: argparse.Namespace, planted: dict[str, str]) -> None:
    """A round of refinement."""
    found = compare(f"refinement, {given.words:,} words", given, "refine", work="refine", **planted)
    for side, one in found[0].items():
        print(f"  {side:5} {one['pairs']} pairs, criterion as MUSE computes it {one['criterion']:.6f}")


def memory(given: argparse.Namespace, planted: dict[str, str]) -> None:
    """Evaluation of large tables."""
    large = write_planted(Path(planted["source"]).parent, given.many, given.width)
    found = run("sentprobe", given, work="evaluate", **large)
    share = found["memory"] / (2 * 4 * given.many * given.width)
    print(f"evaluation, {given.many:,} words: CPU {found['cpu']:.1f} s, memory {found['memory'] / 1e6:,.0f} MB")
    print(f"= align/memory {share:.3f}", flush=True)


def epoch(given: argparse.Namespace, planted: dict[str, str]) -> None:
    """A short epoch of adversarial training."""
    job = {side: planted[side] for side in ("source", "target")}
    job |= {"work": "epoch", "iterations": given.iterations, "dis_steps": given.dis_steps}
    for name, updates in (("epoch", "alternate"), ("epoch-joint", "joint")):
        what = f"{given.iterations} iterations, ours with updates={updates}"
        found = compare(what, given, name, updates=updates, **job)
        losses = ", ".join(f"{side} {one['loss']:.4f}" for side, one in found[0].items())
        print(f"  mean loss of the discriminator: {losses}", flush=True)


WORKS = {"precision": precision, "evaluate": evaluate, "refine": refine, "memory": memory, "epoch": epoch}


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"some of {', '.join(WORKS)} (default: all)")
    parser.add_argument("--muse", type=Path, help="a checkout of MUSE at commit 3159355")
    for name in ("source", "target", "train", "test"):
        parser.add_argument(f"--{name}", type=Path, help="for precision")
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--many", type=int, default=200_000, help="words for memory")
    parser.add_argument("--width", type=int, default=300)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--dis-steps", type=int, default=1, help="discriminator steps per mapping step")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        child(given.child)
        return
    if unknown := sorted(set(given.works) - set(WORKS)):
        parser.error(f"expected some of {', '.join(WORKS)}, got {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as name:
        planted = write_planted(Path(name), given.words, given.width)
        for work in given.works or WORKS:
            if work != "memory" and not given.muse:
                print(f"{work}: skipped, needs --muse with a checkout of MUSE at commit 3159355", flush=True)
            else:
                WORKS[work](given, planted)


if __name__ == "__main__":
    main()
