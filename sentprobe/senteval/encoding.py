"""Sentences → vectors and similarities: the client's ``batcher`` is called, and what it returns is checked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import ShapeError, TooFewError
from sentprobe.senteval.utils import cosine, dotdict

Array = npt.NDArray[Any]
Batcher = Callable[[dotdict, Any], Any]
Prepare = Callable[[dotdict, Any], Any]
Sentence = list[str]
Similarity = Callable[[Any, Any], Any]

log = logging.getLogger("senteval")
"""Its messages are SentEval's word for word, line ends and runs of spaces included: scripts read numbers from them."""
PAIR_ROWS = 256
"""Pairs that are combined at a time."""


def length_order(*columns: Sequence[Any]) -> list[int]:
    """The numbers of rows, of sentences and a label, sorted by the sentences' lengths and then the labels.

    Sentences of a batch are then about equally long, which saves padding. Rows that compare equal keep their order.
    """
    rows = list(zip(*columns, strict=True))
    return sorted(range(len(rows)), key=lambda i: (*map(len, rows[i][:-1]), rows[i][-1]))


def encode(params: dotdict, batcher: Batcher, *sides: Sequence[Any]) -> Array:
    """The vectors of sentences, ``params.batch_size`` at a time, in the type in which they are returned.

    Of several lists, one after the other, the vectors are concatenated: (n, sides · d). The array is filled in place,
    since fresh memory costs more than the copying.
    """
    rows, vectors, width = len(sides[0]), None, 0
    for k, sentences in enumerate(sides):
        for start in range(0, rows, params.batch_size):
            batch = sentences[start : start + params.batch_size]
            encoded = matrix(params, batcher(params, batch), batch, start)
            check_finite(params, encoded, start)
            if vectors is None:
                width = encoded.shape[1]
                vectors = np.empty((rows, len(sides) * width), encoded.dtype)
            if encoded.shape[1] != width:
                raise ShapeError(
                    f"{describe_batch(params, start)}: the batcher returned vectors of {encoded.shape[1]} dimensions, "
                    f"and of {width} before; expected one dimension."
                )
            # a later batch may be of a wider type
            vectors = vectors.astype(np.result_type(vectors, encoded), copy=False)
            vectors[start : start + len(batch), k * width : (k + 1) * width] = encoded
    if vectors is None:
        raise TooFewError(f"{params.current_task}: there are no sentences to encode. Are the files of the set empty?")
    return vectors


def describe_batch(params: dotdict, start: int) -> str:
    """The batch that begins with this sentence, as messages name it."""
    return f"{params.current_task}, batch {start // params.batch_size + 1} (sentences {start} …)"


def matrix(params: dotdict, returned: Any, batch: Sequence[Any], start: int) -> Array:
    """What a batcher returned as an array (n, d) of floats; a single vector will do for a single sentence."""
    try:
        array = _array(returned)
    except (ValueError, TypeError) as why:
        raise ShapeError(
            f"{describe_batch(params, start)}: the batcher returned a {type(returned).__name__} that is not a matrix "
            f"({why}); expected one vector for each of {len(batch)} sentences, all of one dimension."
        ) from None
    if array.ndim == 1 and len(batch) == 1:
        array = array[None]
    if array.ndim != 2 or len(array) != len(batch) or array.dtype.kind not in "fiub":
        raise ShapeError(
            f"{describe_batch(params, start)}: the batcher returned {array.dtype} of the shape {array.shape}; "
            f"expected numbers ({len(batch)}, d), one row for each sentence."
        )
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def check_finite(params: dotdict, vectors: Array, start: int) -> None:
    """Report vectors (n, d) with NaN or infinity. No classifier is trained on them, and its scores will be NaN.

    An error would end the client's script, and the results of other tasks would be lost with it.
    """
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        log.error(
            "%s: the batcher returned a vector with NaN or infinity for its sentence %d (%d of %d vectors have some); "
            "expected finite numbers. What is learned from them is NaN. Check empty sentences, and those without a "
            "known word.", describe_batch(params, start), row, int((~finite).sum()), len(vectors),
        )  # fmt: skip


def _array(returned: Any) -> Array:
    """A numpy array from an array, a list of vectors, or a tensor on any device."""
    if isinstance(returned, list | tuple):
        return np.array([_array(vector) for vector in returned])
    if hasattr(returned, "detach"):
        returned = returned.detach().cpu()
        if "bfloat16" in str(returned.dtype):  # numpy has no such type
            returned = returned.float()
        returned = returned.numpy()
    return np.asarray(returned)


def compared(pairs: Array) -> Array:
    """Vectors u and v side by side, (n, 2d), replaced in place by the features |u − v| and u · v."""
    width = pairs.shape[1] // 2
    for start in range(0, len(pairs), PAIR_ROWS):
        u, v = pairs[start : start + PAIR_ROWS, :width], pairs[start : start + PAIR_ROWS, width:]
        difference = np.abs(u - v)
        np.multiply(u, v, out=v)
        u[:] = difference
    return pairs


def safe_cosine(u: Any, v: Any) -> Any:
    """The cosine of two vectors (d,), in which NaN counts as 0; 0 if one of them is zero."""
    return np.nan_to_num(cosine(np.nan_to_num(u), np.nan_to_num(v)))


def wants_predictions(params: dotdict) -> bool:
    """Whether results have the predictions."""
    return params.predictions is True or bool(params.save_emb)  # predictions may be the client's own


def predictions_of(params: dotdict, indexes: Sequence[int], targets: Any, predicted: Any) -> dict[str, Any]:
    """The keys ``indexes``, ``targets`` and ``predictions`` of a result, of the test rows in the order of encoding.

    ``indexes`` are the numbers of the rows in their file, from 0. Nothing if the client has not requested them.
    """
    if not wants_predictions(params):
        return {}
    arrays = {"indexes": indexes, "targets": targets, "predictions": predicted}
    return {name: np.asarray(values) for name, values in arrays.items()}


def similarity_of(params: dotdict) -> Similarity:
    """The client's own similarity, if there is one."""
    similarity: Similarity = params.similarity or safe_cosine
    return similarity


def similarities(
    params: dotdict, batcher: Batcher, similarity: Similarity, first: Sequence[Any], second: Sequence[Any]
) -> list[Any]:
    """The similarity of the first and the second sentence of each pair, batch by batch.

    In a batch, the first sentences are encoded before the second. A similarity of the client's own is given what the
    batcher returned, row by row, whatever that is.
    """
    scores: list[Any] = []
    for start in range(0, len(first), params.batch_size):
        sides = []
        for sentences in (first, second):
            batch = sentences[start : start + params.batch_size]
            returned = batcher(params, batch)
            if similarity is safe_cosine:
                returned = matrix(params, returned, batch, start)
            elif len(returned) != len(batch):
                raise ShapeError(
                    f"{describe_batch(params, start)}: the batcher returned {len(returned)} rows for {len(batch)} "
                    "sentences; expected one per sentence."
                )
            sides.append(returned)
        scores += map(similarity, *sides)
    return scores


def agreement(pairs: Mapping[str, tuple[Sequence[Any], Sequence[float]]]) -> dict[str, Any]:
    """Correlations of similarities and gold scores for each set, their means, and that of all rows at once."""
    from scipy.stats import pearsonr, spearmanr

    results: dict[str, Any] = {}
    for name, (predicted, gold) in pairs.items():
        if len(gold) < 2:
            raise TooFewError(f"{name} has {len(gold)} pairs with a score; a correlation needs two or more.")
        results[name] = {
            "pearson": pearsonr(predicted, gold),
            "spearman": spearmanr(predicted, gold),
            "nsamples": len(gold),
        }
    weights = [result["nsamples"] for result in results.values()]
    pooled = [[score for pair in pairs.values() for score in pair[side]] for side in (0, 1)]
    summary = {}
    for kind, correlation in (("pearson", pearsonr), ("spearman", spearmanr)):
        by_set = np.array([result[kind][0] for result in results.values()])
        summary[kind] = {
            "all": correlation(*pooled)[0],
            "mean": np.average(by_set),
            "wmean": np.average(by_set, weights=weights),
        }
    for name, result in results.items():
        log.debug("%s : pearson = %.4f, spearman = %.4f", name, result["pearson"][0], result["spearman"][0])
    for key, words, end in (("all", "", ""), ("wmean", " (weighted average)", ""), ("mean", " (average)", "\n")):
        means = summary["pearson"][key], summary["spearman"][key]
        log.debug("ALL%s : Pearson = %.4f,             Spearman = %.4f%s", words, *means, end)
    return {**results, "all": summary}
