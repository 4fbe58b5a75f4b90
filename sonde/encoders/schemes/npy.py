"""Vectors that were made elsewhere, with the texts they are of.

    npy:vectors.npy?texts=texts.txt     an array (n, d) or (layers, n, d), and n texts
    npy:vectors.npz                     arrays ``vectors`` and ``texts`` in one file; ``?texts=…`` if the texts are not

Texts are one to a line, escaped as ``sonde sentences`` prints them (`to_line`), or a column ``text`` of JSON lines,
CSV, TSV or Parquet; any of them may be compressed. An array in a ``.npy`` file stays on the disk: only the rows that
are asked for are read. Files that `sonde encode` wrote are checked against the checksums that it wrote beside them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sonde.core.arguments import as_texts
from sonde.core.files import open_text
from sonde.data.dataset import make_folder
from sonde.data.file_names import TABLE_SUFFIXES, without_compression_suffix
from sonde.data.records import Columns, records
from sonde.encoders.checksums import CHECKSUMS_FILE, check_hash, checksum_lines, hash_file
from sonde.encoders.identity import Identity, Spec
from sonde.errors import CorpusError, DataError, EncoderError, UsageError

Array = np.ndarray[Any, Any]

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_MEANINGS = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r"}
# whatever any program may take for the end of a line, half characters, which no file can hold, and the byte order mark
_SPECIAL = re.compile("[\\\\\\x00-\\x1f\\x7f\\x85\u2028\u2029\ud800-\udfff\ufeff]")
_ESCAPED = re.compile(r"\\(?:u([0-9a-f]{4})|(.?))", re.DOTALL)
_COMPARED = 1000  # repeated texts whose vectors are compared; vectors in another order differ nearly everywhere
_PREVIEW_CHARS = 60


def to_line(text: str) -> str:
    """The text as one line, for files with a text on each: backslash escapes for what would end or bend it.

    ``\\\\``, ``\\n``, ``\\t``, ``\\r``, and ``\\u`` with four hexadecimal digits for the rarer ones. All others stay.
    """
    return _SPECIAL.sub(lambda m: _ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04x}", text)


def from_line(line: str) -> str:
    """The text of a line that `to_line` made."""
    return _ESCAPED.sub(_meaning, line) if "\\" in line else line


def _meaning(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    if found[2] not in _MEANINGS:
        raise DataError(f"{found[0]!r} is no escape; expected \\\\, \\n, \\t, \\r or \\u and four digits")
    return _MEANINGS[found[2]]


Stamp = tuple[int, int, int, int]


def _stamp(path: str) -> Stamp:
    """Size, times and number of a file, which change when it does."""
    try:
        about = Path(path).stat()
    except OSError as error:
        raise EncoderError(f"{path} cannot be read: {error.strerror}.") from error
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Vectors (n, d) or (layers, n, d), looked up by text."""

    path: str
    identity: Identity
    vectors: Array = field(repr=False)
    rows: dict[str, int] = field(repr=False)
    stamp: Stamp
    """Of the file when its content was hashed; an array on the disk is read later, row by row."""
    batch: ClassVar[int] = 4096
    cacheable: ClassVar[bool] = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that have a vector."""
        return tuple(self.rows)

    @property
    def layers(self) -> tuple[str, ...] | None:
        """The numbers of the layers, from 0, if there are any."""
        return tuple(map(str, range(len(self.vectors)))) if self.vectors.ndim == 3 else None

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, d) or (layers, n, d) for n texts, all of which must be there."""
        texts = as_texts(texts)
        if missing := [text for text in texts if text not in self.rows]:
            first = missing[0] if len(missing[0]) <= _PREVIEW_CHARS else f"{missing[0][:_PREVIEW_CHARS]}…"
            raise EncoderError(
                f"{self.path} has no vector for {len(missing)} of {len(texts)} texts, the first of which is {first!r}. "
                "`sonde sentences` prints the texts to encode: make vectors of all of them, from these very lines."
            )
        if isinstance(self.vectors, np.memmap) and _stamp(self.path) != self.stamp:
            raise EncoderError(f"{self.path} changed while it was in use. Give the same command again.")
        found = self.vectors[..., np.array([self.rows[text] for text in texts], dtype=np.intp), :]
        return np.ascontiguousarray(found, dtype=found.dtype.newbyteorder("="))


def load(spec: Spec) -> Vectors:
    """The vectors in a file, once they are seen to fit their texts."""
    options = spec.known({"texts"})
    # there are no revisions here: an @ belongs to the path
    path = spec.name if spec.revision is None else f"{spec.name}@{spec.revision}"
    if not path:
        raise UsageError(f"{spec} names no file; expected npy:vectors.npy?texts=texts.txt.")
    arrays, stamp = _arrays(path), _stamp(path)
    if "texts" in options:
        texts = _texts(spec, options["texts"])
    elif "texts" in arrays:
        texts = _strings(path, arrays["texts"])
    else:
        raise UsageError(f"{spec} does not tell which texts its vectors are of: add ?texts=FILE with one on each line.")
    vectors = arrays["vectors"]
    _check_shape(path, vectors, len(texts))
    rows: dict[str, int] = {}
    repeated = [(rows[text], i) for i, text in enumerate(texts) if rows.setdefault(text, i) != i]
    _check_duplicates(path, vectors, repeated[:_COMPARED])
    told = _checked_hash(options["texts"]) if "texts" in options else None
    identity = Identity.of("npy", Path(path).name, vectors=_checked_hash(path), texts=told)
    return Vectors(path, identity, vectors, rows, stamp)


def _checked_hash(path: str) -> str:
    """The hash of a file, if it is the one that stands beside it."""
    try:
        found = hash_file(path)
    except OSError as error:
        raise EncoderError(f"{path} cannot be read: {error.strerror}.") from error
    check_hash(path, found)
    return found


# reading


def _arrays(path: str) -> dict[str, Array]:
    """The array of a .npy file, which stays on the disk, or those of a .npz file."""
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
    except Exception as error:  # numpy and zipfile have no end of words for a file that is not as it was written
        if "object" in str(error).lower():
            raise EncoderError(f"{path} holds Python objects; expected an array of numbers or strings.") from error
        what = " ".join(str(error).split()) or type(error).__name__
        raise EncoderError(f"{path} cannot be read: {what[:200]}. Was it written to its end?") from error
    if start != b"\x93NUMPY" and start[:4] != b"PK\x03\x04":
        raise EncoderError(f"{path} is neither a .npy nor a .npz file; expected an array that numpy.save wrote.")
    raise EncoderError(f"{path} has no array 'vectors'; it has {held}. Save it as vectors=….")


def _on_disk(path: str) -> Array:
    """The array of a .npy file, which must be all that is in it."""
    found = np.load(path, mmap_mode="r", allow_pickle=False)
    size = Path(path).stat().st_size
    if isinstance(found, np.memmap) and found.offset + found.nbytes != size:
        raise EncoderError(
            f"{path} has {size - found.offset:,} bytes of numbers; expected {found.nbytes:,} for {found.shape} of "
            f"{found.dtype}, as its header says. The header is damaged, or the file holds more than one array."
        )
    return np.asarray(found) if not isinstance(found, np.memmap) else found


def _strings(path: str, array: Array) -> list[str]:
    if array.dtype.kind != "U" or array.ndim != 1:
        raise EncoderError(f"{path}: texts is {array.dtype} {array.shape}; expected strings in one dimension.")
    found: list[str] = array.tolist()
    return found


def _texts(spec: Spec, path: str) -> list[str]:
    if not Path(path).is_file():
        raise UsageError(f"{spec}: there is no file {path}; expected the texts of the vectors.")
    if without_compression_suffix(path).suffix.lower() in (*TABLE_SUFFIXES, ".json"):
        try:
            return [cells[0] for _, cells in records(path, Columns(label="text"))]
        except UsageError as error:
            raise UsageError(f"{spec}: {path} has no column 'text', where the texts are looked for.") from error
    found = []
    for number, line in enumerate(open_text(path), 1):
        try:
            found.append(from_line(line.removesuffix("\n")))
        except DataError as error:
            expected = "a text as `sonde sentences` prints it; for texts as they are, use JSON lines"
            raise CorpusError(path, number, str(error), expected) from None
    return found


# do they fit?


def _check_shape(path: str, vectors: Array, n: int) -> None:
    """Vectors must be numbers, in two or three dimensions, and as many as there are texts."""
    met = f"{path} is an array {vectors.shape} of {vectors.dtype}"
    if vectors.dtype.kind not in "fiu":
        raise EncoderError(f"{met}; expected real numbers.")
    if vectors.ndim not in (2, 3) or vectors.shape[-1] == 0:
        raise EncoderError(f"{met}; expected (n, d), or (layers, n, d), for n texts.")
    if vectors.shape[-2] != n:
        swapped = vectors.ndim == 3 and len(vectors) == n
        hint = " Swap its first two dimensions." if swapped else " Each text needs a vector, in the same order."
        raise EncoderError(f"{met}, so it has {vectors.shape[-2]} vectors, but there are {n} texts.{hint}")


def _check_duplicates(path: str, vectors: Array, repeated: Sequence[tuple[int, int]]) -> None:
    """A text that is there twice must have nearly the same vector twice, or the order is not that of the texts."""
    if not repeated:
        return
    pairs = np.array(repeated)
    first, second = (vectors[..., pairs[:, i], :].astype(np.float64) for i in (0, 1))
    axes = (0, 2) if vectors.ndim == 3 else (1,)
    # a twentieth is more than half precision or another batch can do; not-a-number is for others to report
    apart = np.abs(first - second).max(axes) > 0.05 * np.abs(first).max(axes)
    if apart.any():
        one, other = pairs[apart.argmax()] + 1
        raise EncoderError(
            f"{path}: texts {one} and {other} are the same, but their vectors are not. Are the vectors in the order of "
            "the texts, and does the encoder give a text the same vector each time?"
        )


def write_vectors(folder: Path, texts: Sequence[str], vectors: Array) -> None:
    """Write vectors and their texts as ``npy:`` reads them, and the checksums of both."""
    texts = as_texts(texts)
    make_folder(folder)
    both = (folder / "vectors.npy", folder / "texts.txt")
    for path, save in (
        (both[0], lambda part: np.save(part, vectors, allow_pickle=False)),
        (both[1], lambda part: part.write("".join(f"{to_line(t)}\n" for t in texts).encode())),
        (folder / CHECKSUMS_FILE, lambda part: part.write(checksum_lines(both).encode())),
    ):
        part = path.with_name(f".{path.name}.part")
        try:
            with part.open("wb") as file:
                save(file)
            part.replace(path)
        except OSError as e:
            raise DataError(f"{path} cannot be written: {e.strerror}. Free some space or choose another folder.") from e
        finally:
            part.unlink(missing_ok=True)
