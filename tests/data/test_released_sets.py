"""Released sets are known by what is in them, and by nothing else."""

import csv
import gzip
import os
import random
import subprocess
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from sentprobe import evaluate, find_sets
from sentprobe.core.hashing import git_blob
from sentprobe.data.dataset import Dataset
from sentprobe.data.sources import Source
from sentprobe.published import human, published
from sentprobe.published.releases import content_digests, recognise, releases, rows_digest
from sentprobe.report import summarise
from sentprobe.tasks import Example

SENTENCES = [(f"The {noun} {verb} .", label) for noun in ("cat", "dog", "cow", "hen", "ant", "bee", "fox", "owl")
             for verb, label in (("runs", "PRES"), ("ran", "PAST"), ("sits", "PRES"), ("sat", "PAST"))]  # fmt: skip
SPLITS = {"tr": SENTENCES[:16], "va": SENTENCES[16:24], "te": SENTENCES[24:]}
REAL = os.environ.get("SENTPROBE_DATA")
"""A folder with SentEval's and X-Probe's files, where they are at hand."""


def senteval(path, splits=SPLITS):
    lines = "".join(f"{split}\t{label}\t{text}\n" for split, rows in splits.items() for text, label in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
    return path


def loaded(*paths, **more):
    (source,) = find_sets([str(path) for path in paths], **more)
    return source.load()


def test_the_content_does_not_depend_on_how_a_set_is_stored(tmp_path):
    plain = loaded(senteval(tmp_path / "a" / "past_present.txt"))
    expected = content_digests(plain)
    assert content_digests(loaded(senteval(tmp_path / "b" / "colours.txt.gz"))) == expected
    shuffled = {split: random.Random(1).sample(rows, len(rows)) for split, rows in SPLITS.items()}
    assert content_digests(loaded(senteval(tmp_path / "c" / "x.txt", shuffled))) == expected
    for split, rows in SPLITS.items():
        (tmp_path / "d").mkdir(exist_ok=True)
        (tmp_path / "d" / f"{split}.txt").write_text("".join(f"{text}\t{label}\n" for text, label in rows))
    assert content_digests(loaded(tmp_path / "d")) == expected
    manifest = {"question": "", "reading": {}, "sizes": {}, "majority": {}, "label_length_correlation": {}}
    made = replace(plain, manifest={**manifest, "name": plain.name, "task": plain.task, "version": 1, "language": None,
                                    "labels": list(plain.labels), "corpus": {}, "audit": []})  # fmt: skip
    made.save(tmp_path / "e")
    assert content_digests(Dataset.load(tmp_path / "e")) == expected


def test_other_rows_labels_or_splits_are_another_content(tmp_path):
    def of(name, splits):
        return content_digests(loaded(senteval(tmp_path / name / "x.txt", splits)))

    first = of("same", SPLITS)
    text, label = SPLITS["te"][0]
    labels = of("label", {**SPLITS, "te": [(text, "PAST" if label == "PRES" else "PRES"), *SPLITS["te"][1:]]})
    words = of("words", {**SPLITS, "te": [(f"{text} Yes .", label), *SPLITS["te"][1:]]})
    fewer = of("fewer", {**SPLITS, "te": SPLITS["te"][1:]})
    for other in (labels, words, fewer):
        assert first["te"] != other["te"]
        assert first["all"] != other["all"]
    moved = of("moved", {**SPLITS, "tr": SPLITS["tr"][1:], "va": [*SPLITS["va"], SPLITS["tr"][0]]})
    assert moved == first  # the same test rows, and the same rows in all


def test_a_tokeniser_that_sets_spaces_changes_nothing():
    rows = [Example("1", (), text) for text in ('It isn\'t "so".', "It is n't `` so '' .", "It isn't ''so''.")]
    assert len({rows_digest([row]) for row in rows}) == 1
    assert rows_digest([rows[0]]) != rows_digest([Example("0", (), rows[0].text)])
    # the same letters, put together in another way
    assert rows_digest([Example("1", (), "caf\u00e9")]) == rows_digest([Example("1", (), "cafe\u0301")])


def test_the_second_sentence_of_a_pair_counts():
    one, two = (Example("1", (), "a", extra=(("sentence2", text),)) for text in ("b", "c"))
    assert rows_digest([one]) != rows_digest([two])


def test_a_file_has_the_id_that_git_gives_it(tmp_path):
    # the empty file's, which git itself names in its documentation
    assert git_blob(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    path = senteval(tmp_path / "x.txt")
    found = subprocess.run(["git", "hash-object", path], capture_output=True, text=True, check=False)
    if found.returncode == 0:
        assert git_blob(path.read_bytes()) == found.stdout.strip()


def test_the_id_of_a_file_is_that_of_what_was_compressed(tmp_path, monkeypatch):
    monkeypatch.setattr("sentprobe.published.releases.SENTEVAL_ROWS", len(SENTENCES))
    for name in ("x.txt", "y.txt.gz"):
        path = senteval(tmp_path / name)
        assert content_digests(loaded(path), str(path))["file"] == git_blob((tmp_path / "x.txt").read_bytes())
    gone = loaded(tmp_path / "x.txt")
    assert "file" not in content_digests(gone, str(tmp_path / "gone.txt"))


def test_every_release_has_rows_that_papers_printed_and_a_digest_of_its_own():
    found = releases()
    with files("sentprobe.published").joinpath("sets.csv").open("r", encoding="utf-8") as lines:
        assert len(found) == sum(1 for _ in csv.DictReader(lines)) == 10 + 45 + 4 + 10
    for release in found:
        assert published(release.task, suite=release.suite, language=release.language), release
        assert len(release.digest) == (40 if release.by == "file" else 32)
        assert int(release.digest, 16)
    assert {r.task for r in found if r.by == "file"} == {r.task for r in found if human(r.task, r.suite)}


def test_recognised_by_content_only():
    release = next(r for r in releases() if r.by == "te" and r.task == "TREC")
    assert recognise({"te": release.digest}, {"tr": release.train}) == (release, "this set")
    assert recognise({"te": release.digest}, {"tr": 7}) == (release, "the whole set")
    assert recognise({"all": release.digest}, {"tr": release.train}) is None
    assert recognise({}, {}) is None


def test_a_run_knows_the_released_set_wherever_it_lies(tmp_path, monkeypatch):
    """A set of a few rows stands in for a released one, whose rows are not ours to keep."""
    path = senteval(tmp_path / "any" / "thing.txt.gz")
    digest = content_digests(loaded(path))["te"]
    known = next(r for r in releases() if (r.suite, r.task, r.by) == ("conneau2018", "past_present", "all"))
    stand_in = replace(known, by="te", digest=digest, train=len(SPLITS["tr"]))
    monkeypatch.setattr("sentprobe.published.releases._releases", lambda: {("te", digest): stand_in})
    run = evaluate([], find_sets([str(path)]), tmp_path / "run", baselines=("majority",))
    (own,) = summarise(run).sets
    assert (own.name, own.printed_for, own.human.accuracy) == ("thing", "this set", 0.85)
    named = senteval(tmp_path / "conneau2018" / "past_present.txt", {**SPLITS, "te": SPLITS["te"][2:]})
    run = evaluate([], find_sets([str(named)]), tmp_path / "other", baselines=("majority",))
    (own,) = summarise(run).sets
    assert (own.task, own.printed_for, own.human, own.published) == ("past_present", None, None, ())


def test_the_majority_of_a_run_has_no_interval(tmp_path):
    path = senteval(tmp_path / "x.txt")
    run = evaluate([], find_sets([str(path)]), tmp_path / "run", baselines=("majority", "length"))
    majority, length = run
    assert majority.constant
    assert majority.range == (majority.score, majority.score) == (0.5, 0.5)
    assert not length.constant
    assert length.range[1] > length.range[0]
    frame = {row["encoder"]: row for row in run.frame().to_dict("records")} if _pandas() else {}
    for name, row in frame.items():
        assert (row["low"] != row["low"]) == (name == "majority")  # NaN


def _pandas():
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.skipif(not REAL, reason="SENTPROBE_DATA is not set")
@pytest.mark.parametrize(
    ("place", "task", "extent"),
    [("senteval/probing/past_present.txt.gz", "past_present", "the whole set"),
     ("xprobe/fr/subj_number", "subj_number", "the whole set"),
     ("senteval/downstream/TREC", "TREC", "this set")],
)  # fmt: skip
def test_real_sets(place, task, extent):
    (source,) = find_sets([str(Path(REAL) / place)])
    assert isinstance(source, Source)
    found = source.load()
    release, known = recognise(content_digests(found), {split: len(rows) for split, rows in found.rows.items()})
    assert (release.task, known) == (task, extent)
