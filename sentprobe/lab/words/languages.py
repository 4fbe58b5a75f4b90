"""Whether a set is in languages that a system was made for, as far as names of files and models say."""

from __future__ import annotations

import re
from pathlib import Path

from sentprobe.core.files import plain_name
from sentprobe.encoders.languages import canonical_code, stated_languages
from sentprobe.encoders.schemes.family import Family
from sentprobe.errors import DataError
from sentprobe.lab.words.evaluation import EvaluationRequest
from sentprobe.lab.words.sentence_encoders import EncoderPair
from sentprobe.lab.words.set_names import languages_of, set_name
from sentprobe.lab.words.systems import SpacePair

_PRIVATE = re.compile(r"q[a-t][a-z]")
"""Codes that ISO 639 leaves to private use; other codes of three letters may have an equivalent of two."""
_IN_NAMES = re.compile(
    r"ar|bg|bn|ca|cs|da|de|el|en|eo|es|et|eu|fa|fi|fr|gl|he|hi|hr|hu|hy|id|it|ja|ka|ko|lt|lv|mk|ms|nl|no|pl|pt|ro|ru|"
    rf"sk|sl|sq|sr|sv|ta|th|tl|tr|uk|ur|vi|zh|{_PRIVATE.pattern}"
)
"""Codes that are taken for languages in names of vectors (``wiki.fr.vec``, ``cc.de.300.bin``, ``vectors-en.txt``)."""


def language_warning(pair: SpacePair | EncoderPair, request: EvaluationRequest) -> str:
    """Why a system cannot know a language of a set; empty if it may, or where languages are unknown.

    A file in another language is read all the same: words that look alike in both languages are known, and their
    translation is the word itself.
    """
    of_set = languages_of(request)
    sides = _languages_of_sides(pair)
    if of_set is None or not all(sides):
        return ""
    of_pair = tuple(dict.fromkeys(code for side in sides for code in side))
    missing = [code for code in dict.fromkeys(map(canonical_code, of_set)) if not _may_be_among(code, of_pair)]
    if not missing:
        return ""
    return (
        f"{set_name(request)} is in {' and '.join(of_set)}, and {pair.name} is of {' and '.join(of_pair)}: what it "
        f"knows of {' and '.join(missing)} are words of other languages that are spelled alike. Use a file in its "
        "languages; if only names are misleading, --languages says which they are."
    )


def languages_of_space(path: str) -> tuple[str, ...]:
    """The languages of a space: those that a language model was trained on, or those in the name of a file or folder.

    >>> languages_of_space("wiki.fr.vec"), languages_of_space("vectors-en.txt"), languages_of_space("glove.6B.txt")
    (('fr',), ('en',), ())
    """
    location = Path(path).expanduser()
    if location.is_dir():
        from sentprobe.lab.networks.folder import TrainedFolder, is_language_model

        try:
            config = TrainedFolder(location).config
        except DataError:  # reading its vectors says so
            return ()
        if is_language_model(config):
            return tuple(map(str, config.get("lang2id", ())))
    parts = re.split(r"[._-]", plain_name(path.rstrip("/")).lower())
    return tuple(dict.fromkeys(part for part in parts if _IN_NAMES.fullmatch(part)))


def _languages_of_sides(pair: SpacePair | EncoderPair) -> tuple[tuple[str, ...], ...]:
    if isinstance(pair, EncoderPair):
        # a family says itself which languages it has no member for
        return tuple(() if isinstance(encoder, Family) else stated_languages(encoder) for encoder in pair.encoders)
    return tuple(languages_of_space(side.space.name) for side in (pair.source, pair.target))


def _may_be_among(code: str, languages: tuple[str, ...]) -> bool:
    """Whether a language is one of several; codes of two and of three letters are not compared."""
    return any(
        code == stated or (len(code) != len(stated) and not any(map(_PRIVATE.fullmatch, (code, stated))))
        for stated in map(canonical_code, languages)
    )
