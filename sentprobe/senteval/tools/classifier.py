"""SentEval's classifier: ``params['classifier']`` → a probe, and the classes of code that fits it directly.

``MLP`` is trained by ``sentprobe.probes``, without torch. Where torch is requested, by an optimiser that it alone
has or by a class that brings a model of its own, the same rule is followed in torch.
"""

# ruff: noqa: N803, N806 - the capital letters are SentEval's

from __future__ import annotations

import copy
import difflib
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import NotInstalled, UsageError
from sentprobe.probes import Features, Model, Probe, network
from sentprobe.senteval.encoding import Array
from sentprobe.senteval.utils import get_optimizer, parse_optimiser

__all__ = ["MLP", "PyTorchClassifier"]

log = logging.getLogger("senteval")

L2_GRID = (1e-5, 1e-4, 1e-3, 1e-2)
"""SentEval's weights of the L2 penalty."""
UNREGULARISED = 1e-9
"""Used instead of the grid for SNLI."""
FAST = f"senteval, l2 {L2_GRID[0]:g} only"
"""What the fast mode is called in a result. The weaker three penalties hardly affect a classifier that is stopped
early, and which of them is best on dev is mostly chance: benchmarks/senteval.py shows the difference."""
RATES = {"adam": 1e-3, "adagrad": 1e-2, "rmsprop": 1e-2, "sgd": 0.0}
"""The optimisers that do not need torch, and torch's learning rates for them; that of sgd must always be given."""
_KEYS = (
    *("nhid", "optim", "batch_size", "tenacity", "epoch_size", "max_epoch", "dropout"),
    *("loss_reduction", "fast", "device"),
)
"""What ``params['classifier']`` may have. (``params['device']`` is the client's own, for its encoder.)"""


def probe_of(classifier: Mapping[str, Any], *, unregularised: bool = False) -> Probe | None:
    """The probe for a classifier's configuration; None if only torch has the optimiser.

    With ``unregularised``, the L2 penalty is ``UNREGULARISED`` instead of a grid.
    """
    name, options = parse_optimiser(classifier.get("optim", "adam"))
    options.pop("weight_decay", None)  # SentEval overwrites it
    if name not in RATES or not set(options) <= {"lr"}:
        return None
    hidden = int(classifier["nhid"])
    return Probe(
        hidden=(hidden,),
        dropout=(float(classifier.get("dropout", 0.0)) if hidden else 0.0,),
        l2=grid_of(classifier, unregularised=unregularised),
        optimiser=name,  # type: ignore[arg-type]
        rate=options.get("lr", RATES[name]),
        batch=int(classifier.get("batch_size", 64)),
        every=int(classifier.get("epoch_size", 4)),
        patience=int(classifier.get("tenacity", 5)),
        passes=int(classifier.get("max_epoch", 200)),
        reduction=reduction_of(classifier),
    )


def grid_of(classifier: Mapping[str, Any], *, unregularised: bool = False) -> tuple[float, ...]:
    """The penalties of which the best on dev is chosen."""
    if unregularised:
        return (UNREGULARISED,)
    return L2_GRID[:1] if is_fast(classifier) else L2_GRID


def reduction_of(classifier: Mapping[str, Any]) -> Any:
    """How the losses of a batch become one."""
    reduction = classifier.get("loss_reduction", "mean")
    if reduction not in ("mean", "sum"):
        raise UsageError(f"loss_reduction must be mean, as in torch today, or sum, as in 2018, got {reduction!r}.")
    return reduction


def is_fast(classifier: Mapping[str, Any]) -> bool:
    """Whether only one penalty is tried."""
    return bool(classifier.get("fast", False))


def protocol_of(classifier: Mapping[str, Any]) -> dict[str, str]:
    """How a result was obtained, if not by SentEval's protocol."""
    return {"protocol": FAST} if is_fast(classifier) else {}


def warn_unknown_keys(classifier: Mapping[str, Any]) -> None:
    """Warn about unknown keys, which may be typos; SentEval ignores them silently."""
    for key in classifier:
        if key not in _KEYS:
            near = difflib.get_close_matches(str(key), _KEYS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(_KEYS)}"
            log.warning("params['classifier'] has the unknown key %r; %s", key, hint)


def floats(X: Any) -> npt.NDArray[np.float32]:
    """(n, d) as one contiguous array of 32-bit floats."""
    return np.ascontiguousarray(X, np.float32)


def integers(y: Any) -> npt.NDArray[np.int64]:
    """Labels (n,), which may be floats, as integers."""
    return np.asarray(y).astype(np.int64)


class PyTorchClassifier:
    """A classifier in torch: a subclass gives it ``model``, ``loss_fn``, ``optimizer`` and when to stop."""

    model: Any
    loss_fn: Any
    optimizer: Any
    max_epoch = 200
    epoch_size = 4
    tenacity = 5
    _probe: Probe | None = None
    """What is trained instead of a model in torch."""

    def __init__(
        self,
        inputdim: int,
        nclasses: int,
        l2reg: float = 0.0,
        batch_size: int = 64,
        seed: int = 1111,
        cudaEfficient: bool = False,
        device: str | None = None,
    ) -> None:
        self.inputdim, self.nclasses, self.l2reg = inputdim, nclasses, l2reg
        self.batch_size, self.seed, self.cudaEfficient = batch_size, seed, cudaEfficient
        self.nepoch = 0
        self._orders = np.random.RandomState(seed)
        self.device = device or ""
        if self._probe is None:
            self.device = device or "cpu"
            self._torch = torch_or_error("This classifier")
            self._torch.manual_seed(seed)  # a model that is built now starts from this seed

    def prepare_split(
        self, X: Any, y: Any, validation_data: Any = None, validation_split: float | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Training and dev rows with their labels, as tensors; a share of the rows becomes dev if none is given."""
        trainX, trainy, devX, devy = self._split(X, y, validation_data, validation_split)
        return self._tensor(trainX), self._labels(trainy), self._tensor(devX), self._labels(devy)

    def fit(
        self,
        X: Any,
        y: Any,
        validation_data: Any = None,
        validation_split: float | None = None,
        early_stop: bool = True,
    ) -> float:
        """Train until dev no longer improves, keep the best model, and return its accuracy on dev."""
        self.nepoch, best, stale_evaluations, stopped = 0, -1.0, 0, False
        trainX, trainy, devX, devy = self.prepare_split(X, y, validation_data, validation_split)
        best_model, threads = self.model, self._torch.get_num_threads()
        self._torch.set_num_threads(1)  # batches are small: several threads wait for each other
        try:
            while not stopped and self.nepoch <= self.max_epoch:
                self.trainepoch(trainX, trainy, epoch_size=self.epoch_size)
                accuracy = self.score(devX, devy)
                if accuracy > best:
                    best, best_model = accuracy, copy.deepcopy(self.model)
                elif early_stop:
                    stopped = stale_evaluations >= self.tenacity
                    stale_evaluations += 1
        finally:
            self._torch.set_num_threads(threads)
        self.model = best_model
        return best

    def trainepoch(self, X: Any, y: Any, epoch_size: int = 1) -> None:
        """Train for this many epochs, each in a new order."""
        self.model.train()
        for _ in range(epoch_size):
            order = self._torch.from_numpy(self._orders.permutation(len(X)))
            for rows in order.split(self.batch_size):
                loss = self.loss_fn(self.model(X[rows]), y[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        self.nepoch += epoch_size

    def score(self, devX: Any, devy: Any) -> float:
        """The share of rows that are predicted correctly."""
        labels = devy.cpu() if hasattr(devy, "cpu") else devy
        correct = self.predict(devX)[:, 0] == np.asarray(labels)
        return float(correct.sum() / len(correct))

    def predict(self, devX: Any) -> Array:
        """The predicted labels, (n, 1), as floats."""
        return np.asarray(self._scores(devX).argmax(axis=1)[:, None], np.float64)

    def predict_proba(self, devX: Any) -> Array:
        """The probabilities of the classes, (n, classes)."""
        scores = self._scores(devX).astype(np.float64)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def _split(self, X: Any, y: Any, dev: Any, share: float | None) -> tuple[Array, Array, Array, Array]:
        """Training and dev rows with their labels."""
        if not share and not dev:
            raise AssertionError("Early stopping needs dev rows: pass validation_data or validation_split.")
        X, y = np.asarray(X), integers(y)
        if dev is not None:
            return X, y, np.asarray(dev[0]), integers(dev[1])
        assert share is not None
        stop, learn = np.split(self._orders.permutation(len(X)), [int(share * len(X))])
        return X[learn], y[learn], X[stop], y[stop]

    def _scores(self, X: Any) -> Array:
        """The output of the model, (n, classes)."""
        self.model.eval()
        with self._torch.no_grad():
            batches = self._tensor(X).split(self.batch_size)
            return np.concatenate([self.model(batch).cpu().numpy() for batch in batches])

    def _tensor(self, X: Any) -> Any:
        return self._torch.as_tensor(X, dtype=self._torch.float32, device=self.device)

    def _labels(self, y: Any) -> Any:
        return self._torch.as_tensor(y, dtype=self._torch.int64, device=self.device)


class MLP(PyTorchClassifier):
    """SentEval's classifier: logistic regression, or with ``nhid`` one hidden layer of sigmoid units."""

    def __init__(
        self,
        params: Mapping[str, Any],
        inputdim: int,
        nclasses: int,
        l2reg: float = 0.0,
        batch_size: int = 64,
        seed: int = 1111,
        cudaEfficient: bool = False,
        device: str | None = None,
    ) -> None:
        self.nhid = params["nhid"]
        self.optim = params.get("optim", "adam")
        self.tenacity = params.get("tenacity", 5)
        self.epoch_size = params.get("epoch_size", 4)
        self.max_epoch = params.get("max_epoch", 200)
        self.dropout = params.get("dropout", 0.0)
        size = params.get("batch_size", batch_size)
        probe = probe_of({**params, "fast": False})
        # a subclass may override what only torch's loop calls, so that it is trained by that loop
        self._probe = None if probe is None or type(self) is not MLP else replace(probe, l2=(l2reg,))
        super().__init__(inputdim, nclasses, l2reg, size, seed, cudaEfficient, device)
        if self._probe is None:
            self._build(reduction_of(params))

    def _build(self, reduction: str) -> None:
        nn = self._torch.nn
        if self.nhid:
            layers = [
                nn.Linear(self.inputdim, self.nhid),
                nn.Dropout(p=self.dropout),
                nn.Sigmoid(),
                nn.Linear(self.nhid, self.nclasses),
            ]
        else:
            layers = [nn.Linear(self.inputdim, self.nclasses)]
        self.model = nn.Sequential(*layers).to(self.device)
        self.loss_fn = nn.CrossEntropyLoss(reduction=reduction)
        optimiser, options = get_optimizer(self.optim)
        self.optimizer = optimiser(self.model.parameters(), **options)
        self.optimizer.param_groups[0]["weight_decay"] = self.l2reg

    def fit(
        self,
        X: Any,
        y: Any,
        validation_data: Any = None,
        validation_split: float | None = None,
        early_stop: bool = True,
    ) -> float:
        """Train until dev no longer improves, keep the best model, and return its accuracy on dev."""
        if self._probe is None:
            return super().fit(X, y, validation_data, validation_split, early_stop)
        trainX, trainy, devX, devy = self._split(X, y, validation_data, validation_split)
        probe = self._probe if early_stop else replace(self._probe, patience=self._probe.passes)
        train, dev = (Features.of(floats(rows)) for rows in (trainX, devX))
        (fitted,) = network.fit_grid(
            probe,
            train,
            trainy,
            dev,
            devy,
            self.nclasses,
            seed=self.seed,
            orders=self._orders,
            device=self.device or None,
        )
        self.model, self.nepoch = fitted.model, fitted.tried[0]["passes"]
        return fitted.dev

    def _scores(self, X: Any) -> Array:
        if self._probe is None:
            return super()._scores(X)
        model: Model = self.model
        return model.scores(Features.of(floats(X)))


def torch_or_error(what: str) -> Any:
    """The module torch; NotInstalled, which says what needs it."""
    try:
        import torch
    except ImportError as why:
        raise NotInstalled(
            f"{what} needs torch, which cannot be imported ({why}): pip install torch. SentEval's own, with "
            "optim adam, adagrad, rmsprop or sgd and no option but lr, does not need it."
        ) from why
    return torch
