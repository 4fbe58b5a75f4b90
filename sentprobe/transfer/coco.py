"""Captions and image features for the retrieval task: SentEval's pickles converted.

``sentprobe.data.layouts.captions``, which reads the captions, describes the files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sentprobe.core.files import make_folder, write_atomically
from sentprobe.core.unpickle import PickledArray, load
from sentprobe.data.layouts.captions import CAPTIONS_FORMAT, CAPTIONS_PER_IMAGE
from sentprobe.errors import DataError

SENTEVAL_SPLITS = ("train", "valid", "test")
"""The splits, as SentEval's COCO files are named."""


def convert(pickles: Sequence[Path], folder: Path) -> Iterator[tuple[Path, int, int]]:
    """Convert SentEval's train.pkl, valid.pkl and test.pkl to our format; path, images and d of each.

    As in SentEval, " ." is put after every caption, and features become 32-bit floats.
    """
    for path, split in zip(pickles, SENTEVAL_SPLITS, strict=True):
        features, captions = _content(path)
        make_folder(folder)
        _save(features, folder / f"{split}.npy")
        lines = b",\n".join(map(msgspec.json.encode, captions))
        # captions are written last: without them the features do not count as a set
        write_atomically(
            folder / f"{split}.json", b'{"format": "%s", "captions": [\n%s\n]}\n' % (CAPTIONS_FORMAT.encode(), lines)
        )
        yield folder / f"{split}.npy", *features.shape


def _content(path: Path) -> tuple[npt.NDArray[np.float32], list[list[str]]]:
    """Features (n, d) and the captions of every image."""
    content = load(path)
    try:
        features = _table(content["features"])
        by_image = content["image_to_caption_ids"]
        captions = [
            [f"{_text(content['captions'][key]['cleaned_caption'])} ." for key in _keys(by_image[i])]
            for i in range(len(features))
        ]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        expected = "`features`, `image_to_caption_ids` and `captions` with a `cleaned_caption` each"
        raise DataError(
            f"{path} is not one of SentEval's pickles: {type(error).__name__}: {error}; expected {expected}."
        ) from None
    if features.ndim != 2 or not np.isfinite(features).all():
        raise DataError(f"{path} has features of shape {features.shape}; expected finite numbers (images, d).")
    few = next((i for i, of_image in enumerate(captions) if len(of_image) < CAPTIONS_PER_IMAGE), None)
    if few is not None:
        raise DataError(
            f"{path}: image {few} has {len(captions[few])} captions; expected at least {CAPTIONS_PER_IMAGE}."
        )
    return features, captions


def _table(features: Any) -> npt.NDArray[np.float32]:
    if isinstance(features, PickledArray):
        return features.numbers.astype(np.float32)
    return np.stack([row.numbers if isinstance(row, PickledArray) else np.array(row) for row in features]).astype(
        np.float32
    )


def _keys(keys: Any) -> list[Any]:
    return keys.numbers.tolist() if isinstance(keys, PickledArray) else list(keys)


def _text(caption: Any) -> str:
    if not isinstance(caption, str):
        raise TypeError(f"a caption that is a {type(caption).__name__}")
    return caption


def _save(features: npt.NDArray[np.float32], path: Path) -> None:
    """Write an array under a temporary name, and rename it."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            np.save(out, features, allow_pickle=False)
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}. Free some space or choose another folder."
        ) from error
    finally:
        part.unlink(missing_ok=True)
