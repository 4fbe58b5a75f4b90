"""Names and labels may hold any character: how to write them where some have a meaning."""

from __future__ import annotations

from sonde.console import visible

_LATEX = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "&": "\\&", "#": "\\#", "%": "\\%", "_": "\\_",
    "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}", ">": "\\textgreater{}",
    "|": "\\textbar{}", "[": "{[}", "*": "{*}", "`": "{`}", '"': "{\\char34}", "±": "$\\pm$", "†": "\\dag{}",
}  # fmt: skip
"""After the end of a row a bracket or an asterisk would belong to that; babel makes quotation marks active."""


def plain(text: str) -> str:
    """One line of text that moves no cursor."""
    return visible(" ".join(text.split()))


def in_markdown(text: str) -> str:
    """Text that is plain text in Markdown, inside a table and elsewhere."""
    return "".join(f"&#{ord(c)};" if c in "\\`*_[]<>|&~$@#" else c for c in plain(text))


def in_latex(text: str) -> str:
    """Text that is plain text in LaTeX, and whose hyphens make no dash."""
    return "".join(_LATEX.get(c, c) for c in plain(text)).replace("--", "-{}-").replace("--", "-{}-")
