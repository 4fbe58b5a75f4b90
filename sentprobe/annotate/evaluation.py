"""How well an annotator does on a gold treebank, by the rules of the CoNLL 2018 shared task.

A score is the F1 of aligned words (``word_alignment.py``) that agree: with the gold standard's words, all of them,
punctuation included, on one side and the annotator's on the other. ``UFeats`` compares the features that are universal,
``LAS`` relations without their subtypes (``nsubj:pass`` is ``nsubj``); ``CLAS``, ``MLAS`` and ``BLEX`` count content
words only. Intervals are of a bootstrap over the sentences of the gold standard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.annotate.word_alignment import Annotation, Span, align, sentence_at, spans_of
from sentprobe.errors import DataError
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

Key = Callable[[int], object]


@dataclass(frozen=True)
class Score:
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

    scores: Mapping[str, Score]
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

    def counts(self, word: int) -> bool:
        """Whether it is a content word."""
        return self.deprels[word] in CONTENT


def evaluate(
    gold: Iterable[Sentence], system: Iterable[Sentence], *, draws: int = DRAWS, seed: int = 0
) -> Evaluation:  # fmt: skip
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
    one, two = _side(list(gold)), _side(list(system))
    if not one.spans.words:
        raise DataError("the gold standard has no words; expected annotated sentences")
    gold_of = align(one.spans, two.spans)
    columns = one.columns & two.columns
    place_gold = [sentence_at(one.spans, start) for start, _ in one.spans.words]
    place_system = [sentence_at(one.spans, start) for start, _ in two.spans.words]
    scores: dict[str, Score] = {}
    for name in METRICS:
        if not columns.issuperset(NEEDS[name]):
            continue
        if name == "Tokens":
            tally = _spans_tally(one.spans, one.spans.tokens, two.spans.tokens)
        elif name == "Sentences":
            tally = _spans_tally(one.spans, one.spans.sentences, two.spans.sentences)
        else:
            content = name in ("CLAS", "MLAS", "BLEX")
            pairs = [(s, g) for s, g in gold_of.items() if not content or one.counts(g)]
            left, right = _keys(name, one, two, gold_of)
            tally = np.zeros((len(one.spans.sentences), 4))
            for row, (side, places) in enumerate(((one, place_gold), (two, place_system)), 1):
                np.add.at(tally[:, row], [p for w, p in enumerate(places) if not content or side.counts(w)], 1)
            np.add.at(tally[:, 3], [place_gold[g] for _, g in pairs], 1)
            np.add.at(tally[:, 0], [place_gold[g] for s, g in pairs if left(g) == right(s)], 1)
        scores[name] = _score(tally, name in ("Tokens", "Sentences", "Words"), draws, seed)
    return Evaluation(scores, len(one.spans.sentences), len(one.spans.words))


def _side(sentences: Sequence[Sentence]) -> _Side:
    spans = spans_of(sentences)
    columns = frozenset().union(*(s.columns for s in sentences)) if sentences else frozenset()
    heads: list[int] = []
    for first, s in zip(spans.first, sentences, strict=True):
        heads += [NO_HEAD] * len(s) if s.heads is None else [ROOT if h < 0 else first + h for h in s.heads]
    deprels = [one.partition(":")[0] for one in _column(sentences, "deprels")]
    functional: dict[int, list[int]] = {}
    for word, head in enumerate(heads):
        if head >= 0 and deprels[word] in FUNCTIONAL:
            functional.setdefault(head, []).append(word)
    feats = [_universal(one) for one in _column(sentences, "feats")]
    upos, xpos, lemmas = (_column(sentences, name) for name in ("upos", "xpos", "lemmas"))
    return _Side(spans, columns, upos, xpos, feats, lemmas, deprels, heads, functional)


def _column(sentences: Sequence[Sentence], name: str) -> list[str]:
    return [value for s in sentences for value in getattr(s, name) or ("_",) * len(s)]


def _universal(feats: str) -> str:
    return "|".join(sorted(one for one in feats.split("|") if one.partition("=")[0] in UNIVERSAL_FEATURES))


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

    def below(side: _Side, word: int, of: Callable[[int], int]) -> object:
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
        "MLAS": lambda side, w, of: (arc(side, w, of), side.upos[w], side.feats[w], below(side, w, of)),
        "BLEX": lambda side, w, of: (arc(side, w, of), lemma(side, w, of)),
    }
    key = compared[name]
    return lambda word: key(gold, word, itself), lambda word: key(system, word, counterpart)


def _spans_tally(gold: Annotation, ours: Sequence[Span], theirs: Sequence[Span]) -> Floats:
    """Correct, gold and system spans by the sentence of the gold standard that they begin in."""
    tally = np.zeros((len(gold.sentences), 4))
    for column, spans in enumerate((set(ours) & set(theirs), ours, theirs)):
        np.add.at(tally[:, column], [sentence_at(gold, start) for start, _ in spans], 1)
    return tally


def _score(tally: Floats, plain: bool, draws: int, seed: int) -> Score:
    correct, gold, system, aligned = (int(total) for total in tally.sum(axis=0))
    interval = None
    if len(tally) > 1:
        rows = tally[:, :3]
        sums = bootstrap_sums(rows[np.lexsort(rows.T[::-1])], draws, np.random.default_rng(seed))
        sizes = sums[:, 1] + sums[:, 2]
        interval = percentile_interval(2 * sums[:, 0] / np.maximum(sizes, 1))
    return Score(correct, gold, system, None if plain else aligned, interval)
