"""One step of training: a batch, its gradient, an update of the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from accelerate import Accelerator
from torch import nn

from sentprobe.core.hashing import mix
from sentprobe.errors import DataError
from sentprobe.lab.networks.folder import TrainedFolder
from sentprobe.lab.training.examples import Step
from sentprobe.lab.training.objective import Loss, Prepared
from sentprobe.lab.training.schedule import TrainingOptions


def make_optimiser(prepared: Prepared, options: TrainingOptions) -> torch.optim.Optimizer | None:
    """The optimiser of all weights that are trained; None if there are none."""
    weights = [p for p in prepared.model.parameters() if p.requires_grad]
    if not weights or not prepared.streams or prepared.update is not None:
        return None
    match options.optimiser:
        case "sgd":
            return torch.optim.SGD(weights, options.lr, momentum=options.momentum)
        case "adagrad":
            return torch.optim.Adagrad(weights, options.lr)
        case "adadelta":
            return torch.optim.Adadelta(weights, options.lr)
        case "rmsprop":
            return torch.optim.RMSprop(weights, options.lr)
        case _:
            return torch.optim.Adam(weights, options.lr)


@dataclass(frozen=True, eq=False)
class Updater:
    """What a step needs."""

    prepared: Prepared
    options: TrainingOptions
    accelerator: Accelerator
    model: nn.Module
    """As accelerate has prepared it; called with a batch."""
    optimiser: Any
    """As accelerate has prepared it, or None."""

    def step(self, step: Step, lr: float, epoch: int, number: int, folder: TrainedFolder) -> Loss:
        """Forward, backward, clip, update. DataError if loss or gradient is not finite; then no weight has changed."""
        accelerator = self.accelerator
        rank, processes = accelerator.process_index, accelerator.num_processes
        if self.prepared.update is not None:  # there is no gradient to share: every process makes the same update
            rank, processes = 0, 1
        # manual_seed takes no number of 64 bits
        torch.manual_seed(mix(mix(mix(self.options.seed) + number) + rank) >> 1)
        rows = step.share(rank, processes)
        batch = to_device(step.stream.collate(rows if len(rows) else step.rows[:1]), accelerator.device)
        if self.prepared.update is not None:
            loss = self.prepared.update(batch, lr)
            _check_finite("loss", float(loss.total), step, epoch, number, folder)
            return loss
        self.optimiser.zero_grad()
        with accelerator.autocast():
            loss = self.model(batch)
        total, units = loss.total, loss.units
        if not len(rows):  # fewer examples than processes: this one takes part, and does not count
            total, units = total * 0, 0
        overall = Loss(total.detach(), units, loss.words)
        if processes > 1:
            sums = torch.tensor(
                [float(total.detach()), units, loss.words], dtype=torch.float64, device=accelerator.device
            )
            sums = accelerator.reduce(sums)
            overall = Loss(sums[0], int(sums[1]), int(sums[2]))
        _check_finite("loss", float(overall.total), step, epoch, number, folder)
        # DistributedDataParallel averages the gradients of processes; times their number, these are sums over all
        # examples, and the result is the gradient of the mean, however many examples or tokens each process has
        accelerator.backward(total * (processes / max(1, overall.units)))
        norm = self._clip()
        if accelerator.scaler is None:  # in 16-bit precision, steps with such a gradient are left out
            _check_finite("norm of the gradient", norm, step, epoch, number, folder)
        # train_nli.py of InferSent clips like this: where the optimiser divides by the size of gradients, as Adam does,
        # a smaller gradient would make no smaller step
        clip = self.options.clip if self.options.clip_lr else 0.0
        scale = clip / norm if clip and norm > clip else 1.0
        for group in self.optimiser.param_groups:
            group["lr"] = lr * scale
        self.optimiser.step()
        return overall

    def _clip(self) -> float:
        """The norm of the gradient, which is limited then, unless it is the learning rate that is scaled."""
        weights = [p for p in self.prepared.model.parameters() if p.grad is not None]
        if self.options.clip and not self.options.clip_lr:
            return float(self.accelerator.clip_grad_norm_(weights, self.options.clip))
        self.accelerator.unscale_gradients(self.optimiser)
        return float(nn.utils.get_total_norm([p.grad for p in weights if p.grad is not None]))


def _check_finite(what: str, value: float, step: Step, epoch: int, number: int, folder: TrainedFolder) -> None:
    if not math.isfinite(value):
        last = folder.checkpoints()[-1].name
        raise DataError(
            f"The {what} is {value} in step {number}, epoch {epoch}, with the examples "
            f"{', '.join(map(str, step.rows[:5]))}, … of {step.stream.name} (counted from 0, without rows that were "
            f"left out). The last good checkpoint is {folder.path / last}; try a lower --lr or --clip."
        )


def to_device(batch: Any, device: torch.device) -> Any:
    """A batch of tensors, in tuples or dictionaries, on the device."""
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: to_device(value, device) for key, value in batch.items()}
    if isinstance(batch, tuple | list):
        moved = [to_device(value, device) for value in batch]
        return type(batch)(*moved) if hasattr(batch, "_fields") else type(batch)(moved)
    return batch
