"""Every architecture in a small size, and in all its variants."""

import torch

from sonde.core.settings import resolve_settings
from sonde.networks import ARCHITECTURES

WIDTH = 5
SMALL = {"hidden": 6, "layers": 2, "heads": 3, "mlp": 4, "positions": 4, "channels": 3, "project": 7, "feedforward": 9}
"""Sizes; sentences of these tests are longer than the table of positions."""

VARIANTS = [
    *((name, {}) for name in ARCHITECTURES),
    ("self-attention-max", {"over": "states"}),
    ("self-attention-last", {"over": "states"}),
    ("gated-convnet", {"residual": False}),
    ("gated-convnet", {"kernel": 4}),
    ("hconvnet", {"kernel": 6}),
    ("cnn-max", {"project": 0}),
    ("cnn-mean", {"kernels": "2-8-1"}),
    ("transformer", {"pool": "max"}),
    ("transformer", {"pool": "first"}),
    ("transformer", {"hidden": WIDTH, "heads": 1}),
]


def label(variant):
    name, changed = variant
    return " ".join([name, *(f"{key}={value}" for key, value in changed.items())])


def small_settings(name, changed=()):
    """Settings of an architecture, as small as possible and without dropout, but for those that are given."""
    known = ARCHITECTURES[name].settings
    sizes = {key: value for key, value in {**SMALL, "dropout": 0.0}.items() if key in known}
    return resolve_settings(known, {**sizes, **dict(changed)}, name)


def build(variant, seed=0, width=WIDTH):
    """A small network of a variant: a name and settings."""
    name, changed = variant
    torch.manual_seed(seed)
    return ARCHITECTURES[name].build(width, small_settings(name, changed))


def batch(lengths, time=None, *, filling=0.0, width=WIDTH, seed=1):
    """Random sentences (sentences, time, width) that are the same for any padding, and their lengths."""
    random = torch.Generator().manual_seed(seed)
    inputs = torch.full((len(lengths), time or max(lengths), width), filling)
    for sentence, length in zip(inputs, lengths, strict=True):
        sentence[:length] = torch.randn(length, width, generator=random)
    return inputs, torch.tensor(lengths)
