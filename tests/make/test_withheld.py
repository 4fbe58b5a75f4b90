"""A list of changed sentences excludes the originals, whatever it was made from."""

import sys

import pytest

from sentprobe.cli import main
from sentprobe.corpus import Corpus
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.data.expectations import origins
from sentprobe.make import make_sets
from sentprobe.make.filters import ExcludedSentences
from sentprobe.make.request import read_excluded, select_tasks
from sentprobe.tasks import Example, load_task

CHANGING = ("bigram_shift", "odd_man_out", "coordination_inversion")
SENTENCE = "The old captain didn't answer, and the crew waited."


@pytest.mark.parametrize(
    ("listed", "held"),
    [
        (SENTENCE, True),
        ("the OLD captain didn't answer and the crew waited", True),
        ("The old captain did n't answer , and the crew waited .", True),
        ("The captain old didn't answer, and the crew waited.", True),
        ("The crew waited, and the old captain didn't answer.", True),
        ("The old captain didn't answer, and the crew slept.", True),
        ("The old captain did n't reply , and the crew waited .", True),
        ("The old sailor didn't answer, and the crew slept.", False),
        ("An old captain didn't answer, and the crew waited.", False),
        ("The old captain didn't answer.", False),
        ("", False),
    ],
)
def test_what_a_listed_sentence_withholds(listed, held):
    tokens = "The old captain did n't answer , and the crew waited .".split()
    assert ExcludedSentences.of(listed).has(SENTENCE, tokens) is held


def test_two_words_are_compared_in_order():
    assert not ExcludedSentences.of("No sleep").has("Sleep, no!", ["Sleep", ",", "no", "!"])
    assert ExcludedSentences.of("No sleep").has("no sleep.", ["no", "sleep", "."])


@pytest.fixture(scope="module")
def changed(conneau):
    return {name: conneau[name] for name in CHANGING}


@pytest.mark.parametrize("name", CHANGING)
def test_the_original_is_had_back_from_the_row(name, changed, builtin):
    text = {s.id: s.text for s in builtin}
    met = [(row, found) for row, found in origins(changed[name]) if row.label in ("I", "C")]
    assert met
    for row, found in met:
        assert found is not None
        assert near_duplicate_key(found) == near_duplicate_key(text[row.source]) != near_duplicate_key(row.text)
        if name != "coordination_inversion":  # whose capitals are lost
            assert found == text[row.source]


def test_a_row_without_marks_does_not_tell():
    row = Example("I", ("a", "c", "b"), "a c b")
    for name, label in zip(CHANGING, "ICI", strict=True):
        assert load_task(name).original(row._replace(label=label)) is None
        assert load_task(name).original(row._replace(label="O")) == "a c b"


@pytest.mark.parametrize("form", ["texts", "tokens", "senteval", "folder"])
def test_no_original_slips_through(form, changed, builtin, tmp_path):
    used = {row.source for dataset in changed.values() for _, row in dataset}
    path = tmp_path / "held.txt"
    rows = [(split, row) for dataset in changed.values() for split, row in dataset]
    if form == "texts":
        path.write_text("".join(f"{row.text}\n" for _, row in rows))
    elif form == "tokens":
        path.write_text("".join(f"{' '.join(row.tokens)}\n" for _, row in rows))
    elif form == "senteval":
        path.write_text("".join(f"{split}\t{row.label}\t{' '.join(row.tokens)}\n" for split, row in rows))
    else:
        path = tmp_path / "probes"
        for dataset in changed.values():
            dataset.save(path / dataset.name)
    held = read_excluded(path)
    assert [s.id for s in builtin if s.id in used and not held.has(s.text, s.tokens)] == []
    (again,) = make_sets(builtin, select_tasks("conneau2018", "sentence_length", sizes="600/120/120"), exclude=held)
    assert again.manifest["stages"]["rejected"]["excluded by --exclude"] >= len(used)
    assert used.isdisjoint(row.source for _, row in again)


def test_sentences_alone_can_be_withheld_from_python():
    corpus = Corpus.synthetic(800)
    asked = select_tasks((), "sentence_length", sizes="60/20/20", settings="min_class=5")
    (one,) = make_sets(corpus, asked)
    (two,) = make_sets(corpus, asked, exclude=[row.text for _, row in one])
    assert {r.source for _, r in one}.isdisjoint(r.source for _, r in two)


def test_sentences_with_sources(changed, builtin, tmp_path, monkeypatch, capfdbinary):
    for dataset in changed.values():
        dataset.save(tmp_path / "probes" / dataset.name)
    (tmp_path / "bigram_shift.txt").write_text("tr\tI\tone three two\nva\tO\ta b\nte\tI\tfour six five\n")

    def sentences(*words):
        monkeypatch.setattr(sys, "argv", ["sentprobe", "sentences", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capfdbinary.readouterr()
        return ended.value.code, said.out.decode().splitlines(), said.err.decode()

    code, plain, _ = sentences(tmp_path / "probes")
    assert code == 0
    code, every, _ = sentences(tmp_path / "probes", "--sources")
    assert code == 0
    assert every[: len(plain)] == plain
    assert len(every) == len(set(every)) > len(plain)
    used = {row.source for dataset in changed.values() for _, row in dataset}
    assert {near_duplicate_key(s.text) for s in builtin if s.id in used} <= {near_duplicate_key(line) for line in every}
    code, lines, said = sentences(tmp_path / "bigram_shift.txt", "--sources")
    assert (code, len(lines)) == (2, 3)
    assert "2 rows are changed sentences whose originals are not recorded" in said
