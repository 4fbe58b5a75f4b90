"""Models in memory as encoders: objects of sentence-transformers, transformers, model2vec and gensim.

A model is recognised by its class, without importing any of these libraries: whoever has such an object has imported
its own. It has no identity, since nothing says what its weights are, so vectors are not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.core.arguments import as_texts
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import UsageError

UNKNOWN = Identity("object", "object")
"""What the facts about a model in memory are added to; nobody sees it."""
PAIR = "a pair (model, tokenizer)"
DERIVING = ("fit", "restrict", "with_simple_tokens")
"""Methods of encoders that return another encoder."""


class ModelObject:
    """A model in memory as an encoder, which is that of a scheme without its identity."""

    identity = None

    def __init__(self, encoder: Any, name: str) -> None:
        self.encoder = encoder
        self.__name__ = name

    def __call__(self, texts: Sequence[str], /) -> Any:
        """One vector per text."""
        return self.encoder(texts)

    def __getattr__(self, name: str) -> Any:
        if name == "encoder":  # while it is copied
            raise AttributeError(name)
        value = getattr(self.encoder, name)
        # another encoder, such as a fitted one, would have the identity that all models of the library share
        return self._derive(value) if name in DERIVING else value

    def _derive(self, method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: ModelObject(method(*arguments), self.__name__)

    def __repr__(self) -> str:
        return f"<ModelObject {self.__name__}>"


def as_encoder(model: Any, **options: Any) -> Any:
    """An encoder of a model in memory; what is an encoder already is returned as it is.

    Parameters
    ----------
    model : object
        A SentenceTransformer or SparseEncoder; a model of transformers with its tokenizer, as a pair or a pipeline; a
        StaticModel of model2vec; KeyedVectors, Word2Vec or FastText of gensim.
    **options
        Those of the scheme for such models: ``st:``, ``hf:`` or ``vec:``, as `sentprobe ls encoders` lists them.

    Returns
    -------
    callable
        From texts to vectors.

    Raises
    ------
    UsageError
        If the model gives no vectors for texts, such as a CrossEncoder, or if an option is not one of its scheme.

    Examples
    --------
    >>> from sentprobe import as_encoder
    >>> class StaticModel:
    ...     pass
    >>> StaticModel.__module__ = "model2vec.model"
    >>> StaticModel.encode = lambda self, texts: [[len(text), 1] for text in texts]
    >>> as_encoder(StaticModel())(["A short text."]).tolist()
    [[13.0, 1.0]]
    """
    wrap = _wrapper(model)
    if wrap is None:
        if options:
            raise UsageError(f"{sorted(options)[0]}= is an option for models in memory; got {type(model).__name__}.")
        _check_callable(model)
        return model
    texts = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in options.items()}
    return ModelObject(wrap(model, texts), type(model).__name__)


def _wrapper(model: Any) -> Callable[[Any, Mapping[str, str]], Any] | None:
    """What makes an encoder of such a model; None if it is not one of these libraries."""
    if isinstance(model, tuple | list) and len(model) == 2 and _is(model[0], "transformers", "PreTrainedModel"):
        return _transformer
    if any(_is(model, "sentence_transformers", name) for name in ("CrossEncoder", "MultiVectorEncoder")):
        raise UsageError(
            f"{type(model).__name__} has no vector for a single text; expected a SentenceTransformer or SparseEncoder."
        )
    if _is(model, "sentence_transformers", "SentenceTransformer") or _is(
        model, "sentence_transformers", "SparseEncoder"
    ):
        return _sentence_transformer
    if _is(model, "transformers", "Pipeline"):
        return _pipeline
    if _is(model, "transformers", "PreTrainedModel"):
        raise UsageError(f"{type(model).__name__} reads numbers of tokens and no texts; expected {PAIR}.")
    if _is(model, "model2vec", "StaticModel"):
        return _static
    if _is(model, "gensim", "KeyedVectors") or _is(getattr(model, "wv", None), "gensim", "KeyedVectors"):
        return _keyed_vectors
    return None


def _is(model: Any, package: str, name: str) -> bool:
    """Whether an object is of a class of a package, by name."""
    return any(cls.__name__ == name and cls.__module__.partition(".")[0] == package for cls in type(model).__mro__)


def _check_callable(model: Any) -> None:
    if not isinstance(model, str) and not callable(model) and callable(getattr(model, "encode", None)):
        raise UsageError(
            f"{type(model).__name__} is not one of the models that sentprobe knows; pass its method encode, or a "
            "function from a list of texts to an array."
        )


def _spec(scheme: str, model: Any, options: Mapping[str, str]) -> Spec:
    of_loading = {"device", "dtype", "base", "trust_remote_code", "random"}
    if scheme == "st":  # an attribute of the model, which is not ours to change
        of_loading.add("max")
    if forbidden := of_loading & set(options):
        raise UsageError(f"{min(forbidden)}= is for models that are loaded; this one is in memory as it is.")
    return Spec(scheme, type(model).__name__, None, tuple(options.items()))


def _sentence_transformer(model: Any, options: Mapping[str, str]) -> Any:
    from sentprobe.encoders.schemes import st

    return st.build(_spec("st", model, options), model, UNKNOWN)


def _transformer(pair: Any, options: Mapping[str, str]) -> Any:
    from sentprobe.encoders.schemes import hf

    model, tokenizer = pair
    if not hasattr(tokenizer, "num_special_tokens_to_add"):
        raise UsageError(f"Expected {PAIR}, got {type(model).__name__} with {type(tokenizer).__name__}.")
    inner = getattr(model, model.base_model_prefix, model)  # hidden states do not depend on a head
    inner = inner.get_encoder() if inner.config.is_encoder_decoder else inner
    return hf.build(_spec("hf", model, options), tokenizer, inner, UNKNOWN)


def _pipeline(pipeline: Any, options: Mapping[str, str]) -> Any:
    return _transformer((pipeline.model, pipeline.tokenizer), options)


def _static(model: Any, options: Mapping[str, str]) -> Any:
    if options:
        raise UsageError(f"A StaticModel takes no options, got {', '.join(sorted(options))}.")

    def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.asarray(model.encode(as_texts(texts)), np.float32)

    return encode


def _keyed_vectors(model: Any, options: Mapping[str, str]) -> Any:
    from sentprobe.encoders.schemes import vec

    vectors = getattr(model, "wv", model)
    return vec.build(_spec("vec", model, options), vec.from_gensim(vectors), type(model).__name__)
