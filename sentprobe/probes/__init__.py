"""Probes: classifiers trained on vectors to find out what information the vectors hold.

``fitting`` fits a ``Probe`` to ``Features``; a file in ``kinds`` is one kind of probe, and ``convex`` and ``network``
have their solvers. ``baselines`` are what every score is compared with. The other modules are measures that need
solvers of their own: erasure, mixes of layers, online codes, learning curves, capacity, and what vectors add.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentprobe.probes.features import Features
    from sentprobe.probes.fitting import fit
    from sentprobe.probes.kind import Fit, Model, Preset, ProbeKind
    from sentprobe.probes.probe import Probe, named, parse

__all__ = ["Features", "Fit", "Model", "Preset", "Probe", "ProbeKind", "fit", "named", "parse"]

_MODULES = {
    "Features": "features",
    "Fit": "kind",
    "Model": "kind",
    "Preset": "kind",
    "Probe": "probe",
    "ProbeKind": "kind",
    "fit": "fitting",
    "named": "probe",
    "parse": "probe",
}

if not TYPE_CHECKING:
    # loaded when they are first used: the command line reads the names of the baselines before it imports numpy
    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
