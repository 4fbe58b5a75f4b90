"""The JSON Schema of a summary, derived from the types.

python -m sentprobe.report.schema > docs/summary.schema.json
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from itertools import pairwise
from types import ModuleType
from typing import Any, TypeGuard

import msgspec

from sentprobe.encoders import diagnosis, encoder
from sentprobe.report import types
from sentprobe.report.types import VERSION, Summary
from sentprobe.run import variant

MODULES = (types, variant, diagnosis, encoder)
"""Where the types are."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def summary_schema() -> dict[str, Any]:
    """The schema of what `sentprobe report -o FILE.json` and `sentprobe show RUN --format json` write.

    Returns
    -------
    dict[str, Any]
        JSON Schema, draft 2020-12. ``version`` is fixed: readers of another version need another schema.
    """
    schema = msgspec.json.schema(Summary)
    definitions = schema["$defs"]
    definitions["Summary"]["properties"]["version"] = {"const": VERSION}
    documented = {name: docs for module in MODULES for name, docs in _field_docs(module).items()}
    for name, definition in definitions.items():
        definition["required"] = list(definition["properties"])  # those with a default are always written, too
        for field, text in documented.get(name, {}).items():
            definition["properties"][field]["description"] = text
    return {"$schema": DIALECT, "title": f"Summary of a sentprobe run, version {VERSION}", **schema}


def _field_docs(module: ModuleType) -> dict[str, dict[str, str]]:
    """The docstrings below the fields of a module's classes, by class and field."""
    docs_by_class: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            field_docs = docs_by_class.setdefault(node.name, {})
            for field, text in pairwise(node.body):
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and _is_text(text):
                    field_docs[field.target.id] = " ".join(ast.literal_eval(text.value).split())
    return docs_by_class


def _is_text(node: ast.stmt) -> TypeGuard[ast.Expr]:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def schema_text() -> str:
    """The schema as it is published."""
    return json.dumps(summary_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
