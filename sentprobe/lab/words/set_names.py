"""Names and languages of sets, from the names of files: ``en-fr.5000-6500.txt`` is of English and French."""

from __future__ import annotations

import re
from pathlib import Path

from sentprobe.core.files import plain_name
from sentprobe.lab.words.evaluation import EvaluationRequest

_PAIR = re.compile(r"(?<![a-z])([a-z]{2,3})-([a-z]{2,3})(?![a-z])")
_CODE = re.compile(r"[a-z]{2,3}")
_TEXT_SUFFIX = re.compile(r"\.(?:txt|tsv|csv|dict|dic)$", re.IGNORECASE)

MONOLINGUAL = frozenset({"ar", "de", "en", "es", "fa", "fr", "it", "nl", "pl", "pt", "ru", "tr", "zh"})
"""Languages whose names as folders are known, as in the layout of SemEval-2017: ``monolingual/en/semeval17.csv``."""


def languages_of(request: EvaluationRequest) -> tuple[str, str] | None:
    """The languages of the queries and of the candidates; None if unknown."""
    languages = request.languages or _from_names(request.files)
    return (languages[1], languages[0]) if languages and request.reverse else languages


def language_of(request: EvaluationRequest) -> str | None:
    """Both languages as one text: ``en-fr``; or one, if they are the same."""
    languages = languages_of(request)
    return None if languages is None else languages[0] if languages[0] == languages[1] else "-".join(languages)


def set_name(request: EvaluationRequest) -> str:
    """The name of the set: the evaluation, then that of the file without what names of files have in common."""
    stem = f"identical-{request.identical}" if request.identical else _stem(request.files)
    if request.reverse:
        stem += " (reversed)"  # the file keeps its name: en-fr reversed is not fr-en, another file with other words
    marks = {
        f"weights {request.weights}": request.weights != EvaluationRequest.weights,
        "unit words": request.unit,
        f"tokenised by {','.join(request.tokenise)}": request.tokenise,
        "centred": request.center,
    }
    stem += "".join(f" ({mark})" for mark, applies in marks.items() if applies)
    return f"{request.evaluation}/{stem}"


def _from_names(files: tuple[str, ...]) -> tuple[str, str] | None:
    if len(files) == 2:  # corpus.en and corpus.fr
        ends = tuple(plain_name(file).rpartition(".")[2] for file in files)
        if all(map(_CODE.fullmatch, ends)) and not any(_TEXT_SUFFIX.fullmatch(f".{end}") for end in ends):
            return ends[0], ends[1]
    for file in files:
        for name in (plain_name(file), _folder(file)):
            if match := _PAIR.search(name):
                return match[1], match[2]
    if len(files) == 1 and _folder(files[0]) in MONOLINGUAL:
        return _folder(files[0]), _folder(files[0])
    return None


def _stem(files: tuple[str, ...]) -> str:
    """The name of one file without its suffix, after that of a folder that names languages; of two, what both begin
    with, and both endings."""
    names = [_TEXT_SUFFIX.sub("", plain_name(file)) for file in files]
    if len(names) == 1:
        folder = _folder(files[0])
        named = _PAIR.fullmatch(folder) or folder in MONOLINGUAL
        return f"{folder}.{names[0]}" if named and not _PAIR.search(names[0]) else names[0]
    first_head, _, first = names[0].rpartition(".")
    second_head, _, second = names[1].rpartition(".")
    if first_head and first_head == second_head:
        return first_head if _PAIR.search(first_head) else f"{first_head}.{first}-{second}"
    return f"{names[0]},{names[1]}"


def _folder(file: str) -> str:
    return Path(file).absolute().parent.name
