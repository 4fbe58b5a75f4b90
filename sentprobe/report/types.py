"""What is shown of a run, typed: everything that page, tables, figures, notebooks and JSON are written from.

``sentprobe.report.summary.summarise`` makes a ``Summary`` of a ``Run``; ``full_summary`` adds what only the page and
the figures need. ``docs/summary.schema.json`` is derived from these types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sentprobe.encoders.diagnosis import Symptom
from sentprobe.encoders.encoder import TrainingScore
from sentprobe.published.releases import Extent
from sentprobe.results.metric import DEFAULT_METRIC
from sentprobe.results.run_kind import RunKind, run_kind
from sentprobe.run.variant import VariantSummary

# One number


Verdict = Literal["above", "not_significant", "below", "untested"]
"""How a number compares with the best baseline; ``sentprobe.report.verdict`` has the rule."""


MeaningKind = Literal[
    "holds",
    "above",
    "words",
    "length",
    "memorised",
    "untrained",
    "nonlinear",
    "bits",
    "saturated",
    "broken",
    "leak",
    "shared",
    "chance",
    "below",
    "baseline",
    "few",
    "untested",
]
"""What a score shows; ``sentprobe.report.meaning`` has the rule."""


@dataclass(frozen=True, slots=True)
class Score:
    """A metric over the seeds of one cell; shares of one, or bits."""

    value: float | None = None
    """The mean; None for a loss without probabilities."""
    low: float | None = None
    high: float | None = None
    """Its interval; None for macro-averaged F1, and for a constant prediction, whose score is a fact."""
    sd: float | None = None
    """Standard deviation over the trainings of a recipe, or else over seeds of the probe; None for a single one."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """How a number compares with the best baseline on the same rows."""

    baseline: str
    value: float
    """The score of that baseline."""
    verdict: Verdict
    p: float | None = None
    """Two-sided, adjusted over ``tests`` encoders; None where nothing was tested."""
    tests: int = 0
    detectable: float | None = None
    """Of accuracies: the difference that a comparison like this one detects four times out of five."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a score shows, by baselines, controls and measures."""

    kind: MeaningKind
    reason: str
    """Why, with the numbers, in a few words."""
    but: str = ""
    """What measures say against it; empty if nothing does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancedScore:
    """The balanced accuracy of a column on a set with a rare class, by which it is judged."""

    score: Score
    against: BaselineComparison | None
    """How it compares with the best baseline by balanced accuracy."""
    chance: float
    """What a constant answer has: 1 / classes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsableInformation:
    """Usable information about the label, in bits."""

    bits: float
    low: float | None
    high: float | None
    entropy: float
    """Of the labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSummary:
    """A column on a set: the layer that dev chose, over all seeds."""

    score: Score
    """By the metric that its set is ``scored_by``."""
    calibrated: Score | None = None
    """The calibrated bits, in addition to the raw ones: for the metric log2_loss only."""
    accuracy: float
    """Or the score of its results, where these are of another metric."""
    low: float | None
    high: float | None
    """The interval of the accuracy; None for a prediction that is the same for every row, whose score is a fact."""
    interval: str
    """How the interval was computed: wilson, cluster, constant, …"""
    about: Literal["encoder", "probe"]
    """What the interval is about: the encoder, over samples of training rows too; or the trained probe."""
    probe_low: float | None
    probe_high: float | None
    training_sd: float | None
    clusters: int | None
    sd: float | None
    """Of the accuracy over the trainings of a recipe, or else over seeds of the probe."""
    seeds: int
    """Of the probe."""
    trainings: Mapping[str, float] = field(default_factory=dict)
    """Of a recipe, the accuracy of each of its trainings, by what tells it apart; empty for a single encoder."""
    n: int
    """Test rows."""
    by_metric: Mapping[str, float] = field(default_factory=dict)
    """The score by every metric that predicted classes alone are enough for, by its name."""
    macro_f1: float | None
    log2_loss: float | None
    log2_loss_calibrated: float | None
    temperature: float | None
    dev_score: float | None
    layer: str | None
    layers: int = 1
    """How many layers dev chose from."""
    information: UsableInformation | None
    dimension: int | None
    train_n: int
    edge: Literal["weakest", "strongest"] | None
    """Where dev chose the L2 at an end of the grid."""
    chosen: tuple[Mapping[str, Any], ...]
    """Settings chosen on dev, by seed."""
    converged: bool = True
    """Whether the search for the optimum of a convex probe ended there, and not at its limit."""
    partial: bool
    signatures: tuple[str, ...]
    """By seed."""
    against: BaselineComparison | None = None
    balanced: BalancedScore | None = None
    """None, unless a class of the set is rare."""
    letters: str | None = None
    """Encoders that share a letter on a set are not significantly different."""
    best: bool = False
    """Shown in bold: not significantly different from the best of the set, and above the baselines."""
    details: Mapping[str, float] = field(default_factory=dict)
    """Of spaces of words and of pairs, by the first seed, of several trainings their means: further scores, counts of
    what was left out, and what chance gives."""
    by_dev: bool = True
    """Of cells of one layer: whether dev chose this layer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDifference:
    """The difference of the two encoders of a run on one set, as `sentprobe compare` has it."""

    first: int
    """The number of a column."""
    second: int
    difference: float
    """The score of the first minus that of the second."""
    low: float
    high: float
    p: float
    """Two-sided, adjusted by Holm over the sets of the run."""
    better: Literal["first", "second"] | None
    """Which one is significantly better."""
    worse_by: float = 1.0
    """The first is worse by no more than this, by a one-sided test that is adjusted by Bonferroni over the sets."""
    better_by: float = 1.0
    """And better by no more than this: where both are below a margin that was named beforehand, the two are equivalent
    within it."""


# People


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerShare:
    """How often an answer is given, on the sentences that people judged."""

    label: str
    truth: float
    """The share of the sentences that have this label."""
    people: float
    """By majority vote."""
    columns: tuple[float | None, ...]
    """Per column, over seeds; None where there are no predictions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanResult:
    """The majority vote of your annotators, and the encoders on the same sentences."""

    n: int
    """Sentences with a majority."""
    ties: int
    accuracy: float
    low: float
    high: float
    single: float
    """The share of single judgments that are right."""
    judgments: int
    annotators: int
    dropped: int
    """Annotators who failed the controls."""
    controls: int
    alpha: float | None
    """Krippendorff's alpha."""
    columns: tuple[float | None, ...]
    """The accuracy of each column on the same sentences, over seeds."""
    answers: tuple[AnswerShare, ...]
    """Response bias; empty for sets of many classes."""


# Sets


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """A finding of a set's audit."""

    code: str
    severity: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedResult:
    """An accuracy that a paper printed; for sets that are scored otherwise, a score of that kind."""

    model: str
    kind: str
    accuracy: float
    paper: str
    table: str
    compared: bool = False
    """Whether it is the one that differences are from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSummary:
    """A set, and every column on it."""

    name: str
    label: str
    """Its name, and where two sets share one the start of the digest; or what a file of names calls it."""
    title: str | None = None
    """Its task in words, or what a file of names calls it; None: it goes by its name."""
    data: str
    """Its digest."""
    task: str
    version: int
    language: str | None
    classes: int
    n: Mapping[str, int]
    """Rows by split."""
    folds: int | None = None
    """With cross-validation, the number of folds: every row is a test row once."""
    label_names: Mapping[str, str] = field(default_factory=dict)
    """What labels that are codes mean, where the task says so: ``{"NNS": "plural"}``."""
    scored_by: str
    """The metric of the scores: the one that was requested, or that the set's manifest names, or that of its results.
    """
    synthetic: bool
    question: str | None
    corpus: str | None
    """The name of the corpus it was made from."""
    source: str | None
    """Where it came from, in a few words."""
    inputs: tuple[str, ...]
    """What the probe is given besides the sentence."""
    audit: tuple[AuditFinding, ...] | None
    """None: the set was not audited."""
    redundancy: Mapping[str, float] = field(default_factory=dict)
    """Shares of the test rows by what other words say about the target: majority, alone, tie, minority."""
    printed_for: Extent | None
    """What published numbers are for: this set, the whole set, another set, other vectors; None: there are none."""
    human: PublishedResult | None
    """What a paper printed for people."""
    people: HumanResult | None = None
    """What your annotators judged, by `sentprobe judge`."""
    published: tuple[PublishedResult, ...]
    cells: tuple[CellSummary | None, ...] = ()
    """Per column; None where nothing was run, or all failed."""
    baselines: tuple[CellSummary | None, ...] = ()
    failed: Mapping[int, str] = field(default_factory=dict)
    """Errors, by column."""
    failed_baselines: Mapping[int, str] = field(default_factory=dict)
    letters_about: str | None = None
    """What the letters are about; None where there are none."""
    p_lead: float | None = None
    """Of the claim that the best of the set is better than every other one, adjusted by Holm over the sets."""
    giveaway: str = ""
    """Of a set on which the best baseline makes no mistakes: a word that tells the label; empty if there is none."""
    pair: PairDifference | None = None
    """Of a run of two encoders: how they differ."""
    variants: tuple[tuple[VariantSummary, ...], ...] = ()
    """Controls and measures, per column."""
    meanings: tuple[Meaning | None, ...] = ()
    """What the scores show, per column; None where there is no score."""


# Errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Test rows of similar length, or whose target forms or words are about as frequent, and how many are right."""

    low: int
    high: int
    n: int
    correct: int
    below: float
    above: float
    """Wilson's interval of the share that is right."""
    forms: int | None = None
    """Of bins by target form: how many forms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    """A test row as it is shown: cut where it is long."""

    tokens: tuple[str, ...]
    marks: tuple[int, ...]
    """Positions of the target, or of what was changed."""
    source: str
    label: str | None = None
    predicted: str | None = None
    confidence: float | None = None
    bits: float | None = None
    """Mean pointwise information over the columns, for rows whose label they find likely or unlikely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """A label that is confused with another."""

    truth: str
    predicted: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnErrors:
    """What one column got wrong on a set, by the first seed and the layer shown."""

    confusion: tuple[tuple[int, ...], ...] | None
    """Rows by truth and predicted label; None with too many labels."""
    pairs: tuple[Confusion, ...]
    """The most frequent confusions."""
    length: tuple[Bin, ...]
    target: tuple[Bin, ...] | None
    errors: tuple[ShownRow, ...]
    """Those with the highest confidence."""
    label_counts: tuple[tuple[int, int], ...] | None
    """Per label, how many rows have it and how many are predicted to have it; None with too many labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetErrors:
    """What the columns got wrong on a set."""

    labels: tuple[str, ...]
    columns: tuple[ColumnErrors | None, ...]
    doubtful: tuple[ShownRow, ...]
    """Rows whose labels all columns together find least likely: these may be wrong."""
    easiest: tuple[ShownRow, ...]
    """Rows whose labels they find most likely."""


# Analyses


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A point of accuracy against the size of vectors, or the length of training."""

    series: str
    x: int
    column: int
    set: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Which columns make a curve."""

    dimension: tuple[CurvePoint, ...] = ()
    epoch: tuple[CurvePoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRef:
    """A set by its number in the summary."""

    set: int
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationCell:
    """A probing set and a transfer set over encoders."""

    value: float
    low: float
    high: float
    p: float
    adjusted: float
    n: int
    significant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationMatrix:
    """Every probing set with every transfer set."""

    kind: str
    adjust: str
    n: int
    required: int
    """The number of encoders needed before any cell is called significant."""
    rows: tuple[SetRef, ...]
    columns: tuple[SetRef, ...]
    cells: tuple[tuple[CorrelationCell | None, ...], ...]
    description: str
    caption: str
    mean: float | None = None
    """Of all cells, over the encoders that have all scores; None if there are fewer than three, or pairs of sets in
    different languages."""
    mean_low: float | None = None
    mean_high: float | None = None
    """Its interval, from a bootstrap over encoders and sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageCorrelation:
    """Two languages, over tasks (of an encoder) or over encoders (of a task)."""

    one: str
    two: str
    spearman: float
    pearson: float
    n: int
    column: int | None = None
    task: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilePoint:
    """A column's score on a task in a language."""

    language: str
    task: str
    set: int
    column: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageComparison:
    """Tasks that exist in two languages or more."""

    languages: tuple[str, ...]
    tasks: tuple[str, ...]
    profiles: tuple[ProfilePoint, ...]
    by_encoder: tuple[LanguageCorrelation, ...]
    by_task: tuple[LanguageCorrelation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyCurve:
    """How often words of similar frequency are translated right."""

    set: int
    column: int
    bands: tuple[Bin, ...]
    """By the rank of the source word: 1 is the most frequent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPoint:
    """A map along the way of an alignment, and how well words are translated by it."""

    set: int
    column: int
    alignment: str
    """The system without what names the map."""
    seed: int | None
    """None: the one that was chosen."""
    stage: str
    """epoch, round or refine."""
    number: int
    criterion: float | None
    """The unsupervised criterion: the mean cosine of words and their translations under CSLS."""
    value: float
    low: float | None
    high: float | None
    chosen: bool
    """Whether it is the map of the alignment itself, if that is in the run, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSpaces:
    """Spaces of words by frequency, and along the way of their alignment."""

    frequency: tuple[FrequencyCurve, ...] = ()
    maps: tuple[MapPoint, ...] = ()


# The run


VERSION = 6
"""The version of the summary as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """An encoder, or a baseline, with the probe and sample it was run with."""

    encoder: str
    label: tuple[str, ...]
    """The encoder, and what distinguishes the column from others."""
    probe: str | None = None
    limit: int | None = None
    device: str | None = None
    sentprobe: str = ""
    identity: str | None = None
    """The digest of the encoder's identity."""
    trainings: tuple[str, ...] = ()
    """Of a recipe, which has no identity, the encoders that are its trainings."""

    @property
    def encoders(self) -> tuple[str, ...]:
        """The encoders that its results are of."""
        return self.trainings or (self.encoder,)

    @property
    def name(self) -> str:
        """The label on one line."""
        return ", ".join(self.label)

    @property
    def sample(self) -> tuple[int | None, str]:
        """Limit and version: columns with the same sample were tested on the same rows."""
        return self.limit, self.sentprobe


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferMean:
    """The mean over transfer tasks of a column."""

    tasks: tuple[str, ...]
    macro: float
    micro: float
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTable:
    """Every layer of one column on every set."""

    column: int
    names: tuple[str | None, ...]
    cells: tuple[tuple[CellSummary | None, ...], ...]
    """By layer and set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderDiagnosis:
    """What was observed about an encoder when it was run."""

    name: str
    symptoms: tuple[Symptom, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureSummary:
    """A cell that failed."""

    encoder: str | None
    dataset: str | None
    variant: str | None
    layer: str | None
    probe: str | None
    seed: int | None
    kind: str
    error: str
    alias: str | None = None
    """The name that the encoder was given, if any."""

    @property
    def name(self) -> str | None:
        """What the encoder is called."""
        return self.alias or self.encoder


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCells:
    """What the last command requested of an encoder or a baseline, and neither finished nor failed."""

    encoder: str
    sets: tuple[str, ...]
    """Names of the sets without a result."""
    requested: int
    """Sets that were requested."""
    alias: str | None = None
    """The name that the encoder was given, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a methodological check found."""

    code: str
    level: Literal["issue", "tip", "passed"]
    title: str
    text: str
    where: tuple[str, ...] = ()
    docs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProvenance:
    """Where the numbers come from: commands, versions and folders."""

    commands: tuple[str, ...]
    signatures: int
    versions: Mapping[str, tuple[str, ...]]
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """Time by stage, all cells together."""

    encode: float
    fit: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Everything that is shown of a run."""

    version: int = VERSION
    folder: str
    metric: str
    columns: tuple[Column, ...]
    baselines: tuple[Column, ...]
    sets: tuple[SetSummary, ...]
    transfer: tuple[TransferMean | None, ...]
    """Per column."""
    training: tuple[TrainingScore | None, ...] = ()
    """Per column; None for encoders that state no training score."""
    layers: tuple[LayerTable, ...]
    """Of columns with several layers."""
    interpretations: Mapping[str, str]
    """How to read each control and measure, in a sentence, by name."""
    diagnoses: tuple[EncoderDiagnosis, ...]
    failures: tuple[FailureSummary, ...]
    missing: tuple[MissingCells, ...] = ()
    """What was requested and has no result; empty: the run is complete."""
    notes: tuple[str, ...]
    """What is missing, and why."""
    days: tuple[str, ...] = ()
    """When commands of the run were started, as days in UTC (ISO 8601); none for runs that did not record it."""
    versions: Mapping[str, tuple[str, ...]]
    """By program, all versions that were used."""
    seconds: Seconds
    margin: float | None = None
    """The difference of two encoders that does not count, as it was named; None: none was."""
    hidden_columns: int = 0
    """Columns that a filter left out; numbers and letters are as if they were shown."""
    hidden_sets: int = 0
    # what full_summary adds
    errors: tuple[SetErrors | None, ...] = ()
    """Per set."""
    curves: Curves = field(default_factory=Curves)
    correlations: CorrelationMatrix | None = None
    languages: LanguageComparison | None = None
    word_spaces: WordSpaces | None = None
    """None: nothing is a translation of words."""
    reproduction: RunProvenance | None = None
    checks: tuple[CheckResult, ...] = ()

    @property
    def by_set_metric(self) -> bool:
        """Whether every set is scored by its own metric, and not by one that was requested for all."""
        return self.metric == DEFAULT_METRIC

    @property
    def kind(self) -> RunKind:
        """What the run is of: of probes, unless something else stands in their place."""
        return run_kind(column.probe for column in self.columns)
