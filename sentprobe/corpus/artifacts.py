"""What damage leaves in a text: lost and invisible characters, markup. `make` avoids it, the audit finds it."""

from __future__ import annotations

import re
from collections.abc import Iterator

REPLACEMENT_CHARACTER = re.compile("\ufffd")
LOST_APOSTROPHE = re.compile(r"[^\W\d_](?: \? |\?)(?:s|t|ll|re|ve)\b(?!=)")
INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ue000-\uf8ff]"
    "|(?<!\\S)[\u200c\u200d](?!\\S)|(?<=[A-Za-zÀ-ӿ])[\u200c\u200d]"
)
ELEMENTS = (
    "ref|br|div|span|sub|sup|small|big|nowiki|table|td|th|tr|li|ul|ol|em|strong|math|code|pre|gallery|blockquote|"
    "center|font|poem|img|hr|h[1-6]|html|body|head|script|style|references|timeline|includeonly|noinclude"
)
MARKUP = {
    "entities": r"&(?:[a-z]{2,8}\d{0,2}|#\d{2,6}|#x[0-9a-f]{2,6});",
    "tags": rf"< ?/? ?(?:{ELEMENTS})\b[^<>]{{0,200}}>|</?[abipu](?: [^<>]{{0,200}})?>|< ?!--",
    "placeholders": r"</?(?:unk|s|pad|eos|bos|mask)>|< unk >|\[(?:unk|mask|cls)\]|(?:formula|codice) ?_ ?\d",
    "wiki": r"\[ ?\[|\] ?\]|\{ ?[{|]|[|}] ?\}|'''|^==[^=]+==|\| ?thumb\b|\b(?:col|row)span ?=|\b(?:style|align) ?= ?\"",
    "emptied brackets": r"(?<!\w)\( ?[,;:]? ?\)|(?<!\w)\[ ?\]|« ?»",
    "Penn escapes": r"-[lr][rsc]b-|\w ?\\[/*]",
    "Moses escapes": r"@[-.,/:&']@",
    "LaTeX": r"(?<![\w:])\\(?:[a-z]{2,}| (?:frac|cdot|math\w+|text\w*|left|right|sum|sqrt|over|begin|end)\b)",
    "addresses": r"\b(?:https?|ftp) ?: ?/ ?/|\bwww ?\. ?\w|\w@\w[\w-]*\.\w",
}
MARKUP_PATTERNS = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in MARKUP.items()}
MARKUP_CHARACTERS = re.compile(r"[&<\[\]{}|\\@_=(]")
"""All markup has one of these, or a hint."""
MARKUP_HINTS = ("http", "www", "HTTP", "WWW", "RB-", "rb-", "'''", "«»", "« »")


def find_lost_character(text: str, english: bool) -> re.Match[str] | None:
    """Where a character was lost; in English text also where a question mark has replaced an apostrophe."""
    if "\ufffd" in text:
        return REPLACEMENT_CHARACTER.search(text)
    return LOST_APOSTROPHE.search(text) if english and "?" in text else None


def find_invisible_character(text: str) -> re.Match[str] | None:
    """The first invisible character."""
    return None if text.isprintable() else INVISIBLE.search(text)


def find_markup(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The kinds of markup in a text, and the first place of each."""
    if MARKUP_CHARACTERS.search(text) or any(hint in text for hint in MARKUP_HINTS):
        for kind, pattern in MARKUP_PATTERNS.items():
            if m := pattern.search(text):
                yield kind, m
