"""Plain text, one sentence per line: a reader with a small tokeniser that suits many languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from sentprobe.core.files import encoding_error
from sentprobe.core.words import JOINERS, mark_class
from sentprobe.corpus.files import SHARD_BLOCK, OnError, byte_lines, stem
from sentprobe.corpus.tokenisers import tokeniser as find_tokeniser
from sentprobe.errors import CorpusError
from sentprobe.sentence import Sentence


def read_plain(
    path: str, *, shard: int = 0, of: int = 1, on_error: OnError | None = None, tokeniser: str = ""
) -> Iterator[Sentence]:
    """Yield a sentence for every line that is not blank, or every ``of``-th run of 256 beginning with run ``shard``.

    The text is kept as it is, except for white space at its ends. The id is the name of the file with the line number.
    ``tokeniser`` names another one than that of this module.
    """
    name = stem(path)
    count = 0
    for number, line in byte_lines(path, on_error):
        if not line or line.isspace():
            continue
        in_shard = count // SHARD_BLOCK % of == shard
        count += 1
        if not in_shard:
            continue
        try:
            text, forms, space_after = _read_line(path, number, line, tokeniser)
        except CorpusError as error:
            if on_error is None:
                raise
            on_error(error)
            continue
        if forms:
            yield Sentence(f"{name}:{number}", text, forms, space_after=space_after)


def _read_line(path: str, number: int, line: bytes, tokeniser: str) -> tuple[str, tuple[str, ...], tuple[bool, ...]]:
    """A line as text, its tokens, and which of them white space follows."""
    try:
        text = line.decode().strip()
    except UnicodeDecodeError as error:
        raise encoding_error(path, number, error) from None
    try:
        return text, *(tokenise_by(tokeniser, text) if tokeniser else tokenise(text))
    except ValueError as error:
        raise CorpusError(path, number, str(error), "tokens that are parts of the text, in order") from None


def tokenise(text: str) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """Cut a text into words and single punctuation marks, and say which of them white space follows.

    A word keeps its inner apostrophes and hyphens (*l'été-là*, *rock'n'roll*) and its combining marks. Scripts without
    spaces are not segmented: a run of Han or Thai letters is one word.
    """
    matches = list(_token().finditer(text))
    ends = [m.end() for m in matches]
    space = [end == len(text) or text[end].isspace() for end in ends]
    return tuple([m[0] for m in matches]), tuple(space)


def tokenise_by(name: str, text: str) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """The same by a tokeniser of ``sentprobe.corpus.tokenisers``; ValueError if it changes the text."""
    forms = find_tokeniser(name)(text)
    space, at = [], 0
    for form in forms:
        begin = text.find(form, at)
        if begin < 0 or text[at:begin].strip():
            raise ValueError(f"the token {form!r} of the tokeniser {name}")
        at = begin + len(form)
        space.append(at == len(text) or text[at].isspace())
    return tuple(forms), tuple(space)


@lru_cache(maxsize=1)
def _token() -> re.Pattern[str]:
    """The pattern of a token: a word, or a sign with its marks; emoji may be of several signs."""
    letter, sign = rf"[\w{mark_class()}{JOINERS}]", rf"[^\w\s][{mark_class()}\U0001f3fb-\U0001f3ff]*"
    flag = "[\U0001f1e6-\U0001f1ff]{2}"
    return re.compile(rf"{letter}+(?:['’ʼ\-‐‑·]{letter}+)*|{flag}|{sign}(?:\u200d{sign})*")
