"""`sentprobe train`: train a sentence encoder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from sentprobe.lab.networks.folder import TrainedFolder

order = 65
resumes = True

DATA = Group("Data", sort_key=1)
WORDS = Group("Words and their vectors", sort_key=2)
TRAINING = Group("Training (a preset or an objective may have other defaults)", sort_key=3)


def train(
    objective: str = "",
    /,
    *,
    encoder: Annotated[str, Parameter(("--encoder", "-e"))] = "",
    preset: str = "",
    set_: Annotated[tuple[str, ...], Parameter("--set")] = (),
    out: Annotated[Path | None, Parameter(("--out", "-o"))] = None,
    list_: Annotated[bool, Parameter("--list")] = False,
    train: Annotated[
        tuple[str, ...], Parameter(("--train", "--text", "--pairs"), group=DATA, consume_multiple=True)
    ] = (),
    dev: Annotated[tuple[str, ...], Parameter(group=DATA, consume_multiple=True)] = (),
    held_out: Annotated[int | None, Parameter(group=DATA)] = None,
    columns: Annotated[str, Parameter(group=DATA)] = "",
    max_length: Annotated[int | None, Parameter(group=DATA)] = None,
    withhold: Annotated[tuple[str, ...], Parameter(group=DATA, consume_multiple=True)] = (),
    teacher: Annotated[str, Parameter(group=DATA)] = "",
    xnli: Annotated[str, Parameter(group=DATA)] = "",
    from_: Annotated[str, Parameter("--from", group=DATA)] = "",
    vectors: Annotated[str, Parameter(group=WORDS)] = "",
    fine_tune: Annotated[bool | None, Parameter(group=WORDS, negative="--no-fine-tune")] = None,
    words: Annotated[int | None, Parameter(group=WORDS)] = None,
    width: Annotated[int | None, Parameter(group=WORDS)] = None,
    projection: Annotated[int | None, Parameter(group=WORDS)] = None,
    tokenise: Annotated[str | None, Parameter(group=WORDS)] = None,
    case: Annotated[Literal["fallback", "lower", "as-is"] | None, Parameter(group=WORDS)] = None,
    optimiser: Annotated[str | None, Parameter(group=TRAINING)] = None,
    lr: Annotated[float | None, Parameter(group=TRAINING)] = None,
    momentum: Annotated[float | None, Parameter(group=TRAINING)] = None,
    batch: Annotated[int | None, Parameter(group=TRAINING)] = None,
    clip: Annotated[float | None, Parameter(group=TRAINING)] = None,
    clip_lr: Annotated[bool | None, Parameter(group=TRAINING, negative="--no-clip-lr")] = None,
    epochs: Annotated[int | None, Parameter(group=TRAINING)] = None,
    decay: Annotated[float | None, Parameter(group=TRAINING)] = None,
    shrink: Annotated[float | None, Parameter(group=TRAINING)] = None,
    min_lr: Annotated[float | None, Parameter(group=TRAINING)] = None,
    patience: Annotated[int | None, Parameter(group=TRAINING)] = None,
    consecutive: Annotated[bool | None, Parameter(group=TRAINING, negative="--no-consecutive")] = None,
    warmup: Annotated[int | None, Parameter(group=TRAINING)] = None,
    every: Annotated[int | None, Parameter(group=TRAINING)] = None,
    seed: Annotated[int | None, Parameter(group=TRAINING)] = None,
) -> int:
    """Train a sentence encoder, on a CPU or GPU. Run again, the same command resumes where it stopped.

    With several GPUs: `accelerate launch -m sentprobe train …`; with several CPU processes: `torchrun -m sentprobe
    train …`.

    Parameters
    ----------
    objective: str
        What the encoder is trained for, as `sentprobe train --list` says: nli, translate, …
    encoder: str
        The architecture, as `sentprobe train --list` says: bilstm-max, …
    preset: str
        An encoder of a paper, such as conneau2018/bilstm-max: architecture, sizes, and how it was trained.
    set_: tuple[str, ...]
        A setting of the encoder or the objective, such as --set hidden=512. May be repeated.
    out: Path
        The folder to write to, or to resume in; then the encoder is trained:FOLDER.
    list_: bool
        List architectures, objectives and presets, and train nothing; with OBJECTIVE, --encoder or --preset,
        its settings.
    train: tuple[str, ...]
        Files or folders to train on; for language models with their languages: --text en=FILE --text fr=FILE
        --pairs en-fr=FILE,FILE. May be repeated.
    dev: tuple[str, ...]
        Files or folders to choose the best checkpoint on, in the same form. May be repeated.
    held_out: int
        Without --dev: hold out this many training rows.
    columns: str
        The columns of a table, comma-separated, in the order that the objective names; by name, or number from 1.
    max_length: int
        Leave out examples with longer texts, in words. Default: 200.
    withhold: tuple[str, ...]
        Probing sets: their sentences are left out of training. May be repeated.
    teacher: str
        For align: the encoder to be copied, trained:FOLDER or any other.
    xnli: str
        For align: NLI pairs in the new language, on which the classifier of the teacher is tried after each epoch.
    from_: str
        For xnli and mt: the language model to begin with, the folder of `sentprobe train mlm` and others.
    vectors: str
        A file of word vectors, in any format that vec: reads. Default: they are learned.
    fine_tune: bool
        Change the given word vectors during training. Default: no, but for align with a preset of XNLI.
    words: int
        The most frequent words to know. Default: 200000.
    width: int
        Dimensions of learned word vectors. Default: 300.
    projection: int
        Project word vectors to this many dimensions. Default: 0, no projection.
    tokenise: str
        simple splits punctuation off words; space splits at white space only; moses-fr and other languages, jieba
        (Chinese), janome (Japanese) and pythainlp (Thai) need these packages. Default: simple.
    case: str
        How words are looked up: as-is, lower, or fallback: as they are, then in lower case, then capitalised. Default:
        fallback.
    optimiser: str
        sgd, adam, adagrad, adadelta or rmsprop. Default: adam.
    lr: float
        The learning rate. Default: 0.001.
    momentum: float
        The momentum of sgd. Default: 0.
    batch: int
        Examples per step, over all processes. Default: 64.
    clip: float
        The largest norm of a gradient; 0 means no limit. Default: 5.
    clip_lr: bool
        Clip by scaling the learning rate of the step, and not the gradient. Default: no.
    epochs: int
        The number of epochs, at most. Default: 20.
    decay: float
        Multiply the learning rate by this after each epoch. Default: 1.
    shrink: float
        Divide the learning rate by this after an epoch that is not better on dev. Default: 1.
    min_lr: float
        Stop when the learning rate falls below this. Default: 0.
    patience: int
        Stop after this many epochs that are not better on dev; 0 means never. Default: 0.
    consecutive: bool
        Whether these epochs have to follow each other. Default: yes.
    warmup: int
        Steps in which the learning rate rises; after them it falls with the inverse square root of the step.
        Default: 0.
    every: int
        Also write a checkpoint every so many steps; 0 means only after epochs. Default: 0.
    seed: int
        All random choices derive from it. Default: 1111.
    """
    from sentprobe.lab.training import require_training

    require_training()
    from sentprobe.console import announce, err
    from sentprobe.core.formatting import count_of
    from sentprobe.errors import UsageError
    from sentprobe.lab.cli._training import TrainingDisplay, print_parts, print_summary
    from sentprobe.lab.training.request import make_request
    from sentprobe.lab.training.train import is_finished, is_main_process
    from sentprobe.lab.training.train import train as run

    if list_:
        print_parts(objective, encoder, preset)
        return 0
    if not objective:
        raise UsageError(
            "Name an objective, such as nli: `sentprobe train --list` lists them, with the data they need."
        )
    if out is None:
        raise UsageError("Name the folder to write to: -o FOLDER.")
    options = {
        "optimiser": optimiser, "lr": lr, "momentum": momentum, "batch": batch, "clip": clip, "clip_lr": clip_lr,
        "epochs": epochs, "decay": decay, "shrink": shrink, "min_lr": min_lr, "patience": patience,
        "consecutive": consecutive, "warmup": warmup, "every": every, "seed": seed,
    }  # fmt: skip
    inputs = {
        "held_out": held_out, "max_length": max_length, "words": words, "width": width, "projection": projection,
        "tokenise": tokenise, "case": case,
    }  # fmt: skip
    request = make_request(
        objective, encoder, preset=preset, settings=_settings(set_, {"teacher": teacher, "xnli": xnli, "from": from_}),
        options=_given(options), train=train, dev=dev, columns=tuple(filter(None, columns.split(","))),
        vectors=vectors, fine_tune=fine_tune, withhold=withhold, **inputs,
    )  # fmt: skip
    before = is_finished(request, out)
    if is_main_process() and not before:
        announce(
            f"Training {request.encoder} for {request.objective} on {', '.join(train)}, at most "
            f"{count_of(request.options.epochs, 'epoch')}; writing to {out}/"
        )
    try:
        with TrainingDisplay(request.options.epochs) as display:
            folder: TrainedFolder = run(request, out, display.report)
    except KeyboardInterrupt:
        if is_main_process():
            err().print(f"Repeat the command to go on with the training in {out}/.", markup=False, soft_wrap=True)
        raise
    if is_main_process():
        print_summary(folder, before)
    return 0


def _settings(pairs: tuple[str, ...], options: dict[str, str]) -> dict[str, str]:
    """Settings as they were typed, those with an option of their own among them."""
    from sentprobe.errors import UsageError

    found = {name: value for name, value in options.items() if value}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or not value:
            raise UsageError(f"--set {pair}: expected KEY=VALUE, such as hidden=512.")
        if found.setdefault(key, value) != value:
            first = f"--{key} {found[key]}" if options.get(key) else f"--set {key}={found[key]}"
            raise UsageError(f"{first} and --set {pair} contradict each other: leave one of them out.")
    return found


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Those that were given."""
    return {name: value for name, value in values.items() if value is not None}
