"""How well an annotator does on a gold treebank, in the way in which it is going to be used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sentprobe.annotate.annotator import Loaded
from sentprobe.annotate.evaluation import Evaluation, evaluate
from sentprobe.annotate.repair import repair
from sentprobe.core.formatting import POINTS
from sentprobe.core.resources import single_threaded
from sentprobe.core.third_party import third_party_code
from sentprobe.corpus.corpus import Corpus
from sentprobe.corpus.files import stem
from sentprobe.corpus.tokenisers import splitter
from sentprobe.corpus.treebanks.catalogue import find_treebank, is_spec
from sentprobe.corpus.treebanks.fetch import fetch_treebank
from sentprobe.errors import DataError, SentProbeError, describe_error
from sentprobe.sentence import Sentence

PARAGRAPH_SENTENCES = 10
"""Gold sentences that are given to the annotator as one paragraph, if it is to find their boundaries."""
SHOWN = ("UPOS", "UFeats", "UAS", "LAS")
"""The scores that a line has room for."""


@dataclass(frozen=True)
class Accuracy:
    """Scores on a treebank."""

    treebank: str
    evaluation: Evaluation
    is_split: bool
    """Whether the annotator was given gold sentences, and not raw text."""

    def __str__(self) -> str:
        """One line, as it is written above the first sentence of a corpus."""
        scores = self.evaluation.scores
        shown = ", ".join(f"{name} {POINTS.number(scores[name].f1)}" for name in SHOWN if name in scores)
        text = "gold sentences" if self.is_split else "raw text"
        where = f"{self.evaluation.sentences:,} sentences of {self.treebank}"
        return f"{shown} (F1 by the rules of CoNLL 2018, {text}) on {where}"

    def plain(self) -> dict[str, Any]:
        """As plain data, for the card."""
        return {
            "treebank": self.treebank,
            "sentences": self.evaluation.sentences,
            "words": self.evaluation.words,
            "input": "gold sentences" if self.is_split else "raw text",
            "f1": {name: round(score.f1, 6) for name, score in self.evaluation.scores.items()},
            "interval": {
                name: [round(x, 6) for x in score.interval]
                for name, score in self.evaluation.scores.items()
                if score.interval is not None
            },
            "text": str(self),
        }


@dataclass(frozen=True)
class Gold:
    """A treebank to score an annotator on: what the user typed, what it is called, and its files."""

    typed: str
    name: str
    files: tuple[str, ...]

    @classmethod
    def of(cls, typed: str) -> Gold:
        """The treebank in a file, or by name; one that is not here is downloaded."""
        if not is_spec(typed):
            return cls(typed, stem(typed), (typed,))
        return cls(typed, find_treebank(typed).spec, tuple(map(str, fetch_treebank(typed))))


def measure_accuracy(annotator: str, loaded: Loaded, treebank: Gold, is_split: bool, splitter_name: str) -> Accuracy:
    """Annotate the text of a treebank and score it; with ``is_split``, by its own sentences or by a splitter's.

    Gold sentences are not given where a splitter is to find them: its errors count.
    """
    gold = list(Corpus.read(*treebank.files))
    if not any(s.heads or s.upos for s in gold):
        raise DataError(f"{treebank.typed} has no annotation to compare with; expected a treebank in CoNLL-U.")
    units = [s.text for s in gold] if is_split and not splitter_name else list(_paragraphs(gold))
    if splitter_name:
        units = [sentence for text in units for sentence in splitter(splitter_name)(text)]
    texts = [" ".join(text.split()) for text in units]
    try:
        with single_threaded(), third_party_code:
            found = [repair(s).sentence for some in loaded.annotate(texts, is_split) for s in some]
    except (SentProbeError, KeyboardInterrupt):
        raise
    except BaseException as e:
        raise DataError(f"The annotator {annotator} fails on the text of {treebank.typed}: {describe_error(e)}") from e
    return Accuracy(treebank.name, evaluate(gold, found), is_split and not splitter_name)


def _paragraphs(gold: Sequence[Sentence]) -> Iterator[str]:
    """Texts of a few sentences of the same document: files do not always say where paragraphs end."""
    held: list[str] = []
    doc = None
    for s in gold:
        if held and (s.doc != doc or len(held) == PARAGRAPH_SENTENCES):
            yield " ".join(held)
            held = []
        held.append(s.text)
        doc = s.doc
    if held:
        yield " ".join(held)
