"""Small data and requests for tests of objectives; texts are of the built-in grammar."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("accelerate")

from sonde.corpus import Corpus
from sonde.networks.folder import TrainedFolder
from sonde.training import OBJECTIVES
from sonde.training.objective import Prepared
from sonde.training.plan import Plan
from sonde.training.request import Request, make_request
from sonde.training.train import train


def sentences(count: int) -> list[str]:
    """Different sentences of the built-in grammar."""
    found = dict.fromkeys(" ".join(s.forms) for s in Corpus.synthetic(2 * count))
    return list(found)[:count]


def write(path: Path, rows: list[tuple[str, ...]]) -> str:
    """A table without a header; its name."""
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return str(path)


def request(objective: str, encoder: str, *train: str, **more: Any) -> Request:
    """A request of tiny sizes."""
    return make_request(objective, encoder, train=train, **{"width": 12, **more})


def prepare(path: Path, wanted: Request) -> Prepared:
    """An objective with its data."""
    return OBJECTIVES.get(wanted.objective).prepare(Plan(wanted, path))


def fit(path: Path, wanted: Request) -> TrainedFolder:
    """A trained folder."""
    return train(wanted, path)
