"""Our own annotated sentences for tests of contrast rules, one word per line as in CoNLL-U, with less to type.

A word is ``form lemma UPOS head relation features``, the head counted from 1; ``~`` after a form: no space follows it.
"""

from collections import Counter

from sentprobe.contrast.forms import AttestedForms, attested
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Counts, Policy


def sentence(text):
    """A sentence; a multi-word token is written as ``[don't do n't]`` around its words' lines."""
    rows, spaces, mwts, open_token = [], [], [], None
    for line in filter(None, map(str.strip, text.strip().splitlines())):
        if line.startswith("["):
            open_token = (len(rows), line[1:])
        elif line == "]":
            mwts.append((open_token[0], len(rows), open_token[1]))
        else:
            form, lemma, upos, head, deprel, *feats = line.split()
            spaces.append(not form.endswith("~"))
            rows.append((form.removesuffix("~"), lemma, upos, (feats or ["_"])[0], int(head) - 1, deprel))
    forms, lemmas, upos, feats, heads, deprels = zip(*rows, strict=True)
    tokens, spaced, i = [], [], 0
    ends = {first: (end, surface) for first, end, surface in mwts}
    while i < len(forms):
        end, surface = ends.get(i, (i + 1, forms[i]))
        tokens.append(surface)
        spaced.append(spaces[end - 1])
        i = end
    written = "".join(token + " " * space for token, space in zip(tokens, spaced, strict=True)).strip()
    return Sentence(
        "s", written, forms, lemmas, upos, None, feats, heads, deprels, tuple(spaces), tuple(mwts)
    )  # fmt: skip


def forms_of(sentences, language="en"):
    """What a corpus of these sentences attests."""
    counts, tally = Counts(language=language), Counter()
    for s in sentences:
        rows = list(zip(s.forms, s.upos, s.feats, strict=True))
        counts.words.update(rows[1:])
        tally.update(attested(s))
    return AttestedForms.of(counts, tally)


def rewritten(rule, s, language="en", corpus=()):
    """The texts that a rule makes of a sentence, with what a corpus attests besides."""
    context = Context(Policy(), "dependency", forms_of((s, *corpus), language), 7, language)
    return list(rule.rewrite(s, context))
