"""What `sentprobe make` costs: against merely parsing the same files, and as the corpus grows.

    python benchmarks/make.py parse [TREEBANK.conllu[.gz] … [--trees BRACKETS…]] [--builtin 4000]
        a suite from a treebank: CPU seconds against the parser of the conllu package, which reads the same files. The
        suite is universal2019, or with constituency trees conneau2018; the trees are read by `sentprobe` only. Without
        files, both are measured, on that many sentences of the built-in corpus, written as a treebank and as trees
    python benchmarks/make.py grow [--small 25000] [--large 500000] [--suite universal2019]
        the same suite from the built-in corpus, sets of a fixed size: CPU seconds and peak memory, ratio of the two
    python benchmarks/make.py rows [--builtin 30000]
        memory of Python's objects for the rows of a set that is read back, and at most while it is read, over that of
        the same Parquet file by pyarrow's to_pylist
    python benchmarks/make.py short
        all three at a size of seconds

Every figure is measured in a child process, all of a comparison in one run, and printed as a ratio. `parse`
alternates the two programs; each number is the smallest of the rounds, because a shared machine can only add to it.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

SHORT = "short"

SIZES = "2000/200/200"

PARSE = """
import sys, gzip, conllu
for path in sys.argv[1:]:
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as lines:
        for sentence in conllu.parse_incr(lines):
            pass
"""

MEASURED = """
import resource, runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_module("sentprobe", run_name="__main__")
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def cpu(command: list[str]) -> float:
    """CPU seconds of a child process and its children; some sets may be impossible to make from a small corpus."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 2):
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sentprobe(*words: str) -> list[str]:
    """The command line as a child process."""
    return [sys.executable, "-m", "sentprobe", *words]


def parse(name: str, files: list[str], trees: list[str], rounds: int) -> None:
    """Making a suite against parsing."""
    parsing, making = [], []
    options = ["--suite", "conneau2018", "--trees", *trees] if trees else ["--suite", "universal2019"]
    with tempfile.TemporaryDirectory() as out:
        for _ in range(rounds):
            parsing.append(cpu([sys.executable, "-c", PARSE, *files]))
            making.append(cpu(sentprobe("make", *files, *options, "--out", out)))
    print(f"conllu parse   {min(parsing):6.2f} CPU s   (rounds: {', '.join(f'{x:.2f}' for x in parsing)})")
    print(f"sentprobe make     {min(making):6.2f} CPU s   (rounds: {', '.join(f'{x:.2f}' for x in making)})")
    print(f"make / parse   {min(making) / min(parsing):6.2f}   ({options[1]})")
    print(f"= make/{name} {min(making) / min(parsing):.3f}")


def parse_builtin(sentences: int, rounds: int) -> None:
    """The same on the built-in corpus, written as files, without and with trees."""
    from sentprobe.corpus import Corpus
    from sentprobe.corpus.brackets import write_brackets
    from sentprobe.corpus.conllu import write_conllu

    with tempfile.TemporaryDirectory() as folder:
        treebank, trees = Path(folder, "en_builtin-ud-train.conllu"), Path(folder, "builtin.trees.tsv")
        corpus = Corpus.synthetic(sentences).load_into_memory()
        with treebank.open("w", encoding="utf-8") as out:
            write_conllu(corpus, out)
        with trees.open("w", encoding="utf-8") as out:
            write_brackets(corpus, out)
        parse("over-parse", [str(treebank)], [], rounds)
        parse("trees-over-parse", [str(treebank)], [str(trees)], rounds)


def rows(sentences: int) -> None:
    """Reading a set with a row per sentence, against pyarrow's own way to Python's objects."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from sentprobe.corpus import Corpus
    from sentprobe.data.dataset import decode_rows, encode_rows
    from sentprobe.tasks import Example

    made = [Example.of(s, "ab"[i % 2], key=s.forms[0], stratum="00") for i, s in enumerate(Corpus.synthetic(sentences))]
    content = bytes(encode_rows("rows", {"tr": made}))
    del made
    sides: dict[str, Callable[[], object]] = {
        "to_pylist": lambda: pq.ParquetFile(pa.BufferReader(content)).read().to_pylist(),
        "decode_rows": lambda: decode_rows(content),
    }
    found = {}
    for name, read in sides.items():
        read()  # whatever is imported on the way
        tracemalloc.start()
        kept = read()
        found[name] = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        del kept
        print(f"{name:12} {found[name][0] / sentences:6.0f} bytes per row, {found[name][1] / sentences:6.0f} at most")
    (theirs, most), (ours, our_most) = found.values()
    print(f"= make/rows-memory {ours / theirs:.3f}\n= make/rows-peak-memory {our_most / most:.3f}")


def grow(small: int, large: int, suite: str) -> None:
    """Many times the sentences."""
    seen = []
    for n in (small, large):
        with tempfile.TemporaryDirectory() as out:
            words = ["sentprobe", "make", "--builtin", str(n), "--suite", suite, "--sizes", SIZES, "--out", out]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([sys.executable, "-c", MEASURED, *words], check=True, capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        megabytes = int(done.stderr.strip().splitlines()[-1]) / 1024
        seen.append((seconds, megabytes))
        print(f"{n:8,} sentences   {seconds:7.1f} CPU s   {megabytes:6.0f} MB at the peak")
    (s, m), (t, k) = seen
    print(f"ratio for {large / small:.0f} times the sentences: time {t / s:.2f}, memory {k / m:.2f}")
    print(f"= make/memory-growth {k / m:.3f}")


def main() -> None:
    """Run one comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("parse")
    one.add_argument("files", nargs="*", type=str)
    one.add_argument("--trees", nargs="*", type=str, default=[])
    one.add_argument("--builtin", type=int, default=4000)
    one.add_argument("--rounds", type=int, default=3)
    two = verbs.add_parser("grow")
    two.add_argument("--small", type=int, default=25_000)
    two.add_argument("--large", type=int, default=500_000)
    two.add_argument("--suite", default="universal2019")
    three = verbs.add_parser("rows")
    three.add_argument("--builtin", type=int, default=30_000)
    verbs.add_parser("short")
    a = parser.parse_args()
    if a.verb == "parse" and a.files:
        parse("trees-over-parse" if a.trees else "over-parse", a.files, a.trees, a.rounds)
    elif a.verb == "parse":
        parse_builtin(a.builtin, a.rounds)
    elif a.verb == "short":
        parse_builtin(8000, 1)
        grow(12_000, 24_000, "universal2019")
        rows(4000)
    elif a.verb == "rows":
        rows(a.builtin)
    else:
        grow(a.small, a.large, a.suite)


if __name__ == "__main__":
    main()
