"""Probes as an evaluator of sentence-transformers, for ``SentenceTransformerTrainer(evaluator=…)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sentence_transformers.base.evaluation import BaseEvaluator

from sentprobe.callbacks.monitor import TrainingMonitor

AVERAGE = "mean_accuracy"


class SentProbeEvaluator(BaseEvaluator):
    """Probe a model of sentence-transformers whenever its trainer evaluates, and report the scores to its logs.

    The parameters are those of ``TrainingMonitor``. Calling the evaluator without a step, as after the training, probes
    with intervals. The metrics are the accuracies of the sets; ``mean_accuracy`` is for the trainer's choice of a
    checkpoint, and means little by itself.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.monitor = TrainingMonitor(*args, **options)
        self.primary_metric = f"{self.monitor.name}_{AVERAGE}"
        self._last_step = 0

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,  # noqa: ARG002 - trainers pass it
        epoch: float = -1,
        steps: int = -1,
    ) -> dict[str, float]:
        """Probe the model; ``steps`` is the step of the training, or -1 after it."""
        final = steps < 0
        self._last_step = self._last_step if final else steps

        def encode(texts: Sequence[str]) -> Any:
            return model.encode(list(texts), show_progress_bar=False)

        scores = self.monitor.probe(encode, self._last_step, final=final)
        metrics = {**scores, AVERAGE: sum(scores.values()) / len(scores) if scores else float("nan")}
        metrics = self.prefix_name_to_metrics(metrics, self.monitor.name)
        self.store_metrics_in_model_card_data(model, metrics, int(max(epoch, 0)), self._last_step)
        return metrics

    def get_config_dict(self) -> dict[str, Any]:
        """What model cards say of the evaluation."""
        monitor = self.monitor
        return {
            "sets": [f"{entry.name}" for entry in monitor.sets],
            "probes": monitor.probes,
            "limit": monitor.limit,
            "run": str(monitor.folder),
        }

    @property
    def description(self) -> str:
        """What it is called in model cards."""
        return "Probing"
