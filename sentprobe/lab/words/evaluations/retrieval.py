"""Sentence retrieval: whether the nearest sentence of the other language is the translation.

A sentence is the vector that its encoder gives it; or, in a space of words, the mean of its words' vectors, weighted by
their inverse document frequencies as MUSE does it, or otherwise: from other files, or from the sentences that are not
queries, if these are at least as many, and else from all sentences.
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
from sentprobe.lab.words.evaluation import (
    DetailNumber,
    EncoderEvaluation,
    EvaluationRequest,
    EvaluationScores,
    Queries,
    WordEvaluation,
    content_digest,
)
from sentprobe.lab.words.precision import LOOKED, precision_scores, ranks_of
from sentprobe.lab.words.sentence_encoders import EncoderPair
from sentprobe.lab.words.sentences import (
    UNKNOWN,
    Lines,
    Weights,
    WordRows,
    aligned_words,
    document_frequencies,
    read_aligned_lines,
    read_sentences,
    tokenisers_of,
    weighting,
    words_of,
)
from sentprobe.lab.words.set_names import languages_of
from sentprobe.lab.words.systems import MappedSpace, PairSearch, SpacePair
from sentprobe.tasks import Example

SHOWN = 200
"""Characters of the sentences found that are saved."""
CELLS = 20_000_000
"""Numbers of the baseline's products in memory at a time."""


@dataclass(frozen=True, eq=False)
class _SentenceFiles:
    lines: Lines
    idf: Lines | None


@dataclass(frozen=True, eq=False)
class _WordMeans:
    """Sentences as means of words."""

    flip: bool
    words: tuple[WordRows, WordRows]
    """Of the queries, and of all candidates."""
    weights: tuple[Weights, Weights]
    """Of the words of either side."""


@dataclass(frozen=True, eq=False)
class _SentenceQueries:
    means: _WordMeans | None
    """None: sentences are encoded."""
    gold: list[frozenset[int]]
    texts: tuple[list[str], list[str]]
    """Queries, and all candidates."""
    request: EvaluationRequest


def read(request: EvaluationRequest) -> _SentenceFiles:
    """Read the sentences, and those that inverse document frequencies are from."""
    if len(request.idf) not in (0, 2):
        raise UsageError(f"--idf {','.join(request.idf)}: expected two files, one per language: A,B.")
    if weighting(request.weights).idf is None and request.idf:
        raise UsageError(f"--idf has no effect with --weights {request.weights}: leave one of them out.")
    tokenisers_of(request)
    idf = None if not request.idf else _unaligned(request)
    return _SentenceFiles(read_sentences(request), idf)


def _unaligned(request: EvaluationRequest) -> Lines:
    """The sentences of two files that need not be as many, that of the queries first."""
    first, second = (read_aligned_lines((file, file))[0] for file in request.idf)
    return (second, first) if request.reverse else (first, second)


def find_queries(files: _SentenceFiles, pair: SpacePair, request: EvaluationRequest) -> Queries:
    """Sentences with a known word on both sides; some of them are queries, and all are candidates."""
    flip, *words = aligned_words(files.lines, pair, request)
    if weighting(request.weights).distinct:
        words = [[sorted(set(rows)) for rows in side] for side in words]
    source_words, target_words = words
    candidate_lines = [
        i for i in range(len(source_words)) if _has_known_word(source_words[i]) and _has_known_word(target_words[i])
    ]
    query_lines = _sample(
        candidate_lines, f"{pair.name} knows words of {len(candidate_lines)} of {len(source_words):,}", request
    )
    weights, weights_key = _weights(files, (source_words, target_words), query_lines, pair.sides(flip), request)
    # a word without a weight is as good as unknown
    source_words, target_words = (
        [_weighted_words(rows, side_weights) for rows in side]
        for side, side_weights in zip((source_words, target_words), weights, strict=True)
    )
    candidate_lines = [i for i in candidate_lines if source_words[i] and target_words[i]]
    query_lines = [i for i in query_lines if source_words[i] and target_words[i]]
    if len(candidate_lines) < 2 or not query_lines:
        raise TooFewError(
            f"{','.join(request.files)}: {len(query_lines)} of the queries and {len(candidate_lines)} "
            "of the candidates have a word with a document frequency. Are the files of --idf of these languages?"
        )
    means = _WordMeans(
        flip, ([source_words[i] for i in query_lines], [target_words[i] for i in candidate_lines]), weights
    )
    return _queries(files.lines, candidate_lines, query_lines, weights_key, means, request)


def find_encoder_queries(files: _SentenceFiles, pair: EncoderPair, request: EvaluationRequest) -> Queries:
    """Sentences that are empty on neither side."""
    of_words = {
        "--idf": request.idf,
        "--weights": request.weights != EvaluationRequest.weights,
        "--unit": request.unit,
        "--tokenise": request.tokenise,
    }
    for option, typed in of_words.items():
        if typed:
            raise UsageError(f"{option} is for words, and {pair.name} encodes sentences: leave it out.")
    candidate_lines = [i for i, texts in enumerate(zip(*files.lines, strict=True)) if all(texts)]
    query_lines = _sample(
        candidate_lines, f"there is text on both sides in {len(candidate_lines)} of {len(files.lines[0]):,}", request
    )
    return _queries(files.lines, candidate_lines, query_lines, "encoded", None, request)


def _sample(candidate_lines: Sequence[int], finding: str, request: EvaluationRequest) -> list[int]:
    """The lines of the queries, sampled from those of the candidates."""
    if len(candidate_lines) < 2:
        raise TooFewError(
            f"{','.join(request.files)}: {finding} pairs of sentences; expected two or more. Are these files "
            "aligned line by line, and of these languages?"
        )
    rng = np.random.default_rng(request.seed)
    sample = np.sort(
        rng.choice(len(candidate_lines), min(request.queries, len(candidate_lines)), replace=False)
    ).tolist()
    return [candidate_lines[i] for i in sample]


def _queries(
    lines: Lines,
    candidate_lines: Sequence[int],
    query_lines: Sequence[int],
    vectors_key: str,
    means: _WordMeans | None,
    request: EvaluationRequest,
) -> Queries:
    candidates = [lines[1][i] for i in candidate_lines]
    numbers_of_text: dict[str, list[int]] = {}
    translations: dict[str, set[str]] = {}
    for number, i in enumerate(candidate_lines):
        numbers_of_text.setdefault(lines[1][i], []).append(number)
        translations.setdefault(lines[0][i], set()).add(lines[1][i])
    query_texts = [lines[0][i] for i in query_lines]
    # of a sentence that occurs twice, either is right, on both sides
    gold = [
        frozenset(number for text in translations[query] for number in numbers_of_text[text]) for query in query_texts
    ]
    content = _SentenceQueries(means, gold, (query_texts, candidates), request)
    rows = [
        Example(lines[1][i], tuple(query.split()), query, source=str(i + 1))
        for i, query in zip(query_lines, query_texts, strict=True)
    ]
    facts = {"candidates": len(candidate_lines), "sentences left out": len(lines[0]) - len(candidate_lines)}
    # all lines, as inverse document frequencies are from those that are not queries, and some are left out
    gold_digest = content_digest([sorted(gold_numbers) for gold_numbers in gold])
    inputs_key = f"{vectors_key} {gold_digest} {content_digest(lines)}{' centred' * request.center}"
    return Queries(rows, content, facts, inputs_key)


def _has_known_word(rows: Sequence[int]) -> bool:
    return any(row != UNKNOWN for row in rows)


def _weighted_words(rows: Sequence[int], weights: Weights) -> list[int]:
    """The words that are known and have a weight."""
    return [row for row in rows if row != UNKNOWN and weights[row] > 0]


def _weights(
    files: _SentenceFiles,
    words: tuple[WordRows, WordRows],
    query_lines: Sequence[int],
    sides: tuple[MappedSpace, MappedSpace],
    request: EvaluationRequest,
) -> tuple[tuple[Weights, Weights], str]:
    """The weights of the words of both sides, and all that they and the sentences' vectors depend on."""
    idf = weighting(request.weights).idf
    settings = f" {request.weights}{' unit' * request.unit} {content_digest(request.tokenise)}"
    if idf is None:
        first, second = (np.ones(len(side.space)) for side in sides)
        return (first, second), "none" + settings
    if files.idf is not None:
        source_words, target_words = (
            words_of(*arguments) for arguments in zip(files.idf, sides, tokenisers_of(request), strict=True)
        )
        idf_key = f"idf {content_digest(files.idf)}"
    else:
        idf_lines = sorted(set(range(len(words[0]))) - set(query_lines))
        idf_lines = idf_lines if len(idf_lines) >= len(query_lines) else list(range(len(words[0])))
        source_words, target_words = ([side[i] for i in idf_lines] for side in words)
        idf_key = "rest" if len(idf_lines) < len(words[0]) else "all"
    first, second = (
        idf(document_frequencies(side_words, len(side.space)), len(side_words))
        for side_words, side in zip((source_words, target_words), sides, strict=True)
    )
    return (first, second), idf_key + settings


def sentence_vectors(words: WordRows, weights: Weights, side: MappedSpace, *, unit: bool) -> NDArray[np.float64]:
    """The weighted mean of the words of each sentence (n, k), all of which are known; with ``unit``, of directions."""
    lengths = [len(rows) for rows in words]
    flat = np.array([row for rows in words for row in rows], np.int64)
    rows, columns = np.unique(flat, return_inverse=True)
    table = csr_array(
        (weights[flat], columns, np.concatenate([[0], np.cumsum(lengths)])), shape=(len(words), len(rows))
    )
    vectors = side.unit[rows] if unit else side.vectors(rows)
    means: NDArray[np.float64] = table @ vectors.astype(np.float64)
    means /= np.asarray(table.sum(axis=1))[:, None]
    return means


def score(queries: Queries, search: PairSearch, scoring: Scoring) -> EvaluationScores:
    """The nearest candidates of every query, by the means of their words."""
    content: _SentenceQueries = queries.content
    means = content.means
    assert means is not None
    query_vectors, candidate_vectors = (
        sentence_vectors(words, weights, side, unit=content.request.unit)
        for words, weights, side in zip(means.words, means.weights, search.pair.sides(means.flip), strict=True)
    )
    return _score_vectors(content, query_vectors, candidate_vectors, scoring)


def score_encoders(queries: Queries, pair: EncoderPair, scoring: Scoring) -> EvaluationScores:
    """The nearest candidates of every query, by the vectors of their encoders."""
    content: _SentenceQueries = queries.content
    languages, sides = languages_of(content.request) or (None, None), (1, 0) if content.request.reverse else (0, 1)
    query_vectors, candidate_vectors = (
        pair.vectors(*arguments) for arguments in zip(sides, content.texts, languages, strict=True)
    )
    if query_vectors.shape[1] != candidate_vectors.shape[1]:
        raise UsageError(
            f"{pair.name}: the vectors have {query_vectors.shape[1]} and {candidate_vectors.shape[1]} dimensions; "
            "expected encoders in one space."
        )
    return _score_vectors(content, query_vectors, candidate_vectors, scoring)


def _score_vectors(
    content: _SentenceQueries, queries: NDArray[Any], candidates: NDArray[Any], scoring: Scoring
) -> EvaluationScores:
    query_rows, candidate_rows = (_directions(side, center=content.request.center) for side in (queries, candidates))
    neighbours = nearest(query_rows, candidate_rows, LOOKED, penalty=penalty_of(scoring, query_rows, candidate_rows))
    ranks, first = ranks_of(neighbours.rows, content.gold)
    answers = np.array([content.texts[1][i][:SHOWN] for i in first.tolist()])
    cosines = np.einsum("ij,ij->i", query_rows, candidate_rows[first])
    chance = float(np.mean([len(gold) for gold in content.gold])) / len(candidate_rows)
    return precision_scores(ranks, {}, {"chance": chance}, answer=answers, cosine=cosines)


def _directions(vectors: NDArray[Any], *, center: bool) -> Matrix:
    """Vectors (n, d) of length one; those without a direction are 0. On request, their mean is subtracted before."""
    centred = vectors.astype(np.float64)
    if center:
        centred -= centred.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->i", centred, centred))
    rows = (centred / np.where(norms > 0, norms, 1)[:, None]).astype(np.float32)
    unit_rows(rows)
    return rows


def score_copy(queries: Queries) -> EvaluationScores:
    """The sentence with most identical words: the cosine of bags of lower-cased words, weighted by idf."""
    content: _SentenceQueries = queries.content
    tokens = [lowercase_tokens(texts) for texts in content.texts]
    numbers: dict[str, int] = {}
    for text in (text for side in tokens for text in side):
        for token in text:
            numbers.setdefault(token, len(numbers))
    df = np.zeros(len(numbers))
    for text in tokens[1]:
        df[[numbers[token] for token in set(text)]] += 1
    weights = np.log((1 + len(tokens[1])) / (1 + df)) + 1
    query_bags, candidate_bags = (_bags(side, numbers, weights) for side in tokens)
    step = max(1, CELLS // candidate_bags.shape[0])
    ranks = np.full(query_bags.shape[0], -1, np.int32)
    for at in range(0, query_bags.shape[0], step):
        scores = (query_bags[at : at + step] @ candidate_bags.T).toarray()
        best = np.argsort(-scores, axis=1, kind="stable")[:, :LOOKED]
        answered = np.where(np.take_along_axis(scores, best, 1) > 0, best, -1)  # without a word in common, no answer
        ranks[at : at + step] = ranks_of(answered, content.gold[at : at + step])[0]
    return precision_scores(ranks, {})


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
    find_queries=find_queries,
    score=score,
    score_copy=score_copy,
    encoders=EncoderEvaluation(find_encoder_queries, score_encoders),
    flag="--sentences",
    options=("idf", "weights", "unit", "tokenise", "center"),
    set_note="precision@1 in points, the share of sentences whose nearest sentence is their translation, by vectors of "
    "sentences: in a space of words, these are means of words, weighted by inverse document frequency as in MUSE, "
    "unless the name of the set says otherwise.",
    table_title="precision at 1, at 5 and at 10",
    heading="at 1",
    numbers=(
        DetailNumber("precision@5", "at 5"),
        DetailNumber("precision@10", "at 10"),
        DetailNumber("chance", "chance", digits=2),
        DetailNumber("candidates", "candidates", 1, 0),
        DetailNumber("sentences left out", "pairs left out", 1, 0),
    ),
    order=30,
)
