"""Tokenisers by name and language; those of packages that are not installed are said to be so."""

import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from sentprobe.corpus import Corpus
from sentprobe.corpus.tokenisers import check_tokeniser, tokeniser, tokeniser_for
from sentprobe.errors import CorpusError, NotInstalled, UsageError


def test_names():
    assert tokeniser("simple")("Well, (yes)!") == ["Well", ",", "(", "yes", ")", "!"]
    assert tokeniser("space")("Well, (yes)!") == ["Well,", "(yes)!"]
    with pytest.raises(UsageError, match="Did you mean simple"):
        check_tokeniser("simpel")
    with pytest.raises(UsageError, match="no tokeniser"):
        check_tokeniser("moses-")


@pytest.mark.parametrize(
    ("language", "name"),
    [("zh", "jieba"), ("zh-TW", "jieba"), ("ja", "janome"), ("th", "pythainlp"), ("fr", "moses-fr"), ("ur", "moses-ur"),
     (None, "moses-en")],
)  # fmt: skip
def test_every_language_has_one(language, name):
    assert tokeniser_for(language) == name
    assert check_tokeniser(name) == name


@pytest.mark.parametrize("name", ["moses-fr", "nltk", "treebank", "jieba", "janome", "pythainlp"])
def test_a_package_that_is_not_installed(name, monkeypatch):
    package = {"moses-fr": "sacremoses", "treebank": "nltk"}.get(name, name)
    for module in (package, f"{package}.tokenizer", f"{package}.tokenize"):
        monkeypatch.setitem(sys.modules, module, None)
    tokeniser.cache_clear()
    with pytest.raises(NotInstalled, match=f"needs {package}: pip install {package}"):
        tokeniser(name)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [("moses-fr", "L'été, c'est fini.", ["L'", "été", ",", "c'", "est", "fini", "."]),
     ("moses-ur", "It is late, isn't it?", ["It", "is", "late", ",", "isn", "'t", "it", "?"]),
     ("moses-ko", "그는 우유를 마시지 않는다.", ["그는", "우유를", "마시지", "않는다", "."]),
     ("treebank", "I don't know. Do you?", ["I", "do", "n't", "know.", "Do", "you", "?"]),
     ("jieba", "我来到北京清华大学", ["我", "来到", "北京", "清华大学"]),
     ("janome", "私は学生です。", ["私", "は", "学生", "です", "。"])],
)  # fmt: skip
def test_what_they_do_where_they_are_installed(name, text, expected):
    if find_spec({"treebank": "nltk"}.get(name, "sacremoses" if name.startswith("moses") else name)) is None:
        pytest.skip("an optional tokeniser")
    tokeniser.cache_clear()
    assert tokeniser(name)(text) == expected


@pytest.fixture
def characters(monkeypatch):
    """A segmenter in the place of jieba: two letters are a word."""
    found = SimpleNamespace(
        setLogLevel=lambda _: None, lcut=lambda text: [text[i : i + 2] for i in range(0, len(text), 2)]
    )
    monkeypatch.setitem(sys.modules, "jieba", found)
    tokeniser.cache_clear()
    yield
    tokeniser.cache_clear()


def test_make_and_train_split_texts_alike(characters, tmp_path):
    pytest.importorskip("torch")
    from sentprobe.encoders import load
    from sentprobe.lab.networks.vocabulary import Vocabulary
    from sentprobe.lab.training.request import make_request
    from sentprobe.lab.training.train import train

    texts = ["abcdef", "cdabgh", "efefab"]
    (tmp_path / "x.txt").write_text("".join(f"{text}\n" for text in texts))
    corpus = Corpus.read(tmp_path / "x.txt", tokenise="jieba")
    assert [s.forms for s in corpus] == [
        ("ab", "cd", "ef"),
        ("cd", "ab", "gh"),
        ("ef", "ef", "ab"),
    ]
    request = make_request(
        "none", "bow-mean", settings={}, options={}, width=4, tokenise="jieba", train=(str(tmp_path / "x.txt"),)
    )  # fmt: skip
    folder = train(request, tmp_path / "out")
    assert set(folder.vocabulary.words) >= {"ab", "cd", "ef", "gh"}
    assert folder.vocabulary.tokens("abef")[-3:-1] == ["ab", "ef"]
    assert load(f"trained:{tmp_path}/out?random=1")(["abef"]).shape == (1, 4)
    assert Vocabulary(("ab",), "jieba", unknown="keep").ids("abxx") == [1, 0]


def test_a_tokeniser_that_changes_the_text(characters, tmp_path):
    sys.modules["jieba"].lcut = str.upper
    (tmp_path / "x.txt").write_text("AB\nab\n")
    with pytest.raises(CorpusError, match=r"x\.txt:2.*the token 'A' of the tokeniser jieba"):
        list(Corpus.read(tmp_path / "x.txt", tokenise="jieba"))
