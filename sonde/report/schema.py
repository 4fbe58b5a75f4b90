"""The JSON Schema of a summary, derived from the types.

python -m sonde.report.schema > docs/summary.schema.json
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import msgspec

from sonde.report.types import VERSION, Summary

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def summary_schema() -> dict[str, Any]:
    """The schema of what `sonde report -o FILE.json` and `sonde show RUN --format json` write.

    Returns
    -------
    dict[str, Any]
        JSON Schema, draft 2020-12. ``version`` is fixed: readers of another version need another schema.
    """
    found = msgspec.json.schema(Summary)
    types = found["$defs"]
    types["Summary"]["properties"]["version"] = {"const": VERSION}
    # fields with a default are always written, so readers may rely on them
    for each in types.values():
        each["required"] = list(each["properties"])
        if "description" in each:
            each["description"] = re.sub(r"\s+", " ", each["description"])
    return {"$schema": DIALECT, "title": f"Summary of a sonde run, version {VERSION}", **found}


def schema_text() -> str:
    """The schema as it is published."""
    return json.dumps(summary_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
