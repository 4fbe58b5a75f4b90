"""The JavaScript that draws the charts, to be embedded in the page."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from importlib.metadata import version

from sentprobe.core.files import make_folder, write_atomically
from sentprobe.core.folders import cache_folder
from sentprobe.errors import DataError


def bundle() -> str:
    """Vega-Embed with Vega-Lite and Vega, as one script that fetches nothing.

    Bundling takes seconds and is deterministic: the result is cached by version, after a line with its hash. A file
    that does not match its hash is made again.
    """
    import vl_convert

    kept = cache_folder() / "charts" / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        first, _, content = kept.read_bytes().partition(b"\n")
        if first == _hash(content):
            return content.decode()
    # in a function, so that none of its many names clashes with one of the page
    script = f"(() => {{{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;')}\n}})();\n"
    with suppress(DataError):  # a read-only cache costs time, nothing else
        make_folder(kept.parent)
        write_atomically(kept, _hash(script.encode()) + b"\n" + script.encode())
    return script


def _hash(content: bytes) -> bytes:
    """A comment, for the first line of the cached file."""
    return b"// blake2b " + hashlib.blake2b(content, digest_size=16).hexdigest().encode()
