"""What a translation model begins with, and requests that do not fit together."""

import shutil

import numpy as np
import pytest
import torch

from sentprobe.errors import CorpusError, DataError, SentProbeError, UsageError
from sentprobe.lab.networks.folder import TrainedFolder
from sentprobe.lab.training import OBJECTIVES
from sentprobe.lab.training.lm.tokens import read_tokens
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import make_request
from sentprobe.lab.training.train import train
from tests.lab.training.mt.tiny import SIZES, files, pairs, request, write


def _prepare(path, wanted):
    return OBJECTIVES.get("mt").prepare(TrainingPlan(wanted, path / "data"))


def _language_model(path, name, objective="mlm", languages=("en", "qto"), **sizes):
    texts = dict(zip(("en", "qto"), files(path), strict=True))
    train_on = tuple(f"{language}={texts['en' if language == 'en' else 'qto']}" for language in languages)
    settings = {**SIZES, "codes": 200, "tokens": 256, "length": 32, "steps": 2, **sizes}
    return train(
        make_request(
            objective, settings=settings, options={"epochs": 1, "warmup": 5}, train=train_on, held_out=8
        ),
        path / name,
    )  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Language models: masked, causal, and one with another vocabulary."""
    path = tmp_path_factory.mktemp("start")
    _language_model(path, "mlm")
    _language_model(path, "clm", "clm")
    _language_model(path, "other", codes=10)
    shutil.copytree(path / "mlm", path / "tuned")  # without an output layer, as after fine-tuning
    tuned = TrainedFolder(path / "tuned")
    weights = tuned.weights(tuned.best())
    with tuned.job.writing():
        tuned.write_checkpoint("epoch-001", {n: w for n, w in weights.items() if not n.startswith("pred_layer")}, 1, 2)
    return path


def test_both_parts_begin_as_the_language_model(place, tmp_path):
    found = request(tmp_path, settings={"from": str(place / "mlm")}, sizes={})
    assert {name: found.encoder_settings[name] for name in SIZES} == SIZES
    prepared = _prepare(tmp_path, found)
    model = prepared.model.state_dict()
    folder = train(_request_of(place, "mlm"), place / "mlm")
    known = folder.weights(folder.best())
    for name, weight in known.items():
        if name.startswith("transformer."):
            assert torch.equal(model[name], weight)
            assert torch.equal(model[name.replace("transformer.", "decoder.", 1)], weight)
    assert torch.equal(model["pred_layer.proj.bias"], known["pred_layer.proj.bias"])
    # what reads the encoder is random, and the same as without a start
    random = _prepare(tmp_path, request(tmp_path)).model.state_dict()
    cross = [name for name in model if "encoder_attn" in name or "layer_norm15" in name]
    assert len(cross) == 2 * (8 + 2)
    assert all(torch.equal(model[name], random[name]) for name in cross)
    assert prepared.inputs.facts["start of the decoder"] == f"mlm ({place / 'mlm'}, epoch-001)"
    assert prepared.inputs.vocabulary.words == read_tokens(TrainedFolder(place / "mlm").job).strings()


def _request_of(place, name):
    """The request of a folder, which is finished."""
    texts = files(place)
    settings = {**SIZES, "codes": 200, "tokens": 256, "length": 32, "steps": 2}
    languages = tuple(f"{language}={file}" for language, file in zip(("en", "qto"), texts, strict=True))
    return make_request(
        name, settings=settings, options={"epochs": 1, "warmup": 5}, train=languages, held_out=8
    )  # fmt: skip


def test_each_part_has_its_own_start(place, tmp_path):
    def weights(**settings):
        return _prepare(tmp_path, request(tmp_path, settings=settings, sizes={})).model.state_dict()

    mlm, clm = str(place / "mlm"), str(place / "clm")
    mixed = weights(encoder_from=mlm, decoder_from=clm)
    same = weights(**{"from": clm, "encoder_from": mlm})
    half = weights(**{"from": mlm, "decoder_from": "random"})
    table = "embeddings.weight"
    assert all(torch.equal(mixed[name], same[name]) for name in mixed)
    assert not torch.equal(mixed[f"transformer.{table}"], mixed[f"decoder.{table}"])
    assert torch.equal(half[f"transformer.{table}"], mixed[f"transformer.{table}"])
    assert not torch.equal(half[f"decoder.{table}"], mixed[f"transformer.{table}"])
    assert not half["pred_layer.proj.bias"].any()


def test_a_translation_model_is_a_start_with_all_its_weights(supervised, tmp_path):
    folder, wanted = supervised
    again = request(tmp_path, settings={"from": str(folder.path)}, sizes={}, train=wanted.train, held_out=30)
    prepared = _prepare(tmp_path, again)
    known, model = folder.weights(folder.best()), prepared.model.state_dict()
    assert all(torch.equal(model[name], known[name]) for name in known if name != "steps")
    assert int(model["steps"]) == 0


def test_word_vectors_are_the_start_of_the_tokens_that_are_words(tmp_path):
    random = np.random.default_rng(0)
    words = {"en": ["dogs", "see", "unseen"], "qto": ["mife", "loru"]}
    vectors = {word: random.normal(size=40) for every in words.values() for word in every}
    for name, every in words.items():
        lines = [f"{word} {' '.join(map(str, vectors[word]))}" for word in every]
        write(tmp_path / f"{name}.vec", [f"{len(every)} 40", *lines])
    named = f"vec:{tmp_path}/en.vec,{tmp_path}/qto.vec"
    wanted = request(tmp_path, settings={"from": named})
    prepared, plain = _prepare(tmp_path, wanted), _prepare(tmp_path, request(tmp_path, settings={}))
    tokens = list(prepared.inputs.vocabulary.words)
    rows = [tokens.index(f"{word}Ġ") for word in ("dogs", "see", "mife", "loru")]
    for part in (prepared.model.encoder, prepared.model.decoder):
        found = part.embeddings.weight.detach()
        assert found[rows].norm(dim=1).mean() == pytest.approx(1, abs=1e-5)
        given = torch.tensor(np.stack([vectors[tokens[row][:-1]] for row in rows]), dtype=torch.float32)
        # four vectors keep their angles in 32 dimensions
        cosines = [torch.nn.functional.normalize(one, dim=1) for one in (given, found[rows])]
        assert torch.allclose(cosines[0] @ cosines[0].T, cosines[1] @ cosines[1].T, atol=1e-4)
    others = [row for row in range(len(tokens)) if row not in rows]
    before = plain.model.encoder.embeddings.weight[others]
    assert torch.equal(prepared.model.encoder.embeddings.weight[others], before)
    assert "vectors of 4 of" in prepared.inputs.facts["start of the encoder"]
    with pytest.raises(UsageError, match=r"hidden=64: .* has 40 dimensions"):
        _prepare(tmp_path, request(tmp_path, settings={"from": named, "hidden": 64}))
    with pytest.raises(UsageError, match="expected two files of word vectors"):
        _prepare(tmp_path, request(tmp_path, settings={"from": "vec:en.vec"}))


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"encoder_from": "mlm", "decoder_from": "other"}, DataError, "have different vocabularies"),
        ({"from": "mlm", "hidden": 16}, UsageError, r"hidden=16: .*mlm has hidden=32; leave it out"),
        ({"from": "nowhere"}, UsageError, "has no trained encoder"),
        ({"from": "tuned"}, DataError, "has no output layer, so that no decoder can begin with it"),
    ],
)
def test_starts_that_do_not_fit(place, tmp_path, settings, error, said):
    named = {key: str(place / value) if isinstance(value, str) else value for key, value in settings.items()}
    with pytest.raises(error, match=said):
        _prepare(tmp_path, request(tmp_path, settings=named, sizes={}))


def test_a_language_that_the_start_does_not_know(place, tmp_path):
    en, other = files(tmp_path)
    wanted = request(
        tmp_path, settings={"from": str(place / "mlm")}, sizes={}, train=(f"en-fr={en},{other}",), held_out=8
    )
    with pytest.raises(DataError, match=r"mlm does not know fr: it was trained on en, qto"):
        _prepare(tmp_path, wanted)


@pytest.mark.parametrize(
    ("train_on", "more", "said"),
    [
        ((), {}, "Name pairs with their languages"),
        (("en-qto=EN,SHORT",), {"held_out": 8}, "SHORT|short"),
        (("en-qto=ONE,ONE2",), {"held_out": 1}, "leaves nothing to train on"),
        (("en=EN",), {"dev": ("en-qto=EN,QTO",)}, "there is nothing to train on in qto"),
        (("en=EN", "qto=QTO"), {}, "There is no dev data: name it with --dev en-fr=FILE,FILE with pairs"),
        (("en-qto=EN,QTO",), {}, "or hold out pairs"),
        (("en-qto=EN,QTO",), {"dev": ("en=EN",)}, "translation is scored on pairs"),
        (("en-qto=EN,QTO", "fr=EN"), {"held_out": 8}, "there are no pairs in fr"),
        (("en-qto=EN,QTO",), {"held_out": 8, "directions": "en-fr"}, "there is nothing to learn en-fr from"),
        (("en-qto=EN,QTO", "en=EN"), {"held_out": 8, "directions": "en-qto"}, "back-translation needs both"),
        (("en-qto=EN,QTO",), {"held_out": 8, "length": 99}, "there are 40 positions; set positions=101"),
        (("EN,QTO",), {"held_out": 8}, "expected a language and its text"),
        (
            ("en-qto=EN,QTO", "en-fr=EN,QTO"),
            {"held_out": 8, "directions": "en-qto"},
            "--pairs en-fr=…: what is trained is en-qto; leave these pairs out",
        ),
        (
            ("en-qto=EN,QTO", "en-fr=EN,QTO"),
            {"dev": ("qto-fr=QTO,EN",)},
            "--dev qto-fr=…: what is trained is en-qto, qto-en, en-fr, fr-en; leave",
        ),
    ],
)
def test_data_that_do_not_fit(tmp_path, train_on, more, said):
    en, qto = files(tmp_path, 60)
    short = write(tmp_path / "short", [row for _, row in pairs(59)])
    one, two = write(tmp_path / "one", ["dogs see cats ."]), write(tmp_path / "two", ["mife tugo loru ."])
    names = {"EN": en, "QTO": qto, "SHORT": short, "ONE2": two, "ONE": one}

    def named(text):
        for name, file in names.items():
            text = text.replace(name, file)
        return text

    settings = {key: more.pop(key) for key in ("directions", "length") if key in more}
    if "dev" in more:
        more["dev"] = tuple(map(named, more["dev"]))
    with pytest.raises((SentProbeError, CorpusError), match=said):
        _prepare(tmp_path, request(tmp_path, settings=settings, train=tuple(map(named, train_on)), **more))


def test_other_architectures_and_vectors_are_refused(tmp_path):
    en, qto = files(tmp_path, 60)
    for words, said in (
        ({"encoder": "bilstm-max"}, "mt trains a Transformer"),
        ({"vectors": "x.vec"}, "--from vec:A.vec,B.vec"),
    ):
        with pytest.raises(UsageError, match=said):
            _prepare(tmp_path, make_request("mt", **words, train=(f"en-qto={en},{qto}",), held_out=8))
