"""The demo: what it says follows from its results, and it runs without ``use:``."""

import pytest

from sonde.cli import demo
from sonde.cli._story import Found, tell
from sonde.run import Run

MAJORITIES = {"word_content": 0.01, "passive": 0.5, "bigram_shift": 0.5}


def story(*rows):
    return tell([Found(*row) for row in rows], MAJORITIES)


def test_words_alone_beyond_them_nobody_and_why():
    assert story(
        ("static:", "word_content", 0.6, 0.55, 0.9, False),
        ("static:", "passive", 0.65, 0.61, 0.7, False),
        ("static:", "bigram_shift", 0.51, 0.48, 0.53, False),
        ("mine:", "word_content", 0.2, 0.15, 0.9, False),
        ("mine:", "passive", 0.88, 0.85, 0.7, True, 0.68),
        ("mine:", "bigram_shift", 0.52, 0.49, 0.53, False),
        ("mine:?random=0", "passive", 0.58, 0.55, 0.7, False, 0.57),
    ) == [
        "Words alone: no encoder is significantly better than the best baseline on word_content (90).",
        "Beyond words: significantly better than the best baseline are mine: on passive (88 to 70); static: and "
        "mine:?random=0 on none.",
        "Nobody: no score is clearly above chance on bigram_shift.",
        "Why: with words in random order, these scores fall on average by points: mine: by 20; before training, mine: "
        "was 30 points lower there.",
    ]


def test_the_set_on_which_order_matters_most_is_named():
    *_, why = story(
        ("mine:", "passive", 0.9, 0.85, 0.7, True, 0.7),
        ("mine:", "word_content", 0.9, 0.85, 0.7, True, 0.92),
        ("bag:", "passive", 0.9, 0.85, 0.7, True, 0.91),
    )
    assert why == (
        "Why: with words in random order, these scores fall on average by points: mine: by 9 (most on passive, 90 to "
        "70) and bag: by 0."
    )


def test_nothing_is_claimed_that_was_not_found():
    assert story(("static:", "passive", 0.65, 0.61, 0.7, False)) == [
        "Words alone: no encoder is significantly better than the best baseline on passive (70).",
        "Beyond words: significantly better than the best baseline are static: on none.",
    ]
    (_, nobody) = story(("static:", "bigram_shift", 0.51, 0.48, 0.55, False))
    assert nobody.startswith("Nobody")
    # a score that is clearly above chance, or a baseline that is
    assert not any("Nobody" in line for line in story(("static:", "bigram_shift", 0.6, 0.57, 0.55, False)))
    assert not any("Nobody" in line for line in story(("static:", "bigram_shift", 0.5, 0.47, 0.57, False)))


def test_it_says_what_it_leaves_out(monkeypatch, tmp_path, capsys):
    """A tiny one, without ``use:``."""
    monkeypatch.setattr(demo, "DEMO_SENTENCES", 1200)
    monkeypatch.setattr(demo, "DEMO_SIZES", "80/20/30")
    monkeypatch.setattr(demo, "DEMO_TASKS", {"conneau2018": ("bigram_shift",), "universal2019": ("passive",)})
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    assert demo.demo(out=tmp_path / "demo") == 0
    said = capsys.readouterr()
    text = " ".join((said.out + said.err).split())
    assert "Left out: use:, the Universal Sentence Encoder. To add it: pip install 'sonde[use]'" in text
    assert "Beyond words: significantly better than the best baseline are" in text
    assert (tmp_path / "demo" / "report.html").stat().st_size > 100_000
    run = Run.load(tmp_path / "demo" / "run")
    assert {result.cell.encoder for result in run} >= {"static:", "builtin:", "builtin:?random=0"}
    assert not run.failures


@pytest.mark.parametrize("suite", ["conneau2018", "universal2019"])
def test_its_tasks_are_in_their_suites(suite):
    from sonde.make.request import select_tasks

    found = select_tasks([suite], demo.DEMO_TASKS[suite], sizes=demo.DEMO_SIZES)
    assert len(found) == len(demo.DEMO_TASKS[suite])
