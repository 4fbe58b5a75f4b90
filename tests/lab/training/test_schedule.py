"""The schedule of InferSent, against a transcription of its code."""

import random

import pytest

from sentprobe.lab.training.request import make_request
from sentprobe.lab.training.schedule import Schedule


class Upstream:
    """Lines of train_nli.py of facebookresearch/InferSent at commit ec6b065, with their variables.

    Of trainepoch: the learning rate; of evaluate: what follows an accuracy; and the condition of the loop.
    """

    def __init__(self, optimizer, lr, n_epochs=20, lrshrink=5, decay=0.99, minlr=1e-5):
        self.optimizer, self.lr, self.n_epochs = optimizer, lr, n_epochs
        self.lrshrink, self.decay, self.minlr = lrshrink, decay, minlr
        self.val_acc_best, self.adam_stop, self.stop_training = -1e10, False, False

    def trainepoch(self, epoch):
        self.lr = self.lr * self.decay if epoch > 1 and "sgd" in self.optimizer else self.lr

    def evaluate(self, eval_acc):
        saved = False
        if eval_acc > self.val_acc_best:
            saved = True
            self.val_acc_best = eval_acc
        else:
            if "sgd" in self.optimizer:
                self.lr = self.lr / self.lrshrink
                if self.lr < self.minlr:
                    self.stop_training = True
            if "adam" in self.optimizer:
                # early stopping (at 2nd decrease in accuracy)
                self.stop_training = self.adam_stop
                self.adam_stop = True
        return saved

    def run(self, accuracies):
        epoch = 1
        while not self.stop_training and epoch <= self.n_epochs:
            self.trainepoch(epoch)
            lr = self.lr
            yield epoch, lr, self.evaluate(accuracies[epoch - 1])
            epoch += 1


def ours(options, accuracies):
    schedule = Schedule.start(options, maximise=True)
    for epoch in range(1, options.epochs + 1):
        schedule.begin_epoch(epoch)
        lr = schedule.step_lr(epoch * 1000)
        yield epoch, lr, schedule.end_epoch(epoch, accuracies[epoch - 1])
        if schedule.stopped:
            return


def options(objective, optimiser, **more):
    return make_request(objective, "bilstm-max", options={"optimiser": optimiser, **more}).options


RISING = [float(n) for n in range(20)]
SEQUENCES = [
    RISING,
    [50.0] * 20,
    # equal is not better
    [50.0, 60.0, 60.0, 61.0, 61.0, 62.0, 61.5, 63.0, 50.0, 64.0, *[1.0] * 10],
    # two drops that do not follow each other
    [50.0, 49.0, 60.0, 61.0, 60.0, *RISING[5:]],
    *(random.Random(seed).choices(range(40, 60), k=20) for seed in range(200)),
]


@pytest.mark.parametrize("objective", ["nli", "classify"])
@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_learning_rates_and_stops_are_infersents(objective, optimiser):
    found = options(objective, optimiser)
    for accuracies in SEQUENCES:
        theirs = Upstream(f"{optimiser},lr={found.lr}", {"sgd": 0.1, "adam": 1e-3}[optimiser])
        assert list(ours(found, accuracies)) == list(theirs.run(accuracies))


def test_a_better_epoch_goes_on_below_the_smallest_rate():
    # the decay of the third epoch brings it below 1e-5, and the sixth is the first that is not better
    accuracies = [50.0, 51.0, 52.0, 53.0, 54.0, 1.0, *RISING[6:]]
    found = options("nli", "sgd", lr=1.02e-5)
    rates = list(ours(found, accuracies))
    assert rates == list(Upstream("sgd", 1.02e-5).run(accuracies))
    assert rates[2][1] < found.min_lr
    assert len(rates) == 6
