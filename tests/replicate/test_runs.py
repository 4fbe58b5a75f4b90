"""Claims tested on planted runs: true ones hold, false ones are contradicted, and small runs decide nothing."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from sentprobe.errors import UsageError
from sentprobe.replicate import FINDINGS, BestOf, Claim, Correlated, Difference, Models, Ordered, Scope
from sentprobe.replicate.from_run import answer_from_run, assign_roles, parse_roles
from sentprobe.report.summary import summarise
from sentprobe.results.compare import compare
from sentprobe.results.records import RECIPES
from tests.command_line import sentprobe
from tests.report.runs import result, written

TASKS = ("subj_number", "obj_number", "tree_depth")


def planted(folder, scores, n=2000, **asked):
    """A run whose encoders have about these accuracies on each task."""
    records = [
        result(encoder, f"own/{task}", p=p, n=n, **asked)
        for task in TASKS
        for encoder, p in scores.items()
    ]  # fmt: skip
    return written(folder, *records)


def claimed(statistic, **more):
    return Claim(name="own", paper="own", where="section 1", sentence="It is so.", statistic=statistic, **more)


def verdict_on(run, statistic, **roles):
    typed = {name: [value] if isinstance(value, str) else value for name, value in roles.items()}
    return answer_from_run(claimed(statistic), run, typed)


GOOD_ABOVE_POOR = Difference(Models("good"), Models("poor"))


@pytest.mark.parametrize(
    ("scores", "n", "outcome"),
    [
        ({"good": 0.8, "poor": 0.6}, 2000, "held"),
        ({"good": 0.6, "poor": 0.8}, 2000, "contradicted"),
        ({"good": 0.8, "poor": 0.77}, 60, "undecided"),
    ],
)
def test_a_difference(tmp_path, scores, n, outcome):
    run = planted(tmp_path / "run", scores, n)
    found = verdict_on(run, GOOD_ABOVE_POOR)
    assert (found.outcome, found.cells) == (outcome, 3)
    comparisons = compare(run, "good", "poor")
    # of every cell: the largest p-value, without adjustment; against it: the smallest, with Bonferroni's
    p_for = max(c.p if c.difference > 0 else 1 for c in comparisons)
    p_against = min(1, 3 * min(c.p if c.difference < 0 else 1 for c in comparisons))
    assert found.p == pytest.approx(min(p_for, p_against))
    assert found.estimate == pytest.approx(np.mean([c.difference for c in comparisons]))
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize(("margin", "outcome"), [(0.1, "held"), (0.3, "contradicted")])
def test_a_margin(tmp_path, margin, outcome):
    run = planted(tmp_path / "run", {"good": 0.8, "poor": 0.6})
    assert verdict_on(run, Difference(Models("good"), Models("poor"), margin=margin)).outcome == outcome


@pytest.mark.parametrize(
    ("scores", "n", "outcome"),
    [
        ({"good": 0.8, "poor": 0.8}, 2000, "held"),
        ({"good": 0.8, "poor": 0.6}, 2000, "contradicted"),
        ({"good": 0.8, "poor": 0.8}, 40, "undecided"),
    ],
)
def test_equality_within_a_margin(tmp_path, scores, n, outcome):
    run = planted(tmp_path / "run", scores, n)
    assert verdict_on(run, Difference(Models("good"), Models("poor"), expect="equal", margin=0.05)).outcome == outcome


def test_chance(tmp_path):
    run = planted(tmp_path / "run", {"good": 0.8, "poor": 0.5})
    assert verdict_on(run, Difference(Models("good"), 0.5)).outcome == "held"
    assert verdict_on(run, Difference(Models("poor"), 0.6)).outcome == "contradicted"
    assert verdict_on(run, Difference(Models("poor"), 0.5, expect="equal", margin=0.05)).outcome == "held"


def test_the_best_of_several(tmp_path):
    run = planted(tmp_path / "run", {"a": 0.9, "b": 0.7, "c": 0.6})
    rivals = Models("rivals", "{rival}")
    assert verdict_on(run, BestOf(Models("a"), rivals)).outcome == "held"
    found = verdict_on(run, BestOf(Models("b"), rivals))
    assert found.outcome == "contradicted"
    assert found.estimate == pytest.approx(-0.2, abs=0.05)  # from the best of them


@pytest.mark.parametrize(("order", "outcome"), [("small middle large", "held"), ("large middle small", "contradicted")])
def test_an_order(tmp_path, order, outcome):
    run = planted(tmp_path / "run", {"small": 0.6, "middle": 0.7, "large": 0.8})
    found = verdict_on(run, Ordered(Models("sizes", "encoder-{size}")), sizes=order.split())
    assert (found.outcome, found.cells) == (outcome, 6)


@pytest.mark.parametrize(("expect", "outcome"), [("above", "held"), ("below", "contradicted")])
def test_a_correlation_over_encoders(tmp_path, expect, outcome):
    run = planted(tmp_path / "run", {f"e{i}": 0.55 + 0.05 * i for i in range(7)})
    statistic = Correlated(Models("encoders", "{encoder}"), Scope(("tree_depth",)), Scope(TASKS[:2]), expect=expect)
    found = verdict_on(run, statistic)
    assert (found.outcome, found.cells) == (outcome, 2)
    assert found.estimate == 1  # tests in stats compare single correlations with scipy
    # exact: of 5040 permutations, one is as high; two-sided, in both cells
    assert [test.p_for if expect == "above" else test.p_against for test in found.tests] == [2 / 5040] * 2


def test_four_encoders_are_too_few_for_a_correlation(tmp_path):
    run = planted(tmp_path / "run", {f"e{i}": 0.55 + 0.05 * i for i in range(4)})
    statistic = Correlated(Models("encoders", "{encoder}"), Scope(("tree_depth",)), Scope(TASKS[:2]))
    found = verdict_on(run, statistic)
    assert (found.outcome, found.reason) == (
        "not tried",
        "needs encoders: 5 or more encoders with scores on both sides that vary; there are 4 encoders",
    )


def test_most_is_more_than_half_and_some_is_one(tmp_path):
    records = [result("good", f"own/{task}", p=0.8, n=2000) for task in TASKS]
    records += [result("poor", f"own/{task}", p=p, n=2000) for task, p in zip(TASKS, (0.6, 0.6, 0.9), strict=True)]
    run = written(tmp_path / "run", *records)
    verdicts = {
        cells: verdict_on(run, Difference(Models("good"), Models("poor"), cells=cells)).outcome
        for cells in ("every", "most", "some", "mean")
    }
    assert verdicts == {"every": "contradicted", "most": "held", "some": "held", "mean": "held"}


def test_encoders_are_paired_by_what_varies_in_their_names(tmp_path):
    scores = {"max a": 0.8, "last a": 0.7, "max b": 0.7, "last b": 0.6}  # max b is not above last a
    run = planted(tmp_path / "run", scores)
    statistic = Difference(Models("max", "max {objective}"), Models("last", "last {objective}"))
    assert verdict_on(run, statistic).outcome == "held"
    found = verdict_on(run, statistic, max=["max a", "max b"], last=["last a", "last b"])
    assert (found.outcome, found.cells) == ("held", 6)
    assert verdict_on(run, statistic, max=["max b"], last=["last a", "last b"]).outcome == "undecided"
    # by their names, whatever the order of the run
    backwards = planted(tmp_path / "backwards", dict(zip(scores, (0.8, 0.6, 0.7, 0.7), strict=True)))
    assert verdict_on(backwards, statistic).outcome == "undecided"
    with pytest.raises(UsageError, match=r"name those of last, too, with --as"):
        assign_roles(claimed(statistic), run, {"max": ["max b", "max a"]})
    with pytest.raises(UsageError, match=r"paired by objective, in the order of --as; got 2 as max, 3 as last"):
        assign_roles(claimed(statistic), run, {"max": ["a", "b"], "last": ["c", "d", "e"]})


def test_all_parts_of_a_claim_have_to_hold(tmp_path):
    run = planted(tmp_path / "run", {"good": 0.8, "poor": 0.6})
    true, false = Difference(Models("good"), Models("poor")), Difference(Models("poor"), Models("good"))
    assert verdict_on(run, (true, Difference(Models("poor"), 0.5))).outcome == "held"
    assert verdict_on(run, (true, false)).outcome == "contradicted"


def test_seeds_are_one_encoder(tmp_path):
    records = [
        result(encoder, f"own/{task}", p=p, n=2000, seed=seed)
        for task in TASKS for encoder, p in {"good": 0.8, "poor": 0.6}.items() for seed in (1, 2, 3)
    ]  # fmt: skip
    found = verdict_on(written(tmp_path / "run", *records), GOOD_ABOVE_POOR)
    assert (found.outcome, found.cells) == ("held", 3)


@pytest.fixture(scope="module")
def pooled(tmp_path_factory):
    """A run on which the claim about max pooling is true."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    planted(folder, {"py:max": 0.8, "py:last": 0.6})
    return folder


def test_an_encoder_is_no_rival_of_itself_whatever_it_is_called(tmp_path):
    run = planted(tmp_path / "run", {"st:good": 0.8, "st:poor": 0.6})
    found = verdict_on(run, BestOf(Models("best"), Models("rivals")), best="good", rivals=["st:good", "st:poor"])
    assert (found.outcome, found.cells) == ("held", 3)


def test_one_encoder_in_each_role_needs_no_name_in_common(tmp_path):
    run = planted(tmp_path / "run", {"st:mean": 0.8, "st:max": 0.6})
    statistic = Difference(Models("mean pooling", "{encoder}_mean"), Models("max pooling", "{encoder}_max"))
    roles = {"mean pooling": "mean", "max pooling": "max"}
    assert verdict_on(run, statistic, **roles).outcome == "held"


def test_languages_are_compared_encoder_by_encoder(tmp_path):
    records = [
        result(encoder, f"own/{task}/{language}", p=p, n=2000, language=language)
        for task in ("subj_number",)
        for language, p in (("en", 0.6), ("fr", 0.8))
        for encoder in ("a", "b")
    ]  # fmt: skip
    records = [(replace(r, cell=replace(r.cell, task="subj_number")), arrays) for r, arrays in records]
    run = written(tmp_path / "run", *((replace(r, key=r.cell.key), arrays) for r, arrays in records))
    statistic = Difference(
        Models("French", "{encoder}", languages=("fr",)), Models("English", "{encoder}", languages=("en",)),
        across="language",
    )  # fmt: skip
    found = verdict_on(run, statistic)
    assert (found.outcome, found.cells) == ("held", 2)
    assert found.estimate == pytest.approx(0.2, abs=0.04)


def similarity(encoder, noise, n=400):
    """A result in numbers, and not in classes."""
    record, _ = result(encoder, "own/relatedness", n=n)
    rng = np.random.default_rng(sum(map(ord, encoder)))
    truth = np.random.default_rng(0).normal(size=n)
    predicted = truth + noise * rng.normal(size=n)
    score = float(np.corrcoef(truth, predicted)[0, 1])
    record = replace(record, metric="pearson", score=score, labels=(), interval_kind="bootstrap", scores={})
    return record, {"predicted": predicted, "truth": truth}


def test_scores_in_numbers_have_no_paired_test(tmp_path):
    run = written(tmp_path / "run", similarity("good", 0.3), similarity("poor", 2.0))
    found = verdict_on(run, GOOD_ABOVE_POOR)
    assert found.outcome == "not tried"
    assert "there is no paired test of own/relatedness (Pearson)" in found.reason


def test_another_metric(tmp_path):
    run = planted(tmp_path / "run", {"good": 0.8, "poor": 0.6})
    found = verdict_on(run, Difference(Models("good"), Models("poor"), metric="balanced_accuracy"))
    assert (found.outcome, found.cells) == ("held", 3)
    comparisons = compare(run, "good", "poor", metric="balanced_accuracy")
    assert found.estimate == pytest.approx(np.mean([c.difference for c in comparisons]))


def test_a_number_is_compared_by_the_metric_and_over_the_trainings(tmp_path):
    # nine tenths of one class are right, and half of the other, which is small
    rng = np.random.default_rng(5)
    truth = (np.arange(600) % 10 == 0).astype(np.int32)
    names = [f"mine {i}" for i in range(3)]
    records = []
    for i, name in enumerate(names):
        record, arrays = result(name, "own/rare", n=600)
        right = rng.random(600) < np.where(truth == 1, 0.4 + 0.1 * i, 0.95)
        arrays = arrays | {"truth": truth, "predicted": np.where(right, truth, 1 - truth).astype(np.int32)}
        records.append((replace(record, score=float(right.mean()), scores={}), arrays))
    run = written(tmp_path / "run", *records)
    run = replace(run, info={**run.info, RECIPES: [["mine", name, name] for name in names]})
    for metric in ("balanced_accuracy", "accuracy"):
        cell = summarise(run, metric=metric).sets[0].cells[0]
        (found,) = verdict_on(run, Difference(Models("mine"), 0.6, metric=metric)).tests
        assert found.value == pytest.approx(cell.score.value - 0.6)
        assert found.ends[1] - found.ends[0] == pytest.approx(cell.score.high - cell.score.low)


NAME = "conneau2018_max_pooling"


def test_the_command(pooled):
    words = ("replicate", NAME, "--run", pooled, "--as", "max pooling=max", "--as", "last state=last")
    done = sentprobe(*words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 finding: 1 held.")
    assert "max pooling = max, last state = last" in done.stdout
    (record,) = json.loads(sentprobe(*words, "--format", "json").stdout)
    assert (record["verdict"], record["cells"]) == ("held", 3)
    assert record["roles"] == {"max pooling": ["max"], "last state": ["last"]}
    assert "own/tree_depth" in sentprobe(*words, "--all").stdout
    assert "held" in sentprobe(*words, "--format", "md").stdout
    assert sentprobe(*words, "--format", "csv").stdout.count("\n") == 2


def test_what_a_run_lacks_is_said(pooled):
    (record,) = json.loads(sentprobe("replicate", NAME, "--run", pooled, "--format", "json").stdout)
    assert record["verdict"] == "not tried"
    assert '--as "max pooling=ENCODER"' in record["reason"]
    words = ("--run", pooled, "--as", "bag of vectors=max", "--format", "json")
    (record,) = json.loads(sentprobe("replicate", "conneau2018_bag_of_vectors_words", *words).stdout)
    assert record["verdict"] == "not tried"
    assert "results of max (bag of vectors) on word_content" in record["reason"]


def test_a_claim_tested_on_some_of_its_tasks_says_so(pooled):
    words = ("replicate", NAME, "--run", pooled, "--as", "max pooling=max", "--as", "last state=last")
    (record,) = json.loads(sentprobe(*words, "--format", "json").stdout)
    assert record["untested"] == [
        "word_content", "top_constituents", "bigram_shift", "past_present", "odd_man_out", "coordination_inversion",
    ]  # fmt: skip
    assert "Tested without word_content, top_constituents" in " ".join(sentprobe(*words).stdout.split())


def test_every_finding_can_be_asked_of_a_run(pooled):
    records = json.loads(sentprobe("replicate", "--run", pooled, "--format", "json").stdout)
    assert len(records) == len(FINDINGS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--as", "max poling=max"), "Did you mean max pooling"),
        (("--as", "max"), "expected ROLE=ENCODER"),
        (("--as", "max pooling=nobody"), "has no results of 'nobody'"),
        (("--published",), "Expected one of --published, --run FOLDER and --list"),
    ],
)
def test_wrong_roles_are_refused(pooled, words, message):
    done = sentprobe("replicate", NAME, "--run", pooled, *words)
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())


def test_a_finding_that_there_is_not():
    done = sentprobe("replicate", "conneau2018_max_poling", "--published")
    assert done.returncode == 1
    assert "conneau2018_max_pooling" in done.stderr


def test_roles_are_parsed():
    claims = [FINDINGS[NAME]]
    texts = ["max pooling=st:a=b", "max pooling=c", "last state=d"]
    assert parse_roles(texts, claims) == {"max pooling": ["st:a=b", "c"], "last state": ["d"]}
    mine = claimed(Difference(Models("py:f.py?k=1"), Models("b")))
    assert parse_roles(["py:f.py?k=1=st:x"], [mine]) == {"py:f.py?k=1": ["st:x"]}


def test_the_page_has_claim_published_ours_and_verdict(pooled, tmp_path):
    page = tmp_path / "findings.html"
    words = ("--run", pooled, "--as", "max pooling=max", "--as", "last state=last", "-o", page)
    done = sentprobe("replicate", NAME, *words)
    assert (done.returncode, done.stderr) == (0, f"Page: {page}\n")
    text = page.read_text("utf-8")
    assert "A BiLSTM keeps more of what is probed for" in text
    assert "held: +7.1 (+6.6 to +7.5)" in text  # published
    assert re.search(r"<td>\+(19|20|21)\.\d \(.*?\), p &lt;0.001</td>", text)  # ours
    assert '<b class="held">held, in part</b>' in text
    assert "own/tree_depth" in text.replace("<wbr>", "")
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", text).replace("http-equiv", "")


def test_a_page_escapes_what_is_claimed(pooled, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text('sentence = "<script>alert(1)</script> & so on."\nstatistic = "difference"\nfirst = "py:max"\n'
                    'second = "py:last"\n', "utf-8")  # fmt: skip
    assert sentprobe("replicate", path, "--run", pooled, "-o", tmp_path / "p.html").returncode == 0
    text = (tmp_path / "p.html").read_text("utf-8")
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; so on." in text


@pytest.mark.parametrize("words", [("--list", "-o", "a.html"), ("--published", "-o", "a.pdf")])
def test_a_page_is_an_html_file_of_what_was_tested(words):
    done = sentprobe("replicate", NAME, *words)
    assert done.returncode == 1
    assert "expected an HTML file for what is tested" in " ".join(done.stderr.split())
