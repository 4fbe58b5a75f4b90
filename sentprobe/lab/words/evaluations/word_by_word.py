"""Word-by-word translation: every word is replaced by its nearest neighbour, and the result is scored by BLEU.

Pairs of sentences with a word that is not known, on either side, are left out. Punctuation is left out of both sides,
unless a tokeniser is named, and words are as in the vocabularies, which mostly are lower-cased: BLEU is of these words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import TooFewError
from sentprobe.lab.alignment.retrieval import Scoring
from sentprobe.lab.training.targets import bleu
from sentprobe.lab.words.evaluation import (
    DetailNumber,
    EvaluationRequest,
    EvaluationScores,
    Queries,
    WordEvaluation,
    content_digest,
)
from sentprobe.lab.words.sentences import UNKNOWN, Lines, WordRows, aligned_words, read_sentences
from sentprobe.lab.words.systems import PairSearch, SpacePair
from sentprobe.stats.resample import bootstrap_sums, percentile_interval
from sentprobe.tasks import Example

ORDERS = 4
"""The longest n-grams of BLEU."""
DRAWS = 2000

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _SourceSentences:
    flip: bool
    sources: WordRows
    words: list[list[str]]
    """The source sentences, as words."""
    references: list[list[str]]


def find_queries(lines: Lines, pair: SpacePair, request: EvaluationRequest) -> Queries:
    """Pairs of sentences all of whose words are known."""
    flip, source_rows, target_rows = aligned_words(lines, pair, request)
    source, target = pair.sides(flip)
    complete = [
        i
        for i in range(len(source_rows))
        if source_rows[i] and target_rows[i] and UNKNOWN not in source_rows[i] and UNKNOWN not in target_rows[i]
    ]
    if len(complete) < 2:
        raise TooFewError(
            f"{','.join(request.files)}: {pair.name} knows all words of {len(complete)} of {len(source_rows):,} pairs "
            "of sentences; expected two or more."
        )
    words = [[source.space.words[row] for row in source_rows[i]] for i in complete]
    references = [[target.space.words[row] for row in target_rows[i]] for i in complete]
    rows = [
        Example(" ".join(reference), tuple(source_words), " ".join(source_words), source=str(i + 1))
        for i, source_words, reference in zip(complete, words, references, strict=True)
    ]
    facts = {"sentences": len(complete), "sentences left out": len(source_rows) - len(complete)}
    inputs_key = content_digest(lines, *([request.tokenise] if request.tokenise else []))
    return Queries(
        rows, _SourceSentences(flip, [source_rows[i] for i in complete], words, references), facts, inputs_key
    )


def score(queries: Queries, search: PairSearch, scoring: Scoring) -> EvaluationScores:
    """Every word by its nearest neighbour on the other side."""
    content: _SourceSentences = queries.content
    target = search.pair.sides(content.flip)[1]
    rows = np.unique(np.concatenate([np.array(text, np.int64) for text in content.sources]))
    single = search.pair.single
    neighbours = search.nearest(rows, 1 + single, scoring, flip=content.flip).rows.tolist()
    translation = {
        row: next(candidate for candidate in nearest_rows if not single or candidate != row)
        for row, nearest_rows in zip(rows.tolist(), neighbours, strict=True)
    }
    return bleu_scores(
        [[target.space.words[translation[row]] for row in text] for text in content.sources], content.references
    )


def score_copy(queries: Queries) -> EvaluationScores:
    """The source sentences as they are."""
    content: _SourceSentences = queries.content
    return bleu_scores(content.words, content.references)


def bleu_scores(outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> EvaluationScores:
    """BLEU of tokenised sentences, as a share of one."""
    value, _ = bleu([" ".join(o) for o in outputs], [" ".join(r) for r in references], "none")
    counts = np.array([ngram_counts(output, reference) for output, reference in zip(outputs, references, strict=True)])
    order = np.lexsort(counts.T[::-1])
    resampled = bootstrap_sums(counts[order].astype(np.float64), DRAWS, np.random.default_rng(0))
    low, high = percentile_interval(bleu_of_counts(resampled))
    matches, totals = counts[:, :ORDERS], counts[:, ORDERS : 2 * ORDERS]
    return EvaluationScores(
        score=value / 100,
        interval=(min(low, value / 100), max(high, value / 100)),
        interval_kind="bootstrap",
        scores={
            f"{n + 1}-gram precision": float(matches[:, n].sum() / max(1, totals[:, n].sum())) for n in range(ORDERS)
        },
        arrays={
            "matches": matches.astype(np.int32),
            "ngrams": totals.astype(np.int32),
            "lengths": counts[:, 2 * ORDERS :].astype(np.int32),
        },
    )


def ngram_counts(output: Sequence[str], reference: Sequence[str]) -> list[int]:
    """For n = 1 to 4, n-grams that match; all n-grams of the output; and both lengths."""
    matches, totals = [], []
    for n in range(1, ORDERS + 1):
        output_ngrams, reference_ngrams = (
            Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (output, reference)
        )
        matches.append(sum((output_ngrams & reference_ngrams).values()))
        totals.append(max(0, len(output) - n + 1))
    return [*matches, *totals, len(output), len(reference)]


def bleu_of_counts(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """BLEU (m,), from 0 to 1, of sums of counts (m, 10), with sacrebleu's smoothing of n-grams that never match."""
    matches, totals = sums[:, :ORDERS], sums[:, ORDERS : 2 * ORDERS]
    output, reference = sums[:, -2], sums[:, -1]
    # each order without a match counts as 1/2, 1/4, … of one n-gram; those without n-grams make BLEU zero
    halvings = np.cumsum(matches == 0, axis=1)
    smooth = np.where(matches == 0, 0.5**halvings, matches)
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(totals > 0, smooth / np.maximum(totals, 1), 0)).mean(axis=1)
        brevity = np.minimum(0, 1 - reference / np.maximum(output, 1))
    scores: NDArray[np.float64] = np.where((matches.sum(axis=1) > 0) & (output > 0), np.exp(logs + brevity), 0.0)
    return scores


word_evaluation = WordEvaluation(
    name="word_by_word",
    summary="BLEU of sentences that are translated word by word",
    task="word_by_word",
    metric="bleu",
    question="What is it in the other language, word by word?",
    files=2,
    read=read_sentences,
    find_queries=find_queries,
    score=score,
    score_copy=score_copy,
    flag="--word-by-word",
    options=("tokenise",),
    set_note="BLEU of translating every word by its nearest neighbour, over pairs of sentences all of whose words are "
    "known.",
    table_title="BLEU, and the share of n-grams that are in the reference",
    numbers=(
        *(DetailNumber(f"{n}-gram precision", f"{n}-grams") for n in range(1, 5)),
        DetailNumber("sentences left out", "pairs left out", 1, 0),
    ),
    order=40,
)
