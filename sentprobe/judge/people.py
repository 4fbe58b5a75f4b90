"""What people make of a set, and where that is kept: ``people/<digest of the set>.json`` in the folder of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import msgspec

from sentprobe.core.checksum import CHECKSUM, is_intact, other_format, read_document, seal_document
from sentprobe.core.files import make_folder, write_atomically
from sentprobe.errors import DataError

FOLDER = "people"
FORMAT = "sentprobe.people.v1"


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
    """Of the majority votes, with Wilson's 95 % interval over sentences."""
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
    make_folder(folder / FOLDER)
    path = folder / FOLDER / f"{people.data}.json"
    write_atomically(path, seal_document({"format": FORMAT, **asdict(people)}))
    return path


def read_people(folder: Path) -> tuple[Mapping[str, People], list[str]]:
    """The judgments in the folder of a run, by digest of the set; and what is wrong with those that cannot be read."""
    found: dict[str, People] = {}
    problems: list[str] = []
    for path in sorted((folder / FOLDER).glob("*.json")):
        try:
            people = read_one(path)
        except DataError as e:
            problems.append(str(e))
        else:
            found[people.data] = people
    return found, problems


def read_one(path: Path) -> People:
    """The judgments in one file; DataError if it is damaged."""
    try:
        document = read_document(path.read_bytes())
    except (OSError, ValueError) as e:
        raise DataError(f"{path} cannot be read: {e}.") from None
    if not is_intact(document):
        raise DataError(f"{path} is damaged: its checksum does not match. `sentprobe judge read` writes it again.")
    if document.get("format") != FORMAT:
        raise DataError(f"{other_format(path, document.get('format'), FORMAT)} `sentprobe judge read` writes it again.")
    plain = {key: value for key, value in document.items() if key not in ("format", CHECKSUM)}
    try:
        return msgspec.convert(plain, People)
    except msgspec.ValidationError as e:
        raise DataError(f"{path} is damaged: {e}.") from None
