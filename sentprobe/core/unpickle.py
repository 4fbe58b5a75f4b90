"""Reads other people's pickles without running any of their code.

The image features of SentEval are published as pickles of Python 2 only, and gensim saves word vectors as pickles. A
pickle is a program; this reader knows containers, strings, numbers and the few names by which numpy's arrays are
pickled, and stops at any other. Classes that a caller expects are read as records of their attributes. Not even
those names are numpy's here: they are resolved to functions made for one call of ``load``, which record what an
array is, so that neither numpy's own state nor a later pickle can be reached from inside one.
"""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sentprobe.core.files import reject_special_file
from sentprobe.errors import DataError

_PLAIN = re.compile(r"[fiu][1248]")
"""Types of arrays that are read: floats and integers."""


class PickledType:
    """The type of an array's numbers, as pickled: a code, and then the byte order."""

    __slots__ = ("code", "order")

    def __init__(self, code: str) -> None:
        self.code, self.order = code, "="

    def __setstate__(self, state: Any) -> None:
        self.order = state[1]

    def numpy(self) -> np.dtype[Any]:
        """The type itself, if it is a plain one."""
        if not (isinstance(self.code, str) and _PLAIN.fullmatch(self.code)) or self.order not in ("<", ">", "|", "="):
            raise ValueError(f"an array of {self.code!r}")
        return np.dtype(self.order + self.code)


class PickledArray:
    """An array as pickled; ``numbers`` is what it holds."""

    __slots__ = ("numbers",)
    numbers: np.ndarray[Any, Any]

    def __setstate__(self, state: Any) -> None:
        shape, dtype, fortran, raw = state[-4:]
        content = raw.encode("latin-1") if isinstance(raw, str) else raw  # as Python 2 wrote it
        if not isinstance(dtype, PickledType) or not isinstance(content, bytes):
            raise ValueError("an array of objects")
        self.numbers = np.frombuffer(content, dtype.numpy()).reshape(shape, order="F" if fortran else "C")


class PickledRecord:
    """An object as pickled: the attributes that it had."""

    __slots__ = ("attributes",)
    attributes: dict[str, Any]

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise ValueError("an object without names for its attributes")
        self.attributes = state


def load(path: Path, classes: Collection[str] = (), expected: str = "image features as SentEval has them") -> Any:
    """What a pickle holds: containers, strings and numbers, with a ``PickledArray`` for every array.

    An object of one of the ``classes`` is a ``PickledRecord``; ``expected`` is what messages call such a file.
    """
    try:
        reject_special_file(path)
        with path.open("rb") as file:
            return _Reader(path, file, classes, expected).load()
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    except Exception as error:  # a broken pickle may raise anything
        message = " ".join(str(error).split())[:200]
        raise DataError(
            f"{path} is not a pickle of plain data: {type(error).__name__}: {message}. Download it again."
        ) from None


class _Bounded:
    """A file that refuses to read more than it has, before memory is taken for it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._remaining = file, os.fstat(file.fileno()).st_size

    def read(self, size: int) -> bytes:
        """Exactly so many bytes."""
        if not 0 <= size <= self._remaining:
            raise ValueError(f"a value of {size:,} bytes, where the file has {self._remaining:,} more")
        self._remaining -= size
        return self._file.read(size)

    def readline(self) -> bytes:
        """A line."""
        line = self._file.readline()
        self._remaining -= len(line)
        return line


# Python's own unpickler in Python: that in C takes memory for as many remembered objects as a pickle claims to have
class _Reader(pickle._Unpickler):
    """An unpickler that finds nothing but the few names of ``_names``."""

    def __init__(self, path: Path, file: BinaryIO, classes: Collection[str], expected: str) -> None:
        super().__init__(_Bounded(file), encoding="latin1")
        self._path, self._expected = path, expected
        # a new class for each, since a pickle could change it
        records = {name: type("Record", (PickledRecord,), {"__slots__": ()}) for name in classes}
        self._names = {**_names(), **records}

    def find_class(self, module: str, name: str, /) -> Any:
        try:
            return self._names[f"{module.replace('._core.', '.core.')}.{name}"]
        except KeyError:
            raise DataError(
                f"{self._path} refers to {module}.{name}, which is not a container, string, number or array: "
                f"expected {self._expected}. It was not run."
            ) from None


def _names() -> dict[str, Callable[..., Any] | str]:
    """What the names in a pickled array stand for. New functions at every call, since a pickle could change them."""

    def reconstruct(*_: Any) -> PickledArray:
        return PickledArray()

    def dtype(code: Any, *_: Any) -> PickledType:
        return PickledType(code)

    def scalar(dtype: Any, raw: Any) -> int | float:
        content = raw.encode("latin-1") if isinstance(raw, str) else raw
        (number,) = np.frombuffer(content, dtype.numpy()).tolist()
        return number  # type: ignore[no-any-return]

    def encode(text: Any, encoding: Any = "latin1") -> bytes:
        if not isinstance(text, str) or encoding != "latin1":
            raise ValueError(f"the encoding {encoding!r}")
        return text.encode("latin-1")

    return {
        "numpy.core.multiarray._reconstruct": reconstruct,
        "numpy.core.multiarray.scalar": scalar,
        "numpy.ndarray": "ndarray",
        "numpy.dtype": dtype,
        "_codecs.encode": encode,
    }
