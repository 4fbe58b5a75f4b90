"""What contrast sets and scored pairs have in common: rows of texts, read from columns that go by several names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from sentprobe.core.arguments import listed_names
from sentprobe.core.reader import Requested, read_rows, sample_table
from sentprobe.data.rows import column_names, frame_cells, list_cells
from sentprobe.data.tables import table_name
from sentprobe.errors import CorpusError, DataError, UsageError

NumberedCells = Iterable[tuple[int, Sequence[str]]]


class _HasKind(Protocol):
    @property
    def kind(self) -> str: ...


Row = TypeVar("Row", bound=_HasKind)


@dataclass(frozen=True, repr=False)
class TextSet(Generic[Row]):
    """Rows of texts with columns that go by several names."""

    name: str
    rows: Sequence[Row]
    language: str | None = None

    NAMES: ClassVar[Mapping[str, tuple[str, ...]]]
    """What each column may be called, in the order of the fields of a row; the first that a table has counts."""
    REQUIRED: ClassVar[Sequence[str]]
    """The columns without which there is no row; they come first."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of rows, sorted; empty for rows without one."""
        return tuple(sorted({row.kind for row in self.rows}))

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits over every field of every row, in order."""
        state = hashlib.blake2b(digest_size=8)
        for row in self.rows:
            state.update(json.dumps(row, ensure_ascii=False).encode(errors="surrogatepass") + b"\n")
        return state.hexdigest()

    @classmethod
    def has_columns(cls, names: Iterable[str]) -> bool:
        """Whether a table with these columns is such a set."""
        return cls._columns_by_name(names).keys() >= set(cls.REQUIRED)

    @classmethod
    def _row(cls, path: str, number: int, cells: Mapping[str, str]) -> Row:
        """The row with these cells, of which none is absent; a CorpusError if it makes no sense."""
        raise NotImplementedError

    @classmethod
    def _from_table(cls, table: str, name: str | None, language: str | None) -> Self:
        columns = cls._columns_among(table, sample_table(table, 1)[0])
        rows = cls._rows(table, read_rows(table, _requested(columns)), list(columns))
        return cls._of(table, name or table_name([table]), rows, language)

    @classmethod
    def _from_frame(cls, frame: Any, name: str, language: str | None) -> Self:
        columns = cls._columns_among(name, [str(column) for column in column_names(frame)])
        return cls._of_cells(frame_cells(frame, _requested(columns)), list(columns), name, language)

    @classmethod
    def _from_rows(cls, rows: Iterable[Any], name: str, language: str | None) -> Self:
        listed = list(rows)
        first = listed[0] if listed else ()
        if isinstance(first, Mapping):
            columns = cls._columns_among(name, list(map(str, first)))
        else:
            n = len(first) if isinstance(first, Sequence) and not isinstance(first, str) else 0
            columns = {column: column for column in list(cls.NAMES)[: max(n, len(cls.REQUIRED))]}
        return cls._of_cells(list_cells(listed, _requested(columns)), list(columns), name, language)

    @classmethod
    def _of_cells(
        cls, cells: Iterable[tuple[Sequence[str], int]], columns: Sequence[str], name: str, language: str | None
    ) -> Self:
        try:
            rows = tuple(cls._rows(name, enumerate(values for values, _ in cells), columns))
        except CorpusError as e:
            raise DataError(f"{name}: row {e.line} (the first is 0) has {e.got}; expected {e.expected}.") from None
        return cls._of(name, name, rows, language)

    @classmethod
    def _of(cls, path: str, name: str, rows: Iterable[Row], language: str | None) -> Self:
        """The set; a DataError if it is empty."""
        text_set = cls(name, tuple(rows), language)
        if not len(text_set):
            raise DataError(f"{path} has no rows; expected {listed_names(cls.REQUIRED)} in each.")
        return text_set

    @classmethod
    def _columns_by_name(cls, names: Iterable[str]) -> dict[str, str]:
        """The columns that are among these names, and what they are called there."""
        by_name = {name.strip().lower(): name for name in names}
        candidates = {column: [by_name[a] for a in aliases if a in by_name] for column, aliases in cls.NAMES.items()}
        return {column: present[0] for column, present in candidates.items() if present}

    @classmethod
    def _columns_among(cls, path: str, names: Sequence[str]) -> dict[str, str]:
        columns = cls._columns_by_name(names)
        if missing := [column for column in cls.REQUIRED if column not in columns]:
            expected = "; ".join(f"{column}: {', '.join(cls.NAMES[column])}" for column in missing)
            raise UsageError(
                f"{path} has the columns {listed_names(names)}, and none for {listed_names(missing)}. Expected one of "
                f"these names: {expected}."
            )
        return columns

    @classmethod
    def _rows(cls, path: str, numbered_cells: NumberedCells, columns: Sequence[str]) -> Iterator[Row]:
        """The rows of a table that may lack some of the columns."""
        for number, cells in numbered_cells:
            try:
                "".join(cells).encode()
            except UnicodeEncodeError:
                raise CorpusError(path, number, "a lone surrogate", "text that can be written as UTF-8") from None
            yield cls._row(path, number, dict.fromkeys(cls.NAMES, "") | dict(zip(columns, cells, strict=True)))


def _requested(columns: Mapping[str, str]) -> Requested:
    return [("--columns", name) for name in columns.values()]
