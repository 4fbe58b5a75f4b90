"""The arithmetic of training in torch, on any of its devices: the same as ``steps_numpy``, on tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np

from sentprobe.core.install import pip_install
from sentprobe.errors import NotInstalled, UsageError
from sentprobe.probes.features import Floats, Ints
from sentprobe.probes.network.group import ALPHA, BETAS, EPSILON, Group, mask_hashes, mask_key, mask_threshold
from sentprobe.probes.probe import is_relu


def torch_engine(device: str) -> TorchNetworks:
    """The engine on the device of that name, after a trial."""
    try:
        import torch
    except ImportError as why:
        raise NotInstalled(
            f"Training on the device {device!r} needs torch, which cannot be imported ({why}): "
            f"{pip_install('transformers')}, or leave the device out."
        ) from why
    try:
        torch_device = torch.device(device)
        torch.zeros(1, device=torch_device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as why:  # torch has no single error for this
        reason = str(why).split("\n")[0].split(". ")[0].rstrip(".")
        raise UsageError(f"The device {device!r} cannot be used here: {reason}. Use cpu, cuda, cuda:1, mps, …") from why
    return TorchNetworks(torch, torch_device)


@dataclass(frozen=True)
class TorchNetworks:
    """torch, and where it computes."""

    torch: Any
    device: Any

    def hold(self, array: Floats) -> Any:
        """The array as a tensor on the device."""
        return self.torch.tensor(array, device=self.device)

    def copy(self, group: Group, member: int) -> tuple[Floats, ...]:
        """The weights of one member."""
        return tuple(array[member].cpu().numpy().copy() for array in group.weights)

    def logits(self, group: Group, xs: Floats) -> Floats:
        """The logits (members, n, classes) of rows (n, d), without dropout."""
        with self.torch.no_grad():
            scores = self._sums(group, self.hold(xs))
            if len(group.weights) == 4:
                scores = group.weights[2] @ self._activated(group, scores) + group.weights[3][:, :, None]
            logits: Floats = scores.transpose(1, 2).cpu().numpy()
        return logits

    def train(self, group: Group, xs: Floats, rows: Ints, ys: Ints, step: int) -> None:
        """Train on these rows of ``xs`` (any, d) and their labels, batch by batch, after ``step`` batches."""
        size, x, y = group.probe.batch, self.hold(xs[rows]), self.torch.tensor(ys, device=self.device)
        l2 = self.hold(np.array([setting.l2 for setting in group.settings], np.float32))
        with self.torch.no_grad():
            for start in range(0, len(rows), size):
                step += 1
                gradients = self._gradients(group, x[start : start + size], y[start : start + size], step)
                for i, gradient in enumerate(gradients):
                    weights = group.weights[i]
                    gradient.addcmul_(weights, l2.reshape(-1, *[1] * (weights.ndim - 1)))
                    weights -= self._move(group, group.first[i], group.second[i], gradient, step)

    def _sums(self, group: Group, x: Any) -> Any:
        """The inputs of the first layer's units, (members, units, rows)."""
        first, bias = group.weights[0], group.weights[1]
        return (first.reshape(-1, first.shape[2]) @ x.T).reshape(*bias.shape, len(x)) + bias[:, :, None]

    def _activated(self, group: Group, units: Any) -> Any:
        return self.torch.relu(units) if is_relu(group.probe.activation) else self.torch.sigmoid(units)

    def _gradients(self, group: Group, x: Any, y: Any, step: int) -> list[Any]:
        """The gradient of the loss of one batch, without the penalty, in the shapes of the weights."""
        probe, first, rows = group.probe, group.weights[0], len(x)
        units = self._sums(group, x)
        if len(group.weights) == 2:
            errors = self._errors(units, y, probe.reduction)
            return [(errors.reshape(-1, rows) @ x).reshape(first.shape), errors.sum(dim=2)]
        factors = self._factors(group, units.shape[1], rows, step)
        units = self._activated(group, units * factors if probe.drop == "before" else units)
        slopes = (units > 0) * factors if is_relu(probe.activation) else units * (1 - units) * factors
        if probe.drop == "after":
            units = units * factors
        errors = self._errors(group.weights[2] @ units + group.weights[3][:, :, None], y, probe.reduction)
        slopes = slopes * (group.weights[2].transpose(1, 2) @ errors)
        return [
            (slopes.reshape(-1, rows) @ x).reshape(first.shape),
            slopes.sum(dim=2),
            errors @ units.transpose(1, 2),
            errors.sum(dim=2),
        ]

    def _factors(self, group: Group, units: int, rows: int, step: int) -> Any:
        """The dropout factor of each unit and row, (members, 1 or units, 1 or rows): 0 where the unit is dropped."""
        dropout = [setting.dropout for setting in group.settings]
        counters = [self.torch.arange(size, device=self.device) for size in (units, rows)]
        if not any(dropout):
            return self.torch.ones((len(group), 1, 1), device=self.device)
        hashes = mask_hashes(mask_key(group.seed, step), counters[0][:, None], counters[1])
        return self.torch.stack([(hashes >= mask_threshold(share)).float() / (1 - share) for share in dropout])

    def _errors(self, scores: Any, y: Any, reduction: str) -> Any:
        """The gradient of the cross-entropy with respect to logits (members, classes, rows)."""
        errors = self.torch.softmax(scores, dim=1)
        errors[:, y, self.torch.arange(len(y), device=self.device)] -= 1
        return errors / len(y) if reduction == "mean" else errors

    def _move(self, group: Group, m: Any, v: Any, g: Any, step: int) -> Any:
        """What is subtracted from the weights; ``m`` and ``v`` are updated."""
        optimiser, rate = group.probe.optimiser, group.probe.rate
        numerator, root = g, 1.0
        match optimiser:
            case "sgd":
                return g * rate
            case "adam":
                m.lerp_(g, 1 - BETAS[0])
                v.mul_(BETAS[1]).addcmul_(g, g, value=1 - BETAS[1])
                numerator, root, rate = m, (1 - BETAS[1] ** step) ** -0.5, rate / (1 - BETAS[0] ** step)
            case "adagrad":
                v.addcmul_(g, g)
            case "rmsprop":
                v.mul_(ALPHA).addcmul_(g, g, value=1 - ALPHA)
            case _:
                assert_never(optimiser)
        return numerator / (v.sqrt() * root + EPSILON[optimiser]) * rate
