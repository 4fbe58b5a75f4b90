"""What an evaluation of word spaces is: what it reads, what it asks of a system, and how answers are scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sentprobe.core.arguments import check_options
from sentprobe.core.hashing import digest
from sentprobe.core.plugins import part_repr
from sentprobe.lab.alignment.retrieval import Scoring
from sentprobe.lab.words.sentence_encoders import EncoderPair
from sentprobe.lab.words.systems import PairSearch, SpacePair
from sentprobe.results.verify import Arrays
from sentprobe.tasks import Example


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """What is to be evaluated on, as it was typed."""

    evaluation: str
    """The name of the evaluation."""
    files: tuple[str, ...] = ()
    reverse: bool = False
    """Whether the two columns, or the two files, change places."""
    languages: tuple[str, str] | None = None
    """Of the two columns, or files; None: from the names of files."""
    idf: tuple[str, ...] = ()
    """Files for inverse document frequencies, one per side."""
    pos: str | None = None
    """A file of words and their parts of speech."""
    identical: int = 0
    """How many words that both spaces have are sampled as a dictionary; 0: a file is read."""
    weights: str = "muse"
    """How words are weighted in the mean that is a sentence's vector: muse, smooth or equal."""
    unit: bool = False
    """Whether vectors of words get length one before that mean is taken."""
    tokenise: tuple[str, ...] = ()
    """Tokenisers of sentences, one for both files or one for each; none: words without punctuation."""
    center: bool = False
    """Whether the mean of the sentences of each language is subtracted from them."""
    queries: int = 2000
    """Queries of sentence retrieval, at most."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_options(0, identical=self.identical)
        check_options(1, queries=self.queries)


@dataclass(frozen=True, eq=False)
class Queries:
    """The queries to a system: test rows, and whatever the evaluation needs to score its answers."""

    rows: Sequence[Example]
    """The source word or sentence is the text, and what is right the label."""
    content: Any
    facts: Mapping[str, float] = field(default_factory=dict)
    """What was left out, and how much is known; part of the result."""
    inputs_key: str = ""
    """Whatever else can change a score or a fact, besides the rows and the system: all that was read, mostly."""


def content_digest(*parts: object) -> str:
    """The digest of what was read: texts and numbers, in lists and tuples."""
    return digest(repr(parts).encode())


@dataclass(frozen=True, eq=False, kw_only=True)
class EvaluationScores:
    """How well a system answers the queries."""

    score: float
    interval: tuple[float, float]
    interval_kind: str
    scores: Mapping[str, float] = field(default_factory=dict)
    arrays: Arrays
    """By row, to be saved."""
    baselines: Mapping[str, float] = field(default_factory=dict)
    """What a random answer gets, say."""


@dataclass(frozen=True)
class EncoderEvaluation:
    """What an evaluation asks of sentence encoders."""

    find_queries: Callable[[Any, EncoderPair, EvaluationRequest], Queries]
    score: Callable[[Queries, EncoderPair, Scoring], EvaluationScores]


class DetailNumber(NamedTuple):
    """A further number of a result: its name there, the heading of its column, and how it is printed."""

    key: str
    heading: str
    scale: float = 100
    digits: int = 1


@dataclass(frozen=True, kw_only=True)
class WordEvaluation:
    """A way to evaluate spaces of words.

    Parameters
    ----------
    name
        What users type, and the first part of the names of its sets.
    summary
        One line.
    task
        The name of the task in results.
    metric
        The name of the metric of its scores.
    question
        What is asked about each row.
    version
        Of the task: what it asks, and how answers are scored. Results of another version are computed again.
    files
        How many files it reads: one, or two that are aligned line by line.
    read
        Read the files; a DataError names the file and the line.
    find_queries
        The queries whose words a pair knows; TooFewError if there are none.
    score
        Scores what a pair finds for the queries.
    score_copy
        The baseline that leaves words as they are; None if there is none.
    retrieves
        Whether the score depends on how neighbours are scored.
    encoders
        How sentence encoders are evaluated; None: they are not.
    directed
        Whether the score depends on which language is the source.
    flag
        The option of `sentprobe words` that names its files; none: `--evaluate NAME=FILE`.
    options
        The fields of a request that it reads and others do not: pos, idf, weights, unit, tokenise, center.
    set_note
        How a set is scored, as the legend of a table says it.
    table_title
        Of the table of what the score is made of.
    heading
        Of the score in this table; empty: the title of the metric.
    numbers
        The further numbers of this table.
    order
        Its place in lists.

    Examples
    --------
    >>> from sentprobe.lab.words import WORD_EVALUATIONS
    >>> WORD_EVALUATIONS.get("translation"), WORD_EVALUATIONS.get("translation").metric
    (WordEvaluation('translation'), 'precision@1')
    """

    name: str
    summary: str
    task: str
    metric: str
    question: str
    version: int = 1
    files: int
    read: Callable[[EvaluationRequest], Any]
    find_queries: Callable[[Any, SpacePair, EvaluationRequest], Queries]
    score: Callable[[Queries, PairSearch, Scoring], EvaluationScores]
    score_copy: Callable[[Queries], EvaluationScores | None] = lambda queries: None
    retrieves: bool = True
    encoders: EncoderEvaluation | None = None
    directed: bool = True
    flag: str = ""
    options: tuple[str, ...] = ()
    set_note: str = ""
    table_title: str = ""
    heading: str = ""
    numbers: tuple[DetailNumber, ...] = ()
    order: int = 0

    __repr__ = part_repr
