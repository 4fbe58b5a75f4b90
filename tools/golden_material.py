"""The files that the commands of ``golden_commands.txt`` read, written to the current folder; all synthetic."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from sentprobe import Corpus

ENCODER = """
def encode(texts):
    return [[len(t), t.count("ed "), t.count("s "), sum(map(ord, t)) % 97] for t in texts]
"""
LAYERS = """
import numpy as np

def encode(texts):
    flat = np.array([[len(t), t.count("ed "), t.count("s "), sum(map(ord, t)) % 97] for t in texts], dtype=np.float32)
    return np.stack([flat, np.tanh(flat / 50), flat[:, ::-1] ** 2])
"""
ANNOTATOR = """
import re
from sentprobe import Sentence

def annotate(texts, is_split):
    return [[parsed(part) for part in re.findall(r"[^.?!]+[.?!]", text)] for text in texts]

annotate.version, annotate.licence, annotate.language = "1", "CC0", "en"
annotate.columns, annotate.universal = ("upos", "heads", "deprels"), True

def parsed(text):
    forms = tuple(re.findall(r"\\w+|[^\\w\\s]", text))
    heads = (-1, *[0] * (len(forms) - 1))
    return Sentence("", text.strip(), forms, upos=("NOUN",) * len(forms), heads=heads,
                    deprels=("root", *["dep"] * (len(forms) - 1)))
"""
TASK = """
from sentprobe import Example, Policy, Task


def propose(s, context):
    negated = [i for i, form in enumerate(s.forms) if form.lower() in ("not", "n't", "never")]
    return Example.of(s, "neg" if negated else "pos", marks=negated)


task = Task(
    name="negation", version=1, question="Is the sentence negated?", paper="ours", propose=propose,
    labels=("neg", "pos"), policies={"ours": Policy(sizes=(200, 40, 40))},
)
"""
LABELS = ("entailment", "neutral", "contradiction")


def write(name: str, lines: list[str], encoding: str = "utf-8") -> None:
    """Write lines to a file, and make its folder."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text("".join(f"{line}\n" for line in lines), encoding)


def write_texts(texts: list[str]) -> None:
    """Plain text, NLI pairs, a table, and two of SentEval's transfer tasks."""
    other = [texts[i if i % 3 == 0 else -i - 1] for i in range(600)]
    write("nli.tsv", [f"{texts[i]}\t{other[i]}\t{LABELS[i % 3]}" for i in range(600)])
    write("text.en", texts[:600])
    write("head.en", texts[:20])
    write("text.xx", [text.swapcase() for text in texts[:600]])
    write("story.txt", [f"{text}\n" for text in texts[:400]])
    write("lines.txt", texts[:2500])
    quoted = [text.replace('"', '""') for text in texts[:900]]
    kinds = ["question" if text.endswith("?") else "long" if len(text) > 60 else "short" for text in texts[:900]]
    write("reviews.csv", ["text,label,author", *(f'"{quoted[i]}",{kinds[i]},{i % 50}' for i in range(900))])
    senteval = "senteval/downstream"
    write(
        f"{senteval}/MR/rt-polarity.pos",
        [f"{text} {'good' if i % 2 else 'thing'}" for i, text in enumerate(texts[:150])],
    )
    write(f"{senteval}/MR/rt-polarity.neg", [f"{text} thing" for text in texts[150:300]])
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    for split, start, end in (("train", 0, 120), ("trial", 120, 160), ("test_annotated", 160, 200)):
        rows = (
            (i, texts[i], texts[i if i % 3 == 0 else i + 1], f"{1 + (i * 7) % 5 * 0.9:.1f}", LABELS[i % 3].upper())
            for i in range(start, end)
        )
        write(f"{senteval}/SICK/SICK_{split}.txt", [head, *("\t".join(map(str, row)) for row in rows)])


def write_vectors(texts: list[str]) -> None:
    """Two word spaces, one a rotated and noisy copy of the other, with dictionaries; vectors of the texts' words."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(600, 20)).astype(np.float32)
    rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    noisy = table @ rotation + rng.normal(scale=0.05, size=table.shape)
    for name, matrix in (("a", table), ("b", noisy)):
        rows = [f"{name}{i} " + " ".join(f"{v:.5f}" for v in row) for i, row in enumerate(matrix)]
        write(f"{name}.vec", [f"{len(rows)} 20", *rows])
    pairs = [f"a{i} b{i}" for i in range(600)]
    write("train.dict", pairs[:300])
    write("test.dict", pairs[300:500])
    draw = random.Random(0)
    sentences = [[draw.randrange(600) for _ in range(6)] for _ in range(300)]
    for name in "ab":
        write(f"sents.{name}", [" ".join(f"{name}{i}" for i in sentence) for sentence in sentences])
    write("similarity.txt", [f"a{i}\ta{i + 1}\t{float(table[i] @ table[i + 1]):.3f}" for i in range(0, 200, 2)])
    words = sorted({word.lower().strip(".,?!") for text in texts for word in text.split()} - {""})
    vectors = rng.normal(size=(len(words), 16))
    write("words.vec", [f"{word} " + " ".join(f"{v:.4f}" for v in vectors[i]) for i, word in enumerate(words)])


if __name__ == "__main__":
    for file, source in (("encoder", ENCODER), ("layers", LAYERS), ("annotator", ANNOTATOR), ("task", TASK)):
        Path(f"{file}.py").write_text(source.lstrip(), "utf-8")
    synthetic = [sentence.text for sentence in Corpus.synthetic(3000)]
    write_texts(synthetic)
    write_vectors(synthetic)
    for folder in ("fig", "page"):
        Path(folder).mkdir()
