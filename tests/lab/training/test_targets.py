"""The target side of decoders: byte-pair encoding, tokens of trees, BLEU."""

from __future__ import annotations

import random

import pytest
import sacrebleu

from sentprobe.core.job_folder import JobFolder
from sentprobe.errors import DataError
from sentprobe.lab.training.targets import END, FILE, UNKNOWN, bleu, learn_bpe, learn_tokens, read_targets
from tests.lab.networks.folders import sealed

TEXTS = [
    "Le petit chat noir dort sur la table.",
    "Un grand chien court après le chat.",
    "Les enfants mangent des pommes, n'est-ce pas ?",
    "La vieille dame lit un livre sous l'arbre.",
] * 3
ODD = ["", " ", "  two  spaces\tand a tab ", "été 日本 😀", "a <s> b </s> <unk>", "line\nbreak", "Ünknown žluťoučký"]


def test_bpe_gives_back_every_text() -> None:
    targets = learn_bpe(TEXTS, 60)
    assert targets.decode(targets.encode(TEXTS + ODD)) == TEXTS + ODD


def test_special_tokens_come_only_from_their_numbers() -> None:
    [row] = learn_bpe(TEXTS, 60).encode(["a <s> b </s> <unk>"])
    assert row[-1] == END
    assert min(row[:-1]) > UNKNOWN


def test_lone_surrogates_are_replaced() -> None:
    targets = learn_bpe([*TEXTS, "a \ud800"], 10)
    assert targets.decode(targets.encode(["a \ud800"])) == ["a ?"]


def test_bpe_is_deterministic_whatever_the_order_of_texts() -> None:
    shuffled = TEXTS.copy()
    random.Random(3).shuffle(shuffled)
    assert learn_bpe(TEXTS, 60).to_bytes() == learn_bpe(iter(shuffled), 60).to_bytes()


def test_codes_are_merges() -> None:
    # characters are no codes: é, è; and those that end a word, or are punctuation, each with the spaces that it has
    ends = {word.strip("?.,")[-1:] for text in TEXTS for word in text.split()} - {""}
    assert len(learn_bpe(TEXTS, 0)) == 3 + 256 + len("è") + len(ends) + len((", ", " ?"))
    assert len(learn_bpe(TEXTS, 25)) == len(learn_bpe(TEXTS, 0)) + 25
    text = TEXTS[0]
    lengths = [len(learn_bpe(TEXTS, codes).encode([text])[0]) for codes in (0, 20, 1000)]
    assert lengths[0] == len(text.replace(" ", "")) + 1
    assert lengths[0] > lengths[1] > lengths[2]
    assert lengths[2] == len([*text.split(), "."]) + 1


def test_decoding_stops_at_the_first_end() -> None:
    targets = learn_bpe(TEXTS, 60)
    one, two = targets.encode(["chat", "chien"])
    assert targets.decode([one + two, one[:-1]]) == ["chat", "chat"]


def test_tokens_of_trees() -> None:
    targets = learn_tokens(["(S (NP DT NN )NP )S", "(NP NN )NP"])
    # three special ones, then by frequency and by name: (NP, )NP and NN occur twice
    assert targets.encode(["(NP )NP NN (S )S DT", "(X"]) == [[3, 4, 5, 6, 7, 8, END], [UNKNOWN, END]]
    assert targets.decode(targets.encode(["(S (NP DT NN )NP )S"])) == ["(S (NP DT NN )NP )S"]


def test_a_vocabulary_is_written_and_read(tmp_path) -> None:
    for targets in (learn_bpe(TEXTS, 60), learn_tokens(TEXTS)):
        found = read_targets(sealed(tmp_path, tokenizer=targets.to_bytes()))
        assert found.encode(TEXTS + ODD) == targets.encode(TEXTS + ODD)
        assert len(found) == len(targets)
    with pytest.raises(DataError, match=r"tokenizer.json is not of this version of tokenizers"):
        read_targets(sealed(tmp_path, tokenizer=b"{"))
    (tmp_path / FILE).unlink()
    with pytest.raises(DataError, match=r"tokenizer.json, which `sentprobe train` wrote, is missing"):
        read_targets(JobFolder(tmp_path, "sentprobe train"))


@pytest.mark.parametrize("tokenise", ["13a", "none", "char"])
def test_bleu_is_that_of_sacrebleu(tokenise: str) -> None:
    outputs = ["Le chat noir dort sur la table .", *TEXTS[1:4]]
    score, signature = bleu(outputs, TEXTS[:4], tokenise)
    assert score == sacrebleu.corpus_bleu(outputs, [TEXTS[:4]], tokenize=tokenise).score
    assert 0 < score < 100
    assert f"tok:{tokenise}" in signature
    assert "case:mixed" in signature
    assert bleu(TEXTS, TEXTS, tokenise)[0] == pytest.approx(100)
