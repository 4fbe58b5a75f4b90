"""Every public name is documented: a first sentence, its parameters, an example that runs; and no repr dumps data."""

import doctest
import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from pkgutil import resolve_name

import pytest

import sentprobe
from sentprobe import Corpus, Dataset, Probe, audit_set, embed_texts, load_encoder, load_task

PARTS = {
    "sentprobe.extend": [
        "Annotator", "AuditCheck", "Chart", "Check", "Control", "FolderType", "Listing", "Measure", "Metric",
        "ParametricTask", "ProbeKind", "RunKind", "Section", "SummaryExtension", "TextSource",
    ],
    "sentprobe.lab": ["AlignmentMethod", "Architecture", "Objective", "TrainingPreset", "WordEvaluation"],
}  # fmt: skip
"""The types of parts, besides tasks; the other names of these modules are what parts are made of."""
NAMES = [f"{module}.{name}" for module in ("sentprobe", *PARTS) for name in import_module(module).__all__]
MAIN = [name for name in NAMES if name.count(".") == 1]
PART_TYPES = [f"{module}.{name}" for module, names in PARTS.items() for name in names]
VERBS = [f"sentprobe.lab.{name}" for name in ("align", "evaluate_words", "train", "translate")]
CONSTANTS = {"TASK_SPECIFIC_FIELDS"}
NEEDS = {
    "sentprobe.lab.train": "accelerate",
    "sentprobe.lab.translate": "accelerate",
    **dict.fromkeys(map("sentprobe.lab.{}".format, ("Architecture", "Objective")), "torch"),  # in their examples
    **dict.fromkeys(map("sentprobe.lab.{}".format, ("max_over_time", "mean_over_time")), "torch"),
}


def is_class(name):
    return inspect.isclass(resolve_name(name))


def is_error(name):
    return is_class(name) and issubclass(resolve_name(name), BaseException)


def documented(value):
    return inspect.cleandoc(value.__doc__ or "")


@pytest.mark.parametrize("name", [name for name in NAMES if name.partition("extend.")[2] not in CONSTANTS])
def test_the_first_line_is_a_sentence(name):
    if name.endswith("_over_time"):
        pytest.importorskip(NEEDS[name])
    first = documented(resolve_name(name)).split("\n")[0]
    assert first[:1].isupper(), first
    assert first.endswith((".", "?")), first


@pytest.mark.parametrize("name", [*(name for name in MAIN if not is_class(name)), *VERBS, *PART_TYPES])
def test_every_parameter_is_described(name):
    value = resolve_name(name)
    text = documented(value)
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    wanted = list(inspect.signature(value).parameters)
    assert wanted
    assert section, f"{name} has no Parameters section"
    described = {
        word.strip("* ")
        for line in section.group(1).splitlines()
        if re.match(r"\S", line)
        for word in line.partition(":")[0].split(",")
    }
    assert set(wanted) <= described, f"{name}: {sorted(set(wanted) - described)} not described"


@pytest.mark.parametrize("name", [*(name for name in MAIN if not is_error(name)), *VERBS, *PART_TYPES])
def test_the_example_runs(name, tmp_path, monkeypatch):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    value = resolve_name(name)
    (test, *_) = doctest.DocTestFinder(recurse=False).find(value, name, globs={}) or [None]
    assert test is not None, f"{name} has no example"
    assert test.examples, f"{name} has no example"
    out: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.DocTestRunner(optionflags=flags).run(test, out=out.append)
    assert result.failed == 0, "".join(out)


def test_a_part_prints_itself_as_its_type_and_name():
    from sentprobe.cli.listings import LISTINGS

    kinds = {resolve_name(listing.kind) for listing in LISTINGS.parts().values() if listing.kind}
    types = {resolve_name(name) for name in PART_TYPES}
    kinds = [kind for kind in kinds if kind.type in types]
    assert {kind.type for kind in kinds} == types
    for kind in kinds:
        if kind.type.__name__ in ("Architecture", "Objective") and find_spec("torch") is None:
            continue
        for name, part in kind.parts().items():
            assert repr(part) == f"{type(part).__name__}({name!r})"


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
