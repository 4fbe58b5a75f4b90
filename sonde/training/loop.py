"""The training loop: the only one, for every objective, on one processor or on several machines."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, broadcast_object_list

from sonde.errors import DataError
from sonde.networks.folder import TrainedFolder, write_json
from sonde.training import resume
from sonde.training.log import Report, append_report, drop_after
from sonde.training.objective import Loss, Prepared
from sonde.training.options import Options
from sonde.training.schedule import Schedule
from sonde.training.streams import Step, epoch_steps

if TYPE_CHECKING:
    from torch import nn

REPORTS_PER_EPOCH = 20
SAVE_SECONDS = 300.0
"""The state is kept at least this often, so that a power cut costs five minutes."""


@dataclass
class _Position:
    """Where training is."""

    epoch: int = 0
    """The epoch that is going on, from 1; 0 before the first."""
    done: int = 0
    """Steps of it that are done."""
    step: int = 0
    """Steps from the beginning."""


@dataclass
class _Training:
    folder: TrainedFolder
    prepared: Prepared
    options: Options
    schedule: Schedule
    accelerator: Accelerator
    model: nn.Module
    """As accelerate has prepared it; called with a batch."""
    optimiser: Any
    report: Callable[[Report], None]
    at: _Position = field(default_factory=_Position)
    saved: float = field(default_factory=time.monotonic)
    interrupted: bool = False

    @property
    def is_main(self) -> bool:
        return bool(self.accelerator.is_main_process)


def run_loop(
    path: Path, prepared: Prepared, options: Options, report: Callable[[Report], None] = lambda _: None
) -> None:
    """Train until the schedule ends; go on where an earlier call was interrupted."""
    accelerator = Accelerator(kwargs_handlers=[DistributedDataParallelKwargs(broadcast_buffers=False)])
    torch.manual_seed(options.seed)
    raw = make_optimiser(prepared, options)
    model, optimiser = (
        accelerator.prepare(prepared.model, raw) if raw is not None else (accelerator.prepare(prepared.model), None)
    )
    schedule = Schedule.start(options, prepared.maximise)
    training = _Training(TrainedFolder(path), prepared, options, schedule, accelerator, model, optimiser, report)
    if (facts := resume.load_facts(path)) is not None:
        resume.load_state(path, prepared.model, raw)
        training.at = _Position(**facts["position"])
        schedule.restore(facts["schedule"])
        if training.is_main:
            drop_after(path, training.at.step)
    elif training.is_main:
        drop_after(path, -1)
        _checkpoint(training, "epoch-000")
    accelerator.wait_for_everyone()
    with _deferred_interrupt(training):
        while prepared.streams and not schedule.stopped and training.at.epoch <= options.epochs:
            _epoch(training)
    accelerator.wait_for_everyone()


def make_optimiser(prepared: Prepared, options: Options) -> torch.optim.Optimizer | None:
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


def _epoch(training: _Training) -> None:
    """One epoch, or what is left of it; then its scores and a checkpoint."""
    at, options, schedule = training.at, training.options, training.schedule
    if not at.done:
        at.epoch = max(at.epoch, 1)
        schedule.begin_epoch(at.epoch)
    steps = epoch_steps(training.prepared.streams, options.batch, options.seed, at.epoch)
    every = max(1, len(steps) // REPORTS_PER_EPOCH)
    total = count = words = 0.0
    began = time.monotonic()
    training.prepared.model.train()
    for step in steps[at.done :]:
        found = _step(training, step)
        at.done, at.step = at.done + 1, at.step + 1
        total, count, words = total + float(found.total), count + found.units, words + found.words
        if at.done % every == 0 or at.done == len(steps):
            loss, lr, seconds = total / max(1, count), schedule.step_lr(at.step), time.monotonic() - began
            _tell(training, Report(at.epoch, at.step, at.done, len(steps), loss, lr, int(words), seconds))
            total = count = words = 0.0
            began = time.monotonic()
        if options.every and at.step % options.every == 0:
            _checkpoint(training, f"step-{at.step:06d}")
        if training.interrupted:
            _save(training)
            raise KeyboardInterrupt
        if time.monotonic() - training.saved > SAVE_SECONDS:
            _save(training)
    scores = _scores(training)
    chosen = scores.get(training.prepared.selection)
    epoch = at.epoch
    best = schedule.end_epoch(epoch, chosen)
    name = f"epoch-{epoch:03d}"
    _checkpoint(training, name)
    if training.is_main:
        if best:
            write_json(training.folder.path / "best.json", {"checkpoint": name, training.prepared.selection: chosen})
        lr = schedule.step_lr(at.step)
        _tell(
            training,
            Report(epoch, at.step, len(steps), len(steps), lr=lr, scores=scores, best=best, checkpoint=name),
        )
    training.at = _Position(epoch + 1, 0, at.step)
    _save(training)
    if training.interrupted:
        raise KeyboardInterrupt


def _step(training: _Training, step: Step) -> Loss:
    """One batch: forward, backward, clip, update."""
    accelerator, options = training.accelerator, training.options
    processes = accelerator.num_processes
    rows = step.share(accelerator.process_index, processes)
    lr = training.schedule.step_lr(training.at.step + 1)
    batch = _to_device(step.stream.collate(rows if len(rows) else step.rows[:1]), accelerator.device)
    if training.prepared.update is not None:
        found = training.prepared.update(batch, lr)
        _check_finite(training, step, float(found.total))
        return found
    for group in training.optimiser.param_groups:
        group["lr"] = lr
    training.optimiser.zero_grad()
    with accelerator.autocast():
        found = training.model(batch)
    total, count = found.total, found.units
    if not len(rows):  # fewer examples than processes: this one computes, and does not count
        total, count = total * 0, 0
    everywhere = count
    if processes > 1:
        everywhere = int(accelerator.reduce(torch.tensor(float(count), device=accelerator.device)).item())
    # processes average their gradients, of sums here; what is wanted is the gradient of the mean over all examples
    accelerator.backward(total * (processes / max(1, everywhere)))
    _check_finite(training, step, float(total.detach()))
    if options.clip:
        _clip(training, lr)
    training.optimiser.step()
    return Loss(total.detach(), count, found.words)


def _clip(training: _Training, lr: float) -> None:
    """Limit the norm of the gradient, or scale the learning rate of this step as much."""
    options = training.options
    weights = [p for p in training.prepared.model.parameters() if p.grad is not None]
    if not options.clip_lr:
        training.accelerator.clip_grad_norm_(weights, options.clip)
        return
    norm = float(torch.nn.utils.get_total_norm([p.grad for p in weights if p.grad is not None]))
    if norm > options.clip:
        for group in training.optimiser.param_groups:
            group["lr"] = lr * options.clip / norm


def _check_finite(training: _Training, step: Step, loss: float) -> None:
    if not math.isfinite(loss):
        at, path = training.at, training.folder.path
        last = [c.name for c in training.folder.checkpoints()][-1:]
        raise DataError(
            f"The loss is {loss} in step {at.done + 1} of epoch {at.epoch}, with examples "
            f"{', '.join(map(str, step.rows[:5]))}, … of {step.stream.name}. The last good checkpoint is "
            f"{path / (last or ['none'])[0]}; try a lower --lr or --clip."
        )


def _scores(training: _Training) -> dict[str, float]:
    """The scores on dev, which the main process computes for all."""
    found: list[Any] = [None]
    if training.is_main:
        model = training.prepared.model
        model.eval()
        with torch.no_grad():
            found = [dict(training.prepared.evaluate())]
        model.train()
    if training.accelerator.num_processes > 1:
        broadcast_object_list(found)
    return found[0]  # type: ignore[no-any-return]


def _checkpoint(training: _Training, name: str) -> None:
    if training.is_main:
        at = training.at
        training.folder.write_checkpoint(name, training.prepared.model.state_dict(), at.epoch, at.step)


def _save(training: _Training) -> None:
    """Keep all that is needed to go on."""
    training.saved = time.monotonic()
    if training.is_main:
        raw = getattr(training.optimiser, "optimizer", training.optimiser)
        facts = {"position": vars(training.at), "schedule": training.schedule.state()}
        resume.save_state(training.folder.path, training.prepared.model, raw, facts)


def _tell(training: _Training, report: Report) -> None:
    if training.is_main:
        append_report(training.folder.path, report)
        training.report(report)


def _to_device(batch: Any, device: torch.device) -> Any:
    """A batch of tensors, in tuples or dictionaries, on the device."""
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: _to_device(value, device) for key, value in batch.items()}
    if isinstance(batch, tuple | list):
        moved = [_to_device(value, device) for value in batch]
        return type(batch)(*moved) if hasattr(batch, "_fields") else type(batch)(moved)
    return batch


@contextmanager
def _deferred_interrupt(training: _Training) -> Iterator[None]:
    """Let Ctrl-C end training after the step that is going on, so that no half of an update is kept.

    A second one ends it at once; what was saved before is still there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: object) -> None:
        training.interrupted = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
