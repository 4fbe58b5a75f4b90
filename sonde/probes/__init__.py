"""Probes: what is trained on the vectors to find out what they tell."""

from sonde.probes.features import Features
from sonde.probes.fit import Fit, Model, fit
from sonde.probes.probe import PROBES, Probe, parse

__all__ = ["PROBES", "Features", "Fit", "Model", "Probe", "fit", "parse"]
