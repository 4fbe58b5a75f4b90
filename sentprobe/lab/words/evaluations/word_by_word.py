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
from sentprobe.lab.words.evaluation import Answers, Questions, Request, WordEvaluation, content_digest
from sentprobe.lab.words.neighbours import Neighbourhood
from sentprobe.lab.words.pair import Pair
from sentprobe.lab.words.sentences import UNKNOWN, Lines, Words, in_words, read_sentences
from sentprobe.stats.resample import bootstrap_sums, percentile_interval
from sentprobe.tasks import Example

ORDERS = 4
"""The longest n-grams of BLEU."""
DRAWS = 2000

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Content:
    flip: bool
    sources: Words
    words: list[list[str]]
    """The source sentences, as words."""
    references: list[list[str]]


def ask(lines: Lines, pair: Pair, request: Request) -> Questions:
    """Pairs of sentences all of whose words are known."""
    flip, one, two = in_words(lines, pair, request)
    source, target = pair.sides(flip)
    kept = [i for i in range(len(one)) if one[i] and two[i] and UNKNOWN not in one[i] and UNKNOWN not in two[i]]
    if len(kept) < 2:
        raise TooFewError(
            f"{','.join(request.files)}: {pair.name} knows all words of {len(kept)} of {len(one):,} pairs of "
            "sentences; expected two or more."
        )
    words = [[source.space.words[row] for row in one[i]] for i in kept]
    references = [[target.space.words[row] for row in two[i]] for i in kept]
    rows = [
        Example(" ".join(right), tuple(own), " ".join(own), source=str(i + 1))
        for i, own, right in zip(kept, words, references, strict=True)
    ]
    facts = {"sentences": len(kept), "sentences left out": len(one) - len(kept)}
    more = content_digest(lines, *([request.tokenise] if request.tokenise else []))
    return Questions(rows, _Content(flip, [one[i] for i in kept], words, references), facts, more)


def answer(questions: Questions, space: Neighbourhood, scoring: Scoring) -> Answers:
    """Every word by its nearest neighbour on the other side."""
    own: _Content = questions.content
    target = space.pair.sides(own.flip)[1]
    rows = np.unique(np.concatenate([np.array(text, np.int64) for text in own.sources]))
    single = space.pair.single
    near = space.nearest(rows, 1 + single, scoring, flip=own.flip).rows.tolist()
    best = {
        row: next(candidate for candidate in found if not single or candidate != row)
        for row, found in zip(rows.tolist(), near, strict=True)
    }
    return scored([[target.space.words[best[row]] for row in text] for text in own.sources], own.references)


def copy(questions: Questions) -> Answers:
    """The source sentences as they are."""
    own: _Content = questions.content
    return scored(own.words, own.references)


def scored(outputs: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> Answers:
    """BLEU of tokenised sentences, as a share of one."""
    value, _ = bleu([" ".join(o) for o in outputs], [" ".join(r) for r in references], "none")
    counts = np.array([_counts(out, right) for out, right in zip(outputs, references, strict=True)])
    order = np.lexsort(counts.T[::-1])
    drawn = bootstrap_sums(counts[order].astype(np.float64), DRAWS, np.random.default_rng(0))
    low, high = percentile_interval(bleu_of_counts(drawn))
    matches, totals = counts[:, :ORDERS], counts[:, ORDERS : 2 * ORDERS]
    return Answers(
        score=value / 100,
        interval=(min(low, value / 100), max(high, value / 100)),
        interval_kind="bootstrap",
        scores={
            f"{n + 1}-gram precision": float(matches[:, n].sum() / max(1, totals[:, n].sum())) for n in range(ORDERS)
        },
        arrays={"matches": matches.astype(np.int32), "ngrams": totals.astype(np.int32),
                "lengths": counts[:, 2 * ORDERS :].astype(np.int32)},
    )  # fmt: skip


def _counts(output: Sequence[str], reference: Sequence[str]) -> list[int]:
    """For n = 1 to 4, n-grams that match; all n-grams of the output; and both lengths."""
    matches, totals = [], []
    for n in range(1, ORDERS + 1):
        own, right = (Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (output, reference))
        matches.append(sum((own & right).values()))
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
    found: NDArray[np.float64] = np.where((matches.sum(axis=1) > 0) & (output > 0), np.exp(logs + brevity), 0.0)
    return found


word_evaluation = WordEvaluation(
    name="word_by_word",
    summary="BLEU of sentences that are translated word by word",
    task="word_by_word",
    metric="bleu",
    question="What is it in the other language, word by word?",
    files=2,
    read=read_sentences,
    ask=ask,
    answer=answer,
    copy=copy,
    order=40,
)
