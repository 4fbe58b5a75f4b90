"""A classifier that was trained in one language, applied as it is to pairs of another; its results, kept as a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe import __version__
from sentprobe.data.dataset import Dataset
from sentprobe.data.layouts.catalogue import LAYOUTS
from sentprobe.encoders import encoder_info, load
from sentprobe.encoders.schemes.family import Family
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.xnli.pairs import LABELS, NliPair
from sentprobe.published.releases import content_digests
from sentprobe.results.log import Log
from sentprobe.results.result import Cell, Result
from sentprobe.run.scoring import versions
from sentprobe.stats.classification import accuracy, macro_f1
from sentprobe.stats.intervals import wilson
from sentprobe.tasks import Example

TASK = "XNLI"
BATCH = 1024


@dataclass(frozen=True)
class ZeroShot:
    """The accuracy on the pairs of a file."""

    encoder: str
    language: str
    n: int
    truth: tuple[int, ...]
    """Of each pair with a label, its number among the labels."""
    predicted: tuple[int, ...]

    @property
    def right(self) -> tuple[bool, ...]:
        """Whether the label of each pair is predicted."""
        return tuple(truth == predicted for truth, predicted in zip(self.truth, self.predicted, strict=True))

    @property
    def accuracy(self) -> float:
        """The share of pairs whose label is predicted."""
        return sum(self.right) / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's."""
        return wilson(sum(self.right), self.n)


def zero_shot(classifier: str, encoder: str, pairs: Sequence[NliPair]) -> ZeroShot:
    """Apply the classifier of ``trained:FOLDER`` to the vectors that an encoder gives these pairs, of one language.

    If the encoder is the classifier itself, a language model that was fine-tuned (xnli), it reads both sentences of a
    pair together.
    """
    import torch

    from sentprobe.lab.training.lm.pretrained import load_pair_classifier
    from sentprobe.lab.training.objectives._classifier import features
    from sentprobe.lab.training.objectives.nli import load_nli_head

    labelled_pairs = labelled(pairs)
    if not labelled_pairs:
        raise DataError("There are no pairs with a label.")
    truth = tuple(LABELS.index(pair.label) for pair in labelled_pairs)
    if encoder == classifier and (classify := load_pair_classifier(classifier)):
        labels = classify([(pair.premise, pair.hypothesis) for pair in labelled_pairs], labelled_pairs[0].language)
        return ZeroShot(encoder, labelled_pairs[0].language, len(labelled_pairs), truth, tuple(labels))
    head, size = load_nli_head(classifier, "--classifier")
    encode = _encoder(encoder, labelled_pairs[0].language)
    predicted: list[int] = []
    for at in range(0, len(labelled_pairs), BATCH):
        batch = labelled_pairs[at : at + BATCH]
        vectors = [np.asarray(encode([getattr(pair, side) for pair in batch])) for side in ("premise", "hypothesis")]
        if vectors[0].shape[1:] != (size,):
            raise UsageError(
                f"{encoder} has vectors of shape {vectors[0].shape[1:]}, and the classifier of {classifier} is for "
                f"{size} dimensions: expected an encoder that copies it."
            )
        with torch.inference_mode():
            labels_of_batch = head(
                features([torch.from_numpy(np.ascontiguousarray(v, np.float32)) for v in vectors])
            ).argmax(1)
        predicted += labels_of_batch.tolist()
    return ZeroShot(encoder, labelled_pairs[0].language, len(labelled_pairs), truth, tuple(predicted))


def labelled(pairs: Sequence[NliPair]) -> list[NliPair]:
    """The pairs that have a label."""
    return [pair for pair in pairs if pair.label in LABELS]


def _encoder(name: str, language: str) -> Callable[[Sequence[str]], Any]:
    """The encoder, or the member of a family for this language."""
    encoder = load(name)
    return encoder.members[encoder.language(language)] if isinstance(encoder, Family) else encoder


def nli_dataset(file: str, pairs: Sequence[NliPair]) -> Dataset:
    """The pairs of one language of a file as a set that has test rows only."""
    labelled_pairs = labelled(pairs)
    stem, language = Path(file).name.partition(".tsv")[0], labelled_pairs[0].language
    name = f"{TASK}/{stem}" if not language or stem.endswith(f"-{language}") else f"{TASK}/{stem}-{language}"
    (second,) = LAYOUTS[TASK].inputs
    rows = [
        Example(pair.label, tuple(pair.premise.split()), pair.premise, f"{i}", extra=((second, pair.hypothesis),))
        for i, pair in enumerate(labelled_pairs, 1)
    ]
    return Dataset(name, TASK, 0, language or None, LABELS, {"te": rows})


def keep_zero_shot(log: Log, file: str, dataset: Dataset, prediction: ZeroShot, classifier: str) -> Result:
    """Add a result to a run: under the encoder, whose identity has that of the classifier as well."""
    encoder_identity, classifier_identity = (
        encoder_info(load(name)).identity for name in (prediction.encoder, classifier)
    )
    identity = None
    if encoder_identity and classifier_identity:
        identity = f"{encoder_identity} with the classifier of {classifier_identity}"
    cell = Cell(
        task=TASK,
        version=0,
        dataset=dataset.name,
        data=dataset.digest,
        encoder=prediction.encoder,
        identity=identity,
        sentprobe=__version__,
    )
    log.describe(encoders=[prediction.encoder], classifiers=[classifier], datasets=[_about(file, dataset)])
    log.save_rows(dataset, dataset.digest, None)
    truth, predicted = (np.array(labels, np.int32) for labels in (prediction.truth, prediction.predicted))
    result = Result(
        key=cell.key,
        cell=cell,
        language=dataset.language,
        labels=LABELS,
        n={"tr": 0, "va": 0, "te": prediction.n},
        trained_on="",
        chosen_on=None,
        score=accuracy(predicted, truth),
        scores={"macro_f1": macro_f1(predicted, truth)},
        interval=prediction.interval,
        versions=versions(),
    )
    log.add(result, {"predicted": predicted, "truth": truth})
    return result


def _about(file: str, dataset: Dataset) -> dict[str, object]:
    """What run.json records about the set."""
    return {
        "name": dataset.name,
        "task": TASK,
        "version": 0,
        "language": dataset.language,
        "digest": dataset.digest,
        "labels": list(LABELS),
        "question": None,
        "inputs": list(LAYOUTS[TASK].inputs),
        "corpus": None,
        "rows": {"te": len(dataset)},
        "content": content_digests(dataset),
        "source": {"kind": TASK, "name": dataset.name, "paths": [str(Path(file).absolute())]},
        "audit": None,
    }
