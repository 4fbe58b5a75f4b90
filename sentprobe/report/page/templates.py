"""The templates of the page: every text that is put into them is escaped, and made readable."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sentprobe.report.page.sanitise import readable
from sentprobe.report.page.text import duration
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

    found = Environment(
        loader=PackageLoader("sentprobe.report.page", "html"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True, finalize=_finalised,
    )  # fmt: skip
    found.filters |= {
        "breakable": _breakable, "renamed": renamed, "coded": _coded, "duration": duration, "coefficient": _coefficient,
    }  # fmt: skip
    found.globals |= {"noun": noun, "level": level_text("\u00a0")}
    found.globals["macros"] = found.get_template("macros.html").module
    return found


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
