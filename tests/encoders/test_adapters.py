"""PEFT adapters in ``hf:`` and ``st:``, against PEFT and sentence-transformers called directly."""

import json
import sys

import numpy as np
import pytest

from sentprobe.encoders import load
from sentprobe.errors import EncoderError, NotInstalled, UsageError
from tests.encoders.test_hf import TEXTS, assert_near, bert, gpt2
from tests.encoders.test_st import imported

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

# of peft, about names in transformers
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

__all__ = ["bert", "gpt2", "imported"]  # fixtures


@pytest.fixture(scope="module")
def peft():
    return pytest.importorskip("peft")


def save_adapter(peft, model, folder, targets, **options):
    """A LoRA adapter with weights that change the model."""
    changed = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=targets, **options))
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, weights in changed.named_parameters():
            if "lora_" in name:
                weights.normal_(std=0.5, generator=generator)
    changed.save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="module")
def lora(peft, bert, tmp_path_factory):
    model = transformers.AutoModel.from_pretrained(bert)
    folder = tmp_path_factory.mktemp("adapters") / "lora"
    return save_adapter(peft, model, folder, ["query", "value"], task_type="FEATURE_EXTRACTION")


def direct(peft, folder, base, kind):
    model = peft.PeftModel.from_pretrained(kind.from_pretrained(base), str(folder)).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    for text in TEXTS:
        ids = tokenizer(text, truncation=True, max_length=40)["input_ids"] or [tokenizer.eos_token_id]
        with torch.inference_mode():
            yield model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states[-1][0].mean(0).numpy()


def test_a_model_with_an_adapter_is_what_peft_gives(peft, lora, bert):
    encoder = load(f"hf:{lora}")
    assert_near(encoder(TEXTS), np.stack([*direct(peft, lora, bert, transformers.AutoModel)]))
    assert np.abs(encoder(TEXTS) - load(f"hf:{bert}")(TEXTS)).max() > 0.1
    facts = dict(encoder.identity.facts)
    assert facts["base"] == f"bert@{dict(load(f'hf:{bert}').identity.facts)['revision']}"
    assert facts["revision"] != dict(load(f"hf:{bert}").identity.facts)["revision"]


def test_an_adapter_of_a_language_model_is_what_peft_gives(peft, gpt2, tmp_path):
    model = transformers.AutoModelForCausalLM.from_pretrained(gpt2)
    folder = save_adapter(peft, model, tmp_path / "lora", ["c_attn"], task_type="CAUSAL_LM", fan_in_fan_out=True)
    wanted = np.stack([*direct(peft, folder, gpt2, transformers.AutoModelForCausalLM)])
    assert_near(load(f"hf:{folder}?max=40")(TEXTS), wanted)


def test_the_model_of_an_adapter_may_be_elsewhere(lora, bert, tmp_path):
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in lora.iterdir():
        (moved / path.name).write_bytes(path.read_bytes())
    config = json.loads((moved / "adapter_config.json").read_text())
    (moved / "adapter_config.json").write_text(json.dumps({**config, "base_model_name_or_path": "/no/such/model"}))
    with pytest.raises(UsageError, match=r"is an adapter of /no/such/model.*Add base="):
        load(f"hf:{moved}")
    assert_near(load(f"hf:{moved}?base={bert}")(TEXTS), load(f"hf:{lora}")(TEXTS), 0)


def test_an_adapter_of_another_model_is_refused(peft, lora, gpt2):
    with pytest.raises(EncoderError, match=r"cannot be loaded|do not fit its model"):
        load(f"hf:{lora}?base={gpt2}")


def test_adapters_of_sentence_transformers_are_what_the_library_gives(peft, bert, tmp_path, monkeypatch):
    library = pytest.importorskip("sentence_transformers")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    words = modules.Transformer(str(bert), max_seq_length=30)
    model = library.SentenceTransformer(
        modules=[words, modules.Pooling(words.get_embedding_dimension(), pooling_mode="mean")], device="cpu"
    )
    model.add_adapter(peft.LoraConfig(r=2, target_modules=["query"], task_type="FEATURE_EXTRACTION"))
    generator = torch.Generator().manual_seed(8)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "lora_" in name:
                weights.normal_(std=0.5, generator=generator)
    model.save_pretrained(str(tmp_path / "st"))
    wanted = model.encode(TEXTS, show_progress_bar=False)
    encoder = load(f"st:{tmp_path / 'st'}?base={bert}")
    assert_near(encoder(TEXTS), wanted)
    assert dict(encoder.identity.facts)["base"].startswith("bert@blake2b:")


def test_without_peft_a_message_says_what_to_install(bert, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(bert)}))
    with pytest.raises(NotInstalled, match=r"need peft, .*: pip install .*\[transformers\]"):
        load(f"hf:{tmp_path}")
