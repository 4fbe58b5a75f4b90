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
from sentprobe.judge.strings import ENGLISH, SheetStrings, fill

MAX_BUTTONS = 12
"""With more possible answers, an answer is typed, and the browser suggests those that there are."""


def form(sheet: Sheet, strings: SheetStrings = ENGLISH) -> str:
    """The page of a sheet: every text in it is escaped, and only its own script and style are allowed."""
    script, style = (resources.files(__package__).joinpath(name).read_text("utf-8") for name in ("form.js", "form.css"))
    allowed = f"script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    title = escape(sheet.question or sheet.name)
    lines = [
        "<!doctype html>",
        f'<html lang="{_attribute(strings.language)}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{style}</style>",
        "</head>",
        f'<body data-sheet="{_attribute(sheet.stem)}" data-key="{_digest(sheet)}" {_messages(strings)}>',
        "<main>",
        f'<h1 dir="auto">{title}</h1>',
        f'<p dir="auto">{escape(strings.introduction)}</p>',
        f'<p><label>{escape(strings.your_name)} <input id="name" autocomplete="off"></label></p>',
        *(_answers(sheet, strings) if len(sheet.answers) > MAX_BUTTONS else ()),
        "<ol>",
        *(_item(sheet, item, strings) for item in sheet.items),
        "</ol>",
        f'<p><button type="button" id="save">{escape(strings.save)}</button> <span id="done" role="status"></span></p>',
        "</main>",
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _item(sheet: Sheet, item: Item, strings: SheetStrings) -> str:
    inputs = "".join(f' <b dir="auto">{escape(name)}: {escape(value)}</b>' for name, value in item.inputs.items())
    name = escape(item.id, quote=True)
    if len(sheet.answers) <= MAX_BUTTONS:
        answers = "".join(
            f'<label><input type="radio" name="{name}" value="{escape(label, quote=True)}"> {escape(meaning)}</label>'
            for label, meaning in sheet.answers.items()
        )
    else:
        field = f'<input type="text" name="{name}" list="answers" autocomplete="off">'
        answers = f"<label>{escape(strings.answer)} {field}</label>"
    return f'<li><fieldset><legend dir="auto">{escape(item.text)}{inputs}</legend>{answers}</fieldset></li>'


def _answers(sheet: Sheet, strings: SheetStrings) -> Iterator[str]:
    """What may be typed."""
    yield '<datalist id="answers">'
    for label, meaning in sheet.answers.items():
        yield f'<option value="{escape(label, quote=True)}">{escape(meaning)}</option>'
    yield "</datalist>"
    summary = fill(strings.possible_answers, n=f"{len(sheet.answers):,}")
    yield f"<details><summary>{escape(summary)}</summary><ul>"
    for label, meaning in sheet.answers.items():
        yield f"<li><code>{escape(label)}</code>{'' if label == meaning else f': {escape(meaning)}'}</li>"
    yield "</ul></details>"


def _messages(strings: SheetStrings) -> str:
    """The texts that the script fills in and shows."""
    texts = {"answered": strings.answered, "odd": strings.not_possible, "unnamed": strings.name_first}
    return " ".join(f'data-{name}="{_attribute(text)}"' for name, text in texts.items())


def _attribute(text: str) -> str:
    return escape(text, quote=True)


def _digest(sheet: Sheet) -> str:
    """Of the items: what was answered in one sheet is not taken for answers to another."""
    return f"{hash_64('/'.join(item.id for item in sheet.items)):016x}"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
