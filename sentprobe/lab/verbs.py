"""The verbs of the lab as functions, for scripts: `sentprobe train`, `align` and `translate`.

Each completes what it is given with the defaults of objective, preset or method, and does what the command does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.core.arguments import Value
from sentprobe.lab.training import require_training

if TYPE_CHECKING:
    from sentprobe.lab.alignment.folder import AlignmentFolder
    from sentprobe.lab.networks.folder import TrainedFolder


def train(
    objective: str,
    folder: Path | str,
    *,
    encoder: str = "",
    preset: str = "",
    settings: Mapping[str, Value] | None = None,
    options: Mapping[str, Any] | None = None,
    report: Callable[[Any], None] = lambda _: None,
    **data: Any,
) -> TrainedFolder:
    """Train an encoder, or resume its training where an earlier call was interrupted.

    Parameters
    ----------
    objective
        What to train for, as `sentprobe ls objectives` lists it: ``nli``, ``translate``, ``mlm``, …
    folder
        Where everything is written; a new folder, or one of the same call.
    encoder
        The architecture, as `sentprobe ls architectures` lists it; may be left out with a preset.
    preset
        An encoder of a paper, as `sentprobe ls presets` lists it.
    settings
        Settings of the architecture and of the objective, by name: ``{"hidden": 512}``.
    options
        Options of training, by name: ``{"epochs": 3, "lr": 0.001, "seed": 1}``. Encoders of several seeds, each in a
        folder of its own, are one encoder to ``evaluate``, in a list or as ``trained:runs/nli/seed-*``.
    report
        Called with a report after every epoch, and in between.
    data
        What to train on, as the options of `sentprobe train` with the same names: ``train`` and ``dev``, which are
        sequences of files, ``held_out``, ``columns``, ``vectors``, ``withhold``, ``tokenise``, ``max_length``, ….

    Returns
    -------
    TrainedFolder
        The folder, which ``trained:FOLDER`` names as an encoder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sentprobe import load_encoder
    >>> from sentprobe.lab import train
    >>> rows = [f"a {noun} sleeps\\tit {verb}\\t{label}\\n" for noun in ("dog", "cat", "cow", "hen", "pig", "fox")
    ...         for verb, label in (("sleeps", "entailment"), ("runs", "contradiction"))]
    >>> written = Path("pairs.tsv").write_text("".join(rows))
    >>> folder = train("nli", "tiny", encoder="bow-mean", train=["pairs.tsv"], held_out=4, width=8,
    ...                options={"epochs": 1})
    >>> load_encoder("trained:tiny")(["a dog barks"]).shape
    (1, 8)
    """
    require_training()
    from sentprobe.lab.training.request import make_request
    from sentprobe.lab.training.train import train as train_request

    data = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    request = make_request(objective, encoder, preset=preset, settings=settings, options=options, **data)
    return train_request(request, Path(folder), report)


def align(
    source: str,
    target: str,
    folder: Path | str,
    *,
    method: str = "auto",
    dictionary: Sequence[str] = (),
    words: int | None = None,
    steps: Sequence[str] | None = None,
    dev: str = "",
    settings: Mapping[str, Value] | None = None,
    refine: int | None = None,
    tries: int | Sequence[int] | None = None,
    export: str = "none",
    jobs: int = 1,
    report: Callable[[Any], None] = lambda _: None,
) -> AlignmentFolder:
    """Map word vectors of two languages to one space, or resume where an earlier call was interrupted.

    Parameters
    ----------
    source, target
        Files of word vectors, in any format that ``vec:`` reads, the most frequent word first.
    folder
        Where everything is written; a new folder, or one of the same call.
    method
        A method, as `sentprobe ls alignment-methods` lists it; ``auto``: by what is given; ``best``: all that fit.
    dictionary
        Files of pairs of words, ``identical`` or ``numerals``; none: the method needs none.
    words
        The most frequent words of either side to use.
    steps
        How vectors are prepared: ``unit``, ``center``. None: as the method needs it.
    dev
        A dictionary whose precision is recorded along the way.
    settings
        Settings of the method, by name.
    refine
        Rounds of refinement.
    tries
        How often to try, or with which seeds; the best one by the criterion is kept.
    export
        Whether both spaces are also written as ``text`` or ``binary``.
    jobs
        Tries to work on at the same time.
    report
        Called with a report as it goes on.

    Returns
    -------
    AlignmentFolder
        The folder, with the map.

    Examples
    --------
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from sentprobe.lab import align
    >>> vectors = np.random.default_rng(0).normal(size=(50, 4))
    >>> turned = vectors @ np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    >>> for language, rows in ("en", vectors), ("fr", turned):
    ...     lines = [f"{language}{i} " + " ".join(f"{x:.6f}" for x in row) for i, row in enumerate(rows)]
    ...     written = Path(f"{language}.vec").write_text("\\n".join(["50 4", *lines]) + "\\n")
    >>> written = Path("pairs.txt").write_text("".join(f"en{i} fr{i}\\n" for i in range(20)))
    >>> folder = align("en.vec", "fr.vec", "en-fr", dictionary=["pairs.txt"])
    >>> source, target = folder.spaces()
    >>> bool(np.allclose(folder.map().source.apply(source.vectors), target.vectors, atol=1e-3))
    True
    """
    from sentprobe.lab.alignment.align import align as align_request
    from sentprobe.lab.alignment.request import make_request

    request = make_request(
        source, target, method=method, words=words, steps=steps, dictionary=dictionary, dev=dev, settings=settings,
        refine=refine, tries=tries, export=export,
    )  # fmt: skip
    return align_request(request, Path(folder), report, jobs)


def translate(texts: Sequence[str], folder: Path | str, *, to: str = "", source: str = "", beam: int = 1) -> list[str]:
    """Translate texts with a model of `sentprobe train mt`, or of another objective with a decoder.

    Parameters
    ----------
    texts
        Sentences.
    folder
        What `sentprobe train` wrote; the best checkpoint on dev is used.
    to, source
        The languages; they may be left out where the folder leaves no choice.
    beam
        The width of the beam; 1 is greedy.

    Returns
    -------
    list[str]
        The translation of each text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sentprobe.lab import train, translate
    >>> written = Path("texts.txt").write_text("a dog sleeps\\na cat sees it\\n" * 8)
    >>> folder = train("autoencode", "copying", encoder="bow-mean", train=["texts.txt"], held_out=4, width=8,
    ...                options={"epochs": 1})
    >>> len(translate(["a dog", "a cat"], "copying"))
    2
    """
    require_training()
    from sentprobe.lab.networks.folder import open_folder
    from sentprobe.lab.training.mt.translator import load_translator

    return load_translator(open_folder(Path(folder).expanduser()), to, source, beam)(texts)
