"""Several sets at once: what they share, and what cannot be read."""

import json
from dataclasses import replace

import pytest

from sentprobe.audit.audit import UnreadableSet, audit_collection, audit_sources
from sentprobe.audit.check import SentenceKeys
from sentprobe.audit.show import as_json, count_findings, markdown
from sentprobe.data.sources import find_sets
from sentprobe.data.splits import Split
from sentprobe.tasks import load_task
from tests.audit.plants import copies_across, sound


def keys(name, dataset):
    return SentenceKeys.of(name, Split.of_set(dataset))


def written(dataset, path):
    lines = (f"{split}\t{row.label}\t{row.text}\n" for split, row in dataset)
    path.write_text("".join(lines), "utf-8")


@pytest.mark.parametrize("k", [1, 17])
def test_sentences_that_two_sets_have(k):
    one, two, three = sound(seed=1), sound(seed=2), sound(seed=3)
    both = replace(two, rows={**two.rows, "va": [*two.rows["va"], *one.rows["va"][:k]]})
    (finding,) = audit_collection([keys("one", one), keys("two", both), keys("three", three)])
    assert (finding.code, finding.severity, finding.count) == ("shared-sentences", "note", k)
    assert finding.evidence["one and two"] == k
    assert "one and three" not in finding.evidence


def test_a_test_sentence_that_is_trained_on_elsewhere_is_a_warning():
    one, two = sound(seed=1), sound(seed=2)
    leaky = replace(two, rows={**two.rows, "tr": [*two.rows["tr"], *one.rows["te"][:3]]})
    (finding,) = audit_collection([keys("one", one), keys("two", leaky)])
    assert (finding.severity, finding.evidence["te in another tr"]) == ("warning", 3)


def test_sets_that_share_nothing():
    assert audit_collection([keys("one", sound(seed=1)), keys("two", sound(seed=2))]) == ()
    assert audit_collection([keys("one", sound())]) == ()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    written(sound(seed=1), folder / "one.txt")
    written(copies_across(5), folder / "two.txt")
    (folder / "three.txt").write_text("tr\tA\tfine\n" * 20 + "tr\tA\n", "utf-8")
    return folder


def test_a_set_that_cannot_be_read_does_not_stop_the_others(folder):
    one, three, two = audit_sources(find_sets([str(folder)]))
    assert one[0].findings == ()
    assert [f.code for f in two[0].findings] == ["copies-across-splits"]
    assert isinstance(three, UnreadableSet)
    assert "three.txt:21" in three.reason


def test_workers_find_what_one_process_finds(folder):
    sources = find_sets([str(folder)])
    plain, parallel = list(audit_sources(sources)), list(audit_sources(sources, jobs=2))
    assert [x[0] if isinstance(x, tuple) else x for x in plain] == [
        x[0] if isinstance(x, tuple) else x for x in parallel
    ]


def test_a_task_given_by_hand_says_what_is_expected(folder):
    (source,) = find_sets([str(folder / "one.txt")])
    (other,) = find_sets([str(folder / "one.txt")], as_task="bigram_shift")
    ((audit, _),) = audit_sources([other], tasks=[load_task("bigram_shift")])
    assert next(m for m in audit.measures if m.name == "bigrams").expected
    ((audit, _),) = audit_sources([source], tasks=[load_task("bigram_shift")])  # of another task
    assert not next(m for m in audit.measures if m.name == "bigrams").expected
    ((audit, _),) = audit_sources([source])
    assert not next(m for m in audit.measures if m.name == "bigrams").expected


def test_markdown_is_safe_to_paste_and_json_has_everything(folder):
    found = [x for x in audit_sources(find_sets([str(folder)])) if isinstance(x, tuple)]
    audits = [replace(audit, name="a|b<c>") for audit, _ in found]
    text = markdown(audits, [], [UnreadableSet("bad", "a `reason`")])
    assert "a&#124;b&#60;c&#62;" in text
    assert "| error | copies-across-splits" in text or "| warning | copies-across-splits" in text
    assert "bad could not be read: a &#96;reason&#96;" in text
    assert "copies-across-splits" not in markdown(audits, [], [], severities=["error"])
    data = json.loads(as_json(audits, [], []))
    assert data["format"] == "sentprobe.audit.v1"
    (finding,) = data["sets"][1]["findings"]
    assert finding["count"] == 5
    assert finding["evidence"]["rows"] == 805
    assert finding["advice"]
    assert {m["name"] for m in data["sets"][0]["measures"]} >= {"length", "unigrams", "bigrams cased", "characters"}
    assert count_findings(audits, []) == "2 sets: 0 errors, 1 warning, 0 notes"
