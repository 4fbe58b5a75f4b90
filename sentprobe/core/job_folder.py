"""A folder that a command writes, resumes and reads back: nothing in it is edited, damaged or swapped in silence.

    checksums.json    every file with its size and its BLAKE2b digest (that of ``b2sum``), how far each log goes, and a
                      checksum over all this

It is written before the files that it is about: it has both the old digest of a file and the new one until the next
write. So a process that is killed at any moment leaves a folder that is whole, and what fits neither digest was changed
by someone else. A log is appended to, a line at a time, and each line is sealed together with the one before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from sentprobe.core.checksum import b2sum, line_checksum, seal_line
from sentprobe.core.files import append_durably, copy_atomically, make_folder, write_atomically
from sentprobe.core.lock import locked
from sentprobe.core.seal import FORMAT, SEAL, LogState, Seal, SealedFile, decode_seal, first_changed, log_state
from sentprobe.errors import DataError, UsageError

T = TypeVar("T")


class JobFolder:
    """A folder of sealed files and logs; to be written to within ``writing``, by one process at a time.

    ``command`` is what writes it, such as ``sentprobe train``; ``remedy`` says what to do about a file that has
    changed, by its name: the end of a message.
    """

    def __init__(self, path: Path, command: str, remedy: Callable[[str], str] | None = None) -> None:
        self.path, self.command = path, command
        self._remedy = remedy or (lambda _: f"Restore it, or repeat `{command}` in a new folder.")
        self._seal: Seal | None = None
        self._saved = b""
        self._is_writing = False
        self._verified: dict[str, tuple[tuple[int, ...], SealedFile]] = {}

    @property
    def is_begun(self) -> bool:
        """Whether the command has written something here."""
        return (self.path / SEAL).is_file()

    def names(self, under: str = "") -> list[str]:
        """The files that were written, of those whose names begin so."""
        return [name for name in self._read_seal().files if name.startswith(under)]

    def is_there(self, name: str) -> bool:
        """Whether a file was written and has not been deleted since."""
        return name in self._read_seal().files and (self.path / name).is_file()

    def about(self, name: str) -> dict[str, Any] | None:
        """What was noted with a file, even if it has been deleted since; None if it was never written."""
        states = self._read_seal().files.get(name, [])
        if len(states) > 1 and (self.path / name).is_file():  # being replaced: which of the two it is, its content says
            return self.verify(name).about
        return states[0].about if states and states[0] is not None else None

    def verify(self, name: str) -> SealedFile:
        """What a file is, after comparing its content; DataError if it has changed. Unchanged files are read once."""
        return self._twice(lambda: self._verify(name))

    def read(self, name: str) -> bytes:
        """The content of a file."""
        self.verify(name)
        return (self.path / name).read_bytes()

    def read_json(self, name: str) -> Any:
        """The content of a JSON file."""
        return json.loads(self.read(name))

    def log(self, name: str) -> list[dict[str, Any]]:
        """The records of a log; a last line that is not complete is left out."""
        lines = self._twice(lambda: self._lines(name))
        return [{key: value for key, value in json.loads(line).items() if key != "checksum"} for line in lines]

    def verify_all(self, may_be_gone: Callable[[str], bool] = lambda _: False) -> None:
        """Compare everything; DataError if a file has changed, or is gone and may not be."""
        for name, states in list(self._read_seal().files.items()):
            if (self.path / name).is_file() or not (None in states or may_be_gone(name)):
                self.verify(name)
        for name in self._read_seal().logs:
            self.log(name)

    def is_unchanged(self) -> bool:
        """Whether no file that was verified has been written to since, as far as sizes and times tell."""
        try:
            return all(_stamp(self.path / name) == stamp for name, (stamp, _) in self._verified.items())
        except OSError:
            return False

    def check_digest(self, name: str, blake2b: str) -> None:
        """DataError unless a file has the right BLAKE2b digest, for callers that have to compute it anyway."""
        seal = self._read_seal()
        if name in seal.logs:
            self.log(name)
        elif name != SEAL and not any(one and one.blake2b == blake2b for one in seal.files.get(name, [])):
            self.verify(name)  # a process may be writing it

    def _verify(self, name: str) -> SealedFile:
        file, states = self.path / name, self._read_seal().files.get(name, [])
        if not states:
            raise DataError(f"{file} was not written by `{self.command}`. Move it elsewhere.")
        try:
            stamp = _stamp(file)
            known = self._verified.get(name)
            if known is not None and known[0] == stamp and known[1] in states:
                return known[1]
            for one in states:
                if one and one.bytes == stamp[0] and one.blake2b == b2sum(file):
                    self._verified[name] = stamp, one
                    return one
        except FileNotFoundError:
            raise self._missing(name) from None
        except OSError as e:
            raise DataError(f"{file} cannot be read: {e.strerror}.") from None
        raise self._changed(name)

    def _missing(self, name: str) -> DataError:
        return DataError(f"{self.path / name}, which `{self.command}` wrote, is missing. {self._remedy(name)}")

    def _changed(self, name: str, place: str = "") -> DataError:
        return DataError(f"{self.path / name}{place} has changed since `{self.command}` wrote it. {self._remedy(name)}")

    def _lines(self, name: str) -> list[bytes]:
        """The complete lines of a log."""
        file, state = self.path / name, self._read_seal().logs.get(name, LogState())
        try:
            *lines, _ = file.read_bytes().split(b"\n")
        except FileNotFoundError:
            if state.lines:
                raise self._missing(name) from None
            return []
        except OSError as e:
            raise DataError(f"{file} cannot be read: {e.strerror}.") from None
        if (number := first_changed(lines, state)) is not None:
            raise self._changed(name, f":{number}")
        return lines

    def _twice(self, check: Callable[[], T]) -> T:
        """Check again with what ``checksums.json`` has by now: another process may be writing."""
        try:
            return check()
        except DataError:
            before = self._saved
            if self._is_writing or not self.is_begun:
                raise
            self._seal = None
            self._read_seal()
            if self._saved == before:
                raise
            return check()

    def _read_seal(self) -> Seal:
        if self._seal is None:
            file = self.path / SEAL
            try:
                content = file.read_bytes()
                self._seal, self._saved = decode_seal(content, file), content
            except FileNotFoundError:
                raise self._missing(SEAL) from None
            except OSError as e:
                raise DataError(f"{file} cannot be read: {e.strerror}.") from None
            except ValueError as e:
                raise DataError(f"{file} is damaged: {e}. {self._remedy(SEAL)}") from None
        return self._seal

    def check_own(self, unfinished: Collection[str] = ()) -> None:
        """UsageError if the folder is no folder, or has something else in it than this command writes.

        ``unfinished`` are names of what is written before the first sealed file.
        """
        if self.is_begun or not self.path.exists():
            return
        if not self.path.is_dir():
            raise UsageError(f"{self.path} is a file; name a folder.")
        names = sorted(p.name for p in self.path.iterdir() if not (p.name.startswith(".") and p.suffix == ".part"))
        if foreign := [name for name in names if name not in unfinished]:
            raise UsageError(f"{self.path} has {foreign[0]}, and is no folder of `{self.command}`; choose another one.")

    def check_same(self, what: str, before: Mapping[str, Any], now: Mapping[str, Any], fixed: Collection[str]) -> None:
        """UsageError if one of these values of a request is another than when the folder was begun."""
        for key in sorted(fixed):
            if before.get(key) != now.get(key):
                raise UsageError(
                    f"{self.path} has {what} with {key.replace('_', ' ')} {_shown(before.get(key))}, and this is "
                    f"{_shown(now.get(key))}: choose another folder, or repeat the command with which it was begun."
                )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock of the folder, and bring to an end what a process that was killed has begun."""
        make_folder(self.path)
        with locked(self.path, self.path, UsageError):
            self._seal, self._is_writing = None, True
            try:
                self._seal = self._read_seal() if self.is_begun else Seal(FORMAT, self.command, {}, {})
                self._settle(self._seal)
                yield
            except BaseException:
                with suppress(DataError):
                    self._save()
                raise
            else:
                self._save()
            finally:
                self._is_writing = False

    def _settle(self, seal: Seal) -> None:
        """Find out how far a process that was killed has come."""
        for part in self.path.rglob(".*.part"):
            part.unlink(missing_ok=True)
        for name, states in list(seal.files.items()):
            if (self.path / name).is_file():
                seal.files[name] = [self.verify(name)] if len(states) > 1 else states
            elif None in states:
                del seal.files[name]
        for name in list(seal.logs):
            lines, file = self._lines(name), self.path / name
            size = sum(len(line) + 1 for line in lines)
            if file.is_file() and file.stat().st_size > size:  # the last line is not complete
                os.truncate(file, size)
            seal.logs[name] = log_state(lines)

    def write(self, files: Mapping[str, bytes | Path], about: Mapping[str, Any] | None = None) -> None:
        """Write files, or copies of files, each completely or not at all, in this order."""
        assert self._is_writing
        seal = self._read_seal()
        for name, content in files.items():
            size = content.stat().st_size if isinstance(content, Path) else len(content)
            new = SealedFile(size, b2sum(content), dict(about or {}))
            seal.files[name] = [*(seal.files.get(name) or [None])[:1], new]
        self._save()
        for name, content in files.items():
            make_folder((self.path / name).parent)
            if isinstance(content, Path):
                copy_atomically(content, self.path / name)
            else:
                write_atomically(self.path / name, content)
            seal.files[name] = seal.files[name][-1:]

    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""
        seal = self._read_seal()
        if name in seal.files:
            seal.files[name] = [*seal.files[name][:1], None]
            self._save()
            (self.path / name).unlink(missing_ok=True)
            del seal.files[name]

    def append(self, name: str, record: Mapping[str, Any]) -> None:
        """Add a line to a log; when this returns, it is on disk."""
        seal = self._read_seal()
        state = seal.logs.get(name, LogState())
        line = seal_line(json.dumps(record).encode(), state.last)
        if name not in seal.logs:
            seal.logs[name] = state
            self._save()
        append_durably(self.path / name, line + b"\n")
        seal.logs[name] = LogState(state.lines + 1, line_checksum(line))

    def cut(self, name: str, lines: int) -> None:
        """Keep only so many lines of a log."""
        kept = self._lines(name)[:lines]
        self._read_seal().logs[name] = log_state(kept)
        self._save()  # first: the longer log goes as far as that, too
        write_atomically(self.path / name, b"".join(line + b"\n" for line in kept))

    def _save(self) -> None:
        content = (seal := self._read_seal()).encode()
        if content != self._saved and (self._saved or seal.files or seal.logs):  # what was refused leaves no trace
            write_atomically(self.path / SEAL, content)
            self._saved = content


def _stamp(file: Path) -> tuple[int, ...]:
    """What changes when a file is written to."""
    facts = file.stat()
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino


def _shown(value: object) -> str:
    """A value of a request as users type it."""
    return ",".join(map(str, value)) or "(none)" if isinstance(value, list) else str(value)
