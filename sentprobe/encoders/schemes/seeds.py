"""One encoder that was trained several times: results are about how it is trained, and not about one training.

    seeds:FILE.toml

The file has a line for each training, with an encoder as it is typed elsewhere:

    first = "trained:runs/nli-1"
    second = "trained:runs/nli-2"

Where the trainings are files or folders with similar names, ``trained:runs/nli-*`` is the same without a file. Options,
such as those of ``seeds:FILE.toml?layer=2``, are added to those of every line.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import NoReturn

from sentprobe.encoders.identity import Spec
from sentprobe.encoders.schemes.family import read_encoders
from sentprobe.errors import UsageError

RUNS_CODE = SENDS_TEXTS = True
"""What a training does is not known before the file is read."""
named_file = attrgetter("file")


def trainings(spec: Spec) -> dict[str, str]:
    """The encoders of the file, by what they are called in it."""
    if spec.file is None:
        raise UsageError("seeds: names no file; expected seeds:FILE.toml.")
    encoders = read_encoders(spec.file, "first", "a name of letters and digits", not_in=("seeds",))
    return {name: str(_with_options(Spec.parse(encoder), spec)) for name, encoder in encoders.items()}


def _with_options(encoder: Spec, spec: Spec) -> Spec:
    """An encoder of the file, with the options that were typed after the name of the file."""
    return replace(encoder, options=tuple({**dict(encoder.options), **dict(spec.options)}.items()))


def load(spec: Spec) -> NoReturn:
    """An error: there are several encoders, which `sentprobe run` takes together."""
    names = ", ".join(trainings(spec).values())
    raise UsageError(f"{spec} is several encoders, which only `sentprobe run` takes together; name one of {names}.")
