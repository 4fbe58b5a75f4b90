"""Russian, by natasha: razdel's sentences and words, slovnet's parts of speech, features and heads; numpy only.

    natasha:

Its models are in the package, and were trained on news. Each word's head is chosen by itself, so that heads need not
be a tree: about a quarter of sentences need a repair. It fills no lemmas: its lemmatiser depends on a package that
does not run with Python 3.11 and later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import accumulate
from typing import Any

from sentprobe.annotate.annotator import Annotator, Loaded, Model
from sentprobe.annotate.conversion import fit
from sentprobe.core.install import pip_install
from sentprobe.errors import NotInstalled, UsageError
from sentprobe.sentence import Sentence


def load(name: str, options: Mapping[str, str]) -> Loaded:
    """Load the models of the package."""
    try:
        import natasha
    except ImportError:
        raise NotInstalled(f"natasha: needs natasha: {pip_install('natasha')}") from None
    if name not in ("", "news"):
        raise UsageError(f"natasha:{name}: there is one model, for Russian; expected natasha: and nothing after it.")
    embedding = natasha.NewsEmbedding()
    tagger, parser = natasha.NewsMorphTagger(embedding), natasha.NewsSyntaxParser(embedding)
    model = Model(
        name="news",
        version=version("natasha"),
        software=f"natasha {version('natasha')}, slovnet {version('slovnet')}, razdel {version('razdel')}",
        licence="MIT",
        language="ru",
        universal=True,
        columns=("upos", "feats", "heads", "deprels"),
        splits=True,
        notes=("Its heads need not be trees: they are repaired, or such sentences dropped.", "It fills no lemmas."),
    )
    return Loaded(model, _NatashaModels(natasha.Segmenter(), tagger, parser))


class _NatashaModels:
    """The models, applied to texts."""

    def __init__(self, segmenter: Any, tagger: Any, parser: Any) -> None:
        self._segmenter, self._tagger, self._parser = segmenter, tagger, parser

    def __call__(self, texts: Sequence[str], is_split: bool, /) -> Iterator[list[Sentence]]:
        """The sentences of each text."""
        split = [[text] if is_split else [span.text for span in self._segmenter.sentenize(text)] for text in texts]
        words = [[token.text for token in self._segmenter.tokenize(text)] for parts in split for text in parts]
        sentences = [*map(_sentence, words, self._tagger.map(words), self._parser.map(words))]
        ends = list(accumulate(map(len, split), initial=0))
        for text, start, end in zip(texts, ends, ends[1:], strict=False):
            yield fit([sentence for sentence in sentences[start:end] if sentence.forms], text)


def _sentence(words: Sequence[str], tagged: Any, parsed: Any) -> Sentence:
    return Sentence(
        id="",
        text="",
        forms=tuple(words),
        upos=tuple([token.pos for token in tagged.tokens]),
        feats=tuple(["|".join(f"{k}={v}" for k, v in sorted(token.feats.items())) or "_" for token in tagged.tokens]),
        heads=tuple([int(token.head_id) - 1 for token in parsed.tokens]),
        deprels=tuple([token.rel for token in parsed.tokens]),
    )


annotator = Annotator(
    name="natasha",
    summary="Russian, by natasha; its models come with the package, and numpy is enough.",
    load=load,
    order=40,
)
