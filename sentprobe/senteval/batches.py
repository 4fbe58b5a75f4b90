"""Sentences → vectors: batches are passed to the client's ``batcher``, and what it returns is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import EncoderError, ShapeError, TooFewError
from sentprobe.senteval.utils import dotdict

Array = npt.NDArray[Any]
Batcher = Callable[[dotdict, Any], Any]
Prepare = Callable[[dotdict, Any], Any]
Sentence = list[str]


def by_length(*columns: Sequence[Any]) -> list[list[Any]]:
    """Columns of sentences and one of labels, with the rows sorted by the sentences' lengths and then the labels.

    Sentences of a batch are then about equally long, which saves padding. Rows that compare equal keep their order.
    """
    rows = sorted(zip(*columns, strict=True), key=lambda row: (*map(len, row[:-1]), row[-1]))
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in columns]


def encode(params: dotdict, batcher: Batcher, *sides: Sequence[Any]) -> Array:
    """The vectors of sentences, ``params.batch_size`` at a time, in the type in which they are returned.

    Of several lists, one after the other, the vectors are concatenated: (n, sides · d). The array is filled in place,
    since fresh memory costs more than the copying.
    """
    rows, made, width = len(sides[0]), None, 0
    for k, sentences in enumerate(sides):
        for start in range(0, rows, params.batch_size):
            batch = sentences[start : start + params.batch_size]
            found = matrix(params, batcher(params, batch), batch, start)
            check_finite(params, found, start)
            if made is None:
                width = found.shape[1]
                made = np.empty((rows, len(sides) * width), found.dtype)
            if found.shape[1] != width:
                raise ShapeError(
                    f"{place(params, start)}: the batcher returned vectors of {found.shape[1]} dimensions, "
                    f"and of {width} before; expected one dimension."
                )
            made = made.astype(np.result_type(made, found), copy=False)
            made[start : start + len(batch), k * width : (k + 1) * width] = found
    if made is None:
        raise TooFewError(f"{params.current_task}: there are no sentences to encode. Are the files of the set empty?")
    return made


def place(params: dotdict, start: int) -> str:
    """The batch that begins with this sentence, as messages name it."""
    return f"{params.current_task}, batch {start // params.batch_size + 1} (sentences {start} …)"


def matrix(params: dotdict, returned: Any, batch: Sequence[Any], start: int) -> Array:
    """What a batcher returned as an array (n, d) of floats; a single vector will do for a single sentence."""
    try:
        found = _array(returned)
    except (ValueError, TypeError) as why:
        raise ShapeError(
            f"{place(params, start)}: the batcher returned a {type(returned).__name__} that is not a matrix ({why}); "
            f"expected one vector for each of {len(batch)} sentences, all of one dimension."
        ) from None
    if found.ndim == 1 and len(batch) == 1:
        found = found[None]
    if found.ndim != 2 or len(found) != len(batch) or found.dtype.kind not in "fiub":
        raise ShapeError(
            f"{place(params, start)}: the batcher returned {found.dtype} of the shape {found.shape}; "
            f"expected numbers ({len(batch)}, d), one row for each sentence."
        )
    return found if found.dtype.kind == "f" else found.astype(np.float64)


def check_finite(params: dotdict, found: Array, start: int) -> None:
    """Reject vectors with NaN or infinity, on which no classifier can be trained."""
    sound = np.isfinite(found).all(axis=1)
    if not sound.all():
        row = int(np.flatnonzero(~sound)[0])
        raise EncoderError(
            f"{place(params, start)}: the batcher returned a vector with NaN or infinity for its sentence {row} "
            f"({int((~sound).sum())} of {len(found)} vectors have some); expected finite numbers. "
            "Check empty sentences, and those without a known word."
        )


def _array(returned: Any) -> Array:
    """A numpy array from an array, a list of vectors, or a tensor on any device."""
    if isinstance(returned, list | tuple):
        return np.array([_array(each) for each in returned])
    if hasattr(returned, "detach"):
        returned = returned.detach().cpu()
        if "bfloat16" in str(returned.dtype):  # numpy has no such type
            returned = returned.float()
        returned = returned.numpy()
    return np.asarray(returned)
