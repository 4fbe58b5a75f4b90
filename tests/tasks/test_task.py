from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.core.hashing import mix
from sentprobe.errors import UsageError
from sentprobe.tasks import Context, Counts, Policy, most_frequent, target_forms, token_positions
from tests.writing import sentence


def test_counts_of_shards_add_up():
    one = Counts(2, 9, Counter(upos=2), Counter({("a", "X", "_"): 1}), tallies={"t": Counter(x=1)})
    one.add(
        Counts(1, 4, Counter(upos=1), Counter({("a", "X", "_"): 2}), tallies={"t": Counter(x=2), "u": Counter(y=1)})
    )
    assert one == Counts(
        3, 13, Counter(upos=3), Counter({("a", "X", "_"): 3}), tallies={"t": Counter(x=3), "u": Counter(y=1)}
    )


def test_forms_are_folded_and_filtered_by_part_of_speech():
    counts = Counts(
        words=Counter({("Set", "NOUN", "_"): 1, ("set", "VERB", "_"): 2}),
        first_words=Counter({("Set", "VERB", "_"): 4}),
    )
    assert counts.forms() == {"set": 7}
    assert counts.forms("VERB") == {"set": 6}


def words(**counts):
    return Counts(tokens=sum(counts.values()), words=Counter({(w, "NOUN", "_"): n for w, n in counts.items()}))


def test_a_band_is_scaled_to_the_corpus():
    counts = words(rare=99, low=100, high=5000, often=5001)
    # band_tokens equal to the corpus: the band is taken as it stands
    assert target_forms(counts, Policy(band=(100, 5000), band_tokens=counts.tokens), "NOUN") == {"low", "high"}
    assert target_forms(counts, Policy(band=(200, 10000), band_tokens=2 * counts.tokens), "NOUN") == {"low", "high"}


def test_a_band_in_a_small_corpus_starts_at_two_and_keeps_its_width():
    counts = words(once=1, twice=2, hundred=100, more=101)
    assert target_forms(counts, Policy(band=(100, 5000)), "NOUN") == {"twice", "hundred"}


def test_trimming_drops_the_rarest_and_the_most_frequent():
    counts = words(once=1, twice=2, often=50, oftenest=60)
    assert target_forms(counts, Policy(trim=(2, 0.25)), "NOUN") == {"twice", "often"}
    assert target_forms(counts, Policy(), "NOUN") == {"once", "twice", "often", "oftenest"}
    assert target_forms(counts, Policy(), "VERB") == set()


def test_most_frequent_labels_leave_one_place_for_other():
    tally = {"a": 9, "b": 5, "c": 5, "d": 1}
    assert most_frequent(tally, Policy(classes=3, min_class=1)) == {"a", "b"}
    assert most_frequent(tally, Policy(classes=9, min_class=5)) == {"a", "b", "c"}


def test_draws_are_even_and_depend_on_the_state_only():
    context = Context(Policy(), "", None, state=5)
    first = [context.draw(10) for _ in range(5)]
    context.state = 5
    assert [context.draw(10) for _ in range(5)] == first
    counts = Counter(Context(Policy(), "", None, state=mix(i)).draw(4) for i in range(8000))
    # 2000 expected; five standard deviations of a binomial(8000, 1/4) are 194
    assert all(abs(n - 2000) < 194 for n in counts.values())


def test_token_positions_under_multi_word_tokens():
    s = sentence("\n".join(f"{w} X X _ {0 if i == 0 else 1} dep" for i, w in enumerate("abcde")), mwts=((1, 3, "bc"),))
    assert token_positions(s, range(5)) == (0, 1, 1, 2, 3)


@pytest.mark.parametrize("wrong", [{"sizes": (0, 1, 1)}, {"length": (9, 5)}, {"bins": ((3, 1),)}])
def test_a_policy_refuses_what_cannot_be_meant(wrong):
    with pytest.raises(UsageError, match="positive sizes"):
        Policy(**wrong)


SENTENCES = st.lists(
    st.lists(st.sampled_from([a + b for a in "abcdef" for b in "uvwxyz"]), min_size=1, max_size=6), max_size=30
)


@given(SENTENCES, st.integers(1, 60), st.integers(1, 4), st.randoms(use_true_random=False))
def test_bigrams_are_thinned_the_same_in_any_order_and_complete_for_the_words_kept(sentences, most, shards, rng):
    exact = Counter(pair for words in sentences for pair in pairwise(["", *words, ""]))
    shuffled = list(sentences)
    rng.shuffle(shuffled)
    parts = [Counts(most_bigrams=most) for _ in range(shards)]
    for i, words in enumerate(shuffled):
        parts[i % shards].add_bigrams(["", *words, ""])
    whole = Counts(most_bigrams=most)
    for part in parts:
        whole.add(part)
    one = Counts(most_bigrams=most)
    for words in sentences:
        one.add_bigrams(["", *words, ""])
    assert (one.level, one.bigrams) == (whole.level, whole.bigrams)
    assert len(one.bigrams) <= most or not one.bigrams
    for pair, n in exact.items():
        if one.keeps(pair[0]) or one.keeps(pair[1]):
            assert one.bigrams[pair] == n
        else:
            assert pair not in one.bigrams
