"""How well people do on a set: sheets for annotators, their judgments, and the bound that follows from these."""

from sentprobe.judge.judgments import Judgment, read_judgments
from sentprobe.judge.people import Dropped, People, VotedRow, attach, read_people
from sentprobe.judge.sheet import Item, Sheet, sample_sheet
from sentprobe.judge.vote import vote

__all__ = [
    "Dropped",
    "Item",
    "Judgment",
    "People",
    "Sheet",
    "VotedRow",
    "attach",
    "read_judgments",
    "read_people",
    "sample_sheet",
    "vote",
]
