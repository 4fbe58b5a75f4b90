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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from sonde.annotate.annotator import Annotator, Loaded, Model
from sonde.annotate.universal import not_universal
from sonde.core.suggest import did_you_mean
from sonde.corpus.sentence import Sentence
from sonde.errors import NotInstalled, UsageError, describe_error

UNUSED = ("ner", "entity_ruler", "entity_linker", "textcat", "textcat_multilabel", "spancat")
"""Components whose results have no column."""
FALLBACK_EXAMPLES = ("One two three.",)


def load(name: str, options: Mapping[str, str]) -> Loaded:
    """Load a pipeline without the components that fill no column."""
    try:
        import spacy
    except ImportError:
        raise NotInstalled("spacy: needs spaCy: pip install 'sonde[spacy]'.") from None
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
    return Loaded(_model(nlp, name, columns, splits, [str(w.message) for w in caught]), _Annotate(nlp))


def _model(nlp: Any, name: str, columns: tuple[str, ...], splits: bool, warned: Sequence[str]) -> Model:
    from spacy.about import __version__

    relations = [label for pipe in nlp.pipe_names for label in _relations(nlp, pipe)]
    others = not_universal(relations)
    notes = ["It does not split multi-word tokens into words, as Universal Dependencies does."]
    if others:
        notes.insert(0, f"Its relations are not those of Universal Dependencies: {', '.join(others[:5])}, ….")
    if trained := [str(source["name"]) for source in nlp.meta.get("sources") or () if "UD " in str(source.get("name"))]:
        notes.append(f"It was trained on {', '.join(trained)}.")
    notes += [warning for warning in warned if "[W095]" in warning]  # made for another version of spaCy
    return Model(
        name=name,
        version=str(nlp.meta.get("version") or "unknown"),
        software=f"spaCy {__version__}",
        licence=str(nlp.meta.get("license") or ""),
        language=nlp.lang if nlp.lang != "xx" else None,
        universal=not others,
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
    found = [c for c, attribute in names.items() if any(doc.has_annotation(attribute) for doc in docs)]
    if all(token.tag_ == token.pos_ for doc in docs for token in doc):
        found = [c for c in found if c != "xpos"]
    return tuple(found), any(doc.has_annotation("SENT_START") for doc in docs)


class _Annotate:
    """A pipeline, applied to texts."""

    def __init__(self, nlp: Any) -> None:
        self._nlp = nlp

    def __call__(self, texts: Sequence[str], is_split: bool, /) -> Iterator[list[Sentence]]:
        """The sentences of each text; strings that spaCy has not met before are forgotten again."""
        nlp = self._nlp
        with nlp.memory_zone() if hasattr(nlp, "memory_zone") else nullcontext():
            docs = map(nlp.make_doc, texts)
            for doc in nlp.pipe(map(_unsplit, docs) if is_split else docs):
                spans = [doc[:]] if is_split or not doc.has_annotation("SENT_START") else doc.sents
                yield [found for span in spans if (found := _sentence(doc, span)) is not None]


def _unsplit(doc: Any) -> Any:
    """The document with the information that it is one sentence; a parser keeps to it."""
    for token in doc[1:]:
        token.is_sent_start = False
    return doc


def _sentence(doc: Any, span: Any) -> Sentence | None:
    """A span as a sentence; tokens of white space are left out."""
    tokens = [token for token in span if not token.is_space]
    if not tokens:
        return None
    column: dict[str, tuple[str, ...] | None] = {
        name: tuple([value or "_" for value in values]) if any(values) else None
        for name, values in (
            ("lemmas", [token.lemma_ for token in tokens]),
            ("upos", [token.pos_ for token in tokens]),
            ("xpos", [token.tag_ for token in tokens]),
            ("feats", [str(token.morph) for token in tokens]),
        )
    }
    if column["xpos"] == column["upos"]:
        column["xpos"] = None
    heads: tuple[int, ...] | None = None
    deprels: tuple[str, ...] | None = None
    if doc.has_annotation("DEP"):
        place = {token.i: i for i, token in enumerate(tokens)}
        found = [_head(token, place) for token in tokens]
        heads = tuple(found)
        deprels = tuple(["root" if h < 0 else token.dep_ or "dep" for h, token in zip(found, tokens, strict=True)])
    return Sentence(
        id="",
        text=doc.text[tokens[0].idx : tokens[-1].idx + len(tokens[-1])],
        forms=tuple([token.text for token in tokens]),
        lemmas=column["lemmas"],
        upos=column["upos"],
        xpos=column["xpos"],
        feats=column["feats"],
        heads=heads,
        deprels=deprels,
        space_after=tuple([bool(token.whitespace_) for token in tokens]),
    )


def _head(token: Any, place: Mapping[int, int]) -> int:
    """The position of a token's head, or of the next head above it that is not white space; -1 for a root."""
    head = token.head
    while head.i not in place and head.head.i != head.i:
        head = head.head
    return -1 if head.i == token.i else place.get(head.i, -1)


annotator = Annotator(
    name="spacy",
    summary="spaCy pipelines: an installed package, such as spacy:fr_core_news_sm, or a folder.",
    load=load,
    order=10,
)
