"""vecmap: normalise, whiten, rotate, re-weight; from a dictionary, or from none by self-learning.

Artetxe et al. 2018, "A robust self-learning method for fully unsupervised cross-lingual mappings of word embeddings".
Without a dictionary, words are first paired by their sorted similarities to all other words of their own language,
which are alike for translations. Then rotation and dictionary are found in turns. At first only a random part of all
candidates is considered, so that a poor start does not confirm itself; whenever the objective has not improved for a
number of rounds, this part grows, up to all. Unlike in the paper, the dictionaries have fewer words while they are
random (``random_words``), which takes far less time, and the search ends as soon as a dictionary repeats. It also waits
for fewer and larger improvements: ``words=20000 random_words=20000 interval=50 threshold=1e-6`` is what the paper does,
which took more than ten times as long on English and French, for the same objective up to where it was stopped. In the
released code, candidates that are left out get the score 0 and may still be chosen; here they cannot be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from sentprobe.core.arguments import Setting
from sentprobe.errors import TooFewError
from sentprobe.lab.alignment.maps import prepare, unit_rows
from sentprobe.lab.alignment.method import Arrays, Matrices, Method, Problem
from sentprobe.lab.alignment.methods._induction import induce
from sentprobe.lab.alignment.methods._weighted import Weights, products, roots, rotation, weighted
from sentprobe.lab.alignment.space import Matrix, Rows

STEPS = ("unit", "center", "unit")
MAPS_EVERY = 10
"""Rounds after which a map is kept; there are hundreds of rounds."""


@dataclass(frozen=True, eq=False)
class SelfLearningState:
    """Where self-learning is."""

    pairs: Rows
    """The dictionary for the next round."""
    round: int = 0
    keep: float = 0.1
    """The part of all candidates that is considered."""
    best: float = -np.inf
    """The highest objective so far."""
    improved: int = 0
    """The round in which it was reached, or in which ``keep`` grew."""
    seen: tuple[int, ...] = ()
    """Digests of the dictionaries since nothing is random any more."""

    @property
    def repeats(self) -> bool:
        """Whether all further rounds would repeat those since a dictionary that is now there again."""
        return len(set(self.seen)) < len(self.seen)


def solve(problem: Problem) -> Matrices:
    """From the dictionary as it is, or by self-learning."""
    if problem.pairs is None or not problem.settings["supervised"]:
        return _learn(problem)
    _check_pairs(problem, problem.pairs)
    return weighted(problem.source, problem.target, problem.pairs, _weights(problem))


def _check_pairs(problem: Problem, pairs: Rows) -> None:
    """TooFewError if there are fewer words than dimensions: whitening would fit them exactly, and nothing else."""
    words, dim = min(len(np.unique(side)) for side in pairs.T), problem.source.shape[1]
    if problem.settings["whiten"] and words < dim:
        raise TooFewError(
            f"The dictionary has {words} different words that the spaces know; whitening needs {dim}, one per "
            "dimension. Use a larger dictionary, let it be only the start (--set supervised=no), or choose --method "
            "procrustes."
        )


def _weights(problem: Problem) -> Weights:
    s = problem.settings
    return Weights(
        bool(s["whiten"]),
        float(s["source_reweight"]),
        float(s["target_reweight"]),
        bool(s["dewhiten"]),
        int(s["dimensions"]),
    )


def start(source: Matrix, target: Matrix, words: int, k: int) -> Rows:
    """Pairs (2n, 2) of the n most frequent words with the most similar distributions of similarities."""
    n = min(words, len(source), len(target))
    return induce(_profiles(source[:n]), _profiles(target[:n]), k).pairs


def _profiles(vectors: Matrix) -> Matrix:
    """Each row of the square root of X Xᵀ (n, n), sorted: which word is similar no longer matters, only how similar."""
    rows = np.arange(len(vectors))
    # (X Xᵀ)^(1/2) = X (Xᵀ X)^(−1/2) Xᵀ: the root of a matrix (d, d), where vecmap takes the SVD of X
    white, _ = roots(products(vectors, rows, vectors, rows))
    profiles = (vectors @ white.astype(np.float32)) @ vectors.T
    profiles.sort(axis=1)
    prepare(profiles, STEPS)
    return profiles


def _learn(problem: Problem) -> Matrices:
    """Rotation and dictionary in turns, then the weighted map of the last dictionary."""
    settings, state = problem.settings, _initial_state(problem)
    while state.round < int(settings["rounds"]) and not state.repeats:
        number = state.round + 1
        if number - state.improved > int(settings["interval"]):
            if state.keep >= 1:
                break
            state = _with_more_candidates(problem, replace(state, improved=number))
        words = _word_count(problem, state.keep)
        matrix = rotation(problem.source, problem.target, state.pairs)
        source_rows, target_rows = problem.source[:words] @ matrix, np.array(problem.target[:words])
        unit_rows(source_rows)
        unit_rows(target_rows)
        streams = problem.rng(number, 0), problem.rng(number, 1)
        pairs, objective = induce(source_rows, target_rows, int(settings["neighbours"]), state.keep, streams)
        if objective - state.best >= float(settings["threshold"]):
            state = replace(state, best=objective, improved=number)
        state = replace(state, pairs=pairs, round=number, seen=(*state.seen, _digest(pairs)) if state.keep >= 1 else ())
        facts = {"objective": objective, "pairs": len(np.unique(pairs, axis=0)), "keep": state.keep}
        checkpoint = Matrices(matrix) if number % MAPS_EVERY == 0 else None
        if checkpoint is not None:
            facts["criterion"] = problem.criterion(checkpoint)
        problem.report("round", number, checkpoint, facts)
        problem.save(_arrays(state))
    matrices = weighted(problem.source, problem.target, state.pairs, _final_weights(problem, state.pairs))
    problem.report("round", state.round + 1, matrices, {"criterion": problem.criterion(matrices)})
    return matrices


def _digest(pairs: Rows) -> int:
    # seven bytes, so that it is an int64 in the saved state
    return int.from_bytes(blake2b(pairs.tobytes(), digest_size=7).digest())


def _initial_state(problem: Problem) -> SelfLearningState:
    """Where an interrupted run ended, or the first dictionary."""
    if (saved := problem.load()) is not None:
        numbers = saved["numbers"]
        seen = tuple(int(digest) for digest in saved["seen"])
        return SelfLearningState(
            saved["pairs"], int(numbers[0]), float(numbers[1]), float(numbers[2]), int(numbers[3]), seen
        )
    s = problem.settings
    pairs = problem.pairs
    if pairs is None:
        pairs = start(problem.source, problem.target, int(s["start_words"]), int(s["neighbours"]))
    return SelfLearningState(pairs, keep=float(s["keep"]))


def _arrays(state: SelfLearningState) -> Arrays:
    return {
        "pairs": state.pairs,
        "seen": np.array(state.seen, np.int64),
        "numbers": np.array([state.round, state.keep, state.best, state.improved], np.float64),
    }


def _with_more_candidates(problem: Problem, state: SelfLearningState) -> SelfLearningState:
    """With more candidates considered; the objective of more words is not comparable to that of fewer."""
    keep = min(1.0, state.keep * float(problem.settings["growth"]))
    same = _word_count(problem, keep) == _word_count(problem, state.keep)
    return replace(state, keep=keep, best=state.best if same else -np.inf)


def _word_count(problem: Problem, keep: float) -> int:
    """How many words of either side are in the dictionary."""
    words = int(problem.settings["words"])
    if keep < 1:
        words = min(words, int(problem.settings["random_words"]))
    return min(words, max(len(problem.source), len(problem.target)))


def _final_weights(problem: Problem, pairs: Rows) -> Weights:
    """Of too few words, only the rotation."""
    few = min(len(np.unique(side)) for side in pairs.T) < problem.source.shape[1]
    weights = _weights(problem)
    return weights._replace(whiten=False, source_reweight=0, target_reweight=0) if few else weights


SETTINGS: Mapping[str, Setting] = {
    "supervised": Setting(True, "use the dictionary as it is; no: only as the start of self-learning"),
    "whiten": Setting(True, "make all directions of the dictionary's words uncorrelated and equally long"),
    "source_reweight": Setting(0.5, "power of the correlations that weight the source side", low=0, high=2),
    "target_reweight": Setting(0.5, "power of the correlations that weight the target side", low=0, high=2),
    "dewhiten": Setting(True, "undo the whitening after the rotation"),
    "dimensions": Setting(0, "dimensions of the common space, the most correlated first; 0: all", low=0),
    "start_words": Setting(4000, "most frequent words that are paired by their similarities at the start", low=2),
    "words": Setting(10_000, "most frequent words in the dictionary; 20000 in the paper", low=2),
    "random_words": Setting(
        4000, "most frequent words in the dictionary while it is random; 20000 in the paper", low=2
    ),
    "neighbours": Setting(10, "neighbours of CSLS"),
    "keep": Setting(0.1, "part of all candidates that is considered at first", low=0.001, high=1),
    "growth": Setting(2.0, "factor by which this part grows", low=1.01),
    "interval": Setting(10, "rounds without improvement after which it grows; 50 in the released code"),
    "threshold": Setting(1e-4, "smallest improvement of the objective; 1e-6 in the paper", low=0),
    "rounds": Setting(2000, "rounds at most"),
}

alignment_method = Method(
    "vecmap",
    "whitened, rotated and re-weighted; without a dictionary by self-learning",
    solve,
    dictionary="optional",
    settings=SETTINGS,
    steps=STEPS,
    seeded=True,
    orthogonal=False,
    order=40,
)
