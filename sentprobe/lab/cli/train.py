"""`sentprobe train`: train a sentence encoder."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from sentprobe.cli._options import parse_settings, with_options
from sentprobe.core.arguments import GROUP, option

if TYPE_CHECKING:
    from sentprobe.lab.training.request import TrainingRequest

order = 65
group = "Train and align"
resumes = True

DATA = Group("Data", sort_key=1)
WORDS = Group("Words and their vectors", sort_key=2)
INPUT_OPTIONS = ("held_out", "max_length", "words", "width", "projection", "tokenise", "case")
"""Options that a request has under the same names."""
TRAINING = Group("Training (a preset or an objective may have other defaults)", sort_key=3)


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """What to train on, and how; None stands for the default of the preset or the objective.

    Parameters
    ----------
    train
        Files or folders to train on; for language models with their languages: --text en=FILE --text fr=FILE
        --pairs en-fr=FILE,FILE. May be repeated.
    dev
        Files or folders to choose the best checkpoint on, in the same form. May be repeated.
    held_out
        Without --dev: hold out this many training rows.
    columns
        The columns of a table, comma-separated, in the order that the objective names; by name, or number from 1.
    max_length
        Leave out examples with longer texts, in words. Default: 200.
    withhold
        Probing sets: their sentences are left out of training. May be repeated.
    teacher
        For align: the encoder to be copied, trained:FOLDER or any other.
    xnli
        For align: NLI pairs in the new language, on which the classifier of the teacher is tried after each epoch.
    from_
        For xnli and mt: the language model to begin with, the folder of `sentprobe train mlm` and others.
    vectors
        A file of word vectors, in any format that vec: reads. Default: they are learned.
    fine_tune
        Change the given word vectors during training. Default: no, but for align with a preset of XNLI.
    words
        The most frequent words to know. Default: 200000.
    width
        Dimensions of learned word vectors. Default: 300.
    projection
        Project word vectors to this many dimensions. Default: 0, no projection.
    tokenise
        simple splits punctuation off words; space splits at white space only; moses-fr and other languages, jieba
        (Chinese), janome (Japanese) and pythainlp (Thai) need these packages. Default: simple.
    case
        How words are looked up: as-is, lower, or fallback: as they are, then in lower case, then capitalised. Default:
        fallback.
    optimiser
        sgd, adam, adagrad, adadelta or rmsprop. Default: adam.
    lr
        The learning rate. Default: 0.001.
    momentum
        The momentum of sgd. Default: 0.
    batch
        Examples per step, over all processes. Default: 64.
    clip
        The largest norm of a gradient; 0 means no limit. Default: 5.
    clip_lr
        Clip by scaling the learning rate of the step, and not the gradient. Default: no.
    epochs
        The number of epochs, at most. Default: 20.
    decay
        Multiply the learning rate by this after each epoch. Default: 1.
    shrink
        Divide the learning rate by this after an epoch that is not better on dev. Default: 1.
    min_lr
        Stop when the learning rate falls below this. Default: 0.
    patience
        Stop after this many epochs that are not better on dev; 0 means never. Default: 0.
    consecutive
        Whether these epochs have to follow each other. Default: yes.
    warmup
        Steps in which the learning rate rises; after them it falls with the inverse square root of the step.
        Default: 0.
    every
        Also write a checkpoint every so many steps; 0 means only after epochs. Default: 0.
    seed
        All random choices derive from it; with --seeds, the first one. Default: 1111.
    """

    train: Annotated[tuple[str, ...], Parameter(("--train", "--text", "--pairs"), consume_multiple=True)] = option(
        (), DATA.name
    )
    dev: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = option((), DATA.name)
    held_out: int | None = option(None, DATA.name)
    columns: str = option("", DATA.name)
    max_length: int | None = option(None, DATA.name)
    withhold: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = option((), DATA.name)
    teacher: str = option("", DATA.name)
    xnli: str = option("", DATA.name)
    from_: Annotated[str, Parameter("--from")] = option("", DATA.name)
    vectors: str = option("", WORDS.name)
    fine_tune: Annotated[bool | None, Parameter(negative="--no-fine-tune")] = option(None, WORDS.name)
    words: int | None = option(None, WORDS.name)
    width: int | None = option(None, WORDS.name)
    projection: int | None = option(None, WORDS.name)
    tokenise: str | None = option(None, WORDS.name)
    case: Literal["fallback", "lower", "as-is"] | None = option(None, WORDS.name)
    optimiser: str | None = option(None, TRAINING.name)
    lr: float | None = option(None, TRAINING.name)
    momentum: float | None = option(None, TRAINING.name)
    batch: int | None = option(None, TRAINING.name)
    clip: float | None = option(None, TRAINING.name)
    clip_lr: Annotated[bool | None, Parameter(negative="--no-clip-lr")] = option(None, TRAINING.name)
    epochs: int | None = option(None, TRAINING.name)
    decay: float | None = option(None, TRAINING.name)
    shrink: float | None = option(None, TRAINING.name)
    min_lr: float | None = option(None, TRAINING.name)
    patience: int | None = option(None, TRAINING.name)
    consecutive: Annotated[bool | None, Parameter(negative="--no-consecutive")] = option(None, TRAINING.name)
    warmup: int | None = option(None, TRAINING.name)
    every: int | None = option(None, TRAINING.name)
    seed: int | None = option(None, TRAINING.name)

    def of_group(self, group: Group) -> dict[str, Any]:
        """The options under a heading of the help that were typed."""
        typed = {f.name: getattr(self, f.name) for f in fields(self) if f.metadata[GROUP] == group.name}
        return {name: value for name, value in typed.items() if value is not None}


@with_options(TrainOptions, (DATA, WORDS, TRAINING), before="list_")
def train(
    objective: str = "",
    /,
    *,
    architecture: Annotated[str, Parameter(("--architecture", "-a"))] = "",
    preset: str = "",
    set_: Annotated[tuple[str, ...], Parameter("--set")] = (),
    seeds: int = 1,
    out: Annotated[Path | None, Parameter(("--out", "-o"))] = None,
    list_: Annotated[bool, Parameter("--list")] = False,
    **options: Any,
) -> int:
    """Train a sentence encoder, on a CPU or GPU. Run again, the same command resumes where it stopped.

    With several GPUs: `accelerate launch -m sentprobe train …`; with several CPU processes: `torchrun -m sentprobe
    train …`.

    Parameters
    ----------
    objective: str
        What the encoder is trained for, as `sentprobe train --list` says: nli, translate, …
    architecture: str
        The architecture of the encoder, as `sentprobe train --list` says: bilstm-max, …
    preset: str
        An encoder of a paper, such as conneau2018/bilstm-max: architecture, sizes, and how it was trained.
    set_: tuple[str, ...]
        A setting of the encoder or the objective, such as --set hidden=512. May be repeated.
    seeds: int
        How many encoders to train, with seeds from --seed on, so that results are about how they are trained: with
        more than one, each has a folder seed-N in FOLDER, and -e NAME=trained:'FOLDER/seed-*' probes all. Default: 1.
    out: Path
        The folder to write to, or to resume in; then the encoder is trained:FOLDER.
    list_: bool
        List architectures, objectives and presets, and train nothing; with OBJECTIVE, --architecture or --preset,
        its settings.
    """
    from sentprobe.lab.training import require_training

    require_training()
    from sentprobe.errors import UsageError
    from sentprobe.lab.cli._seeds import print_next, seed_folders
    from sentprobe.lab.cli._training import print_parts
    from sentprobe.lab.networks.folder import CONFIG
    from sentprobe.lab.training.request import make_request
    from sentprobe.lab.training.train import is_main_process

    if list_:
        print_parts(objective, architecture, preset)
        return 0
    if not objective:
        raise UsageError(
            "Name an objective, such as nli: `sentprobe train --list` lists them, with the data they need."
        )
    if out is None:
        raise UsageError("Name the folder to write to: -o FOLDER.")
    typed = TrainOptions(**options)
    special = {"teacher": typed.teacher, "xnli": typed.xnli, "from": typed.from_}
    settings = parse_settings(set_, "hidden=512", special)
    inputs = {name: getattr(typed, name) for name in INPUT_OPTIONS}
    request = make_request(
        objective, architecture, preset=preset, settings=settings, options=typed.of_group(TRAINING),
        train=typed.train, dev=typed.dev, columns=tuple(filter(None, typed.columns.split(","))),
        vectors=typed.vectors, fine_tune=typed.fine_tune, withhold=typed.withhold, **inputs,
    )  # fmt: skip
    folders = seed_folders(out, request.options.seed, seeds, CONFIG)
    for seed, folder in folders.items():
        _train(replace(request, options=replace(request.options, seed=seed)), folder, several=seeds > 1)
    if seeds > 1 and is_main_process():
        print_next(out, folders.values(), "sentprobe run -e {name}=trained:{pattern} -d SETS")
    return 0


def _train(request: TrainingRequest, folder: Path, *, several: bool) -> None:
    """Train one encoder, and print what came out; ``several``: it is one of them, with other seeds."""
    from sentprobe.console import announce, say
    from sentprobe.core.formatting import count_of
    from sentprobe.lab.cli._training import TrainingDisplay, print_summary
    from sentprobe.lab.training.train import is_finished, is_main_process, train

    before = is_finished(request, folder)
    if is_main_process() and not before:
        announce(
            f"Training {request.encoder} for {request.objective} on {', '.join(request.train)}"
            f"{f' with seed {request.options.seed}' if several else ''}, at most "
            f"{count_of(request.options.epochs, 'epoch')}; writing to {folder}/"
        )
    try:
        with TrainingDisplay(request.options.epochs) as display:
            trained = train(request, folder, display.report)
    except KeyboardInterrupt:
        if is_main_process():
            say(f"Repeat the command to go on with the training in {folder}/.")
        raise
    if is_main_process():
        print_summary(trained, before)
