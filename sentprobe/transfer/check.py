"""Whether the sets in a folder are as published: rows, labels, malformed and empty lines, encodings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sentprobe.core.files import encoding_error, open_bytes
from sentprobe.core.reader import find_file
from sentprobe.data.layouts import LAYOUTS, TransferLayout, scan
from sentprobe.data.layouts.xnli import nli_files
from sentprobe.data.sources import Source, find_sets
from sentprobe.errors import CorpusError, SentProbeError, UsageError

PROBING_TASKS = {
    "Length": "sentence_length",
    "WordContent": "word_content",
    "Depth": "tree_depth",
    "TopConstituents": "top_constituents",
    "BigramShift": "bigram_shift",
    "Tense": "past_present",
    "SubjNumber": "subj_number",
    "ObjNumber": "obj_number",
    "OddManOut": "odd_man_out",
    "CoordinationInversion": "coordination_inversion",
}
"""SentEval's names for the probing sets, and their files."""
_PROBING_SIZES = {"tr": 100_000, "va": 10_000, "te": 10_000}
"""The sizes of each of them: Conneau et al. 2018, section 2."""
_MAX_REMARKS = 5
"""Remarks of one kind that are listed."""


@dataclass(frozen=True, slots=True)
class SetReport:
    """What a set contains, what it should contain, and what is wrong."""

    name: str
    task: str
    folder: str
    language: str | None
    rows: Mapping[str, int]
    """By sub-dataset, or otherwise by split."""
    published: Mapping[str, int]
    """The same for the release that this is, or for the usual one."""
    labels: int
    """How many distinct labels there are; scores count as labels."""
    errors: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_valid(self) -> bool:
        """Whether the set may be used."""
        return not self.errors


def check(path: str) -> tuple[list[SetReport], list[str]]:
    """Reports on the transfer sets and SentEval's probing sets in and below a folder, and the names of those absent."""
    sources = [source for source in find_sets([path]) if source.kind in LAYOUTS or _is_probing(source)]
    if not sources:
        raise UsageError(
            f"{path} contains none of SentEval's sets, XNLI or CDS; for any other set use `sentprobe audit`."
        )
    present = {source.kind if source.kind in LAYOUTS else source.task for source in sources}
    absent = [name for name in LAYOUTS if name not in present and name != "STSBenchmark-fix"]
    absent += [name for name, file in PROBING_TASKS.items() if file not in present]
    return [check_set(source) for source in sources], absent


def check_set(source: Source) -> SetReport:
    """Read a set completely and report what is wrong with it."""
    blank = SetReport(source.name, source.task, source.paths[0], source.language, {}, {}, 0, (), ())
    if source.kind not in LAYOUTS:
        return _check_probing(source, blank)
    layout, folder = LAYOUTS[source.kind], Path(source.paths[0])
    malformed: list[CorpusError] = []
    contents = _Contents(layout)
    errors: list[str] = []
    try:
        for split, path, row in scan(
            source.kind, folder, language=source.part, train=source.train, broken=malformed.append
        ):
            contents.add(split, path, row.source, row.label, row.stratum, (row.text, *(v for _, v in row.extra)))
    except SentProbeError as error:
        errors.append(str(error))
    errors += _first([str(error) for error in malformed], "malformed lines")
    release, notes = _release(layout, contents.rows)
    if not errors or contents.rows:
        errors += [*_wrong_sizes(contents.rows, release, layout.source), *contents.faults()]
    notes += [*contents.notes(), *_file_notes(layout, folder)]
    if layout.read == "nli" and "tr" not in nli_files(folder, source.part, source.train):
        notes.append("there are no English training pairs next to it; `sentprobe data get MultiNLI` downloads some")
    return replace(
        blank,
        rows=dict(contents.rows),
        published=release,
        labels=len(contents.labels),
        errors=tuple(errors),
        notes=tuple(notes),
    )


class _Contents:
    """What occurs in the rows of a set, with the location of the first occurrence."""

    def __init__(self, layout: TransferLayout) -> None:
        self.layout = layout
        self.rows: Counter[str] = Counter()
        self.labels: dict[str, str] = {}
        self.without_words: list[str] = []

    def add(self, split: str, path: str, line: str, label: str, stratum: str, texts: Sequence[str]) -> None:
        self.rows[stratum or split] += 1
        location = f"{path}:{line}"
        self.labels.setdefault(label, location)
        if not all(text.strip() for text in texts):
            self.without_words.append(location)

    def faults(self) -> Iterator[str]:
        """Unexpected labels, and missing ones."""
        layout = self.layout
        if layout.scale:
            low, high = layout.scale
            outside = [f"{at}: got {y}" for y, at in self.labels.items() if not low <= float(y) <= high]
            yield from _first(outside, f"scores outside {low:g} to {high:g}")
        elif layout.labels:
            unexpected = [f"{at}: got the label {y[:20]!r}" for y, at in self.labels.items() if y not in layout.labels]
            yield from _first(unexpected, f"labels other than {', '.join(layout.labels)}")
            if missing := [label for label in layout.labels if label not in self.labels]:
                yield f"no row has the label {', '.join(missing)}"

    def notes(self) -> Iterator[str]:
        """Rows without words."""
        if self.without_words:
            first = self.without_words[0]
            yield f"rows with a sentence without words: {len(self.without_words)}, the first at {first}"


def _release(layout: TransferLayout, rows: Mapping[str, int]) -> tuple[Mapping[str, int], list[str]]:
    """The published sizes that match, and a note if they are not the usual ones; otherwise the usual ones."""
    for i, sizes in enumerate(layout.sizes):
        if all(rows.get(part, 0) == n for part, n in sizes.items()):
            return sizes, [f"another known release than the usual one: {layout.source}"] if i else []
    return layout.sizes[0], []


def _wrong_sizes(rows: Mapping[str, int], release: Mapping[str, int], source: str) -> list[str]:
    wrong = [f"{part} {rows.get(part, 0):,} instead of {n:,}" for part, n in release.items() if rows.get(part, 0) != n]
    return [f"rows are not as published: {', '.join(wrong)} ({source})"] if wrong else []


def _file_notes(layout: TransferLayout, folder: Path) -> Iterator[str]:
    """Notes on the files themselves."""
    for file in layout.files:
        path = find_file(folder / file)
        if path is None or layout.read in ("captions", "nli"):
            continue
        try:
            content = b"".join(open_bytes(str(path)))
        except SentProbeError:
            continue  # an error of the set
        if layout.latin1_fallback:
            try:
                content.decode()
            except UnicodeDecodeError as error:
                line = encoding_error(str(path), 1, error).line
                yield f"{path} is not UTF-8 and read as Latin-1, as by SentEval; the first such byte is in line {line}"
        lines = content.removesuffix(b"\n").split(b"\n")
        sentences = len(content.decode("latin-1").splitlines())
        if layout.read == "sentence" and sentences > len(lines):
            yield (
                f"{path} has {len(lines):,} lines, which are its sentences, also for `sentprobe run`. SentEval reads "
                f"{sentences:,}, and so does sentprobe.senteval: as Latin-1, some bytes end a line. In files that "
                "SentEval's script or `sentprobe data get` tokenised there are no such bytes."
            )
        blank = [number for number, line in enumerate(lines, 1) if not line.strip()]
        if blank and file.startswith("STS.gs."):
            yield f"{path}: pairs without a score, which are skipped: {len(blank):,}"
        elif blank and layout.read != "sentence":
            yield f"{path}: empty lines, which are skipped: {len(blank)}, the first is line {blank[0]}"


def _is_probing(source: Source) -> bool:
    return source.kind == "senteval" and source.task in PROBING_TASKS.values()


def _check_probing(source: Source, blank: SetReport) -> SetReport:
    report = replace(blank, published=_PROBING_SIZES)
    try:
        dataset = source.load()
    except SentProbeError as error:
        return replace(report, errors=(str(error),))
    rows = {split: len(examples) for split, examples in dataset.rows.items()}
    errors = tuple(_wrong_sizes(rows, _PROBING_SIZES, "Conneau et al. 2018"))
    empty = sum(not row.tokens for _, row in dataset)
    notes = (f"rows without words: {empty}",) if empty else ()
    return replace(report, rows=rows, labels=len(dataset.labels), errors=errors, notes=notes)


def _first(remarks: Sequence[str], what: str) -> list[str]:
    """A few of many remarks, and how many there are."""
    total = [f"{what}: {len(remarks):,} in all"] if len(remarks) > _MAX_REMARKS else []
    return [*remarks[:_MAX_REMARKS], *total]
