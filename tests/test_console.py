import pytest

from sonde import console

MANIFEST = {
    "name": "conneau2018/coordination_inversion",
    "reading": {"name": "constituency"},
    "labels": ["I", "O"],
    "sizes": {
        "made": {"tr": 100_000, "va": 10_000, "te": 10_000},
        "asked": {"tr": 100_000, "va": 10_000, "te": 10_000},
    },
    "majority": {"te": 0.5},
    "label_length_correlation": {"te": -0.012},
    "audit": [],
}


@pytest.mark.parametrize(
    ("width", "header"),
    [
        (160, "set reading classes tr va te requested majority r(length) audit"),
        (100, "set classes tr va te majority r(length) audit"),
        (80, "set classes tr va te majority"),
        (60, "set tr va te"),
    ],
)
def test_a_narrow_table_has_fewer_columns_and_whole_numbers(width, header, monkeypatch, capsys):
    from rich.console import Console

    monkeypatch.setattr(console, "out", lambda: Console(width=width))
    console.print_sets([MANIFEST])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == header.split()
    assert "conneau2018/coordination_inversion" in lines[1]
    assert "100,000" in lines[1]
    assert max(map(len, lines)) <= width


def test_progress_is_silent_where_there_is_no_terminal(capsys):
    with console.progress_bar() as progress:
        progress("count", 1, None)
    assert capsys.readouterr().err == ""
