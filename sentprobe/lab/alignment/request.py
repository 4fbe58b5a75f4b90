"""What an alignment is to do, as it was typed, resolved and complete; kept in ``alignment.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sentprobe.core.arguments import Value, check_integer, did_you_mean, resolve_settings
from sentprobe.errors import UsageError
from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.dictionary import IDENTICAL, NUMERALS
from sentprobe.lab.alignment.maps import check_steps
from sentprobe.lab.alignment.method import Method

WORDS = 200_000
TRIES = 5
"""Tries of a method whose result depends on a seed, if there is no dictionary."""
AUTO, BEST = "auto", "best"
SUPERVISED, UNSUPERVISED = "procrustes", "vecmap"
"""What ``auto`` chooses with a dictionary, and without."""
EXPORTS = ("none", "text", "binary")


@dataclass(frozen=True)
class AlignmentRequest:
    """All that decides which map is found; ``export`` decides only what is written besides."""

    source: str
    target: str
    method: str = AUTO
    """The name of a method, or ``best``."""
    why: str = ""
    """Why this method, if it was chosen by what is given."""
    words: int = WORDS
    """The most frequent words of either side that are used."""
    steps: tuple[str, ...] = ()
    dictionary: tuple[str, ...] = ()
    """Files, ``identical`` or ``numerals``."""
    dev: str = ""
    """A dictionary whose P@1 is recorded along the way."""
    settings: Mapping[str, Value] = field(default_factory=dict)
    refine: int = 0
    tries: tuple[int, ...] = (0,)
    """The seed of each try, of which the best one is kept."""
    held_out: bool = False
    """Whether a fifth of the source words of the dictionary is held out, and scored at the end."""
    export: str = "none"


def make_request(
    source: str,
    target: str,
    *,
    method: str = AUTO,
    words: int | None = None,
    steps: Sequence[str] | None = None,
    dictionary: Sequence[str] = (),
    dev: str = "",
    preset: str = "",
    settings: Mapping[str, Value] | None = None,
    refine: int | None = None,
    tries: int | Sequence[int] | None = None,
    held_out: bool = False,
    export: str = "none",
) -> AlignmentRequest:
    """A request with all defaults, which are those of the method; UsageError if something does not fit.

    Examples
    --------
    >>> from sentprobe.lab.alignment.request import make_request
    >>> request = make_request("en.vec", "fr.vec", dictionary=["en-fr.txt"])
    >>> request.method, request.why
    ('procrustes', 'a dictionary is given')
    """
    if export not in EXPORTS:
        raise UsageError(f"--export {export}: expected {', '.join(EXPORTS[:-1])} or {EXPORTS[-1]}.")
    if isinstance(tries, Sequence) and len(set(tries)) < len(tries):
        raise UsageError("--tries: a seed occurs twice; leave one of them out.")
    if dev in (IDENTICAL, NUMERALS):
        raise UsageError(f"--dev {dev}: expected a file; identical words are not a gold standard.")
    name, why = _resolved_method(method, bool(dictionary))
    base = AlignmentRequest(
        source,
        target,
        name,
        why,
        WORDS if words is None else check_integer(words, "--words", 2),
        dictionary=tuple(dict.fromkeys(dictionary)),
        dev=dev,
        held_out=held_out,
        export=export,
    )
    if name == BEST:
        method_options = {
            "--preset": preset,
            "--set": settings,
            "--steps": steps is not None,
            "--refine": refine is not None,
        }
        if refused := [option for option, value in method_options.items() if value]:
            raise UsageError(f"{refused[0]} is for one method; --method best tries all as by default: leave it out.")
        numbers = () if tries is None else _seeds_of_tries(tries, 0)
        return replace(base, tries=numbers)  # empty: as many as each method needs
    chosen = _method(name)
    _check_dictionary(chosen, bool(dictionary))
    unsupervised_seeds = chosen.seeded and not dictionary
    return replace(
        base,
        steps=check_steps(chosen.steps if steps is None else steps),
        settings=resolve_settings(
            chosen.settings, {**_preset(chosen, preset), **(settings or {})}, f"the method {name}"
        ),
        refine=chosen.refine if refine is None else check_integer(refine, "--refine", 0),
        tries=_seeds_of_tries(tries, TRIES if unsupervised_seeds else 1),
    )


def applicable(dictionary: bool) -> list[Method]:
    """The methods that use a dictionary, or those that need none, in the order of `sentprobe ls`."""
    excluded = "unused" if dictionary else "needed"
    return [m for m in METHODS.parts().values() if m.dictionary != excluded]


def _resolved_method(method: str, dictionary: bool) -> tuple[str, str]:
    if method != AUTO:
        return method, ""
    return (SUPERVISED, "a dictionary is given") if dictionary else (UNSUPERVISED, "no dictionary is given")


def _method(name: str) -> Method:
    """The method of this name; UsageError, with all that --method takes, if there is none."""
    if name not in METHODS.parts():
        names = [*METHODS.parts(), AUTO, BEST]
        raise UsageError(
            f"There is no alignment method {name!r}.{did_you_mean(name, names)} Expected one of {', '.join(names)}."
        )
    return METHODS.get(name)


def _preset(method: Method, name: str) -> Mapping[str, Value]:
    """The settings of a preset of a method; none without a name."""
    if not name:
        return {}
    if name not in method.presets:
        expected = f"Expected one of {', '.join(method.presets)}" if method.presets else "It has none: leave it out"
        raise UsageError(
            f"The method {method.name} has no preset {name!r}.{did_you_mean(name, method.presets)} {expected}."
        )
    return method.presets[name]


def _check_dictionary(method: Method, has_dictionary: bool) -> None:
    if method.dictionary == "needed" and not has_dictionary:
        alternatives = ", ".join(m.name for m in applicable(False))
        raise UsageError(
            f"The method {method.name} needs a dictionary: add --dictionary with a file of pairs, identical or "
            f"numerals{f', or use a method that needs none: {alternatives}' * bool(alternatives)}."
        )
    if method.dictionary == "unused" and has_dictionary:
        raise UsageError(
            f"The method {method.name} uses no dictionary: leave --dictionary out. --dev FILE records its accuracy "
            "along the way."
        )


def with_seed(request: AlignmentRequest, seed: int) -> AlignmentRequest:
    """The same request with other tries, so that alignments of several seeds have none in common."""
    if request.method == BEST or not METHODS.get(request.method).seeded:
        raise UsageError(
            f"--seeds is for one method whose result depends on a seed, and {request.method} is none: leave it out."
        )
    count = len(request.tries)
    if request.tries != tuple(range(count)):
        raise UsageError("--seeds needs a number of tries, and not their seeds: --tries 5, not --tries 3,7.")
    return replace(request, tries=tuple(range(seed * count, (seed + 1) * count)))


def count_of_tries(tries: Sequence[int]) -> str:
    """``1 try``, or ``5 tries``."""
    return "1 try" if len(tries) == 1 else f"{len(tries)} tries"


def _seeds_of_tries(tries: int | Sequence[int] | None, default: int) -> tuple[int, ...]:
    """The seed of each try: the first so many, or those given."""
    if tries is None or isinstance(tries, int):
        return tuple(range(default if tries is None else check_integer(tries, "--tries", 1)))
    if not tries:
        raise UsageError("--tries: expected a number of tries, or their seeds, comma-separated.")
    return tuple(check_integer(seed, "--tries", 0) for seed in tries)
