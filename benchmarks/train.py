"""`sentprobe train nli` beside InferSent's own code, in one run; how its cost grows; and what two processes gain.

    python benchmarks/train.py [speed] [encode] [accuracy] [growth] [processes] [--infersent FOLDER] [--nli FOLDER]
                               [--vectors FILE] [--texts FILE] [--hidden 512 2048] [--batches 100 30] [--rounds 3]

``--infersent`` is a checkout of facebookresearch/InferSent at commit ec6b065; without it, speed, encode and accuracy
are skipped. ``--nli`` has pairs in its layout: s1.train, s2.train, labels.train, and the same of dev and test, split
into words by spaces. ``--vectors`` has vectors as GloVe does, with those of <s> and </s>. ``--texts`` has sentences
to encode, one a line, split likewise; otherwise those of train are encoded. Without data, sentences of the built-in
corpus stand for pairs, with random vectors.

Both sides train BiLSTM-max with the same pairs, words, vectors, batch size and SGD, on one thread, in turns, each in a
process of its own. Words are those with a vector, without <s>, </s> and padding. Seconds are CPU seconds between the
first step after a warm-up and the last one. The ratio is the median of the rounds; memory is the largest of all rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import infersent
from common.nli_pairs import SPLITS, Pairs, made_up, read_pairs, write_vectors
from common.train_sides import WARM_UP, child

SHORT = "--infersent {infersent} --hidden 64 128 --batches 30 20 --rounds 1 --sentences 2000 --epochs 1 --growth 500"


@dataclass
class Bench:
    """The data, and how child processes are started."""

    given: argparse.Namespace
    folder: Path
    pairs: Pairs
    vectors: Path
    width: int
    made: int = 0

    def write(self, count: int, dev: int | None = None) -> Path:
        """The first pairs of train, and some of dev, as each side reads them."""
        self.made += 1
        out = self.folder / f"data-{self.made}"
        out.mkdir()
        for split in SPLITS:
            some = self.pairs[split][: count if split == "train" else dev]
            (out / f"{split}.tsv").write_text("".join("\t".join(pair) + "\n" for pair in some), "utf-8")
            for name, values in zip(("s1", "s2", "labels"), zip(*some, strict=True), strict=True):
                (out / f"{name}.{split}").write_text("".join(f"{value}\n" for value in values), "utf-8")
        return out

    def run(self, side: str, data: Path, hidden: int, processes: int = 1, **more: Any) -> list[dict[str, Any]]:
        """What one job took, in each of its processes."""
        self.made += 1
        job = {
            "side": side, "work": "train", "data": str(data), "hidden": hidden, "vectors": str(self.vectors),
            "width": self.width, "batch": self.given.batch, "epochs": 1, "seed": 1,
            "out": str(self.folder / f"out-{self.made}"), "code": str(self.folder / "infersent"), **more,
        }  # fmt: skip
        command = [sys.executable]
        if processes > 1:  # `accelerate launch --cpu` would start one process only
            command += ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(processes)]
        environment = {
            **os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true",
            "SENTPROBE_CACHE": str(self.folder / "cache"),
        }  # fmt: skip
        words = [*command, __file__, "--child", json.dumps(job)]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]
        if done.returncode or len(found) != processes:
            sys.exit(f"{side} ended with exit code {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return found


def compare(bench: Bench, what: str, jobs: dict[str, dict[str, Any]], data: Path, hidden: int) -> tuple[float, float]:
    """Both sides in turns: words per CPU second and memory of ours over theirs."""
    found: dict[str, list[dict[str, Any]]] = {side: [] for side in jobs}
    for _ in range(bench.given.rounds):
        for side, job in jobs.items():
            (one,) = bench.run(side, data, hidden, **job)
            found[side].append(one)
    speeds = {side: [one["words"] / one["cpu"] for one in each] for side, each in found.items()}
    ratios = [ours / theirs for ours, theirs in zip(speeds["sentprobe"], speeds["infersent"], strict=True)]
    memory = {side: max(one["memory"] for one in each) for side, each in found.items()}
    ratio, share = statistics.median(ratios), memory["sentprobe"] / memory["infersent"]
    print(
        f"{what:24} words per CPU second: sentprobe {statistics.median(speeds['sentprobe']):,.0f}, "
        f"InferSent {statistics.median(speeds['infersent']):,.0f}, ratio {ratio:.2f} ({min(ratios):.2f} to "
        f"{max(ratios):.2f}); memory {memory['sentprobe'] / 1e6:,.0f} and {memory['infersent'] / 1e6:,.0f} MB",
        flush=True,
    )
    return ratio, share


def speed(bench: Bench) -> None:
    """Training: words per CPU second, and memory."""
    shares = []
    names = ("train/speedup-small", "train/speedup-large")
    for name, hidden, batches in zip(names, bench.given.hidden, bench.given.batches, strict=True):
        data = bench.write((WARM_UP + batches + 1) * bench.given.batch, bench.given.batch)
        ratio, share = compare(bench, f"training, 2 x {hidden}", {"sentprobe": {}, "infersent": {}}, data, hidden)
        print(f"= {name} {ratio:.3f}", flush=True)
        shares.append(share)
    print(f"= train/memory {max(shares):.3f}", flush=True)


def encode(bench: Bench) -> None:
    """Encoding sentences of mixed length."""
    given, hidden = bench.given, bench.given.hidden[0]
    if given.texts:
        lines = given.texts.read_text("utf-8").splitlines()
    else:
        lines = [text for first, second, _ in bench.pairs["train"] for text in (first, second)]
    lines = list(dict.fromkeys(" ".join(line.split()) for line in lines if line.strip()))[: given.sentences]
    texts = bench.folder / "texts.txt"
    texts.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    data, out = bench.write(given.batch, given.batch), str(bench.folder / "untrained")
    bench.run("sentprobe", data, hidden, epochs=0, out=out)
    job = {"work": "encode", "texts": str(texts), "out": out}
    ratio, _ = compare(bench, f"encoding, 2 x {hidden}", {"sentprobe": job, "infersent": job}, data, hidden)
    print(f"= train/encode-speedup {ratio:.3f}", flush=True)


def accuracy(bench: Bench) -> None:
    """Accuracy on dev after the same number of epochs, with several seeds."""
    given, found = bench.given, {"sentprobe": [], "infersent": []}  # type: ignore[var-annotated]
    data = bench.write(len(bench.pairs["train"]))
    for seed in range(1, given.seeds + 1):
        for side, scores in found.items():
            (one,) = bench.run(side, data, given.hidden[0], epochs=given.epochs, seed=seed)
            scores.append(one["dev"])
            after = ", ".join(f"{score:.2f}" for score in one["dev"])
            print(f"dev accuracy of {side:9}, seed {seed}, after each epoch: {after}", flush=True)
    last = {side: [scores[-1] for scores in each] for side, each in found.items()}
    below = statistics.mean(last["infersent"]) - statistics.mean(last["sentprobe"])
    if given.seeds > 1:
        error = sum(statistics.variance(each) / given.seeds for each in last.values()) ** 0.5
        print(f"InferSent above sentprobe: {below:+.2f} points, standard error over seeds {error:.2f}")
    print(f"= train/accuracy-below {below:.3f}", flush=True)


def growth(bench: Bench) -> None:
    """CPU seconds of the whole command with N, 2N and 4N pairs."""
    size, hidden = bench.given.growth, bench.given.hidden[0]
    sizes = [size, 2 * size, 4 * size]
    if len(bench.pairs["train"]) < sizes[-1]:
        sys.exit(f"--growth {size} needs {sizes[-1]} pairs, there are {len(bench.pairs['train'])}.")
    folders = [bench.write(n, bench.given.batch) for n in sizes]
    rounds = [[bench.run("sentprobe", data, hidden)[0] for data in folders] for _ in range(bench.given.rounds)]
    seconds = [min(one[i]["process"] for one in rounds) for i in range(3)]
    memory = [max(one[i]["memory"] for one in rounds) for i in range(3)]
    ratio = (seconds[2] - seconds[1]) / (seconds[1] - seconds[0]) / 2
    for n, spent, held in zip(sizes, seconds, memory, strict=True):
        print(f"{n:,} pairs, 2 x {hidden}: CPU {spent:.1f} s, memory {held / 1e6:,.0f} MB")
    print(f"CPU seconds per further pair, {sizes[1]:,} to {sizes[2]:,} over {sizes[0]:,} to {sizes[1]:,}: {ratio:.2f}")
    print(f"= train/growth {ratio:.3f}", flush=True)


def processes(bench: Bench) -> None:
    """Two processes against one: by the clock, and by CPU seconds, which leave out that processes wait for each other.

    On a busy machine two processes get twice the share of the cores, so the clock flatters them there.
    """
    hidden, batches = bench.given.hidden[0], bench.given.batches[0]
    data = bench.write((WARM_UP + batches + 1) * bench.given.batch, bench.given.batch)
    clock, idle = [], []
    for _ in range(bench.given.rounds):
        (one,) = bench.run("sentprobe", data, hidden)
        two = bench.run("sentprobe", data, hidden, processes=2)
        words = sum(each["words"] for each in two)
        clock.append(words / max(each["wall"] for each in two) * one["wall"] / one["words"])
        idle.append(words / max(each["cpu"] for each in two) * one["cpu"] / one["words"])
    print(
        f"two processes over one, 2 x {hidden}: {statistics.median(clock):.2f} by the clock "
        f"(load {os.getloadavg()[0]:.1f}), by CPU seconds {statistics.median(idle):.2f}"
    )
    print(f"= train/two-processes {statistics.median(clock):.3f}")
    print(f"= train/two-processes-idle {statistics.median(idle):.3f}", flush=True)


WORKS = {"speed": speed, "encode": encode, "accuracy": accuracy, "growth": growth, "processes": processes}
BESIDE = ("speed", "encode", "accuracy")
"""What needs the other side."""


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"some of {', '.join(WORKS)} (default: all)")
    parser.add_argument("--infersent", type=Path, help="a checkout of InferSent at commit ec6b065")
    parser.add_argument("--nli", type=Path, help="pairs in InferSent's layout")
    parser.add_argument("--vectors", type=Path, help="word vectors as text, without a header")
    parser.add_argument("--texts", type=Path, help="sentences to encode")
    parser.add_argument("--sentences", type=int, default=5000, help="how many of them")
    parser.add_argument("--hidden", type=int, nargs=2, default=[512, 2048], help="units per direction")
    parser.add_argument("--batches", type=int, nargs=2, default=[100, 30], help="steps that count, for each size")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2, help="for accuracy")
    parser.add_argument("--seeds", type=int, default=1, help="for accuracy")
    parser.add_argument("--growth", type=int, default=3000, help="pairs of the smallest size")
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        child(given.child)
        return
    if unknown := sorted(set(given.works) - set(WORKS)):
        parser.error(f"expected some of {', '.join(WORKS)}, got {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs, vectors = (read_pairs(given.nli) if given.nli else made_up(4 * given.growth)), given.vectors
        if vectors is None:
            write_vectors(vectors := folder / "vectors.txt", pairs)
        with vectors.open(encoding="utf-8") as lines:
            width = len(lines.readline().split()) - 1
        if given.infersent:
            infersent.copy_patched(given.infersent, folder / "infersent")
        bench = Bench(given, folder, pairs, vectors, width)
        for work in given.works or WORKS:
            if work in BESIDE and not given.infersent:
                print(f"{work}: skipped, needs --infersent with a checkout of InferSent at commit ec6b065", flush=True)
            else:
                WORKS[work](bench)


if __name__ == "__main__":
    main()
