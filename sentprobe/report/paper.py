"""The table of results for a paper: LaTeX with caption, label and legend, as wide as one column or two.

Rows are encoders and columns sets, as the papers have them, unless that does not fit or the user says otherwise. Of the
baselines it has the best one of each set. Where not all columns fit side by side, they go on below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from sentprobe.core.formatting import count_of
from sentprobe.core.table import in_latex, plain
from sentprobe.errors import UsageError
from sentprobe.report.drawing.figure_style import FigureStyle, wrap_title
from sentprobe.report.filters import column_names, find_named, restricted, set_keys
from sentprobe.report.legend import Seen, failures, legend
from sentprobe.report.names import listed
from sentprobe.report.score_table import best_baseline, human_text, score_text
from sentprobe.report.set_summary import data_errors
from sentprobe.report.titles import Names, in_words, renamed
from sentprobe.report.types import CellSummary, Summary
from sentprobe.report.verdict import BOLD_NOTE, is_best_of
from sentprobe.results.metric import metric_named

Kind = Literal["encoders", "sets"]
PaperWidth = Literal["one", "two"]

ABBREVIATIONS = {
    "majority": ("maj.", "the most frequent class"),
    "length": ("len.", "a linear classifier on the sentence length"),
    "nb-uni": ("NB", "naive Bayes on words"),
    "nb-bi": ("NB2", "naive Bayes on words and bigrams"),
    "baseline:random": ("rand.", "random vectors"),
    "baseline:hash": ("hash", "hashed words"),
}
"""What baselines are called below a number, and what the legend says of each."""
BLOCK_NOTE = (
    "Bold: the best of each block and what is not significantly different from it, if significantly better than the "
    "best baseline."
)
WIDTHS: dict[PaperWidth, float] = {"one": 219.0, "two": 455.0}
"""Points of one column and of two in acl.sty, the narrowest of the usual styles."""
FONT, SMALL_FONT = 9.0, 7.0
"""Points of LaTeX's \\small and \\scriptsize beside a text of ten points."""
LETTER_WIDTHS = (("0123456789–", 0.52), (" .,:;'!|ijlft()[]", 0.36), ("mwMW%±", 0.85))
"""Of Computer Modern, in its size; capitals and other letters below."""
STYLE = FigureStyle(0, 0, FONT)
INNER_GAP = 4.5
"""Points between a number and what is in small print."""
GAP = 8.0
"""Points between two columns."""
MIN_HEADING = 34.0
"""Points of a line of a heading, at least."""


@dataclass(frozen=True)
class PaperCell:
    """A number, and what follows it in small print."""

    text: str
    margin: str = ""
    mark: str = ""
    note: str = ""
    bold: bool = False

    @property
    def small(self) -> str:
        """What is in small print."""
        return " ".join(filter(None, (self.margin, self.note)))

    def latex(self) -> str:
        """Two cells of a tabular: the number, and the rest."""
        number = f"\\textbf{{{in_latex(self.text)}}}" if self.bold else in_latex(self.text)
        mark = f"\\textsuperscript{{{in_latex(self.mark)}}}" if self.mark else ""
        small_print = f"{{\\scriptsize {in_latex(self.small)}}}" if self.small else ""
        return f"{number} & {small_print}{mark}"


EMPTY = PaperCell("")


@dataclass(frozen=True)
class Lines:
    """Rows or columns that belong together, by what they are called, and the title of the block."""

    title: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class PaperGrid:
    """Blocks of rows, blocks of columns, and the cells by row and column."""

    rows: tuple[Lines, ...]
    columns: tuple[Lines, ...]
    cells: tuple[tuple[PaperCell, ...], ...]

    def transposed(self) -> PaperGrid:
        """Rows in the place of columns."""
        return PaperGrid(self.columns, self.rows, tuple(zip(*self.cells, strict=True)))


def paper_latex(
    summary: Summary,
    names: Names | None = None,
    *,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    width: PaperWidth | None = None,
) -> str:
    """The table of results as LaTeX that needs booktabs.

    Parameters
    ----------
    summary
        What ``summarise`` makes of a run.
    names
        What sets and encoders are called, the blocks of encoders, the caption and the label.
    rows, columns
        Encoders and sets, by their names or parts of them, in this order; ``encoders`` or ``sets`` for all. None: all
        encoders as rows, and all sets as columns.
    width
        As wide as one column of a two-column paper, or as both. None: the first that it fits.
    """
    names = names or Names()
    if not summary.sets or not summary.columns:
        raise UsageError("The run has no results of an encoder; there is nothing to put into a table.")
    chosen, row_kind = _chosen(summary, rows, columns)
    blocks = _blocks(chosen, names)
    summary = in_words(renamed(chosen, names))
    grid = _grid(summary, blocks, names)
    widths: tuple[PaperWidth, ...] = (width,) if width else ("one", "two")
    if row_kind is None:
        row_kind = "sets" if not _fits(grid, "two") and _fits(grid.transposed(), "two") else "encoders"
    grid = grid.transposed() if row_kind == "sets" else grid
    paper_width = next((name for name in widths if _fits(grid, name)), widths[-1])
    tabulars = [_tabular(part) for part in _parts(grid, WIDTHS[paper_width])]
    return _float(summary, names, tabulars, paper_width, several_blocks=len(blocks) > 1)


# What is shown


def _chosen(summary: Summary, rows: Sequence[str], columns: Sequence[str]) -> tuple[Summary, Kind | None]:
    """The summary of the rows and columns that are wanted, in their order; and which of the two are rows."""
    wanted: dict[Kind, tuple[int, ...]] = {}
    kinds: dict[str, Kind] = {}
    for option, texts in (("--rows", rows), ("--columns", columns)):
        if not texts:
            continue
        kind, indices = _found(summary, option, texts)
        if kind in wanted:
            raise UsageError(f"--rows and --columns both name {kind}; expected encoders in one, and sets in the other.")
        wanted[kind], kinds[option] = indices, kind
    encoders = wanted.get("encoders") or tuple(range(len(summary.columns)))
    sets = wanted.get("sets") or tuple(range(len(summary.sets)))
    row_kind = kinds.get("--rows")
    if row_kind is None and "--columns" in kinds:
        row_kind = "sets" if kinds["--columns"] == "encoders" else "encoders"
    return restricted(summary, encoders, sets), row_kind


def _found(summary: Summary, option: str, texts: Sequence[str]) -> tuple[Kind, tuple[int, ...]]:
    """What the texts of an option name: encoders or sets, by their numbers; all for the word alone."""
    if list(texts) == ["encoders"]:
        return "encoders", ()
    if list(texts) == ["sets"]:
        return "sets", ()
    in_table = in_words(summary)
    encoder_keys = [(*keys, c.name) for keys, c in zip(column_names(summary), in_table.columns, strict=True)]
    keys_of_sets = [(*keys, s.label) for keys, s in zip(set_keys(summary), in_table.sets, strict=True)]
    matches: dict[Kind, tuple[int, ...]] = {}
    problems = []
    keys: dict[Kind, Sequence[tuple[str, ...]]] = {"encoders": encoder_keys, "sets": keys_of_sets}
    for kind, kind_keys in keys.items():
        try:
            matches[kind] = find_named(kind.removesuffix("s"), texts, kind_keys)
        except UsageError as e:
            problems.append(str(e))
    if not matches:
        raise UsageError(f"{option}: {' '.join(problems)}")
    if len(matches) == 2:
        raise UsageError(f"{option} {' '.join(texts)} names encoders and sets; expected one or the other.")
    return next(iter(matches.items()))


def _blocks(summary: Summary, names: Names) -> list[tuple[str, list[int]]]:
    """The encoders of each block, in the order of the file; those of none come last."""
    keys = [(c.label[0], *keys) for c, keys in zip(summary.columns, column_names(summary), strict=True)]
    blocks: list[tuple[str, list[int]]] = []
    taken: set[int] = set()
    for title, members in names.blocks.items():
        indices = [i for text in members for i, names_of in enumerate(keys) if text in names_of and i not in taken]
        if indices := list(dict.fromkeys(indices)):
            blocks.append((title, indices))
            taken.update(indices)
    ungrouped = [i for i in range(len(summary.columns)) if i not in taken]
    return [*blocks, *([("", ungrouped)] if ungrouped else [])]


def _grid(summary: Summary, blocks: Sequence[tuple[str, Sequence[int]]], names: Names) -> PaperGrid:
    """Rows are encoders, after the best baseline and before people."""
    sets = summary.sets
    rows, cells = [], []
    for column in best_baseline(summary):
        rows.append(Lines("", (column.title.capitalize(),)))
        cells.append([PaperCell(c.text, "", "", _abbreviation(c.note, names)) for c in column.cells])
    for title, indices in blocks:
        rows.append(Lines(title, tuple(summary.columns[i].name for i in indices)))
        cells += [[_cell(summary, j, i, indices) for j in range(len(sets))] for i in indices]
    if any(s.human or s.people for s in sets) and summary.by_set_metric:
        rows.append(Lines("", ("People",)))
        texts = [human_text(s) for s in sets]
        cells.append([PaperCell(c.text, c.margin, "", c.note) for c in texts])
    return PaperGrid(tuple(rows), (Lines("", tuple(s.label for s in sets)),), tuple(map(tuple, cells)))


def _cell(summary: Summary, j: int, i: int, block: Sequence[int]) -> PaperCell:
    s = summary.sets[j]
    cell = s.cells[i]
    words = score_text(cell, s.scored_by, s.failed.get(i))
    mark = words.mark.removeprefix(cell.letters or "") if cell is not None else ""
    rivals: list[CellSummary] = [rival for k in block if (rival := s.cells[k]) is not None]
    better = metric_named(s.scored_by).higher_is_better
    return PaperCell(words.text, words.margin, mark, words.note, is_best_of(cell, rivals, higher_is_better=better))


def _abbreviation(baseline: str, names: Names) -> str:
    return names.encoders.get(baseline) or ABBREVIATIONS.get(baseline, (baseline, ""))[0]


# Widths


def _fits(grid: PaperGrid, width: PaperWidth) -> bool:
    return len(_parts(grid, WIDTHS[width])) == 1


def _parts(grid: PaperGrid, room: float) -> list[PaperGrid]:
    """As many columns at a time as fit, about as many in each part, without the titles of blocks of columns."""
    names = max(text_width(name, FONT) for lines in grid.rows for name in lines.names)
    widths = _column_widths(grid)
    at_once = max(1, next((n for n in range(len(widths), 0, -1) if names + _widest(widths, n) <= room), 1))
    count = -(-len(widths) // at_once)
    if count == 1:
        return [grid]
    at_once = -(-len(widths) // count)
    flat = [name for lines in grid.columns for name in lines.names]
    return [
        PaperGrid(
            grid.rows,
            (Lines("", tuple(flat[start : start + at_once])),),
            tuple(row[start : start + at_once] for row in grid.cells),
        )
        for start in range(0, len(flat), at_once)
    ]


def _widest(widths: Sequence[float], n: int) -> float:
    """The widest of all runs of n columns."""
    return max(sum(widths[i : i + n]) for i in range(len(widths) - n + 1))


def _column_widths(grid: PaperGrid) -> list[float]:
    names = [name for lines in grid.columns for name in lines.names]
    widths = []
    for name, cells in zip(names, zip(*grid.cells, strict=True), strict=True):
        body = max(text_width(c.text, FONT) for c in cells) + max(
            text_width(f"{c.small}{c.mark}", SMALL_FONT) for c in cells
        )
        heading = max(text_width(line, FONT) for line in wrap_title(STYLE, name, max(body, MIN_HEADING)))
        widths.append(max(body + INNER_GAP, heading) + GAP)
    return widths


def text_width(text: str, font: float) -> float:
    """About as wide as LaTeX sets a text, in points; Times is a little narrower than Computer Modern."""
    return font * sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    usual = 0.75 if letter.isupper() else 0.47
    return next((width for letters, width in LETTER_WIDTHS if letter in letters), usual)


# LaTeX


def _tabular(grid: PaperGrid) -> list[str]:
    """The lines of a tabular: of each column the numbers, and what follows them."""
    body_widths = [max(width - GAP, MIN_HEADING) for width in _column_widths(grid)]
    names = [name for lines in grid.columns for name in lines.names]
    count = 2 * len(names)
    lines = [f"\\begin{{tabular}}{{@{{}}l{'r@{ }l' * len(names)}@{{}}}}", "\\toprule"]
    if any(block.title for block in grid.columns):
        lines += _column_titles(grid.columns)
    heads = [_heading(wrap_title(STYLE, name, width)) for name, width in zip(names, body_widths, strict=True)]
    lines.append(f" & {' & '.join(heads)} \\\\")
    cells = iter(grid.cells)
    for block in grid.rows:
        lines.append("\\midrule")
        if block.title:
            lines.append(f"\\multicolumn{{{count + 1}}}{{@{{}}l}}{{\\emph{{{in_latex(block.title)}}}}} \\\\")
        lines += [f"{in_latex(name)} & {' & '.join(c.latex() for c in next(cells))} \\\\" for name in block.names]
    return [*lines, "\\bottomrule", "\\end{tabular}"]


def _column_titles(blocks: Sequence[Lines]) -> Iterator[str]:
    """The titles of blocks of columns, with a rule below each."""
    cells, rules, start = [""], [], 2
    for block in blocks:
        span = 2 * len(block.names)
        cells.append(f"\\multicolumn{{{span}}}{{c}}{{{in_latex(block.title)}}}")
        rules += [f"\\cmidrule(lr){{{start}-{start + span - 1}}}"] if block.title else []
        start += span
    yield f"{' & '.join(cells)} \\\\"
    yield "".join(rules)


def _heading(lines: Sequence[str]) -> str:
    """A heading over two columns, in lines that are as wide as the numbers."""
    text = "\\\\".join(map(in_latex, lines))
    if len(lines) > 1:
        text = f"\\begin{{tabular}}[b]{{@{{}}c@{{}}}}{text}\\end{{tabular}}"
    return f"\\multicolumn{{2}}{{c}}{{{text}}}"


def _float(
    summary: Summary, names: Names, tabulars: Sequence[Sequence[str]], width: PaperWidth, *, several_blocks: bool
) -> str:
    """The table as a float, with its legend below, and caption and label."""
    environment = "table*" if width == "two" else "table"
    lines = ["% \\usepackage{booktabs}", f"\\begin{{{environment}}}[t]", "\\centering", "\\small"]
    lines.append(f"\\setlength{{\\tabcolsep}}{{{GAP / 2:g}pt}}")
    for i, tabular in enumerate(tabulars):
        lines += [*(["\\par\\medskip"] if i else []), *tabular]
    notes = [in_latex(note) for note in _notes(summary, names, several_blocks)]
    lines += ["\\par\\smallskip", "\\begin{minipage}{\\linewidth}\\footnotesize", *notes, "\\end{minipage}"]
    lines += [f"\\caption{{{in_latex(names.caption or _caption(summary))}}}", f"\\label{{{_label(summary, names)}}}"]
    return "\n".join([*lines, f"\\end{{{environment}}}"]) + "\n"


def _label(summary: Summary, names: Names) -> str:
    """The label of the file of names; or that of the run's folder."""
    if names.label:
        return re.sub(r"[^\w:.+/-]", "-", names.label)
    return f"tab:{re.sub(r'[^a-z0-9]+', '-', Path(summary.folder).resolve().name.lower()).strip('-') or 'results'}"


def _caption(summary: Summary) -> str:
    """What the numbers are, of which probes and sets."""
    metrics = [metric_named(name) for name in dict.fromkeys(s.scored_by for s in summary.sets)]
    title = metrics[0].heading if len(metrics) == 1 else "Scores"
    unit = " (%)" if all(metric.unit == "points" for metric in metrics) else ""
    probes = list(dict.fromkeys(c.probe for c in summary.columns if c.probe))
    way = f" of {listed(probes)} {summary.kind.way}s" if probes and summary.kind.trains_probes else ""
    languages = list(dict.fromkeys(s.language for s in summary.sets if s.language))
    corpora = list(dict.fromkeys(s.corpus for s in summary.sets if s.corpus))
    source = f", from {listed(corpora)}" if 0 < len(corpora) <= 3 else ""
    spoken = f" in {listed(languages)}" if 1 < len(languages) <= 6 else ""
    return f"{title}{unit}{way} on {count_of(len(summary.sets), 'set')}{spoken}{source}."


def _notes(summary: Summary, names: Names, several_blocks: bool) -> list[str]:
    """The legend, with what each abbreviation means, and what would be lost in silence."""
    best = {c.note for column in best_baseline(summary) for c in column.cells if c.note}
    seen = Seen(bold=False, letters=False, baselines=frozenset(best))
    named = [name for name in (*ABBREVIATIONS, *sorted(best - ABBREVIATIONS.keys())) if name in best]
    words = [f"{_abbreviation(name, names)}: {ABBREVIATIONS.get(name, ('', name))[1]}" for name in named]
    baselines = [f"Best baseline: {'; '.join(words)}."] if words else []
    brief = replace(summary, interpretations={})
    first, *further = legend(brief, seen) or [""]
    bold = [BLOCK_NOTE if several_blocks else BOLD_NOTE]
    return [
        plain(note) for note in (*data_errors(summary), first, *baselines, *bold, *further, *failures(summary)) if note
    ]
