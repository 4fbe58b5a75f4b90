"""How well an annotator does on a gold treebank, by the rules of the CoNLL 2018 shared task.

A score is the F1 of aligned words (``word_alignment.py``) that agree: with the gold standard's words, all of them,
punctuation included, on one side and the annotator's on the other. ``UFeats`` compares the features that are universal,
``LAS`` relations without their subtypes (``nsubj:pass`` is ``nsubj``); ``CLAS``, ``MLAS`` and ``BLEX`` count content
words only. Intervals are of a bootstrap over the sentences of the gold standard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sentprobe.annotate.annotator import loaded_annotator
from sentprobe.annotate.repair import repair
from sentprobe.annotate.word_alignment import Annotation, Span, align, sentence_at, spans_of
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
from sentprobe.stats.resample import Floats, bootstrap_sums, percentile_interval

CONTENT = frozenset((
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod",
    "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound", "list", "parataxis",
    "orphan", "goeswith", "reparandum", "root", "dep",
))  # fmt: skip
FUNCTIONAL = frozenset(("aux", "cop", "mark", "det", "clf", "case", "cc"))
"""Relations of function words; those of punctuation are neither."""
UNIVERSAL_FEATURES = frozenset((
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case", "Definite",
    "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person", "Polite",
))  # fmt: skip
"""Those of the shared task's year, as the scores of its papers are computed with."""

NEEDS = {
    "Tokens": (),
    "Sentences": (),
    "Words": (),
    "UPOS": ("upos",),
    "XPOS": ("xpos",),
    "UFeats": ("feats",),
    "AllTags": ("upos", "xpos", "feats"),
    "Lemmas": ("lemmas",),
    "UAS": ("heads",),
    "LAS": ("heads", "deprels"),
    "CLAS": ("heads", "deprels"),
    "MLAS": ("heads", "deprels", "upos", "feats"),
    "BLEX": ("heads", "deprels", "lemmas"),
}
"""The scores, in the order of the shared task, with the columns that both sides must have."""
METRICS = tuple(NEEDS)

ROOT, NO_HEAD, NOT_ALIGNED = -1, -2, -3
"""In place of the number of a gold word."""
DRAWS = 1000
PARAGRAPH_SENTENCES = 10
"""Gold sentences that are given to the annotator as one paragraph, if it is to find their boundaries."""
HEADLINE_METRICS = ("UPOS", "UFeats", "UAS", "LAS")
"""The scores that a line has room for."""

Key = Callable[[int], object]


@dataclass(frozen=True)
class AnnotationScore:
    """One score, as counts."""

    correct: int
    gold: int
    """Words (tokens, sentences) of the gold standard that count."""
    system: int
    """Those of the annotator."""
    aligned: int | None = None
    """Of words, how many have a counterpart."""
    interval: tuple[float, float] | None = None
    """Of F1; None if there are fewer than two sentences."""

    @property
    def precision(self) -> float:
        """The share of the annotator's words that are correct."""
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        """The share of the gold words that are found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return 2 * self.correct / (self.gold + self.system) if self.gold + self.system else 0.0


@dataclass(frozen=True)
class Evaluation:
    """The scores of an annotator on a treebank; those whose columns one side lacks are left out."""

    scores: Mapping[str, AnnotationScore]
    sentences: int
    """Of the gold standard."""
    words: int


@dataclass(frozen=True)
class _Side:
    """The columns of one annotation, over all of its words."""

    spans: Annotation
    columns: frozenset[str]
    upos: list[str]
    xpos: list[str]
    feats: list[str]
    lemmas: list[str]
    deprels: list[str]
    heads: list[int]
    """The number of the head's word, ROOT or NO_HEAD."""
    functional: Mapping[int, list[int]]
    """The function words below a word."""

    def is_content(self, word: int) -> bool:
        """Whether it is a content word."""
        return self.deprels[word] in CONTENT


def evaluate(gold: Iterable[Sentence], system: Iterable[Sentence], *, draws: int = DRAWS, seed: int = 0) -> Evaluation:
    """Score the annotation of a text against the gold standard of the same text.

    Parameters
    ----------
    gold, system
        The sentences of both; their words must spell the same characters, spaces left out.
    draws, seed
        Of the bootstrap.

    Examples
    --------
    >>> from sentprobe import Corpus
    >>> sentences = list(Corpus.synthetic(10))
    >>> evaluate(sentences, sentences).scores["LAS"].f1
    1.0
    """
    gold_side, system_side = _side(list(gold)), _side(list(system))
    spans, system_spans = gold_side.spans, system_side.spans
    if not spans.words:
        raise DataError("the gold standard has no words; expected annotated sentences")
    gold_of = align(spans, system_spans)
    columns = gold_side.columns & system_side.columns
    # the gold sentence of every word of both sides
    sentences_of = [[sentence_at(spans, start) for start, _ in side.words] for side in (spans, system_spans)]
    scores: dict[str, AnnotationScore] = {}
    for name in METRICS:
        if not columns.issuperset(NEEDS[name]):
            continue
        if name == "Tokens":
            counts = _span_counts(spans, spans.tokens, system_spans.tokens)
        elif name == "Sentences":
            counts = _span_counts(spans, spans.sentences, system_spans.sentences)
        else:
            counts = _word_counts(name, gold_side, system_side, gold_of, *sentences_of)
        scores[name] = _score(counts, name in ("Tokens", "Sentences", "Words"), draws, seed)
    return Evaluation(scores, len(spans.sentences), len(spans.words))


def _word_counts(
    name: str,
    gold: _Side,
    system: _Side,
    gold_of: Mapping[int, int],
    gold_sentences: Sequence[int],
    system_sentences: Sequence[int],
) -> Floats:
    """Correct, gold, system and aligned words by gold sentence, of shape (sentences, 4)."""
    is_content_metric = name in ("CLAS", "MLAS", "BLEX")
    pairs = [(s, g) for s, g in gold_of.items() if not is_content_metric or gold.is_content(g)]
    gold_key, system_key = _keys(name, gold, system, gold_of)
    counts = np.zeros((len(gold.spans.sentences), 4))
    np.add.at(counts[:, 0], [gold_sentences[g] for s, g in pairs if gold_key(g) == system_key(s)], 1)
    for column, (side, sentences) in enumerate(((gold, gold_sentences), (system, system_sentences)), 1):
        words = [i for w, i in enumerate(sentences) if not is_content_metric or side.is_content(w)]
        np.add.at(counts[:, column], words, 1)
    np.add.at(counts[:, 3], [gold_sentences[g] for _, g in pairs], 1)
    return counts


def _side(sentences: Sequence[Sentence]) -> _Side:
    spans = spans_of(sentences)
    columns = frozenset().union(*(s.columns for s in sentences)) if sentences else frozenset()
    heads: list[int] = []
    for first, s in zip(spans.first, sentences, strict=True):
        heads += [NO_HEAD] * len(s) if s.heads is None else [ROOT if h < 0 else first + h for h in s.heads]
    deprels = [deprel.partition(":")[0] for deprel in _column(sentences, "deprels")]
    functional: dict[int, list[int]] = {}
    for word, head in enumerate(heads):
        if head >= 0 and deprels[word] in FUNCTIONAL:
            functional.setdefault(head, []).append(word)
    feats = [_universal_feats(feats) for feats in _column(sentences, "feats")]
    upos, xpos, lemmas = (_column(sentences, name) for name in ("upos", "xpos", "lemmas"))
    return _Side(spans, columns, upos, xpos, feats, lemmas, deprels, heads, functional)


def _column(sentences: Sequence[Sentence], name: str) -> list[str]:
    return [value for s in sentences for value in getattr(s, name) or ("_",) * len(s)]


def _universal_feats(feats: str) -> str:
    return "|".join(sorted(pair for pair in feats.split("|") if pair.partition("=")[0] in UNIVERSAL_FEATURES))


def _keys(name: str, gold: _Side, system: _Side, gold_of: Mapping[int, int]) -> tuple[Key, Key]:
    """What has to be equal for a gold word and the system's word that is aligned with it, as functions of both."""

    def itself(word: int) -> int:
        return word

    def counterpart(word: int) -> int:
        return ROOT if word == ROOT else gold_of.get(word, NOT_ALIGNED)

    def head(side: _Side, word: int, of: Callable[[int], int]) -> int:
        return of(side.heads[word])

    def lemma(side: _Side, word: int, of: Callable[[int], int]) -> str:
        return "_" if gold.lemmas[of(word)] == "_" else side.lemmas[word]

    def arc(side: _Side, word: int, of: Callable[[int], int]) -> object:
        return head(side, word, of), side.deprels[word]

    def function_words(side: _Side, word: int, of: Callable[[int], int]) -> object:
        children = side.functional.get(word, ())
        return [(of(c), side.deprels[c], side.upos[c], side.feats[c]) for c in children]

    compared: dict[str, Callable[[_Side, int, Callable[[int], int]], object]] = {
        "Words": lambda side, w, of: True,
        "UPOS": lambda side, w, of: side.upos[w],
        "XPOS": lambda side, w, of: side.xpos[w],
        "UFeats": lambda side, w, of: side.feats[w],
        "AllTags": lambda side, w, of: (side.upos[w], side.xpos[w], side.feats[w]),
        "Lemmas": lemma,
        "UAS": head,
        "LAS": arc,
        "CLAS": arc,
        "MLAS": lambda side, w, of: (arc(side, w, of), side.upos[w], side.feats[w], function_words(side, w, of)),
        "BLEX": lambda side, w, of: (arc(side, w, of), lemma(side, w, of)),
    }
    key = compared[name]
    return lambda word: key(gold, word, itself), lambda word: key(system, word, counterpart)


def _span_counts(gold: Annotation, gold_spans: Sequence[Span], system_spans: Sequence[Span]) -> Floats:
    """Correct, gold and system spans by the gold sentence that they begin in, of shape (sentences, 4)."""
    counts = np.zeros((len(gold.sentences), 4))
    for column, spans in enumerate((set(gold_spans) & set(system_spans), gold_spans, system_spans)):
        np.add.at(counts[:, column], [sentence_at(gold, start) for start, _ in spans], 1)
    return counts


def _score(counts: Floats, plain: bool, draws: int, seed: int) -> AnnotationScore:
    correct, gold, system, aligned = (int(total) for total in counts.sum(axis=0))
    interval = None
    if len(counts) > 1:
        rows = counts[:, :3]
        sums = bootstrap_sums(rows[np.lexsort(rows.T[::-1])], draws, np.random.default_rng(seed))
        sizes = sums[:, 1] + sums[:, 2]
        interval = percentile_interval(2 * sums[:, 0] / np.maximum(sizes, 1))
    return AnnotationScore(correct, gold, system, None if plain else aligned, interval)


# An annotator on a treebank, in the way in which it is going to be used


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
        figures = ", ".join(f"{name} {POINTS.number(scores[name].f1)}" for name in HEADLINE_METRICS if name in scores)
        treebank = f"{self.evaluation.sentences:,} sentences of {self.treebank}"
        return f"{figures} (F1 by the rules of CoNLL 2018, {self.input}) on {treebank}"

    @property
    def input(self) -> str:
        """What the annotator was given."""
        return "gold sentences" if self.is_split else "raw text"

    def plain(self) -> dict[str, Any]:
        """As plain data, for the card."""
        return {
            "treebank": self.treebank,
            "sentences": self.evaluation.sentences,
            "words": self.evaluation.words,
            "input": self.input,
            "f1": {name: round(score.f1, 6) for name, score in self.evaluation.scores.items()},
            "interval": {
                name: [round(x, 6) for x in score.interval]
                for name, score in self.evaluation.scores.items()
                if score.interval is not None
            },
            "text": str(self),
        }


@dataclass(frozen=True)
class GoldTreebank:
    """A treebank to score an annotator on: what the user typed, what it is called, and its files."""

    typed: str
    name: str
    files: tuple[str, ...]

    @classmethod
    def of(cls, typed: str) -> GoldTreebank:
        """The treebank in a file, or by name; one that is not here is downloaded."""
        if not is_spec(typed):
            return cls(typed, stem(typed), (typed,))
        return cls(typed, find_treebank(typed).spec, tuple(map(str, fetch_treebank(typed))))


def measure_accuracy(annotator: str, treebank: GoldTreebank, is_split: bool, splitter_name: str) -> Accuracy:
    """Annotate the text of a treebank and score it; with ``is_split``, by its own sentences or by a splitter's.

    Gold sentences are not given where a splitter is to find them: its errors count.
    """
    annotate = loaded_annotator(annotator).annotate
    gold = list(Corpus.read(*treebank.files))
    if not any(s.heads or s.upos for s in gold):
        raise DataError(f"{treebank.typed} has no annotation to compare with; expected a treebank in CoNLL-U.")
    paragraphs = [s.text for s in gold] if is_split and not splitter_name else list(_paragraphs(gold))
    if splitter_name:
        paragraphs = [sentence for text in paragraphs for sentence in splitter(splitter_name)(text)]
    texts = [" ".join(text.split()) for text in paragraphs]
    try:
        with single_threaded(), third_party_code:
            system = [repair(s).sentence for sentences in annotate(texts, is_split) for s in sentences]
    except (SentProbeError, KeyboardInterrupt):
        raise
    except BaseException as e:
        raise DataError(f"The annotator {annotator} fails on the text of {treebank.typed}: {describe_error(e)}") from e
    return Accuracy(treebank.name, evaluate(gold, system), is_split and not splitter_name)


def _paragraphs(gold: Sequence[Sentence]) -> Iterator[str]:
    """Texts of a few sentences of the same document: files do not always say where paragraphs end."""
    texts: list[str] = []
    doc = None
    for s in gold:
        if texts and (s.doc != doc or len(texts) == PARAGRAPH_SENTENCES):
            yield " ".join(texts)
            texts = []
        texts.append(s.text)
        doc = s.doc
    if texts:
        yield " ".join(texts)
