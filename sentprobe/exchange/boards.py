"""Results of several people side by side, where they can be compared, and why not elsewhere.

Scores are on one board if the rows of the set are the same (by digest), and so is the protocol: the probe with its
version, the folds, and the sample of a partial run. On a board, encoders that share a letter on a set are not
significantly different. The same encoder from two files is one line if its score is the same: somebody has repeated it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sentprobe.console import narrow_out, print_wrapped
from sentprobe.core.folders import scratch_folder
from sentprobe.core.formatting import count_of
from sentprobe.core.table import Table, TableColumn, csv_text, in_markdown, plain
from sentprobe.errors import DataError, UsageError
from sentprobe.exchange.result_file import BASELINE_NAMES, ResultFile
from sentprobe.report.legend import ALONE, legend
from sentprobe.report.names import listed
from sentprobe.report.score_table import score_text
from sentprobe.report.summary import summarise
from sentprobe.report.types import Summary
from sentprobe.results.records import protocol_text
from sentprobe.results.result import Cell, Result, Signature
from sentprobe.results.run import Run, join

SAME_SCORE = 1e-9
"""Scores of the same cell that differ by more were not repeated."""


@dataclass(frozen=True)
class Board:
    """Encoders on the same sets by the same protocol."""

    protocol: str
    """In a few words: linear (convex.v3), in 5 folds."""
    summary: Summary
    order: tuple[int, ...]
    """The columns of the summary, those that are in the best group on most sets first."""
    typed: Mapping[str, str]
    """What encoders are called in their signatures, by the name they have on the board."""

    def table(self) -> Table:
        """A row per encoder, a column per set, and the baselines at the end."""
        sets, columns = self.summary.sets, [self.summary.columns[i] for i in self.order]
        names = [column.name for column in columns] + [column.name for column in self.summary.baselines]
        best = [in_best_group(self.summary, i) for i in self.order]
        compared = len(columns) > 1
        counts = [f"{n} of {len(values)}" if compared else None for n, values in best]
        counts += [None] * len(self.summary.baselines)
        scores = [
            TableColumn(
                [s.label],
                [score_text(s.cells[i], s.scored_by, s.failed.get(i)) for i in self.order]
                + [score_text(cell, s.scored_by) for cell in s.baselines],
            )
            for s in sets
        ]
        return Table(
            [TableColumn(["encoder"], names, "left"), TableColumn(["in the best group"], counts), *scores],
            self.protocol,
        )

    def in_best_group(self, column: int) -> int:
        """On how many sets an encoder is not significantly worse than the best one."""
        return in_best_group(self.summary, column)[0]

    def signatures(self) -> Iterator[tuple[str, str, str]]:
        """The encoder, the set and the signature of each score, as its author's run has it."""
        for s in self.summary.sets:
            for i in self.order:
                column, cell = self.summary.columns[i], s.cells[i]
                for line in cell.signatures if cell is not None else ():
                    signature = Signature.parse(line)
                    yield (
                        column.name,
                        s.label,
                        str(replace(signature, enc=self.typed.get(signature.enc, signature.enc))),
                    )


@dataclass(frozen=True)
class Leaderboard:
    """The boards of several files, and what is on none."""

    boards: tuple[Board, ...]
    files: tuple[str, ...]
    """Which files were read, and whose they are."""
    repeated: tuple[str, ...]
    """Scores that several files agree on, or disagree about."""
    separate: tuple[str, ...]
    """Which results cannot be compared, and why."""
    unread: tuple[str, ...]
    """Files that were refused, and why."""


def leaderboard(paths: Iterable[Path | str]) -> Leaderboard:
    """Read results files, and put what can be compared side by side.

    Parameters
    ----------
    paths
        Files that ``export_results`` wrote. One that was changed since, or is something else, is left out and named.

    Raises
    ------
    UsageError
        If no file can be read.
    """
    files: list[ResultFile] = []
    unread: list[str] = []
    for path in dict.fromkeys(map(Path, paths)):
        try:
            files.append(ResultFile.read(path))
        except DataError as e:
            unread.append(str(e))
    if not files:
        raise UsageError(f"None of the files can be read. {' '.join(unread)}")
    with scratch_folder() as folder:
        owners = _owners(files)
        repeated, messages = _repetitions(files, owners)
        runs = [file.unpack(folder / str(i), owner=owners[i], leave_out=repeated[i]) for i, file in enumerate(files)]
        typed = {name: encoder for i, file in enumerate(files) for encoder, name in file.names(owners[i]).items()}
        boards = tuple(_board(protocol, run, typed) for protocol, run in _groups(runs))
        read = tuple(f"{file.path.name} ({owner})" for file, owner in zip(files, owners, strict=True))
        return Leaderboard(boards, read, tuple(messages), tuple(_separate(files, owners)), tuple(unread))


def in_best_group(summary: Summary, column: int) -> tuple[int, list[float]]:
    """On how many sets an encoder shares the letter of the best one; and its scores."""
    cells = [cell for s in summary.sets if (cell := s.cells[column]) is not None]
    # a single encoder has no letter, and nobody is better
    best = sum(1 for cell in cells if cell.letters is None or "a" in cell.letters)
    return best, [cell.accuracy for cell in cells]


def _owners(files: Sequence[ResultFile]) -> list[str]:
    """Whose results each file has, no two alike."""
    counts = Counter(file.by for file in files)
    return [file.by if counts[file.by] == 1 else f"{file.by}, {file.path.stem}" for file in files]


def _repetitions(files: Sequence[ResultFile], owners: Sequence[str]) -> tuple[list[set[str]], list[str]]:
    """For each file, the keys of the results that an earlier one has with the same score; and messages about these."""
    first: dict[str, tuple[float, str]] = {}
    agreed: Counter[tuple[str, str]] = Counter()
    repeated: list[set[str]] = []
    messages: list[str] = []
    for file, owner in zip(files, owners, strict=True):
        keys: set[str] = set()
        for result in file.results():
            cell = result.cell
            if cell.identity is None or cell.encoder in BASELINE_NAMES:  # may be another encoder of the same name
                continue
            score, who = first.setdefault(result.key, (result.score, owner))
            if who == owner:
                continue
            if abs(score - result.score) <= SAME_SCORE:
                agreed[who, owner] += 1
                keys.add(result.key)
            else:
                messages.append(
                    f"{cell.encoder} on {cell.dataset} has {score:.4f} from {who} and {result.score:.4f} from {owner}, "
                    "although encoder, rows and protocol are the same."
                )
        repeated.append(keys)
    agreements = (
        f"{owner} has {count_of(n, 'result')} of {who}, with the same scores: shown once."
        for (who, owner), n in agreed.items()
    )
    return repeated, [*agreements, *messages]


def _protocol(cell: Cell) -> tuple[str, str, int | None]:
    """The probe, the versions of its parts, and the sample."""
    return cell.probe or "", cell.parts or "", cell.limit


def _groups(runs: Sequence[Run]) -> Iterator[tuple[str, Run]]:
    """Results that can be on one board, as a run, with their protocol in words; the one with most results first."""
    encoder_results = [r for run in runs for r in run.results if r.cell.encoder not in BASELINE_NAMES]
    folds = _fold_ranks(encoder_results)
    keys = Counter((*_protocol(r.cell), folds[r.cell.data, r.cell.folds]) for r in encoder_results)
    for (probe, parts, limit, rank), _ in keys.most_common():

        def belongs(result: Result, key: tuple[str, str, int | None] = (probe, parts, limit), at: int = rank) -> bool:
            cell = result.cell
            if folds.get((cell.data, cell.folds)) != at:
                return False
            return cell.limit == key[2] if cell.probe is None else _protocol(cell) == key

        members = [_part(run, belongs) for run in runs]
        members = [run for run in members if run.results]
        tested = {r.cell.folds for run in members for r in run.results if r.cell.encoder not in BASELINE_NAMES}
        version = f" ({parts})" if parts else ""
        sample = f", at most {limit:,} rows per split" if limit is not None else ""
        how = " or ".join(sorted(protocol_text(number) for number in tested))
        yield f"Probe {probe or 'none'}{version}, {how}{sample}", join(members)


def _part(run: Run, belongs: Callable[[Result], bool]) -> Run:
    """Some results of a run, as a run that is complete with them."""
    results = tuple(filter(belongs, run.results))
    encoders = list(dict.fromkeys(result.cell.encoder for result in results))
    info = {**run.info, "encoders": encoders, "asked": {"encoders": encoders, "datasets": []}}
    return replace(run, results=results, info=info)


def _fold_ranks(results: Iterable[Result]) -> dict[tuple[str, int | None], int]:
    """For each set, its numbers of folds, from the most common one on: results in others are on another board."""
    counts: dict[str, Counter[int | None]] = {}
    for result in results:
        counts.setdefault(result.cell.data, Counter())[result.cell.folds] += 1
    return {
        (data, number): rank
        for data, counter in counts.items()
        for rank, (number, _) in enumerate(counter.most_common())
    }


def _board(protocol: str, run: Run, typed: Mapping[str, str]) -> Board:
    summary = summarise(run)

    def rank(column: int) -> tuple[float, float]:
        best, scores = in_best_group(summary, column)
        return -best, -sum(scores) / max(1, len(scores))

    return Board(protocol, summary, tuple(sorted(range(len(summary.columns)), key=rank)), typed)


def _separate(files: Sequence[ResultFile], owners: Sequence[str]) -> Iterator[str]:
    """Why results on sets of the same name are not on one board: a line for each difference."""
    by_fact: dict[tuple[str, str], dict[str, set[str]]] = {}
    for file, owner in zip(files, owners, strict=True):
        for result in file.results():
            cell = result.cell
            if cell.encoder in BASELINE_NAMES:
                continue
            values = {
                "the rows differ": f"#{cell.data}",
                "they were tested in different ways": protocol_text(cell.folds),
                "the probes differ": f"{cell.probe}{f' ({cell.parts})' if cell.parts else ''}",
                "not all rows were used": "all" if cell.limit is None else f"at most {cell.limit:,} per split",
            }
            for fact, value in values.items():
                by_fact.setdefault((fact, cell.dataset), {}).setdefault(value, set()).add(owner)
    sets: dict[str, list[str]] = {}
    for (fact, name), owners_by_value in by_fact.items():
        if len(owners_by_value) > 1:
            who = "; ".join(f"{value}: {listed(sorted(names))}" for value, names in owners_by_value.items())
            sets.setdefault(f"{fact} ({who})", []).append(name)
    for reason, names in sets.items():
        yield f"{listed(names, most=4, remainder='more sets')}: {reason}."


# As text


def _notes(all_boards: Leaderboard) -> Iterator[str]:
    yield f"Read: {', '.join(all_boards.files)}."
    yield from (f"Repeated: {line}" for line in all_boards.repeated)
    yield from (f"Not compared: {line}" for line in all_boards.separate)


def print_leaderboard(all_boards: Leaderboard) -> None:
    """Print the boards with their legend, and what is on none."""
    console = narrow_out()
    for board in all_boards.boards:
        board.table().print(console, blank_line=True)
        for line in legend(board.summary, ALONE):
            print_wrapped(console, plain(line), "dim")
        console.print()
    for line in _notes(all_boards):
        print_wrapped(console, plain(line))


def leaderboard_markdown(all_boards: Leaderboard) -> str:
    """The boards as Markdown tables, and what is on none."""
    lines: list[str] = []
    for board in all_boards.boards:
        table = board.table()
        lines += [f"{in_markdown(table.title)}:", "", *table.markdown(), ""]
        lines += [f"- {in_markdown(line)}" for line in legend(board.summary, ALONE)] + [""]
    refused = (f"Refused: {line}" for line in all_boards.unread)
    return "\n".join([*lines, *(f"- {in_markdown(line)}" for line in (*_notes(all_boards), *refused))]) + "\n"


def leaderboard_csv(all_boards: Leaderboard) -> str:
    """A line per score, with the protocol of its board and its signature."""
    rows: list[tuple[object, ...]] = [
        ("board", "encoder", "dataset", "digest", "folds", "score", "low", "high", "letters", "signature")
    ]
    for board in all_boards.boards:
        lines = {(encoder, label): line for encoder, label, line in board.signatures()}
        for s in board.summary.sets:
            for i in board.order:
                name, cell = board.summary.columns[i].name, s.cells[i]
                if cell is not None:
                    score = cell.score
                    rows.append(
                        (board.protocol, name, s.name, s.data, s.folds, score.value, score.low, score.high,
                         cell.letters, lines[name, s.label])
                    )  # fmt: skip
    return csv_text(rows)
