"""Tasks that change a sentence, and tasks about its words."""

import math
from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from sentprobe.tasks import Counts, Example, Policy, load_task
from sentprobe.tasks.definitions.coordination_inversion import Capitals, _length_stratum
from sentprobe.tasks.definitions.odd_man_out import ReplacementPlan, counts_near, replacements
from sentprobe.tasks.definitions.word_content import letters
from tests.tasks.asking import ask, reason
from tests.writing import PAINT, STARRED, TWO_CLAUSES, TWO_CLAUSES_TREE, sentence


def both_labels(task, s, **named):
    """The task's proposals over many states of its generator, by label."""
    found = {}
    for state in range(0, 1 << 16, 997):
        example = ask(task, s, state=state, **named)
        if isinstance(example, Example):
            found.setdefault(example.label, []).append(example)
    return found


def test_bigram_shift_exchanges_two_inner_words_and_keeps_the_text_natural():
    s = sentence(STARRED)
    found = both_labels(load_task("bigram_shift"), s)
    assert set(found) == {"I", "O"}
    assert {e.text for e in found["O"]} == {"She has starred with many leading actors."}
    texts = {e.text for e in found["I"]}
    assert texts == {
        "She starred has with many leading actors.",
        "She has with starred many leading actors.",
        "She has starred many with leading actors.",
        "She has starred with many actors leading.",
    }
    for e in found["I"]:
        assert e.tokens[0] == "She"
        assert e.tokens[-1] == "."
        assert Counter(e.tokens) == Counter(s.tokens)


def test_bigram_shift_leaves_multi_word_tokens_and_glued_words_alone():
    rows = """
        Wir   PRON X _ 2 nsubj
        gehen VERB X _ 0 root
        zu    ADP  X _ 5 case
        dem   DET  X _ 5 det
        See   NOUN X _ 2 obl
        heute ADV  X _ 2 advmod
    """
    found = both_labels(load_task("bigram_shift"), sentence(rows, mwts=((2, 4, "zum"),)))
    assert {e.text for e in found["I"]} == {"Wir gehen zum heute See"}
    glued = sentence("A X X _ 0 root\nb X X _ 1 dep\nc X X _ 1 dep", glued=(1,))
    assert reason(load_task("bigram_shift"), glued) == "no two words to exchange"


def test_scripts_without_spaces_have_words_too():
    rows = """
        我们 PRON X _ 3 nsubj
        昨天 NOUN X _ 3 obl
        看见 VERB X _ 0 root
        一 NUM X _ 5 nummod
        只 NOUN X _ 6 clf
        猫 NOUN X _ 3 obj
        。 PUNCT X _ 3 punct
    """
    s = sentence(rows, glued=tuple(range(6)))
    found = both_labels(load_task("bigram_shift"), s)
    assert {e.text for e in found["O"]} == {"我们昨天看见一只猫。"}
    assert "我们看见昨天一只猫。" in {e.text for e in found["I"]}
    for e in found["I"]:
        assert load_task("bigram_shift").original(e) == s.text


def test_bigram_shift_leaves_out_quotes_and_equal_words():
    quoted = sentence('He X X _ 2 nsubj\nsaid X X _ 0 root\n" PUNCT X _ 2 punct\nyes X X _ 2 obj\n" PUNCT X _ 2 punct')
    assert reason(load_task("bigram_shift"), quoted) == "double quotes"
    doubled = sentence("So X X _ 0 root\nvery X X _ 1 dep\nVery X X _ 1 dep")
    assert reason(load_task("bigram_shift"), doubled) == "no two words to exchange"


@pytest.mark.parametrize("reading", ["dependency", "constituency"])
def test_coordination_inversion_repairs_case_comma_and_full_stop(reading):
    s = sentence(TWO_CLAUSES, tree=TWO_CLAUSES_TREE)
    found = both_labels(load_task("coordination_inversion"), s, reading=reading, plan=CAPITALS)
    assert {e.text for e in found["O"]} == {"They had left early, but we stayed."}
    assert {e.text for e in found["I"]} == {"We stayed, but they had left early."}
    assert {e.stratum for e in found["O"]} == {"first longer"}
    assert {e.stratum for e in found["I"]} == {"second longer"}
    for e in (*found["O"], *found["I"]):
        assert [e.tokens[i] for i in e.marks] == [",", "but"]


def test_coordination_inversion_keeps_names_and_i():
    name = TWO_CLAUSES.replace("They  PRON ", "Otto  PROPN")
    found = both_labels(load_task("coordination_inversion"), sentence(name), reading="dependency", plan=CAPITALS)
    assert found["I"][0].text == "We stayed, but Otto had left early."
    pronoun = TWO_CLAUSES.replace("They ", "I    ")
    found = both_labels(load_task("coordination_inversion"), sentence(pronoun), reading="dependency", plan=CAPITALS)
    assert found["I"][0].text == "We stayed, but I had left early."


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("8 cc", "8 discourse", "not exactly one coordination"),
        ("8 nsubj", "8 obj", "a conjunct is not a clause of its own"),
        ("8 nsubj", "8 mark", "a conjunct is not a clause of its own"),
        (
            "early ADV   RB  _                                  3 advmod",
            "if    SCONJ IN  _  3 mark",
            "a conjunct is a subordinate clause",
        ),
        ("They  PRON ", "Well  INTJ ", "opens with an interjection, conjunction or number"),
        ("had   AUX  ", "Had   AUX  ", "title in capitals"),
        (".     PUNCT .", "?     PUNCT .", "question"),
        (",     PUNCT ,", ";     PUNCT :", "a semicolon, dash or colon between the clauses"),
        ("early ADV   RB", '"     PUNCT "', "quotes or brackets"),
    ],
)
def test_coordination_inversion_says_why_not(old, new, why):
    s = sentence(TWO_CLAUSES.replace(old, new))
    assert reason(load_task("coordination_inversion"), s, reading="dependency", plan=CAPITALS) == why


def test_a_clause_without_its_verb_is_not_exchanged():
    rows = """
        She   PRON  PRP _                       2 nsubj
        drank VERB  VBD Mood=Ind|VerbForm=Fin   0 root
        tea   NOUN  NN  _                       2 obj
        and   CCONJ CC  _                       5 cc
        {he}
    """
    gapped = "he PRON PRP _ 2 conj\ncoffee NOUN NN _ 5 orphan"
    subject = "coffee NOUN NN _ 2 conj\nhe PRON PRP _ 5 nsubj"
    for rest in (gapped, subject):
        assert reason(
            load_task("coordination_inversion"), sentence(rows.format(he=rest)), reading="dependency", plan=CAPITALS
        )
    why = reason(
        load_task("coordination_inversion"), sentence(rows.format(he=subject)), reading="dependency", plan=CAPITALS
    )
    assert why == "a conjunct has no finite verb"


def test_clauses_without_any_finite_verb_are_left_out_where_these_are_marked():
    rows = """
        the    PRON  DT  _ 2 nsubj
        softer ADJ   JJR _ 0 root
        and    CCONJ CC  _ 5 cc
        it     PRON  PRP _ 5 nsubj
        better ADJ   JJR _ 2 conj
        too    ADV   RB  _ 5 advmod
    """
    marked = replace(CAPITALS, finite=True)
    why = reason(load_task("coordination_inversion"), sentence(rows), reading="dependency", plan=marked)
    assert why == "a conjunct has no finite verb"
    # in a language whose verbs are not marked, nothing is known
    assert isinstance(
        ask(load_task("coordination_inversion"), sentence(rows), reading="dependency", plan=CAPITALS), Example
    )


def test_clauses_without_pronouns_differ_in_person_or_are_one_clause():
    def drop(person):
        first, second = (
            "Mood=Ind|VerbForm=Fin|Person=1|Number=Sing",
            f"Mood=Ind|VerbForm=Fin|Person={person}|Number=Sing",
        )
        return sentence(
            f"""
            Podam   VERB  X {first}  0 root
            ci      PRON  X _        1 iobj
            i       CCONJ X _        4 cc
            wezmie  VERB  X {second} 1 conj
            wszystko PRON X _        4 obj
            .       PUNCT X _        1 punct
            """
        )

    found = both_labels(load_task("coordination_inversion"), drop(3), reading="dependency", plan=CAPITALS)
    assert {e.text for e in found["I"]} == {"Wezmie wszystko i podam ci."}
    why = reason(load_task("coordination_inversion"), drop(1), reading="dependency", plan=CAPITALS)
    assert why == "a conjunct is not a clause of its own"


def test_an_elided_first_word_loses_its_capital():
    elided = sentence(TWO_CLAUSES.replace("They ", "J'   "), glued=(0,))
    found = both_labels(load_task("coordination_inversion"), elided, reading="dependency", plan=CAPITALS)
    assert found["I"][0].text == "We stayed, but j'had left early."
    nouns = Capitals(frozenset(), frozenset({"PROPN", "NOUN"}))
    german = sentence(TWO_CLAUSES.replace("They  PRON ", "Kinder NOUN "))
    found = both_labels(load_task("coordination_inversion"), german, reading="dependency", plan=nouns)
    assert found["I"][0].text == "We stayed, but Kinder had left early."


def test_the_two_annotations_must_agree():
    s = sentence(TWO_CLAUSES.replace("8 cc", "8 discourse"), tree=TWO_CLAUSES_TREE)
    assert (
        reason(load_task("coordination_inversion"), s, plan=CAPITALS) == "the two annotations disagree on the clauses"
    )


@pytest.mark.parametrize(
    ("clauses", "one", "two", "group"),
    [("longer", 4, 9, "second longer"), ("longer", 4, 4, "equal"), ("none", 4, 9, ""), ("lengths", 4, 4, "equal 0"),
     ("lengths", 6, 4, "first longer 1"), ("lengths", 4, 7, "second longer 2"), ("lengths", 4, 9, "second longer 2"),
     ("lengths", 4, 10, "second longer 3")],
)  # fmt: skip
def test_clauses_are_balanced_by_their_length_stratum(clauses, one, two, group):
    assert _length_stratum(one, two, clauses) == group


def test_the_group_of_clause_length_stratum_is_the_stratum():
    task, s = load_task("coordination_inversion"), sentence(TWO_CLAUSES)
    groups = {
        c: ask(task, s, reading="dependency", plan=CAPITALS, clauses=c).stratum for c in ("longer", "lengths", "none")
    }
    assert groups["longer"] in ("first longer", "second longer", "equal")
    assert groups["lengths"].startswith(groups["longer"])
    assert groups["none"] == ""


def test_capitals_are_learnt_from_the_inside_of_sentences():
    counts = Counts(
        words=Counter({("I", "PRON", "_"): 5, ("i", "PRON", "_"): 1, ("The", "DET", "_"): 1, ("the", "DET", "_"): 9})
    )
    counts.words["Haus", "NOUN", "_"] = 3
    assert load_task("coordination_inversion").plan(counts, Policy(), "dependency") == Capitals(
        frozenset({"I", "Haus"}), frozenset({"PRON", "NOUN", "PROPN"})
    )


CAPITALS = Capitals(frozenset({"I"}), frozenset({"PROPN"}))
KIND = ("NOUN", "Number=Sing")
BARKED = """
Then   ADV   X _           3 advmod
the    DET   X _           3 det
dog    NOUN  X Number=Sing 4 nsubj
barked VERB  X _           0 root
.      PUNCT X _           4 punct
"""


def plan_with(**counts):
    """Candidates for `the _ barked`: word → (count after `the`, count before `barked`)."""
    return ReplacementPlan(
        spelling={w: w for w in counts},
        words={KIND: frozenset(counts)},
        frames={},
        after={"the": {w: a for w, (a, _) in counts.items()}},
        before={"barked": {w: b for w, (_, b) in counts.items()}},
    )


def test_replacements_have_bigrams_as_frequent_as_the_original():
    plan = plan_with(dog=(11, 11), cat=(10, 10), hen=(27, 10), ewe=(28, 10), ox=(3, 10), elk=(4, 4))
    # ten other occurrences each side; within a factor e: 4 to 27
    assert replacements(plan, KIND, ["the", "dog", "barked"], frozenset(), 1.0) == ["cat", "elk", "hen"]
    assert replacements(plan, KIND, ["the", "dog", "barked"], frozenset(), 0.0) == ["cat"]
    assert replacements(plan, ("NOUN", "Number=Plur"), ["the", "dog", "barked"], frozenset(), 1.0) == []


@pytest.mark.parametrize("tolerance", [0.0, 0.1, 0.5, math.log(2), math.log(3), 1.0, 4.0])
def test_counts_near_another_are_those_whose_logs_are(tolerance):
    for count in range(1, 60):
        near = [n for n in range(1, 5000) if abs(math.log(n / count)) <= tolerance]
        assert counts_near(count, tolerance) == (near[0], near[-1])
    assert counts_near(3, 1e9)[0] == 1
    assert counts_near(3, 1e9)[1] > 1 << 64


def test_a_replacement_has_a_capital_only_if_the_original_has_one():
    plan = plan_with(dog=(5, 5), cat=(5, 5), returns=(5, 5))
    plan.spelling["returns"] = "Returns"
    assert replacements(plan, KIND, ["the", "dog", "barked"], frozenset(), 1.0) == ["cat"]


def test_a_bigram_seen_only_here_gives_no_replacement():
    assert replacements(plan_with(dog=(1, 5), cat=(1, 5)), KIND, ["the", "dog", "barked"], frozenset(), 1.0) == []


def test_odd_man_out_uses_one_key_and_one_place_for_both_labels():
    s = sentence(BARKED)
    found = both_labels(load_task("odd_man_out"), s, plan=plan_with(dog=(5, 5), cat=(4, 4)))
    assert {e.text for e in found["C"]} == {"Then the cat barked."}
    assert {e.text for e in found["O"]} == {"Then the dog barked."}
    for e in (*found["C"], *found["O"]):
        assert (e.key, e.marks, dict(e.extra)) == ("cat", (2,), {"original": "dog", "replacement": "cat"})


def test_odd_man_out_indexes_only_the_band_and_domain():
    counts = Counts(
        tokens=100,
        words=Counter({("dog", "NOUN", "Number=Sing"): 5, ("very", "ADV", "_"): 5, ("rare", "NOUN", "_"): 1}),
        bigrams=Counter({("the", "dog"): 3, ("dog", "ran"): 2, ("the", "very"): 4, ("the", "rare"): 1}),
    )
    task = load_task("odd_man_out")
    plan = task.plan(counts, task.policies["conneau2018"], "ud")
    assert plan == ReplacementPlan(
        {"dog": "dog"}, {KIND: frozenset({"dog"})}, {}, {"the": {"dog": 3}}, {"ran": {"dog": 2}}
    )


def test_a_form_that_is_mainly_something_else_replaces_nothing():
    words = Counter({("off", "NOUN", "Number=Sing"): 2, ("off", "ADP", "_"): 9, ("Hund", "NOUN", "Number=Sing"): 4})
    task = load_task("odd_man_out")
    plan = task.plan(Counts(tokens=100, words=words), task.policies["conneau2018"], "ud")
    assert plan.spelling == {"hund": "Hund"}


def test_a_verb_is_replaced_only_by_one_with_the_same_complements():
    task = load_task("odd_man_out")
    s = sentence("He PRON X _ 2 nsubj\nate VERB X _ 0 root\npears NOUN X _ 2 obj")
    assert list(task.count(s)) == [("ate", "obj")]
    kind = ("VERB", "_")
    plan = ReplacementPlan(
        spelling={w: w for w in ("ate", "saw", "slept")},
        words={kind: frozenset({"ate", "saw", "slept"})},
        frames={"saw": frozenset({"obj", "ccomp"})},
        after={"he": {"ate": 3, "saw": 2, "slept": 2}},
        before={"pears": {"ate": 3, "saw": 2, "slept": 2}},
    )
    assert replacements(plan, kind, ["he", "ate", "pears"], frozenset({"obj"}), 1.0) == ["saw"]


def test_parts_of_compounds_and_glued_words_stay():
    plan = plan_with(dog=(5, 5), cat=(4, 4))
    rows = BARKED.replace("nsubj", "{rel}")
    why = "no word with a matching replacement"
    assert reason(load_task("odd_man_out"), sentence(rows.format(rel="compound")), plan=plan) == why
    assert reason(load_task("odd_man_out"), sentence(rows.format(rel="nsubj"), glued=(1,)), plan=plan) == why


def test_word_content_wants_one_target_once():
    task = load_task("word_content")
    s = sentence(PAINT)
    found = ask(task, s, plan={"fences": "fences"})
    assert (found.label, found.marks) == ("fences", (4,))
    assert reason(task, s, plan={"fences": "fences", "quickly": "quickly"}) == "several target words"
    twice = sentence("Fences X X _ 0 root\nmeet X X _ 1 dep\nfences X X _ 1 dep")
    assert reason(task, twice, plan={"fences": "fences"}) == "several target words"
    assert reason(task, s, plan={"walls": "walls"}) == "no target word"


def test_word_content_takes_the_paper_s_ranks_when_the_corpus_is_large_enough():
    task = load_task("word_content")
    words = {f"w{chr(97 + i // 676)}{chr(97 + i // 26 % 26)}{chr(97 + i % 26)}": 9000 - i for i in range(4000)}
    counts = Counts(sentences=10**6, words=Counter({(w, "NOUN", "_"): n for w, n in words.items()}))
    chosen = task.plan(counts, task.policies["conneau2018"], "text")
    assert chosen == {word: word for word in list(words)[2000:3000]}


def test_word_content_in_a_small_corpus_takes_frequent_words_but_no_names_or_short_ones():
    task = load_task("word_content")
    words = Counter({(f"verb{chr(97 + i)}", "VERB", "_"): 40 for i in range(5)})
    words.update({("Berlin", "PROPN", "_"): 40, ("cat", "NOUN", "_"): 40, ("seldom", "ADV", "_"): 2})
    words.update({(f"f{i}", "X", "_"): 1000 for i in range(50)})
    counts = Counts(sentences=10_000, words=words)
    chosen = task.plan(counts, task.policies["conneau2018"], "text")
    assert set(chosen) == {f"verb{chr(97 + i)}" for i in range(5)}


@pytest.mark.parametrize(
    ("word", "expected"),
    [("word", 4), ("Wörter", 6), ("發展", 6), ("人", 3), ("大きな", 5), ("感じ", 4), ("する", 2), ("テレビ", 6),
     ("친구", 4), ("집", 2), ("слово", 5)],
)  # fmt: skip
def test_signs_for_words_and_syllables_are_worth_several_letters(word, expected):
    assert letters(word) == expected


def test_word_content_in_chinese():
    task = load_task("word_content")
    words = Counter({(word, "NOUN", "_"): 40 for word in ("發展", "電影", "面積", "人", "月")})
    words.update({(chr(0x4E00 + i), "PART", "_"): 1000 for i in range(50)})
    counts = Counts(sentences=10_000, words=words, language="zh")
    policy = task.policies["conneau2018"]
    assert set(task.plan(counts, policy, "text")) == {"發展", "電影", "面積"}
    assert set(task.plan(counts, replace(policy, letters=1), "text")) == {"發展", "電影", "面積", "人", "月"}


def many(task, n=40):
    letters = "abcdefghijklmnopqrstuvwxyz"
    rng = Random(3)
    out = []
    for i in range(n):
        words = rng.sample([a + b for a in letters for b in letters[:6]], 6)
        s = sentence("\n".join(f"{w} X X _ {0 if k == 0 else 1} dep" for k, w in enumerate(words)), id=f"s{i}")
        out.append(ask(task, s, state=i * 977))
    return out


def test_word_presence_deals_every_word_once_as_present_and_once_as_absent():
    task = load_task("word_presence")
    rows = task.complete(many(task), Random(1))
    assert Counter(r.label for r in rows) == {"1": 40, "0": 40}
    for r in rows:
        assert (dict(r.extra)["word"] in r.tokens) == (r.label == "1")
    present = Counter(dict(r.extra)["word"] for r in rows if r.label == "1")
    absent = Counter(dict(r.extra)["word"] for r in rows if r.label == "0")
    assert present == absent


def test_word_order_gives_the_pair_both_ways():
    task = load_task("word_order")
    rows = task.complete(many(task), Random(1))
    assert Counter(r.label for r in rows) == {"1": 40, "0": 40}
    for r in rows:
        first, second = (r.tokens.index(dict(r.extra)[w]) for w in ("word1", "word2"))
        assert (first < second) == (r.label == "1")
    doubled = sentence("a X X _ 0 root\nb X X _ 1 dep\nA X X _ 1 dep")
    assert reason(task, doubled) == "no two words that occur once"
