"""The Berkeley neural parser: constituency trees, on top of the sentences and words of another annotator.

    benepar:benepar_en3?tokens=spacy:en_core_web_sm
    benepar:path/to/model?tokens=stanza:en

All columns but the tree are those of the other annotator, and so are tags, unless it has none. What is typed for it may
have options of its own, percent-encoded. A sentence that is too long for the parser gets no tree. benepar 0.2 is of
2021: its released models cannot be used with version 5 of transformers, so that they need an environment of their own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sentprobe.annotate.annotator import Annotate, Annotator, Loaded, Model, load_annotator
from sentprobe.annotate.conversion import tree_of
from sentprobe.errors import AnnotatorError, NotInstalled, UsageError, describe_error
from sentprobe.sentence import Sentence


def load(name: str, options: Mapping[str, str]) -> Loaded:
    """Load a parser, and the annotator whose sentences it parses."""
    try:
        import benepar
    except ImportError:
        raise NotInstalled("benepar: needs benepar: pip install benepar 'transformers<5'.") from None
    if not name:
        raise UsageError("benepar: needs a model, such as benepar:benepar_en3?tokens=spacy:en_core_web_sm.")
    tokens = options.get("tokens", "")
    if not tokens:
        raise UsageError(
            f"benepar:{name} needs another annotator for sentences and words: add ?tokens=spacy:en_core_web_sm."
        )
    base = load_annotator(tokens)
    try:
        with _offline(), _quiet():
            parser = benepar.Parser(str(Path(name).expanduser()) if "/" in name else name)
    except LookupError:
        raise UsageError(
            f"There is no model {name!r} of benepar here. If it is one of its own: "
            f'python -c "import benepar; benepar.download({name!r})"'
        ) from None
    except Exception as e:
        hint = ""
        if int(version("transformers").partition(".")[0]) >= 5:
            hint = " Its released models need an environment of their own: pip install 'transformers<5'."
        raise AnnotatorError(f"benepar:{name} cannot be loaded: {describe_error(e)}.{hint}") from e
    model = base.model
    added = ("tree",) if "xpos" in model.columns else ("xpos", "tree")
    return Loaded(
        replace(
            model,
            name=f"{name} on {model.name}",
            version=f"{_version(name)} on {model.version}",
            software=f"benepar {version('benepar')}, {model.software}",
            columns=(*(column for column in model.columns if column not in added), *added),
            notes=(*model.notes, f"Its trees are those of benepar's {name}, everything else is of {tokens}."),
        ),
        _BeneparParser(parser, base.annotate, model),
    )


def _version(name: str) -> str:
    """Of a file, its size; released models have their version in the name."""
    path = Path(name).expanduser()
    return f"{path.stat().st_size} bytes" if path.is_file() else name


@contextmanager
def _offline() -> Iterator[None]:
    """Checkpoints name a model of a hub that they were trained from; it is not fetched."""
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


@contextmanager
def _quiet() -> Iterator[None]:
    """The package was written for other versions of torch, which warns of it with every batch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _BeneparParser:
    """A parser, applied to the sentences of another annotator."""

    def __init__(self, parser: Any, base: Annotate, model: Model) -> None:
        self._parser, self._base = parser, base
        self._tagged = "xpos" in model.columns

    def __call__(self, texts: Sequence[str], is_split: bool, /) -> Iterator[list[Sentence]]:
        """The sentences of each text."""
        for sentences in self._base(texts, is_split):
            yield [self._with_tree(sentence, tree) for sentence, tree in self._parsed(sentences)]

    def _parsed(self, sentences: Sequence[Sentence]) -> list[tuple[Sentence, Any]]:
        inputs = [self._input(sentence) for sentence in sentences]
        with _quiet():
            try:
                return list(zip(sentences, self._parser.parse_sents(inputs), strict=True))
            except ValueError:  # one of them is too long
                return [(sentence, self._parse_one(input)) for sentence, input in zip(sentences, inputs, strict=True)]

    def _parse_one(self, input: Any) -> Any:
        try:
            return next(iter(self._parser.parse_sents([input])))
        except ValueError as e:
            if "exceeds the maximum" not in str(e):
                raise
            return None

    def _input(self, sentence: Sentence) -> Any:
        import benepar

        space = sentence.space_after or (True,) * len(sentence)
        tags = list(sentence.xpos) if self._tagged and sentence.xpos else None
        return benepar.InputSentence(words=list(sentence.forms), space_after=list(space), tags=tags)

    def _with_tree(self, sentence: Sentence, parse: Any) -> Sentence:
        if parse is None:
            return sentence
        tree = tree_of(parse, _read_node, sentence.forms)
        return replace(sentence, tree=tree, xpos=sentence.xpos or tuple([tag for tag, _ in tree.leaves()]))


def _read_node(node: Any) -> tuple[str, Sequence[Any]] | None:
    return None if isinstance(node, str) else (node.label(), list(node))


annotator = Annotator(
    name="benepar",
    summary="Constituency trees by benepar, for the sentences of another annotator: ?tokens=spacy:en_core_web_sm.",
    load=load,
    options={"tokens": "the annotator of sentences, words and all other columns, as it is typed elsewhere"},
    order=50,
)
