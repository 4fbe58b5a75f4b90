"""Whether an architecture follows the rules: one finite vector per sentence, which depends on that sentence alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sentprobe.core.arguments import Value, resolve_settings
from sentprobe.errors import SentProbeError, describe_error, error_location
from sentprobe.lab.training import require_training
from sentprobe.testing.verdict import Verdict, verdicts

if TYPE_CHECKING:
    from torch import Tensor

    from sentprobe.lab.networks.architecture import Architecture, Body, Encoded

WIDTH = 6
LENGTHS = (5, 1, 9, 3, 9, 2)
TOLERANCE = 1e-5
"""By how much vectors may differ, relative to the largest number; sums in another order differ by less."""


def check_architecture(architecture: Architecture, settings: Mapping[str, Value] | None = None) -> None:
    """Raise SentProbeError at the first rule that an architecture breaks.

    Parameters
    ----------
    architecture: Architecture
        What a file of ``sentprobe/lab/networks/architectures``, or an entry point of ``sentprobe.architectures``, has.
    settings: Mapping, optional
        Values of its settings, such as a small ``hidden``; the others are as by default.
    """
    for verdict in examine_architecture(architecture, settings):
        if not verdict.passed:
            raise SentProbeError(f"The architecture breaks a rule: {verdict.rule}. {verdict.detail}")


def examine_architecture(architecture: Architecture, settings: Mapping[str, Value] | None = None) -> Iterator[Verdict]:
    """Try an architecture on random sentences, rule by rule; what cannot be tried after a failure is skipped."""
    require_training()
    import torch

    values = resolve_settings(architecture.settings, settings or {}, f"the encoder {architecture.name}")

    def build() -> Body:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            found = architecture.build(WIDTH, values)
        found.eval()  # type: ignore[attr-defined]  # a body is a torch module
        return found

    generator = torch.Generator().manual_seed(1)
    lengths = torch.tensor(LENGTHS)
    inputs = torch.randn(len(LENGTHS), max(LENGTHS), WIDTH, generator=generator)
    ids = torch.randint(1, 50, inputs.shape[:2], generator=generator)
    for row, length in enumerate(LENGTHS):
        inputs[row, length:] = 0
        ids[row, length:] = 0

    def encode(body: Body, inputs: Tensor, lengths: Tensor, ids: Tensor) -> Encoded:
        return body(inputs, lengths, *([ids] if architecture.reads_ids else []))

    rule = "it gives one vector of finite numbers per sentence, of the size that it names"
    try:
        body = build()
        encoded = encode(body, inputs, lengths, ids)
        wrong = _shape(encoded.vectors, (len(LENGTHS), body.size))
    except Exception as e:  # whatever third-party code raises
        yield Verdict(rule, False, f"got {describe_error(e)}{error_location(e)}")
        return
    yield Verdict(rule, not wrong, wrong or f"{body.size} numbers")
    if wrong:
        return
    vectors = encoded.vectors.detach()

    def alone() -> str:
        rows = [slice(i, i + 1) for i in range(len(LENGTHS))]
        parts = [
            encode(body, inputs[row, :n], lengths[row], ids[row, :n]).vectors
            for row, n in zip(rows, LENGTHS, strict=True)
        ]
        return _difference(vectors, torch.cat(parts).detach())

    def reordered() -> str:
        order = torch.arange(len(LENGTHS)).flip(0)
        found = encode(body, inputs[order], lengths[order], ids[order]).vectors
        return _difference(vectors, found.detach()[order])

    def padded() -> str:
        noise = torch.cat((inputs, inputs.new_zeros(len(LENGTHS), 4, WIDTH)), 1)
        others = torch.cat((ids, ids.new_zeros(len(LENGTHS), 4)), 1)
        for row, length in enumerate(LENGTHS):
            noise[row, length:] = 9.0
            others[row, length:] = 9
        return _difference(vectors, encode(body, noise, lengths, others).vectors.detach())

    def layers() -> str:
        time = (len(LENGTHS), max(LENGTHS))
        shapes = [tuple(layer.shape) for layer in encoded.layers]
        return "" if all(s[:2] == time and len(s) == 3 for s in shapes) else f"got layers of shapes {shapes}"

    def distinct() -> str:
        return "" if len(torch.unique(vectors, dim=0)) == len(LENGTHS) else "two different sentences have one vector"

    def same() -> str:
        return _difference(vectors, encode(build(), inputs, lengths, ids).vectors.detach())

    def learns() -> str:
        if not any(p.requires_grad for p in body.parameters()):  # type: ignore[attr-defined]
            return ""
        encode(body, inputs, lengths, ids).vectors.square().sum().backward()  # type: ignore[no-untyped-call]
        names = [name for name, p in body.named_parameters() if p.requires_grad and p.grad is None]  # type: ignore[attr-defined]
        return f"no gradient reaches {', '.join(names)}" if names else ""

    yield from verdicts(
        (
            ("a vector does not depend on the other sentences of the batch", alone),
            ("a vector does not depend on the order of the batch", reordered),
            ("a vector does not depend on the padding", padded),
            ("the same seed gives the same network", same),
            ("its layers have a state for each word", layers),
            ("different sentences have different vectors", distinct),
            ("all its weights are trained", learns),
        )
    )


def _shape(vectors: Tensor, expected: tuple[int, int]) -> str:
    if tuple(vectors.shape) != expected:
        return f"expected shape {expected}, got {tuple(vectors.shape)}"
    return "" if bool(vectors.isfinite().all()) else "got numbers that are not finite"


def _difference(one: Tensor, other: Tensor) -> str:
    """Where two arrays of vectors differ, or nothing."""
    if one.shape != other.shape:
        return f"expected shape {tuple(one.shape)}, got {tuple(other.shape)}"
    gap = float((one - other).abs().max() / one.abs().max().clamp(min=1e-12))
    return "" if gap <= TOLERANCE else f"vectors differ by {gap:.1e} of the largest number"
