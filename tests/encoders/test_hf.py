"""``hf:`` against transformers called directly, one text at a time, on models that are built here."""

import json
import logging
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sentprobe.encoders import Spec, load, transformer
from sentprobe.encoders.schemes import hf
from sentprobe.errors import EncoderError, NotInstalled, UsageError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
hub = pytest.importorskip("huggingface_hub")

TEXTS = [
    "The miller grinds the corn.",
    "Grey geese!",
    "",
    "Why would a miller who owns two mills and a pond sell them to his neighbour before the rain?",
    "Rain",
    "she sold the geese, the pond and the mill",
    "Ünïcödé 雨 — and numbers like 1984",
]
"""Of many lengths; one is empty, and the two-layer models know no more words than these."""

SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def word_pieces(**options):
    """A WordPiece tokenizer with BERT's special tokens that knows some words, and letters for the others."""
    # given and not trained: training breaks ties between words as it likes
    specials, letters = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], [*"abcdefghijklmnopqrstuvwxyz0123456789.,!?—"]
    known = ["the", "mill", "##er", "corn", "geese", "rain", "pond", "sold", "and", "neigh", "##bour"]
    vocab = {piece: i for i, piece in enumerate([*specials, *letters, *(f"##{letter}" for letter in letters), *known])}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocab, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    ends = [(token, made.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    made.post_processor = tokenizers.processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = {f"{token[1:-1].lower()}_token": token for token in specials}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **names, **options)


def byte_pairs():
    """A byte-level BPE tokenizer such as GPT-2 has: no padding token, and nothing is added to a text."""
    byte_level, end = tokenizers.pre_tokenizers.ByteLevel, "<|endoftext|>"
    merges = [
        ("i", "n"),
        ("r", "a"),
        ("ra", "in"),
        ("i", "l"),
        ("il", "l"),
        ("Ġ", "m"),
        ("Ġm", "ill"),
        ("t", "h"),
        ("th", "e"),
    ]
    pieces = [end, *sorted(byte_level.alphabet()), *("".join(pair) for pair in merges)]
    vocab = {piece: i for i, piece in enumerate(pieces)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, merges))
    made.pre_tokenizer = byte_level(add_prefix_space=False)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, bos_token=end, eos_token=end, unk_token=end)


def save(folder, model, tokenizer):
    """Save a model with weights large enough to tell one token from another."""
    generator = torch.Generator().manual_seed(20)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.normal_(std=0.3, generator=generator)
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_bert(folder, **options):
    """A BERT of two layers and sixteen dimensions, for at most 48 tokens."""
    tokenizer = word_pieces(**{"model_max_length": 40, **options})
    config = transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=48, **SMALL)
    return save(folder, transformers.BertModel(config), tokenizer)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    tokenizer = byte_pairs()
    sizes = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "bos_token_id": 0, "eos_token_id": 0}
    config = transformers.GPT2Config(vocab_size=len(tokenizer), **sizes)
    return save(tmp_path_factory.mktemp("models") / "gpt2", transformers.GPT2Model(config), tokenizer)


@pytest.fixture
def copy(bert, tmp_path):
    """A copy of the BERT folder that a test may spoil."""
    return Path(shutil.copytree(bert, tmp_path / "bert"))


def states(folder, *, kind=None, longest=40):
    """Of each of TEXTS all hidden states (layers, tokens, d), from transformers directly."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = (kind or transformers.AutoModel).from_pretrained(folder, dtype=torch.float32).eval()
    for text in TEXTS:
        ids = tokenizer(text, truncation=True, max_length=longest)["input_ids"] or [tokenizer.eos_token_id]
        with torch.inference_mode():
            hidden = model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
        yield np.stack([layer[0].numpy() for layer in hidden])


POOLING = {
    "mean": lambda hidden: hidden.mean(1),
    "max": lambda hidden: hidden.max(1),
    "cls": lambda hidden: hidden[:, 0],
    "last": lambda hidden: hidden[:, -1],
    "weightedmean": lambda hidden: np.average(hidden, axis=1, weights=np.arange(1, hidden.shape[1] + 1)),
}


def expected(folder, pool, **options):
    """(layers, n, d) for TEXTS, one text at a time."""
    return np.stack([POOLING[pool](hidden) for hidden in states(folder, **options)], axis=1).astype(np.float32)


def assert_near(found, wanted, tolerance=1e-5):
    assert found.dtype == np.float32
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


# vectors


@pytest.mark.parametrize("pool", POOLING)
def test_every_layer_of_an_encoder_is_what_transformers_gives_for_one_text(bert, pool):
    encoder = load(f"hf:{bert}?layer=*&pool={pool}")
    assert encoder.layers == ("0", "1", "2")
    assert_near(encoder(TEXTS), expected(bert, pool))


@pytest.mark.parametrize("pool", POOLING)
def test_every_layer_of_a_decoder_is_what_transformers_gives_for_one_text(gpt2, pool):
    encoder = load(f"hf:{gpt2}?layer=*&pool={pool}&max=40")
    assert_near(encoder(TEXTS), expected(gpt2, pool))


def test_the_last_layer_and_the_mean_are_the_default(bert):
    encoder = load(f"hf:{bert}")
    assert encoder.layers is None
    assert_near(encoder(TEXTS), expected(bert, "mean")[-1])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-2", [1]),
        ("0", [0]),
        ("0..2", [0, 1, 2]),
        ("2,0", [2, 0]),
        ("-2..-1", [1, 2]),
        ("0..1,-1", [0, 1, 2]),
        ("1,-2", [1]),
    ],
)
def test_layers_are_named_by_number_range_and_list(bert, text, wanted):
    encoder = load(f"hf:{bert}?layer={text}")
    whole = load(f"hf:{bert}?layer=*")(TEXTS)
    assert encoder.layers == (tuple(map(str, wanted)) if len(wanted) > 1 else None)
    assert_near(encoder(TEXTS), whole[wanted] if len(wanted) > 1 else whole[wanted[0]])


def test_first_last_is_the_mean_of_the_first_block_and_the_last(bert):
    encoder = load(f"hf:{bert}?pool=first-last")
    whole = expected(bert, "mean")
    assert encoder.layers is None
    assert_near(encoder(TEXTS), (whole[1] + whole[2]) / 2)


@pytest.mark.parametrize("pool", ["mean", "max", "first-last"])
def test_special_tokens_can_be_left_out_unless_there_are_no_others(bert, pool):
    encoder = load(f"hf:{bert}?pool={pool}&special=drop")
    wanted = []
    for hidden in states(bert):
        own = hidden[:, 1:-1] if hidden.shape[1] > 2 else hidden  # between [CLS] and [SEP]
        mean, most = own.mean(1), own.max(1)
        wanted.append({"mean": mean[2], "max": most[2], "first-last": (mean[1] + mean[2]) / 2}[pool])
    assert_near(encoder(TEXTS), np.stack(wanted))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("how", POOLING)
def test_pooling_ignores_padding_on_either_side_even_if_it_is_not_a_number(how, side):
    generator = torch.Generator().manual_seed(3)
    texts = [torch.randn(length, 8, generator=generator) for length in (1, 4, 7)]
    hidden, mask = torch.full((3, 7, 8), float("nan")), torch.zeros(3, 7, dtype=torch.bool)
    for i, text in enumerate(texts):
        span = slice(7 - len(text), 7) if side == "left" else slice(0, len(text))
        hidden[i, span], mask[i, span] = text, True
    wanted = np.concatenate([POOLING[how](text.numpy()[None]) for text in texts])
    assert_near(hf.pool(torch, hidden, mask, how).numpy(), wanted)


def test_the_padding_side_of_the_tokenizer_does_not_matter(bert, tmp_path):
    left = save_bert(tmp_path / "left", padding_side="left")
    assert transformers.AutoTokenizer.from_pretrained(left).padding_side == "left"
    assert_near(load(f"hf:{left}?layer=*&pool=last")(TEXTS), load(f"hf:{bert}?layer=*&pool=last")(TEXTS), 0)


@pytest.mark.parametrize("pool", POOLING)
@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_a_batch_of_one_is_a_batch_of_sixty_four_in_any_order(model, pool, request):
    encoder = load(f"hf:{request.getfixturevalue(model)}?layer=*&pool={pool}")
    texts = [" ".join((TEXTS[i % 7], TEXTS[i // 7 % 7])[: 1 + i % 2]) for i in range(64)]
    together = encoder(texts)
    assert_near(np.concatenate([encoder([text]) for text in texts], axis=1), together)
    order = np.random.default_rng(7).permutation(64)
    assert_near(encoder([texts[i] for i in order]), together[:, order])


def test_many_texts_are_taken_in_parts_and_stay_the_same(bert, monkeypatch):
    encoder = load(f"hf:{bert}?layer=*")
    together = encoder(TEXTS)
    monkeypatch.setattr(transformer, "MAX_BATCH_TOKENS", 30)
    assert len([*hf.spans(encoder.cost(TEXTS))]) > 1
    assert_near(encoder(TEXTS), together)


def test_parts_cover_every_text_once_and_stay_below_the_bound():
    lengths = [int(n) for n in np.random.default_rng(1).integers(1, 9000, 300)] + [40_000, 1, 1]
    parts = [*hf.spans(lengths)]
    assert [i for part in parts for i in range(len(lengths))[part]] == list(range(len(lengths)))
    assert all(
        max(lengths[part]) * len(lengths[part]) <= transformer.MAX_BATCH_TOKENS
        for part in parts
        if len(lengths[part]) > 1
    )
    assert [*hf.spans([])] == []


def test_no_texts_give_no_rows(bert):
    assert load(f"hf:{bert}")([]).shape == (0, 16)
    assert load(f"hf:{bert}?layer=*")([]).shape == (3, 0, 16)
    assert load(f"hf:{bert}").cost([]) == []
    assert load(f"hf:{bert}").words([]).shape == (0, 16)


def test_the_empty_text_of_a_decoder_is_its_end_token(gpt2):
    encoder = load(f"hf:{gpt2}?pool=last")
    assert_near(encoder([""]), encoder(["<|endoftext|>"]), 0)
    assert encoder.cost(["", "<|endoftext|>"]) == [1, 1]


def test_encoding_leaves_the_callers_settings_alone(bert):
    levels = ["transformers", "sentence_transformers", "huggingface_hub"]

    def settings():
        return (
            [logging.getLogger(name).level for name in levels],
            transformers.utils.logging.is_progress_bar_enabled(),
            hub.utils.are_progress_bars_disabled(),
            torch.is_grad_enabled(),
            torch.get_num_threads(),
            torch.get_default_dtype(),
            torch.get_rng_state().sum().item(),
        )

    before = settings()
    load(f"hf:{bert}")(TEXTS)
    assert settings() == before


def test_loading_says_nothing(bert, capfd):
    load(f"hf:{bert}")(TEXTS)
    assert capfd.readouterr() == ("", "")


# length, prompt, number format, device


def test_long_texts_are_cut_off_where_the_tokenizer_says(bert):
    encoder = load(f"hf:{bert}")
    long = "corn " * 5000
    assert dict(encoder.identity.facts)["max"] == "40"
    assert encoder.cost([long, "corn"]) == [40, 3]
    assert_near(encoder([long]), encoder(["corn " * 38]), 0)  # 38 words, [CLS] and [SEP]


def test_long_texts_are_cut_off_where_the_caller_says(bert):
    encoder = load(f"hf:{bert}?max=5")
    assert dict(encoder.identity.facts)["max"] == "5"
    assert_near(encoder(["corn " * 9]), load(f"hf:{bert}")(["corn corn corn"]), 0)


@pytest.mark.parametrize("asked", ["2", "49"])
def test_a_length_that_the_model_cannot_take_is_refused(bert, asked):
    with pytest.raises(UsageError, match=f"max={asked}; this model takes 3 to 48 tokens"):
        load(f"hf:{bert}?max={asked}")


def test_a_tokenizer_without_a_limit_leaves_it_to_the_model(gpt2):
    encoder = load(f"hf:{gpt2}")
    assert encoder.max == 64
    assert encoder.cost(["rain " * 500]) == [64]
    assert np.isfinite(encoder(["rain " * 500])).all()


def test_positions_that_start_behind_the_padding_token_leave_less_room(tmp_path):
    tokenizer = word_pieces()
    config = transformers.RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=30, pad_token_id=0, **SMALL)
    encoder = load(f"hf:{save(tmp_path / 'roberta', transformers.RobertaModel(config), tokenizer)}?layer=*")
    assert encoder.max == 29
    assert np.isfinite(encoder(["corn " * 99])).all()
    assert_near(np.concatenate([encoder([text]) for text in TEXTS], axis=1), encoder(TEXTS))


def test_of_an_encoder_with_a_decoder_the_encoder_is_read(tmp_path):
    tokenizer = word_pieces()
    config = transformers.T5Config(vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2)
    folder = save(tmp_path / "t5", transformers.T5Model(config), tokenizer)
    encoder = load(f"hf:{folder}?layer=*")
    assert encoder.max == 512  # relative positions, and a tokenizer that knows no limit
    assert_near(encoder(TEXTS), expected(folder, "mean", kind=transformers.T5EncoderModel, longest=512))
    assert not any(name.startswith("decoder") for name, _ in encoder.model.named_parameters())


def test_of_a_model_that_has_no_class_for_its_encoder_the_encoder_is_read_as_well(tmp_path):
    tokenizer, heads = word_pieces(), dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2)
    layers = dict.fromkeys(("encoder_layers", "decoder_layers"), 2)
    config = transformers.BartConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_ffn_dim=32, decoder_ffn_dim=32, pad_token_id=0, **heads, **layers
    )
    model = transformers.BartModel(config)
    encoder = load(f"hf:{save(tmp_path / 'bart', model, tokenizer)}?layer=*")
    with torch.inference_mode():
        ids = tokenizer("Grey geese!", return_tensors="pt")["input_ids"]
        hidden = model.get_encoder()(input_ids=ids, output_hidden_states=True).hidden_states
    assert_near(encoder(["Rain", "Grey geese!"])[:, 1], torch.stack(hidden)[:, 0].mean(1).numpy())


def test_a_prompt_goes_before_every_text(bert):
    prompted, plain = load(f"hf:{bert}?prompt=grey%20geese%20"), load(f"hf:{bert}")
    assert_near(prompted(TEXTS), plain([f"grey geese {text}" for text in TEXTS]), 0)
    assert prompted.cost(TEXTS) == plain.cost([f"grey geese {text}" for text in TEXTS])
    assert dict(prompted.identity.facts)["prompt"] == "grey geese "
    assert load(f"hf:{bert}?prompt=").identity == plain.identity


def check_half(folder, dtype, tolerance):
    encoder, whole = load(f"hf:{folder}?dtype={dtype}&layer=*"), load(f"hf:{folder}?layer=*")
    assert encoder.model.dtype == getattr(torch, dtype)
    assert_near(encoder(TEXTS), whole(TEXTS), tolerance)
    assert not np.array_equal(encoder(TEXTS), whole(TEXTS))
    assert encoder.identity == whole.identity.with_facts(dtype=dtype)
    assert_near(encoder.words(["corn"]), whole.words(["corn"]), tolerance)


def test_half_precision_is_near_and_another_identity(bert):
    check_half(bert, "float16", 1e-2)  # eleven bits


def test_brain_float_is_near_and_another_identity(bert):
    check_half(bert, "bfloat16", 1e-1)  # eight bits


def test_weights_kept_in_half_precision_are_used_in_single(bert, tmp_path):
    kept = transformers.BertModel.from_pretrained(bert, dtype=torch.float16)
    kept.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(bert).save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == "float16"
    assert load(f"hf:{tmp_path}").model.dtype == torch.float32
    assert_near(load(f"hf:{tmp_path}")(TEXTS), expected(tmp_path, "mean")[-1])


def test_a_model_may_be_spread_over_the_devices_there_are(bert, monkeypatch):
    pytest.importorskip("accelerate")
    asked = []
    for kind in (transformers.AutoModel, transformers.AutoModelForTextEncoding):
        read = kind.from_pretrained
        recording = partial(lambda read, *a, **options: asked.append(options) or read(*a, **options), read)
        monkeypatch.setattr(kind, "from_pretrained", recording)
    spread = load(f"hf:{bert}?device=auto")
    assert asked[0]["device_map"] == "auto"
    assert spread.identity == load(f"hf:{bert}").identity
    assert_near(spread(TEXTS), load(f"hf:{bert}")(TEXTS))


def test_a_device_that_is_not_there_is_refused(bert):
    assert load(f"hf:{bert}?device=cpu").identity == load(f"hf:{bert}").identity
    with pytest.raises(UsageError, match=r"device=cuda:99, which cannot be used here"):
        load(f"hf:{bert}?device=cuda:99")
    with pytest.raises(UsageError, match=r"device=toaster, which cannot be used here"):
        load(f"hf:{bert}?device=toaster")


# words and costs


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_a_word_is_the_mean_of_its_sub_tokens_in_the_embedding_table(model, request):
    folder = request.getfixturevalue(model)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    table = transformers.AutoModel.from_pretrained(folder).get_input_embeddings().weight.detach().numpy()
    words = ["corn", "neighbours", "mill pond"]
    pieces = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in words]
    assert max(map(len, pieces)) > 1
    assert_near(load(f"hf:{folder}").words(words), np.stack([table[ids].mean(0) for ids in pieces]))
    assert_near(load(f"hf:{folder}").words(["", "corn"])[0], np.zeros(16, np.float32), 0)


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_the_cost_of_a_text_is_its_number_of_tokens(model, request):
    folder = request.getfixturevalue(model)
    assert load(f"hf:{folder}?max=40").cost(TEXTS) == [hidden.shape[1] for hidden in states(folder)]
    assert load(f"hf:{folder}").batch_size == 64


# identity


def test_an_identity_says_everything_that_can_move_a_vector(bert):
    one = load(f"hf:{bert}?layer=-2&pool=max&special=drop")
    assert (one.identity.scheme, one.identity.name) == ("hf", "bert")
    facts = dict(one.identity.facts)
    assert facts.pop("revision").startswith("blake2b:")
    assert facts == {"layer": "1", "pool": "max", "special": "drop", "max": "40", "dtype": "float32"}


def test_layers_asked_for_together_have_the_identities_they_have_alone(bert):
    several = load(f"hf:{bert}?layer=*")
    assert "layer" not in dict(several.identity.facts)
    for name in several.layers:
        assert several.identity.with_facts(layer=name) == load(f"hf:{bert}?layer={name}").identity
    assert load(f"hf:{bert}").identity == load(f"hf:{bert}?layer=2").identity


def test_what_has_no_effect_is_no_part_of_the_identity(bert):
    assert "special" not in dict(load(f"hf:{bert}?pool=cls").identity.facts)
    assert "layer" not in dict(load(f"hf:{bert}?pool=first-last").identity.facts)


def test_the_identity_follows_the_content_and_not_the_place(bert, copy):
    same = load(f"hf:{bert}").identity
    (copy / "README.md").write_text("Geese.")
    (copy / ".cache").mkdir()
    assert load(f"hf:{copy}").identity == same
    assert load(f"hf:{copy.parent}/./bert/").identity == same
    (copy / "part_a.safetensors").write_bytes(b"weights under another name")
    assert load(f"hf:{copy}").identity != same


def test_the_identity_changes_with_one_bit_of_a_weight(bert, copy):
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert load(f"hf:{copy}").identity != load(f"hf:{bert}").identity


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json"])
def test_the_identity_changes_with_the_configuration_and_the_tokenizer(bert, copy, name):
    with (copy / name).open("a") as file:
        file.write("\n")
    assert load(f"hf:{copy}").identity != load(f"hf:{bert}").identity


# what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("layer=3", r"has layer=3; this model has layers 0\.\.2"),
        ("layer=-4", r"has layer=-4; this model has layers 0\.\.2"),
        ("layer=2..1", r"has layer=2\.\.1; .* a range is ascending"),
        ("layer=all", r"has layer=all; expected a number"),
        ("layer=1,,2", r"has layer=1,,2; expected a number"),
        ("pool=median", "has pool=median; expected mean, max, cls, last, weightedmean or first-last"),
        ("special=none", "has special=none; expected keep or drop"),
        ("special=drop&pool=cls", "pool=cls uses one token"),
        ("layer=1&pool=first-last", r"leave layer=… out"),
        ("dtype=int8", "has dtype=int8; expected float32, float16 or bfloat16"),
        ("max=0", "has max=0; expected an integer"),
        ("max=many", "has max=many; expected an integer"),
        (
            "trust=true",
            "has the option 'trust'; hf: takes base, device, dtype, lang, layer, max, pool, prompt, random, sp",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(bert, options, message):
    with pytest.raises(UsageError, match=message):
        load(f"hf:{bert}?{options}")


@pytest.mark.parametrize(
    "name", ["", "./no-such-folder", "/no/such/folder", "a/b/c", "~nobody/model", "white space", "mill/grey--geese"]
)
def test_a_name_that_can_only_be_a_folder_must_be_there(name):
    with pytest.raises(UsageError, match="names neither an existing folder nor a model on the hub"):
        load(str(Spec("hf", name)))


def test_a_file_is_no_folder(copy):
    with pytest.raises(UsageError, match="names neither an existing folder"):
        load(f"hf:{copy}/config.json")


def test_a_folder_has_no_revisions(bert):
    with pytest.raises(UsageError, match="is a folder, which has no revisions"):
        load(f"hf:{bert}@main")


def test_a_folder_without_a_model_is_named_with_what_it_has(tmp_path):
    with pytest.raises(EncoderError, match=r"expected config\.json in it, got nothing"):
        load(f"hf:{tmp_path}")
    for name in "abcdefg":
        (tmp_path / f"{name}.txt").write_text("")
    with pytest.raises(EncoderError, match=r"got a\.txt, b\.txt, c\.txt, d\.txt, e\.txt and 2 more"):
        load(f"hf:{tmp_path}")


def test_a_folder_without_weights_is_refused(copy):
    (copy / "model.safetensors").unlink()
    with pytest.raises(EncoderError, match=r"has no weights: expected model\.safetensors, got config\.json, tok"):
        load(f"hf:{copy}")


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("tokenizer.json", "cannot be loaded"),
        ("tokenizer*.json", r"has no tokenizer: expected .*tokenizer\.json.*, got config\.json, model\.safetensors"),
    ],
)
def test_a_folder_without_a_tokenizer_is_refused(copy, lost, message):
    for path in copy.glob(lost):
        path.unlink()
    with pytest.raises(EncoderError, match=message):
        load(f"hf:{copy}")


@pytest.mark.parametrize("content", [b"", b"not weights at all", None])
def test_damaged_weights_are_refused(copy, content):
    weights = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(weights[:-100] if content is None else content)
    with pytest.raises(EncoderError, match="cannot be loaded"):
        load(f"hf:{copy}")


def test_weights_that_are_missing_are_not_drawn_at_random(copy):
    safetensors = pytest.importorskip("safetensors.torch")
    weights = safetensors.load_file(copy / "model.safetensors")
    del weights["encoder.layer.1.attention.self.query.weight"]
    safetensors.save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match=r"lacks 1 of its weights, such as encoder\.layer\.1\.attention"):
        load(f"hf:{copy}")


def test_a_pooler_and_a_head_are_not_missed(bert, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    config = transformers.BertConfig(vocab_size=len(tokenizer), **SMALL)
    folder = save(tmp_path / "masked", transformers.BertForMaskedLM(config), tokenizer)
    assert_near(load(f"hf:{folder}?layer=*")(TEXTS), expected(folder, "mean"))


def test_a_model_that_reads_no_texts_is_refused(copy):
    config = transformers.ViTConfig(image_size=8, patch_size=4, **SMALL)
    transformers.ViTModel(config).save_pretrained(copy)
    with pytest.raises(EncoderError, match="is a ViTModel, which does not read texts"):
        load(f"hf:{copy}")


def test_code_that_comes_with_a_model_is_not_run(copy, tmp_path):
    config = json.loads((copy / "config.json").read_text())
    own = {"AutoConfig": "own.Config", "AutoModel": "own.Model"}
    (copy / "config.json").write_text(json.dumps({**config, "model_type": "own", "auto_map": own}))
    (copy / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(EncoderError, match="comes with code of its own, which sentprobe does not run"):
        load(f"hf:{copy}")
    assert not (tmp_path / "ran").exists()


def test_pickled_weights_are_read_where_there_are_no_others(copy):
    torch.save(transformers.BertModel.from_pretrained(copy).state_dict(), copy / "pytorch_model.bin")
    safe = load(f"hf:{copy}")
    (copy / "model.safetensors").unlink()
    pickled = load(f"hf:{copy}")
    assert_near(pickled(TEXTS), safe(TEXTS), 0)
    assert pickled.identity != safe.identity


class Malice:
    """Unpickling this writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_pickled_code_is_not_run(copy, tmp_path):
    (copy / "model.safetensors").unlink()
    torch.save({"embeddings": Malice(tmp_path / "ran")}, copy / "pytorch_model.bin")
    with pytest.raises(EncoderError, match="cannot be loaded"):
        load(f"hf:{copy}")
    assert not (tmp_path / "ran").exists()


# packages


def test_importing_the_schemes_imports_nothing_heavy():
    code = "import sys\nfrom sentprobe.encoders.schemes import hf, st\nprint(*(m.split('.')[0] for m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"torch", "transformers", "sentence_transformers", "huggingface_hub", "numpy"}
    assert heavy.isdisjoint(loaded)


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_package_that_is_not_installed_is_named_with_how_to_get_it(bert, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NotInstalled, match=rf"need {package}, .*: pip install .*\[transformers\]"):
        load(f"hf:{bert}")


def test_a_folder_that_changes_while_it_is_loaded_is_refused(copy, monkeypatch):
    read = hf._load

    def meanwhile(*arguments, **options):
        found = read(*arguments, **options)
        (copy / "config.json").write_text((copy / "config.json").read_text() + " ")
        return found

    monkeypatch.setattr(hf, "_load", meanwhile)
    with pytest.raises(EncoderError, match="changed while it was loaded"):
        load(f"hf:{copy}")
