"""The program that draws the charts, to stand inside the page."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version

from sonde.cache import cache_folder
from sonde.dataset import make_folder, write_atomically
from sonde.errors import DataError


def bundle() -> str:
    """Vega-Embed with Vega-Lite and Vega, as one script that fetches nothing.

    To put it together takes seconds, and gives the same every time: it is kept in the cache, by version.
    """
    import vl_convert

    kept = cache_folder() / "charts" / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError, UnicodeDecodeError):
        return kept.read_text("utf-8")
    # within a function, so that none of its thousand names meets one of the page's
    script = f"(() => {{{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;')}\n}})();\n"
    with suppress(DataError):  # a cache that cannot be written to costs time, and nothing else
        make_folder(kept.parent)
        write_atomically(kept, script.encode())
    return script
