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
    trial = _Trial(
        architecture, resolve_settings(architecture.settings, settings or {}, f"the encoder {architecture.name}")
    )
    rule = "it gives one vector of finite numbers per sentence, of the size that it names"
    try:
        body = trial.build()
        encoded = trial.encode(body)
        defect = _shape(encoded.vectors, (len(LENGTHS), body.size))
    except Exception as e:  # whatever third-party code raises
        yield Verdict(rule, False, f"got {describe_error(e)}{error_location(e)}")
        return
    yield Verdict(rule, not defect, defect or f"{body.size} numbers")
    if defect:
        return
    vectors = encoded.vectors.detach()
    yield from verdicts(
        (
            ("a vector does not depend on the other sentences of the batch", lambda: trial.one_by_one(body, vectors)),
            ("a vector does not depend on the order of the batch", lambda: trial.reordered(body, vectors)),
            ("a vector does not depend on the padding", lambda: trial.padded(body, vectors)),
            ("the same seed gives the same network", lambda: trial.rebuilt(vectors)),
            ("its layers have a state for each word", lambda: _layer_shapes(encoded)),
            ("different sentences have different vectors", lambda: _distinct(vectors)),
            ("all its weights are trained", lambda: trial.gradients(body)),
        )
    )


class _Trial:
    """An architecture, and the sentences that it is tried on; what breaks a rule is a text, and nothing is empty."""

    def __init__(self, architecture: Architecture, values: Mapping[str, Value]) -> None:
        import torch

        self._architecture, self._values = architecture, values
        generator = torch.Generator().manual_seed(1)
        self._lengths = torch.tensor(LENGTHS)
        self._inputs = torch.randn(len(LENGTHS), max(LENGTHS), WIDTH, generator=generator)
        self._ids = torch.randint(1, 50, self._inputs.shape[:2], generator=generator)
        for row, length in enumerate(LENGTHS):
            self._inputs[row, length:] = 0
            self._ids[row, length:] = 0

    def build(self) -> Body:
        """The network with the weights of seed 0."""
        import torch

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            body = self._architecture.build(WIDTH, self._values)
        body.eval()  # type: ignore[attr-defined]  # a body is a torch module
        return body

    def encode(self, body: Body) -> Encoded:
        """All sentences in one batch."""
        return self._encode(body, self._inputs, self._lengths, self._ids)

    def _encode(self, body: Body, inputs: Tensor, lengths: Tensor, ids: Tensor) -> Encoded:
        return body(inputs, lengths, *([ids] if self._architecture.reads_ids else []))

    def one_by_one(self, body: Body, vectors: Tensor) -> str:
        import torch

        rows = [slice(i, i + 1) for i in range(len(LENGTHS))]
        parts = [
            self._encode(body, self._inputs[row, :n], self._lengths[row], self._ids[row, :n]).vectors
            for row, n in zip(rows, LENGTHS, strict=True)
        ]
        return _difference(vectors, torch.cat(parts).detach())

    def reordered(self, body: Body, vectors: Tensor) -> str:
        import torch

        order = torch.arange(len(LENGTHS)).flip(0)
        encoded = self._encode(body, self._inputs[order], self._lengths[order], self._ids[order])
        return _difference(vectors, encoded.vectors.detach()[order])

    def padded(self, body: Body, vectors: Tensor) -> str:
        import torch

        inputs = torch.cat((self._inputs, self._inputs.new_zeros(len(LENGTHS), 4, WIDTH)), 1)
        ids = torch.cat((self._ids, self._ids.new_zeros(len(LENGTHS), 4)), 1)
        for row, length in enumerate(LENGTHS):  # not zeros, which a sum over time would hide
            inputs[row, length:] = 9.0
            ids[row, length:] = 9
        return _difference(vectors, self._encode(body, inputs, self._lengths, ids).vectors.detach())

    def rebuilt(self, vectors: Tensor) -> str:
        return _difference(vectors, self.encode(self.build()).vectors.detach())

    def gradients(self, body: Body) -> str:
        if not any(p.requires_grad for p in body.parameters()):  # type: ignore[attr-defined]
            return ""
        self.encode(body).vectors.square().sum().backward()  # type: ignore[no-untyped-call]
        names = [name for name, p in body.named_parameters() if p.requires_grad and p.grad is None]  # type: ignore[attr-defined]
        return f"no gradient reaches {', '.join(names)}" if names else ""


def _layer_shapes(encoded: Encoded) -> str:
    sentences_by_words = (len(LENGTHS), max(LENGTHS))
    shapes = [tuple(layer.shape) for layer in encoded.layers]
    is_right = all(s[:2] == sentences_by_words and len(s) == 3 for s in shapes)
    return "" if is_right else f"got layers of shapes {shapes}"


def _distinct(vectors: Tensor) -> str:
    import torch

    return "" if len(torch.unique(vectors, dim=0)) == len(LENGTHS) else "two different sentences have one vector"


def _shape(vectors: Tensor, expected: tuple[int, int]) -> str:
    if tuple(vectors.shape) != expected:
        return f"expected shape {expected}, got {tuple(vectors.shape)}"
    return "" if bool(vectors.isfinite().all()) else "got numbers that are not finite"


def _difference(first: Tensor, second: Tensor) -> str:
    """Where two arrays of vectors differ, or nothing."""
    if first.shape != second.shape:
        return f"expected shape {tuple(first.shape)}, got {tuple(second.shape)}"
    gap = float((first - second).abs().max() / first.abs().max().clamp(min=1e-12))
    return "" if gap <= TOLERANCE else f"vectors differ by {gap:.1e} of the largest number"
