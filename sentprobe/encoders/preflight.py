"""Encoders that cannot be loaded, found before anything is computed: files that are missing, options that are unknown.

Those that may be there are not loaded for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sentprobe.encoders.identity import Spec
from sentprobe.encoders.scheme import load, load_scheme
from sentprobe.errors import SentProbeError, UsageError


def check_encoders(names: Iterable[str]) -> None:
    """Raise UsageError, with what is wrong with each, if some encoders cannot be loaded."""
    wrong: list[str] = []
    for name in sorted(names):
        try:
            _check(name)
        except SentProbeError as e:
            wrong.append(str(e) if str(e).startswith(name) else f"{name}: {e}")
    if len(wrong) == 1:
        raise UsageError(wrong[0])
    if wrong:
        each = "".join(f"\n- {what}" for what in wrong)
        raise UsageError(f"{len(wrong)} encoders cannot be loaded, and nothing was computed:{each}")


def _check(name: str) -> None:
    spec = Spec.parse(name)
    scheme = load_scheme(spec.scheme)
    if scheme.package:  # what another package does with a name is not known
        return
    if scheme.options:
        spec.check_options(scheme.options)
    file = None if scheme.named_file is None else scheme.named_file(spec)
    if file is not None and not file.exists():
        load(name)  # says what is wrong
    for member in () if scheme.members is None else scheme.members(spec):
        _check(member)
