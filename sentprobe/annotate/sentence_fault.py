"""What is wrong with a sentence that an annotator returned."""

from __future__ import annotations

from sentprobe.sentence import Sentence

COLUMNS = ("lemmas", "upos", "xpos", "feats", "heads", "deprels", "space_after")


def sentence_fault(found: object) -> str:
    """What is wrong with what should be a sentence, or nothing; heads that are not a tree are repaired elsewhere."""
    if not isinstance(found, Sentence):
        return f"expected sentprobe Sentences, got {type(found).__name__}"
    n = len(found.forms)
    if not n:
        return f"the sentence {found.text!r:.80} has no words"
    for name in COLUMNS:
        column = getattr(found, name)
        if column is not None and len(column) != n:
            return f"the sentence {found.text!r:.80} has {n} words, and {len(column)} {name}"
    end = 0
    for first, last, form in found.mwts:
        if not end <= first < last - 1 < n or not form:
            where = f"the multi-word token {form!r:.40} over the words {first} to {last}"
            return (
                f"the sentence {found.text!r:.80} has {where}; expected two words or more of its {n}, one after another"
            )
        end = last
    if found.heads is None and found.deprels is not None:
        return f"the sentence {found.text!r:.80} has deprels and no heads"
    if "".join(found.text.split()) != "".join("".join(found.tokens).split()):
        return f"the tokens {' '.join(found.tokens)!r:.80} are not those of the text {found.text!r:.80}"
    return ""
