"""What a page is made of: templates with escaped texts, JSON for scripts, a policy, and the script that draws."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sentprobe.core.files import make_folder, write_atomically
from sentprobe.core.folders import cache_folder
from sentprobe.errors import DataError
from sentprobe.report.page.header import duration
from sentprobe.stats.level import level_text

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def environment(long: Sequence[tuple[str, str]], noun: str = "encoder") -> Environment:
    """The Jinja environment of all templates, also those of other packages.

    ``long``: names and their short names; ``noun``: what a column is called.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def renamed(text: str) -> str:
        """A text with short names in place of long ones."""
        for name, short in long:
            text = text.replace(name, short)
        return text

    templates = Environment(
        loader=PackageLoader("sentprobe.report.page", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalised,
    )
    templates.filters |= {
        "breakable": _breakable,
        "renamed": renamed,
        "coded": _coded,
        "duration": duration,
        "coefficient": _coefficient,
    }
    templates.globals |= {"noun": noun, "level": level_text("\u00a0")}
    templates.globals["macros"] = templates.get_template("macros.html").module
    return templates


def raw(text: str) -> Markup:
    """A text that is markup already, and safe."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - the caller vouches for it


def _finalised(value: Any) -> Any:
    """What is put into a template: markup as it is, any other text readable."""
    return readable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _breakable(text: str) -> Markup:
    """A name that may be broken after a character such as / or -, and before an option such as ?random=0."""
    return raw("<wbr>").join(re.split(r"(?<=[/_#:-])(?=\w)|(?<!^)(?=[?&])", readable(text)))


def _coded(text: str) -> Markup:
    """A text in which whatever is between backticks is code."""
    parts = readable(text).split("`")
    return raw("").join(raw("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts))


def _coefficient(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "\u2212")


# Untrusted text


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
        return {readable(key): all_readable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [all_readable(item) for item in value]
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


# The bundle


def bundle() -> str:
    """Vega-Embed with Vega-Lite and Vega, as one script that fetches nothing.

    Bundling takes seconds and is deterministic: the result is cached by version, after a line with its hash. A file
    that does not match its hash is made again.
    """
    import vl_convert

    cached = cache_folder() / "charts" / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        first, _, content = cached.read_bytes().partition(b"\n")
        if first == _hash(content):
            return content.decode()
    # in a function, so that none of its many names clashes with one of the page
    script = f"(() => {{{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;')}\n}})();\n"
    with suppress(DataError):  # a read-only cache costs time, nothing else
        make_folder(cached.parent)
        write_atomically(cached, _hash(script.encode()) + b"\n" + script.encode())
    return script


def _hash(content: bytes) -> bytes:
    """A comment, for the first line of the cached file."""
    return b"// blake2b " + hashlib.blake2b(content, digest_size=16).hexdigest().encode()
