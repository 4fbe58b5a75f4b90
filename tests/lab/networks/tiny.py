"""Every architecture in a small size, and in all its variants."""

import torch

from sentprobe.core.arguments import resolve_settings
from sentprobe.lab.networks import ARCHITECTURES

WIDTH = 5
SMALL = {
    "hidden": 6,
    "layers": 2,
    "heads": 3,
    "mlp": 4,
    "positions": 4,
    "channels": 3,
    "project": 7,
    "feedforward": 9,
    "buckets": 11,
}
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


class _WithIds(torch.nn.Module):
    """A body that reads the numbers of words, which follow from their vectors here."""

    def __init__(self, body):
        super().__init__()
        self.body, self.size, self.pools_max = body, body.size, body.pools_max

    def forward(self, inputs, lengths):
        return self.body(inputs, lengths, (100 * inputs[:, :, 0].detach()).long().remainder(13))


def make(name, settings, width=WIDTH):
    """A network that is called with vectors and lengths."""
    body = ARCHITECTURES[name].build(width, settings)
    return _WithIds(body) if ARCHITECTURES[name].reads_ids else body


def build(variant, seed=0, width=WIDTH):
    """A small network of a variant: a name and settings."""
    name, changed = variant
    torch.manual_seed(seed)
    return make(name, small_settings(name, changed), width)


def batch(lengths, time=None, *, filling=0.0, width=WIDTH, seed=1):
    """Random sentences (sentences, time, width) that are the same for any padding, and their lengths."""
    random = torch.Generator().manual_seed(seed)
    inputs = torch.full((len(lengths), time or max(lengths), width), filling)
    for sentence, length in zip(inputs, lengths, strict=True):
        sentence[:length] = torch.randn(length, width, generator=random)
    return inputs, torch.tensor(lengths)
