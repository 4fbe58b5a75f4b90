"""Whether what was killed at any moment ends, after the same command, as if it had never been.

    python benchmarks/kills.py [--kills 10] [--seed 0] [--verb train]…

`sentprobe train nli`, `train mlm`, `annotate`, `align`, `run` and `words` are started as users do, and get SIGKILL at a
random moment after their output has appeared; a process that has ended before is not counted, and started again. Then
the same command is given again, and what it leaves is compared with what an uninterrupted one leaves: weights, scores
and the best checkpoint; corpus and card; maps, history and configuration; results and predictions. Seconds differ.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe import Corpus, Run
from sentprobe.lab.alignment.folder import open_alignment
from sentprobe.lab.networks.folder import open_folder
from sentprobe.results.records import to_line

SHORT = "--kills 2 --verb annotate --verb words"
VERBS = ("train", "language model", "annotate", "align", "run", "words")


@dataclass(frozen=True)
class Command:
    """A command, without its output, and what to compare."""

    words: list[str]
    out: str
    marker: str
    """What is there when the work has begun."""
    outcome: Callable[[Path], Any]


def trained(path: Path) -> Any:
    """What a training has come to."""
    folder = open_folder(path)
    folder.verify()
    weights = {c.name: (path / c.name / "model.safetensors").read_bytes() for c in folder.checkpoints()}
    log = [{k: v for k, v in line.items() if "second" not in k} for line in folder.job.log("training.jsonl")]
    return weights, log, folder.best().name, (path / "best.json").read_bytes(), (path / "vocabulary.json").read_bytes()


def annotated(path: Path) -> Any:
    """A corpus and its card."""
    return path.read_bytes(), json.loads(path.with_name(f"{path.name}.json").read_bytes())


def aligned(path: Path) -> Any:
    """Maps, history and configuration of an alignment."""
    folder = open_alignment(path)
    for job in (folder.job, *map(folder.seed_job, folder.seeds())):
        job.verify_all()
    history = [{key: value for key, value in line.items() if key != "seconds"} for line in folder.history()]
    maps = {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*.safetensors"))}
    return maps, history, folder.config


def evaluated(path: Path) -> Any:
    """The results of a run, with their predictions."""
    run = Run.load(path)
    assert not run.damaged
    arrays = {r.key: {name: a.tobytes() for name, a in run.predictions(r).items()} for r in run.results}
    return {r.key: to_line(replace(r, seconds={}), 0) for r in run.results}, arrays


def write_material(root: Path, verb: str, environment: Mapping[str, str]) -> None:
    """What a verb reads: texts and pairs, probing sets, or two spaces of words and a dictionary."""
    if verb in ("train", "language model", "annotate"):
        write_texts(root, 6000 if verb == "annotate" else 900)
    elif verb == "run":
        tasks = [word for task in ("sentence_length", "past_present", "bigram_shift") for word in ("-t", task)]
        make = [sys.executable, "-m", "sentprobe", "make", "--builtin", "2000", "--suite", "conneau2018", *tasks]
        words = [*make, "--sizes", "200/60/60", "--out", "sets"]
        subprocess.run(words, cwd=root, env=environment, capture_output=True, check=True)
    else:
        write_spaces(root)


def write_texts(root: Path, sentences: int) -> None:
    """Pairs of sentences with labels, a text, and paragraphs with an annotator by rules."""
    texts = [sentence.text for sentence in Corpus.synthetic(sentences)]
    labels = ("entailment", "neutral", "contradiction")
    rows = [f"{texts[i]}\t{texts[i if i % 3 == 0 else -i - 1]}\t{labels[i % 3]}\n" for i in range(900)]
    (root / "pairs.tsv").write_text("".join(rows), "utf-8")
    (root / "text.en").write_text("".join(f"{text}\n" for text in texts[:600]), "utf-8")
    (root / "story.txt").write_text("\n\n".join(texts), "utf-8")
    (root / "rules.py").write_text(RULES, "utf-8")


def write_spaces(root: Path) -> None:
    """Word vectors of two languages, and dictionaries."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3000, 40)).astype(np.float32)
    for name, noise in (("en", 0.0), ("fr", 0.6)):
        noisy = table + noise * rng.normal(size=table.shape)
        lines = [f"{name}{i} {' '.join(f'{x:.4f}' for x in row)}\n" for i, row in enumerate(noisy)]
        (root / f"{name}.vec").write_text(f"{len(table)} 40\n{''.join(lines)}", "utf-8")
    for part in range(4):
        (root / f"words-{part}.txt").write_text("".join(f"en{i} fr{i}\n" for i in range(part, 3000, 4)), "utf-8")


RULES = """
import re, time
from sentprobe import Sentence

def annotate(texts, is_split):
    time.sleep(0.05)  # as long as a real one takes for a chunk
    return [[parsed(part) for part in re.findall(r"[^.?!]+[.?!]*", text)] for text in texts]

annotate.version, annotate.licence, annotate.language = "1", "CC0", "en"
annotate.columns, annotate.universal = ("upos", "heads", "deprels"), True

def parsed(text):
    forms = tuple(re.findall(r"\\w+|[^\\w\\s]", text))
    return Sentence("", text.strip(), forms, upos=("NOUN",) * len(forms), heads=(-1, *[0] * (len(forms) - 1)),
                    deprels=("root", *["dep"] * (len(forms) - 1)))
"""


def commands() -> dict[str, Command]:
    """By verb."""
    train = ["train", "nli", "-a", "bilstm-max", "--train", "pairs.tsv", "--held-out", "60", "--set", "hidden=16"]
    lm = ["train", "mlm", "--train", "en=text.en", "--held-out", "40", "--set", "hidden=32", "--set", "layers=2"]
    lm += [
        "--set",
        "heads=2",
        "--set",
        "codes=120",
        "--set",
        "tokens=512",
        "--set",
        "length=32",
        "--set",
        "positions=64",
    ]
    words = ["words", "en.vec,fr.vec", "--languages", "en-fr", "--both", "--scoring", "nn,csls,isf"]
    words += [word for part in range(4) for word in ("-d", f"words-{part}.txt")]
    align = ["align", "en.vec", "fr.vec", "--dictionary", "words-0.txt", "--method", "vecmap", "--tries", "2"]
    align += ["--refine", "4", "--words", "1500", "--jobs", "2"]
    encoders = [word for seed in range(4) for word in ("-e", f"baseline:random?dim=16&seed={seed}")]
    probe = ["run", "sets", *encoders, "--probe-seeds", "2", "--no-store", "--resample", "0"]
    return {
        "train": Command([*train, "--width", "16", "--every", "7", "--epochs", "4"], "out", "checksums.json", trained),
        "language model": Command([*lm, "--epochs", "4"], "out", "checksums.json", trained),
        "annotate": Command(["annotate", "story.txt", "--with", "py:rules.py:annotate", "--dedupe", "near"],
                            "out.conllu.gz", "", annotated),
        "align": Command(align, "out", "maps/seed-0", aligned),
        "run": Command(probe, "out", "results.jsonl", evaluated),
        "words": Command(words, "out", "results.jsonl", evaluated),
    }  # fmt: skip


class Kills:
    """A command in a folder."""

    def __init__(self, root: Path, verb: str, seed: int) -> None:
        self.root, self.random, self.made = root, random.Random(seed), 0
        # the project first, as when it is not installed; one thread, since networks are tiny
        self.environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "OMP_NUM_THREADS": "1"}
        self.environment["SENTPROBE_CACHE"] = str(root / "cache")
        write_material(root, verb, self.environment)

    def start(self, command: Command, out: str) -> subprocess.Popen[bytes]:
        """Start a command."""
        words = [sys.executable, "-m", "sentprobe", *command.words, "-o", out]
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        return subprocess.Popen(words, cwd=self.root, env=self.environment, **pipes)  # type: ignore[call-overload,no-any-return]

    def finish(self, command: Command, out: str) -> float:
        """Wait for its end; returns how long the work took."""
        process = self.start(command, out)
        began = self.wait(command, out, process)
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
        return time.monotonic() - began

    def wait(self, command: Command, out: str, process: subprocess.Popen[bytes]) -> float:
        """Wait until the output has appeared; returns when that was."""
        mark = self.root / out / command.marker if command.marker else self.root / f"{out}.part"
        while not mark.exists() and process.poll() is None:
            time.sleep(0.002)
        return time.monotonic()

    def trial(self, command: Command, seconds: float) -> tuple[str, float]:
        """Kill a live process, at most ``seconds`` after it has begun to write; where, and after how long."""
        while True:
            self.made += 1
            out = f"{self.made}-{command.out}"
            process = self.start(command, out)
            self.wait(command, out, process)
            delay = self.random.uniform(0, 0.9 * seconds)
            time.sleep(delay)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                if process.returncode == -signal.SIGKILL:
                    return out, delay
            process.communicate()


def run(verb: str, kills: int, seed: int) -> tuple[int, list[str]]:
    """How many live processes were killed, and what differed afterwards."""
    wrong = []
    with tempfile.TemporaryDirectory() as place:
        world, command = Kills(Path(place), verb, seed), commands()[verb]
        seconds = world.finish(command, f"whole-{command.out}")
        expected = command.outcome(world.root / f"whole-{command.out}")
        for _ in range(kills):
            out, delay = world.trial(command, seconds)
            try:
                world.finish(command, out)
                if command.outcome(world.root / out) != _named(expected, f"whole-{command.out}", out):
                    wrong.append(f"{verb}: another outcome after a kill at {delay:.2f} of {seconds:.2f} s")
            except Exception as e:
                wrong.append(f"{verb}: {e} after a kill at {delay:.2f} of {seconds:.2f} s")
    return kills, wrong


def _named(expected: Any, name: str, out: str) -> Any:
    """An outcome of a file of another name: a card has it."""
    if isinstance(expected[-1], dict) and expected[-1].get("file") == name:
        card = {key: value for key, value in expected[-1].items() if key != "checksum"}
        from sentprobe.core.seal import seal_document

        return expected[0], json.loads(seal_document({**card, "file": out}))
    return expected


def main() -> int:
    """Print how many kills each verb has survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verb", action="append", choices=VERBS)
    options = parser.parse_args()
    total = 0
    for verb in options.verb or VERBS:
        kills, wrong = run(verb, options.kills, options.seed)
        print(f"{verb:16}{kills:4} live processes killed, {len(wrong)} other outcomes", flush=True)
        print("".join(f"{line}\n" for line in wrong), end="")
        total += len(wrong)
    print(f"= kills/other-outcomes {total}")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
