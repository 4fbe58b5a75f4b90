"""Translation models from files to folders: learning, resuming, translating, and what is trained on."""

import json
import signal

import numpy as np
import pytest
import torch

from sentprobe import load_encoder
from sentprobe.errors import SentProbeWarning, UsageError
from sentprobe.lab.networks.folder import TrainedFolder
from sentprobe.lab.training import OBJECTIVES
from sentprobe.lab.training.examples import epoch_steps
from sentprobe.lab.training.lm.tokens import END
from sentprobe.lab.training.mt.corpora import Direction
from sentprobe.lab.training.mt.preparation import perplexity
from sentprobe.lab.training.mt.translator import load_translator
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.targets import bleu
from sentprobe.lab.training.train import train
from sentprobe.lab.translator import translate
from tests.command_line import sentprobe
from tests.lab.training.mt.tiny import files, pairs, request, unsupervised, write
from tests.lab.training.tiny import same_weights


def _scores(folder):
    reports = [json.loads(line) for line in (folder.path / "training.jsonl").read_text().splitlines()]
    return [one["scores"] for one in reports if one.get("checkpoint")]


def _prepare(path, wanted):
    plan = TrainingPlan(wanted, path / "data")
    return OBJECTIVES.get("mt").prepare(plan), plan


def test_a_tiny_model_learns_both_directions(supervised):
    folder, _ = supervised
    first, *_, last = _scores(folder)
    names = [f"{kind} {way}" for kind in ("BLEU", "perplexity") for way in ("en-qto", "qto-en")]
    assert list(last) == ["BLEU", "perplexity", *names]
    assert last["BLEU"] == pytest.approx((last["BLEU en-qto"] + last["BLEU qto-en"]) / 2)
    assert first["BLEU"] < 5
    # on held-out sentences; an untrained model has 0
    assert min(last["BLEU en-qto"], last["BLEU qto-en"]) > 40
    assert last["perplexity"] < 2 < first["perplexity"]
    assert folder.config["facts"]["BLEU signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert folder.config["selection"] == "BLEU"
    assert folder.config["facts"]["directions"] == ["en-qto", "qto-en"]


def test_the_folder_translates(supervised, tmp_path):
    folder, _ = supervised
    both = pairs()
    sources, references = zip(*both[:60], strict=True)
    found = load_translator(folder, to="qto")(sources)
    assert bleu(found, references)[0] > 50
    assert load_translator(folder, to="en", beam=3)(references[:3])[0].split()[-1] == "."
    before = load_translator(folder, to="qto", checkpoint=folder.checkpoints()[0])(sources)
    assert bleu(before, references)[0] < 1
    # whatever the order, and what else is translated
    assert load_translator(folder, source="en")(sources[::-1][:7]) == found[::-1][:7]
    assert load_translator(folder, source="en")(["", "  ", sources[0]]) == ["", "", found[0]]


def test_texts_that_are_too_long_are_cut_with_a_warning(supervised):
    folder, _ = supervised
    with pytest.warns(SentProbeWarning, match="1 texts have more than 38 tokens"):
        assert load_translator(folder, to="qto")(["dogs see cats " * 20])[0]


def test_the_verb_reads_files_and_standard_input(supervised, tmp_path):
    folder, _ = supervised
    sources = [source for source, _ in pairs(5)]
    expected = "".join(f"{text}\n" for text in load_translator(folder, to="qto")(sources))
    text = "".join(f"{source}\n" for source in sources)
    assert sentprobe("translate", folder.path, "--to", "qto", stdin=text).stdout == expected
    (tmp_path / "a.txt").write_text(text)
    assert (
        sentprobe("translate", folder.path, tmp_path / "a.txt", "-", "--to", "qto", stdin=text).stdout == 2 * expected
    )
    beam = sentprobe("translate", folder.path, "--to", "qto", "--from", "en", "--beam", "2", stdin=text)
    assert beam.stdout.count("\n") == 5
    first = sentprobe("translate", folder.path, "--to", "qto", "--checkpoint", "epoch-000", stdin=text)
    assert (first.returncode, first.stdout.count("\n")) == (0, 5)
    assert first.stdout != expected
    for words, said in (
        ((), "say which language to translate to"),
        (("--to", "fr"), "translates en-qto, qto-en, and not to fr"),
        (("--to", "en", "--from", "en"), "and not from en to en"),
        (("--to", "en", "--beam", "0"), "beam=0: expected 1 or more"),
        (("--to", "en", "--checkpoint", "epoch-999"), "epoch-999"),
    ):
        done = sentprobe("translate", folder.path, *words, stdin=text)
        assert (done.returncode, done.stdout) == (1, "")
        assert said in " ".join(done.stderr.split())
    assert "has no trained encoder" in " ".join(sentprobe("translate", tmp_path, stdin=text).stderr.split())


def test_it_is_a_translator_of_nli_pairs(supervised):
    folder, _ = supervised
    sources = [source for source, _ in pairs(4)]
    assert translate(f"trained:{folder.path}?to=qto", sources) == load_translator(folder, to="qto")(sources)
    with pytest.raises(UsageError, match="say which language to translate to"):
        translate(f"trained:{folder.path}", sources)
    with pytest.raises(UsageError, match="has the option 'lang'; trained: takes beam, from, to"):
        translate(f"trained:{folder.path}?lang=qto", sources)


def test_its_encoder_is_probed_like_a_language_model(supervised):
    folder, _ = supervised
    encoder = load_encoder(f"trained:{folder.path}?lang=en")
    texts = ["dogs see big cats .", "men find old birds ."]
    found = np.asarray(encoder(texts))
    assert found.shape == (2, 32)
    translator = load_translator(folder, to="qto")
    ids = torch.tensor([[1, *translator.tokens.encode(texts[:1])[0], 1]])
    with torch.no_grad():
        states = translator.model.read(ids, torch.tensor([ids.shape[1]]), 0).states
    assert found[0] == pytest.approx(states[0].mean(0).numpy(), abs=1e-5)


@pytest.fixture(scope="module")
def unsupervised_training(tmp_path_factory):
    path = tmp_path_factory.mktemp("unsupervised")
    found = unsupervised(path, settings={"denoising": "0:1,8:0.1,12:0", "steps": 16, "decoded": 10})
    return train(found, path / "model"), found


def test_without_pairs_it_learns_from_texts_alone(unsupervised_training):
    folder, _ = unsupervised_training
    first, last = _scores(folder)
    assert last["perplexity"] < first["perplexity"]
    assert folder.config["rows"]["train en"]["used"] == 60
    assert folder.config["rows"]["dev"]["used"] == 40
    assert int(TrainedFolder(folder.path).weights(folder.best())["steps"]) in (16, 32)


def test_the_same_command_resumes_bit_for_bit(tmp_path, unsupervised_training, interruptible):
    """The weight of denoising depends on the step, and is the same after an interruption."""
    folder, wanted = unsupervised_training
    out = tmp_path / "model"

    def report(one):
        if one.epoch == 2 and one.steps == 5:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(wanted, out, report)
    assert not (out / "epoch-002").exists()
    train(wanted, out)
    assert same_weights(folder.path, out)


def test_batches_of_all_directions_are_equally_many(tmp_path):
    en, qto = files(tmp_path, 80)
    wanted = request(
        tmp_path, train=(f"en-qto={en},{qto}", f"en={en}", f"qto={qto}"), held_out=8, settings={"steps": 40}
    )
    prepared, _ = _prepare(tmp_path, wanted)
    steps = [step.stream.name for epoch in (1, 2) for step in epoch_steps(prepared.streams, 256, 1, epoch)]
    assert {name: steps.count(name) for name in steps} == dict.fromkeys(
        ("en-qto", "qto-en", "back qto-en", "back en-qto"), 20
    )
    stream = next(one for one in prepared.streams if one.name == "back qto-en")
    batch = stream.collate(np.array([0, 3]))
    assert (batch.kind, batch.source, batch.target_language, batch.source_language) == ("back", None, 0, 1)
    assert (batch.target[:, 0] == 1).all()
    more = request(tmp_path, train=wanted.train, held_out=8, settings={"denoising": "0:1"})
    names = [stream.name for stream in _prepare(tmp_path, more)[0].streams]
    assert names == ["en-qto", "qto-en", "back qto-en", "denoise en", "back en-qto", "denoise qto"]


def test_long_sentences_are_left_out_of_training_and_scored_on_dev(tmp_path):
    """Up to what the network can read: the score is that of all of dev."""
    sides, dev = [], []
    for name, rows in zip(("en", "qto"), zip(*pairs(60), strict=True), strict=True):
        sides.append(write(tmp_path / f"train.{name}", [*rows[:50], " ".join(rows[:3])]))
        dev.append(write(tmp_path / f"dev.{name}", [*rows[50:], " ".join(rows[50:53])]))
    wanted = request(
        tmp_path, settings={"length": 10}, train=(f"en-qto={','.join(sides)}",), dev=(f"en-qto={','.join(dev)}",)
    )
    _, plan = _prepare(tmp_path, wanted)
    assert plan.counts["dev en-qto"] == {"read": 11, "used": 11}
    assert plan.counts["train en-qto"] == {"read": 51, "too many tokens": 1, "used": 50}


def test_sentences_of_dev_are_not_trained_on(tmp_path):
    en, qto = files(tmp_path, 60)
    wanted = request(tmp_path, train=(f"en={en}", f"qto={qto}"), dev=(f"en-qto={en},{qto}",))
    with pytest.raises(Exception, match="en has 0 sentences to train on"):
        _prepare(tmp_path, wanted)


def test_perplexities_of_constant_predictions_are_known(tmp_path):
    """Uniform: the number of tokens. As tokens and ends are distributed: 2 to the entropy of these."""
    prepared, _ = _prepare(tmp_path, request(tmp_path, settings={"directions": "en-qto", "decoded": 2}))
    model, size = prepared.model.eval(), len(prepared.inputs.vocabulary)
    for weight in (model.decoder.embeddings.weight, model.bias):
        weight.data.zero_()
    assert prepared.evaluate()["perplexity"] == pytest.approx(size, rel=1e-4)
    direction = prepared.streams[0].collate.__self__
    sentences = [direction.target.tokens[row].tolist() for row in range(len(direction.lengths))]
    counts = np.bincount([token for row in sentences for token in (*row, END)], minlength=size)
    assert counts[END] == len(sentences)
    shares = counts / counts.sum()
    model.bias.data += torch.log(torch.from_numpy(shares).clamp(min=1e-30)).float()
    entropy = -sum(share * np.log2(share) for share in shares if share)
    assert perplexity(model, direction) == pytest.approx(2**entropy, rel=1e-4)


def test_one_direction_only(tmp_path):
    en, qto = files(tmp_path, 60)
    wanted = request(tmp_path, train=(f"en-qto={en},{qto}",), held_out=8, settings={"directions": "qto-en"})
    prepared, _ = _prepare(tmp_path, wanted)
    [stream] = prepared.streams
    batch = stream.collate(np.array([0]))
    assert (stream.name, batch.kind, batch.target_language, batch.source_language) == ("qto-en", "pairs", 0, 1)
    assert list(prepared.evaluate()) == ["BLEU", "perplexity"]
    assert isinstance(stream.collate.__self__, Direction)
