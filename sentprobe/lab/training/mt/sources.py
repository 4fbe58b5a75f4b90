"""What a translation model learns from, and what it is scored on: texts and pairs of sentences, by their languages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.errors import UsageError
from sentprobe.lab.training.digests import describe_sources
from sentprobe.lab.training.lm.corpora import NO_LIMIT, Texts, all_languages, by_languages, note_counts
from sentprobe.lab.training.plan import Plan
from sentprobe.lab.training.reading import DEV, TRAIN

Pair = tuple[str, str]
"""Two languages: from the first to the second."""


@dataclass(frozen=True, eq=False)
class Sources:
    """Texts and pairs."""

    texts: tuple[Texts, ...]
    """In one language each."""
    pairs: tuple[Texts, ...]
    scored: tuple[Texts, ...]
    """Pairs to score on, of languages of which there are no pairs to train on."""
    directions: tuple[Pair, ...]
    """That are trained."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Every language once."""
        return all_languages((*self.texts, *self.pairs))

    @property
    def trained(self) -> tuple[Texts, ...]:
        """All that is trained on."""
        return (*self.texts, *self.pairs)


def find_sources(plan: Plan) -> Sources:
    """What a request names; UsageError if it does not fit together."""
    train, dev = by_languages(plan.request.train, "--train"), by_languages(plan.request.dev, "--dev")
    if alone := [languages[0] for languages in dev if len(languages) == 1]:
        raise UsageError(f"--dev {alone[0]}=…: translation is scored on pairs; expected --dev en-fr=FILE,FILE.")
    found = [_texts(plan, languages, files, dev.pop(languages, [])) for languages, files in train.items()]
    texts = tuple(one for one in found if len(one.languages) == 1)
    pairs = tuple(one for one in found if len(one.languages) == 2)
    known = all_languages(found)
    scored = tuple(_texts(plan, languages, files, [], scored=True) for languages, files in dev.items())
    for one in scored:
        if unknown := [language for language in one.languages if language not in known]:
            raise UsageError(f"--dev {one.name}: there is nothing to train on in {unknown[0]}.")
    if not scored and not any(one.has_dev for one in pairs):
        hint = " or hold out pairs with --held-out N" if pairs else " with pairs of sentences"
        raise UsageError(f"There is no dev data: name it with --dev en-fr=FILE,FILE{',' * bool(pairs)}{hint}.")
    if len(texts) == 1 and not pairs:
        raise UsageError(
            f"There is a text in {texts[0].name} only: add one in another language, or pairs with --pairs en-fr=A,B."
        )
    directions = _directions(str(plan.settings["directions"]), texts, pairs)
    trained = ", ".join("-".join(way) for way in directions)
    for option, every in (("--pairs", pairs), ("--dev", scored)):
        for one in every:
            a, b = one.languages
            if not {(a, b), (b, a)} & set(directions):
                raise UsageError(f"{option} {one.name}=…: what is trained is {trained}; leave these pairs out.")
    return Sources(texts, pairs, scored, directions)


def _texts(plan: Plan, languages: tuple[str, ...], files: list[str], dev: list[str], *, scored: bool = False) -> Texts:
    pairs = len(languages) > 1
    own = replace(
        plan.request,
        train=tuple(files),
        dev=tuple(dev),
        held_out=plan.request.held_out if pairs and not scored and not plan.request.dev else 0,
        max_length=plan.request.max_length if pairs else NO_LIMIT,
    )
    name = "-".join(languages) + "-scored" * scored
    return Texts(languages, Plan(own, plan.folder / name, frozenset() if scored else plan.withheld))


def _directions(wanted: str, texts: tuple[Texts, ...], pairs: tuple[Texts, ...]) -> tuple[Pair, ...]:
    """The directions that are trained; back-translation needs both of two languages."""
    of_pairs = [(one.languages[0], one.languages[1]) for one in pairs]
    names = [one.name for one in texts]
    known = of_pairs or [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    every = [way for a, b in known for way in ((a, b), (b, a))]
    if wanted == "both":
        found = every
    else:
        found = [(a, b) for a, _, b in (name.partition("-") for name in wanted.split(","))]
        if bad := [way for way in found if way not in every]:
            have = ", ".join("-".join(way) for way in every)
            raise UsageError(
                f"directions={wanted}: there is nothing to learn {'-'.join(bad[0])} from; expected {have}."
            )
    for one in texts:
        around = [way for way in found if one.name in way]
        if not around:
            raise UsageError(f"--text {one.name}=…: there are no pairs in {one.name} to learn its translation from.")
        if missing := [(b, a) for a, b in around if (b, a) not in found]:
            raise UsageError(
                f"--text {one.name}=…: back-translation needs both directions, and directions={wanted} does not have "
                f"{'-'.join(missing[0])}. Leave one of them out."
            )
    return tuple(dict.fromkeys(found))


def dev_keys(sources: Sources) -> frozenset[int]:
    """The near-duplicate keys of all dev texts, whatever their language: none of them is trained on."""
    rows = [(one, DEV) for one in sources.pairs if one.has_dev] + [(one, TRAIN) for one in sources.scored]
    keys = {near_duplicate_key(text) for one, role in rows for row in one.rows(role) for text in row}
    return frozenset(keys - {near_duplicate_key("")})


def note_sources(plan: Plan, sources: Sources) -> None:
    """Note in the plan what became of all rows, and what files were read."""
    note_counts(plan, sources.trained)
    total: Counter[str] = Counter(plan.counts.get(DEV, {}))
    for one in sources.scored:
        plan.counts[f"{DEV} {one.name}"] = one.plan.counts[TRAIN]
        plan.others[f"{DEV} {one.name}"] = describe_sources(one.plan.files(TRAIN))
        total += one.plan.counts[TRAIN]
    plan.counts[DEV] = total
