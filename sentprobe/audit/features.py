"""What each shallow classifier sees of a row."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from sentprobe.audit.bayes import Bag
from sentprobe.corpus.folding import fold, fold_text, lower_case
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split

HASHED = 18
"""Bits of the table of character n-grams."""
AT_A_TIME = 2000
"""Texts whose character n-grams are taken together."""


def bags(rows: Split, train: np.ndarray, known: Expectations) -> Iterator[tuple[str, Bag]]:
    """Name and features of each classifier, one after the other, so that only one is held at a time."""
    sizes = np.array(rows.lengths)
    starts = np.r_[0, np.cumsum(sizes)]
    flat = [t for tokens in rows.tokens for t in tokens]
    yield "length", _named([[("n", min(n, 200)), ("bin", n // 4)] for n in sizes.tolist()])
    yield "edges", _named(map(_edges, rows.tokens))
    yield "punctuation", _named(map(_punctuation, rows.tokens))
    lower = _ids([fold(t, known.language) for t in flat])
    if known.changes or known.task is None:
        yield "position", _named(_positions(rows, train, lower, starts, bool(known.changes)))
    yield "unigrams", Bag(lower, starts, int(lower.max(initial=0)) + 1)
    yield "bigrams", _with_pairs(lower, starts)
    cased = _ids(flat)
    yield "unigrams cased", Bag(cased, starts, int(cased.max(initial=0)) + 1)
    inside = list(flat)
    for start in starts[:-1][sizes > 0].tolist():
        inside[start] = lower_case(inside[start], known.language)
    cased_inside = _ids(inside)
    yield "unigrams cased inside", Bag(cased_inside, starts, int(cased_inside.max(initial=0)) + 1)
    yield "bigrams cased", _with_pairs(cased, starts)
    yield "characters", _characters(rows.texts)
    for name, values in rows.inputs.items() if rows.has_all_inputs else ():
        yield f"inputs {name}", _named([fold_text(value, known.language).split() for value in values])


def words_and_pairs(rows: Split, language: str | None) -> Bag:
    """Folded unigrams and bigrams."""
    lower = _ids([fold(t, language) for tokens in rows.tokens for t in tokens])
    return _with_pairs(lower, np.r_[0, np.cumsum(rows.lengths)])


def _ids(tokens: Sequence[Any]) -> np.ndarray:
    known: dict[Any, int] = {}
    return np.array([known.setdefault(t, len(known)) for t in tokens], np.int64)


def _named(features: Any) -> Bag:
    """A bag from the features of each row, which may be anything hashable."""
    rows = [list(found) for found in features]
    ids = _ids([f for found in rows for f in found])
    return Bag(ids, np.r_[0, np.cumsum([len(found) for found in rows])], int(ids.max(initial=0)) + 1)


def _edges(tokens: tuple[str, ...]) -> list[Any]:
    if not tokens:
        return ["empty"]
    first, last = tokens[0], tokens[-1]
    inside = sum(t[:1].isupper() for t in tokens[1:])
    return [
        ("first", first), ("last", last), ("first shape", _shape(first)), ("last shape", _shape(last)),
        ("capitals inside", min(inside, 9)), ("second shape", _shape(tokens[1] if len(tokens) > 1 else "")),
    ]  # fmt: skip


def _shape(token: str) -> str:
    if token.isupper() and len(token) > 1:
        return "upper"
    return (
        "capital"
        if token[:1].isupper()
        else "lower"
        if token[:1].islower()
        else "digit"
        if token[:1].isdigit()
        else "other"
    )


@cache
def _is_mark(token: str) -> bool:
    return bool(token) and all(unicodedata.category(c)[0] in "PS" for c in token)


def _punctuation(tokens: tuple[str, ...]) -> list[Any]:
    marks = [t for t in tokens if _is_mark(t)]
    last = tokens[-1][-1:] if tokens else ""
    return [("count", min(len(marks), 9)), ("last", last if _is_mark(last) else ""), *marks]


def _positions(
    rows: Split, train: np.ndarray, ids: np.ndarray, starts: np.ndarray, marked: bool
) -> Iterator[list[Any]]:
    """Positions from both ends: the least expected bigram, the first capital inside, the first comma.

    Where a task changes words, also the changed words, or those that would have been changed.
    """
    odd = _oddest(train, ids, starts)
    for i, row in enumerate(rows.examples):
        tokens, n = row.tokens, len(row.tokens)
        places = {
            "pair": int(odd[i]) if n > 1 else -1,
            "capital": next((j for j in range(1, n) if tokens[j][:1].isupper()), -1),
            "comma": next((j for j, t in enumerate(tokens) if t == ","), -1),
        }
        out: list[Any] = [(name, "none") for name, j in places.items() if j < 0]
        for name, j in places.items():
            if j >= 0:
                out += [(name, "start", min(j, 9)), (name, "end", min(n - 1 - j, 9)), (name, "share", 10 * j // n)]
        for j in row.marks[:2] if marked else ():
            out += [("mark", "start", min(j, 9)), ("mark", "end", min(n - 1 - j, 9)), ("mark", "share", 10 * j // n)]
        yield out


def _oddest(train: np.ndarray, ids: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Per row, the position of the bigram with the lowest mutual information in the training rows."""
    sizes = np.diff(starts)
    row = np.repeat(np.arange(len(sizes)), sizes)
    inner = np.flatnonzero(row[:-1] == row[1:]) if len(row) > 1 else np.zeros(0, np.int64)
    if not len(inner):
        return np.zeros(len(sizes), np.int64)
    trained = np.zeros(len(sizes), bool)
    trained[train] = True
    width = int(ids.max()) + 1
    pair = np.unique(ids[inner] * width + ids[inner + 1], return_inverse=True)[1]
    together = np.bincount(pair[trained[row[inner]]], minlength=int(pair.max()) + 1)
    alone = np.bincount(ids[trained[row]], minlength=width)
    score = np.log(together[pair] + 0.5) - np.log(alone[ids[inner]] + 1.0) - np.log(alone[ids[inner + 1]] + 1.0)
    order = np.lexsort((inner, score, row[inner]))
    rows, first = np.unique(row[inner][order], return_index=True)
    out = np.zeros(len(sizes), np.int64)
    out[rows] = inner[order][first] - starts[rows]
    return out


def _with_pairs(ids: np.ndarray, starts: np.ndarray) -> Bag:
    """Unigrams and bigrams; the bigram of a row's last token has an end mark."""
    width = int(ids.max(initial=0)) + 2
    following = np.r_[ids[1:], width - 1] if len(ids) else ids
    ends = starts[1:][np.diff(starts) > 0] - 1
    following[ends] = width - 1
    pairs = np.unique(ids * width + following, return_inverse=True)[1] + width
    return Bag(np.stack([ids, pairs], axis=1).ravel(), 2 * starts, int(pairs.max(initial=width)) + 1)


def _characters(texts: Sequence[str]) -> Bag:
    """Hashed n-grams of two, three and four characters; those that reach into the next text do not count."""
    ids, sizes = [], []
    for a in range(0, len(texts), AT_A_TIME):
        found, counts = _character_ngrams(texts[a : a + AT_A_TIME])
        ids.append(found)
        sizes.append(counts)
    starts = np.r_[0, np.cumsum(np.concatenate(sizes))]
    return Bag(np.concatenate(ids), starts, 1 << HASHED)


def _character_ngrams(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    joined = "".join(f"\x02{t}\x03\x00\x00\x00" for t in texts)
    codes = np.frombuffer(joined.encode("utf-32-le", errors="surrogatepass"), np.uint32).astype(np.uint64)
    factor = np.uint64(0x9E3779B97F4A7C15)
    text = np.repeat(np.arange(len(texts), dtype=np.int32), [len(t) + 5 for t in texts])
    rolling = codes * factor
    ids, owner = [], []
    for n in (2, 3, 4):
        rolling = (rolling[:-1] ^ codes[n - 1 :]) * factor
        where = np.flatnonzero((codes[: 1 - n] != 0) & (codes[n - 1 :] != 0))
        ids.append(((rolling[where] + np.uint64(n)) * factor >> np.uint64(64 - HASHED)).astype(np.int32))
        owner.append(text[where])
    rows = np.concatenate(owner)
    order = np.argsort(rows, kind="stable")
    return np.concatenate(ids)[order], np.bincount(rows, minlength=len(texts))
