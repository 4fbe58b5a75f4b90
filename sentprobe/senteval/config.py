"""``params['classifier']`` → the probe that is trained."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Mapping
from typing import Any

from sentprobe.errors import UsageError
from sentprobe.probes import Probe
from sentprobe.senteval.utils import parse_optimiser

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
    "nhid", "optim", "batch_size", "tenacity", "epoch_size", "max_epoch", "dropout", "loss_reduction", "fast"
)  # fmt: skip

log = logging.getLogger("senteval")


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
    found = classifier.get("loss_reduction", "mean")
    if found not in ("mean", "sum"):
        raise UsageError(f"loss_reduction must be mean, as in torch today, or sum, as in 2018, got {found!r}.")
    return found


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
