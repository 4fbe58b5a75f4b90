"""Fine-tuning a language model on natural language inference, as XLM on XNLI: all weights, on pairs of any language.

Languages that are scored on dev but not trained on are zero-shot. With pairs that were translated into a language it
is TRANSLATE-TRAIN, and with test pairs that were translated into the language of training it is TRANSLATE-TEST.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from sentprobe.core.arguments import Setting
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.networks.folder import WEIGHTS
from sentprobe.lab.networks.xlm import Sizes
from sentprobe.lab.training.examples import Examples, Stream, batches_by_length
from sentprobe.lab.training.lm.corpora import by_languages
from sentprobe.lab.training.lm.model import ARCHITECTURE, PairBatch, PairClassifier, collate_pairs, transformers_config
from sentprobe.lab.training.lm.preparation import token_inputs
from sentprobe.lab.training.lm.pretrained import PretrainedModel, open_start
from sentprobe.lab.training.lm.tokens import Tokens
from sentprobe.lab.training.objective import Objective, Prepared, guessing
from sentprobe.lab.training.objectives.nli import FIELDS, LABELS, label_number
from sentprobe.lab.training.plan import LABEL, TrainingPlan
from sentprobe.lab.training.sources import DEV, TRAIN, describe_sources
from sentprobe.lab.training.step import to_device

EVALUATION_BATCH = 64


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """Labelled pairs of one language as numbers."""

    language: str
    number: int
    examples: Examples

    @property
    def lengths(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Tokens of each pair."""
        columns = self.examples.sequences
        lengths: np.ndarray[tuple[int], np.dtype[np.int64]] = columns["text1"].lengths + columns["text2"].lengths + 4
        return lengths

    def batch(self, rows: Sequence[int]) -> PairBatch:
        """A batch of some of them."""
        columns = self.examples.sequences
        return collate_pairs(columns["text1"], columns["text2"], self.examples.numbers[LABEL], self.number, rows)


def prepare(plan: TrainingPlan) -> Prepared:
    """Read the pairs, and put a classifier on the language model."""
    request, settings = plan.request, plan.settings
    start = open_start(str(settings["from"]))
    start.note(plan)
    tokens, sizes = start.tokens(), start.sizes()
    if dict(request.encoder_settings) != dict(start.settings):
        raise UsageError(f"--from {settings['from']} has sizes of its own; leave those of the encoder out.")
    train, dev = _read(plan, start, tokens)
    model = _model(start, sizes, request.options.seed)
    trained_on = [pairs.language for pairs in train]
    supervised = {pairs.language for pairs in dev} & set(trained_on)

    chosen = [pairs for pairs in dev if pairs.language in supervised or not supervised or settings["select"] == "all"]

    def evaluate() -> dict[str, float]:
        accuracies = {pairs.language: accuracy(model, pairs) for pairs in dev}
        return {
            "accuracy": sum(accuracies[pairs.language] for pairs in chosen) / len(chosen),
            **{f"accuracy {name}": value for name, value in accuracies.items()},
        }

    labels = np.concatenate([pairs.examples.numbers[LABEL] for pairs in chosen])
    samples = int(settings["samples"]) or sum(len(pairs.examples) for pairs in train)
    weights = samples / sum(len(pairs.examples) for pairs in train)
    streams = tuple(
        Stream(pairs.language, pairs.lengths, lambda rows, pairs=pairs: pairs.batch(rows.tolist()), weights)  # type: ignore[misc]
        for pairs in train
    )
    facts = {"languages": list(start.languages), "zero-shot": [p.language for p in dev if p.language not in trained_on]}
    return Prepared(
        model,
        streams,
        evaluate,
        "accuracy",
        token_inputs(tokens, request, facts),
        chance={"accuracy": guessing(float(np.bincount(labels).max()) / len(labels), len(labels))},
        files=tokens.files(sizes.positions),
        transformers={
            **transformers_config(sizes, start.languages, causal=False),
            "architectures": ["XLMForSequenceClassification"],
            "id2label": {str(number): label for number, label in enumerate(LABELS)},
            "label2id": {label: number for number, label in enumerate(LABELS)},
            "summary_type": "first",
            "summary_use_proj": True,
            "summary_activation": None,
            "summary_proj_to_labels": True,
            "summary_first_dropout": sizes.dropout,
        },
    )


def _model(start: PretrainedModel, sizes: Sizes, seed: int) -> PairClassifier:
    """The classifier: the weights of the language model, and a random layer on top."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = PairClassifier(sizes, len(LABELS))
    of_transformer = {f"transformer.{name}" for name in model.transformer.state_dict()}
    weights = {name: value for name, value in start.weights().items() if name in of_transformer}
    path = start.folder.path / start.checkpoint.name / WEIGHTS
    try:
        missing = [name for name in model.load_state_dict(weights, strict=False).missing_keys if name in of_transformer]
    except RuntimeError as e:
        raise DataError(f"{path} is not of this network: {e}.") from None
    if missing:
        raise DataError(f"{path} has no {missing[0]}; is it damaged?")
    return model


def accuracy(model: PairClassifier, pairs: LabelledPairs) -> float:
    """In percent."""
    device, right = next(model.parameters()).device, 0
    for rows in batches_by_length(pairs.lengths, EVALUATION_BATCH):
        batch = to_device(pairs.batch(rows.tolist()), device)
        right += int((model.logits(batch).argmax(1) == batch.labels).sum())
    return 100 * right / len(pairs.examples)


def _read(
    plan: TrainingPlan, start: PretrainedModel, tokens: Tokens
) -> tuple[list[LabelledPairs], list[LabelledPairs]]:
    """Training pairs, and dev pairs, of each language."""
    request = plan.request
    if not request.train:
        raise UsageError(f"Name training data with its language, such as --train en=FILE: {objective.data}.")
    train, dev = by_languages(request.train, "--train"), by_languages(request.dev, "--dev")
    for languages in (*train, *dev):
        if len(languages) > 1:
            raise UsageError(f"{'-'.join(languages)}=…: both sentences of a pair are of one language; expected one.")
    if not dev and not request.held_out:
        raise UsageError(
            "There is no dev data: name it with --dev en=FILE, or hold out training rows with --held-out N."
        )
    pairs: tuple[list[LabelledPairs], list[LabelledPairs]] = [], []
    for (language,), files in train.items():
        language_plan = TrainingPlan(
            replace(request, train=tuple(files), dev=()), plan.folder / language, plan.withheld
        )
        pairs[0].append(_write(plan, language_plan, TRAIN, TRAIN, start, tokens, language))
        if request.held_out:
            pairs[1].append(_write(plan, language_plan, DEV, DEV, start, tokens, language))
    for (language,), files in dev.items():
        language_plan = TrainingPlan(
            replace(request, train=tuple(files), dev=(), held_out=0), plan.folder / f"dev {language}"
        )
        pairs[1].append(_write(plan, language_plan, TRAIN, DEV, start, tokens, language))
    for role in (TRAIN, DEV):
        plan.counts[role] = sum((plan.counts[f"{role} {p.language}"] for p in pairs[role == DEV]), Counter())
    return pairs


def _write(
    plan: TrainingPlan,
    language_plan: TrainingPlan,
    read_as: str,
    role: str,
    start: PretrainedModel,
    tokens: Tokens,
    language: str,
) -> LabelledPairs:
    number = start.number(language, "--dev" if role == DEV else "--train")
    max_tokens = min(int(plan.settings["length"]), start.sizes().positions // 2 - 2)
    with language_plan.writer(f"{role} pairs", FIELDS[:-1], (LABEL,)) as out:
        for row in language_plan.rows(read_as, FIELDS):
            if (label := label_number(row)) is not None:
                out.add([ids[:max_tokens] for ids in tokens.encode(row.values[:2])], (label,))
        counts = language_plan.counts[read_as]
        if unlabelled := counts["used"] - out.count:
            counts["used"], counts["without a label"] = out.count, unlabelled
        if not out.count:
            raise DataError(f"All {unlabelled:,} rows of {role} {language} are without a label.")
        plan.counts[f"{role} {language}"] = counts
        plan.further_data[f"{role} {language}"] = describe_sources(language_plan.files(read_as))
        return LabelledPairs(language, number, out.finish())


objective = Objective(
    "xnli",
    "fine-tune a language model to tell whether one sentence follows from another, in one language or several",
    "--from FOLDER, and pairs with a label and their language, --train en=FILE: text1, text2, label",
    prepare,
    {
        "from": Setting("", "the language model to begin with: FOLDER, or FOLDER?epoch=N"),
        "length": Setting(256, "tokens of a sentence, which is cut there"),
        "samples": Setting(20_000, "pairs of an epoch; epochs go on where the last one ended; 0: all pairs", low=0),
        "select": Setting(
            "train", "the best checkpoint by dev accuracy in languages of training, or in all", choices=("train", "all")
        ),
    },
    {"adam": {"lr": 2e-5, "batch": 16, "epochs": 100, "patience": 5}},
    needs_dev=False,
    encoder=ARCHITECTURE,
    implied=lambda settings: open_start(str(settings["from"])).settings if settings.get("from") else {},
    order=44,
)
