"""spaCy pipelines, by the name of an installed package or the path of a folder.

    spacy:fr_core_news_sm
    spacy:path/to/pipeline

Whether its relations are those of Universal Dependencies is decided by the parser's own list of them: those of the
English and German packages are not. spaCy does not split multi-word tokens into words as UD does: French *du*, which is
*de* and *le* there, is one word here.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sentprobe.annotate.annotator import Annotator, Loaded, Model
from sentprobe.annotate.conversion import not_universal
from sentprobe.core.arguments import did_you_mean
from sentprobe.core.install import pip_install
from sentprobe.errors import NotInstalled, UsageError, describe_error
from sentprobe.sentence import Sentence

UNUSED = ("ner", "entity_ruler", "entity_linker", "textcat", "textcat_multilabel", "spancat")
"""Components whose results have no column."""
FALLBACK_EXAMPLES = ("One two three.",)
BATCH_CHARACTERS = 16_000
"""Characters that are annotated at once; with more, arrays outgrow what the allocator keeps, and it gets slower."""
MAX_NEW_STRINGS = 200_000
"""Words that are remembered besides those that a pipeline comes with."""
ZONE_CHARACTERS = 2_000_000
"""Characters after which further words are forgotten."""


def load(name: str, options: Mapping[str, str]) -> Loaded:
    """Load a pipeline without the components that fill no column."""
    try:
        import spacy
    except ImportError:
        raise NotInstalled(f"spacy: needs spaCy: {pip_install('annotate')}") from None
    if not name:
        raise UsageError("spacy: needs the name of a pipeline, such as spacy:fr_core_news_sm, or the path of one.")
    if not spacy.util.is_package(name) and not Path(name).is_dir():
        hint = did_you_mean(name, spacy.util.get_installed_models())
        raise UsageError(
            f"There is no spaCy pipeline {name!r} here.{hint} If it is one of spaCy's own, this fetches it: "
            f"python -m spacy download {name}"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            nlp = spacy.load(name)
        except Exception as e:
            raise UsageError(f"The spaCy pipeline {name!r} cannot be loaded: {describe_error(e)}") from e
        nlp.disable_pipes(*(pipe for pipe in nlp.pipe_names if nlp.get_pipe_meta(pipe).factory in UNUSED))
        columns, splits = _try_out(nlp)
    return Loaded(_model(nlp, name, columns, splits, [str(w.message) for w in caught]), _SpacyPipeline(nlp))


def _model(nlp: Any, name: str, columns: tuple[str, ...], splits: bool, warned: Sequence[str]) -> Model:
    from spacy.about import __version__

    relations = [label for pipe in nlp.pipe_names for label in _relations(nlp, pipe)]
    unknown_deprels = not_universal(relations)
    notes = ["It does not split multi-word tokens into words, as Universal Dependencies does."]
    if unknown_deprels:
        notes.insert(0, f"Its relations are not those of Universal Dependencies: {', '.join(unknown_deprels[:5])}, ….")
    if trained := [str(source["name"]) for source in nlp.meta.get("sources") or () if "UD " in str(source.get("name"))]:
        notes.append(f"It was trained on {', '.join(trained)}.")
    notes += [warning for warning in warned if "[W095]" in warning]  # made for another version of spaCy
    return Model(
        name=name,
        version=str(nlp.meta.get("version") or "unknown"),
        software=f"spaCy {__version__}",
        licence=str(nlp.meta.get("license") or ""),
        language=nlp.lang if nlp.lang != "xx" else None,
        universal=not unknown_deprels,
        columns=columns,
        splits=splits,
        notes=tuple(notes),
    )


def _relations(nlp: Any, pipe: str) -> Sequence[str]:
    if "token.dep" not in nlp.get_pipe_meta(pipe).assigns:
        return ()
    return tuple(getattr(nlp.get_pipe(pipe), "labels", ()))


def _try_out(nlp: Any) -> tuple[tuple[str, ...], bool]:
    """The columns that a pipeline fills, and whether it finds sentence boundaries: as it does on example sentences."""
    try:
        examples = tuple(importlib.import_module(f"spacy.lang.{nlp.lang}.examples").sentences[:3])
    except ImportError:
        examples = FALLBACK_EXAMPLES
    docs = [nlp(text) for text in examples]
    names = {"lemmas": "LEMMA", "upos": "POS", "xpos": "TAG", "feats": "MORPH", "heads": "HEAD", "deprels": "DEP"}
    columns = [c for c, attribute in names.items() if any(doc.has_annotation(attribute) for doc in docs)]
    if all(token.tag_ == token.pos_ for doc in docs for token in doc):
        columns = [c for c in columns if c != "xpos"]
    return tuple(columns), any(doc.has_annotation("SENT_START") for doc in docs)


class _SpacyPipeline:
    """A pipeline, applied to texts."""

    def __init__(self, nlp: Any) -> None:
        self._nlp = nlp
        self._zone = ExitStack()
        self._characters = ZONE_CHARACTERS
        self._most_strings = len(nlp.vocab.strings) + MAX_NEW_STRINGS

    def __call__(self, texts: Sequence[str], is_split: bool, /) -> list[list[Sentence]]:
        """The sentences of each text."""
        self._forget()
        characters = sum(map(len, texts)) or 1
        self._characters += characters
        docs = map(self._nlp.make_doc, texts)
        size = max(1, BATCH_CHARACTERS * len(texts) // characters)
        annotated = self._nlp.pipe(map(_unsplit, docs) if is_split else docs, batch_size=size)
        return [_sentences(doc, is_split) for doc in annotated]

    def _forget(self) -> None:
        """Once many words are known, forget further ones now and then: spaCy would keep all of them forever.

        Not before, since within a memory zone its tokenizer remembers nothing, and is slower.
        """
        if not hasattr(self._nlp, "memory_zone") or len(self._nlp.vocab.strings) < self._most_strings:
            return
        if self._characters >= ZONE_CHARACTERS:
            self._zone.close()
            self._zone.enter_context(self._nlp.memory_zone())
            self._characters = 0


def _unsplit(doc: Any) -> Any:
    """The document with the information that it is one sentence; a parser keeps to it."""
    for token in doc[1:]:
        token.is_sent_start = False
    return doc


def _sentences(doc: Any, is_split: bool) -> list[Sentence]:
    """The sentences of a document; tokens of white space are left out.

    Columns are read as arrays, since an object for each token costs more than all else here.
    """
    if not len(doc):
        return []
    names = doc.vocab.strings
    attributes = ["LEMMA", "POS", "TAG", "MORPH", "DEP", "SPACY", "IS_SPACE", "HEAD", "SENT_START", "IDX", "LENGTH"]
    table, text = doc.to_array(attributes), doc.text
    lemmas, upos, xpos, feats, deprels = (_texts(names, column) for column in table.T[:5].tolist())
    spaces, blanks = (list(map(bool, column)) for column in table.T[5:7].tolist())
    heads, starts, offsets, lengths = table[:, 7:].T.astype("int64").tolist()
    spans = [(at, at + length) for at, length in zip(offsets, lengths, strict=True)]
    heads = [i + head for i, head in enumerate(heads)]  # they are relative
    has_heads = doc.has_annotation("DEP")
    bounds = [0] if is_split else [0, *(i for i, start in enumerate(starts) if start == 1 and i)]
    sentences = []
    for first, end in zip(bounds, [*bounds[1:], len(doc)], strict=True):
        words = [i for i in range(first, end) if not blanks[i]]
        if not words:
            continue
        position = {i: at for at, i in enumerate(words)}
        word_heads = [_head(i, heads, position) for i in words] if has_heads else None
        word_upos, word_xpos = _column(upos, words), _column(xpos, words)
        sentences.append(
            Sentence(
                id="",
                text=text[spans[words[0]][0] : spans[words[-1]][1]],
                forms=tuple([text[slice(*spans[i])] for i in words]),
                lemmas=_column(lemmas, words),
                upos=word_upos,
                xpos=None if word_xpos == word_upos else word_xpos,
                feats=_column(feats, words),
                heads=None if word_heads is None else tuple(word_heads),
                deprels=None if word_heads is None else _deprels(word_heads, [deprels[i] for i in words]),
                space_after=tuple([spaces[i] for i in words]),
            )
        )
    return sentences


def _texts(names: Any, column: list[int]) -> list[str]:
    """The strings that numbers stand for; each is looked up once."""
    strings = {number: names[number] if number else "" for number in set(column)}
    return [strings[number] for number in column]


def _column(values: list[str], words: list[int]) -> tuple[str, ...] | None:
    """A column of a sentence, None if it is empty."""
    column = tuple([values[i] or "_" for i in words])
    return column if any(value != "_" for value in column) else None


def _deprels(heads: list[int], relations: list[str]) -> tuple[str, ...]:
    return tuple(["root" if head < 0 else relation or "dep" for head, relation in zip(heads, relations, strict=True)])


def _head(word: int, heads: list[int], position: Mapping[int, int]) -> int:
    """The position of a word's head, or of the next head above it that is not white space; -1 for a root."""
    head = heads[word]
    while head not in position and heads[head] != head:
        head = heads[head]
    return -1 if head == word else position.get(head, -1)


annotator = Annotator(
    name="spacy",
    summary="spaCy pipelines: an installed package, such as spacy:fr_core_news_sm, or a folder.",
    load=load,
    order=10,
)
