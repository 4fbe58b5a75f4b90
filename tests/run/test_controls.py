"""Controls: each takes away what it says and nothing else, and the answers that are known beforehand come out."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.core.words import split_punctuation as tokens
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.data.dataset import Dataset
from sentprobe.data.splits import splits_of
from sentprobe.encoders import load
from sentprobe.encoders.schemes import vec
from sentprobe.encoders.wordvectors import WordVectors
from sentprobe.errors import DataError, TooFewError
from sentprobe.probes import Features, fit, parse
from sentprobe.run.control import CONTROLS
from sentprobe.run.controls.direction import to_direction
from sentprobe.run.controls.gaussian import to_gaussian
from sentprobe.run.controls.key import MIN_KEY_TEXTS, lexical_keys
from sentprobe.run.controls.norm import to_norm
from sentprobe.run.controls.words import to_empty
from sentprobe.run.job import TextIndex, Vectors
from sentprobe.run.variants import selectivity
from sentprobe.stats import level
from sentprobe.stats.intervals import wilson
from sentprobe.tasks import Example
from tests.run.sets import WORDS, Knowing, dataset

SPLITS = ("tr", "va", "te")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def three(parts):
    return parts.train, parts.dev, parts.test


def each_part(parts, change):
    """The set with every part changed."""
    return replace(parts, train=change(parts.train), dev=change(parts.dev), test=change(parts.test))


def right(parts, encode):
    """Which test rows the plain linear probe has right on the vectors that ``encode`` makes of texts."""
    vectors = [Features.of(np.asarray(encode(part.texts), np.float32)) for part in three(parts)]
    return right_on(parts, vectors)


def right_on(parts, vectors):
    train, dev, test = vectors
    probe = parse("linear")[1]
    found = fit(probe, train, parts.train.labels, dev, parts.dev.labels, len(parts.labels))[0]
    return found.model.scores(test).argmax(axis=1) == parts.test.labels


def at_chance(hits, share):
    low, high = wilson(float(hits.sum()), len(hits))
    return low <= share <= high


# all of them


def test_every_control_has_an_interpretation():
    assert [name for name in CONTROLS if CONTROLS[name].order < 200] == [
        "key", "shuffled", "memorise", "permuted", "permuted_test", "synthetic", "norm", "direction", "gaussian",
        "words", "untrained",
    ]  # fmt: skip
    for name, control in CONTROLS.parts().items():
        assert control.name == name
        assert re.fullmatch(r"[A-Z].{40,}\.", control.interpretation)
        assert sum(work is not None for work in (control.splits, control.table, control.encoder)) == 1
    assert {name for name, c in CONTROLS.parts().items() if c.encodes} == {
        "permuted",
        "permuted_test",
        "synthetic",
        "untrained",
    }


@pytest.mark.parametrize("name", [name for name, control in CONTROLS.parts().items() if control.splits])
def test_a_control_that_encodes_nothing_asks_for_no_other_texts(name):
    parts = keyed()
    made = CONTROLS[name].splits(parts, 1)
    new = set(made.texts()) - set(parts.texts())
    assert bool(new) == CONTROLS[name].encodes
    for part in three(made):
        assert len({len(part.texts), len(part.labels), len(part.keys)}) == 1
    assert (made.name, made.digest, made.task) == (parts.name, parts.digest, parts.task)


@pytest.mark.parametrize("name", [name for name, control in CONTROLS.parts().items() if control.splits])
def test_the_seed_decides(name):
    def facts(seed):
        made = CONTROLS[name].splits(keyed(), seed)
        return [(list(p.texts), p.labels.tolist()) for p in three(made)]

    assert facts(3) == facts(3)
    assert facts(3) != facts(4)


# the key control


def keyed(keys=(60, 24, 36), each=8, classes=2):
    """A set whose target forms, the second words, are kept apart, and say nothing of the labels, the first words."""
    rng, rows = np.random.default_rng(7), {}
    for s, (split, many) in enumerate(zip(SPLITS, keys, strict=True)):
        rows[split] = []
        for i in range(many * each):
            label, form = f"c{i // many % classes}", f"form{s}x{i % many}"
            words = (label, form, *rng.choice(WORDS, size=4), str(i))
            rows[split].append(Example(label, words, " ".join(words), key=form))
    return splits_of(Dataset("own/keyed", "keyed", 1, "en", tuple(f"c{i}" for i in range(classes)), rows, {}))


def one_hot(parts, place):
    """An encoder that knows one word of a text, by its place, and nothing else."""
    known = sorted({text.split()[place] for part in three(parts) for text in part.texts})
    return lambda texts: np.eye(len(known))[[known.index(text.split()[place]) for text in texts]]


def test_the_task_is_split_as_the_control_is():
    parts = keyed()
    made = CONTROLS["key"].splits(parts, 5)
    task = made.same_rows
    assert task.labels == parts.labels
    own = {text: label for part in three(parts) for text, label in zip(part.texts, part.labels.tolist(), strict=True)}
    for one, two in zip(three(task), three(made), strict=True):
        assert (one.texts, one.keys, one.inputs) == (two.texts, two.keys, two.inputs)
        assert one.labels.tolist() == [own[text] for text in one.texts]
        assert one.labels.tolist() != two.labels.tolist()


def test_another_seed_deals_other_rows_and_draws_other_labels():
    parts = keyed()
    one, two = (CONTROLS["key"].splits(parts, seed) for seed in (5, 6))
    for first, second in zip(three(one), three(two), strict=True):
        assert set(first.texts) != set(second.texts)
    labels = [{key: part.labels[i] for part in three(made) for i, key in enumerate(part.keys)} for made in (one, two)]
    assert any(labels[0][key] != labels[1][key] for key in labels[0].keys() & labels[1].keys())


def test_selectivity_is_high_of_a_label_and_below_zero_of_a_word_that_says_nothing_of_it():
    parts = keyed()
    control = CONTROLS["key"].splits(parts, 5)
    found = {}
    for what, place in (("label", 0), ("word", 1)):
        task, other = (right(p, one_hot(parts, place)) for p in (control.same_rows, control))
        found[what] = selectivity(task, other, control.test.keys)
    label, word = found["label"], found["word"]
    assert (label.task, word.control) == (1.0, 1.0)
    assert label.control < 0.65
    assert word.task < 0.65
    assert word.high < 0 < label.low


def test_a_row_whose_label_is_not_in_train_is_left_out():
    parts = keyed()
    labels = parts.test.labels.copy()
    labels[:7] = -1
    made = CONTROLS["key"].splits(replace(parts, test=replace(parts.test, labels=labels)), 5)
    assert min(part.labels.min() for part in three(made.same_rows)) == 0
    assert sum(map(len, three(made))) == sum(map(len, three(parts))) - 7


def test_a_row_has_the_label_of_its_key_and_train_has_every_key():
    parts = keyed(classes=3)
    made = CONTROLS["key"].splits(parts, 2)
    label = {}
    for part in three(made):
        for text, key, number in zip(part.texts, part.keys, part.labels.tolist(), strict=True):
            assert text.split()[1] == key
            assert label.setdefault(key, number) == number
    assert len(label) == 120  # all, those of every split of the task
    assert set(made.dev.keys) | set(made.test.keys) <= set(made.train.keys)
    assert len(set(label.values())) == 3
    before, after = ([len(part) for part in three(p)] for p in (parts, made))
    assert sum(after) == sum(before)
    assert np.abs(np.array(after) - before).max() <= 2


def test_labels_are_drawn_with_the_shares_that_they_have():
    rows = {s: [Example("a" if i % 4 else "b", ("x",), f"k{i} {s}", key=f"k{i}") for i in range(2000)] for s in SPLITS}
    parts = splits_of(Dataset("own/uneven", "uneven", 1, "en", ("a", "b"), rows, {}))
    made = CONTROLS["key"].splits(parts, 0)
    label = {key: i for part in three(made) for key, i in zip(part.keys, part.labels.tolist(), strict=True)}
    low, high = wilson(float(list(label.values()).count(1)), len(label), z=3.3)
    assert low < 0.25 < high


def test_neither_labels_nor_parts_depend_on_the_order_of_rows():
    def turned(part):
        return replace(part, texts=part.texts[::-1], labels=part.labels[::-1], keys=part.keys[::-1])

    one, two = (CONTROLS["key"].splits(parts, 1) for parts in (keyed(), each_part(keyed(), turned)))
    for a, b in zip(three(one), three(two), strict=True):
        assert dict(zip(a.texts, a.labels, strict=True)) == dict(zip(b.texts, b.labels, strict=True))


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 30)), min_size=60, max_size=150), st.integers(0, 9))
def test_whatever_the_rows_keys_are_in_train_and_sentences_in_one_part(drawn, seed):
    # the same sentence may be in several rows, with several keys, and spelt in another way
    rows = {split: [] for split in SPLITS}
    for i, (key, text) in enumerate(drawn):
        spelt = f"All keys {LETTERS[text % 26]}{LETTERS[text // 26]}" + "!" * (i % 2)
        rows[SPLITS[i % 3]].append(
            Example(f"c{i % 2}", ("x",), spelt, key="all keys"[key % 8 : key % 8 + 1 + key // 8])
        )
    parts = splits_of(Dataset("own/any", "any", 1, None, ("c0", "c1"), rows, {}))
    try:
        made = CONTROLS["key"].splits(parts, seed)
    except TooFewError:
        return
    assert set(made.dev.keys) | set(made.test.keys) <= set(made.train.keys)
    near = [{near_duplicate_key(text) for text in part.texts} for part in three(made)]
    assert near[0].isdisjoint(near[1] | near[2])
    assert near[1].isdisjoint(near[2])
    texts = {
        (key, near_duplicate_key(t)) for part in three(parts) for key, t in zip(part.keys, part.texts, strict=True)
    }
    shared = {key for key, n in Counter(key for key, _ in texts).items() if n > 1}
    assert Counter(key for part in three(made) for key in part.keys) == Counter(
        key for part in three(parts) for key in part.keys if key in shared
    )


def test_without_target_forms_the_key_is_the_rarest_word_that_is_not_too_rare():
    rows = {split: [] for split in SPLITS}
    for i in range(300):
        split = SPLITS[i % 3]
        # a rare word in 12 texts, a frequent one in 60, one in all, and one that no other text has
        words = [f"Rare{LETTERS[i // 12]},", f"often{i % 5}", "the", f"once{LETTERS[i // 24]}{LETTERS[i % 24]}"]
        rows[split].append(Example(f"c{i % 2}", tuple(words), " ".join(words)))
    parts = splits_of(Dataset("own/free", "free", 1, None, ("c0", "c1"), rows, {}))
    kind, keys = lexical_keys(parts)
    assert kind == "rare word"
    assert MIN_KEY_TEXTS <= 12
    for part, found in zip(three(parts), keys, strict=True):
        assert found == [text.split()[0].lower().strip(",") for text in part.texts]
    made = CONTROLS["key"].splits(parts, 0)
    assert {key for part in three(made) for key in part.keys} == {key for found in keys for key in found}


def test_a_target_form_that_is_not_in_the_text_is_not_a_key():
    parts = keyed()
    assert lexical_keys(parts)[0] == "target form"
    elsewhere = each_part(
        parts, lambda part: replace(part, keys=[f"no {key}" if i % 2 else key for i, key in enumerate(part.keys)])
    )
    assert lexical_keys(elsewhere)[0] == "rare word"
    lacking = each_part(parts, lambda part: replace(part, keys=[None, *part.keys[1:]]))
    assert lexical_keys(lacking)[0] == "rare word"


def test_a_set_without_shared_words_has_no_key_control():
    parts = each_part(splits_of(dataset()), lambda part: replace(part, texts=[f"x{i}" for i in range(len(part))]))
    with pytest.raises(
        TooFewError, match=r"own/task: 0 of 220 rows have a rare word that occurs in at least two texts"
    ):
        CONTROLS["key"].splits(parts, 0)


# selectivity


def test_selectivity_is_the_difference_and_says_of_what():
    found = selectivity([1, 1, 1, 0, 1], [1, 0, 0, 0, 0], ["a", "b", "c", "c", "c"])
    assert (found.task, found.control, found.value, found.keys) == (0.8, 0.2, pytest.approx(0.6), 3)
    assert found.low < 0.6 < found.high


def test_rows_of_one_key_are_not_taken_for_independent():
    task, control = (np.repeat(g, 20) for g in np.random.default_rng(0).random((2, 40)) < 0.5)
    together = selectivity(task, control, [f"k{i}" for i in range(40) for _ in range(20)])
    apart = selectivity(task, control, [f"k{i}" for i in range(800)])
    assert together.high - together.low > 3 * (apart.high - apart.low)  # √20 = 4.5 times, more or less


def test_rows_are_paired():
    # a row is right or wrong with both labels: the difference hardly moves, where those of other rows would
    rng = np.random.default_rng(1)
    hits, keys = rng.random(2000) < 0.5, [f"k{i % 40}" for i in range(2000)]
    paired, unpaired = selectivity(hits, hits, keys), selectivity(hits, rng.permutation(hits), keys)
    assert paired.value == 0
    assert paired.high - paired.low < 0.3 * (unpaired.high - unpaired.low)


def test_the_interval_covers_what_it_should():
    """200 draws of 40 keys, each with 1 to 9 rows and chances of its own to be right on the task and on the control."""
    rng, covered = np.random.default_rng(3), 0
    for _ in range(200):
        sizes = rng.integers(1, 10, 40)
        chances = [np.repeat(rng.beta(4 * mean, 4 * (1 - mean), 40), sizes) for mean in (0.7, 0.55)]
        task, control = (rng.random(len(chance)) < chance for chance in chances)
        found = selectivity(task, control, np.repeat([f"k{k}" for k in range(40)], sizes).tolist())
        covered += found.low <= 0.15 <= found.high
    assert 180 <= covered <= 198  # of 190, give or take three deviations


@pytest.mark.parametrize("keys", [["a"] * 40, [f"k{i // 2}" for i in range(40)]], ids=["one key", "many keys"])
def test_a_higher_level_has_a_wider_interval(keys, monkeypatch):
    task, control = [1, 1, 1, 0] * 10, [1, 0, 0, 0] * 10
    found = []
    for value in (0.99, 0.8):
        monkeypatch.setattr(level, "LEVEL", value)
        found.append(selectivity(task, control, keys))
    wide, narrow = found
    assert wide.low < narrow.low < 0.5 < narrow.high < wide.high


def test_all_right_and_all_wrong_still_leave_a_doubt():
    found = selectivity([1] * 30, [0] * 30, ["a"] * 15 + ["b"] * 15)
    assert found.value == 1
    assert found.low < 0.9


def test_one_key_alone_has_an_interval_too():
    found = selectivity([1, 1, 0, 1], [0, 1, 0, 0], ["a"] * 4)
    assert found.low < found.value == 0.5 < found.high


def test_the_order_of_rows_does_not_move_an_interval():
    rng = np.random.default_rng(2)
    (task, control), keys = rng.random((2, 90)) < 0.6, [f"k{i}" for i in rng.integers(20, size=90)]
    order = rng.permutation(90)
    assert selectivity(task, control, keys) == selectivity(task[order], control[order], [keys[i] for i in order])


def test_keys_must_be_those_of_the_rows():
    with pytest.raises(DataError, match="a key for each of 3 rows, got 2"):
        selectivity([1, 0, 1], [1, 1, 0], ["a", "b"])


# labels


def test_shuffled_labels_are_the_same_labels_at_chance():
    parts = splits_of(dataset(n=(900, 300, 600)))
    made = CONTROLS["shuffled"].splits(parts, 0)
    for old, new in zip(three(parts), three(made), strict=True):
        assert sorted(old.labels) == sorted(new.labels)
        assert old.labels.tolist() != new.labels.tolist()
        assert old.texts == new.texts
    knowing = Knowing()
    assert right(parts, knowing).all()
    assert at_chance(right(made, knowing), 0.5)


def test_memorising_is_tested_on_the_learned_rows():
    parts = splits_of(dataset(n=(200, 40, 60)))
    made = CONTROLS["memorise"].splits(parts, 0)
    assert made.train == made.dev == made.test
    assert made.chosen_on == made.trained_on == "tr"
    assert sorted(made.train.labels) == sorted(parts.train.labels)
    assert made.train.labels.tolist() != parts.train.labels.tolist()
    place = {text: i for i, text in enumerate(parts.train.texts)}
    assert right(made, lambda texts: np.eye(200)[[place[text] for text in texts]]).all()  # a dimension per row
    assert right(made, lambda texts: np.ones((len(texts), 3))).mean() == 0.5  # nothing to hold on to: the majority


# texts

ODD = [
    "The cat sat on the mat.",
    "Wait,  what: two  spaces (here)?",
    " don't you\xa0think so ? ",
    "Äpfel und Öl , bitte !",
    "one",
    "",
]


def odd_set(texts=ODD):
    def fill(part):
        return replace(part, texts=[texts[i % len(texts)] for i in range(len(part))])

    return each_part(splits_of(dataset(n=(40, 12, 12))), fill)


TABLE = np.random.default_rng(5).normal(size=(6, 8)).astype(np.float32)
KNOWN = WordVectors(["the", "cat", "mat.", "two", "you", "what:"], TABLE, "0" * 32, 6)


@pytest.mark.parametrize("name", ["static:", "baseline:hash", "baseline:words", "mean", "max", "sum"])
def test_permuting_words_leaves_a_bag_of_words_unchanged_to_the_bit(name):
    encoder = load(name) if ":" in name else vec.Pooled(KNOWN, "v.txt", name)
    for parts in (odd_set(), splits_of(dataset())):
        made = CONTROLS["permuted"].splits(parts, 1)
        for old, new in zip(three(parts), three(made), strict=True):
            assert sum(a != b for a, b in zip(old.texts, new.texts, strict=True)) > len(old) / 2
            assert encoder(old.texts).tobytes() == encoder(new.texts).tobytes()


@settings(max_examples=30)
@given(st.text(alphabet="ab,. \xa0\n", max_size=30), st.integers(0, 5))
def test_words_change_places_and_spaces_do_not(text, seed):
    made = CONTROLS["permuted"].splits(odd_set([text, "a b c d e f", "g h i j k l"]), seed).train.texts[0]
    assert Counter(made.split(" ")) == Counter(text.split(" "))
    assert re.sub("[^ ]+", "x", made) == re.sub("[^ ]+", "x", text)


def test_every_order_is_as_likely():
    texts = ["a b c" + " " * i for i in range(600)]  # all different
    parts = each_part(splits_of(dataset(n=(600, 600, 600))), lambda part: replace(part, texts=texts))
    orders = Counter("".join(text.split()) for text in CONTROLS["permuted"].splits(parts, 0).train.texts)
    assert len(orders) == 6
    assert min(orders.values()) > 60  # of 100 each


def test_the_new_text_does_not_depend_on_other_texts():
    whole = odd_set()
    one = replace(whole, train=replace(whole.train, texts=whole.train.texts[::-1]))
    for name in ("permuted", "synthetic"):
        a, b = (CONTROLS[name].splits(parts, 0).train.texts for parts in (whole, one))
        assert list(a) == list(b)[::-1]


def test_only_the_test_texts_may_be_permuted():
    parts = splits_of(dataset())
    made, whole = (CONTROLS[name].splits(parts, 0) for name in ("permuted_test", "permuted"))
    assert (made.train, made.dev) == (parts.train, parts.dev)
    assert made.test.texts == whole.test.texts
    assert made.test.texts != parts.test.texts


def test_texts_without_spaces_cannot_be_permuted():
    with pytest.raises(DataError, match=r"Most of the 2 texts of own/task do not change"):
        CONTROLS["permuted"].splits(odd_set(["猫が座る", "犬が走る"]), 0)


def test_both_sentences_of_a_pair_are_changed_and_words_are_not():
    sentence, word = (
        each_part(odd_set(), lambda part, text=text: replace(part, inputs={"other": [text] * len(part)}))
        for text in ("the other sentence of all pairs", "word")
    )
    for name in ("permuted", "synthetic"):
        (made,) = set(CONTROLS[name].splits(sentence, 0).train.inputs["other"])
        assert made != "the other sentence of all pairs"
        assert len(made.split()) == 6
        assert CONTROLS[name].splits(word, 0).train.inputs == word.train.inputs


def ordered(n=(500, 200, 400), seed=0):
    """word_order on sentences in which one of the first words always precedes one of the second."""
    rng, rows = np.random.default_rng(seed), {}
    early, late = [f"early{i}" for i in range(8)], [f"late{i}" for i in range(8)]
    for split, many in zip(SPLITS, n, strict=True):
        rows[split] = []
        for i in range(many // 2):
            one, two = rng.choice(early), rng.choice(late)
            words = [str(one).capitalize(), *rng.choice(WORDS, size=6), f"{two},", split, f"{i}."]
            whole = Example("1", tuple(words), " ".join(words), extra=(("word1", str(one)), ("word2", str(two))))
            rows[split] += [whole, whole._replace(label="0", extra=(("word1", str(two)), ("word2", str(one))))]
    return splits_of(Dataset("adi2017/word_order", "word_order", 1, "en", ("0", "1"), rows, {}))


def test_the_order_of_two_words_is_that_of_the_permuted_text():
    parts = ordered()
    made = CONTROLS["permuted"].splits(parts, 0)
    for old, new in zip(three(parts), three(made), strict=True):
        assert len(old) == len(new)
        assert new.inputs == old.inputs
        for text, one, two, label in zip(new.texts, *new.inputs.values(), new.labels.tolist(), strict=True):
            words = [w for word in text.lower().split() for w in tokens(word)]
            assert (words.index(one) < words.index(two)) == (label == 1)
        assert new.labels.mean() == 0.5  # of each sentence one row either way


def test_word_pairs_that_tell_their_order_tell_nothing_of_permuted_texts():
    """Adi et al.: an average seems to know the order, but it is the word inputs, as in natural sentences."""
    parts = ordered()
    made = CONTROLS["permuted"].splits(parts, 0)
    encoder = load("baseline:words?dim=64")
    places = {}
    for name, p in (("plain", parts), ("permuted", made)):
        texts = p.texts()
        place = TextIndex(texts)
        table = encoder(texts)
        whole = Vectors([(table, place)])
        alone = Vectors([(to_empty(table, texts, 0), place)], [(table, place)])
        for what, vectors in (("sentence", whole), ("words", alone)):
            # of each sentence one row, as the other is right with it
            places[name, what] = right_on(p, [vectors.features(part) for part in three(p)])[::2]
    assert places["plain", "words"].all()
    assert places["plain", "sentence"].mean() > 0.95
    assert at_chance(places["permuted", "words"], 0.5)
    assert at_chance(places["permuted", "sentence"], 0.5)


def test_words_that_a_tokeniser_split_are_found_and_others_leave_with_their_row():
    parts = ordered(n=(40, 40, 40))
    texts = ["I don't see a follow-up here, sadly"] * 40
    pairs = [("do", "up"), ("n't", "do"), ("see", "cannot"), ("follow", "see")] * 10
    labels = np.array([1, 0, 1, 0] * 10)
    rows = replace(parts.train, texts=texts, inputs={"word1": [a for a, _ in pairs], "word2": [b for _, b in pairs]},
                   labels=labels)  # fmt: skip
    made = CONTROLS["permuted"].splits(replace(parts, train=rows), 3).train
    assert len(made) == 30
    assert "cannot" not in made.inputs["word2"]
    words = made.texts[0].split()
    before = {a: i for i, a in enumerate(words)}
    expected = [
        before["don't"] < before["follow-up"],
        False,  # within one word nothing moves
        before["follow-up"] < before["see"],
    ]
    assert made.labels[:3].tolist() == expected


def test_synthetic_sentences_are_as_long_and_of_words_of_the_training_texts():
    parts = odd_set()
    parts = replace(parts, test=replace(parts.test, texts=["only here, tested!"] * len(parts.test), lengths=()))
    n = len(parts.dev)
    parts = replace(parts, dev=replace(parts.dev, texts=["e.g. this 15-month one"] * n, lengths=[9] * n))
    made = CONTROLS["synthetic"].splits(parts, 0)
    known = {t for text in parts.train.texts for word in text.split() for t in tokens(word) if any(map(str.isalnum, t))}
    for old, new in zip(three(parts), three(made), strict=True):
        assert old.labels.tolist() == new.labels.tolist()
        sizes = dict(zip(old.texts, old.lengths, strict=False))
        for before, after in zip(old.texts, new.texts, strict=True):
            # as the set counts them, or where nobody did, words with their punctuation split off
            assert len(after.split()) == (sizes.get(before) or sum(len(tokens(word)) for word in before.split()))
            assert set(after.split()) <= known
    assert set(made.test.texts[0].split()).isdisjoint({"only", "tested"})


@pytest.mark.parametrize("told_by", ["words", "length"])
def test_length_survives_synthetic_sentences_and_words_do_not(told_by):
    rng, rows = np.random.default_rng(1), {}
    for split, n in zip(SPLITS, (600, 200, 400), strict=True):
        rows[split] = []
        for i in range(n):
            word, more = i % 2, i // 2 % 2
            words = [f"word{word}", *rng.choice(WORDS, size=3 + 6 * more), f"{split}{i}"]
            label = word if told_by == "words" else more
            rows[split].append(Example(f"c{label}", tuple(words), " ".join(words)))
    parts = splits_of(Dataset("own/told", "told", 1, None, ("c0", "c1"), rows, {}))
    made = CONTROLS["synthetic"].splits(parts, 0)
    encoder = load("baseline:hash" if told_by == "words" else "baseline:length")
    assert right(parts, encoder).all()
    hits = right(made, encoder)
    assert at_chance(hits, 0.5) if told_by == "words" else hits.all()


# vectors


def test_the_norm_and_the_direction_are_the_two_halves_of_a_vector():
    table = np.random.default_rng(0).normal(size=(5000, 7)).astype(np.float32)
    table[3] = 0
    norms, directions = to_norm(table, [], 0), to_direction(table, [], 0)
    assert (norms.shape, directions.shape) == ((5000, 1), (5000, 7))
    assert (norms.dtype, directions.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(norms * directions, table, atol=1e-5)
    np.testing.assert_allclose(np.delete(np.linalg.norm(directions, axis=1), 3), 1, atol=1e-6)
    assert not directions[3].any()


def test_the_norm_alone_predicts_nothing_for_unit_vectors():
    parts = splits_of(dataset(n=(600, 200, 300)))
    knowing = Knowing(noise=0.1)

    def unit(texts):
        return to_direction(np.asarray(knowing(texts)), texts, 0)

    assert right(parts, unit).mean() > 0.95
    norms = to_norm(unit(parts.train.texts), parts.train.texts, 0)
    assert len(np.unique(norms)) == 1  # rounding is no information, and a probe would make much of it
    assert right(parts, lambda texts: to_norm(unit(texts), texts, 0)).mean() == 0.5


@pytest.mark.parametrize("scale", [0.0, 1e-20, 1.0, 1e18])
def test_norms_of_any_size_are_finite(scale):
    norms = to_norm(scale * np.arange(6, dtype=np.float32).reshape(3, 2), [], 0)
    assert np.isfinite(norms).all()
    np.testing.assert_allclose(norms[:, 0], scale * np.sqrt([1, 13, 41]), rtol=2e-6)


def test_gaussian_vectors_know_which_text_it_is_and_nothing_else():
    texts = ["a", "b", "a", "c"]
    made = to_gaussian(np.zeros((4, 33), np.float32), texts, 1)
    assert made.shape == (4, 33)
    assert (made[0] == made[2]).all()
    assert (made[0] != made[1]).any()
    assert (made != to_gaussian(np.zeros((4, 33)), texts, 2)).any()
    parts = splits_of(dataset(n=(600, 200, 400)))
    assert at_chance(right(parts, lambda texts: to_gaussian(np.zeros((len(texts), 20)), texts, 0)), 0.5)


def test_words_alone_are_what_is_left_without_the_sentence():
    parts = ordered(n=(20, 10, 10))
    texts = parts.texts()
    place = TextIndex(texts)
    table = np.random.default_rng(0).normal(size=(len(texts), 5)).astype(np.float32)
    whole = Vectors([(table, place)]).features(parts.train)
    alone = Vectors([(to_empty(table, texts, 0), place)], [(table, place)]).features(parts.train)
    assert (whole.shape, alone.shape) == ((20, 15), (20, 10))
    assert (alone.take(slice(None)) == whole.take(slice(None))[:, 5:]).all()
    assert CONTROLS["words"].applies_to(parts)
    assert not CONTROLS["words"].applies_to(splits_of(dataset()))


def test_labels_are_changed_only_where_they_are_learned_in_one_go():
    parts = splits_of(dataset())
    folds = replace(parts, protocol="nested")
    for name in ("key", "shuffled", "memorise"):
        assert CONTROLS[name].applies_to(parts)
        assert not CONTROLS[name].applies_to(folds)
    assert CONTROLS["permuted"].applies_to(folds)


def test_keys_are_words_of_a_sentence_and_not_of_two():
    assert CONTROLS["key"].applies_to(ordered(n=(20, 10, 10)))
    found = splits_of(dataset())
    train, dev, test = (replace(part, inputs={"sentence2": list(part.texts)}) for part in three(found))
    assert not CONTROLS["key"].applies_to(replace(found, train=train, dev=dev, test=test))
