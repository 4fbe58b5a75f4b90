"""What must come out, whatever the numbers: on sets made from the built-in corpus."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe.encoders import load
from sentprobe.run import evaluate
from sentprobe.stats import wilson

TASKS = ("sentence_length", "bigram_shift", "past_present")
WORDS = 40  # of the words of word_content: more cost time and tell nothing


@pytest.fixture(scope="module")
def word_content(conneau):
    full = conneau["word_content"]
    labels = full.labels[:WORDS]
    rows = {split: [row for row in rows if row.label in labels] for split, rows in full.rows.items()}
    return replace(full, labels=labels, rows=rows)


@pytest.fixture(scope="module")
def run(conneau, word_content, tmp_path_factory):
    numbers = [
        {row.text: (place, task.labels.index(row.label)) for _, row in task}
        for place, task in enumerate(map(conneau.get, TASKS))
    ]

    def knowing(texts):
        vectors = np.zeros((len(texts), len(TASKS), max(len(conneau[task].labels) for task in TASKS)))
        for i, text in enumerate(texts):
            for found in (of_task[text] for of_task in numbers if text in of_task):
                vectors[(i, *found)] = 1
        return vectors.reshape(len(texts), -1)

    sets = [conneau[task] for task in TASKS]
    bag = load("baseline:words?dim=128")
    folder = tmp_path_factory.mktemp("runs")
    one = evaluate(
        {"bag": bag, "long": load("baseline:length"), "knowing": knowing}, sets, folder / "three", folds=0, resample=0
    )
    two = evaluate({"bag": bag}, [word_content], folder / "words", folds=0, resample=0)
    assert one.failures == two.failures == ()
    return [*one, *two]


def at_chance(result, chance):
    """Within 99.9 %: there are some twenty such tests, and one of twenty leaves an interval of 95 %."""
    low, high = wilson(result.accuracy * result.n["te"], result.n["te"], z=3.29)
    return low <= chance <= high


def found(run, encoder, task):
    return next(r for r in run if r.cell.encoder == encoder and r.cell.task == task)


def test_every_cell_is_done(run):
    assert len(run) == len(TASKS) * (3 + 6) + (1 + 6)


@pytest.mark.parametrize("encoder", ["bag", "nb-uni", "baseline:hash", "majority", "baseline:random", "long"])
def test_what_knows_no_order_is_at_chance_on_bigram_shift(run, encoder):
    assert at_chance(found(run, encoder, "bigram_shift"), 0.5)


def test_length_solves_sentence_length(run):
    assert found(run, "length", "sentence_length").accuracy == 1.0
    assert found(run, "long", "sentence_length").accuracy > 0.99  # by way of vectors, and of a penalty that dev chose


def test_words_find_the_word(run):
    assert found(run, "nb-uni", "word_content").accuracy > 0.7
    assert found(run, "bag", "word_content").range[0] > 10 * found(run, "majority", "word_content").accuracy


@pytest.mark.parametrize("task", ["bigram_shift", "past_present"])
def test_an_encoder_of_the_label_is_always_right(run, task):
    result = found(run, "knowing", task)
    assert result.accuracy == 1.0
    assert result.log2_loss < 0.5 * found(run, "baseline:random", task).log2_loss
    assert result.range[1] == 1.0
    # the verbs of past_present count, and not its rows, as nothing is known of what rows of a verb share
    assert result.range[0] > (0.98 if result.clusters is None else 0.95)


@pytest.mark.parametrize("task", [*TASKS, "word_content"])
def test_random_vectors_are_at_chance(run, task):
    assert at_chance(found(run, "baseline:random", task), 1 / len(found(run, "majority", task).labels))
