"""An encoder that `sentprobe train` has trained, at any checkpoint.

    trained:FOLDER[?epoch=…|step=…|random=…&layer=…&pool=…&lang=…&backend=…&device=…]

The weights are those of the checkpoint with the best score on dev, or of the one after an epoch or a number of steps.
``epoch=all`` and ``step=all`` name one encoder per checkpoint, which `sentprobe run` and `sentprobe encode` take one by
one. With ``random=SEED`` the network is untrained: word vectors that were given stay, all other weights are initialised
at random as before training. The same seed gives the same weights with the same version of torch.

Networks are computed by torch. Where it is not installed, or with ``backend=numpy``, numpy computes bags of words and
recurrent networks: the same vectors but for rounding, and other random weights for the same seed.

A vector is what the architecture makes of a sentence. With ``layer`` or ``pool`` it is the mean, maximum or last of the
states of a layer instead: layer 0 has the word vectors, layer 1 the states of the first layer, and so on.

A language model (mlm, clm, tlm) is what ``hf:FOLDER/epoch-003`` makes of it, by default the mean of the last layer;
``lang=fr`` names the language of the texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.core.install import pip_install
from sentprobe.encoders.encoder import TrainingScore, short_repr
from sentprobe.encoders.hub import find_device, import_optional
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.schemes import hf
from sentprobe.encoders.transformer import parse_layers
from sentprobe.errors import EncoderError, NotInstalled, UsageError
from sentprobe.lab.networks.folder import is_language_model
from sentprobe.lab.networks.inference import BACKENDS, Inference, Ints, batches_by_length

if TYPE_CHECKING:
    from sentprobe.encoders.schemes.hf import Transformer as LanguageModel
    from sentprobe.lab.networks.folder import Checkpoint, TrainedFolder
    from sentprobe.lab.networks.vocabulary import Vocabulary

named_file = attrgetter("file")
OPTIONS = {
    "epoch": "the number of an epoch, 0 for before training; best (default), by the score on dev; or all, one encoder "
    "for each",
    "step": "the number of a step, where checkpoints were written between epochs, or all",
    "random": "a seed, 0 or more: weights are initialised at random instead of read, as before training",
    "layer": "a number (-1 is the last), a range 1..2, a list 0,2, or * for all with as many dimensions as the last",
    "pool": "mean (default), max or last (last word): how the states of a layer become a vector",
    "lang": "the language of the texts, for language models over several",
    "backend": "torch (default, if it is installed) or numpy, which computes bags of words and recurrent networks",
    "device": "cuda if available (default), else cpu; or cuda:1, mps, …",
}
"""What may follow the question mark."""
REPLACED_BY_RANDOM = ("epoch", "step")
"""Options that choose weights: an untrained copy has none of them."""
POOLINGS = ("mean", "max", "last")
FloatArray = NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class Trained:
    """A network of ``sentprobe train`` as an encoder: (n, d), or (layers, n, d) for several layers."""

    identity: Identity
    layers: tuple[str, ...] | None
    """Names of the layers if there are several, else None."""
    network: Inference
    vocabulary: Vocabulary
    layer_indices: tuple[int, ...]
    """The layers whose states are pooled, by number; none: the vector of the architecture."""
    pool: str
    width: int
    training_score: TrainingScore | None
    batch_size: int = 1024

    def __repr__(self) -> str:
        layers = f"layer {', '.join(map(str, self.layer_indices))}" if self.layer_indices else ""
        return short_repr(self, f"trained:{self.identity.name}", layers, f"{self.width} dimensions")

    def __call__(self, texts: Sequence[str], /) -> FloatArray:
        """One vector per text and layer."""
        rows = [self.vocabulary.ids(text) for text in as_texts(texts)]
        vectors = np.zeros((max(1, len(self.layer_indices)), len(rows), self.width), np.float32)
        for indices, ids, lengths in self._batches(rows):
            vectors[:, indices] = (
                self.network.pooled(ids, lengths, self.layer_indices, self.pool)
                if self.layer_indices
                else self.network.vectors(ids, lengths)
            )
        return vectors if self.layers else vectors[0]

    def cost(self, texts: Sequence[str], /) -> list[int]:
        """The number of words of each text."""
        return [len(self.vocabulary.ids(text)) for text in as_texts(texts)]

    def words(self, words: Sequence[str], /) -> FloatArray:
        """The mean of the input vectors of each word's tokens (words, d); zeros for a word that is unknown."""
        words = as_texts(words)
        vectors = np.zeros((len(words), self.network.inputs(np.zeros((1, 1), np.int64)).shape[-1]), np.float32)
        for i, word in enumerate(words):
            tokens = [token for part in self.vocabulary.spaced(word).split() for token in self.vocabulary.split(part)]
            if numbers := [number for token in tokens if (number := self.vocabulary.number(token))]:
                vectors[i] = self.network.inputs(np.array([numbers]))[0].mean(0)
        return vectors

    def _batches(self, rows: Sequence[list[int]]) -> Iterator[tuple[list[int], Ints, Ints]]:
        """Places, numbers and lengths of rows of similar length, shortest first."""
        for indices in batches_by_length([len(row) for row in rows]):
            sizes = [len(rows[i]) for i in indices]
            ids = np.zeros((len(indices), sizes[-1]), np.int64)
            for line, i in zip(ids, indices, strict=True):
                line[: len(rows[i])] = rows[i]
            yield indices, ids, np.array(sizes)


@dataclass(frozen=True, eq=False, repr=False)
class MaxPooled(Trained):
    """One whose vector is the maximum over the words of a sentence, dimension by dimension."""

    def selection(self, texts: Sequence[str], /) -> list[list[tuple[str, float]]]:
        """The words of each text, and the share of dimensions whose maximum each of them gives.

        Shares of a text add up to 1; a dimension in which several words have the maximum counts for the first.
        """
        texts = as_texts(texts)
        tokens = [self.vocabulary.tokens(text) for text in texts]
        selections: list[list[tuple[str, float]]] = [[] for _ in texts]
        layer = (self.layer_indices or (len(self.network.widths()) - 1,))[0]
        for indices, ids, lengths in self._batches([self.vocabulary.ids(text) for text in texts]):
            for i, shares in zip(indices, self.network.shares(ids, lengths, layer).tolist(), strict=True):
                selections[i] = list(zip(tokens[i], shares[: len(tokens[i])], strict=True))
        return selections


def load(spec: Spec) -> Trained | LanguageModel:
    """The encoder that ``trained:FOLDER…`` names."""
    options = spec.check_options(OPTIONS)
    if len(conflicting := [key for key in ("epoch", "step", "random") if key in options]) > 1:
        raise UsageError(f"{spec} has {' and '.join(conflicting)}; expected one of epoch, step and random.")
    pool, seed = spec.choice("pool", POOLINGS), spec.integer("random", low=0)
    folder = _folder(spec)
    if is_language_model(folder.config):
        return _load_language_model(
            spec, folder, checkpoint_of(spec, folder) if seed is None else folder.checkpoints()[0]
        )
    if "lang" in options:
        raise UsageError(f"{spec} has lang={options['lang']}, which is for language models over several languages.")
    checkpoint = None if seed is not None else checkpoint_of(spec, folder)
    content = folder.digest(checkpoint)
    network, drawn_by = _network(spec, folder, checkpoint, seed)
    if not folder.job.is_unchanged():
        raise EncoderError(f"{spec} changed while it was loaded; load it again.")
    layers, width = _layers(spec, network)
    identity = Identity.of(
        "trained",
        folder.path.resolve().name,
        checkpoint=checkpoint.name if checkpoint else None,
        content=content,
        layer=layers[0] if len(layers) == 1 else None,
        pool=pool if layers else None,
        random=seed,
        drawn_by=None if seed is None else drawn_by,
    )
    by_max = pool == "max" and len(layers) == 1 if layers else network.pools_max
    return (MaxPooled if by_max else Trained)(
        identity,
        tuple(map(str, layers)) if len(layers) > 1 else None,
        network,
        folder.vocabulary,
        layers,
        pool,
        width,
        None if checkpoint is None else _training_score(folder, checkpoint),
    )


def expand(spec: Spec) -> list[str]:
    """The names of the encoders that ``epoch=all`` or ``step=all`` stands for; the name itself without these."""
    expanded = [key for key, value in spec.options if key in REPLACED_BY_RANDOM and value == "all"]
    if not expanded:
        return [str(spec)]
    folder, kind = _folder(spec), expanded[0]
    numbers = [getattr(c, kind) for c in folder.checkpoints() if c.kind == kind]
    if not numbers:
        raise UsageError(f"{spec}: {folder.path} has no checkpoint after {'an epoch' if kind == 'epoch' else 'steps'}.")
    options = [tuple((k, str(n) if k == kind else v) for k, v in spec.options) for n in numbers]
    return [str(Spec(spec.scheme, spec.name, spec.revision, checkpoint_options)) for checkpoint_options in options]


def _network(
    spec: Spec, folder: TrainedFolder, checkpoint: Checkpoint | None, seed: int | None
) -> tuple[Inference, str]:
    """The network on torch or numpy, and what draws its random weights."""
    options = dict(spec.options)
    backend = spec.choice("backend", BACKENDS) if "backend" in options else ""
    if backend != "numpy":
        try:
            torch = import_optional("torch", "trained: needs", "train")
        except NotInstalled:
            if backend or "device" in options:
                raise
        else:
            from sentprobe.lab.networks.inference_torch import TorchInference

            device = find_device(spec, options.get("device"))
            encoder = folder.encoder(checkpoint, seed).to(device)
            return TorchInference(encoder, device), f"torch {torch.__version__}"
    from sentprobe.lab.networks.inference_numpy import DRAWN_BY, FORMS, load_numpy

    if "device" in options:
        raise UsageError(f"{spec} has a device, and numpy computes on the CPU only: leave out device or backend.")
    if (name := folder.network.architecture) not in FORMS:
        raise NotInstalled(
            f"trained: needs torch for {name}; without it, numpy computes {', '.join(FORMS)}: {pip_install('train')}"
        )
    return load_numpy(folder, checkpoint, seed), DRAWN_BY


def _folder(spec: Spec) -> TrainedFolder:
    from sentprobe.lab.networks.folder import open_folder

    if not spec.path:
        raise UsageError(f"{spec} names no folder; expected trained:FOLDER, of `sentprobe train … -o FOLDER`.")
    return open_folder(Path(spec.path).expanduser())


def checkpoint_of(spec: Spec, folder: TrainedFolder) -> Checkpoint:
    """The checkpoint that a name stands for."""
    options = dict(spec.options)
    for kind in ("epoch", "step"):
        if options.get(kind) == "all":
            expand(spec)  # there may be none
            raise UsageError(f"{spec} names one encoder per checkpoint, where one is expected: name one, {kind}=N.")
        if kind in options and (kind, options[kind]) != ("epoch", "best"):
            return folder.find(kind, spec.integer(kind, 0, low=0))
    return folder.best()


def _layers(spec: Spec, network: Inference) -> tuple[tuple[int, ...], int]:
    """The layers to pool, none for the architecture's own vector; and the dimensions of a vector."""
    options = dict(spec.options)
    if not {"layer", "pool"} & set(options):
        return (), network.size
    widths = network.widths()
    if (text := options.get("layer", "-1")) == "*":
        return tuple(i for i, width in enumerate(widths) if width == widths[-1]), widths[-1]
    layers = parse_layers(spec, text, len(widths), OPTIONS["layer"])
    if len({widths[i] for i in layers}) > 1:
        widths_of_layers = ", ".join(f"{i} has {widths[i]}" for i in layers)
        raise UsageError(
            f"{spec}: layers of one encoder must have the same number of dimensions; layer {widths_of_layers}."
        )
    return layers, widths[layers[0]]


def _training_score(folder: TrainedFolder, checkpoint: Checkpoint) -> TrainingScore | None:
    """The score on dev that selects checkpoints, where it was computed."""
    name = folder.config.get("selection")
    value = folder.scores(checkpoint).get(name) if isinstance(name, str) else None
    if value is None:
        return None
    return TrainingScore(str(name), value, maximise=folder.config.get("maximise") is not False)


def _load_language_model(spec: Spec, folder: TrainedFolder, checkpoint: Checkpoint) -> LanguageModel:
    """What ``hf:`` makes of a checkpoint; with ``random``, of its configuration."""
    spec_options = dict(spec.options)
    if "backend" in spec_options:
        raise UsageError(f"{spec}: language models are computed by torch; leave backend={spec_options['backend']} out.")
    options = tuple((key, value) for key, value in spec.options if key not in REPLACED_BY_RANDOM)
    encoder = hf.load(Spec("hf", str(folder.path / checkpoint.name), None, options))
    encoder = replace(encoder, languages=tuple(map(str, folder.config.get("lang2id", ()))))
    name, facts = folder.path.resolve().name, dict(encoder.identity.facts)
    if "random" not in spec_options:
        return replace(encoder, identity=Identity.of("trained", name, checkpoint=checkpoint.name, **facts))
    facts["drawn_by"] = _draw_weights(encoder.model, int(spec_options["random"]))
    return replace(encoder, identity=Identity.of("trained", name, **facts))


def _draw_weights(model: Any, seed: int) -> str:
    """Give a model the random weights that training would begin with, since `transformers` draws others; by what."""
    import torch

    from sentprobe.lab.networks.xlm import XLM, Sizes

    config = model.config
    sizes = Sizes(
        config.vocab_size,
        config.n_langs if hasattr(model, "lang_embeddings") else 0,
        config.emb_dim,
        config.n_layers,
        config.n_heads,
        config.max_position_embeddings,
        config.dropout,
        config.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model.load_state_dict(XLM(sizes).state_dict())
    return f"torch {torch.__version__}"
