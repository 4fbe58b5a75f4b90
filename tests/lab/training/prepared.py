"""Objectives with small data, from the built-in grammar."""

import numpy as np
import torch

from sentprobe.lab.training import OBJECTIVES
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import make_request
from tests.lab.training.tiny import sentences


def different(count):
    """Different sentences of the built-in grammar."""
    return list(dict.fromkeys(sentences(3 * count)))[:count]


def write(path, rows):
    """A table without a header; returns its name."""
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return str(path)


def request(objective, encoder, *train, **more):
    """A request of a tiny size."""
    return make_request(objective, encoder, train=train, **{"width": 12, **more})


def prepare(folder, wanted):
    """An objective with its data."""
    return OBJECTIVES.get(wanted.objective).prepare(TrainingPlan(wanted, folder))


def learn_by_heart(prepared, steps):
    """Train on all examples at once, with Adam, and return the scores on dev."""
    (stream,) = prepared.streams
    batch = stream.collate(np.arange(stream.size))
    optimiser = torch.optim.Adam(prepared.model.parameters(), 0.01)
    for _ in range(steps):
        optimiser.zero_grad()
        loss = prepared.model(batch)
        (loss.total / loss.units).backward()
        optimiser.step()
    prepared.model.eval()
    with torch.no_grad():
        return prepared.evaluate()
