"""``training.jsonl``: loss, speed and learning rate along training, and the scores after each epoch."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sentprobe.core.files import write_atomically
from sentprobe.errors import DataError

FILE = "training.jsonl"


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


def append_report(folder: Path, report: Report) -> None:
    """Add a line."""
    try:
        with (folder / FILE).open("a") as file:
            file.write(_line(report))
            file.flush()
            os.fsync(file.fileno())
    except OSError as e:
        raise DataError(
            f"{folder / FILE} cannot be written: {e.strerror}. Free some space, and repeat the command."
        ) from e


def read_reports(folder: Path) -> Iterator[Report]:
    """All lines that are complete."""
    file = folder / FILE
    if not file.is_file():
        return
    for line in file.read_bytes().splitlines():
        try:
            facts = json.loads(line)
            facts["scores"] = {k: math.nan if v is None else v for k, v in facts.get("scores", {}).items()}
            yield Report(**facts)
        except (ValueError, TypeError, AttributeError):  # cut off when training was killed
            continue


def drop_after(folder: Path, step: int) -> None:
    """Leave out what was reported after a step, from which training goes on."""
    kept = [report for report in read_reports(folder) if report.step <= step]
    write_atomically(folder / FILE, "".join(map(_line, kept)).encode())


def _line(report: Report) -> str:
    """A line of JSON, without the scores, mark and checkpoint that there are not; a loss of 0 is one.

    A perplexity may be infinite, for which JSON has no number: it is null.
    """
    facts = asdict(report)
    facts["scores"] = {key: value if math.isfinite(value) else None for key, value in report.scores.items()}
    return (
        json.dumps({key: value for key, value in facts.items() if value or not isinstance(value, dict | bool | str)})
        + "\n"
    )
