"""The training loop: the only one, for every objective, on one processor or on several machines.

The state of an unfinished training is one file, from which it is resumed as if it had never stopped: the weights and
the optimiser's state; and beside its digest, in ``checksums.json``, the position in the data and the schedule. The
order of the data and all random numbers are functions of the seed and that position.
"""

from __future__ import annotations

import json
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, broadcast_object_list
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from sentprobe.core.files import encode_json
from sentprobe.core.job_folder import JobFolder
from sentprobe.errors import DataError, SentProbeWarning
from sentprobe.lab.networks.folder import BEST, CONFIG, RESUME, WEIGHTS, TrainedFolder
from sentprobe.lab.training.examples import epoch_steps
from sentprobe.lab.training.history import (
    TrainingReport,
    append_report,
    drop_after,
    score_text,
    score_title,
    state_facts,
)
from sentprobe.lab.training.objective import Prepared
from sentprobe.lab.training.schedule import Schedule, TrainingOptions
from sentprobe.lab.training.step import Updater, make_optimiser

REPORTS_PER_EPOCH = 20
WATCHED = 3
"""Epochs after which a score on dev that is no better than chance is said."""
DIVERGED = 1.5
"""How many times the first loss an epoch's must be for a warning."""
SAVE_SECONDS = 300.0
"""The state is written at least this often, so that a power cut costs five minutes."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Those that end training after a step. Windows has fewer."""
AGAIN_SECONDS = 1.0
"""A signal that comes sooner after another is the same one: a launcher sends on what the terminal has sent to all."""


@dataclass
class TrainingPosition:
    """Where training is, and sums over the current epoch."""

    epoch: int = 1
    done: int = 0
    """Steps of the epoch that are done."""
    step: int = 0
    """Steps from the beginning."""
    loss: float = 0.0
    units: int = 0
    words: int = 0
    seconds: float = 0.0


@dataclass
class _Training:
    folder: TrainedFolder
    prepared: Prepared
    options: TrainingOptions
    schedule: Schedule
    accelerator: Accelerator
    optimiser: torch.optim.Optimizer | None
    updater: Updater
    report: Callable[[TrainingReport], None]
    position: TrainingPosition = field(default_factory=TrainingPosition)
    saved: float = field(default_factory=time.monotonic)
    signal: int = 0
    """The number of the signal that is to end training after this step; 0 if there was none."""
    handlers: dict[int, Any] = field(default_factory=dict)
    """What signals would do if they were not deferred, by their numbers."""

    @property
    def is_main(self) -> bool:
        return bool(self.accelerator.is_main_process)

    @property
    def model(self) -> nn.Module:
        return self.prepared.model


def run_loop(
    folder: TrainedFolder,
    prepared: Prepared,
    options: TrainingOptions,
    report: Callable[[TrainingReport], None] = lambda _: None,
) -> None:
    """Train until the schedule ends, or resume where an earlier call was interrupted.

    Random numbers are a function of seed, step and process, and so is the order of the data: what is learned does not
    depend on interruptions.
    """
    # buffers are word vectors, which all processes have: to send them at every step would take most of the time
    accelerator = Accelerator(kwargs_handlers=[DistributedDataParallelKwargs(broadcast_buffers=False)])
    training = _start(folder, prepared, options, accelerator, report)
    schedule = training.schedule
    accelerator.wait_for_everyone()
    with torch.random.fork_rng(), _deferred_interrupt(training):
        while prepared.streams and not schedule.stopped and training.position.epoch <= options.epochs:
            _epoch(training)
    accelerator.wait_for_everyone()
    accelerator.end_training()


def _start(
    folder: TrainedFolder,
    prepared: Prepared,
    options: TrainingOptions,
    accelerator: Accelerator,
    report: Callable[[TrainingReport], None],
) -> _Training:
    """The state at the beginning, or where training was interrupted."""
    optimiser = make_optimiser(prepared, options)
    schedule = Schedule.start(options, prepared.maximise)
    facts = load_facts(folder.job)
    if facts is not None:
        load_state(folder.job, prepared.model, optimiser)
        schedule.restore(facts["schedule"])
    with warnings.catch_warnings():
        # newer versions of torch want another option, which older ones and accelerate do not know
        warnings.filterwarnings("ignore", "`broadcast_buffers` is deprecated", FutureWarning)
        model = accelerator.prepare(prepared.model) if prepared.streams else prepared.model
    wrapped = None if optimiser is None else accelerator.prepare(optimiser)
    updater = Updater(prepared, options, accelerator, model, wrapped)
    training = _Training(folder, prepared, options, schedule, accelerator, optimiser, updater, report)
    if facts is not None:
        training.position = TrainingPosition(**facts["position"])
    if training.is_main:
        drop_after(folder.job, training.position.step if facts is not None else -1)
        if facts is None:
            folder.job.remove(BEST)  # of a training whose state was deleted
            _write_checkpoint(training, "epoch-000", 0, 0)
    return training


def _epoch(training: _Training) -> None:
    """One epoch, or what is left of it; then its scores and a checkpoint."""
    position, options, schedule = training.position, training.options, training.schedule
    if not position.done:
        schedule.begin_epoch(position.epoch)
    steps = epoch_steps(training.prepared.streams, options.batch, options.seed, position.epoch)
    report_every = max(1, len(steps) // REPORTS_PER_EPOCH)
    training.model.train()
    reported = TrainingPosition(**asdict(position))
    for step in steps[position.done :]:
        start = time.monotonic()
        lr = schedule.step_lr(position.step + 1)
        loss = training.updater.step(step, lr, position.epoch, position.step + 1, training.folder)
        position.done, position.step = position.done + 1, position.step + 1
        position.loss, position.units, position.words = (
            position.loss + float(loss.total),
            position.units + loss.units,
            position.words + loss.words,
        )
        position.seconds += time.monotonic() - start
        if schedule.first_loss is None:
            schedule.first_loss = float(loss.total) / max(1, loss.units)
        if position.done % report_every == 0 and position.done < len(steps):
            _report(training, _since(reported, position, len(steps), lr))
            reported = TrainingPosition(**asdict(position))
        if options.every and position.step % options.every == 0:
            _checkpoint(training, f"step-{position.step:06d}")
        if _is_interrupted(training):
            _save(training)
            _end(training)
        if time.monotonic() - training.saved > SAVE_SECONDS:
            _save(training)
    _end_epoch(training, len(steps))
    if _is_interrupted(training):
        _end(training)


def _end_epoch(training: _Training, steps: int) -> None:
    """The scores on dev, a checkpoint, and the state from which the next epoch begins."""
    position, schedule, selection = training.position, training.schedule, training.prepared.selection
    lr = schedule.step_lr(position.step)
    scores = _scores(training)
    best = schedule.end_epoch(position.epoch, scores.get(selection))
    name = f"epoch-{position.epoch:03d}"
    _checkpoint(training, name)
    if training.is_main and best:
        copied = {WEIGHTS: training.folder.path / name / WEIGHTS} if training.prepared.transformers else {}
        training.folder.job.write({**copied, BEST: encode_json({"checkpoint": name, selection: scores[selection]})})
    report = _since(TrainingPosition(), position, steps, lr, scores, best, name)
    _report(training, report)
    if training.is_main and schedule.first_loss is not None and report.loss > DIVERGED * schedule.first_loss:
        warning = (
            f"The loss rises: {schedule.first_loss:.3g} in the first step, {report.loss:.3g} in epoch {position.epoch}"
        )
        warnings.warn(SentProbeWarning(f"{warning}, on average. Try a lower --lr or --clip."), stacklevel=2)
    if training.is_main and position.epoch == WATCHED:
        _warn_of_chance(training, scores)
    training.position = TrainingPosition(position.epoch + 1, 0, position.step)
    _save(training)


def _warn_of_chance(training: _Training, scores: Mapping[str, float]) -> None:
    """Warn of scores on dev that are what a model without any knowledge gets."""
    for name, chance in training.prepared.chance.items():
        if name in scores and chance.includes(scores[name]):
            limit = f"{'at most' if chance.maximise else 'at least'} {score_text(chance.limit)}"
            warning = (
                f"After {training.position.epoch} epochs, {score_title(name)} on dev is {score_text(scores[name])}, no "
                f"better than chance ({limit}). If it stays so, try a learning rate ten times as high as --lr "
                f"{training.options.lr:g}, or a tenth of it."
            )
            warnings.warn(SentProbeWarning(warning), stacklevel=2)


def _since(
    before: TrainingPosition,
    position: TrainingPosition,
    of: int,
    lr: float,
    scores: Mapping[str, float] | None = None,
    best: bool = False,
    checkpoint: str = "",
) -> TrainingReport:
    """What happened between two positions of an epoch."""
    loss = (position.loss - before.loss) / max(1, position.units - before.units)
    speed = (position.words - before.words) / max(1e-9, position.seconds - before.seconds)
    return TrainingReport(
        position.epoch,
        position.step,
        position.done,
        of,
        loss,
        lr,
        speed,
        position.seconds,
        scores or {},
        best,
        checkpoint,
    )


def _scores(training: _Training) -> dict[str, float]:
    """The scores on dev, which the main process computes for all."""
    scores: list[Any] = [None]
    if training.is_main:
        training.model.eval()
        with torch.no_grad():
            scores = [dict(training.prepared.evaluate())]
        training.model.train()
    if training.accelerator.num_processes > 1:
        broadcast_object_list(scores)
    return scores[0]  # type: ignore[no-any-return]


def _checkpoint(training: _Training, name: str) -> None:
    if training.is_main:
        _write_checkpoint(training, name, training.position.epoch, training.position.step)


def _write_checkpoint(training: _Training, name: str, epoch: int, step: int) -> None:
    """The weights, last, and what other libraries need to load them."""
    prepared = training.prepared
    further_files = (
        {CONFIG: encode_json(dict(prepared.transformers)), **prepared.files} if prepared.transformers else {}
    )
    training.folder.write_checkpoint(name, training.model.state_dict(), epoch, step, further_files)


def _save(training: _Training) -> None:
    """Write the state from which training can be resumed."""
    training.saved = time.monotonic()
    if training.is_main:
        facts = {"position": asdict(training.position), "schedule": training.schedule.state()}
        save_state(training.folder.job, training.model, training.optimiser, facts)


def _report(training: _Training, report: TrainingReport) -> None:
    if training.is_main:
        append_report(training.folder.job, report)
        training.report(report)


def _is_interrupted(training: _Training) -> bool:
    """Whether this process or another one got a signal: all end after the same step, so that none waits for another."""
    if training.accelerator.num_processes == 1:
        return training.signal > 0
    noted = torch.tensor([training.signal], device=training.accelerator.device)
    everywhere = training.accelerator.gather(noted)
    training.signal = int(everywhere.max())
    return training.signal > 0


def _end(training: _Training) -> None:
    """End as the signal would have done at once."""
    handler = training.handlers.get(training.signal)
    if callable(handler):
        handler(training.signal, None)
    raise KeyboardInterrupt


@contextmanager
def _deferred_interrupt(training: _Training) -> Iterator[None]:
    """Let Ctrl-C, or a signal that a command ends by, end training after the current step, and save.

    So no half of an update is written, and nothing is lost when a scheduler ends a job. A second signal ends training
    at once; what was saved before is still there.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    installed = {number: signal.getsignal(number) for number in SIGNALS}
    # those without a handler end the process, or are ignored, as under nohup
    training.handlers = {number: handler for number, handler in installed.items() if callable(handler)}

    first = 0.0

    def note(number: int, frame: object) -> None:
        nonlocal first
        if not training.signal:
            training.signal, first = number, time.monotonic()
        elif time.monotonic() - first > AGAIN_SECONDS:
            restore()
            training.handlers[number](number, frame)

    def restore() -> None:
        for number, handler in training.handlers.items():
            signal.signal(number, handler)

    for number in training.handlers:
        signal.signal(number, note)
    try:
        yield
    finally:
        restore()


def save_state(
    job: JobFolder, model: nn.Module, optimiser: torch.optim.Optimizer | None, facts: dict[str, Any]
) -> None:
    """Write everything; ``facts`` are the numbers and texts."""
    tensors: dict[str, Tensor] = {f"model.{name}": value for name, value in model.state_dict().items()}
    plain: dict[str, dict[str, Any]] = {}
    if optimiser is not None:
        for number, state in optimiser.state_dict()["state"].items():
            for key, value in state.items():
                if isinstance(value, Tensor):
                    tensors[f"optimiser.{number}.{key}"] = value
                else:
                    plain.setdefault(str(number), {})[key] = value
    content = save({k: v.detach().cpu().clone().contiguous() for k, v in tensors.items()})
    # as text: a score may be infinite, for which JSON has no number
    job.write({RESUME: content}, {"state": json.dumps({**facts, "optimiser": plain})})


def load_facts(job: JobFolder) -> dict[str, Any] | None:
    """The numbers and texts of an unfinished training; None if there is none, or its state was deleted."""
    return state_facts(job) if job.is_begun and job.is_there(RESUME) else None


def load_state(job: JobFolder, model: nn.Module, optimiser: torch.optim.Optimizer | None) -> None:
    """Restore weights and optimiser."""
    job.verify(RESUME)
    try:
        tensors = load_file(job.path / RESUME)
    except (OSError, SafetensorError) as e:
        raise DataError(f"{job.path / RESUME} cannot be read: {e}.") from None
    model.load_state_dict({n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
    if optimiser is None:
        return
    state: dict[int, dict[str, Any]] = {int(n): dict(values) for n, values in state_facts(job)["optimiser"].items()}
    for name, tensor in tensors.items():
        if name.startswith("optimiser."):
            _, number, key = name.split(".", 2)
            state.setdefault(int(number), {})[key] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
