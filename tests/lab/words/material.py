"""Small spaces that we make up: words of two languages in one space, up to a rotation."""

import numpy as np

from sentprobe.lab.alignment.maps import SideMap, WordMap
from sentprobe.lab.alignment.space import Space
from tests.lab.alignment.planted import write_alignment

WORDS = 60
DIM = 12


def vectors(rows=WORDS, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, DIM)).astype(np.float32)


def rotation(seed=7):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(DIM, DIM)))[0].astype(np.float32)


def space(words, table, name="made"):
    return Space(name, list(words), np.asarray(table, np.float32), f"digest of {name}")


def write_vectors(path, words, table):
    lines = [f"{len(words)} {table.shape[1]}"]
    lines += [f"{word} {' '.join(f'{x:.6f}' for x in row)}" for word, row in zip(words, table, strict=True)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def en(rows=WORDS):
    return [f"en{i}" for i in range(rows)]


def fr(rows=WORDS):
    return [f"fr{i}" for i in range(rows)]


def files(folder, noise=0.05):
    """English and French: French is the same space, with noise, rotated."""
    one = vectors()
    two = (one + noise * vectors(seed=1)) @ rotation()
    return write_vectors(folder / "en.vec", en(), one), write_vectors(folder / "fr.vec", fr(), two)


def alignment(folder, source, target, matrix, checkpoints=(), criterion=0.9):
    """What `sentprobe align` leaves."""
    from sentprobe.lab.alignment.space import read_space

    about = {}
    for side, path in (("source", source), ("target", target)):
        read = read_space(str(path))
        about[side] = {"path": str(path), "limit": None, "words": len(read), "digest": read.digest}
    chosen = WordMap(SideMap(matrix=np.asarray(matrix, np.float32)), SideMap())
    maps, lines = {"result": chosen}, []
    for stage, number, value, own in checkpoints:
        maps[f"{stage}-{number:03d}"] = WordMap(SideMap(matrix=np.asarray(own, np.float32)), SideMap())
        lines.append({"seed": 0, "stage": stage, "number": number, "criterion": value})
    config = {**about, "steps": [], "method": "procrustes", "chosen": 0}
    config["seeds"] = [{"seed": 0, "criterion": criterion}]
    return write_alignment(folder, config, chosen, maps, lines)
