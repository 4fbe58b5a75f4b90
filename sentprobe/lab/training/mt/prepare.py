"""From texts and pairs in several languages to a translation model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch

from sentprobe.core.arguments import Setting
from sentprobe.errors import UsageError
from sentprobe.lab.networks.architecture import NetworkConfig
from sentprobe.lab.networks.vocabulary import Vocabulary
from sentprobe.lab.networks.xlm import Sizes
from sentprobe.lab.training.bleu import SETTING as BLEU_SETTING
from sentprobe.lab.training.inputs import Inputs
from sentprobe.lab.training.lm.corpora import Texts
from sentprobe.lab.training.lm.model import ARCHITECTURE, model_sizes, transformers_config
from sentprobe.lab.training.lm.parts import learn_codes
from sentprobe.lab.training.lm.prepare import OPTIMISERS as LM_OPTIMISERS
from sentprobe.lab.training.lm.prepare import SETTINGS as LM_SETTINGS
from sentprobe.lab.training.lm.tokens import Tokens
from sentprobe.lab.training.mt import start
from sentprobe.lab.training.mt.examples import Direction, Sentences, back_batch, noisy_batch, read_sentences
from sentprobe.lab.training.mt.model import TranslationModel
from sentprobe.lab.training.mt.noise import Noise
from sentprobe.lab.training.mt.scores import BLEU, PERPLEXITY, score
from sentprobe.lab.training.mt.sources import Sources, dev_keys, find_sources, note_sources
from sentprobe.lab.training.objective import Prepared
from sentprobe.lab.training.plan import Plan
from sentprobe.lab.training.reading import DEV, TRAIN
from sentprobe.lab.training.seq2seq import DECODED, bleu_facts
from sentprobe.lab.training.streams import Stream

SETTINGS = {
    **start.SETTINGS,
    "directions": Setting("both", "both, or those to be trained, comma-separated: en-fr"),
    "codes": LM_SETTINGS["codes"],
    "code_alpha": LM_SETTINGS["code_alpha"],
    "length": Setting(100, "tokens of a sentence of training; longer ones are left out"),
    "tokens": Setting(2048, "the most tokens of a batch, on each side"),
    "steps": Setting(0, "steps of an epoch; 0: as many as one pass over the pairs, or texts, has", low=0),
    "denoising": Setting(
        "", "its weight after numbers of steps; by default 0:1,100000:0.1,300000:0 without pairs, and 0:0 with pairs"
    ),
    "moves": Setting(Noise.moves, "places that a word moves at most in noise", low=0),
    "drop": Setting(Noise.drop, "share of words that noise leaves out", low=0, high=1),
    "blank": Setting(Noise.blank, "share of words that noise blanks", low=0, high=1),
    "select": Setting(BLEU, "what selects the best checkpoint on dev", (BLEU, PERPLEXITY)),
    **DECODED,
    "bleu": BLEU_SETTING,
}
OPTIMISERS = {"adam": {**LM_OPTIMISERS["adam"], "batch": 256}}
FALLING = "0:1,100000:0.1,300000:0"
"""The weight of denoising in XLM."""


def prepare(plan: Plan) -> Prepared:
    """Read the texts, learn the codes or take those of the start, and build the model."""
    request, settings = plan.request, plan.settings
    _check(plan)
    sources = find_sources(plan)
    schedule = denoising_schedule(str(settings["denoising"]) or ("0:0" if sources.pairs else FALLING))
    starts = start.Starts.of(settings)
    given = start.start_tokens(starts, sources.languages, request.encoder_settings)
    held = dev_keys(sources)
    tokens, languages = given or (learn_codes(plan, list(sources.trained), held), sources.languages)
    train, dev = _read(plan, sources, tokens, languages, held)
    note_sources(plan, sources)
    sizes = _sizes(plan, starts, sources, len(tokens), len(languages))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(request.options.seed)
        model = TranslationModel(sizes, schedule)
    begun = start.load_starts(model, starts, tokens)
    start.note_starts(plan, starts)
    noise = Noise(int(settings["moves"]), float(settings["drop"]), float(settings["blank"]))
    config = NetworkConfig(
        ARCHITECTURE, dict(request.encoder_settings), len(tokens), sizes.hidden, frozen=False, tokenise=tokens.tokenise,
        case="as-is", unknown="keep", seed=request.options.seed,
    )  # fmt: skip
    facts = {
        "languages": list(languages),
        "directions": ["-".join(way) for way in sources.directions],
        "tokens": len(tokens),
        **begun,
        **bleu_facts(settings),
    }
    return Prepared(
        model,
        tuple(_streams(plan, sources, train, tokens, noise, denoises=any(weight for _, weight in schedule))),
        lambda: score(model, dev, tokens, settings, request.options.seed),
        str(settings["select"]),
        Inputs(Vocabulary(tokens.strings(), tokens.tokenise, "as-is", "keep"), config, None, facts),
        maximise=settings["select"] == BLEU,
        files=tokens.files(sizes.positions),
        transformers={**transformers_config(sizes, languages, causal=False), "architectures": ["XLMModel"]},
    )


def denoising_schedule(text: str) -> tuple[tuple[int, float], ...]:
    """Steps and weights: ``0:1,1000:0.1`` begins with 1, and falls to 0.1 until step 1000."""
    try:
        found = tuple((int(step), float(weight)) for step, weight in (one.split(":") for one in text.split(",")))
    except ValueError:
        found = ()
    steps = [step for step, _ in found]
    if not found or steps[0] < 0 or steps != sorted(set(steps)) or not all(0 <= weight < 1e9 for _, weight in found):
        raise UsageError(f"denoising={text}: expected rising steps and their weights, such as {FALLING}.")
    return found


def _check(plan: Plan) -> None:
    """Refuse what translation does not have."""
    request = plan.request
    if request.encoder != ARCHITECTURE:
        raise UsageError(
            f"mt trains a Transformer: leave --encoder {request.encoder} out. `sentprobe train translate` trains "
            "sentence encoders of all kinds by translation."
        )
    if request.vectors:
        raise UsageError(
            f"--vectors {request.vectors}: cross-lingual word vectors are named by --from vec:A.vec,B.vec."
        )
    if not request.train:
        raise UsageError("Name pairs with their languages: --pairs en-fr=FILE,FILE; or texts: --text en=FILE.")


def _read(
    plan: Plan, sources: Sources, tokens: Tokens, languages: tuple[str, ...], held: frozenset[int]
) -> tuple[dict[str, list[Sentences]], dict[str, Direction]]:
    """The sentences of each text and pair to train on, and the directions to score on, by their names."""
    # to leave long sentences out of dev would flatter the scores: they are as long as the network can read
    longest, readable = int(plan.settings["length"]), int(plan.request.encoder_settings["positions"]) - 2

    def sentences(one: Texts, role: str, most: int, but: frozenset[int] = frozenset()) -> list[Sentences]:
        return read_sentences(one, role, tokens, [languages.index(name) for name in one.languages], most, but)

    train = {one.name: sentences(one, TRAIN, longest, held) for one in sources.trained}
    scored = [(one, DEV) for one in sources.pairs if one.has_dev] + [(one, TRAIN) for one in sources.scored]
    dev = {}
    for one, role in scored:
        first, second = sentences(one, role, readable)
        a, b = one.languages
        ways = {(a, b): Direction(first, second), (b, a): Direction(second, first)}
        dev.update({"-".join(way): found for way, found in ways.items() if way in sources.directions})
    return train, dev


def _sizes(plan: Plan, starts: start.Starts, sources: Sources, tokens: int, languages: int) -> Sizes:
    sizes = model_sizes(plan.request.encoder_settings, tokens, languages)
    folders = starts.folders
    if folders and not folders[0].has_language_vectors:
        sizes = replace(sizes, languages=0)
        if len({target for _, target in sources.directions}) > 1:
            raise UsageError(
                f"{folders[0].folder.path} has no vectors of languages, so that it cannot tell which to write: set "
                "one of the directions."
            )
    longest = int(plan.settings["length"]) + 2
    if longest > sizes.positions:
        raise UsageError(f"length={longest - 2}: there are {sizes.positions} positions; set positions={longest}.")
    return sizes


def _streams(
    plan: Plan, sources: Sources, train: dict[str, list[Sentences]], tokens: Tokens, noise: Noise, *, denoises: bool
) -> Iterator[Stream]:
    """Batches of one direction each: of pairs, of back-translation, and of denoising, equally many of each."""
    most, marks = int(plan.settings["tokens"]), tokens.word_marks()
    found: list[Stream] = []

    def add(name: str, examples: Direction | Sentences, batch: Callable[..., object]) -> None:
        found.append(Stream(name, examples.lengths, batch, tokens=most))

    for one in sources.pairs:
        a, b = one.languages
        first, second = train[one.name]
        for way, pair in (((a, b), Direction(first, second)), ((b, a), Direction(second, first))):
            if way in sources.directions:
                add("-".join(way), pair, pair.batch)
    numbers = {one.name: train[one.name][0] for one in sources.texts}
    known = {name: number.language for name, number in numbers.items()}
    known |= {a: s.language for one in sources.pairs for a, s in zip(one.languages, train[one.name], strict=True)}
    for name, own in numbers.items():
        others = [a for a, b in sources.directions if b == name]
        for other in others:
            add(f"back {other}-{name}", own, partial(back_batch, own, known[other]))
        if denoises:
            add(f"denoise {name}", own, partial(noisy_batch, own, known[others[0]], marks, noise))
    batch, steps = plan.request.options.batch, int(plan.settings["steps"])
    of_pairs = found[: sum(not stream.name.startswith(("back ", "denoise ")) for stream in found)]
    each = steps / len(found) or max(stream.count(batch) for stream in of_pairs or found)
    for stream in found:
        yield replace(stream, weight=each / stream.count(batch))
