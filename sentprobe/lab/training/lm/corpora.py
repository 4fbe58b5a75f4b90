"""Texts by language, and pairs of sentences by two, from ``--text en=FILE`` and ``--pairs en-fr=FILE,FILE`` to tokens.

Each language, and each pair of languages, is read by a plan of its own, so that what is withheld, held out or left out
is as everywhere else. A training text that is a near-duplicate of any dev text is left out: the same sentences are
often in a text and in pairs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.training.examples import Examples
from sentprobe.lab.training.lm.batches import TranslationPairs, Windows
from sentprobe.lab.training.lm.tokens import END, Tokens, learn_tokens, sample_texts, smoothed
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.sources import DEV, TRAIN, describe_sources

TEXT_FIELDS, PAIR_FIELDS = ("text",), ("source", "target")
LANGUAGE = re.compile(r"\w+", re.ASCII)
NO_LIMIT = 10**9
"""Words of a line of a text, which is cut anyway."""
ENCODE = 2048
"""Texts that are split into tokens together."""


@dataclass(frozen=True, eq=False)
class LanguageTexts:
    """The texts of one language, or the pairs of sentences of two."""

    languages: tuple[str, ...]
    plan: TrainingPlan
    left_out: dict[str, bytearray] = field(default_factory=dict)
    """By role, whether each row is also in dev."""

    @property
    def name(self) -> str:
        """``en``, or ``en-fr``."""
        return "-".join(self.languages)

    @property
    def has_dev(self) -> bool:
        """Whether there is dev data."""
        return bool(self.plan.request.dev or self.plan.request.held_out)

    def rows(self, role: str, excluded: frozenset[int] = frozenset()) -> Iterator[tuple[str, ...]]:
        """The text of each language, row by row, without rows that have a text with one of these keys.

        Training rows are compared with keys in the first pass over them; later ones look it up.
        """
        fields = PAIR_FIELDS if len(self.languages) > 1 else TEXT_FIELDS
        noted, flags = self.left_out.get(role), bytearray()
        for number, row in enumerate(self.plan.rows(role, fields)):
            if noted is None:
                flags.append(bool(excluded) and any(near_duplicate_key(text) in excluded for text in row.values))
            if not (flags if noted is None else noted)[number]:
                yield row.values
        row_flags = self.left_out.setdefault(role, flags)
        if left_out := sum(row_flags):
            counts = self.plan.counts[role]
            counts["also in dev"], counts["used"] = left_out, counts["used"] - left_out


def find_texts(plan: TrainingPlan) -> list[LanguageTexts]:
    """What a request names, languages first, in the order in which they were named."""
    train, dev = by_languages(plan.request.train, "--text"), by_languages(plan.request.dev, "--dev")
    for languages in dev:
        if languages not in train:
            name = "-".join(languages)
            raise UsageError(
                f"--dev {name}={dev[languages][0]} is of nothing that is trained on: expected one of "
                f"{', '.join('-'.join(pair) for pair in train)}."
            )
    texts = []
    for languages in sorted(train, key=len):
        request = replace(
            plan.request,
            train=tuple(train[languages]),
            dev=tuple(dev.get(languages, ())),
            max_length=plan.request.max_length if len(languages) > 1 else NO_LIMIT,
        )
        name = "-".join(languages)
        texts.append(LanguageTexts(languages, TrainingPlan(request, plan.folder / name, plan.withheld)))
    if not any(texts.has_dev for texts in texts):
        raise UsageError(
            "There is no dev data: name it with --dev en=FILE, or hold out rows of each text with --held-out N."
        )
    return texts


def all_languages(texts: Iterable[LanguageTexts]) -> tuple[str, ...]:
    """Every language once."""
    return tuple(dict.fromkeys(language for text in texts for language in text.languages))


def text_keys(sources: Iterable[tuple[LanguageTexts, str]]) -> frozenset[int]:
    """The near-duplicate keys of all texts of some sources in the role beside each, whatever their language."""
    keys = {near_duplicate_key(text) for texts, role in sources for row in texts.rows(role) for text in row}
    return frozenset(keys - {near_duplicate_key("")})


def note_counts(plan: TrainingPlan, texts: Sequence[LanguageTexts]) -> None:
    """Note in the plan what became of the rows of each text, and what files were read; DataError if none are left."""
    total: dict[str, Counter[str]] = {TRAIN: Counter(), DEV: Counter()}
    for language_texts in texts:
        for role, counts in language_texts.plan.counts.items():
            plan.counts[f"{role} {language_texts.name}"] = counts
            total[role] += counts
            plan.further_data[f"{role} {language_texts.name}"] = describe_sources(language_texts.plan.files(role))
            if not counts["used"]:
                raise nothing_left(language_texts.name, role, counts)
    plan.counts.update(total)


def nothing_left(name: str, role: str, counts: Counter[str]) -> DataError:
    """What is said when all rows were left out."""
    why = ", ".join(f"{n:,} {what}" for what, n in counts.items() if n)
    return DataError(f"{name}: nothing is left to {'train on' if role == TRAIN else 'score'} ({why}).")


def by_languages(sources: Sequence[str], option: str) -> dict[tuple[str, ...], list[str]]:
    """Sources by language, or pair of languages, which is written before each: ``en=FILE``, ``en-fr=FILE,FILE``."""
    sources_by_language: dict[tuple[str, ...], list[str]] = {}
    for source in sources:
        name, equals, files = source.partition("=")
        languages = tuple(name.split("-"))
        if not equals or not all(map(LANGUAGE.fullmatch, languages)) or len(languages) > 2:
            raise UsageError(
                f"{option} {source}: expected a language and its text, such as en=FILE, or two and their pairs, such "
                "as en-fr=FILE,FILE."
            )
        if not files:
            raise UsageError(f"{option} {source}: there is no text of {name}; expected {name}=FILE.")
        if len(set(languages)) < len(languages):
            raise UsageError(f"{option} {source}: expected two different languages.")
        if languages[::-1] in sources_by_language and len(languages) > 1:
            before = "-".join(languages[::-1])
            raise UsageError(f"{option} {source}: name these languages in the same order as before, {before}.")
        sources_by_language.setdefault(languages, []).append(files)
    return sources_by_language


@dataclass(frozen=True, eq=False)
class LanguageExamples:
    """The examples of one language, or of one pair of languages."""

    name: str
    train: Windows | TranslationPairs
    dev: Windows | TranslationPairs | None
    sentences: int
    """Of training."""
    dev_words: int
    """Words of the dev text, as they are between spaces, and one more for the end of each sentence: what its tokens
    after the first spell, whatever the codes."""


def learn_codes(plan: TrainingPlan, texts: list[LanguageTexts], dev_keys: frozenset[int]) -> Tokens:
    """Codes of sentences that are sampled from all languages."""
    rows = {text.name: sum(1 for _ in text.rows(TRAIN, dev_keys)) for text in texts}
    if small := [name for name, count in rows.items() if count < 2]:
        raise DataError(
            f"{small[0]} has {rows[small[0]]} sentence{'s' * (rows[small[0]] != 1)} to train on; expected a text of "
            "many lines, one sentence in each."
        )
    sides = [(text, column) for text in texts for column in range(len(text.languages))]
    counts: Counter[str] = Counter()
    for text, column in sides:
        counts[text.languages[column]] += rows[text.name]
    chances = smoothed(counts, float(plan.settings["code_alpha"]))

    def sentences(text: LanguageTexts, column: int) -> tuple[Iterator[str], float]:
        language = text.languages[column]
        repeats = chances[language] * counts.total() / counts[language]
        return (row[column] for row in text.rows(TRAIN, dev_keys)), repeats

    sampled = sample_texts([sentences(text, column) for text, column in sides], plan.request.options.seed)
    return learn_tokens(sampled, int(plan.settings["codes"]))


def read_examples(
    plan: TrainingPlan, texts: LanguageTexts, tokens: Tokens, dev_keys: frozenset[int], languages: tuple[str, ...]
) -> LanguageExamples:
    """Write the tokens of a text, or of pairs, to files; languages are numbered as they are listed."""
    length = int(plan.settings["length"])
    numbers = tuple(map(languages.index, texts.languages))

    def read(role: str) -> tuple[Windows | TranslationPairs, int, int]:
        excluded = dev_keys if role == TRAIN else frozenset()
        examples, words = _write(plan, texts, role, tokens, excluded, length)
        if len(numbers) == 1:
            return Windows(examples.sequences["text"].values, numbers[0], length), len(examples) - 1, words
        columns = examples.sequences
        return TranslationPairs(columns["source"], columns["target"], (numbers[0], numbers[1])), len(examples), words

    train, sentences, _ = read(TRAIN)
    dev, _, words = read(DEV) if texts.has_dev else (None, 0, 0)
    return LanguageExamples(texts.name, train, dev, sentences, words)


def _write(
    plan: TrainingPlan, texts: LanguageTexts, role: str, tokens: Tokens, excluded: frozenset[int], length: int
) -> tuple[Examples, int]:
    """The tokens of all rows, and, of a text, how many words and ends of sentences these are."""
    monolingual = len(texts.languages) == 1
    words = long = 0
    with texts.plan.writer(role, ("text",) if monolingual else ("source", "target")) as out:
        if monolingual:
            out.add(([END],))
        rows = texts.rows(role, excluded)
        while batch := list(islice(rows, ENCODE)):
            for index, row in enumerate(zip(*(tokens.encode(side) for side in zip(*batch, strict=True)), strict=True)):
                if monolingual:
                    out.add(([*row[0], END],))
                    words += len(batch[index][0].split()) + 1  # its end is predicted, too
                elif max(map(len, row)) > length:
                    long += 1
                else:
                    out.add(row)
        if long:
            counts = texts.plan.counts[role]
            counts["too many tokens"], counts["used"] = long, counts["used"] - long
        return out.finish(), words


def token_counts(part: LanguageExamples, tokens: int) -> NDArray[np.int64]:
    """How often each token occurs in training (tokens,)."""
    train = part.train
    sides = [train.tokens] if isinstance(train, Windows) else [train.first.values, train.second.values]
    return sum((np.bincount(values, minlength=tokens) for values in sides), np.zeros(tokens, np.int64))


def longest_sentence(part: LanguageExamples) -> int:
    """Positions that are needed."""
    pairs = [examples for examples in (part.train, part.dev) if isinstance(examples, TranslationPairs)]
    return max(
        (int(side.lengths.max(initial=0)) + 2 for examples in pairs for side in (examples.first, examples.second)),
        default=0,
    )
