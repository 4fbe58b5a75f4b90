"""Sentences of probing sets are left out of training: their texts, and what these were made from."""

import random

import pytest

from sentprobe.corpus import Corpus
from sentprobe.corpus.folding import near_duplicate_text
from sentprobe.data.expectations import origins
from sentprobe.errors import SentProbeWarning, UsageError
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import TrainingRequest
from sentprobe.lab.training.row_filter import read_withheld
from sentprobe.make import make_sets
from sentprobe.make.request import select_tasks

CHANGING = ("bigram_shift", "odd_man_out", "coordination_inversion")


@pytest.fixture(scope="module")
def corpus():
    return list(Corpus.synthetic(1500))


@pytest.fixture(scope="module")
def sets(corpus):
    asked = select_tasks((), (*CHANGING, "sentence_length"), sizes="120/20/20", settings="min_class=5")
    return {made.task: made for made in make_sets(Corpus.of(corpus, language="en"), asked)}


@pytest.fixture(scope="module")
def probes(sets, tmp_path_factory):
    folder = tmp_path_factory.mktemp("probes")
    for made in sets.values():
        made.save(folder / made.name)
    return folder


def plan(tmp_path, source, withheld, **more):
    return TrainingPlan(
        TrainingRequest("nli", "bilstm-max", (str(source),), held_out=10, **more), tmp_path / "data", withheld
    )


def test_the_count_is_that_of_a_loop(corpus, sets, probes, tmp_path):
    assert set(sets) == {*CHANGING, "sentence_length"}
    texts = [s.text for s in corpus]
    random.Random(5).shuffle(texts)
    texts = [text.upper() if i % 7 == 0 else text.replace(",", " ;") for i, text in enumerate(texts)]
    source = tmp_path / "train.txt"
    source.write_text("".join(f"{text}\n" for text in texts))
    forbidden = set()
    for made in sets.values():
        for row, original in origins(made):
            forbidden |= {
                near_duplicate_text(row.text),
                near_duplicate_text(" ".join(row.tokens)),
                near_duplicate_text(original),
            }
    expected = sum(near_duplicate_text(text) in forbidden for text in texts)
    used = {row.source for made in sets.values() for _, row in made}
    assert len(texts) > expected >= len(used) > 300  # the original of every row, changed or not
    made = plan(tmp_path, source, read_withheld([str(probes)]))
    kept = [row.values[0] for row in made.rows("train", ("text",))]
    held = [row.values[0] for row in made.rows("dev", ("text",))]
    assert made.counts["train"]["withheld"] == expected
    assert sorted(kept + held) == sorted(text for text in texts if near_duplicate_text(text) not in forbidden)


def test_any_text_of_a_row_withholds_it(tmp_path):
    probe = tmp_path / "tense.txt"
    probe.write_text("tr\tPAST\tShe didn't go .\nva\tPAST\tIt ended .\nte\tPRES\tHe waits .\n")
    withheld = read_withheld([str(probe)])
    source = tmp_path / "a.tsv"
    rows = [("He waits", "So ."), ("So .", "HE WAITS!"), ("She waits", "So"), ("It ended 1", "x"), ("a", "it ended")]
    source.write_text("".join(f"{a}\t{b}\n" for a, b in [*rows, *((f"s {x}", "t") for x in "abcdefghijklmnop")]))
    made = plan(tmp_path, source, withheld)
    left = {row.values for role in ("train", "dev") for row in made.rows(role, ("source", "target"))}
    assert set(rows) - left == {rows[0], rows[1], rows[4]}
    assert made.counts["train"]["withheld"] == 3
    trees = tmp_path / "a.trees"
    more = "".join(f"(S (NP (NN dog{x})) (VP (VB runs)))\n" for x in "abcdefghijklmnop")
    trees.write_text(f"(ROOT (S (NP (PRP She)) (VP (VBD did) (RB n't) (VB go)) (. .)))\n{more}")
    made = plan(tmp_path, trees, withheld)
    list(made.rows("train", ("tree",)))
    assert made.counts["train"]["withheld"] == 1


def test_dev_rows_are_not_withheld(tmp_path):
    probe = tmp_path / "tense.txt"
    probe.write_text("tr\tPAST\tShe left .\nte\tPRES\tHe waits .\n")
    (tmp_path / "train.txt").write_text("He waits\nOther\n")
    (tmp_path / "dev.txt").write_text("She left\n")
    request = TrainingRequest("nli", "bilstm-max", (str(tmp_path / "train.txt"),), (str(tmp_path / "dev.txt"),))
    made = TrainingPlan(request, tmp_path / "data", read_withheld([str(probe)]))
    assert [row.values for row in made.rows("train", ("text",))] == [("Other",)]
    assert [row.values for row in made.rows("dev", ("text",))] == [("She left",)]


def test_sets_without_originals_are_named(tmp_path):
    probe = tmp_path / "bigram_shift.txt"
    probe.write_text("tr\tI\tone three two\nva\tO\ta b\nte\tI\tfour six five\n")
    with pytest.warns(SentProbeWarning, match="2 rows are changed sentences whose originals are not recorded"):
        withheld = read_withheld([str(probe)])
    assert len(withheld) == 3


def test_nothing_is_withheld_without_sets():
    assert read_withheld([]) == frozenset()


def test_what_is_no_set_is_named_with_its_option(tmp_path):
    (tmp_path / "notes.md").write_text("no set\n")
    for path in (tmp_path / "notes.md", tmp_path / "nowhere"):
        with pytest.raises(UsageError, match=rf"--withhold {path}: expected probing sets"):
            read_withheld([str(path)])
