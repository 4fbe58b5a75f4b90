"""Python files and modules that users wrote: loading them, with errors that name file and line."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from sentprobe.core.third_party import third_party_code
from sentprobe.errors import UsageError, describe_error, error_location


def load_file(path: Path, noun: str) -> ModuleType:
    """Run a user's Python file; raises UsageError, with file and line, if it fails."""
    article = "an" if noun[0] in "aeiou" else "a"
    if not path.is_file():
        raise UsageError(f"There is no file {path} to load {article} {noun} from.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file; {article} {noun} file ends in .py and defines `{noun}`.")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(path.stem)
    sys.modules[path.stem] = module  # dataclasses look their module up while it runs
    try:
        with third_party_code:
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # sys.exit among them
        where = _import_location(e, str(path))
        raise UsageError(f"The {noun} file {path} does not run: {describe_error(e)}{where}") from e
    finally:  # removed again, so that workers are sent the code and do not try to import it
        del sys.modules[path.stem]
        if before is not None:
            sys.modules[path.stem] = before
    return module


def load_module(name: str, noun: str) -> ModuleType:
    """Import a user's module; raises UsageError, with file and line, if that fails."""
    try:
        with third_party_code:
            return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        reason = str(e) if isinstance(e, ImportError) else describe_error(e)
        raise UsageError(
            f"The {noun} names the module {name!r}, which cannot be imported: {reason}{_import_location(e)}."
        ) from e


def _import_location(error: BaseException, path: str | None = None) -> str:
    """The line where running a file failed, of the file itself if its path is given, as `` (file:line)``."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f" ({error.filename}:{error.lineno})"
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == path]
    return f" ({path}:{lines[-1]})" if lines else error_location(error)
