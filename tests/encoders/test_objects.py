"""Models in memory as encoders, against the libraries that they are of."""

from copy import copy

import numpy as np
import pytest

from sentprobe import as_encoder, embed_texts, evaluate
from sentprobe.encoders import encoder_info, load
from sentprobe.encoders.store import Store
from sentprobe.errors import FailureWarning, RunError, UsageError
from tests.encoders.test_hf import TEXTS, assert_near, bert, word_pieces
from tests.encoders.test_st import imported, pooled
from tests.run.sets import dataset

library = pytest.importorskip("sentence_transformers")
transformers = pytest.importorskip("transformers")

__all__ = ["bert", "imported", "pooled"]  # fixtures


def test_a_model_of_sentence_transformers(pooled):
    model = library.SentenceTransformer(str(pooled), device="cpu")
    encoder = as_encoder(model)
    assert_near(encoder(TEXTS), model.encode(TEXTS, show_progress_bar=False), 1e-6)
    assert encoder_info(encoder).identity is None
    assert encoder_info(encoder).cost(["corn"]) == load(f"st:{pooled}").cost(["corn"])
    assert_near(embed_texts(model, TEXTS).vectors, encoder(TEXTS), 1e-6)
    short = as_encoder(model, truncate_dim=3, prompt_name="query")
    assert_near(short(TEXTS), model.encode(TEXTS, truncate_dim=3, prompt_name="query"), 1e-6)
    assert_near(as_encoder(model, normalize=True)(TEXTS), model.encode(TEXTS, normalize_embeddings=True), 1e-6)
    model.truncate_dim = 5
    assert_near(as_encoder(model, truncate_dim=7)(TEXTS), model.encode(TEXTS, truncate_dim=7), 1e-6)
    assert (model.truncate_dim, model.max_seq_length) == (5, 30)  # it is not ours
    assert as_encoder(model)(TEXTS).shape[1] == 5
    with pytest.raises(UsageError, match=r"max= is for models that are loaded"):
        as_encoder(model, max=9)
    assert copy(encoder)(["corn"]).shape == (1, 5)


def test_a_model_of_transformers_with_its_tokenizer(bert):
    model, tokenizer = (kind.from_pretrained(bert) for kind in (transformers.BertModel, transformers.AutoTokenizer))
    assert_near(as_encoder((model, tokenizer))(TEXTS), load(f"hf:{bert}")(TEXTS))
    assert as_encoder((model, tokenizer), layer="*").layers == ("0", "1", "2")
    pipeline = transformers.pipeline("feature-extraction", model=model, tokenizer=tokenizer, device="cpu")
    assert_near(as_encoder(pipeline, pool="cls")(TEXTS), load(f"hf:{bert}?pool=cls")(TEXTS))
    with pytest.raises(UsageError, match=r"BertModel reads numbers of tokens and no texts; expected a pair"):
        as_encoder(model)
    with pytest.raises(UsageError, match=r"device= is for models that are loaded"):
        as_encoder((model, tokenizer), device="cpu")


def test_a_model_of_a_head_is_read_without_it(bert):
    model = transformers.BertForMaskedLM.from_pretrained(bert)
    assert_near(as_encoder((model, word_pieces(model_max_length=40)))(TEXTS), load(f"hf:{bert}")(TEXTS))


def test_what_has_no_vectors_of_texts_is_refused(bert):
    with pytest.raises(UsageError, match="CrossEncoder has no vector for a single text"):
        as_encoder(library.CrossEncoder(str(bert), num_labels=1, device="cpu"))


@pytest.fixture(scope="module")
def fasttext():
    gensim = pytest.importorskip("gensim.models")
    sentences = [text.lower().split() for text in TEXTS if text] * 5
    return gensim.FastText(sentences, vector_size=8, min_count=1, epochs=2, seed=1, workers=1, bucket=500)


def test_word_vectors_of_gensim(fasttext):
    words = [text.lower().split() for text in TEXTS if text]
    means = np.stack([np.mean([fasttext.wv[word] for word in row], axis=0) for row in words])
    for model in (fasttext, fasttext.wv):
        assert_near(as_encoder(model)([" ".join(row) for row in words]), means, 1e-5)
    known = means[:1]
    assert_near(as_encoder(fasttext.wv, oov="skip")([" ".join(words[0])]), known, 1e-5)
    unknown = as_encoder(fasttext)(["gristmill"])
    assert_near(unknown, fasttext.wv["gristmill"][None], 1e-5)


def test_a_fitted_model_in_memory_has_no_identity_either(pooled, tmp_path):
    kind = pytest.importorskip("gensim.models").KeyedVectors
    store, texts = Store(tmp_path), ["corn mill", "mill"]

    def vectors(model, **options):
        embeddings = embed_texts(as_encoder(model, **options), texts, store=store)
        assert (embeddings.identity, embeddings.encoded) == (None, 2)
        return embeddings.vectors

    for options in ({"pool": "idf"}, {"pool": "sif", "component": 1}):
        models = [kind(3), kind(3)]
        for model, value in zip(models, (1, 2), strict=True):
            model.add_vectors(["corn", "mill"], np.array([[value, 0, 1], [0, 1, value]], np.float32))
        first, second = (vectors(model, **options) for model in models)
        assert not np.array_equal(first, second)
    model = library.SentenceTransformer(str(pooled), device="cpu")
    whole = vectors(model, precision="int8")
    model.default_prompt_name, model.prompts = "query", {"query": "mill mill "}
    assert not np.array_equal(vectors(model, precision="int8"), whole)


@pytest.mark.doors
def test_a_static_model_of_model2vec():
    model2vec = pytest.importorskip("model2vec")
    table = np.random.default_rng(3).normal(size=(len(word_pieces()), 6)).astype(np.float32)
    model = model2vec.StaticModel(table, word_pieces().backend_tokenizer)
    assert_near(as_encoder(model)(TEXTS), model.encode(TEXTS).astype(np.float32), 1e-6)


def test_an_unknown_model_with_a_method_encode_is_explained():
    class Mill:
        def encode(self, texts):
            return [[1.0]] * len(texts)

    with pytest.raises(UsageError, match="Mill is not one of the models that sentprobe knows; pass its method encode"):
        as_encoder(Mill())
    with pytest.raises(UsageError, match="layer= is an option for models in memory; got function"):
        as_encoder(lambda texts: [[1.0]] * len(texts), layer=3)


def test_a_model_in_memory_is_probed(pooled, tmp_path):
    model = library.SentenceTransformer(str(pooled), device="cpu")
    run = evaluate({"mine": model}, dataset(), tmp_path / "a", baselines=[], resample=0)
    assert [result.cell.encoder for result in run] == ["mine"]
    (unnamed,) = evaluate(model, dataset(), tmp_path / "b", baselines=[], resample=0)
    assert unnamed.cell.encoder == "SentenceTransformer"


def test_a_run_in_which_an_encoder_failed_says_so(tmp_path):
    def broken(texts):
        raise ValueError("the mill is closed")

    with pytest.warns(FailureWarning, match=r"broken failed: .*the mill is closed.*Run.failures of .* has 1"):
        run = evaluate(broken, dataset(), tmp_path / "a", baselines=["majority"], resample=0)
    assert [result.cell.encoder for result in run] == ["majority"]
    with pytest.raises(RunError, match=r"broken failed: .*the mill is closed.*What was computed is saved"):
        evaluate(broken, dataset(), tmp_path / "b", baselines=["majority"], resample=0, strict=True)
    assert (tmp_path / "b" / "results.jsonl").exists()
