"""What random corruption does to the files that sentprobe reads back.

    python benchmarks/damage.py [--trials 1500] [--seed 0]

Sets, runs, stores and caches are made in a temporary folder; then, one at a time, files are damaged and everything that
comes of them is read again: bits are flipped, bytes and digits changed, files cut off, deleted, or swapped with another
of their kind, lines removed, repeated or moved, values of JSON given another type. What came of it is

    told        a SentProbeError or a warning, and all numbers that are still given are unchanged
    harmless    no message, and all numbers are unchanged
    silent      a number changed or disappeared without a message
    traceback   any other exception

Of every tenth damage to a run that is told, the same command is given again, and must leave the run as it was; except
that probes that were deleted stay so, which saves space.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from sentprobe import Corpus, Run, SentProbeError, evaluate, find_sets, make_sets, select_tasks
from sentprobe.data.dataset import Dataset, read_manifest
from sentprobe.encoders import Identity, load
from sentprobe.encoders.store import Store
from sentprobe.report.summary import full_summary
from sentprobe.results.compare import compare
from sentprobe.results.records import to_line

SHORT = "--trials 60"

Numbers = Mapping[str, Any]
"""What is read, by what it is about."""
Files = dict[Path, bytes | None]
TOLD, HARMLESS, SILENT, TRACEBACK = OUTCOMES = ("told", "harmless", "silent", "traceback")
TASKS = ("past_present", "sentence_length")


class Bag:
    """An encoder of a few numbers that follow from the characters of a text."""

    def __init__(self, name: str, seed: int) -> None:
        self.identity = Identity.of("py", name, seed=seed)
        self.table = np.random.default_rng(seed).standard_normal((256, 6)).astype(np.float32)

    def __call__(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        """Vectors (n, 6)."""
        return np.array([self.table[list(text.encode())].mean(axis=0) for text in texts])


# What is there to be damaged, and what is read of it


@dataclass(frozen=True)
class Kind:
    """Files of one kind."""

    name: str
    files: Callable[[], list[Path]]
    read: Callable[[], Iterator[tuple[str, Any]]]
    """What comes of them, by what it is about."""
    again: Callable[[], object] | None = None
    """The command that puts damage right."""
    lines: bool = False
    json: bool = False


class World:
    """A folder with everything in it that sentprobe reads back."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for found in make_sets(Corpus.synthetic(3000), select_tasks(["conneau2018"], list(TASKS), sizes="160/40/60")):
            assert isinstance(found, Dataset), found
            found.save(root / "sets" / found.task)
        for name in ("a", "b"):
            self.command(name)
        texts = [f"text {i}" for i in range(60)]
        self.texts, self.bag = texts, Bag("stored", 3)
        for part in (texts[:30], texts[30:]):
            Store(root / "store").write(self.bag.identity, part, self.bag(part))
        words = [f"w{i} " + " ".join(f"{x:.4f}" for x in row) for i, row in enumerate(self.bag(texts))]
        (root / "words.txt").write_text("\n".join(words) + "\n", "utf-8")
        self._words()
        for name in ("one", "two"):
            np.save(root / f"{name}.npy", Bag(name, 5)(texts))
        (root / "texts.txt").write_text("\n".join(texts) + "\n", "utf-8")

    def command(self, name: str) -> Run:
        """Make a run, or go on with it."""
        encoders = {each: Bag(each, ord(name) + i) for i, each in enumerate(("good", "fair"))}
        return evaluate(encoders, find_sets([str(self.root / "sets")]), self.root / name, baselines=["majority"])

    def keep(self) -> None:
        """Remember all files as they are."""
        self.kept = {path: (path.read_bytes(), path.stat()) for path in self.root.rglob("*") if path.is_file()}

    def restore(self) -> None:
        """Make all files as they were, with the times that a cache goes by."""
        for path in self.root.rglob("*"):
            if path.is_file() and path not in self.kept:
                path.unlink()
        for path, (content, stat) in self.kept.items():
            if not path.exists() or path.stat().st_mtime_ns != stat.st_mtime_ns:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def kinds(self) -> list[Kind]:
        """All kinds of files."""

        def those(pattern: str) -> Callable[[], list[Path]]:
            return lambda: sorted(self.root.glob(pattern))

        def again() -> None:
            for name in ("a", "b"):
                self.command(name)

        runs = [
            Kind("run.json", those("[ab]/run.json"), self.runs, again, lines=True, json=True),
            Kind("results.jsonl", those("[ab]/results.jsonl"), self.runs, again, lines=True),
            *(Kind(n, those(f"a/{n}/*"), self.runs, again) for n in ("predictions", "probes", "datasets")),
        ]
        return [
            *runs,
            Kind("manifest", those("sets/*/manifest.json"), self.sets, lines=True, json=True),
            Kind("rows.parquet", those("sets/*/rows.parquet"), self.sets),
            Kind("SentEval text", those("sets/*/*.txt"), self.texts_beside, lines=True),
            Kind("store", those("store/*/*"), self.stored),
            Kind("vector cache", those("cache/**/*.*"), self.cached),
            Kind("npy", those("*.npy"), self.given),
        ]

    def runs(self) -> Iterator[tuple[str, Any]]:
        """Records, their files, what is shown of them, and a comparison."""
        for name in ("a", "b"):
            run = Run.load(self.root / name)
            for r in run.results:
                yield f"{name} {r.key} record", to_line(replace(r, seconds={}), 0)
            yield from _each(f"{name} predictions", run.results, lambda r, run=run: _plain(run.predictions(r)))
            yield from _each(f"{name} rows", run.results, lambda r, run=run: run.rows(r))
            kept = [r for r in run.results if "probe" in r.files]
            yield from _each(f"{name} probe", kept, lambda r, run=run: _plain(vars(run.model(r))))
            summary = full_summary(run)
            for own in summary.sets:
                for column, cell in zip(summary.columns, own.cells, strict=True):
                    if cell is not None:
                        yield f"{name} {own.name} {column.name}", [cell.score, cell.letters]
            rows = _answer(lambda run=run: compare(run, "good", "fair"))
            yield f"{name} compare", rows if isinstance(rows, SentProbeError) or len(rows) == len(TASKS) else Gone()

    def sets(self) -> Iterator[tuple[str, Any]]:
        """Manifests and rows."""
        for task in TASKS:
            folder = self.root / "sets" / task
            found = _answer(lambda folder=folder: read_manifest(folder))
            yield f"manifest {task if isinstance(found, SentProbeError) else found['task']}", found
            yield f"set {task}", _answer(lambda folder=folder: _content(Dataset.load(folder)))

    def texts_beside(self) -> Iterator[tuple[str, Any]]:
        """The sets as SentEval's files have them."""
        for task in TASKS:
            path = str(self.root / "sets" / task / f"{task}.txt")
            yield task, _answer(lambda path=path: _content(find_sets([path])[0].load()))

    def stored(self) -> Iterator[tuple[str, Any]]:
        """The vectors of texts, from the store if it has them."""
        found, vectors = Store(self.root / "store").read(self.bag.identity, self.texts)
        fresh = self.bag(self.texts)
        fresh[found] = vectors if len(vectors) < len(fresh) else vectors[found]
        yield "vectors", fresh.tobytes()  # what is not found is encoded again

    def cached(self) -> Iterator[tuple[str, Any]]:
        """The vectors of words, from the cache if it has them."""
        yield "vectors", _answer(self._words)

    def _words(self) -> tuple[str, bytes]:
        with patch.dict(os.environ, SENTPROBE_CACHE=str(self.root / "cache")):
            encoder = load(f"vec:{self.root / 'words.txt'}")
            return str(encoder.identity), np.asarray(encoder([f"w{i} w{i % 7}" for i in range(60)])).tobytes()

    def given(self) -> Iterator[tuple[str, Any]]:
        """Vectors of the user's own are whatever is in their file; but others must have another identity."""
        for name in ("one", "two"):
            texts = self.root / "texts.txt"
            encoder = _answer(lambda name=name, texts=texts: load(f"npy:{self.root / name}.npy?texts={texts}"))
            if isinstance(encoder, SentProbeError):
                yield name, encoder
                continue
            vectors = _answer(lambda encoder=encoder: np.asarray(encoder(self.texts)).tobytes())
            known = self.__dict__.setdefault("identities", {}).setdefault(str(encoder.identity), vectors)
            yield name, Gone() if vectors == known else vectors


class Gone:
    """What is not given, and said to be missing elsewhere."""


def _answer(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except SentProbeError as e:
        return e


def _each(what: str, results: Sequence[Any], ask: Callable[[Any], Any]) -> Iterator[tuple[str, Any]]:
    return ((f"{what} {r.key}", _answer(lambda r=r: ask(r))) for r in results)


def _plain(arrays: Mapping[str, Any]) -> dict[str, bytes]:
    return {name: np.asarray(array).tobytes() for name, array in arrays.items()}


def _content(dataset: Dataset) -> tuple[Any, ...]:
    return dataset.digest, dataset.labels, list(dataset), dict(dataset.manifest)


# Damage


def damaged(kind: Kind, rng: random.Random) -> tuple[str, Files]:
    """The name of a damage, and the files as it leaves them."""
    files = kind.files()
    path = rng.choice(files)
    content = bytearray(path.read_bytes())
    lines, is_json = kind.lines or path.suffix in (".json", ".jsonl"), kind.json or path.suffix == ".json"
    ways = ["flip", "byte", "digit", "cut off", "delete"] if content else ["delete"]
    ways += ["swap", "copy"] * (len(files) > 1) + ["lines"] * (lines and bool(content)) + ["type"] * is_json
    ways += ["edit"] * (path.suffix in (".json", ".jsonl") and bool(content))
    way = rng.choice(ways)
    place = rng.randrange(len(content)) if content else 0
    match way:
        case "flip":
            content[place] ^= 1 << rng.randrange(8)
        case "byte":
            content[place] = rng.randrange(256)
        case "digit":
            digits = [i for i, byte in enumerate(content) if chr(byte).isdecimal() and byte < 128] or [place]
            content[rng.choice(digits)] = ord(rng.choice("0123456789"))
        case "cut off":
            del content[place:]
        case "delete":
            return way, {path: None}
        case "swap" | "copy":
            alike = [each for each in files if each != path and each.name == path.name]
            other = rng.choice(alike or [each for each in files if each != path])
            return way, {path: other.read_bytes()} | ({other: bytes(content)} if way == "swap" else {})
        case "lines":
            lines = bytes(content).splitlines(keepends=True)
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            changed = [lines[:i] + lines[i + 1 :], [*lines[:j], lines[i], *lines[j:]], _moved(lines, i, j)]
            return way, {path: b"".join(rng.choice(changed))}
        case "edit":
            return way, {path: _edited(bytes(content), path.suffix == ".jsonl", rng)}
        case "type":
            return way, {path: json.dumps(_mistyped(json.loads(bytes(content)), rng)).encode()}
    return way, {path: bytes(content)}


def _moved(lines: list[bytes], i: int, j: int) -> list[bytes]:
    lines = list(lines)
    lines[i], lines[j] = lines[j], lines[i]
    return lines


def _edited(content: bytes, is_log: bool, rng: random.Random) -> bytes:
    """JSON, or a line of a log, with another value of the same type somewhere, as someone edits it by hand."""
    lines = content.splitlines() if is_log else [content]
    i = rng.randrange(len(lines))
    lines[i] = json.dumps(_changed(json.loads(lines[i]), rng), indent=None if is_log else 1).encode()
    return b"\n".join(lines) + b"\n"


def _changed(value: Any, rng: random.Random) -> Any:
    """Another value of the same type."""
    match value:
        case dict() if value:
            name = rng.choice(list(value))
            return {**value, name: _changed(value[name], rng)}
        case list() if value:
            i = rng.randrange(len(value))
            return [*value[:i], _changed(value[i], rng), *value[i + 1 :]]
        case bool():
            return not value
        case int() | float():
            return value + rng.choice((-1, 1, 10))
        case str():
            other = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), value, count=1)
            return other if other != value else f"{value}x"
    return "x"


def _mistyped(value: Any, rng: random.Random) -> Any:
    """A value somewhere inside, as something else."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(list(value))
        return {**value, name: _mistyped(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        i = rng.randrange(len(value))
        return [*value[:i], _mistyped(value[i], rng), *value[i + 1 :]]
    return rng.choice([other for other in (None, 7, "x", [], {}, 1.5, True, ["x"], {"x": 1}) if other != value])


def look(read: Callable[[], Iterator[tuple[str, Any]]]) -> tuple[dict[str, Any], bool, Exception | None]:
    """What is read, whether damage was told, and what else was raised."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found: dict[str, Any] = {}
        try:
            found.update(read())
        except SentProbeError:
            return found, True, None
        except Exception as e:
            return found, bool(told), e
    return found, bool(told) or any(isinstance(value, SentProbeError) for value in found.values()), None


def outcome(before: Numbers, found: Numbers, told: bool) -> str:
    """What a damage did, by what was read before and after it."""
    given = {name: value for name, value in found.items() if not isinstance(value, SentProbeError | Gone)}
    same = all(name in before and value == before[name] for name, value in given.items())
    full_summary = found.keys() == before.keys()
    letters_only = told and not same and _letters_apart(before, given)
    if told:
        return TOLD if same or letters_only else SILENT
    return HARMLESS if same and full_summary else SILENT


def _letters_apart(before: Numbers, given: Numbers) -> bool:
    """Whether nothing differs but the letters of ties, which depend on who else is there."""
    return all(
        name in before and (value == before[name] or (isinstance(value, list) and value[:1] == before[name][:1]))
        for name, value in given.items()
    )


def trials(world: World, n: int, seed: int, kinds: Sequence[str] = ()) -> Iterator[tuple[str, str, str, str]]:
    """Damage files, one trial after the other: kind, damage, outcome, and what to know of it."""
    rng = random.Random(seed)
    chosen = [kind for kind in world.kinds() if not kinds or kind.name in kinds]
    usual = {}
    for kind in chosen:
        usual[kind.name], told, raised = look(kind.read)
        # else every damage would count as told
        assert (told, raised) == (False, None), f"{kind.name}: there is a message without damage"
    world.keep()
    for i in range(n):
        kind = chosen[i % len(chosen)]
        way, files = damaged(kind, rng)
        for path, content in files.items():
            path.unlink() if content is None else path.write_bytes(content)
        found, told, raised = look(kind.read)
        how = TRACEBACK if raised else outcome(usual[kind.name], found, told)
        note = f"{', '.join(map(str, files))}: {raised!r}" if raised else ", ".join(map(str, files))
        if how == TOLD and kind.again and i // len(chosen) % 10 == 0 and (kind.name, way) != ("probes", "delete"):
            look(lambda kind=kind: iter([("again", kind.again())]))
            fresh, still, raised = look(kind.read)
            if still or raised or outcome(usual[kind.name], fresh, still) != HARMLESS:
                how, note = SILENT, f"not put right: {note} {raised!r}"
        world.restore()
        yield kind.name, way, how, note


def main() -> int:
    """Print a table of kinds and damages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        unnoticed = print_table(trials(World(Path(folder) / "world"), options.trials, options.seed))
    print(f"= damage/unnoticed {unnoticed}")
    return 1 if unnoticed else 0


def print_table(found: Iterator[tuple[str, str, str, str]]) -> int:
    """Print what became of damages, and each that was not noticed; returns how many these are."""
    started = time.process_time()
    counts: Counter[tuple[str, str, str]] = Counter()
    for kind, way, how, note in found:
        counts[kind, way, how] += 1
        if how in (SILENT, TRACEBACK):
            print(f"{how}: {kind}, {way}: {note}", flush=True)
    ways = list(dict.fromkeys(way for _, way, _ in counts))
    print(f"\n{'':16}" + "".join(f"{way:>12}" for way in ways) + "   (told/harmless/silent/traceback)")
    for kind in dict.fromkeys(kind for kind, _, _ in counts):
        cells = ["/".join(str(counts[kind, way, how]) for how in OUTCOMES) for way in ways]
        print(f"{kind:16}" + "".join(f"{cell if cell != '0/0/0/0' else '':>12}" for cell in cells))
    total = Counter({how: sum(n for (_, _, other), n in counts.items() if other == how) for how in OUTCOMES})
    print(f"\n{sum(total.values())} damages: " + ", ".join(f"{total[how]} {how}" for how in OUTCOMES), end="; ")
    print(f"{time.process_time() - started:.0f} s of processor time")
    return total[SILENT] + total[TRACEBACK]


if __name__ == "__main__":
    sys.exit(main())
