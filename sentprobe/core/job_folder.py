"""A folder that a command writes, resumes and reads back: nothing in it is edited, damaged or swapped in silence.

    checksums.json    every file with its size and its BLAKE2b digest (that of ``b2sum``), how far each log goes, and a
                      checksum over all this

It is written before the files that it is about: it has both the old digest of a file and the new one until the next
write. So a process that is killed at any moment leaves a folder that is whole, and what fits neither digest was changed
by someone else. A log is appended to, a line at a time, and each line is sealed together with the one before. A growing
file is appended to as well: so many of its bytes count as ``checksums.json`` says, together with facts about them.

Damage refuses: whatever has changed is an error when it is read. Runs are different: damage is reported, what it is
about is left out, and computed again. Their lines are sealed one by one, and seal the files that they name.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sentprobe.core.files import append_durably, copy_atomically, make_folder, read_json, write_atomically
from sentprobe.core.folders import locked
from sentprobe.core.hashing import b2sum
from sentprobe.core.seal import (
    FORMAT,
    SEAL,
    GrowingFile,
    LogState,
    Seal,
    SealedFile,
    decode_seal,
    first_changed,
    independent_state,
    line_checksum,
    log_state,
    other_format,
    seal_line,
)
from sentprobe.errors import DataError, SentProbeError, UsageError

T = TypeVar("T")

CARD = "card.md"
"""What a folder is, in words; it is the user's to edit, and not sealed."""


class SalvagedLog(NamedTuple):
    """The lines of a log, of which some may be damaged, and what is recorded about them."""

    lines: list[bytes]
    """The complete ones."""
    recorded: LogState
    is_as_recorded: bool
    """Whether the log begins with the lines that are recorded; those themselves may have changed."""


class JobFolder:
    """A folder of sealed files and logs; to be written to within ``writing``, by one process at a time.

    ``command`` is what writes it, such as ``sentprobe train``; ``remedy`` says what to do about a file that has
    changed, by its name: the end of a message. ``salvages``: damage does not refuse, but is for the caller to report;
    then lines of logs are sealed one by one. ``seal`` and ``format`` are the name and the format of the file that seals
    the others, ``lock`` is that of a file to be locked: on some network drives, folders cannot be.
    """

    def __init__(
        self,
        path: Path,
        command: str,
        remedy: Callable[[str], str] | None = None,
        *,
        seal: str = SEAL,
        format: int = FORMAT,
        lock: str = "",
        salvages: bool = False,
        error: type[SentProbeError] = UsageError,
    ) -> None:
        self.path, self.command, self.salvages = path, command, salvages
        self.problem: Exception | None = None
        """What is wrong with the seal, if damage does not refuse."""
        self._remedy = remedy or (lambda _: f"Restore it, or repeat `{command}` in a new folder.")
        self._seal_name, self._format, self._lock, self._error = seal, format, path / lock, error
        self._read_error = error if salvages else DataError
        self._hashes: dict[str, hashlib.blake2b] = {}
        self._seal: Seal | None = None
        self._saved = b""
        self._is_writing = False
        self._verified: dict[str, tuple[tuple[int, ...], SealedFile]] = {}

    @property
    def is_begun(self) -> bool:
        """Whether the command has written something here."""
        return (self.path / self._seal_name).is_file()

    @property
    def facts(self) -> dict[str, Any]:
        """What is recorded beside the digests."""
        return self._read_seal().facts

    def note(self, facts: dict[str, Any]) -> None:
        """Record these facts with whatever is written next, and at the latest when writing ends."""
        self._read_seal().facts = facts

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
        return self._with_fresh_seal(lambda: self._verify(name))

    def read(self, name: str) -> bytes:
        """The content of a file."""
        self.verify(name)
        return (self.path / name).read_bytes()

    def read_json(self, name: str) -> Any:
        """The content of a JSON file."""
        return json.loads(self.read(name))

    def read_config(
        self, name: str, format: int, what: str, remedy: str, is_right: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        """The JSON object with the request and what came of it; DataError if it is of something else."""
        file = self.path / name
        config = self.read_json(name) if self.is_begun else read_json(file)
        if not isinstance(config, dict) or not is_right(config):
            raise DataError(f"{file} is not of {what}; expected a folder of `{self.command}`.")
        if config.get("format") != format:
            raise DataError(f"{other_format(file, config.get('format'), format)} {remedy}")
        self.verify(name)  # there may be no checksums
        return config

    def log(self, name: str) -> list[dict[str, Any]]:
        """The records of a log; a last line that is not complete is left out."""
        lines = self._with_fresh_seal(lambda: self._lines(name))
        return [{key: value for key, value in json.loads(line).items() if key != "checksum"} for line in lines]

    def verify_all(self, may_be_gone: Callable[[str], bool] = lambda _: False) -> None:
        """Compare everything; DataError if a file has changed, or is gone and may not be."""
        for name, states in list(self._read_seal().files.items()):
            if (self.path / name).is_file() or not (None in states or may_be_gone(name)):
                self.verify(name)
        for name in self._read_seal().logs:
            self.log(name)
        for name in self._read_seal().growing:
            self._with_fresh_seal(partial(self._hash, name))

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
        elif name != SEAL and not any(state and state.blake2b == blake2b for state in seal.files.get(name, [])):
            self.verify(name)  # a process may be writing it

    def _verify(self, name: str) -> SealedFile:
        file, states = self.path / name, self._read_seal().files.get(name, [])
        if not states:
            raise DataError(f"{file} was not written by `{self.command}`. Move it elsewhere.")
        try:
            stamp = _stamp(file)
            cached = self._verified.get(name)
            if cached is not None and cached[0] == stamp and cached[1] in states:
                return cached[1]
            for state in states:
                if state and state.bytes == stamp[0] and state.blake2b == b2sum(file):
                    self._verified[name] = stamp, state
                    return state
        except FileNotFoundError:
            raise self._missing(name) from None
        except OSError as e:
            raise DataError(f"{file} cannot be read: {e.strerror}.") from None
        raise self._changed(name)

    def _missing(self, name: str) -> DataError:
        return DataError(f"{self.path / name}, which `{self.command}` wrote, is missing. {self._remedy(name)}")

    def _changed(self, name: str, line: str = "") -> DataError:
        file = self.growing_file(name)
        return DataError(f"{file}{line} has changed since `{self.command}` wrote it. {self._remedy(name)}")

    def _lines(self, name: str) -> list[bytes]:
        """The lines of a log, after checking them."""
        lines, state = self._complete_lines(name), self._read_seal().logs.get(name, LogState())
        if state.lines and not (self.path / name).exists():
            raise self._missing(name)
        if (number := first_changed(lines, state)) is not None:
            raise self._changed(name, f":{number}")
        return lines

    def _complete_lines(self, name: str) -> list[bytes]:
        """The lines of a log, without a torn last one."""
        try:
            return (self.path / name).read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        except OSError as e:
            raise self._read_error(f"{self.path / name} cannot be read: {e.strerror}.") from None

    def salvage(self, name: str) -> SalvagedLog:
        """The lines of a log whose lines are sealed one by one."""
        lines, recorded = self._complete_lines(name), self._read_seal().logs.get(name, LogState())
        return SalvagedLog(lines, recorded, independent_state(lines[: recorded.lines]) == recorded)

    def grown(self, name: str) -> GrowingFile:
        """How far a growing file goes."""
        return self._read_seal().growing.get(name, GrowingFile())

    def growing_file(self, name: str) -> Path:
        """Where a growing file is: in the folder, or where it was moved when it was complete."""
        moved, inside = self.grown(name).moved_to, self.path / name
        return self.path.parent / moved if moved and not inside.exists() else inside

    def _hash(self, name: str) -> hashlib.blake2b:
        """The hash of what counts of a growing file, after comparing it; more can be added to it."""
        file, recorded = self.growing_file(name), self._read_seal().growing[name]
        state, remaining = hashlib.blake2b(), recorded.bytes
        try:
            with file.open("rb") as content:
                while remaining and (piece := content.read(min(remaining, 1 << 20))):
                    state.update(piece)
                    remaining -= len(piece)
                is_longer = bool(recorded.moved_to and content.read(1))
        except FileNotFoundError:
            raise self._missing(name) from None
        except OSError as e:
            raise DataError(f"{file} cannot be read: {e.strerror}.") from None
        if remaining or is_longer or state.hexdigest() != recorded.blake2b:
            raise self._changed(name)
        return state

    def _with_fresh_seal(self, check: Callable[[], T]) -> T:
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
            file, self.problem = self.path / self._seal_name, None
            try:
                content = file.read_bytes()
                seal = decode_seal(content, file, self._format, self._read_error)
                self._seal, self._saved = seal, content
            except (FileNotFoundError, NotADirectoryError, ValueError) as e:
                if not self.salvages:
                    is_damaged = isinstance(e, ValueError)
                    raise self._damaged(e) if is_damaged else self._missing(self._seal_name) from None
                self._seal, self.problem = Seal(self._format), e
            except OSError as e:
                raise self._read_error(f"{file} cannot be read: {e.strerror}.") from None
        return self._seal

    def _damaged(self, why: Exception) -> DataError:
        name = self._seal_name
        return DataError(f"{self.path / name} is damaged: {why}. {self._remedy(name)}")

    def check_own(self, unfinished: Collection[str] = ()) -> None:
        """UsageError if the path is a file, or a folder with files that this command does not write.

        ``unfinished`` are names of what is written before the first sealed file.
        """
        if self.is_begun or not self.path.exists():
            return
        if not self.path.is_dir():
            raise UsageError(f"{self.path} is a file; name a folder.")
        names = sorted(p.name for p in self.path.iterdir() if not (p.name.startswith(".") and p.suffix == ".part"))
        if foreign := [name for name in names if name not in unfinished]:
            raise UsageError(
                f"{self.path} has {foreign[0]}, which was not written by `{self.command}`; choose another folder."
            )

    def check_same(self, what: str, before: Mapping[str, Any], now: Mapping[str, Any], fixed: Collection[str]) -> None:
        """UsageError if one of these values of a request is another than when the folder was begun."""
        check_same_request(self.path, what, before, now, fixed)

    def changed_input(self, name: str, work: str) -> UsageError:
        """The error for an input that has changed since the folder was begun."""
        return UsageError(
            f"{name} has changed since the {work} in {self.path} began: restore it, or choose another folder."
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock of the folder, and bring to an end what a process that was killed has begun."""
        make_folder(self.path)
        with locked(self._lock, self.path, self._error):
            self._seal, self._is_writing = None, True
            try:
                if not (self.is_begun or self.salvages):
                    self._seal = Seal(self._format, facts={"command": self.command})
                self._seal = self._read_seal()
                self._recover(self._seal)
                yield
            except BaseException:
                with suppress(DataError):
                    self.save()
                raise
            else:
                self.save()
            finally:
                self._is_writing = False

    def _recover(self, seal: Seal) -> None:
        """Find out how far a process that was killed has come."""
        if self.salvages:
            return  # the caller looks at the log
        for part in self.path.rglob(".*.part"):
            part.unlink(missing_ok=True)
        for name, states in list(seal.files.items()):
            if (self.path / name).is_file():
                seal.files[name] = [self.verify(name)] if len(states) > 1 else states
            elif None in states:
                del seal.files[name]
        for name in list(seal.logs):
            lines = self._lines(name)
            self._cut_torn(name, lines)
            seal.logs[name] = log_state(lines)
        for name, recorded in seal.growing.items():
            self._hashes[name] = self._hash(name)
            if not recorded.moved_to:
                os.truncate(self.path / name, recorded.bytes)

    def _cut_torn(self, name: str, lines: Sequence[bytes]) -> None:
        """Cut off a last line that is not complete."""
        file, size = self.path / name, sum(len(line) + 1 for line in lines)
        if file.is_file() and file.stat().st_size > size:
            with file.open("r+b") as opened:
                opened.truncate(size)
                os.fsync(opened.fileno())

    def write(self, files: Mapping[str, bytes | Path], about: Mapping[str, Any] | None = None) -> None:
        """Write files, or copies of files, each completely or not at all, in this order."""
        assert self._is_writing
        seal = self._read_seal()
        for name, content in files.items():
            size = content.stat().st_size if isinstance(content, Path) else len(content)
            new = SealedFile(size, b2sum(content), dict(about or {}))
            seal.files[name] = [*(seal.files.get(name) or [None])[:1], new]
        self.save()
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
            self.save()
            (self.path / name).unlink(missing_ok=True)
            del seal.files[name]

    def write_card(self, text: str) -> None:
        """Write ``card.md``."""
        write_atomically(self.path / CARD, text.encode(errors="backslashreplace"))

    def append(self, name: str, record: Mapping[str, Any]) -> None:
        """Add a line to a log; when this returns, it is on disk."""
        state = self._read_seal().logs.get(name, LogState())
        self._append(name, seal_line(json.dumps(record).encode(), state.last))

    def append_independent(self, name: str, line: bytes) -> None:
        """Add a line that is sealed on its own to a log of such lines."""
        assert self.salvages
        self._append(name, line)

    def _append(self, name: str, line: bytes) -> None:
        seal = self._read_seal()
        state = seal.logs.get(name, LogState())
        if name not in seal.logs:
            seal.logs[name] = state
            self.save()
        append_durably(self.path / name, line + b"\n")
        new = LogState(state.lines + 1, line_checksum(line))
        seal.logs[name] = independent_state([line], state) if self.salvages else new

    def replace_log(self, name: str, lines: Sequence[bytes]) -> None:
        """Make a log of lines that are sealed on their own as it should be: a copy without damaged lines, or with the
        torn last one cut off."""
        assert self.salvages
        content = b"".join(line + b"\n" for line in lines)
        file = self.path / name
        old = file.read_bytes() if file.exists() else b""
        if old.startswith(content):
            self._cut_torn(name, lines)
        else:
            write_atomically(file, content)
        self._read_seal().logs[name] = independent_state(lines)

    def cut(self, name: str, lines: int) -> None:
        """Keep only so many lines of a log."""
        remaining = self._lines(name)[:lines]
        self._read_seal().logs[name] = log_state(remaining)
        self.save()  # first: the longer log goes as far as that, too
        write_atomically(self.path / name, b"".join(line + b"\n" for line in remaining))

    def extend(self, contents: Mapping[str, bytes], facts: dict[str, Any]) -> None:
        """Add to growing files, and record facts: when this returns, both count; before, neither does."""
        seal = self._read_seal()
        grown: dict[str, GrowingFile] = {}
        for name, content in contents.items():
            if name not in seal.growing:
                write_atomically(self.path / name, b"")  # what was left there never counted
                self._hashes[name] = hashlib.blake2b()
            if content:
                append_durably(self.path / name, content)
                self._hashes[name].update(content)
            grown[name] = GrowingFile(self.grown(name).bytes + len(content), self._hashes[name].hexdigest())
        # all at once: if one of the files cannot be written, the others must not count, either
        seal.growing, seal.facts = seal.growing | grown, facts
        self.save()

    def move_out(self, targets: Mapping[str, str]) -> None:
        """Move growing files that are complete beside the folder, under these names; some may be there already."""
        seal = self._read_seal()
        for name, target in targets.items():
            recorded = seal.growing[name]
            seal.growing[name] = GrowingFile(recorded.bytes, recorded.blake2b, target)
        self.save()
        for name, target in targets.items():
            if (file := self.growing_file(name)) != self.path.parent / target:
                try:
                    file.replace(self.path.parent / target)
                except OSError as e:
                    raise DataError(f"{self.path.parent / target} cannot be written: {e.strerror}.") from e

    def dissolve(self) -> None:
        """End a job from whose folder everything was moved out; the folder is empty then."""
        (self.path / self._seal_name).unlink()

    def save(self) -> None:
        """Write the seal, if it is not up to date."""
        content = (seal := self._read_seal()).encode()
        # what was refused leaves no trace
        is_begun = self._saved or seal.files or seal.logs or seal.growing or (self.salvages and seal.facts)
        if content != self._saved and is_begun:
            write_atomically(self.path / self._seal_name, content)
            self._saved = content


def check_same_request(
    path: Path,
    what: str,
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    fixed: Collection[str],
    noun: str = "folder",
) -> None:
    """UsageError if one of these values of a request is another than when ``path`` was begun; ``noun`` is what the
    user may choose another of."""
    for key in sorted(fixed):
        if before.get(key) != now.get(key):
            raise UsageError(
                f"{path} has {what} with {key.replace('_', ' ')} {_as_typed(before.get(key))}, and this is "
                f"{_as_typed(now.get(key))}: choose another {noun}, or repeat the command with which it was begun."
            )


def _stamp(file: Path) -> tuple[int, ...]:
    """What changes when a file is written to."""
    facts = file.stat()
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino


def _as_typed(value: object) -> str:
    """A value of a request as users type it."""
    if isinstance(value, Mapping):
        return " ".join(f"{key}={setting}" for key, setting in value.items()) or "(none)"
    return (",".join(map(str, value)) if isinstance(value, list) else str(value)) or "(none)"
