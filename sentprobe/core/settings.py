"""Settings of a part: named values with a default, a type and a line of documentation, which users type as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sentprobe.core.suggest import did_you_mean
from sentprobe.errors import UsageError

Value = bool | int | float | str
"""What a setting may be."""


@dataclass(frozen=True)
class Setting:
    """One setting: its type is that of its default."""

    default: Value
    doc: str
    """A few words, lower case, without a full stop."""
    choices: tuple[str, ...] = ()
    """The only values of a text, if there are few."""
    low: float = 1
    """The smallest value of a number."""
    high: float = float("inf")
    """The largest value of a number."""

    def parse(self, name: str, value: Value) -> Value:
        """The value as the type of the default; UsageError if it is none, or out of range."""
        try:
            found = self._parse(value)
        except ValueError:
            found = None
        if found is None or (self.choices and found not in self.choices):
            raise UsageError(f"{name}={value}: expected {self.expected}.")
        if not isinstance(found, str | bool) and not self.low <= found <= self.high:
            raise UsageError(f"{name}={value}: expected {self.expected}.")
        return found

    @property
    def expected(self) -> str:
        """What the value must be."""
        if isinstance(self.default, bool):
            return "yes or no"
        if isinstance(self.default, str):
            return (
                f"one of {', '.join(self.choices)}" if len(self.choices) > 2 else " or ".join(self.choices) or "a text"
            )
        kind = "an integer" if isinstance(self.default, int) else "a number"
        high = f"{self.high:.0f}" if self.high > 1e6 else f"{self.high:g}"
        return f"{kind}, {self.low:g} or more" if high == "inf" else f"{kind} from {self.low:g} to {high}"

    def _parse(self, value: Value) -> Value | None:
        if isinstance(self.default, bool):
            known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
            return known.get(str(value).lower())
        if isinstance(value, bool) or (isinstance(self.default, int) and isinstance(value, float)):
            return None
        return type(self.default)(value)


Settings = Mapping[str, Value]
"""Values of settings by name, complete."""


def resolve_settings(known: Mapping[str, Setting], given: Mapping[str, Value], what: str) -> dict[str, Value]:
    """The values given, as their types, and the defaults of the others; UsageError for an unknown name.

    ``what`` names the part: ``the encoder bilstm-max``.
    """
    if unknown := sorted(set(given) - set(known)):
        hint = did_you_mean(unknown[0], known)
        has = ", ".join(sorted(known)) or "no settings"
        raise UsageError(f"There is no setting {unknown[0]!r} of {what}, which has {has}.{hint}")
    return {name: setting.parse(name, given.get(name, setting.default)) for name, setting in known.items()}


def value_text(value: object) -> str:
    """The value of a setting as users type it."""
    return ("no", "yes")[value] if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def defaults_text(settings: Mapping[str, Setting]) -> str:
    """The defaults of settings as users type them."""
    return " ".join(f"{name}={value_text(setting.default)}" for name, setting in settings.items())
