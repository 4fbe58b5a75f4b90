"""A number and all that belongs to it: n, an interval, baselines, what was chosen, and a signature to repeat it by."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from sonde.core.checksum import is_sealed, seal_line
from sonde.errors import DataError, UsageError

GRID_FIELDS = ("l2", "hidden", "dropout")
"""What a grid may be over, in the order of a signature."""
FLOAT16_FACT = "kept=float16"
"""What the identity of rounded vectors says."""
CONSTANT_INTERVAL = "constant"
"""What stands for the kind of an interval where there is none to show."""
_SAFE = "/:@#?=,.*+!() "
_ORDER = (
    "task", "data", "enc", "id", "kept", "layer", "variant", "probe", *GRID_FIELDS, "n", "limit", "device", "seed",
    "sonde"
)  # fmt: skip
_NEEDED = frozenset({"task", "data", "enc", "n", "seed", "sonde"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Only facts that can move the number. Prints on one line, and parses back."""

    task: str
    """Name and version, as in ``subj_number.v1``."""
    data: str
    """Name of the set, ``#``, and the digest of its rows."""
    enc: str
    """The encoder as it was typed, or the name of a baseline."""
    n: str
    """Rows that were learned from, chosen on and tested on."""
    seed: str
    sonde: str
    """The version of this program."""
    id: str | None = None
    """Digest of the encoder's identity."""
    kept: str | None = None
    """``float16`` if vectors were rounded."""
    layer: str | None = None
    probe: str | None = None
    l2: str | None = None
    """``dev:`` and the value that dev chose; the same for the next two."""
    hidden: str | None = None
    dropout: str | None = None
    limit: str | None = None
    """Rows per split of a partial run."""
    device: str | None = None
    variant: str | None = None
    """The control or measure."""

    def __str__(self) -> str:
        pairs = ((name, getattr(self, name)) for name in _ORDER)
        return "|".join(f"{name}={quote(v, safe=_SAFE, errors='surrogatepass')}" for name, v in pairs if v is not None)

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The facts again, or what is wrong with the text."""
        found: dict[str, str] = {}
        for part in text.strip().split("|"):
            name, equals, value = part.partition("=")
            if not equals or name not in _ORDER or name in found:
                raise UsageError(
                    f"This is no signature: met {part!r}; expected name=value, each name once, joined by |, "
                    f"with names from {', '.join(_ORDER)}. Put quotes around it on the command line."
                )
            found[name] = unquote(value, errors="surrogatepass")
        if missing := sorted(_NEEDED - found.keys()):
            raise UsageError(f"This signature lacks {', '.join(missing)}; copy it whole, in quotes.")
        return cls(**found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What was asked for: one encoder and layer, one set, one probe, one seed. Its digest says whether it is done."""

    task: str
    version: int
    dataset: str
    data: str
    """Digest of the rows."""
    encoder: str
    """As typed; or the name of a baseline."""
    identity: str | None = None
    """What the encoder is, in full; None: it does not say, so that nothing can be taken for done."""
    layer: str | None = None
    probe: str | None = None
    """In canonical form; None for baselines that learn from words."""
    seed: int = 0
    limit: int | None = None
    device: str | None = None
    sonde: str = ""
    variant: str | None = None
    """What was asked beside the plain score: the name of a control or of a measure."""

    @property
    def id(self) -> str | None:
        """Eight hexadecimal digits over the encoder's identity."""
        return self.identity and hashlib.blake2b(self.identity.encode(), digest_size=4).hexdigest()

    @property
    def key(self) -> str:
        """Sixteen hexadecimal digits over all of this."""
        facts = astuple(self) if self.variant is not None else astuple(self)[:-1]  # as before there were any
        return hashlib.blake2b(msgspec.json.encode(facts), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came out of one cell. Shares are of one, losses in bits, times in seconds."""

    key: str
    cell: Cell
    language: str | None
    labels: tuple[str, ...]
    """The labels of the training rows; predictions are places in this list."""
    n: Mapping[str, int]
    """Rows learned from (tr), chosen on (va) and tested on (te)."""
    trained_on: str = "tr"
    chosen_on: str | None = "va"
    dimension: int | None = None
    metric: str = "accuracy"
    """What ``score`` is."""
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    """Further metrics by name: macro_f1, log2_loss (mean bits per test row, where there are probabilities),
    log2_loss_calibrated (the same at the temperature that is best on dev), …"""
    interval: tuple[float, float]
    """95 %, rows taken as independent."""
    interval_kind: str = "wilson"
    """wilson, or for correlations bootstrap, or for folds nadeau-bengio; or constant."""
    cluster_interval: tuple[float, float] | None = None
    """95 %, where rows share target forms, or sentences that are asked about twice, and stand and fall together."""
    clusters: int | None = None
    encoder_interval: tuple[float, float] | None = None
    """95 %, about the encoder: training rows could have been others, too. The intervals above are about the one probe
    that was trained."""
    training_sd: float | None = None
    """The standard deviation that the choice of training rows gives to the score."""
    resamples: int = 0
    """Probes that were trained again, without parts of the training rows, to know these."""
    not_resampled: str | None = None
    """Why none could be trained again, where that was to be done."""
    dev_score: float | None = None
    """What the choice was made by."""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    tried: tuple[Mapping[str, Any], ...] = ()
    baselines: Mapping[str, float] = field(default_factory=dict)
    """Accuracy of each baseline that learns from words, on the same rows."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """encode, fit, score."""
    versions: Mapping[str, str] = field(default_factory=dict)
    synthetic: bool = False
    """Whether the sentences come from the built-in grammar."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Digests of the files that belong to this, as a run wrote them: predictions, probe, rows."""

    @property
    def signature(self) -> str:
        """Everything that can move the number, on one line."""
        cell = self.cell
        chosen = {name: f"dev:{self.chosen[name]:g}" for name in GRID_FIELDS if cell.probe and name in self.chosen}
        return str(
            Signature(
                task=f"{cell.task}.v{cell.version}",
                data=f"{cell.dataset}#{cell.data}",
                enc=cell.encoder,
                id=cell.id,
                kept="float16" if cell.identity and FLOAT16_FACT in cell.identity else None,
                layer=cell.layer,
                variant=cell.variant,
                probe=cell.probe,
                **chosen,
                n="/".join(str(self.n.get(split, 0)) for split in ("tr", "va", "te")),
                limit=None if cell.limit is None else str(cell.limit),
                device=cell.device,
                seed=str(cell.seed),
                sonde=cell.sonde,
            )
        )

    @property
    def accuracy(self) -> float:
        """The score, if it is an accuracy: other metrics are not to be taken for one."""
        if self.metric != "accuracy":
            raise UsageError(
                f"{self.cell.dataset} is scored by {self.metric}, so that there is no accuracy: see score."
            )
        return self.score

    @property
    def macro_f1(self) -> float | None:
        """Mean F1 of the classes, if there are any."""
        return self.scores.get("macro_f1")

    @property
    def log2_loss(self) -> float | None:
        """Mean bits per test row, if there are probabilities."""
        return self.scores.get("log2_loss")

    @property
    def log2_loss_calibrated(self) -> float | None:
        """Mean bits per test row at the temperature that is best on dev, if there are probabilities and a dev part."""
        return self.scores.get("log2_loss_calibrated")

    @property
    def partial(self) -> bool:
        """Whether only a sample of the set was used."""
        return self.cell.limit is not None

    @property
    def range(self) -> tuple[float, float]:
        """What both intervals about this probe cover."""
        low, high = self.cluster_interval or self.interval
        return min(low, self.interval[0]), max(high, self.interval[1])

    @property
    def constant(self) -> bool:
        """Whether every row was given the same answer by design. The score is then the share of that label among the
        test rows, a fact of the set: there is no interval to show, and ``interval`` has no width."""
        return self.interval_kind == CONSTANT_INTERVAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A cell that could not be done, and why; it is tried again the next time."""

    key: str
    cell: Cell
    error: str
    kind: str
    """The name of the exception."""
    command: int = 0
    """The number of the command that met it: only those of the last one count."""


class _Line(msgspec.Struct, omit_defaults=True):
    number: int
    result: Result | None = None
    failure: Failure | None = None


def to_line(record: Result | Failure, number: int) -> bytes:
    """One line of results.jsonl, counted from 0, with its checksum and without the line break."""
    line = _Line(number, result=record) if isinstance(record, Result) else _Line(number, failure=record)
    what = f"The record of {record.cell.encoder} on {record.cell.dataset}"
    if not _is_own(record):
        raise DataError(f"{what} has the key {record.key!r}; expected that of its cell, {record.cell.key!r}.")
    try:
        found = seal_line(msgspec.json.encode(line))
    except (TypeError, UnicodeEncodeError, msgspec.EncodeError) as e:
        raise DataError(f"{what} is no plain data: {e}") from e
    if from_line(found) is None:  # NaN and infinity are written as null
        raise DataError(f"{what} could not be read again: it has a number that is not finite.")
    return found


def from_line(line: bytes) -> tuple[Result | Failure, int] | None:
    """The record and the number of the line; None if the line holds none, or is not as it was written."""
    if not is_sealed(line):
        return None
    try:
        found = msgspec.json.decode(line, type=_Line)
    except (ValueError, RecursionError):
        return None
    record = found.result or found.failure
    return (record, found.number) if record is not None and _is_own(record) else None


def _is_own(record: Result | Failure) -> bool:
    """Whether a record is about its own cell. Files are found by its key and by the digest of its set: a record from
    elsewhere must not lead out of its folder."""
    return record.key == record.cell.key and (record.cell.data or "a").replace("-", "a").isalnum()
