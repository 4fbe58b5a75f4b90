"""Sentence splitters by name or language, for text whose annotator does not split it, beside the tokenisers.

    moses-CODE      that of Moses with the abbreviations of a language, by sentence-splitter; those of English where it
                    has none
    marks           after marks that end nothing but sentences: 。！？ of Chinese and Japanese, the danda of India, …
    pythainlp       Thai, by pythainlp

Those of other packages are optional, and the extra ``tokenisers`` has them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sentprobe.core.arguments import did_you_mean
from sentprobe.corpus.languages import code_of
from sentprobe.errors import NotInstalled, UsageError

Splitter = Callable[[str], list[str]]
MARKS, MOSES, THAI = "marks", "moses", "pythainlp"
NAMES = (f"{MOSES}-en", MARKS, THAI)
MOSES_LANGUAGES = (
    "ca", "cs", "da", "de", "el", "en", "es", "fi", "fr", "hu", "is", "it", "lt", "lv", "nl", "no", "pl", "pt", "ro",
    "ru", "sk", "sl", "sv", "tr",
)  # fmt: skip
"""Languages for which Moses has abbreviations of its own."""
MARKED = frozenset((
    "am", "as", "bn", "bo", "hi", "hy", "ja", "km", "lzh", "mr", "my", "ne", "or", "pa", "sa", "ti", "yue", "zh",
))  # fmt: skip
"""Languages whose sentences end with marks of their own."""
_END = re.compile(r"[。！？｡．!?।॥።။។։༎]+[」』”’）)\]】》〉\"']*")


def check_splitter(name: str) -> str:
    """The name. UsageError if there is no such splitter; whether its package is installed is not known then."""
    if name in NAMES or (name.startswith(f"{MOSES}-") and name[len(MOSES) + 1 :].isalnum()):
        return name
    raise UsageError(
        f"There is no sentence splitter {name!r}.{did_you_mean(name, NAMES)} Expected one of {', '.join(NAMES)}, or "
        "moses with another language."
    )


def splitter_for(language: str | None) -> str:
    """The name of the splitter for a language."""
    code = code_of(language)
    return THAI if code == "th" else MARKS if code in MARKED else f"{MOSES}-{code or 'en'}"


@lru_cache(maxsize=32)
def splitter(name: str) -> Splitter:
    """The splitter of this name: a function from a paragraph to its sentences, in order and without changes.

    Raises
    ------
    UsageError
        If there is none of this name.
    NotInstalled
        If it is of a package that is not installed.

    Examples
    --------
    >>> splitter("marks")("你好吗？「很好。」他说。")
    ['你好吗？', '「很好。」', '他说。']
    """
    kind, _, language = check_splitter(name).partition("-")
    if kind == MARKS:
        return _after_marks
    if kind == THAI:
        thai: Any = _imported("pythainlp.tokenize", name)
        _imported("pycrfsuite", name, "python-crfsuite")
        return lambda text: [s.strip() for s in thai.sent_tokenize(text, engine="crfcut") if s.strip()]
    code = code_of(language)
    module: Any = _imported("sentence_splitter", name, "sentence-splitter")
    own = module.SentenceSplitter(language=code if code in MOSES_LANGUAGES else "en")
    return lambda text: [s.strip() for s in own.split(text) if s.strip()]


def _after_marks(text: str) -> list[str]:
    ends = [m.end() for m in _END.finditer(text)]
    parts = [text[a:b].strip() for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part for part in parts if part]


def _imported(module: str, name: str, package: str = "") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        package = package or module.partition(".")[0]
        raise NotInstalled(
            f"The sentence splitter {name} needs {package}: pip install {package}. If each "
            "line is a sentence, --lines sentences needs nothing."
        ) from None
