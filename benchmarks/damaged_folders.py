"""What random corruption does to the folders of trainings, translation, annotation, alignment and judging.

    python benchmarks/damaged_folders.py [--trials 2500] [--seed 0] [--kind training]…

Of each kind there are two finished folders and one that was interrupted. Files are damaged one at a time as in
``damage.py``, also by copies of files of other epochs and folders; then the finished ones are read as users do, the
interrupted one is resumed in a copy, and what comes of all this is compared with what comes of undamaged files. What an
annotator's own table says is taken as they wrote it, unless it cannot be text.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

if __package__:
    from benchmarks import damage
else:  # as a script
    import damage

from sentprobe import Corpus, Dataset, Example
from sentprobe.core.processes import Child
from sentprobe.encoders import load

SHORT = "--trials 25"
KINDS = ("training", "language model", "translation", "annotation", "alignment", "judge", "judge answers")
TEXTS = ["The dog sleeps.", "two cats see the old man"]
RULES = """
import re
from sentprobe import Sentence

def annotate(texts, is_split):
    return [[parsed(part) for part in re.findall(r"[^.]+[.]", text)] for text in texts]

annotate.version, annotate.licence, annotate.language = "1", "CC0", "en"
annotate.columns, annotate.universal = ("upos", "heads", "deprels"), True

def parsed(text):
    forms = tuple(re.findall(r"\\\\w+|[.]", text))
    heads = (-1, *[0] * (len(forms) - 1))
    return Sentence("", text.strip(), forms, upos=("NOUN",) * len(forms), heads=heads,
                    deprels=("root", *["dep"] * (len(forms) - 1)))
""".replace("\\\\", "\\")


class Crash(Exception):
    """An end in the middle."""


class Folders(damage.World):
    """Folders of these kinds."""

    def __init__(self, root: Path, kinds: Sequence[str] = KINDS) -> None:
        self.root, self.wanted = root, kinds
        self.requests: dict[str, Callable[[int], Any]] = {}
        root.mkdir(parents=True)
        makers = {
            "training": self._make_training,
            "language model": self._make_language_models,
            "translation": self._make_translation,
            "annotation": self._make_annotation,
            "alignment": self._make_alignment,
            "judge": self._make_judge,
            "judge answers": self._make_judge,
        }
        for make in dict.fromkeys(makers[kind] for kind in kinds):
            make()

    def kinds(self) -> list[damage.Kind]:
        """Those that are wanted."""

        def those(*patterns: str) -> Callable[[], list[Path]]:
            found = (path for pattern in patterns for path in self.root.glob(pattern))
            return lambda: sorted(path for path in found if path.is_file() and path.name != "card.md")

        def all_of(folder: str) -> Callable[[], list[Path]]:
            files = those(f"{folder}/**/*")()
            return lambda: files

        known = [
            damage.Kind("training", all_of("nli"), self._read_training),
            damage.Kind("language model", all_of("mlm"), self._read_language_models),
            damage.Kind("translation", all_of("mt"), self._read_translation),
            damage.Kind("annotation", all_of("annotation"), self._read_annotation, lines=True),
            damage.Kind("alignment", all_of("alignment"), self._read_alignment),
            damage.Kind("judge", all_of("judge/folders"), self._read_judge, lines=True),
            damage.Kind("judge answers", all_of("judge/answers"), self._read_answers, lines=True),
        ]
        return [kind for kind in known if kind.name in self.wanted]

    # trainings

    def _train(self, name: str, request: Callable[[int], Any]) -> None:
        """Two finished folders with different seeds, and one that was interrupted in its second epoch."""
        from sentprobe.lab.training.train import train

        def crash(report: Any) -> None:
            if report.epoch == 2 and not report.checkpoint:
                raise Crash

        self.requests[name] = request
        for folder, seed in (("a", 1), ("b", 2)):
            train(request(seed), self.root / name / folder)
        try:
            train(request(3), self.root / name / "c", crash)
        except Crash:
            return
        raise AssertionError("it was not interrupted")

    def _make_training(self) -> None:
        from sentprobe.lab.training.request import make_request

        texts = [sentence.text for sentence in Corpus.synthetic(160)]
        labels = ("entailment", "neutral", "contradiction")
        rows = [f"{texts[i]}\t{texts[i if i % 3 == 0 else -i - 1]}\t{labels[i % 3]}\n" for i in range(60)]
        (self.root / "pairs.tsv").write_text("".join(rows), "utf-8")

        def request(seed: int) -> Any:
            options = {"optimiser": "adam", "batch": 16, "epochs": 2, "patience": 0, "every": 3, "seed": seed}
            settings = {"hidden": 6, "head": 8}
            return make_request(
                "nli", "bilstm-max", settings=settings, options=options, width=8,
                train=(str(self.root / "pairs.tsv"),), held_out=15,
            )  # fmt: skip

        self._train("nli", request)

    def _make_language_models(self) -> None:
        from sentprobe.lab.training.request import make_request

        texts = "".join(f"{sentence.text}\n" for sentence in Corpus.synthetic(50))
        (self.root / "text.en").write_text(texts, "utf-8")

        def request(seed: int) -> Any:
            sizes = {"hidden": 8, "layers": 1, "heads": 2, "codes": 40, "tokens": 256, "length": 32, "positions": 64}
            options = {"epochs": 2, "warmup": 5, "patience": 0, "lr": 3e-3, "seed": seed}
            train = (f"en={self.root / 'text.en'}",)
            return make_request("mlm", settings=sizes, options=options, train=train, held_out=8)

        self._train("mlm", request)

    def _make_translation(self) -> None:
        from sentprobe.lab.training.request import make_request

        for language in ("en", "qto"):
            own = {} if language == "en" else {"language": language}
            texts = "".join(f"{sentence.text}\n" for sentence in Corpus.synthetic(50, **own))
            (self.root / f"both.{language}").write_text(texts, "utf-8")

        def request(seed: int) -> Any:
            sizes = {"hidden": 8, "layers": 1, "heads": 2, "dropout": 0.0, "positions": 40}
            settings = {**sizes, "codes": 40, "tokens": 256, "length": 30}
            options = {"epochs": 2, "lr": 5e-3, "warmup": 20, "patience": 0, "seed": seed}
            pairs = f"en-qto={self.root / 'both.en'},{self.root / 'both.qto'}"
            return make_request("mt", settings=settings, options=options, train=(pairs,), held_out=8)

        self._train("mt", request)

    def _resume(self, name: str) -> Any:
        """What the interrupted training ends with: all weights, the best checkpoint, and the scores."""
        from sentprobe.lab.training.train import train

        with tempfile.TemporaryDirectory() as place:
            copy = Path(place) / "c"
            shutil.copytree(self.root / name / "c", copy)
            folder = train(self.requests[name](3), copy)
            every = folder.checkpoints()
            weights = [(c.name, (copy / c.name / "model.safetensors").read_bytes()) for c in every]
            # a checkpoint that was damaged and deleted would be missing
            return folder.best().name, folder.every_score(), weights, folder.digest(folder.best())

    def _read_trained(self, name: str, epochs: Sequence[str]) -> Iterator[tuple[str, Any]]:
        from sentprobe.lab.networks.folder import open_folder
        from sentprobe.lab.training.history import read_history

        for folder in ("a", "b"):
            path = self.root / name / folder
            for options in epochs:
                yield f"{folder}{options}", damage._answer(lambda path=path, o=options: _vectors(f"trained:{path}{o}"))
            yield f"{folder} history", damage._answer(lambda path=path: repr(read_history(open_folder(path))))
        yield "c", damage._answer(lambda: self._resume(name))

    def _read_training(self) -> Iterator[tuple[str, Any]]:
        yield from self._read_trained("nli", ("", "?epoch=0", "?epoch=1", "?epoch=2", "?step=3", "?random=1"))

    def _read_language_models(self) -> Iterator[tuple[str, Any]]:
        yield from self._read_trained("mlm", ("", "?epoch=0", "?epoch=1", "?random=1"))
        from sentprobe.lab.training.lm.pretrained import open_start

        for folder in ("a", "b"):
            path = self.root / "mlm" / folder
            yield f"hf {folder}", damage._answer(lambda path=path: _vectors(f"hf:{path}")[1])
            start = damage._answer(lambda path=path: open_start(str(path)).tokens().strings())
            yield f"tokens {folder}", start

    def _read_translation(self) -> Iterator[tuple[str, Any]]:
        yield from self._read_trained("mt", ("?lang=en", "?epoch=1&lang=en"))
        from sentprobe.lab.networks.folder import open_folder
        from sentprobe.lab.training.mt.translator import load_translator

        for folder in ("a", "b"):
            path = self.root / "mt" / folder
            yield (
                f"translations {folder}",
                damage._answer(lambda path=path: load_translator(open_folder(path), "qto")(TEXTS)),
            )

    # annotation

    def _annotate(self, place: Path, out: str, text: str, crash: bool = False) -> Any:
        from sentprobe.annotate import chunks as chunking
        from sentprobe.annotate.request import AnnotationRequest, find_inputs
        from sentprobe.annotate.run import annotate_corpus
        from sentprobe.annotate.sources import text as text_source

        def progress(stage: str, done: int, of: int | None) -> None:
            if crash and done > 20:
                raise Crash

        request = AnnotationRequest(
            f"py:{self.root / 'rules.py'}:annotate", find_inputs([str(place / text)]), dedupe="exact"
        )
        with (
            patch.object(chunking, "CHUNK_PIECES", 3),
            patch.object(text_source, "PIECE_CHARACTERS", 10),
            patch.object(Child, "call", _call_here),
        ):
            annotate_corpus(request, place / out, progress=progress)

    def _make_annotation(self) -> None:
        (self.root / "rules.py").write_text(RULES, "utf-8")
        place = self.root / "annotation"
        place.mkdir()
        for name, word in (("text", "dog"), ("other", "cat")):
            lines = [f"The {word} number {i % 40} barks at {i % 7}.\n\n" for i in range(60)]
            (place / f"{name}.txt").write_text("".join(lines), "utf-8")
        self._annotate(place, "a.conllu", "text.txt")
        self._annotate(place, "b.conllu.gz", "other.txt")
        for out, text in (("c.conllu", "text.txt"), ("d.conllu.gz", "other.txt")):
            try:
                self._annotate(place, out, text, crash=True)
            except Crash:
                continue
            raise AssertionError("it was not interrupted")

    def _read_annotation(self) -> Iterator[tuple[str, Any]]:
        for out in ("a.conllu", "b.conllu.gz", "c.conllu", "d.conllu.gz"):
            text = "other.txt" if out.endswith(".gz") else "text.txt"
            yield out, damage._answer(lambda out=out, text=text: self._annotated(out, text))

    def _annotated(self, out: str, text: str) -> Any:
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place) / "annotation"
            shutil.copytree(self.root / "annotation", copy)
            self._annotate(copy, out, text)
            return (copy / out).read_bytes(), json.loads((copy / f"{out}.json").read_bytes())

    # alignment

    def _align(self, folder: Path, spaces: str, crash: bool = False) -> Any:
        """By the method vecmap, whose rounds are saved; two seeds, and refinement."""
        from sentprobe.lab.alignment.align import align
        from sentprobe.lab.alignment.request import make_request

        def report(progress: Any) -> None:
            if crash and (progress.seed, progress.stage, progress.number) == (1, "refine", 1):
                raise Crash

        names = [str(self.root / f"{spaces}-{side}.vec") for side in ("source", "target")]
        dictionary = [str(self.root / "words.txt")]
        request = make_request(*names, method="vecmap", dictionary=dictionary, tries=2, refine=2)
        return align(request, folder, report)

    def _make_alignment(self) -> None:
        for spaces, seed in (("one", 1), ("two", 2)):
            rng = np.random.default_rng(seed)
            source, rotation = rng.normal(size=(60, 5)), np.linalg.qr(rng.normal(size=(5, 5)))[0]
            target = source @ rotation + 0.3 * rng.normal(size=source.shape)
            for side, vectors in (("source", source), ("target", target)):
                lines = [f"w{i} {' '.join(f'{x:.4f}' for x in row)}\n" for i, row in enumerate(vectors)]
                (self.root / f"{spaces}-{side}.vec").write_text(f"60 5\n{''.join(lines)}", "utf-8")
        (self.root / "words.txt").write_text("".join(f"w{i} w{i}\n" for i in range(25)), "utf-8")
        place = self.root / "alignment"
        for folder, spaces in (("a", "one"), ("b", "two")):
            self._align(place / folder, spaces)
        try:
            self._align(place / "c", "one", crash=True)
        except Crash:
            return
        raise AssertionError("it was not interrupted")

    def _read_alignment(self) -> Iterator[tuple[str, Any]]:
        for folder in ("a", "b"):
            path = self.root / "alignment" / folder
            yield folder, damage._answer(lambda path=path: _alignment(path))
        yield "c", damage._answer(self._resume_alignment)

    def _resume_alignment(self) -> Any:
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place) / "c"
            shutil.copytree(self.root / "alignment" / "c", copy)
            self._align(copy, "one")
            config, history, *maps = _alignment(copy)
            return {key: value for key, value in config.items() if key not in ("source", "target")}, history, maps

    # judging

    def _make_judge(self) -> None:
        from sentprobe.judge.judgments import read_judgments
        from sentprobe.judge.people import attach
        from sentprobe.judge.sheet import sample_sheet, write_sheets
        from sentprobe.judge.vote import vote

        place = self.root / "judge"
        rows = [Example("ab"[i % 2], ("text", str(i)), f"text {i}") for i in range(60)]
        dataset = Dataset("own/set", "set", 1, "en", ("a", "b"), {"te": rows})
        self.triples: dict[str, dict[Path, Any]] = {}
        for name, control in (("one", 10), ("two", 0)):  # the same rows, with and without controls
            sheet = sample_sheet(dataset, n=40 - control, control=control)
            write_sheets([sheet], place / "folders" / name)
            (place / "answers" / name).mkdir(parents=True)
            for person, period in (("anna", 9), ("ben", 5)):
                answers = [
                    f"{item.id}\t{item.text}\t{'ab'[(item.label == 'b') ^ (i % period == 0)]}\n"
                    for i, item in enumerate(sheet.items)
                ]
                file = place / "answers" / name / f"{person}.tsv"
                file.write_text("item\tsentence\tlabel\n" + "".join(answers), "utf-8")
            files = sorted((place / "answers" / name).iterdir())
            self.triples[name] = {file: _triples(file) for file in files}
            attach(vote(sheet, read_judgments(files, [sheet]), control_accuracy=0.5), place / "folders" / f"run {name}")

    def _votes(self, name: str) -> Any:
        from sentprobe.judge.judgments import read_judgments
        from sentprobe.judge.sheet import read_sheets
        from sentprobe.judge.vote import vote

        (sheet,) = read_sheets(self.root / "judge" / "folders" / name)
        return repr(asdict(vote(sheet, read_judgments(sorted(self.triples[name]), [sheet]), control_accuracy=0.5)))

    def _read_judge(self) -> Iterator[tuple[str, Any]]:
        from sentprobe.errors import DataError
        from sentprobe.judge.people import read_people

        for name in ("one", "two"):
            yield f"votes {name}", damage._answer(lambda name=name: self._votes(name))
            people, problems = read_people(self.root / "judge" / "folders" / f"run {name}")
            yield f"people {name}", DataError(problems[0]) if problems else repr(people)

    def _read_answers(self) -> Iterator[tuple[str, Any]]:
        for name, known in self.triples.items():
            found = damage._answer(lambda name=name: self._votes(name))
            same = all(_triples(file) == rows for file, rows in known.items())
            odd = any(_has_control_characters(file) for file in known)
            told = isinstance(found, damage.SentProbeError)
            yield f"votes {name}", found if same or told else damage.Gone()
            if odd and not told:
                yield f"control characters {name}", "used"


def _alignment(path: Path) -> Any:
    """All that can be read of an alignment; seconds differ."""
    from sentprobe.lab.alignment.folder import open_alignment

    folder = open_alignment(path)
    history = [{key: value for key, value in line.items() if key != "seconds"} for line in folder.history()]
    checkpoints = folder.checkpoints()
    results = [folder.result(facts["seed"]) for facts in folder.config["seeds"]]
    maps = [folder.map(), *results, *map(folder.map, checkpoints)]
    arrays = [np.concatenate([*m.source.means, *(m.source.matrix)], axis=None).tobytes() for m in maps]
    return folder.config, history, [c.name for c in checkpoints], arrays, [m.source.steps for m in maps]


def _call_here(child: Child, function: Callable[..., Any], *arguments: Any) -> Any:
    """A call of a child in this process: what is damaged are files, and a trial would be mostly the start of Python."""
    return function(*arguments)


def _vectors(name: str) -> Any:
    encoder = load(name)
    score = getattr(encoder, "training_score", None)
    return str(encoder.identity), encoder(TEXTS).tobytes(), repr(score)


def _triples(file: Path) -> Any:
    """The lines of an annotator's table, as simply as possible; None if there are none."""
    if not file.exists():
        return None
    lines = [line.split(b"\t") for line in file.read_bytes().split(b"\n") if line.strip()]
    return sorted((cells[0].strip(), cells[-1].strip().lower()) for cells in lines if len(cells) == 3)


def _has_control_characters(file: Path) -> bool:
    content = file.read_bytes() if file.exists() else b""
    return any(byte < 32 and byte not in b"\t\n\r" for byte in content)


def main() -> int:
    """Print a table of kinds and damages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=KINDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, SENTPROBE_CACHE=f"{folder}/cache", OMP_NUM_THREADS="1"))
        import torch

        torch.set_num_threads(1)  # networks are tiny
        world = Folders(Path(folder) / "world", options.kind or KINDS)
        unnoticed = damage.print_table(damage.trials(world, options.trials, options.seed))
    print(f"= damaged_folders/unnoticed {unnoticed}")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
