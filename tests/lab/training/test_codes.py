"""Byte-pair encoding against subword-nmt in every script, words that stay whole, and texts that come back."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.lab.networks.vocabulary import byte_token
from sentprobe.lab.training.codes import learn_merges, split_text, train_bpe

ORACLE = json.loads(Path(__file__).with_name("subword_nmt.json").read_text("utf-8"))["scripts"]
"""By script: a text whose punctuation stands apart, and what subword-nmt makes of it; the file says how."""
SPECIAL = ("<s>", "</s>")
BYTES = {byte_token(bytes([byte])): byte for byte in range(256)}


def _merges(texts: list[str], codes: int = 40) -> list[str]:
    """The merges in the notation of subword-nmt."""
    pairs = learn_merges(Counter(piece for text in texts for piece in split_text(text)), codes)
    return [" ".join(re.sub(" $", "</w>", symbol) for symbol in pair) for pair in pairs]


def _segmented(tokenizer, text: str) -> str:
    """The tokens of a text, in the notation of subword-nmt."""
    tokens = iter(tokenizer.encode(text).tokens)
    words = []
    for piece in split_text(text):
        symbols: list[str] = []
        while "".join(symbols) != piece:
            symbols.append(bytes(map(BYTES.__getitem__, next(tokens))).decode())
        words.append("@@ ".join(symbol.strip() for symbol in symbols))
    return " ".join(words)


@pytest.mark.parametrize("script", ORACLE)
def test_merges_and_segmentation_are_those_of_subword_nmt(script: str) -> None:
    text = ORACLE[script]["text"]
    assert _merges(text) == ORACLE[script]["merges"]
    tokenizer = train_bpe(text, 40, SPECIAL)
    assert [_segmented(tokenizer, line) for line in text] == ORACLE[script]["segmented"]


@pytest.mark.parametrize("script", ORACLE)
def test_punctuation_that_is_attached_changes_nothing(script: str) -> None:
    attached = [re.sub(r" ([.,?;!।۔،؟。，、？։།])", r"\1", line) for line in ORACLE[script]["text"]]
    assert _merges(attached) == ORACLE[script]["merges"]
    tokenizer = train_bpe(attached, 40, SPECIAL)
    assert [_segmented(tokenizer, line) for line in attached] == ORACLE[script]["segmented"]


@pytest.mark.parametrize("script", ORACLE)
def test_every_word_becomes_one_token(script: str) -> None:
    """What the regular expression of GPT-2 makes impossible for each word with a combining mark."""
    text = ORACLE[script]["text"]
    tokenizer = train_bpe(text * 2, 10_000, SPECIAL)  # no word occurs once
    for line in text:
        assert len(tokenizer.encode(line).ids) == len(line.split())


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("dog. The (big) cat", ["dog ", ". ", "The ", " (", "big ", ") ", "cat "]),
        ("n'est-ce pas l'été ?", ["n'est-ce ", "pas ", "l'été ", " ?"]),
        ("dogs' 'tis l' 's", ["dogs' ", "'tis ", "l' ", "'s "]),
        ("the U.S. pays 1,000.50 at 10:30", ["the ", "U.S ", ". ", "pays ", "1,000.50 ", "at ", "10:30 "]),
        ("wait... so--what", ["wait ", ".", ".", ". ", "so ", "-", "-", "what "]),
        ("e\u0301te\u0301, ça", ["e\u0301te\u0301 ", ", ", "ça "]),
        ("है। हैं, क्षत्रिय", ["है ", "। ", "हैं ", ", ", "क्षत्रिय "]),
        ("می\u200cخوانم، نه؟", ["می\u200cخوانم ", "، ", "نه ", "؟"]),
        ("בְּצַה״ל, בְּתֵל־אָבִיב", ["בְּצַה״ל ", ", ", "בְּתֵל־אָבִיב "]),
        ("你好，世界。", ["你好 ", "，", "世界 ", "。"]),
        ("👩\u200d👩\u200d👧❤️!", ["👩\u200d👩\u200d👧❤️ ", "!"]),
        ("  two  spaces\tand a tab ", [*"  ", "two ", *"  ", "spaces ", "\t", "and ", "a ", "tab ", " "]),
        ("a\u3000b\u00a0!", ["a ", "\u3000", "b ", "\u00a0", "!"]),
        ("", []),
    ],
)
def test_where_texts_are_split(text: str, pieces: list[str]) -> None:
    assert split_text(text) == pieces


TRAINED = train_bpe([line for script in ORACLE.values() for line in script["text"]], 300, SPECIAL)
TRAINED.encode_special_tokens = True
ODD = "ab. ,'-()’\t\n\u00a0\u3000\u0301\u093f\u0e49\u0651\u200c\u200d\u200f।，👩🏽🇫<s>/_@1٣\0\U0010ffff"


@given(st.one_of(st.text(), st.text(ODD)))
@settings(max_examples=500, deadline=None)
def test_every_text_comes_back_and_both_programs_split_it_alike(text: str) -> None:
    text = text.encode(errors="replace").decode()
    assert TRAINED.decode(TRAINED.encode(text).ids, skip_special_tokens=False) == text
    pieces = [piece for piece, _ in TRAINED.pre_tokenizer.pre_tokenize_str(TRAINED.normalizer.normalize_str(text))]
    assert pieces == [byte_token(piece.encode()) for piece in split_text(text)]


@given(st.lists(st.text("ab.", min_size=1, max_size=12), min_size=1, max_size=12))
@settings(max_examples=300, deadline=None)
def test_merges_are_those_of_counting_all_pairs_anew(words: list[str]) -> None:
    """The algorithm as the paper has it (Sennrich et al. 2016, figure 1), with subword-nmt's order of equal pairs."""
    counts = Counter(f"{word} " for word in words if word.strip("."))
    vocabulary = {(*word[:-2], f"{word[-2]}</w>"): count for word, count in counts.items()}
    merges = []
    for _ in range(8):
        pairs: Counter[tuple[str, str]] = Counter()
        for symbols, count in vocabulary.items():
            for pair in pairwise(symbols):
                pairs[pair] += count
        best = max(pairs, key=lambda pair: (pairs[pair], pair), default=None)
        if best is None or pairs[best] < 2:
            break
        merges.append(best)
        vocabulary = {_merged(symbols, best): count for symbols, count in vocabulary.items()}
    learned = [tuple(re.sub(" $", "</w>", symbol) for symbol in pair) for pair in learn_merges(counts, 8)]
    assert learned == merges


def _merged(symbols: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    out: list[str] = []
    joined = False
    for symbol in symbols:
        if out and not joined and (out[-1], symbol) == pair:
            out[-1] += symbol
            joined = True
        else:
            out.append(symbol)
            joined = False
    return tuple(out)


def test_codes_do_not_depend_on_the_order_of_texts() -> None:
    texts = [line for script in ORACLE.values() for line in script["text"]]
    shuffled = texts.copy()
    random.Random(3).shuffle(shuffled)
    assert train_bpe(texts, 300, SPECIAL).to_str() == train_bpe(iter(shuffled), 300, SPECIAL).to_str()


def test_an_unknown_character_is_its_bytes_and_an_unknown_end_a_token() -> None:
    tokenizer = train_bpe(["ab ab", "हि"], 0, SPECIAL)
    assert tokenizer.encode("ab").tokens == ["a", "bĠ"]
    assert tokenizer.encode("ba").tokens == ["b", "a", "Ġ"]
    assert tokenizer.encode("aé").tokens == ["a", *byte_token("é".encode()), "Ġ"]
    assert len(tokenizer.encode("हि").tokens) == 2
