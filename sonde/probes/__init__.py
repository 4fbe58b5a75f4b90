"""Probes: classifiers trained on vectors to find out what information the vectors hold."""

from sonde.probes.features import Features
from sonde.probes.fit import fit
from sonde.probes.kind import Preset, ProbeKind
from sonde.probes.model import Fit, Model
from sonde.probes.probe import Probe
from sonde.probes.spec import named, parse

__all__ = ["Features", "Fit", "Model", "Preset", "Probe", "ProbeKind", "fit", "named", "parse"]
