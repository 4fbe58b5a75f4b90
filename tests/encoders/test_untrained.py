"""Untrained copies of models: the architecture and the tokenizer as they are, the weights drawn from a seed."""

import numpy as np
import pytest

from sentprobe.encoders import Spec, load
from sentprobe.errors import UsageError
from sentprobe.run.controls.untrained import untrained
from tests.encoders.test_hf import TEXTS, bert, copy, gpt2

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

__all__ = ["bert", "copy", "gpt2"]  # fixtures


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_a_copy_has_the_shape_of_the_model_and_other_weights(model, request):
    folder = request.getfixturevalue(model)
    trained, copied = load(f"hf:{folder}?layer=*&max=40"), load(f"hf:{folder}?layer=*&max=40&random=0")
    before, after = trained(TEXTS), copied(TEXTS)
    assert before.shape == after.shape
    assert copied.layers == trained.layers
    assert np.isfinite(after).all()
    assert (np.abs(before - after).max(axis=(1, 2)) > 0.1).all()  # in every layer
    assert copied.cost(TEXTS) == trained.cost(TEXTS)  # the same tokenizer
    assert not np.allclose(copied.words(["rain"]), trained.words(["rain"]))


def test_weights_are_those_that_the_architecture_starts_from(bert):
    made = load(f"hf:{bert}?random=3").model
    torch.manual_seed(3)
    wanted = transformers.BertModel(transformers.BertConfig.from_pretrained(bert))
    for (name, mine), (other, theirs) in zip(made.named_parameters(), wanted.named_parameters(), strict=True):
        assert name == other
        assert torch.equal(mine, theirs)


def test_the_seed_decides_and_nobody_elses_random_numbers_move(bert):
    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    one, two = load(f"hf:{bert}?random=1"), load(f"hf:{bert}?random=1")
    assert torch.equal(torch.rand(4), expected)
    assert one(TEXTS).tobytes() == two(TEXTS).tobytes()
    assert one.identity == two.identity
    assert np.abs(one(TEXTS) - load(f"hf:{bert}?random=2")(TEXTS)).max() > 0.1


def test_the_identity_says_that_it_is_untrained(bert):
    trained, copied = load(f"hf:{bert}").identity, load(f"hf:{bert}?random=007").identity
    assert "random" not in dict(trained.facts)
    assert dict(copied.facts)["random"] == "7"
    drawn_by = f"torch {torch.__version__}, transformers {transformers.__version__}"
    assert dict(copied.facts) == {**dict(trained.facts), "random": "7", "drawn_by": drawn_by}
    assert copied.digest != load(f"hf:{bert}?random=8").identity.digest


def test_no_weights_are_needed(copy):
    (copy / "model.safetensors").unlink()
    assert load(f"hf:{copy}?random=0")(["rain"]).shape == (1, 16)


def test_half_precision_can_be_drawn_too(bert):
    vectors = load(f"hf:{bert}?random=0&dtype=bfloat16")(TEXTS)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("seed", ["-1", "x", "", "1.5", "1234567890", "²"])
def test_a_seed_is_a_whole_number(bert, seed):
    with pytest.raises(UsageError, match="expected a seed, 0 or more"):
        load(str(Spec("hf", str(bert), None, (("random", seed),))))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("hf:roberta-base", "hf:roberta-base?random=0"),
        ("hf:owner/name@v2?layer=0..3&prompt=a%26b", "hf:owner/name@v2?layer=0..3&prompt=a%26b&random=0"),
        ("hf:roberta-base?random=1", None),  # has no other
        ("static:", None),
        ("static:?dim=64", None),
        ("vec:v.txt?pool=max", None),
        ("baseline:random", None),
        ("py:my.module:encode", None),
        ("openai:text-embedding-3-small", None),
        ("my own encoder", None),
        ("mine: a function", None),
    ],
)
def test_encoders_are_named_by_their_text(name, other):
    assert untrained(name) == other


def test_the_seed_is_part_of_the_text():
    assert untrained("hf:roberta-base", 41) == "hf:roberta-base?random=41"
    assert Spec.parse(untrained("hf:roberta-base", 41)).options == (("random", "41"),)
