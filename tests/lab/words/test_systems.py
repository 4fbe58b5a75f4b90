"""Which systems a text names, and what they are."""

import numpy as np
import pytest

from sentprobe.errors import UsageError
from sentprobe.lab.alignment.maps import SideMap
from sentprobe.lab.words.evaluation import EvaluationRequest
from sentprobe.lab.words.languages import language_warning, languages_of_space
from sentprobe.lab.words.set_names import language_of, set_name
from sentprobe.lab.words.systems import MappedSpace, SpaceCache, SpacePair, find_systems
from tests.lab.words.material import alignment, en, files, rotation, space, vectors, write_vectors


@pytest.fixture
def folder(tmp_path):
    en, fr = files(tmp_path)
    eye = np.eye(12)
    steps = [("epoch", 1, 0.1, eye), ("epoch", 2, 0.8, rotation()), ("refine", 1, 0.9, rotation())]
    return alignment(tmp_path / "aligned", en, fr, rotation(), steps)


def named(text, limit=None):
    return find_systems([text], SpaceCache(limit))


def test_the_maps_of_an_alignment(folder):
    (system,) = named(str(folder))
    pair = system.load()
    assert (pair.name, pair.criterion, pair.single) == (str(folder), 0.9, False)
    np.testing.assert_array_equal(pair.source.map.matrix, rotation())
    systems = named(f"{folder}?epoch=all")
    assert [s.name for s in systems] == [f"{folder}?epoch=1", f"{folder}?epoch=2", f"{folder}?refine=1"]
    pairs = [s.load() for s in systems]
    assert [p.criterion for p in pairs] == [0.1, 0.8, 0.9]
    assert pairs[0].source.space is pairs[1].source.space  # read once
    assert pairs[0].identity != pairs[1].identity == pairs[2].identity == pair.identity
    assert [s.name for s in named(f"{folder}?refine=all")] == [f"{folder}?refine=1"]
    assert [s.name for s in named(f"{folder}?seed=0&epoch=2")] == [f"{folder}?seed=0&epoch=2"]
    assert named(f"{folder}?seed=0")[0].load().criterion == 0.9


def test_files_as_they_are(folder):
    en, fr = folder.parent / "en.vec", folder.parent / "fr.vec"
    (two,) = named(f"{en},{fr}")
    pair = two.load()
    assert (len(pair.source.space), pair.source.map.matrix, pair.criterion) == (60, None, None)
    (one,) = named(str(en))
    assert one.load().single
    (few,) = named(f"{en},{fr}", limit=10)
    assert len(few.load().target.space) == 10
    assert len(named(str(folder), limit=10)[0].load().target.space) == 10
    assert len({s.load().identity for s in (two, one, few)}) == 3


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?epoch=9", r"has no map epoch=9; it has seed-0/epoch-001, seed-0/epoch-002, seed-0/refine-001"),
        ("?seed=4", "has no maps of seed 4; it has seed-0/epoch-001"),
        ("?epoch=two", "epoch=two: expected a number, or all"),
        ("?step=1", "got 'step=1'; expected seed=…, epoch=…, round=… or refine=…"),
        ("?epoch=1&refine=1", "expected one of epoch, round, refine, got epoch and refine"),
    ],
)
def test_maps_that_there_are_not(folder, query, message):
    with pytest.raises(UsageError, match=message):
        named(f"{folder}{query}")


def test_systems_that_there_are_not(folder, tmp_path):
    en = folder.parent / "en.vec"
    with pytest.raises(UsageError, match=r"there is no 'nowhere.vec'; expected a folder that `sentprobe align` wrote"):
        named(f"{en},nowhere.vec")
    with pytest.raises(UsageError, match="got 3 files"):
        named(f"{en},{en},{en}")
    with pytest.raises(UsageError, match=r"only an alignment takes \?…, and .* was not written by `sentprobe align`"):
        named(f"{en}?epoch=1")
    wide = write_vectors(tmp_path / "wide.vec", ["a", "b"], vectors(2)[:, :3])
    with pytest.raises(UsageError, match="have 12 and 3 dimensions; expected two files in one space"):
        named(f"{en},{wide}")[0].load()


@pytest.mark.parametrize(
    ("evaluation", "paths", "reverse", "name", "language"),
    [
        ("translation", ("d/en-fr.5000-6500.txt.gz",), False, "translation/en-fr.5000-6500", "en-fr"),
        ("translation", ("d/en-fr.5000-6500.txt",), True, "translation/en-fr.5000-6500 (reversed)", "fr-en"),
        ("translation", ("d/pairs.tsv",), False, "translation/pairs", None),
        ("similarity", ("x/en-de/semeval17.csv",), False, "similarity/en-de.semeval17", "en-de"),
        ("similarity", ("x/en/semeval17.csv",), False, "similarity/en.semeval17", "en"),
        ("retrieval", ("t/tat.fra-eng.eng", "t/tat.fra-eng.fra"), False, "retrieval/tat.fra-eng", "eng-fra"),
        ("retrieval", ("t/train.en.gz", "t/train.fr.gz"), True, "retrieval/train.en-fr (reversed)", "fr-en"),
        ("word_by_word", ("a.txt", "b.txt"), False, "word_by_word/a,b", None),
    ],
)  # fmt: skip
def test_names_and_languages_are_those_of_files(evaluation, paths, reverse, name, language):
    request = EvaluationRequest(evaluation=evaluation, files=paths, reverse=reverse)
    assert (set_name(request), language_of(request)) == (name, language)


@pytest.mark.parametrize(
    ("file", "languages"),
    [
        ("x/wiki.fr.vec", ("fr",)),
        ("cc.de.300.bin.gz", ("de",)),
        ("vectors-EN.txt", ("en",)),
        ("en-qto.vec", ("en", "qto")),
        ("glove.6B.300d.txt", ()),
        ("numberbatch.txt", ()),
    ],
)
def test_languages_of_spaces_are_in_their_names(file, languages):
    assert languages_of_space(file) == languages


@pytest.mark.parametrize(
    ("names", "languages", "missing"),
    [
        (("en.vec", "fr.vec"), ("en", "fr"), ""),
        (("en.vec", "fr.vec"), ("fr-CA", "en"), ""),  # in either direction, with a region
        (("en.vec", "fr.vec"), ("en", "de"), "de"),
        (("en-qto.vec", "en-qto.vec"), ("en", "fr"), "fr"),  # one space with the words of two languages
        (("en-qto.vec", "en-qto.vec"), ("qto", "en"), ""),
        (("en.vec", "fr.vec"), ("en", "en"), ""),  # similarity in one language
        (("en.vec", "fr.vec"), ("eng", "fra"), ""),  # codes of two and three letters are not compared
        (("en.vec", "mine.vec"), ("en", "de"), ""),  # of one side, nothing is known
        (("en.vec", "fr.vec"), None, ""),
    ],
)
def test_a_set_in_another_language_is_found(names, languages, missing):
    sides = [MappedSpace(space(en(), vectors(), name), SideMap()) for name in names]
    request = EvaluationRequest(evaluation="translation", files=("pairs.txt",), languages=languages)
    warning = language_warning(SpacePair("made", *sides, "identity"), request)
    assert bool(warning) == bool(missing)
    if missing:
        assert f"knows of {missing} are words of other languages that are spelled alike" in warning


def test_languages_can_be_named():
    request = EvaluationRequest(evaluation="translation", identical=5, languages=("de", "it"), reverse=True)
    assert (set_name(request), language_of(request)) == ("translation/identical-5 (reversed)", "it-de")
