"""One step: the mean gradient, clipping, and gradients that are not finite."""

from contextlib import nullcontext

import numpy as np
import pytest

torch = pytest.importorskip("torch")
accelerate = pytest.importorskip("accelerate")

from sentprobe import SentProbeError  # noqa: E402
from sentprobe.lab.networks.folder import TrainedFolder  # noqa: E402
from sentprobe.lab.training.examples import Step, Stream  # noqa: E402
from sentprobe.lab.training.objective import Loss, Prepared  # noqa: E402
from sentprobe.lab.training.schedule import TrainingOptions  # noqa: E402
from sentprobe.lab.training.step import Updater, make_optimiser  # noqa: E402


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


class Squares(torch.nn.Module):
    """The squares of the examples times two weights; an example has as many units as its number says."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([3.0, -2.0]))

    def forward(self, numbers):
        values = torch.stack((numbers + 1.0, 2.0 * numbers), 1)
        return Loss((self.weight * values).square().sum(), int((numbers + 1).sum()), len(numbers))


class Process:
    """What accelerate is to one of several processes, whose sums over all of them are known."""

    scaler, device = None, torch.device("cpu")

    def __init__(self, rank, processes, sums=None):
        self.process_index, self.num_processes, self.sums = rank, processes, sums

    def autocast(self):
        return nullcontext()

    def reduce(self, sums):
        self.shared = sums
        return sums if self.sums is None else self.sums

    def backward(self, loss):
        loss.backward()

    def unscale_gradients(self, optimiser):
        pass


def stepped(process, examples, **options):
    """The model after a step with examples from 0, and what the step returned."""
    model = Squares()
    stream = Stream("train", np.ones(examples, np.int64), torch.from_numpy)
    prepared = Prepared(model, (stream,), dict, "", None)
    chosen = TrainingOptions(**{"optimiser": "sgd", "lr": 0.1, "clip": 0.0, **options})
    updater = Updater(prepared, chosen, process, model, make_optimiser(prepared, chosen))
    return model, updater.step(Step(stream, np.arange(examples)), chosen.lr, 1, 1, None)


@pytest.mark.parametrize("examples", [1, 2, 3, 7])
@pytest.mark.parametrize("processes", [1, 2, 4])
def test_the_gradient_is_that_of_the_mean_over_the_units_of_all_processes(examples, processes):
    """DistributedDataParallel averages the gradients of processes; some have fewer examples than others, or none."""
    whole = Squares()
    loss = whole(torch.arange(examples))
    (loss.total / loss.units).backward()
    sent = []
    for rank in range(processes):
        process = Process(rank, processes)
        _, returned = stepped(process, examples)
        sent.append(process.shared if processes > 1 else torch.tensor([float(returned.total), returned.units, 0]))
    gradients = []
    for rank in range(processes):
        model, returned = stepped(Process(rank, processes, sum(sent)), examples)
        gradients.append(model.weight.grad)
        assert (float(returned.total), returned.units) == (pytest.approx(loss.total.item()), loss.units)
    torch.testing.assert_close(sum(gradients) / processes, whole.weight.grad)
    if processes == 1:
        torch.testing.assert_close(model.weight.data, whole.weight.data - 0.1 * whole.weight.grad)


# One example: the loss is 9 * 1, and its gradient (2 * 3 * 1, 0), of norm 6. The first step of Adam is the learning
# rate times the sign of the gradient, whatever its norm: it tells a gradient that is scaled from a scaled rate.
@pytest.mark.parametrize(
    ("options", "weight"),
    [
        ({"optimiser": "sgd", "clip": 0.0}, 3 - 0.1 * 6),
        ({"optimiser": "sgd", "clip": 6.5, "clip_lr": True}, 3 - 0.1 * 6),
        ({"optimiser": "sgd", "clip": 1.5, "clip_lr": True}, 3 - 0.1 * 6 * 1.5 / 6),
        ({"optimiser": "adam", "clip": 0.0, "clip_lr": True}, 3 - 0.1),
        ({"optimiser": "adam", "clip": 6.5, "clip_lr": True}, 3 - 0.1),
        ({"optimiser": "adam", "clip": 1.5, "clip_lr": True}, 3 - 0.1 * 1.5 / 6),
    ],
)
def test_clipping_by_the_learning_rate_leaves_the_gradient_as_it_is(options, weight):
    model, _ = stepped(Process(0, 1), 1, **options)
    assert model.weight.tolist() == pytest.approx([weight, -2.0])
    assert model.weight.grad.tolist() == pytest.approx([6.0, 0.0])


@pytest.mark.parametrize(("clip", "gradient"), [(6.5, 6.0), (1.5, 1.5)])
def test_clipping_scales_the_gradient_and_not_the_learning_rate(clip, gradient):
    model = Squares()
    stream = Stream("train", np.ones(1, np.int64), torch.from_numpy)
    prepared = Prepared(model, (stream,), dict, "", None)
    chosen = TrainingOptions(optimiser="sgd", lr=0.1, clip=clip)
    accelerator = accelerate.Accelerator(cpu=True)
    optimiser = accelerator.prepare(make_optimiser(prepared, chosen))
    Updater(prepared, chosen, accelerator, model, optimiser).step(Step(stream, np.arange(1)), 0.1, 1, 1, None)
    assert model.weight.grad.tolist() == pytest.approx([gradient, 0.0])
    assert model.weight.tolist() == pytest.approx([3 - 0.1 * gradient, -2.0])
    assert optimiser.param_groups[0]["lr"] == 0.1
