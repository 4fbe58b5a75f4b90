"""What a set, a corpus and their parts look like in a terminal and a notebook."""

from dataclasses import fields
from pathlib import Path

import pytest

from sentprobe.corpus import Corpus, Sentence, Tree
from sentprobe.data.dataset import Dataset
from sentprobe.tasks import TASKS, Example, Policy, load_task


def row(label, text):
    return Example(label, tuple(text.split()), text)


def test_reprs_are_one_short_line(conneau, builtin):
    big = conneau["word_content"]
    shown = [
        big, builtin, Corpus.synthetic(9), Corpus("x", None, ("a.conllu",)), Corpus("x", "fr", ("a", "b"), ("t",)),
        next(iter(builtin)), next(iter(builtin)).tree, big.rows["tr"][0], Policy(), *map(load_task, TASKS),
        *(policy for name in TASKS for policy in load_task(name).policies.values()),
    ]  # fmt: skip
    for each in shown:
        assert "\n" not in repr(each)
        assert len(repr(each)) <= 250, repr(each)


def test_what_a_repr_says():
    found = Dataset("mine/tense", "tense", 1, None, ("A", "B"), {"tr": [row("A", "x")] * 1200})
    assert repr(found) == "Dataset('mine/tense', 2 labels, train 1,200, dev 0, test 0)"
    assert repr(Corpus("x", "fr", ("a", "b"), ("t",))) == "Corpus('x', fr, 2 files, trees from 1 file)"
    assert repr(Corpus("x", None, ("a.txt",))) == "Corpus('x', language unknown, a.txt)"
    assert repr(Tree("NN", ("dog",))) == "Tree('(NN dog)')"
    assert repr(Sentence("s", "Hi " * 30, ("Hi",))) == f"Sentence('s', '{('Hi ' * 30)[:59]}…', 1 word: no annotation)"
    assert repr(Example("A", ("x",), "x", extra=(("word", "y"),))) == "Example('A', 'x', extra=(('word', 'y'),))"
    assert repr(Policy(cap=0.5)) == "Policy(cap=0.5)"


def test_the_table_has_every_split_and_label_and_escapes_what_comes_from_the_set():
    rows = {"tr": [row("<b>", "a & b <script>"), row("A", "x")], "te": [row("A", "y" * 500)]}
    html = Dataset("mine/<tense>", "tense", 1, "en", ("<b>", "A"), rows)._repr_html_()
    assert "<script>" not in html
    assert "a &amp; b &lt;script&gt;" in html
    assert "<caption>mine/&lt;tense&gt; (en)</caption>" in html
    assert "<tr><td>&lt;b&gt;</td><td>1</td><td>0</td><td>0</td></tr>" in html
    assert "<tr><td>all</td><td>2</td><td>0</td><td>1</td></tr>" in html
    assert "y" * 121 not in html


def test_the_table_of_many_labels_is_small(conneau):
    html = conneau["word_content"]._repr_html_()
    assert html.count("<tr>") == 1 + 10 + 1 + 1 + 1 + 5  # two headers, ten labels, the rest, all, five examples
    assert f"{len(conneau['word_content'].labels) - 10} more" in html
    assert len(html) < 3000


@pytest.mark.parametrize("name", [field.name for field in fields(Sentence)] + ["tokens"])
def test_the_page_on_tasks_says_what_every_field_of_a_sentence_holds(name):
    page = Path(__file__).parents[2] / "docs/your-own-task.md"
    assert f"\n| `{name}` | `" in page.read_text("utf-8")
