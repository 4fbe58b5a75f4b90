"""The loop: nothing twice, nothing lost, failures written down, and the same numbers whatever the number of jobs."""

import os
import signal
import time
import weakref
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sentprobe.encoders import Identity
from sentprobe.encoders.diagnosis import REENCODED_TEXTS
from sentprobe.encoders.store import Store
from sentprobe.errors import EncoderError, UsageError
from sentprobe.run import Run, evaluate, inputs, variants
from sentprobe.run import encoder as encoder_module
from tests.run.sets import Knowing, dataset, same

MLP = "mlp?hidden=50&dropout=0&l2=0&rate=0.02&patience=50&passes=60"


def only(run, encoder):
    return [r for r in run if r.cell.encoder == encoder]


def test_an_encoder_that_knows_the_label_is_always_right(tmp_path):
    run = evaluate({"knowing": Knowing(5)}, [dataset(classes=5)], tmp_path / "run", probes=["linear", "mlp?rate=0.1"])
    assert [(r.cell.probe, r.accuracy) for r in only(run, "knowing")] == [("linear", 1.0), ("mlp?rate=0.1", 1.0)]
    assert [r.accuracy for r in only(run, "majority")] == [0.2]


def test_random_vectors_and_shuffled_labels_are_at_chance(tmp_path):
    given = dataset(n=(600, 200, 400))
    rng = np.random.default_rng(0)
    shuffled = {s: [r._replace(label=f"c{rng.integers(2)}") for r in rows] for s, rows in given.rows.items()}
    run = evaluate(
        {"knowing": Knowing(), "random": lambda texts: np.random.default_rng(1).standard_normal((len(texts), 64))},
        [given, replace(given, name="own/shuffled", task="shuffled", rows=shuffled)],
        tmp_path / "run",
    )
    by = {(r.cell.encoder, r.cell.dataset): r for r in run}
    for cell in (("random", "own/task"), ("random", "own/shuffled"), ("knowing", "own/shuffled"),
                 ("baseline:random", "own/task")):  # fmt: skip
        low, high = by[cell].range
        assert low <= 0.5 <= high, (cell, by[cell].accuracy)
        assert by[cell].log2_loss > 0.9  # no probabilities are better than a coin's
    assert by["knowing", "own/task"].accuracy == 1.0


def test_nothing_is_computed_twice(tmp_path):
    encoder, sets = Knowing(noise=1.0), [dataset(), dataset("own/other", classes=3)]
    sets[1] = replace(sets[1], rows={s: [r._replace(label=r.label) for r in rows] for s, rows in sets[1].rows.items()})
    first = evaluate({"k": Knowing(3, noise=1.0)}, sets[:1], tmp_path / "run")
    before = (tmp_path / "run" / "results.jsonl").read_bytes()
    again = evaluate({"k": Knowing(3, noise=1.0)}, sets[:1], tmp_path / "run")
    assert (tmp_path / "run" / "results.jsonl").read_bytes() == before
    assert same(first, again)
    encoder = Knowing(3, noise=1.0)
    both = evaluate({"k": encoder}, sets, tmp_path / "run")
    assert set(encoder.encoded) == {row.text for _, row in sets[1]}  # the first set is done
    assert len(both) == 2 * len(first)
    assert same(both, evaluate({"k": Knowing(3, noise=1.0)}, sets, tmp_path / "at once"))


def test_an_encoder_without_identity_is_called_again(tmp_path):
    evaluate({"f": lambda texts: np.zeros((len(texts), 2))}, [dataset()], tmp_path / "run")
    run = evaluate({"f": Knowing().__call__}, [dataset()], tmp_path / "run")
    assert [r.accuracy for r in only(run, "f")] == [1.0]


def test_texts_are_encoded_once_over_all_sets_and_kept(tmp_path):
    encoder, store = Knowing(), Store(tmp_path / "store")
    evaluate({"k": encoder}, [dataset(), dataset("own/twin")], tmp_path / "run", store=store)
    texts = {row.text for _, row in dataset()}
    assert sorted(encoder.encoded[: len(texts)]) == sorted(texts)
    # to see whether a vector depends on its batch, a handful of them: twice, alone, and in another order
    assert set(Counter(encoder.encoded[len(texts) :]).values()) == {4}
    assert len(encoder.encoded) == len(texts) + 4 * REENCODED_TEXTS
    again = Knowing()
    run = evaluate({"k": again}, [dataset()], tmp_path / "elsewhere", store=store)
    assert again.encoded == []
    assert only(run, "k")[0].seconds["encode"] == 0


@pytest.mark.parametrize("probe", ["linear", "senteval", "mlp?hidden=8&dropout=0,0.5&passes=8"])
def test_the_number_of_jobs_does_not_matter(tmp_path, probe):
    sets = [dataset(f"own/{i}", n=(100 + i, 40, 60)) for i in range(4)]
    one, two = (
        evaluate({"k": Knowing(noise=1.0)}, sets, tmp_path / str(jobs), probes=[probe], probe_seeds=(1, 2), jobs=jobs)
        for jobs in (1, 3)
    )
    assert one.failures == two.failures == ()
    assert same(one, two)
    assert [r.key for r in one] == [r.key for r in two]
    assert len(only(one, "k")) == 8


def test_what_fails_is_written_down_and_the_rest_goes_on(tmp_path):
    def broken(texts):
        raise ValueError("no such word")

    bad = replace(dataset("own/untested"), rows={**dataset().rows, "te": []})
    run = evaluate({"broken": broken, "k": Knowing()}, [bad, dataset()], tmp_path / "run")
    assert only(run, "k")[0].accuracy == 1.0
    errors = {f.cell.encoder or f.cell.dataset: (f.kind, f.error) for f in run.failures}
    assert errors["own/untested"][0] == "DataError"
    assert errors["broken"][0] == "EncoderError"
    assert "no such word" in errors["broken"][1]
    mended = evaluate({"broken": Knowing(name="mended")}, [dataset("own/untested"), dataset()], tmp_path / "run")
    assert mended.failures == ()
    assert [r.accuracy for r in only(mended, "broken")] == [1.0, 1.0]


def test_a_probe_that_fails_does_not_end_the_run(tmp_path, monkeypatch):
    fit = variants.probe_cells

    def sometimes(job):
        if job.splits.name == "own/hard":
            raise MemoryError("8 GiB")
        return fit(job)

    monkeypatch.setattr(variants, "probe_cells", sometimes)
    run = evaluate({"k": Knowing()}, [dataset("own/hard"), dataset("own/easy", n=(121, 40, 60))], tmp_path / "run")
    assert [(r.cell.dataset) for r in only(run, "k")] == ["own/easy"]
    assert {(f.kind, f.cell.dataset) for f in run.failures} == {("MemoryError", "own/hard")}
    monkeypatch.undo()
    assert evaluate({"k": Knowing()}, [dataset("own/hard")], tmp_path / "run").failures == ()


def test_an_interrupted_encoder_loses_nothing(tmp_path):
    class Slow(Knowing):
        batch_size = 10

        def __call__(self, texts):
            if len(self.encoded) >= 100:
                raise KeyboardInterrupt
            return super().__call__(texts)

    store, first = Store(tmp_path / "store"), Slow()
    with pytest.raises(KeyboardInterrupt):
        evaluate({"k": first}, [dataset()], tmp_path / "run", store=store)
    assert len(Run.load(tmp_path / "run")) == 4  # the baselines
    second = Knowing()
    evaluate({"k": second}, [dataset()], tmp_path / "run", store=store)
    assert set(second.encoded[: 220 - len(first.encoded)]).isdisjoint(first.encoded)
    assert len(second.encoded) + len(first.encoded) == 220 + 4 * REENCODED_TEXTS  # which are looked at once more


def test_layers_are_cells_of_their_own(tmp_path):
    class Layered(Knowing):
        layers = ("0", "1", "10")

        def __call__(self, texts):
            good = super().__call__(texts)
            return np.stack([np.zeros_like(good), good, good])

    run = evaluate({"layered": Layered()}, [dataset()], tmp_path / "run")
    found = only(run, "layered")
    assert [(r.cell.layer, r.accuracy) for r in found] == [("0", 0.5), ("1", 1.0), ("10", 1.0)]
    assert len({r.key for r in found}) == 3


def test_an_array_of_unnamed_layers(tmp_path):
    run = evaluate({"two": lambda texts: np.stack([Knowing()(texts)] * 2)}, [dataset()], tmp_path / "run")
    assert [r.cell.layer for r in only(run, "two")] == ["0", "1"]


def test_words_have_the_encoders_own_vectors(tmp_path):
    """Whether a word is in a sentence, to be read from a bag of one-hot words and the word's own vector."""
    rng, names = np.random.default_rng(0), [chr(97 + i) for i in range(12)]
    row = dataset().rows["tr"][0]

    def rows(n):
        found = []
        for i in range(n):
            words = rng.choice(names, size=3, replace=False)
            word = words[0] if i % 2 else rng.choice([w for w in names if w not in words])
            found.append(replace_row(f"{i} {' '.join(words)}", str(i % 2), word))
        return found

    def replace_row(text, label, word):
        return row._replace(text=text, tokens=tuple(text.split()), label=label, extra=(("word", str(word)),))

    class Bag:
        identity = Identity.of("py", "bag")

        def __call__(self, texts):
            return np.array([[float(name in text.split()) for name in names] for text in texts])

        def words(self, words):
            self.given = words
            return np.eye(len(names))[[names.index(w) for w in words]]

    given = replace(
        dataset("adi2017/word_presence"), labels=("0", "1"), manifest={"inputs": ["word"]},
        rows={"tr": rows(800), "va": rows(200), "te": rows(300)},
    )  # fmt: skip
    bag = Bag()
    run = evaluate({"bag": bag}, [given], tmp_path / "run", probes=["linear", MLP], baselines=(), resample=0)
    linear, mlp = only(run, "bag")
    assert sorted(bag.given) == names
    assert linear.dimension == mlp.dimension == 24
    assert linear.accuracy < 0.65  # an exclusive or is no matter for a line
    assert mlp.accuracy > 0.9


def test_partial_runs_say_so_everywhere(tmp_path):
    whole = evaluate({"k": Knowing()}, [dataset()], tmp_path / "run")
    run = evaluate({"k": Knowing()}, [dataset()], tmp_path / "run", limit=20)
    some = [r for r in run if r.partial]
    assert len(some) == len(whole)
    assert len(run) == 2 * len(whole)
    for r in some:
        assert "limit=20" in r.signature
        assert r.n["te"] == 20
        assert len(run.rows(r)) == len(run.correct(r)) == 20
    assert set(run.frame().limit.dropna()) == {20}


def test_target_forms_are_drawn_where_there_are_any(tmp_path):
    run = evaluate({"k": Knowing(noise=2.0)}, [dataset(keys=6), dataset("own/free")], tmp_path / "run")
    with_forms, without = only(run, "k")
    assert with_forms.clusters == 6
    assert with_forms.cluster_interval is not None
    assert without.clusters is without.cluster_interval is None


def test_seeds_move_a_network_and_not_a_convex_optimum(tmp_path):
    run = evaluate(
        {"k": Knowing(noise=2.0)}, [dataset()], tmp_path / "run", probes=["linear", "senteval"], probe_seeds=range(5)
    )
    losses = {p: {r.log2_loss for r in only(run, "k") if r.cell.probe == p} for p in ("linear", "senteval")}
    assert len(losses["linear"]) == 1
    assert len(losses["senteval"]) == 5


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"probes": ["lnear"]}, "linear"),
        ({"probe_seeds": []}, "one seed"),
        ({"limit": 1}, "--limit 1"),
        ({"probes": []}, "probe"),
    ],
)
def test_wrong_use(tmp_path, change, says):
    with pytest.raises(UsageError, match=says):
        evaluate({"k": Knowing()}, [dataset()], tmp_path / "run", **change)


def test_no_set_at_all(tmp_path):
    with pytest.raises(UsageError, match="Expected at least one dataset"):
        evaluate({"k": Knowing()}, [], tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "message"),
    [("sttaic:", r"no encoder scheme 'sttaic'. Did you mean static\?"), ("statik", r"Did you mean static:\?"),
     ("all-MiniLM-L6-v2", "expected scheme:name"), ("static:?dim", "expected key=value")],
)  # fmt: skip
def test_a_name_that_cannot_be_of_an_encoder_is_refused_at_once(name, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        evaluate([name, "static:"], [dataset()], tmp_path / "run")
    assert not (tmp_path / "run").exists()
    run = evaluate(["baseline:rondom"], [dataset()], tmp_path / "run", baselines=[])
    assert run.failures[0].cell.encoder == "baseline:rondom"


MISSING = (
    "vec:no.vec", "npy:no.npy?texts=no.txt", "tfidf:no.txt", "trained:no", "laser:no.pt", "sent2vec:no.bin",
    "skipthought:no", "infersent:no.pkl", "family:no.toml", "py:no.py:encode", "hf:./no/model",
)  # fmt: skip


def test_encoders_whose_files_are_missing_are_refused_together_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    called = []

    def encode(texts):
        called.append(texts)
        return [[len(text)] for text in texts]

    with pytest.raises(UsageError) as caught:
        evaluate([encode, *MISSING, "static:", "static:?dimm=64"], [dataset()], "run")
    said = str(caught.value)
    assert said.startswith(f"{len(MISSING) + 1} encoders cannot be loaded, and nothing was computed:\n- ")
    for name in MISSING:
        assert name.partition(":")[2].partition("?")[0].partition(":")[0] in said
    assert "static:?dimm=64 has the option 'dimm'" in said
    assert not called
    assert not Path("run").exists()
    with pytest.raises(UsageError, match=r"^(?!\d+ encoders).*no\.vec"):
        evaluate(["vec:no.vec", encode], [dataset()], "run")


def test_an_encoder_that_is_gone_after_it_was_probed_does_not_stop_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text("def encode(texts):\n    return [[len(text), 1] for text in texts]\n", "utf-8")
    evaluate(["py:own.py:encode"], [dataset()], "run", baselines=[])
    Path("own.py").unlink()
    again = evaluate(["py:own.py:encode", "static:"], [dataset()], "run", baselines=[])
    assert {result.cell.encoder for result in again} >= {"py:own.py:encode", "static:"}


def test_a_refused_command_leaves_no_folder(tmp_path):
    whole = dataset()
    one_label = replace(whole, rows={split: [r for r in rows if r.label == "c0"] for split, rows in whole.rows.items()})
    for before in (False, True):
        with pytest.raises(UsageError, match="None of the sets can be used"):
            evaluate(["static:"], [one_label], tmp_path / "run")
        assert (tmp_path / "run").exists() == before  # what was there is kept
        evaluate({"k": Knowing()}, [dataset()], tmp_path / "run", baselines=[])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_twenty_kills_and_the_results_are_those_of_an_undisturbed_run(tmp_path):
    class Slow(Knowing):
        batch_size = 20

        def __call__(self, texts):
            time.sleep(0.004)
            return super().__call__(texts)

    sets = [dataset(f"own/{i}", n=(80 + i, 40, 60), keys=5) for i in range(3)]

    def work(folder):
        return evaluate(
            {"k": Slow(noise=1.0), "l": Slow(noise=2.0)}, sets, tmp_path / folder, probe_seeds=(1, 2),
            probes=["linear", "senteval?passes=8"], store=Store(tmp_path / f"store of {folder}"),
        )  # fmt: skip

    started = time.monotonic()
    whole = work("undisturbed")
    took = time.monotonic() - started
    rng, killed = np.random.default_rng(0), 0
    for moment in rng.uniform(0, took / 4, size=20):
        child = os.fork()
        if child == 0:
            try:
                work("killed")
            finally:
                os._exit(0)
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
        killed += os.waitpid(child, 0)[1] == signal.SIGKILL
    assert killed > 0
    assert same(work("killed"), whole)


def test_an_error_of_the_encoder_names_the_sentence(tmp_path):
    run = evaluate({"nan": lambda texts: np.full((len(texts), 2), np.nan)}, [dataset()], tmp_path / "run")
    assert run.failures[0].kind == EncoderError.__name__
    assert "NaN" in run.failures[0].error


def test_what_succeeds_is_no_longer_a_failure(tmp_path):
    def broken(texts):
        raise ValueError("no such file")

    broken.identity = Knowing().identity
    evaluate({"k": Knowing()}, [dataset()], tmp_path / "run")
    again = evaluate({"k": broken}, [dataset(), dataset("own/new", n=(121, 40, 60))], tmp_path / "run")
    assert [f.cell.dataset for f in again.failures] == ["own/new"]
    sets = [dataset(), dataset("own/new", n=(121, 40, 60))]
    assert evaluate({"k": Knowing()}, sets, tmp_path / "run").failures == ()
    (tmp_path / "no.npy").write_bytes(b"damaged")
    evaluate([f"npy:{tmp_path}/no.npy"], [dataset()], tmp_path / "run")
    assert evaluate({f"npy:{tmp_path}/no.npy": Knowing()}, [dataset()], tmp_path / "run").failures == ()


def test_a_baseline_that_fails_does_not_end_the_run(tmp_path, monkeypatch):
    def sometimes(cell, *arguments):
        if cell.encoder == "nb-bi":
            raise MemoryError("8 GiB")
        return work(cell, *arguments)

    work = inputs.baseline_result
    monkeypatch.setattr(inputs, "baseline_result", sometimes)
    run = evaluate({"k": Knowing()}, [dataset()], tmp_path / "run")
    assert [(f.cell.encoder, f.kind) for f in run.failures] == [("nb-bi", "MemoryError")]
    assert only(run, "k")[0].accuracy == 1.0
    assert "nb-bi" not in only(run, "k")[0].baselines
    monkeypatch.undo()
    assert evaluate({"k": Knowing()}, [dataset()], tmp_path / "run").failures == ()


def test_an_error_that_cannot_be_written_is_written_all_the_same(tmp_path):
    def odd(texts):
        raise ValueError("caf\udce9")

    run = evaluate({"odd": odd, "k": Knowing()}, [dataset()], tmp_path / "run")
    assert "caf\\udce9" in run.failures[0].error
    assert only(run, "k")[0].accuracy == 1.0


def test_old_and_new_results_of_an_unknown_encoder_are_not_mixed(tmp_path):
    sets = [dataset("own/a"), dataset("own/b", n=(121, 40, 60))]
    evaluate({"f": Knowing().__call__}, sets, tmp_path / "run")
    run = evaluate({"f": Knowing().__call__}, sets[1:], tmp_path / "run")
    assert [r.cell.dataset for r in only(run, "f")] == ["own/b"]


def test_predictions_that_are_lost_are_made_again(tmp_path):
    run = evaluate({"k": Knowing()}, [dataset()], tmp_path / "run")
    path = run.folder / "predictions" / f"{only(run, 'k')[0].key}.npz"
    path.unlink()
    again = evaluate({"k": Knowing()}, [dataset()], tmp_path / "run")
    assert path.exists()
    assert same(run, again)


def test_the_same_set_twice_is_one_set(tmp_path):
    evaluate({"k": Knowing()}, [dataset(), dataset()], tmp_path / "run", baselines=["majority"])
    assert len((tmp_path / "run" / "results.jsonl").read_bytes().splitlines()) == 2


def test_the_commands_that_wrote_a_run_are_kept(tmp_path):
    for command in ("sentprobe run -e k", "sentprobe run -e k", "sentprobe run 'caf\udce9'"):
        run = evaluate({"k": Knowing()}, [dataset()], tmp_path / "run", baselines=[], command=command)
    assert run.info["commands"] == ["sentprobe run -e k", "sentprobe run 'caf\\udce9'"]
    silent = evaluate({"k": Knowing()}, [dataset()], tmp_path / "silent", baselines=[])
    assert "commands" not in silent.info


def test_baselines_say_what_they_were_trained_and_chosen_on(tmp_path):
    whole, without = dataset(), replace(dataset("own/without"), rows={**dataset("own/without").rows, "va": []})
    run = evaluate({"k": Knowing()}, [whole, without], tmp_path / "run", baselines=["majority", "length"])
    found = {(r.cell.dataset, r.cell.encoder): (r.trained_on, r.chosen_on, r.n["tr"], r.n["va"]) for r in run}
    assert found["own/task", "majority"] == ("tr", None, 120, 0)
    assert found["own/task", "length"] == ("tr", "va", 120, 40)
    assert found["own/without", "majority"] == ("tr", None, 120, 0)
    assert found["own/without", "length"] == ("tr", None, 120, 0)


def test_hashed_bags_of_words_are_sparse_and_probed_in_every_way(tmp_path):
    sets = [dataset(classes=3), dataset("own/word", classes=3, inputs=["word"])]
    sets[1] = replace(
        sets[1],
        rows={s: [r._replace(extra=(("word", r.tokens[1]),)) for r in rows] for s, rows in sets[1].rows.items()},
    )
    always = evaluate({"k": Knowing(3)}, sets, tmp_path / "one", resample=0)
    named = evaluate("baseline:hash", sets, tmp_path / "two", resample=10)
    for one in only(always, "baseline:hash"):
        (two,) = (r for r in only(named, "baseline:hash") if r.key == one.key)
        assert two.resamples == 10
        assert (one.score, one.tried, one.scores) == (two.score, two.tried, two.scores)
    assert {r.dimension for r in only(named, "baseline:hash")} == {4096, 8192}
    small = evaluate(
        "baseline:hash?dim=32", sets, tmp_path / "three", probes=["linear", MLP], baselines=[], resample=0,
        controls=["permuted", "norm"], measures=["online"],
    )  # fmt: skip
    assert small.failures == ()
    assert len(small) == 4
    assert {r.cell.variant for r in small.extras} == {"permuted", "norm", "online"}


def _numbered(name, start):
    """A set whose sentences are not those of a set with another start."""
    made = dataset(name)
    rows = {s: [r._replace(text=f"{r.text} {start}") for r in some] for s, some in made.rows.items()}
    return replace(made, rows=rows)


def _embedded(monkeypatch):
    """What is encoded from now on: how many texts, and how many tables were still in memory before."""
    calls, tables = [], []
    embed = encoder_module.embed

    def counted(encoder, texts, **more):
        calls.append((len(texts), sum(table() is not None for table in tables)))
        found = embed(encoder, texts, **more)
        tables.append(weakref.ref(found.vectors))
        return found

    monkeypatch.setattr(encoder_module, "embed", counted)
    return calls


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("baseline", ["baseline:random", "baseline:hash"])
def test_a_baseline_encodes_set_by_set_with_the_same_results(tmp_path, monkeypatch, jobs, baseline):
    sets = [_numbered(f"own/{i}", i) for i in range(3)]
    options = {"baselines": [baseline], "resample": 0, "jobs": jobs}
    calls = _embedded(monkeypatch)
    one = evaluate({"k": Knowing()}, sets, tmp_path / "one", **options)
    assert [n for n, _ in calls] == [660, 220, 220, 220]
    if jobs == 1:
        assert {left for _, left in calls} == {0}  # those of another set, or encoder, are gone
    monkeypatch.setattr("sentprobe.run.encoder.SET_BY_SET_SCHEME", "none:")
    two = evaluate({"k": Knowing()}, sets, tmp_path / "two", **options)
    assert [n for n, _ in calls[4:]] == [660, 660]
    assert same(one, two)
    assert one.info["diagnoses"] == two.info["diagnoses"]


def test_a_baseline_encodes_texts_once_that_many_sets_share(tmp_path, monkeypatch):
    calls = _embedded(monkeypatch)
    sets = [_numbered(f"own/{i}", "the same") for i in range(3)]
    evaluate({"k": Knowing()}, sets, tmp_path / "run", baselines=["baseline:random"], resample=0)
    assert [n for n, _ in calls] == [220, 220]
