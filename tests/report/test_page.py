"""The page: what it shows of a run, what it leaves out, and that no text in a run can do anything to it."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.encoders.diagnosis import Symptom
from sentprobe.errors import UsageError
from sentprobe.report import Report
from sentprobe.report.answer import answer, answer_note
from sentprobe.report.cells import Score
from sentprobe.report.checks import checks
from sentprobe.report.languages import languages
from sentprobe.report.meaning import meanings
from sentprobe.report.page import SECTIONS, Section, render
from sentprobe.report.page.header import duration, head_of
from sentprobe.report.page.html_table import table
from sentprobe.report.page.section import PageData
from sentprobe.report.page.sections import errors
from sentprobe.report.page.sections.errors import MAX_SENTENCE_LENGTH, pack_errors, segments
from sentprobe.report.page.templates import readable, script_json
from sentprobe.report.summary import full_summary
from sentprobe.report.titles import in_words
from sentprobe.report.types import (
    AuditFinding,
    BaselineComparison,
    Bin,
    ColumnErrors,
    Confusion,
    EncoderDiagnosis,
    FailureSummary,
    SetErrors,
    ShownRow,
    Summary,
    UsableInformation,
)
from sentprobe.results.run import Run
from sentprobe.run.control import CONTROLS
from sentprobe.run.variant import VariantSummary
from tests.report import summaries
from tests.report.runs import SETS, beside, cell, failure, result, written

HOSTILE = (
    "</script><script>window.hurt = 1</script>",
    '"><img src=x onerror="window.hurt=1">',
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe\u2066",
    "👩‍👩‍👧 naïve سلام",
    "x" * 10_000,
)


class Elements(HTMLParser):
    """The elements of a page, with the text inside each."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append([tag, dict(attributes), ""])

    def handle_data(self, data):
        if self.found:
            self.found[-1][2] += data

    def all(self, tag):
        return [(attributes, text) for name, attributes, text in self.found if name == tag]


def data_of(page):
    """What is embedded for the scripts."""
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


def sections(page):
    return [a["id"] for a, _ in Elements(page).all("section")]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two encoders on two sets."""
    records = [result(e, s, p=p) for s in SETS for e, p in (("st:good", 0.9), ("static:", 0.7))]
    return written(tmp_path_factory.mktemp("page") / "my-run", *records, *beside())


@pytest.fixture(scope="module")
def page(run):
    return Report.of(run).html()


# What is on it


def test_the_sections_of_a_plain_run(page):
    assert sections(page) == ["results", "checks", "intervals", "quality", "reproduce", "absent"]
    linked = [a["href"] for a, _ in Elements(page).all("a") if a["href"].startswith("#")]
    assert {f"#{name}" for name in sections(page)} - {"#absent"} <= {*linked}
    for why in ("only one language", "several layers", "several embedding dimensions", "transfer"):
        assert why in page.split('id="absent"')[1]


def test_every_number_of_the_table_is_there_without_a_script(run, page):
    rows = page.split('<table id="scores"')[1].split("</table>")[0]
    for r in run:
        assert f"{100 * r.score:.1f}" in rows
    assert rows.count("<tr") == 1 + len(SETS)
    head = re.findall(r'<th scope="col" data-kind="([\w-]+)"', rows)
    assert head[:5] == ["set", "rows", "encoder", "encoder", "best-baseline"]
    assert len(re.findall(r"<td", rows)) == len(SETS) * (len(head) - 1)


def test_headings_go_down_one_level_at_a_time_and_ids_are_unique(page):
    found = Elements(page)
    levels = [int(tag[1]) for tag, *_ in found.found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    ids = [a["id"] for _, a, _ in found.found if "id" in a]
    assert len(ids) == len(set(ids))
    described = [a["aria-labelledby"] for _, a, _ in found.found if "aria-labelledby" in a]
    assert set(described) <= set(ids)
    assert all(a.get("aria-label") for a, _ in found.all("div") if a.get("role") == "img")
    assert all(a.get("scope") for a, _ in found.all("th"))


def test_every_number_in_the_table_has_its_signature(run, page):
    listed = page.split('id="signatures"')[1].split("</table>")[0]
    assert listed.count("<code>") == len(run)
    for r in run:
        assert r.signature.replace("&", "&amp;") in listed


def test_the_title_is_the_folder_or_what_was_said(run, page):
    assert "<title>my-run</title>" in page
    assert "<title>A &lt; B</title>" in Report.of(run, title="A < B").html()


@pytest.mark.parametrize("folder", ["tmpab12cd_e", "tmp7x91kq0z"])
def test_a_temporary_folder_is_no_title(run, folder):
    page = render(replace(full_summary(run), folder=f"/tmp/{folder}", reproduction=None))
    assert "<title>Probing results</title>" in page
    assert "<title>tmp-run</title>" in render(replace(full_summary(run), folder="/tmp/tmp-run", reproduction=None))


def test_problems_are_badges(run):
    def finding(code, message):
        return AuditFinding(code=code, severity="error", message=message)

    summary = full_summary(run)
    same = finding("same-split", "dev and test are the same set: 90 of the 100 test rows are in dev")
    sets = (replace(summary.sets[0], audit=(same, finding("giveaway", "x"))), replace(summary.sets[1], audit=(same,)))
    failure = FailureSummary(
        encoder="st:x", dataset=SETS[0], variant=None, layer=None, probe=None, seed=None, kind="X", error="failed"
    )
    broken = EncoderDiagnosis(name="st:good", symptoms=(Symptom("zero-vectors", "all are zero"),))
    head = head_of(replace(summary, sets=sets, failures=(failure,) * 3, diagnoses=(broken,)))
    assert [(badge.text, badge.level) for badge in head.badges] == [
        ("1 encoder broken", "issue"), ("dev = test in 2 sets", "issue"), ("giveaway in 1 set", "issue"),
        ("3 failures of 1 encoder", "issue"),
    ]  # fmt: skip
    assert head_of(summary).badges == []
    page = render(replace(summary, sets=sets))
    assert '<li class="issue"><a href="#quality">dev = test in 2 sets</a></li>' in page


def test_what_to_do_about_a_finding_is_on_the_page(page):
    assert "<code>sentprobe audit</code> on the set; its codes say what each finding means." in page


def test_the_docs_name_every_section():
    docs = (Path(__file__).parents[2] / "docs" / "report.md").read_text("utf-8")
    titles = [section.title for section in SECTIONS.parts().values() if section.name != "more_charts"]
    assert re.findall(r"^\| ([A-Z][^|]*) \|", docs, re.MULTILINE)[: len(titles)] == titles


def test_the_page_opens_with_the_answer_and_then_the_table(page, run):
    head = page.split("</header>")[0]
    for sentence in answer(in_words(full_summary(run))):
        assert f"<p>{sentence}</p>" in head
    assert answer_note(full_summary(run)) in head
    assert "Incomplete" not in head
    assert sections(page)[0] == "results"


def test_colours_are_about_the_best_baseline(run):
    """By the verdicts of the summary, and by the points between a score and the best baseline."""
    summary = full_summary(run)
    found = table(summary)
    places = [i for i, heading in enumerate(found.headings) if heading.kind == "encoder"]
    for row, own in zip(found.rows, summary.sets, strict=True):
        for place, number in zip(places, own.cells, strict=True):
            shade, gain = row.cells[place].shade, 100 * (number.accuracy - number.against.value)
            significant = number.against.p <= 0.05
            assert bool(shade) == significant
            if significant:
                step = next((i + 1 for i in range(4) if abs(gain) <= 5 * (i + 1)), 5)
                assert shade == f"{'up' if gain > 0 else 'down'}{step}"
            assert not (row.cells[place].words.best and row.cells[place].marked)
    assert [words for _, words in found.scale][4:7] == ["0 to 5 points below", "not significant", "0 to 5 points above"]
    assert [name for name, _ in found.scale] == [
        "down5", "down4", "down3", "down2", "down1", "", "up1", "up2", "up3", "up4", "up5",
    ]  # fmt: skip


def test_an_incomplete_run_says_so_at_the_top(run, tmp_path):
    other = written(tmp_path / "run", *(result("st:good", s) for s in SETS), result("st:late", SETS[0]), *beside())
    head = Report.of(other).html().split("</header>")[0]
    assert "<strong>Incomplete:</strong> 1 requested cell has no result. Missing: st:late on bigram_shift." in head


def test_checks_are_a_strip_that_opens(page):
    body = page.split('<section id="checks"')[1].split("</section>")[0]
    assert body.count('<details class="strip">') == 1
    counts = re.findall(r'<span class="number">(\d+)</span> (\w+)', body)
    assert sum(int(n) for n, _ in counts) == len(re.findall(r'<li class="check ', body))


def test_errors_begin_with_a_set_that_someone_knows_and_labels_are_not_doubted_at_chance():
    def column_on(verdict, bits=None):
        against = BaselineComparison("nb-uni", 0.6, verdict, 0.01, 1)
        own = None if bits is None else UsableInformation(bits=bits, low=bits - 0.1, high=bits + 0.1, entropy=1.0)
        return summaries.cell(0.7, against=against, information=own)

    row = ShownRow(tokens=("a",), marks=(), label="NN", bits=-1.0, source="s")
    own = ColumnErrors(confusion=None, pairs=(), length=(), target=None, errors=(), label_counts=None)
    found = SetErrors(labels=("NN",), columns=(own,), doubtful=(row,), easiest=(row,))
    cells = [column_on("below", 0.02), column_on("below", 0.3), column_on("above"), column_on("above")]
    sets = [summaries.set_summary(f"set {i}", [each]) for i, each in enumerate(cells)]
    whole = summaries.summary(sets, [summaries.column("st:a")], errors=(found, found, None, found))
    data = errors.script_data(PageData(summary=whole, brief=whole, figures={}))
    assert data["first"] == 3  # the third has no predictions
    assert [own and len(own["doubtful"]) for own in data["errors"]] == [0, 1, None, 1]
    nobody = replace(whole, sets=(*whole.sets[:2],), errors=whole.errors[:2])
    assert errors.script_data(PageData(summary=nobody, brief=nobody, figures={}))["first"] == 0


def test_labels_are_shown_in_words():
    error = ShownRow(tokens=("a",), marks=(), label="NN", predicted="NNS", confidence=0.5, source="s")
    pairs = (Confusion(truth="NNS", predicted="NN", n=3),)
    own = ColumnErrors(confusion=None, pairs=pairs, length=(), target=None, errors=(error,), label_counts=None)
    found = SetErrors(labels=("NN", "NNS"), columns=(own, None), doubtful=(replace(error, bits=-1),), easiest=())
    first, second = pack_errors([found, found], [{"NN": "singular", "NNS": "plural"}, {}])
    assert (first["labels"], first["codes"]) == (("singular", "plural"), "NN = singular, NNS = plural")
    assert first["columns"][0]["pairs"] == [["plural", "singular", 3]]
    assert first["columns"][0]["errors"][0][1:3] == ["singular", "plural"]
    assert first["doubtful"][0][1] == "singular"
    assert (second["labels"], "codes" in second) == (("NN", "NNS"), False)


# Runs of other shapes


def test_failures_layers_and_partial_numbers_are_said(tmp_path):
    layers = [result("hf:x?layer=*", s, layer=la, limit=100) for s in SETS for la in ("0", "1")]
    failed = failure(cell("st:gone", limit=100), "no such file <there>", "EncoderError")
    page = Report.of(written(tmp_path / "run", *layers, failed, *beside(limit=100))).html()
    assert "trends" in sections(page)
    assert "Partial: at most 100 rows per split" in page
    assert "1 failure" in page
    assert "no such file &lt;there&gt;" in page
    assert ">failed<" in page
    assert data_of(page)["figures"]["layers"]["rows"]["points"]


def test_a_single_cell_without_baselines(tmp_path):
    page = Report.of(written(tmp_path / "run", result("static:"))).html()
    assert "results" in sections(page)
    body = page.split("<body>")[1]
    assert "best-baseline" not in re.sub(r"<script.*?</script>", "", body, flags=re.DOTALL)
    assert ">ratios to one column<" not in page
    assert list(data_of(page)["figures"]["heatmap"]["specs"]) == ["absolute"]


def test_sets_of_one_name_are_told_apart(tmp_path):
    records = [result("static:", data=data) for data in ("a" * 16, "b" * 16)]
    page = Report.of(written(tmp_path / "run", *records)).html()
    rows = re.findall(r'<tr data-name="([^"]*)">', page)
    assert [row.split(SETS[0])[-1] for row in rows] == [" #aaaaaaaa", " #bbbbbbbb"]
    assert [set(row) for row in re.findall(r'<span class="tag"><bdi>#(.*?)</bdi>', page)] == [{"a"}, {"b"}]


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.04, "0.0 s"), (99.96, "100.0 s"), (100, "2 min"), (5940, "99 min"), (6000, "1 h 40 min")]
)
def test_times_can_be_read(seconds, said):
    assert duration(seconds) == said


def test_an_empty_run(tmp_path):
    page = Report.of(written(tmp_path / "run")).html()
    assert "The run has none." in page
    assert "results" not in sections(page)


def test_sets_that_are_not_about_right_and_wrong(tmp_path):
    found, _ = result("static:", "STS14")
    scored = replace(found, metric="spearman", labels=(), scores={}, interval_kind="bootstrap", chosen={})
    page = Report.of(written(tmp_path / "run", (scored, {"predicted": []}))).html()
    assert "errors" not in sections(page)
    assert "No set is scored by accuracy" in page
    assert "results" in sections(page)


# Errors, packed


def test_marked_words_stand_in_every_second_place():
    assert segments(["a", "b", "c", "d"], [1, 2]) == ["a ", "b c", " d"]
    assert segments(["a", "b"], [0]) == ["", "a", " b"]
    assert segments(["a", "b"], [1]) == ["a ", "b"]
    assert segments(["a", "b"], []) == ["a b"]
    assert segments(["a", "b", "c"], [0, 2]) == ["", "a", " b ", "c"]
    assert segments([], []) == [""]


@given(st.lists(st.text("ab", min_size=1, max_size=30), max_size=80), st.lists(st.integers(-3, 90), max_size=4))
def test_a_sentence_keeps_its_words_or_is_cut_around_its_mark(tokens, marks):
    parts = segments(tokens, marks)
    text = "".join(parts)
    whole_text = " ".join(tokens)
    meant = sorted({m for m in marks if 0 <= m < len(tokens)})
    if text == whole_text:
        assert [w for part in parts[1::2] for w in part.split()] == [tokens[m] for m in meant]
    else:
        assert text.startswith("… ") or text.endswith(" …")
        assert text.removeprefix("… ").removesuffix(" …") in whole_text
        assert len(text) <= MAX_SENTENCE_LENGTH + 70
    assert not meant or tokens[meant[0]] in parts[1].split()


def test_many_encoders_have_fewer_sentences_each():
    error = ShownRow(tokens=("a",), marks=(), label="x", predicted="y", confidence=0.5, source="s")
    own = ColumnErrors(confusion=None, pairs=(), length=(), target=None, errors=(error,) * 8, label_counts=None)

    def shown(sets, columns):
        found = SetErrors(labels=("x", "y"), columns=(own,) * columns, doubtful=(), easiest=())
        return len(pack_errors([found] * sets)[0]["columns"][0]["errors"])

    assert shown(1, 2) == 8
    assert shown(30, 20) == 2
    assert shown(300, 20) == 2


# Size


def crowd(small, encoders=20, sets=30):
    """The summary of a large run: a small one's cell in many places, each with errors of realistic size."""
    first = small.sets[0]
    names = [f"st:organisation/encoder-number-{j}-base-uncased" for j in range(encoders)]
    words = "Though the committee had promised an answer , nobody who went to its meetings expected one soon .".split()
    error = ShownRow(tokens=tuple(words), marks=(3,), label="NN", predicted="NNS", confidence=0.9, source="doc-1234")
    doubtful = ShownRow(tokens=("A", "doubtful", "row"), marks=(1,), label="label 0", bits=-1.5, source="s")
    bins = tuple(
        Bin(low=3 * b, high=3 * b + 2, n=1250, correct=900, below=0.694, above=0.744, forms=9) for b in range(8)
    )

    def cell_of(i, j):
        value = 0.5 + (7 * i + 11 * j) % 40 / 100
        low, high = value - 0.01, value + 0.01
        verdict = "above" if low > 0.66 else "not_significant"
        return replace(
            first.cells[0], accuracy=value, low=low, high=high, score=Score(value, low, high), letters="abc"[j % 3],
            best=j % 3 == 0 and low > 0.66, against=BaselineComparison("nb-uni", 0.66, verdict, 0.01, encoders),
        )  # fmt: skip

    def errors_of(i):
        k = (2, 3, 2, 5, 7, 20)[i % 6]
        own = ColumnErrors(
            confusion=tuple(tuple(1000 if a == b else 123 for b in range(k)) for a in range(k)), pairs=(), length=bins,
            target=bins, errors=(error,) * 8, label_counts=None,
        )  # fmt: skip
        return SetErrors(
            labels=tuple(f"label {a}" for a in range(k)), columns=(own,) * encoders, doubtful=(doubtful,) * 5,
            easiest=(doubtful,) * 5,
        )  # fmt: skip

    found = replace(
        small,
        columns=tuple(replace(small.columns[0], encoder=name, label=(name,)) for name in names),
        sets=tuple(
            replace(
                first, name=f"suite/task_{i % 15}", label=f"suite/task_{i % 15} #{i:08}", task=f"task_{i % 15}",
                language="en" if i < 15 else "fr", cells=tuple(cell_of(i, j) for j in range(encoders)), variants=(),
            )
            for i in range(sets)
        ),
        transfer=(None,) * encoders,
        errors=tuple(errors_of(i) for i in range(sets)),
    )  # fmt: skip
    found = replace(found, languages=languages(found))
    return replace(found, checks=checks(found))


def test_a_large_run_is_a_page_that_can_be_sent(run):
    found = crowd(full_summary(run))
    known = {"kind": "control", "low": 0.4, "high": 0.6, "n": 1000, "lost": 0.1}
    controls = tuple(VariantSummary(name=name, of=name, value=0.5, **known) for name in CONTROLS)
    sets = (replace(own, variants=(controls,) * len(found.columns)) for own in found.sets)
    sets = tuple(replace(own, meanings=meanings(own, found.columns, found.baselines)) for own in sets)
    page = render(replace(found, sets=sets))
    assert len(page.encode()) < 3_000_000
    assert "tables are left out to keep the page small" in page
    assert "marks, too many for a page: sentprobe figure --kind controls" in page
    assert len(re.findall(r'<t[dh][^>]* data-kind="encoder"', page)) == 20 * 31
    assert {"languages", "errors"} <= {*sections(page)}
    assert len(data_of(page)["figures"]["heatmap"]["ratios"]["encoder"]) == 20


# Safety


def hostile_run(folder):
    """A run whose every name, label and error tries something."""
    import numpy as np

    from sentprobe.data.dataset import Dataset
    from sentprobe.results.log import open_log
    from sentprobe.tasks import Example

    name = f"own/{HOSTILE[0]}"
    labels = (HOSTILE[1], HOSTILE[3])
    rows = [
        Example(
            labels[i % 2],
            (HOSTILE[i % 6], "<b>word</b>", "end"),
            f"text {i}",
            marks=(i % 3,),
            source=f"{i}{HOSTILE[1]}",
            key=f"k{i % 5}",
        )
        for i in range(60)
    ]
    dataset = Dataset(name, "x", 1, "en", labels, {"te": rows})
    of = cell(HOSTILE[1], name)
    found, _ = result("static:", name, n=60)
    found = replace(found, key=of.key, cell=of, labels=labels, score=0.8)
    truth = (np.arange(60) % 2).astype(np.int32)
    arrays = {
        "predicted": np.where(np.arange(60) % 5 == 0, 1 - truth, truth).astype(np.int32), "truth": truth,
        "log2": np.full(60, -0.5, np.float32), "confidence": np.full(60, 0.9, np.float16),
    }  # fmt: skip
    with open_log(folder) as log:
        log.describe(
            encoders=[HOSTILE[1]], probes=["linear"], seeds=[1111],
            datasets=[{
                "digest": of.data, "name": name, "task": "x", "language": "en", "labels": list(labels),
                "rows": {"tr": 240, "va": 60, "te": 60}, "question": HOSTILE[0], "corpus": HOSTILE[1], "inputs": [],
                "source": None,
                "audit": [{"code": "X1", "severity": "error", "message": HOSTILE[0], "split": None, "data": {}}],
            }],
        )  # fmt: skip
        log.save_rows(dataset, of.data, None)
        log.add(found, arrays)
        log.add(failure(cell("st:lost", name), HOSTILE[0]))
    return Run.load(folder)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return Report.of(hostile_run(tmp_path_factory.mktemp("hostile") / "run"), title=HOSTILE[0] + HOSTILE[2]).html()


def test_no_text_becomes_markup(hostile):
    found = Elements(hostile)
    assert {tag for tag, *_ in found.found} <= {
        "html", "head", "meta", "title", "style", "body", "a", "header", "div", "p", "h1", "h2", "h3", "bdi", "ul",
        "ol", "li", "button", "nav", "main", "section", "details", "summary", "span", "label", "input", "table",
        "caption", "thead", "tbody", "tr", "th", "td", "abbr", "sup", "small", "select", "option", "figure",
        "figcaption", "code", "pre", "dl", "dt", "dd", "footer", "noscript", "script", "strong", "wbr",
    }  # fmt: skip
    assert not any(name.startswith("on") or name == "style" for _, a, _ in found.found for name in a)
    assert "errors" in sections(hostile)
    assert "window.hurt" in hostile
    assert "{{ 7 * 7 }}{% raw %}" in re.findall(r"<h1>(.*?)</h1>", hostile)[0]


def test_only_scripts_of_our_own_may_run(hostile, page):
    for text in (hostile, page):
        [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        policy = policy.replace("&#39;", "'")
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        assert "connect-src 'none'" in policy
        scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
        styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
        assert len(scripts) == 4 + ("errors" in sections(text))
        for own in scripts + styles:
            assert base64.b64encode(hashlib.sha256(own.encode()).digest()).decode() in policy
        linked = [a.get("src") or a.get("href") for _, a, _ in Elements(text).found if {"src", "href"} & a.keys()]
        assert linked
        assert all(target.startswith("#") for target in linked)


def test_a_page_with_a_section_more_may_ask_its_own_server(run):
    extra = Section(
        name="try", order=25, title="Try", template="<p>{{ text }}</p>", data=lambda page: {"text": "<b>"},
        style=".x{}", script="window.tried = 1;",
    )  # fmt: skip
    page = render(full_summary(run), extra)
    assert sections(page)[:3] == ["results", "checks", "try"]
    assert "connect-src &#39;self&#39;" in page
    assert 'href="#try"' in page
    assert "window.tried = 1;" in page
    assert "<p>&lt;b&gt;</p>" in page


@given(st.text(st.characters(codec=None)))
def test_texts_survive_the_way_into_a_script(text):
    written_down = script_json({"a": [text]})
    assert not set(written_down) & set("<>&\u2028\u2029")
    assert json.loads(written_down) == {"a": [readable(text)]}
    readable(text).encode()


def test_what_would_turn_a_line_around_is_shown_by_its_number():
    assert readable("a\u202eb\x00\ud800") == "a\\u202eb\\u0000\\ud800"
    joined = "👩‍👩‍👧 می‌خواهم co\u00adop\n"
    assert readable(joined) == joined


# Saving


@pytest.mark.parametrize("ending", ["html", "json", "md", "tex", "csv"])
def test_the_ending_says_what_is_written(run, tmp_path, ending):
    path = Report.of(run).save(tmp_path / f"out.{ending}")
    text = path.read_text("utf-8")
    assert text.startswith(
        {"html": "<!doctype html>", "json": "{", "md": "| set", "tex": "% ", "csv": "dataset,"}[ending]
    )
    if ending == "json":
        assert msgspec.json.decode(text, type=Summary) == full_summary(run)


def test_an_ending_that_says_nothing(run, tmp_path):
    with pytest.raises(UsageError, match=r"expected one of the suffixes \.html"):
        Report.of(run).save(tmp_path / "out.docx")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_gets_a_table_and_no_script(run):
    found = Report.of(run)._repr_html_()
    assert "<script" not in found
    assert found.count("<tr>") == 1 + len(SETS)
    assert "<strong><bdi>my-run</bdi></strong>" in found
    for r in run:
        if r.cell.encoder in ("st:good", "static:"):
            assert f"{100 * r.score:.1f}" in found


# The command


def invoke(*words):
    from sentprobe.cli import app

    return app([str(word) for word in words], result_action="return_value", exit_on_error=False)


def test_the_command_writes_a_page_and_a_summary_into_the_run(run, capsys):
    assert invoke("report", run.folder) == 0
    assert capsys.readouterr().out.split() == [str(run.folder / "report.html"), str(run.folder / "summary.json")]
    assert (run.folder / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert json.loads((run.folder / "summary.json").read_text("utf-8"))["sets"]
    assert len(Run.load(run.folder)) == len(run)


def test_several_runs_in_one_page(run, tmp_path, capsys):
    other = written(tmp_path / "other", *(result("st:third", s, p=0.8) for s in SETS), *beside())
    with pytest.raises(UsageError, match="-o"):
        invoke("report", run.folder, other.folder)
    out = tmp_path / "both.html"
    assert invoke("report", run.folder, other.folder, "-o", out, "-o", tmp_path / "both.md", "--title", "Both") == 0
    page = out.read_text("utf-8")
    assert "<title>Both</title>" in page
    assert "3 encoders × 2 sets" in page
    assert "st:third" in (tmp_path / "both.md").read_text("utf-8")


def test_the_browser_is_shown_the_page(run, tmp_path, monkeypatch):
    import webbrowser

    shown = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    out = tmp_path / "a page.html"
    assert invoke("report", run.folder, "-o", out, "--open") == 0
    assert shown == [out.resolve().as_uri()]
    with pytest.raises(UsageError, match="--open"):
        invoke("report", run.folder, "-o", tmp_path / "x.md", "--open")


def test_no_run(tmp_path):
    from sentprobe.errors import DataError

    with pytest.raises(DataError, match=r"is not a run, which would have a run\.json; and .* holds no set"):
        invoke("report", tmp_path)
