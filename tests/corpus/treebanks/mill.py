"""A small treebank of an invented language, as it would be on the server of Universal Dependencies."""

import hashlib

from sentprobe.corpus.treebanks.catalogue import Treebank
from sentprobe.corpus.treebanks.metadata import TreebankCounts, count_conllu

WORDS = "mola farina ventu pala granu saccu molinu rota aqua pane".split()
STATS = """<?xml version="1.0" encoding="UTF-8"?>
<treebank>
  <size>
    {parts}
  </size>
  <tags unique="1"><tag name="NOUN">7</tag></tags>
</treebank>
"""
README = """# Summary

A mill.

=== Machine-readable metadata (DO NOT REMOVE!) ================================
Data available since: UD v2.4
License: {licence}
Includes text: {text}
Genre: news fiction
===============================================================================
"""


def sentence(number, length):
    """A sentence of this many words, all of which depend on the first; the last two are one token."""
    ending = "".join(WORDS[int(digit)][:3] for digit in str(number))  # no two sentences may be alike
    forms = [WORDS[(number * 7 + i * i) % len(WORDS)] + ("" if i else ending) for i in range(length)]
    rows = [
        f"{i}\t{form}\t{form}\t{'VERB' if i == 1 else 'NOUN'}\t_\t_\t{int(i > 1)}\t{'obj' if i > 1 else 'root'}\t_\t_"
        for i, form in enumerate(forms, 1)
    ]
    rows.insert(length - 2, f"{length - 1}-{length}\t{forms[-2]}{forms[-1]}\t_\t_\t_\t_\t_\t_\t_\t_")
    text = " ".join([*forms[:-2], forms[-2] + forms[-1]])
    return "\n".join([f"# sent_id = s{number}", f"# text = {text}", *rows]) + "\n\n"


def conllu(first, n):
    """Sentences of all lengths from 5 to 28 words."""
    return "".join(sentence(i, 5 + i % 24) for i in range(first, first + n)).encode()


DATA = {"train": conllu(0, 480), "dev": conllu(480, 48), "test": conllu(528, 48)}


def blob(content):
    """What git calls this content; `git hash-object` says the same."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def stats(counts, splits=True):
    """stats.xml with these counts by split, or only with their total."""
    total = sum(counts.values(), TreebankCounts())
    parts = [
        f"<{part}><sentences>{c.sentences}</sentences><tokens>{c.tokens}</tokens><words>{c.words}</words></{part}>"
        for part, c in {"total": total, **(counts if splits else {})}.items()
    ]
    return STATS.format(parts="\n    ".join(parts)).encode()


def publish(server, data=None, *, name="UD_Millish-Mill", release="r2.16", prefix="qmi_mill", licence="CC BY-SA 4.0",
            text="yes", readme="README.md", counts=None, splits=True, **trouble):  # fmt: skip
    """Put a treebank on a server; ``counts`` are what stats.xml says, by default the truth."""
    data = DATA if data is None else data
    true = dict.fromkeys(("train", "dev", "test"), TreebankCounts())
    for part, content in data.items():
        true[part.partition("-")[0]] += count_conllu([content])
        server.serve(f"/{name}/{release}/{prefix}-ud-{part}.conllu", content, **trouble.get(part, {}))
    server.serve(f"/{name}/{release}/stats.xml", stats({**true, **(counts or {})}, splits))
    server.serve(f"/{name}/{release}/{readme}", README.format(licence=licence, text=text).encode())
    server.serve(f"/{name}/{release}/LICENSE.txt", b"A licence.\n")


def row(data=None, **changes):
    """The treebank as the table has it."""
    data = DATA if data is None else data
    facts = {
        "name": "UD_Millish-Mill", "language": "Millish", "code": "qmi", "release": "r2.16", "since": "2.4",
        "sentences": 576, "words": 9504, "licence": "CC BY-SA 4.0", "text": "yes", "genres": "news fiction",
        "prefix": "qmi_mill", "files": {part: blob(content) for part, content in data.items()},
    }  # fmt: skip
    return Treebank(**{**facts, **changes})
