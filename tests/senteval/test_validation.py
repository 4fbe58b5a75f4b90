"""The classifiers: the numbers of the rule written down plainly in torch, and everything that may be configured."""

import copy
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

import sentprobe.senteval as senteval
from sentprobe.errors import NotInstalled, UsageError
from sentprobe.probes import Probe
from sentprobe.senteval.tools import ranking
from sentprobe.senteval.tools.classifier import MLP, PyTorchClassifier, probe_of
from sentprobe.senteval.tools.relatedness import RelatednessPytorch, distributions
from sentprobe.senteval.tools.validation import (
    InnerKFoldClassifier,
    KFoldClassifier,
    SplitClassifier,
    get_classif_name,
)
from sentprobe.transfer import protocols
from tests.senteval.sets import QUICK, batcher

torch = pytest.importorskip("torch")

CLASSIFIER = {"nhid": 0, "optim": "adam", "batch_size": 8, "tenacity": 1, "epoch_size": 2, "max_epoch": 6}


@pytest.fixture(autouse=True)
def one_thread():
    """Several threads wait for each other on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield
    torch.set_num_threads(threads)


def blobs(n=48, d=5, classes=2, seed=0):
    """Rows (n, d) about a point for each class, and their labels."""
    draw = np.random.RandomState(seed)
    y = np.arange(n) % classes
    return draw.randn(n, d) + 0.8 * draw.randn(classes, d)[y], y


def config(classifier=CLASSIFIER, **more):
    return {"nclasses": 2, "seed": 1111, "usepytorch": True, "classifier": classifier, "kfold": 3, **more}


class Plain:
    """The rule of training as it is written down, in torch, one classifier at a time."""

    def __init__(self, c, d, classes, l2, seed):
        np.random.seed(seed)
        torch.manual_seed(seed)
        if c["nhid"]:
            layers = [torch.nn.Linear(d, c["nhid"]), torch.nn.Sigmoid(), torch.nn.Linear(c["nhid"], classes)]
        else:
            layers = [torch.nn.Linear(d, classes)]
        self.net, self.c = torch.nn.Sequential(*layers), c
        name, *rate = c["optim"].split(",lr=")
        made = {"adam": torch.optim.Adam, "rmsprop": torch.optim.RMSprop, "sgd": torch.optim.SGD}
        made |= {"adagrad": torch.optim.Adagrad, "adamax": torch.optim.Adamax, "rprop": torch.optim.Rprop}
        self.step = made[name](self.net.parameters(), **({"lr": float(rate[0])} if rate else {}))
        self.step.param_groups[0]["weight_decay"] = l2
        self.reduction = c.get("loss_reduction", "mean")

    def fit(self, x, y, dev=None):
        if dev is None:
            order = np.random.permutation(len(x))
            cut = int(0.05 * len(x))
            dev, x, y = (x[order[:cut]], y[order[:cut]]), x[order[cut:]], y[order[cut:]]
        rows, labels = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
        best, misses, epochs = -1, 0, 0
        while epochs <= self.c["max_epoch"]:
            for _ in range(self.c["epoch_size"]):
                order = np.random.permutation(len(x))
                for i in range(0, len(x), self.c["batch_size"]):
                    at = torch.tensor(order[i : i + self.c["batch_size"]])
                    loss = torch.nn.functional.cross_entropy(self.net(rows[at]), labels[at], reduction=self.reduction)
                    self.step.zero_grad()
                    loss.backward()
                    self.step.step()
            epochs += self.c["epoch_size"]
            if (found := self.score(*dev)) > best:
                best, kept = found, copy.deepcopy(self.net)
            else:
                if misses >= self.c["tenacity"]:
                    break
                misses += 1
        self.net = kept
        return self

    def score(self, x, y):
        with torch.no_grad():
            return (self.net(torch.tensor(x, dtype=torch.float32)).argmax(1).numpy() == y).sum() / len(y)


def chosen(c, x, y, k, seed, fold_seed, classes):
    """The best L2 by folds, and its score."""
    scores = []
    for l2 in (1e-5, 1e-4, 1e-3, 1e-2):
        parts = StratifiedKFold(k, shuffle=True, random_state=fold_seed).split(x, y)
        found = [
            Plain(c, x.shape[1], classes, l2, seed).fit(x[a], y[a], (x[b], y[b])).score(x[b], y[b]) for a, b in parts
        ]
        scores.append(round(100 * np.mean(found), 2))
    best = int(np.argmax(scores))
    return (1e-5, 1e-4, 1e-3, 1e-2)[best], scores[best]


@pytest.mark.parametrize(
    "changed",
    [{}, {"nhid": 3, "optim": "sgd,lr=0.5"}, {"optim": "rmsprop", "loss_reduction": "sum"}, {"optim": "adamax"}],
    ids=str,
)
def test_nested_folds_give_what_the_plain_rule_gives(changed):
    c, (x, y), k, seed = {**CLASSIFIER, **changed}, blobs(), 2, 5
    devs, tests = [], []
    for a, b in StratifiedKFold(k, shuffle=True, random_state=1111).split(x, y):
        l2, dev = chosen(c, x[a], y[a], k, seed, 1111, 2)
        devs.append(dev)
        tests.append(round(100 * float(Plain(c, 5, 2, l2, seed).fit(x[a], y[a]).score(x[b], y[b])), 2))
    classifier = InnerKFoldClassifier(x, y, config(c, seed=seed, kfold=k))
    assert classifier.run() == (round(np.mean(devs), 2), round(np.mean(tests), 2))
    assert classifier.devresults == devs
    assert classifier.testresults == tests


@pytest.mark.parametrize("optim", ["adam", "adagrad,lr=0.1", "rprop"])
def test_folds_and_a_test_part_give_what_the_plain_rule_gives(optim):
    c, (x, y), (tx, ty) = {**CLASSIFIER, "optim": optim}, blobs(classes=3), blobs(30, classes=3, seed=1)
    l2, dev = chosen(c, x, y, 2, 7, 7, 3)
    test = round(100 * float(Plain(c, 5, 3, l2, 7).fit(x, y).score(tx, ty)), 2)
    found = KFoldClassifier({"X": x, "y": y}, {"X": tx, "y": ty}, config(c, nclasses=3, seed=7, kfold=2)).run()
    assert found[:2] == (dev, test)
    assert found[2].shape == (30, 1)
    assert round(100 * (found[2][:, 0] == ty).mean(), 2) == test


@pytest.mark.parametrize("unregularised", [False, True])
def test_given_parts_give_what_the_plain_rule_gives(unregularised):
    parts = {"train": blobs(), "valid": blobs(24, seed=1), "test": blobs(24, seed=2)}
    x, y = ({split: part[i] for split, part in parts.items()} for i in (0, 1))
    fits = [
        Plain(CLASSIFIER, 5, 2, l2, 1111).fit(*parts["train"], parts["valid"])
        for l2 in ((1e-9,) if unregularised else (1e-5, 1e-4, 1e-3, 1e-2))
    ]
    scores = [round(100 * float(fit.score(*parts["valid"])), 2) for fit in fits]
    best = int(np.argmax(scores))
    found = SplitClassifier(x, {split: list(labels) for split, labels in y.items()}, config(noreg=unregularised)).run()
    assert found == (scores[best], round(100 * float(fits[best].score(*parts["test"])), 2))


def test_scikit_learn_is_used_where_torch_is_not_wanted():
    (x, y), (tx, ty) = blobs(), blobs(30, seed=1)
    grid = [2.0**t for t in range(-1, 6)]
    scores = []
    for inverse in grid:
        parts = StratifiedKFold(2, shuffle=True, random_state=1111).split(x, y)
        fits = [LogisticRegression(C=inverse, random_state=1111).fit(x[a], y[a]).score(x[b], y[b]) for a, b in parts]
        scores.append(round(100 * np.mean(fits), 2))
    last = LogisticRegression(C=grid[int(np.argmax(scores))], random_state=1111).fit(x, y)
    found = KFoldClassifier({"X": x, "y": y}, {"X": tx, "y": ty}, config(usepytorch=False, kfold=2)).run()
    assert found[:2] == (max(scores), round(100 * last.score(tx, ty), 2))
    assert np.array_equal(found[2], last.predict(tx))
    dev, test = InnerKFoldClassifier(x, y, config(usepytorch=False, kfold=2)).run()
    assert 50 <= test <= dev <= 100
    splits = dict.fromkeys(("train", "valid", "test"), (x, y))
    both = SplitClassifier(
        *({s: part[i] for s, part in splits.items()} for i in (0, 1)), config(usepytorch=False, kfold=2)
    ).run()
    assert both[0] == both[1] > 50


def test_without_scikit_learn_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(NotInstalled, match="usepytorch=False"):
        InnerKFoldClassifier(*blobs(), config(usepytorch=False, kfold=2)).run()


def test_without_torch_the_usual_optimisers_give_the_same(monkeypatch, data):
    params = {"task_path": data, "kfold": 2, "classifier": dict(QUICK), "sts_mode": "both"}
    tasks = ["MR", "TREC", "SST2", "SICKRelatedness", "STS12", "Length"]
    expected = senteval.SE(params, batcher).eval(tasks)
    mlp = MLP(CLASSIFIER, 5, 2, l2reg=1e-3)
    score = mlp.fit(*blobs(), validation_split=0.2)
    for name in ("torch", "sklearn", "numba"):
        monkeypatch.setitem(sys.modules, name, None)
    found = senteval.SE(params, batcher).eval(tasks)
    for task in ("MR", "TREC", "SST2", "Length"):
        assert found[task] == expected[task]
    assert np.array_equal(found["SICKRelatedness"]["yhat"], expected["SICKRelatedness"]["yhat"])
    again = MLP(CLASSIFIER, 5, 2, l2reg=1e-3)
    assert again.fit(*blobs(), validation_split=0.2) == score
    for wanted in ("adamax", "sgd,lr=0.1,momentum=0.9"):
        with pytest.raises(NotInstalled, match="adam, adagrad, rmsprop"):
            senteval.SE({**params, "classifier": {"nhid": 0, "optim": wanted}}, batcher).eval("TREC")


@pytest.mark.parametrize("name", ["adadelta", "adagrad", "adam", "adamax", "asgd", "rmsprop", "rprop", "sgd,lr=0.1"])
def test_every_optimiser_is_accepted(name):
    x, y = blobs(40)
    dev, test = InnerKFoldClassifier(x, y, config({**CLASSIFIER, "optim": name, "max_epoch": 2}, kfold=2)).run()
    assert 0 <= test <= 100
    assert 0 < dev <= 100
    made, options = senteval.utils.get_optimizer(name)
    assert issubclass(made, torch.optim.Optimizer)
    assert options == ({"lr": 0.1} if "lr" in name else {})


def test_the_grammar_of_optimisers():
    assert senteval.utils.get_optimizer("adagrad,lr=.1,lr_decay=0.05")[1] == {"lr": 0.1, "lr_decay": 0.05}
    for text in ("sgd", "adam,lr=1e-3", "adam,lr", "adam,lr=x"):
        with pytest.raises(AssertionError, match="optim="):
            senteval.utils.get_optimizer(text)
    with pytest.raises(UsageError, match="adadelta"):
        senteval.utils.get_optimizer("adamw")
    with pytest.raises(UsageError, match="momentum"):
        senteval.utils.get_optimizer("adam,momentum=0.1")


def test_a_configuration_is_a_probe(caplog):
    full = {"nhid": 50, "optim": "rmsprop,lr=0.02", "batch_size": 128, "tenacity": 3, "epoch_size": 2, "max_epoch": 9}
    assert probe_of({**full, "dropout": 0.1, "loss_reduction": "sum"}) == Probe(
        hidden=(50,), dropout=(0.1,), optimiser="rmsprop", rate=0.02, batch=128, patience=3, every=2, passes=9,
        reduction="sum",
    )  # fmt: skip
    assert probe_of({"nhid": 0}) == Probe()
    assert probe_of({"nhid": 0}, unregularised=True) == Probe(l2=(1e-9,))
    SplitClassifier(*[dict.fromkeys(("train", "valid", "test"), part) for part in blobs()], config(full))
    assert not caplog.records
    InnerKFoldClassifier(*blobs(), config({"nhid": 0, "tenacty": 3}))
    assert "did you mean tenacity?" in caplog.text
    with pytest.raises(UsageError, match="loss_reduction"):
        probe_of({"nhid": 0, "loss_reduction": "max"})


def test_means_are_rounded_as_numpy_does_it(monkeypatch):
    # of the mean 80.035 Python makes 80.03, numpy 80.04, and SentEval takes the mean with numpy
    assert round(float(np.mean([80.03, 80.04])), 2) == 80.03
    values = iter([80.03, 80.04])
    monkeypatch.setattr(protocols.ProbeEvaluation, "_choose", lambda *given: (80.03, {"l2": 1e-5}, ()))
    monkeypatch.setattr(protocols, "_accuracy", lambda *given: next(values))
    assert InnerKFoldClassifier(*blobs(), config(kfold=2)).run() == (80.03, 80.04)


def test_labels_may_be_floats():
    x, y = blobs()
    assert InnerKFoldClassifier(x, y.astype(float), config()).run() == InnerKFoldClassifier(x, y, config()).run()


def test_names_of_classifiers():
    assert get_classif_name({"nhid": 0}, True) == "pytorch-MLP-nhid0-adam-bs64"
    assert get_classif_name({"nhid": 5, "optim": "rmsprop", "batch_size": 8}, True) == "pytorch-MLP-nhid5-rmsprop-bs8"
    assert get_classif_name({"nhid": 0}, False) == "sklearn-LogReg"
    assert get_classif_name({"nhid": 0, "fast": True}, False) == "pytorch-MLP-nhid0-adam-bs64"


@pytest.mark.parametrize("optim", ["adam", "adamax"])
def test_a_classifier_is_fitted_by_hand(optim):
    (x, y), dev = blobs(), blobs(24, seed=1)
    mine = MLP({**CLASSIFIER, "optim": optim}, inputdim=5, nclasses=2, l2reg=1e-4, seed=3)
    best = mine.fit(x, y, validation_data=dev)
    plain = Plain({**CLASSIFIER, "optim": optim}, 5, 2, 1e-4, 3).fit(x, y, dev)
    assert best == mine.score(*dev) == plain.score(*dev)
    assert mine.predict(x).shape == (48, 1)
    shares = mine.predict_proba(x)
    assert shares.sum(axis=1) == pytest.approx(np.ones(48))
    assert np.array_equal(shares.argmax(axis=1), mine.predict(x)[:, 0])
    with torch.no_grad():
        expected = torch.softmax(plain.net(torch.tensor(x, dtype=torch.float32)), 1).numpy()
    assert shares == pytest.approx(expected, abs=1e-4)
    with pytest.raises(AssertionError, match="validation_data"):
        mine.fit(x, y)


def test_never_stopping_early_goes_to_the_end():
    for optim in ("adam", "adamax"):
        mine = MLP({**CLASSIFIER, "optim": optim, "max_epoch": 20}, inputdim=5, nclasses=2)
        mine.fit(*blobs(), validation_data=blobs(24, seed=1), early_stop=False)
        assert mine.nepoch == 22  # looks after 2, 4, … and the first beyond 20 is the last


def test_a_model_of_ones_own_is_trained_in_torch():
    class Deep(MLP):
        """Another model under the same rule."""

        def __init__(self, params, **more):
            super().__init__(params, **more)
            layers = [torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)]
            self.model = torch.nn.Sequential(*layers)
            self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.05)

    mine = Deep(CLASSIFIER, inputdim=5, nclasses=2)
    assert isinstance(mine, PyTorchClassifier)
    assert mine.fit(*blobs(), validation_split=0.2) > 0.5
    again = Deep(CLASSIFIER, inputdim=5, nclasses=2)
    again.fit(*blobs(), validation_split=0.2)
    assert np.array_equal(mine.predict_proba(blobs()[0]), again.predict_proba(blobs()[0]))


def test_protocols_are_built_on():
    class Rounded(KFoldClassifier):
        """As forks do for a task of their own."""

        def run(self):
            return tuple(round(float(value)) for value in super().run()[:2])

    (x, y), (tx, ty) = blobs(), blobs(30, seed=1)
    dev, test = Rounded({"X": x, "y": y}, {"X": tx, "y": ty}, config()).run()
    assert isinstance(dev, int)
    assert 0 <= test <= 100


def test_distributions_and_scores():
    assert distributions([1, 2.25, 5, 0.5, 0], 5).tolist() == [
        [1, 0, 0, 0, 0], [0, 0.75, 0.25, 0, 0], [0, 0, 0, 0, 1], [0.5, 0, 0, 0, 0], [0, 0, 0, 0, 0],
    ]  # fmt: skip


def test_relatedness_is_learnt_from_distributions():
    draw = np.random.RandomState(0)
    x = draw.randn(60, 4)
    scores = np.clip(3 + x[:, 0], 1, 5)
    part = {"X": x, "y": distributions(scores, 5).astype(np.float32)}
    dev, found = RelatednessPytorch(part, part, part, scores, {"seed": 1111, "nclasses": 5}).run()
    assert dev == pytest.approx(np.corrcoef(found, scores)[0, 1])
    assert dev > 0.8
    flat = {"X": x, "y": np.full((60, 5), 0.2)}
    with pytest.raises(UsageError, match="neighbouring"):
        RelatednessPytorch(flat, part, part, scores, {"seed": 1111, "nclasses": 5}).run()


def test_images_may_be_given_once_or_for_each_caption(monkeypatch):
    monkeypatch.setattr(ranking, "rank", partial(ranking.rank, passes=1))
    draw = np.random.RandomState(0)
    sizes, found = (30, 4, 8), []
    images, captions = ([draw.randn(n * each, d) for n in sizes] for each, d in ((1, 3), (5, 4)))
    for each in (1, 5):
        parts = [
            {"imgfeat": np.repeat(image, each, axis=0), "sentfeat": text}
            for image, text in zip(images, captions, strict=True)
        ]
        given = {"seed": 1111, "projdim": 20, "margin": 0.2}
        found.append(ranking.ImageSentenceRankingPytorch(*parts, config=given).run())
    assert found[0] == found[1]
    assert len(found[0]) == 9
    assert 0 <= found[0][0] <= 600


def test_a_device_goes_to_torch():
    def run(**classifier):
        return InnerKFoldClassifier(*blobs(), config(classifier={**config()["classifier"], **classifier})).run()

    assert run(device="cpu") == run()
    with pytest.raises(UsageError, match="nowhere"):
        run(device="nowhere")
