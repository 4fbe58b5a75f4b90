"""Marks of wikitext that are opened and not closed, and what they cost.

mwparserfromhell reads on from a mark to find where it is closed; if it is not, it goes back and takes the mark for
text. So a page with many such marks takes time that grows with the square of its length: hours for a page of a
megabyte, which nobody writes by accident. Here it is only counted how much would be read in vain.
"""

from __future__ import annotations

import re
from collections import Counter

_MARK = re.compile(
    r"""
      (?P<open>\{\{\{? | \[\[ | ^[ \t:*]*\{\| | <!-- | \[(?=https?: | //))
    | (?P<close>\}\} | \]\]? | ^[ \t]*\|\}(?!\}) | -->)
    | </(?P<end>[a-z]\w*)
    | <(?=[^\s/]) (?: (?P<tag>[a-z]\w*) (?P<rest> (?: [^<>"'] | "[^"<]*" | '[^'<]*' )*+ > ) )?
    """,
    re.X | re.M,
)
_CLOSES = {"}}": "{{", "]]": "[[", "]": "[", "|}": "{|", "-->": "<!--"}
SINGLE = frozenset(("br", "hr", "wbr", "meta", "link", "img"))
"""Tags that are never closed."""
UNPARSED = frozenset(("nowiki", "pre", "math", "source", "syntaxhighlight", "score", "timeline", "hiero", "ce", "chem"))
"""Tags in which other marks are text."""


def characters_read_in_vain(markup: str) -> int:
    """The characters from each mark that is not closed to the end of the page, all together.

    Examples
    --------
    >>> characters_read_in_vain("A [[link|with text]], {{a template}} and <b>bold type</b>.")
    0
    >>> characters_read_in_vain("{{a {{b")
    10
    """
    text = markup.lower()
    opened: list[tuple[str, int]] = []
    count: Counter[str] = Counter()
    last_end: dict[str, int] = {}
    vain = at = 0
    while found := _MARK.search(text, at):
        start, at = found.span()
        if (tag := found["tag"]) is not None:
            if found["rest"].endswith("/>") or tag in SINGLE:
                continue
            if tag not in UNPARSED:
                opened.append((f"<{tag}", start))
                count[f"<{tag}"] += 1
                continue
            ending = f"</{tag}"
            if tag not in last_end:
                last_end[tag] = text.rfind(ending)
            if last_end[tag] < at:
                vain += len(text) - start
            else:
                at = text.index(ending, at) + len(ending)
        elif found[0] == "<":  # a tag without an end, or whose quotation mark has none
            vain += len(text) - start
        elif found["open"] is not None:
            mark = found["open"].lstrip(" \t:*").replace("{{{", "{{")
            opened.append((mark, start))
            count[mark] += 1
        else:
            closed = f"<{found['end']}" if found["end"] else _CLOSES[found["close"].strip()]
            if closed == "[[" and not count[closed]:
                closed = "["
            while count[closed]:  # what was opened since then is not closed
                mark, place = opened.pop()
                count[mark] -= 1
                if mark != closed:
                    vain += len(text) - place
                    continue
                if text.startswith("{{{", place):
                    if text.startswith("}", at):
                        at += 1
                    else:  # it was looked for
                        vain += len(text) - place
                break
    return vain + sum(len(text) - place for _, place in opened)
