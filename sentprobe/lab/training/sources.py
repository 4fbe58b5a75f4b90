"""Where rows come from: what is read to train on, and what to score on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sentprobe.errors import UsageError
from sentprobe.lab.training.reading import DEV, TRAIN, DataPart, find_parts, find_parts_named_dev
from sentprobe.lab.training.request import TrainingRequest


@dataclass(frozen=True)
class DataSources:
    """The parts that are read for each role."""

    train: tuple[DataPart, ...]
    dev: tuple[DataPart, ...]
    """None if training rows are held out, or if there is no dev data."""

    @property
    def same(self) -> bool:
        """Whether dev is what is trained on."""
        return set(map(_resolved, self.train)) == set(map(_resolved, self.dev))


def find_sources(request: TrainingRequest, fields: Sequence[str]) -> DataSources:
    """What a request names; dev is also what is named so in a training folder, unless rows are held out.

    The same file may be for both, to see whether an encoder can learn it by heart; rows that are in both are counted.
    """
    columns = request.columns
    if not request.train:
        from sentprobe.lab.training import OBJECTIVES

        raise UsageError(f"Name training data: --train, with {OBJECTIVES.get(request.objective).data}.")
    train = [part for source in request.train for part in find_parts(source, fields, TRAIN, columns)]
    _check_distinct(train, "twice in --train")
    if request.held_out:
        dev = []
    elif request.dev:
        dev = [part for source in request.dev for part in find_parts(source, fields, DEV, columns)]
        _check_distinct(dev, "twice in --dev")
    else:
        dev = [part for source in request.train for part in find_parts_named_dev(source, fields, columns)]
    return DataSources(tuple(train), tuple(dev))


def _check_distinct(parts: Iterable[DataPart], where: str) -> None:
    """Refuse files that are named again, whichever way."""
    seen: set[DataPart] = set()
    for part in parts:
        if _resolved(part) in seen:
            raise UsageError(f"{part} is named {where}; name it once.")
        seen.add(_resolved(part))


def _resolved(part: DataPart) -> DataPart:
    return part._replace(paths=tuple(str(Path(path).resolve()) for path in part.paths))
