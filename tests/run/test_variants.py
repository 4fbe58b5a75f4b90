"""Controls and measures as cells of the loop: plain cells do not change, and nothing is computed twice."""

import hashlib
from collections import Counter
from dataclasses import astuple, replace
from zlib import crc32

import msgspec
import numpy as np
import pytest

from sentprobe.data.dataset import Dataset
from sentprobe.data.splits import splits_of
from sentprobe.encoders import Identity
from sentprobe.encoders.store import Store
from sentprobe.errors import UsageError
from sentprobe.probes import Features, parse
from sentprobe.results.log import Log
from sentprobe.results.result import Cell, Signature
from sentprobe.run import Run, evaluate, join, variants
from sentprobe.run import encoder as encoder_module
from sentprobe.run import fit as fit_module
from sentprobe.run.control import CONTROLS
from sentprobe.run.fit import probe_cells
from sentprobe.run.job import FitJob, TextIndex, Vectors
from sentprobe.run.measure import MEASURES
from sentprobe.run.measures import measure_of
from sentprobe.run.resample import CHOSEN_ARRAY, RESAMPLED
from sentprobe.run.variants import Variants, select_variants, selectivity
from sentprobe.tasks.example import Example
from tests.run.sets import WORDS, dataset, same
from tests.run.test_transfer import alike, folded, pair_set

EVERY = {"controls": ["all"], "measures": ["all"], "baselines": ()}
SOME = {"controls": ["key", "norm", "permuted"], "measures": ["erasure", "capacity"], "baselines": ()}


def keyed(name="own/keyed", n=(240, 80, 120), classes=2, each=8):
    """Sentences of a label, a target form that says nothing of it, some words, and a number of their own."""
    rng, rows = np.random.default_rng(len(name)), {}
    for s, (split, many) in enumerate(zip(("tr", "va", "te"), n, strict=True)):
        rows[split] = []
        for i in range(many):
            label, form = f"c{i % classes}", f"f{s}x{i // each}"
            words = (label, form, *rng.choice(WORDS, size=rng.integers(3, 9)), f"{name}{s}x{i}")
            rows[split].append(Example(label, words, " ".join(words), key=form))
    return Dataset(name, name.split("/")[-1], 1, "en", tuple(f"c{i}" for i in range(classes)), rows, {})


class Reading:
    """An encoder that computes numbers from the words of a text, and remembers the texts it encoded."""

    def __init__(self, name, read):
        self.identity, self.read, self.encoded = Identity.of("py", name), read, []

    def __call__(self, texts):
        self.encoded += texts
        return np.array([self.read(text.split()) for text in texts], np.float32)


def noise(words, size):
    """Numbers that depend on which words there are, and not on their order."""
    return np.random.default_rng(crc32(" ".join(sorted(words)).encode())).normal(size=size)


def of_label(words):
    return [float(f"c{k}" in words) for k in range(3)]


def label(noisy=0.3):
    """An encoder of a noisy label and four random numbers."""

    def read(words):
        drawn = noise(words, 7)
        return [*(of_label(words) + noisy * drawn[:3]), *drawn[3:]]

    return Reading(f"label {noisy}", read)


def form():
    """An encoder that tells the target form, and nothing else."""
    return Reading("form", lambda words: np.eye(120)[sum(int(w[1]) * 40 + int(w[3:]) for w in words if w[:1] == "f")])


def named(run, encoder="k", dataset=None):
    """The controls and measures of an encoder on a set, by name."""
    found = [r for r in run.extras if r.cell.encoder == encoder and dataset in (None, r.cell.dataset)]
    assert len({r.cell.variant for r in found}) == len(found)
    return {r.cell.variant: r for r in found}


def facts(run):
    """All that does not depend on when a run was made, with controls and measures."""
    return {
        r.key: (r.cell, r.signature, r.score, dict(r.scores), r.range, r.n, dict(r.chosen), r.tried,
                {name: array.tobytes() for name, array in run.predictions(r).items()})
        for r in (*run.results, *run.extras)
    }  # fmt: skip


SETS = [keyed(), keyed("own/three", n=(210, 80, 96), classes=3)]
ERASED = {f"erased:{each.name}#{each.digest}" for each in SETS}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return evaluate({"k": label()}, SETS, tmp_path_factory.mktemp("whole") / "run", **EVERY)


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    return evaluate({"k": label()}, SETS, tmp_path_factory.mktemp("bare") / "run", baselines=())


# names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"controls": ["shufled"]}, r"no control 'shufled'\. Did you mean shuffled\? Expected one of key, .*, all\."),
        ({"controls": ["norm,,kye"]}, r"no control 'kye'\. Did you mean key\?"),
        ({"controls": ["online"]}, "no control 'online'"),
        ({"measures": ["onlin"]}, r"no measure 'onlin'\. Did you mean online\? Expected one of online, "),
        ({"measures": ["given:lenght"]}, r"no measure 'given:lenght'\. Did you mean given:length\?"),
        ({"measures": ["given:"]}, r"no measure 'given:'\..* Expected one of .*, given:ENCODER, all\."),
        ({"measures": ["given:sttaic:"]}, "no measure 'given:sttaic:'"),
    ],
)
def test_an_unknown_name_is_reported_before_anything_is_computed(tmp_path, options, message):
    encoder = label()
    with pytest.raises(UsageError, match=message):
        evaluate({"k": encoder}, SETS, tmp_path / "run", **options)
    assert encoder.encoded == []
    assert not (tmp_path / "run").exists()


def test_all_means_all_and_names_count_once():
    assert select_variants(["all"], ["all"]) == Variants(tuple(CONTROLS), tuple(MEASURES))
    assert select_variants(["norm,key", "norm"], ["given:static:", "given:words"]) == Variants(
        ("norm", "key"), ("given:static:", "given:words")
    )
    assert select_variants([], []) == Variants((), ())


# beside the plain results


def test_everything_that_was_requested_is_there(whole):
    assert whole.failures == ()
    for each in SETS:
        # there are no word inputs, no untrained counterpart and no layers
        expected = {*CONTROLS, *MEASURES, *ERASED} - {"words", "untrained", "mix", "erasure"}
        assert set(named(whole, dataset=each.name)) == expected
    assert {r.cell.variant for r in whole.results} == {None}
    assert {r.cell.probe for r in whole.extras} == {"linear"}


def test_plain_results_do_not_know_of_controls(whole, bare):
    assert bare.extras == ()
    assert len(bare) == len(whole) == 2
    assert same(bare, whole)
    assert [r.key for r in bare] == [r.key for r in whole]
    for one, two in zip(bare, whole, strict=True):
        assert np.array_equal(bare.model(one).weights, whole.model(two).weights)


def test_a_plain_key_is_what_it_was_before_there_were_variants():
    cell = Cell(
        task="subj_number", version=1, dataset="conneau2018/subj_number", data="0123456789abcdef", encoder="static:",
        identity="static:wordllama?dim=256", layer="3", probe="linear", seed=1111, limit=500, sentprobe="0.1.0",
    )  # fmt: skip
    # as the version of the commit 4d5a18a gives it, whose cells have no variant
    assert cell.key == "85b2de2dec865097"
    old = msgspec.json.encode(astuple(cell)[:-3])  # without variant, parts and folds
    assert cell.key == hashlib.blake2b(old, digest_size=8).hexdigest()
    assert len({cell.key, replace(cell, variant="key").key, replace(cell, variant="norm").key}) == 3


def test_signatures_of_variants_parse_back(whole):
    lines = [r.signature for r in whole.extras]
    assert len(set(lines)) == len(lines) == len({r.key for r in whole.extras})
    for r in whole.extras:
        parsed = Signature.parse(r.signature)
        assert (str(parsed), parsed.variant) == (r.signature, r.cell.variant)
    assert not any("variant=" in r.signature for r in whole)


def test_joined_runs_keep_both(whole, tmp_path):
    other = evaluate({"l": label(2.0)}, SETS[:1], tmp_path / "run", controls=["norm"], baselines=())
    joined = join([whole, other])
    assert {r.key for r in joined.results} == {r.key for run in (whole, other) for r in run.results}
    assert {r.key for r in joined.extras} == {r.key for run in (whole, other) for r in run.extras}
    (control,) = other.extras
    assert joined.folder_of(control) == other.folder
    assert np.array_equal(joined.predictions(control)["log2"], other.predictions(control)["log2"])


# nothing twice, nothing lost


def test_a_run_with_controls_resumes(whole):
    before = (whole.folder / "results.jsonl").read_bytes()
    encoder = label()
    again = evaluate({"k": encoder}, SETS, whole.folder, **EVERY)
    assert encoder.encoded == []
    assert (whole.folder / "results.jsonl").read_bytes() == before
    assert facts(again) == facts(whole)


def test_controls_of_a_finished_run_ask_for_new_texts_only(bare, whole, tmp_path):
    first = evaluate({"k": label()}, SETS[:1], tmp_path / "run", baselines=())
    encoder = label()
    run = evaluate({"k": encoder}, SETS[:1], tmp_path / "run", controls=["shuffled", "norm"], baselines=())
    assert set(encoder.encoded) == {row.text for _, row in SETS[0]}
    assert same(first, run)
    expected = facts(whole)
    assert {key: fact for key, fact in facts(run).items() if fact[0].variant} == {
        r.key: expected[r.key] for r in whole.extras
        if r.cell.variant in ("shuffled", "norm") and r.cell.dataset == SETS[0].name
    }  # fmt: skip


def twice(encoder):
    """How many texts an encoder encoded more than once."""
    return sum(times > 1 for times in Counter(encoder.encoded).values())


def test_texts_are_encoded_once(tmp_path):
    """Those of the sets and those that controls make, which sets may share: none of them twice, be there no store.

    Except for a few that are encoded again to see whether vectors depend on the batch.
    """
    shared = [keyed(), replace(keyed(), name="own/again", task="again"), keyed("own/three", classes=3)]
    controls = ["permuted", "permuted_test", "synthetic"]
    encoder = label()
    run = evaluate({"k": encoder}, shared, tmp_path / "run", controls=controls, measures=["erasure"], baselines=())
    assert run.failures == ()
    assert twice(encoder) <= 5
    # and once more where the plain results are there
    evaluate({"k": label()}, shared, tmp_path / "later", baselines=())
    encoder = label()
    later = evaluate({"k": encoder}, shared, tmp_path / "later", controls=controls, measures=["erasure"], baselines=())
    assert twice(encoder) <= 5
    assert facts(later) == facts(run)


def test_a_number_that_is_not_finite_is_a_failure_of_its_cell(tmp_path, monkeypatch):
    compute = MEASURES["capacity"].compute

    def infinite(job):
        return [(replace(result, score=float("inf")), *more) for result, *more in compute(job)]

    wrong = replace(MEASURES["capacity"], compute=infinite)
    monkeypatch.setattr(variants, "measure_of", lambda name: wrong if name == "capacity" else measure_of(name))
    run = evaluate(
        {"k": label()}, SETS[:1], tmp_path / "run", controls=["norm"], measures=["capacity", "inlp"], baselines=()
    )
    (failure,) = run.failures
    assert (failure.cell.variant, failure.kind) == ("capacity", "DataError")
    assert "not finite" in failure.error
    assert len(run) == 1
    assert {r.cell.variant for r in Run.load(tmp_path / "run").extras} == {"norm", "inlp"}


def test_killed_between_cells_nothing_is_lost(whole, tmp_path, monkeypatch):
    add, left = Log.add, 0

    def sometimes(self, *record):
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        add(self, *record)

    monkeypatch.setattr(Log, "add", sometimes)
    done = 0
    for cells in (1, 3, 4, 0):  # after the first plain result, and thrice among the others
        left, done = cells, done + cells
        with pytest.raises(KeyboardInterrupt):
            evaluate({"k": label()}, SETS, tmp_path / "run", **SOME)
        there = Run.load(tmp_path / "run")
        assert len(there.results) + len(there.extras) == done
    monkeypatch.undo()
    run = evaluate({"k": label()}, SETS, tmp_path / "run", **SOME)
    assert {r.cell.variant for r in run.extras} == {"key", "norm", "permuted", "capacity", *ERASED}
    assert facts(run).items() <= facts(whole).items()


def test_the_number_of_jobs_does_not_matter(whole, tmp_path):
    run = evaluate({"k": label()}, SETS, tmp_path / "run", jobs=3, **SOME)
    assert facts(run).items() <= facts(whole).items()
    done = {r.key for r in run.extras}
    assert [r.key for r in run.extras] == [r.key for r in whole.extras if r.key in done]


def test_a_control_whose_predictions_are_lost_is_computed_again(tmp_path):
    options = {"controls": ["norm", "shuffled"], "baselines": ()}
    run = evaluate({"k": label()}, SETS[:1], tmp_path / "run", **options)
    path = run.folder / "predictions" / f"{named(run)['norm'].key}.npz"
    path.unlink()
    again = evaluate({"k": label()}, SETS[:1], tmp_path / "run", **options)
    assert path.exists()
    assert facts(again) == facts(run)


def test_a_set_with_too_few_rows_for_a_control_is_a_failure_and_the_others_go_on(tmp_path):
    plain = dataset(n=(60, 20, 30))
    rows = {s: [r._replace(text=f"{r.label}x{s}{i} y{s}{i}") for i, r in enumerate(f)] for s, f in plain.rows.items()}
    few = replace(plain, rows=rows)
    encoder = Reading("first letters", lambda words: [words[0][:2] == "c1", words[-1][:2] == "c1", len(words)])
    run = evaluate(
        {"k": encoder}, [few, SETS[0]], tmp_path / "run", controls=["key", "norm"], measures=["online"], baselines=()
    )
    assert {(f.cell.variant, f.cell.encoder, f.kind) for f in run.failures} == {
        ("key", "", "TooFewError"), ("online", "k", "TooFewError"),  # of the set, and of one encoder on it
    }  # fmt: skip
    assert {f.cell.dataset for f in run.failures} == {"own/task"}
    assert any("The key control needs more rows" in f.error for f in run.failures)
    assert [r.score for r in run if r.cell.dataset == "own/task"] == [1.0]
    assert set(named(run, dataset="own/task")) == {"norm"}
    assert set(named(run, dataset="own/keyed")) == {"key", "norm", "online"}


def test_an_encoder_that_knows_no_other_texts_keeps_its_plain_results(tmp_path):
    known = {row.text for _, row in SETS[0]}

    def read(words):
        if " ".join(words) not in known:
            raise KeyError(" ".join(words))
        return of_label(words)

    run = evaluate(
        {"k": Reading("known", read)}, SETS[:1], tmp_path / "run", controls=["norm", "permuted"], baselines=()
    )
    assert [r.score for r in run] == [1.0]
    assert set(named(run)) == {"norm"}
    assert {f.cell.variant for f in run.failures} == {"permuted"}


def test_erasures_of_a_set_can_be_had_again_alone(tmp_path):
    run = evaluate({"k": label()}, SETS, tmp_path / "run", measures=["erasure"], baselines=())
    for r in named(run, dataset=SETS[0].name).values():
        (run.folder / "predictions" / f"{r.key}.npz").unlink()
    again = evaluate({"k": label()}, SETS, tmp_path / "run", measures=["erasure"], baselines=())
    assert again.failures == ()
    assert facts(again) == facts(Run.load(run.folder))


def test_two_states_of_a_set_are_erased_from_each_other(tmp_path):
    """Only what erases the labels of the very same rows is checked by giving them back."""
    sets = [keyed("own/twice", n=(120, 40, 40)), keyed("own/twice", n=(120, 40, 48))]
    run = evaluate({"k": label()}, sets, tmp_path / "run", measures=["erasure"], baselines=())
    found = {(r.cell.data, r.cell.variant.rpartition("#")[2]): "reinjected" in r.scores for r in run.extras}
    one, two = (each.digest for each in sets)
    assert found == {(one, one): True, (one, two): False, (two, one): False, (two, two): True}


def test_a_given_encoder_that_fails_is_a_failure_of_its_measure(tmp_path):
    run = evaluate(
        {"k": label()}, SETS[:1], tmp_path / "run", measures=["given:baseline:lenght", "capacity"], baselines=()
    )
    assert set(named(run)) == {"capacity"}
    assert [(f.cell.variant, f.kind) for f in run.failures] == [("given:baseline:lenght", "UsageError")]


def test_a_given_encoder_must_have_one_layer(tmp_path, monkeypatch):
    class Layered(Reading):
        layers = ("low", "high")

        def __call__(self, texts):
            return np.stack([super().__call__(texts)] * 2)

    def load(name):
        return Layered("layered", of_label)

    monkeypatch.setattr(variants, "load", load)
    monkeypatch.setattr(encoder_module, "load", load)
    run = evaluate({"k": label()}, SETS[:1], tmp_path / "run", measures=["given:py:layered", "capacity"], baselines=())
    (failure,) = run.failures
    assert failure.cell.variant == "given:py:layered"
    assert "to have one layer, got low, high; choose one, as in layer=high" in failure.error
    assert {r.cell.variant for r in run.extras} == {"capacity"}


def test_every_measure_says_what_its_probes_were_trained_on(tmp_path):
    """A set without train is learned from dev, of which a part is held out."""
    given = keyed("own/held", n=(0, 240, 60))
    measures = ["online", "learning", "given:length", "capacity", "erasure", "inlp"]
    run = evaluate({"k": label()}, [given], tmp_path / "run", measures=measures, baselines=())
    assert run.failures == ()
    (plain,) = run
    assert (plain.trained_on, plain.chosen_on) == ("va", "15% of va")
    found = {r.cell.variant: (r.trained_on, r.chosen_on, r.n, r.labels, r.language) for r in run.extras}
    assert len(found) == len(measures)
    assert found == dict.fromkeys(found, ("va", "15% of va", plain.n, plain.labels, "en"))


def test_vectors_of_a_given_encoder_are_taken_from_the_store(tmp_path, monkeypatch):
    given = Reading("given", of_label)
    monkeypatch.setattr(variants, "load", lambda name: given)
    monkeypatch.setattr(encoder_module, "load", lambda name: given)
    more = {"measures": ["given:py:given"], "baselines": (), "store": Store(tmp_path / "store")}
    one = evaluate({"k": label()}, SETS[:1], tmp_path / "one", **more)
    assert sorted(given.encoded) == sorted({row.text for rows in SETS[0].rows.values() for row in rows})
    given.encoded.clear()
    assert facts(evaluate({"k": label()}, SETS[:1], tmp_path / "two", **more)) == facts(one)
    assert given.encoded == []


def test_a_failure_of_a_sample_is_retracted_by_the_same_sample(tmp_path):
    for limit in (6, None, 6):
        run = evaluate({"k": label()}, SETS[:1], tmp_path / "run", controls=["key"], limit=limit, baselines=())
        assert [(f.cell.variant, f.cell.limit, f.kind) for f in run.failures] == (
            [("key", 6, "TooFewError")] if limit else []  # which the second command did not ask for
        )
    assert [r.cell.limit for r in run.extras] == [None]
    evaluate({"k": label()}, SETS[:1], tmp_path / "other", controls=["key"], limit=40, baselines=())
    assert Run.load(tmp_path / "other").failures == ()


def test_labels_that_are_not_in_train_do_not_end_a_run(tmp_path):
    given = SETS[0]
    rows = {**given.rows, "te": [r._replace(label="zz") for r in given.rows["te"]]}
    run = evaluate({"k": label()}, [replace(given, rows=rows)], tmp_path / "run", baselines=())
    (r,) = run
    assert (r.score, run.failures) == (0.0, ())
    assert "information" not in r.scores


# what each control gives where the answer is known


def numbers(nouns=(120, 40, 60), each=6):
    """Singular and plural nouns, kept apart between splits as in subj_number: the noun tells the label."""
    rng, rows = np.random.default_rng(11), {}
    for s, (split, many) in enumerate(zip(("tr", "va", "te"), nouns, strict=True)):
        rows[split] = []
        for i in range(many * each):
            n = i % many
            label, noun = f"c{n % 2}", f"f{s}x{n}"
            words = (label, noun, *rng.choice(WORDS, size=rng.integers(3, 9)), f"{s}x{i}")
            rows[split].append(Example(label, words, " ".join(words), key=noun))
    return Dataset("own/number", "number", 1, "en", ("c0", "c1"), rows, {})


def noun_of(words):
    """Of 360 places, that of the noun."""
    (noun,) = [w for w in words if w[:1] == "f"]
    return np.eye(360)[120 * int(noun[1]) + int(noun[3:])]


def number_of(words):
    """The number, wrong for one row of 25."""
    plural = "c1" in words
    return [float(plural != (noise(words, 1)[0] > 1.75))]  # of a normal variable, 4.0 % are above


def test_selectivity_compares_task_and_control_on_the_same_rows(tmp_path):
    """The score is on nouns that train lacks, and the control on nouns that it has: their difference says nothing."""
    encoders = {
        "number": Reading("number", number_of),
        "noun": Reading("noun", noun_of),
        "both": Reading("both", lambda words: [*(3 * np.array(number_of(words))), *noun_of(words)]),
    }
    run = evaluate(encoders, [numbers()], tmp_path / "run", controls=["key"], baselines=())
    assert run.failures == ()
    plain = {r.cell.encoder: r for r in run}
    found = {r.cell.encoder: r for r in run.extras}
    for r in found.values():
        kept = run.predictions(r)
        assert r.scores["control"] == r.score == np.mean(kept["predicted"] == kept["truth"])
        assert r.scores["task"] == np.mean(kept["task_predicted"] == kept["task_truth"])
        parsed = selectivity(
            kept["task_predicted"] == kept["task_truth"], kept["predicted"] == kept["truth"], kept["keys"].tolist()
        )
        assert r.scores["selectivity"] == parsed.value == pytest.approx(r.scores["task"] - r.score)
        assert (r.scores["selectivity_low"], r.scores["selectivity_high"]) == (parsed.low, parsed.high)
    # an encoder that knows the number of unseen nouns, but no noun
    assert plain["number"].score == pytest.approx(0.96, abs=0.03)
    assert found["number"].scores["task"] == pytest.approx(0.96, abs=0.03)
    assert found["number"].score == pytest.approx(0.5, abs=0.12)
    assert found["number"].scores["selectivity"] == pytest.approx(0.46, abs=0.13)
    assert found["number"].scores["selectivity_low"] > 0.25
    # an encoder that knows only nouns knows the number of seen ones, and any other label of theirs
    assert plain["noun"].score < 0.6
    assert found["noun"].scores["task"] == found["noun"].score == 1.0
    assert found["noun"].scores["selectivity"] == 0
    # what knows both is not below 0, as the score of unknown nouns minus the control would be
    assert plain["both"].score < found["both"].score == 1.0
    assert -0.01 <= found["both"].scores["selectivity"] <= 0.01


def test_task_and_control_have_the_same_probe(tmp_path):
    """Where there is no plain result to take the settings from, they are chosen for the task, and kept."""
    parts = replace(CONTROLS["key"].splits(splits_of(numbers()), 1111), variant="key")
    texts = parts.texts()
    table = np.array([[*number_of(t.split()), *noun_of(t.split())] for t in texts], np.float32)
    cell = Cell(task="number", version=1, dataset="own/number", data="0", encoder="k", probe="linear", variant="key")
    job = FitJob(parts, [cell], parse("linear")[1], Vectors([(table, TextIndex(texts))]), {}, 0.0)
    ((result, arrays, _),) = variants.compute_cells(job)
    ((task, *_),) = probe_cells(replace(job, splits=replace(parts.same_rows, variant=None)))
    assert len(task.tried) == 6
    assert (result.chosen, len(result.tried)) == (task.chosen, 1)
    assert result.scores["task"] == task.score
    assert {len(arrays[name]) for name in ("predicted", "task_predicted", "task_truth", "keys")} == {result.n["te"]}


def test_a_bag_of_words_loses_nothing_when_words_change_places(whole):
    for plain in whole:
        before = whole.predictions(plain)
        for name in ("permuted", "permuted_test"):
            control = named(whole, dataset=plain.cell.dataset)[name]
            assert (control.score, control.scores, control.range) == (plain.score, plain.scores, plain.range)
            after = whole.predictions(control)
            plain_ones = {
                k: v.tobytes() for k, v in before.items() if k not in (RESAMPLED, CHOSEN_ARRAY)
            }  # controls are not resampled
            assert {k: v.tobytes() for k, v in after.items()} == plain_ones


def test_a_probe_is_fitted_again_only_if_train_or_dev_have_other_vectors(tmp_path, monkeypatch):
    def first(words):  # of the place of the label, so that order matters
        return [float(words[0] == "c0"), float(words[0] == "c1"), *noise(words, 3)]

    fitted, original = [], fit_module.fit

    def counted(probe, train, *rest, **more):
        fitted.append(len(train))
        return original(probe, train, *rest, **more)

    monkeypatch.setattr(fit_module, "fit", counted)
    encoders = {"bag": label(), "order": Reading("first", first)}
    run = evaluate(encoders["bag"], SETS[:1], tmp_path / "bag", controls=["permuted"], baselines=(), resample=0)
    assert fitted == [240]
    evaluate(encoders["order"], SETS[:1], tmp_path / "order", controls=["permuted"], baselines=(), resample=0)
    assert fitted == [240] * 3
    # without the probe there is one to be trained, and all of it is the same
    ((plain,), (control,)), before = (run.results, run.extras), facts(run)
    for path in (tmp_path / "bag" / "probes").iterdir():
        path.unlink()
    (tmp_path / "bag" / "predictions" / f"{control.key}.npz").unlink()
    again = evaluate(encoders["bag"], SETS[:1], tmp_path / "bag", controls=["permuted"], baselines=(), resample=0)
    assert len(fitted) > 3
    assert (control.tried, control.chosen) == (plain.tried, plain.chosen)
    assert facts(again) == before


def test_what_is_shuffled_and_what_is_random_is_at_chance(whole):
    for each in SETS:
        found = named(whole, dataset=each.name)
        for name in ("shuffled", "gaussian"):
            low, high = found[name].range
            assert low <= 1 / len(each.labels) <= high, (name, found[name].score)
        assert found["shuffled"].score < next(r.score for r in whole if r.cell.dataset == each.name) - 0.2


def test_memorising_is_tested_on_the_training_rows(whole):
    for each in SETS:
        r = named(whole, dataset=each.name)["memorise"]
        train = len(each.rows["tr"])
        assert r.n == {"tr": train, "va": train, "te": train}
        assert (r.trained_on, r.chosen_on) == ("tr", "tr")
        assert 1 / len(each.labels) < r.score < 0.75  # seven numbers are no memory


def test_norm_and_direction_tell_what_they_have(tmp_path):
    def far(words):  # the label is in the norm, and the form in the direction
        return (1 + 2 * ("c1" in words)) * np.eye(120)[sum(int(w[1]) * 40 + int(w[3:]) for w in words if w[:1] == "f")]

    run = evaluate({"k": Reading("far", far)}, SETS[:1], tmp_path / "run", controls=["norm", "direction"], baselines=())
    found = named(run)
    assert found["norm"].score == 1.0
    assert found["direction"].score == 0.5  # forms of test rows are not in train
    assert (found["norm"].dimension, found["direction"].dimension) == (1, 120)


def test_a_hidden_layer_as_wide_as_the_vectors_stays_so_for_their_norm(tmp_path):
    """Adi's probe would have one job, most of the time dropped, and find nothing in a number that tells all."""

    def read(words):
        return 10.0 ** of_label(words)[0] * noise(words, 6) / np.linalg.norm(noise(words, 6))

    run = evaluate(
        {"k": Reading("norm", read)}, SETS[:1], tmp_path / "run", probes=["adi2017"], controls=["norm"], baselines=()
    )
    assert named(run)["norm"].score > 0.9


def test_random_words_leave_the_length_alone(tmp_path):
    given = keyed("own/long")
    longer = {
        s: [r._replace(label=f"c{len(r.tokens) > 7:d}") for r in rows] for s, rows in given.rows.items()
    }  # fmt: skip
    encoders = {"length": Reading("length", lambda words: [len(words)]), "label": label(0.0)}
    run = evaluate(encoders, [given, replace(given, name="own/longer", task="longer", rows=longer)], tmp_path / "run",
                   controls=["synthetic"], baselines=())  # fmt: skip
    assert named(run, "length", "own/longer")["synthetic"].score == 1.0
    low, high = named(run, "label", "own/long")["synthetic"].range
    assert low <= 0.5 <= high


def test_word_inputs_keep_their_vectors(tmp_path):
    given = keyed("own/beside")
    rows = {
        s: [r._replace(extra=(("word", f"w{i % 2 if i % 10 else 1 - i % 2}"),)) for i, r in enumerate(found)]
        for s, found in given.rows.items()
    }  # the word is right about the label nine times out of ten

    class Two(Reading):
        def words(self, words):
            return np.eye(2)[[int(word[1]) for word in words]]

    def two():
        return Two("two", lambda words: [*of_label(words), 1.0])

    with_words = replace(given, rows=rows, manifest={"inputs": ["word"]})
    run = evaluate(
        {"k": two()}, [with_words], tmp_path / "run", controls=["words", "gaussian"], measures=["all"], baselines=()
    )
    (plain,) = run
    found = named(run)
    assert (plain.score, plain.dimension) == (1.0, 6)
    assert (found["words"].score, found["words"].dimension) == (0.9, 2)
    assert found["gaussian"].dimension == 6
    assert 0.8 <= found["gaussian"].score <= 0.9
    assert set(found) == {
        "words",
        "norms",
        "gaussian",
        "online",
        "learning",
        "hidden",
    }  # the other measures are about sentences alone
    without = Reading("two", lambda words: [*of_label(words), *(f"w{k}" in words for k in range(2))])
    run = evaluate({"k": without}, [with_words], tmp_path / "own", controls=["words"], baselines=())
    assert (named(run)["words"].score, named(run)["words"].dimension) == (0.9, 5)


def test_the_untrained_counterpart_has_the_name_of_the_encoder(tmp_path, monkeypatch):
    def counterpart(name, seed):
        return f"baseline:random?dim=8&seed={seed}" if name.startswith("baseline:hash") else None

    monkeypatch.setattr("sentprobe.run.loop.untrained", counterpart)
    names = ["baseline:hash?dim=64", "baseline:length"]
    run = evaluate(names, SETS[:1], tmp_path / "run", controls=["untrained"], probe_seeds=[7], baselines=())
    (r,) = run.extras
    plain = next(p for p in run if p.cell.encoder == names[0])
    assert (r.cell.encoder, r.cell.variant, r.dimension, plain.dimension) == (names[0], "untrained", 8, 64)
    assert r.cell.id != plain.cell.id
    assert "seed=7" in r.cell.identity
    assert 0.3 < r.score < 0.7
    before = (run.folder / "results.jsonl").read_bytes()
    evaluate(names, SETS[:1], tmp_path / "run", controls=["untrained"], probe_seeds=[7], baselines=())
    assert (run.folder / "results.jsonl").read_bytes() == before


# other probes, seeds, layers and protocols


def test_controls_are_of_every_probe_and_measures_of_the_linear_one_at_the_first_seed(tmp_path):
    quick = "senteval?passes=4"
    run = evaluate(
        {"k": label()}, SETS[:1], tmp_path / "run", probes=["linear", quick], probe_seeds=[5, 6], controls=["norm"],
        measures=["capacity"], baselines=(),
    )  # fmt: skip
    assert len(run) == 4
    assert [(r.cell.variant, r.cell.probe, r.cell.seed) for r in run.extras] == [
        ("capacity", "linear", 5), ("norm", "linear", 5), ("norm", quick, 5),
    ]  # fmt: skip


@pytest.mark.parametrize("probe", ["linear", "senteval?passes=4&hidden=0,3"])
def test_a_control_of_the_probe_takes_it_as_it_was_used(tmp_path, probe):
    """One that asks what the probe can learn has the plain one's settings; one about the vectors chooses its own."""
    controls = ["key", "shuffled", "memorise", "gaussian", "permuted", "direction"]
    run = evaluate({"k": label()}, SETS[:1], tmp_path / "run", probes=[probe], controls=controls, baselines=())
    (plain,), found = run.results, named(run)
    assert len(plain.tried) > 1
    for name in ("key", "shuffled", "memorise", "gaussian"):
        assert found[name].chosen.items() <= plain.chosen.items()
        assert (found[name].chosen["l2"], len(found[name].tried)) == (plain.chosen["l2"], 1)
    for name in ("permuted", "direction"):
        assert len(found[name].tried) == len(plain.tried)


@pytest.mark.parametrize("probe", ["linear", "senteval?passes=40&rate=0.05"])
def test_permuted_tests_are_put_to_the_plain_probe(tmp_path, monkeypatch, probe):
    def read(words):  # of the place of the label, so that order matters
        return [float(words[0] == "c0"), float(words[0] == "c1"), *noise(words, 3)]

    run = evaluate(
        {"k": Reading("first", read)},
        SETS[:1],
        tmp_path / "run",
        probes=[probe],
        controls=["permuted_test"],
        baselines=(),
    )
    (plain,), control = run.results, named(run)["permuted_test"]
    made = CONTROLS["permuted_test"].splits(splits_of(SETS[0]), plain.cell.seed)
    vectors = np.array([read(text.split()) for text in made.test.texts], np.float32)
    predicted = run.model(plain).scores(Features.of(vectors)).argmax(axis=1)
    assert np.array_equal(run.predictions(control)["predicted"], predicted)
    assert control.score < plain.score - 0.2
    assert (control.chosen, control.dev_score, control.tried) == (plain.chosen, plain.dev_score, plain.tried)
    # without the probe there is one to be trained, and it is the same
    for path in (tmp_path / "run" / "probes").iterdir():
        path.unlink()
    (tmp_path / "run" / "predictions" / f"{control.key}.npz").unlink()
    again = evaluate(
        {"k": Reading("first", read)},
        SETS[:1],
        tmp_path / "run",
        probes=[probe],
        controls=["permuted_test"],
        baselines=(),
    )
    assert named(again)["permuted_test"].score == control.score


def test_controls_are_of_every_layer(tmp_path):
    class Layered(Reading):
        layers = ("low", "high")

        def __call__(self, texts):
            good = super().__call__(texts)
            return np.stack([np.zeros_like(good), good])

    encoder = Layered("layered", of_label)
    run = evaluate({"k": encoder}, SETS[:1], tmp_path / "run", controls=["norm", "direction"], baselines=())
    by = {(r.cell.variant, r.cell.layer): r.score for r in run.extras}
    assert set(by) == {(name, layer) for name in ("norm", "direction") for layer in ("low", "high")}
    assert (by["direction", "low"], by["direction", "high"]) == (0.5, 1.0)


def test_pairs_without_spaces_are_not_words(tmp_path):
    """Chinese has none: the second of two sentences is a sentence all the same, and cosines have no use for norms."""
    given = pair_set("STS12", "similarity", alike, (0, 0, 60))
    assert not any(" " in row.text for _, row in given)
    assert not splits_of(given).words
    run = evaluate(
        {"k": Reading("ab", lambda words: [words[0].count("a"), words[0].count("b"), 1.0])}, [given], tmp_path / "run",
        controls=["norm", "words", "direction"], baselines=(),
    )  # fmt: skip
    assert run.failures == ()
    assert {r.cell.variant for r in run.extras} == {"direction"}


def test_other_protocols_get_the_controls_that_fit(tmp_path):
    def read(words):  # labels of folds, and the a's and b's of pairs
        text = " ".join(words)
        return [text.startswith("c1"), text.startswith("c0"), text.count("a"), text.count("b"), 1.0]

    sets = [folded("MR", "nested"), pair_set("STS12", "similarity", alike, (0, 0, 60))]
    run = evaluate(
        {"k": Reading("both", read)}, sets, tmp_path / "run", probes=["linear?l2=0.01"],
        controls=["key", "shuffled", "memorise", "direction", "permuted_test"], measures=["all"], baselines=(),
    )  # fmt: skip
    # these pairs have no words that could change places, and in nested folds no row is there to be tested on only
    assert [(f.cell.dataset, f.cell.variant) for f in run.failures] == [("STS12", "permuted_test")]
    folds, pairs = (named(run, dataset=each.name) for each in sets)
    assert (set(folds), folds["direction"].interval_kind) == ({"direction"}, "nadeau-bengio")
    # cosines do not know of norms; the second sentence of a pair is one, be there spaces or not
    assert pairs["direction"].metric == "spearman"
    assert pairs["direction"].score == pytest.approx(next(r for r in run if r.cell.task == "STS12").score, abs=1e-3)
