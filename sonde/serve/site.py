"""What the server says: the page, made anew when the run has grown, how far the run is, and readings of sentences."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from sonde.core.arguments import StringsOrPaths
from sonde.errors import UsageError
from sonde.report.full_summary import full_summary
from sonde.report.page import ExtraSection, render
from sonde.run.folder import INFO, RESULTS, Run
from sonde.serve.choices import ProbeCatalogue, probe_catalogue
from sonde.serve.encoders import Encoders
from sonde.serve.predict import MAX_SENTENCE_LENGTH, MAX_SENTENCES, Predictor, Request


@dataclass(frozen=True)
class State:
    """The run as it was at one time."""

    stamp: str
    """Another one when the run has grown."""
    run: Run
    catalogue: ProbeCatalogue


class Site:
    """One run, which another process may be writing. Nothing is written here."""

    def __init__(self, folder: Path, trusted: StringsOrPaths = ()) -> None:
        self.folder = folder
        self.predictor = Predictor(Encoders(trusted))
        self._loading, self._making = Lock(), Lock()
        self._state: State | None = None
        self._page: tuple[str, bytes] | None = None

    def state(self) -> State:
        """The run as it is now."""
        with self._loading:
            stamp = _stamp(self.folder)  # before it is read, or what comes meanwhile would go unnoticed
            if self._state is None or self._state.stamp != stamp:
                run = Run.load(self.folder)
                self._state = State(stamp, run, probe_catalogue(run))
            return self._state

    def page(self) -> bytes:
        """The page, as HTML."""
        with self._making:
            now = self.state()
            if self._page is None or self._page[0] != now.stamp:
                summary = {**full_summary(now.run), "try": {"stamp": now.stamp}}
                self._page = now.stamp, render(summary, _extra(now)).encode(errors="backslashreplace")
            return self._page[1]

    def status(self) -> dict[str, Any]:
        """How far the run is, whether it has grown since the page was made, and what can be read."""
        now, made = self.state(), self._page
        return {
            "results": len(now.run),
            "failures": len(now.run.failures),
            "stamp": now.stamp,
            "changed": made is not None and made[0] != now.stamp,
            "most": MAX_SENTENCES,
            "longest": MAX_SENTENCE_LENGTH,
            "encoders": [
                {"name": c.name, "short": c.short, "layers": c.layers, "baseline": c.baseline, "remote": c.remote}
                for c in now.catalogue.choices
            ],
            "left_out": list(now.catalogue.excluded),
        }

    def predict(self, body: bytes) -> dict[str, Any]:
        """Readings of the sentences of a request."""
        try:
            request = msgspec.json.decode(body, type=Request)
        except (msgspec.DecodeError, UnicodeDecodeError) as e:
            raise UsageError(f'This is no request: {e}. Expected JSON such as {{"sentences": ["A sentence."]}}.') from e
        now = self.state()
        return self.predictor.predict(now.run, now.catalogue, request)


def _stamp(folder: Path) -> str:
    """Another text whenever a result was added."""
    found = []
    for name in (RESULTS, INFO):
        try:
            stat = (folder / name).stat()
        except OSError:  # there are no results yet; what is wrong otherwise is told by Run.load
            found.append("0")
        else:
            found.append(f"{stat.st_size:x}-{stat.st_mtime_ns:x}")
    return "-".join(found)


def _extra(now: State) -> ExtraSection:
    """The section in which sentences are tried; it knows which state of the run it was made from."""
    files = resources.files("sonde.serve")
    html = (files / "try.html").read_text("utf-8")
    for name, value in (("STAMP", now.stamp), ("RESULTS", len(now.run)), ("FAILURES", len(now.run.failures))):
        html = html.replace(f"@{name}@", str(value))
    return ExtraSection(html, (files / "try.css").read_text("utf-8"), (files / "try.js").read_text("utf-8"))
