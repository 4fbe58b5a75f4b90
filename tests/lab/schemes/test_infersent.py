"""InferSent: the vectors of the authors' network, its tokenisation, and what is said where files are missing.

The authors' own class (models.py of facebookresearch/InferSent at 31eede6) gave the same vectors, to the last bit, on
random weights and the texts below, one text per batch; here torch's LSTM stands for it.
"""

import numpy as np
import pytest

from sentprobe import encoders
from sentprobe.errors import DataError, EncoderError, UsageError
from sentprobe.run.controls.untrained import untrained
from sentprobe.testing import check_encoder
from sentprobe.testing.encoders import TEXTS_BY_LANGUAGE

torch = pytest.importorskip("torch")
pytest.importorskip("nltk")

TEXTS = ["The cat sat on the mat.", "You don't know the cat!", "", "zzz", "half \ud800", "the " * 30]
WORDS = ["The", "cat", "sat", "on", "the", "mat", ".", "You", "do", "n't", "don", "'t", "know", "!", "half"]
WORDS += [word for text in TEXTS_BY_LANGUAGE["English"] for word in text.split() if word not in WORDS]
WIDTH, HIDDEN = 6, 5
FILES = {1: ("infersent1.pkl", "glove.840B.300d.txt"), 2: ("infersent2.pkl", "crawl-300d-2M.vec")}


def lstm(seed=0):
    torch.manual_seed(seed)
    return torch.nn.LSTM(WIDTH, HIDDEN, 1, bidirectional=True)


def write(folder, version, *, marks=True, legacy=False):
    """The two files as they are released: weights by name, and word vectors as text."""
    weights, vectors = FILES[version]
    state = {f"enc_lstm.{name}": value for name, value in lstm(version).state_dict().items()}
    torch.save(state, folder / weights, _use_new_zipfile_serialization=not legacy)
    words = [*WORDS, *({1: ["<s>", "</s>"], 2: ["<p>", "</p>"]}[version] if marks else [])]
    rows = np.random.default_rng(version).normal(size=(len(words), WIDTH)).round(4)
    lines = [" ".join([word, *map(str, row)]) for word, row in zip(words, rows.tolist(), strict=True)]
    header = [f"{len(words)} {WIDTH}"] if version == 2 else []
    (folder / vectors).write_text("\n".join([*header, *lines]) + "\n", "utf-8")
    return dict(zip(words, rows.astype(np.float32), strict=True))


def expected(version, table, words):
    inputs = torch.from_numpy(np.array([table[word] for word in words if word in table]))
    return lstm(version)(inputs[:, None])[0].amax(0)[0].detach().numpy()


@pytest.mark.parametrize("legacy", [True, False])
def test_version_1_has_glove_marks_and_the_penn_treebanks_tokens(tmp_path, legacy):
    table = write(tmp_path, 1, legacy=legacy)
    found = encoders.load(f"infersent:{tmp_path}?tokenise=treebank")([*TEXTS])
    tokens = [["The", "cat", "sat", "on", "the", "mat", "."], ["You", "do", "n't", "know", "the", "cat", "!"], [], []]
    for vector, words in zip(found, tokens, strict=False):
        np.testing.assert_allclose(vector, expected(1, table, ["<s>", *words, "</s>"]), atol=1e-6)
    assert found.shape == (len(TEXTS), 2 * HIDDEN)


def test_version_2_has_other_marks_and_splits_negations_as_moses(tmp_path):
    table = write(tmp_path, 2)
    encoder = encoders.load(f"infersent:{tmp_path / 'infersent2.pkl'}?tokenise=treebank")
    # "do n't" becomes "don 't" only between spaces, as in the authors' code
    words = ["<p>", "You", "don", "'t", "know", "the", "cat", "!", "</p>"]
    np.testing.assert_allclose(encoder([TEXTS[1]])[0], expected(2, table, words), atol=1e-6)
    assert [word for word, _ in encoder.selection([TEXTS[1]])[0]] == words
    assert sum(share for _, share in encoder.selection([TEXTS[1]])[0]) == pytest.approx(1)
    tokenised = encoders.load(f"infersent:{tmp_path}?tokenise=space")
    np.testing.assert_allclose(
        tokenised(["You do n't know"])[0], expected(2, table, ["<p>", "You", "do", "n't", "know", "</p>"]), atol=1e-6
    )


def test_nltk_splits_sentences_first(tmp_path, monkeypatch):
    import nltk

    from sentprobe.corpus.tokenisers import tokeniser

    tokeniser.cache_clear()
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path / "nltk_data")])
    nltk.tokenize._get_punkt_tokenizer.cache_clear()
    table = write(tmp_path, 1)
    with pytest.raises(EncoderError, match=r"punkt_tab.*treebank has the same rules"):
        encoders.load(f"infersent:{tmp_path}")
    punkt = tmp_path / "nltk_data" / "tokenizers" / "punkt_tab" / "english"
    punkt.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        (punkt / name).write_text("")
    text, words = "The cat sat. You know.", ["The", "cat", "sat", ".", "You", "know", "."]
    found = encoders.load(f"infersent:{tmp_path}")([text])[0]
    np.testing.assert_allclose(found, expected(1, table, ["<s>", *words, "</s>"]), atol=1e-6)
    treebank = encoders.load(f"infersent:{tmp_path}?tokenise=treebank")
    np.testing.assert_allclose(  # which leaves the full stop at "sat.", a word without a vector
        treebank([text])[0], expected(1, table, ["<s>", *words[:2], *words[4:], "</s>"]), atol=1e-6
    )
    tokeniser.cache_clear()
    nltk.tokenize._get_punkt_tokenizer.cache_clear()


def test_a_text_without_known_words_or_marks_has_the_zero_vector(tmp_path):
    write(tmp_path, 1, marks=False)
    encoder = encoders.load(f"infersent:{tmp_path}?tokenise=treebank")
    found = encoder(["", "zzz", "the cat"])
    assert not found[:2].any()
    assert found[2].any()
    assert encoder([]).shape == (0, 2 * HIDDEN)


def test_it_follows_the_rules_of_encoders(tmp_path):
    table = write(tmp_path, 2)
    encoder = encoders.load(f"infersent:{tmp_path}?tokenise=treebank")
    np.testing.assert_allclose(encoder(TEXTS), np.concatenate([encoder([text]) for text in TEXTS]), atol=1e-6)
    np.testing.assert_allclose(encoder.words(["cat", "zzz"]), [table["cat"], np.zeros(WIDTH)], atol=1e-6)
    check_encoder(encoder)


def test_the_identity_is_the_content(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        write(folder, 1)

    def load(folder, options=""):
        return encoders.load(f"infersent:{folder}?tokenise=treebank{options}").identity

    before = load(one)
    assert before == load(other)
    assert before != load(one, "&version=1").with_facts(tokenise="space")
    state = torch.load(other / "infersent1.pkl", weights_only=True)
    state["enc_lstm.bias_ih_l0"][0] += 1
    torch.save(state, other / "infersent1.pkl")
    assert load(other) != before
    text = (one / "glove.840B.300d.txt").read_text("utf-8")
    (one / "glove.840B.300d.txt").write_text(text.replace("cat ", "cats ", 1), "utf-8")
    assert load(one) != before


def test_random_weights_are_the_same_for_a_seed_and_not_those_of_the_file(tmp_path):
    write(tmp_path, 1)
    plain, one, again, other = (
        encoders.load(f"infersent:{tmp_path}?tokenise=space{more}")
        for more in ("", "&random=5", "&random=5", "&random=6")
    )
    np.testing.assert_array_equal(one(TEXTS), again(TEXTS))
    assert np.abs(one(TEXTS) - plain(TEXTS)).max() > 0.01
    assert np.abs(one(TEXTS) - other(TEXTS)).max() > 0.01
    assert len({plain.identity, one.identity, other.identity}) == 3
    assert untrained(f"infersent:{tmp_path}") == f"infersent:{tmp_path}?random=0"


@pytest.mark.parametrize(
    ("remove", "message"),
    [
        (
            "infersent1.pkl",
            r"infersent2\.pkl\. Files are not downloaded; .*https://dl\.fbaipublicfiles\.com/infersent/",
        ),
        ("glove.840B.300d.txt", r"no file .*glove\.840B\.300d\.txt.*https://nlp\.stanford\.edu/data/glove"),
    ],
)
def test_missing_files_are_named_with_where_they_are_published(tmp_path, remove, message):
    write(tmp_path, 1)
    (tmp_path / remove).unlink()
    with pytest.raises(EncoderError, match=message):
        encoders.load(f"infersent:{tmp_path}?tokenise=treebank")


def test_wrong_names_are_explained(tmp_path):
    with pytest.raises(UsageError, match=r"infersent: names no file or folder.*infersent1\.pkl"):
        encoders.load("infersent:")
    with pytest.raises(EncoderError, match="there is no file or folder 'nowhere'"):
        encoders.load("infersent:nowhere")
    write(tmp_path, 1)
    write(tmp_path, 2)
    with pytest.raises(UsageError, match="name one of them"):
        encoders.load(f"infersent:{tmp_path}")
    assert encoders.load(f"infersent:{tmp_path}?version=2&tokenise=space").identity.name == "infersent2"
    (tmp_path / "infersent1.pkl").rename(tmp_path / "model.pkl")
    with pytest.raises(UsageError, match="version=1 or version=2"):
        encoders.load(f"infersent:{tmp_path / 'model.pkl'}")
    with pytest.raises(UsageError, match="no tokeniser 'moose'"):
        encoders.load(f"infersent:{tmp_path}?tokenise=moose")


def test_code_is_never_run(tmp_path):
    import pickle

    class Evil:
        def __reduce__(self):
            return (tmp_path.joinpath("ran").write_text, ("",))

    write(tmp_path, 1)
    (tmp_path / "infersent1.pkl").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(EncoderError, match="could run any code"):
        encoders.load(f"infersent:{tmp_path}?tokenise=space")
    assert not (tmp_path / "ran").exists()


def test_weights_and_vectors_of_another_shape_are_refused(tmp_path):
    write(tmp_path, 1)
    state = torch.load(tmp_path / "infersent1.pkl", weights_only=True)
    (tmp_path / "glove.840B.300d.txt").write_text("the 1 2 3\n")
    with pytest.raises(EncoderError, match=r"have 3 dimensions; infersent1\.pkl was trained with 6"):
        encoders.load(f"infersent:{tmp_path}?tokenise=space")
    for name, value, message in [
        ("weight_hh_l0", torch.zeros(4, 4), "expected 20 × 5"),
        ("bias_ih_l0", torch.full((20,), float("nan")), "not finite"),
        ("weight_ih_l0_reverse", "text", "no tensor"),
    ]:
        torch.save({**state, f"enc_lstm.{name}": value}, tmp_path / "infersent1.pkl")
        with pytest.raises(DataError, match=message):
            encoders.load(f"infersent:{tmp_path}?tokenise=space")
    torch.save({"other": torch.zeros(1)}, tmp_path / "infersent1.pkl")
    with pytest.raises(DataError, match=r"has no weight 'enc_lstm\.weight_ih_l0'"):
        encoders.load(f"infersent:{tmp_path}?tokenise=space")
