"""JSON files: read with errors that name them, and encoded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sentprobe.errors import DataError


def read_json(file: Path) -> Any:
    """The content of a JSON file; DataError if it is damaged."""
    try:
        return json.loads(file.read_bytes())
    except OSError as e:
        raise DataError(f"{file} cannot be read: {e.strerror}.") from None
    except ValueError as e:
        raise DataError(f"{file} is damaged: {e}.") from None


def encode_json(content: object) -> bytes:
    """As a file of its own, indented."""
    return json.dumps(content, indent=1, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"
