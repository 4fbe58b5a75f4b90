"""What `sentprobe annotate` costs beside plain spaCy, in one run: reading to syncing.

    python benchmarks/annotate.py --model fr_core_news_sm [--sentences 10000] [--text FILE]

Both sides annotate the same paragraphs on one thread, in turns: ``nlp.pipe`` with the same components, whose documents
are thrown away, and `sentprobe annotate` with one job, which writes a compressed corpus. The text is the built-in
corpus, five sentences per paragraph, unless ``--text`` names another; in the wrong language it costs about the same.
Prints CPU seconds of the best round of each, their ratio, and by how much memory grows after the first quarter. The
model of `sentprobe annotate` is in a process of its own, which has to start, to load the model and to learn the words
of the text, as plain spaCy has before: so the text is annotated twice by one command and once by another,
and the difference counts. What the start costs is measured with a text of a word, and printed.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import spacy
from common.memory import resident

from sentprobe.annotate.annotators.spacy import UNUSED
from sentprobe.annotate.request import AnnotationRequest, find_inputs, read_pieces
from sentprobe.annotate.run import annotate_corpus
from sentprobe.annotate.source import split_paragraphs
from sentprobe.core.resources import single_threaded
from sentprobe.corpus import Corpus

SHORT = "--model {spacy} --sentences 1000 --rounds 1"
PARAGRAPH = 5


def seconds(work: Callable[[], object]) -> float:
    """Processor time of a call, and of the processes that it starts and ends."""

    def so_far() -> float:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + ended.ru_utime + ended.ru_stime

    start = so_far()
    work()
    return so_far() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--text")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = arguments.text
        if text is None:
            text = str(Path(folder, "text.txt"))
            made = [sentence.text for sentence in Corpus.synthetic(arguments.sentences)]
            parts = (" ".join(made[at : at + PARAGRAPH]) for at in range(0, len(made), PARAGRAPH))
            Path(text).write_text("\n\n".join(parts), "utf-8")
        compare(arguments.model, text, Path(folder), arguments.rounds)


def compare(model: str, text: str, folder: Path, rounds: int) -> None:
    """Both sides in turns."""
    request = AnnotationRequest(f"spacy:{model}", find_inputs([text]))
    Path(folder, "copy.txt").write_bytes(Path(text).read_bytes())
    double = AnnotationRequest(f"spacy:{model}", find_inputs([text, str(folder / "copy.txt")]))
    Path(folder, "word.txt").write_text("Oui.", "utf-8")
    short = AnnotationRequest(f"spacy:{model}", find_inputs([str(folder / "word.txt")]))
    reading = request.readings["text"]
    pieces = read_pieces(request.inputs, request.readings, None)
    paragraphs = [paragraph for _, piece in pieces for paragraph in split_paragraphs(piece, reading)]
    nlp = spacy.load(model)
    nlp.disable_pipes(*(pipe for pipe in nlp.pipe_names if nlp.get_pipe_meta(pipe).factory in UNUSED))
    memory: list[tuple[int, int]] = []

    def plain() -> None:
        with single_threaded():
            for _ in nlp.pipe(paragraphs):
                pass

    def twice(number: int) -> None:
        annotate_corpus(double, folder / f"{number}-twice.conllu.gz", progress=lambda *_: None)

    def ours(number: int) -> None:
        def progress(stage: str, done: int, of: int | None) -> None:
            memory.append((done, resident()["RssAnon"] + sum(map(_anonymous, _children()))))

        annotate_corpus(request, folder / f"{number}.conllu.gz", progress=progress)

    def start(number: int) -> None:
        annotate_corpus(short, folder / f"{number}-word.conllu.gz", progress=lambda *_: None)

    plain()  # both have loaded what they load lazily, and know the words of the text
    ours(-1)
    memory.clear()
    times: dict[str, list[float]] = {"nlp.pipe": [], "sentprobe annotate": []}
    once: list[float] = []
    starts: list[float] = []
    for number in range(rounds):
        starts.append(seconds(lambda number=number: start(number)))  # type: ignore[misc]
        once.append(seconds(lambda number=number: ours(number)))  # type: ignore[misc]
        times["sentprobe annotate"].append(seconds(lambda number=number: twice(number)))  # type: ignore[misc]
        times["nlp.pipe"].append(seconds(plain))
    times["sentprobe annotate"] = [min(times["sentprobe annotate"]) - min(once)]
    made = sum(1 for _ in Corpus.read(folder / "0.conllu.gz"))
    print(f"{made:,} sentences in {len(paragraphs):,} paragraphs, {model}, spaCy {spacy.__version__}")
    for name, found in times.items():
        print(f"{name:16}{min(found):8.2f} CPU s{made / min(found):10,.0f} sentences per CPU s")
    print(f"{'start and load':16}{min(starts):8.2f} CPU s")
    first = [size for done, size in memory[: len(memory) // rounds] if 4 * done >= made]
    growth = (first[-1] - first[0]) / (1 << 20) if first else 0.0
    print(f"memory after the first quarter and at the end of the first round: {growth:+.1f} MiB")
    print(f"= annotate/overhead {min(times['sentprobe annotate']) / min(times['nlp.pipe']):.3f}")
    print(f"= annotate/growth {growth:.1f}")


def _children() -> list[int]:
    """The processes that this one has started."""
    return [int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]


def _anonymous(pid: int) -> int:
    """Bytes of memory of a process that are not those of files."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon")), 0)


if __name__ == "__main__":
    main()
