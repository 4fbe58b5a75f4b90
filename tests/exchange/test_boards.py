import csv
import io

import pytest

from sentprobe.errors import UsageError
from sentprobe.exchange.boards import leaderboard, leaderboard_csv, leaderboard_markdown
from sentprobe.exchange.boards_page import render_leaderboard
from sentprobe.exchange.result_file import export_results
from tests.command_line import sentprobe
from tests.report.runs import SHIFT, SUBJ, beside, result, written


def file(tmp_path, name, *records):
    run = written(tmp_path / name, *records, *beside())
    return export_results(run, tmp_path / f"{name}.json", by=f"Lab {name.upper()}")


def names(board):
    return [board.summary.columns[i].name for i in board.order]


def test_encoders_of_several_files_share_letters(tmp_path):
    a = file(tmp_path, "a", result("strong", p=0.9), result("strong", SHIFT, p=0.7))
    b = file(tmp_path, "b", result("weak", p=0.55), result("weak", SHIFT, p=0.69))
    (board,) = leaderboard([a, b]).boards
    assert names(board) == ["strong (Lab A)", "weak (Lab B)"]
    subj, shift = board.summary.sets
    assert [cell.letters for cell in subj.cells] == ["a", "b"]
    assert [cell.letters for cell in shift.cells] == ["a", "a"]
    assert [row[1].text for row in board.table().rows[:2]] == ["2 of 2", "1 of 2"]


def test_the_same_result_in_two_files_is_one_line(tmp_path):
    a = file(tmp_path, "a", result("mine", p=0.9))
    b = file(tmp_path, "b", result("mine", p=0.9), result("other", p=0.8))
    read = leaderboard([a, b])
    assert names(read.boards[0]) == ["mine (Lab A)", "other (Lab B)"]
    assert read.repeated == ("Lab B has 1 result of Lab A, with the same scores: shown once.",)


def test_a_score_that_was_not_repeated_is_said(tmp_path):
    a, b = file(tmp_path, "a", result("mine", p=0.9)), file(tmp_path, "b", result("mine", p=0.6))
    read = leaderboard([a, b])
    assert names(read.boards[0]) == ["mine (Lab A)", "mine (Lab B)"]
    assert "although encoder, rows and protocol are the same" in read.repeated[0]


def test_an_encoder_without_an_identity_is_never_the_same(tmp_path):
    a, b = (file(tmp_path, name, result("function", p=0.9, identity=None)) for name in "ab")
    read = leaderboard([a, b])
    assert names(read.boards[0]) == ["function (Lab A)", "function (Lab B)"]
    assert not read.repeated


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"probe": "mlp?hidden=50"}, "the probes differ (linear: Lab A; mlp?hidden=50: Lab B)"),
        ({"data": "00000000000000aa"}, "the rows differ"),
        ({"limit": 100}, "not all rows were used"),
        ({"parts": "convex.v9"}, "the probes differ (linear: Lab A; linear (convex.v9): Lab B)"),
    ],
)
def test_what_differs_is_not_compared_and_said(tmp_path, other, reason):
    a, b = file(tmp_path, "a", result("one", p=0.9)), file(tmp_path, "b", result("two", p=0.5, **other))
    read = leaderboard([a, b])
    assert any(reason in line and SUBJ in line for line in read.separate)
    for board in read.boards:
        for s in board.summary.sets:
            present = [cell for cell in s.cells if cell is not None]
            assert len(present) <= 1


def test_files_by_the_same_person_stay_apart(tmp_path):
    paths = [
        export_results(written(tmp_path / name, result(name, p=0.8), *beside()), tmp_path / f"{name}.json", by="me")
        for name in ("x", "y")
    ]
    assert set(names(leaderboard(paths).boards[0])) == {"x (me, x)", "y (me, y)"}


def test_signatures_are_those_of_the_authors(tmp_path):
    record = result("mine", p=0.9)
    read = leaderboard([file(tmp_path, "a", record)])
    assert list(read.boards[0].signatures()) == [("mine (Lab A)", SUBJ, record[0].signature)]


def test_formats(tmp_path):
    a, b = file(tmp_path, "a", result("<b>one</b>", p=0.9)), file(tmp_path, "b", result("two", p=0.5))
    read = leaderboard([a, b])
    page = render_leaderboard(read, title="Our <models>")
    assert "<b>one</b>" not in page
    assert "Our &lt;models&gt;" in page
    rows = list(csv.DictReader(io.StringIO(leaderboard_csv(read))))
    assert [(row["encoder"], row["letters"]) for row in rows] == [("<b>one</b> (Lab A)", "a"), ("two (Lab B)", "b")]
    assert "two (Lab B)" in leaderboard_markdown(read)


def test_the_command_leaves_out_an_edited_file(tmp_path):
    a, b = file(tmp_path, "a", result("one", p=0.9)), file(tmp_path, "b", result("two", p=0.5))
    b.write_text(b.read_text().replace('"Lab B"', '"Lab C"'))
    done = sentprobe("leaderboard", a, b, "-o", "page.html", cwd=tmp_path)
    assert done.returncode == 2
    assert "b.json has changed since" in done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "one (Lab A)" in page.replace("<wbr>", "")
    assert "1 file refused" in page
    assert sentprobe("leaderboard", a, cwd=tmp_path).returncode == 0


def test_without_a_readable_file_there_is_no_board(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(UsageError, match="None of the files can be read"):
        leaderboard([tmp_path / "x.json"])
