"""What an annotator is: something that turns texts into annotated sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol
from urllib.parse import unquote

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.plugins import Kind, part_repr
from sentprobe.errors import UsageError
from sentprobe.sentence import Sentence


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
    """The columns that it fills, of ``sentprobe.sentence.ANNOTATION_COLUMNS``."""
    splits: bool
    """Whether it finds sentence boundaries itself; if not, it is given one sentence at a time."""
    notes: tuple[str, ...] = ()
    """What users should know before they make sets from its output, a sentence each."""

    @property
    def identity(self) -> str:
        """What tells it apart from others, on one line."""
        return f"{self.name} {self.version}, {self.software}"


class Annotate(Protocol):
    """What a loaded model does."""

    def __call__(self, texts: Sequence[str], is_split: bool, /) -> Iterable[Sequence[Sentence]]:
        """The sentences of each text, in order, with any ids: they are numbered later.

        The texts are paragraphs, or, with ``is_split``, single sentences, which are not to be split further; always
        so where ``Model.splits`` is false. They have no line breaks, and no white space but single spaces between
        words. What is not a tree is passed on as it is: it is repaired or dropped later, and counted.
        """
        ...


@dataclass(frozen=True)
class Loaded:
    """An annotator that is ready: a model, and what is done with it."""

    model: Model
    annotate: Annotate


class Load(Protocol):
    """How an annotator is loaded."""

    def __call__(self, name: str, options: Mapping[str, str], /) -> Loaded:
        """From what is typed after the colon, and its options (``?key=value&…``), which have been checked by name.

        Missing packages are NotInstalled, and missing models an error with the command that fetches them; nothing is
        downloaded.
        """
        ...


@dataclass(frozen=True)
class Annotator:
    """A kind of model that annotates text.

    Parameters
    ----------
    name
        What users type before the colon: ``spacy``.
    summary
        One line.
    load
        Loads a model, from what is typed after the colon and its options; it returns a ``LoadedAnnotator``.
    options
        Its options with a line about each.
    order
        Its place in lists.

    Examples
    --------
    >>> from sentprobe import Sentence
    >>> from sentprobe.extend import AnnotationModel, Annotator, LoadedAnnotator
    >>> def annotate(texts, is_split):
    ...     for text in texts:
    ...         words = tuple(text.split())
    ...         yield [Sentence("", text, words, upos=("X",) * len(words))]
    >>> def load(name, options):
    ...     model = AnnotationModel(name, "1", "mine 1", "MIT", "en", universal=True, columns=("upos",), splits=False)
    ...     return LoadedAnnotator(model, annotate)
    >>> Annotator("mine", "the tag X for every word", load)
    Annotator('mine')
    >>> [[sentence]] = load("x", {}).annotate(["It works ."], True)
    >>> sentence.forms, sentence.upos
    (('It', 'works', '.'), ('X', 'X', 'X'))
    """

    name: str
    summary: str
    load: Load
    options: Mapping[str, str] = field(default_factory=dict)
    order: int = 0

    __repr__ = part_repr


ANNOTATORS: Kind[Annotator] = Kind("annotator", "sentprobe.annotate.annotators", Annotator)


def parse_annotator(typed: str) -> tuple[Annotator, str, dict[str, str]]:
    """``spacy:fr_core_news_sm?key=value&…`` as an annotator, a name and its options; UsageError if that is wrong.

    Names and values may be percent-encoded: a question mark in a name is ``%3F``.

    Examples
    --------
    >>> annotator, name, options = parse_annotator("spacy:fr_core_news_sm")
    >>> annotator.name, name, options
    ('spacy', 'fr_core_news_sm', {})
    """
    head, mark, query = typed.partition("?")
    kind, colon, name = head.partition(":")
    if not colon:
        raise UsageError(
            f"{typed!r} names no annotator: expected KIND:MODEL, such as spacy:fr_core_news_sm. "
            f"`sentprobe ls annotators` lists the kinds.{did_you_mean(kind, ANNOTATORS)}"
        )
    annotator = ANNOTATORS.get(kind)
    options: dict[str, str] = {}
    for part in query.split("&") if mark else ():
        key, equals, value = part.partition("=")
        if not key or not equals or key in options:
            raise UsageError(f"{typed!r} has the option {part!r}; expected key=value, each key once, joined by &.")
        if key not in annotator.options:
            takes = ", ".join(annotator.options) or "no options"
            hint = did_you_mean(key, annotator.options)
            raise UsageError(f"{typed!r} has the option {key!r}; {kind}: takes {takes}.{hint}")
        options[key] = unquote(value)
    return annotator, unquote(name), options


def load_annotator(typed: str) -> Loaded:
    """Load what ``KIND:MODEL?key=value`` names."""
    annotator, name, options = parse_annotator(typed)
    return annotator.load(name, options)


@lru_cache(maxsize=1)
def loaded_annotator(typed: str) -> Loaded:
    """The annotator that was typed, loaded once per process."""
    return load_annotator(typed)
