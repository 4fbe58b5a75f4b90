"""A score and everything that belongs to it: n, an interval, baselines, chosen settings, and a signature."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from sentprobe.core.table import Table, in_html
from sentprobe.errors import UsageError
from sentprobe.results.metric import DEFAULT_METRIC, metric_named
from sentprobe.stats.level import level_text

GRID_FIELDS = ("l2", "hidden", "dropout")
"""The settings that a grid may cover, in the order of a signature."""
FLOAT16_FACT = "kept=float16"
"""The fact in the identity of an encoder whose vectors are rounded."""
MAX_ROWS = 60
"""Results that are shown; ``Run.frame`` has all of them."""
CONSTANT_INTERVAL = "constant"
"""The kind of interval of a score that has none to show."""
_SAFE = "/:@#?=,.*+!() "
_ORDER = (
    "task", "data", "enc", "id", "kept", "layer", "variant", "probe", *GRID_FIELDS, "parts", "n", "split", "labels",
    "folds", "limit", "device", "seed", "sentprobe",
)  # fmt: skip
_NEEDED = frozenset({"task", "data", "enc", "n", "seed", "sentprobe"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The facts that can change a score, on one line that parses back."""

    task: str
    """Name and version, as in ``subj_number.v1``."""
    data: str
    """Name of the dataset, ``#``, and the digest of its rows."""
    enc: str
    """The encoder as it was typed, or the name of a baseline."""
    n: str
    """Numbers of train, dev and test rows."""
    seed: str
    sentprobe: str
    """The version of sentprobe."""
    id: str | None = None
    """Digest of the encoder's identity."""
    kept: str | None = None
    """``float16`` if vectors were rounded."""
    layer: str | None = None
    probe: str | None = None
    l2: str | None = None
    """``dev:`` and the value chosen on dev; likewise ``hidden`` and ``dropout``."""
    hidden: str | None = None
    dropout: str | None = None
    split: str | None = None
    """How the rows of a table were split, as in ``80/10/10,seed=1111,group=document``."""
    labels: str | None = None
    """``merged`` if labels that look alike were made one."""
    folds: str | None = None
    """With cross-validation, the number of folds."""
    limit: str | None = None
    """Rows per split of a partial run."""
    device: str | None = None
    variant: str | None = None
    """The control or measure."""
    parts: str | None = None
    """Versions of the control, the measure or the kind of probe, where these are not the first."""

    def __str__(self) -> str:
        pairs = ((name, getattr(self, name)) for name in _ORDER)
        return "|".join(f"{name}={_quoted(v)}" for name, v in pairs if v is not None)

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Parse a signature; UsageError says what is wrong with it."""
        facts: dict[str, str] = {}
        for part in text.strip().split("|"):
            name, equals, value = part.partition("=")
            if not equals or name not in _ORDER or name in facts:
                raise UsageError(
                    f"Invalid signature: got {part!r}; expected name=value, each name once, separated by |, with names "
                    f"from {', '.join(_ORDER)}. Quote it on the command line."
                )
            try:
                facts[name] = unquote(value, errors="surrogatepass")
            except UnicodeDecodeError:
                raise UsageError(f"Invalid signature: {part!r} has bytes that are not UTF-8; copy it again.") from None
        if missing := sorted(_NEEDED - facts.keys()):
            raise UsageError(f"Invalid signature: {', '.join(missing)} missing; copy all of it, in quotes.")
        return cls(**facts)


@lru_cache(maxsize=1 << 12)
def _quoted(value: str) -> str:
    """A value as it is written in a signature; the results of a run share most of them."""
    return quote(value, safe=_SAFE, errors="surrogatepass")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One unit of work: an encoder and layer, a dataset, a probe and a seed. Its key tells whether it is done."""

    task: str
    version: int
    dataset: str
    data: str
    """Digest of the rows."""
    encoder: str
    """As typed; or the name of a baseline."""
    identity: str | None = None
    """What the encoder is, in full; None: unknown, so that its cells are always computed again."""
    layer: str | None = None
    probe: str | None = None
    """In canonical form; None for baselines that are not probes."""
    seed: int = 0
    limit: int | None = None
    device: str | None = None
    sentprobe: str = ""
    variant: str | None = None
    """The control or measure; None for a plain score."""
    parts: str | None = None
    """Versions of the control, the measure or the kind of probe that are not the first, as in ``mine.v2``."""
    folds: int | None = None
    """With cross-validation, the number of folds; None on the test split of the set."""

    @property
    def id(self) -> str | None:
        """Digest of the encoder's identity, eight hexadecimal digits."""
        return self.identity and hashlib.blake2b(self.identity.encode(), digest_size=4).hexdigest()

    @property
    def key(self) -> str:
        """Digest of all fields, sixteen hexadecimal digits."""
        facts: tuple[str | int | None, ...] = _facts(self)
        if self.folds is None:  # keys are older than folds, variants and versions of parts
            facts = facts[:-1] if self.parts is not None else facts[:-2] if self.variant is not None else facts[:-3]
        return hashlib.blake2b(msgspec.json.encode(facts), digest_size=8).hexdigest()


_facts = attrgetter(*(f.name for f in fields(Cell)))
"""All fields of a cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one cell: a score with its interval, baselines and signature.

    Scores are fractions of one, losses are in bits, and times in seconds. Results are made by ``evaluate``.

    Examples
    --------
    >>> from sentprobe.results.result import Cell, Result
    >>> cell = Cell(task="parity", version=1, dataset="mine/parity", data="3f2a", encoder="static:", probe="linear")
    >>> result = Result(
    ...     key=cell.key, cell=cell, language="en", labels=("even", "odd"), n={"tr": 40, "va": 20, "te": 20},
    ...     score=0.75, interval=(0.53, 0.89),
    ... )
    >>> result
    Result(static: on mine/parity: accuracy 0.750 [0.530, 0.890], probe=linear, n=40/20/20, seed=0)
    """

    key: str
    cell: Cell
    language: str | None
    labels: tuple[str, ...]
    """The labels of the training rows; predictions are indices into this tuple."""
    n: Mapping[str, int]
    """Numbers of train (``tr``), dev (``va``) and test (``te``) rows; in folds, all rows are test rows, and the
    other two numbers are means."""
    trained_on: str = "tr"
    chosen_on: str | None = "va"
    dimension: int | None = None
    metric: str = DEFAULT_METRIC
    """The metric of ``score``."""
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    """Further metrics by name: macro_f1, log2_loss (mean bits per test row, where there are probabilities),
    log2_loss_calibrated (the same after temperature scaling on dev), …"""
    interval: tuple[float, float]
    """Treating rows as independent."""
    interval_kind: str = "wilson"
    """wilson; bootstrap for correlations; nadeau-bengio for folds; constant where there is none."""
    cluster_interval: tuple[float, float] | None = None
    """Clustered: rows that share a target form or a sentence are not independent."""
    clusters: int | None = None
    encoder_interval: tuple[float, float] | None = None
    """About the encoder: also covers other samples of training rows. The intervals above are about the one
    trained probe."""
    training_sd: float | None = None
    """Standard deviation of the score over samples of training rows."""
    resamples: int = 0
    """Number of probes retrained without some of the training rows to estimate the two above, in each fold."""
    not_resampled: str | None = None
    """Why no probe could be retrained, if it was requested."""
    dev_score: float | None = None
    """The score on dev by which settings were chosen."""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """The settings that dev chose; in folds, those that most folds chose."""
    tried: tuple[Mapping[str, Any], ...] = ()
    chosen_by_fold: tuple[Mapping[str, Any], ...] = ()
    """The settings that the dev rows of each fold chose."""
    baselines: Mapping[str, float] = field(default_factory=dict)
    """Accuracy of each baseline on the same rows."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """encode, fit, score."""
    versions: Mapping[str, str] = field(default_factory=dict)
    synthetic: bool = False
    """Whether the sentences were generated by the built-in grammar."""
    split: str | None = None
    """How the rows of a table were split, if they were split when they were read."""
    merged_labels: bool = False
    """Whether labels that look alike were made one when the set was read."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Digests of its files in the run: predictions, probe, rows."""

    def __repr__(self) -> str:
        cell = self.cell
        low, high = self.encoder_interval or self.range
        interval = "" if self.constant else f" [{low:.3f}, {high:.3f}]"
        facts = {
            "layer": cell.layer,
            "variant": cell.variant,
            "probe": cell.probe,
            "n": self._sizes,
            "folds": cell.folds,
            "seed": cell.seed,
        }
        fact_text = "".join(f", {name}={value}" for name, value in facts.items() if value is not None)
        return f"Result({cell.encoder} on {cell.dataset}: {self.metric} {self.score:.3f}{interval}{fact_text})"

    def _repr_html_(self) -> str:
        """The score with its interval as a table, under its signature, and the baselines below."""
        form = metric_named(self.metric).number
        baselines = ", ".join(f"{name} {form.number(score)}" for name, score in self.baselines.items())
        note = f"<p>baselines: {in_html(baselines)}</p>" if baselines else ""
        return scores_html([self], str(self.signature)) + note

    @property
    def _sizes(self) -> str:
        return "/".join(str(self.n.get(split, 0)) for split in ("tr", "va", "te"))

    @property
    def signature(self) -> str:
        """Everything that can change the score, on one line: see ``repeat``."""
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
                parts=cell.parts,
                **chosen,
                n=self._sizes,
                split=self.split,
                labels="merged" if self.merged_labels else None,
                folds=None if cell.folds is None else str(cell.folds),
                limit=None if cell.limit is None else str(cell.limit),
                device=cell.device,
                seed=str(cell.seed),
                sentprobe=cell.sentprobe,
            )
        )

    @property
    def accuracy(self) -> float:
        """The score, if it is an accuracy; UsageError for other metrics."""
        if self.metric != DEFAULT_METRIC:
            raise UsageError(f"{self.cell.dataset} is scored by {self.metric} and has no accuracy; use score.")
        return self.score

    @property
    def macro_f1(self) -> float | None:
        """Mean F1 over classes; None for sets without classes."""
        return self.scores.get("macro_f1")

    @property
    def log2_loss(self) -> float | None:
        """Mean cross-entropy per test row in bits; None without probabilities."""
        return self.scores.get("log2_loss")

    @property
    def log2_loss_calibrated(self) -> float | None:
        """The same after temperature scaling on dev; None without probabilities or dev rows."""
        return self.scores.get("log2_loss_calibrated")

    @property
    def partial(self) -> bool:
        """Whether only a sample of the dataset was used (``limit``)."""
        return self.cell.limit is not None

    @property
    def range(self) -> tuple[float, float]:
        """The union of both intervals about this probe."""
        low, high = self.cluster_interval or self.interval
        return min(low, self.interval[0]), max(high, self.interval[1])

    @property
    def constant(self) -> bool:
        """Whether every row gets the same prediction by design: the score is then fixed by the test rows, without an
        interval."""
        return self.interval_kind == CONSTANT_INTERVAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A cell that failed, and why; the next command tries it again."""

    key: str
    cell: Cell
    error: str
    kind: str
    """The name of the exception."""
    command: int = 0
    """The number of the command in which it failed: only failures of the last command count."""


# For notebooks


def scores_html(results: Sequence[Result], caption: str) -> str:
    """Results as an HTML table, one row each, under a caption; all text is escaped."""
    headings = ("dataset", "encoder", "layer", "probe", "seed", "metric", "score", f"{level_text()} interval", "n")
    left_out = len(results) - MAX_ROWS
    note = f"<p>… and {left_out} more results: see <code>Run.frame()</code>.</p>" if left_out > 0 else ""
    return Table.of_rows(headings, map(_row, results[:MAX_ROWS]), title=caption).html() + note


def _row(result: Result) -> list[str]:
    cell = result.cell
    low, high = result.encoder_interval or result.range
    form = metric_named(result.metric).number
    interval = "" if result.constant else form.interval(low, high, between=" – ")
    names = (cell.dataset, cell.encoder, cell.layer, cell.probe, cell.seed if cell.probe else None, result.metric)
    numbers = (f"{form.number(result.score)}{'*' * result.partial}", interval, f"{result.n.get('te', 0):,}")
    return ["" if text is None else str(text) for text in (*names, *numbers)]
