"""A classifier trained in minibatches and stopped early on dev, by SentEval's rule, with or without a hidden layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from sentprobe.probes import network
from sentprobe.probes.features import Features, Ints
from sentprobe.probes.kind import COMMON_SETTINGS, Model, Preset, ProbeKind
from sentprobe.probes.probe import AS_INPUT, Probe
from sentprobe.stats.training import NETWORK_GROUPS


def refit(probe: Probe, train: Features, labels: Ints, classes: int, *, seed: int, device: str | None) -> Model:
    """Fit one point of the grid, stopping on a few training rows; one generator draws these and all orders."""
    orders = np.random.RandomState(seed)
    stop, learn = np.split(orders.permutation(len(train)), [int(network.EARLY_STOPPING_SHARE * len(train))])
    return network.fit_grid(
        probe,
        train.select(learn),
        labels[learn],
        train.select(stop),
        labels[stop],
        classes,
        seed=seed,
        orders=orders,
        device=device,
    )[0].model


def unused(probe: Probe) -> Mapping[str, str]:
    """The settings of a hidden layer and of dropout, where there is none."""
    if probe.hidden == (0,):
        return dict.fromkeys(("activation", "dropout", "drop", "flat"), "there is no hidden layer; add hidden=50")
    return {} if any(probe.dropout) else {"drop": "there is no dropout"}


probe = ProbeKind(
    name="network",
    order=2,
    summary="logistic regression, or one hidden layer, trained in minibatches and stopped early on dev",
    # all that have to do with training by minibatches
    settings=tuple(setting.name for setting in fields(Probe) if setting.name not in (*COMMON_SETTINGS, "weights")),
    unused=unused,
    fit=network.fit,
    refit=refit,
    model=network.Network,
    marker="activation",
    groups=NETWORK_GROUPS,
    resamples=10,  # each takes half as long as one point of the grid
    presets=(
        Preset(
            name="mlp",
            summary="one hidden layer of sigmoid units, stopped early on dev; logistic regression for word content",
            chosen_on_dev="units 50, 100, 200 × dropout 0, 0.1, 0.2 × L2",
            # the grid of `conneau2018` with twice as many evaluations on dev, which would end the training while it is
            # still improving, were patience not restored: XOR of two dimensions was then missed for some seeds
            settings={
                "hidden": (50, 100, 200),
                "dropout": (0.0, 0.1, 0.2),
                "every": 2,
                "reset": True,
                "flat": ("word_content",),
            },
            version=2,
        ),
        Preset(
            name="senteval",
            summary="SentEval's own logistic regression: Adam, batches of 64, dev after every four epochs, its "
            "stopping rule",
            chosen_on_dev="L2",
            settings={"flat": ("word_content",)},  # as typed with hidden units
        ),
        Preset(
            name="conneau2018",
            summary="the grid of `mlp` with exactly SentEval's rule (Conneau et al. 2018, appendix)",
            chosen_on_dev="as `mlp`",
            settings={"hidden": (50, 100, 200), "dropout": (0.0, 0.1, 0.2), "flat": ("word_content",)},
        ),
        Preset(
            name="adi2017",
            summary="one hidden layer of ReLU units, as wide as the input, dropout 0.8 before the softmax, AdaGrad, "
            "stopped on the loss (Adi et al. 2017, appendix)",
            # five epochs without gain in dev loss end the training; the paper does not give the batch size
            settings={
                "hidden": (AS_INPUT,),
                "activation": "relu",
                "dropout": (0.8,),
                "drop": "after",
                "optimiser": "adagrad",
                "rate": 0.01,
                "l2": (0.0,),
                "every": 1,
                "reset": True,
                "watch": "loss",
                "passes": 100,
            },
        ),
        Preset(
            name="xprobe2019",
            summary="150 sigmoid units, Adam, batches of 10 (Ravishankar et al. 2019)",
            # the paper does not say when training is stopped
            settings={"hidden": (150,), "l2": (0.0,), "batch": 10, "every": 1, "reset": True, "passes": 100},
        ),
    ),
)
