"""XNLI: one set per language, trained on English pairs from elsewhere.

Two releases are known: ``xnli.dev.tsv`` and ``xnli.test.tsv`` with all languages and a header, and files such as
``dev-fr.tsv`` and ``test-fr.tsv`` with two sentences and a label per line. The English pairs are MultiNLI's, in any of
the forms in which they are published, or a file of the second form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from sentprobe.core.files import COMPRESSED
from sentprobe.core.reader import OnBad, find_file, read_lines, split_cells, wrong_width
from sentprobe.data.rows import RowBuilder
from sentprobe.errors import CorpusError, SentProbeError, UsageError
from sentprobe.tasks import Example

NO_GOLD = "-"
"""The label of a pair on which the annotators did not agree; SentEval skips it, and so do we."""
OFFICIAL = {"va": "xnli.dev.tsv", "te": "xnli.test.tsv"}
TRAINING = (
    "train-en.tsv",
    "multinli.train.en.tsv",
    "multinli_1.0_train.txt",
    "multinli/multinli.train.en.tsv",
    "../XNLI-MT-1.0/multinli/multinli.train.en.tsv",
)
"""Where English pairs are looked for, from the folder of the set: our own name, XNLI's and MultiNLI's."""

_CODE = re.compile(r"[a-z]{2,3}")
_ONE = re.compile(rf"(dev|test)-([a-z]{{2,3}})\.tsv({'|'.join(map(re.escape, COMPRESSED))})?")
_TRAIN = re.compile(r"(?:^|[._-])train[._-]([a-z]{2,3})\.")
_SPLIT = {"dev": "va", "test": "te"}
_LABELS = {**{label: label for label in ("entailment", "neutral", "contradiction")}, "contradictory": "contradiction"}
"""The labels; the last is XNLI's word in its own copies of MultiNLI."""
_PAIR = re.compile(rf"[^\t]*\t[^\t]*\t({'|'.join(_LABELS)})\s*$")
_HEADERS = (("sentence1", "sentence2", "gold_label"), ("premise", "hypo", "label"))
"""The names of the columns where there is a header."""


def is_nli(folder: Path, names: Iterable[str]) -> bool:
    """Whether XNLI is in a folder that has files of these names."""
    return any(
        (_ONE.fullmatch(name) and _PAIR.match(_first(folder / name)))
        or (name in OFFICIAL.values() and _first(find_file(folder / name)).startswith("language\t"))
        for name in names
    )


def nli_languages(folder: Path) -> tuple[str, ...]:
    """The languages of XNLI directly in this folder, sorted."""
    languages: set[str] = set()
    for entry in folder.iterdir():
        if (match := _ONE.fullmatch(entry.name)) and _PAIR.match(_first(entry)):
            languages.add(match[2])
    for file in OFFICIAL.values():
        if (path := find_file(folder / file)) and _first(path).startswith("language\t"):
            with suppress(SentProbeError):  # reported when the set is read
                codes = (line.partition("\t")[0] for _, line in read_lines(str(path)))
                languages.update(code for code in codes if _CODE.fullmatch(code))
    return tuple(sorted(languages))


def nli_files(folder: Path, language: str | None, train: str | None) -> dict[str, str]:
    """The file of every split that is there; the training part only where it is given or found."""
    files: dict[str, str] = {}
    if train is not None:
        files["tr"] = train
    elif path := next(filter(None, (find_file(folder / file) for file in TRAINING)), None):
        files["tr"] = str(path)
    for word, split in _SPLIT.items():
        if held_out := find_file(folder / f"{word}-{language}.tsv") or find_file(folder / OFFICIAL[split]):
            files[split] = str(held_out)
    return files


def train_language(path: str) -> str:
    """The language of a file of training pairs: English, unless its name says another one.

    As ``train-fr.tsv`` does, or ``multinli.train.fr.tsv`` of XNLI's machine translations.
    """
    match = _TRAIN.search(Path(path).name)
    return match[1] if match else "en"


def no_language(folder: Path, language: str | None) -> UsageError:
    """The error for a language that is not there."""
    requested, got = language or "(no language given)", ", ".join(nli_languages(folder)) or "no language"
    return UsageError(f"XNLI was requested in {requested}; {folder} has it in {got}.")


def nli_rows(build: RowBuilder, language: str | None, on_bad: OnBad) -> Iterator[Example]:
    """The pairs of the builder's file, of one language only where the file has several."""
    lines = read_lines(build.path, on_bad=on_bad)
    first = next(lines, (1, ""))
    names = split_cells(build.path, *first)
    header = next((header for header in _HEADERS if set(header) <= set(names)), None)
    indices = [names.index(name) for name in header] if header else [0, 1, 2]
    tagged = names.index("language") if header and "language" in names else None
    for number, line in lines if header else chain([first], lines):
        cells = split_cells(build.path, number, line)
        if cells == [""] or (tagged is not None and language is not None and cells[tagged : tagged + 1] != [language]):
            continue
        try:
            pair = _pair(build, number, cells, indices)
        except CorpusError as error:
            on_bad(error)
            continue
        if pair:
            yield pair


def _pair(build: RowBuilder, number: int, cells: Sequence[str], indices: Sequence[int]) -> Example | None:
    if len(cells) <= max(indices):  # more are allowed: the header of MultiNLI does not fit its lines
        expected = f"at least {max(indices) + 1}: two sentences and a label"
        raise wrong_width(build.path, number, cells, expected)
    text, second, label = (cells[index] for index in indices)
    if label == NO_GOLD:
        return None
    if label not in _LABELS:
        raise CorpusError(build.path, number, f"the label {label[:20]!r}", "entailment, neutral or contradiction")
    return build(number, _LABELS[label], text, second)


def _first(path: Path | None) -> str:
    """The first line of a file, empty if it cannot be read."""
    try:
        return next(read_lines(str(path)), (1, ""))[1] if path and path.is_file() else ""
    except SentProbeError:
        return ""
