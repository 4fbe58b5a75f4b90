"""The files in the folder of a trained encoder: their names, and what to do about one that has changed."""

from __future__ import annotations

from pathlib import Path

COMMAND = "sentprobe train"
CONFIG, VOCABULARY, VECTORS = "config.json", "vocabulary.json", "vectors.npy"
WEIGHTS = "model.safetensors"
"""In the folder of each checkpoint; and that of a language model itself, for `transformers`: those of the best one."""
BEST, LOG, RESUME = "best.json", "training.jsonl", "resume.safetensors"


def may_be_deleted(folder: Path, name: str) -> bool:
    """Whether a file may be missing: the scores tell as much, training begins again, or all of a checkpoint is gone."""
    checkpoint = Path(name).parent.name
    return name in (BEST, RESUME) or (bool(checkpoint) and not (folder / checkpoint).is_dir())


def remedy(name: str) -> str:
    """What to do about a file that has changed, or is missing."""
    checkpoint, again = Path(name).parent.name, "repeat the command with which it was trained"
    if checkpoint:
        return f"Restore it, or delete the folder {checkpoint}: the other checkpoints can be used."
    if name == BEST:
        return f"Restore it, or delete it: {LOG} has the scores, too."
    if name == RESUME:
        return f"Restore it, or delete it and {again}: training begins again; checkpoints are kept meanwhile."
    if name == WEIGHTS:
        return "Restore it: it is a copy of that of the best checkpoint."
    return f"Restore it, or {again}, in a new folder."
