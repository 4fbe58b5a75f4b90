"""Conformance checks that anyone can run on their own tasks and encoders; ``sonde check`` prints them."""

from sonde.testing.encoders import check_encoder, examine_encoder
from sonde.testing.tasks import check_task, examine_task
from sonde.testing.verdict import Verdict

__all__ = ["Verdict", "check_encoder", "check_task", "examine_encoder", "examine_task"]
