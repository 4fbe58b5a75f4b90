"""Trained encoders: which weights a name has, that a vector depends on its text alone, and what damage is called."""

import json
import shutil

import numpy as np
import pytest

from sentprobe.encoders import Spec, TrainingScore, encoder_info, expand_names, load
from sentprobe.errors import DataError, EncoderError, SentProbeError, UsageError
from sentprobe.run import evaluate
from sentprobe.run.controls.untrained import untrained
from sentprobe.testing import check_encoder
from tests.lab.networks.folders import WORDS, one_thread, sealed, write_folder
from tests.serve.runs import sentence_length, word_content

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")


def architecture_names():
    from sentprobe.lab.networks import ARCHITECTURES

    return list(ARCHITECTURES)


TEXTS = ["the river was very high after the rain .", "she never drinks cold milk", "boats", "", "zzz", "a dog " * 90]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with one_thread():
        yield write_folder(tmp_path_factory.mktemp("trained") / "nli-8", steps=(5, 15), settings={"layers": 2})


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder.path, tmp_path / "nli-8")


def direct(folder, name, text):
    """The states of the layers and the vector of one sentence, by the network itself."""
    network = folder.encoder(next(c for c in folder.checkpoints() if c.name == name))
    ids = torch.tensor([folder.vocabulary.ids(text)])
    with torch.inference_mode():
        inputs, found = network.inputs(ids), network(ids, torch.tensor([ids.shape[1]]))
    return [inputs[0].numpy(), *(layer[0].numpy() for layer in found.layers)], found.vectors[0].numpy()


@pytest.mark.parametrize(
    ("options", "checkpoint"),
    [("", "epoch-002"), ("?epoch=best", "epoch-002"), ("?epoch=0", "epoch-000"), ("?epoch=3", "epoch-003"),
     ("?step=15", "step-000015")],
)  # fmt: skip
def test_a_name_has_the_weights_of_its_checkpoint(folder, options, checkpoint):
    encoder = load(f"trained:{folder.path}{options}")
    assert dict(encoder.identity.facts)["checkpoint"] == checkpoint
    for text in TEXTS[:3]:
        np.testing.assert_allclose(encoder([text])[0], direct(folder, checkpoint, text)[1], atol=1e-6)


def test_it_follows_the_rules_of_encoders(folder):
    check_encoder(load(f"trained:{folder.path}"))
    check_encoder(load(f"trained:{folder.path}?layer=*&pool=max"))


@pytest.mark.parametrize("options", ["", "?layer=1&pool=last", "?layer=0", "?layer=*"])
def test_a_text_alone_has_the_vector_that_it_has_in_any_batch(folder, options):
    encoder = load(f"trained:{folder.path}{options}")
    rng = np.random.default_rng(3)
    texts = TEXTS + [" ".join(rng.choice(WORDS[:-2], size=n)) for n in rng.integers(1, 60, size=120)]
    together = np.moveaxis(encoder(texts), -2, 0)
    for i in [*range(len(TEXTS)), 40, 80, 120]:
        np.testing.assert_allclose(together[i], np.moveaxis(encoder([texts[i]]), -2, 0)[0], atol=1e-6, rtol=0)
    assert encoder([]).shape[-2] == 0


def test_layers_are_numbered_from_the_word_vectors_and_pooled(folder):
    text = TEXTS[0]
    states, vector = direct(folder, "epoch-002", text)
    pools = {"mean": lambda s: s.mean(0), "max": lambda s: s.max(0), "last": lambda s: s[-1]}
    for i in (0, 1, 2, -1):
        for pool, of in pools.items():
            found = load(f"trained:{folder.path}?layer={i}&pool={pool}")([text])[0]
            np.testing.assert_allclose(found, of(states[i]), atol=1e-6)
    # of two layers of an LSTM with 16 dimensions, on word vectors with 6
    every = load(f"trained:{folder.path}?layer=*")
    assert every.layers == ("1", "2")
    np.testing.assert_allclose(every([text])[1, 0], states[2].mean(0), atol=1e-6)
    np.testing.assert_allclose(load(f"trained:{folder.path}?pool=max")([text])[0], vector, atol=1e-6)
    with pytest.raises(UsageError, match="same number of dimensions; layer 0 has 6, 1 has 16"):
        load(f"trained:{folder.path}?layer=0..1")


def test_words_have_the_mean_of_the_input_vectors_of_their_tokens(folder):
    encoder = load(f"trained:{folder.path}")
    table = folder.vectors()
    found = encoder.words(["boats", "Boats", "boats.", "zzz"])
    one, stop = table[WORDS.index("boats") + 1], table[WORDS.index(".") + 1]
    np.testing.assert_allclose(found, [one, one, (one + stop) / 2, 0 * one], atol=1e-6)
    assert encoder.words([]).shape == (0, 6)


def test_the_untrained_copy_keeps_given_word_vectors_only(folder):
    one, two = load(f"trained:{folder.path}?random=1"), load(f"trained:{folder.path}?random=1")
    assert one(TEXTS).tobytes() == two(TEXTS).tobytes()
    assert one.identity == two.identity
    assert np.abs(one(TEXTS) - load(f"trained:{folder.path}?random=2")(TEXTS)).max() > 0.01
    assert np.array_equal(one.words(["boats"]), load(f"trained:{folder.path}").words(["boats"]))
    assert one.training_score is None
    for option in ("epoch=1", "step=5"):
        with pytest.raises(UsageError, match="expected one of epoch, step and random"):
            load(f"trained:{folder.path}?{option}&random=1")


def test_the_untrained_copy_of_fine_tuned_vectors_has_those_from_before_training(tmp_path):
    folder = write_folder(tmp_path / "tuned", 1, frozen=False)
    drawn = load(f"trained:{folder.path}?random=7").words(["boats"])
    config = json.loads((folder.path / "config.json").read_text())
    sealed(folder.path, config={**config, "request": {"vectors": "vec:some.txt"}})
    copy, start = load(f"trained:{folder.path}?random=7"), load(f"trained:{folder.path}?epoch=0")
    assert np.array_equal(copy.words(["boats"]), start.words(["boats"]))
    assert not np.array_equal(copy.words(["boats"]), drawn)


def test_the_identity_is_the_content(folder, copy):
    def identity(path, options=""):
        return load(f"trained:{path}{options}").identity

    assert identity(folder.path) == identity(copy)
    assert identity(folder.path) == identity(folder.path, "?epoch=2") != identity(folder.path, "?epoch=3")
    assert identity(folder.path, "?device=cpu") == identity(folder.path)
    different = [identity(folder.path, o) for o in ("", "?layer=1", "?layer=1&pool=max", "?random=1", "?random=2")]
    assert len(set(different)) == 5
    words = json.loads((copy / "vocabulary.json").read_text())
    sealed(copy, vocabulary=[words[1], words[0], *words[2:]])
    assert identity(copy) != identity(folder.path)
    assert identity(copy).name == "nli-8"


def test_the_score_of_training_is_that_of_the_checkpoint(folder, tmp_path):
    assert load(f"trained:{folder.path}").training_score == TrainingScore("accuracy", 52.0, maximise=True)
    assert load(f"trained:{folder.path}?epoch=0").training_score is None
    other = write_folder(tmp_path / "lm", 2, metric="perplexity")
    with (other.path / "training.jsonl").open("a") as file:
        file.write('{"epoch": 3, "scor')  # killed while writing
    found = encoder_info(load(f"trained:{other.path}?epoch=2")).training_score
    assert found == TrainingScore("perplexity", 20.0, maximise=False)


def test_all_checkpoints_are_one_encoder_each(folder, tmp_path):
    path = folder.path
    assert expand_names([f"trained:{path}?epoch=all&layer=1", "static:", "static:"]) == [
        *(f"trained:{path}?epoch={i}&layer=1" for i in range(4)), "static:"
    ]  # fmt: skip
    assert expand_names([f"trained:{path}?step=all"]) == [f"trained:{path}?step=5", f"trained:{path}?step=15"]
    assert expand_names([f"trained:{path}?epoch=2"]) == [f"trained:{path}?epoch=2"]
    for odd in ("trained:nowhere?epoch=all", "nothing:?epoch=all", "no name"):  # what is wrong is said on loading
        assert expand_names([odd]) == [odd]
    with pytest.raises(UsageError, match="has no checkpoint after steps"):
        load(f"trained:{write_folder(tmp_path / 'no-steps', 1).path}?step=all")
    with pytest.raises(UsageError, match="one encoder per checkpoint, where one is expected"):
        load(f"trained:{path}?epoch=all")


def test_a_run_of_all_checkpoints_is_resumed_and_has_an_untrained_control(folder, tmp_path):
    name = f"trained:{folder.path}"
    call = {"baselines": ["majority"], "resample": 0, "controls": ["untrained"]}
    first = evaluate([f"{name}?epoch=1"], [word_content()], tmp_path / "run", **call)
    run = evaluate([f"{name}?epoch=all"], [word_content()], tmp_path / "run", **call)
    assert not run.failures
    assert {r.cell.encoder for r in run if r.cell.encoder != "majority"} == {f"{name}?epoch={i}" for i in range(4)}
    assert {r.key for r in first} <= {r.key for r in run}
    controls = {r.cell.encoder: r for r in run.extras}
    assert len(controls) == 4
    # all checkpoints have the same untrained copy, with the first seed of the run
    assert len({(r.score, r.cell.identity) for r in controls.values()}) == 1
    assert "random=1111" in controls[f"{name}?epoch=3"].cell.identity
    assert untrained(f"{name}?layer=1&epoch=3", 4) == f"{name}?layer=1&random=4"


def test_words_give_shares_of_the_maxima(folder):
    encoder = load(f"trained:{folder.path}")
    for text, words in zip(TEXTS[:3], encoder.selection(TEXTS[:3]), strict=True):
        states, _ = direct(folder, "epoch-002", text)
        winners = [int(np.argmax(states[2][:, d])) for d in range(16)]
        assert [word for word, _ in words] == ["<s>", *text.split(), "</s>"]
        np.testing.assert_allclose([share for _, share in words], [winners.count(i) / 16 for i in range(len(words))])
    below = load(f"trained:{folder.path}?layer=1&pool=max").selection(TEXTS[:1])[0]
    winners = list(direct(folder, "epoch-002", TEXTS[0])[0][1].argmax(0))
    np.testing.assert_allclose([share for _, share in below], [winners.count(i) / 16 for i in range(len(below))])
    for other in ("?pool=mean", "?layer=*&pool=max"):
        assert not hasattr(load(f"trained:{folder.path}{other}"), "selection")


def test_one_that_does_not_pool_by_maximum_selects_no_words(tmp_path):
    folder = write_folder(tmp_path / "last", 1, architecture="bilstm-last")
    assert not hasattr(load(f"trained:{folder.path}"), "selection")


@pytest.mark.parametrize(
    ("options", "what"),
    [("?epoch=9", r"no checkpoint of epoch 9; it has 0, 1, 2, 3"), ("?step=1", "it has 5, 15"),
     ("?epoch=first", "epoch=first; expected an integer"), ("?pool=sum", "expected mean, max or last"),
     ("?layer=7", "layers 0..2"), ("?colour=red", "takes backend, device, epoch, lang, layer"),
     ("?device=nothing", "device=nothing, which cannot be used")],
)  # fmt: skip
def test_options_are_checked(folder, options, what):
    with pytest.raises(UsageError, match=what):
        load(f"trained:{folder.path}{options}")


def test_names_of_nothing_are_refused(tmp_path):
    with pytest.raises(UsageError, match="names no folder"):
        load("trained:")
    with pytest.raises(UsageError, match="has no trained encoder"):
        load(f"trained:{tmp_path}")


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [("config.json", b"{", "config.json has changed since `sentprobe train` wrote it. Restore it, or repeat"),
     ("checksums.json", b"[]", "checksums.json is damaged"),
     ("checksums.json", None, "checksums.json, which `sentprobe train` wrote, is missing"),
     ("vocabulary.json", None, "vocabulary.json, which `sentprobe train` wrote, is missing. Restore it, or repeat"),
     ("vocabulary.json", b"[1, 2]", "vocabulary.json has changed"),
     ("vectors.npy", None, "vectors.npy, .* is missing"), ("vectors.npy", b"\x80\x04.", "vectors.npy has changed"),
     ("epoch-002/model.safetensors", b"xx", "safetensors has changed .*, or delete the folder epoch-002: the other"),
     ("epoch-002/model.safetensors", None, "model.safetensors, .* is missing. .* delete the folder epoch-002"),
     ("best.json", b"nothing", "best.json has changed since .*, or delete it: training.jsonl has the scores, too"),
     ("training.jsonl", None, "training.jsonl, .* is missing"),
     ("training.jsonl", b"{}\n", "training.jsonl:1 has changed")],
)  # fmt: skip
def test_damage_is_named(copy, name, content, what):
    if content is None:
        (copy / name).unlink()
    else:
        (copy / name).write_bytes(content)
    with pytest.raises(DataError, match=what):
        load(f"trained:{copy}")


def test_weights_of_another_network_are_refused(copy, tmp_path):
    other = write_folder(tmp_path / "other", 2, hidden=4, settings={"layers": 2})
    shutil.copytree(other.path / "epoch-002", copy / "epoch-002", dirs_exist_ok=True)
    with pytest.raises(DataError, match=r"epoch-002/model.safetensors has changed"):
        load(f"trained:{copy}")
    config = json.loads((copy / "config.json").read_text())
    config["network"]["settings"]["hidden"] = 4
    sealed(copy, config=config)  # as one who knows checksums writes it
    with pytest.raises(DataError, match=r"epoch-003/model.safetensors is not of this network: .*size mismatch"):
        load(f"trained:{copy}?epoch=3")
    config["network"]["settings"] = {}
    sealed(copy, config=config)
    with pytest.raises(SentProbeError, match=r"config.json: the network cannot be built: KeyError\('hidden'\)"):
        load(f"trained:{copy}?epoch=3")


def test_names_are_the_same_after_parsing(tmp_path):
    folder = write_folder(tmp_path / "a b@c&d", 1)
    spec = Spec("trained", str(folder.path), None, (("epoch", "all"),))
    assert [load(name)(["boats"]).shape for name in expand_names([str(spec)])] == [(1, 16), (1, 16)]


def test_sizes_and_lengths_are_probed(folder, tmp_path):
    """Known answer: the mean of states knows the length of a sentence better than chance."""
    run = evaluate([f"trained:{folder.path}"], [sentence_length()], tmp_path / "run", baselines=[], resample=0)
    assert run.results[0].score > 0.45


@pytest.mark.parametrize("architecture", architecture_names())
def test_every_architecture_is_an_encoder(architecture, tmp_path):
    from tests.lab.networks.tiny import small_settings

    settings = small_settings(architecture)
    folder = write_folder(tmp_path / "any", 1, architecture=architecture, settings=settings)
    with one_thread():
        encoder = load(f"trained:{folder.path}")
        check_encoder(encoder)
        above = load(f"trained:{folder.path}?layer=*&pool=max")
        assert above(TEXTS).shape[-2:] == (len(TEXTS), above.width)
        assert hasattr(encoder, "selection") is encoder.network.pools_max
        if encoder.network.pools_max:
            assert all(sum(share for _, share in words) == pytest.approx(1) for words in encoder.selection(TEXTS))


def test_a_checkpoint_that_is_swapped_while_it_is_loaded_is_refused(copy, monkeypatch):
    # else the vectors of one network would be kept under the identity of another
    from sentprobe.lab.networks.folder import TrainedFolder

    real = TrainedFolder.encoder

    def swap():
        shutil.copy(copy / "epoch-000/model.safetensors", copy / "epoch-002/model.safetensors")

    monkeypatch.setattr(TrainedFolder, "encoder", lambda *args: [real(*args), swap()][0])
    with pytest.raises(EncoderError, match=r"epoch=2 changed while it was loaded"):
        load(f"trained:{copy}?epoch=2")
    monkeypatch.setattr(TrainedFolder, "encoder", lambda *args: [swap(), real(*args)][1])
    with pytest.raises(DataError, match=r"epoch-002/model.safetensors has changed since"):
        load(f"trained:{copy}?epoch=2")
