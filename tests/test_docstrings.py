"""Every public name is documented: a first sentence, its parameters, an example that runs; and no repr dumps data."""

import doctest
import inspect
import re

import pytest

import sentprobe
from sentprobe import Corpus, Dataset, Probe, audit_set, embed_texts, load_encoder, load_task

CLASSES = [name for name in sentprobe.__all__ if inspect.isclass(getattr(sentprobe, name))]
FUNCTIONS = [name for name in sentprobe.__all__ if name not in CLASSES]
ERRORS = [name for name in CLASSES if issubclass(getattr(sentprobe, name), BaseException)]


def documented(found):
    return inspect.cleandoc(found.__doc__ or "")


@pytest.mark.parametrize("name", sentprobe.__all__)
def test_the_first_line_is_a_sentence(name):
    first = documented(getattr(sentprobe, name)).split("\n")[0]
    assert first[:1].isupper(), first
    assert first.endswith((".", "?")), first


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_described(name):
    text = documented(getattr(sentprobe, name))
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    wanted = list(inspect.signature(getattr(sentprobe, name)).parameters)
    assert wanted
    assert section, f"{name} has no Parameters section"
    described = {
        word.strip("* ")
        for line in section.group(1).splitlines()
        if re.match(r"\S", line)
        for word in line.partition(":")[0].split(",")
    }
    assert set(wanted) <= described, f"{name}: {sorted(set(wanted) - described)} not described"


@pytest.mark.parametrize("name", [name for name in sentprobe.__all__ if name not in ERRORS])
def test_the_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    found = getattr(sentprobe, name)
    (test, *_) = doctest.DocTestFinder(recurse=False).find(found, name, globs={}) or [None]
    assert test is not None, f"{name} has no example"
    assert test.examples, f"{name} has no example"
    out: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.DocTestRunner(optionflags=flags).run(test, out=out.append)
    assert result.failed == 0, "".join(out)


def test_no_repr_dumps_data():
    corpus = Corpus.synthetic(200)
    sentence = next(iter(corpus))
    embeddings = embed_texts(lambda texts: [[len(t)] for t in texts], [f"text {i}" for i in range(500)])
    (made,) = sentprobe.make_sets(
        Corpus.synthetic(800), sentprobe.select_tasks("conneau2018", "bigram_shift", sizes="100/20/20")
    )
    assert isinstance(made, Dataset)
    for value in (
        corpus, sentence, sentence.tree, embeddings, made, made.rows["te"][0], load_task("passive"), Probe(),
        load_encoder("static:"), audit_set(made),
    ):  # fmt: skip
        text = repr(value)
        assert len(text) <= 500, (type(value), len(text))
        assert "\n" not in text, type(value)
