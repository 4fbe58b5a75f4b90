"""Public modules whose names are loaded when they are first used, from wherever they are defined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def public_names(module: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of a module.

    Parameters
    ----------
    module
        Its name.
    homes
        Where each name is defined: a module, or ``module:name`` if it has another name there.
    """

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        origin, _, attribute = home.partition(":")
        return getattr(import_module(origin), attribute or name)

    return load, lambda: sorted(homes)
