"""``mteb:`` against MTEB's own loaders and the model that they load."""

import json
import sys

import numpy as np
import pytest

from sentprobe.encoders import load, refuse_untrusted, sends_texts
from sentprobe.errors import EncoderError, NotInstalled, Offline, UsageError
from tests.encoders.test_hf import TEXTS, assert_near, bert, copy
from tests.encoders.test_st import direct, imported, pooled

mteb = pytest.importorskip("mteb")

__all__ = ["bert", "copy", "imported", "pooled"]  # fixtures


def register(monkeypatch, folder, **changes):
    """A model of MTEB whose weights are in a folder, with prompts by type of task and by task."""
    from mteb.models.get_model_meta import MODEL_REGISTRY
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    prompts = {"Classification": "sort: ", "STSBenchmark": "compare: ", "query": "ask: ", "document": "read: "}
    known = MODEL_REGISTRY["intfloat/multilingual-e5-small"]
    update = {"loader_kwargs": {"model_prompts": prompts}, "name": str(folder), "revision": "r1", "framework": []}
    meta = known.model_copy(update={**update, "loader": SentenceTransformerEncoderWrapper, **changes})
    monkeypatch.setitem(MODEL_REGISTRY, "mill/geese", meta)


def test_the_prompt_is_that_of_mteb_for_the_task(pooled, monkeypatch):
    register(monkeypatch, pooled)
    assert_near(load("mteb:mill/geese")(TEXTS), direct(pooled, prompt="sort: "), 1e-5)
    assert_near(load("mteb:mill/geese?task=STSBenchmark")(TEXTS), direct(pooled, prompt="compare: "), 1e-5)
    retrieval = load("mteb:mill/geese?task=NFCorpus&prompt_type=query")
    assert_near(retrieval(TEXTS), direct(pooled, prompt="ask: "), 1e-5)
    identities = [
        load(f"mteb:mill/geese{query}").identity
        for query in ("", "?task=STSBenchmark", "?prompt_type=query", "?prompt_type=document")
    ]
    assert len(set(identities)) == 4
    assert dict(identities[0].facts)["revision"] == "r1"


def test_a_model_that_is_no_model_of_sentence_transformers():
    encoder = load("mteb:mteb/baseline-random-encoder")
    assert encoder(TEXTS).shape[0] == len(TEXTS)
    assert np.array_equal(encoder(TEXTS), load("mteb:mteb/baseline-random-encoder")(TEXTS))
    assert encoder([]).shape[0] == 0


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("mteb:", "needs the name of a model"),
        (
            "mteb:intfloat/multilingual-e5-smal",
            r"not found in MTEB registry.*without a loader of MTEB are for st:",
        ),
        ("mteb:intfloat/multilingual-e5-small@other", "revision other not found"),
        ("mteb:mteb/baseline-random-encoder?task=Geese", "has task=Geese, which is not a task of MTEB"),
        ("mteb:mteb/baseline-random-encoder?prompt_type=passage", "prompt_type=passage; expected"),
    ],
)
def test_wrong_use_is_named(typed, message):
    with pytest.raises(UsageError, match=message):
        load(typed)


def test_code_that_comes_with_a_model_is_not_run_whatever_the_loader_says(copy, monkeypatch, tmp_path):
    register(monkeypatch, copy, loader_kwargs={"trust_remote_code": True})
    with pytest.raises(EncoderError, match="does not run unless you add trust_remote_code=true"):
        load("mteb:mill/geese")

    def loader(name, **options):  # one that trusts by itself
        import transformers

        return transformers.AutoConfig.from_pretrained(name, trust_remote_code=True)

    register(monkeypatch, copy, loader=loader, loader_kwargs={})
    config = json.loads((copy / "config.json").read_text())
    remote = {"AutoConfig": "millstone.MillConfig"}
    (copy / "config.json").write_text(json.dumps({**config, "model_type": "millstone2", "auto_map": remote}))
    (copy / "millstone.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(EncoderError, match="does not run unless you add trust_remote_code=true"):
        load("mteb:mill/geese")
    assert not (tmp_path / "ran").exists()
    with pytest.raises(UsageError, match="--trust"):
        refuse_untrusted("mteb:mill/geese?trust_remote_code=true", [])
    assert sends_texts("mteb:mill/geese")


def test_without_a_network_a_missing_model_is_an_error_at_once(monkeypatch):
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: 1 / 0)
    with pytest.raises(Offline, match=r"multilingual-e5-small is not in the local cache.*hf download"):
        load("mteb:intfloat/multilingual-e5-small")


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mteb", None)
    with pytest.raises(NotInstalled, match=r"mteb: needs mteb, .*: pip install .*\[mteb\]"):
        load("mteb:mteb/baseline-random-encoder")
