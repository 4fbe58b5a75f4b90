"""A sheet as a web page that an annotator opens from disk: sentences and buttons; answers are saved as a table.

The page makes no request and needs no server. Answers stay in the browser until they are saved, so that closing the
window loses nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from importlib import resources

from sentprobe.core.hashing import hash_64
from sentprobe.judge.sheet import Item, Sheet

MAX_BUTTONS = 12
"""With more possible answers, an answer is typed, and the browser suggests those that there are."""


def form(sheet: Sheet) -> str:
    """The page of a sheet: every text in it is escaped, and only its own script and style are allowed."""
    script, style = (resources.files(__package__).joinpath(name).read_text("utf-8") for name in ("form.js", "form.css"))
    allowed = f"script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    title = escape(sheet.question or sheet.name)
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{style}</style>",
        "</head>",
        f'<body data-sheet="{escape(sheet.stem, quote=True)}" data-key="{_digest(sheet)}">',
        "<main>",
        f"<h1>{title}</h1>",
        "<p>Answer for every sentence, without looking at other people's answers. Leave out those that you cannot "
        "tell. Your answers are kept in this browser; save them at the end, and send the file back.</p>",
        '<p><label>Your name <input id="name" autocomplete="off"></label></p>',
        *(_answers(sheet) if len(sheet.answers) > MAX_BUTTONS else ()),
        "<ol>",
        *(_item(sheet, item) for item in sheet.items),
        "</ol>",
        '<p><button type="button" id="save">Save the answers</button> <span id="done" role="status"></span></p>',
        "</main>",
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _item(sheet: Sheet, item: Item) -> str:
    inputs = "".join(f' <b dir="auto">{escape(name)}: {escape(value)}</b>' for name, value in item.inputs.items())
    name = escape(item.id, quote=True)
    if len(sheet.answers) <= MAX_BUTTONS:
        answers = "".join(
            f'<label><input type="radio" name="{name}" value="{escape(label, quote=True)}"> {escape(meaning)}</label>'
            for label, meaning in sheet.answers.items()
        )
    else:
        answers = f'<label>Answer <input type="text" name="{name}" list="answers" autocomplete="off"></label>'
    return f'<li><fieldset><legend dir="auto">{escape(item.text)}{inputs}</legend>{answers}</fieldset></li>'


def _answers(sheet: Sheet) -> Iterator[str]:
    """What may be typed."""
    yield '<datalist id="answers">'
    for label, meaning in sheet.answers.items():
        yield f'<option value="{escape(label, quote=True)}">{escape(meaning)}</option>'
    yield "</datalist>"
    yield f"<details><summary>The {len(sheet.answers):,} possible answers</summary><ul>"
    for label, meaning in sheet.answers.items():
        yield f"<li><code>{escape(label)}</code>{'' if label == meaning else f': {escape(meaning)}'}</li>"
    yield "</ul></details>"


def _digest(sheet: Sheet) -> str:
    """Of the items: what was answered in one sheet is not taken for answers to another."""
    return f"{hash_64('/'.join(item.id for item in sheet.items)):016x}"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
