"""What `sonde make` costs: against merely parsing the same file, and as the corpus grows.

    python benchmarks/make.py parse TREEBANK.conllu[.gz] …
        the suite universal2019 from a treebank: CPU seconds against the parser of the conllu package
    python benchmarks/make.py grow [--small 50000] [--large 500000] [--suite conneau2018]
        the same suite from the built-in corpus, sets of a fixed size: CPU seconds and peak memory, ratio of the two

Every figure is measured in a child process, all of a comparison in one run, and printed as a ratio. `parse`
alternates the two programs; each number is the smallest of the rounds, because a shared machine can only add to it.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SHORT = "grow --small 12000 --large 24000"

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
    runpy.run_module("sonde", run_name="__main__")
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def cpu(command: list[str]) -> float:
    """CPU seconds of a child process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sonde(*words: str) -> list[str]:
    """The command line as a child process."""
    return [sys.executable, "-m", "sonde", *words]


def parse(files: list[str], rounds: int) -> None:
    """Making a suite against parsing."""
    parsing, making = [], []
    with tempfile.TemporaryDirectory() as out:
        for _ in range(rounds):
            parsing.append(cpu([sys.executable, "-c", PARSE, *files]))
            making.append(cpu(sonde("make", *files, "--suite", "universal2019", "--out", out)))
    print(f"conllu parse   {min(parsing):6.2f} CPU s   (rounds: {', '.join(f'{x:.2f}' for x in parsing)})")
    print(f"sonde make     {min(making):6.2f} CPU s   (rounds: {', '.join(f'{x:.2f}' for x in making)})")
    print(f"make / parse   {min(making) / min(parsing):6.2f}")


def grow(small: int, large: int, suite: str) -> None:
    """Ten times the sentences."""
    seen = []
    for n in (small, large):
        with tempfile.TemporaryDirectory() as out:
            words = ["sonde", "make", "--builtin", str(n), "--suite", suite, "--sizes", SIZES, "--out", out]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([sys.executable, "-c", MEASURED, *words], check=True, capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        megabytes = int(done.stderr.strip().splitlines()[-1]) / 1024
        seen.append((seconds, megabytes))
        print(f"{n:8,} sentences   {seconds:7.1f} CPU s   {megabytes:6.0f} MB at the peak")
    (s, m), (t, k) = seen
    print(f"ratio for {large / small:.0f} times the sentences: time {t / s:.2f}, memory {k / m:.2f}")


def main() -> None:
    """Run one comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("parse")
    one.add_argument("files", nargs="+", type=str)
    one.add_argument("--rounds", type=int, default=3)
    two = verbs.add_parser("grow")
    two.add_argument("--small", type=int, default=50_000)
    two.add_argument("--large", type=int, default=500_000)
    two.add_argument("--suite", default="universal2019")
    a = parser.parse_args()
    if a.verb == "parse":
        parse([str(Path(f)) for f in a.files], a.rounds)
    else:
        grow(a.small, a.large, a.suite)


if __name__ == "__main__":
    main()
