import io

import pytest

from sentprobe import console
from sentprobe.cli._sets import print_sets

MANIFEST = {
    "name": "conneau2018/coordination_inversion",
    "reading": {"name": "constituency"},
    "labels": ["I", "O"],
    "sizes": {
        "made": {"tr": 100_000, "va": 10_000, "te": 10_000},
        "requested": {"tr": 110_000, "va": 10_000, "te": 10_000},  # not as in the paper
    },
    "majority": {"te": 0.5},
    "label_length_correlation": {"te": -0.012},
    "audit": [],
}


@pytest.mark.parametrize(
    ("width", "header"),
    [
        (160, "set reading classes train dev test requested majority r(length) audit"),
        (100, "set classes train dev test majority r(length) audit"),
        (80, "set classes train dev test audit"),
        (60, "set train dev test"),
    ],
)
def test_a_narrow_table_has_fewer_columns_and_whole_numbers(width, header, monkeypatch, capsys):
    from rich.console import Console

    monkeypatch.setattr(console, "out", lambda: Console(width=width))
    print_sets([MANIFEST])
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0].split() == header.split()
    full = "set reading classes train dev test requested majority r(length) audit"
    left_out = [name for name in full.split() if name not in header.split() and name != "audit"]
    note = f"Left out, for want of width: {', '.join(left_out)}.\n" if left_out else ""
    assert printed.err == note
    assert "clean" in printed.out  # below the table, if it has no column
    assert all(line == line.rstrip() for line in lines)
    assert "conneau2018/coordination_inversion" in lines[1]
    assert "100,000" in lines[1]
    assert max(map(len, lines)) <= width


def test_what_was_requested_is_counted_in_rows_like_what_was_made(capsys):
    """Adi's word content draws a sentence and makes two rows of it."""
    sizes = {
        "made": {"tr": 800, "va": 200, "te": 400},
        "drawn": {"tr": 400, "va": 100, "te": 200},
        "requested": {"tr": 400, "va": 100, "te": 200},
    }
    print_sets([{**MANIFEST, "sizes": sizes}])
    head, row = (line.split() for line in capsys.readouterr().out.splitlines())
    assert row[head.index("requested")] == "1,400"


def test_progress_is_silent_where_there_is_no_terminal(capsys):
    with console.progress_bar() as progress:
        progress("count", 1, None)
    assert capsys.readouterr().err == ""


def test_progress_names_what_is_in_work_and_estimates_once_there_is_a_basis(monkeypatch):
    from rich.console import Console

    monkeypatch.setattr(console.sys.stderr, "isatty", lambda: True, raising=False)

    def shown(*facts):
        seconds = iter(range(0, 1000, 10))  # a clock that goes on by ten whenever it is looked at
        screen = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
        monkeypatch.setattr(console, "err", lambda: screen)
        monkeypatch.setattr(console.time, "monotonic", lambda: float(next(seconds)))
        with console.progress_bar() as progress:
            for stage, done in facts:
                progress(stage, done, 100)
        return screen.file.getvalue()

    facts = ("cells: st:a on x", 40), ("cells: st:a on y", 41), ("cells: st:\x1b[2J on z", 70)
    first, second, third = (shown(*facts[:n]) for n in (1, 2, 3))
    assert "st:a on x" in first
    assert "40/100" in first
    assert "left" not in first + second + third  # of a run, what is in work says so: cells are too different
    assert "st:\\u001b[2J on z" in third
    assert "0:40" in third


@pytest.mark.parametrize(
    ("clock", "now", "of", "begun", "text"),
    [
        ((0, 0, 50), 10, 100, None, "5/s, 0:10, about 0:10 left"),
        ((0, 40, 50), 10, 100, -20, "0:30"),
        ((0, 0, 1), 3, 100, None, "0:03"),
        ((0, 0, 100), 3700, 100, None, "1:01:40"),
        ((0, 0, 7), 0.5, None, None, "0:00"),
    ],
)
def test_pace(clock, now, of, begun, text):
    assert console._pace(console._Clock(*clock), now, of, begun) == text
