"""A second language for the built-in corpus: invented words, verb-final, with postpositions, cases and agreement.

A sentence of it is the translation of a sentence of the built-in English corpus, so that there is parallel text with
gold annotation on both sides. Words depend on lemma and part of speech alone. Articles, *to* and *'s* have no word of
their own: they are in suffixes. There are no constituents. Its code, ``qto``, is one of those that ISO 639 leaves to
private use.
"""

from __future__ import annotations

from sentprobe.corpus.sentence import Sentence
from sentprobe.corpus.toy.morphology import inflected
from sentprobe.corpus.toy.order import linearised

CODE = "qto"


def translated(sentence: Sentence) -> Sentence:
    """The translation of a sentence of the built-in corpus; its id and its document are the same."""
    words = inflected(sentence)
    order = linearised(words)
    place = {at: i for i, at in enumerate(order)}
    own = [words[at] for at in order]
    forms = [word.form for word in own]
    forms[0] = forms[0][:1].upper() + forms[0][1:]
    spaces = [True] * len(forms)
    spaces[-1] = False
    if own[-1].upos == "PUNCT":
        spaces[-2:-1] = [False] * (len(forms) > 1)
    return Sentence(
        id=sentence.id,
        text="".join(form + " " * space for form, space in zip(forms, spaces, strict=True)),
        forms=tuple(forms),
        lemmas=tuple(word.lemma for word in own),
        upos=tuple(word.upos for word in own),
        feats=tuple(word.feats for word in own),
        heads=tuple(place.get(word.head, -1) for word in own),
        deprels=tuple(word.deprel for word in own),
        space_after=tuple(spaces),
        doc=sentence.doc,
    )
