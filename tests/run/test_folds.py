"""Cross-validation in a run: known answers, the same folds for all, resuming, repeating, and runs that do not agree."""

import numpy as np
import pytest

from sentprobe import Dataset, Example, Run, evaluate, find_sets
from sentprobe.data.dataset import MANIFEST_FORMAT
from sentprobe.data.folds import divided
from sentprobe.errors import UsageError
from sentprobe.report.legend import legend
from sentprobe.report.summary import summarise
from sentprobe.results.inference import difference_p, read_resamples
from sentprobe.results.result import Cell, Signature
from sentprobe.run import join
from sentprobe.run.repeat import repeat

from .sets import WORDS, Knowing, dataset, same

FOLDED = {"baselines": [], "resample": 0, "folds": 5}
N = 220  # rows of ``dataset()``


def hashed(texts, d=8):
    """Vectors that say nothing about the label."""
    return np.array([np.random.default_rng(list(text.encode())).standard_normal(d) for text in texts], np.float32)


class Spotting(Knowing):
    """An encoder that knows the label wherever its word is, so that texts may be in any order."""

    def __call__(self, texts):
        marked = [next((w for w in t.split() if w[0] == "c" and w[1:2].isdigit()), "c0") for t in texts]
        return super().__call__([f"{mark} {text}" for mark, text in zip(marked, texts, strict=True)])


def made(name="own/task", n=(120, 40, 60), **more):
    return dataset(name, n, **more, format=MANIFEST_FORMAT, policy={"disjoint": bool(more.get("keys"))})


def test_an_encoder_that_knows_the_label_is_always_right(tmp_path):
    result = evaluate(Knowing(), dataset(), tmp_path, **FOLDED).results[0]
    assert result.score == 1.0
    assert (result.n["te"], result.cell.folds, result.trained_on) == (N, 5, "4 of 5 folds")
    assert result.n["tr"] + result.n["va"] == 4 * N // 5
    assert len(result.chosen_by_fold) == 5


def test_random_vectors_are_at_chance_within_the_interval(tmp_path):
    data = dataset(n=(400, 100, 100), classes=4)
    result = evaluate({"random": hashed}, data, tmp_path, baselines=[], folds=5).results[0]
    low, high = result.encoder_interval
    assert low < 0.25 < high
    assert high - low < 0.14  # Wilson's for 150 of 600 rows has a width of 0.07


def test_a_small_set_that_sentprobe_made_is_in_five_folds(tmp_path):
    run = evaluate(Knowing(), [made(), dataset("own/released")], tmp_path, baselines=["majority"], resample=0)
    assert {(r.cell.dataset, r.cell.folds, r.n["te"]) for r in run} == {("own/task", 5, N), ("own/released", None, 60)}
    assert [entry["folds"] for entry in run.info["datasets"]] == [5, None]
    assert f"own/task: 5 folds: every one of the {N} rows is tested once, by a probe trained on the other folds." in (
        legend(summarise(run))
    )


def test_predictions_are_those_of_scikit_learn_in_the_same_folds(tmp_path):
    linear_model = pytest.importorskip("sklearn.linear_model")
    data, penalty = dataset(n=(200, 50, 50), classes=3), 0.01
    encoder = Knowing(3, noise=1.0)
    run = evaluate(encoder, data, tmp_path, probes=f"linear?l2={penalty}", **FOLDED)
    arrays, splits = run.predictions(run.results[0]), divided(data, requested=5)
    expected = np.full(len(splits.test), -1)
    for number, fold in enumerate(splits.folds):
        train, test = encoder(list(fold.train.texts)), encoder(list(fold.test.texts))
        mean, deviation = train.mean(axis=0), train.std(axis=0)
        model = linear_model.LogisticRegression(C=1 / (penalty * len(train)), max_iter=10_000, tol=1e-10)
        model.fit((train - mean) / deviation, fold.train.labels)
        expected[splits.fold_of == number] = model.predict((test - mean) / deviation)
    assert (arrays["predicted"] == expected).mean() > 0.99  # rows at the border
    assert arrays["fold"].tolist() == splits.fold_of.tolist()
    assert arrays["truth"].tolist() == splits.test.labels.tolist()


def test_rows_are_in_the_order_of_the_predictions(tmp_path):
    run = evaluate(Knowing(noise=0.8), dataset(keys=30), tmp_path, **FOLDED)
    (result,) = run.results
    rows = run.rows(result)
    assert [row.label for row in rows] == [result.labels[i] for i in run.predictions(result)["truth"]]
    assert len(rows) == N
    assert run.correct(result).mean() == pytest.approx(result.score)


def test_the_same_folds_for_encoders_baselines_and_controls(tmp_path):
    run = evaluate([Spotting(noise=1.0)], dataset(), tmp_path, folds=5, resample=0, controls="permuted,norm,shuffled",
                   baselines=["majority", "length", "nb-uni", "baseline:random"])  # fmt: skip
    assert not run.failures
    assert len({run.predictions(r)["fold"].tobytes() for r in (*run.results, *run.extras)}) == 1
    assert {r.n["te"] for r in (*run.results, *run.extras)} == {N}


def test_controls_and_measures(tmp_path):
    data = dataset(n=(300, 60, 60), classes=3)
    run = evaluate(Spotting(10, noise=0.5), data, tmp_path, controls="all", measures="all", **FOLDED)
    assert not run.failures
    by_name = {str(r.cell.variant).partition(":")[0]: r for r in run.extras}
    assert {by_name[name].trained_on for name in ("memorise", "key", "capacity")} == {"fold 1 of 5"}
    in_all = ("permuted", "gaussian", "shuffled", "erased", "given", "learning", "hidden", "inlp", "online", "norms")
    assert {by_name[name].n["te"] for name in in_all} == {420}
    assert {r.cell.folds for r in run.extras} == {5}
    low, high = by_name["shuffled"].range
    assert low < 1 / 3 < high
    plain = run.results[0]
    assert by_name["given"].scores["accuracy"] > plain.score - 0.1
    assert by_name["erased"].score == pytest.approx(1 / 3, abs=0.08)  # nothing is left of its own property
    assert by_name["memorise"].n["te"] < 420


def test_the_probe_of_a_control_is_the_plain_one_of_each_fold(tmp_path):
    """A bag of words has the same vectors for the same words in another order."""
    run = evaluate("static:", dataset(), tmp_path, controls="permuted,permuted_test", **FOLDED)
    plain = run.predictions(run.results[0])["predicted"]
    assert len(run.extras) == 2
    assert all((run.predictions(r)["predicted"] == plain).all() for r in run.extras)


def test_retrained_probes_leave_out_the_same_groups_in_every_fold(tmp_path):
    run = evaluate([Knowing(noise=1.0)], dataset(classes=3), tmp_path, folds=5, baselines=[])
    (result,) = run.results
    retrained = read_resamples(run, result)
    assert (result.resamples, retrained.trained.shape, retrained.chosen.shape[1]) == (10, (10, N), N)
    assert retrained.folds.tolist() == run.predictions(result)["fold"].tolist()
    assert abs(retrained.trained.mean() - result.score) < 0.05
    assert result.encoder_interval[1] - result.encoder_interval[0] >= result.interval[1] - result.interval[0]
    again = evaluate([Knowing(noise=1.0)], dataset(classes=3), tmp_path, folds=5, baselines=[], resample=100)
    assert again.results[0].resamples == 40  # 100, twice over five folds


def test_baselines_are_trained_again_in_folds(tmp_path):
    names = ["majority", "length", "nb-uni"]
    run = evaluate(Knowing(), dataset(), tmp_path, folds=5, baselines=names)
    results = {r.cell.encoder: r for r in run}
    assert [results[name].resamples for name in names] == [0, 8, 8]
    retrained = read_resamples(run, results["nb-uni"])
    assert retrained.trained.shape == (8, N)
    assert retrained.folds.tolist() == run.predictions(run.results[0])["fold"].tolist()
    again = evaluate(Knowing(), dataset(), tmp_path, folds=5, baselines=names)
    assert [r.seconds for r in again] == [r.seconds for r in run]


def test_a_network_in_folds(tmp_path):
    run = evaluate(Knowing(), dataset(), tmp_path, probes="mlp?hidden=4", probe_seeds=[1, 2], folds=3, baselines=[])
    assert {r.resamples for r in run} == {6}
    assert run.model(run.results[0]).shape == (2, 3)
    assert difference_p(run, [run.results[0]], [run.results[1]]) > 0


def test_the_saved_probe_is_the_mean_of_linear_ones(tmp_path):
    encoder = Knowing(noise=0.5)
    run = evaluate(encoder, dataset(), tmp_path, **FOLDED)
    model = run.model(run.results[0])
    from sentprobe.probes import Features

    rows = run.rows(run.results[0])
    predicted = model.scores(Features.of(encoder([row.text for row in rows]))).argmax(axis=1)
    assert (predicted == run.predictions(run.results[0])["predicted"]).mean() > 0.9


def test_a_rare_label_is_a_miss_and_not_an_error(tmp_path):
    data = dataset(classes=2)
    rare = Example("c9", ("c9",), "c9 alone")
    data = Dataset(data.name, data.task, 1, "en", ("c0", "c1", "c9"), {**data.rows, "tr": [*data.rows["tr"], rare]})
    run = evaluate(Spotting(10), data, tmp_path, folds=5, baselines=["nb-uni", "majority"], controls="permuted")
    assert not run.failures
    result = run.results[0]
    assert run.correct(result).sum() == N
    assert result.n["te"] == N + 1
    assert run.rows(result)[120].label == "c9"


def test_jobs_and_order_of_encoders_do_not_matter(tmp_path):
    names = ["baseline:random?dim=16", "baseline:hash?dim=64"]
    one = evaluate(names, dataset(), tmp_path / "one", folds=4, baselines=["nb-uni"], jobs=1)
    two = evaluate(names[::-1], dataset(), tmp_path / "two", folds=4, baselines=["nb-uni"], jobs=2)
    assert same(one, two)


def test_the_same_command_resumes(tmp_path):
    names = ["baseline:random?dim=16", "baseline:hash?dim=64"]
    whole = evaluate(names, dataset(), tmp_path / "whole", **FOLDED)

    class Killed(BaseException):
        pass

    def kill(stage, done, total):
        if stage.startswith("cells: probing baseline:hash"):
            raise Killed

    with pytest.raises(Killed):
        evaluate(names, dataset(), tmp_path / "killed", **FOLDED, progress=kill)
    assert len(Run.load(tmp_path / "killed")) == 1
    seconds = Run.load(tmp_path / "killed").results[0].seconds
    resumed = evaluate(names, dataset(), tmp_path / "killed", **FOLDED)
    assert same(whole, resumed)
    assert resumed.results[0].seconds == seconds


def test_a_sample_in_folds(tmp_path):
    run = evaluate(Knowing(), dataset(), tmp_path, limit=30, **FOLDED)
    (result,) = run.results
    assert (result.n["te"], result.partial, len(run.rows(result))) == (90, True, 90)
    assert "|folds=5|limit=30|" in result.signature


def test_another_protocol_in_the_same_folder_is_refused(tmp_path):
    evaluate(Knowing(), dataset(), tmp_path, **FOLDED)
    with pytest.raises(
        UsageError, match=r"own/task in 5 folds; got on its test split\. Use --folds 5, or another folder"
    ):
        evaluate(Knowing(), dataset(), tmp_path, baselines=[], resample=0)


def test_runs_of_different_protocols_are_not_joined(tmp_path):
    folded = evaluate(Knowing(name="one"), dataset(), tmp_path / "one", **FOLDED)
    split = evaluate(Knowing(name="two"), dataset(), tmp_path / "two", baselines=[], resample=0)
    with pytest.raises(UsageError, match=r"own/task in 5 folds and .* has it on its test split"):
        join([folded, split])


def test_a_result_is_repeated_by_its_signature(tmp_path):
    file, lines = tmp_path / "parity.txt", []
    for i in range(100):
        split, label = "tr" if i < 60 else "va" if i < 80 else "te", "even" if i % 2 == 0 else "odd"
        lines.append(f"{split}\t{label}\t{WORDS[i // 12]} {WORDS[i % 12]}\n")
    file.write_text("".join(lines))
    run = evaluate("baseline:hash?dim=8", find_sets([file]), tmp_path / "run", folds=5, baselines=["nb-uni"],
                   controls="shuffled", resample=0)  # fmt: skip
    for result in (*run.results, *run.extras):
        assert Signature.parse(result.signature).folds == "5"
        assert repeat(result.signature, run=run).same


def test_folds_are_part_of_the_key_and_do_not_change_that_of_others():
    facts = {"task": "t", "version": 1, "dataset": "own/t", "data": "ab", "encoder": "static:", "probe": "linear"}
    keys = {Cell(**facts, folds=folds, **more).key for folds in (None, 5, 10) for more in
            ({}, {"variant": "key"}, {"variant": "key", "parts": "key.v2"})}  # fmt: skip
    assert len(keys) == 9
    assert Cell(**facts).key == "39690f9dbb9fb46b"  # as before there were folds


@pytest.mark.parametrize("folds", [1, -1, 2.5])
def test_invalid_numbers_of_folds(tmp_path, folds):
    with pytest.raises(UsageError, match="folds"):
        evaluate("static:", dataset(), tmp_path, folds=folds)


def test_a_group_of_rows_that_no_fold_trains_on_is_a_reason_not_to_retrain(tmp_path):
    # 22 target forms: two in a group, which may be in the test rows and the dev rows of one fold
    data = made(n=(66, 22, 44), keys=8)
    result = evaluate(Knowing(noise=1.0), data, tmp_path, baselines=[], folds=5).results[0]
    assert result.encoder_interval is None
    assert "too few target forms" in result.not_resampled
