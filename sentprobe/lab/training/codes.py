"""Byte-pair encoding, as subword-nmt and fastBPE learn it from a text whose punctuation stands apart.

A text is split into words, which white space and punctuation separate; combining marks, joiners and apostrophes are
inside words in every script. Codes merge the symbols of words, which are characters, of which the last has the end of
the word with it: the merges, and the symbols that they make of a word, are those of subword-nmt.

Decoding gives every text back. The end of a word is written as a space. Where a single space and another word follow,
this is that space; elsewhere it is put there, and decoding takes it away. A punctuation mark is a symbol together with
the spaces around it. The alphabet below the characters are bytes: the symbols of the training texts are merged from
bytes before all codes, and are not counted among them; a character that is not in these texts is its bytes.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING
from unicodedata import category

from sentprobe.lab.networks.vocabulary import APOSTROPHES, byte_token
from sentprobe.lab.training import import_for_training

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LEAST = 2
"""Occurrences of a pair that is merged, as in subword-nmt."""
SPACES = "\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""White space, as ``str.isspace`` has it, for brackets of a regular expression."""
JOINERS = "-‐‑־·‧.,:/@&_׳״՛՜՝՞་༌"
"""Punctuation that belongs to words where it has letters or digits on both sides: *3.14*, *צה״ל*."""
WIDTH = 32
"""Bits of the number of a symbol. A pair of symbols is one number, the first symbol in the upper bits."""
SECOND = (1 << WIDTH) - 1

SymbolPair = tuple[str, str]


@dataclass(frozen=True)
class Patterns:
    """Regular expressions that Python and the library read alike."""

    end: str
    """Where the end of a word is to be written."""
    piece: str
    """A word with its end, a punctuation mark with the spaces around it, or other white space."""
    extra: str
    """The end of a word that is no space of the text."""


@lru_cache(maxsize=1)
def patterns() -> Patterns:
    """The patterns. All punctuation is listed in them, so that they do not depend on the tables of a library."""
    marks = [c for c in map(chr, range(sys.maxunicode + 1)) if category(c)[0] == "P" and c not in APOSTROPHES]
    runs = [[c for _, c in run] for _, run in groupby(enumerate(marks), lambda pair: ord(pair[1]) - pair[0])]
    mark = "".join(f"{_escaped(run[0])}-{_escaped(run[-1])}" for run in runs)
    joiner, letter = f"[{''.join(map(_escaped, JOINERS))}]", f"[^{SPACES}{mark}]"
    return Patterns(
        end=f"(?<={letter})(?!{joiner}?{letter})(?! {letter})",
        piece=f"{letter}+(?:{joiner}{letter}+)* ?| ?[{mark}] ?|[{SPACES}]",
        extra=f"(?<={letter}) (?!{letter})",
    )


def _escaped(character: str) -> str:
    return f"\\{character}" if character.isascii() else character


def valid(text: str) -> str:
    """The text with a question mark for each lone surrogate, which no tokenizer takes."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def split_text(text: str) -> list[str]:
    """The words of a text with their ends, its punctuation marks, and the white space that is in neither.

    Examples
    --------
    >>> split_text("Il n'est pas (encore) là.")
    ['Il ', "n'est ", 'pas ', ' (', 'encore ', ') ', 'là ', '.']
    """
    return re.findall(patterns().piece, re.sub(patterns().end, " ", valid(text)))


def split_piece(piece: str) -> list[str]:
    """The symbols of a word or a punctuation mark, before any code: characters, the last one with the end."""
    size = len(piece.strip(" "))
    return [piece] if size < 2 else [*piece[: size - 1], piece[size - 1 :]]


def train_bpe(texts: Iterable[str], codes: int, special: Sequence[str]) -> Tokenizer:
    """Byte-pair encoding with at most this many merges, and special tokens that have the first numbers.

    There are fewer merges where no pair occurs twice any more. Equally frequent pairs have a fixed order, so that the
    same texts in any order give the same codes.
    """
    tokenizers = import_for_training("tokenizers")
    pieces = Counter(piece for text in texts for piece in split_text(text))
    learned = ((first.encode(), second.encode()) for first, second in learn_merges(pieces, codes))
    both = ((byte_token(first), byte_token(second)) for first, second in chain(symbol_merges(pieces), learned))
    merges = list(dict.fromkeys(both))  # a pair may be learned twice, and its first place counts
    alphabet = sorted(byte_token(bytes([byte])) for byte in range(256))
    tokens = dict.fromkeys((*special, *alphabet, *(first + second for first, second in merges)))
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer: Tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))
    tokenizer.add_special_tokens(list(special))
    split, byte_level, regex = tokenizers.pre_tokenizers.Split, tokenizers.pre_tokenizers.ByteLevel, tokenizers.Regex
    tokenizer.normalizer = tokenizers.normalizers.Replace(regex(patterns().end), " ")
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [split(regex(patterns().piece), "isolated"), byte_level(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = tokenizers.decoders.Sequence(
        [tokenizers.decoders.ByteLevel(), tokenizers.decoders.Replace(regex(patterns().extra), "")]
    )
    return tokenizer


def symbol_merges(pieces: Iterable[str]) -> Iterator[tuple[bytes, bytes]]:
    """What makes the first symbols of bytes: each character that occurs, then the spaces before and after it."""
    symbols = sorted({symbol for piece in pieces for symbol in split_piece(piece)})
    for character in sorted({symbol.strip(" ") for symbol in symbols}):
        content = character.encode()
        yield from ((content[:border], content[border : border + 1]) for border in range(1, len(content)))
    spaced = [symbol for symbol in symbols if len(symbol) > 1]
    yield from ((b" ", symbol[1].encode()) for symbol in spaced if symbol[0] == " ")
    yield from ((symbol[:-1].encode(), b" ") for symbol in spaced if symbol[-1] == " ")


def learn_merges(pieces: Mapping[str, int], codes: int) -> list[SymbolPair]:
    """The pairs of symbols to merge, in this order, from words with their ends and how often they occur.

    The most frequent pair is merged first; of equally frequent ones that whose symbols come last in the order of
    strings, with ``</w>`` for the end of a word.
    """
    state = _Symbols(pieces)
    heap = [state.entry(pair) for pair, total in state.totals.items() if total >= LEAST]
    heapify(heap)
    merges: list[SymbolPair] = []
    while heap and len(merges) < codes:
        negated, _, _, pair = heappop(heap)
        total = state.totals[pair]
        if total == -negated:
            merges.append(state.names_of(pair))
            for grown in state.merge(pair):
                heappush(heap, state.entry(grown))
        elif LEAST <= total < -negated:  # it has become less frequent, of which the heap is not told
            heappush(heap, state.entry(pair))
    return merges


class _Symbols:
    """The symbols of all words in a row, each with its neighbours, and where pairs of them are."""

    def __init__(self, pieces: Mapping[str, int]) -> None:
        self.names: list[str] = []
        self.order: list[str] = []
        """By number of a symbol, a string that sorts the other way round."""
        self.numbers: dict[str, int] = {}
        self.symbols, self.before, self.after = array("i"), array("i"), array("i")
        """At each place: the number of a symbol, -1 if it was merged; and the places of its neighbours, -1 for none."""
        self.counts = array("q")
        """At each place: how often its word occurs."""
        self.totals: dict[int, int] = defaultdict(int)
        """How often a pair occurs."""
        self.places: dict[int, array[int]] = defaultdict(lambda: array("i"))
        """Where the first symbol of a pair is, or was."""
        for piece, count in pieces.items():
            numbers = [self._number(symbol) for symbol in split_piece(piece)]
            begin, end = len(self.symbols), len(self.symbols) + len(numbers)
            self.symbols.extend(numbers)
            self.counts.extend([count] * len(numbers))
            self.before.extend((-1, *range(begin, end - 1)))
            self.after.extend((*range(begin + 1, end), -1))
            for position, (first, second) in enumerate(pairwise(numbers), begin):
                self._add(position, first << WIDTH | second, count)

    def entry(self, pair: int) -> tuple[int, str, str, int]:
        """What sorts pairs in the order in which they are merged."""
        return -self.totals[pair], self.order[pair >> WIDTH], self.order[pair & SECOND], pair

    def names_of(self, pair: int) -> SymbolPair:
        """Both symbols of a pair."""
        return self.names[pair >> WIDTH], self.names[pair & SECOND]

    def merge(self, pair: int) -> set[int]:
        """Merge a pair wherever it is, from left to right; returns pairs that this has made frequent."""
        first, second = pair >> WIDTH, pair & SECOND
        merged = self._number("".join(self.names_of(pair)))
        symbols, before, after, totals = self.symbols, self.before, self.after, self.totals
        grown = set()
        for position in sorted(self.places.pop(pair)):
            follower = after[position]
            if symbols[position] != first or follower < 0 or symbols[follower] != second:
                continue  # one of the two has been merged with its other neighbour
            count, left_neighbour, right_neighbour = self.counts[position], before[position], after[follower]
            symbols[position], symbols[follower], after[position] = merged, -1, right_neighbour
            if left_neighbour >= 0:
                totals[symbols[left_neighbour] << WIDTH | first] -= count
                grown.add(self._add(left_neighbour, symbols[left_neighbour] << WIDTH | merged, count))
            if right_neighbour >= 0:
                before[right_neighbour] = position
                totals[second << WIDTH | symbols[right_neighbour]] -= count
                grown.add(self._add(position, merged << WIDTH | symbols[right_neighbour], count))
        totals[pair] = 0
        return {neighbour for neighbour in grown if totals[neighbour] >= LEAST}

    def _add(self, position: int, pair: int, count: int) -> int:
        self.totals[pair] += count
        self.places[pair].append(position)
        return pair

    def _number(self, symbol: str) -> int:
        number = self.numbers.setdefault(symbol, len(self.names))
        if number == len(self.names):
            self.names.append(symbol)
            # of equally frequent pairs, subword-nmt merges that with the largest strings
            written = f"{symbol[:-1]}</w>" if symbol.endswith(" ") else symbol
            self.order.append("".join(chr(sys.maxunicode - ord(c)) for c in written) + chr(sys.maxunicode))
        return number
