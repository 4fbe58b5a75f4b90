"""The arithmetic of logistic regression on a block of rows in torch, on any of its devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.probes.convex.engine import Doubles, Floats
from sentprobe.probes.network import steps_torch


def find(device: str) -> Torch:
    """The engine on the device of that name."""
    found = steps_torch.find(device)
    return Torch(found.torch, found.device)


@dataclass(frozen=True)
class Torch:
    """torch, and where it computes. Sums leave the device in float32, since not every device has float64."""

    torch: Any
    device: Any
    cells: int = 2**23

    def hold(self, array: npt.NDArray[Any]) -> Any:
        """The array as a tensor on the device."""
        return self.torch.tensor(array, device=self.device)

    def products(self, rows: Any) -> Floats:
        """The products (d, d) of the columns of rows (m, d)."""
        found: Floats = (rows.T @ rows).cpu().numpy()
        return found

    def gradients(
        self, rows: Any, labels: Any, weights: Any, bias: Any, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Losses and gradients, as in ``engine.Numpy``."""
        torch = self.torch
        logits = weights @ rows.T + bias[:, None]
        if len(weights) == models:
            signs = 2.0 * labels - 1.0
            losses = torch.nn.functional.softplus(-logits * signs)
            errors = -signs * torch.sigmoid(-logits * signs)
        else:
            logs = logits.view(models, -1, len(labels)).log_softmax(dim=1)
            right = labels.expand(models, 1, -1)
            losses = -logs.gather(1, right)[:, 0]
            errors = logs.exp_().scatter_add_(1, right, torch.full_like(losses, -1.0)[:, None]).view_as(logits)
        sums = (losses.sum(dim=1), errors @ rows, errors.sum(dim=1))
        summed, gradients, bias_slopes = (each.cpu().numpy() for each in sums)
        return summed.astype(np.float64), gradients, bias_slopes.astype(np.float64)
