"""The page of sets without a run: what it shows, and that nothing in a set is taken for markup."""

import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape

import pytest

from sentprobe import Corpus, audit_set, make_sets, select_tasks
from sentprobe.audit.check import Finding
from sentprobe.cli import app
from sentprobe.data.sources import find_sets
from sentprobe.errors import UsageError
from sentprobe.probes.baselines.naive_bayes import top_features
from sentprobe.report.described_sets import MAX_CLASSES, MAX_FEATURES, describe_sets
from sentprobe.report.page.sets import _answer, render_sets

EVIL = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A set that sentprobe made, a file in SentEval's format with markup in it, and one that is damaged."""
    root = tmp_path_factory.mktemp("sets")
    requests = select_tasks(tasks=["bigram_shift", "past_present"], sizes="80/20/20")
    for found in make_sets(Corpus.synthetic(1500), requests):
        found.save(root / found.name)
    lines = [
        f"{split}\t{label}\tword {label} {i} {EVIL}" for split in ("tr", "te") for label in "AB" for i in range(20)
    ]
    (root / "own").mkdir()
    (root / "own" / "evil.txt").write_text("\n".join(lines))
    (root / "own" / "broken.txt").write_text("tr\tA\ta b\nte\tB\tc d\nte\tB\n")
    return root


@pytest.fixture(scope="module")
def described(folder):
    return describe_sets(find_sets(folder), [str(folder)])


@pytest.fixture(scope="module")
def page(described):
    return render_sets(described)


def test_words_and_redundancy_are_those_of_naive_bayes_and_the_manifest(folder, described, page):
    shift, evil, tense = sorted(described.sets, key=lambda own: own.task)
    dataset = next(source for source in find_sets(folder) if source.name == tense.name).load()
    assert {label: list(words) for label, words in tense.features.items()} == {
        label: words for label, words in top_features(dataset, top=MAX_FEATURES).items() if words
    }
    assert tense.redundancy == dataset.manifest["redundancy"]["te"]
    assert not shift.redundancy
    assert evil.task == "evil"
    assert 'id="features"' in page
    assert "most words that have such a value, the target among them" in page


def test_counts_and_examples_are_those_of_the_rows(folder, described):
    sources = [source for source in find_sets(folder) if "broken" not in source.name]
    assert [own.name for own in described.sets] == [source.name for source in sources]
    for source, own in zip(sources, described.sets, strict=True):
        dataset = source.load()
        counts = Counter((split, row.label) for split, row in dataset)
        assert {(s, c.label): n for c in own.classes for s, n in c.counts.items() if n} == counts
        assert own.n == {split: len(rows) for split, rows in dataset.rows.items()}
        texts = {label: {row.tokens for _, row in dataset if row.label == label} for label in dataset.labels}
        for each in own.classes:
            assert len(each.examples) == 2
            assert all(row.tokens in texts[each.label] for row in each.examples)
        assert own.majority == max(Counter(row.label for row in dataset.rows["te"]).values()) / own.n["te"]
        assert own.findings == audit_set(dataset).findings


def test_codes_are_named_in_the_order_of_the_findings(described):
    own = described.sets[0]
    codes = ["giveaway", "copies-across-splits", "mixed-tokenisation", "markup", "empty", "contradiction"]
    findings = tuple(
        Finding(code, "error", "what was found", "what to do", split) for code in codes for split in ("tr", "te")
    )
    (answer,) = (
        line for line in _answer(replace(described, sets=(replace(own, findings=findings),))) if "errors:" in line
    )
    assert answer == f"The set has errors: {', '.join(codes[:-1])} and {codes[-1]}."


def test_the_page_shows_what_is_described(page, described):
    text = unescape(re.sub(r"<wbr>|<[^>]+>", "", page))
    for own in described.sets:
        assert own.name in text
        assert own.digest in text
        for finding in own.findings:
            assert finding.message in text
        for reason, n in own.rejected:
            assert f"{n:,} {reason}" in text
    made = next(own for own in described.sets if own.name.endswith("past_present"))
    assert ("Seed", "1111") in made.facts
    assert ("Rows requested", "80 / 20 / 20 (train / dev / test)") in made.facts
    assert dict(made.facts)["Corpus"].startswith("builtin (synthetic): 1,500 sentences")
    assert "<mark>" in page
    assert "could not be read" in text


def test_nothing_in_a_set_is_markup(page):
    assert EVIL not in page
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    assert "default-src &#39;none&#39;" in policy[1]


def test_every_link_leads_somewhere(page):
    targets = set(re.findall(r'\bid="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= targets
    assert len(re.findall(r'\bid="([^"]+)"', page)) == len(targets)


def test_another_seed_shows_other_examples_and_the_same_one_the_same(folder, described):
    evil = find_sets(folder / "own" / "evil.txt")
    (own,), (same,), (other,) = (describe_sets(evil, seed=seed).sets for seed in (0, 0, 1))
    assert own == same
    assert own.classes != other.classes
    assert own.classes == next(s for s in described.sets if s.name == "own/evil").classes


def test_of_many_classes_the_largest_are_shown(tmp_path):
    lines = [f"te\tl{i:02}\tsentence {i} {j}" for i in range(40) for j in range(40 - i)]
    (tmp_path / "many.txt").write_text("\n".join(lines))
    (own,) = describe_sets(find_sets(tmp_path)).sets
    assert own.labels == 40
    assert [each.label for each in own.classes] == [f"l{i:02}" for i in range(MAX_CLASSES)]


def report(*words):
    return app(["report", *map(str, words)], result_action="return_value", exit_on_error=False)


def test_the_command(folder, tmp_path, capsys):
    page, data = tmp_path / "sets.html", tmp_path / "sets.json"
    assert report(folder, "-o", page, "-o", data, "--per-class", 1, "-j", 1, "--title", "Mine") == 2  # one is damaged
    printed = capsys.readouterr()
    assert printed.out.split() == [str(page), str(data)]
    assert "Reading and auditing 4 sets; 1 job" in printed.err
    assert "not read: own/broken" in printed.err
    assert "<bdi>Mine</bdi>" in page.read_text("utf-8")
    found = json.loads(data.read_text("utf-8"))
    assert [len(each["examples"]) for own in found["sets"] for each in own["classes"]] == [1] * 6


def test_a_table_that_is_split(tmp_path, capsys):
    rows = [f"{word} number {i},{word}" for i in range(50) for word in ("good", "bad")]
    (tmp_path / "reviews.csv").write_text("\n".join(["review,mood", *rows]))
    words = ("--text", "review", "--label", "mood", "--split", "80/10/10", "-o", tmp_path / "page.html", "-j", 1)
    assert report(tmp_path / "reviews.csv", *words) == 0
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "80/10/10,seed=1111" in text.replace("<wbr>", "")


def test_a_table_names_its_columns(tmp_path, monkeypatch, capsys):
    rows = [f"{word} number {i},{word}" for i in range(50) for word in ("good", "bad")]
    (tmp_path / "reviews.csv").write_text("\n".join(["review,mood", *rows]))
    monkeypatch.chdir(tmp_path)
    assert report("reviews.csv:text=review,label=mood,split=80/10/10", "-j", 1) == 0
    assert capsys.readouterr().out == "reviews.html\n"
    assert "80/10/10,seed=1111" in (tmp_path / "reviews.html").read_text("utf-8").replace("<wbr>", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--adjust", "bh"), "--published, --against, --margin and --names are for runs"),
        (("-o", "x.md"), "expected the suffix .html or .json"),
        (("--open", "-o", "x.json"), "--open opens a page, and none is written"),
        (("--per-class", "-1"), "--per-class -1: expected an integer, 0 or more"),
    ],
)
def test_what_is_refused(folder, words, message):
    with pytest.raises(UsageError, match=message):
        report(folder, *words)


def test_a_file_has_its_page_in_the_current_folder(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert report(folder / "own" / "evil.txt") == 0
    assert capsys.readouterr().out == "evil.html\n"
    assert (tmp_path / "evil.html").exists()
    with pytest.raises(UsageError, match="There is no single folder to write to"):
        report(folder / "own" / "evil.txt", folder / "own")
