"""What the server of an alignment serves: the page, its maps, translations, and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import msgspec

from sentprobe import __version__
from sentprobe.core.arguments import did_you_mean
from sentprobe.core.words import is_word
from sentprobe.errors import UsageError
from sentprobe.lab.alignment.folder import AlignmentFolder, MapCheckpoint, open_alignment
from sentprobe.lab.alignment.maps import SideMap, WordMap
from sentprobe.lab.alignment.space import Rows, Space
from sentprobe.lab.word_page.background import BackgroundMeans, Report
from sentprobe.lab.word_page.spelling import Spellings
from sentprobe.lab.word_page.view import (
    View,
    choose_pairs,
    look_up,
    points,
    same_but_case,
    suggestions,
    view_of,
    words_of,
)
from sentprobe.report.page.section import sibling_file
from sentprobe.report.page.templates import environment, page_policy, raw, readable, script_json
from sentprobe.serve.site import Routes, html, json

FINAL, BEFORE = "final", "before"
MAX_WORD_LENGTH = 200
"""Characters of a word: more than a person types."""
EXAMPLE_RANK = 300
"""More frequent words are function words, which make poor examples."""


class WordRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A word, and the map to be used."""

    word: str
    map: str = FINAL


class PictureRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The map to be drawn."""

    map: str = FINAL


AnyRequest = TypeVar("AnyRequest", WordRequest, PictureRequest)


class AlignmentSite:
    """One alignment. Nothing is written here; ``report`` gets lines about what is computed in the background."""

    def __init__(self, folder: Path, report: Report = lambda line: None) -> None:
        self.folder: AlignmentFolder = open_alignment(folder)
        self.final = self.folder.map()
        self.spaces: tuple[Space, Space] = self.folder.spaces()
        self.routes = Routes(
            {"/": lambda: html(self.page()), "/status": lambda: json(self.status())},
            {
                "/translate": lambda body: json(self.translate(_decode(body, WordRequest, '{"word": "house"}'))),
                "/picture": lambda body: json(self.picture(_decode(body, PictureRequest, '{"map": "final"}'))),
            },
        )
        self._views: dict[str, View] = {}
        self._viewing, self._choosing = Lock(), Lock()
        self.means = BackgroundMeans(self.view, report)
        self.means.of(FINAL)

    def maps(self) -> dict[str, tuple[str, MapCheckpoint | None]]:
        """The maps there are now, by name: what the page calls them, and their checkpoints."""
        checkpoints = self.folder.checkpoints()
        seeds = len({checkpoint.seed for checkpoint in checkpoints}) > 1
        checkpoint_maps = {c.name: (_label(c, seeds), c) for c in checkpoints}
        chosen_seed = self.folder.config.get("chosen")
        unmapped = {BEFORE: ("before mapping", None)} if self.spaces[0].dim == self.spaces[1].dim else {}
        return {
            FINAL: (f"final (seed {chosen_seed})" if seeds and chosen_seed is not None else "final", None),
            **checkpoint_maps,
            **unmapped,
        }

    def view(self, name: str) -> View:
        """Both languages under a map; UsageError if there is none of this name."""
        with self._viewing:
            if name not in self._views:
                maps = self.maps()
                if name not in maps:
                    raise UsageError(f"There is no map {name!r} in {self.folder.path}.{did_you_mean(name, maps)}")
                match name:
                    case "final":
                        word_map = self.final
                    case "before":
                        word_map = WordMap(SideMap(), SideMap())
                    case _:
                        word_map = self.folder.map(maps[name][1])
                self._views[name] = view_of(self.spaces, word_map)
            return self._views[name]

    def page(self) -> bytes:
        """The page, as HTML."""
        return self._page

    def status(self) -> dict[str, Any]:
        """The maps, and for which of them CSLS is ready."""
        maps = self.maps()
        states = {name: self.means.state(name) for name in maps}
        return {
            "maps": [{"name": name, "label": label} for name, (label, _) in maps.items()],
            "csls": {name: {"state": s.state, "share": s.share, "error": s.error} for name, s in states.items()},
        }

    def translate(self, request: WordRequest) -> dict[str, Any]:
        """What is known about a word; for an unknown one, about the same word in another case, or suggestions."""
        word = _checked(request.word)
        view = self.view(request.map)
        means = self.means.of(request.map)
        sides, known_word = look_up(view, means, word), word
        if not sides and (variant := same_but_case(self.spaces, self._spellings, word)) is not None:
            sides, known_word = look_up(view, means, variant), variant
        return {
            "typed": readable(word),
            "word": known_word,
            "instead": known_word != word,
            "map": request.map,
            "csls": self.means.state(request.map).state,
            "sides": sides,
            "suggestions": [] if sides else suggestions(self.spaces, self._spellings, word),
        }

    def picture(self, request: PictureRequest) -> dict[str, Any]:
        """Translation pairs of the final map in two dimensions, before mapping and under a map."""
        rows, maps = self._pairs(), self.maps()
        return {
            "words": words_of(*self.spaces, rows),
            "before": points(self.view(BEFORE), rows) if BEFORE in maps else None,
            "after": points(self.view(request.map), rows) if request.map != BEFORE else None,
        }

    @cached_property
    def names(self) -> tuple[str, str]:
        """What the page calls the two languages: the names of their files, or their paths if these are alike."""
        source_path, target_path = (str(self.folder.config[side]["path"]) for side in ("source", "target"))
        file_names = Path(source_path).name, Path(target_path).name
        return file_names if file_names[0] != file_names[1] else (source_path, target_path)

    @cached_property
    def _page(self) -> bytes:
        config = self.folder.config
        facts = [f"{len(space):,} words of {name}" for space, name in zip(self.spaces, self.names, strict=True)]
        facts += [config["method"]] if isinstance(config.get("method"), str) else []
        styles = sibling_file("sentprobe.report.page", "page.css") + sibling_file(__package__, "words.css")
        scripts = [
            sibling_file("sentprobe.report.page", "scripts/start.js"),
            sibling_file("sentprobe.serve", "client.js"),
            *(sibling_file(__package__, name) for name in ("words.js", "picture.js")),
        ]
        page = (
            environment(())
            .from_string(sibling_file(__package__, "words.html"))
            .render(
                policy=page_policy(styles, scripts, served=True),
                version=__version__,
                names=self.names,
                styles=raw(styles),
                scripts=[raw(script) for script in scripts],
                facts=facts,
                folder=str(self.folder.path),
                example=example_word(self.spaces[0].words),
                max_length=MAX_WORD_LENGTH,
                data=raw(script_json({"names": self.names})),
            )
        )
        return page.encode(errors="backslashreplace")

    @cached_property
    def _spellings(self) -> tuple[Spellings, Spellings]:
        return Spellings(self.spaces[0].words), Spellings(self.spaces[1].words)

    def _pairs(self) -> Rows:
        with self._choosing:
            return self._chosen_pairs

    @cached_property
    def _chosen_pairs(self) -> Rows:
        return choose_pairs(*self.spaces, self.final)


def _label(checkpoint: MapCheckpoint, seeds: bool) -> str:
    match checkpoint:
        case MapCheckpoint(stage="refine", number=0):
            label = "before refinement"
        case MapCheckpoint(stage="refine"):
            label = f"refinement {checkpoint.number}"
        case _:
            label = f"{checkpoint.stage} {checkpoint.number}"
    return f"seed {checkpoint.seed}, {label}" if seeds else label


def example_word(words: Sequence[str]) -> str:
    """A word for the field of the page: not among the most frequent, and not short."""
    return next((word for word in words[EXAMPLE_RANK:] if len(word) > 3 and is_word(word)), words[0])


def _checked(word: str) -> str:
    """The word, with white space normalised; UsageError if it is invalid."""
    normalised = " ".join(word.split())
    if not normalised:
        raise UsageError("Type a word.")
    if len(normalised) > MAX_WORD_LENGTH:
        raise UsageError(f"The word has {len(normalised):,} characters; at most {MAX_WORD_LENGTH} are allowed.")
    if normalised.encode(errors="replace").decode() != normalised:
        raise UsageError("The word contains a lone surrogate; expected text.")
    return normalised


def _decode(body: bytes, kind: type[AnyRequest], example: str) -> AnyRequest:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise UsageError(f"Invalid request: {e}. Expected JSON such as {example}.") from e
