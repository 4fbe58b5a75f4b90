"""The options of a run. ``evaluate`` takes them as keyword arguments, `sentprobe run` as options of the same names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sentprobe.core.arguments import Integers, Progress, StringsOrPaths, as_list, as_strings, check_integer, option
from sentprobe.errors import UsageError
from sentprobe.probes.baselines import BASELINES, ENCODER_BASELINES

if TYPE_CHECKING:
    from sentprobe.encoders.store import Store
    from sentprobe.probes import Probe
    from sentprobe.run.variants import Variants
else:
    Store = Any  # the command line reads these types before anything heavy is imported

RESAMPLE_MULTIPLE = 10
"""Numbers of probes are multiples of this, so that rounds are complete for any kind of probe."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What a run computes, and how. Wherever several values are accepted, a single one may be given.

    Parameters
    ----------
    probes
        Probes, such as ``linear`` or ``mlp?hidden=50``.
    probe_seeds
        Random seeds of the probes; each is one more result per cell. Seeds of encoders are encoders: see ``evaluate``.
    limit
        Use a sample of at most this many rows per split, in which labels keep their shares; every score is marked as
        partial.
    folds
        Test every row of a set once, in this many folds; 0: only those of its test split. Default: 5 for sets with
        fewer than 1,000 test rows that sentprobe made, or split, otherwise 0.
    resample
        Retrain each probe this many times on parts of the training rows, so that intervals and tests are about the
        encoder and not only about the probe: 0, 10, 20, … Default: 20 for linear probes, 10 for networks.
    controls
        Control tasks to run, comma-separated, as `sentprobe ls controls` lists them, or all.
    measures
        Further measures to compute, comma-separated, as `sentprobe ls measures` lists them, or all.
    measure_rows
        Training rows that capacity, erasure, inlp and mix use at most. Default: 10000.
    batch_size
        Texts per batch. Default: the encoder's own.
    device
        Fit probes with torch on this device, such as cuda. Default: numpy.
    half
        Round vectors to float16.
    store
        Where to keep vectors, and results of baselines, between runs; by default they are not kept.
    jobs
        Probes to fit in parallel, and worker processes that encode where an encoder allows it; results do not depend on
        it.
    baselines
        Baselines to run on every dataset.
    strict
        Raise a RunError at the end if anything failed, in place of a warning; what was computed is saved.
    progress
        Called with a stage, the number of steps done, and the number of steps or None.
    command
        The command line to record in run.json.
    """

    probes: StringsOrPaths = ("linear",)
    probe_seeds: Integers = (1111,)
    limit: int | None = option(None, "What to probe")
    folds: int | None = option(None, "How to probe")
    resample: int | None = option(None, "How to probe")
    controls: StringsOrPaths = option((), "Controls and measures")  # noqa: RUF009 - a tuple
    measures: StringsOrPaths = option((), "Controls and measures")  # noqa: RUF009 - a tuple
    measure_rows: int | None = option(None, "Controls and measures")
    batch_size: int | None = option(None, "Resources")
    device: str | None = option(None, "Resources")
    half: bool = option(False, "Resources")
    store: Store | None = None
    jobs: int = 1
    baselines: StringsOrPaths = (*BASELINES, *ENCODER_BASELINES)
    strict: bool = False
    progress: Progress | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        for number, what, least in (
            (self.limit, "a limit", 1),
            (self.batch_size, "a batch (--batch-size)", 1),
            (self.folds, "a number of folds", 0),
            (self.resample, "a number of resamples", 0),
            (self.measure_rows, "a number of rows for measures", 2),
            (self.jobs, "a number of jobs", 1),
        ):
            if number is not None:
                check_integer(number, what, least)
        if self.folds == 1:
            raise UsageError("--folds 1: expected 2 or more folds, or 0 for the test split of each set.")
        if self.resample is not None and self.resample % RESAMPLE_MULTIPLE:
            raise UsageError(
                f"--resample {self.resample}: expected a multiple of {RESAMPLE_MULTIPLE}, or 0: each round trains one "
                "probe without each group of training rows."
            )
        for name, value in (("half", self.half), ("strict", self.strict)):
            if not isinstance(value, bool):
                raise UsageError(f"{name} must be True or False, got {value!r:.80}.")
        if not self.parsed_probes() or not self.seed_list():
            raise UsageError("A run needs at least one probe and one seed.")
        self.variants()
        self.baseline_names()

    def parsed_probes(self) -> dict[str, Probe]:
        """The probes by name."""
        from sentprobe.probes import parse

        return dict(parse(text) for text in as_strings(self.probes, "a probe"))

    def seed_list(self) -> Sequence[int]:
        """The seeds of the probes, each once, in order."""
        return sorted(set(as_list(self.probe_seeds, int, "a seed")))

    def variants(self) -> Variants:
        """The controls and measures."""
        from sentprobe.run.variants import select_variants

        return select_variants(self.controls, self.measures, self.measure_rows)

    def baseline_names(self) -> list[str]:
        """The baselines by name."""
        return as_strings(self.baselines, "a baseline")
