"""Language models from files to folders: what is trained on, resuming, what transformers makes of it, bad input."""

import json
import math
import shutil
import signal
from itertools import product

import numpy as np
import pytest
import torch

from sentprobe import load_encoder
from sentprobe.core.files import read_json
from sentprobe.errors import DataError, SentProbeWarning, UsageError
from sentprobe.lab.alignment.space import read_space
from sentprobe.lab.networks.folder import TrainedFolder
from sentprobe.lab.training import OBJECTIVES
from sentprobe.lab.training.examples import epoch_steps
from sentprobe.lab.training.lm.model import LanguageModel, model_sizes
from sentprobe.lab.training.lm.pretrained import open_start
from sentprobe.lab.training.lm.tokens import END, MASK, SPECIAL, learn_tokens, read_tokens, sample_texts, smoothed
from sentprobe.lab.training.objective import Loss
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import make_request
from sentprobe.lab.training.train import train
from sentprobe.lab.words.languages import languages_of_space
from tests.lab.networks.folders import sealed
from tests.lab.training.lm.tiny import request, sentences, texts, write
from tests.lab.training.test_codes import ORACLE
from tests.lab.training.tiny import same_weights

TEXTS = ["the dog sees it", "Words that are nowhere: żółć, 東京."]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """MLM+TLM on two languages."""
    path = tmp_path_factory.mktemp("lm")
    found = request(path, "mlm+tlm")
    return train(found, path / "model"), found


def _prepare(path, *arguments, **more):
    plan = TrainingPlan(request(path, *arguments, **more), path / "data")
    return OBJECTIVES.get(plan.request.objective).prepare(plan), plan


def _model(folder, checkpoint):
    config = folder.config
    sizes = model_sizes(config["request"]["encoder_settings"], config["vocab_size"], config["n_langs"])
    model = LanguageModel(sizes).eval()
    model.load_state_dict(folder.weights(checkpoint))
    return model


def test_training_lowers_the_perplexity_which_is_the_mean_over_languages_and_pairs(trained):
    folder, _ = trained
    reports = [json.loads(line) for line in (folder.path / "training.jsonl").read_text().splitlines()]
    scores = [one["scores"] for one in reports if one.get("checkpoint")]
    assert scores[0].keys() == {"perplexity", "perplexity en", "perplexity qto", "perplexity en-qto"}
    assert scores[1]["perplexity"] < scores[0]["perplexity"] < folder.config["vocab_size"]
    each = [scores[1][f"perplexity {name}"] for name in ("en", "qto", "en-qto")]
    assert scores[1]["perplexity"] == pytest.approx(sum(each) / 3)
    assert folder.best().name == "epoch-002"


def test_transformers_loads_the_folder_and_every_checkpoint(trained):
    transformers = pytest.importorskip("transformers")
    folder, _ = trained
    for place, checkpoint in ((folder.path, folder.best()), (folder.path / "epoch-001", folder.find("epoch", 1))):
        tokenizer = transformers.AutoTokenizer.from_pretrained(place)
        tokens = read_tokens(folder.job)
        inputs = tokenizer(TEXTS, padding=True, return_tensors="pt")
        assert set(inputs) == {"input_ids", "attention_mask"}
        kept = [
            row[mask.bool()].tolist() for row, mask in zip(inputs["input_ids"], inputs["attention_mask"], strict=True)
        ]
        assert kept == [[END, *row, END] for row in tokens.encode(TEXTS)]
        model = transformers.AutoModel.from_pretrained(place)
        head = transformers.XLMWithLMHeadModel.from_pretrained(place)
        assert type(model).__name__ == "XLMModel"
        ours = _model(folder, checkpoint)
        ids, lengths = inputs["input_ids"], inputs["attention_mask"].sum(1)
        languages = torch.ones_like(ids)
        positions = torch.arange(ids.shape[1]).expand_as(ids) % 5
        inside = inputs["attention_mask"].bool()
        with torch.inference_mode():
            theirs = model(**inputs, langs=languages, position_ids=positions, output_hidden_states=True).hidden_states
            states = ours.transformer.states(ids, languages, positions, lengths)
            assert len(theirs) == len(states) == 3
            for one, two in zip(theirs, states, strict=True):
                assert float((one - two)[inside].abs().max()) < 1e-5
            logits = head(**inputs, langs=languages, position_ids=positions).logits
            own = states[-1] @ ours.transformer.embeddings.weight.T + ours.bias
            assert float((logits - own)[inside].abs().max()) < 1e-5


def test_transformers_splits_texts_of_every_script_alike(tmp_path):
    """Their scripts are those of ``test_codes.py``."""
    transformers = pytest.importorskip("transformers")
    lines = [line for script in ORACLE.values() for line in script["text"]]
    tokens = learn_tokens(lines, 200)
    for name, content in tokens.files(64).items():
        (tmp_path / name).write_bytes(content)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    unseen = ["  two  spaces\tand a tab ", "Ünknown žluťoučký (नहीं)!", ""]
    assert theirs([*lines, *unseen])["input_ids"] == [[END, *row, END] for row in tokens.encode([*lines, *unseen])]
    assert [theirs.decode(row) for row in tokens.encode([*lines, *unseen])] == [*lines, *unseen]
    masked = theirs("the dog's <mask> isn't <mask>.", add_special_tokens=False)["input_ids"]
    dogs, isnt = tokens.encode(["the dog's", "isn't"])
    assert masked == [*dogs, MASK, *isnt, MASK, *tokens.encode(["."])[0]]  # as in training, without spaces around it


def test_a_causal_model_is_one_in_transformers(tmp_path):
    transformers = pytest.importorskip("transformers")
    folder = train(request(tmp_path, "clm", options={"epochs": 1}), tmp_path / "model")
    model = transformers.AutoModel.from_pretrained(folder.path)
    ids = torch.tensor([[END, 50, 60, 70, 80]])
    with torch.inference_mode():
        theirs = model(ids, langs=torch.zeros_like(ids)).last_hidden_state
        ours = _model(folder, folder.best()).transformer(ids, torch.zeros_like(ids), causal=True)
    assert float((theirs - ours).abs().max()) < 1e-5
    assert {"perplexity per word en", "perplexity per word qto"} < folder.scores(folder.best()).keys()


def test_it_is_an_encoder_at_every_checkpoint(trained):
    pytest.importorskip("transformers")
    folder, _ = trained
    best = load_encoder(f"trained:{folder.path}?lang=en")
    assert best.languages == ("en", "qto")  # a run on sets in others says so
    same = load_encoder(f"hf:{folder.path}?lang=en")
    np.testing.assert_array_equal(best(TEXTS), same(TEXTS))
    assert best.identity.name == "model"
    first = load_encoder(f"trained:{folder.path}?epoch=1&lang=en&layer=*&pool=max")
    assert first(TEXTS).shape == (3, 2, 16)
    other = load_encoder(f"trained:{folder.path}?lang=qto")
    assert not np.allclose(best(TEXTS), other(TEXTS))
    untrained = load_encoder(f"trained:{folder.path}?random=1&lang=en")
    assert not np.allclose(best(TEXTS), untrained(TEXTS))
    seed = folder.config["request"]["options"]["seed"]
    before = load_encoder(f"trained:{folder.path}?epoch=0&lang=en")
    same = load_encoder(f"trained:{folder.path}?random={seed}&lang=en")
    np.testing.assert_array_equal(before(TEXTS), same(TEXTS))
    with pytest.warns(SentProbeWarning, match="add lang="):
        load_encoder(f"hf:{folder.path}")
    with pytest.raises(UsageError, match="lang=fr; expected one of en, qto"):
        load_encoder(f"hf:{folder.path}?lang=fr")
    with pytest.raises(UsageError, match="backend"):
        load_encoder(f"trained:{folder.path}?backend=numpy&lang=en")


def test_its_tokens_that_are_words_are_a_word_space(trained):
    folder, _ = trained
    space = read_space(str(folder.path))
    tokens = read_tokens(folder.job)
    table = folder.arrays(folder.best())["transformer.embeddings.weight"]
    for word, vector in zip(space.words, space.vectors, strict=True):
        (number,) = tokens.encode([word])[0]
        np.testing.assert_array_equal(vector, table[number])
    assert "the" in space.words


def test_the_same_command_resumes_bit_for_bit(tmp_path, trained, interruptible):
    folder, wanted = trained
    out = tmp_path / "model"

    def report(one):
        if one.epoch == 2 and not one.checkpoint:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(wanted, out, report)
    assert not (out / "epoch-002").exists()
    train(wanted, out)
    assert same_weights(folder.path, out)
    assert (folder.path / "model.safetensors").read_bytes() == (out / "model.safetensors").read_bytes()


def test_a_folder_of_other_text_is_refused(tmp_path):
    wanted = request(tmp_path, options={"epochs": 1})
    train(wanted, tmp_path / "model")
    write(tmp_path / "0.en", sentences(60, 7))
    more = request(tmp_path, options={"epochs": 2}, train=wanted.train, held_out=8)
    with pytest.raises(UsageError, match=r"0\.en \(train en\) has changed since the training"):
        train(more, tmp_path / "model")


def test_batches_are_of_one_language_and_texts_and_pairs_alternate(tmp_path):
    en, qto = texts(tmp_path)
    small = write(tmp_path / "small", sentences(20, 3, "qto"))
    prepared, plan = _prepare(
        tmp_path, "mlm+tlm", train=(f"en={en}", f"qto={small}", f"en-qto={en},{qto}"), held_out=4,
        settings={"steps": 300, "alpha": 0.5},
    )  # fmt: skip
    steps = epoch_steps(prepared.streams, plan.request.options.batch, 1, 1)
    counts = {name: sum(step.stream.name == name for step in steps) for name in ("en", "qto", "en-qto")}
    assert counts["en-qto"] == 150
    used = {name: plan.counts[f"train {name}"]["used"] for name in ("en", "qto")}
    expected = 150 * smoothed(used, 0.5)["en"]
    assert counts["en"] == pytest.approx(expected, abs=1)
    assert counts["qto"] == pytest.approx(150 - expected, abs=1)
    for step in steps[:20]:
        batch = step.stream.collate(step.rows)
        languages = {"en": {0}, "qto": {1}, "en-qto": {0, 1}}[step.stream.name]
        assert set(batch.languages.flatten().tolist()) == languages
        assert batch.ids.numel() <= 256


def test_nothing_in_dev_is_trained_on_in_any_text(tmp_path):
    prepared, plan = _prepare(tmp_path, "mlm+tlm")
    assert plan.counts["dev en"]["used"] >= 8
    assert plan.counts["train qto"]["also in dev"] > 0
    assert plan.counts["train"]["used"] == sum(plan.counts[f"train {name}"]["used"] for name in ("en", "qto", "en-qto"))
    assert prepared.selection == "perplexity"


def test_on_dev_masked_tokens_are_all_masks_and_as_frequent_as_in_the_text(tmp_path, monkeypatch):
    """As in XLM's evaluation: with the weights of training, the perplexity would be that of rarer tokens."""
    text = [" ".join(["the"] * 15 + [chr(97 + i // 8) + chr(97 + i % 8)]) for i in range(60)]
    prepared, _ = _prepare(tmp_path, train=(f"en={write(tmp_path / 'en', text)}",), held_out=20)
    batches = []
    monkeypatch.setattr(
        LanguageModel, "forward", lambda self, batch: batches.append(batch) or Loss(torch.ones(()), 1, 1)
    )
    prepared.evaluate()
    targets = torch.cat([batch.targets for batch in batches])
    shown = torch.cat([batch.ids.flatten()[batch.token_indices] for batch in batches])
    assert (shown == MASK).all()
    often = int(targets.bincount().max()) / len(targets)
    tokens = prepared.inputs.vocabulary.words
    assert tokens[int(targets.bincount().argmax())] == "theĠ"
    assert often > 0.5


def _constant(prepared, bias=0.0):
    """The scores on dev of a model that predicts the same distribution everywhere: that of these logits."""
    for weight in prepared.model.parameters():
        weight.data.zero_()
    prepared.model.bias.data += bias
    prepared.model.eval()
    with torch.no_grad():
        return prepared.evaluate()


@pytest.mark.parametrize("objective", ["clm", "mlm", "tlm", "mlm+tlm"])
def test_the_perplexity_of_a_uniform_distribution_is_the_number_of_tokens(tmp_path, objective):
    prepared, _ = _prepare(tmp_path, objective)
    scores = _constant(prepared)
    size = len(prepared.inputs.vocabulary)
    for name, value in scores.items():
        if "per word" not in name:
            assert value == pytest.approx(size, rel=1e-4), name


def test_per_word_perplexity_counts_ends_of_sentences_in_the_loss_and_among_the_words(tmp_path):
    """A model that gives every token the same probability needs log(tokens) for each."""
    en, dev = write(tmp_path / "en", sentences(40)), sentences(10, 5)
    write(tmp_path / "dev", dev)
    prepared, _ = _prepare(tmp_path, "clm", train=(f"en={en}",), dev=(f"en={tmp_path / 'dev'}",))
    found, size = _constant(prepared), len(prepared.inputs.vocabulary)
    tokens = learn_tokens(sentences(40), 120)  # the same codes as in the plan
    count = sum(len(row) + 1 for row in tokens.encode(dev))
    words = sum(len(text.split()) + 1 for text in dev)
    assert found["perplexity per word en"] == pytest.approx(size ** (count / words), rel=1e-4)


TWO_WORDS = ["yes yes no", "no", "yes no yes yes", "yes", "no no", "yes yes yes"]
"""Nine times *yes*, five times *no*, and six ends."""


def test_per_word_perplexity_of_a_unigram_model_is_that_of_its_entropy(tmp_path):
    """If every word is a token, words and tokens are the same, and the perplexity is 2 to the entropy of either."""
    lines = [" ".join(line) for line in product(("yes", "no"), repeat=5)]
    en, dev = write(tmp_path / "en", lines), write(tmp_path / "dev", TWO_WORDS)
    prepared, _ = _prepare(tmp_path, "clm", train=(f"en={en}",), dev=(f"en={dev}",), settings={"codes": 40})
    names = prepared.inputs.vocabulary.words
    bias = torch.full((len(names),), -100.0)
    for name, count in (("yesĠ", 9), ("noĠ", 5), (SPECIAL[END], 6)):
        bias[names.index(name)] = math.log(count / 20)
    found = _constant(prepared, bias)
    entropy = -sum(count / 20 * math.log2(count / 20) for count in (9, 5, 6))  # 1.5395 bits
    assert found["perplexity"] == pytest.approx(2**entropy, rel=1e-4)
    assert found["perplexity per word en"] == pytest.approx(2**entropy, rel=1e-4)


def test_codes_are_learned_from_sampled_sentences_and_decode_to_the_text(tmp_path):
    repeated = list(sample_texts([(["a"] * 1000, 0.25), (["b"] * 100, 2.5)], 1))
    assert repeated.count("a") == pytest.approx(250, abs=70)
    assert repeated.count("b") == pytest.approx(250, abs=25)
    assert smoothed({"en": 900, "fr": 100}, 0.5) == pytest.approx({"en": 0.75, "fr": 0.25})
    tokens = learn_tokens(sentences(50), 100)
    assert tokens.strings()[: len(SPECIAL)] == list(SPECIAL)
    assert tokens.decode(tokens.encode(TEXTS)) == TEXTS
    assert len(tokens) == len(learn_tokens(sentences(50), 0)) + 100


def test_one_language_has_no_vectors_of_languages(tmp_path):
    en = write(tmp_path / "en", sentences(40))
    prepared, _ = _prepare(tmp_path, train=(f"en={en}",), held_out=4)
    assert not any("lang_embeddings" in name for name in prepared.model.state_dict())
    both, _ = _prepare(tmp_path, settings={"language_vectors": "no"})
    assert not any("lang_embeddings" in name for name in both.model.state_dict())
    assert both.transformers["use_lang_emb"] is False


@pytest.mark.parametrize(
    ("objective", "train_on", "said"),
    [
        ("mlm", ("en={en}", "qto="), "there is no text of qto"),
        ("mlm", ("{en}",), "expected a language and its text, such as en=FILE"),
        ("mlm", ("en={en}", "en-qto={en},{qto}"), "mlm learns from texts only"),
        ("tlm", ("en={en}", "en-qto={en},{qto}"), "tlm learns from pairs only"),
        ("mlm+tlm", ("en={en}", "en-qto={en},{qto}"), "there is no text of qto; add --text qto=FILE"),
        ("mlm+tlm", ("en={en}", "qto={qto}"), "needs pairs of sentences"),
        ("tlm", ("en-qto={en},{qto}", "qto-en={qto},{en}"), "in the same order as before, en-qto"),
        ("tlm", ("en-en={en},{qto}",), "two different languages"),
        ("mlm", (), "Name texts with their languages"),
    ],
)
def test_what_is_missing_is_named(tmp_path, objective, train_on, said):
    en, qto = texts(tmp_path, 10)
    with pytest.raises(UsageError, match=said):
        _prepare(tmp_path, objective, train=tuple(one.format(en=en, qto=qto) for one in train_on), held_out=2)


def test_pairs_of_unequal_number_and_single_sentences_are_refused(tmp_path):
    en, qto = texts(tmp_path, 10)
    short = write(tmp_path / "short", sentences(9))
    with pytest.raises(DataError, match="9 lines"):
        _prepare(tmp_path, "tlm", train=(f"en-qto={short},{qto}",), held_out=2)
    one = write(tmp_path / "one", sentences(1))
    with pytest.raises(DataError, match="xx has 1 sentence to train on"):
        _prepare(tmp_path, train=(f"en={en}", f"xx={one}"), dev=(f"en={qto}",))


def test_dev_pairs_that_are_all_too_long_have_no_perplexity(tmp_path):
    en, qto = texts(tmp_path, 10)
    one, two = (write(tmp_path / name, [f"{name} " * 33] * 3) for name in ("long", "longer"))
    with pytest.raises(DataError, match=r"en-qto: nothing is left to score \(3 read, 3 too many tokens\)"):
        _prepare(tmp_path, "tlm", train=(f"en-qto={en},{qto}",), dev=(f"en-qto={one},{two}",))


def test_a_folder_with_other_codes_or_without_languages_is_refused(tmp_path, trained):
    folder, _ = trained
    other = tmp_path / "model"
    shutil.copytree(folder.path, other)
    # as one who knows checksums writes it
    sealed(other, tokenizer=learn_tokens(sentences(40), 60).files(64)["tokenizer.json"])
    with pytest.raises(DataError, match=r"tokenizer.json has other tokens than vocabulary.json"):
        open_start(str(other)).tokens()
    config = read_json(other / "config.json")
    del config["lang2id"]
    sealed(other, config=config)
    with pytest.raises(DataError, match=r"config.json is damaged: it has no languages"):
        open_start(str(other)).sizes()


def test_dev_of_another_language_no_dev_and_other_networks_are_refused(tmp_path):
    en, qto = texts(tmp_path, 10)
    with pytest.raises(UsageError, match="is of nothing that is trained on"):
        _prepare(tmp_path, train=(f"en={en}",), dev=(f"qto={qto}",))
    with pytest.raises(UsageError, match="There is no dev data"):
        _prepare(tmp_path, train=(f"en={en}",))
    other = TrainingPlan(make_request("mlm", "bow-mean", train=(f"en={en}",), held_out=2), tmp_path / "data")
    with pytest.raises(UsageError, match="trains a Transformer: leave --architecture bow-mean out"):
        OBJECTIVES.get("mlm").prepare(other)


def test_a_language_that_shares_no_token_is_warned_of(tmp_path):
    one, two = (
        write(tmp_path / "one", ["abc abd"] * 9 + ["acd"] * 9),
        write(tmp_path / "two", ["жзи жзк"] * 9 + ["зк"] * 9),
    )
    with pytest.warns(SentProbeWarning, match="shares no token"):
        _prepare(
            tmp_path, train=(f"aa={one}", f"bb={two}"), dev=(f"aa={write(tmp_path / 'dev', ['abc', 'cab'])}",),
            settings={"codes": 10},
        )  # fmt: skip


def test_everything_is_in_the_config_and_the_card(trained):
    folder, _ = trained
    config = read_json(folder.path / "config.json")
    assert config["lang2id"] == {"en": 0, "qto": 1}
    assert languages_of_space(str(folder.path)) == ("en", "qto")
    assert config["data"]["train en-qto"][1]["name"] == "0.qto"
    card = (folder.path / "card.md").read_text()
    assert "train en-qto" in card
    assert "A Transformer over en, qto" in card
    assert "trained:model?lang=en" in card
    assert isinstance(TrainedFolder(folder.path).network.seed, int)
