"""Folders with the codes of the first version: they are read as they were trained, and not trained on with others."""

import numpy as np
import pytest
import tokenizers
import torch

from sentprobe import load_encoder
from sentprobe.errors import UsageError
from sentprobe.lab.alignment.space import read_space
from sentprobe.lab.networks.vocabulary import BPE, FIRST_BPE
from sentprobe.lab.training import OBJECTIVES
from sentprobe.lab.training.lm import tokens as tokens_module
from sentprobe.lab.training.lm.pretrained import open_start
from sentprobe.lab.training.lm.tokens import END, read_tokens
from sentprobe.lab.training.mt.corpora import Noise, add_noise
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import make_request
from sentprobe.lab.training.targets import FILE, SPECIAL, Targets, read_targets
from sentprobe.lab.training.train import train
from tests.lab.networks.folders import sealed
from tests.lab.training.lm.tiny import request, texts, write

TEXTS = ["the dog sees it", "A big dog, isn't it?", "हिंदी की किताबें"]


def first_version(texts, codes, special, prefix_space=True):
    """Byte-pair encoding as it was: bytes, GPT-2's regular expression, a space before a word in its first token."""
    found = tokenizers.Tokenizer(tokenizers.models.BPE())
    found.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    found.decoder = tokenizers.decoders.ByteLevel()
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=len(special) + 256 + codes,
        initial_alphabet=alphabet,
        special_tokens=list(special),
        show_progress=False,
    )
    found.train_from_iterator(texts, trainer)
    return found


@pytest.fixture
def first(tmp_path, monkeypatch):
    """A folder of an earlier version, in the middle of its training."""
    with monkeypatch.context() as patch:
        patch.setattr(tokens_module, "train_bpe", first_version)
        return train(request(tmp_path, options={"epochs": 1}), tmp_path / "first")


def test_its_texts_are_split_as_they_were(first):
    assert first.network.tokenise == FIRST_BPE
    tokens = read_tokens(first.job)
    plain = tokenizers.Tokenizer.from_str((first.path / FILE).read_text("utf-8"))
    assert tokens.encode(TEXTS) == [plain.encode(text, add_special_tokens=False).ids for text in TEXTS]
    assert tokens.decode(tokens.encode(TEXTS)) == TEXTS
    assert open_start(str(first.path)).tokens().tokenise == FIRST_BPE


def test_transformers_splits_them_alike_and_it_is_an_encoder(first):
    transformers = pytest.importorskip("transformers")
    found = transformers.AutoTokenizer.from_pretrained(first.path)(TEXTS)["input_ids"]
    assert found == [[END, *row, END] for row in read_tokens(first.job).encode(TEXTS)]
    assert np.isfinite(load_encoder(f"trained:{first.path}?lang=en")(TEXTS)).all()


def test_its_words_begin_with_a_space(first):
    tokens = read_tokens(first.job)
    space = read_space(str(first.path))
    assert "the" in space.words
    for word in space.words:
        assert len(tokens.encode([word])[0]) == 1
    (row,) = tokens.encode(["the dog sees the unseen"])
    begins = tokens.word_marks().begins(np.array(row, np.int32))
    assert [token.startswith("Ġ") for token in map(tokens.strings().__getitem__, row)] == begins.tolist()
    torch.manual_seed(0)
    moved = add_noise(np.array(row, np.int32), tokens.word_marks(), Noise(3, 0.0, 0.0))
    assert sorted(tokens.decode([moved])[0].split()) == sorted(["the", "dog", "sees", "the", "unseen"])


def test_what_begins_with_it_has_its_codes(first, tmp_path):
    en, qto = texts(tmp_path)
    more = make_request(
        "mt",
        settings={"from": str(first.path), "decoded": 2, "length": 32},
        options={"epochs": 1},
        train=(f"en-qto={en},{qto}",),
        held_out=8,
    )
    prepared = OBJECTIVES.get("mt").prepare(TrainingPlan(more, tmp_path / "data"))
    assert prepared.inputs.config.tokenise == FIRST_BPE
    assert prepared.files[FILE] == (first.path / FILE).read_bytes()


def test_it_is_not_trained_on_with_other_codes(first, tmp_path):
    with pytest.raises(UsageError, match="The vocabulary that this version of sentprobe makes of the data has changed"):
        train(request(tmp_path, options={"epochs": 2}), first.path)
    assert read_tokens(first.job).tokenise == FIRST_BPE
    assert train(request(tmp_path, options={"epochs": 1}), tmp_path / "second").network.tokenise == BPE


def test_targets_are_read_as_they_were_and_not_trained_on_with_others(tmp_path, monkeypatch):
    lines = [*TEXTS, " ends in a space "]
    before = Targets(first_version(lines, 30, SPECIAL, prefix_space=False))
    targets = read_targets(sealed(tmp_path / "read", tokenizer=before.to_bytes()))
    assert targets.encode(lines) == before.encode(lines)
    assert targets.decode(targets.encode(lines)) == lines
    file = write(tmp_path / "train", [f"{text} {word}" for text in TEXTS for word in ("one", "two", "three", "four")])

    def wanted(epochs):
        return make_request(
            "autoencode",
            "bow-mean",
            train=(file,),
            held_out=4,
            settings={"decoder": 8, "target_width": 8, "codes": 20},
            options={"epochs": epochs},
            width=8,
        )

    with monkeypatch.context() as patch:
        patch.setattr(
            "sentprobe.lab.training.targets.train_bpe", lambda *args: first_version(*args, prefix_space=False)
        )
        train(wanted(1), tmp_path / "model")
    with pytest.raises(
        UsageError, match=r"tokenizer\.json, as this version of sentprobe makes it of the data, has changed"
    ):
        train(wanted(2), tmp_path / "model")
