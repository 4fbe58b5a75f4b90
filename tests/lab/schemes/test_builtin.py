"""The encoder that comes with sentprobe: small, without torch, trained on other sentences than it is probed on."""

import json
import shutil
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.encoders import Spec, load
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.grammar import sentences
from sentprobe.lab.schemes import builtin
from sentprobe.run.controls.untrained import untrained
from sentprobe.testing import check_encoder

TEXTS = ["The dogs were chased by a cat.", "", "She didn't laugh.", "zzz", "a " * 60]


@cache
def encoder(options=""):
    return load(f"builtin:{options}")


def test_it_follows_the_rules_of_encoders():
    check_encoder(encoder())
    assert encoder()(TEXTS).shape == (5, 128)
    assert repr(encoder()) == "<BuiltIn builtin:bilstm-tree, 128 dimensions>"


def test_it_is_small_and_in_half_precision():
    files = [file for file in builtin.FOLDER.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 1_000_000
    from safetensors.numpy import load_file

    (weights,) = (load_file(file) for file in files if file.suffix == ".safetensors")
    assert {value.dtype for value in weights.values()} == {np.dtype(np.float16)}
    assert all(name.startswith("encoder.") for name in weights)


def test_torch_computes_the_same_vectors():
    pytest.importorskip("torch")
    theirs = load(f"trained:{builtin.FOLDER}?backend=torch")
    np.testing.assert_allclose(encoder()(TEXTS[:2]), theirs(TEXTS[:2]), atol=1e-5)


def test_contractions_are_two_words():
    split = encoder().inner(["She did n't laugh.", "The girl 's dog is n't here; they 'll ca n't."])
    np.testing.assert_array_equal(encoder()(["She didn't laugh.", "The girl's dog isn't here; they'll can't."]), split)
    assert [word for word, _ in encoder().selection(["Don't run."])[0]] == ["<s>", "Do", "n't", "run", ".", "</s>"]


def test_it_was_not_trained_on_the_sentences_of_sets():
    """Seed 1 is the training data, as its configuration says; seed 0 is what --builtin and the demo make sets of."""
    about = json.loads((builtin.FOLDER / "config.json").read_text())["sentences"]
    assert about["seed"] != about["unseen seed"] == 0
    trained_on = {near_duplicate_key(s.text) for s in sentences(1500, about["seed"])}
    assert trained_on.isdisjoint(near_duplicate_key(s.text) for s in sentences(1500, 0))


def test_its_words_are_those_of_the_grammar():
    known = encoder().inner.vocabulary
    tokens = [known.number(token) > 0 for s in sentences(1500) for token in s.forms if token.isalpha()]
    assert np.mean(tokens) > 0.999


def test_it_knows_passives_and_its_untrained_twin_does_not():
    """Known answer: a linear classifier on 1,200 sentences, tested on 600, whose verbs may be the same."""
    found = [s for s in sentences(4000) if s.upos[s.heads.index(-1)] == "VERB"]
    labels = [any(r == "aux:pass" and s.heads[i] == s.heads.index(-1) for i, r in enumerate(s.deprels)) for s in found]
    passive = [s.text for s, label in zip(found, labels, strict=True) if label][:900]
    active = [s.text for s, label in zip(found, labels, strict=True) if not label][: len(passive)]
    n = 2 * len(passive) // 3
    scores = {}
    for options in ("", "?random=0"):
        a, b = (encoder(options)(texts) for texts in (passive, active))
        x, y = np.vstack((a[:n], b[:n])), np.repeat([1.0, -1.0], n)
        weights = np.linalg.solve(x.T @ x + 0.1 * np.eye(128), x.T @ y)
        scores[options] = np.mean(np.concatenate((a[n:] @ weights > 0, b[n:] @ weights < 0)))
    assert scores[""] > 0.8
    assert scores["?random=0"] < scores[""] - 0.1


def test_the_identity_covers_the_weights_and_the_seed():
    facts = dict(encoder().identity.facts)
    assert encoder().identity.scheme == "builtin"
    assert len(facts["content"]) == 32
    assert untrained("builtin:") == "builtin:?random=0"
    assert len({str(encoder(o).identity) for o in ("", "?random=0", "?random=1")}) == 3
    assert encoder("?random=0").training_score is None
    assert encoder().training_score is not None


@pytest.mark.parametrize(
    ("spec", "what"),
    [("builtin:large", "expected builtin:"), ("builtin:?dim=3", "takes random"), ("builtin:?random=x", "an integer")],
)
def test_a_wrong_spec_is_refused_with_what_was_expected(spec, what):
    with pytest.raises(UsageError, match=what):
        builtin.load(Spec.parse(spec))


def test_torch_is_not_imported():
    code = (
        "import sys; from sentprobe.encoders import load; load('builtin:')(['It ran.']); print('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("name", ["epoch-006/model.safetensors", "vocabulary.json"])
@pytest.mark.parametrize("spec", ["builtin:", "builtin:?random=0"])
def test_a_damaged_copy_is_no_encoder(tmp_path, monkeypatch, name, spec):
    place = tmp_path / "builtin"
    shutil.copytree(builtin.FOLDER, place)
    monkeypatch.setattr(builtin, "FOLDER", place)
    load(spec)
    content = bytearray((place / name).read_bytes())
    content[-50] ^= 1
    (place / name).write_bytes(content)
    with pytest.raises(SentProbeError, match="install sentprobe again"):
        load(spec)
