"""A trained folder as a translator: texts in, as many texts out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from sentprobe.errors import DataError, SentProbeWarning, UsageError
from sentprobe.lab.networks.folder import WEIGHTS, Checkpoint, TrainedFolder
from sentprobe.lab.training.decoder import load_generator
from sentprobe.lab.training.lm.model import model_sizes
from sentprobe.lab.training.lm.tokens import Tokens, read_tokens
from sentprobe.lab.training.mt.model import TranslationModel, pad, translate

BATCH = 64
"""Sentences that are translated together."""
OBJECTIVE = "mt"


@dataclass(frozen=True, eq=False)
class TransformerTranslator:
    """A model, and the languages that it translates between."""

    model: TranslationModel
    tokens: Tokens
    source: int
    target: int
    beam: int

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """The translation of each text; that of one without words is empty."""
        rows = self.tokens.encode([" ".join(text.split()) for text in texts])
        max_tokens = self.model.encoder.sizes.positions - 2
        if long := sum(len(row) > max_tokens for row in rows):
            warnings.warn(
                f"{long:,} texts have more than {max_tokens} tokens; what is after them is not translated. Split them "
                "into sentences.",
                SentProbeWarning,
                stacklevel=2,
            )
        translations = [""] * len(rows)
        order = sorted((i for i, row in enumerate(rows) if row), key=lambda i: len(rows[i]))
        device = next(self.model.parameters()).device
        with torch.inference_mode():
            for at in range(0, len(order), BATCH):
                batch = order[at : at + BATCH]
                ids, lengths = (part.to(device) for part in pad([rows[i][:max_tokens] for i in batch]))
                outputs = translate(self.model, ids, lengths, self.source, self.target, self.beam)
                for i, text in zip(batch, self.tokens.decode([output.tokens for output in outputs]), strict=True):
                    translations[i] = text
        return translations


def load_translator(
    folder: TrainedFolder, to: str = "", source: str = "", beam: int = 1, checkpoint: Checkpoint | None = None
) -> Callable[[Sequence[str]], list[str]]:
    """What a folder of ``mt``, or of another objective with a decoder, makes of texts.

    Parameters
    ----------
    folder : TrainedFolder
        The folder.
    to, source : str
        The languages; they may be left out where the folder leaves no choice.
    beam : int
        The width of the beam; 1 is greedy.
    checkpoint : Checkpoint or None
        By default the best one.
    """
    if beam < 1:
        raise UsageError(f"beam={beam}: expected 1 or more.")
    request, facts = folder.config.get("request", {}), folder.config.get("facts", {})
    if request.get("objective") != OBJECTIVE:
        generator = load_generator(folder, checkpoint)
        if to or source:
            raise UsageError(
                f"{folder.path} was trained with {request.get('objective')}, which has one direction: leave the "
                f"language {to or source} out."
            )
        return lambda texts: generator(texts, beam)
    way = _direction(folder, list(map(str, facts.get("directions", ()))), to, source)
    languages = list(map(str, facts["languages"]))
    tokens = read_tokens(folder.job)
    vectors = len(languages) if folder.config.get("use_lang_emb") else 0
    model = TranslationModel(model_sizes(request["encoder_settings"], len(tokens), vectors))
    checkpoint = checkpoint or folder.best()
    try:
        model.load_state_dict(folder.weights(checkpoint))
    except RuntimeError as e:
        raise DataError(f"{folder.path / checkpoint.name / WEIGHTS} is not of this network: {e}.") from None
    device = "cuda" if torch.cuda.is_available() else "cpu"
    first, second = way
    return TransformerTranslator(model.eval().to(device), tokens, languages.index(first), languages.index(second), beam)


def _direction(folder: TrainedFolder, directions: list[str], to: str, source: str) -> tuple[str, str]:
    """The only direction with these languages; UsageError if there is none, or a choice."""
    pairs = [(a, b) for a, _, b in (name.partition("-") for name in directions)]
    matches = [(a, b) for a, b in pairs if to in ("", b) and source in ("", a)]
    if len(matches) == 1:
        return matches[0]
    offer = f"{folder.path} translates {', '.join(directions)}"
    if not matches:
        wanted = " ".join(filter(None, (f"from {source}" * bool(source), f"to {to}" * bool(to))))
        raise UsageError(f"{offer}, and not {wanted}.")
    raise UsageError(f"{offer}: say which language to translate {'from' if to else 'to'}.")
