"""Names of encoders, taken apart and put together again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.encoders import SCHEMES, Identity, Spec, load
from sentprobe.errors import UsageError


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("static:", ("static", "", None, {})),
        ("st:all-MiniLM-L6-v2@8b3219a", ("st", "all-MiniLM-L6-v2", "8b3219a", {})),
        ("hf:/models/bert?layer=*&pool=mean", ("hf", "/models/bert", None, {"layer": "*", "pool": "mean"})),
        ("vec:my%20vectors.txt?case=lower", ("vec", "my vectors.txt", None, {"case": "lower"})),
        ("py:module:function", ("py", "module:function", None, {})),
    ],
)
def test_a_name_is_taken_apart(text, parts):
    spec = Spec.parse(text)
    assert (spec.scheme, spec.name, spec.revision, dict(spec.options)) == parts
    assert Spec.parse(str(spec)) == spec


@given(
    st.text(max_size=20), st.none() | st.text(max_size=8),
    st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=5), max_size=3),
)  # fmt: skip
def test_whatever_the_name_it_parses_back(name, revision, options):
    spec = Spec("hf", name, revision, tuple(options.items()))
    assert Spec.parse(str(spec)) == spec


@pytest.mark.parametrize("text", ["", "minilm", "Upper:x", "hf:x?", "hf:x?a", "hf:x?a=1&a=2", "hf:x?=1", ":x"])
def test_what_names_no_encoder_is_told(text):
    with pytest.raises(UsageError, match=r"expected|names no encoder"):
        Spec.parse(text)


def test_an_unknown_scheme_or_option_is_told_with_its_neighbours():
    with pytest.raises(UsageError, match=r"no encoder scheme 'stat'\. Did you mean static or st\?"):
        load("stat:x")
    with pytest.raises(UsageError, match="option 'colour'; hf: takes layer, pool"):
        Spec.parse("hf:x?colour=red").check_options({"pool", "layer"})


def test_every_scheme_has_a_loader_and_a_first_line():
    assert {"static", "vec", "st", "hf", "py", "npy", "openai", "baseline"} <= set(SCHEMES)
    for scheme in SCHEMES:
        assert callable(SCHEMES[scheme].load)
        assert SCHEMES[scheme].summary


def test_identities_differ_in_any_fact():
    one = Identity.of("hf", "x", layer=1, pool="mean", prompt=None)
    assert str(one) == "hf:x?layer=1&pool=mean"
    others = [one.with_facts(layer=2), one.with_facts(dtype="float16"), Identity.of("hf", "y", layer=1, pool="mean")]
    assert len({one.digest, *(o.digest for o in others)}) == 4
    assert one.with_facts(layer=1) == one
    assert Identity.of("a", "x&b=1").digest != Identity.of("a", "x", b=1).digest
