"""Sentence encoders as systems: precision of retrieving translations, by encoder, layer and direction."""

from pathlib import Path

import numpy as np
import pytest

from sentprobe.errors import UsageError
from sentprobe.lab.words import sentence_encoders
from sentprobe.lab.words.evaluate import evaluate_words
from sentprobe.lab.words.evaluation import EvaluationRequest
from sentprobe.lab.words.sentence_encoders import encoder_names
from sentprobe.report.summary import summarise
from tests.command_line import sentprobe
from tests.lab.words.material import WORDS, en, fr, vectors, write_vectors
from tests.lab.words.test_evaluations import write

SENTENCES = 40


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Two encoders in one space, of which the second is noisy and has its own mean; and sentences in random words."""
    folder = tmp_path_factory.mktemp("encoders")
    write_vectors(folder / "en.vec", en(), vectors())
    write_vectors(folder / "fr.vec", fr(), vectors() + 1.5 * vectors(seed=1) + 2)
    rng = np.random.default_rng(0)
    lines = [rng.integers(0, WORDS, 5).tolist() for _ in range(SENTENCES)]
    write(folder / "c.en", *(" ".join(f"en{w}" for w in line) for line in lines), "")
    write(folder / "c.fr", *(" ".join(f"fr{w}" for w in line) for line in lines), "fr1")
    (folder / "both.toml").write_text(f'en = "vec:{folder}/en.vec"\nfr = "vec:{folder}/fr.vec"\n')
    return folder


def texts(place):
    return str(place / "c.en"), str(place / "c.fr")


def pair_of(place):
    return f"vec:{place}/en.vec,vec:{place}/fr.vec"


def means(place):
    """The sentences as means of their words, by hand."""
    tables = vectors().astype(np.float64), (vectors() + 1.5 * vectors(seed=1) + 2).astype(np.float64)
    found = []
    for table, file in zip(tables, texts(place), strict=True):
        lines = [line.split() for line in Path(file).read_text("utf-8").splitlines()][:SENTENCES]
        found.append(np.array([np.mean([table[int(word[2:])] for word in line], axis=0) for line in lines]))
    return found


def precision(one, two, *, center):
    one, two = (side - side.mean(0) if center else side for side in (one, two))
    one, two = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (one, two))
    return np.mean((one @ two.T).argmax(1) == np.arange(len(one)))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_precision_is_that_of_cosines(place, tmp_path, center, reverse):
    request = EvaluationRequest(evaluation="retrieval", files=texts(place), center=center, reverse=reverse)
    run = evaluate_words([f"two={pair_of(place)}", f"family:{place}/both.toml"], [request], tmp_path, scorings=["nn"])
    one, two = means(place)
    expected = precision(two, one, center=center) if reverse else precision(one, two, center=center)
    found = {result.cell.encoder: result for result in run if result.cell.probe}
    assert len(found) == 2
    for result in found.values():
        assert result.score == pytest.approx(expected)
        assert result.scores["sentences left out"] == 1
        assert result.dimension == 12
    assert 0.05 < expected < 0.95  # so that a mistake would show
    assert run.info["aliases"] == [["two", pair_of(place)]]


def test_centring_is_of_use_here_and_another_set(place, tmp_path):
    requests = [
        EvaluationRequest(evaluation="retrieval", files=texts(place), center=center) for center in (False, True)
    ]
    run = evaluate_words([pair_of(place)], requests, tmp_path, scorings=["nn"])
    plain, centred = (result for result in run if result.cell.probe)
    assert (plain.cell.dataset, centred.cell.dataset) == ("retrieval/c.en-fr", "retrieval/c.en-fr (centred)")
    assert plain.score < centred.score


def test_of_sentences_that_occur_twice_either_is_right(place, tmp_path):
    write(tmp_path / "d.en", "en1", "en1", "en2", "en3")
    write(tmp_path / "d.fr", "fr1", "fr5", "fr2", "fr2")
    request = EvaluationRequest(evaluation="retrieval", files=(str(tmp_path / "d.en"), str(tmp_path / "d.fr")))
    table = vectors()
    write_vectors(tmp_path / "near.vec", ["fr1", "fr2", "fr5"], np.stack([table[7], table[2], table[1]]))
    run = evaluate_words([f"vec:{place}/en.vec,vec:{tmp_path}/near.vec"], [request], tmp_path / "r", scorings=["nn"])
    (found,) = (result for result in run if result.cell.probe)
    # fr5 is where en1 is, and fr2 where en2 is; en3 is near neither
    near_en3 = int(np.argmax([v @ table[3] / np.linalg.norm(v) for v in (table[7], table[1], table[2])])) == 2
    assert found.score == (3 + near_en3) / 4


def test_nothing_is_encoded_twice(place, tmp_path, monkeypatch):
    request = EvaluationRequest(evaluation="retrieval", files=texts(place))
    calls = []
    real = sentence_encoders.embed

    def counted(*args, **kw):
        calls.append(args)
        return real(*args, **kw)

    monkeypatch.setattr(sentence_encoders, "embed", counted)
    first = evaluate_words([pair_of(place)], [request], tmp_path)
    assert len(calls) == 2  # two sides, for both ways to score neighbours
    again = evaluate_words([pair_of(place)], [request], tmp_path)
    assert len(calls) == 2
    assert [r.score for r in first] == [r.score for r in again]


def test_layers_are_systems(place, tmp_path, monkeypatch):
    one, two = means(place)
    noise = np.random.default_rng(5).normal(size=one.shape)

    class Layered:
        layers = ("low", "high")

        def __init__(self, table, path):
            self.table, self.lines = table, Path(path).read_text("utf-8").splitlines()

        def __call__(self, asked):
            rows = [self.lines.index(text) for text in asked]
            return np.stack([self.table[rows], (self.table + noise * 9)[rows]])

    made = {"static:en": Layered(one, texts(place)[0]), "static:fr": Layered(two, texts(place)[1])}
    monkeypatch.setattr(sentence_encoders, "load", made.__getitem__)
    request = EvaluationRequest(evaluation="retrieval", files=texts(place))
    run = evaluate_words(["m=static:en,static:fr"], [request], tmp_path, scorings=["nn"])
    found = {result.cell.encoder: result.score for result in run if result.cell.probe}
    low, high = ("static:en,static:fr, layer low", "static:en,static:fr, layer high")
    assert found[low] == pytest.approx(precision(one, two, center=False))
    assert found[high] == pytest.approx(precision(one + 9 * noise, two + 9 * noise, center=False))
    assert found[low] != found[high]
    assert run.info["aliases"] == [["m, layer low", low], ["m, layer high", high]]
    assert not summarise(run).missing
    # without an identity, results are always computed again
    made["static:fr"].table = one
    again = evaluate_words(["m=static:en,static:fr"], [request], tmp_path, scorings=["nn"])
    assert next(r.score for r in again if r.cell.encoder == low) == 1


def test_the_table_shows_names(place, tmp_path):
    done = sentprobe(
        "words", f"two={pair_of(place)}", "--sentences", ",".join(texts(place)), "--center", "-o", tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "two" in done.stdout
    assert "c.en-fr (centred)" in done.stdout
    assert "vec:" not in done.stdout.split("Signatures")[0]


@pytest.mark.parametrize(
    ("text", "encoders", "alias"),
    [
        ("vec:a.vec,vec:b.vec", ("vec:a.vec", "vec:b.vec"), None),
        ("mine=hf:m?lang=en&layer=1,hf:m?lang=fr", ("hf:m?lang=en&layer=1", "hf:m?lang=fr"), "mine"),
        ("st:a,b/c", ("st:a,b/c",), None),
    ],
)
def test_encoders_are_told_from_files(text, encoders, alias):
    found = encoder_names(text)
    assert (found.encoders, found.alias) == (encoders, alias)


@pytest.mark.parametrize("text", ["a.vec,b.vec", "folder", "nowhere:x", "a=b.vec"])
def test_what_is_not_an_encoder_is_a_file(text):
    assert encoder_names(text) is None


def test_what_is_wrong_is_said(place, tmp_path):
    with pytest.raises(UsageError, match="got 3 encoders"):
        encoder_names("vec:a,vec:b,vec:c")
    write(tmp_path / "d.txt", "en1 fr1", "en2 fr2")
    words = EvaluationRequest(evaluation="translation", files=(str(tmp_path / "d.txt"),))
    with pytest.raises(UsageError, match="encodes sentences, and translation is an evaluation of words"):
        evaluate_words([pair_of(place)], [words], tmp_path / "a")
    idf = EvaluationRequest(evaluation="retrieval", files=texts(place), idf=texts(place))
    others = [{"weights": "smooth"}, {"unit": True}, {"tokenise": ("space",)}]
    for request in (idf, *(EvaluationRequest(evaluation="retrieval", files=texts(place), **each) for each in others)):
        with pytest.raises(UsageError, match=r"--(idf|weights|unit|tokenise) is for words, and .* encodes sentences"):
            evaluate_words([pair_of(place)], [request], tmp_path / "b")
    with pytest.raises(UsageError, match=r"nowhere\.vec"):
        evaluate_words([pair_of(place), f"vec:{place}/nowhere.vec"], [idf], tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    write_vectors(tmp_path / "wide.vec", fr(), np.ones((WORDS, 13)))
    request = EvaluationRequest(evaluation="retrieval", files=texts(place))
    run = evaluate_words([f"vec:{place}/en.vec,vec:{tmp_path}/wide.vec"], [request], tmp_path / "c")
    assert "12 and 13 dimensions; expected encoders in one space" in run.failures[0].error
    done = sentprobe("words", "x.vec", "--dictionary", "d.txt", "--center")
    assert done.returncode == 1
    assert "--center is for --sentences" in done.stderr


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        (["copy=vec:{0}/en.vec"], "copy is the name of a baseline"),
        (["a=vec:{0}/en.vec", "a=vec:{0}/fr.vec"], "Two systems are called 'a'"),
        (["a=vec:{0}/en.vec", "b=vec:{0}/en.vec"], "has two names"),
    ],
)
def test_a_name_is_of_one_system(place, tmp_path, systems, said):
    request = EvaluationRequest(evaluation="retrieval", files=texts(place))
    with pytest.raises(UsageError, match=said):
        evaluate_words([system.format(place) for system in systems], [request], tmp_path / "run")
    assert not (tmp_path / "run").exists()
