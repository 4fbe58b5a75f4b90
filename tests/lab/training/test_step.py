"""One step: gradients that are not finite, and clipping."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
accelerate = pytest.importorskip("accelerate")

from sentprobe import SentProbeError  # noqa: E402
from sentprobe.lab.networks.folder import TrainedFolder  # noqa: E402
from sentprobe.lab.training.objective import Loss, Prepared  # noqa: E402
from sentprobe.lab.training.options import TrainingOptions  # noqa: E402
from sentprobe.lab.training.step import Updater, make_optimiser  # noqa: E402
from sentprobe.lab.training.streams import Step, Stream  # noqa: E402


@pytest.mark.parametrize("options", [{"clip_lr": True}, {"clip_lr": False}, {"clip": 0.0}])
def test_a_gradient_that_is_not_finite_changes_nothing(tmp_path, options):
    class Root(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor([0.0, 1.0]))

        def forward(self, batch):
            return Loss(self.weight.sqrt().sum(), 1, 1)  # finite, with an infinite slope at 0

    stream = Stream("train", np.ones(2, np.int64), torch.from_numpy)
    prepared = Prepared(Root(), (stream,), dict, "", None)
    chosen = TrainingOptions(optimiser="sgd", lr=0.1, **options)
    accelerator = accelerate.Accelerator()
    model, optimiser = accelerator.prepare(prepared.model), accelerator.prepare(make_optimiser(prepared, chosen))
    updater = Updater(prepared, chosen, accelerator, model, optimiser)
    folder = TrainedFolder(tmp_path)
    with folder.job.writing():
        folder.write_checkpoint("epoch-000", prepared.model.state_dict(), 0, 0)
    with pytest.raises(
        SentProbeError, match=r"The norm of the gradient is inf in step 7, epoch 1, with the examples 0, 1"
    ):
        updater.step(Step(stream, np.arange(2)), 0.1, 1, 7, folder)
    assert prepared.model.weight.tolist() == [0.0, 1.0]


def test_learning_rates_are_scaled_by_gradients_as_they_are(monkeypatch):
    """In 16-bit precision, gradients are those of a loss that was multiplied, until they are divided again."""
    linear = torch.nn.Linear(1, 1, bias=False)
    prepared = Prepared(linear, (Stream("train", np.ones(1, np.int64), torch.from_numpy),), dict, "", None)
    chosen = TrainingOptions(optimiser="sgd", lr=0.1, clip=1.0, clip_lr=True)
    accelerator = accelerate.Accelerator()
    optimiser = accelerator.prepare(make_optimiser(prepared, chosen))
    updater = Updater(prepared, chosen, accelerator, linear, optimiser)
    linear.weight.grad = torch.full((1, 1), 1000.0)
    monkeypatch.setattr(accelerator, "unscale_gradients", lambda _: linear.weight.grad.mul_(0.001))
    assert updater._clip() == pytest.approx(1.0)
