"""Probes: classifiers trained on vectors to find out what information the vectors hold."""

from sentprobe.probes.features import Features
from sentprobe.probes.fit import fit
from sentprobe.probes.kind import Preset, ProbeKind
from sentprobe.probes.model import Fit, Model
from sentprobe.probes.probe import Probe
from sentprobe.probes.spec import named, parse

__all__ = ["Features", "Fit", "Model", "Preset", "Probe", "ProbeKind", "fit", "named", "parse"]
