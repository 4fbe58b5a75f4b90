"""What an annotator is: something that turns texts into annotated sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sonde.core.plugins import Kind
from sonde.corpus.sentence import Sentence


@dataclass(frozen=True)
class Model:
    """What is known of a loaded model, for the card of a corpus and the manifests of sets made from it."""

    name: str
    """As it was typed after the colon, or what stands for it: ``fr_core_news_sm``."""
    version: str
    """Of the model, or a digest of its file where it has no version."""
    software: str
    """The program with its version: ``spaCy 3.8.7``."""
    licence: str
    """Of the model; empty if it does not say."""
    language: str | None
    universal: bool
    """Whether its tags and relations are those of Universal Dependencies."""
    columns: tuple[str, ...]
    """The columns that it fills, of ``sonde.corpus.sentence.ANNOTATION_COLUMNS``."""
    splits: bool
    """Whether it finds sentence boundaries itself; if not, it is given one sentence at a time."""


@dataclass(frozen=True)
class Loaded:
    """An annotator that is ready: a model, and what is done with it."""

    model: Model
    annotate: Callable[[Sequence[str]], Iterable[Sequence[Sentence]]]
    """Texts (paragraphs, or single sentences where ``model.splits`` is false or the user says that they are split) to
    the sentences of each, in order, with any ids: they are numbered later. What is not a tree is passed on as it is:
    it is repaired or dropped later, and counted."""


@dataclass(frozen=True)
class Annotator:
    """A kind of model that annotates text."""

    name: str
    """What users type before the colon: ``spacy``."""
    summary: str
    """One line."""
    load: Callable[[str, Mapping[str, str]], Loaded]
    """From what is typed after the colon, and its options (``?key=value&…``). Missing packages are NotInstalled, and
    missing models an error with the command that fetches them; nothing is downloaded."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Its options with a line about each."""
    order: int = 0


ANNOTATORS: Kind[Annotator] = Kind("annotator", "sonde.annotate.annotators", Annotator)
