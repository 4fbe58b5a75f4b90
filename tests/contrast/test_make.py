"""Contrast sets as a whole: reproducible, balanced, said how well cues do, and refused where they should be."""

import json
import random
import re

import pytest

from sentprobe import ContrastSet, Corpus, make_contrasts
from sentprobe.contrast import ContrastRule, RowsRead, split_rules
from sentprobe.contrast.cues import (
    BigramCounts,
    balanced_sizes,
    edits,
    length,
    overlap,
    signs,
    success_shares,
)
from sentprobe.data.contrast_set import ContrastRow
from sentprobe.errors import TooFewError, UsageError
from sentprobe.make.contrasts import choose_rules
from tests.command_line import sentprobe

CORPUS = Corpus.synthetic(1200)


@pytest.fixture(scope="module")
def contrasts():
    return make_contrasts(CORPUS, rows=40)[0]


@pytest.mark.parametrize(("jobs", "shards"), [(1, 1), (1, 5), (2, 3)])
def test_the_bytes_depend_neither_on_the_order_nor_on_workers(contrasts, jobs, shards, tmp_path):
    sentences = list(CORPUS)
    random.Random(jobs * shards).shuffle(sentences)
    # a corpus in memory is not known to be generated, which is all that its manifest says otherwise
    same = Corpus.of(sentences, name=CORPUS.name, language="en")
    again, _ = make_contrasts(same, rows=40, jobs=jobs, shards=shards)
    assert again.rows == contrasts.rows
    contrasts.save(tmp_path / "a")
    again.save(tmp_path / "b")
    for name in ("rows.parquet", "builtin.tsv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert again.manifest["corpus"]["digest"] == contrasts.manifest["corpus"]["digest"]
    assert again.manifest["cues"] == contrasts.manifest["cues"]


def test_another_seed_draws_other_rows():
    draws = [make_contrasts(CORPUS, "numbers", rows=10, seed=seed)[0].rows for seed in (1, 2)]
    assert draws[0] != draws[1]


def test_overlap_and_length_say_nothing_in_a_balanced_set(contrasts):
    assert contrasts.kinds == ("negation", "numbers", "order", "roles", "tense")
    for kind, shares in contrasts.manifest["cues"].items():
        rows = [row for row in contrasts.rows if row.kind == kind]
        assert shares["overlap"] == shares["length"] == 0.5, kind
        assert sum(signs(row.anchor, row.positive, row.contrast)[0] for row in rows) == 0
        assert set(shares) == {"overlap", "length", "edits", "bigrams"}


def test_without_balance_there_are_more_rows_and_cues_that_do_well():
    balanced, unbalanced = (make_contrasts(CORPUS, "order", unbalanced=flag)[0] for flag in (False, True))
    assert len(unbalanced) > len(balanced)
    assert unbalanced.manifest["cues"]["order"]["overlap"] < 0.5  # synonyms share fewer words than an exchange


def test_the_manifest_says_what_was_read_and_how_often_it_was_wrong(contrasts, tmp_path):
    contrasts.save(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    assert (manifest["format"], manifest["version"], manifest["language"]) == ("contrast", 1, "en")
    assert manifest["rules"]["roles"]["read"]["en"] == {
        "corpus": "built-in", "date": "2026-11-19", "rows": 50, "wrong": 0,
    }  # fmt: skip
    assert manifest["rules"]["roles"]["read"]["fr"]["corpus"].startswith("UD_French")
    assert manifest["counts"] == contrasts.counts
    assert ContrastSet.load(tmp_path).rows == contrasts.rows


def test_rows_are_no_more_than_requested_and_have_different_texts(contrasts):
    assert max(contrasts.counts.values()) <= 40
    for row in contrasts.rows:
        assert len({row.anchor, row.positive, row.contrast}) == 3
        assert row.id


def test_excluded_sentences_are_no_anchors(contrasts):
    anchors = {row.anchor for row in contrasts.rows}
    rest, _ = make_contrasts(CORPUS, rows=40, exclude=sorted(anchors))
    assert anchors.isdisjoint(row.anchor for row in rest.rows)


# Which rules are used


def test_a_rule_that_nobody_has_read_in_a_language_is_not_used_unless_requested():
    german = Corpus.of(list(CORPUS)[:50], language="de")
    with pytest.raises(TooFewError, match=r"nobody has read rows of roles in de\. --unread"):
        make_contrasts(german, "roles")
    chosen, skipped = choose_rules("de", ["roles", "numbers"])
    assert [rule.name for rule in chosen["contrast"]] == ["numbers"]
    assert {"fronting", "synonym"} <= {rule.name for rule in chosen["positive"]}
    assert skipped["roles"].startswith("nobody has read its rows in de")


def test_a_language_is_needed():
    with pytest.raises(UsageError, match="language of the corpus is not known"):
        make_contrasts(Corpus.of(list(CORPUS)[:5]))


def test_plain_text_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("The door is open.\nIt was not.\n", "utf-8")
    with pytest.raises(TooFewError, match="the corpus lacks UD features and dependency heads and UD parts of speech"):
        make_contrasts(Corpus.read(tmp_path / "a.txt", language="en"))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["negaton"], "There is no contrast rule 'negaton'.* Did you mean negation"),
        (["fronting"], "The rule 'fronting' keeps the meaning; expected one of negation, roles"),
    ],
)
def test_names_of_rules_are_checked(names, message):
    with pytest.raises(UsageError, match=message):
        split_rules(names, "contrast")


def test_fewer_than_fifty_rows_are_not_enough():
    rule = ContrastRule(
        name="mood", effect="contrast", summary="", rewrite=lambda s, context: iter(()),
        rows_read=(RowsRead(language="en", corpus="mine", wrong=0, date="2026-01-01", rows=49),),
    )  # fmt: skip
    assert rule.read_in("en") is None
    with pytest.raises(UsageError, match="Expected 0 to 50 wrong rows of 50, got 51"):
        RowsRead(language="en", corpus="mine", wrong=51, date="2026-01-01")


def test_a_rule_that_fails_is_named(monkeypatch):
    def broken(s, context):
        raise RuntimeError("half installed")

    rule = ContrastRule(
        name="mood", effect="contrast", summary="", rewrite=broken,
        rows_read=(RowsRead(language="en", corpus="mine", wrong=0, date="2026-01-01"),),
    )  # fmt: skip
    monkeypatch.setattr("sentprobe.make.contrasts.split_rules", lambda names, effect: [rule])
    with pytest.raises(UsageError, match=r"it failed on the sentence .*RuntimeError: half installed"):
        make_contrasts(CORPUS)


# Cues


def test_known_distances():
    assert overlap("Dogs bite men.", "Men bite dogs.") == 1
    assert overlap("a b c d", "a b") == pytest.approx(2 * 2 / 6)  # Dice: twice the common words over all words
    assert length("a b c", "a b c d e") == -2
    assert edits("kitten sat", "kitten sat down") == -1
    assert edits("a b c", "c b a") == -2


def test_signs_and_shares_of_planted_rows():
    row = ContrastRow("a b c", "c b a", "a b c d")
    assert signs(*row[:3]) == (1, 1)
    assert success_shares([row, ContrastRow("a b c", "a b c d", "c b a")]) == {
        "overlap": 0.5, "length": 0.5, "edits": 0.5,
    }  # fmt: skip
    assert success_shares([row])["overlap"] == 1.0


def test_fluency_is_counted_without_the_anchor():
    row = ContrastRow("the dog sleeps", "the cat sleeps", "the sleeps cat")
    counts = BigramCounts.for_rows([row])
    for text in ("the cat sleeps", "the cat eats", "the dog sleeps"):
        counts.add(text)
    assert counts.fluency(row.anchor, "the cat sleeps") > counts.fluency(row.anchor, "the sleeps cat")
    alone = BigramCounts.for_rows([row])
    alone.add("the dog sleeps")
    # of the anchor alone, nothing is left: all words are alike
    assert alone.fluency(row.anchor, "the dog") == pytest.approx(alone.fluency(row.anchor, "dog the"))


@pytest.mark.parametrize(
    ("available", "sizes"),
    [
        ({(1, 0): 9}, {(1, 0): 0}),
        ({(0, 0): 3, (1, 0): 2}, {(0, 0): 3, (1, 0): 0}),
        ({(1, 1): 4, (-1, -1): 3, (0, 0): 1}, {(0, 0): 1, (1, 1): 3, (-1, -1): 3}),
        ({(1, 1): 8, (-1, 1): 8}, {(1, 1): 8, (-1, 1): 8}),  # length cannot be balanced
        ({(0, 0): 30, (1, 1): 8, (-1, 1): 8}, {(0, 0): 30, (1, 1): 0, (-1, 1): 0}),  # it can, at some cost
    ],
)
def test_balanced_sizes(available, sizes):
    assert balanced_sizes(available) == sizes


# The command


def test_the_command_makes_shows_and_lists(tmp_path):
    done = sentprobe("make", "--builtin", 800, "--contrast", "roles,numbers", "--sizes", 12, "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "contrast  rows  candidates  wrong  overlap" in done.stdout
    assert re.search(r"numbers +12 +75 +0/50 +50\.0", done.stdout)
    shown = sentprobe("show", tmp_path)
    assert shown.stdout.startswith("ContrastSet('contrast/builtin', en,")
    rows = sentprobe("show", tmp_path, "--examples", 1).stdout
    assert "  numbers\n" in rows
    assert "= synonym: " in rows
    assert "built-in 0 of 50" in " ".join(sentprobe("ls", "contrast-rules").stdout.split())
    audit = sentprobe("audit", tmp_path)
    assert audit.returncode == 1
    assert "is a contrast set" in " ".join(audit.stderr.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--contrast", "roles", "-t", "passive"), "are for probing sets: leave them out, or --contrast"),
        (("--unread",), "--unread is for contrast sets: add --contrast"),
        (("--contrast", "roles", "--sizes", "10/10/10"), "expected the rows of each rule, such as 500"),
        (("--contrast", "roles", "--length", "9"), "expected the shortest and longest sentence"),
        (("--contrast", "rolse"), "There is no contrast rule 'rolse'"),
    ],
)
def test_options_that_do_not_go_together(words, message, tmp_path):
    done = sentprobe("make", "--builtin", 50, *words, "-o", tmp_path)
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
