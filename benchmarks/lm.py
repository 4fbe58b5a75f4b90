"""`sentprobe train mlm` beside XLM's own training code, and beside the Trainer of `transformers` with its XLM.

    python benchmarks/lm.py [--xlm FOLDER] [--text FILE] [--hidden 256] [--layers 4] [--heads 8] [--codes 8000]
                            [--length 256] [--streams 16] [--steps 5] [--rounds 3]

``--xlm`` is a checkout of facebookresearch/XLM at commit cd281d3; without it, that side is left out. ``--text`` has
sentences, one a line; without it, they are those of the built-in corpus.

All sides train a masked language model of the same size (dropout 0.1, also of attention) on streams of the same tokens,
as many in a batch, in one process on one thread, in turns. A step is all that their loops do: choosing and masking
tokens, forward, backward, clipping, Adam. Seconds are CPU seconds; the figures are ratios of the medians of all steps.
`transformers` has no vectors of languages here, and chooses tokens with equal chances, which is less work.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from common import xlm_code

SHORT = "--xlm {xlm} --hidden 64 --layers 2 --heads 4 --codes 1000 --length 64 --streams 8 --steps 8 --rounds 2"


def sentprobe_step(folder: Path, file: Path, given: argparse.Namespace) -> tuple[Callable[[], None], Any]:
    """A function that makes one step of our loop, and what was prepared for it."""
    from accelerate import Accelerator

    from sentprobe.lab.networks.folder import TrainedFolder
    from sentprobe.lab.training import OBJECTIVES
    from sentprobe.lab.training.examples import epoch_steps
    from sentprobe.lab.training.plan import TrainingPlan
    from sentprobe.lab.training.request import make_request
    from sentprobe.lab.training.step import Updater, make_optimiser

    settings = {
        "hidden": given.hidden, "layers": given.layers, "heads": given.heads, "codes": given.codes,
        "length": given.length, "tokens": given.length * given.streams,
    }  # fmt: skip
    request = make_request("mlm", settings=settings, train=(f"en={file}", f"fr={file}"), held_out=10)
    prepared = OBJECTIVES.get("mlm").prepare(TrainingPlan(request, folder))
    accelerator = Accelerator(cpu=True)
    optimiser = accelerator.prepare(make_optimiser(prepared, request.options))
    updater = Updater(prepared, request.options, accelerator, accelerator.prepare(prepared.model), optimiser)
    prepared.model.train()

    def steps() -> Iterator[None]:
        number = 0
        while True:
            for step in epoch_steps(prepared.streams, request.options.batch, 1, number):
                number += 1
                updater.step(step, 5e-4, 1, number, TrainedFolder(folder))
                yield

    going = steps()
    return lambda: next(going), prepared


def transformers_seconds(tokens: Any, size: int, given: argparse.Namespace, steps: int, folder: Path) -> list[float]:
    """CPU seconds of each step of the Trainer of `transformers`."""
    import torch
    import transformers

    config = transformers.XLMConfig(
        vocab_size=size, emb_dim=given.hidden, n_layers=given.layers, n_heads=given.heads, n_langs=1, dropout=0.1,
        attention_dropout=0.1, bos_token_id=0, eos_token_id=1, pad_token_id=2, unk_index=3, mask_index=4,
    )  # fmt: skip
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    whole = torch.from_numpy(tokens[: len(tokens) // given.length * given.length].astype("int64"))
    rows = [{"input_ids": row} for row in whole.view(-1, given.length)]
    times: list[float] = []

    class Clock(transformers.TrainerCallback):  # type: ignore[misc]
        """Notes the time of each step."""

        def on_step_end(self, *_: Any, **__: Any) -> None:
            """One more."""
            times.append(time.process_time())

    trainer = transformers.Trainer(
        transformers.XLMWithLMHeadModel(config),
        transformers.TrainingArguments(
            str(folder / "trainer"), use_cpu=True, max_steps=steps + 1, per_device_train_batch_size=given.streams,
            logging_strategy="no", save_strategy="no", report_to=[], disable_tqdm=True, max_grad_norm=5.0,
        ),
        transformers.DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15),
        rows,
        callbacks=[Clock()],
    )  # fmt: skip
    trainer.train()
    return [after - before for before, after in pairwise(times)]


def clocked(step: Callable[[], None], steps: int) -> list[float]:
    """CPU seconds of each of some steps."""
    found = []
    for _ in range(steps):
        began = time.process_time()
        step()
        found.append(time.process_time() - began)
    return found


def main() -> None:
    """Print words per second, and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xlm", type=Path)
    parser.add_argument("--text", type=Path)
    for name, default in (("hidden", 256), ("layers", 4), ("heads", 8), ("codes", 8000), ("length", 256)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("streams", 16), ("steps", 5), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    import numpy as np
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = given.text
        if file is None:
            from sentprobe.corpus import Corpus

            file = folder / "text.txt"
            file.write_text("".join(f"{sentence.text}\n" for sentence in Corpus.synthetic(20_000)), "utf-8")
        ours, prepared = sentprobe_step(folder / "sentprobe", file, given)
        for path, content in prepared.files.items():
            (folder / path).write_bytes(content)
        size = prepared.model.transformer.sizes.tokens
        tokens = _tokens(file, folder)
        sides: dict[str, Callable[[int], list[float]]] = {"sentprobe": lambda n: clocked(ours, n)}
        if given.xlm is None:
            print("XLM's own code: skipped, needs --xlm with a checkout at commit cd281d3", flush=True)
        else:
            xlm_code.copy_patched(given.xlm, folder / "code")
            sizes = SimpleNamespace(
                tokens=size, hidden=given.hidden, layers=given.layers, heads=given.heads, batch=given.streams,
                length=given.length,
            )  # fmt: skip
            theirs = xlm_code.mlm_step(folder / "code", tokens[1:], np.bincount(tokens, minlength=size), sizes)
            sides["xlm"] = lambda n: clocked(theirs, n)
        sides["trainer"] = lambda n: transformers_seconds(tokens, size, given, n, folder)
        for side in sides.values():  # a warm-up
            side(1)
        times: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(given.rounds):
            for side, run in sides.items():
                times[side] += run(given.steps)
    each = given.streams * given.length
    medians = {side: statistics.median(found) for side, found in times.items()}
    for side, seconds in medians.items():
        low, high = (each / end(times[side]) for end in (max, min))
        print(f"{side:8} {each / seconds:8,.0f} tokens per CPU second ({low:,.0f} to {high:,.0f})", flush=True)
    for side in [*medians][1:]:
        print(f"= lm/{side}-speedup {medians[side] / medians['sentprobe']:.3f}")


def _tokens(file: Path, folder: Path) -> Any:
    """The text as one stream of tokens, each sentence with its end."""
    import numpy as np

    from sentprobe.core.reader import read_lines
    from sentprobe.lab.training.lm.tokens import END, read_tokens

    lines = [line.strip() for _, line in read_lines(file) if line.strip()]
    rows = read_tokens(folder).encode(lines)
    return np.array([END, *(token for row in rows for token in (*row, END))], np.int32)


if __name__ == "__main__":
    main()
