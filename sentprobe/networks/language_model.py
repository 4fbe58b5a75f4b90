"""Folders of language models, which `transformers` loads: how they are told apart, and the words that they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MODEL_TYPE = "xlm"
TABLE = "transformer.embeddings.weight"
"""The vectors of tokens among the weights."""
WORD_START = "Ġ"
"""What stands for the space before a word in a token of a byte-level encoding."""


def is_language_model(config: Mapping[str, Any]) -> bool:
    """Whether a ``config.json`` of `sentprobe train` is that of a language model."""
    return config.get("model_type") == MODEL_TYPE


def word_of(token: str) -> str:
    """The word that a token is, if it is one, from the space before it on; otherwise nothing."""
    if not token.startswith(WORD_START) or len(token) == 1:
        return ""
    try:
        return bytes(map(_BYTES.__getitem__, token[1:])).decode()
    except (KeyError, UnicodeDecodeError):  # a special token, or half of a character
        return ""


def _byte_characters() -> dict[str, int]:
    """The printable character that stands for each byte, as in GPT-2: itself, or one from U+0100 on."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + place): byte for place, byte in enumerate(others)}


_BYTES = _byte_characters()
