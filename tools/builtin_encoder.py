"""Train the encoder that comes with sentprobe, and put it where ``builtin:`` reads it.

    python tools/builtin_encoder.py WORK

WORK is a folder for the training data and the training itself, about fifteen minutes of processor time. The encoder
reads sentences of the built-in grammar, seed 1, and learns to write their constituency trees; probing sets of
`sentprobe make --builtin` are made from seed 0. No sentence of the training data is among the first 100,000 of that
seed, up to case, digits and punctuation; this is checked before training.

Weights are rounded to half precision: those in the package are the encoder. The same command gives the same weights
with the same version of torch on the same kind of processor.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save

from sentprobe.core.files import encode_json
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.grammar import sentence
from sentprobe.lab.networks.folder import BEST, CONFIG, ENCODER, LOG, VOCABULARY, WEIGHTS, TrainedFolder

SENTENCES, SEED = 50_000, 1
"""What it is trained on: the first so many sentences of the corpus of this seed."""
UNSEEN, UNSEEN_SEED = 100_000, 0
"""What it is not trained on."""
COMMAND = (
    "sentprobe train tree -a bilstm-max --train train.trees --held-out 400 --case lower --words 20000 --width "
    "48 --set hidden=64 --set decoder=128 --set decoder_layers=1 --set target_width=32 --set decoded=100 "
    "--lr 0.003 --epochs 6 --seed 1 --out encoder"
)
PLACE = Path(__file__).parents[1] / "sentprobe" / "encoders" / "builtin"


def write_trees(file: Path) -> None:
    """Write the trees to train on, one a line; fail if one of their sentences is among the unseen ones."""
    unseen = {near_duplicate_key(sentence(i, UNSEEN_SEED).text) for i in range(UNSEEN)}
    with file.open("w") as out:
        for i in range(SENTENCES):
            found = sentence(i, SEED)
            if near_duplicate_key(found.text) in unseen:
                sys.exit(f"sentence {i} of seed {SEED} is a sentence of seed {UNSEEN_SEED}, too: {found.text}")
            out.write(f"{found.tree}\n")


def ship(folder: TrainedFolder, place: Path) -> None:
    """Copy what encoding needs of the best checkpoint, with weights in half precision."""
    best = folder.best()
    source = folder.path / best.name / WEIGHTS
    with safe_open(source, "numpy") as file:
        about = file.metadata()
    weights = {k: v.astype(np.float16) for k, v in load_file(source).items() if k.startswith(ENCODER)}
    config = {**folder.config, "sentences": {"grammar": SENTENCES, "seed": SEED, "unseen seed": UNSEEN_SEED}}
    shipped = TrainedFolder(place).job
    at = {"epoch": best.epoch, "step": best.step}
    shutil.rmtree(place, ignore_errors=True)
    with shipped.writing():
        shipped.write({VOCABULARY: folder.job.read(VOCABULARY), BEST: folder.job.read(BEST)})
        shipped.write({f"{best.name}/{WEIGHTS}": save(weights, about)}, at)
        shipped.append(LOG, {"epoch": best.epoch, "checkpoint": best.name, "scores": folder.scores(best)})
        shipped.write({CONFIG: encode_json(config)})
    (place / "card.md").write_bytes((folder.path / "card.md").read_bytes())


def main() -> None:
    """Write the data, train, and ship."""
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    if not (work / "train.trees").exists():
        write_trees(work / "train.trees")
    subprocess.run([sys.executable, "-m", *COMMAND.split()], cwd=work, check=True)
    ship(TrainedFolder(work / "encoder"), PLACE)
    shipped = TrainedFolder(PLACE)
    print("CONTENT of sentprobe/encoders/schemes/builtin.py:", shipped.digest(shipped.best()))


if __name__ == "__main__":
    main()
