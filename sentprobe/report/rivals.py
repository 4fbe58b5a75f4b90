"""Encoders against each other: which columns of a run are compared, and the sentence that says what came out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from sentprobe.core.table import plain
from sentprobe.report.names import listed, short_names
from sentprobe.report.types import Column
from sentprobe.results.run_kind import run_kind

Better = Literal["first", "second"]
_LAYER = re.compile(r"[?&]layer=[^&,]*")

MAX_NAMED_SETS = 6
"""Of more sets only the number is given, or those that are missing from the rest."""


def rivals(columns: Sequence[Column]) -> tuple[int, ...]:
    """The numbers of the columns that a run compares: different encoders with the same probe on the same rows.

    Of several probes the first one counts, as it was requested first; empty if there are no two such encoders.
    """
    probed = run_kind(column.probe for column in columns).trains_probes
    groups: dict[object, list[int]] = {}
    for i, column in enumerate(columns):
        # of spaces of words, the ways in which words are retrieved are systems of their own
        protocol = (column.probe if probed else None, column.device, column.sample)
        groups.setdefault(protocol, []).append(i)
    largest = max(groups.values(), key=len, default=[])
    return tuple(largest) if len(largest) > 1 else ()


def probe_of(columns: Sequence[Column], compared: Sequence[int]) -> str:
    """``With linear: `` before a sentence about columns of a run that has others with other probes."""
    probes = {column.probe for column in columns} - {None}
    probe = columns[compared[0]].probe
    return f"With {probe}: " if probe and len(probes) > 1 and len(compared) < len(columns) else ""


def column_noun(columns: Sequence[Column], noun: str) -> str:
    """What several columns are called: encoders, or, of one encoder, its probes, layers or variants."""
    if noun != "encoder" or len({_LAYER.sub("", column.encoder) for column in columns}) > 1:
        return noun
    layers, probes = (len({getattr(column, name) for column in columns}) > 1 for name in ("encoder", "probe"))
    return {(True, False): "layer", (False, True): "probe"}.get((layers, probes), "variant")


def encoder_title(column: Column) -> str:
    """What the encoder of a column is called, without its layer."""
    return _LAYER.sub("", short_names([column.label[0]])[0])


def pair_sentence(first: str, second: str, verdicts: Mapping[str, Better | None], *, filtered: str = "") -> str:
    """On which sets one of two encoders is significantly better; ``verdicts`` has the better one, or None, by set."""
    first, second = plain(first), plain(second)
    better = [plain(name) for name, verdict in verdicts.items() if verdict == "first"]
    worse = [plain(name) for name, verdict in verdicts.items() if verdict == "second"]
    if len(worse) > len(better):
        first, second, better, worse = second, first, worse, better
    undecided = [plain(name) for name, verdict in verdicts.items() if verdict is None]
    total = len(verdicts)
    if not better:
        sets = {1: undecided[0], 2: f"either set{filtered}"}.get(total, f"any of the {total} sets{filtered}")
        return f"{first} and {second} do not differ significantly on {sets}."
    ahead = f"{first} is significantly better than {second}"
    if total == 1:
        return f"On {better[0]}, {ahead}."
    if len(better) == total:
        return f"{ahead} on {'both' if total == 2 else f'all {total}'} sets{filtered}."
    few = len(better) <= MAX_NAMED_SETS
    clauses = [f"{ahead} on {len(better)} of {total} sets{filtered}{f': {listed(better)}' if few else ''}"]
    if worse:
        clauses.append(f"significantly worse on {_named(worse)}")
    if undecided:
        clauses.append(f"no significant difference on {_named(undecided) if not few else _rest(undecided)}")
    return f"{'; '.join(clauses)}."


def equality_sentences(
    first: str, second: str, bounds: Mapping[str, tuple[float, float]], margin: float, tests: int
) -> list[str]:
    """On which sets two encoders are equivalent within a margin, or one is no worse than the other by more.

    ``bounds`` has, by set, by how much the first may be worse, and better; ``tests`` is over how many sets these are
    adjusted. Nothing is said if there are no sets.
    """
    if not bounds:
        return []
    first, second, points = plain(first), plain(second), f"{100 * margin:g} points"
    equivalent = [name for name, both in bounds.items() if max(both) <= margin]
    clauses = [f"{first} and {second} are equivalent on {_named(equivalent)}"] if equivalent else []
    for side, (leader, follower) in enumerate(((first, second), (second, first))):
        if names := [name for name, both in bounds.items() if both[side] <= margin < max(both)]:
            clauses.append(f"{leader} is no more than {points} worse than {follower} on {_named(names)}")
    if undecided := [name for name, both in bounds.items() if min(both) > margin]:
        clauses.append(f"neither is shown to be as good on {_named(undecided)}")
    over = f", Bonferroni over {tests} sets" if tests > 1 else ""
    return [f"With a margin of {points}, {'; '.join(clauses)} (two one-sided tests{over})."]


def leaders_sentence(leads: Mapping[str, Sequence[str]], total: int, *, noun: str, filtered: str = "") -> str:
    """Which of three encoders or more is significantly better than all others, by the names of the sets."""
    order = sorted(leads, key=lambda name: -len(leads[name]))
    sets = {1: "this set", 2: f"either set{filtered}"}.get(total, f"any of the {total} sets{filtered}")
    if not order:
        return f"No {noun} is significantly better than all others on {sets}."
    first, *following = order
    if total == 1:
        return f"On {plain(leads[first][0])}, {plain(first)} is significantly better than all others."
    of_total = (
        f"all {total} sets{filtered}" if len(leads[first]) == total > 2 else f"{len(leads[first])} of {total} sets"
    )
    of_total = f"both sets{filtered}" if len(leads[first]) == total == 2 else of_total
    named = "" if len(leads[first]) == total else f": {_named(leads[first])}"
    clauses = [f"{plain(first)} is significantly better than all others on {of_total}{named}"]
    clauses += [f"{plain(name)} on {_named(leads[name])}" for name in following]
    leaderless = total - sum(map(len, leads.values()))
    if leaderless:
        clauses.append(f"no {noun} on the other {leaderless}" if leaderless > 1 else f"no {noun} on the other one")
    return f"{'; '.join(clauses)}."


def _named(names: Sequence[str]) -> str:
    return listed([plain(name) for name in names], most=MAX_NAMED_SETS, remainder="more")


def _rest(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"the other {len(names)}"
