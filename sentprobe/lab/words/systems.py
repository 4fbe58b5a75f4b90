"""Systems: two sides in one space, from an alignment, from two files of word vectors, or from one.

FOLDER                      what `sentprobe align` wrote: the map that it chose
FOLDER?epoch=3              the map after an epoch of the chosen seed; likewise round=3, refine=1
FOLDER?seed=2&epoch=3       … of another seed; without an epoch, the map that it ended with
FOLDER?epoch=all            every map of the chosen seed, one system each
A.vec,B.vec                 two spaces as they are: both are in one space already, or not aligned at all
A.vec                       one space, of one language, or with one vocabulary for two

Systems of sentence encoders are those of ``sentence_encoders``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.hashing import digest
from sentprobe.encoders.diagnosis import check_encoders
from sentprobe.encoders.store import Store
from sentprobe.errors import UsageError
from sentprobe.lab.alignment.folder import CONFIG, AlignmentFolder, MapCheckpoint, open_alignment
from sentprobe.lab.alignment.maps import MappedRows, SideMap, WordMap
from sentprobe.lab.alignment.retrieval import CslsIndex, Neighbours, Scoring, nearest, penalty_of
from sentprobe.lab.alignment.space import Matrix, Rows, Space, read_space
from sentprobe.lab.words.sentence_encoders import EncoderPair, encoder_names, load_encoders

STAGES = ("epoch", "round", "refine")
"""What a map along the way is named by."""
ALL = "all"


@dataclass(frozen=True, eq=False)
class MappedSpace:
    """The words of one side, and how they get to the common space."""

    space: Space
    map: SideMap
    shared: frozenset[str] | None = None
    """The words that count as known; None: all of the space."""

    def row(self, word: str) -> int | None:
        """The row of a word, as it is or else in lower case; None if it is not known."""
        for form in (word, word.lower()):
            if form in self.space.index and (self.shared is None or form in self.shared):
                return self.space.index[form]
        return None

    @cached_property
    def unit(self) -> MappedRows:
        """All words in the common space, with vectors of length one."""
        return MappedRows(self.space.vectors, self.map)

    def vectors(self, rows: Rows) -> Matrix:
        """Some words in the common space, (n, k), with vectors as long as they are."""
        return self.map.apply(self.space.vectors[rows])


@dataclass(frozen=True, eq=False)
class SpacePair:
    """Two sides in one space."""

    name: str
    """As it was typed."""
    source: MappedSpace
    target: MappedSpace
    identity: str
    """Digests of everything that can change a score: the map and both spaces."""
    criterion: float | None = None
    """The unsupervised criterion of the map, if its alignment has recorded it."""

    @property
    def dimension(self) -> int:
        """Of the common space."""
        return self.source.unit.shape[1]

    @property
    def single(self) -> bool:
        """Whether both sides are one space."""
        return self.source.space is self.target.space

    def sides(self, flip: bool = False) -> tuple[MappedSpace, MappedSpace]:
        """Where queries come from, and where candidates do."""
        return (self.target, self.source) if flip else (self.source, self.target)

    def restricted(self, source: frozenset[str], target: frozenset[str]) -> SpacePair:
        """The same, in which only these words count as known; all are still candidates."""
        return replace(self, source=replace(self.source, shared=source), target=replace(self.target, shared=target))


class PairSearch:
    """Nearest neighbours in a pair; what CSLS and the inverted softmax need to know of all words is computed once."""

    def __init__(self, pair: SpacePair) -> None:
        self.pair = pair
        self._csls: dict[bool, CslsIndex] = {}
        self._penalties: dict[tuple[Scoring, bool], NDArray[np.float32] | None] = {}

    def nearest(self, rows: Rows, k: int, scoring: Scoring, *, flip: bool = False) -> Neighbours:
        """The k nearest words of each of these words (n,), on the other side; ``flip``: queries are of the target.

        If both sides are one space, a word is among its own neighbours.
        """
        queries, candidates = self.pair.sides(flip)
        if scoring == "csls":
            if flip not in self._csls:
                self._csls[flip] = CslsIndex(queries.unit, candidates.unit)
            return self._csls[flip].nearest(queries.unit[rows], k)
        if (scoring, flip) not in self._penalties:
            self._penalties[scoring, flip] = penalty_of(scoring, queries.unit, candidates.unit)
        return nearest(queries.unit[rows], candidates.unit, k, penalty=self._penalties[scoring, flip])


@dataclass(frozen=True)
class System:
    """A pair that can be loaded, by name."""

    name: str
    load: Callable[[], SpacePair | EncoderPair]


class SpaceCache:
    """Spaces that were read; the last two are kept, as systems that follow each other mostly share them."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._spaces: dict[tuple[str, ...], tuple[Space, ...]] = {}

    def read(self, paths: Sequence[str]) -> tuple[Space, ...]:
        """The spaces in some files."""
        return self._cached(tuple(paths), lambda: tuple(read_space(path, self.limit) for path in paths))

    def of(self, folder: AlignmentFolder) -> tuple[Space, ...]:
        """Both spaces of an alignment."""
        return self._cached((str(folder.path), CONFIG), lambda: tuple(map(self._truncated, folder.spaces())))

    def _cached(self, key: tuple[str, ...], read: Callable[[], tuple[Space, ...]]) -> tuple[Space, ...]:
        if key not in self._spaces:
            self._spaces = {}  # before the next ones are read
            self._spaces = {key: read()}
        return self._spaces[key]

    def _truncated(self, space: Space) -> Space:
        if self.limit is None or len(space) <= self.limit:
            return space
        return replace(space, words=space.words[: self.limit], vectors=space.vectors[: self.limit])


def find_systems(texts: Sequence[str], spaces: SpaceCache, store: Store | None = None) -> list[System]:
    """The systems that are named; each once. Vectors of sentence encoders are kept in the store."""
    systems = {system.name: system for text in texts for system in _systems(text, spaces, store)}
    return list(systems.values())


def _systems(text: str, spaces: SpaceCache, store: Store | None) -> Iterator[System]:
    if (names := encoder_names(text)) is not None:
        check_encoders(names.encoders)
        yield System(names.text, lambda: load_encoders(names, store))
        return
    path, mark, query = text.rpartition("?") if "?" in text and not Path(text).exists() else (text, "", "")
    if (Path(path) / CONFIG).is_file():
        yield from _of_alignment(path, query, spaces)
        return
    if mark:
        raise UsageError(f"{text}: only an alignment takes ?…, and {path} was not written by `sentprobe align`.")
    paths = [path] if Path(path).exists() else path.split(",")
    missing = [file for file in paths if not Path(file).expanduser().exists()]
    if missing or len(paths) > 2:
        what = f"there is no {missing[0]!r}" if missing else f"got {len(paths)} files"
        raise UsageError(
            f"{text}: {what}; expected a folder that `sentprobe align` wrote, two files of word vectors in one space "
            "(A.vec,B.vec), or one; or sentence encoders, such as trained:en,trained:fr."
        )
    yield System(text, lambda: _of_files(text, paths, spaces))


def _of_files(name: str, paths: Sequence[str], spaces: SpaceCache) -> SpacePair:
    file_spaces = spaces.read(paths)
    source, target = file_spaces[0], file_spaces[-1]
    if source.dim != target.dim:
        raise UsageError(
            f"{name}: the vectors have {source.dim} and {target.dim} dimensions; expected two files in one space. "
            "`sentprobe align` maps two spaces to one."
        )
    sides = MappedSpace(source, SideMap()), MappedSpace(target, SideMap())
    return SpacePair(
        name, *(sides if source is not target else (sides[0], sides[0])), identity=_identity(file_spaces, None)
    )


# Alignments


def _of_alignment(path: str, query: str, spaces: SpaceCache) -> Iterator[System]:
    folder = open_alignment(path)
    selection = _settings(path, query)
    if not selection:
        yield System(path, lambda: _aligned(path, folder, None, spaces))
        return
    seed = _number(path, "seed", selection.get("seed", str(chosen_seed(folder))))
    checkpoints = [c for c in folder.checkpoints() if c.seed == seed]
    stages = {name: value for name, value in selection.items() if name != "seed"}
    if not checkpoints and (stages or not folder.has_result(seed)):
        raise UsageError(f"{path} has no maps of seed {seed}; it has {_map_names(folder)}.")
    seed_prefix = f"seed={seed}&" if "seed" in selection else ""
    if not stages:
        yield System(f"{path}?seed={seed}", lambda: _aligned(f"{path}?seed={seed}", folder, seed, spaces))
        return
    for checkpoint in _selected(path, folder, checkpoints, stages):
        name = f"{path}?{seed_prefix}{checkpoint.stage}={checkpoint.number}"
        yield System(name, partial(_aligned, name, folder, checkpoint, spaces))


def _settings(path: str, query: str) -> dict[str, str]:
    """What follows the question mark."""
    selection: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        if name not in ("seed", *STAGES) or not value:
            raise UsageError(
                f"{path}?{query}: got {part!r}; expected seed=…, epoch=…, round=… or refine=…, or epoch=all."
            )
        selection[name] = value
    return selection


def _selected(
    path: str, folder: AlignmentFolder, checkpoints: Sequence[MapCheckpoint], stages: dict[str, str]
) -> list[MapCheckpoint]:
    if len(stages) > 1:
        raise UsageError(f"{path}: expected one of {', '.join(STAGES)}, got {' and '.join(stages)}.")
    ((stage, value),) = stages.items()
    if value == ALL:
        # of an alignment, either epochs or rounds, then refinements: all that there are
        return [c for c in checkpoints if stage != "refine" or c.stage == "refine"]
    number = _number(path, stage, value)
    selected = [c for c in checkpoints if (c.stage, c.number) == (stage, number)]
    if not selected:
        raise UsageError(f"{path} has no map {stage}={number}; it has {_map_names(folder)}.")
    return selected


def _number(path: str, name: str, value: str) -> int:
    if not value.isdecimal():
        raise UsageError(f"{path}: {name}={value}: expected a number{'' if name == 'seed' else ', or all'}.")
    return int(value)


def _map_names(folder: AlignmentFolder) -> str:
    names = [c.name for c in folder.checkpoints()]
    return ", ".join(names if len(names) <= 8 else [*names[:3], "…", *names[-3:]]) or "none"


def chosen_seed(folder: AlignmentFolder) -> int:
    """The seed whose map was chosen."""
    seed = folder.config.get("chosen", 0)
    seeds = [c.seed for c in folder.checkpoints()]
    return seed if isinstance(seed, int) and (seed in seeds or not seeds) else seeds[0]


def _aligned(
    name: str, folder: AlignmentFolder, checkpoint: MapCheckpoint | int | None, spaces: SpaceCache
) -> SpacePair:
    """The pair of a map along the way, of the map that a seed ended with, or of the one that was chosen."""
    if isinstance(checkpoint, int):
        if not folder.has_result(checkpoint):
            raise UsageError(f"{name}: seed {checkpoint} has not ended; choose one of its maps, as in &epoch=1.")
        word_map, criterion = folder.result(checkpoint), _criterion_of_seed(folder, checkpoint)
    else:
        word_map, criterion = folder.map(checkpoint), criterion_of(folder, checkpoint)
    source, target = spaces.of(folder)
    for side, space, side_map in (("source", source, word_map.source), ("target", target, word_map.target)):
        if side_map.matrix is not None and side_map.matrix.shape[0] != space.dim:
            raise UsageError(
                f"{name}: the map of the {side} takes {side_map.matrix.shape[0]} dimensions, got {space.dim}."
            )
    identity = _identity((source, target), word_map)
    return SpacePair(
        name, MappedSpace(source, word_map.source), MappedSpace(target, word_map.target), identity, criterion
    )


def criterion_of(folder: AlignmentFolder, checkpoint: MapCheckpoint | None) -> float | None:
    """The criterion of a map: that of its line in the history, or the last one of the alignment."""
    lines = [line for line in folder.history() if isinstance(line.get("criterion"), int | float)]
    if checkpoint is None:
        return _criterion_of_seed(folder, chosen_seed(folder))
    checkpoint_lines = [
        line
        for line in lines
        if (line.get("seed"), line.get("stage"), line.get("number")) == _checkpoint_key(checkpoint)
    ]
    return float(checkpoint_lines[-1]["criterion"]) if checkpoint_lines else None


def _criterion_of_seed(folder: AlignmentFolder, seed: int) -> float | None:
    """The criterion of the map that a seed ended with."""
    criteria = [facts.get("criterion") for facts in folder.config.get("seeds", ()) if facts.get("seed") == seed]
    return next((float(value) for value in criteria if isinstance(value, int | float)), None)


def _checkpoint_key(checkpoint: MapCheckpoint) -> tuple[int, str, int]:
    return checkpoint.seed, checkpoint.stage, checkpoint.number


def _identity(spaces: Sequence[Space], word_map: WordMap | None) -> str:
    """All that a score depends on, in full."""
    texts = [f"{space.digest}:{len(space)}" for space in spaces]
    return f"words spaces={','.join(texts)} map={'identity' if word_map is None else map_digest(word_map)}"


def map_digest(word_map: WordMap) -> str:
    """The digest of the steps and the numbers of a map."""
    parts = []
    for side in (word_map.source, word_map.target):
        arrays = [*side.means, *([] if side.matrix is None else [side.matrix])]
        parts.append(",".join([*side.steps, *(digest(array.astype("<f4").tobytes()) for array in arrays)]))
    return digest("|".join(parts).encode())
