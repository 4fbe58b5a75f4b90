"""Encoders that were trained several times: one name that stands for the trainings of a recipe.

    trained:runs/nli/seed-*          every file or folder that matches, with any scheme whose names are paths
    seeds:FILE.toml                  the encoders that a file lists (``encoders/schemes/seeds.py``)

Each training is an encoder of its own, with its own identity, vectors, probes and results. That they belong together is
recorded once, for the whole run, so that a claim about the recipe can be told from one about a single training.
"""

from __future__ import annotations

import glob
import re
from dataclasses import replace
from pathlib import Path

from sentprobe.encoders.identity import Spec
from sentprobe.encoders.scheme import SCHEMES
from sentprobe.errors import SentProbeError, UsageError

_DIGITS = re.compile(r"(\d+)")
_NOT_IN_ALIASES = re.compile(r"[=:?/\\|]")
"""What would end the name that is shown."""


def trainings(text: str) -> dict[str, str]:
    """The encoders that a name stands for, by a short title of each; empty if it is the name of a single one."""
    try:
        spec = Spec.parse(text)
    except SentProbeError:  # which is said where it is loaded
        return {}
    is_ours = spec.scheme in SCHEMES and not SCHEMES.sources()[spec.scheme].package
    if is_ours and (listed := SCHEMES[spec.scheme].trainings) is not None:
        return dict(listed(spec))
    return _matching(spec, text) if "*" in spec.path else {}


def _matching(spec: Spec, typed: str) -> dict[str, str]:
    """The encoders whose paths match."""
    # of a program, what follows the path says what in it is the encoder
    pattern, *attributes = spec.path.split(":") if spec.scheme == "py" else (spec.path,)
    return {
        title: str(replace(spec, name=":".join((path, *attributes)), revision=None))
        for title, path in matching_paths(pattern, typed).items()
    }


def matching_paths(pattern: str, typed: str) -> dict[str, str]:
    """The files and folders that match a pattern, by what tells them apart, in the order of the numbers in them.

    Empty if there is a file of this name, with its star. ``typed``: what the user typed, for the error.
    """
    expanded = str(Path(pattern).expanduser())
    if Path(expanded).exists():
        return {}
    slash = pattern.endswith("/")
    paths = glob.glob(re.sub(r"([\[?])", r"[\1]", expanded) + "/" * slash)  # noqa: PTH207 - keeps paths as typed
    if not paths:
        raise UsageError(f"{typed}: no {'folder' if slash else 'file or folder'} matches {pattern}.")
    ordered = sorted((path.rstrip("/") for path in paths), key=_by_number)
    return dict(zip(_differing_parts([Path(path).parts for path in ordered]), ordered, strict=True))


def _by_number(path: str) -> list[tuple[int, str]]:
    """Sort key: seed-9 comes before seed-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(path)]


def _differing_parts(paths: list[tuple[str, ...]]) -> list[str]:
    """What tells paths apart, which match one pattern: the parts that are not the same in all of them."""
    if len(paths) == 1:
        return [_NOT_IN_ALIASES.sub("-", paths[0][-1])]
    differing = [i for i in range(len(paths[0])) if len({path[i] for path in paths}) > 1]
    return [_NOT_IN_ALIASES.sub("-", "-".join(path[i] for i in differing)) for path in paths]
