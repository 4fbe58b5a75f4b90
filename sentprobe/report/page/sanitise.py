"""Untrusted text in a page: made visible, and made harmless."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
"""Bidirectional and other controls, and lone surrogates; joiners stay, since words and emoji need them."""
_MEANT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def readable(text: str) -> str:
    """The text, with invisible characters and bidirectional controls shown as escapes."""
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def all_readable(value: Any) -> Any:
    """Plain data in which every string is readable, including keys."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, dict):
        return {readable(key): all_readable(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [all_readable(own) for own in value]
    return value


def script_json(value: Any) -> str:
    """JSON for a script element, which cannot close that element."""
    return json.dumps(all_readable(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_MEANT)


def csp_hash(text: str) -> str:
    """The source expression with which a policy admits exactly this inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page_policy(styles: str, scripts: Sequence[str], *, served: bool) -> str:
    """What the page may do: run these scripts, and connect to nothing, or to nothing but its own server.

    Expressions in charts are interpreted, not compiled, so that no text is ever run as a program.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(csp_hash, scripts))}",
            f"style-src {csp_hash(styles)}",
            "img-src data:",
            "connect-src 'self'" if served else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
