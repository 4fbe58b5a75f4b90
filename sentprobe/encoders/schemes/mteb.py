"""A model as MTEB loads it: with MTEB's own loader, revision and prompts.

    mteb:OWNER/NAME[@revision][?task=…&prompt_type=…&dim=…&device=…&trust_remote_code=true]

MTEB has loaders for models that need more than ``st:`` does: prompts by task, instructions, servers of companies. The
prompt is the one for ``task``, a task of MTEB; the default stands for classification. Some of these models send texts
to a server. Code that comes with a model is run with ``trust_remote_code=true`` only, whatever the loader says.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, partialmethod
from typing import TYPE_CHECKING, Any
from unittest import mock

from sentprobe.core.arguments import as_texts
from sentprobe.core.network import call_within
from sentprobe.core.third_party import summarise_error
from sentprobe.core.words import replace_surrogates
from sentprobe.encoders import hub
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import EncoderError, Offline, UsageError

if TYPE_CHECKING:
    from sentprobe.encoders.transformer import FloatArray

SENDS_TEXTS = True
"""Some do."""
DEFAULT_TASK = "Banking77Classification"
OPTIONS = {
    "task": f"the task of MTEB whose prompt is used (default: {DEFAULT_TASK}, which stands for classification)",
    "prompt_type": "query or document, for models that tell them apart (default: neither)",
    "dim": "dimension of the vectors, for models that can shorten them",
    "device": "as MTEB's loader chooses (default); or cpu, cuda:1, …",
    "trust_remote_code": "true: run the code that comes with the model; read it first",
}
"""What may follow the question mark."""


@dataclass(frozen=True, eq=False, repr=False)
class MtebModel:
    """A model of MTEB as an encoder."""

    identity: Identity
    model: Any
    task: Any
    """The metadata of the task whose prompt is used."""
    prompt_type: Any
    languages: tuple[str, ...] = ()
    batch_size: int = 256
    caveat: str = "Its vectors are stored under MTEB's revision of the model; what its loader does cannot be verified."

    def __repr__(self) -> str:
        return short_repr(self, f"mteb:{self.identity.name}")

    def __call__(self, texts: Sequence[str], /) -> FloatArray:
        """One vector per text."""
        import numpy as np
        from datasets import Dataset  # which MTEB needs
        from torch.utils.data import DataLoader

        texts = as_texts(texts)
        if not texts:
            return np.zeros((0, 0), np.float32)
        rows: Any = Dataset.from_dict({"text": [replace_surrogates(text) for text in texts]})
        with _quiet():
            output = self.model.encode(
                DataLoader(rows, batch_size=64),
                task_metadata=self.task,
                hf_split="test",
                hf_subset="default",
                prompt_type=self.prompt_type,
                show_progress_bar=False,
            )
        vectors = output.float().cpu().numpy() if hasattr(output, "float") else output
        return np.asarray(vectors, np.float32)


def load(spec: Spec) -> MtebModel:
    """The model that ``mteb:OWNER/NAME…`` names."""
    options, trusted = spec.check_options(OPTIONS), hub.trusts_code(spec)
    prompt_type = spec.choice("prompt_type", ("", "query", "document"))
    dim = spec.integer("dim")
    mteb = hub.import_optional("mteb", "mteb: needs", "mteb")
    if not spec.name:
        raise UsageError("mteb: needs the name of a model, such as mteb:intfloat/multilingual-e5-small.")
    try:
        task = mteb.get_task(options.get("task", DEFAULT_TASK)).metadata
    except Exception as why:
        raise UsageError(f"{spec} has task={options.get('task')}, which is not a task of MTEB: {why}.") from why
    try:
        meta = mteb.get_model_meta(spec.name, spec.revision)
    except (KeyError, ValueError) as why:
        raise UsageError(
            f"{spec}: {str(why.args[0]).rstrip('.')}. Models without a loader of MTEB are for st:."
        ) from why
    if not trusted and meta.loader_kwargs.get("trust_remote_code"):
        raise _needs_trust(spec)
    _check_reachable(spec, meta)
    device = options.get("device")
    with hub.loading(spec), _quiet(), _remote_code(spec, allowed=trusted):
        model = meta.load_model(device=device, **({} if dim is None else {"embed_dim": dim}))
    if not callable(getattr(model, "encode", None)):
        raise EncoderError(f"{spec} is a {type(model).__name__}, which has no vectors of single texts.")
    identity = Identity.of(
        "mteb",
        meta.name,
        revision=meta.revision,
        task=task.name,
        prompt_type=prompt_type or None,
        dim=dim,
        mteb=hub.import_optional("mteb").__version__,
        trust_remote_code="true" if trusted else None,
    )
    return MtebModel(identity, model, task, mteb.types.PromptType(prompt_type) if prompt_type else None)


def _needs_trust(spec: Spec) -> EncoderError:
    return EncoderError(
        f"{spec} comes with code of its own, which sentprobe does not run unless you add trust_remote_code=true; read "
        "that code first."
    )


def _check_reachable(spec: Spec, meta: Any) -> None:
    """Offline at once if the weights are to be downloaded and the hub does not answer: loaders try for minutes."""
    client = hub.import_optional("huggingface_hub", "mteb: needs", "mteb")
    is_on_hub = {"Sentence Transformers", "PyTorch", "Transformers"} & {str(name) for name in meta.framework or ()}
    if not is_on_hub or not meta.open_weights:
        return
    files = [(meta.name, file) for file in ("config.json", "modules.json")]
    if any(isinstance(client.try_to_load_from_cache(*file, revision=meta.revision), str) for file in files):
        return
    try:
        ask = partial(client.HfApi().model_info, meta.name, timeout=hub.HUB_TIMEOUT_SECONDS)
        call_within(hub.HUB_TIMEOUT_SECONDS, ask)
    except Exception as why:
        raise Offline(
            f"{spec}: the model hub cannot be reached ({summarise_error(why)}) and {meta.name} is not in the local "
            f"cache. Where there is a network, `hf download {meta.name}`."
        ) from why


@contextmanager
def _remote_code(spec: Spec, *, allowed: bool) -> Iterator[None]:
    """Whatever a loader says: code that comes with a model is fetched only if the user allows it."""

    def refuse(*_: object, **__: object) -> None:
        raise _needs_trust(spec)

    if allowed:
        yield
        return
    with mock.patch("transformers.dynamic_module_utils.get_cached_module_file", refuse):
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """Without log messages, warnings and progress bars of MTEB and the library that it calls."""
    import tqdm

    logger = logging.getLogger("mteb")
    level = logger.level
    logger.setLevel(logging.ERROR)
    silent = partialmethod(tqdm.tqdm.__init__, disable=True)  # not all loaders know show_progress_bar
    try:
        with warnings.catch_warnings(), mock.patch.object(tqdm.tqdm, "__init__", silent):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
