"""Parts that are one file each: those of sentprobe, found by folder, and those of installed packages, by entry point.

A kind of part (measures, charts, tasks, encoder schemes, verbs, …) is a ``Kind``: the folder of its parts, the entry
point group for those of other packages, and the type they have. A module of the folder has one part, in a variable
named as the kind is (``measure``), or several in a tuple of the plural (``measures``); nothing else has to be changed.
An entry point names either of these, or the module:

    [project.entry-points."sentprobe.measures"]
    my_measure = "my_package.my_measure:measure"

The lab has folders of its own for kinds of the core, with the same last name: charts are in ``report/charts`` and in
``lab/charts``. A kind may be one of the lab's alone.

A part of another package that cannot be loaded, or whose name is taken, is left out with a warning where all parts are
listed, and an error, with the cause, where it is asked for by name.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from sentprobe.core.arguments import did_you_mean, listed_names
from sentprobe.core.third_party import third_party_code
from sentprobe.errors import SentProbeWarning, UsageError, describe_error, error_location

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

LAB = "sentprobe.lab"
"""The package whose parts are found without an entry point, as those of the core are."""
ROOT = Path(__file__).parents[1]
"""Where ``sentprobe`` is installed."""


class NamedPart(Protocol):
    """What all parts have in common."""

    @property
    def name(self) -> str:
        """What users type and tables show."""
        ...


def part_repr(part: NamedPart) -> str:
    """The repr of a part, on one line: its functions and texts are not data to be read."""
    return f"{type(part).__name__}({part.name!r})"


T = TypeVar("T", bound=NamedPart)


@dataclass(frozen=True)
class PartSource:
    """Where a part is defined: a file of sentprobe, or an entry point of another package."""

    noun: str
    """Of the kind of part."""
    name: str
    """Of the file or the entry point."""
    module: str
    entry: EntryPoint | None = None

    @property
    def package(self) -> str:
        """The installed package that it comes with; empty for sentprobe itself."""
        if self.entry is None:
            return ""
        return self.entry.dist.name if self.entry.dist else self.entry.module

    def __str__(self) -> str:
        """For messages."""
        return f"The {self.noun} {self.name!r}" + (f" of {self.package}" if self.package else "")

    def load(self) -> object:
        """The module, or what the entry point refers to; UsageError, with the cause, if that cannot be loaded."""
        if self.entry is None:
            return importlib.import_module(self.module)
        try:
            with third_party_code:
                return self.entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            raise UsageError(f"{self} cannot be loaded: {describe_error(e)}{error_location(e)}") from e


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of part, and where its parts are found."""

    noun: str
    """Singular, as in messages; also the name of the variable that holds a module's part."""
    package: str
    """The folder of the built-in parts, one module each. Modules whose names begin with _ hold what parts share."""
    type: type[T]
    group: str = ""
    """The entry point group; if it is not given, by the noun, such as ``sentprobe.measures``."""
    by_file: bool = False
    """Whether a part has the name of its file or entry point, so that it can be loaded without the others."""
    read: Callable[[PartSource, object], T] | None = None
    """Makes a part of what a file defines, or an entry point names, where that is not an object of the type itself."""
    name_fault: Callable[[str], str] | None = None
    """What is wrong with the name of an entry point; nothing if it can be used."""

    def __post_init__(self) -> None:
        if not self.group:
            object.__setattr__(self, "group", f"sentprobe.{self.variable}s")

    @property
    def variable(self) -> str:
        """The variable that holds the part of a module; those of several parts has the plural as its name."""
        return self.noun.replace(" ", "_")

    def built_in(self) -> Mapping[str, PartSource]:
        """The files of the built-in parts by name; nothing is loaded, and no other packages are looked for."""
        return _built_in(self.noun, self.package)

    def installed(self) -> tuple[PartSource, ...]:
        """The entry points of other packages, which are not loaded."""
        return tuple(PartSource(self.noun, entry.name, entry.module, entry) for entry in entry_points_in(self.group))

    def sources(self) -> Mapping[str, PartSource]:
        """Of a kind whose parts are named by their files: where each of them is defined. Nothing is loaded."""
        return _sources(self, tuple(sys.path))

    def parts(self) -> Mapping[str, T]:
        """All parts by name: the built-in ones by their ``order`` if they have one and by name, then the others."""
        return _parts(self, tuple(sys.path))  # type: ignore[return-value]  # a cache does not keep type variables

    def __getitem__(self, name: str) -> T:
        return self._by_file(name) if self.by_file else self.parts()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def get(self, name: str) -> T:
        """The part of this name; raises UsageError, with the nearest names, if there is none."""
        if self.by_file and name in self.built_in():  # to look for other packages takes time
            return self[name]
        if name not in self:
            hint = did_you_mean(name, self)
            raise UsageError(f"There is no {self.noun} {name!r}.{hint} Expected one of {listed_names(self)}.")
        return self[name]

    def _names(self) -> Mapping[str, object]:
        return self.sources() if self.by_file else self.parts()

    def _by_file(self, name: str) -> T:
        source = self.built_in().get(name) or self.sources()[name]
        (part,) = _read(self, source)
        return part


def part_modules(package: str) -> Mapping[str, str]:
    """The modules of a kind's folder, and of the lab's, that are parts: full names by the last one, sorted."""
    return {name: source.module for name, source in _built_in("part", package).items()}


@cache
def _built_in(noun: str, package: str) -> Mapping[str, PartSource]:
    folders = dict.fromkeys((package, f"{LAB}.{package.rpartition('.')[2]}"))
    sources = {}
    for folder in folders:
        # by the path of the folder: to import the package may take a second
        for module in pkgutil.iter_modules([str(ROOT.joinpath(*folder.split(".")[1:]))]):
            if not module.ispkg and not module.name.startswith("_"):
                assert module.name not in sources, f"two {noun}s are called {module.name!r}"
                sources[module.name] = PartSource(noun, module.name, f"{folder}.{module.name}")
    return MappingProxyType(dict(sorted(sources.items())))


def entry_points_in(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group."""
    return _entry_points(tuple(sys.path)).get(group, ())


@cache  # of all kinds at once: to read the metadata of all installed packages takes 20 ms
def _entry_points(path: tuple[str, ...]) -> dict[str, tuple[EntryPoint, ...]]:
    from importlib.metadata import entry_points

    every = entry_points()
    return {group: tuple(every.select(group=group)) for group in every.groups if group.startswith("sentprobe.")}


@cache
def _sources(kind: Kind[NamedPart], path: tuple[str, ...]) -> Mapping[str, PartSource]:
    sources = dict(kind.built_in())
    for source in kind.installed():
        fault = "the name is taken" if source.name in sources else kind.name_fault and kind.name_fault(source.name)
        if fault:
            _warn(f"{source} is left out: {fault}.")
        else:
            sources[source.name] = source
    return MappingProxyType(sources)


@cache
def _parts(kind: Kind[NamedPart], path: tuple[str, ...]) -> Mapping[str, NamedPart]:
    built_in = [part for source in kind.built_in().values() for part in _read(kind, source)]
    parts: dict[str, NamedPart] = {}
    for part in sorted(built_in, key=lambda part: (getattr(part, "order", 0), part.name)):
        assert part.name not in parts, f"two {kind.noun}s are called {part.name!r}"
        parts[part.name] = part
    installed = [s for s in kind.sources().values() if s.package] if kind.by_file else kind.installed()
    for source in installed:
        try:
            for part in _read(kind, source):
                name = source.name if kind.by_file else part.name
                if name in parts:
                    raise UsageError(f"The {kind.noun} {name!r} of {source.package} is left out: the name is taken.")
                parts[name] = part
        except UsageError as e:
            _warn(str(e))
    return MappingProxyType(parts)


def _read(kind: Kind[T], source: PartSource) -> tuple[T, ...]:
    """The parts in what a file defines, or an entry point names."""
    content = source.load()
    if kind.read is not None:
        return (kind.read(source, content),)
    if isinstance(content, ModuleType):
        several = getattr(content, f"{kind.variable}s", ())
        content = (getattr(content, kind.variable),) if hasattr(content, kind.variable) else several
    parts = content if isinstance(content, tuple) else (content,)
    if not parts or not all(isinstance(part, kind.type) for part in parts):
        origin = source.module
        if source.entry is not None:
            origin = f"the entry point {source.name} of {kind.group} ({source.entry.value})"
        got = ", ".join(sorted({type(part).__name__ for part in parts})) or "nothing"
        raise UsageError(
            f"Expected {origin} to hold a sentprobe {kind.type.__name__}, as `{kind.variable}`, or several, as "
            f"`{kind.variable}s`; got {got}."
        )
    return parts


def _warn(message: str) -> None:
    warnings.warn(SentProbeWarning(message), stacklevel=4)
