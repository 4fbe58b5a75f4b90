"""What a careful reader would object to."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.encoders.diagnosis import Symptom
from sentprobe.report.checks import CHECKS, checks
from sentprobe.report.summary import full_summary
from sentprobe.report.types import (
    AuditFinding,
    CheckResult,
    ColumnErrors,
    EncoderDiagnosis,
    FailureSummary,
    SetErrors,
)
from sentprobe.report.verdict import BaselineComparison
from sentprobe.results.log import open_log
from sentprobe.results.result import Signature
from sentprobe.results.run import Run
from sentprobe.stats import wilson

from .runs import SHIFT, SUBJ, beside, cell, failure, result, written
from .summaries import cell as written_cell
from .summaries import column as written_column
from .summaries import set_summary as one_set
from .summaries import summary as written_summary
from .summaries import with_cell

DOCS = Path(__file__).parents[2] / "docs/report-checks.md"
CODES = list(CHECKS.parts())


def diagnosis(encoder, symptoms, number=0):
    """What run.json has of an encoder that was looked at."""
    identity = f"identity of {encoder}"
    return {
        "name": encoder,
        "identity": identity,
        "number": number,
        "symptoms": symptoms,
        "digest": f"{encoder} {number}",
    }


# A summary by hand


def column(encoder, probe="linear", limit=None):
    label = (encoder, probe) if probe not in (None, "linear") else (encoder,)
    return written_column(encoder, probe=probe, limit=limit, identity=encoder, label=label)


def number(p, n=1000, *, va=1000, wide=1.0, **more):
    """A cell with this accuracy; its interval ``wide`` times that of Wilson."""
    low, high = wilson(p * n, n)
    signature = Signature(task="x.v1", data="x#1", enc="x", n=f"4000/{va}/{n}", seed="1", sentprobe="0.1.0")
    more = {"n": n, "signatures": (str(signature),), **more}
    return written_cell(p, p - wide * (p - low), p + wide * (high - p), **more)


def judged(cell, beside):
    """The cell with what the summary says about the best of these baselines; here, by its interval."""
    value, name = max(beside, default=(None, None))
    if name is None:
        return cell
    verdict = "below" if cell.accuracy <= value else "above" if cell.low > value else "not_significant"
    return replace(cell, against=BaselineComparison(name, value, verdict, 0.5, 1))


def summary(sets, columns=None, baselines=(), failures=()):
    columns = columns or [column(f"st:{i}") for i in range(len(sets[0].cells))]

    def with_verdicts(own):
        beside = [(c.accuracy, b.encoder) for b, c in zip(baselines, own.baselines, strict=False) if c]
        cells = [
            judged(cell, beside) if cell and c.limit is None else cell
            for c, cell in zip(columns, own.cells, strict=False)
        ]
        return replace(own, cells=tuple(cells))

    return written_summary(
        map(with_verdicts, sets), columns, baselines, failures=tuple(failures), errors=(None,) * len(sets)
    )


def verdict(whole, new):
    """The summary with another verdict on its first cell."""
    cell = whole.sets[0].cells[0]
    return with_cell(whole, 0, 0, replace(cell, against=replace(cell.against, verdict=new)))


CURVE_BASELINE = [column("majority", None), column("nb-uni", None), column("baseline:random")]


def usual(*cells, task="tree_depth", baselines=(0.5, 0.6, 0.5), **more):
    """One set, with baselines."""
    return summary([one_set(task, cells, [number(p) for p in baselines], **more)], baselines=CURVE_BASELINE)


def answer(code, said):
    """What the check of this code says; None if it says nothing."""
    found = [entry for entry in checks(said) if entry.code == code]
    assert len(found) <= 1
    return found[0] if found else None


def level(code, said):
    found = answer(code, said)
    return found and found.level


# All of them together


def test_the_docs_explain_every_code_in_their_order():
    _, *sections = re.split(r"^## ", DOCS.read_text("utf-8"), flags=re.MULTILINE)
    assert [" ".join(section.split()) for section in sections] == [
        " ".join(f"{check.name} {check.doc} What to do: {check.advice}".split()) for check in CHECKS.parts().values()
    ]


def test_issues_come_first_and_each_entry_says_where_it_is_explained():
    said = usual(number(0.55, edge="weakest"), number(0.9))
    found = checks(said)
    levels = [entry.level for entry in found]
    assert levels == sorted(levels, key=["issue", "tip", "passed"].index)
    assert {"issue", "tip", "passed"} == set(levels)
    for entry in found:
        assert isinstance(entry, CheckResult)
        assert entry.docs == f"report-checks.md#{entry.code}"
        assert entry.code in CODES


def test_a_run_without_results_has_no_failures_and_nothing_else():
    assert [entry.code for entry in checks(summary([], [column("st:a")]))] == ["failures"]


def test_they_read_what_a_run_gives(tmp_path):
    records = [
        *beside(),
        *(result(f"st:{e}", s, p=p, forms=20) for (e, p), s in product((("a", 0.8), ("b", 0.82)), (SUBJ, SHIFT))),
        *(result("st:a", s, p=0.95, probe="mlp", forms=20) for s in (SUBJ, SHIFT)),
        failure(cell("st:c")),
    ]
    written(tmp_path / "run", *records)
    symptoms = [
        {"code": code, "message": f"{code}."} for code in ("zero-vectors", "unknown-tokens", "wrong-language", "trust")
    ]
    with open_log(tmp_path / "run") as log:
        log.describe(diagnoses=[diagnosis("st:a", symptoms), diagnosis("st:gone", symptoms)])
    said = full_summary(Run.load(tmp_path / "run"))
    found = {entry.code: entry for entry in checks(said)}
    assert set(found) == set(CODES)  # each of them has something to look at
    assert found["failures"].where == (f"st:c on {SUBJ}: RuntimeError: out of memory",)
    assert found["mlp-gain"].level == "tip"
    assert found["broken-encoder"].where == ("st:a: zero-vectors.",)  # and not of one without results
    assert found["one-seed"].where == tuple(f"st:a, mlp on {s}" for s in (SUBJ, SHIFT))
    assert found["leak-like"].level == "passed"


shares = st.floats(0, 1)
cells = st.one_of(
    st.none(),
    st.builds(
        lambda p, n, va, dev, letters, best, edge, train, wide: number(
            p, n, va=va, dev_score=dev, letters=letters, best=best, edge=edge, train_n=train, wide=wide
        ),
        shares, st.integers(1, 10_000), st.integers(0, 100), st.none() | shares,
        st.sampled_from((None, "a", "ab", "b")), st.booleans(), st.sampled_from((None, "weakest", "strongest")),
        st.integers(0, 500), st.floats(1, 3),
    ),
)  # fmt: skip


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.lists(cells, min_size=3, max_size=3), st.lists(cells, min_size=3, max_size=3)), max_size=4)
)
def test_they_bear_with_any_numbers(rows):
    columns = [column("st:a"), column("st:a", "mlp"), column("st:b", limit=10)]
    tasks = ("tree_depth", "sentence_length", "MR", "word_content")
    sets = [one_set(task, *row) for task, row in zip(tasks, rows, strict=False)]
    found = checks(summary(sets, columns, CURVE_BASELINE))
    assert len({entry.code for entry in found}) == len(found)
    assert all(len(entry.where) <= 50 for entry in found)


def test_no_more_than_fifty_places_are_named():
    sets = [one_set(f"set {i}", [number(0.4)], [number(0.6)] * 3) for i in range(60)]
    found = answer("below-baseline", summary(sets, baselines=CURVE_BASELINE))
    assert found.text.startswith("60 of 60 scores")
    assert len(found.where) == 50


# Data


def test_failures():
    said = usual(number(0.9))
    assert level("failures", said) == "passed"
    lost = FailureSummary(
        encoder="st:b", dataset="tree_depth", variant=None, layer=None, probe=None, seed=None, kind="RuntimeError",
        error="out of memory",
    )  # fmt: skip
    found = answer("failures", replace(said, failures=(lost, replace(lost, dataset=None))))
    assert found.level == "issue"
    assert found.text.startswith("2 failures, of 1 encoder. ")
    assert found.where == ("st:b on tree_depth: RuntimeError: out of memory", "st:b: RuntimeError: out of memory")
    alone = answer("failures", replace(said, failures=(replace(lost, encoder=None),)))
    assert alone.text.startswith("1 failure. ")


def test_synthetic_sets():
    assert level("synthetic", usual(number(0.9))) == "passed"
    found = answer("synthetic", usual(number(0.9), synthetic=True))
    assert (found.level, found.where) == ("issue", ("tree_depth",))
    assert found.text.startswith("1 of 1 sets: ")


def test_partial_numbers():
    assert level("partial", usual(number(0.9))) == "passed"
    columns = [column("st:a"), column("st:a", limit=1000), column("st:a", limit=50)]
    some = [number(0.9), number(0.8, partial=True), number(0.8, partial=True)]
    found = answer("partial", summary([one_set("passive", some)], columns))
    assert (found.level, found.where) == ("issue", ("passive",))
    assert found.text.startswith("2 of 3 scores: from a sample of at most 50 or 1,000 rows per split.")


def audit(**counts):
    return tuple(
        AuditFinding(code=f"some-{severity}", severity=severity, message=f"a {severity}")
        for severity, count in counts.items()
        for _ in range(count)
    )


@pytest.mark.parametrize(
    ("audits", "expected", "where"),
    [
        ([audit(), audit(note=2)], "passed", []),
        ([None, None], "tip", []),
        ([audit(), None], "tip", ["set 1: not audited"]),
        ([audit(warning=1), audit(note=1)], "tip", ["set 0: some-warning: a warning"]),
        (
            [audit(warning=1), audit(error=1, warning=1)],
            "issue",
            ["set 1: some-error: a error", "set 0: some-warning: a warning", "set 1: some-warning: a warning"],
        ),
    ],
)
def test_what_audits_found(audits, expected, where):
    sets = [one_set(f"set {i}", [number(0.9)], audit=found) for i, found in enumerate(audits)]
    found = answer("unsound-data", summary(sets))
    assert (found.level, list(found.where)) == (expected, where)


# Baselines


def test_numbers_beside_the_strongest_baseline():
    low, _ = wilson(650, 1000)  # 0.620
    assert level("below-baseline", usual(number(0.65), baselines=(0.5, low - 0.001, 0.5))) == "passed"
    close = answer("below-baseline", usual(number(0.65), baselines=(0.5, low + 0.001, 0.5)))
    assert (close.level, close.title) == ("tip", "Some scores are not significantly better than a baseline")
    below = answer("below-baseline", usual(number(0.65), number(0.6), number(0.9), baselines=(0.5, 0.64, 0.5)))
    assert below.level == "issue"
    assert below.text.startswith(
        "1 of 3 scores: not higher than the best baseline on the same rows. 1 of 3 scores: higher, but not "
        "significantly (paired test, Holm over all encoders and sets, 5 %)."
    )
    assert below.where == (
        "st:1 on tree_depth: 60.0, nb-uni 64.0",
        "st:0 on tree_depth: 65.0, nb-uni 64.0",
    )
    assert level("below-baseline", summary([one_set("MR", [number(0.6)])])) is None


def test_a_baseline_on_other_rows_does_not_count():
    said = summary(
        [one_set("tree_depth", [number(0.55)], [number(0.6)] * 3)], [column("st:a", limit=100)], CURVE_BASELINE
    )
    assert level("below-baseline", said) is None
    assert level("chance", said) is None


def test_baselines_that_read_the_answer_are_no_issue_but_are_named():
    others = [column("majority", None), column("length", None), column("nb-uni", None), column("baseline:hash")]
    scores = [number(p) for p in (0.2, 1.0, 0.9, 0.8)]
    for task, expected in (("tree_depth", "issue"), ("sentence_length", "tip")):
        found = answer("below-baseline", summary([one_set(task, [number(0.5)], scores)], baselines=others))
        assert (found.level, found.where) == (expected, (f"st:0 on {task}: 50.0, length 100.0",))
    words = [number(p) for p in (0.2, 0.3, 0.9, 0.8)]
    found = answer("below-baseline", summary([one_set("word_content", [number(0.5)], words)], baselines=others))
    assert found.level == "tip"
    assert "words on word_content, are the answer itself" in found.text


def test_numbers_that_could_not_be_tested():
    assert level("below-baseline", verdict(usual(number(0.9)), "untested")) == "issue"


def test_what_is_at_chance_is_never_above_its_baselines():
    said = usual(number(0.52), baselines=(0.5, 0.4, 0.4))
    assert level("chance", said) == "tip"
    assert level("chance", verdict(said, "above")) == "passed"  # a paired test knows more than an interval


def test_numbers_at_chance_and_below():
    assert level("chance", usual(number(0.6))) == "passed"
    at = answer("chance", usual(number(0.6), number(0.51), number(0.47)))
    assert (at.level, at.where) == (
        "tip",
        ("st:1 on tree_depth: 51.0, majority 50.0", "st:2 on tree_depth: 47.0, majority 50.0"),
    )
    below = answer("chance", usual(number(0.6), number(0.51), number(0.42)))
    assert below.level == "issue"
    assert below.text.startswith("1 of 3 scores: significantly below")
    assert "1 of 3 scores: not significantly above" in below.text
    assert below.where[0] == "st:2 on tree_depth: 42.0, majority 50.0"


def test_one_number_below_chance_among_many_is_luck():
    unlucky = number(0.465)  # two-sided p = 0.026
    assert level("chance", usual(unlucky)) == "issue"
    assert level("chance", usual(unlucky, *[number(0.51)] * 5)) == "tip"


def test_random_vectors_that_find_something():
    assert level("leak-like", usual(number(0.9))) == "passed"
    found = answer("leak-like", usual(number(0.9), baselines=(0.5, 0.6, 0.58)))
    assert (found.level, found.where) == ("issue", ("tree_depth: 58.0, constant answer 50.0",))
    assert level("leak-like", summary([one_set("passive", [number(0.9)])])) is None


def test_a_label_that_is_frequent_in_te_only_is_no_leak():
    said = usual(number(0.9), baselines=(0.23, 0.4, 0.28), classes=5)
    assert level("leak-like", said) == "issue"

    def errors(counts):
        own = ColumnErrors(confusion=None, pairs=(), length=(), target=None, errors=(), label_counts=counts)
        return (SetErrors(labels=(), columns=(own,), doubtful=(), easiest=()),)

    counts = tuple((n, 0) for n in (290, 230, 180, 170, 130))
    assert level("leak-like", replace(said, errors=errors(counts))) == "passed"
    assert level("leak-like", replace(said, errors=errors(None))) == "issue"  # too many labels


# Comparisons


def test_sets_without_a_best():
    apart = one_set("a", [number(0.9, letters="a", best=True), number(0.5, letters="b")])
    tied = one_set("b", [number(0.8, letters="b", best=True), number(0.81, letters="ab", best=True)])
    assert level("not-apart", summary([apart])) == "passed"
    found = answer("not-apart", summary([apart, tied]))
    assert found.level == "tip"
    assert found.text.startswith("1 of 2 sets: ")
    assert found.where == ("b: st:1 81.0, st:0 80.0",)
    assert level("not-apart", summary([one_set("a", [number(0.9)])])) is None


def test_few_rows():
    def said(n, one=0.7, two=0.75, wide=1.0, letters=("a", "a")):
        numbers = [number(p, n, wide=wide, letters=x) for p, x in zip((one, two), letters, strict=True)]
        return summary([one_set("passive", numbers)])

    # (1.96 + 0.84) sqrt((0.7 · 0.25 + 0.75 · 0.3) / 400) = 0.0886
    found = answer("few-rows", said(400))
    assert found.level == "tip"
    assert found.where == ("passive: 400 rows detect 8.9 points; the largest difference is 5.0",)
    assert level("few-rows", said(400, letters=("b", "a"))) == "passed"  # they were found to differ
    assert level("few-rows", said(400, two=0.8)) == "passed"
    assert level("few-rows", said(4000, two=0.71)) == "passed"  # rows enough for 3 points
    # an interval twice as wide: a quarter of the rows
    assert answer("few-rows", said(4000, two=0.73, wide=2)).where[0].startswith("passive: 4,000 rows detect 5.7 points")
    assert level("few-rows", summary([one_set("a", [number(0.9)])])) is None
    folds = [number(0.9, interval="nadeau-bengio"), number(0.91, interval="nadeau-bengio")]
    assert level("few-rows", summary([one_set("MR", folds)])) is None


def test_many_comparisons():
    def said(many):
        pair = [number(0.9, letters="a", best=True), number(0.5, letters="b")]
        same = [number(0.9, letters="a", best=True), number(0.9, letters="a", best=True)]
        return summary([one_set(f"set {i}", pair if i else same) for i in range(many)])

    assert level("many-comparisons", said(13)) == "passed"  # 1 - 0.95^13 = 0.49
    found = answer("many-comparisons", said(14))
    assert found.level == "tip"
    assert "13 of 14 show a difference" in found.text
    assert "up to 51 %" in found.text
    assert level("many-comparisons", summary([one_set("a", [number(0.9)])])) is None


# The probe


def probes(*cells, probes=("linear", "mlp"), task="tree_depth"):
    return summary([one_set(task, cells)], [column("st:a", probe) for probe in probes])


def test_what_a_network_gains():
    assert level("mlp-gain", probes(number(0.8), number(0.82))) == "passed"
    found = answer("mlp-gain", probes(number(0.8, letters="b"), number(0.84, letters="a")))
    assert found.level == "tip"
    assert found.where == ("st:a, mlp on tree_depth: 84.0, linear 80.0",)
    assert level("mlp-gain", probes(number(0.8, letters="a"), number(0.84, letters="a"))) == "passed"
    three = probes(number(0.8), number(0.82), number(0.84), probes=("linear", "senteval", "senteval?hidden=50"))
    assert level("mlp-gain", three) == "passed"  # beside the better of the two that are linear
    assert level("mlp-gain", probes(number(0.8), number(0.9), task="word_content")) is None  # no hidden layer there
    assert level("mlp-gain", usual(number(0.8), number(0.9))) is None
    assert level("mlp-gain", probes(number(0.8), number(0.9), probes=("linear", "of tomorrow"))) is None


def test_dev_and_te():
    assert level("dev-test-gap", usual(number(0.8, dev_score=0.83))) == "passed"
    found = answer("dev-test-gap", usual(number(0.8, dev_score=0.88), number(0.6, dev_score=0.5)))
    assert found.level == "tip"
    assert found.text.endswith("dev is higher in 1 of 2.")
    assert found.where == (
        "st:0 on tree_depth: dev 88.0, test 80.0",
        "st:1 on tree_depth: dev 50.0, test 60.0",
    )
    # few dev rows, or rows that stand and fall together, explain as much
    assert level("dev-test-gap", usual(number(0.8, dev_score=0.88, va=40))) == "passed"
    assert level("dev-test-gap", usual(number(0.8, dev_score=0.88, wide=4, interval="cluster"))) == "passed"
    # a difference that is there and does not matter
    assert level("dev-test-gap", usual(number(0.8, 10**6, va=10**6, dev_score=0.81))) == "passed"
    assert level("dev-test-gap", usual(number(0.8, va=0))) is None
    assert level("dev-test-gap", usual(number(0.8, dev_score=None))) is None


def test_the_grid_of_l2():
    assert level("grid-edge", usual(number(0.8))) == "passed"
    found = answer("grid-edge", usual(number(0.8, edge="weakest"), number(0.7, edge="strongest"), number(0.6)))
    assert found.level == "tip"
    assert found.text.startswith("2 of 3 scores: dev chose the weakest (1) or the strongest (1) L2 of the grid")
    assert found.where == (
        "st:0 on tree_depth: weakest",
        "st:1 on tree_depth: strongest",
    )
    assert level("grid-edge", usual(number(0.51, edge="strongest"))) == "passed"  # there is nothing to learn
    assert level("grid-edge", probes(number(0.8), probes=("linear?l2=0.1,1",))) is None


def test_rows_and_dimensions():
    assert level("wide-vectors", usual(number(0.8, dimension=300, train_n=601))) == "passed"
    found = answer("wide-vectors", usual(number(0.8, dimension=1024, train_n=2048)))
    assert (found.level, found.where) == ("tip", ("st:0 on tree_depth: 2,048 rows, 1,024 dimensions",))
    assert level("wide-vectors", usual(number(0.8, dimension=None))) is None


def test_seeds():
    assert "None of 1 scores" in answer("one-seed", probes(number(0.8), probes=("linear",))).text
    found = answer("one-seed", probes(number(0.8), number(0.8)))
    assert (found.level, found.where) == ("tip", ("st:a, mlp on tree_depth",))
    several = answer("one-seed", probes(number(0.8), number(0.8, seeds=2)))
    assert (several.level, several.text[:16]) == ("passed", "1 of 2 scores de")
    assert level("one-seed", probes(number(0.8), probes=("of tomorrow",))) == "tip"  # who knows


@pytest.mark.parametrize(
    ("task", "expected"),
    [("MR", "tip"), ("TREC", "tip"), ("SICKRelatedness", "tip"), ("STS14", "passed"), ("SST2", "passed")],
)
def test_seeds_of_transfer_tasks_with_a_probe_that_has_none(task, expected):
    assert level("one-seed", probes(number(0.8), probes=("linear",), task=task)) == expected


# Encoders


@pytest.mark.parametrize(
    ("symptoms", "code", "expected"),
    [
        ([], "broken-encoder", "passed"),
        (["constant-columns"], "broken-encoder", "tip"),
        (["dead-layers"], "broken-encoder", "tip"),
        (["constant-columns", "batch-dependent"], "broken-encoder", "issue"),
        (["equal-vectors"], "broken-encoder", "issue"),
        (["zero-vectors"], "broken-encoder", "issue"),
        (["random-vectors"], "broken-encoder", "issue"),
        (["order-dependent"], "broken-encoder", "issue"),
        (["unknown-tokens"], "broken-encoder", "passed"),
        (["unknown-tokens"], "unknown-tokens", "issue"),
        (["trust"], "taken-on-trust", "tip"),
        (["trust"], "unknown-tokens", None),
        ([], "taken-on-trust", None),
    ],
)
def test_what_was_seen_of_an_encoder_is_said(symptoms, code, expected):
    said = usual(number(0.8))
    assert level(code, said) is None  # of a run whose encoders nobody looked at
    seen = tuple(Symptom(code=s, message=f"Seen: {s}.") for s in symptoms)
    diagnoses = (EncoderDiagnosis(name="st:0", symptoms=seen), EncoderDiagnosis(name="st:1", symptoms=()))
    said = replace(said, diagnoses=diagnoses)
    assert level(code, said) == expected
    if expected in ("issue", "tip"):
        found = answer(code, said)
        assert all(line.startswith("st:0: Seen: ") for line in found.where)
        assert "1 of 2 encoders" in found.text


def test_a_search_that_was_given_up_is_no_optimum():
    assert level("not-converged", usual(number(0.8))) == "passed"
    assert level("not-converged", usual(number(0.8, converged=False))) == "tip"
