"""What a cluster costs: against plain worker processes, and what grows with the corpus.

    python benchmarks/cluster.py overhead [--sentences 200000] [--kinds dask ray] [--rounds 1]
        `sentprobe make` with --jobs 2, and on Dask and Ray, which the command starts with as many workers: CPU seconds
        of all processes, the cluster's own included, and files that differ. The default is a job of more than a minute
    python benchmarks/cluster.py growth [--sentences 10000 100000 1000000] [--files TREEBANK.conllu[.gz] …]
        what one shard of so many sentences costs and sends: CPU seconds of both passes, entries and bytes of the count
        tables, seconds to merge them with others, bytes of the pools, peak memory. Of the built-in corpus, or of the
        given files, in random order
    python benchmarks/cluster.py short
        `overhead` at a size of seconds

The sides of a comparison take turns, each in child processes; of several rounds, the smallest value counts.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

SHORT = "short"

SUITES = ("universal2019", "conneau2018")
POLL_SECONDS = 0.1


def measured(words: Sequence[str]) -> tuple[float, float]:
    """CPU seconds of a command with all that it starts, and seconds by the clock.

    Ray does not wait for its workers in a way that adds up their times, so that all processes with a mark in their
    environment are looked at until they have ended.
    """
    mark, started = f"SENTPROBE_BENCHMARK={uuid.uuid4()}", time.perf_counter()
    env = {**os.environ, **dict([mark.split("=")])}
    with tempfile.TemporaryFile() as said:
        command = subprocess.Popen([sys.executable, "-m", "sentprobe", *words], env=env, stdout=said, stderr=said)
        seconds: dict[tuple[str, str], float] = {}
        known: dict[str, bool] = {}
        wall = None
        while _look(mark.encode(), known, seconds) or command.poll() is None:
            time.sleep(POLL_SECONDS)
            wall = wall or (time.perf_counter() - started if command.poll() is not None else None)
        if command.returncode not in (0, 2):
            said.seek(0)
            sys.exit(f"{' '.join(words)}\n{said.read().decode()}")
    return sum(seconds.values()), wall or time.perf_counter() - started


def _look(mark: bytes, known: dict[str, bool], seconds: dict[tuple[str, str], float]) -> bool:
    """Note the CPU seconds of processes with a mark, by process and start; whether there are any."""
    alive = False
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if entry.name not in known:
                known[entry.name] = mark in (entry / "environ").read_bytes().split(b"\0")
            if known[entry.name]:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if fields[0] != "Z":
                    ticks = int(fields[11]) + int(fields[12])
                    seconds[entry.name, fields[19]] = ticks / os.sysconf("SC_CLK_TCK")
                    alive = True
        except OSError:  # it has ended, or is not ours
            continue
    return alive


def overhead(sentences: int, kinds: Sequence[str], rounds: int) -> None:
    """A cluster on this machine against worker processes."""
    sides = {"plain": ("--jobs", str(os.cpu_count())), **{kind: ("--cluster", kind) for kind in kinds}}
    costs: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
    words = ["make", "--builtin", str(sentences), *(word for suite in SUITES for word in ("--suite", suite))]
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for side, options in sides.items():
                costs[side].append(measured([*words, "--sizes", "10000/1000/1000", "-o", f"{folder}/{side}", *options]))
        for side in sides:
            cpu, wall = (min(values) for values in zip(*costs[side], strict=True))
            print(f"{side:6} {cpu:8.1f} CPU s {wall:8.1f} s by the clock")
        for kind in kinds:
            ratio = min(cpu for cpu, _ in costs[kind]) / min(cpu for cpu, _ in costs["plain"])
            print(f"= cluster/{kind}-overhead {ratio:.3f}")
        print(f"= cluster/different-files {sum(_differ(folder, kind) for kind in kinds)}")


def _differ(folder: str, kind: str) -> int:
    """How many files of a side are not those of worker processes."""
    plain, other = Path(folder, "plain"), Path(folder, kind)
    names = {p.relative_to(root) for root in (plain, other) for p in root.rglob("*") if p.is_file()}
    return sum(
        not (plain / name).exists()
        or not (other / name).exists()
        or not filecmp.cmp(plain / name, other / name, shallow=False)
        for name in names
    )


def growth(sizes: Sequence[int], files: Sequence[str]) -> None:
    """What a shard costs, for each size in a process of its own."""
    print(
        "sentences, words, CPU s of count and propose, forms, entries of words + bigrams + tallies, MB of these as they"
    )
    print("are sent, CPU s to unpack and merge them, MB of the pools, MB at the peak")
    for n in sizes:
        command = [sys.executable, __file__, "one", str(n), *files]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="", flush=True)


def one(n: int, files: Sequence[str]) -> None:
    """What one shard costs."""
    from sentprobe.corpus import Corpus
    from sentprobe.corpus.corpus import cut
    from sentprobe.make.candidates import pack_pools
    from sentprobe.make.job import SkippedTask, empty_pool, prepare_job
    from sentprobe.make.passes import count_shard, pack_counts, propose_shard, unpack_counts
    from sentprobe.make.request import select_tasks
    from sentprobe.tasks import Counts

    corpus = Corpus.synthetic(n)
    if files:
        every = list(Corpus.read(*files))
        random.Random(0).shuffle(every)
        corpus = Corpus.of(every[:n])
    requests = select_tasks(SUITES, [])
    with corpus.read_twice(False) as source:
        (shard,) = cut(source, 1)
        started = time.process_time()
        counts, _ = count_shard(shard, [task for _, task, _ in requests], False)
        counted = time.process_time() - started
        packed = pack_counts(counts)
        forms, entries = len(counts.forms()), (len(counts.words) + len(counts.first_words), len(counts.bigrams))
        tallies = sum(map(len, counts.tallies.values()))
        started = time.process_time()
        total = Counts()
        for _ in range(2):
            total.add(unpack_counts(packed))
        merged = (time.process_time() - started) / 2
        jobs = [prepare_job(suite, task, policy, counts, 1111, corpus.language) for suite, task, policy in requests]
        ready = [job for job in jobs if not isinstance(job, SkippedTask)]
        del total
        counts.drop_tables()
        started = time.process_time()
        pools = propose_shard(shard, ready, [empty_pool(job) for job in ready], None)
        proposed = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    table = f"{entries[0]:,} + {entries[1]:,} + {tallies:,}"
    print(
        f"{counts.sentences:9,} {counts.tokens:11,} {counted:9.1f} {proposed:11.1f} {forms:9,}   {table:26} "
        f"{len(packed) / 1e6:6.1f} {merged:7.2f} {len(pack_pools(pools)) / 1e6:8.1f} {peak:8.0f}"
    )


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    first = verbs.add_parser("overhead")
    first.add_argument("--sentences", type=int, default=200_000)
    first.add_argument("--kinds", nargs="*", default=["dask", "ray"])
    first.add_argument("--rounds", type=int, default=1)
    second = verbs.add_parser("growth")
    second.add_argument("--sentences", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    second.add_argument("--files", nargs="*", default=[])
    third = verbs.add_parser("one")
    third.add_argument("n", type=int)
    third.add_argument("files", nargs="*")
    verbs.add_parser("short")
    given = parser.parse_args()
    if given.verb == "overhead":
        overhead(given.sentences, given.kinds, given.rounds)
    elif given.verb == "growth":
        growth(given.sentences, given.files)
    elif given.verb == "one":
        one(given.n, given.files)
    else:
        overhead(3000, ["dask", "ray"], 1)


if __name__ == "__main__":
    main()
