"""Files of words and numbers: as text, word2vec's binary or a numpy array with words; and which of them a file is."""

from __future__ import annotations

import gzip
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from sentprobe.core.files import ByteStream, encoding_error, map_array, open_bytes, open_source
from sentprobe.core.reader import read_lines
from sentprobe.core.unpickle import PickledArray, PickledRecord
from sentprobe.core.unpickle import load as load_pickle
from sentprobe.encoders.wordvectors.fasttext import FASTTEXT_MAGIC, Blocks, Subwords, open_fasttext
from sentprobe.encoders.wordvectors.rows import Matrix
from sentprobe.errors import CorpusError, DataError

COMPRESSED_SUFFIXES = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
"""How compressed files begin."""
NPY_MAGIC = b"\x93NUMPY"
"""How numpy's files begin."""

CHUNK_BYTES = 1 << 20
"""Bytes read at a time."""

BLOCK_ROWS = 1024
"""Vectors handed on at a time."""

FEW = 2
"""Dimensions of vectors whose bytes may all be letters by chance."""

_HEADER = re.compile(rb"(\d{1,12})[ \t]+([1-9]\d{0,5})[ \t\r]*(?:\n|\Z)")
_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?(?:nan|inf)", re.IGNORECASE)
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_DIGITS = re.compile(rb"[-+.\d\seEnNaAiIfF]*")
"""Bytes that text of numbers consists of."""


@contextmanager
def explain_errors(path: str) -> Iterator[None]:
    """Explain what is wrong with a file that cannot be read."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        what = "ends too early" if isinstance(error, EOFError) else f"is broken: {error}"
        raise DataError(f"{path}: the compressed data {what}. Download the file again.") from None
    except FileNotFoundError:
        next(open_bytes(path), None)  # raises, with a suggestion which file was meant
        raise DataError(f"There is no file {path!r}.") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


@contextmanager
def _stream(path: str) -> Iterator[ByteStream]:
    """A file's bytes, decompressed."""
    with explain_errors(path), ExitStack() as stack:
        yield open_source(path, stack)


def _pull(source: ByteStream, least: int) -> bytes:
    """At least ``least`` bytes, or all that are left."""
    pieces: list[bytes] = []
    while least > 0 and (piece := source.read1(CHUNK_BYTES)):
        pieces.append(piece)
        least -= len(piece)
    return b"".join(pieces)


def open_vectors(path: str, limit: int | None) -> tuple[Blocks, Subwords | None]:
    """Recognise a file by its beginning, and read it: words and rows, block by block."""
    with _stream(path) as stream:
        head = _pull(stream, 1 << 16)
    if head.startswith(FASTTEXT_MAGIC):
        with explain_errors(path):
            return open_fasttext(path, limit)
    if head.startswith(NPY_MAGIC):
        return read_npy(path, limit), None
    if re.match(rb"\x80[\x02-\x05]", head):
        return read_kv(path, limit), None
    for magic, suffix in COMPRESSED_SUFFIXES.items():
        if head.startswith(magic):
            raise DataError(f"{path} holds compressed data; give it a name that ends in {suffix}, or decompress it.")
    if (header := _HEADER.match(head)) and _is_binary(head[header.end() :], int(header[2])):
        return _read_binary(path, header.end(), int(header[1]), int(header[2]), limit), None
    return _read_text(path, limit), None


def _is_binary(rows: bytes, dim: int) -> bool:
    """Whether the header line ``n d`` is followed by binary numbers, not by decimal ones."""
    line = rows.partition(b"\n")[0].rstrip()
    if _NUMBER.fullmatch(line.rpartition(b" ")[2]) and line.count(b" ") >= dim:
        return False
    numbers = rows.partition(b" ")[2][: 4 * dim]
    if _NO_TEXT.search(numbers):
        return True
    try:
        numbers.decode()
    except UnicodeDecodeError as error:
        return error.reason != "unexpected end of data"
    return dim <= FEW and not _DIGITS.fullmatch(numbers)  # a few bytes may be letters by chance


def _read_text(path: str, limit: int | None) -> Blocks:
    """Read lines of a word and its numbers, possibly after a header line with their counts."""
    line, read, dim, promised = 1, 0, 0, None
    for piece in open_bytes(path):
        rows = piece.removesuffix(b"\n").split(b"\n")
        if line == 1 and (header := _HEADER.fullmatch(rows[0])):
            promised, dim = int(header[1]), int(header[2])
            rows[0] = b""
        if not dim:
            widths = Counter(_width(row) for row in rows[:100] if row.strip())
            dim = widths.most_common(1)[0][0] if widths else 0
        line_numbers = [number for number, row in enumerate(rows, line) if row.strip()]
        if limit is not None:
            line_numbers = line_numbers[: limit - read]
        if line_numbers:
            yield _parse(path, line_numbers, [rows[number - line] for number in line_numbers], dim)
        line += len(rows)
        read += len(line_numbers)
        if limit is not None and read >= limit:
            return
        if promised is not None and read > promised:
            raise CorpusError(path, line_numbers[promised - read], "one more vector", f"{promised}, as line 1 says")
    if promised is not None and read < promised:
        raise CorpusError(path, line - 1, f"the end after {read} vectors", f"{promised}, as line 1 says")


def _width(row: bytes) -> int:
    """How many numbers are at the end of a line; the first cell is a word, whatever it looks like."""
    width = 0
    for cell in reversed(row.split()[1:]):
        if not _NUMBER.fullmatch(cell):
            break
        width += 1
    return width


def _parse(path: str, line_numbers: list[int], rows: list[bytes], dim: int) -> tuple[list[str], Matrix]:
    """Parse lines from the right, since words may contain spaces."""
    expected = f"a word and {dim} finite numbers" if dim else "a word and its numbers"
    words: list[str] = []
    numbers: list[bytes] = []
    for number, row in zip(line_numbers, rows, strict=True):
        row = row.rstrip()
        if dim and row.count(b" ") == dim:
            word, _, cells_text = row.partition(b" ")
        else:
            word, *cells = row.rsplit(b" ", dim) if dim else (b"",)
            cells_text = b" ".join(cells)
            if len(cells) < dim or not dim or _NUMBER.fullmatch(word.rpartition(b" ")[2]):
                width = _width(row)
                raise CorpusError(path, number, f"{width} number{'s' * (width != 1)}", expected)
        word = word.strip(b" ")
        if not word:
            raise CorpusError(path, number, "no word before the numbers", expected)
        words.append(_decode(path, number, word))
        numbers.append(cells_text)
    try:
        block = np.loadtxt(numbers, np.float32, comments=None, delimiter=" ", ndmin=2)
    except ValueError:
        block = np.zeros((0, 0), np.float32)
    if block.shape != (len(rows), dim) or not np.isfinite(block).all():
        for number, row in zip(line_numbers, rows, strict=True) if len(rows) > 1 else ():
            _parse(path, [number], [row], dim)  # to find the line
        cells = [c for c in numbers[0].split(b" ") if not (_NUMBER.fullmatch(c) and abs(float(c)) < 3.4e38)]
        raise CorpusError(path, line_numbers[0], repr((cells or [b""])[0].decode(errors="replace")), expected)
    return words, block


def _decode(path: str, number: int, word: bytes) -> str:
    try:
        return word.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return word.decode(errors="backslashreplace")
        raise encoding_error(path, number, error) from None


def _read_binary(path: str, at: int, count: int, dim: int, limit: int | None) -> Blocks:
    """Read words, each followed by a space and its numbers in binary, from position ``at`` on."""
    words: list[str] = []
    rows: list[bytes] = []
    with _stream(path) as stream:
        data = _pull(stream, CHUNK_BYTES)
        for number in range(1, min(count, limit or count) + 1):
            space = data.find(b" ", at)
            while space < 0 or len(data) < space + 1 + 4 * dim:
                new_bytes = _pull(stream, max(CHUNK_BYTES, 4 * dim))
                if not new_bytes or (space < 0 and len(data) - at > CHUNK_BYTES):
                    what = "ends in" if not new_bytes else "has no word before"
                    raise DataError(f"{path} {what} vector {number} of {count}. Download the file again.")
                data, at = data[at:] + new_bytes, 0
                space = data.find(b" ")
            words.append(data[at:space].lstrip(b"\n").decode(errors="backslashreplace"))
            at = space + 1 + 4 * dim
            rows.append(data[space + 1 : at])
            if len(rows) == BLOCK_ROWS or number == min(count, limit or count):
                yield words, np.frombuffer(b"".join(rows), "<f4").reshape(-1, dim)
                words, rows = [], []
        if count <= (limit or count) and (data[at:] + stream.read1(CHUNK_BYTES)).strip():
            raise DataError(
                f"{path} has more data after {count} vectors of {dim} numbers, which is all that its header announces."
            )


# gensim's KeyedVectors, X.kv, with large arrays beside it, X.kv.vectors.npy


KEYED_VECTORS = "gensim.models.keyedvectors.KeyedVectors"
"""The class whose pickles are read, as records of their attributes: nothing in them is run."""
MATRIX_ATTRIBUTE = "vectors"


def matrix_beside(path: str) -> Path:
    """The file of a large array of a .kv file."""
    return Path(f"{path}.{MATRIX_ATTRIBUTE}.npy")


def read_kv(path: str, limit: int | None) -> Iterator[tuple[list[str], Matrix]]:
    """Read the words and vectors of KeyedVectors that gensim saved, block by block."""
    expected = (
        "KeyedVectors as gensim 4 saves them (of a Word2Vec model, save model.wv; of FastText, save_facebook_model)"
    )
    record = load_pickle(Path(path), (KEYED_VECTORS,), expected)
    attributes = getattr(record, "attributes", {}) if isinstance(record, PickledRecord) else {}
    words, matrix = attributes.get("index_to_key") or [], attributes.get(MATRIX_ATTRIBUTE)
    beside = attributes.get("__numpys")
    if isinstance(matrix, PickledArray) and hasattr(matrix, "numbers"):
        stored = matrix.numbers
    elif isinstance(beside, list | tuple | set) and MATRIX_ATTRIBUTE in beside:
        try:
            stored = map_array(str(matrix_beside(path)))
        except (OSError, ValueError) as e:
            raise DataError(f"{matrix_beside(path)}, which {path} names, cannot be read: {e}.") from None
    else:
        raise DataError(f"{path} has no word vectors; expected {expected}.")
    is_list = isinstance(words, list) and all(isinstance(word, str) for word in words)
    is_table = stored.ndim == 2 and stored.shape[1] and stored.dtype.kind in "fiu"
    if not is_list or not is_table or len(stored) != len(words):
        raise DataError(f"{path} does not have a vector for every word; expected {expected}.")
    return blocks_of(words, stored, limit)


# a numpy array, X.npy, with a list of its words beside it, X.txt


def words_beside(path: str) -> Path:
    """The file with the words of an array, one per line."""
    return Path(path).with_suffix(".txt")


def read_npy(path: str, limit: int | None) -> Iterator[tuple[list[str], Matrix]]:
    """Read an array (n, d) of numbers, and n words from the file beside it, block by block."""
    file = words_beside(path)
    if not file.is_file():
        raise DataError(f"{path} is an array without words; expected them in {file}, one per line.")
    try:
        stored = map_array(path)
    except ValueError as e:
        raise DataError(f"{path} cannot be read: {e}.") from None
    if stored.ndim != 2 or stored.dtype.kind not in "fiu" or not stored.shape[1]:
        raise DataError(
            f"{path} has shape {stored.shape} and type {stored.dtype}; expected a row of numbers for every word."
        )
    words = []
    for number, line in read_lines(str(file)):
        word = line.strip()
        if not word:
            raise CorpusError(str(file), number, "an empty line", "a word per line")
        words.append(word)
    if len(words) != len(stored):
        raise DataError(f"{file} has {len(words):,} words, and {path} has {len(stored):,} vectors; expected as many.")
    yield from blocks_of(words, stored, limit)


def blocks_of(words: Sequence[str], stored: Matrix, limit: int | None) -> Iterator[tuple[list[str], Matrix]]:
    """Words and their rows, some at a time, as float32."""
    count = min(len(words), limit or len(words))
    for at in range(0, count, BLOCK_ROWS):
        end = min(at + BLOCK_ROWS, count)
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is reported with its word
            rows = np.array(stored[at:end], np.float32)
        yield list(words[at:end]), rows
