"""Our own annotated sentences, in a short notation: one word a line, `form upos xpos feats head deprel`."""

from __future__ import annotations

from dataclasses import replace

from sentprobe.corpus import Sentence
from sentprobe.corpus.brackets import parse_tree
from sentprobe.tasks.example import detokenise, space_flags


def sentence(
    rows: str, *, id: str = "s1", tree: str | None = None, mwts: tuple = (), glued: tuple = (), **columns
) -> Sentence:
    """Heads are 1-based with 0 for the root, as in CoNLL-U; ``glued`` are positions with no space after them."""
    cells = [line.split() for line in rows.strip().splitlines()]
    forms, upos, xpos, feats, heads, deprels = zip(*cells, strict=True)
    space = []
    for i in range(len(forms)):
        last = i + 1 == len(forms)
        inside = any(first <= i < end - 1 for first, end, _ in mwts)
        space.append(last or not (inside or i in glued or forms[i + 1] in (".", ",", "?", "!")))
    made = Sentence(
        id=id,
        text="",
        forms=forms,
        lemmas=tuple(f.lower() for f in forms),
        upos=upos,
        xpos=xpos,
        feats=feats,
        heads=tuple(int(h) - 1 for h in heads),
        deprels=deprels,
        space_after=tuple(space),
        mwts=mwts,
        tree=parse_tree(tree) if tree else None,
    )
    return replace(made, text=detokenise(made.tokens, space_flags(made)), **columns)


STARRED = """
She      PRON  PRP Number=Sing|Person=3             3 nsubj
has      AUX   VBZ Mood=Ind|Tense=Pres|VerbForm=Fin 3 aux
starred  VERB  VBN Tense=Past|VerbForm=Part         0 root
with     ADP   IN  _                                7 case
many     ADJ   JJ  Degree=Pos                       7 amod
leading  ADJ   JJ  Degree=Pos                       7 amod
actors   NOUN  NNS Number=Plur                      3 obl
.        PUNCT .   _                                3 punct
"""
"""The example sentence of Krasnowska-Kieraś and Wróblewska (2019), whose labels the paper gives."""

PAINT = """
The       DET   DT  _                                              2 det
neighbour NOUN  NN  Number=Sing                                    3 nsubj
painted   VERB  VBD Mood=Ind|Number=Sing|Tense=Past|VerbForm=Fin   0 root
two       NUM   CD  _                                              5 nummod
fences    NOUN  NNS Number=Plur                                    3 obj
quickly   ADV   RB  _                                              3 advmod
.         PUNCT .   _                                              3 punct
"""

PAINT_TREE = """
(ROOT (S (NP (DT The) (NN neighbour)) (VP (VBD painted) (NP (CD two) (NNS fences)) (ADVP (RB quickly))) (. .)))
"""

TWO_CLAUSES = """
They  PRON  PRP _                                  3 nsubj
had   AUX   VBD Mood=Ind|Tense=Past|VerbForm=Fin   3 aux
left  VERB  VBN Tense=Past|VerbForm=Part           0 root
early ADV   RB  _                                  3 advmod
,     PUNCT ,   _                                  8 punct
but   CCONJ CC  _                                  8 cc
we    PRON  PRP _                                  8 nsubj
stayed VERB VBD Mood=Ind|Tense=Past|VerbForm=Fin   3 conj
.     PUNCT .   _                                  3 punct
"""

TWO_CLAUSES_TREE = """
(ROOT (S (S (NP (PRP They)) (VP (VBD had) (VP (VBN left) (ADVP (RB early))))) (, ,) (CC but)
 (S (NP (PRP we)) (VP (VBD stayed))) (. .)))
"""
