"""Every code: a planted fault is found, a sound set has none, and neither order nor names matter."""

from dataclasses import replace
from functools import cache
from random import Random

import numpy as np
import pytest
from scipy import stats

from sentprobe.audit import audit_quickly, audit_set, codes, explain
from sentprobe.audit.check import Finding, ShortcutScore, first_words, pick_examples
from sentprobe.audit.checks import annotator, shortcuts
from sentprobe.audit.checks.quoting import has_csv_quotes
from sentprobe.audit.checks.scripts import mixed_words
from sentprobe.audit.checks.shortcuts import EvaluationPlan, _needed
from sentprobe.audit.checks.size import resolution
from sentprobe.audit.show import count_findings, markdown, merge_splits
from sentprobe.corpus import languages
from sentprobe.data.dataset import Dataset
from sentprobe.data.expectations import expectations_for
from sentprobe.data.sources import find_sets
from sentprobe.data.splits import Split
from sentprobe.errors import DataError, UsageError
from sentprobe.tasks import Example
from tests.audit import plants
from tests.audit.plants import (
    COUNTED,
    LEAKS,
    NOUNS,
    TOLD,
    UNCOUNTED,
    example,
    noisy_labels,
    of_words,
    sentences,
    sound,
)  # fmt: skip

PLANTED = {p: cache(lambda p=p: p.make(p.high)) for p in COUNTED}
EVERY = [(p.code, make) for p, make in PLANTED.items()]
EVERY += [(code, cache(make)) for code, make in UNCOUNTED.items()]
EVERY += [(code, cache(make)) for code, (make, _) in TOLD.items()]
ABOUT_NAMES = ("wrong-label", "ambiguous-label", "undeclared-label", "mistyped-label", "lookalike-labels")
"""Codes that depend on what a label is called."""
WITH_NAMES = ("one-class", "missing-class", "rare-label", "few-per-class")
"""Codes that do not, but whose words or examples name labels."""
MADE = dict(EVERY)


@pytest.fixture(scope="module", autouse=True)
def remembered_languages():
    """The language of a sentence is looked up once: most of the sets here have the same sentences."""
    with pytest.MonkeyPatch.context() as patch:
        if languages.has_detector():
            detector = type(languages.detector())
            patch.setattr(detector, "classify", cache(detector.classify))
        yield


@cache
def audited(make):
    """The audit of a planted set, which several tests look at."""
    return audit_set(make())


def scores(dataset):
    return [m for m in shortcuts.find(Split.of_set(dataset), expectations_for(dataset)) if isinstance(m, ShortcutScore)]


def found(dataset):
    return {f.code: f for f in audit_set(dataset).findings}


def test_a_set_that_was_found_is_loaded(tmp_path, conneau):
    conneau["past_present"].save(tmp_path)
    (source,) = find_sets(tmp_path)
    assert audit_set(source) == audit_set(source.load())
    for wrong in (str(tmp_path), [source], None):
        with pytest.raises(UsageError, match="find_sets finds sets"):
            audit_set(wrong)


def test_a_sound_set_has_no_findings():
    assert audit_set(sound()).findings == ()
    assert audit_set(sound(labels="ABCDE", seed=3)).findings == ()


@pytest.mark.parametrize("plant", COUNTED, ids=lambda p: f"{p.code}-{p.make.__name__}")
def test_as_many_faults_are_found_as_were_planted_and_nothing_else(plant):
    for k, audit in ((plant.low, audit_set(plant.make(plant.low))), (plant.high, audited(PLANTED[plant]))):
        assert [(f.code, f.count) for f in audit.findings] == [(plant.code, k)]


@pytest.mark.parametrize("code", UNCOUNTED)
def test_a_fault_of_the_whole_set_is_found_and_nothing_else(code):
    assert {f.code for f in audited(MADE[code]).findings} == {code}


@pytest.mark.parametrize(
    ("code", "make"),
    [(code, make) for code, makes in LEAKS.items() for make in makes],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_a_leak_is_found_whatever_the_task_allows(code, make):
    findings = {f.code: f for f in audit_set(make()).findings}
    assert code in findings
    assert findings[code].severity == {"giveaway": "error", "splits-disagree": "error"}.get(code, "warning")


@pytest.mark.parametrize("code", TOLD)
def test_what_tells_the_label_is_found(code):
    _, accuracy = TOLD[code]
    findings = {f.code: f for f in audited(MADE[code]).findings}
    assert code in findings
    assert all(c.startswith(("shortcut", "length")) for c in findings)
    if accuracy is not None:
        assert findings[code].evidence["accuracy"] == pytest.approx(accuracy, abs=0.02)


def facts(findings):
    return [(f.code, f.severity, f.split, f.count, f.evidence) for f in findings]


@pytest.mark.parametrize(("code", "make"), EVERY, ids=lambda x: x if isinstance(x, str) else "")
def test_neither_the_order_of_rows_nor_the_names_of_labels_change_anything(code, make):
    dataset, audit = make(), audited(make)
    rng = Random(1)
    rows = {s: rng.sample(list(found), len(found)) for s, found in dataset.rows.items()}
    expected = tuple(f for f in audit.findings if f.code != "ordered-rows")  # which is about the order
    if code in {*ABOUT_NAMES, *WITH_NAMES}:
        again = audit_set(replace(dataset, rows=rows))
        assert (again.findings, again.measures) == (expected, audit.measures)
    if code not in ABOUT_NAMES:
        names = {label: f"class {i}" for i, label in enumerate(reversed(dataset.labels))}
        rows = {s: [r._replace(label=names[r.label]) for r in found] for s, found in rows.items()}
        again = audit_set(replace(dataset, rows=rows, labels=tuple(sorted(names.values()))))
        assert facts(again.findings) == facts(expected)
        assert again.findings == expected or code in WITH_NAMES
        assert again.measures == audit.measures


def test_every_code_has_a_plant_and_an_explanation():
    planted = {p.code for p in COUNTED} | set(UNCOUNTED) | set(TOLD) | set(LEAKS)
    # test_collection, test_text and test_annotator have these
    elsewhere = {"shared-sentences"} | {code.name for code in (*codes()["text"], *annotator.audit_check.codes)}
    assert planted | elsewhere == {code.name for family in codes().values() for code in family}
    for family in codes().values():
        for code in family:
            assert explain(code.name) is code
            assert code.title
            assert code.meaning.endswith(".")
            assert code.advice.endswith(".")


def test_an_unknown_code_is_told_apart_from_its_neighbours():
    with pytest.raises(UsageError, match="Did you mean same-split"):
        explain("same-splits")


@pytest.mark.parametrize(
    ("code", "make", "one", "two"),
    [
        (
            "copies-across-splits",
            plants.copies_across,
            "1 of the 801 test rows is a duplicate of a row in train",
            "2 of the 802 test rows are duplicates of rows in train",
        ),
        (
            "near-copies-across-splits",
            plants.near_copies_across,
            "1 of the 801 test rows differs from one in train only in case, digits and punctuation",
            "2 of the 802 test rows differ from one in train only in case, digits and punctuation",
        ),
        (
            "copies-in-split",
            plants.copies_in,
            "1 of the 401 dev rows is a duplicate of another",
            "2 of the 402 dev rows are duplicates of others",
        ),
        (
            "near-copies-in-split",
            plants.near_copies_in,
            "1 of the 401 dev rows is the same as another up to case, digits and punctuation",
            "2 of the 402 dev rows are the same as another up to case, digits and punctuation",
        ),
        (
            "altered-copies",
            plants.altered(lambda tokens: [*tokens[:4], *tokens[5:]]),
            "1 of the 801 test rows is an altered copy of a train row",
            "2 of the 802 test rows are altered copies of train rows",
        ),
    ],
)
def test_one_row_is_spoken_of_as_one(code, make, one, two):
    assert found(make(1))[code].message == one
    assert found(make(2))[code].message == two


def test_severity_follows_the_share_of_rows():
    clean = sound()
    few, many = ({**clean.rows, "te": [*clean.rows["te"], *clean.rows["tr"][:k]]} for k in (2, 40))
    assert found(replace(clean, rows=few))["copies-across-splits"].severity == "warning"
    assert found(replace(clean, rows=many))["copies-across-splits"].severity == "error"


def test_the_ceiling_of_contradicting_labels():
    clean = sound()
    rows = [*clean.rows["te"], *(r._replace(label="A") for r in clean.rows["te"] if r.label == "B")]
    finding = found(replace(clean, rows={**clean.rows, "te": rows}))["two-labels"]
    # 400 of 1200 rows contradict another one
    assert finding.evidence["ceiling te"] == pytest.approx(1 - 400 / 1200, abs=1e-4)
    assert finding.severity == "error"


def test_what_a_task_declares_is_measured_but_no_finding():
    rows = {
        s: [
            example("PAST" if i % 2 else "PRES", (*t[:4], "perhaps" if i % 2 else "maybe", *t[5:]))
            for i, t in enumerate(sentences(n, seed))
        ]
        for seed, (s, n) in enumerate({"tr": 600, "va": 300, "te": 400}.items())
    }
    audit = audit_set(Dataset("a/set", "past_present", 1, None, ("PAST", "PRES"), rows))
    assert not [f for f in audit.findings if f.code.startswith("shortcut")]
    words = next(m for m in audit.measures if m.name == "unigrams")
    assert (words.expected, words.accuracy) == (True, 1.0)
    same = audit_set(Dataset("a/set", "coordination_inversion", 1, None, ("PAST", "PRES"), rows))
    assert "shortcut-unigrams" in {f.code for f in same.errors}


def test_without_training_rows_the_validation_rows_are_trained_on():
    dataset = replace(sound(), rows={**sound().rows, "tr": []})
    assert {m.trained_on for m in audit_set(dataset).measures} == {"va → te"}


def test_a_lonely_split_is_cross_validated():
    audit = audit_set(replace(sound(), rows={"te": sound().rows["te"]}))
    assert {m.trained_on for m in audit.measures} == {"5-fold over te"}
    assert {m.rows for m in audit.measures} == {800}


def test_copies_are_left_out_of_the_test_rows():
    clean = sound()
    leaky = replace(clean, rows={**clean.rows, "te": [*clean.rows["te"][:100], *clean.rows["tr"][:200]]})
    assert {m.rows for m in audit_set(leaky).measures} == {500}  # 400 of va and 100 of te


def test_a_set_too_small_to_train_on_has_no_measures():
    assert audit_set(sound(sizes={"tr": 10, "va": 10, "te": 10})).measures == ()


def test_an_audit_of_nearly_nothing():
    audit = audit_set(Dataset("x", "x", 0, None, ("A",), {"te": [Example("A", (), "")]}))
    assert {"absent-split", "one-class", "empty-text"} <= {f.code for f in audit.findings}


def test_the_quick_audit_is_a_part_of_the_whole():
    dataset = COUNTED[1].make(20)
    quick, whole = audit_quickly(dataset, expectations_for(dataset)), audit_set(dataset).findings
    assert quick
    assert set(map(repr, quick)) <= set(map(repr, whole))


def test_a_name_that_comes_with_the_data_is_never_run(tmp_path):
    trap = tmp_path / "trap.py"
    trap.write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')", "utf-8")
    assert expectations_for(replace(sound(), task=str(trap))).task is None
    assert not (tmp_path / "sprung").exists()


def test_examples_are_short_and_do_not_depend_on_order():
    texts = ["one two three four five six seven eight nine ten", "short", "another one", "and one more"]
    assert pick_examples(texts) == pick_examples(texts[::-1])
    assert first_words(texts[0]) == "one two three four five six seven eight …"
    assert first_words("short") == "short"


@pytest.mark.parametrize("n", [200, 1000, 5000])
def test_four_tests_in_five_find_the_smallest_difference(n):
    # McNemar's test without correction, two-sided 5 %, on 4000 draws of the two kinds of disagreement
    least = resolution(n)
    rng = np.random.default_rng(n)
    better, worse, _ = rng.multinomial(n, [0.1 + least / 2, 0.1 - least / 2, 0.8], size=4000).T
    sure = (better - worse) ** 2 / (better + worse) > stats.chi2.ppf(0.95, 1)
    assert sure.mean() == pytest.approx(0.8, abs=0.025)


def test_samples_of_a_large_set_are_the_same_in_any_order(monkeypatch):
    monkeypatch.setattr("sentprobe.audit.checks.shortcuts.MAX_TRAIN_ROWS", 300)
    monkeypatch.setattr("sentprobe.audit.checks.shortcuts.MAX_TEST_ROWS", 200)
    dataset = sound()
    backwards = replace(dataset, rows={s: list(rows)[::-1] for s, rows in dataset.rows.items()})
    one, two = (scores(d) for d in (dataset, backwards))
    assert one == two
    assert {m.rows for m in one} == {200}


def test_a_lonely_split_in_the_order_of_its_labels_is_sampled_evenly(monkeypatch):
    monkeypatch.setattr("sentprobe.audit.checks.shortcuts.MAX_TEST_ROWS", 200)
    rows = sorted(sound().rows["te"], key=lambda r: r.label)
    (majority,) = {m.majority for m in audit_set(replace(sound(), rows={"te": rows})).measures}
    assert majority == pytest.approx(0.5, abs=0.1)


def test_what_says_nothing_is_at_chance_in_folds_too():
    audit = audit_set(replace(sound(), rows={"te": sound().rows["te"][:300]}))
    nothing = next(m for m in audit.measures if m.name == "punctuation")
    assert nothing.accuracy == pytest.approx(0.5, abs=0.02)


def test_copies_in_one_part_do_not_hide_a_shortcut():
    told = TOLD["shortcut-edges"][0]()
    often = [r for row in told.rows["tr"] for r in [row] * (4 if row.label == "A" else 1)]
    assert "shortcut-edges" in found(replace(told, rows={**told.rows, "tr": often}))


@pytest.mark.parametrize(
    ("usual", "rare"), [("+1", "-1"), ("+", "-"), ("1.0", "10"), ("NP_VP", "NP_VP_."), ("nsubj", "csubj")]
)
def test_a_small_class_is_no_mistyped_label(usual, rare):
    clean = sound(labels=(usual, rare))
    rows = {
        s: [*[r for r in f if r.label == usual], *[r for r in f if r.label == rare][:5]] for s, f in clean.rows.items()
    }
    findings = found(replace(clean, rows=rows))
    assert "mistyped-label" not in findings
    assert "imbalance" in findings


def test_one_bad_label_does_not_make_every_sentence_ambiguous():
    clean = of_words(0)
    te = [clean.rows["te"][0]._replace(label="another"), *clean.rows["te"][1:]]
    findings = found(replace(clean, rows={**clean.rows, "te": te}))
    assert "ambiguous-label" not in findings
    assert findings["wrong-label"].count == 1


def test_a_name_spelled_like_a_target_is_none_but_a_first_word_is():
    clean = of_words(0)
    te = list(clean.rows["te"])
    te[0] = example(
        te[0].label, (*te[0].tokens[:4], "Ticket" if te[0].label == "castle" else "Castle", *te[0].tokens[5:])
    )
    te[1] = example(te[1].label, ("Ticket" if te[1].label == "castle" else "Castle", *te[1].tokens[1:]))
    assert found(replace(clean, rows={**clean.rows, "te": te}))["ambiguous-label"].count == 1


def test_another_naming_scheme_is_no_undeclared_label():
    renamed = sound(labels=("1", "2"), task="passive")
    assert "undeclared-label" not in found(renamed)


def test_a_capital_that_only_shows_the_first_word_is_no_error():
    """Class B begins with a noun that class A has inside: only the capital tells them apart."""
    rows = {}
    for seed, (s, n) in enumerate({"tr": 600, "va": 400, "te": 800}.items()):
        rows[s] = []
        for i, t in enumerate(sentences(n, seed)):
            noun = NOUNS[i // 2 % 10]
            rest = [w.lower() for w in t[:-1]]
            words = [noun.capitalize(), *rest] if i % 2 else [rest[0].capitalize(), noun, *rest[1:]]
            rows[s].append(example("AB"[i % 2], (*words, ".")))
    finding = found(Dataset("a/set", "coordination_inversion", 1, None, ("A", "B"), rows))["shortcut-casing"]
    assert finding.severity == "warning"
    assert abs(finding.evidence["without the first word"]) < 0.03
    assert found(TOLD["shortcut-casing"][0]())["shortcut-casing"].severity == "error"


def test_a_long_row_of_repeated_numbers_does_not_take_for_ever():
    long = example("A", ("0",) * 20_000)
    clean = sound()
    audit = audit_set(replace(clean, rows={**clean.rows, "te": [*clean.rows["te"], long]}))
    assert audit.sizes["te"] == 801
    assert not audit.errors


def test_odd_labels_and_missing_inputs_do_no_harm():
    assert audit_set(sound(labels=("①", "②"))).findings == ()
    half = sound(inputs=["word"])
    half.rows["te"][0] = half.rows["te"][0]._replace(extra=(("word", "x"),))
    assert "inputs word" not in {m.name for m in audit_set(half).measures}
    pair = sound(labels=("0", "1"), task="word_order", inputs=["one"])
    rows = {s: [r._replace(extra=(("one", "x"),)) for r in found] for s, found in pair.rows.items()}
    assert "wrong-label" not in found(replace(pair, rows=rows))
    assert audit_set(replace(sound(), rows={"te": []})).findings != ()


@pytest.mark.parametrize("damage", [{"policy": []}, {"solved_by": None}, {"inputs": 3}])
def test_a_manifest_that_was_altered_is_told(damage):
    with pytest.raises(DataError, match="altered"):
        audit_set(replace(sound(), manifest=damage))


def test_a_long_set_is_audited_in_bounded_memory():
    """Ten times the rows that are used take no ten times the features."""
    rows = Split.of_set(sound(sizes={"tr": 3000, "va": 10, "te": 500}))
    plan = EvaluationPlan("", ((np.arange(5), np.arange(7, 9)),))
    needed, plan = _needed(rows, np.zeros(len(rows), np.int64), plan)
    assert len(needed) == 7
    assert plan.folds[0][1].tolist() == [5, 6]
    assert needed.texts == [*rows.texts[:5], *rows.texts[7:9]]


def test_audits_print_themselves_in_a_line_and_in_notebooks_as_a_table():
    audit = audit_set(replace(COUNTED[0].make(COUNTED[0].low), name="<b>own</b>"))
    assert repr(audit) == f"<Audit <b>own</b>: {sum(audit.sizes.values()):,} rows, 1 error, 0 warnings, 0 notes>"
    (finding,) = audit.findings
    assert repr(finding) == f"<Finding error {finding.code} ({finding.split}): {finding.message}>"
    html = audit._repr_html_()
    assert "&lt;b&gt;own&lt;/b&gt;" in html
    assert f"<td>{finding.code}</td>" in html
    assert "<table>" not in audit_set(sound())._repr_html_()


def test_what_repeats_for_another_split_is_merge_splits():
    one = Finding("markup", "error", "5 of the 400 dev rows: markup", "", "va", 5, ("a",))
    two = Finding("markup", "error", "9 of the 800 test rows: markup", "", "te", 9, ("b",))
    other = Finding("markup", "warning", "1 of the 600 train rows: markup", "", "tr", 1)
    told, last = merge_splits([one, two, other])
    assert (told.message, told.split, told.count) == (
        "5 of the 400 dev rows and 9 of the 800 test rows: markup", "va te", 14,
    )  # fmt: skip
    assert told.examples == ("a", "b")
    assert last == other
    audit = replace(audit_set(sound()), findings=(one, two, other))
    assert count_findings([audit], []) == "1 set: 1 error, 1 warning, 0 notes"  # as many as lines
    overview = markdown([audit, audit], [], []).split("\n## ")[0]
    assert "| 2 | 1 | 1 | 0 |" in overview


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a p\u0430per", ["p\u0430per"]),
        ("FcγR and λProlog and KSTЯ", []),
        ("the β-blocker, IT-специалист", []),
        ("слово c\u043bово", ["c\u043bово"]),
        ("NFκB, SMSка, iPhoneом", []),
    ],
)
def test_letters_that_look_like_those_of_another_script(text, words):
    assert mixed_words(text) == words


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('"He said ""no"".', True), ('He said ""no"" twice.', True), ('"He said no."', False), ('He said "no".', False),
        ('an empty "" string', False), ('x = "" and y = ""', False),
    ],
)  # fmt: skip
def test_quotes_of_a_csv_file(text, quoted):
    assert has_csv_quotes(text) == quoted


def test_doubtful_labels_of_test_are_found_whatever_train_is_like():
    noisy = noisy_labels()
    train = [example(label, ("always", "the", "same", ".")) for label in "AB" * 60]
    codes_found = {(f.code, f.split) for f in audit_set(replace(noisy, rows={**noisy.rows, "tr": train})).findings}
    assert ("doubtful-labels", "te") in codes_found


def test_pairs_with_one_sentence_in_common_are_no_altered_copies():
    clean = sound(inputs=["second"])
    rows = {}
    for split, own in clean.rows.items():
        rows[split] = [r._replace(extra=(("second", f"{split} {i} one"),)) for i, r in enumerate(own)]
    firsts = rows["tr"] * 2
    rows["te"] = [r._replace(text=one.text, tokens=one.tokens) for r, one in zip(rows["te"], firsts, strict=False)]
    assert "altered-copies" not in found(replace(clean, rows=rows))


def test_a_rare_label_that_train_lacks_is_an_error():
    clean = sound()
    rows = [*clean.rows["te"][:-2], *(r._replace(label="angry") for r in clean.rows["te"][-2:])]
    missing = found(replace(clean, rows={**clean.rows, "te": rows}, labels=("A", "B", "angry")))["missing-class"]
    assert (missing.severity, missing.split, missing.examples) == ("error", "tr", ("angry",))
