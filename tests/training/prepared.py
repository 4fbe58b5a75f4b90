"""Objectives with small data, from the built-in grammar."""

from sonde.training import OBJECTIVES
from sonde.training.plan import Plan
from sonde.training.request import make_request
from tests.training.tiny import sentences


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
    return OBJECTIVES.get(wanted.objective).prepare(Plan(wanted, folder))
