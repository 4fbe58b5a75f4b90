"""The rows that an objective gets, what is held out and counted, and the words of an encoder."""

import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sentprobe.corpus.brackets import parse_tree
from sentprobe.encoders.wordvectors import WordVectors
from sentprobe.errors import DataError, SentProbeError, SentProbeWarning, UsageError
from sentprobe.lab.training.inputs import count_tokens
from sentprobe.lab.training.plan import Arrangement, TrainingPlan
from sentprobe.lab.training.request import TrainingRequest

NLI = ("text1", "text2", "label")
REQUEST = TrainingRequest("nli", "bilstm-max", width=8)
DEFAULT = TrainingRequest.width


@pytest.fixture
def plan(tmp_path):
    def plan(train=(), dev=(), **more):
        return TrainingPlan(replace(REQUEST, train=files(train), dev=files(dev), **more), tmp_path / "data")

    def files(found):
        return tuple(map(str, found if isinstance(found, list | tuple) else [found]))

    return plan


def lines(path, texts):
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def words(n, seed=0):
    choose = random.Random(seed)
    return ["".join(choose.choices("abcdefghijklmnopqrstuvwxyz", k=12)) for _ in range(n)]


def test_held_out_is_as_many_as_asked_and_depends_on_the_seed(plan, tmp_path):
    premises = words(300)
    source = lines(tmp_path / "a.tsv", [f"{p}\t{kind} {p}\tneutral" for p in premises for kind in "xyz"])
    made = plan(source, held_out=100)
    train, dev = ({row.values for row in made.rows(role, NLI)} for role in ("train", "dev"))
    assert len(train) + len(dev) == 900
    assert len(dev) == 102  # whole premises
    assert {row[0] for row in train}.isdisjoint(row[0] for row in dev)
    assert made.counts == {"train": Counter(read=798, used=798), "dev": Counter(read=102, used=102)}
    assert {row.values for row in plan(source, held_out=100).rows("dev", NLI)} == dev
    other = plan(source, held_out=100, options=replace(REQUEST.options, seed=2))
    assert {row.values for row in other.rows("dev", NLI)} != dev
    mixed = [*random.Random(1).sample(source.read_text().upper().splitlines(), 900), *["\t\t"] * 50]
    lines(tmp_path / "b.tsv", mixed)
    found = {tuple(map(str.lower, row.values)) for row in plan(tmp_path / "b.tsv", held_out=100).rows("dev", NLI)}
    assert found == dev  # whatever the order and case, and however many rows cannot be used


@pytest.mark.parametrize("n", [300, 299, 1000])
def test_too_many_held_out(plan, tmp_path, n):
    source = lines(tmp_path / "a.txt", words(299))
    with pytest.raises(UsageError, match=rf"--held-out {n:,} leaves nothing to train on: there are 299 rows"):
        plan(source, held_out=n).rows("train", ("text",))


def test_one_document_cannot_be_held_out_in_part(plan, tmp_path):
    source = lines(tmp_path / "a.txt", words(50))
    with pytest.raises(UsageError, match="in 1 group with the same first text or document"):
        plan(source, held_out=5).rows("train", ("document", "text"))


def test_what_is_left_out_is_counted(plan, tmp_path):
    rows = [
        "a\tb\tneutral",
        "\tb\tneutral",
        "a\t  \tneutral",
        "a\tb\t",
        f"{'w ' * 11}\tb\tneutral",
        f"c{' w' * 9}\tb\tx",
    ]
    made = plan(lines(tmp_path / "a.tsv", rows), lines(tmp_path / "d.tsv", ["q\tr\ty", "\t\t"]), max_length=10)
    assert [row.line for row in made.rows("train", NLI)] == [1, 6]
    assert [row.line for row in made.rows("dev", NLI)] == [1]
    assert made.counts["train"] == {"read": 6, "used": 2, "empty": 3, "too long": 1}
    assert made.counts["dev"] == {"read": 2, "used": 1, "empty": 1}


def test_nothing_left(plan, tmp_path):
    source = lines(tmp_path / "a.txt", ["a b", "c d", "e f g"])
    with pytest.raises(DataError, match=r"a\.txt: nothing is left to train on \(3 read, 3 too long\)"):
        plan(source, lines(tmp_path / "d.txt", ["x"]), max_length=1).rows("train", ("text",))
    with pytest.raises(DataError, match=r"a\.txt: nothing is left to score \(3 read, 3 too long\)"):
        plan(tmp_path / "d.txt", source, max_length=1).rows("dev", ("text",))
    with pytest.raises(DataError, match=r"a\.txt: nothing is left to train on \(3 read, 3 too long\)"):
        plan(source, held_out=2, max_length=1).rows("train", ("text",))


def pairs_of(rows):
    """Each sentence with the next one of its document."""
    for a, b in pairwise(rows):
        if a.values[0] == b.values[0]:
            yield b._replace(values=(a.values[0], a.values[1], b.values[1]))


def test_rows_are_arranged_file_by_file_before_any_is_left_out(plan, tmp_path):
    text = ["one", "two", "far too long a sentence", "three", "four", "", "five"]
    first = lines(tmp_path / "a.tsv", ["document\ttext", *(f"d\t{one}" for one in text)])
    second = lines(tmp_path / "b.tsv", ["document\ttext", "d\tsix", "d\tseven"])
    made = plan([first, second], lines(tmp_path / "d.txt", ["x", "y"]), max_length=3)
    arrangement = Arrangement(("document", "text", "next"), pairs_of)
    rows = [row.values[1:] for row in made.rows("train", ("document", "text"), arrangement)]
    assert rows == [("one", "two"), ("three", "four"), ("six", "seven")]
    assert made.counts["train"] == {"read": 7, "used": 3, "too long": 2, "empty": 2}


def test_whole_documents_are_held_out(plan, tmp_path):
    text = [line for i in range(30) for line in (*(f"{i}: {word}" for word in words(10, i)), "")]
    made = plan(lines(tmp_path / "a.txt", text), held_out=95)
    train, dev = ([row.values for row in made.rows(role, ("document", "text"))] for role in ("train", "dev"))
    assert (len(train), len(dev)) == (200, 100)
    assert {row[0] for row in train}.isdisjoint(row[0] for row in dev)


def test_dev_rows_that_are_also_in_train_are_counted(plan, tmp_path):
    train = lines(tmp_path / "a.tsv", ["A dog.\tIt runs.\tneutral", "a cat\tit sits\tneutral", "A dog.\tIt runs\tx"])
    dev = lines(tmp_path / "d.tsv", ["a DOG\tit runs!\tneutral", "a cat\tit runs\tneutral", "a dog\tit runs\tneutral"])
    made = plan(train, dev)
    assert len(list(made.rows("train", NLI))) == 3  # they stay
    assert len(list(made.rows("dev", NLI))) == 3
    assert made.counts["dev"] == {"read": 3, "used": 3, "also in train": 2}
    train, dev = lines(tmp_path / "a.txt", words(80)), lines(tmp_path / "d.txt", [*words(60), *words(40, 1)])
    with pytest.warns(SentProbeWarning, match="60 of 100 dev rows are near-duplicates of training rows"):
        plan(train, dev).rows("train", ("text",))


TREES = ("(S (NP I) (VP slept) (. .))", "(S (NP You) (VP left) (. .))", "(S (NP We) (VP ran) (. .))")


@pytest.mark.parametrize(
    ("train", "dev", "field"),
    [
        ("trees.mrg", "table.tsv", "tree"),
        ("table.tsv", "trees.mrg", "tree"),
        ("trees.mrg", "lines.txt", "text"),
        ("lines.txt", "trees.mrg", "text"),
    ],
)
def test_copies_are_counted_between_trees_tables_and_texts(plan, tmp_path, train, dev, field):
    """A sentence of a bracket file has two texts, as words and as written; a table and a line of text have one."""
    for name, trees in ((train, TREES[:2]), (dev, TREES[1:])):
        rows = {"lines.txt": [" ".join(word for _, word in parse_tree(tree).leaves()) for tree in trees],
                "table.tsv": ["tree\tnumber", *(f"{tree}\t1" for tree in trees)], "trees.mrg": trees}[name]  # fmt: skip
        lines(tmp_path / name, rows)
    mixed = plan(tmp_path / train, tmp_path / dev)
    assert [len(list(mixed.rows(role, (field,)))) for role in ("train", "dev")] == [2, 2]
    assert mixed.counts["dev"] == {"read": 2, "used": 2, "also in train": 1}


def test_sources_are_named_once(plan, tmp_path, monkeypatch):
    source = lines(tmp_path / "a.txt", ["x"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"a\.txt is named twice in --train"):
        plan([source, "a.txt"], held_out=1).rows("train", ("text",))
    same = plan(source, "a.txt")  # to see whether an encoder can learn it by heart
    assert list(same.rows("train", ("text",))) != []
    assert len(list(same.rows("dev", ("text",)))) == same.counts["dev"]["also in train"] == 1
    with pytest.raises(UsageError, match=r"--held-out 3 is for training without --dev"):
        plan(source, "b.txt", held_out=3)
    for name, value in (("max_length", 0), ("words", 0), ("width", -1), ("held_out", -5)):
        with pytest.raises(UsageError, match=rf"--{name.replace('_', '-')} {value}: expected an integer"):
            plan(source, **{name: value})


def test_dev_is_found_in_the_folder_and_required(plan, tmp_path):
    folder = tmp_path / "snli"
    folder.mkdir()
    lines(folder / "train.tsv", ["a\tb\tneutral"])
    source = lines(folder / "dev.tsv", ["c\td\tneutral"])
    assert [row.values[0] for row in plan(folder).rows("dev", NLI)] == ["c"]
    assert [row.values[0] for row in plan(folder).rows("train", NLI)] == ["a"]
    source.unlink()
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match=r"There is no dev data: name it with --dev, or .* --held-out N"):
        plan(folder).rows("train", NLI)
    with pytest.raises(UsageError, match=r"Name training data: --train, with pairs with a label"):
        plan().rows("train", NLI)


def test_data_that_changes_while_it_is_read(plan, tmp_path):
    source = lines(tmp_path / "a.txt", words(30))
    made = plan(source, held_out=3)
    list(made.rows("train", ("text",)))
    for changed in (words(29), words(31)):
        lines(source, changed)
        with pytest.raises(DataError, match=r"a\.txt changed while it was read"):
            list(made.rows("train", ("text",)))


def test_the_most_frequent_words_are_kept(plan):
    texts = ["The dog saw the cat.", "The cat (a cat) ran!", "a a a"]
    inputs = plan(words=4).inputs(lambda: iter(texts))
    # by frequency, then by code: a 4, cat 3, The 2, and ! ( ) . dog ran saw the once each
    assert inputs.vocabulary.words == ["<s>", "</s>", "a", "cat", "The", "!"]
    assert (inputs.facts["vocabulary"], inputs.facts["running words"]) == (6, 17)
    assert inputs.facts["unknown words"] == pytest.approx(6 / 17)  # ( ) . dog ran saw: the is found as The
    assert (inputs.config.words, inputs.config.width, inputs.config.frozen) == (6, 8, False)
    lower = plan(words=4, case="lower").inputs(lambda: iter(texts))
    assert lower.vocabulary.words[2:] == ["a", "cat", "the", "!"]
    bag = plan(words=2).inputs(lambda: iter(texts), bag=True)
    assert (bag.vocabulary.words, bag.config.unknown) == (["a", "cat"], "drop")
    assert plan().inputs(lambda: iter(["", *[" "] * 9000, "late"])).vocabulary.words[2:] == ["late"]


def test_counting_forgets_rare_words_only(monkeypatch):
    monkeypatch.setattr("sentprobe.lab.training.inputs.TEXTS", 10)
    choose = random.Random(3)
    frequent = words(20)
    texts = [" ".join([*choose.sample(frequent, 5), *words(3, seed=i)]) for i in range(300)]
    exact = Counter(word for text in texts for word in text.split())
    counts, total = count_tokens(texts, REQUEST, most=120)
    assert total == exact.total()
    assert len(counts) <= 120
    assert {word: counts[word] for word in frequent} == {word: exact[word] for word in frequent}


def vectors(path, table):
    path.write_text("".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in table.items()))
    return str(path)


def test_given_vectors(plan, tmp_path):
    file = vectors(tmp_path / "v.txt", {"dog": [1, 2], "the": [3, 4], "cat": [5, 6], "Anna": [7, 8]})
    texts = ["The dog dog", "ANNA anna", "bird ."]
    inputs = plan(vectors=file, words=1, width=DEFAULT).inputs(lambda: iter(texts))
    assert inputs.vocabulary.words == ["dog", "the", "Anna"]  # the first, and those of the texts
    np.testing.assert_array_equal(inputs.table, [[0, 0], [1, 2], [3, 4], [7, 8]])
    assert inputs.vocabulary.ids("The cat saw anna") == [2, 3]
    assert inputs.facts["unknown words"] == pytest.approx(2 / 7)
    assert (inputs.config.width, inputs.config.frozen, inputs.config.unknown) == (2, True, "drop")
    assert not plan(vectors=f"vec:{file}", width=2, fine_tune=True).inputs(lambda: iter(texts)).config.frozen
    with pytest.raises(UsageError, match=r"--width 100: the vectors of .*v\.txt have 2 dimensions.*--projection 100"):
        plan(vectors=file, width=100).inputs(lambda: iter(texts))
    with pytest.raises(DataError, match="has no vector for 75 % of the running words"):
        plan(vectors=file, width=2).inputs(lambda: iter(["le chien the ."]))
    with pytest.raises(SentProbeError, match=r"nowhere\.txt"):
        plan(vectors=str(tmp_path / "nowhere.txt")).inputs(lambda: iter(texts))


def test_a_warning_of_vectors_that_saturate_a_network(plan, tmp_path):
    long = vectors(tmp_path / "long.txt", {"dog": [30, 40], "the": [40, 30], "rare": [1, 0]})
    with pytest.warns(SentProbeWarning, match=r"long\.txt have a median length of 50; .* divide them by 10"):
        plan(vectors=long, width=2).inputs(lambda: iter(["the dog"]))
    usual = vectors(tmp_path / "usual.txt", {"dog": [3, 4], "the": [4, 3], "rare": [100, 0]})
    plan(vectors=usual, width=2).inputs(lambda: iter(["the dog"]))  # warnings are errors here


def test_words_of_the_training_texts_come_first_so_that_no_other_vector_is_read(plan, tmp_path):
    (tmp_path / "v.txt").write_text("of 1 1\nthe 2 2\nrare 3 3\ndog 4 4\n")
    inputs = plan(vectors=str(tmp_path / "v.txt"), words=3, width=DEFAULT).inputs(
        lambda: iter(["the dog barks the dog"])
    )
    assert inputs.vocabulary.words == ["the", "dog", "of", "rare"]  # three of the file, and those of the texts
    np.testing.assert_array_equal(inputs.table[:, 0], [0, 2, 4, 1, 3])
    assert isinstance(inputs.table, np.memmap)


def test_vectors_made_of_subwords(plan, monkeypatch):
    found = WordVectors(["dog"], np.ones((1, 2), np.float32), "digest", 1, lambda words: np.full((len(words), 2), 5.0))
    monkeypatch.setattr("sentprobe.encoders.wordvectors.read_vectors", lambda *_: found)
    inputs = plan(vectors="any.bin", words=2, width=DEFAULT).inputs(lambda: iter(["dog bird bird", "ant cat cat cat"]))
    assert inputs.vocabulary.words == ["dog", "cat", "bird"]  # at most two that the file lacks, the most frequent
    np.testing.assert_array_equal(inputs.table, [[0, 0], [1, 1], [5, 5], [5, 5]])
    assert inputs.table.dtype == np.float32


def test_planning_needs_no_torch():
    code = "import sys, sentprobe.lab.training.plan, sentprobe.lab.training.train; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert found.stdout.strip() == "False"
