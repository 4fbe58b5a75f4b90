"""Folders of language models, which `transformers` loads: how they are told apart, and the words that they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unicodedata import category

MODEL_TYPE = "xlm"
TABLE = "transformer.embeddings.weight"
"""The vectors of tokens among the weights."""
BPE, FIRST_BPE = "bpe2", "bpe"
"""How a language model splits texts (``tokenise`` of a network): by byte-pair encoding over words between white space,
with the space after a word in its last token; or by that of earlier folders, which cuts words at combining marks, with
the space before a word in its first token."""
SPACE = "Ġ"
"""What stands for a space in a token of a byte-level encoding."""
APOSTROPHES = "'’"
"""Punctuation that belongs to words: *l'*, *dogs'*."""


def is_language_model(config: Mapping[str, Any]) -> bool:
    """Whether a ``config.json`` of `sentprobe train` is that of a language model."""
    return config.get("model_type") == MODEL_TYPE


def is_marked(token: str, tokenise: str) -> bool:
    """Whether a token ends a word, or begins one in the encoding of earlier folders."""
    return token.startswith(SPACE) if tokenise == FIRST_BPE else token.endswith(SPACE)


def word_of(token: str, tokenise: str) -> str:
    """The word that a token is, if it has the mark of one; otherwise nothing."""
    if not is_marked(token, tokenise):
        return ""
    try:
        content = bytes(map(_BYTES.__getitem__, token)).decode()
    except (KeyError, UnicodeDecodeError):  # a special token, or half of a character
        return ""
    if tokenise == FIRST_BPE:
        return content.removeprefix(" ")
    word = content.removesuffix(" ")
    is_word = word and (category(word[-1])[0] not in "PZ" or word[-1] in APOSTROPHES)
    return word if is_word else ""  # punctuation has the spaces around it


def byte_token(content: bytes) -> str:
    """The token of these bytes."""
    return "".join(map(_CHARACTERS.__getitem__, content))


def _byte_characters() -> dict[str, int]:
    """The printable character that stands for each byte, as in GPT-2: itself, or one from U+0100 on."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + place): byte for place, byte in enumerate(others)}


_BYTES = _byte_characters()
_CHARACTERS = {byte: character for character, byte in _BYTES.items()}
