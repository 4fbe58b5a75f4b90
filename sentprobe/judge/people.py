"""What people make of a set, and where that is kept: ``people/<digest of the set>.json`` in the folder of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import msgspec

from sentprobe.core.job_folder import JobFolder
from sentprobe.core.seal import SEAL, other_format
from sentprobe.errors import DataError

FOLDER = "people"
FORMAT = "sentprobe.people.v2"
AGAIN = "`sentprobe judge read` writes it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """An annotator whose judgments do not count."""

    annotator: str
    judged: int
    """Control items that they judged."""
    right: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VotedRow:
    """An item with a majority."""

    row: int
    """Its place among the test rows."""
    text: str
    label: str
    """That of the set."""
    vote: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    """What was asked about besides the sentence: rows may differ in nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """How well people do on a set, by majority vote."""

    name: str
    data: str
    """The digest of the set."""
    items: int
    """Test rows that were to be judged, controls aside."""
    judged: int
    """Those with a judgment that counts."""
    ties: int
    """Those without a majority; they are left out."""
    accuracy: float
    low: float
    high: float
    """Of the majority votes, with Wilson's interval over sentences."""
    single: float
    """The share of single judgments that are right."""
    judgments: int
    """Those that count, on items that are scored."""
    annotators: tuple[str, ...]
    """Whose judgments count."""
    dropped: tuple[Dropped, ...] = ()
    controls: int = 0
    """Control items that count; none: nobody was dropped."""
    control_items: int = 0
    """Control items that were drawn; experts may not agree on all of them."""
    alpha: float | None = None
    """Krippendorff's alpha of the judgments; None if no item has two, or all are the same."""
    votes: tuple[VotedRow, ...] = ()

    def __repr__(self) -> str:
        score = f"accuracy {self.accuracy:.3f} [{self.low:.3f}, {self.high:.3f}]"
        return f"People({self.name!r}: {score} on {len(self.votes)} sentences, {len(self.annotators)} annotators)"


def attach(people: People, folder: Path) -> Path:
    """Put the judgments of a set into the folder of a run, in place of earlier ones."""
    job, name = _job(folder), f"{people.data}.json"
    with job.writing():
        job.write({name: msgspec.json.format(msgspec.json.encode({"format": FORMAT, **asdict(people)}), indent=2)})
    return job.path / name


def read_people(folder: Path) -> tuple[Mapping[str, People], list[str]]:
    """The judgments in the folder of a run, by digest of the set; and what is wrong with those that cannot be read."""
    job = _job(folder)
    by_digest: dict[str, People] = {}
    problems: list[str] = []
    try:
        names = {*(job.names() if job.is_begun else ()), *(path.name for path in job.path.glob("*.json"))} - {SEAL}
    except DataError as e:
        return {}, [str(e)]
    for name in sorted(names):
        try:
            people = _read(job, name)
        except DataError as e:
            problems.append(str(e))
        else:
            by_digest[people.data] = people
    return by_digest, problems


def _job(folder: Path) -> JobFolder:
    return JobFolder(folder / FOLDER, "sentprobe judge read", lambda _: f"The folder {FOLDER} may be deleted; {AGAIN}")


def _read(job: JobFolder, name: str) -> People:
    document = job.read_json(name)
    if document.get("format") != FORMAT:
        raise DataError(f"{other_format(job.path / name, document.get('format'), FORMAT)} {AGAIN}")
    try:
        return msgspec.convert({key: value for key, value in document.items() if key != "format"}, People)
    except msgspec.ValidationError as e:
        raise DataError(f"{job.path / name} is damaged: {e}.") from None
