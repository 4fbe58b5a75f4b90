"""What the server serves: paths with a function each. Of a run: the page, its progress, and predictions.

The page is rendered again when the run has grown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import msgspec

from sentprobe.core.arguments import StringsOrPaths
from sentprobe.errors import UsageError
from sentprobe.report.page import Section, render
from sentprobe.report.page.section import sibling_file
from sentprobe.report.summary import full_summary
from sentprobe.results.records import INFO, RESULTS
from sentprobe.results.run import Run
from sentprobe.results.run_status import read_status
from sentprobe.serve.choices import ProbeCatalogue, probe_catalogue
from sentprobe.serve.encoders import Encoders
from sentprobe.serve.predict import MAX_SENTENCE_LENGTH, MAX_SENTENCES, PredictionRequest, Predictor

Content = tuple[str, bytes]
"""The content type, and the content."""


@dataclass(frozen=True)
class Routes:
    """The paths of a site; there are no others."""

    get: Mapping[str, Callable[[], Content]]
    post: Mapping[str, Callable[[bytes], Content]]
    """Called with the body of the request, which is JSON."""

    def __str__(self) -> str:
        """For messages: ``GET /, GET /status or POST /read``."""
        *names, last = [*(f"GET {path}" for path in self.get), *(f"POST {path}" for path in self.post)]
        return f"{', '.join(names)} or {last}"


class Served(Protocol):
    """What a server serves."""

    routes: Routes

    def page(self) -> bytes:
        """The page, as HTML."""
        ...


def html(page: bytes) -> Content:
    """A page."""
    return "text/html; charset=utf-8", page


def json(data: Any) -> Content:
    """Plain data."""
    return "application/json", msgspec.json.encode(data)


@dataclass(frozen=True)
class RunState:
    """The run as it was at one point in time."""

    stamp: str
    """Changes when the run has grown."""
    run: Run
    catalogue: ProbeCatalogue


class Site:
    """One run, which another process may be writing. Nothing is written here."""

    def __init__(self, folder: Path, trusted: StringsOrPaths = ()) -> None:
        self.folder = folder
        self.predictor = Predictor(Encoders(trusted, folder))
        self._loading, self._making = Lock(), Lock()
        self._state: RunState | None = None
        self._page: tuple[str, bytes] | None = None
        self.routes = Routes(
            {"/": lambda: html(self.page()), "/status": lambda: json(self.status())},
            {"/read": lambda body: json(self.predict(body))},
        )

    def state(self) -> RunState:
        """The run as it is now."""
        with self._loading:
            stamp = _stamp(self.folder)  # before reading, or what is written meanwhile would go unnoticed
            if self._state is None or self._state.stamp != stamp:
                run = Run.load(self.folder)
                self._state = RunState(stamp, run, probe_catalogue(run))
            return self._state

    def page(self) -> bytes:
        """The page, as HTML."""
        with self._making:
            now = self.state()
            if self._page is None or self._page[0] != now.stamp:
                text = render(full_summary(now.run), try_section(now))
                self._page = now.stamp, text.encode(errors="backslashreplace")
            return self._page[1]

    def status(self) -> dict[str, Any]:
        """The run's progress, whether it has grown since the page was rendered, and which probes there are."""
        now, rendered = self.state(), self._page
        return {
            "results": len(now.run),
            "failures": len(now.run.failures),
            "running": _running(self.folder),
            "stamp": now.stamp,
            "changed": rendered is not None and rendered[0] != now.stamp,
            "max_sentences": MAX_SENTENCES,
            "max_sentence_length": MAX_SENTENCE_LENGTH,
            "encoders": [
                {"name": c.name, "short": c.short, "layers": c.layers, "baseline": c.baseline, "remote": c.remote}
                for c in now.catalogue.choices
            ],
            "excluded": list(now.catalogue.excluded),
        }

    def predict(self, body: bytes) -> dict[str, Any]:
        """Predictions for the sentences of a request."""
        try:
            request = msgspec.json.decode(body, type=PredictionRequest)
        except (msgspec.DecodeError, UnicodeDecodeError) as e:
            raise UsageError(f'Invalid request: {e}. Expected JSON such as {{"sentences": ["A sentence."]}}.') from e
        now = self.state()
        return self.predictor.predict(now.run, now.catalogue, request)


def _stamp(folder: Path) -> str:
    """Changes whenever a result is added."""
    stamps = []
    for name in (RESULTS, INFO):
        try:
            stat = (folder / name).stat()
        except OSError:  # there are no results yet; Run.load reports anything else
            stamps.append("0")
        else:
            stamps.append(f"{stat.st_size:x}-{stat.st_mtime_ns:x}")
    return "-".join(stamps)


def _running(folder: Path) -> dict[str, Any] | None:
    """What the command that writes the run is doing; None if none does."""
    status = read_status(folder)
    return None if status is None else {"done": status.done, "total": status.total, "action": status.action}


def try_section(now: RunState) -> Section:
    """The section in which sentences can be tried; it knows which state of the run the page was made from."""
    return Section(
        name="try",
        order=25,
        title="Try a sentence",
        intro="What the probes of this run predict for sentences of your own. They were trained on the sets above, and "
        "may be wrong about sentences of another kind.",
        template=sibling_file(__package__, "try.html"),
        data=lambda page: {"stamp": now.stamp, "results": len(now.run), "failures": len(now.run.failures)},
        needs_results=False,
        script="".join(sibling_file(__package__, name) for name in ("client.js", "try.js")),
        style=sibling_file(__package__, "try.css"),
    )
