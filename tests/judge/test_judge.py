"""Sheets, judgments, votes, and where the result is kept."""

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sentprobe import Dataset, Example
from sentprobe.errors import CorpusError, DataError, TooFewError, UsageError
from sentprobe.judge import Judgment, attach, read_judgments, read_people, sample_sheet, vote
from sentprobe.judge.form import form
from sentprobe.judge.people import FOLDER
from sentprobe.judge.sheet import read_sheets, write_sheets
from sentprobe.judge.show import answered_line, print_people
from sentprobe.report.human_results import _predicted
from sentprobe.stats.intervals import wilson
from tests.browser import launched, needs_chromium

LABELS = ("I", "O")
NAMES = {"I": "exchanged", "O": "original"}


def dataset(n=60, task="shift"):
    rows = [Example(LABELS[i % 2], ("word", str(i)), f"word {i}", f"s{i}") for i in range(n)]
    return Dataset(f"own/{task}", task, 1, "en", LABELS, {"te": rows}, {"question": "Were words exchanged?"})


@pytest.fixture
def sheet():
    return sample_sheet(dataset(), n=20, control=10, answers=NAMES)


def other(label):
    return "O" if label == "I" else "I"


def judged(sheet, name, wrong=(), items=None):
    """All items judged right by one person, but for these numbers."""
    chosen = sheet.items if items is None else items
    return [Judgment(name, item.id, other(item.label) if i in wrong else item.label) for i, item in enumerate(chosen)]


def scored(sheet):
    return [item for item in sheet.items if not item.control]


def controls(sheet):
    return [item for item in sheet.items if item.control]


# Sheets


def test_a_sheet_has_distinct_test_rows_in_random_order(sheet):
    assert len(scored(sheet)) == 20
    assert len(controls(sheet)) == 10
    rows = [item.row for item in sheet.items]
    assert len(set(rows)) == 30
    assert rows != sorted(rows)
    assert all(dataset().rows["te"][item.row].text == item.text for item in sheet.items)
    assert sheet == sample_sheet(dataset(), n=20, control=10, answers=NAMES)
    assert {item.row for item in sample_sheet(dataset(), n=20, control=10, seed=1).items} != set(rows)


def test_controls_cannot_be_told_by_their_places(sheet):
    places = [i for i, item in enumerate(sheet.items) if item.control]
    assert places != list(range(10))
    assert places != list(range(20, 30))


def test_tables_hide_the_labels_and_the_key_keeps_them(tmp_path, sheet):
    write_sheets([sheet], tmp_path / "sheets")
    table = (tmp_path / "sheets/own.shift.tsv").read_text()
    head, *rows = [line.split("\t") for line in table.splitlines()]
    assert head == ["item", "sentence", "label"]
    assert {row[2] for row in rows} == {""}
    instructions = (tmp_path / "sheets/own.shift.md").read_text()
    assert "Were words exchanged?" in instructions
    assert "- `I`: exchanged" in instructions
    assert read_sheets(tmp_path / "sheets") == [sheet]
    with pytest.raises(UsageError, match="has sheets already"):
        write_sheets([sheet], tmp_path / "sheets")


def test_a_sentence_is_one_cell_and_no_formula(tmp_path):
    rows = [Example(LABELS[i % 2], ("x",), text) for i, text in enumerate(["=1+1", "a\tb\nc", "-x", "back\\slash"])]
    odd = sample_sheet(Dataset("own/odd", "odd", 1, "en", LABELS, {"te": rows}), n=4)
    write_sheets([odd], tmp_path)
    cells = [line.split("\t") for line in (tmp_path / "own.odd.tsv").read_text().splitlines()]
    assert {len(row) for row in cells} == {3}
    assert {row[1] for row in cells[1:]} == {" =1+1", "a b c", " -x", "back\\slash"}


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(UsageError, match="no labelled test rows"):
        sample_sheet(replace(dataset(), rows={"tr": dataset().rows["te"]}))
    with pytest.raises(TooFewError, match="too few for 60 controls"):
        sample_sheet(dataset(), control=60)
    with pytest.raises(UsageError, match="one item or more"):
        sample_sheet(dataset(), n=0)


def test_bins_of_lengths_are_said_in_words():
    policy = {"policy": {"bins": [[5, 8], [9, 12]]}}
    rows = [Example(str(i % 2), ("x",), f"x {i}") for i in range(4)]
    lengths = sample_sheet(Dataset("own/length", "sentence_length", 1, "en", ("0", "1"), {"te": rows}, policy))
    assert lengths.answers["1"] == "9–12 with punctuation"


# Pages


def test_a_page_escapes_every_text_and_allows_no_other_script():
    evil = '</script><img src=x onerror=alert(1)> & "quoted"'
    rows = [Example(LABELS[i % 2], ("x",), f"{i} {evil}", extra=(("word", evil),)) for i in range(4)]
    made = Dataset("own/<evil>", "evil", 1, "en", LABELS, {"te": rows}, {"question": evil, "inputs": ["word"]})
    page = form(sample_sheet(made, n=4, answers={"I": evil}))
    assert "<img" not in page
    assert page.count("</script>") == 1
    assert "default-src 'none'" in page
    assert "unsafe" not in page
    assert page.count('type="radio"') == 8


def test_with_many_classes_an_answer_is_typed():
    labels = tuple(f"w{i}" for i in range(20))
    rows = [Example(label, (label,), label) for label in labels]
    page = form(sample_sheet(Dataset("own/words", "words", 1, "en", labels, {"te": rows}), n=5))
    assert page.count('type="text"') == 5
    assert 'type="radio"' not in page
    assert page.count("<option ") == 20  # the browser suggests them
    assert page.count("<code>w") == 20


@needs_chromium
def test_a_typed_answer_that_is_not_possible_is_noticed(tmp_path):
    labels = tuple(f"w{i}" for i in range(20))
    rows = [Example(label, (label,), label) for label in labels]
    write_sheets([sample_sheet(Dataset("own/words", "words", 1, "en", labels, {"te": rows}), n=5)], tmp_path, form)
    with launched() as browser:
        page = browser.new_page()
        page.goto((tmp_path / "own.words.html").as_uri())
        first, second = page.locator("ol input").all()[:2]
        first.fill("W3")
        second.fill("w33")
        assert page.inner_text("#done") == "2 of 5 answered; 1 not among the possible answers"
        assert [field.get_attribute("aria-invalid") for field in (first, second)] == ["false", "true"]


@needs_chromium
def test_answers_are_kept_and_saved_as_a_table(tmp_path, sheet):
    write_sheets([sheet], tmp_path, form)
    key = {item.id: item.label for item in sheet.items}
    with launched() as browser:
        context = browser.new_context(accept_downloads=True)
        for opened in (1, 2):  # closing the window loses nothing
            page = context.new_page()
            page.goto((tmp_path / "own.shift.html").as_uri())
            for _ in range(50):  # a browser may take a moment to hand over what another window has kept
                if opened == 1 or page.inner_text("#done") == "20 of 30 answered":
                    break
                page.wait_for_timeout(100)
                page.reload()
            for item in list(key)[:20] if opened == 1 else list(key)[20:]:
                page.check(f'input[name="{item}"][value="{key[item]}"]')
            if opened == 1:
                page.click("#save")
                assert "Write your name first" in page.inner_text("#done")
            page.fill("#name", "Anna B")
            if opened == 2:
                assert page.inner_text("#done") == "30 of 30 answered"
                with page.expect_download() as saved:
                    page.click("#save")
                saved.value.save_as(tmp_path / "answers.tsv")
            page.wait_for_timeout(200)
            page.close()
    found = read_judgments([tmp_path / "answers.tsv"], [sheet])
    assert {(j.item, j.label) for j in found} == set(key.items())
    assert {j.annotator for j in found} == {"Anna-B"}


@needs_chromium
@pytest.mark.skipif("SENTPROBE_AXE" not in os.environ, reason="needs axe-core: SENTPROBE_AXE=…/axe-core/axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_page(tmp_path, sheet, scheme):
    write_sheets([sheet], tmp_path, form)
    with launched() as browser:
        page = browser.new_page(color_scheme=scheme, bypass_csp=True)
        page.goto((tmp_path / "own.shift.html").as_uri())
        page.evaluate(Path(os.environ["SENTPROBE_AXE"]).read_text("utf-8"))
        assert page.evaluate("axe.run().then((r) => r.violations.map((v) => `${v.impact}: ${v.id}`))") == []


# Judgments


def write(path, *rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join("\t".join(row) for row in rows) + "\n")
    return path


def test_answers_are_labels_or_their_names(tmp_path, sheet):
    one, two, three, *_ = (item.id for item in sheet.items)
    path = write(tmp_path / "anna.tsv", ("item", "label"), (one, "I"), (two, "Original"), (three, ""))
    assert read_judgments([path], [sheet]) == [Judgment("anna", one, "I"), Judgment("anna", two, "O")]


def test_annotators_are_named_by_a_column_a_file_or_a_folder(tmp_path, sheet):
    one = sheet.items[0].id
    column = write(tmp_path / "all.tsv", ("annotator", "item", "label"), ("ben", one, "I"))
    folder = write(tmp_path / "cleo" / "own.shift.tsv", ("item", "sentence", "label"), (one, "word", "O"))
    assert [j.annotator for j in read_judgments([column, folder], [sheet])] == ["ben", "cleo"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("shift-9999", "I"), r"bad\.tsv:2: got the item 'shift-9999'; expected one of the sheets"),
        ((0, "maybe"), r"bad\.tsv:2: got the label 'maybe'; expected one of I, O, or nothing"),
        ((0, "I", "O"), r"bad\.tsv:2: got 3 columns; expected 2"),
    ],
)
def test_an_unknown_item_or_answer_is_an_error_with_its_line(tmp_path, sheet, row, message):
    cells = [cell if isinstance(cell, str) else sheet.items[cell].id for cell in row]
    with pytest.raises(CorpusError, match=message):
        read_judgments([write(tmp_path / "bad.tsv", ("item", "label"), cells)], [sheet])


def test_answers_to_another_sheet_of_the_same_set_are_refused(tmp_path, sheet):
    """Items of both are numbered from 1, and would be taken for those of this one."""
    for other_sheet in (sample_sheet(dataset(), n=20, control=10, seed=1), sample_sheet(dataset(), n=15)):
        rows = [(item.id, "I") for item in other_sheet.items if item.row != sheet.items[0].row]
        with pytest.raises(CorpusError, match="expected one of the sheets"):
            read_judgments([write(tmp_path / "old.tsv", ("item", "label"), *rows)], [sheet])
        assert form(other_sheet).partition("data-key=")[2][:20] != form(sheet).partition("data-key=")[2][:20]


def test_labels_that_differ_in_case_are_told_apart(tmp_path):
    labels = ("May", "may", "Will")
    rows = [Example(labels[i % 3], ("x",), f"x {i}") for i in range(9)]
    words = sample_sheet(Dataset("own/words", "words", 1, "en", labels, {"te": rows}), n=9)
    one, two, three = (item.id for item in words.items[:3])
    path = write(tmp_path / "anna.tsv", ("item", "label"), (one, "May"), (two, "may"), (three, "will"))
    assert [j.label for j in read_judgments([path], [words])] == ["May", "may", "Will"]
    with pytest.raises(CorpusError, match="got the label 'MAY'; expected one of May, may, Will, or nothing"):
        read_judgments([write(tmp_path / "ben.tsv", ("item", "label"), (one, "MAY"))], [words])


def test_spreadsheets_quote_cells_with_commas(tmp_path):
    labels = ("NP_VP_.", "PP_,_NP_VP_.")
    rows = [Example(labels[i % 2], ("x",), f"x {i}") for i in range(4)]
    tops = sample_sheet(Dataset("own/tops", "tops", 1, "en", labels, {"te": rows}), n=4)
    cells = (tops.items[0].id, '"Well, ""x"""', '"PP_,_NP_VP_."')
    (found,) = read_judgments([write(tmp_path / "anna.tsv", ("item", "sentence", "label"), cells)], [tops])
    assert found.label == "PP_,_NP_VP_."


def test_two_answers_of_one_person_are_an_error(tmp_path, sheet):
    one = sheet.items[0].id
    same = write(tmp_path / "same.tsv", ("item", "label"), (one, "I"), (one, "I"))
    assert len(read_judgments([same], [sheet])) == 1
    with pytest.raises(CorpusError, match="another answer of twice"):
        read_judgments([write(tmp_path / "twice.tsv", ("item", "label"), (one, "I"), (one, "O"))], [sheet])


def test_a_table_without_the_columns_is_an_error(tmp_path, sheet):
    with pytest.raises(CorpusError, match="no column 'label'"):
        read_judgments([write(tmp_path / "x.tsv", ("item", "answer"), ("a", "b"))], [sheet])


# Votes


def test_the_majority_is_compared_with_the_labels(sheet):
    wrong = {i for i, item in enumerate(sheet.items) if not item.control and item in scored(sheet)[:4]}
    given = judged(sheet, "anna", wrong) + judged(sheet, "ben", wrong) + judged(sheet, "cleo")
    found = vote(sheet, given)
    assert (found.items, found.judged, found.ties, len(found.votes)) == (20, 20, 0, 20)
    assert found.accuracy == 16 / 20
    assert (found.low, found.high) == wilson(16, 20)
    assert found.single == 52 / 60
    assert found.judgments == 60
    assert found.annotators == ("anna", "ben", "cleo")


def test_ties_are_dropped_and_counted(sheet):
    first = next(i for i, item in enumerate(sheet.items) if not item.control)
    found = vote(sheet, judged(sheet, "anna", {first}) + judged(sheet, "ben"))
    assert (found.judged, found.ties, len(found.votes)) == (20, 1, 19)
    assert found.accuracy == 1


def test_those_who_fail_the_controls_do_not_count(sheet):
    bad = {i for i, item in enumerate(sheet.items) if item in controls(sheet)[:2]}
    few = judged(sheet, "dora", items=[*scored(sheet), *controls(sheet)[:9]])
    given = [*judged(sheet, "anna"), *judged(sheet, "ben", bad), *judged(sheet, "cleo", set(list(bad)[:1])), *few]
    found = vote(sheet, given)
    assert found.annotators == ("anna", "cleo")  # nine of ten is enough
    assert {d.annotator: (d.judged, d.right) for d in found.dropped} == {"ben": (10, 8), "dora": (9, 9)}
    assert found.controls == 10
    relaxed = vote(sheet, given, min_controls=5, control_accuracy=0.8)
    assert relaxed.dropped == ()


def test_experts_confirm_controls_and_all_other_sentences_are_scored(capsys):
    """Of 80 sentences, on which experts agree but for eight, all are scored."""
    given = sample_sheet(dataset(300), n=80, control=40)
    places = {item.id: i for i, item in enumerate(given.items)}
    disputed = {places[item.id] for item in (*controls(given)[:10], *scored(given)[:8])}
    experts = judged(given, "ann") + judged(given, "bob", wrong=disputed)
    failed = {places[item.id] for item in controls(given)[10:20]}
    missed = {places[item.id] for item in scored(given)[:20]}
    crowd = judged(given, "carl", wrong=missed) + judged(given, "dan", wrong=failed)
    # who differs from the labels only where the experts do not agree is not dropped
    crowd += judged(given, "eve", wrong={places[item.id] for item in controls(given)[:10]} | missed)
    found = vote(given, [*experts, *crowd], experts=["ann", "bob"])
    assert (found.controls, found.control_items) == (30, 40)
    assert found.annotators == ("carl", "eve")
    assert [(d.annotator, d.judged, d.right) for d in found.dropped] == [("dan", 30, 20)]
    assert (found.items, len(found.votes), found.judgments) == (80, 80, 160)  # the experts have no vote
    assert found.accuracy == 60 / 80
    print_people([found])
    assert "the experts agree on 30 of 40 controls" in " ".join(capsys.readouterr().out.split())


def test_what_experts_say_of_a_control_is_right(sheet):
    """Whatever the label of the set is."""
    wrong = {i for i, item in enumerate(sheet.items) if item in controls(sheet)}
    given = judged(sheet, "ann", wrong) + judged(sheet, "bob", wrong) + judged(sheet, "carl", wrong)
    found = vote(sheet, [*given, *judged(sheet, "dan")], experts=["ann", "bob"])
    assert (found.annotators, [d.annotator for d in found.dropped]) == (("carl",), ["dan"])


def test_experts_need_controls():
    """Scored sentences are not made controls: those that are left would be the difficult ones."""
    plain = sample_sheet(dataset(), n=30)
    given = judged(plain, "ann") + judged(plain, "bob", wrong=range(15)) + judged(plain, "carl")
    with pytest.raises(UsageError, match=r"no controls that experts could confirm.*--control 200"):
        vote(plain, given, experts=["ann", "bob"])


def test_experts_who_never_agree(sheet):
    given = judged(sheet, "ann") + judged(sheet, "bob", wrong=range(len(sheet.items))) + judged(sheet, "carl")
    with pytest.raises(TooFewError, match="agree on none of the 10 controls"):
        vote(sheet, given, experts=["ann", "bob"])


def test_without_controls_everybody_counts():
    plain = sample_sheet(dataset(), n=30)
    assert vote(plain, judged(plain, "anna", wrong=range(30))).accuracy == 0


def test_without_a_majority_there_is_no_bound(sheet):
    with pytest.raises(TooFewError, match="no item has a majority"):
        vote(sheet, [])
    with pytest.raises(TooFewError, match="anna judged 10 of 10 controls; expected at least 11"):
        vote(sheet, judged(sheet, "anna"), min_controls=11)


def test_a_share_of_the_controls_is_not_missed_by_rounding():
    many = sample_sheet(dataset(300), n=100, control=100)
    wrong = {i for i, item in enumerate(many.items) if item in controls(many)[:45]}
    assert 0.55 * 100 > 55
    assert vote(many, judged(many, "anna", wrong), control_accuracy=0.55).dropped == ()


# Beside encoders


def test_rows_with_the_same_sentence_have_their_own_predictions():
    """Those of word_presence ask about several words of one sentence."""
    rows = [Example("I", ("x",), "x", extra=(("word", word), ("other", ""))) for word in "abcd"]
    twice = Dataset("own/words", "words", 1, "en", LABELS, {"te": rows}, {"inputs": ["word"]})
    asked = sample_sheet(twice, n=4)
    people = vote(asked, judged(asked, "anna"))

    def predicted(own, guesses):
        tested = SimpleNamespace(
            rows=lambda _: own, predictions=lambda *_: {"predicted": [LABELS.index(g) for g in guesses]}, labels=LABELS
        )
        return _predicted(tested, tested, people)

    assert predicted(rows, "IOIO") == {0: "I", 1: "O", 2: "I", 3: "O"}
    assert predicted(rows[2:], "IO") == {2: "I", 3: "O"}


# Files


def test_what_people_do_is_kept_in_a_run_and_damage_is_noticed(tmp_path, sheet):
    people = vote(sheet, judged(sheet, "anna"))
    path = attach(people, tmp_path)
    assert read_people(tmp_path) == ({sheet.data: people}, [])
    path.write_text(
        path.read_text().replace('"accuracy": 1.0', '"accuracy": 0.9').replace('"accuracy":1.0', '"accuracy":0.9')
    )
    found, problems = read_people(tmp_path)
    assert found == {}
    assert problems == [
        f"{path} has changed since `sentprobe judge read` wrote it. The folder people may be deleted; `sentprobe judge "
        "read` writes it again."
    ]
    path.unlink()
    assert "is missing" in read_people(tmp_path)[1][0]
    (tmp_path / "people/checksums.json").write_text("{}")
    assert "checksums.json is damaged" in read_people(tmp_path)[1][0]
    assert read_people(tmp_path / "nothing") == ({}, [])


def test_judgments_from_the_folder_of_another_run_are_not_used(tmp_path, sheet):
    one, two = (attach(vote(sheet, judged(sheet, name)), tmp_path / name) for name in ("anna", "ben"))
    two.write_bytes(one.read_bytes())
    assert read_people(tmp_path / "ben")[0] == {}
    (tmp_path / "anna/people/foreign.json").write_bytes(one.read_bytes())
    found, problems = read_people(tmp_path / "anna")
    assert list(found) == [sheet.data]
    assert "foreign.json was not written by `sentprobe judge read`" in problems[0]


def test_a_damaged_key_is_an_error(tmp_path, sheet):
    (tmp_path / "key.json").write_text(json.dumps({"format": "sentprobe.sheets.v1", "sheets": [{}]}))
    with pytest.raises(DataError, match=r"has the format 'sentprobe\.sheets\.v1'"):
        read_sheets(tmp_path)
    (tmp_path / "key.json").write_text("[1]")
    with pytest.raises(DataError, match=r"key\.json is damaged"):
        read_sheets(tmp_path)
    write_sheets([sheet], tmp_path / "edited")
    key = tmp_path / "edited/key.json"
    key.write_text(key.read_text().replace('"control": true', '"control": false', 1))
    with pytest.raises(DataError, match=r"key\.json has changed since `sentprobe judge sample` wrote it: restore"):
        read_sheets(tmp_path / "edited")
    with pytest.raises(UsageError, match=r"has no key\.json"):
        read_sheets(tmp_path / FOLDER)


def test_a_lone_surrogate_is_a_question_mark_in_the_key(tmp_path, sheet):
    odd = replace(sheet, items=(replace(sheet.items[0], text="lone \ud800"), *sheet.items[1:]))
    write_sheets([odd], tmp_path / "odd")
    assert read_sheets(tmp_path / "odd")[0].items[0].text == "lone ?"


@pytest.mark.parametrize("character", ["\0", "\x01", "\x1c", "\x7f", "\x85"])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_control_characters_are_refused_with_file_and_line(tmp_path, sheet, character, column):
    """A NUL in a name would make two annotators of one, and a spreadsheet shows both alike."""
    first, second = sheet.items[:2]
    cells = [second.id, LABELS[0], "anna"]
    cells[column] = cells[column][:2] + character + cells[column][2:]
    file = tmp_path / "anna.tsv"
    lines = ["item\tlabel\tannotator", f"{first.id}\t{LABELS[0]}\tanna", "\t".join(cells)]
    file.write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
    got = (
        "a NUL byte" if character == "\0" else rf"the control character U\+{ord(character):04X} in column {column + 1}"
    )
    what = rf"anna\.tsv:3: got {got}.*save it again"
    with pytest.raises(CorpusError, match=what):
        read_judgments([file], [sheet])


def test_the_answers_of_a_sheet_are_as_frequent_as_in_the_set(sheet):
    assert Counter(item.label for item in sheet.items).keys() == set(LABELS)


def test_how_much_is_done_is_counted(sheet):
    one, two, three = (item.id for item in sheet.items[:3])
    judgments = [Judgment("ben", one, "a"), *(Judgment("anna", item, "a") for item in (one, two, three))]
    judgments.append(Judgment("zoe", "another-sheet", "a"))
    n = len(sheet.items)
    assert answered_line(sheet, judgments) == f"{sheet.name}: answered: anna 3 of {n}, ben 1 of {n}"
    assert answered_line(sheet, []) == ""
