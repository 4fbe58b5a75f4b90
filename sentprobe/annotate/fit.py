"""Fitting sentences to the text that they are from: exact texts and spacing, whatever an annotator says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sentprobe.sentence import Sentence


class TextDiffersError(ValueError):
    """Sentences are not the text; white space does not count."""

    def __init__(self, sentence: int, got: str, expected: str) -> None:
        super().__init__(f"got {got}, expected {expected}")
        self.sentence, self.got, self.expected = sentence, got, expected


def fit(sentences: Sequence[Sentence], text: str) -> list[Sentence]:
    """The sentences with their parts of the text, and with spaces after words where the text has them.

    Examples
    --------
    >>> found = fit([Sentence("", "", ("He", "left", "."))], " He left. ")[0]
    >>> found.text, found.space_after
    ('He left.', (True, False, True))
    """
    made: list[Sentence] = []
    at = 0
    for number, sentence in enumerate(sentences):
        spans: list[tuple[int, int]] = []
        for token in sentence.tokens:
            try:
                span = _span(token, text, at)
            except ValueError:
                rest = text[at:].strip()
                raise TextDiffersError(
                    number, f"the token {_short(token)}", f"the text {_short(rest)}" if rest else "the end of the text"
                ) from None
            spans.append(span)
            at = span[1]
        if not spans:
            raise TextDiffersError(number, "a sentence without words", "at least one")
        spaces = [end == len(text) or text[end].isspace() for _, end in spans]
        spaces[-1] = True
        made.append(
            replace(sentence, text=text[spans[0][0] : spans[-1][1]], space_after=tuple(_of_words(sentence, spaces)))
        )
    if text[at:].strip():
        raise TextDiffersError(max(0, len(sentences) - 1), "the end", f"the text {_short(text[at:].strip())}")
    return made


def by_text(sentences: Iterable[Sentence], texts: Sequence[str]) -> Iterator[list[Sentence]]:
    """The sentences of each of several texts that were annotated together; one that goes on in the next is an error."""
    waiting = iter(sentences)
    number = 0
    for text in texts:
        wanted = _letters(text)
        found: list[Sentence] = []
        while wanted > 0 and (sentence := next(waiting, None)) is not None:
            found.append(sentence)
            wanted -= sum(map(_letters, sentence.tokens))
        try:
            yield fit(found, text)
        except TextDiffersError as error:
            raise TextDiffersError(number + error.sentence, error.got, error.expected) from None
        number += len(found)
    if (extra := next(waiting, None)) is not None:
        raise TextDiffersError(number, f"the token {_short(extra.tokens[0])}", "the end of the text")


def _letters(text: str) -> int:
    return len("".join(text.split()))


def _span(token: str, text: str, at: int) -> tuple[int, int]:
    """Where a token is, at the next character that is not white space; ValueError if it is not there."""
    while at < len(text) and text[at].isspace():
        at += 1
    if token and text.startswith(token, at):
        return at, at + len(token)
    begin = at
    letters = "".join(token.split())
    for letter in letters:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text) or text[at] != letter:
            raise ValueError
        at += 1
    if not letters:
        raise ValueError
    return begin, at


def _of_words(sentence: Sentence, spaces: Sequence[bool]) -> list[bool]:
    """Spaces after words, from those after tokens: none inside a multi-word token."""
    after: list[bool] = []
    ranges = {first: end for first, end, _ in sentence.mwts}
    for space in spaces:
        end = ranges.get(len(after), len(after) + 1)
        after += [False] * (end - len(after) - 1)
        after.append(space)
    return after


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")
