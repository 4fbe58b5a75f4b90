"""Aligning from a request to a folder: what is found, what is written, resuming, seeds, failure, and bad input."""

import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.errors import DataError, SentProbeError, TooFewError, UsageError
from sentprobe.lab.alignment.align import align
from sentprobe.lab.alignment.dictionary import Matched
from sentprobe.lab.alignment.folder import open_alignment
from sentprobe.lab.alignment.inputs import hold_out
from sentprobe.lab.alignment.map_scores import precision_at_1
from sentprobe.lab.alignment.maps import MappedRows, SideMap
from sentprobe.lab.alignment.method import Matrices
from sentprobe.lab.alignment.methods.procrustes import orthogonal
from sentprobe.lab.alignment.request import make_request
from sentprobe.lab.alignment.retrieval import nearest
from sentprobe.lab.alignment.validation import can_validate, validate
from tests.lab.alignment.planted import clustered, planted, rotation, write_planted, write_vectors

WALK = """
    import numpy as np
    from sentprobe.lab.alignment.method import Matrices, Method
    from sentprobe.core.arguments import Setting

    def solve(problem):
        '''Walks from a random matrix; seeds above 0 get nearer to the best.'''
        saved = problem.load()
        number, matrix = (0, problem.rng(0).standard_normal(2 * (problem.source.shape[1],))) if saved is None else (
            int(saved["number"]), saved["matrix"])
        while number < problem.settings["rounds"]:
            number += 1
            matrix = 0.5 * matrix + problem.rng(number).standard_normal(matrix.shape)
            problem.report("round", number, Matrices(_turn(matrix)), {"step": 0.5})
            problem.save({"number": np.array(number), "matrix": matrix})
        return Matrices(_turn(matrix))

    def _turn(matrix):
        left, _, right = np.linalg.svd(matrix)
        return (left @ right).astype(np.float32)

    alignment_method = Method("walk", "a random walk", solve, dictionary="unused", seeded=True,
                              settings={"rounds": Setting(4, "rounds")})
"""


class Stop(Exception):
    """An interruption."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def supervised(folder, report=lambda one: None, **more):
    return align(make_request("a.vec", "b.vec", dictionary=["ab.txt"], **more), folder, report)


def content(folder):
    """The bytes of all maps."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*.safetensors"))}


def history(folder):
    return [{k: v for k, v in line.items() if k != "seconds"} for line in open_alignment(folder).history()]


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 12))
def test_procrustes_finds_a_rotation_exactly(seed, dim):
    source, target, turn, order = planted(60, dim, seed=seed)
    np.testing.assert_allclose(orthogonal(source, target[order]), turn, atol=2e-5)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 12))
def test_an_orthogonal_map_keeps_the_neighbours_within_a_language(seed, dim):
    vectors, turn = clustered(80, dim, seed), rotation(dim, seed)
    before, after = MappedRows(vectors), MappedRows(vectors, SideMap(matrix=turn))
    one, two = (nearest(rows, rows, 5) for rows in (before, after))
    np.testing.assert_allclose(one.scores, two.scores, atol=2e-5)


def test_a_planted_rotation_end_to_end(place):
    turn = write_planted(place, noise=0.01)
    notes = []
    done = supervised(place / "out", lambda one: notes.append(one), dev="ab.txt", export="text")
    found = done.map()
    np.testing.assert_allclose(found.source.matrix, turn, atol=0.02)
    assert found.target.matrix is None
    config = done.config
    assert (config["method"], config["why"], config["finished"]) == ("procrustes", "a dictionary is given", True)
    assert config["seeds"][0]["dev_nn"] == config["seeds"][0]["dev_csls"] == 1.0
    assert config["seeds"][0]["orthogonality"] < 1e-5
    assert config["seeds"][0]["criterion"] > 0.99
    assert config["dictionary"] == {**config["dictionary"], "pairs": 200, "known": 200, "unknown_source": 0}
    assert "start" not in config
    texts = [one.text for one in notes if one.stage == "note"]
    assert "a.vec: 200 words, 10 dimensions" in texts
    assert "ab.txt: 200 of 200 pairs, 200 source words" in texts
    assert {p.name for p in (place / "out").iterdir()} == {
        "alignment.json", "map.safetensors", "maps", "card.md", "checksums.json", "source.vec", "target.vec",
    }  # fmt: skip
    card = (place / "out" / "card.md").read_text("utf-8")
    assert config["source"]["digest"] in card
    assert "Conneau et al. 2018" in card


def test_zero_and_shared_vectors_are_counted(place):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 10)).astype(np.float32)
    rows[[3, 9, 12]] = 0  # three of zero: none of them has the vector of another
    rows[20:24] = rows[1]
    write_vectors(place / "a.vec", [f"a{i}" for i in range(40)], rows)
    write_vectors(place / "b.vec", [f"b{i}" for i in range(40)], rng.standard_normal((40, 10)).astype(np.float32))
    (place / "ab.txt").write_text("".join(f"a{i} b{i}\n" for i in range(40)))
    notes = []
    done = supervised(place / "out", notes.append)
    assert (done.config["source"]["zeros"], done.config["source"]["shared"]) == (3, 4)
    assert (done.config["target"]["zeros"], done.config["target"]["shared"]) == (0, 0)
    text = "3 vectors are zero, 4 words have the vector of a more frequent word"
    assert [one.text for one in notes if "zero" in (one.text or "")] == [f"a.vec: {text}"]
    assert f"40 words, 10 dimensions, {text}" in (done.path / "card.md").read_text("utf-8")


def test_spaces_are_found_from_elsewhere(place, monkeypatch):
    write_planted(place)
    supervised(place / "out")
    (place / "deep").mkdir()
    monkeypatch.chdir(place / "deep")
    source, target = open_alignment("../out").spaces()
    assert (len(source), len(target)) == (200, 200)
    write_vectors(place / "a.vec", ["x", "y"], np.eye(2, 10, dtype=np.float32))
    with pytest.raises(DataError, match="changed since"):
        open_alignment("../out").spaces()


def test_steps_and_words(place):
    write_planted(place)
    done = supervised(place / "out", steps=["unit", "center"], words=150)
    found = done.map()
    assert found.source.steps == ("unit", "center")
    assert len(found.source.means) == 1
    about = done.config["dictionary"]
    assert done.config["source"]["words"] == 150
    assert about["unknown_source"] == 50
    assert about["known"] + about["unknown_target"] == 150


def test_refinement_keeps_the_best_round_by_the_criterion(place):
    write_planted(place, noise=0.3)
    (place / "few.txt").write_text("".join(f"s{i} t{i}\n" for i in range(12)))
    request = make_request("a.vec", "b.vec", dictionary=["few.txt"], dev="ab.txt", refine=3)
    done = align(request, place / "out")
    lines = history(place / "out")
    assert [line["number"] for line in lines] == [0, 1, 2, 3]
    assert [c.number for c in done.checkpoints()] == [0, 1, 2, 3]
    best = max(lines, key=lambda line: line["criterion"])
    seed = done.config["seeds"][0]
    assert (seed["criterion"], seed["dev_csls"]) == (best["criterion"], best["dev_csls"])
    assert seed["dev_csls"] > lines[0]["dev_csls"]
    assert all(line["orthogonality"] < 1e-5 for line in lines)


def test_the_same_command_again_does_nothing(place):
    write_planted(place)
    supervised(place / "out")
    before = content(place / "out")
    times = {f: f.stat().st_mtime_ns for f in (place / "out").rglob("*.safetensors")}
    supervised(place / "out", export="binary")
    assert content(place / "out") == before
    assert {f: f.stat().st_mtime_ns for f in (place / "out").rglob("*.safetensors")} == times
    assert (place / "out" / "source.bin").is_file()


def test_an_interrupted_alignment_ends_as_an_uninterrupted_one(place, plugin):
    plugin("alignment_methods", WALK)
    write_planted(place, n=200, dim=12)
    request = make_request("a.vec", "b.vec", method="walk", dev="ab.txt", refine=1, tries=2)
    with pytest.raises(
        SentProbeError, match="only match the distributions"
    ):  # it finds nothing; maps and history are kept
        align(request, place / "whole")
    assert len(history(place / "whole")) == 12

    def until(last):
        seen = 0

        def report(one):
            nonlocal seen
            seen += one.stage in ("round", "refine")
            if seen == last:
                raise Stop

        return report

    for last in (1, 3, 5, 6, 7, 12):
        cut = place / f"cut-{last}"
        with pytest.raises(Stop):
            align(request, cut, until(last))
        with (cut / "maps" / "seed-0" / "history.jsonl").open("a") as file:
            file.write('{"seed": 0, "sta')  # a line that was cut off
        with pytest.raises(SentProbeError, match="only match the distributions"):
            align(request, cut)
        assert content(cut) == content(place / "whole")
        assert history(cut) == history(place / "whole")
        assert not list(cut.rglob("state.safetensors"))


def test_resuming_refinement_gives_the_same_map(place):
    write_planted(place, noise=0.3)
    supervised(place / "whole", refine=3)

    def report(one):
        if (one.stage, one.number) == ("refine", 2):
            raise Stop

    with pytest.raises(Stop):
        supervised(place / "cut", report, refine=3)
    with pytest.raises(DataError, match="no map yet"):
        open_alignment(place / "cut").map()
    supervised(place / "cut", refine=3)
    assert content(place / "cut") == content(place / "whole")
    assert history(place / "cut") == history(place / "whole")


def test_seeds_in_processes_find_the_same(place, plugin):
    plugin("alignment_methods", WALK)
    write_planted(place, n=60, dim=5)
    request = make_request("a.vec", "b.vec", method="walk", tries=[3, 1, 4])
    for folder, jobs in (("one", 1), ("two", 2)):
        with pytest.raises(SentProbeError, match="only match the distributions"):
            align(request, place / folder, jobs=jobs)
    assert content(place / "one") == content(place / "two")
    configs = [open_alignment(place / folder).config for folder in ("one", "two")]
    assert [s["seed"] for s in configs[1]["seeds"]] == [3, 1, 4]
    assert configs[0]["chosen"] == configs[1]["chosen"]
    best = max(configs[0]["seeds"], key=lambda s: s["criterion"])
    assert best["seed"] == configs[0]["chosen"]


def test_a_search_that_finds_nothing_is_a_failure(place, plugin):
    plugin("alignment_methods", WALK)
    write_planted(place, n=300, dim=20)
    request = make_request("a.vec", "b.vec", method="walk", dev="ab.txt", tries=2)
    with pytest.raises(SentProbeError) as error:
        align(request, place / "out")
    for text in ("found no map with 2 tries", "--dictionary", "--tries 4", "--steps unit,center,unit"):
        assert text in str(error.value)
    folder = open_alignment(place / "out")
    assert not (place / "out" / "map.safetensors").exists()
    assert len(folder.history()) == 8
    assert len(folder.checkpoints()) == 8
    assert "failed" in (place / "out" / "card.md").read_text("utf-8")
    with pytest.raises(DataError, match="since the alignment failed"):
        folder.map()
    with pytest.raises(SentProbeError, match="found no map"):  # at once
        align(request, place / "out")


def test_judging_tells_a_right_map_from_a_wrong_one():
    source, target, turn, _ = planted(400, 20, noise=0.05)
    right, wrong = validate(source, target, Matrices(turn)), validate(source, target, Matrices(rotation(20, 7)))
    assert right.passed
    assert right.value > 0.9
    assert not wrong.passed


def test_a_map_that_only_matches_distributions_is_not_enough():
    source, target, turn, _ = planted(400, 20, noise=0.05)
    axes = [np.linalg.eigh(np.cov(rows.T))[1] for rows in (source, target)]
    signs = np.sign(np.diag(axes[0].T @ turn @ axes[1]))  # those of the right map
    signs[::2] *= -1
    matched = ((axes[0] * signs) @ axes[1].T).astype(np.float32)
    assert validate(source, target, Matrices(turn)).passed
    assert not validate(source, target, Matrices(matched)).passed


def test_an_easy_space_is_confirmed():
    easy, target, turn, _ = planted(400, 2)
    assert validate(easy, target, Matrices(turn)).passed


@pytest.mark.parametrize("words", [2, 5])
def test_tiny_spaces(place, words):
    write_planted(place, n=words, dim=4)
    if words < 5:
        with pytest.raises(TooFewError, match="both words of 2 of 2 pairs"):
            supervised(place / "out")
        assert not (place / "out" / "alignment.json").exists()
    else:
        assert supervised(place / "out", refine=1).map().source.matrix.shape == (4, 4)


def test_the_same_file_twice(place):
    write_planted(place)
    request = make_request("a.vec", "a.vec", dictionary=["identical"])
    np.testing.assert_allclose(align(request, place / "out").map().source.matrix, np.eye(10), atol=1e-5)


def test_other_dimensions_are_refused(place):
    write_planted(place)
    write_vectors(place / "b.vec", [f"t{i}" for i in range(200)], clustered(200, 7))
    with pytest.raises(UsageError, match=r"a\.vec has vectors of 10 dimensions, and b\.vec of 7"):
        supervised(place / "out")


def test_numbers_that_are_not_finite_are_refused(place):
    write_planted(place)
    lines = (place / "a.vec").read_text().splitlines()
    lines[3] = lines[3].rsplit(" ", 1)[0] + " nan"
    (place / "a.vec").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"a\.vec:4: got 'nan'"):
        supervised(place / "out")


def test_another_request_in_the_same_folder_is_refused(place):
    write_planted(place)
    supervised(place / "out")
    with pytest.raises(UsageError, match="has an alignment with refine 0, and this is 2"):
        supervised(place / "out", refine=2)
    with pytest.raises(UsageError, match=r"has an alignment with steps \(none\), and this is unit"):
        supervised(place / "out", steps=["unit"])


@pytest.mark.parametrize(("name", "role"), [("a.vec", "source"), ("b.vec", "target"), ("ab.txt", "dictionary")])
def test_changed_data_are_refused(place, name, role):
    write_planted(place)
    supervised(place / "out")
    lines = (place / name).read_text().splitlines()
    lines[-1], lines[-2] = lines[-2], lines[-1]
    (place / name).write_text("\n".join(lines) + "\n")
    with pytest.raises(UsageError, match=rf"{name} \({role}\) has changed since the alignment"):
        supervised(place / "out")


def test_a_folder_of_something_else_is_refused(place):
    write_planted(place)
    (place / "other").mkdir()
    (place / "other" / "thesis.tex").write_text("")
    with pytest.raises(UsageError, match=r"has thesis\.tex, which was not written by `sentprobe align`"):
        supervised(place / "other")
    with pytest.raises(UsageError, match="is a file"):
        supervised(place / "ab.txt")


def test_a_folder_is_written_by_one_process_at_a_time(place):
    write_planted(place)

    def report(one):
        with pytest.raises(UsageError, match="Another process is writing"):
            supervised(place / "out")
        raise Stop

    with pytest.raises(Stop):
        supervised(place / "out", report)


def test_the_held_out_fifth_shares_no_source_word():
    rows = np.array([(i % 10, i) for i in range(30)], np.int64)
    kept, out = hold_out(Matched(rows, tuple((str(s), str(t)) for s, t in rows), 0, 0))
    assert len(np.unique(out[:, 0])) == 2
    assert not set(out[:, 0]) & set(kept.rows[:, 0])
    assert len(out) + len(kept.rows) == 30
    assert [(int(s), int(t)) for s, t in kept.word_pairs] == [tuple(row) for row in kept.rows.tolist()]


def test_precision_agrees_with_a_loop():
    source, target, turn, order = planted(50, 4, noise=0.5)
    pairs = np.array([(i, order[i]) for i in range(40)] + [(3, 0), (3, 1)], np.int64)
    found = precision_at_1(source, target, Matrices(turn), pairs)
    cosines = (source @ turn) / np.linalg.norm(source @ turn, axis=1)[:, None]
    cosines = cosines @ (target / np.linalg.norm(target, axis=1)[:, None]).T
    near = np.sort(cosines, axis=0)[-10:].mean(0)
    for scores, got in ((cosines, found.nn), (2 * cosines - near, found.csls)):
        right = [scores[i].argmax() in [t for s, t in pairs if s == i] for i in range(40)]
        assert got == pytest.approx(np.mean(right))
    assert 0 < found.nn < 1


def test_the_best_method_is_chosen_on_held_out_words(place, plugin):
    plugin(
        "alignment_methods",
        """
        from sentprobe.lab.alignment.method import Matrices, Method
        from sentprobe.lab.alignment.methods.procrustes import orthogonal
        import numpy as np

        def exactly(problem):
            return Matrices(orthogonal(problem.source[problem.pairs[:, 0]], problem.target[problem.pairs[:, 1]]))

        def nothing(problem):
            return Matrices(np.eye(problem.source.shape[1], dtype=np.float32))

        alignment_methods = (Method("good", "", exactly), Method("bad", "", nothing))
    """,
    )
    from sentprobe.lab.alignment import METHODS
    from sentprobe.lab.alignment import request as requests

    write_planted(place, noise=0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(requests, "applicable", lambda dictionary: [METHODS["bad"], METHODS["good"]])
        patch.setattr("sentprobe.lab.alignment.align.applicable", requests.applicable)
        done = align(make_request("a.vec", "b.vec", method="best", dictionary=["ab.txt"]), place / "out")
    assert done.config["method"] == "good"
    scores = {one["method"]: one["score"] for one in done.config["candidates"]}
    assert scores["good"] > 0.9 > scores["bad"]
    assert done.config["dictionary"]["known"] == 200
    tried = open_alignment(place / "out" / "candidates" / "good").config
    assert tried["dictionary"]["held_out"] == 40
    assert "held-out P@1 CSLS" in (place / "out" / "card.md").read_text("utf-8").replace("&#64;", "@")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "procrustes"}, "needs a dictionary"),
        ({"method": "procrutes"}, "Did you mean procrustes"),
        ({"dictionary": ["d"], "steps": ["units"]}, "no step 'units'"),
        ({"dictionary": ["d"], "settings": {"x": 1}}, "no setting 'x' of the method procrustes"),
        ({"dictionary": ["d"], "refine": -1}, "--refine of 0 or more"),
        ({"dictionary": ["d"], "words": 1}, "--words of 2 or more"),
        ({"dictionary": ["d"], "tries": [1, 1]}, "occurs twice"),
        ({"dictionary": ["d"], "tries": 0}, "--tries of 1 or more"),
        ({"dictionary": ["d"], "export": "pdf"}, "--export pdf"),
        ({"dictionary": ["d"], "dev": "identical"}, "expected a file"),
        ({"method": "best", "refine": 2}, "--refine is for one method"),
    ],
)
def test_requests_that_make_no_sense(options, message):
    with pytest.raises(UsageError, match=message):
        make_request("a.vec", "b.vec", **options)


def test_defaults_depend_on_what_is_given():
    assert make_request("a", "b", dictionary=["d"]).tries == (0,)
    free = make_request("a", "b")
    assert (free.method, free.why) == ("vecmap", "no dictionary is given")
    assert len(free.tries) == 5
    assert make_request("a", "b", tries=[7]).tries == (7,)


def test_what_is_recorded_is_plain_json(place):
    write_planted(place)
    supervised(place / "out", refine=1)
    config = json.loads((place / "out" / "alignment.json").read_text("utf-8"))
    assert config["request"]["dictionary"] == ["ab.txt"]
    assert config["source"]["beside"] == os.path.join("..", "a.vec")  # noqa: PTH118


def test_a_lost_or_damaged_map_is_written_again(tmp_path):
    write_planted(tmp_path)
    asked = make_request(
        str(tmp_path / "a.vec"), str(tmp_path / "b.vec"), dictionary=[str(tmp_path / "ab.txt")], refine=1
    )
    out = tmp_path / "out"
    align(asked, out)
    before = (out / "map.safetensors").read_bytes()
    (out / "map.safetensors").write_bytes(before[:50])
    align(asked, out)
    assert (out / "map.safetensors").read_bytes() == before
    (out / "map.safetensors").unlink()
    align(asked, out)
    assert (out / "map.safetensors").read_bytes() == before


def test_what_a_killed_process_was_writing_is_no_obstacle(tmp_path):
    write_planted(tmp_path)
    asked = make_request(str(tmp_path / "a.vec"), str(tmp_path / "b.vec"), dictionary=[str(tmp_path / "ab.txt")])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".alignment.json.77.part").write_bytes(b"{")
    align(asked, tmp_path / "out")
    assert not list((tmp_path / "out").glob(".*.part"))


def test_no_map_is_refused_that_could_not_be_better():
    for seed in range(3):
        source, target, turn, _ = planted(150, 10, seed=seed)
        found = validate(source, target, Matrices(turn))
        assert found.limit < 1
        assert found.passed
    assert not can_validate(*planted(20, 30)[:2])
    assert not can_validate(*planted(200, 3)[:2])
