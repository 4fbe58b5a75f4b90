"""What training has come to: the reports in ``training.jsonl``, and all epochs that they are of; needs no torch."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sentprobe.core.job_folder import JobFolder
from sentprobe.lab.networks.folder import LOG, RESUME, TrainedFolder
from sentprobe.lab.training.schedule import TrainingOptions, why_stopped


@dataclass(frozen=True)
class TrainingReport:
    """Where training is."""

    epoch: int
    step: int
    """Steps from the beginning."""
    steps: int
    """Steps of this epoch that are done."""
    of: int
    """Steps of this epoch."""
    loss: float
    """The mean since the last report, per sentence or target token."""
    lr: float
    words_per_second: float
    seconds: float = 0.0
    """Of the epoch so far, without scoring."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """On dev; only after an epoch."""
    best: bool = False
    checkpoint: str = ""
    """The checkpoint that was written."""


def append_report(job: JobFolder, report: TrainingReport) -> None:
    """Add a line."""
    job.append(LOG, _record(report))


def read_reports(job: JobFolder) -> Iterator[TrainingReport]:
    """All lines that are complete; DataError if one has changed."""
    for record in job.log(LOG):
        scores = {name: math.nan if value is None else value for name, value in record.get("scores", {}).items()}
        yield TrainingReport(**{**record, "scores": scores})


def drop_after(job: JobFolder, step: int) -> None:
    """Leave out what was reported after a step, from which training is resumed."""
    job.cut(LOG, sum(report.step <= step for report in read_reports(job)))


def _record(report: TrainingReport) -> dict[str, Any]:
    """What is written: not the scores, mark and checkpoint that there are not; a loss of 0 is one.

    A perplexity may be infinite, for which JSON has no number: it is null.
    """
    facts = asdict(report)
    facts["scores"] = {key: value if math.isfinite(value) else None for key, value in report.scores.items()}
    return {key: value for key, value in facts.items() if value or not isinstance(value, dict | bool | str)}


@dataclass(frozen=True)
class Epoch:
    """One epoch, finished or not."""

    number: int
    steps: int
    """Steps from the beginning to its end."""
    loss: float
    """The mean, per sentence or target token; of an unfinished epoch, of its reports by their steps."""
    lr: float
    """The learning rate at its end."""
    words: int
    seconds: float
    """Of its steps, without scoring."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """On dev."""
    checkpoint: str = ""
    """The name of its checkpoint; empty if it is not finished."""
    best: bool = False
    """Whether its checkpoint is the best one of all."""

    @property
    def words_per_second(self) -> float:
        """Words read per second of training."""
        return self.words / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class History:
    """All epochs, and what decides between them."""

    epochs: tuple[Epoch, ...]
    selection: str
    """The score that selects the best checkpoint; empty if none does."""
    best_checkpoint: str
    stopped: str = ""
    """Why training ended, or nothing if it has not."""

    @property
    def best(self) -> Epoch | None:
        """The epoch of the best checkpoint, if it is after one."""
        return next((epoch for epoch in self.epochs if epoch.best), None)

    @property
    def finished(self) -> tuple[Epoch, ...]:
        """Epochs that have a checkpoint."""
        return tuple(epoch for epoch in self.epochs if epoch.checkpoint)

    @property
    def score_names(self) -> tuple[str, ...]:
        """Names of the scores on dev: first the one that selects, then the others as they came."""
        names = dict.fromkeys(name for epoch in self.epochs for name in epoch.scores)
        return tuple(sorted(names, key=lambda name: name != self.selection))

    @property
    def words(self) -> int:
        """Words read in all epochs."""
        return sum(epoch.words for epoch in self.epochs)

    @property
    def seconds(self) -> float:
        """Seconds of training in all epochs."""
        return sum(epoch.seconds for epoch in self.epochs)


def read_history(folder: TrainedFolder) -> History:
    """What the files of a folder tell."""
    name = folder.best_name()
    epochs = tuple(group_reports(read_reports(folder.job), name))
    return History(epochs, folder.selection, name, why_finished(folder))


def why_finished(folder: TrainedFolder, wanted: TrainingOptions | None = None) -> str:
    """Why training has ended, in a few words; empty if it has not, or if more is wanted now than was requested."""
    config = folder.config
    if not config.get("trains", True):
        return "nothing is trained" if folder.checkpoints() else ""
    facts = state_facts(folder.job)
    before = config.get("request", {}).get("options", {})
    patience, epochs = (
        int(before.get(name, 0)) if wanted is None else getattr(wanted, name) for name in ("patience", "epochs")
    )
    if stopped := why_stopped(facts.get("schedule", {}), patience):
        return stopped
    ended = facts.get("position", {}).get("epoch", 1) > epochs
    return f"{epochs} epoch{'s' * (epochs != 1)} as requested" if ended else ""


def state_facts(job: JobFolder) -> dict[str, Any]:
    """The numbers and texts in the state of a training, even if its weights were deleted; nothing if there is none."""
    about = job.about(RESUME)
    return json.loads(about["state"]) if about else {}


def group_reports(reports: Iterable[TrainingReport], best: str = "") -> Iterable[Epoch]:
    """The epochs that reports are of; ``best`` is the name of the best checkpoint.

    The report at the end of an epoch is about all of it; the others are about what came after the one before.
    """
    epochs: dict[int, list[TrainingReport]] = {}
    for report in reports:
        epochs.setdefault(report.epoch, []).append(report)
    for number, group in epochs.items():
        *_, last = group
        if last.checkpoint:
            loss, words = last.loss, last.words_per_second * last.seconds
        else:
            loss = words = 0.0
            for previous, report in zip([None, *group], group, strict=False):
                done, seconds = (previous.steps, previous.seconds) if previous else (0, 0.0)
                loss += report.loss * (report.steps - done) / last.steps
                words += report.words_per_second * (report.seconds - seconds)
        yield Epoch(
            number,
            last.step,
            loss,
            last.lr,
            round(words),
            last.seconds,
            dict(last.scores),
            last.checkpoint,
            bool(best) and last.checkpoint == best,
        )


def score_title(name: str) -> str:
    """What a score on dev is called beside the loss of training, which is a *loss* as well."""
    return "dev loss" if name == "loss" else name


def score_text(value: Any) -> str:
    """A score with one decimal, a small one with more."""
    return f"{value:.1f}" if abs(value) >= 10 or not value else f"{value:.3g}"
