"""A small alignment that can be asked: planted spaces, the target a rotation of the source plus noise."""

from dataclasses import replace

import numpy as np

from sentprobe.lab.alignment.maps import SideMap, WordMap, prepare
from sentprobe.lab.alignment.methods.procrustes import orthogonal
from sentprobe.lab.alignment.space import read_space
from tests.lab.alignment.planted import write_alignment

ODD = {
    5: ("<b>bold</b>", "<img src=x onerror=alert(1)>"),
    6: ("שלום", "سلام"),
    7: ("donaudampfschifffahrtsgesellschaft" * 5, "лес" * 60),
    8: ("evil\u202eword", "{{7*7}}"),
    9: ("Paris", "Paris"),
    10: ("new_york", "nueva_york"),
}
"""Row → words that a page has to escape, isolate or break."""
N, DIM = 400, 12


def words(side, n=N):
    """Names that are one of another's spellings only if they are of the same row."""
    letters = "bcdfghklmnprstvz"
    made = [f"{side}{letters[i // 256 % 16]}a{letters[i // 16 % 16]}o{letters[i % 16]}i" for i in range(n)]
    for row, pair in ODD.items():
        made[row] = pair[side == "t"]
    return made


def write_vectors(path, names, vectors):
    lines = (f"{word} {' '.join(map(str, row))}\n" for word, row in zip(names, vectors, strict=True))
    path.write_text(f"{len(names)} {vectors.shape[1]}\n" + "".join(lines), encoding="utf-8")


def alignment(folder, steps=("unit", "center"), noise=0.2):
    """Written as `sentprobe align` does; the checkpoints know fewer pairs."""
    rng = np.random.default_rng(4)
    source = rng.normal(size=(N, DIM)) + 0.5
    rotation = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0]
    target = source @ rotation + noise * rng.normal(size=(N, DIM))
    folder.mkdir(parents=True)
    spaces, sides = [], []
    for name, vectors in (("source", source), ("target", target)):
        write_vectors(folder / f"{name}.vec", words(name[0]), vectors.round(5))
        spaces.append(read_space(str(folder / f"{name}.vec")))
        sides.append(prepare(spaces[-1].vectors, steps))
    maps = {}
    for name, n in (("map", N), ("epoch-001", 10), ("refine-001", 100)):
        matrix = orthogonal(spaces[0].vectors[:n], spaces[1].vectors[:n])
        maps[name] = WordMap(replace(sides[0], matrix=matrix), sides[1])
    about = {
        name: {"path": str(folder / f"{name}.vec"), "limit": None, "digest": space.digest, "words": len(space)}
        for name, space in zip(("source", "target"), spaces, strict=True)
    }
    config = {**about, "steps": list(steps), "method": "procrustes"}
    return write_alignment(folder, config, maps.pop("map"), maps)


def stretched(folder):
    """The same with a map that is not orthogonal, to fewer dimensions, on either side."""
    rng = np.random.default_rng(5)
    matrices = [rng.normal(size=(DIM, 7)).astype(np.float32) for _ in range(2)]
    return write_alignment(alignment(folder, steps=()), chosen=WordMap(*(SideMap(matrix=m) for m in matrices)))
