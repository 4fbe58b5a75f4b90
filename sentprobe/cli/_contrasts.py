"""Contrast sets on the command line: making them, and printing how many rows they have and what cues give away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from sentprobe.core.arguments import option

if TYPE_CHECKING:
    from sentprobe.corpus.corpus import Corpus
    from sentprobe.make.filters import ExcludedSentences

CONTRASTS = Group("Contrast sets", sort_key=25)
TELLING = 0.6
"""A cue that significantly picks the positive in more than this share of rows gets a warning."""
ALL = "all"
"""Stands for all rules whose rows were read in the language of the corpus."""


@dataclass(frozen=True, kw_only=True)
class ContrastOptions:
    """Which contrast set is made, in place of probing sets.

    Parameters
    ----------
    contrast
        Make a contrast set instead of probing sets, for `sentprobe pairs`: sentences, each with a positive that keeps
        its meaning and a contrast that changes it by one edit. The rules of contrasts, with commas: negation, roles,
        numbers, order, tense; or all. `sentprobe ls contrast-rules` lists them. --sizes is then the rows of each.
    positive
        The rules of positives, with commas. Default: all.
    unread
        Also use rules in a language in which nobody has read 50 of their rows.
    unbalanced
        Also keep rows in which word overlap or length gives the positive away.
    """

    contrast: Annotated[tuple[str, ...], Parameter(("--contrast",))] = option((), CONTRASTS.name)
    positive: Annotated[tuple[str, ...], Parameter(("--positive",))] = option((), CONTRASTS.name)
    unread: bool = option(False, CONTRASTS.name)
    unbalanced: bool = option(False, CONTRASTS.name)

    @classmethod
    def taken_from(cls, options: dict[str, Any], has_others: bool) -> ContrastOptions:
        """These options of a verb, which are removed from its others; UsageError if they do not go together."""
        from sentprobe.errors import UsageError

        contrasts = cls(**{f.name: options.pop(f.name) for f in fields(cls) if f.name in options})
        if contrasts.contrast and has_others:
            raise UsageError(
                "--suite, --task, --set, --exclusive, --relax, --audit and --as-published are for probing sets: leave "
                "them out, or --contrast."
            )
        for name in ("positive", "unread", "unbalanced"):
            if getattr(contrasts, name) and not contrasts.contrast:
                raise UsageError(f"--{name} is for contrast sets: add --contrast, or leave it out.")
        return contrasts

    def make(
        self,
        corpus: Corpus,
        out: Path,
        sizes: str,
        length: str,
        seed: int,
        jobs: int,
        exclude: ExcludedSentences,
        skip_bad: bool,
    ) -> int:
        """Make the set, save and print it; the exit code."""
        from sentprobe.console import announce, progress_bar, warn
        from sentprobe.core.formatting import count_of
        from sentprobe.make.contrasts import LENGTH, make_contrasts

        contrasts, positives = _names(self.contrast), _names(self.positive)
        announce(f"Making a contrast set from {corpus.name}, in three passes over it; {count_of(jobs, 'job')}")
        with progress_bar() as progress:
            contrast_set, skipped = make_contrasts(
                corpus, contrasts, positives=positives, length=_window(length) if length else LENGTH, seed=seed,
                jobs=jobs, exclude=exclude, unread=self.unread, unbalanced=self.unbalanced, skip_bad=skip_bad,
                progress=progress, **({"rows": _rows(sizes)} if sizes else {}),
            )  # fmt: skip
        folder = out / contrast_set.name
        contrast_set.save(folder)
        print_contrasts({**contrast_set.manifest, "counts": contrast_set.counts, "language": contrast_set.language})
        announce(f"{count_of(len(contrast_set), 'row')}, written to {folder}/")
        if self.unread:
            unread = [
                name
                for name, about in contrast_set.manifest["rules"].items()
                if contrast_set.language not in about["read"]
            ]
            if unread:
                warn(f"warning: nobody has read rows of these rules in {contrast_set.language}: {', '.join(unread)}.")
        for name, reason in skipped.items():
            warn(f"not made: {name}: {reason}")
        return 2 if set(contrasts) & skipped.keys() else 0


def _names(typed: Sequence[str]) -> list[str]:
    names = [name.strip() for text in typed for name in text.split(",") if name.strip()]
    return [] if names == [ALL] else names


def _rows(sizes: str) -> int:
    from sentprobe.errors import UsageError

    if not sizes.isdecimal() or int(sizes) < 1:
        raise UsageError(f"--sizes {sizes}: of a contrast set, expected the rows of each rule, such as 500.")
    return int(sizes)


def _window(length: str) -> tuple[int, int]:
    from sentprobe.errors import UsageError

    low, dash, high = length.partition("-")
    if not dash or not low.isdecimal() or not high.isdecimal() or int(low) > int(high):
        raise UsageError(f"--length {length}: expected the shortest and longest sentence in tokens, such as 5-28.")
    return int(low), int(high)


def print_contrasts(manifest: Mapping[str, Any]) -> None:
    """Print a contrast set by rule: rows, how many of those read were wrong, and what each cue alone gets right."""
    from sentprobe.console import err, out, print_wrapped, warn
    from sentprobe.core.formatting import POINTS
    from sentprobe.core.table import Table
    from sentprobe.stats.intervals import wilson

    language = manifest["language"]
    from sentprobe.contrast.cues import CUE_NAMES

    cues = [name for name in CUE_NAMES if name in next(iter(manifest["cues"].values()))]
    rows = [
        (
            kind,
            f"{manifest['counts'].get(kind, 0):,}",
            f"{manifest['stages'][kind]['proposed']:,}",
            _read(manifest["rules"].get(kind), language),
            *(POINTS.number(shares[cue]) for cue in cues),
        )
        for kind, shares in manifest["cues"].items()
    ]
    Table.of_rows(("contrast", "rows", "candidates", "wrong", *cues), rows).print(out())
    positives: dict[str, int] = {}
    for counts in manifest["positives"].values():
        for kind, n in counts.items():
            positives[kind] = positives.get(kind, 0) + n
    texts = [f"{kind} {n:,} ({_read(manifest['rules'].get(kind), language)})" for kind, n in sorted(positives.items())]
    print_wrapped(
        err(),
        f"Positives: {', '.join(texts)}. wrong: of how many rows read. overlap to bigrams: the share of rows (%) in "
        "which a cue alone picks the positive; at 50 it says nothing.",
    )
    for kind, shares in manifest["cues"].items():
        for cue in cues:
            n = manifest["counts"].get(kind, 0)
            if n and wilson(shares[cue] * n, n)[0] > TELLING:
                warn(f"warning: {kind}: {cue} alone picks the positive in {POINTS.number(shares[cue])} % of the rows.")


def _read(about: Mapping[str, Any] | None, language: str | None) -> str:
    from sentprobe.corpus.languages import code_of

    reading = (about or {}).get("read", {}).get(code_of(language))
    return f"{reading['wrong']}/{reading['rows']}" if reading else "not read"


def has_contrast_sets(folder: Path) -> bool:
    """Whether contrast sets, and no probing sets, are in a folder or below it."""
    from sentprobe.data.contrast_set import contrast_folders
    from sentprobe.data.dataset import MANIFEST_FILE

    folders = contrast_folders(folder)
    manifests = {path.parent for path in folder.rglob(MANIFEST_FILE)} if folders else set()
    return bool(folders) and manifests <= set(folders)


def show_contrasts(folder: Path, examples: int, seed: int, has_other_options: bool) -> int:
    """Show the contrast sets of a folder, or some of their rows."""
    from random import Random

    from sentprobe.console import out
    from sentprobe.core.formatting import printable
    from sentprobe.data.contrast_set import ContrastSet, contrast_folders
    from sentprobe.errors import UsageError

    if has_other_options:
        raise UsageError(f"{folder} has contrast sets: the only options for them are --examples and --seed.")
    for path in contrast_folders(folder):
        contrast_set = ContrastSet.load(path)
        out().print(repr(contrast_set), markup=False)
        if not examples and {"cues", "stages", "positives"} <= contrast_set.manifest.keys():
            print_contrasts(contrast_set.manifest)
        for kind in contrast_set.kinds if examples else ():
            rows = [row for row in contrast_set.rows if row.kind == kind]
            out().print(f"  {kind}", style="cyan", markup=False)
            for row in Random(seed).sample(rows, min(examples, len(rows))):
                for name, text in (("", row.anchor), (f"= {row.positive_kind}: ", row.positive), ("≠ ", row.contrast)):
                    out().print(printable(f"    {name}{text}"), markup=False, soft_wrap=True)
    return 0
