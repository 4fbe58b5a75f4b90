"""Classifiers trained in minibatches and stopped early on dev, many at a time."""

from sentprobe.probes.network.model import Network
from sentprobe.probes.network.training import EARLY_STOPPING_SHARE, EarlyStopping, choose, fit, fit_grid, settings

__all__ = ["EARLY_STOPPING_SHARE", "EarlyStopping", "Network", "choose", "fit", "fit_grid", "settings"]
