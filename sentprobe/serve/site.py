"""What the server serves: the page, rendered again when the run has grown, the run's progress, and predictions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from sentprobe.core.arguments import StringsOrPaths
from sentprobe.errors import UsageError
from sentprobe.report.page import Section, render
from sentprobe.report.page.section import sibling_file
from sentprobe.report.summary import full_summary
from sentprobe.results.records import INFO, RESULTS
from sentprobe.results.run import Run
from sentprobe.serve.choices import ProbeCatalogue, probe_catalogue
from sentprobe.serve.encoders import Encoders
from sentprobe.serve.predict import MAX_SENTENCE_LENGTH, MAX_SENTENCES, Predictor, Request
from sentprobe.serve.routes import Routes, html, json


@dataclass(frozen=True)
class State:
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
        self._state: State | None = None
        self._page: tuple[str, bytes] | None = None
        self.routes = Routes(
            {"/": lambda: html(self.page()), "/status": lambda: json(self.status())},
            {"/read": lambda body: json(self.predict(body))},
        )

    def state(self) -> State:
        """The run as it is now."""
        with self._loading:
            stamp = _stamp(self.folder)  # before reading, or what is written meanwhile would go unnoticed
            if self._state is None or self._state.stamp != stamp:
                run = Run.load(self.folder)
                self._state = State(stamp, run, probe_catalogue(run))
            return self._state

    def page(self) -> bytes:
        """The page, as HTML."""
        with self._making:
            now = self.state()
            if self._page is None or self._page[0] != now.stamp:
                made = render(full_summary(now.run), try_section(now))
                self._page = now.stamp, made.encode(errors="backslashreplace")
            return self._page[1]

    def status(self) -> dict[str, Any]:
        """The run's progress, whether it has grown since the page was rendered, and which probes there are."""
        now, made = self.state(), self._page
        return {
            "results": len(now.run),
            "failures": len(now.run.failures),
            "stamp": now.stamp,
            "changed": made is not None and made[0] != now.stamp,
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
            request = msgspec.json.decode(body, type=Request)
        except (msgspec.DecodeError, UnicodeDecodeError) as e:
            raise UsageError(f'Invalid request: {e}. Expected JSON such as {{"sentences": ["A sentence."]}}.') from e
        now = self.state()
        return self.predictor.predict(now.run, now.catalogue, request)


def _stamp(folder: Path) -> str:
    """Changes whenever a result is added."""
    found = []
    for name in (RESULTS, INFO):
        try:
            stat = (folder / name).stat()
        except OSError:  # there are no results yet; Run.load reports anything else
            found.append("0")
        else:
            found.append(f"{stat.st_size:x}-{stat.st_mtime_ns:x}")
    return "-".join(found)


def try_section(now: State) -> Section:
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
