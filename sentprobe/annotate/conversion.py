"""What annotators return, made into sentences: fitted to the text, with trees, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sentprobe.corpus.brackets import MAX_DEPTH, rooted
from sentprobe.sentence import Sentence, Tree


class TextDiffersError(ValueError):
    """Sentences are not the text; white space does not count."""

    def __init__(self, sentence: int, got: str, expected: str) -> None:
        super().__init__(f"got {got}, expected {expected}")
        self.sentence, self.got, self.expected = sentence, got, expected


def fit(sentences: Sequence[Sentence], text: str) -> list[Sentence]:
    """The sentences with their parts of the text, and with spaces after words where the text has them.

    Examples
    --------
    >>> sentence = fit([Sentence("", "", ("He", "left", "."))], " He left. ")[0]
    >>> sentence.text, sentence.space_after
    ('He left.', (True, False, True))
    """
    fitted: list[Sentence] = []
    at = 0
    for number, sentence in enumerate(sentences):
        spans: list[tuple[int, int]] = []
        for token in sentence.tokens:
            try:
                span = _span(token, text, at)
            except ValueError:
                tail = text[at:].strip()
                expected = f"the text {_short(tail)}" if tail else "the end of the text"
                raise TextDiffersError(number, f"the token {_short(token)}", expected) from None
            spans.append(span)
            at = span[1]
        if not spans:
            raise TextDiffersError(number, "a sentence without words", "at least one")
        spaces = [end == len(text) or text[end].isspace() for _, end in spans]
        spaces[-1] = True
        space_after = tuple(_spaces_after_words(sentence, spaces))
        fitted.append(replace(sentence, text=text[spans[0][0] : spans[-1][1]], space_after=space_after))
    if text[at:].strip():
        raise TextDiffersError(max(0, len(sentences) - 1), "the end", f"the text {_short(text[at:].strip())}")
    return fitted


def by_text(sentences: Iterable[Sentence], texts: Sequence[str]) -> Iterator[list[Sentence]]:
    """The sentences of each of several texts that were annotated together; one that goes on in the next is an error."""
    remaining = iter(sentences)
    number = 0
    for text in texts:
        missing_letters = _letters(text)
        of_text: list[Sentence] = []
        while missing_letters > 0 and (sentence := next(remaining, None)) is not None:
            of_text.append(sentence)
            missing_letters -= sum(map(_letters, sentence.tokens))
        try:
            yield fit(of_text, text)
        except TextDiffersError as error:
            raise TextDiffersError(number + error.sentence, error.got, error.expected) from None
        number += len(of_text)
    if (extra := next(remaining, None)) is not None:
        raise TextDiffersError(number, f"the token {_short(extra.tokens[0])}", "the end of the text")


def _letters(text: str) -> int:
    return len("".join(text.split()))


def _span(token: str, text: str, at: int) -> tuple[int, int]:
    """Where a token is, at the next character that is not white space; ValueError if it is not there."""
    while at < len(text) and text[at].isspace():
        at += 1
    if token and text.startswith(token, at):
        return at, at + len(token)
    begin = at
    letters = "".join(token.split())
    for letter in letters:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text) or text[at] != letter:
            raise ValueError
        at += 1
    if not letters:
        raise ValueError
    return begin, at


def _spaces_after_words(sentence: Sentence, spaces: Sequence[bool]) -> list[bool]:
    """Spaces after words, from those after tokens: none inside a multi-word token."""
    after: list[bool] = []
    ranges = {first: end for first, end, _ in sentence.mwts}
    for space in spaces:
        end = ranges.get(len(after), len(after) + 1)
        after += [False] * (end - len(after) - 1)
        after.append(space)
    return after


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


# Constituency trees of other packages


ReadNode = Callable[[Any], tuple[str, Sequence[Any]] | None]
"""The label and the children of a node; None for a word."""


class _Closing(NamedTuple):
    """A node whose children are read next."""

    label: str
    children: int


def tree_of(node: Any, read_node: ReadNode, forms: Sequence[str]) -> Tree:
    """The tree below a node, with these words as its leaves and one ROOT on top; ValueError if they do not fit.

    Examples
    --------
    >>> nested = ("S", [("NP", [("NNS", ["dogs"])]), ("VP", [("VBP", ["bark"])])])
    >>> print(tree_of(nested, lambda node: None if isinstance(node, str) else node, ("Dogs", "bark")))
    (ROOT (S (NP (NNS Dogs)) (VP (VBP bark))))
    """
    words = iter(forms)
    done: list[Tree] = []
    stack: list[_Closing | Any] = [node]  # nodes to be read, and labels of those whose children have been
    open_nodes = 0
    while stack:
        item = stack.pop()
        if isinstance(item, _Closing):
            children = tuple(done[-item.children :])
            del done[-item.children :]
            done.append(Tree(item.label, children))
            open_nodes -= 1
            continue
        label, nodes = read_node(item) or ("", ())
        if not nodes:
            raise ValueError("expected every word of a tree to have a tag")
        if len(nodes) == 1 and read_node(nodes[0]) is None:
            form = next(words, None)
            if form is None:
                raise ValueError(f"expected a tree over {len(forms)} words, got one over more")
            done.append(Tree(label, (form,)))
            continue
        open_nodes += 1
        if open_nodes > MAX_DEPTH:
            raise ValueError(f"expected a tree of a sentence, got one that is more than {MAX_DEPTH} levels deep")
        stack.append(_Closing(label, len(nodes)))
        stack.extend(reversed(nodes))
    if next(words, None) is not None:
        raise ValueError(f"expected a tree over {len(forms)} words, got one over fewer")
    return rooted(done[0])


# Universal Dependencies


RELATIONS = frozenset((
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop", "csubj",
    "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark", "nmod",
    "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "root", "vocative", "xcomp",
))  # fmt: skip
"""The 37 relations of UD version 2, without subtypes."""


def not_universal(relations: Iterable[str]) -> list[str]:
    """Those relations that are not of Universal Dependencies, sorted; ``ROOT`` is, in any case.

    Examples
    --------
    >>> not_universal(["ROOT", "nsubj:pass", "obj"]), not_universal(["nsubj", "pobj", "dobj", "_"])
    ([], ['dobj', 'pobj'])
    """
    return sorted({r for r in relations if r not in ("_", "") and r.partition(":")[0].lower() not in RELATIONS})


# Checks


WORD_COLUMNS = ("lemmas", "upos", "xpos", "feats", "heads", "deprels", "space_after")


def sentence_fault(s: object) -> str:
    """What is wrong with what should be a sentence, or nothing; heads that are not a tree are repaired elsewhere."""
    if not isinstance(s, Sentence):
        return f"expected sentprobe Sentences, got {type(s).__name__}"
    n = len(s.forms)
    if not n:
        return f"the sentence {s.text!r:.80} has no words"
    for name in WORD_COLUMNS:
        column = getattr(s, name)
        if column is not None and len(column) != n:
            return f"the sentence {s.text!r:.80} has {n} words, and {len(column)} {name}"
    end = 0
    for first, last, form in s.mwts:
        if not end <= first < last - 1 < n or not form:
            token = f"the multi-word token {form!r:.40} over the words {first} to {last}"
            return f"the sentence {s.text!r:.80} has {token}; expected two words or more of its {n}, one after another"
        end = last
    if s.heads is None and s.deprels is not None:
        return f"the sentence {s.text!r:.80} has deprels and no heads"
    if "".join(s.text.split()) != "".join("".join(s.tokens).split()):
        return f"the tokens {' '.join(s.tokens)!r:.80} are not those of the text {s.text!r:.80}"
    return ""
