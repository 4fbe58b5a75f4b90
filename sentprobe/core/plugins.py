"""Parts that are one file each: the built-in ones of a folder, and those that installed packages offer as entry points.

A kind of part (measures, controls, charts, …) is a ``Kind``: the folder of its built-in parts, the entry point
group for those of other packages, and the type they must have. A module of the folder has one part, in a variable named
as the kind is (``measure``), or several in a tuple of the plural (``measures``); nothing else has to be changed.
An entry point names either of these, or the module:

    [project.entry-points."sentprobe.measures"]
    my_measure = "my_package.my_measure:measure"
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from sentprobe.core.suggest import did_you_mean
from sentprobe.core.third_party import third_party_code
from sentprobe.errors import SentProbeWarning, UsageError, describe_error, error_location

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Part(Protocol):
    """What all parts have in common."""

    @property
    def name(self) -> str:
        """What users type and tables show."""
        ...


T = TypeVar("T", bound=Part)


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of part, and where its parts are found."""

    noun: str
    """Singular, as in messages; also the name of the variable that holds a module's part."""
    package: str
    """The folder of the built-in parts, one module each. Modules whose names begin with _ hold what parts share."""
    type: type[T]

    @property
    def group(self) -> str:
        """The entry point group, such as ``sentprobe.measures``."""
        return f"sentprobe.{self.noun.replace(' ', '_')}s"

    def parts(self) -> Mapping[str, T]:
        """All parts by name: the built-in ones by their ``order`` if they have one and by name, then the others.

        A part of another package that cannot be loaded, or whose name is taken, is left out with a warning.
        """
        return _parts(self, tuple(sys.path))  # type: ignore[return-value]  # a cache does not keep type variables

    def __getitem__(self, name: str) -> T:
        return self.parts()[name]

    def __contains__(self, name: object) -> bool:
        return name in self.parts()

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts())

    def __len__(self) -> int:
        return len(self.parts())

    def get(self, name: str) -> T:
        """The part of this name; raises UsageError, with the nearest names, if there is none."""
        every = self.parts()
        if name not in every:
            hint = did_you_mean(name, every)
            raise UsageError(f"There is no {self.noun} {name!r}.{hint} Expected one of {', '.join(every)}.")
        return every[name]


def module_names(package: str) -> list[str]:
    """The modules of a folder that are parts."""
    return list(_modules(tuple(importlib.import_module(package).__path__)))


@cache
def _modules(path: tuple[str, ...]) -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(path) if not m.ispkg and not m.name.startswith("_"))


def offered(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by name."""
    return _offered(group, tuple(sys.path))


@cache
def _offered(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in _entry_points(path).get(group, ())}


@cache  # of all kinds at once: to read the metadata of all installed packages takes 20 ms
def _entry_points(path: tuple[str, ...]) -> dict[str, tuple[EntryPoint, ...]]:
    from importlib.metadata import entry_points

    every = entry_points()
    return {group: tuple(every.select(group=group)) for group in every.groups if group.startswith("sentprobe.")}


def load_entry(entry: EntryPoint) -> object:
    """What an entry point refers to; raises UsageError, with the cause, if it cannot be loaded."""
    try:
        with third_party_code:
            return entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        noun = entry.group.removeprefix("sentprobe.").removesuffix("s").replace("_", " ")
        package = f" of {entry.dist.name}" if entry.dist else ""
        raise UsageError(
            f"The {noun} {entry.name!r}{package} cannot be loaded: {describe_error(e)}{error_location(e)}"
        ) from e


@cache
def _parts(kind: Kind[Part], path: tuple[str, ...]) -> Mapping[str, Part]:
    found: dict[str, Part] = {}
    built_in = [p for m in module_names(kind.package) for p in _of_module(kind, f"{kind.package}.{m}")]
    for part in sorted(built_in, key=lambda part: (getattr(part, "order", 0), part.name)):
        if part.name in found:
            raise AssertionError(f"two {kind.noun}s are called {part.name!r}")
        found[part.name] = part
    for entry in offered(kind.group).values():
        try:
            loaded = load_entry(entry)
            for part in _checked(kind, loaded, f"the entry point {entry.name} of {kind.group} ({entry.value})"):
                if part.name in found:
                    raise UsageError(f"The {kind.noun} {part.name!r} of {entry.value} is left out: the name is taken.")
                found[part.name] = part
        except UsageError as e:
            warnings.warn(SentProbeWarning(str(e)), stacklevel=3)
    return MappingProxyType(found)


def _of_module(kind: Kind[Part], name: str) -> Iterator[Part]:
    return _checked(kind, importlib.import_module(name), name)


def _checked(kind: Kind[Part], found: object, where: str) -> Iterator[Part]:
    """The parts in what a file defines, or an entry point names."""
    noun = kind.noun.replace(" ", "_")
    if isinstance(found, ModuleType):
        several = getattr(found, f"{noun}s", ())
        found = (getattr(found, noun),) if hasattr(found, noun) else several
    parts = found if isinstance(found, tuple) else (found,)
    if not parts or not all(isinstance(part, kind.type) for part in parts):
        got = ", ".join(sorted({type(part).__name__ for part in parts})) or "nothing"
        raise UsageError(
            f"Expected {where} to hold a sentprobe {kind.type.__name__}, as `{noun}`, or several, as `{noun}s`; got "
            f"{got}."
        )
    yield from parts
