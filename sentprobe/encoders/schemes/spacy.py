"""Vectors of texts by a spaCy pipeline, as its ``doc.vector``.

    spacy:PACKAGE_OR_FOLDER

That is the mean of the vectors of the words where the pipeline has word vectors (``fr_core_news_md``), and otherwise of
the states of its ``tok2vec`` component (``fr_core_news_sm``). A pipeline that has neither, as with a transformer,
is rejected: ``hf:`` reads its transformer. A text without words has the zero vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.core.arguments import as_texts, did_you_mean
from sentprobe.core.third_party import summarise_error
from sentprobe.core.words import replace_surrogates
from sentprobe.encoders import hub
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import EncoderError, UsageError

if TYPE_CHECKING:
    from sentprobe.encoders.transformer import FloatArray

OPTIONS: dict[str, str] = {}
"""None."""
ENCODING_COMPONENTS = frozenset({"tok2vec"})
"""Components on which vectors depend; the others are not run."""


@dataclass(frozen=True, eq=False, repr=False)
class SpacyVectors:
    """The ``doc.vector`` of a pipeline as an encoder."""

    identity: Identity
    nlp: Any
    width: int
    languages: tuple[str, ...]
    batch_size: int = 256

    def __repr__(self) -> str:
        return short_repr(self, f"spacy:{self.identity.name}", f"{self.width} dimensions")

    def __call__(self, texts: Sequence[str], /) -> FloatArray:
        """One vector per text."""
        import numpy as np

        texts = as_texts(texts)
        vectors = np.zeros((len(texts), self.width), np.float32)
        for row, doc in zip(vectors, self.nlp.pipe(map(replace_surrogates, texts)), strict=True):
            if len(doc):
                row[:] = doc.vector
        return vectors


def load(spec: Spec) -> SpacyVectors:
    """The encoder that a spec names."""
    spec.check_options(OPTIONS)
    spacy = hub.import_optional("spacy", "spacy: needs", "annotate")
    name = spec.path
    if not name:
        raise UsageError("spacy: needs the name of a pipeline, such as spacy:fr_core_news_md, or the path of one.")
    if not spacy.util.is_package(name) and not Path(name).expanduser().is_dir():
        hint = did_you_mean(name, spacy.util.get_installed_models())
        raise UsageError(
            f"There is no spaCy pipeline {name!r} here.{hint} python -m spacy download {name} may fetch it."
        )
    try:
        nlp = spacy.load(name if spacy.util.is_package(name) else Path(name).expanduser())
        unused = [pipe for pipe in nlp.pipe_names if nlp.get_pipe_meta(pipe).factory not in ENCODING_COMPONENTS]
        nlp.select_pipes(disable=unused)
    except Exception as why:
        raise EncoderError(f"{spec} cannot be loaded: {summarise_error(why)}.") from why
    width = len(nlp("a").vector)
    if not width:
        raise EncoderError(f"{spec} has neither word vectors nor a component tok2vec; use hf: for its transformer.")
    location = hub.local_model(spec, Path(nlp.path), recursive=True)
    identity = Identity.of("spacy", nlp.meta.get("name") or name, lang=nlp.lang, revision=location.revision)
    return SpacyVectors(identity, nlp, width, () if nlp.lang == "xx" else (nlp.lang,))
