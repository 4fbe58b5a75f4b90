"""Your own function in a module or a file, from a list of texts to the sentences of each.

    py:package.module:function          an importable module
    py:path/to/file.py:function         a file, which ends in .py or has a slash; the default function is ``annotate``

It is called with a list of texts, and returns for each text its sentences: a list of ``sentprobe.Sentence``, or a
string of CoNLL-U. The texts are paragraphs, unless it has the attribute ``splits`` with the value False: then they are
single sentences. A function that takes two arguments is told as the second whether the texts are single sentences.
Other attributes say what the card of the corpus should: ``version``, ``licence``, ``language``, ``columns`` (by default
all of CoNLL-U) and ``universal`` (by default False: nobody knows).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from sentprobe.annotate.annotator import Annotator, Loaded, Model
from sentprobe.annotate.conversion import fit
from sentprobe.core.arguments import did_you_mean
from sentprobe.core.third_party import load_file, load_module
from sentprobe.corpus.conllu import parse_conllu
from sentprobe.errors import UsageError
from sentprobe.sentence import ANNOTATION_COLUMNS, Sentence

DEFAULT_FUNCTION = "annotate"
CONLLU_COLUMNS = tuple(column for column in ANNOTATION_COLUMNS if column != "tree")


def load(name: str, options: Mapping[str, str]) -> Loaded:
    """The function that ``module:function`` or ``file.py:function`` names."""
    location, _, attribute = name.rpartition(":") if ":" in name and not name.endswith(".py") else (name, "", "")
    attribute = attribute or DEFAULT_FUNCTION
    if not location:
        raise UsageError(f"py:{name} names no function; expected py:module:function or py:path/to/file.py:function.")
    in_file = location.endswith(".py") or "/" in location
    module = load_file(Path(location), "annotator") if in_file else load_module(location, "annotator")
    function = getattr(module, attribute, None)
    if not callable(function):
        functions = sorted(key for key, value in vars(module).items() if callable(value) and key[0] != "_")
        hint = did_you_mean(attribute, functions) or f" It has {', '.join(functions[:8]) or 'no functions'}."
        raise UsageError(f"py:{name}: {location} has no function {attribute!r}.{hint}")
    return Loaded(_model(function, f"{location}:{attribute}", module), _UserFunction(function))


def _model(function: Callable[..., Any], name: str, module: Any) -> Model:
    def stated(attribute: str, kind: type, default: Any) -> Any:
        value = getattr(function, attribute, default)
        if not isinstance(value, kind) and value != default:
            raise UsageError(f"py:{name}: expected its {attribute} to be of type {kind.__name__}, got {value!r:.80}.")
        return value

    columns = tuple(getattr(function, "columns", CONLLU_COLUMNS))
    if unknown := [c for c in columns if c not in ANNOTATION_COLUMNS]:
        raise UsageError(
            f"py:{name}: it states the column {unknown[0]!r}; expected some of {', '.join(ANNOTATION_COLUMNS)}."
        )
    return Model(
        name=name,
        version=stated("version", str, "") or _digest(module),
        software="own function",
        licence=stated("licence", str, ""),
        language=stated("language", str, None),
        universal=stated("universal", bool, False),
        columns=columns,
        splits=stated("splits", bool, True),
    )


def _digest(module: Any) -> str:
    """A digest of the file of the function; what it imports and reads is not in it."""
    try:
        return f"source {blake2b(Path(module.__file__).read_bytes(), digest_size=8).hexdigest()}"
    except (AttributeError, TypeError, OSError):
        return "unknown"


class _UserFunction:
    """The function, with what it returns as sentences."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._takes_is_split = _takes_two(function)

    def __call__(self, texts: Sequence[str], is_split: bool, /) -> list[list[Sentence]]:
        """The sentences of each text."""
        results = self._function(list(texts), is_split) if self._takes_is_split else self._function(list(texts))
        by_text = [_parsed(result) if isinstance(result, str) else list(result) for result in results]
        if len(by_text) != len(texts):
            raise ValueError(f"expected the sentences of {len(texts)} texts, got those of {len(by_text)}")
        return [fit(sentences, text) for sentences, text in zip(by_text, texts, strict=True)]


def _parsed(conllu: str) -> list[Sentence]:
    return [sentence for _, sentence in parse_conllu(conllu.encode(), "CoNLL-U of the annotator")]


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind([], False)
    except (TypeError, ValueError):
        return False
    return True


annotator = Annotator(
    name="py",
    summary="Your own function, from texts to sentences: py:file.py:function or py:package.module:function.",
    load=load,
    order=90,
)
