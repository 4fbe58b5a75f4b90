"""Your own function in a module or a file, from a list of texts to an array.

    py:package.module:function          an importable module
    py:path/to/file.py:function         a file, which ends in .py or has a slash; the default function is ``encode``
    py:file.py:Model?call=1             a class or factory: called without arguments, it returns the encoder
    py:file.py:function?version=3       vectors may be stored: the version and the source are their identity

A function may change between two runs, or read a file that does, so its vectors are not stored unless its author
identifies them: with ``?version=…`` or an attribute ``identity`` of the function, a string or an ``Identity``. With the
first two, the source of its file and of all files it imports, except installed packages, is in the identity; that the
data it reads and the packages it uses are the same cannot be verified, and ``caveat`` says so. The attributes
``layers``, ``batch_size`` and ``words`` are used as those of any encoder.
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

from sentprobe.core.arguments import as_texts
from sentprobe.core.third_party import third_party_code
from sentprobe.encoders import sources
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import EncoderError, NotInstalled, UsageError, describe_error

RUNS_CODE = True
"""Whatever code the spec names."""
OPTIONS = {
    "call": "1: the name is a class or factory, called without arguments to make the encoder",
    "version": "any text that identifies the vectors, so that they may be stored",
}
"""What may follow the question mark."""
DEFAULT_FUNCTION = "encode"


@dataclass(frozen=True, slots=True, repr=False)
class Function:
    """A user's callable, and what it says about itself."""

    function: Callable[[list[str]], Any]
    name: str = ""
    identity: Identity | None = None
    layers: tuple[str, ...] | None = None
    batch_size: int | None = None
    words: Callable[[list[str]], Any] | None = None
    caveat: str | None = None
    """What in its identity cannot be verified, as a sentence."""

    def __repr__(self) -> str:
        return short_repr(self, f"py:{self.name}", f"{len(self.layers)} layers" if self.layers else "")

    def __call__(self, texts: Sequence[str], /) -> Any:
        """Whatever the function returns for these texts."""
        return self.function(as_texts(texts))


def named_file(spec: Spec) -> Path | None:
    """The file of a function, if it is not in a module."""
    name = spec.path
    module = name if name.endswith(".py") else name.rpartition(":")[0] or name
    return Path(module).expanduser() if module.endswith(".py") or "/" in module else None


def load(spec: Spec) -> Function:
    """The function that ``module:function`` or ``file.py:function`` names."""
    options, call, name = spec.check_options(OPTIONS), spec.choice("call", ("0", "1")), spec.path
    if name.endswith(".py") or ":" not in name:
        name += ":"
    module_name, _, attribute = name.rpartition(":")
    attribute = attribute or DEFAULT_FUNCTION
    if not module_name:
        raise UsageError(f"{spec} names no function; expected py:module:function or py:path/to/file.py:function.")
    module, source = _run(spec, module_name, attribute)
    function = _attribute(spec, module, attribute)
    if call == "1":
        try:
            with third_party_code:
                function = function() if callable(function) else function
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            raise _failure(spec, e, f"{attribute}() failed") from e
    elif isinstance(function, type):
        raise UsageError(f"{spec} names a class; add ?call=1 to make an instance, or name a function.")
    if not callable(function):
        got = f"{attribute} {'returns something' if call == '1' else 'is'} of type {type(function).__name__}"
        raise EncoderError(f"{spec}: {got}; expected a function from a list of texts to an array.")
    return _describe(function, f"{module_name}:{attribute}", call, options.get("version"), source)


def _describe(
    function: Callable[[list[str]], Any], name: str, call: str, version: str | None, source: _Source
) -> Function:
    """The function with its attributes; those of an unexpected type are ignored, since many models have ``layers``."""
    stated = getattr(function, "identity", None)
    identity: Identity | None = None
    caveat = None
    if isinstance(stated, Identity):
        identity = stated if version is None else stated.with_facts(version=version)
        caveat = "Its identity is the one that it states; whether its vectors have changed since cannot be verified."
    elif version is not None or isinstance(stated, str):
        facts = {"version": version, "identity": stated if isinstance(stated, str) else None, "source": source.digest}
        identity = Identity.of("py", name, **facts, call=call if call == "1" else None)
        by = f"version={version}" if version is not None else "the identity that it states"
        caveat = (
            f"Its vectors are stored under {by} and the source of {source.names}; imports made while encoding are not "
            "seen, unless their names are written out. Whether anything else changes them, such as files it reads or "
            "installed packages, cannot be verified: change the version when it does."
        )
    layers, size, words = (getattr(function, key, None) for key in ("layers", "batch_size", "words"))
    return Function(
        function,
        name,
        identity,
        tuple(layers) if isinstance(layers, list | tuple) and all(isinstance(x, str) for x in layers) else None,
        size if type(size) is int and size > 0 else None,
        words if callable(words) else None,
        caveat,
    )


# modules


@dataclass(frozen=True, slots=True)
class _Source:
    """The user's files that make up a module."""

    digest: str | None
    """None for a module without a file."""
    names: str


def _run(spec: Spec, module_name: str, attribute: str) -> tuple[ModuleType, _Source]:
    """Import a module or run a file, and make sure that what was run is what was hashed."""
    in_file = module_name.endswith(".py") or "/" in module_name
    start = Path(module_name).resolve() if in_file else sources.locate(module_name, Path.cwd())
    name = None if in_file else module_name
    before = sources.find_sources(start, name) if start is not None and start.is_file() else None
    if before is not None:
        sources.drop_stale_bytecode(before)
        hashes = sources.hash_sources(before)
    module = _from_file(spec, Path(module_name)) if in_file else _imported(spec, module_name, attribute)
    if before is None:
        return module, _Source(None, "no file")
    files = sources.add_loaded_modules(before, module, name)
    after = sources.hash_sources(files)
    if changed := [file for imported, file in before.items() if hashes[imported] != after[imported]]:
        raise EncoderError(f"{spec}: {changed[0]} changed while it was imported. Run the same command again.")
    sources.check_loaded(files, after, name)
    names = [file.name.encode(errors="backslashreplace").decode() for file in files.values()]
    further = f" and {len(names) - 4} more files" if len(names) > 4 else ""
    return module, _Source(sources.digest(after), ", ".join(names[:4]) + further)


class _Fresh(SourceFileLoader):
    """Compiles the source as it is now: cached bytecode may be of the file as it was a second ago."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the import system's signature
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _from_file(spec: Spec, path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"{spec}: there is no file {path}; the current directory is {Path.cwd()}.")
    name = f"sentprobe_py_{path.stem}"  # not the stem: a file called numpy.py may import numpy
    loader = _Fresh(name, str(path.resolve()))
    module_spec = importlib.util.spec_from_loader(name, loader)
    assert module_spec is not None  # a loader was given
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module  # dataclasses look their module up while it is executed
    try:
        with third_party_code:
            loader.exec_module(module)
    except (Exception, SystemExit) as e:
        raise _failure(spec, e, f"the file {path} failed") from e
    finally:  # and removed again, so that workers are sent the code and do not try to import it
        del sys.modules[name]
    return module


def _imported(spec: Spec, name: str, attribute: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"{spec}: {name!r} is not a module name; expected package.module or path/to/file.py.")
    try:
        with third_party_code:
            return importlib.import_module(name)
    except (Exception, SystemExit) as e:
        if isinstance(e, ModuleNotFoundError) and e.name and f"{name}.".startswith(f"{e.name}."):
            file = Path(*name.split(".")).with_suffix(".py")
            hint = f" Did you mean py:{file}:{attribute}?" if file.is_file() else ""
            raise UsageError(f"{spec}: there is no module {name!r} to import.{hint}") from e
        raise _failure(spec, e, f"the module {name} cannot be imported") from e


def _attribute(spec: Spec, module: ModuleType, dotted: str) -> Any:
    value: Any = module
    for part in dotted.split("."):
        if not hasattr(value, part):
            available = sorted(key for key, item in vars(module).items() if callable(item) and key[0] != "_")
            near = difflib.get_close_matches(dotted, available, n=1)
            hint = f" Did you mean {near[0]}?" if near else f" It has {', '.join(available[:8]) or 'no functions'}."
            raise UsageError(f"{spec}: {module.__file__ or module.__name__} has no {dotted!r}.{hint}")
        value = getattr(value, part)
    return value


def _failure(spec: Spec, error: BaseException, what: str) -> EncoderError:
    """An error that says what failed, and at which line of the user's file."""
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
        return NotInstalled(
            f"{spec}: {what}{where}: it needs the module {error.name!r}, which is not installed. {hint}"
        )
    return EncoderError(f"{spec}: {what}{where}: {describe_error(error)}")
