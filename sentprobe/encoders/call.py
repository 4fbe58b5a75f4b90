"""One call of an encoder, and a check that what it returned are vectors of these texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.core.arguments import as_texts
from sentprobe.core.third_party import third_party_code
from sentprobe.errors import EncoderError, SentProbeError, ShapeError, describe_error

Array = npt.NDArray[Any]
PREVIEW_CHARS = 60


def call_encoder(encoder: Callable[[Sequence[str]], Any], texts: Sequence[str], layers: Sequence[str] = ()) -> Array:
    """Call an encoder; its vectors (layers or 1, n, d), once they are checked."""
    texts = as_texts(texts)
    try:
        with third_party_code:
            output = encoder(list(texts))
    except (SentProbeError, KeyboardInterrupt):
        raise
    except BaseException as e:  # sys.exit, too, is a failure of the encoder and not the end of the program
        raise EncoderError(
            f"The encoder failed on a batch of {len(texts)} texts that begins with {preview(texts[0])}: "
            f"{describe_error(e)}"
        ) from e
    return check_vectors(output, texts, layers)


def check_vectors(output: Any, texts: Sequence[str], layers: Sequence[str] = ()) -> Array:
    """What an encoder returned as an array (layers or 1, n, d) of finite numbers; errors name the first text."""
    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, which is reported below
            array = _as_array(output, texts)
    except SentProbeError:
        raise
    except Exception as e:
        raise ShapeError(
            f"The encoder returned {type(output).__name__} for a batch that begins with {preview(texts[0])}, which "
            f"cannot be read as vectors: {type(e).__name__}: {e}"
        ) from e
    if array.ndim == 2 and not layers:
        array = array[None]
    if array.ndim != 3:
        raise ShapeError(
            f"The encoder returned an array of shape {array.shape} for {len(texts)} texts; "
            f"expected {'(layers, texts, dimension)' if layers else '(texts, dimension)'}."
        )
    if layers and array.shape[0] != len(layers):
        raise ShapeError(f"The encoder returned {array.shape[0]} layers; expected {len(layers)}: {', '.join(layers)}.")
    if array.shape[1] != len(texts):
        raise ShapeError(
            f"The encoder returned {array.shape[1]} vectors for {len(texts)} texts, the first of which is "
            f"{preview(texts[0])}; expected one per text."
        )
    if not array.shape[2]:
        raise ShapeError(f"The encoder returned vectors of dimension 0, the first of them for {preview(texts[0])}.")
    bad = ~np.isfinite(array).all(axis=(0, 2))
    if bad.any():
        first = texts[int(np.argmax(bad))]
        error = EncoderError(
            f"The encoder returned NaN or infinite numbers for {int(bad.sum())} of {len(texts)} texts, the first of "
            f"which is {preview(first)}; expected finite numbers."
        )
        keep_partial(error, {i: array[:, i] for i in np.flatnonzero(~bad).tolist()})
        raise error
    return array


def keep_partial(error: BaseException, vectors: Mapping[int, Array]) -> None:
    """Let an error carry the vectors (layers or 1, d) of the texts, by number, that an encoder has not failed on."""
    with suppress(AttributeError, TypeError):  # an exception without a dict, which is rare
        error.partial_vectors = dict(vectors)  # type: ignore[attr-defined]


def partial_vectors(error: BaseException) -> tuple[list[int], Array | None]:
    """The numbers of the texts of a failed call that have a vector, and these (layers or 1, n, d), if there are any."""
    partial: Mapping[int, Array] = getattr(error, "partial_vectors", {})
    usable = {i: vector for i, vector in sorted(partial.items()) if np.isfinite(vector).all() and vector.size}
    if not usable or len({vector.shape for vector in usable.values()}) > 1:
        return [], None
    return list(usable), np.stack(list(usable.values()), axis=1).astype(np.float32, copy=False)


def round_to_half(vectors: Array, texts: Sequence[str]) -> Array:
    """Vectors (layers, n, d) as float16. EncoderError if a number is too large for it."""
    with np.errstate(over="ignore"):
        out = vectors.astype(np.float16)
    if not np.isfinite(out).all():
        first = texts[int(np.argmax(~np.isfinite(out).all(axis=(0, 2))))]
        raise EncoderError(f"The vector of {preview(first)} has numbers above 65,504, which float16 cannot hold.")
    return out


def preview(text: str, length: int = PREVIEW_CHARS) -> str:
    """The beginning of a text, in quotes."""
    return repr(text if len(text) <= length else text[:length] + "…")


def _as_array(output: Any, texts: Sequence[str]) -> Array:
    """An array from numpy arrays, torch tensors on any device, or lists of these."""
    if hasattr(output, "detach"):
        output = output.detach().to("cpu")
        output = output.float().numpy() if str(output.dtype) == "torch.bfloat16" else output.numpy()
    elif isinstance(output, list | tuple) and output and hasattr(output[0], "detach"):
        return _stack([_as_array(a, texts) for a in output], texts)
    if isinstance(output, np.ma.MaskedArray) and output.dtype.kind in "fiu":
        output = np.ma.filled(output.astype(np.float32), np.nan)  # masked numbers are missing ones
    if isinstance(output, np.ndarray) and output.dtype == object:
        output = list(output)
    if not isinstance(output, np.ndarray):
        if not isinstance(output, list | tuple):
            raise ShapeError(
                f"The encoder returned {type(output).__name__} for a batch that begins with {preview(texts[0])}; "
                "expected an array, a tensor or a list of vectors."
            )
        return _stack([_row(row, texts, i) for i, row in enumerate(output)], texts)
    if output.dtype.kind not in "fiu":
        raise ShapeError(f"The encoder returned an array of {output.dtype}; expected numbers.")
    return output if output.dtype in (np.float32, np.float16) else output.astype(np.float32)


def _row(row: Any, texts: Sequence[str], i: int) -> Array:
    try:
        return np.asarray(row)
    except (ValueError, TypeError) as e:
        text = preview(texts[i]) if i < len(texts) else f"vector {i + 1}"
        raise ShapeError(f"The encoder returned no vector for {text}: {e}") from e


def _stack(rows: Sequence[Array], texts: Sequence[str]) -> Array:
    for i, row in enumerate(rows):
        if row.dtype.kind not in "fiu" or row.shape != rows[0].shape:
            text = preview(texts[i]) if i < len(texts) else f"vector {i + 1}"
            what = f"shape {row.shape}" if row.dtype.kind in "fiu" else f"{row.dtype}"
            raise ShapeError(
                f"The encoder returned {what} for {text}, and {rows[0].shape} for {preview(texts[0])}; "
                "expected vectors of one length."
            )
    return np.stack(rows).astype(np.float32) if rows else np.zeros((0, 0), np.float32)
