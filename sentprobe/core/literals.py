"""Fields of type ``Literal``: other values are refused when an object is made."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from sentprobe.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def check_literals(value: DataclassInstance, what: str) -> None:
    """Raise UsageError if a ``Literal`` field of a dataclass has any other value; ``what`` names the object."""
    for name, words in _words(type(value)).items():
        got = getattr(value, name)
        if isinstance(got, str) and got not in words:
            raise UsageError(f"{what}'s {name} must be {' or '.join(words)}, got {got!r}.")


@cache
def _words(kind: type[DataclassInstance]) -> dict[str, tuple[str, ...]]:
    found = {name: tuple(_literals(hint)) for name, hint in get_type_hints(kind).items()}
    return {name: words for name, words in found.items() if words}


def _literals(hint: Any) -> list[str]:
    if get_origin(hint) is Literal:
        return [str(word) for word in get_args(hint)]
    if get_origin(hint) in (Union, UnionType):
        return [word for part in get_args(hint) for word in _literals(part)]
    return []
