"""The source files that make up a module: its own, and those it imports, except installed packages.

They are found by parsing, without running anything: ``import`` statements anywhere, also within functions, and
``importlib.import_module`` with the name written out. After the module has run, the modules that its objects come from
are added. A name that is put together at run time, data that a program reads, and installed packages are not seen.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from weakref import WeakKeyDictionary

from sentprobe.errors import EncoderError

MAX_SOURCE_FILES = 2000
"""Maximum number of files that are followed."""
MTIME_TOLERANCE_NS = 2_000_000_000
"""Nanoseconds within which two changes of a file may look like one."""
Sources = Mapping[str, Path]
"""Files by module name; that of the first is empty, since the same file may be run under several names."""

_seen: WeakKeyDictionary[ModuleType, str] = WeakKeyDictionary()
"""The hash of the source of each module when it was first seen: a module is imported once, its file may change."""


def find_sources(start: Path, name: str | None) -> dict[str, Path]:
    """The file of a module and those it imports, directly or not; ``name`` if it is imported by name."""
    files = {"": start}
    root = _root(start, name)
    queue = [(start, name)]
    while queue and len(files) < MAX_SOURCE_FILES:
        path, module = queue.pop()
        for imported in (*_parents(module or ""), *_imports(path, module)):
            file = locate(imported, start.parent)
            if file is not None and imported not in files and file not in files.values() and _is_user_code(file, root):
                files[imported] = file
                queue.append((file, imported))
    return files


def add_loaded_modules(files: Mapping[str, Path], module: ModuleType, name: str | None) -> dict[str, Path]:
    """The same with the modules that the objects of loaded modules come from."""
    start = files[""]
    root = _root(start, name)
    all_files = dict(files)
    queue = [module, *(held for loaded in files if (held := sys.modules.get(loaded)) is not None)]
    while queue and len(all_files) < MAX_SOURCE_FILES:
        for value in list(vars(queue.pop()).values()):
            origin = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            held = sys.modules.get(origin) if isinstance(origin, str) else None
            file = getattr(held, "__file__", None)
            if held is None or not isinstance(origin, str) or not file or Path(file) in all_files.values():
                continue
            if _is_user_code(Path(file), root):
                all_files[origin] = Path(file)
                all_files |= {
                    n: f for n, f in find_sources(Path(file), origin).items() if n and f not in all_files.values()
                }
                queue.append(held)
    return all_files


def hash_sources(files: Sources) -> dict[str, str]:
    """The hash of each file."""
    hashes = {}
    for name, path in files.items():
        try:
            hashes[name] = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
        except OSError as e:
            raise EncoderError(f"{path} cannot be read: {e.strerror}.") from e
    return hashes


def digest(hashes: Mapping[str, str]) -> str:
    """One hash of all files."""
    lines = "".join(f"{name}\0{value}\n" for name, value in sorted(hashes.items()))
    return hashlib.blake2b(lines.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def drop_stale_bytecode(files: Sources) -> None:
    """Delete bytecode that may be of an older source: Python compares only size and time in seconds."""
    for path in files.values():
        if path.suffix == ".py":
            with suppress(OSError, NotImplementedError):
                compiled, source = Path(importlib.util.cache_from_source(str(path))), path.stat()
                if compiled.stat().st_mtime_ns < max(source.st_mtime_ns, source.st_ctime_ns) + MTIME_TOLERANCE_NS:
                    compiled.unlink()


def check_loaded(files: Sources, hashes: Mapping[str, str], first: str | None) -> None:
    """Reject a module that was imported before its file changed: it would run the old code under the new hash."""
    for name, path in files.items():
        module = sys.modules.get(name or first or "")
        if module is not None and _seen.setdefault(module, hashes[name]) != hashes[name]:
            raise EncoderError(f"{path} changed since it was imported. Restart Python, so that it is read again.")


def _imports(path: Path, name: str | None) -> Iterator[str]:
    """The names of modules that a file imports, or may import: of ``from a import b``, a and a.b."""
    if path.suffix != ".py":
        return
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return  # it cannot be run either
    package = (name or "").split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [module, *(f"{module}.{alias.name}" for alias in node.names)] if module else []
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                names = [node.args[0].value]
        for imported in names:
            yield from (*_parents(imported), imported)


def _parents(name: str) -> Iterator[str]:
    """The packages that contain a module and are run before it: for a.b.c, a and a.b."""
    parts = name.split(".")
    yield from (".".join(parts[:i]) for i in range(1, len(parts)) if all(parts))


def locate(name: str, folder: Path) -> Path | None:
    """The file of a module, without importing it; files next to the first one count, whether on the path or not."""
    if name.partition(".")[0] in sys.builtin_module_names or name.partition(".")[0] in sys.stdlib_module_names:
        return None
    file = getattr(sys.modules.get(name), "__file__", None)
    if file:
        return Path(file)
    search: list[str] | None = [*sys.path, str(folder)]
    spec = None
    parts = name.split(".")
    for i in range(len(parts)):
        if search is None:
            return None
        try:
            spec = PathFinder.find_spec(".".join(parts[: i + 1]), search)
        except Exception:  # of a finder that is not Python's own
            return None
        if spec is None:
            return None
        search = list(spec.submodule_search_locations) if spec.submodule_search_locations is not None else None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def _root(start: Path, name: str | None) -> Path | None:
    """The folder of the package that contains a module, if there is one."""
    depth = name.count(".") + (start.name == "__init__.py") if name else 0
    return start.resolve().parents[depth - 1] if depth else None


def _is_user_code(path: Path, root: Path | None) -> bool:
    """Whether a file is the user's own: neither Python's, nor of an installed package, nor sentprobe's."""
    path = path.resolve()
    if root is not None and path.is_relative_to(root):
        return True
    if {"site-packages", "dist-packages"} & set(path.parts) or path.is_relative_to(Path(__file__).parents[1].resolve()):
        return False
    return not any(path.is_relative_to(Path(sysconfig.get_path(key)).resolve()) for key in ("stdlib", "platstdlib"))
