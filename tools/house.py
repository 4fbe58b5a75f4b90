#!/usr/bin/env python3
"""Measure the package: its mass, modules and names; and how much of it a command walks through.

python tools/house.py                              # a table
python tools/house.py --walk make --builtin 500    # the functions and files that `sentprobe make …` calls
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import runpy
import statistics
import sys
import threading
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sentprobe"
EMPTY_NAMES = re.compile(
    "found|own|one|two|each|some|here|there|kept|places?|others?|rest|left|shown|made|given|many|asked|said|beyond|alone|"
    "again|known|drawn|more"
)
"""Names that say nothing about what a variable holds; tests/test_names.py keeps them out."""
MAX_FUNCTION_LINES = 60
MIN_MODULE_LINES = 40
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """What one file has; docstrings, comments and blank lines are no code."""

    path: Path
    code: int = 0
    comments: int = 0
    imports: int = 0
    skips: int = 0
    """Lines that keep the formatter out."""
    names: list[tuple[int, str]] = field(default_factory=list)
    """Lines and names of assigned variables and of parameters."""
    functions: list[tuple[str, int]] = field(default_factory=list)
    """Names, and lines without the docstring."""
    classes: list[str] = field(default_factory=list)


def read_module(path: Path) -> Module:
    """Measure a file."""
    source = path.read_text("utf-8")
    nodes = list(ast.walk(ast.parse(source)))
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | Function):
            code -= docstring_lines(node)
    imports = {line for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for line in lines_of(node)}
    functions = [node for node in nodes if isinstance(node, Function)]
    return Module(
        path,
        code=len(code),
        comments=len(comments - code),
        imports=len(imports & code),
        skips=source.count("# fmt: skip"),
        names=sorted(assigned_names(nodes)),
        functions=[(f.name, len(lines_of(f)) - len(docstring_lines(f))) for f in functions],
        classes=[node.name for node in nodes if isinstance(node, ast.ClassDef)],
    )


def lines_of(node: ast.stmt | ast.expr) -> range:
    """The lines of a statement or an expression."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def docstring_lines(node: ast.Module | ast.ClassDef | Function) -> set[int]:
    """The lines of the docstring of a module, a class or a function."""
    first = node.body[0] if node.body else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if not is_text or not isinstance(first.value.value, str):
        return set()
    return set(lines_of(first))


def assigned_names(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Names of variables and parameters, but for those that convention gives: *left* of *right*, self and *other*."""
    conventional: set[ast.AST] = set()
    for function in (node for node in nodes if isinstance(node, Function)):
        parameters = [*function.args.posonlyargs, *function.args.args]
        if [p.arg for p in parameters] == ["self", "other"]:
            conventional.add(parameters[1])
        stored = [n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        if any(node.id == "right" for node in stored):
            conventional.update(node for node in stored if node.id == "left")
    for node in nodes:
        if node in conventional:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def print_table(modules: Sequence[Module]) -> None:
    """Print the figures of the package."""
    code = sum(m.code for m in modules)
    lab = sum(m.code for m in modules if m.path.relative_to(PACKAGE).parts[0] == "lab")
    files = [m for m in modules if m.path.name != "__init__.py"]
    names = [name for m in modules for _, name in m.names]
    empty = sum(EMPTY_NAMES.fullmatch(name) is not None for name in names)
    classes = Counter(name for m in modules for name in m.classes)
    rooms = Counter[str]()
    for m in modules:
        rooms[m.path.relative_to(PACKAGE).parts[0]] += m.code
    rows = {
        "code lines": f"{code:,} ({code - lab:,} outside lab/)",
        "modules": f"{len(files)} (median {statistics.median(m.code for m in files):.0f} code lines, "
        f"{sum(m.code < MIN_MODULE_LINES for m in files)} below {MIN_MODULE_LINES})",
        "import lines": f"{100 * sum(m.imports for m in modules) / code:.1f} % of code",
        "comment lines": f"{100 * sum(m.comments for m in modules) / code:.1f} % of code",
        "names without content": f"{empty:,} of {len(names):,}",
        "repeated class names": f"{sum(n > 1 for n in classes.values())} of {len(classes)}",
        f"functions above {MAX_FUNCTION_LINES}": str(
            sum(lines > MAX_FUNCTION_LINES for m in modules for _, lines in m.functions)
        ),
        "# fmt: skip": str(sum(m.skips for m in modules)),
        "rooms": ", ".join(f"{room} {lines:,}" for room, lines in rooms.most_common()),
    }
    for name, text in rows.items():
        sys.stdout.write(f"{name:22} {text}\n")


def walk(arguments: Sequence[str]) -> None:
    """Run a command in this process, and count the functions of the package that it calls."""
    called: set[tuple[str, int]] = set()

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        is_function = code.co_flags & 1 and not code.co_name.startswith("<")  # bodies of classes are no functions
        if event == "call" and is_function and code.co_filename.startswith(f"{PACKAGE}/"):
            called.add((code.co_filename, code.co_firstlineno))

    sys.path.insert(0, str(ROOT))
    sys.argv = ["sentprobe", *arguments]
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        runpy.run_module("sentprobe", run_name="__main__", alter_sys=True)
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    files = {file for file, _ in called}
    sys.stderr.write(f"\n{len(called)} functions in {len(files)} files were called\n")


def read_package() -> list[Module]:
    """Measure all files of the package."""
    return [read_module(path) for path in sorted(PACKAGE.rglob("*.py"))]


def main() -> None:
    """Print the table, or run a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--walk", nargs=argparse.REMAINDER, help="a command of sentprobe with its arguments")
    command = parser.parse_args().walk
    if command:
        walk(command)
    else:
        print_table(read_package())


if __name__ == "__main__":
    main()
