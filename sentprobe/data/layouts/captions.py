"""Images with captions: a table of image features, and the captions of every image.

For each split a ``train.json``, ``valid.json`` or ``test.json``, with the features next to it in ``train.npy`` or, as
the array ``features``, in ``train.npz``:

    {"format": "sentprobe.captions.v1", "captions": [
    ["a man rides a horse .", "…", "…", "…", "…"],
    …
    ]}

The captions of image i are the i-th list, and its features are row i of an array (n, d) of floats. An image has five
captions or more, of which the first five are used, as in SentEval.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.files import describe_damage, map_array, open_bytes
from sentprobe.core.reader import without_compression_suffix
from sentprobe.data.dataset import Dataset
from sentprobe.data.rows import Interned, RowBuilder
from sentprobe.errors import CorpusError, DataError
from sentprobe.tasks import Example

CAPTIONS_FORMAT = "sentprobe.captions.v1"
CAPTIONS_PER_IMAGE = 5
"""Captions of an image that are used."""
_HASHED_ROWS = 4096


class _File(msgspec.Struct):
    format: str
    captions: list[list[str]]


def scan_captions(path: str, strings: Interned) -> Iterator[Example]:
    """A row for each of the first five captions of every image.

    The label is the image's number, from 0. A hash of all features is added, so that the digest of the set covers them.
    """
    try:
        content = msgspec.json.decode(b"".join(open_bytes(path)), type=_File)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        expected = f'{{"format": "{CAPTIONS_FORMAT}", "captions": [[…], …]}}'
        raise CorpusError(path, 1, f"invalid JSON or another structure ({error})", expected) from None
    if content.format != CAPTIONS_FORMAT:
        raise CorpusError(path, 1, f"the format {content.format[:40]!r}", CAPTIONS_FORMAT)
    features = load_features(features_path(path))
    if len(features) != len(content.captions):
        raise DataError(
            f"{path} has captions for {len(content.captions):,} images, and {features_path(path)} features of "
            f"{len(features):,}; expected the same number."
        )
    build = RowBuilder(path, strings, ("features",))
    hashed = features_digest(features)
    for i, captions in enumerate(content.captions):
        if len(captions) < CAPTIONS_PER_IMAGE:
            raise DataError(f"{path}: image {i} has {len(captions)} captions; expected at least {CAPTIONS_PER_IMAGE}.")
        for caption in captions[:CAPTIONS_PER_IMAGE]:
            yield build(i + 2, str(i), caption, hashed)


def features_path(path: str) -> str:
    """The file with the features that belong to a file of captions."""
    candidates = [without_compression_suffix(path).with_suffix(suffix) for suffix in (".npy", ".npz")]
    if not (file := next((file for file in candidates if file.is_file()), None)):
        raise DataError(f"{path} has no image features next to it: expected {candidates[0]} or {candidates[1].name}.")
    return str(file)


def load_features(path: str) -> Any:
    """An array (n, d) of floats; mapped, not read, if it is an .npy file."""
    import numpy as np

    try:
        if Path(path).suffix == ".npz":
            with np.load(path, allow_pickle=False) as file:
                features = file["features"]
        else:
            features = map_array(path)
    except Exception as error:  # numpy and zipfile raise many kinds of errors for a damaged file
        raise DataError(
            f"{path} cannot be read as image features ({describe_damage(error)}); expected an .npy file, or an .npz "
            "file with the array `features`."
        ) from None
    if features.ndim != 2 or features.dtype.kind != "f" or not features.size:
        raise DataError(f"{path} has an array {features.shape} of {features.dtype}; expected (images, d) of floats.")
    return features


def features_digest(features: Any) -> str:
    """Sixteen hexadecimal digits over all numbers of an array (n, d), as 32-bit floats."""
    import numpy as np

    state = hashlib.blake2b(repr(features.shape).encode(), digest_size=8)
    for start in range(0, len(features), _HASHED_ROWS):
        part = np.ascontiguousarray(features[start : start + _HASHED_ROWS], dtype="<f4")
        state.update(part.data)
    return state.hexdigest()


def images(dataset: Dataset, split: str) -> Any:
    """The image features (n, d) of a split; the label of a row of the set is the number of its image here."""
    import numpy as np

    path = str(dataset.manifest["images"][split])
    features = load_features(path)
    rows = dataset.rows[split]
    if not rows or dict(rows[0].extra).get("features") != features_digest(features):
        raise DataError(f"{path} was changed after {dataset.name} was read. Read the set again.")
    numbers = np.asarray(features, np.float32)
    if not np.isfinite(numbers).all():
        raise DataError(f"{path} has features that are not finite numbers. Convert or download it again.")
    return numbers
