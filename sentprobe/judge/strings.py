"""The fixed texts of sheets and pages, which a file may have in another language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

import msgspec

from sentprobe.core.arguments import did_you_mean
from sentprobe.errors import DataError

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetStrings:
    """Every text that is the same in all sheets; words in braces are filled in."""

    language: str = "en"
    """The language code of the page."""
    introduction: str = (
        "Answer for every sentence, without looking at other people's answers. Leave out those that you cannot tell. "
        "Your answers are kept in this browser; save them at the end, and send the file back."
    )
    your_name: str = "Your name"
    save: str = "Save the answers"
    answer: str = "Answer"
    possible_answers: str = "The {n} possible answers"
    answered: str = "{done} of {all} answered"
    not_possible: str = "{n} not among the possible answers"
    name_first: str = "Write your name first: it tells your answers from those of others."
    instructions: str = "Write one of these answers into the column `label` of {file}, for every sentence:"
    unlisted: str = "{n} more"
    leave_empty: str = "Leave the label empty if you cannot tell. Do not look at other people's answers."
    questions: Mapping[str, str] = field(default_factory=dict)
    """The question of each task, by its name, where it is not that of the set."""
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What the labels of each task mean, by its name, where that is not what the set says."""


ENGLISH = SheetStrings()


def read_strings(path: Path) -> SheetStrings:
    """The texts in a JSON file; those that it does not have are English.

    Raises
    ------
    DataError
        If the file cannot be read, has a text of another name, or a text has other words in braces than the English.
    """
    try:
        content = msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except OSError as e:
        raise DataError(f"{path} cannot be read: {e.strerror}.") from None
    except (msgspec.DecodeError, UnicodeError) as e:
        raise DataError(f"{path}: expected a JSON object, as `sentprobe judge strings` prints it; {e}.") from None
    names = [f.name for f in fields(SheetStrings)]
    if unknown := [name for name in content if name not in names]:
        raise DataError(f"{path} has a text {unknown[0]!r}, which no sheet has.{did_you_mean(unknown[0], names, n=1)}")
    try:
        strings = msgspec.convert(content, SheetStrings)
    except msgspec.ValidationError as e:
        raise DataError(f"{path}: {e}.") from None
    for name in names:
        english, text = getattr(ENGLISH, name), getattr(strings, name)
        if isinstance(text, str) and {*_PLACEHOLDER.findall(text)} != {*_PLACEHOLDER.findall(english)}:
            expected = ", ".join(f"{{{word}}}" for word in _PLACEHOLDER.findall(english)) or "no words"
            raise DataError(f"{path}: {name} is {text!r}; expected {expected} in braces, as in {english!r}.")
    return strings


def strings_file() -> str:
    """The English texts as a file, to be translated."""
    return msgspec.json.format(msgspec.json.encode(ENGLISH), indent=2).decode() + "\n"


def fill(text: str, **values: object) -> str:
    """A text with the words in braces replaced.

    >>> fill("{n} more", n=3)
    '3 more'
    """
    return _PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), text)
