"""Corpus files: which ones a path means, in which format they are, and what all their readers share."""

from __future__ import annotations

import atexit
import glob
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from sentprobe.core.files import COMPRESSED, nearest, open_bytes, plain_name
from sentprobe.core.folders import scratch_folder
from sentprobe.core.reader import read_lines
from sentprobe.corpus.treebanks.catalogue import find_treebank, is_spec
from sentprobe.errors import CorpusError, UsageError

OnError = Callable[[CorpusError], None]
"""What is called with the error of a malformed sentence, which is then skipped."""

SHARD_BLOCK = 256
"""Sentences are assigned to shards in runs of this many."""

SUFFIXES = {
    ".conllu": "conllu",
    ".conll": "conllu",
    ".ud": "conllu",
    ".mrg": "brackets",
    ".ptb": "brackets",
    ".tree": "brackets",
    ".trees": "brackets",
    ".brackets": "brackets",
    ".trees.tsv": "brackets",
    ".txt": "text",
}
"""Formats by suffix, without the compression suffix."""

UD_NAME = re.compile(r"(([a-z]{2,3})_[A-Za-z0-9]+)-(?:ud-.*|(?:train|dev|test)[^-]*)")
"""A file that is named as in UD: the treebank, and its language."""

_NOT_A_CORPUS = frozenset({"readme.txt", "license.txt", "licence.txt", "copying.txt", "changelog.txt", "stats.txt"})
_SNIFFED_CHARACTERS = 1 << 16

COMPRESSION_RATIO = 6
"""A compressed treebank is about this many times smaller."""


def expand(paths: Sequence[str]) -> tuple[str, ...]:
    """Find the files meant by paths, globs, directories and treebanks, in the order typed, each once; ``-`` is kept.

    A directory means the corpus files below it, sorted. Raw ``.txt`` files next to annotated files are left out: UD
    releases ship the same sentences a second time as plain text. ``ud:UD_English-EWT`` means the files of a treebank,
    which is downloaded if it is not in the cache.
    """
    # a mistake in any of the paths is reported before a treebank is downloaded
    files = {path: [path] if path == "-" else _expand_one(path) for path in paths if not is_spec(path)}
    for spec in (path for path in paths if is_spec(path)):
        find_treebank(spec)
    expanded: dict[str, None] = {}
    for path in paths:
        expanded |= dict.fromkeys(_files_of_treebank(path) if is_spec(path) else files[path])
    if not expanded:
        raise UsageError("no corpus file was given; name a file, a directory, a glob, or - for standard input")
    return tuple(expanded)


def _files_of_treebank(spec: str) -> list[str]:
    from sentprobe.corpus.treebanks.fetch import fetch_treebank

    return [str(file) for file in fetch_treebank(spec)]


def _expand_one(path: str) -> list[str]:
    if Path(path).is_dir():
        if files := _files_below(path):
            return files
        suffixes = " ".join(SUFFIXES)
        raise UsageError(f"the directory {path!r} holds no corpus file; known suffixes: {suffixes} (also compressed)")
    if Path(path).exists():
        return [path]
    if glob.has_magic(path):
        matches = glob.glob(path, recursive=True)  # noqa: PTH207 - pathlib's cannot take an absolute pattern
        if files := sorted(match for match in matches if not Path(match).is_dir()):
            return files
        raise UsageError(f"no file matches {path!r}; the current directory is {str(Path.cwd())!r}")
    raise UsageError(f"there is no file or directory {path!r}{nearest(path)}")


def _files_below(directory: str) -> list[str]:
    """Every corpus file below a directory, sorted; links to directories are not followed, hidden files not seen."""
    by_format: dict[str, list[str]] = {"conllu": [], "brackets": [], "text": []}
    for folder, folders, names in os.walk(directory):
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in names:
            format = _format_by_name(name)
            if format and not name.startswith(".") and plain_name(name).lower() not in _NOT_A_CORPUS:
                path = Path(folder, name)
                # a pipe or a device is not a corpus; a broken link is reported
                if path.is_file() or not path.exists():
                    by_format[format].append(str(path))
    return sorted(by_format["conllu"] + by_format["brackets"]) or sorted(by_format["text"])


def _format_by_name(path: str) -> str | None:
    name = plain_name(path).lower()
    return next((format for suffix, format in SUFFIXES.items() if name.endswith(suffix)), None)


def stem(path: str) -> str:
    """The file name without directory, compression suffix and corpus suffix; the prefix of generated sentence ids."""
    name = plain_name(path)
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return "stdin" if name == "-" else name


def detect_format(path: str) -> str:
    """Tell ``conllu``, ``brackets`` or ``text`` by the suffix, else the first two by a line that is not a comment."""
    if format := _format_by_name(path):
        return format
    if path != "-":  # what is sniffed from standard input would be missing when it is read
        characters = 0
        for _, line in read_lines(path):
            characters += len(line)
            if characters > _SNIFFED_CHARACTERS:
                break
            if line.strip() and not line.startswith("#"):
                if line.count("\t") >= 7 and line.split("\t", 1)[0].replace("-", "").replace(".", "").isdigit():
                    return "conllu"
                if line.lstrip().startswith("(") or line.partition("\t")[2].startswith("("):
                    return "brackets"
                break
    raise UsageError(
        f"cannot detect the format of {path!r} from its name or first line; pass the format: conllu, brackets or text"
    )


def corpus_name(typed: Sequence[str]) -> str:
    """A name from the files: the treebank's where a file is named as in UD, otherwise the file's."""
    stems = dict.fromkeys(map(stem, typed))
    names = list(dict.fromkeys(m[1] if (m := UD_NAME.fullmatch(name)) else name for name in stems))
    return "+".join(names) if len(names) <= 4 else f"{names[0]}+{len(names) - 1}"


def file_size(path: str) -> int:
    """The size of a file in bytes; of a compressed one, roughly that of its content."""
    return Path(path).stat().st_size * (COMPRESSION_RATIO if path.endswith(COMPRESSED) else 1)


def byte_lines(path: str, on_error: OnError | None) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of every line, without its end."""
    number = 0
    try:
        for piece in open_bytes(path):
            for line in piece.removesuffix(b"\n").split(b"\n"):
                number += 1
                yield number, line
    except CorpusError as error:  # nothing can be read after this point; what was read so far is used
        if on_error is None:
            raise
        on_error(error)


def spool_stdin() -> str:
    """Copy standard input to a temporary file, which other processes can read too; it is removed at exit."""
    head = sys.stdin.buffer.read(6)
    magic = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
    suffix = next((s for m, s in magic.items() if head.startswith(m)), "")
    # the name of the file becomes part of generated sentence ids, so it must be the same every time
    stack = ExitStack()
    path = stack.enter_context(scratch_folder()) / f"stdin{suffix}"
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # a forked child must not remove the file of its parent
            stack.close()

    atexit.register(remove)
    with path.open("wb") as out:
        out.write(head)
        shutil.copyfileobj(sys.stdin.buffer, out)
    return str(path)
