"""The real package, if it is installed, with an untrained model of characters; its released models need a download.

benepar is not among the packages that the tests install: it is of 2021, and comes as source only. What of the adapter
does not need it is tested with a stand-in that has the attributes of the real one.
"""

import dataclasses
import sys
from importlib.util import find_spec
from types import ModuleType

import pytest

from sentprobe.annotate.annotator import load_annotator
from sentprobe.errors import AnnotatorError, NotInstalled, UsageError

TEXT = "The dogs sleep. I don't know the teacher (yet)."


def stand_in(parser):
    """A module with what the adapter uses of benepar: InputSentence, and Parser, whose trees are nltk's."""

    @dataclasses.dataclass
    class InputSentence:
        words: list | None = None
        space_after: list | None = None
        tags: list | None = None
        escaped_words: list | None = None

    module = ModuleType("benepar")
    module.Parser, module.InputSentence = parser, InputSentence
    return module


class NltkTree(list):
    """What nltk.Tree is: a list of children with a label."""

    def __init__(self, label, children):
        super().__init__(children)
        self._label = label

    def label(self):
        return self._label


class FlatParser:
    """Puts every word under one S; refuses more than twelve words, in the words of the real one."""

    def __init__(self, name):
        if name == "benepar_xx":
            raise LookupError("Resource benepar_xx not found.")
        if name == "old":
            raise AttributeError("T5Tokenizer has no attribute build_inputs_with_special_tokens")

    def parse_sents(self, sentences):
        for s in sentences:
            if len(s.words) > 12:
                raise ValueError(
                    "Sentence of length 13 (in sub-word tokens) exceeds the maximum supported length of 12"
                )
            tags = s.tags or ["UNK"] * len(s.words)
            words = [word.replace("(", "-LRB-").replace(")", "-RRB-") for word in s.words]
            yield NltkTree("TOP", [NltkTree("S", [NltkTree(t, [w]) for t, w in zip(tags, words, strict=True)])])


@pytest.fixture
def fake(monkeypatch, rules):
    pytest.importorskip("huggingface_hub")  # which benepar brings
    monkeypatch.setitem(sys.modules, "benepar", stand_in(FlatParser))
    monkeypatch.setattr(
        "sentprobe.annotate.annotators.benepar.version", lambda name: {"transformers": "5.1"}.get(name, "0.2")
    )
    return f"benepar:benepar_en3?tokens={rules}"


def test_trees_are_added_to_the_columns_of_another_annotator(fake, rules):
    loaded, base = load_annotator(fake), load_annotator(rules)
    assert "tree" in loaded.model.columns
    assert loaded.model.name == f"benepar_en3 on {base.model.name}"
    (found,), (plain,) = loaded.annotate([TEXT], False), base.annotate([TEXT], False)
    assert [s.forms for s in found] == [s.forms for s in plain]
    assert [s.heads for s in found] == [s.heads for s in plain]
    for s in found:
        assert s.tree.label == "ROOT"
        assert tuple(word for _, word in s.tree.leaves()) == s.forms
        assert s.xpos == tuple(tag for tag, _ in s.tree.leaves())


def test_a_sentence_that_is_too_long_has_no_tree(fake):
    (found,) = load_annotator(fake).annotate(["A short one. " + "and " * 12 + "so on."], False)
    assert [s.tree is None for s in found] == [False, True]


def test_what_is_missing(fake, rules, monkeypatch):
    with pytest.raises(UsageError, match=r"python -c \"import benepar; benepar\.download\('benepar_xx'\)\""):
        load_annotator(f"benepar:benepar_xx?tokens={rules}")
    with pytest.raises(AnnotatorError, match=r"cannot be loaded: AttributeError.*pip install 'transformers<5'"):
        load_annotator(f"benepar:old?tokens={rules}")
    with pytest.raises(UsageError, match="needs another annotator for sentences and words"):
        load_annotator("benepar:benepar_en3")
    with pytest.raises(UsageError, match="needs a model"):
        load_annotator("benepar:")
    monkeypatch.setitem(sys.modules, "benepar", None)
    with pytest.raises(NotInstalled, match="pip install benepar"):
        load_annotator(fake)


def test_the_real_package(rules, tmp_path):
    if find_spec("benepar") is None:
        pytest.skip("benepar is not installed")
    import benepar
    import torch
    from benepar.nkutil import HParams
    from benepar.parse_chart import ChartParser

    tiny = HParams(
        use_chars_lstm=True, use_pretrained=False, use_encoder=True, d_model=16, num_layers=1, num_heads=2, d_kv=4,
        d_ff=16, d_label_hidden=8, d_tag_hidden=8, predict_tags=True, tag_loss_scale=1.0, d_char_emb=4,
        char_lstm_input_dropout=0.0, morpho_emb_dropout=0.0, relu_dropout=0.0, residual_dropout=0.0,
        attention_dropout=0.0, encoder_max_len=64, force_root_constituent=True,
    )  # fmt: skip
    characters = {chr(code): code for code in range(128)}
    made = ChartParser({"UNK": 0, "NN": 1, "VB": 2}, {"": 0, "S": 1, "NP": 2, "VP": 3}, characters, tiny)
    torch.save({"config": made.config, "state_dict": made.state_dict()}, tmp_path / "tiny.pt")
    loaded = load_annotator(f"benepar:{tmp_path / 'tiny.pt'}?tokens={rules}")
    assert loaded.model.software.startswith("benepar 0.")
    (found,) = loaded.annotate([TEXT], False)
    assert " ".join(s.text for s in found) == TEXT
    for s in found:
        assert s.tree.label == "ROOT"
        assert tuple(word for _, word in s.tree.leaves()) == s.forms
    with pytest.raises(UsageError, match=r"benepar\.download"):
        load_annotator(f"benepar:benepar_none?tokens={rules}")
    assert benepar.download
