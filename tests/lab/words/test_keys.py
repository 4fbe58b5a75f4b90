"""What is computed again: whenever a score or a count can be another one; and what systems share."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sentprobe.errors import UsageError
from sentprobe.lab.alignment.maps import SideMap
from sentprobe.lab.extensions._word_tables import word_tables
from sentprobe.lab.words import WORD_EVALUATIONS
from sentprobe.lab.words import evaluate as loop
from sentprobe.lab.words.evaluate import evaluate_words
from sentprobe.lab.words.evaluation import EvaluationRequest
from sentprobe.lab.words.evaluations.closeness import unrelated
from sentprobe.lab.words.systems import MappedSpace, SpacePair
from sentprobe.report.summary import summarise
from sentprobe.results.compare import compare
from tests.command_line import sentprobe
from tests.lab.words.material import space, vectors, write_vectors
from tests.lab.words.test_evaluations import pair, run, write


@pytest.fixture
def place(tmp_path):
    """Two systems, the second with every other word, and sentences of all words."""
    one, two = vectors(), vectors() + 1.5 * vectors(seed=1)
    for name, kept in (("all", range(60)), ("half", range(0, 60, 2))):
        write_vectors(tmp_path / f"{name}.en", [f"en{i}" for i in kept], one[list(kept)])
        write_vectors(tmp_path / f"{name}.fr", [f"fr{i}" for i in kept], two[list(kept)])
    rng = np.random.default_rng(0)
    lines = [rng.permutation(60)[:12].tolist() for _ in range(40)]
    write(tmp_path / "c.en", *(" ".join(f"en{w}" for w in line) for line in lines))
    write(tmp_path / "c.fr", *(" ".join(f"fr{w}" for w in line) for line in lines))
    return tmp_path


def systems(place):
    return [f"{place / name}.en,{place / name}.fr" for name in ("all", "half")]


def results(place, folder, asked, names=None, **more):
    found = evaluate_words(names or systems(place), asked, place / folder, scorings=("nn",), **more)
    assert not found.failures
    return {r.key: r for r in found}


def told(found):
    """What results say, without times."""
    return {key: (r.score, dict(r.scores), dict(r.baselines)) for key, r in found.items()}


def sentences(place, **more):
    return EvaluationRequest(
        evaluation="retrieval", files=(str(place / "c.en"), str(place / "c.fr")), queries=10, **more
    )


def test_sentences_of_words_that_all_know_are_another_set(place):
    plain = results(place, "one", [sentences(place)])
    both = results(place, "one", [sentences(place)], common=True)
    fresh = results(place, "two", [sentences(place)], common=True)
    assert not plain.keys() & fresh.keys()
    assert not {r.cell.data for r in plain.values()} & {r.cell.data for r in fresh.values()}
    assert told(both) == told(plain) | told(fresh)
    # systems with other words are asked the same sentences either way
    assert len({r.cell.data for r in plain.values()}) == len({r.cell.data for r in fresh.values()}) == 1


def test_words_that_all_know_are_all_words_if_systems_have_the_same(place):
    only = systems(place)[:1]
    plain = results(place, "one", [sentences(place)], only)
    assert results(place, "one", [sentences(place)], only, common=True) == plain


@pytest.mark.parametrize("side", ["c.en", "c.fr"])
def test_sentences_that_are_not_asked_change_frequencies(place, side):
    only = systems(place)[:1]
    before = results(place, "one", [sentences(place)], only)
    asked = np.random.default_rng(0).choice(40, 10, replace=False).tolist()
    lines = (place / side).read_text().splitlines()
    write(place / side, *(line if i in asked else " ".join(line.split()[:6]) for i, line in enumerate(lines)))
    fresh = told(results(place, "two", [sentences(place)], only))
    assert told(results(place, "one", [sentences(place)], only)) == told(before) | fresh
    assert not before.keys() & fresh.keys()


@pytest.mark.parametrize(
    ("options", "mark"),
    [
        ({"weights": "smooth"}, " (weights smooth)"),
        ({"weights": "equal"}, " (weights equal)"),
        ({"unit": True}, " (unit words)"),
        ({"tokenise": ("space",)}, " (tokenised by space)"),
        ({"weights": "equal", "unit": True, "center": True}, " (weights equal) (unit words) (centred)"),
    ],
)
def test_other_vectors_of_sentences_are_another_set(place, options, mark):
    only = systems(place)[:1]
    both = results(place, "one", [sentences(place), sentences(place, **options)], only)
    names = {r.cell.dataset: r.cell.data for r in both.values()}
    assert names.keys() == {"retrieval/c.en-fr", f"retrieval/c.en-fr{mark}"}
    assert len(set(names.values())) == 2
    fresh = results(place, "two", [sentences(place, **options)], only)
    assert told(fresh) == {key: each for key, each in told(both).items() if key in fresh}


def test_results_of_another_version_are_computed_again(place, monkeypatch):
    pytest.importorskip("sacrebleu")
    asked = [sentences(place), EvaluationRequest(evaluation="word_by_word", files=sentences(place).files)]
    only = systems(place)[:1]
    before = results(place, "one", asked, only)
    assert {r.cell.task: r.cell.version for r in before.values()} == {"sentence_retrieval": 2, "word_by_word": 1}
    assert results(place, "one", asked, only) == before
    newer = {**WORD_EVALUATIONS.parts(), "retrieval": replace(WORD_EVALUATIONS.get("retrieval"), version=3)}
    monkeypatch.setattr(loop, "WORD_EVALUATIONS", SimpleNamespace(get=newer.__getitem__))
    after = results(place, "one", asked, only)
    added = [r.cell for key, r in after.items() if key not in before]
    assert {(cell.task, cell.version) for cell in added} == {("sentence_retrieval", 3)}


@pytest.mark.parametrize("evaluation", ["translation", "closeness", "similarity", "retrieval", "word_by_word"])
def test_counts_of_what_is_left_out_are_of_the_file_as_it_is(place, evaluation):
    if evaluation == "word_by_word":
        pytest.importorskip("sacrebleu")
    files = (place / "c.en", place / "c.fr")
    if evaluation in ("retrieval", "word_by_word"):
        more = [("unseen", "unheard")] * 3
    else:
        scored = evaluation == "similarity"
        files = (write(place / "d.txt", *(f"en{i}\tfr{i}" + f"\t{i}" * scored for i in range(20))),)
        more = [(f"unseen\tunheard{i}" + "\t1" * scored,) for i in range(3)]
    asked = [EvaluationRequest(evaluation=evaluation, files=tuple(map(str, files)))]
    only = systems(place)[:1]
    before = results(place, "one", asked, only)
    for path, added in zip(files, zip(*more, strict=True), strict=True):
        path.write_text(path.read_text() + "".join(f"{line}\n" for line in added))
    fresh = told(results(place, "two", asked, only))
    assert told(results(place, "one", asked, only)) == told(before) | fresh
    assert not before.keys() & fresh.keys()
    name = "sentences left out" if evaluation in ("retrieval", "word_by_word") else "pairs left out"
    assert [scores[name] for _, scores, _ in fresh.values() if name in scores] == [3]


def test_the_copy_is_not_described_by_the_counts_of_a_system(place):
    dictionary = write(place / "d.txt", *(f"en{i} fr{i}" for i in range(0, 20, 2)), "en1 unheard", "unseen fr1")
    asked = [EvaluationRequest(evaluation="translation", files=(str(dictionary),))]
    forth, back = (
        [r for r in results(place, folder, asked, names).values() if r.cell.encoder == "copy"]
        for folder, names in (("one", systems(place)), ("two", systems(place)[::-1]))
    )
    assert told({r.key: r for r in forth}) == told({r.key: r for r in back})
    assert len(forth) == 1  # of both systems
    assert forth[0].scores.keys() == {"precision@5", "precision@10"}


def test_words_that_differ_in_case_only_are_not_left_out(tmp_path):
    path = write(
        tmp_path / "d.txt", "en1 fr1", "En1 fr1", "EN1 fr2", "en2 fr2", "q fr1", "Q fr1", "En3 unheard", "en3 x"
    )
    queries, _ = run("translation", path, pair())
    assert queries.facts["words left out"] == 2  # q and en3
    assert len(queries.rows) == 2


# random pairs


def test_random_pairs_do_not_depend_on_the_seed(tmp_path):
    path = write(tmp_path / "d.txt", *(f"en{i} fr{i}" for i in range(20)))
    one, two = (run("closeness", path, pair(), seed=seed)[1].baselines for seed in (0, 1))
    assert one == two


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("size", [2, 3, 5, 40])
def test_random_pairs_are_no_translations(size, single):
    rng = np.random.default_rng(size)
    rows = [(i, (i + 1) % size if size < 5 else i) for i in range(size)]
    rows += [(i, int(j)) for i, j in enumerate(rng.integers(0, size, size))] if size == 40 else []
    rows = np.array(list(dict.fromkeys(rows)))
    if single and size == 2:  # 0 has only itself and its translation
        assert unrelated(rows, single=single).tolist() in ([0, 1], [1, 0])
        return
    found = unrelated(rows, single=single)
    pairs = set(map(tuple, rows.tolist()))
    for (one, _), other in zip(rows.tolist(), found.tolist(), strict=True):
        assert (one, other) not in pairs
        assert not single or one != other
    if size == 40:
        assert sorted(found) == sorted(rows[:, 1])


def test_random_pairs_if_there_is_nothing_else():
    assert unrelated(np.array([[0, 5], [1, 5], [2, 5]]), single=False).tolist() == [5, 5, 5]
    # two of three pairs are of one word: only the third word's translation is left for both
    assert unrelated(np.array([[0, 0], [0, 1], [1, 2]]), single=False).tolist()[:2] == [2, 2]


def test_one_space_has_no_random_pairs_of_a_word_with_itself(tmp_path):
    side = MappedSpace(space([f"w{i}" for i in range(60)], vectors()), SideMap())
    path = write(tmp_path / "d.txt", *(f"w{i} w{(i + 1) % 8}" for i in range(8)))
    _, found = run("closeness", path, SpacePair("one", side, side, "i"))
    assert found.baselines["random pairs"] < 0.9


# two states of a system


def test_two_states_of_a_system_are_named_apart_in_all_tables(place):
    dictionary = write(place / "d.txt", *(f"en{i} fr{i}" for i in range(20)))
    asked = [EvaluationRequest(evaluation=name, files=(str(dictionary),)) for name in ("translation", "closeness")]
    names = [f"{place / 'all'}.en,{place / 'all'}.fr"]
    evaluate_words(names, asked, place / "one")
    write_vectors(place / "all.fr", [f"fr{i}" for i in range(60)], vectors(seed=3))
    made = evaluate_words(names, asked, place / "one")
    ids = [r.cell.id for r in made if r.cell.task == "translation_closeness"]
    for run_shown in (made, _retrieved_apart(made, ids)):
        tables = {table.title.partition(":")[0]: table.columns for table in word_tables(summarise(run_shown))}
        (closeness,) = [columns for title, columns in tables.items() if "closeness" in title]
        shown = [cell.text for cell in closeness[0].cells]
        assert sorted(shown) == sorted(f"{names[0]}, id {each}" for each in ids)
    with pytest.raises(UsageError, match=r"has results with id .*, .*; choose one"):
        compare(made, f"{names[0]}|retrieval=nn", "copy")


def _retrieved_apart(made, ids):
    """The same run, with nn for the first state only and csls for the second."""
    ways = {ids[0]: (None, "nn"), ids[1]: (None, "csls")}
    return replace(made, results=tuple(r for r in made.results if r.cell.probe in ways.get(r.cell.id, (None,))))


def test_spaces_that_rank_words_otherwise_are_asked_the_same(tmp_path):
    table, path = vectors(), tmp_path / "d.txt"
    path.write_text("en3 fr3\nen1 fr1\nen1 fr2\nen9 fr9\n", "utf-8")
    order = list(range(len(table)))
    orders = (order, order[::-1])
    written = [
        write_vectors(tmp_path / f"{name}{i}.vec", [f"{name}{j}" for j in own], table[own])
        for i, own in enumerate(orders)
        for name in ("en", "fr")
    ]
    systems = [f"{written[0]},{written[1]}", f"{written[2]},{written[3]}"]
    run = evaluate_words(systems, [EvaluationRequest(evaluation="translation", files=(str(path),))], tmp_path / "run")
    found = [result for result in run if result.cell.probe == "nn"]
    assert len(found) == 2
    assert len({result.cell.data for result in found}) == 1
    assert found[0].scores["precision@1 rank 1-1000"] == found[1].scores["precision@1 rank 1-1000"] == 1


def test_words_without_a_baseline_are_not_said_to_lack_one_of_length(place, tmp_path):
    systems = [f"{place / 'all.en'},{place / 'half.en'}"]
    done = sentprobe("words", *systems, "--identical", "20", "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "2 systems on 1 set, for which there is no baseline." in " ".join(done.stdout.split())
    assert "length" not in done.stdout
