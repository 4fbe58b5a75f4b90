"""What a translation model learns from, and what it is scored on: texts and pairs of sentences, by their languages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.errors import UsageError
from sentprobe.lab.training.digests import describe_sources
from sentprobe.lab.training.lm.corpora import NO_LIMIT, LanguageTexts, all_languages, by_languages, note_counts
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.reading import DEV, TRAIN

LanguagePair = tuple[str, str]
"""Two languages: from the first to the second."""


@dataclass(frozen=True, eq=False)
class TranslationData:
    """Texts and pairs."""

    texts: tuple[LanguageTexts, ...]
    """In one language each."""
    pairs: tuple[LanguageTexts, ...]
    scored: tuple[LanguageTexts, ...]
    """Pairs to score on, of languages of which there are no pairs to train on."""
    directions: tuple[LanguagePair, ...]
    """That are trained."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Every language once."""
        return all_languages((*self.texts, *self.pairs))

    @property
    def trained(self) -> tuple[LanguageTexts, ...]:
        """All that is trained on."""
        return (*self.texts, *self.pairs)


def find_sources(plan: TrainingPlan) -> TranslationData:
    """What a request names; UsageError if it does not fit together."""
    train, dev = by_languages(plan.request.train, "--train"), by_languages(plan.request.dev, "--dev")
    if monolingual_dev := [names[0] for names in dev if len(names) == 1]:
        raise UsageError(f"--dev {monolingual_dev[0]}=…: translation is scored on pairs; expected --dev en-fr=FILE,FILE.")
    trained = [_texts(plan, names, files, dev.pop(names, [])) for names, files in train.items()]
    texts = tuple(text for text in trained if len(text.languages) == 1)
    pairs = tuple(text for text in trained if len(text.languages) == 2)
    languages = all_languages(trained)
    scored = tuple(_texts(plan, names, files, [], scored=True) for names, files in dev.items())
    for text in scored:
        if unknown := [language for language in text.languages if language not in languages]:
            raise UsageError(f"--dev {text.name}: there is nothing to train on in {unknown[0]}.")
    if not scored and not any(text.has_dev for text in pairs):
        hint = " or hold out pairs with --held-out N" if pairs else " with pairs of sentences"
        raise UsageError(f"There is no dev data: name it with --dev en-fr=FILE,FILE{',' * bool(pairs)}{hint}.")
    if len(texts) == 1 and not pairs:
        raise UsageError(
            f"There is a text in {texts[0].name} only: add one in another language, or pairs with --pairs en-fr=A,B."
        )
    directions = _directions(str(plan.settings["directions"]), texts, pairs)
    trained_directions = ", ".join("-".join(direction) for direction in directions)
    for option, group in (("--pairs", pairs), ("--dev", scored)):
        for text in group:
            a, b = text.languages
            if not {(a, b), (b, a)} & set(directions):
                raise UsageError(f"{option} {text.name}=…: what is trained is {trained_directions}; leave these pairs out.")
    return TranslationData(texts, pairs, scored, directions)


def _texts(plan: TrainingPlan, languages: tuple[str, ...], files: list[str], dev: list[str], *, scored: bool = False) -> LanguageTexts:
    pairs = len(languages) > 1
    request = replace(
        plan.request,
        train=tuple(files),
        dev=tuple(dev),
        held_out=plan.request.held_out if pairs and not scored and not plan.request.dev else 0,
        max_length=plan.request.max_length if pairs else NO_LIMIT,
    )
    name = "-".join(languages) + "-scored" * scored
    return LanguageTexts(languages, TrainingPlan(request, plan.folder / name, frozenset() if scored else plan.withheld))


def _directions(requested: str, texts: tuple[LanguageTexts, ...], pairs: tuple[LanguageTexts, ...]) -> tuple[LanguagePair, ...]:
    """The directions that are trained; back-translation needs both of two languages."""
    of_pairs = [(text.languages[0], text.languages[1]) for text in pairs]
    names = [text.name for text in texts]
    language_pairs = of_pairs or [(a, b) for number, a in enumerate(names) for b in names[number + 1 :]]
    possible = [direction for a, b in language_pairs for direction in ((a, b), (b, a))]
    if requested == "both":
        directions = possible
    else:
        directions = [(a, b) for a, _, b in (name.partition("-") for name in requested.split(","))]
        if bad := [direction for direction in directions if direction not in possible]:
            have = ", ".join("-".join(direction) for direction in possible)
            raise UsageError(
                f"directions={requested}: there is nothing to learn {'-'.join(bad[0])} from; expected {have}."
            )
    for text in texts:
        around = [direction for direction in directions if text.name in direction]
        if not around:
            raise UsageError(f"--text {text.name}=…: there are no pairs in {text.name} to learn its translation from.")
        if missing := [(b, a) for a, b in around if (b, a) not in directions]:
            raise UsageError(
                f"--text {text.name}=…: back-translation needs both directions, and directions={requested} does not have "
                f"{'-'.join(missing[0])}. Leave one of them out."
            )
    return tuple(dict.fromkeys(directions))


def dev_keys(sources: TranslationData) -> frozenset[int]:
    """The near-duplicate keys of all dev texts, whatever their language: none of them is trained on."""
    rows = [(text, DEV) for text in sources.pairs if text.has_dev] + [(text, TRAIN) for text in sources.scored]
    keys = {near_duplicate_key(text) for text, role in rows for row in text.rows(role) for text in row}
    return frozenset(keys - {near_duplicate_key("")})


def note_sources(plan: TrainingPlan, sources: TranslationData) -> None:
    """Note in the plan what became of all rows, and what files were read."""
    note_counts(plan, sources.trained)
    total: Counter[str] = Counter(plan.counts.get(DEV, {}))
    for text in sources.scored:
        plan.counts[f"{DEV} {text.name}"] = text.plan.counts[TRAIN]
        plan.others[f"{DEV} {text.name}"] = describe_sources(text.plan.files(TRAIN))
        total += text.plan.counts[TRAIN]
    plan.counts[DEV] = total
