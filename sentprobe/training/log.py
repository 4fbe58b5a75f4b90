"""``training.jsonl``: loss, speed and learning rate along training, and the scores after each epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sentprobe.core.job_folder import JobFolder
from sentprobe.networks.folder_files import LOG


@dataclass(frozen=True)
class Report:
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


def append_report(job: JobFolder, report: Report) -> None:
    """Add a line."""
    job.append(LOG, _record(report))


def read_reports(job: JobFolder) -> Iterator[Report]:
    """All lines that are complete; DataError if one has changed."""
    for record in job.log(LOG):
        scores = {name: math.nan if value is None else value for name, value in record.get("scores", {}).items()}
        yield Report(**{**record, "scores": scores})


def drop_after(job: JobFolder, step: int) -> None:
    """Leave out what was reported after a step, from which training goes on."""
    job.cut(LOG, sum(report.step <= step for report in read_reports(job)))


def _record(report: Report) -> dict[str, Any]:
    """What is written: not the scores, mark and checkpoint that there are not; a loss of 0 is one.

    A perplexity may be infinite, for which JSON has no number: it is null.
    """
    facts = asdict(report)
    facts["scores"] = {key: value if math.isfinite(value) else None for key, value in report.scores.items()}
    return {key: value for key, value in facts.items() if value or not isinstance(value, dict | bool | str)}
