"""Encoders that users wrote: a function in a module or in a file, from a list of texts to an array.

    py:package.module:function          an importable module
    py:path/to/file.py:function         a file, ends in .py or has a slash; ``encode`` unless a name is given
    py:file.py:Model?call=1             a class or factory: it is called without arguments, and gives the encoder
    py:file.py:function?version=3       vectors may be kept: the version and the source are their identity

A function may change between two runs, or read a file that does, so its vectors are not kept unless its author says
what they are: with ``?version=…`` or an attribute ``identity`` of the function, a string or an ``Identity``. With the
first two, the source of its file and of all files it imports that are not of installed packages is in the identity; for
data that it reads and packages that it uses there is only the author's word, and ``trust`` says so. The attributes
``layers``, ``batch`` and ``words`` are looked at as with any encoder.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from traceback import extract_tb
from types import CodeType, ModuleType
from typing import Any

from sonde.core.arguments import as_texts
from sonde.core.third_party import third_party_code
from sonde.encoders import sources
from sonde.encoders.identity import Identity, Spec
from sonde.errors import EncoderError, NotInstalled, UsageError, describe_error

DEFAULT_FUNCTION = "encode"


@dataclass(frozen=True, slots=True)
class Function:
    """A callable of the user's, and what it says about itself."""

    function: Callable[[list[str]], Any]
    identity: Identity | None = None
    layers: tuple[str, ...] | None = None
    batch: int | None = None
    words: Callable[[list[str]], Any] | None = None
    caveat: str | None = None
    """What of its identity is taken on somebody's word, as a sentence."""

    def __call__(self, texts: Sequence[str], /) -> Any:
        """Whatever the function gives for these texts."""
        return self.function(as_texts(texts))


def load(spec: Spec) -> Function:
    """The function that ``module:function`` or ``file.py:function`` names."""
    options = spec.known({"call", "version"})
    if (call := options.get("call", "0")) not in ("0", "1"):
        raise UsageError(f"{spec} has call={call}; expected 1 for a class or factory, 0 for a function.")
    # there are no revisions here: an @ belongs to the path
    name = spec.name if spec.revision is None else f"{spec.name}@{spec.revision}"
    if name.endswith(".py") or ":" not in name:
        name += ":"
    place, _, attribute = name.rpartition(":")
    attribute = attribute or DEFAULT_FUNCTION
    if not place:
        raise UsageError(f"{spec} names no function; expected py:module:function or py:path/to/file.py:function.")
    module, source = _run(spec, place, attribute)
    found = _attribute(spec, module, attribute)
    if call == "1":
        try:
            with third_party_code:
                found = found() if callable(found) else found
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            raise _broken(spec, e, f"{attribute}() fails") from e
    elif isinstance(found, type):
        raise UsageError(f"{spec} names a class; add ?call=1 to have one made of it, or name a function.")
    if not callable(found):
        met = f"{attribute} {'gives something' if call == '1' else 'is'} of type {type(found).__name__}"
        raise EncoderError(f"{spec}: {met}; expected a function from a list of texts to an array.")
    return _described(found, f"{place}:{attribute}", call, options.get("version"), source)


def _described(
    found: Callable[[list[str]], Any], name: str, call: str, version: str | None, source: _Source
) -> Function:
    """The function with its attributes; one of another kind means something else: many a model has ``layers``."""
    told = getattr(found, "identity", None)
    identity: Identity | None = None
    caveat = None
    if isinstance(told, Identity):
        identity = told if version is None else told.with_facts(version=version)
        caveat = "Its identity is the one that it states; that its vectors have not changed since is its author's word."
    elif version is not None or isinstance(told, str):
        facts = {"version": version, "identity": told if isinstance(told, str) else None, "source": source.digest}
        identity = Identity.of("py", name, **facts, call=call if call == "1" else None)
        stated = f"version={version}" if version is not None else "the identity that it states"
        caveat = (
            f"Its vectors are kept by {stated} and the source of {source.names}; imports made while encoding are not "
            "seen, unless their names are written out. That nothing else moves them, such as files it reads or "
            "installed packages, is your word: change the version when they do."
        )
    layers, batch, words = (getattr(found, key, None) for key in ("layers", "batch", "words"))
    return Function(
        found,
        identity,
        tuple(layers) if isinstance(layers, list | tuple) and all(isinstance(x, str) for x in layers) else None,
        batch if type(batch) is int and batch > 0 else None,
        words if callable(words) else None,
        caveat,
    )


# modules


@dataclass(frozen=True, slots=True)
class _Source:
    """The user's files that a module is made of."""

    digest: str | None
    """None for a module without a file."""
    names: str


def _run(spec: Spec, place: str, attribute: str) -> tuple[ModuleType, _Source]:
    """Import a module or run a file, and see to it that what was run is what was hashed."""
    in_file = place.endswith(".py") or "/" in place
    start = Path(place).resolve() if in_file else sources.locate(place, Path.cwd())
    name = None if in_file else place
    before = sources.find_sources(start, name) if start is not None and start.is_file() else None
    if before is not None:
        sources.drop_stale_bytecode(before)
        hashes = sources.hash_sources(before)
    module = _from_file(spec, Path(place)) if in_file else _imported(spec, place, attribute)
    if before is None:
        return module, _Source(None, "no file")
    found = sources.add_loaded_modules(before, module, name)
    after = sources.hash_sources(found)
    if changed := [file for other, file in before.items() if hashes[other] != after[other]]:
        raise EncoderError(f"{spec}: {changed[0]} changed while it was imported. Give the same command again.")
    sources.check_loaded(found, after, name)
    shown = [file.name.encode(errors="backslashreplace").decode() for file in found.values()]
    more = f" and {len(shown) - 4} more files" if len(shown) > 4 else ""
    return module, _Source(sources.digest(after), ", ".join(shown[:4]) + more)


class _Fresh(SourceFileLoader):
    """Compiles the source as it is now: a kept compilation may be of the file as it was a second ago."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the import system's signature
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _from_file(spec: Spec, path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"{spec}: there is no file {path}; the current directory is {Path.cwd()}.")
    name = f"sonde_py_{path.stem}"  # not the stem: a file called numpy.py may import numpy
    loader = _Fresh(name, str(path.resolve()))
    made = importlib.util.spec_from_loader(name, loader)
    assert made is not None  # a loader was given
    module = importlib.util.module_from_spec(made)
    sys.modules[name] = module  # dataclasses look their module up while it runs
    try:
        with third_party_code:
            loader.exec_module(module)
    except (Exception, SystemExit) as e:
        raise _broken(spec, e, f"the file {path} does not run") from e
    finally:  # and out again, so that workers are sent the code and do not try to import it
        del sys.modules[name]
    return module


def _imported(spec: Spec, name: str, attribute: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"{spec}: {name!r} is no name of a module; expected package.module or path/to/file.py.")
    try:
        with third_party_code:
            return importlib.import_module(name)
    except (Exception, SystemExit) as e:
        if isinstance(e, ModuleNotFoundError) and e.name and f"{name}.".startswith(f"{e.name}."):
            file = Path(*name.split(".")).with_suffix(".py")
            hint = f" Did you mean py:{file}:{attribute}?" if file.is_file() else ""
            raise UsageError(f"{spec}: there is no module {name!r} to import.{hint}") from e
        raise _broken(spec, e, f"the module {name} cannot be imported") from e


def _attribute(spec: Spec, module: ModuleType, dotted: str) -> Any:
    found: Any = module
    for part in dotted.split("."):
        if not hasattr(found, part):
            offered = sorted(key for key, value in vars(module).items() if callable(value) and key[0] != "_")
            near = difflib.get_close_matches(dotted, offered, n=1)
            hint = f" Did you mean {near[0]}?" if near else f" It has {', '.join(offered[:8]) or 'no functions'}."
            raise UsageError(f"{spec}: {module.__file__ or module.__name__} has no {dotted!r}.{hint}")
        found = getattr(found, part)
    return found


def _broken(spec: Spec, error: BaseException, what: str) -> EncoderError:
    """What went wrong, and at which line of the user's file."""
    where = ""
    if isinstance(error, SyntaxError) and error.filename:
        where = f" ({error.filename}:{error.lineno})"
    else:
        ours = (__file__, importlib.__file__)
        frames = [f for f in extract_tb(error.__traceback__) if f.filename not in ours and "<frozen" not in f.filename]
        if frames:  # the user's file comes first, and may have called far into a library
            where = next(f" ({f.filename}:{f.lineno})" for f in reversed(frames) if f.filename == frames[0].filename)
    if isinstance(error, ModuleNotFoundError):
        hint = "Install it, or put the folder that holds it on PYTHONPATH."
        return NotInstalled(f"{spec}: {what}{where}: it needs the module {error.name!r}, which is not here. {hint}")
    return EncoderError(f"{spec}: {what}{where}: {describe_error(error)}")
