"""What is annotated, by what, and which sentences are kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sentprobe.annotate.annotator import Model
from sentprobe.annotate.inputs import Input, stamp_file
from sentprobe.annotate.source import LINES, TEXT_SOURCES, Lines, Reading
from sentprobe.core.arguments import check_options
from sentprobe.corpus.languages import code_of
from sentprobe.errors import UsageError

Dedupe = Literal["exact", "near"]
NonTrees = Literal["repair", "drop"]
SUFFIXES = (".conllu", ".conllu.gz")


@dataclass(frozen=True)
class Request:
    """All that decides what is written."""

    annotator: str
    """As it was typed: ``spacy:fr_core_news_sm``."""
    inputs: tuple[Input, ...]
    text: str | None = None
    """The field of a record with its text."""
    id: str | None = None
    """The field of a record with its id."""
    lines: Lines | None = None
    """What a line break means; None: what it usually means in such a file."""
    split: str = ""
    """The name of a sentence splitter; empty: the annotator splits, or the one of the language."""
    language: str | None = None
    check_language: bool = False
    """Whether sentences in another language are dropped."""
    dedupe: Dedupe | None = None
    length: tuple[int, int] | None = None
    """The shortest and the longest sentence that is kept, in words."""
    limit: int = 0
    """How many sentences are kept; 0: all."""
    non_trees: NonTrees = "repair"
    skip_bad: bool = False
    gold: str | None = None
    """A treebank on which the annotator is scored."""

    def __post_init__(self) -> None:
        check_options(0, limit=self.limit)

    @property
    def readings(self) -> dict[str, Reading]:
        """How files of each source are read."""
        found = {}
        for name in {one.source for one in self.inputs}:
            source = TEXT_SOURCES[name]
            found[name] = Reading(self.lines or source.lines, self.text or "text", self.id)
        return found

    def check(self, model: Model) -> None:
        """Refuse what has no effect, or contradicts the model."""
        if self.lines is not None and self.lines not in LINES:
            raise UsageError(f"--lines {self.lines}: expected {', '.join(LINES)}.")
        if (self.text or self.id) and not any(TEXT_SOURCES[one.source].records for one in self.inputs):
            option = "--text" if self.text else "--id"
            raise UsageError(f"{option} names a field of JSON lines or Parquet; {self.inputs[0].path} has none.")
        if self.split and self.lines == "sentences":
            raise UsageError("--split has no effect with --lines sentences, which are split: leave one of them out.")
        if self.language and model.language and code_of(self.language) != code_of(model.language):
            raise UsageError(
                f"--language {self.language}: {self.annotator} is a model of {model.language}. Leave --language out, "
                "or choose a model of that language."
            )
        if self.check_language and not (self.language or model.language):
            raise UsageError(f"--check-language needs --language CODE: {self.annotator} does not say which it is for.")

    def facts(self, model: Model) -> dict[str, Any]:
        """What must be the same when work goes on, and what is compared with a finished file, as plain data."""
        return {
            "--with": self.annotator,
            "model": model.identity,
            "texts": [f"{one.name} ({one.source}): {one.stamp}" for one in self.inputs],
            "--text": self.text,
            "--id": self.id,
            "--lines": self.lines,
            "--split": self.split,
            "--language": self.language,
            "--check-language": self.check_language,
            "--dedupe": self.dedupe,
            "--length": None if self.length is None else list(self.length),
            "--limit": self.limit,
            "--non-trees": self.non_trees,
            "--skip-bad": self.skip_bad,
            "--gold": f"{self.gold}: {stamp_file(self.gold)}" if self.gold and Path(self.gold).is_file() else self.gold,
        }


def parse_length(typed: str) -> tuple[int, int] | None:
    """``5-50`` as two numbers; None if nothing was typed."""
    if not typed:
        return None
    found = re.fullmatch(r"(\d+)-(\d+)", typed)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--length {typed}: expected the minimum and maximum number of tokens, such as 5-50.")
    return int(found[1]), int(found[2])
