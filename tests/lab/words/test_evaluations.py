"""Each evaluation against a loop, or against another program."""

import numpy as np
import pytest

from sentprobe.errors import CorpusError, DataError, TooFewError, UsageError
from sentprobe.lab.alignment.maps import SideMap
from sentprobe.lab.words import WORD_EVALUATIONS
from sentprobe.lab.words.evaluation import EvaluationRequest
from sentprobe.lab.words.systems import MappedSpace, PairSearch, SpacePair
from tests.lab.words.material import en, fr, rotation, space, vectors

NOISE = 1.2


def pair(noise=NOISE, source=None, target=None):
    """A pair in one space, in which some neighbours are wrong."""
    one = vectors()
    two = (one + noise * vectors(seed=1)) @ rotation()
    return SpacePair(
        "made",
        MappedSpace(space(source or en(), one, "en"), SideMap(matrix=rotation())),
        MappedSpace(space(target or fr(), two, "fr"), SideMap()),
        "identity",
    )


def run(name, path, made, scoring="nn", **asked):
    files = tuple(str(path).split(",")) if path else ()
    request = EvaluationRequest(evaluation=name, files=files, **asked)
    evaluation = WORD_EVALUATIONS.get(name)
    queries = evaluation.find_queries(evaluation.read(request), made, request)
    return queries, evaluation.score(queries, PairSearch(made), scoring)


def unit(side):
    table = side.map.apply(side.space.vectors).astype(np.float64)
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def csls(cosines, k=10):
    of_source = np.sort(cosines, axis=1)[:, -k:].mean(1)
    of_target = np.sort(cosines, axis=0)[-k:].mean(0)
    return 2 * cosines - of_source[:, None] - of_target[None]


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


# translation


@pytest.fixture
def dictionary(tmp_path):
    """Every third word has two translations; some words are not known."""
    lines = [f"en{i} fr{i}" for i in range(40)] + [f"en{i} fr{i + 1}" for i in range(0, 40, 3)]
    return write(tmp_path / "en-fr.txt", *lines, "en1 unheard", "unseen fr1", "unseen unheard", "", "en0 fr0")


@pytest.mark.parametrize("scoring", ["nn", "csls", "isf"])
@pytest.mark.parametrize("reverse", [False, True])
def test_precision_is_that_of_a_loop(dictionary, scoring, reverse):
    made = pair()
    queries, found = run("translation", dictionary, made, scoring, reverse=reverse)
    cosines = unit(made.source) @ unit(made.target).T
    if reverse:
        cosines = cosines.T
    scores = {"nn": cosines, "csls": csls(cosines), "isf": np.exp(30 * cosines) / np.exp(30 * cosines).sum(0)}[scoring]
    gold = {}
    for line in dictionary.read_text().split("\n"):
        words = line.split()[::-1] if reverse else line.split()
        if len(words) == 2 and "un" not in line:
            gold.setdefault(int(words[0][2:]), set()).add(int(words[1][2:]))
    ranks = []
    for word in sorted(gold):
        order = np.argsort(-scores[word], kind="stable").tolist()
        ranks.append(min(order.index(right) for right in gold[word]))
    assert found.arrays["frequency"].tolist() == sorted(gold)
    assert found.arrays["rank"].tolist() == [rank if rank < 10 else -1 for rank in ranks]
    assert found.score == pytest.approx(np.mean([rank == 0 for rank in ranks]))
    for k in (5, 10):
        assert found.scores[f"precision@{k}"] == pytest.approx(np.mean([rank < k for rank in ranks]))
    assert 0.2 < found.score < found.scores["precision@5"] <= found.scores["precision@10"]  # grows with k
    assert found.interval[0] < found.score < found.interval[1]
    assert queries.facts["pairs left out"] == 3
    assert queries.facts["pairs"] == sum(map(len, gold.values()))
    assert len(queries.rows) == len(gold)


def test_a_known_answer_and_what_is_saved(tmp_path):
    made = pair(noise=0.0)
    path = write(tmp_path / "d.tsv", "en3\tfr9", "en3\tfr3", "en4\tfr5", "EN5\tfr5", "en6\tunheard")
    queries, found = run("translation", path, made)
    assert [row.text for row in queries.rows] == ["en3", "en4", "en5"]
    assert queries.rows[0].label == "fr3 / fr9"
    assert found.arrays["predicted"].tolist() == [1, 0, 1]
    assert found.arrays["answer"].tolist() == ["fr3", "fr4", "fr5"]
    assert found.arrays["cosine"] == pytest.approx([1, 1, 1], abs=1e-5)
    assert found.score == pytest.approx(2 / 3)
    assert found.baselines["chance"] == pytest.approx((2 + 1 + 1) / 3 / 60)
    assert queries.facts["words left out"] == 1
    assert found.scores["words rank 1-1000"] == 3


def test_a_dictionary_is_used_in_the_direction_of_its_words(tmp_path):
    made = pair(noise=0.0)
    queries, found = run("translation", write(tmp_path / "d.txt", "fr1 en1", "fr2 en3"), made)
    assert [row.text for row in queries.rows] == ["fr1", "fr2"]
    assert found.arrays["answer"].tolist() == ["en1", "en2"]


def test_words_by_part_of_speech(tmp_path):
    path = write(tmp_path / "d.txt", "en1 fr1", "en2 fr3", "en4 fr4")
    pos = write(tmp_path / "pos.tsv", "en1\tNOUN", "en2\tNOUN", "", "en1\tVERB")
    queries, found = run("translation", path, pair(noise=0.0), pos=str(pos))
    assert found.scores["precision@1 NOUN"] == 0.5
    assert found.scores["words NOUN"] == 2
    assert found.scores["precision@1 other"] == 1
    assert queries.rows[0].extra == (("pos", "NOUN"),)
    with pytest.raises(CorpusError, match=r"pos.tsv:2: got 'en2'; expected a word, a tab and its part of speech"):
        run("translation", path, pair(), pos=str(write(tmp_path / "pos.tsv", "en1\tNOUN", "en2")))


def test_bands_of_frequency():
    from sentprobe.lab.words.precision import by_band

    found = by_band(np.array([0, 1, 0, -1], np.int32), np.array([0, 999, 1000, 60_000]))
    assert found == {
        "precision@1 rank 1-1000": 0.5, "words rank 1-1000": 2, "precision@1 rank 1001-5000": 1.0,
        "words rank 1001-5000": 1, "precision@1 rank 50001-": 0.0, "words rank 50001-": 1,
    }  # fmt: skip


def test_one_vocabulary_for_two_languages_does_not_translate_a_word_by_itself(tmp_path):
    table = vectors()
    table[1] = table[0] + 0.01
    side = MappedSpace(space(en(), table), SideMap())
    _, found = run("translation", write(tmp_path / "d.txt", "en0 en1", "en2 en2"), SpacePair("one", side, side, "i"))
    assert found.arrays["answer"].tolist() == ["en1", "en2"]  # itself only if it is the translation
    assert found.score == 1


def test_a_query_is_not_one_of_the_ten_candidates_that_count(tmp_path):
    angles = 0.1 * np.arange(13)  # on an arc, word 10 is the tenth neighbour of word 0, and word 1 the eleventh of 12
    table = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    side = MappedSpace(space(en(13), table), SideMap())
    _, found = run("translation", write(tmp_path / "d.txt", "en0 en10", "en12 en1"), SpacePair("one", side, side, "i"))
    assert found.arrays["rank"].tolist() == [9, -1]
    assert found.scores["precision@10"] == 0.5
    assert found.scores["precision@5"] == found.score == 0


def test_identical_words_are_sampled_over_all_frequencies():
    shared = [f"w{i}" for i in range(60)]
    made = pair(source=shared, target=list(reversed(shared)))
    queries, found = run("translation", "", made, identical=10)
    assert len(queries.rows) == 10
    assert all(6 * i <= row < 6 * i + 6 for i, row in enumerate(found.arrays["frequency"].tolist()))
    assert all(row.text == row.label for row in queries.rows)
    again, _ = run("translation", "", made, identical=10)
    other, _ = run("translation", "", made, identical=10, seed=1)
    assert queries.rows == again.rows != other.rows
    assert WORD_EVALUATIONS.get("translation").score_copy(queries) is None
    side = made.source
    with pytest.raises(UsageError, match="--identical compares two spaces, and one is one"):
        run("translation", "", SpacePair("one", side, side, "i"), identical=10)
    with pytest.raises(TooFewError, match="the spaces have 0 words in common"):
        run("translation", "", pair(), identical=10)


def test_copies_are_right_if_the_word_is_its_own_translation(tmp_path):
    names = ["same", *en()[1:]]
    made = pair(source=names, target=["same", *fr()[1:]])
    queries, _ = run("translation", write(tmp_path / "d.txt", "same same", "same fr4", "en2 fr2"), made)
    found = WORD_EVALUATIONS.get("translation").score_copy(queries)
    assert found.arrays["predicted"].tolist() == [1, 0]
    assert found.scores["precision@10"] == found.score == 0.5


def test_a_dictionary_of_other_languages_is_refused(tmp_path):
    path = write(tmp_path / "de-it.txt", "hund cane", "katze gatto")
    with pytest.raises(TooFewError, match=r"de-it.txt: made knows none of the 2 pairs; is it of these languages\?"):
        run("translation", path, pair())
    with pytest.raises(CorpusError, match=r"one.txt:2: got .*'cane'"):
        run("translation", write(tmp_path / "one.txt", "hund cane", "cane"), pair())
    with pytest.raises(DataError, match="holds no pairs"):
        run("translation", write(tmp_path / "none.txt", "", ""), pair())


# closeness


def test_closeness_is_that_of_a_loop(tmp_path):
    made = pair()
    path = write(tmp_path / "d.txt", "en1 fr1", "en1 fr2", "en3 fr3", "en4 unheard")
    queries, found = run("closeness", path, made)
    one, two = unit(made.source), unit(made.target)
    rows = [(1, 1), (1, 2), (3, 3)]
    assert found.score == pytest.approx(np.mean([one[a] @ two[b] for a, b in rows]), abs=1e-6)
    far = [made.source.space.vectors[a] @ rotation() - made.target.space.vectors[b] for a, b in rows]
    assert found.scores["l2"] == pytest.approx(np.mean([np.linalg.norm(x) for x in far]), rel=1e-5)
    apart = [np.linalg.norm(one[a] - two[b]) for a, b in rows]
    assert found.scores["l2 of unit vectors"] == pytest.approx(np.mean(apart), rel=1e-5)
    assert found.interval[0] <= found.score <= found.interval[1]
    assert queries.facts["pairs left out"] == 1
    assert found.baselines["random pairs"] < 1
    assert found.scores["cosine, spelled otherwise"] == pytest.approx(found.score)


def test_words_that_are_their_own_translations_are_told_from_the_others(tmp_path):
    side = pair().source
    one = SpacePair("one", side, side, "i")
    path = write(tmp_path / "d.txt", "en1 en1", "en2 en3", "en2 en4")
    _, near = run("closeness", path, one)
    rows = unit(side)
    assert near.score == pytest.approx((1 + rows[2] @ rows[3] + rows[2] @ rows[4]) / 3, abs=1e-6)
    assert near.scores["cosine, spelled otherwise"] == pytest.approx((near.score * 3 - 1) / 2, abs=1e-6)
    _, found = run("translation", path, one)
    assert found.scores["words spelled otherwise"] == 1
    assert found.score == (1 + found.scores["precision@1 spelled otherwise"]) / 2
    _, same = run("closeness", write(tmp_path / "same.txt", "en1 en1", "en2 en2"), one)
    assert "cosine, spelled otherwise" not in same.scores


# similarity


@pytest.fixture
def judged():
    rng = np.random.default_rng(3)
    return [(f"en{a}", f"fr{b}", float(s)) for a, b, s in zip(rng.integers(0, 60, 30), rng.integers(0, 60, 30),
            np.round(4 * rng.random(30), 2), strict=True)]  # fmt: skip


@pytest.mark.parametrize("layout", ["csv", "columns", "tsv", "txt"])
def test_correlations_are_those_of_scipy(tmp_path, judged, layout):
    from scipy.stats import pearsonr, spearmanr

    made = pair()
    lines = {
        "csv": [",word1,word2,similarity", *(f"{i},{a},{b},{s}" for i, (a, b, s) in enumerate(judged)), "9,no,fr1,2"],
        "columns": [",similarity,word1,word2", *(f"{i},{s},{a},{b}" for i, (a, b, s) in enumerate(judged)), "9,2,no,b"],
        "tsv": [*(f"{a}\t{b}\t{s}" for a, b, s in judged), "no such\tfr1\t2"],
        "txt": [*(f"{a.upper()} {b} {s}" for a, b, s in judged), "", "no fr1 2"],
    }[layout]
    suffix = "csv" if layout == "columns" else layout
    queries, found = run("similarity", write(tmp_path / f"s.{suffix}", *lines), made)
    one, two = unit(made.source), unit(made.target)
    cosines = [one[int(a[2:])] @ two[int(b[2:])] for a, b, _ in judged]
    gold = [s for *_, s in judged]
    assert found.score == pytest.approx(pearsonr(cosines, gold)[0], abs=1e-6)
    assert found.scores["spearman"] == pytest.approx(spearmanr(cosines, gold)[0], abs=1e-6)
    assert found.interval[0] < found.score < found.interval[1]
    assert queries.facts == {"pairs": 30, "pairs left out": 1, "coverage": pytest.approx(30 / 31)}


def test_similarity_within_a_language(tmp_path, judged):
    made = pair()
    path = write(tmp_path / "s.tsv", *(f"{b}\tfr{i}\t{s}" for i, (_, b, s) in enumerate(judged)))
    _, found = run("similarity", path, made)
    two = unit(made.target)
    cosines = [two[int(b[2:])] @ two[i] for i, (_, b, _) in enumerate(judged)]
    assert found.arrays["predicted"] == pytest.approx(cosines, abs=1e-5)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["en1\tfr1\t2", "en2\tfr2"], r"s.tsv:2: got 'en2\\tfr2'; expected two words and a number"),
        (["en1\tfr1\t2", "", "en2\tfr2\tnan"], r"s.tsv:3: got .*nan'; expected two words and a number"),
        (["en1 fr1 much"], r"s.tsv:1: got"),
        ([""], "is empty; expected lines of"),
        (["word1\tword2\tscore"], "has a header and no pairs"),
        (["en1\tfr1\t2", "en2\tfr2\t1"], "made knows 2 of 2 pairs; expected 3 or more"),
    ],
)
def test_bad_files_of_similarities(tmp_path, lines, message):
    with pytest.raises(DataError, match=message):
        run("similarity", write(tmp_path / "s.tsv", *lines), pair())
