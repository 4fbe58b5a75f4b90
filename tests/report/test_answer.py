"""The sentences that a run is summed up in, on summaries written by hand."""

from dataclasses import replace

import pytest

from sentprobe.core.formatting import count_of
from sentprobe.encoders.diagnosis import Symptom
from sentprobe.report.answer import answer, answer_note
from sentprobe.report.names import listed
from sentprobe.report.rivals import equality_sentences, rivals
from sentprobe.report.types import BaselineComparison, EncoderDiagnosis, Meaning, MissingCells, PairDifference
from tests.report.summaries import cell, column, set_summary, summary

TESTED = {
    "+": ("above", 0.01),
    "o": ("not_significant", 0.4),
    "-": ("below", 0.9),
    "?": ("untested", None),
    "_": ("below", None),
}


def compared(sign, tests, baseline="nb-uni", value=0.6):
    """A cell with a verdict: above, not significant, below, untested; ``None`` without a cell."""
    if sign == ".":
        return None
    verdict, p = TESTED[sign]
    score = value + {"+": 0.2, "o": 0.02, "-": -0.1, "?": 0.2, "_": -0.1}[sign]
    return cell(score, against=BaselineComparison(baseline, value, verdict, p, tests))


def table(encoders, rows, **more):
    """A summary from a sign per encoder and set."""
    sets = [
        set_summary(name, [compared(sign, len(encoders), **how) for sign in signs], [cell(0.6)])
        for name, (signs, how) in ((n, (r, {}) if isinstance(r, str) else r) for n, r in rows.items())
    ]
    return summary(sets, [column(name) for name in encoders], [column("nb-uni", probe=None)], **more)


@pytest.mark.parametrize(
    ("encoders", "rows", "expected"),
    [
        (
            ["USE", "static:"],
            {"tense": "++", "passive": "+o", "shift": "--", "number": "+-"},
            [
                "USE is significantly better than the best baseline on 3 of 4 sets: tense, passive and number; static: "
                "on 1 of 4 (tense).",
                "No encoder is significantly better on shift (nb-uni, naive Bayes on words: 60.0).",
            ],
        ),
        (
            ["a", "b", "c"],
            {"tense": "++-", "passive": "++o"},
            ["a and b are significantly better than the best baseline on both sets; c on none."],
        ),
        (
            ["a", "b"],
            {"tense": "o-", "passive": "--"},
            ["Neither encoder is significantly better than the best baseline on either set."],
        ),
        (
            ["a", "b", "c"],
            {"tense": "o--", "passive": "---", "shift": "oo-"},
            ["None of the 3 encoders is significantly better than the best baseline on any of the 3 sets."],
        ),
        (
            ["a"],
            {"tense": "o"},
            ["a is not significantly better than the best baseline on tense (nb-uni, naive Bayes on words: 60.0)."],
        ),
        (
            ["a"],
            {"tense": "+", "shift": "o", "length": ("-", {"baseline": "length", "value": 0.992})},
            [
                "a is significantly better than the best baseline on 1 of 3 sets: tense.",
                "It is not significantly better on shift (nb-uni, naive Bayes on words: 60.0) and length (length, the "
                "number of words: 99.2).",
            ],
        ),
        (
            ["a", "b", "c"],
            {"tense": "++-"},
            [
                "On tense, a and b are significantly better than the best baseline (nb-uni, naive Bayes on words: "
                "60.0); c is not."
            ],
        ),
        # b was not run on two of the sets
        (
            ["a", "b"],
            {"tense": "++", "passive": "+.", "shift": "+.", "number": "+-"},
            ["a is significantly better than the best baseline on all 4 sets; b on 1 of its 2 (tense)."],
        ),
        (
            ["a", "b", "c"],
            {"tense": "+++", "passive": "+.o", "shift": "o++"},
            [
                "a is significantly better than the best baseline on 2 of 3 sets: tense and passive; b on both of its "
                "sets; c on 2 of 3 (tense and shift)."
            ],
        ),
        # correlations are not tested, and not counted
        (
            ["a", "b"],
            {"tense": "+o", "shift": "+o", "STS": "??"},
            ["a is significantly better than the best baseline on both sets; b on none."],
        ),
        (
            ["a", "b"],
            {"SICK": "?_", "STS": "?_"},
            ["Better than the best baseline, though no difference was tested: a on 2 of 2 sets."],
        ),
        (["a"], {"SICK": "_"}, ["No score is higher than that of the best baseline; no difference was tested."]),
        (
            ["a", "b"],
            {"SICK": "?_", "STS": "??"},
            ["Better than the best baseline, though no difference was tested: a on 2 of 2 sets and b on 1 of 2 sets."],
        ),
    ],
)
def test_who_is_better_than_the_best_baseline(encoders, rows, expected):
    assert list(answer(table(encoders, rows))) == expected


def test_many_encoders_and_sets_stay_short():
    encoders = [f"encoder {i}" for i in range(20)]
    rows = {f"set {j}": "".join("+" if j < 30 - 2 * i else "o" for i in range(20)) for j in range(30)}
    who, *nobody = answer(table(encoders, rows))
    assert not nobody
    assert who == (
        "encoder 0 is significantly better than the best baseline on all 30 sets; encoder 1 on 28 of 30, all but set "
        "28 and set 29; encoder 2 on 26 of 30; encoder 3 on 24 of 30; 11 others on at most 22; the other 5 on none."
    )


def pair_of(better, difference=0.1):
    return PairDifference(first=0, second=1, difference=difference, low=0.0, high=0.2, p=0.01, better=better)


def compared_pair(verdicts, **more):
    """A summary of two encoders without baselines: which of them is better on each set."""
    sets = [
        set_summary(name, [cell(0.9), cell(0.8)], letters_about="encoder", pair=pair_of(better))
        for name, better in verdicts.items()
    ]
    return summary(sets, [column("MiniLM"), column("static:")], **more)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (
            {"tense": "first", "shift": None, "words": "second", "depth": "first", "passive": None},
            "MiniLM is significantly better than static: on 2 of 5 sets: tense and depth; significantly worse on "
            "words; no significant difference on the other 2.",
        ),
        (
            {"tense": "second", "shift": None, "depth": "second"},
            "static: is significantly better than MiniLM on 2 of 3 sets: tense and depth; no significant difference "
            "on shift.",
        ),
        ({"tense": "first", "shift": "first"}, "MiniLM is significantly better than static: on both sets."),
        ({"tense": None, "shift": None}, "MiniLM and static: do not differ significantly on either set."),
        (dict.fromkeys("abc"), "MiniLM and static: do not differ significantly on any of the 3 sets."),
        ({"tense": None}, "MiniLM and static: do not differ significantly on tense."),
        ({"tense": "second"}, "On tense, static: is significantly better than MiniLM."),
        (
            {**dict.fromkeys("abcdefg", "first"), "tense": None, "shift": None},
            "MiniLM is significantly better than static: on 7 of 9 sets; no significant difference on tense and shift.",
        ),
    ],
)
def test_two_encoders_are_compared_with_each_other(verdicts, expected):
    compared_encoders = compared_pair(verdicts)
    first, second = answer(compared_encoders)
    assert first.startswith("2 encoders on ")
    assert second == expected
    sets = len(verdicts)
    within = f", between the two encoders adjusted by Holm over the {sets} sets" if sets > 1 else ""
    assert answer_note(compared_encoders) == f"Paired tests on the same test rows at 5\u00a0%{within}."


def test_the_comparison_comes_before_the_baselines():
    versus_baselines = table(["MiniLM", "static:"], {"tense": "++", "passive": "+o", "shift": "--"})
    sets = [
        replace(s, pair=pair_of(better))
        for s, better in zip(versus_baselines.sets, ("first", "first", None), strict=True)
    ]
    assert answer(replace(versus_baselines, sets=tuple(sets))) == (
        "MiniLM is significantly better than static: on 2 of 3 sets: tense and passive; no significant difference on "
        "shift.",
        "MiniLM is significantly better than the best baseline on 2 of 3 sets: tense and passive; static: on 1 of 3 "
        "(tense).",
        "No encoder is significantly better on shift (nb-uni, naive Bayes on words: 60.0).",
    )
    assert answer_note(replace(versus_baselines, sets=tuple(sets))) == (
        "Paired tests on the same test rows at 5\u00a0%, between the two encoders adjusted by Holm over the 3 sets, "
        "against baselines over 2 tests, of all encoders and sets."
    )


def lettered(rows, columns, **more):
    """A summary without baselines from the letters of every column, set by set."""
    sets = [
        set_summary(
            name,
            [cell(0.9 - ord(own[0]) / 1000, letters=own) for own in letters.split()],
            letters_about="encoder",
        )
        for name, letters in rows.items()
    ]
    return summary(sets, columns, **more)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            {"tense": "a b c", "shift": "a ab b", "depth": "b a c", "words": "a b b"},
            "A is significantly better than all others on 2 of 4 sets: tense and words; B on depth; no encoder on the "
            "other one.",
        ),
        ({"tense": "a a b", "shift": "a ab b"}, "No encoder is significantly better than all others on either set."),
        ({"tense": "b b a"}, "On tense, C is significantly better than all others."),
        ({"tense": "b c a", "shift": "b c a"}, "C is significantly better than all others on both sets."),
    ],
)
def test_of_three_encoders_it_says_who_is_better_than_all_others(rows, expected):
    assert answer(lettered(rows, [column(name) for name in "ABC"]))[1:] == (expected,)


def test_one_encoder_with_several_probes_or_layers_is_one_encoder():
    probes = [column("hf:a", probe=probe, label=("hf:a", probe)) for probe in ("linear", "mlp", "senteval")]
    layers = [column(f"hf:a?layer={layer}") for layer in range(3)]
    nobody = table(["x"] * 3, {"tense": "oo-", "shift": "---"})
    assert answer(replace(nobody, columns=tuple(probes))) == (
        "None of the 3 probes of hf:a is significantly better than the best baseline on either set.",
    )
    assert answer(replace(nobody, columns=tuple(layers))) == (
        "None of the 3 layers of hf:a is significantly better than the best baseline on either set.",
    )
    both = [column(name, probe=probe, label=(name, probe)) for name in "ab" for probe in ("linear", "mlp")]
    assert answer(replace(table(["x"] * 4, {"tense": "oo-o", "shift": "----"}), columns=tuple(both))) == (
        "Neither encoder is significantly better than the best baseline on either set.",
    )
    # the probes of one encoder are not compared with each other, and of two encoders those with the same probe
    assert answer(lettered({"tense": "a b c"}, probes))[0].startswith("1 encoder on 1 set, without baselines")
    assert len(answer(lettered({"tense": "a b c"}, probes))) == 1
    pairs = summary([set_summary("tense", [cell(0.9)] * 4, letters_about="encoder", pair=pair_of("first"))], both)
    assert rivals(both) == (0, 2)
    renamed = replace(pairs, sets=(replace(pairs.sets[0], pair=replace(pair_of("first"), second=2)),))
    assert answer(renamed)[1] == "With linear: On tense, a is significantly better than b."


def test_nothing_is_said_about_what_a_filter_hides():
    three = lettered({"tense": "a b c"}, [column(name) for name in "abc"])
    assert len(answer(three)) == 2
    assert len(answer(replace(three, hidden_columns=1))) == 1  # the hidden one may have an a, too
    rows = {"tense": "++", "shift": "+o", "number": "++"}
    assert answer(table(["a", "b"], rows, hidden_sets=5)) == (
        "a is significantly better than the best baseline on all 3 sets shown; b on 2 of 3 (tense and number).",
    )
    nobody, *_ = answer(table(["a", "b"], {"tense": "oo", "shift": "--"}, hidden_sets=1, hidden_columns=1))
    assert nobody == "Neither encoder shown is significantly better than the best baseline on either set shown."


def test_systems_of_words_are_not_called_encoders():
    rows = {"en-fr": ("+o", {"baseline": "copy", "value": 0.2}), "fr-en": ("oo", {"baseline": "copy", "value": 0.3})}
    found = table(["muse", "muse"], rows)
    columns = [column("muse", probe=p, label=("muse", p)) for p in ("csls", "nn")]
    found = summary(found.sets, columns, [column("copy", probe=None)])
    assert list(answer(found)) == [
        "muse (csls) is significantly better than the best baseline on 1 of 2 sets: en-fr; muse (nn) on none.",
        "No system is significantly better on fr-en (copy 30.0).",
    ]
    assert "Holm over 2 tests, of all systems and sets" in answer_note(found)


def test_losses_are_in_bits_and_nothing_without_results_is_said():
    assert answer(table(["a"], {"tense": "+"}, metric="log2_loss")) == ()  # baselines may lose more than a guess
    found = table(["a"], {"tense": "+"}, metric="log2_loss_calibrated")
    assert answer(found) == (
        "On tense, a is significantly better than the best baseline (nb-uni, naive Bayes on words: 0.60 bits).",
    )
    assert answer(summary()) == ()
    assert answer(table(["a"], {"tense": "."})) == ()


def test_the_note_says_what_was_adjusted():
    one = table(["a"], {"tense": "+"})
    assert answer_note(one) == "Paired tests on the same test rows at 5\u00a0%."
    more = table(["a", "b"], {"tense": "+o", "shift": "--", "STS": "??"})
    assert answer_note(more) == (
        "Paired tests on the same test rows at 5\u00a0%, adjusted by Holm over 2 tests, of all encoders and sets. "
        "1 set without a test is not counted."
    )


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (("holds", "holds", "chance"), "No control explains any of these 2 results away."),
        (
            ("holds", "words", "chance"),
            "Controls explain 1 of these 2 results away: a on shift (explained by words).",
        ),
        (("memorised", "above", "chance"), "Controls explain this result away: a on tense (memorised)."),
        (("above", "holds", "chance"), "No control explains this result away."),
        (("above", "above", "chance"), None),
    ],
)
def test_what_controls_explain_away(kinds, expected):
    found = table(["a"], {"tense": "+", "shift": "+", "number": "o"})
    sets = [replace(s, meanings=(Meaning(kind, ""),)) for s, kind in zip(found.sets, kinds, strict=True)]
    sentences = answer(replace(found, sets=tuple(sets)))
    assert sentences[2:] == ((expected,) if expected else ())


def rows_and_power(sign, n, detectable):
    found = compared(sign, 1)
    return replace(found, n=n, against=replace(found.against, detectable=detectable))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([("o", 100, 0.14)], "With 100 test rows, a difference below about 14 points would often have been missed."),
        # the one that is significant does not count
        (
            [("+", 100, 0.5), ("o", 100, 0.1), ("-", 200, 0.08), ("o", 50, 0.2)],
            "The comparisons that are not significant are on fewer than 400 test rows: differences below about 10 "
            "points would often have been missed.",
        ),
        (
            [("o", 100, 0.1), ("-", 399, 0.06), ("o", 400, 0.05)],
            "Most comparisons that are not significant are on fewer than 400 test rows: differences below about 8 "
            "points would often have been missed.",
        ),
        ([("o", 100, 0.1), ("o", 400, 0.05)], None),
        ([("+", 100, 0.1), ("+", 100, 0.1)], None),
        ([("o", 100, None)], None),
    ],
)
def test_small_test_sets_cannot_tell(cells, expected):
    sets = [set_summary(f"set {i}", [rows_and_power(*each)], [cell(0.6)]) for i, each in enumerate(cells)]
    found = [s for s in answer(summary(sets, [column("a")], [column("nb-uni", probe=None)])) if "missed" in s]
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        # 100 · (14 / 3)²: a difference needs rows as one over its square
        ([("o", 100, 0.14)], "About 2,200 test rows would show differences of 3 points."),
        (
            [("o", 100, 0.1), ("-", 200, 0.09), ("o", 300, 0.05)],
            "About 1,100 test rows would show differences of 3 points.",
        ),
        ([("o", 100, 0.02)], None),  # they do
    ],
)
def test_what_would_have_been_needed(cells, expected):
    sets = [set_summary(f"set {i}", [rows_and_power(*facts)], [cell(0.6)]) for i, facts in enumerate(cells)]
    sentences = answer(summary(sets, [column("a")], [column("nb-uni", probe=None)]))
    assert [sentence for sentence in sentences if "would show" in sentence] == ([expected] if expected else [])


def test_small_sets_in_folds_cannot_tell():
    sets = [set_summary(name, [rows_and_power("o", 700, 0.08)], [cell(0.6)]) for name in ("tense", "shift")]
    sentences = answer(summary(sets, [column("a")], [column("nb-uni", probe=None)]))
    assert sentences[-2:] == (
        "The comparisons that are not significant are on fewer than 1,000 test rows: differences below about 8 points "
        "would often have been missed.",
        "About 5,000 test rows would show differences of 3 points.",
    )
    large = [set_summary("tense", [rows_and_power("o", 1000, 0.08)], [cell(0.6)])]
    assert not any("missed" in s for s in answer(summary(large, [column("a")], [column("nb-uni", probe=None)])))


def test_names_are_shown_as_text():
    hidden = chr(0x202E)
    assert hidden not in "".join(answer(table([f"a{hidden}b"], {"tense": "+", "shift": "o"})))


def test_what_is_missing_can_change_the_answer():
    late = MissingCells(encoder="late", sets=("tense",), requested=1)
    assert answer_note(table(["a"], {"tense": "+"}, missing=(late,))).endswith("The missing results can change them.")


def test_lists_and_numbers():
    assert [listed("abcd"[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert listed("abcde", most=3, remainder="more sets") == "a, b and 3 more sets"
    assert (count_of(1, "set"), count_of(1000, "set")) == ("1 set", "1,000 sets")


def test_equivalence_is_said_for_the_margin_that_was_named():
    bounds = {"tense": (0.01, 0.015), "shift": (0.01, 0.05), "number": (0.09, 0.02), "depth": (0.2, 0.3)}
    assert equality_sentences("a", "b", bounds, 0.02, 5) == [
        "With a margin of 2 points, a and b are equivalent on tense; a is no more than 2 points worse than b on shift; "
        "b is no more than 2 points worse than a on number; neither is shown to be as good on depth (two one-sided "
        "tests, Bonferroni over 5 sets)."
    ]
    assert equality_sentences("a", "b", {}, 0.02, 1) == []


def test_broken_encoders_are_named_and_left_out():
    found = table(["a", "dead"], {"tense": "++", "shift": "+-"})
    symptoms = (Symptom("equal-vectors", "300 of 300 texts have the same vector."),)
    found = replace(found, diagnoses=(EncoderDiagnosis(name="dead", symptoms=symptoms),))
    assert answer(found) == (
        "a is significantly better than the best baseline on both sets.",
        "dead (identical vectors for different texts) is broken: its scores say nothing, and are not counted here.",
    )


def test_sets_that_are_too_easy_are_said_to_tell_nothing():
    easy = cell(1.0, against=BaselineComparison("nb-uni", 1.0, "below", 1.0, 2))
    found = summary(
        [set_summary("negation", [easy, easy], [cell(1.0)], giveaway="'not'")],
        [column("a"), column("b")],
        [column("nb-uni", probe=None)],
    )
    assert answer(found)[-1] == (
        "negation cannot tell encoders apart: both encoders have at least 99, as nb-uni, naive Bayes on words: 100.0; "
        "'not' gives it away."
    )


def test_what_varies_with_the_training_rows_is_not_blamed_on_test_rows():
    undecided = BaselineComparison("nb-uni", 0.6, "not_significant", 0.4, 1, 0.12)
    for training_sd, cause in ((0.03, "vary more with the training rows, of which there are 300"), (0.005, "200 test")):
        shown = cell(0.66, 0.6, 0.72, against=undecided, n=200, train_n=300, training_sd=training_sd)
        found = summary([set_summary("tense", [shown], [cell(0.5)])], [column("a")], [column("nb-uni", probe=None)])
        assert cause in " ".join(answer(found))


def test_probes_of_one_encoder_are_not_five_encoders():
    probes = ["linear", "mlp", "senteval", "conneau2018", "adi2017"]
    found = table(["static:"] * 5, {"tense": "ooooo", "shift": "-----"})
    found = replace(found, columns=tuple(column("static:", probe=p, label=("static:", p)) for p in probes))
    assert answer(found)[0] == (
        "None of the 5 probes of static: is significantly better than the best baseline on either set."
    )
