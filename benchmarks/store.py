"""What the store costs against the disk itself.

    python benchmarks/store.py [--rows 1000000] [--dimension 384] [--shard 50000] [--rounds 5] [--folder .]

The same vectors are written and read back through the store and as plain files of the same bytes, in turns, each file
synced, and the system's cache of them dropped before every read where the system lets a program do that. Each number is
the smallest of the rounds, because a shared machine can only add to it. It adds more to the store, which computes, than
to the disk: the processor's seconds are what the store takes on a machine of its own, besides waiting for the disk.

Then one text in a hundred is looked for, and last all texts with vectors of one number: the cost of finding them.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from sentprobe.encoders.identity import Identity
from sentprobe.encoders.store import Store

SHORT = "--rows 20000 --rounds 2 --shard 5000"

IDENTITY = Identity.of("benchmark", "normal")


def texts(a: int, b: int) -> list[str]:
    """Texts of the length of a sentence."""
    return [f"sentence {i} is about as long as the sentences that people write, or a few of them" for i in range(a, b)]


def vectors(a: int, b: int, dimension: int) -> np.ndarray:
    """The vectors of texts a … b."""
    return np.random.default_rng(a).standard_normal((b - a, dimension), np.float32)


def drop(folder: Path) -> None:
    """Ask the system to forget the files' contents."""
    for path in folder.rglob("*"):
        if path.is_file() and hasattr(os, "posix_fadvise"):
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def fetched() -> int | None:
    """Bytes that this process had the disk read, where the system counts them."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return None
    return int(next(line.split()[1] for line in lines if line.startswith("read_bytes")))


def timed(work: Callable[[], object]) -> np.ndarray:
    """Seconds of wall time and of the processor's."""
    start = np.array([time.perf_counter(), time.process_time()])
    work()
    return np.array([time.perf_counter(), time.process_time()]) - start


def write_plain(path: Path, found: np.ndarray) -> None:
    """A synced file of the same bytes."""
    with path.open("wb") as out:
        out.write(found.data.cast("B"))
        out.flush()
        os.fsync(out.fileno())


def read_plain(path: Path, into: np.ndarray) -> None:
    """The same bytes into memory."""
    with path.open("rb", buffering=0) as file:
        file.readinto(into.data.cast("B"))


def write_round(root: Path, cuts: list[tuple[int, int]], dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of writing plain files, and of writing to the store."""
    shutil.rmtree(root, ignore_errors=True)
    (root / "plain").mkdir(parents=True)
    store, plain, kept = Store(root / "kept"), np.zeros(2), np.zeros(2)
    for i, (a, b) in enumerate(cuts):
        found, names, path = vectors(a, b, dimension), texts(a, b), root / "plain" / str(a)
        # whoever comes first gets the memory that is quicker to have, so they take turns
        plain += timed(partial(write_plain, path, found)) if i % 2 else 0
        kept += timed(partial(store.write, IDENTITY, names, found))
        plain += timed(partial(write_plain, path, found)) if not i % 2 else 0
    return plain, kept


def read_round(root: Path, cuts: list[tuple[int, int]], dimension: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Seconds of reading plain files and the store, and the part of the files that came from the disk."""
    drop(root)
    before, plain, kept = fetched() or 0, np.zeros(2), np.zeros(2)
    for a, b in cuts:
        into = np.empty((b - a, dimension), np.float32)
        plain += timed(partial(read_plain, root / "plain" / str(a), into))
    cold = ((fetched() or 0) - before) / (cuts[-1][1] * dimension * 4)
    drop(root)
    store = Store(root / "kept")
    for a, b in cuts:
        names, got = texts(a, b), []
        kept += timed(lambda names=names, got=got: got.extend(store.read(IDENTITY, names)))
        assert got[0].all()
        assert (got[1] == vectors(a, b, dimension)).all()
    return plain, kept, cold


def show(name: str, rounds: list[tuple[np.ndarray, np.ndarray]], size: int) -> None:
    """Two speeds and their ratio."""
    (disk, disk_cpu), (store, store_cpu) = (np.min([r[i] for r in rounds], axis=0) for i in range(2))
    print(f"\n{name:5} disk       {disk:6.2f} s   {size / disk / 1e6:6.0f} MB/s   {disk_cpu:6.2f} s of processor")
    print(f"{name:5} store      {store:6.2f} s   {size / store / 1e6:6.0f} MB/s   {store_cpu:6.2f} s of processor")
    print(f"  speed ratio    {disk / store:6.2f}   (rounds: {', '.join(f'{r[0][0] / r[1][0]:.2f}' for r in rounds)})")
    print(f"= store/{name}-processor-seconds-per-GB {store_cpu / size * 1e9:.2f}")


def sparse(kept: Path, rows: int, dimension: int, sequential: float) -> None:
    """One text in a hundred, in any order."""
    wanted = random.Random(1).sample(range(rows), rows // 100)
    names = [texts(i, i + 1)[0] for i in wanted]
    whole = rows * dimension * 4 / 1e6
    drop(kept)
    store = Store(kept)
    start = fetched()
    index = timed(lambda: store.read(IDENTITY, ["no such text"]))[0]
    middle = fetched()
    seconds = timed(lambda: store.read(IDENTITY, names))[0]
    end = fetched()
    print(
        f"\n1 % at random    {seconds:6.2f} s + {index:.2f} s for the index once; all in order took {sequential:.2f} s"
    )
    print(f"  time ratio     {seconds / sequential:6.3f}")
    if start is not None and middle is not None and end is not None:
        read, once = (end - middle) / 1e6, (middle - start) / 1e6
        print(f"  bytes ratio    {read / whole:6.3f}   ({read:.1f} of {whole:.1f} MB read)")
        print(f"  index ratio    {once / whole:6.3f}   ({once:.1f} MB read once)")


def finding(root: Path, cuts: list[tuple[int, int]]) -> None:
    """All texts, with vectors of one number."""
    for a, b in cuts:
        Store(root).write(IDENTITY, texts(a, b), vectors(a, b, 1))
    names = texts(0, cuts[-1][1])
    seconds, processor = timed(lambda: Store(root).read(IDENTITY, names))
    tracemalloc.start()
    Store(root).read(IDENTITY, names)
    peak = tracemalloc.get_traced_memory()[1]
    print(f"\nfinding {len(names)} texts: {seconds:.2f} s, {processor:.2f} s of processor")
    print(f"  memory         {peak / 1e6:6.0f} MB at most, index included")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--shard", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path())
    given = parser.parse_args()
    cuts = [(a, min(a + given.shard, given.rows)) for a in range(0, given.rows, given.shard)]
    size = given.rows * given.dimension * 4
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="store-") as folder:
        root = Path(folder) / "round"
        writes, reads = [], []
        for _ in range(given.rounds):
            writes.append(write_round(root, cuts, given.dimension))
            reads.append(read_round(root, cuts, given.dimension))
        print(
            f"{given.rows} x {given.dimension} float32 in {len(cuts)} files, {size / 1e6:.0f} MB, {given.rounds} rounds"
        )
        print(f"{min(r[2] for r in reads):.0%} of the plain reads came from the disk and not from the system's cache")
        show("write", writes, size)
        show("read", [r[:2] for r in reads], size)
        sparse(root / "kept", given.rows, given.dimension, min(r[1][0] for r in reads))
        finding(Path(folder) / "one", cuts)


if __name__ == "__main__":
    main()
