"""Vectors that were computed elsewhere, looked up by text.

    npy:vectors.npy?texts=texts.txt     an array (n, d) or (layers, n, d), and n texts
    npy:vectors.npz                     arrays ``vectors`` and ``texts`` in one file, or ``?texts=…`` as well

Texts are one per line, escaped as ``sentprobe sentences`` prints them (`to_line`), or a column ``text`` of JSON lines,
CSV, TSV or Parquet; any of them may be compressed. An array in a ``.npy`` file stays on disk: only the rows that are
needed are read. Files that `sentprobe encode` wrote are checked against the checksums that it wrote next to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np

from sentprobe.core.arguments import as_texts
from sentprobe.core.files import make_folder
from sentprobe.core.reader import TABLE_SUFFIXES, read_lines, read_rows, without_compression_suffix
from sentprobe.encoders.call import preview
from sentprobe.encoders.checksums import CHECKSUMS_FILE, check_hash, checksum_lines, hash_file
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import CorpusError, DataError, EncoderError, UsageError

Array = np.ndarray[Any, Any]

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_MEANINGS = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r"}
# whatever a program may take for the end of a line, lone surrogates, which no file can hold, and the byte order mark
_SPECIAL = re.compile("[\\\\\\x00-\\x1f\\x7f\\x85\u2028\u2029\ud800-\udfff\ufeff]")
_ESCAPED = re.compile(r"\\(?:u([0-9a-f]{4})|(.?))", re.DOTALL)
_COMPARED = 1000  # duplicate texts whose vectors are compared; vectors in another order differ nearly everywhere

named_file = attrgetter("file")
OPTIONS = {"texts": "the file of the texts, in the order of the vectors"}
"""What may follow the question mark."""


def to_line(text: str) -> str:
    """The text as one line, for files with a text on each: backslash escapes for what would end or garble it.

    ``\\\\``, ``\\n``, ``\\t``, ``\\r``, and ``\\u`` with four hexadecimal digits for the rarer ones; all else is kept.
    """
    return _SPECIAL.sub(lambda m: _ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04x}", text)


def from_line(line: str) -> str:
    """The text of a line that `to_line` made."""
    return _ESCAPED.sub(_meaning, line) if "\\" in line else line


def _meaning(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    if escape[2] not in _MEANINGS:
        raise DataError(f"{escape[0]!r}, which is not an escape (\\\\, \\n, \\t, \\r or \\u and four digits)")
    return _MEANINGS[escape[2]]


Stamp = tuple[int, int, int, int]


def _stamp(path: str) -> Stamp:
    """Size, times and inode of a file, which change when it does."""
    try:
        about = Path(path).stat()
    except OSError as error:
        raise EncoderError(f"{path} cannot be read: {error.strerror}.") from error
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Precomputed:
    """An encoder that looks vectors (n, d) or (layers, n, d) up by text."""

    path: str
    identity: Identity
    vectors: Array
    rows: dict[str, int]
    stamp: Stamp
    """Of the file when its content was hashed; an array on disk is read later, row by row."""
    batch_size: ClassVar[int] = 4096
    cacheable: ClassVar[bool] = False

    def __repr__(self) -> str:
        *layers, _, d = self.vectors.shape
        details = (f"{len(self.rows):,} texts", f"{layers[0]} layers" if layers else "", f"{d} dimensions")
        return short_repr(self, f"npy:{self.path}", *details)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that have a vector."""
        return tuple(self.rows)

    @property
    def layers(self) -> tuple[str, ...] | None:
        """The numbers of the layers, from 0, if there are several."""
        return tuple(map(str, range(len(self.vectors)))) if self.vectors.ndim == 3 else None

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, d) or (layers, n, d) for n texts, all of which must have one."""
        texts = as_texts(texts)
        if missing := [text for text in texts if text not in self.rows]:
            raise EncoderError(
                f"{self.path} has no vector for {len(missing)} of {len(texts)} texts, the first of which is "
                f"{preview(missing[0])}. `sentprobe sentences` prints the texts to encode: compute vectors of all "
                "lines, exactly as they are."
            )
        if isinstance(self.vectors, np.memmap) and _stamp(self.path) != self.stamp:
            raise EncoderError(f"{self.path} changed while it was in use. Run the same command again.")
        vectors = self.vectors[..., np.array([self.rows[text] for text in texts], dtype=np.intp), :]
        return np.ascontiguousarray(vectors, dtype=vectors.dtype.newbyteorder("="))


def load(spec: Spec) -> Precomputed:
    """The vectors in a file, after a check that they match their texts."""
    options, path = spec.check_options(OPTIONS), spec.path
    if not path:
        raise UsageError(f"{spec} names no file; expected npy:vectors.npy?texts=texts.txt.")
    arrays, stamp = _arrays(path), _stamp(path)
    if "texts" in options:
        texts = _texts(spec, options["texts"])
    elif "texts" in arrays:
        texts = _strings(path, arrays["texts"])
    else:
        raise UsageError(
            f"{spec} does not say which texts its vectors are of: add ?texts=FILE, with one text per line."
        )
    vectors = arrays["vectors"]
    _check_shape(path, vectors, len(texts))
    rows: dict[str, int] = {}
    repeated = [(rows[text], i) for i, text in enumerate(texts) if rows.setdefault(text, i) != i]
    _check_duplicates(path, vectors, repeated[:_COMPARED])
    text_hash = _checked_hash(options["texts"]) if "texts" in options else None
    identity = Identity.of("npy", Path(path).name, vectors=_checked_hash(path), texts=text_hash)
    return Precomputed(path, identity, vectors, rows, stamp)


def _checked_hash(path: str) -> str:
    """The hash of a file. DataError if it is not the one in the checksums next to it."""
    try:
        digest = hash_file(path)
    except OSError as error:
        raise EncoderError(f"{path} cannot be read: {error.strerror}.") from error
    check_hash(path, digest)
    return digest


# reading


def _arrays(path: str) -> dict[str, Array]:
    """The array of a .npy file, which stays on disk, or those of a .npz file."""
    if not Path(path).is_file():
        raise UsageError(f"There is no file {path}; expected an array that numpy.save wrote.")
    try:
        with Path(path).open("rb") as file:
            start = file.read(6)
            if start == b"\x93NUMPY":
                return {"vectors": _on_disk(path)}
            if start[:4] == b"PK\x03\x04":
                file.seek(0)
                with np.load(file, allow_pickle=False) as loaded:
                    if "vectors" in loaded:
                        return {name: loaded[name] for name in ("vectors", "texts") if name in loaded}
                    held = ", ".join(loaded.files) or "nothing"
    except EncoderError:
        raise
    except Exception as error:  # numpy and zipfile raise many kinds of errors for a damaged file
        if "object" in str(error).lower():
            raise EncoderError(f"{path} holds Python objects; expected an array of numbers or strings.") from error
        what = " ".join(str(error).split()) or type(error).__name__
        raise EncoderError(f"{path} cannot be read: {what[:200]}. Was it written completely?") from error
    if start != b"\x93NUMPY" and start[:4] != b"PK\x03\x04":
        raise EncoderError(f"{path} is neither a .npy nor a .npz file; expected an array that numpy.save wrote.")
    raise EncoderError(f"{path} has no array 'vectors'; it has {held}. Save it as vectors=….")


def _on_disk(path: str) -> Array:
    """The array of a .npy file, which must hold nothing else."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    size = Path(path).stat().st_size
    if isinstance(array, np.memmap) and array.offset + array.nbytes != size:
        raise EncoderError(
            f"{path} has {size - array.offset:,} bytes of numbers; expected {array.nbytes:,} for {array.shape} of "
            f"{array.dtype}, as its header says. The header is damaged, or the file holds more than one array."
        )
    return np.asarray(array) if not isinstance(array, np.memmap) else array


def _strings(path: str, array: Array) -> list[str]:
    if array.dtype.kind != "U" or array.ndim != 1:
        raise EncoderError(f"{path}: texts is {array.dtype} {array.shape}; expected strings in one dimension.")
    texts: list[str] = array.tolist()
    return texts


def _texts(spec: Spec, path: str) -> list[str]:
    if not Path(path).is_file():
        raise UsageError(f"{spec}: there is no file {path}; expected the texts of the vectors.")
    if without_compression_suffix(path).suffix.lower() in (*TABLE_SUFFIXES, ".json"):
        try:
            return [cells[0] for _, cells in read_rows(path, [("--text", "text")])]
        except UsageError as error:
            raise UsageError(f"{spec}: {path} has no column 'text', where the texts are looked for.") from error
    texts = []
    for number, line in read_lines(path):
        try:
            texts.append(from_line(line))
        except DataError as error:
            expected = "a text as `sentprobe sentences` prints it; for texts as they are, use JSON lines"
            raise CorpusError(path, number, str(error), expected) from None
    return texts


# checks


def _check_shape(path: str, vectors: Array, n: int) -> None:
    """Vectors must be numbers, in two or three dimensions, and as many as there are texts."""
    got = f"{path} is an array {vectors.shape} of {vectors.dtype}"
    if vectors.dtype.kind not in "fiu":
        raise EncoderError(f"{got}; expected real numbers.")
    if vectors.ndim not in (2, 3) or vectors.shape[-1] == 0:
        raise EncoderError(f"{got}; expected (n, d), or (layers, n, d), for n texts.")
    if vectors.shape[-2] != n:
        swapped = vectors.ndim == 3 and len(vectors) == n
        hint = " Swap its first two dimensions." if swapped else " Each text needs a vector, in the same order."
        raise EncoderError(f"{got}, so it has {vectors.shape[-2]} vectors, but there are {n} texts.{hint}")


def _check_duplicates(path: str, vectors: Array, repeated: Sequence[tuple[int, int]]) -> None:
    """Duplicate texts must have nearly the same vectors, or the order is not that of the texts."""
    if not repeated:
        return
    pairs = np.array(repeated)
    first, second = (vectors[..., pairs[:, i], :].astype(np.float64) for i in (0, 1))
    axes = (0, 2) if vectors.ndim == 3 else (1,)
    # 5 % is more than half precision or another batch can cause; NaN is reported elsewhere
    differ = np.abs(first - second).max(axes) > 0.05 * np.abs(first).max(axes)
    if differ.any():
        i, j = pairs[differ.argmax()] + 1
        raise EncoderError(
            f"{path}: texts {i} and {j} are the same, but their vectors are not. Are the vectors in the order of "
            "the texts, and does the encoder return the same vector for a text each time?"
        )


def write_vectors(folder: Path, texts: Sequence[str], vectors: Array) -> None:
    """Write vectors (n, d), or (layers, n, d), and their texts as ``npy:`` reads them, and the checksums of both."""
    texts = as_texts(texts)
    make_folder(folder)
    array, lines = folder / "vectors.npy", folder / "texts.txt"
    _write(array, lambda part: np.save(part, vectors, allow_pickle=False))
    with ThreadPoolExecutor(1) as beside:
        checksum = beside.submit(checksum_lines, [array])
        _write(lines, lambda part: part.write("".join(f"{to_line(t)}\n" for t in texts).encode()))
    both = checksum.result() + checksum_lines([lines])
    _write(folder / CHECKSUMS_FILE, lambda part: part.write(both.encode()))


def _write(path: Path, save: Callable[[BinaryIO], object]) -> None:
    """Write a file, which is complete or not there."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            save(file)
        part.replace(path)
    except OSError as e:
        raise DataError(f"{path} cannot be written: {e.strerror}. Free some space or choose another folder.") from e
    finally:
        part.unlink(missing_ok=True)
