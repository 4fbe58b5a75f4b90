"""The digest of a sentence."""

from __future__ import annotations

from hashlib import blake2b

from sentprobe.sentence import Sentence


def digest_of(sentence: Sentence) -> int:
    """A 128-bit number for a sentence: its id, document, text and every column (the spaces are in the text)."""
    s = sentence
    columns = (s.forms, s.lemmas, s.upos, s.xpos, s.feats, s.deprels)
    parts = ["" if column is None else "\t".join(column) for column in columns]
    tree = "" if s.tree is None else str(s.tree)
    content = "\n".join((s.id, s.doc or "", s.text, *parts, repr(s.heads), repr(s.mwts), tree))
    return int.from_bytes(blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest(), "big")
