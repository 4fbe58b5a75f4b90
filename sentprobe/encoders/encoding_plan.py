"""What encoding texts would take, before it is done: how many are not stored, and how many tokens these have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.core.table import Table
from sentprobe.encoders.embed import stored_texts
from sentprobe.encoders.encoder import encoder_info
from sentprobe.encoders.scheme import load
from sentprobe.encoders.server import Server, cost_text
from sentprobe.encoders.store import Store


@dataclass(frozen=True)
class EncodingPlan:
    """What one encoder would encode."""

    name: str
    texts: int
    missing: int
    """Texts without a stored vector, which would be encoded, or sent."""
    tokens: int | None
    """Of these; None for an encoder without tokens."""
    exact: bool
    """Whether the encoder's own tokenizer has counted, or tokens are estimated by bytes."""
    price: float | None
    """Of a million tokens."""

    @property
    def cells(self) -> tuple[str, ...]:
        """A row of a table."""
        about = "" if self.exact else "about "
        tokens = "" if self.tokens is None else f"{about}{self.tokens:,}"
        cost = "" if self.price is None or self.tokens is None else f"{about}{cost_text(self.tokens, self.price)}"
        return (self.name, f"{self.texts:,}", f"{self.missing:,}", tokens, cost)


def plan_encoding(name: str, texts: Sequence[str], store: Store | None, *, half: bool = False) -> EncodingPlan:
    """What it would take to encode texts, each once. The encoder is loaded, and nothing is encoded or sent."""
    encoder, distinct = load(name), list(dict.fromkeys(texts))
    stored = stored_texts(encoder, distinct, store, half=half)
    missing = [distinct[i] for i in np.flatnonzero(~stored).tolist()]
    info = encoder_info(encoder)
    if isinstance(encoder, Server):
        return EncodingPlan(
            name, len(distinct), len(missing), encoder.estimated_tokens(missing), exact=False, price=encoder.price
        )
    tokens = int(np.sum(info.cost(missing))) if info.cost is not None and missing else None
    return EncodingPlan(name, len(distinct), len(missing), tokens, exact=True, price=None)


def plan_table(plans: Iterable[EncodingPlan]) -> Table:
    """The plans as a table, without columns that none of them fills."""
    rows = [("encoder", "texts", "to encode", "tokens", "cost"), *(plan.cells for plan in plans)]
    filled = [i for i in range(len(rows[0])) if any(row[i] for row in rows[1:])]
    header, *body = [tuple(row[i] for i in filled) for row in rows]
    return Table.of_rows(header, body)
