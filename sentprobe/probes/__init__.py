"""Probes: classifiers trained on vectors to find out what information the vectors hold."""

from sentprobe.probes.features import Features
from sentprobe.probes.fit import fit
from sentprobe.probes.kind import Fit, Model, Preset, ProbeKind
from sentprobe.probes.probe import Probe, named, parse

__all__ = ["Features", "Fit", "Model", "Preset", "Probe", "ProbeKind", "fit", "named", "parse"]
