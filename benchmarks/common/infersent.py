"""InferSent's own training code, made to run on a CPU: what `sentprobe train` is measured beside.

A checkout of https://github.com/facebookresearch/InferSent at commit ec6b065 is copied, calls of CUDA are taken out,
and what today's numpy and Python refuse is replaced. None of it changes what is computed, or how fast.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPLACED = {
    "train_nli.py": (
        (r"^(torch\.cuda\..*|nli_net\.cuda\(\)|loss_fn\.cuda\(\))$", ""),
        (r"\.cuda\(\)", ""),
        (r"(for sent in eval\(data_type\)\[split\]\])\)", r"\1, dtype=object)"),
    ),
    "models.py": ((r"np\.array\(sentences\)\[", "np.array(sentences, dtype=object)["),),
    "mutils.py": ((r"inspect\.getargspec\(", "inspect.getfullargspec("),),
    "data.py": (),
}
"""By file: patterns and what stands in their place. A checkout in which this was done by hand works, too."""
LAST_SECTION = '"""\nTrain model on Natural Language Inference task\n"""'
"""What comes before it defines everything; what comes after it, which is left out, trains until the end."""


def copy_patched(checkout: Path, folder: Path) -> None:
    """Copy the four files that training needs."""
    folder.mkdir(parents=True)
    for name, replaced in REPLACED.items():
        source = (checkout / name).read_text("utf-8")
        for pattern, by in replaced:
            source = re.sub(pattern, by, source, flags=re.MULTILINE)
        (folder / name).write_text(source, "utf-8")
    script = folder / "train_nli.py"
    definitions, found, _ = script.read_text("utf-8").partition(LAST_SECTION)
    if not found:
        sys.exit(f"{checkout / 'train_nli.py'} is not that of commit ec6b065.")
    script.write_text(definitions, "utf-8")


@contextlib.contextmanager
def _quiet(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        sys.path.remove(str(folder))


def train(folder: Path, words: list[str], epochs: int) -> list[float]:
    """Run its training script with these arguments for some epochs; returns its accuracy on dev after each."""
    before, sys.argv = sys.argv, ["train_nli.py", *words]
    try:
        with _quiet(folder):
            script: Any = importlib.import_module("train_nli")
            found = []
            for epoch in range(1, epochs + 1):
                script.trainepoch(epoch)
                found.append(float(script.evaluate(epoch, "valid")))
            return found
    finally:
        sys.argv = before


def build_encoder(folder: Path, vectors: Path, width: int, hidden: int, texts: list[str]) -> Any:
    """Its encoder, with random weights and the vectors of the words of some texts."""
    with _quiet(folder):
        config = {
            "bsize": 64, "word_emb_dim": width, "enc_lstm_dim": hidden, "pool_type": "max", "dpout_model": 0.0,
        }  # fmt: skip
        model = importlib.import_module("models").InferSent(config).eval()
        model.set_w2v_path(str(vectors))
        model.build_vocab(texts, tokenize=False)
    return model
