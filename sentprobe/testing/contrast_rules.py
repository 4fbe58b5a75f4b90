"""Whether a rule of contrast sets follows the rules: natural texts, the same ones whenever it is asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from sentprobe.contrast import ContrastRule
from sentprobe.contrast.forms import AttestedForms, attested
from sentprobe.core.hashing import hash_64
from sentprobe.core.third_party import third_party_code
from sentprobe.corpus.corpus import Corpus
from sentprobe.corpus.syntax import tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Counts, Policy
from sentprobe.testing.verdict import Verdict, raise_failure, verdicts

UNNATURAL = re.compile(r"\s\s|^\s|\s$|\s[.,;:?!](?:\s|$)|[,;:][.,;:]")
"""Doubled spaces, spaces at the ends and before punctuation, and punctuation after punctuation."""
TRIED = 2000
"""Sentences of the built-in corpus that a rule is tried on."""


def check_contrast_rule(rule: ContrastRule, corpus: Corpus | None = None) -> None:
    """Raise SentProbeError at the first of our rules that a contrast rule breaks.

    Parameters
    ----------
    rule: ContrastRule
        The rule.
    corpus: Corpus | None
        What to try it on. Default: the built-in corpus.
    """
    raise_failure(examine_contrast_rule(rule, corpus), f"The contrast rule {rule.name!r}")


def examine_contrast_rule(rule: ContrastRule, corpus: Corpus | None = None) -> Iterator[Verdict]:
    """Try a contrast rule on a corpus, rule by rule."""
    tried = (corpus or Corpus.synthetic(TRIED)).load_into_memory()
    sentences, language = list(tried), (corpus.language if corpus else "en")
    counts, tally = Counts(language=language), Counter[tuple[str, str, str, str]]()
    for s in sentences:
        counts.words.update(list(zip(s.forms, tags(s), s.feats or ("",) * len(s), strict=True))[1:])
        tally.update(attested(s))
    call = partial(_rewritten, rule, AttestedForms.of(counts, tally), language)
    first = [call(s) for s in sentences]
    rules: tuple[tuple[str, Callable[[], str]], ...] = (
        ("its name and summary are filled in, and its effect is contrast or positive", lambda: _description(rule)),
        ("it yields texts", lambda: _types(sentences, first)),
        ("the same sentence gets the same texts, in any order", lambda: _difference(sentences, first, call)),
        ("the texts are spaced and punctuated as text is", lambda: _spacing(first)),
        ("no text is the sentence itself", lambda: _copies(sentences, first)),
        ("some sentence is rewritten", lambda: "" if any(first) else f"of {len(sentences):,} sentences, none is"),
    )
    yield from verdicts(rules)
    unread = not rule.read_in(language)
    detail = f"it is not used by default in {language}, where fewer than 50 of its rows were read" if unread else ""
    yield Verdict("it says how many of 50 rows read were wrong", True, detail, warning=unread)


def _rewritten(rule: ContrastRule, forms: AttestedForms, language: str | None, s: Sentence) -> list[str]:
    context = Context(Policy(), "dependency", forms, hash_64(s.text), language)
    with third_party_code:
        return list(rule.rewrite(s, context))


def _description(rule: ContrastRule) -> str:
    empty = [name for name in ("name", "summary") if not getattr(rule, name)]
    if empty:
        return f"its {empty[0]} is empty"
    return "" if rule.effect in ("contrast", "positive") else f"its effect is {rule.effect!r}"


def _types(sentences: Sequence[Sentence], results: Sequence[Sequence[object]]) -> str:
    for s, texts in zip(sentences, results, strict=True):
        for text in texts:
            if not isinstance(text, str) or not text:
                return f"expected a text for the sentence {s.id}, got {text!r:.60}"
    return ""


def _difference(
    sentences: Sequence[Sentence], results: Sequence[list[str]], call: Callable[[Sentence], list[str]]
) -> str:
    for s, texts in reversed(list(zip(sentences, results, strict=True))):
        if (repeated := call(s)) != texts:
            return f"the sentence {s.id} got {texts[:1]} and then {repeated[:1]}"
    return ""


def _spacing(results: Sequence[Sequence[str]]) -> str:
    return next((f"got {text!r}" for texts in results for text in texts if UNNATURAL.search(text)), "")


def _copies(sentences: Sequence[Sentence], results: Sequence[Sequence[str]]) -> str:
    return next((f"of {s.id}" for s, texts in zip(sentences, results, strict=True) if s.text in texts), "")
