"""`sonde train`: train a sentence encoder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from sonde.training.log import Report

order = 80


def train(
    objective: str = "",
    *,
    encoder: Annotated[str, Parameter(("--encoder", "-e"))] = "",
    preset: str = "",
    set: Annotated[tuple[str, ...], Parameter(("--set",))] = (),
    train: Annotated[tuple[str, ...], Parameter(("--train",))] = (),
    dev: tuple[str, ...] = (),
    held_out: int = 0,
    columns: str = "",
    vectors: str = "",
    fine_tune: bool = False,
    words: int = 200_000,
    width: int = 300,
    projection: int = 0,
    tokenise: Literal["simple", "space"] = "simple",
    case: Literal["fallback", "lower", "as-is"] = "fallback",
    max_length: int = 200,
    withhold: tuple[str, ...] = (),
    optimiser: str | None = None,
    lr: float | None = None,
    batch: int | None = None,
    epochs: int | None = None,
    clip: float | None = None,
    patience: int | None = None,
    every: int | None = None,
    seed: int | None = None,
    out: Annotated[Path | None, Parameter(("--out", "-o"))] = None,
) -> int:
    """Train a sentence encoder.

    Parameters
    ----------
    objective: str
        What it is trained for.
    """
    from sonde.console import err
    from sonde.console import out as console
    from sonde.errors import UsageError
    from sonde.training.request import make_request
    from sonde.training.train import train as run

    if out is None:
        raise UsageError("Name the folder to write to: -o FOLDER.")
    pairs = {}
    for one in set:
        key, equals, value = one.partition("=")
        if not equals:
            raise UsageError(f"--set {one}: expected KEY=VALUE.")
        pairs[key] = value
    options = {
        key: value
        for key, value in (
            ("optimiser", optimiser),
            ("lr", lr),
            ("batch", batch),
            ("epochs", epochs),
            ("clip", clip),
            ("patience", patience),
            ("every", every),
            ("seed", seed),
        )
        if value is not None
    }
    request = make_request(
        objective, encoder, preset=preset, settings=pairs, options=options, train=train, dev=dev, held_out=held_out,
        columns=tuple(filter(None, columns.split(","))), vectors=vectors, fine_tune=fine_tune, words=words, width=width,
        projection=projection, tokenise=tokenise, case=case, max_length=max_length, withhold=withhold,
    )  # fmt: skip

    def report(one: Report) -> None:
        err().print(one)

    folder = run(request, out, report)
    console().print(f"trained:{folder.path}")
    return 0
