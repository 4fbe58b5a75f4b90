"""How much of a run is done: cells by encoder, and what is in work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sentprobe.core.arguments import Progress
from sentprobe.results.result import Cell
from sentprobe.run.unit import Unit


class Tally:
    """Cells of all encoders of a run, those that are left, and whom to tell.

    Cells that failed count as done. How many layers an encoder has is known when it is loaded, so that the number of
    all cells may change.
    """

    def __init__(self, progress: Progress | None, aliases: Mapping[str, str] | None = None) -> None:
        self.progress = progress
        self.aliases = aliases or {}
        self.all: dict[str, int] = {}
        self.left: dict[str, int] = {}

    def expect(self, name: str, all: int, left: int | None = None) -> None:
        """An encoder has this many cells, of which some are left; all of them, if not given."""
        self.all[name], self.left[name] = all, all if left is None else left

    def finish(self, name: str, cells: int | None = None) -> None:
        """This many cells of an encoder are done, or have failed; all of them, if not given."""
        self.left[name] = 0 if cells is None else max(0, self.left.get(name, 0) - cells)

    def report_encoder(self, doing: str, name: str) -> None:
        """Report what is done with an encoder, by the name that the user gave it, and how much of the run is done."""
        alias = next((a for n, a in self.aliases.items() if name in (n, untrained_name(n))), None)
        shown = name if alias is None else untrained_name(alias) if name not in self.aliases else alias
        self.report(f"{doing} {shown}")

    def report_units(self, units: Sequence[Unit]) -> None:
        """Report what is computed: the encoder and the set; of several units, those of the first."""
        if not units:
            self.report("saving")
            return
        cell = units[0].cells[0]
        variant = f" ({cell.variant})" if cell.variant and cell.variant != "untrained" else ""
        more = f" and {len(units) - 1} more" if len(units) > 1 else ""
        alias = self.aliases.get(cell.encoder, cell.encoder)
        shown = untrained_name(alias) if cell.variant == "untrained" else alias
        self.report(f"probing {shown} on {cell.dataset}{variant}{more}")

    def report(self, now: str) -> None:
        """Report what is in work, and how much of the run is done."""
        if self.progress:
            every = sum(self.all.values())
            self.progress(f"cells: {now}", every - sum(self.left.values()), every)


def untrained_name(name: str) -> str:
    """What the untrained twin of an encoder is called."""
    return f"{name} (untrained)"


def name_of(cell: Cell) -> str:
    """What the encoder of a cell is called."""
    return untrained_name(cell.encoder) if cell.variant == "untrained" else cell.encoder
