"""Whether an encoder was made for a language: by what its author says, or by what its vocabulary lacks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from sentprobe.corpus.languages import LANGUAGE_ALIASES, code_of

MAX_UNKNOWN_PIECES = 0.1
"""Share of the pieces of texts that a tokenizer does not know, above which it was made for other texts."""
MAX_UNKNOWN_WORDS = 0.15
"""The same for words without a vector. GloVe 6B lacks 1.3 and 4.4 % of the words of the English treebanks PUD and EWT,
22 % of French, 29 % of German, 56 % of Polish and 68 % of Russian PUD."""
SAMPLED_TEXTS = 500
"""Texts whose pieces are counted."""
MAX_NAMED = 6
"""Of more languages, only the number is given."""
_CODE = re.compile(r"[a-z]{2,3}")
_NO_LANGUAGE = ("code",)
"""What model cards list among languages."""


def language_problem(encoder: object, language: str | None, texts: Sequence[str]) -> str:
    """Why an encoder is not one for texts in a language, as the end of a sentence about it; empty if it may be one.

    >>> class English:
    ...     languages = ("en",)
    >>> language_problem(English(), "fi", []), language_problem(English(), "en-GB", [])
    ('was made for en, not for fi', '')
    """
    code = canonical_code(language)
    if languages := stated_languages(encoder):
        if not code or code in map(canonical_code, languages):
            return ""  # the word of its author counts, whatever the vocabulary
        stated = ", ".join(languages) if len(languages) <= MAX_NAMED else f"{len(languages)} other languages"
        return f"was made for {stated}, not for {code}"
    what, share, limit = _unknown(encoder, texts)
    if share <= limit:
        return ""
    return f"does not know {share:.0%} of the {what} of the texts{f' in {code}' if code else ''}"


def stated_languages(encoder: object) -> tuple[str, ...]:
    """The codes of the languages that an encoder says it was made for; none if it says nothing."""
    languages = getattr(encoder, "languages", ())
    if not isinstance(languages, tuple) or not all(isinstance(language, str) for language in languages):
        return ()
    return languages


def canonical_code(language: str | None) -> str:
    """The one code of a language that may have several: ``no`` of ``nb`` and of ``nb-NO``; empty if it is unknown."""
    code = code_of(language)
    return LANGUAGE_ALIASES.get(code, code)


def _unknown(encoder: object, texts: Sequence[str]) -> tuple[str, float, float]:
    """What an encoder reads, the share of it that it does not know in a sample of texts, and the largest usual one."""
    from sentprobe.encoders.schemes.vec import Pooled

    nothing = ("pieces", 0.0, MAX_UNKNOWN_PIECES)
    if not texts:
        return nothing
    sample = texts[:: -(-len(texts) // SAMPLED_TEXTS)]
    if isinstance(encoder, Pooled):
        if encoder.rows is not None:  # it was restricted to the tokens of some texts, and rejects others
            return nothing
        # punctuation at the end of a word is another matter, which `unknown-tokens` reports
        share = min(pooled.missing(sample).share for pooled in (encoder, encoder.with_simple_tokens()))
        return "words", share, MAX_UNKNOWN_WORDS
    count = getattr(encoder, "unknown_share", None)
    return ("pieces", float(count(sample)), MAX_UNKNOWN_PIECES) if callable(count) else nothing


def unknown_pieces(tokenizer: Any, texts: Sequence[str]) -> float:
    """The share of the pieces of texts that stand for something unknown, or for a byte that is no letter."""
    rows = tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
    counts = Counter(chain.from_iterable(rows))
    unknown = [i for i in counts if i == tokenizer.unk_token_id or "\ufffd" in tokenizer.decode([i])]
    return sum(counts[i] for i in unknown) / max(1, counts.total())


def card_languages(folder: Path) -> tuple[str, ...]:
    """The languages in the card of a model, README.md; none if it is for many, or says nothing that is understood."""
    from huggingface_hub import metadata_load

    try:
        metadata = metadata_load(folder / "README.md") or {}
    except Exception:  # whatever is wrong with a text that whoever released the model wrote: no vector depends on it
        return ()
    stated = metadata.get("language")
    # Norwegian is `no`, which YAML reads as false
    names = [
        "no" if name is False else str(name).lower() for name in (stated if isinstance(stated, list) else [stated])
    ]
    codes = [code_of(name) for name in names if name not in _NO_LANGUAGE]
    return tuple(dict.fromkeys(codes)) if all(map(_CODE.fullmatch, codes)) else ()
