"""Sets that can be downloaded: where they are, and how they get into SentEval's folders.

``remote_sets.toml`` has the addresses and checksums. ``fetch_sets`` downloads the files of a set, verifies them, and
converts them to SentEval's format, in a temporary folder, where sentences are tokenised as by SentEval's script.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from sentprobe.core.arguments import Progress, StringsOrPaths, as_strings, did_you_mean
from sentprobe.core.files import make_folder
from sentprobe.core.hashing import git_blob, hash_64, sha256
from sentprobe.core.network import RetryPolicy, download, offline
from sentprobe.core.reader import find_file, read_tsv, wrong_width
from sentprobe.data.layouts import LAYOUTS
from sentprobe.data.layouts.xnli import NO_GOLD
from sentprobe.errors import CorpusError, DataError, Offline, UsageError
from sentprobe.transfer.archive import unpack
from sentprobe.transfer.tokenisation import check_tokeniser, tokenise_folder

DOWNLOADS = ".downloads"
"""Where files are kept until the sets made from them are in place."""
_SICK_COLUMNS = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
"""The header of SemEval-2014's files."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file to download; the fields are explained at the top of remote_sets.toml."""

    urls: tuple[str, ...]
    limit: int
    sha256: str = ""
    checksum_source: str = ""
    to: str = ""
    step: str = ""
    unpacked: int = 0
    members: Mapping[str, str] = field(default_factory=dict)
    git_blob: str = ""

    @property
    def has_checksum(self) -> bool:
        """Whether it is known what the file must be."""
        return bool(self.sha256 or self.git_blob)

    @property
    def targets(self) -> tuple[str, ...]:
        """The files that are made from it, under our names."""
        return (self.to,) if self.to else tuple(self.members.values())

    def download_path(self, data: Path) -> Path:
        """Where the download is kept below ``data``: a name that is unique to its address."""
        last = urlsplit(self.urls[0]).path.rpartition("/")[2]
        return data / DOWNLOADS / f"{hash_64(self.urls[0]):016x}-{last}"


@dataclass(frozen=True, slots=True)
class RemoteSet:
    """Where one set can be downloaded, or several that share their files."""

    key: str
    sets: tuple[str, ...]
    home: str
    licence: str
    page: str
    files: tuple[RemoteFile, ...] = ()
    manual_steps: str = ""
    tokenise: str = ""
    then: str = ""
    """What to know after the download."""

    def folder(self, data: Path) -> Path:
        """Where it goes, below the folder of all data."""
        return data / self.home


def remote_sets() -> dict[str, RemoteSet]:
    """All sets that can be downloaded, by key."""
    tables = tomllib.loads(files(__package__).joinpath("remote_sets.toml").read_text("utf-8"))
    return msgspec.convert({key: {"key": key, **fields} for key, fields in tables.items()}, dict[str, RemoteSet])


def select_remote_sets(names: StringsOrPaths, available: Mapping[str, RemoteSet]) -> list[RemoteSet]:
    """The sets of these names, each once; a name may be a key or the name of a set."""
    keys = {name: remote.key for remote in available.values() for name in (remote.key, *remote.sets)}
    folded = {name.lower(): key for name, key in keys.items()}
    selected: dict[str, RemoteSet] = {}
    for name in as_strings(names, "the name of a set"):
        key = keys.get(name) or folded.get(name.lower())
        if key is None:
            hint = did_you_mean(name, keys, n=1)
            raise UsageError(f"There is no set {name!r} to download.{hint} Expected one of {', '.join(available)}.")
        selected[key] = available[key]
    return list(selected.values())


def is_downloaded(remote: RemoteSet, data: Path) -> bool:
    """Whether all files of a set are in place."""
    layout = next((LAYOUTS[name] for name in remote.sets if name in LAYOUTS), None)
    expected = (layout.files if layout else ()) or tuple(target for file in remote.files for target in file.targets)
    return all(find_file(remote.folder(data) / file) for file in expected)


def fetch_sets(
    remote_sets: Sequence[RemoteSet],
    data: Path,
    *,
    trust: bool = False,
    no_network: bool = False,
    tokenise: bool = True,
    retries: RetryPolicy | None = None,
    progress: Progress | None = None,
) -> dict[str, str]:
    """Download sets into ``data``; those that are already there are skipped. Licences must have been accepted before.

    A file without a published checksum is used only with ``trust``; the checksums of such files are returned, by
    address. ``no_network`` forbids downloads. Without ``tokenise``, sentences are left as published. A set appears in
    its folder completely or not at all, and downloaded files are kept until it does.
    """
    missing = [remote for remote in remote_sets if not is_downloaded(remote, data)]
    if missing and (no_network or offline()):
        why = "--offline was given" if no_network else "SENTPROBE_OFFLINE is set"
        raise Offline(f"{missing[0].key} is not in {data}, and the network may not be used: {why}.")
    for remote in missing if tokenise else ():
        check_tokeniser(remote.tokenise)  # before anything is downloaded
    trusted: dict[str, str] = {}
    for remote in missing:
        if remote.manual_steps:
            raise UsageError(
                f"{remote.key} must be downloaded by hand: {remote.manual_steps.strip()} {remote.folder(data)}"
            )
        for file in remote.files:
            path = file.download_path(data)
            make_folder(path.parent)
            if not path.exists():
                download(
                    file.urls,
                    path,
                    limit=file.limit,
                    has_checksum=file.has_checksum,
                    retries=retries,
                    progress=progress,
                )
            if checksum := _verify(remote, file, path, trust):
                trusted[file.urls[0]] = checksum
        _install(remote, data, tokenise)
    for remote in missing:  # not before: several sets may be in one archive
        for file in remote.files:
            file.download_path(data).unlink(missing_ok=True)
    if (data / DOWNLOADS).is_dir() and not any((data / DOWNLOADS).iterdir()):
        (data / DOWNLOADS).rmdir()
    return trusted


def _verify(remote: RemoteSet, file: RemoteFile, path: Path, trust: bool) -> str:
    """Compare the checksum of a file; if none is known and it is trusted, return the one it has."""
    checksum = sha256(path)
    compared = [("SHA-256", file.sha256, checksum)] if file.sha256 else []
    compared += [("git checksum", file.git_blob, git_blob(path))] if file.git_blob else []
    for kind, expected, got in compared:
        if got != expected:
            path.unlink()
            raise DataError(
                f"{file.urls[0]} has changed: expected {kind} {expected}, got {got}. The download was deleted; "
                f"try again later, or look at {remote.page}."
            )
    if not compared and not trust:
        raise DataError(
            f"{file.urls[0]} was downloaded, but no checksum is known for it. Its SHA-256 is {checksum}. If you trust "
            "it, run the same command with --trust to continue from here."
        )
    return "" if compared else checksum


def _install(remote: RemoteSet, data: Path, tokenise: bool) -> None:
    """Make the files of a set from the downloads in a temporary folder, and then move them into place."""
    stage = data / DOWNLOADS / f"{remote.key}.new"
    shutil.rmtree(stage, ignore_errors=True)
    make_folder(stage)
    try:
        for file in remote.files:
            if file.to:
                shutil.copyfile(file.download_path(data), stage / file.to)
            else:
                unpack(file.download_path(data), file.members, stage, file.unpacked)
        for step in dict.fromkeys(file.step for file in remote.files if file.step):
            RESHAPE_STEPS[step](stage)
        if tokenise:
            tokenise_folder(stage, remote.tokenise)
        _move(stage, remote.folder(data))
    except OSError as error:
        raise DataError(f"{remote.folder(data)} cannot be written: {error.strerror}.") from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _move(stage: Path, home: Path) -> None:
    """Move finished files into place: by one rename, or file by file into an existing folder."""
    home.parent.mkdir(parents=True, exist_ok=True)
    if not home.exists():
        stage.rename(home)
        return
    for path in sorted(stage.iterdir()):
        path.replace(home / path.name)


def _reshape_trec(folder: Path) -> None:
    """Remove quotation marks and backticks, as SentEval does."""
    for path in folder.glob("*.label"):
        path.write_bytes(path.read_bytes().replace(b"`", b"").replace(b"'", b""))


def _reshape_snli(folder: Path) -> None:
    """Three files for each split, without the pairs that have no gold label."""
    for split in ("train", "dev", "test"):
        release = folder / f"snli_1.0_{split}.txt"
        rows = [row for row in _columns(release, ("sentence1", "sentence2", "gold_label")) if row[2] != NO_GOLD]
        for i, name in enumerate(("s1", "s2", "labels")):
            (folder / f"{name}.{split}").write_text("".join(f"{row[i]}\n" for row in rows), "utf-8", newline="\n")
        release.unlink()


def _reshape_sick(folder: Path) -> None:
    """The three files of SemEval-2014, from the single file with everything."""
    release = folder / "SICK.txt"
    rows = list(_columns(release, (*_SICK_COLUMNS[:4], "entailment_label", "SemEval_set")))
    for split, name in (("TRAIN", "train"), ("TRIAL", "trial"), ("TEST", "test_annotated")):
        lines = ["\t".join(_SICK_COLUMNS), *("\t".join(row[:5]) for row in rows if row[5] == split)]
        (folder / f"SICK_{name}.txt").write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
    release.unlink()


RESHAPE_STEPS: dict[str, Callable[[Path], None]] = {
    "trec": _reshape_trec,
    "snli": _reshape_snli,
    "sick": _reshape_sick,
}
"""Conversions of the published files in a folder to SentEval's format, by their names in remote_sets.toml."""


def _columns(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """These columns of a table with a header; lines may be longer or shorter than the header."""
    rows = read_tsv(str(path))
    names = [name.strip() for name in next(rows, (1, [""]))[1]]
    if missing := [name for name in columns if name not in names]:
        raise CorpusError(str(path), 1, f"no column {missing[0]!r}", "the columns of the release")
    indices = [names.index(name) for name in columns]
    for number, cells in rows:
        if len(cells) <= max(indices):
            raise wrong_width(str(path), number, cells, f"at least {max(indices) + 1}")
        yield tuple(cells[i].strip() for i in indices)
