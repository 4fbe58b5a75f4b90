"""Reading and writing files: compressed or not, on disk or at an address, with errors that name file and line.

Text is read in chunks of whole lines. Whatever is written appears under its name complete or not at all. Addresses
(``s3://bucket/key``, ``hf://datasets/…``, ``https://…``) are opened by fsspec.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import json
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO, Literal, Protocol, cast

from sentprobe.errors import CorpusError, DataError, NotInstalled, SentProbeError, UsageError

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
MAGIC = {b"\x1f\x8b\x08": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
"""The first bytes of compressed files, which may be named otherwise."""


CHUNK_BYTES = 1 << 18
"""Bytes read at a time: large enough that the loop costs nothing, small enough to stay in the processor's cache."""


LONGEST_LINE = 1 << 26
"""A longer line shows that a file is not text; it is not read into memory."""
COMPLETE_FILE = "a complete compressed file; download it again"


def nearest(path: str) -> str:
    """A suggestion of a file with a similar name, or nothing."""
    import difflib

    missing = Path(path)
    try:
        near = difflib.get_close_matches(missing.name, [entry.name for entry in missing.parent.iterdir()], n=1)
    except (OSError, ValueError):
        near = []
    return f"; did you mean {str(missing.parent / near[0])!r}?" if near else ""


def plain_name(path: str) -> str:
    """The file name without its directory and compression suffix."""
    file = Path(path)
    return file.stem if file.suffix.lower() in COMPRESSED else file.name


def encoding_error(path: str, first_line: int, error: UnicodeDecodeError) -> CorpusError:
    """The error for bytes that are not UTF-8, with their line."""
    line = first_line + error.object.count(b"\n", 0, error.start)
    bad = error.object[error.start : error.start + 4].hex(" ")
    return CorpusError(
        path, line, f"the bytes {bad}, which are not UTF-8", "UTF-8 text; convert it with iconv -t UTF-8"
    )


def open_bytes(path: str) -> Iterator[bytes]:
    """Yield a file in chunks of whole lines, decompressed, without byte order mark, with ``\\n`` as line end.

    Bytes, because a reader that decodes block by block knows which block was undecodable and can go on with the next.
    """
    tail: list[bytes] = []  # of an incomplete line; a list, since concatenating bytes repeatedly is slow
    lines, length, first, reached = 1, 0, True, 0
    try:
        with ExitStack() as stack:
            raw = _open_raw(path, stack)
            source = _decompressed(path, raw, stack)
            while piece := source.read1(CHUNK_BYTES):  # not read(), which would lose what precedes damaged data
                reached = raw.tell() if path != "-" else 0
                if first:
                    piece = piece.removeprefix(b"\xef\xbb\xbf")
                    first = False
                cut = piece.rfind(b"\n") + 1
                if not cut:
                    tail.append(piece)
                    length += len(piece)
                    if length > LONGEST_LINE:
                        got = f"a line of more than {LONGEST_LINE >> 20} MiB"
                        raise CorpusError(path, lines, got, "lines of text", ends_file=True)
                    continue
                complete = b"".join((*tail, piece[:cut]))
                tail, length = [piece[cut:]], len(piece) - cut
                if b"\r" in complete:
                    complete = complete.replace(b"\r\n", b"\n")
                yield complete
                lines += complete.count(b"\n")
            if last := b"".join(tail).removesuffix(b"\r"):
                yield last
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise _compression_error(path, reached, lines, error) from None
    except FileNotFoundError:
        raise DataError(f"there is no file {path!r}{nearest(path)}") from None
    except IsADirectoryError:
        raise DataError(f"{path!r} is a directory; expected a file") from None
    except PermissionError:
        raise DataError(f"{path!r} cannot be read: permission denied") from None
    except (OSError, ValueError) as error:
        # bz2 reports damaged data as a bare OSError; a NUL in a path is a ValueError
        if isinstance(error, OSError) and error.errno is None:
            raise _compression_error(path, reached, lines, error) from None
        raise DataError(f"{path!r} cannot be read: {error}") from None


def _compression_error(path: str, reached: int, lines: int, error: Exception) -> CorpusError:
    """The error for compressed data that break off or are damaged: how much could be read of how much."""
    size = 0 if path == "-" or is_remote(path) else Path(path).stat().st_size
    if isinstance(error, EOFError):
        what = f"truncated compressed data, which break off after {size or reached:,} bytes"
    else:
        of = f" of {size:,}" * (size > 0)
        what = f"corrupt compressed data: {error}, after about {reached:,}{of} bytes"
    read = f"{lines - 1:,} line{'s' * (lines != 2)} of text could be read" if lines > 1 else "no line could be read"
    return CorpusError(path, lines, f"{what} ({read})", COMPLETE_FILE, ends_file=True)


class ByteStream(Protocol):
    """A stream that bytes are read from."""

    def read1(self, size: int, /) -> bytes:
        """Read at most this many bytes; none at the end."""
        ...


def open_source(path: str, stack: ExitStack) -> ByteStream:
    """A file, decompressed according to its suffix; the stack closes it."""
    return _decompressed(path, _open_raw(path, stack), stack)


def _open_raw(path: str, stack: ExitStack) -> BinaryIO:
    if path == "-":
        return sys.stdin.buffer
    return open_seekable(path, stack)


def _compression(path: str, raw: BinaryIO) -> str:
    """The suffix of the compression of a file: its own, or if that says nothing, the one that its first bytes show."""
    suffix = Path(path).suffix.lower()
    if suffix in COMPRESSED or not isinstance(raw, BufferedReader):
        return suffix
    start = raw.peek(max(map(len, MAGIC)))
    return next((suffix for magic, suffix in MAGIC.items() if start.startswith(magic)), "")


def _decompressed(path: str, raw: BinaryIO, stack: ExitStack) -> ByteStream:
    match _compression(path, raw):
        case ".gz":
            return stack.enter_context(gzip.GzipFile(fileobj=raw))
        case ".bz2":
            return stack.enter_context(bz2.BZ2File(raw))
        case ".xz":
            return stack.enter_context(lzma.LZMAFile(raw))
        case ".zst":
            return _Zstd(path, raw)
    return raw if hasattr(raw, "read1") else cast(ByteStream, BufferedReader(raw))


def open_seekable(path: str, stack: ExitStack) -> BinaryIO:
    """A file or an address, as it is; the stack closes it."""
    if is_remote(path):
        return open_remote(path, stack)
    reject_special_file(path)
    return stack.enter_context(Path(path).open("rb"))


def reject_special_file(path: str | Path) -> None:
    """Raise DataError for a pipe, a device or a socket: opening one may block, and reading one may never end.

    Named pipes are refused because almost every file is read twice.
    """
    mode = os.stat(path).st_mode  # noqa: PTH116 - accepts what a Path refuses, and says what is wrong with it
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise DataError(f"{str(path)!r} is a pipe, a device or a socket; save its content to a file first")


class _Zstd:
    """A reader of zstd frames that, unlike zstandard's own, detects truncation."""

    def __init__(self, path: str, raw: BinaryIO) -> None:
        try:
            import zstandard
        except ImportError:
            raise UsageError(f"reading {path!r} needs zstandard: pip install zstandard") from None
        self._error: type[Exception] = zstandard.ZstdError
        self._new = zstandard.ZstdDecompressor().decompressobj
        self._raw, self._frame, self._inside = raw, self._new(), False

    def read1(self, size: int) -> bytes:
        out = b""
        while not out:
            data = self._raw.read(min(size, 1 << 12))  # small: 4 KiB may decompress to 128 MiB
            if not data:
                if self._inside:
                    raise EOFError
                break
            while data:
                try:
                    out += self._frame.decompress(data)
                except self._error as error:
                    raise zlib.error(str(error)) from None
                self._inside = not self._frame.eof
                data = self._frame.unused_data if self._frame.eof else b""
                if self._frame.eof:
                    self._frame = self._new()
        return out


def make_folder(folder: Path) -> None:
    """Create a folder, or say why that is impossible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise DataError(f"The folder {folder} cannot be created: {e.strerror}. Choose another one.") from e


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write under a temporary name, sync, rename."""
    _write_atomically(path, lambda out: out.write(content))


def write_parts_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file too large for memory, part by part, under a temporary name, sync, rename."""
    _write_atomically(path, lambda out: out.writelines(parts))


def copy_atomically(source: Path, path: Path) -> None:
    """Copy a file under a temporary name, sync, rename."""
    with source.open("rb") as file:
        _write_atomically(path, lambda out: copyfileobj(file, out, 1 << 20))


def append_durably(path: Path, line: bytes) -> None:
    """Add to a file and sync, completely or not at all, unless the process is killed meanwhile."""
    try:
        with path.open("ab", buffering=0) as out:
            size = out.seek(0, os.SEEK_END)
            try:
                if out.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(out.fileno())
            except OSError:
                out.truncate(size)
                raise
    except OSError as e:
        raise DataError(f"{path} cannot be written: {e.strerror}. Free some space, and repeat the command.") from e


def _write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            write(out)
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except OSError as e:
        raise DataError(f"{path} cannot be written: {e.strerror}. Free some space or choose another folder.") from e
    finally:
        with suppress(OSError):  # a read-only disk refuses even to remove what does not exist
            part.unlink(missing_ok=True)


# JSON files


def read_json(file: Path) -> Any:
    """The content of a JSON file; DataError if it is damaged."""
    try:
        return json.loads(file.read_bytes())
    except OSError as e:
        raise DataError(f"{file} cannot be read: {e.strerror}.") from None
    except ValueError as e:
        raise DataError(f"{file} is damaged: {e}.") from None


def encode_json(content: object) -> bytes:
    """As a file of its own, indented."""
    return json.dumps(content, indent=1, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"


# Arrays in numpy's files


def map_array(path: str | Path, mode: Literal["r", "c"] = "r") -> Any:
    """The array of a .npy file, which stays on disk; ValueError, with the reason, if there is none.

    A header is Python that numpy parses: a damaged one may raise anything, from SyntaxError to MemoryError.
    """
    import numpy as np

    try:
        content = np.load(path, mmap_mode=mode, allow_pickle=False)
    except OSError as e:
        raise ValueError(e.strerror or str(e)) from e
    except Exception as e:
        raise ValueError(describe_damage(e)) from e
    if not isinstance(content, np.ndarray):
        content.close()
        raise ValueError("it is an archive of arrays; expected one array")
    return content


def describe_damage(error: Exception) -> str:
    """What a reader of a damaged file says, on one line."""
    text = " ".join(str(error).split())[:200].rstrip(".")
    return text or type(error).__name__


# Object stores, hubs and web servers


_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_MAGIC = re.compile(r"[*?\[]")


def is_remote(path: str) -> bool:
    """Whether a path is an address."""
    return _ADDRESS.match(path) is not None


def open_remote(address: str, stack: ExitStack) -> BinaryIO:
    """Open a file for reading, seeking included; the stack closes it."""
    with _store_errors(address):
        files, path = _file_system(address)
        opened: BinaryIO = stack.enter_context(files.open(path, "rb"))
        return opened


def find_remote(address: str, is_wanted: Callable[[str], bool]) -> list[tuple[str, str]]:
    """The files that an address means, with their paths below it: itself, those of a glob, or those of a folder.

    Of a folder, those whose names are wanted.
    """
    with _store_errors(address):
        files, path = _file_system(address)
        if files.exists(path) and not files.isdir(path):
            return [(address, _name(path))]
        if _MAGIC.search(path):
            names = {file: _name(file) for file in files.glob(path)}
        else:
            below = f"{path.rstrip('/')}/"
            names = {file: file.removeprefix(below) for file in files.find(path) if is_wanted(_name(file))}
        if not names:
            raise UsageError(f"There is no file {address!r} that can be read.")
        return [(files.unstrip_protocol(file), name) for file, name in sorted(names.items())]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def stamp_remote(address: str) -> str:
    """What changes when a file does: its size, and what else its store says."""
    with _store_errors(address):
        files, path = _file_system(address)
        return f"{files.size(path)} bytes, {files.ukey(path)}"


def _file_system(address: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise NotInstalled(f"Reading {address} needs fsspec: pip install fsspec") from None
    file_system: tuple[Any, str] = fsspec.core.url_to_fs(address)
    return file_system


@contextmanager
def _store_errors(address: str) -> Iterator[None]:
    """Say what is wrong with an address; stores raise whatever their clients do."""
    try:
        yield
    except (SentProbeError, KeyboardInterrupt):
        raise
    except ImportError as e:
        raise NotInstalled(f"Reading {address} needs another package: {e}") from None
    except ValueError as e:
        raise UsageError(f"{address} cannot be read: {e}.") from None
    except FileNotFoundError:
        raise DataError(f"There is no file {address!r}.") from None
    except Exception as e:
        raise DataError(f"{address} cannot be read: {type(e).__name__}: {e}") from e
