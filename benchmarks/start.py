"""What commands cost that compute nothing: help, lists, and reading a run that is finished.

    python benchmarks/start.py [--sets 18] [--encoders 10] [--seeds 3] [--rounds 5] [--folder FOLDER]

Processor seconds of a process of its own, user and system time, with one BLAS thread; the commands take turns, and each
number is the smallest of the rounds, because a busy machine can only add to it. Modules are compiled in the first round
and read in the others, as after an install. Beside it is the ratio to ``python -c pass``. The run is of sets from the
built-in corpus, random vectors and the default baselines; its cells are counted. ``--folder`` keeps it for the next
time. Last comes the first fit of a network in a process, with numba's kernels to be compiled, and read from its cache.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from common.bytecode import with_bytecode

SHORT = "--sets 3 --encoders 2 --seeds 2 --rounds 2"
GOALS = {"import sentprobe": "import", "--help": "help", "run, resumed": "resume", "show": "show", "report": "report"}
"""Commands that have a goal, and the names of their figures."""
FIT = """
import numpy as np
from sentprobe.probes import Features, fit, parse
x = np.random.default_rng(0).normal(size=(400, 32)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int64)
fit(parse("senteval")[1], Features.of(x[:300]), y[:300], Features.of(x[300:]), y[300:], 2)
"""


def seconds(words: list[str], folder: Path, **environment: str) -> float:
    """The processor seconds of one call of Python."""
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    every = {**with_bytecode(), **single, **environment}
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, env=every)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def make_run(folder: Path, sets: int, encoders: int, seeds: int) -> list[str]:
    """Make the sets and the run, if they are not there; the words of the command that resumes it."""
    probes = folder / "probes"
    if not probes.exists():
        suites = ["--suite", "conneau2018", "--suite", "universal2019"]
        make = ["make", "--builtin", "6000", *suites, "--sizes", "200/60/60", "--out", "probes"]
        # one of the tasks is left out, for lack of long sentences
        subprocess.run([sys.executable, "-m", "sentprobe", *make], cwd=folder, capture_output=True, check=False)
    chosen = sorted(str(path.parent) for path in probes.rglob("manifest.json"))[:sets]
    named = [f"baseline:random?dim=16&seed={i}" for i in range(encoders)]
    words = ["-m", "sentprobe", "run", *chosen, "--probe-seeds", str(seeds), "--no-store", "--out", "run"]
    words += [word for name in named for word in ("--encoder", name)]
    if not (folder / "run").exists():
        seconds(words, folder)
    return words


def main() -> None:
    """Print a line per command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=18)
    parser.add_argument("--encoders", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.folder or Path(temporary)).absolute()
        folder.mkdir(exist_ok=True)
        resume = make_run(folder, given.sets, given.encoders, given.seeds)
        cells = (folder / "run" / "results.jsonl").read_bytes().count(b"\n")
        print(f"a run of {cells} cells; processor seconds, and times `python -c pass`")
        commands = {
            "pass": ["-c", "pass"],
            "import sentprobe": ["-c", "import sentprobe"],
            "--help": ["-m", "sentprobe", "--help"],
            "run --help": ["-m", "sentprobe", "run", "--help"],
            "ls tasks": ["-m", "sentprobe", "ls", "tasks"],
            "run, resumed": resume,
            "show": ["-m", "sentprobe", "show", "run"],
            "show --format csv": ["-m", "sentprobe", "show", "run", "--format", "csv"],
            "report": ["-m", "sentprobe", "report", "run"],
        }
        rounds = [{name: seconds(words, folder) for name, words in commands.items()} for _ in range(given.rounds)]
        best = {name: min(each[name] for each in rounds) for name in commands}
        for name, value in best.items():
            print(f"{name:22} {value:6.2f} {value / best['pass']:6.0f}x")
        if importlib.util.find_spec("numba"):
            for name in ("first fit, compiled", "first fit, cached"):
                print(f"{name:22} {seconds(['-c', FIT], folder, NUMBA_CACHE_DIR=f'{temporary}/numba'):6.2f}")
        for name, figure in GOALS.items():
            print(f"= start/{figure}-seconds {best[name]:.3f}")


if __name__ == "__main__":
    main()
