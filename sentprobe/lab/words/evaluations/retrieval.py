"""Sentence retrieval: whether the nearest sentence of the other language is the translation.

A sentence is the vector that its encoder gives it; or, in a space of words, the mean of its words' vectors, weighted by
their inverse document frequencies as MUSE does it, or otherwise: from other files, or from the sentences that are not
looked for, if these are at least as many, and else from all sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sentprobe.core.words import lowercase_tokens
from sentprobe.errors import TooFewError, UsageError
from sentprobe.lab.alignment.maps import unit_rows
from sentprobe.lab.alignment.retrieval import Scoring, nearest, penalty_of
from sentprobe.lab.alignment.space import Matrix
from sentprobe.lab.words.evaluation import Answers, OfEncoders, Questions, Request, WordEvaluation, content_digest
from sentprobe.lab.words.names import languages_of
from sentprobe.lab.words.neighbours import Neighbourhood
from sentprobe.lab.words.pair import Pair, Side
from sentprobe.lab.words.precision import LOOKED, graded, ranks_of
from sentprobe.lab.words.sentence_encoders import EncoderPair
from sentprobe.lab.words.sentences import (
    UNKNOWN,
    Lines,
    Weights,
    Words,
    document_frequencies,
    in_words,
    read_sentences,
    read_two,
    tokenisers_of,
    weighting,
    words_of,
)
from sentprobe.tasks import Example

SHOWN = 200
"""Characters of the sentences found that are saved."""
CELLS = 20_000_000
"""Numbers of the baseline's products in memory at a time."""


@dataclass(frozen=True, eq=False)
class _Material:
    lines: Lines
    idf: Lines | None


@dataclass(frozen=True, eq=False)
class _Means:
    """Sentences as means of words."""

    flip: bool
    words: tuple[Words, Words]
    """Of the queries, and of all candidates."""
    weights: tuple[Weights, Weights]
    """Of the words of either side."""


@dataclass(frozen=True, eq=False)
class _Content:
    means: _Means | None
    """None: sentences are encoded."""
    gold: list[frozenset[int]]
    texts: tuple[list[str], list[str]]
    """Queries, and all candidates."""
    request: Request


def read(request: Request) -> _Material:
    """Read the sentences, and those that inverse document frequencies are from."""
    if len(request.idf) not in (0, 2):
        raise UsageError(f"--idf {','.join(request.idf)}: expected two files, one per language: A,B.")
    if weighting(request.weights).idf is None and request.idf:
        raise UsageError(f"--idf is for other weights than {request.weights}: leave one of them out.")
    tokenisers_of(request)
    idf = None if not request.idf else _unaligned(request)
    return _Material(read_sentences(request), idf)


def _unaligned(request: Request) -> Lines:
    """The sentences of two files that need not be as many, the first of the language that is asked."""
    one, two = (read_two((file, file))[0] for file in request.idf)
    return (two, one) if request.reverse else (one, two)


def ask(material: _Material, pair: Pair, request: Request) -> Questions:
    """Sentences with a known word on both sides; some of them are looked for, and all are candidates."""
    flip, *words = in_words(material.lines, pair, request)
    if weighting(request.weights).distinct:
        words = [[sorted(set(rows)) for rows in side] for side in words]
    one, two = words
    known = [i for i in range(len(one)) if _any(one[i]) and _any(two[i])]
    asked = _sample(known, f"{pair.name} knows words of {len(known)} of {len(one):,}", request)
    weights, source = _weights(material, (one, two), asked, pair.sides(flip), request)
    # a word without a weight is as good as unknown
    one, two = ([_weighted(rows, own) for rows in side] for side, own in zip((one, two), weights, strict=True))
    known = [i for i in known if one[i] and two[i]]
    asked = [i for i in asked if one[i] and two[i]]
    if len(known) < 2 or not asked:
        raise TooFewError(
            f"{','.join(request.files)}: {len(asked)} of the sentences that are looked for, and {len(known)} of all, "
            "have a word with a frequency. Are the files of --idf of these languages?"
        )
    means = _Means(flip, ([one[i] for i in asked], [two[i] for i in known]), weights)
    return _questions(material.lines, known, asked, source, means, request)


def ask_encoders(material: _Material, pair: EncoderPair, request: Request) -> Questions:
    """Sentences that are empty on neither side."""
    of_words = {
        "--idf": request.idf,
        "--weights": request.weights != Request.weights,
        "--unit": request.unit,
        "--tokenise": request.tokenise,
    }
    for option, typed in of_words.items():
        if typed:
            raise UsageError(f"{option} is for words, and {pair.name} encodes sentences: leave it out.")
    known = [i for i, texts in enumerate(zip(*material.lines, strict=True)) if all(texts)]
    asked = _sample(known, f"there is text on both sides in {len(known)} of {len(material.lines[0]):,}", request)
    return _questions(material.lines, known, asked, "encoded", None, request)


def _sample(known: Sequence[int], what: str, request: Request) -> list[int]:
    """The sentences that are looked for, of those that can be."""
    if len(known) < 2:
        raise TooFewError(
            f"{','.join(request.files)}: {what} pairs of sentences; expected two or more. Are these files "
            "aligned line by line, and of these languages?"
        )
    rng = np.random.default_rng(request.seed)
    drawn = np.sort(rng.choice(len(known), min(request.queries, len(known)), replace=False)).tolist()
    return [known[i] for i in drawn]


def _questions(
    lines: Lines, known: Sequence[int], asked: Sequence[int], source: str, means: _Means | None, request: Request
) -> Questions:
    texts = [lines[1][i] for i in known]
    same: dict[str, list[int]] = {}
    translations: dict[str, set[str]] = {}
    for number, i in enumerate(known):
        same.setdefault(lines[1][i], []).append(number)
        translations.setdefault(lines[0][i], set()).add(lines[1][i])
    queries = [lines[0][i] for i in asked]
    # of a sentence that occurs twice, either is right, on both sides
    gold = [frozenset(number for text in translations[query] for number in same[text]) for query in queries]
    content = _Content(means, gold, (queries, texts), request)
    rows = [
        Example(lines[1][i], tuple(query.split()), query, source=str(i + 1))
        for i, query in zip(asked, queries, strict=True)
    ]
    facts = {"candidates": len(known), "sentences left out": len(lines[0]) - len(known)}
    # all lines, as inverse document frequencies are from those that are not asked, and some are left out
    more = (
        f"{source} {content_digest([sorted(own) for own in gold])} {content_digest(lines)}{' centred' * request.center}"
    )
    return Questions(rows, content, facts, more)


def _any(rows: Sequence[int]) -> bool:
    return any(row != UNKNOWN for row in rows)


def _weighted(rows: Sequence[int], weights: Weights) -> list[int]:
    """The words that are known and have a weight."""
    return [row for row in rows if row != UNKNOWN and weights[row] > 0]


def _weights(
    material: _Material, words: tuple[Words, Words], asked: Sequence[int], sides: tuple[Side, Side], request: Request
) -> tuple[tuple[Weights, Weights], str]:
    """The weights of the words of both sides, and all that they and the sentences' vectors depend on."""
    idf = weighting(request.weights).idf
    settings = f" {request.weights}{' unit' * request.unit} {content_digest(request.tokenise)}"
    if idf is None:
        first, second = (np.ones(len(side.space)) for side in sides)
        return (first, second), "none" + settings
    if material.idf is not None:
        one, two = (words_of(*each) for each in zip(material.idf, sides, tokenisers_of(request), strict=True))
        source = f"idf {content_digest(material.idf)}"
    else:
        rest = sorted(set(range(len(words[0]))) - set(asked))
        rest = rest if len(rest) >= len(asked) else list(range(len(words[0])))
        one, two = ([side[i] for i in rest] for side in words)
        source = "rest" if len(rest) < len(words[0]) else "all"
    first, second = (
        idf(document_frequencies(own, len(side.space)), len(own)) for own, side in zip((one, two), sides, strict=True)
    )
    return (first, second), source + settings


def sentence_vectors(words: Words, weights: Weights, side: Side, *, unit: bool) -> NDArray[np.float64]:
    """The weighted mean of the words of each sentence (n, k), all of which are known; with ``unit``, of directions."""
    lengths = [len(rows) for rows in words]
    flat = np.array([row for rows in words for row in rows], np.int64)
    used, columns = np.unique(flat, return_inverse=True)
    table = csr_array(
        (weights[flat], columns, np.concatenate([[0], np.cumsum(lengths)])), shape=(len(words), len(used))
    )
    vectors = side.unit[used] if unit else side.vectors(used)
    found: NDArray[np.float64] = table @ vectors.astype(np.float64)
    found /= np.asarray(table.sum(axis=1))[:, None]
    return found


def answer(questions: Questions, space: Neighbourhood, scoring: Scoring) -> Answers:
    """The nearest candidates of every query, by the means of their words."""
    own: _Content = questions.content
    means = own.means
    assert means is not None
    one, two = (
        sentence_vectors(words, weights, side, unit=own.request.unit)
        for words, weights, side in zip(means.words, means.weights, space.pair.sides(means.flip), strict=True)
    )
    return _graded(own, one, two, scoring)


def answer_encoders(questions: Questions, pair: EncoderPair, scoring: Scoring) -> Answers:
    """The nearest candidates of every query, by the vectors of their encoders."""
    own: _Content = questions.content
    languages, sides = languages_of(own.request) or (None, None), (1, 0) if own.request.reverse else (0, 1)
    one, two = (pair.vectors(*each) for each in zip(sides, own.texts, languages, strict=True))
    if one.shape[1] != two.shape[1]:
        raise UsageError(
            f"{pair.name}: the vectors have {one.shape[1]} and {two.shape[1]} dimensions; expected encoders in one "
            "space."
        )
    return _graded(own, one, two, scoring)


def _graded(own: _Content, queries: NDArray[Any], candidates: NDArray[Any], scoring: Scoring) -> Answers:
    one, two = (_directions(side, center=own.request.center) for side in (queries, candidates))
    near = nearest(one, two, LOOKED, penalty=penalty_of(scoring, one, two))
    ranks, first = ranks_of(near.rows, own.gold)
    said = np.array([own.texts[1][i][:SHOWN] for i in first.tolist()])
    found = graded(ranks, {}, answer=said, cosine=np.einsum("ij,ij->i", one, two[first]))
    chance = float(np.mean([len(right) for right in own.gold])) / len(two)
    return Answers(**{**vars(found), "baselines": {"chance": chance}})


def _directions(vectors: NDArray[Any], *, center: bool) -> Matrix:
    """Vectors (n, d) of length one; those without a direction are 0. On request, their mean is subtracted before."""
    found = vectors.astype(np.float64)
    if center:
        found -= found.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->i", found, found))
    rows = (found / np.where(norms > 0, norms, 1)[:, None]).astype(np.float32)
    unit_rows(rows)
    return rows


def copy(questions: Questions) -> Answers:
    """The sentence with most identical words: the cosine of bags of lower-cased words, weighted by idf."""
    own: _Content = questions.content
    tokens = [lowercase_tokens(texts) for texts in own.texts]
    numbers: dict[str, int] = {}
    for text in (text for side in tokens for text in side):
        for token in text:
            numbers.setdefault(token, len(numbers))
    df = np.zeros(len(numbers))
    for text in tokens[1]:
        df[[numbers[token] for token in set(text)]] += 1
    weights = np.log((1 + len(tokens[1])) / (1 + df)) + 1
    one, two = (_bags(side, numbers, weights) for side in tokens)
    step = max(1, CELLS // two.shape[0])
    ranks = np.full(one.shape[0], -1, np.int32)
    for at in range(0, one.shape[0], step):
        scores = (one[at : at + step] @ two.T).toarray()
        best = np.argsort(-scores, axis=1, kind="stable")[:, :LOOKED]
        here = np.where(np.take_along_axis(scores, best, 1) > 0, best, -1)  # without a word in common, no answer
        ranks[at : at + step] = ranks_of(here, own.gold[at : at + step])[0]
    return graded(ranks, {})


def _bags(texts: Sequence[Sequence[str]], numbers: dict[str, int], weights: NDArray[np.float64]) -> csr_array:
    columns = np.array([numbers[token] for text in texts for token in text], np.int64)
    ends = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    table = csr_array((weights[columns], columns, ends), shape=(len(texts), len(numbers)))
    table.sum_duplicates()
    norms = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    table.data /= np.repeat(np.where(norms > 0, norms, 1), np.diff(table.indptr))
    return table


word_evaluation = WordEvaluation(
    name="retrieval",
    summary="share of sentences whose translation is the nearest sentence, or among 5 and 10",
    task="sentence_retrieval",
    metric="precision@1",
    question="Which sentence is its translation?",
    version=2,  # 1: weights as those of ``smooth`` now, with every occurrence of a word
    files=2,
    read=read,
    ask=ask,
    answer=answer,
    copy=copy,
    encoders=OfEncoders(ask_encoders, answer_encoders),
    order=30,
)
