"""Copying a frozen encoder into another language: the vector of a translation is to be that of the original.

The loss of a pair with the teacher's vector x and the student's y is, in XNLI (Conneau et al. 2018) and X-Probe,

    ‖x − y‖ − negatives · (‖x′ − y‖ + ‖x − y′‖)

where x′ and y′ are vectors of other pairs of the batch. ``loss=squared`` has squared norms; ``loss=ranking`` is the
ranking loss max(0, margin − ‖x − y′‖ + ‖x − y‖) + max(0, margin − ‖x′ − y‖ + ‖x − y‖), which XNLI found to be much
worse. The teacher is any encoder; its vectors are computed once. If it was trained with ``nli`` and ``xnli`` names
NLI pairs in the language of the student, its classifier is applied to them as it is, and its accuracy chooses the
checkpoint (``select=accuracy``, as X-BiLSTM and X-Probe do). Otherwise the loss on dev does, as for X-CBOW.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.core.reader import read_tsv
from sentprobe.encoders import encoder_info, load
from sentprobe.errors import DataError, SentProbeWarning, UsageError
from sentprobe.lab.networks.architectures.bow import BagOfWords, WeightedBag
from sentprobe.lab.networks.encoder import SentenceEncoder
from sentprobe.lab.training.examples import Examples, Stream, batches_by_length
from sentprobe.lab.training.objective import Loss, Objective, Prepared, guessing
from sentprobe.lab.training.objectives._classifier import features
from sentprobe.lab.training.objectives.nli import LABELS, UNLABELLED, label_number, load_nli_head
from sentprobe.lab.training.plan import EncoderInputs, TrainingPlan
from sentprobe.lab.training.rows import read_rows
from sentprobe.lab.training.sources import describe_sources

FIELDS = ("source", "target")
NLI_FIELDS = ("text1", "text2", "label")
TEXTS = 4096
"""Texts that the teacher encodes at a time."""
EVALUATION_BATCH = 256
MAX_NEGATIVES = 0.5
"""With a larger weight, the loss of a vector y that grows is (1 - 2 negatives) times its length, and has no bound."""
LOSS, ACCURACY, RETRIEVAL = "alignment loss", "XNLI accuracy", "retrieval P@1"
SMALL = 0.1
"""How large the numbers of an untrained bag of words are beside those of the teacher."""


class AlignBatch(NamedTuple):
    """Sentences of the student's language, and what the teacher makes of their translations."""

    ids: Tensor
    """(rows, time)."""
    lengths: Tensor
    """(rows,)."""
    vectors: Tensor
    """(rows, size)."""


class Student(nn.Module):
    """An encoder that copies another one."""

    def __init__(self, encoder: SentenceEncoder, settings: Settings) -> None:
        super().__init__()
        self.encoder = encoder
        self.loss = str(settings["loss"])
        self.negatives, self.margin = float(settings["negatives"]), float(settings["margin"])

    def forward(self, batch: AlignBatch) -> Loss:
        """The loss over a batch; negatives are the same batch, moved on by a random number of pairs."""
        vectors = self.encoder(batch.ids, batch.lengths).vectors
        rows = len(vectors)
        shift = int(torch.randint(1, rows, ()).item()) if rows > 1 else 0
        total = pair_losses(batch.vectors, vectors, shift, self.loss, self.negatives, self.margin).sum()
        return Loss(total, rows, int(batch.lengths.sum()))


def pair_losses(x: Tensor, y: Tensor, shift: int, loss: str, negatives: float, margin: float) -> Tensor:
    """The loss (rows,) of vectors x of the teacher and y of the student; negatives are ``shift`` rows away, 0: none."""

    def distance(first: Tensor, second: Tensor) -> Tensor:
        squared = (first - second).square().sum(1)
        # the gradient of the root is not finite at 0
        return squared if loss == "squared" else squared.clamp_min(1e-12).sqrt()

    near = distance(x, y)
    if not shift:
        return near
    far = distance(x.roll(shift, 0), y), distance(x, y.roll(shift, 0))
    if loss == "ranking":
        return sum(torch.relu(margin - distances + near) for distances in far)  # type: ignore[return-value]
    return near - negatives * (far[0] + far[1])


def _check(settings: Settings) -> None:
    """Refuse settings that miss something, and warn of a loss without a bound."""
    if not settings["teacher"]:
        raise UsageError("Name the encoder to be copied: --teacher trained:FOLDER, or any other encoder.")
    if settings["select"] == "accuracy" and not settings["xnli"]:
        raise UsageError(
            "select=accuracy chooses the checkpoint with the highest accuracy, and there is nothing to compute it on: "
            "add --xnli FILE with NLI pairs in the language of the student, or --set select=loss."
        )
    if settings["loss"] != "ranking" and float(settings["negatives"]) > MAX_NEGATIVES:
        warnings.warn(
            f"With negatives={settings['negatives']} the loss can fall without end, since longer vectors are farther "
            f"from all others: expected at most {MAX_NEGATIVES}; the papers have 0.25.",
            SentProbeWarning,
            stacklevel=3,
        )


def prepare(plan: TrainingPlan) -> Prepared:
    """Encode the originals with the teacher, and build the student."""
    settings = plan.settings
    name, xnli, select = (str(settings[key]) for key in ("teacher", "xnli", "select"))
    _check(settings)
    teacher = load(name)
    plan.further_data["teacher"] = [{"name": name, "identity": str(encoder_info(teacher).identity)}]
    inputs = plan.inputs(lambda: (row.values[1] for row in plan.rows("train", FIELDS)))
    model = Student(inputs.encoder(), settings)
    train, dev = (_read(plan, role, inputs, teacher, model.encoder.size, name) for role in ("train", "dev"))
    if not any(p.requires_grad for p in model.parameters()):
        raise UsageError(
            f"The encoder {plan.request.encoder} has no weights but its word vectors, and these stay as they are: add "
            "--fine-tune."
        )
    if not plan.request.vectors:
        _shrink_words(model.encoder, train.vectors)
    judge = _judge(xnli, name, plan, inputs) if xnli else None
    same = _same_pairs(dev)

    def collate(data: _TaughtSentences, rows: NDArray[np.int64]) -> AlignBatch:
        ids, lengths = data.examples.sequences["target"].padded(rows)
        return AlignBatch(ids, lengths, torch.from_numpy(np.array(data.vectors[rows])))

    def evaluate() -> dict[str, float]:
        device = next(model.parameters()).device
        total, right = 0.0, 0
        vectors = np.empty((len(dev.vectors), model.encoder.size), np.float32)
        for rows in batches_by_length(dev.examples.sequences["target"].lengths, EVALUATION_BATCH):
            batch = collate(dev, rows)
            vectors[rows] = model.encoder(batch.ids.to(device), batch.lengths.to(device)).vectors.cpu().numpy()
        x, y = torch.from_numpy(np.array(dev.vectors)), torch.from_numpy(vectors)
        # every pair has the next one as its negative, so that epochs are comparable
        total = float(pair_losses(x, y, int(len(x) > 1), model.loss, model.negatives, model.margin).mean())
        for at in range(0, len(x), EVALUATION_BATCH):
            nearest = torch.cdist(x[at : at + EVALUATION_BATCH], y).argmin(1)
            right += int(same(np.arange(at, at + len(nearest)), nearest.numpy()).sum())
        scores = {LOSS: total, RETRIEVAL: 100 * right / len(x)}
        return scores if judge is None else {ACCURACY: judge(model.encoder), **scores}

    lengths = train.examples.sequences["target"].lengths[None]
    stream = Stream("train", lengths, lambda rows: collate(train, rows))
    model.eval()
    with torch.no_grad():
        before = {f"{key} before training": value for key, value in evaluate().items()}
    model.train()
    selection = LOSS if judge is None or select == "loss" else ACCURACY
    return Prepared(
        model,
        (stream,),
        evaluate,
        selection,
        inputs,
        maximise=selection == ACCURACY,
        chance={RETRIEVAL: guessing(1 / len(dev.vectors), len(dev.vectors))},
        facts={"teacher": name, "loss": model.loss, **before},
    )


@torch.no_grad()
def _shrink_words(encoder: SentenceEncoder, vectors: NDArray[np.float32]) -> None:
    """Make the learned vectors of a bag of words small beside the teacher's vectors (n, size).

    They are its output, and Adam moves a number by no more than the learning rate: large random vectors of words that
    are in a few sentences would still be random at the end of training.
    """
    if isinstance(encoder.body, BagOfWords | WeightedBag):
        deviation = float(np.sqrt(np.mean(np.square(vectors[:TEXTS], dtype=np.float64))))
        encoder.inputs.learned.weight *= SMALL * deviation / encoder.inputs.learned.weight[1:].std()


class _TaughtSentences(NamedTuple):
    """Sentences of the student's language as numbers, and the teacher's vectors of their translations."""

    examples: Examples
    vectors: NDArray[np.float32]
    """(n, size), memory-mapped."""


def _read(
    plan: TrainingPlan, role: str, inputs: EncoderInputs, teacher: Callable[[Sequence[str]], Any], size: int, name: str
) -> _TaughtSentences:
    file = plan.folder / f"{role}.teacher"
    waiting: list[str] = []

    def flush() -> None:
        vectors = np.ascontiguousarray(teacher(waiting), np.float32)
        if vectors.ndim != 2 or vectors.shape[1] != size:
            shape = vectors.shape[-1] if vectors.ndim == 2 else f"several layers of {vectors.shape[-1]}"
            raise UsageError(
                f"The teacher {name} has {shape} dimensions and the encoder {size}: expected the same; choose its size "
                "with --set, or one layer of the teacher."
            )
        if not np.isfinite(vectors).all():
            raise DataError(f"The teacher {name} gives vectors that are not finite.")
        try:
            out.write(vectors.data)
        except OSError as e:
            raise DataError(f"{file} cannot be written: {e.strerror}. Free some space.") from e
        waiting.clear()

    with plan.writer(role, ("target",)) as writer, file.open("wb") as out:
        for row in plan.rows(role, FIELDS):
            waiting.append(row.values[0])
            writer.add([inputs.vocabulary.ids(row.values[1])])
            if len(waiting) == TEXTS:
                flush()
        if waiting:
            flush()
        examples = writer.finish()
    return _TaughtSentences(examples, np.memmap(file, np.float32, "r").reshape(-1, size))


def _check_one_language(source: str) -> None:
    """Refuse XNLI's own files, which have the pairs of fifteen languages."""
    rows = read_tsv(source)
    _, header = next(rows, (1, [""]))
    if "language" not in header:
        return
    column = header.index("language")
    languages = sorted({cells[column] for _, cells in rows if len(cells) > column})
    if len(languages) > 1:
        raise UsageError(
            f"--xnli {source} has pairs in {len(languages)} languages: {', '.join(languages)}. Expected one, that of "
            "the new encoder: put its rows, and the header, in a file of their own."
        )


def _same_pairs(data: _TaughtSentences) -> Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]:
    """Whether rows have the same sentence in either language, so that each has a translation of the other.

    Sentences of the teacher's language are known by their vectors; one of unknown words alone is equal to none.
    """
    target = data.examples.sequences["target"]
    texts: dict[bytes, int] = {}
    sources: dict[bytes, int] = {}
    numbers = np.empty((len(data.vectors), 2), np.int64)
    for i, vector in enumerate(data.vectors):
        numbers[i, 0] = texts.setdefault(target[i].tobytes(), i) if target[i].any() else i
        numbers[i, 1] = sources.setdefault(np.asarray(vector).tobytes(), i) if np.any(vector) else i
    return lambda rows, candidates: (numbers[rows] == numbers[candidates]).any(1)


def _judge(source: str, teacher: str, plan: TrainingPlan, inputs: EncoderInputs) -> Callable[[SentenceEncoder], float]:
    """The accuracy of the teacher's own classifier on NLI pairs of the student's language."""
    head, _ = load_nli_head(teacher, f"--xnli {source}")
    _check_one_language(source)
    plan.further_data["xnli"] = describe_sources([source])
    labelled = [(row, number) for row in read_rows(source, NLI_FIELDS) if (number := label_number(row)) is not None]
    rows = [row for row, _ in labelled]
    if not rows:
        raise DataError(f"{source} has no pairs with a label: expected {', '.join(LABELS)}, or {UNLABELLED}.")
    with plan.writer("xnli", NLI_FIELDS[:2]) as writer:
        for row in rows:
            writer.add([inputs.vocabulary.ids(text) for text in row.values[:2]])
        pairs = writer.finish()
    labels = torch.tensor([number for _, number in labelled])

    def accuracy(student: SentenceEncoder) -> float:
        device = next(student.parameters()).device
        right = 0
        for at in range(0, len(rows), EVALUATION_BATCH):
            batch = np.arange(at, min(at + EVALUATION_BATCH, len(rows)))
            sides = [pairs.sequences[text].padded(batch) for text in NLI_FIELDS[:2]]
            vectors = [student(ids.to(device), lengths.to(device)).vectors.cpu() for ids, lengths in sides]
            right += int((head(features(vectors)).argmax(1) == labels[at : at + len(batch)]).sum())
        return round(100 * right / len(rows), 2)

    return accuracy


objective = Objective(
    "align",
    "the vector that another encoder gives the translation of the sentence",
    "pairs of sentences, first in the teacher's language: source, target; or two files A,B with one sentence per line",
    prepare,
    {
        "teacher": Setting("", "the encoder to be copied, which stays as it is: trained:FOLDER, or any other"),
        "loss": Setting(
            "norm", "norm: that of XNLI; squared norms; or ranking, a margin", choices=("norm", "squared", "ranking")
        ),
        "negatives": Setting(0.25, "weight of the distances to other sentences", low=0),
        "margin": Setting(1.0, "margin of the ranking loss", low=0),
        "xnli": Setting("", "NLI pairs in the language of the student, on which the teacher's classifier is tried"),
        "select": Setting(
            "auto",
            "the best checkpoint: by accuracy on xnli, by the loss on dev, or auto: by accuracy if there is xnli",
            choices=("auto", "accuracy", "loss"),
        ),
    },
    {"adam": {"patience": 2}},
    order=35,
)
