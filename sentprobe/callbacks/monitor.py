"""Probes of a model while it is trained, whatever trains it: one run folder, an encoder per step that was probed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from sentprobe.core.arguments import as_list
from sentprobe.data.dataset import Dataset
from sentprobe.data.sources import Source, find_sets
from sentprobe.errors import SentProbeWarning, UsageError, describe_error
from sentprobe.results.result import Result
from sentprobe.run import Run, evaluate

LIMIT = 1000
"""Rows per split by default: probing should cost a small share of the training."""

Encode = Callable[[Sequence[str]], Any]


class TrainingMonitor:
    """Probe a model as it is trained, without ever stopping the training.

    Parameters
    ----------
    sets
        Paths of sets, as for ``sentprobe run -d``, or datasets: a few.
    folder
        The run folder; ``sentprobe report`` and ``sentprobe serve`` show it at any time.
    name
        What the model is called: its encoders are ``NAME step=N``.
    limit
        A sample of at most this many rows per split; None: all rows.
    probes
        As for ``evaluate``.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import Dataset, Run
    >>> from sentprobe.callbacks import TrainingMonitor
    >>> rows = [(f"number {i}", ("even", "odd")[i % 2], ("train", "dev", "test")[i % 5 % 3]) for i in range(120)]
    >>> parity = Dataset.from_rows(rows, split="split", name="parity")
    >>> folder = tempfile.TemporaryDirectory()
    >>> monitor = TrainingMonitor(parity, folder.name)
    >>> for step in (10, 20):
    ...     scores = monitor.probe(lambda texts, step=step: [[int(t[-1]) % 2 * (step // 20), 1] for t in texts], step)
    >>> scores
    {'parity': 1.0}
    >>> [encoder for encoder in Run.load(folder.name).encoders if "step" in encoder]
    ['model step=10', 'model step=20']
    >>> folder.cleanup()
    """

    def __init__(
        self,
        sets: str | Path | Dataset | Iterable[str | Path | Dataset],
        folder: str | Path,
        *,
        name: str = "model",
        limit: int | None = LIMIT,
        probes: str | Sequence[str] = "linear",
    ) -> None:
        if not name or "=" in name or not name.isprintable():
            raise UsageError(f"{name!r}: expected a name without an equals sign.")
        self.sets = _read_sets(sets)
        self.folder, self.name, self.limit, self.probes = Path(folder), name, limit, probes
        self.seconds = 0.0
        """Spent on probing."""
        self._started = time.monotonic()
        self._probed: set[int] = set()

    @property
    def share(self) -> float:
        """The share of the time since the monitor was made that was spent on probing."""
        return self.seconds / max(time.monotonic() - self._started, 1e-9)

    def probe(self, encode: Encode, step: int, *, final: bool = False) -> dict[str, float]:
        """Probe the model as it is now; return the score of each set, or nothing, with a warning, if that failed.

        Parameters
        ----------
        encode
            A function from a list of texts to an array with a row per text.
        step
            How far the training is; a step that was probed before is probed again.
        final
            Whether this is the end: probes are then trained again on samples, for intervals about the encoder.
        """
        begun = time.monotonic()
        try:
            run = evaluate(
                {f"{self.name} step={step}": encode},
                self.sets,
                self.folder,
                probes=self.probes,
                limit=self.limit,
                folds=0,
                resample=None if final else 0,
            )
            return self._scores(run, step)
        except Exception as e:  # whatever it is, the training goes on
            self._warn(step, describe_error(e))
            return {}
        finally:
            self.seconds += time.monotonic() - begun

    def _scores(self, run: Run, step: int) -> dict[str, float]:
        encoder = f"{self.name} step={step}"
        for failure in run.failures:
            if failure.cell.encoder in (encoder, ""):
                self._warn(step, f"{failure.cell.dataset}: {failure.error}")
        results = [result for result in run.results if result.cell.encoder == encoder]
        return {_short_name(result, results): result.score for result in results}

    def _warn(self, step: int, reason: str) -> None:
        text = f"Probing at step {step} failed, and the training goes on: {reason}"
        warnings.warn(SentProbeWarning(text), stacklevel=4)


def _read_sets(sets: Any) -> list[Dataset | Source]:
    """Datasets, and the sets that paths lead to; read once, before the training begins."""
    read: list[Dataset | Source] = []
    for entry in [sets] if isinstance(sets, str | Path | Dataset) else list(sets):
        read += [entry] if isinstance(entry, Dataset) else [source.load() for source in find_sets([str(entry)])]
    return as_list(read, (Dataset, Source), "a set")


def _short_name(result: Result, results: Sequence[Result]) -> str:
    """The task of a result, with its set and probe where several results have that task."""
    parts = [result.cell.task]
    if sum(r.cell.task == result.cell.task and r.cell.probe == result.cell.probe for r in results) > 1:
        parts = [result.cell.dataset]
    if len({r.cell.probe for r in results}) > 1:
        parts.append(result.cell.probe or "")
    return " ".join(parts)
