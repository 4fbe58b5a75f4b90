"""The demo: what it says follows from its results, and it runs without ``use:``."""

import pytest

from sentprobe.cli import demo
from sentprobe.cli.demo import EncoderScore, tell
from sentprobe.errors import UsageError
from sentprobe.run import Run, references

MAJORITIES = {"word_content": 0.01, "passive": 0.5, "bigram_shift": 0.5}


def story(*rows):
    return tell([EncoderScore(*row) for row in rows], MAJORITIES, {"mine": "untrained"})


def test_nobody_and_why():
    assert story(
        ("words", "word_content", 0.6, 0.55, 0.9, False),
        ("words", "passive", 0.65, 0.61, 0.7, False),
        ("words", "bigram_shift", 0.51, 0.48, 0.53, False),
        ("mine", "passive", 0.88, 0.85, 0.7, True, 0.68),
        ("mine", "bigram_shift", 0.52, 0.49, 0.53, False),
        ("untrained", "passive", 0.58, 0.55, 0.7, False, 0.57),
    ) == [
        "No encoder and no baseline is clearly above chance on bigram_shift.",
        "Why: with words in random order, the scores above the baselines fall on average by 20 points for mine; "
        "untrained (mine before training) is 30 points lower there.",
    ]


def test_the_set_on_which_order_matters_most_is_named():
    (why,) = story(
        ("mine", "passive", 0.9, 0.85, 0.7, True, 0.7),
        ("mine", "word_content", 0.9, 0.85, 0.7, True, 0.92),
        ("bag", "passive", 0.9, 0.85, 0.7, True, 0.91),
    )
    assert why == (
        "Why: with words in random order, the scores above the baselines fall on average by 9 points for mine (most on "
        "passive, 90 to 70) and 0 points for bag."
    )


def test_nothing_is_claimed_that_was_not_found():
    assert story(("words", "passive", 0.65, 0.61, 0.7, False)) == []
    (nobody,) = story(("words", "bigram_shift", 0.51, 0.48, 0.55, False))
    assert nobody.startswith("No encoder and no baseline")
    # a score that is clearly above chance, or a baseline that is
    assert not story(("words", "bigram_shift", 0.6, 0.57, 0.55, False))
    assert not story(("words", "bigram_shift", 0.5, 0.47, 0.57, False))


def test_it_says_what_it_leaves_out(monkeypatch, tmp_path, capsys):
    """A tiny one, without ``use:``."""
    monkeypatch.setattr(references, "DEMO_SENTENCES", 1200)
    monkeypatch.setattr(references, "DEMO_SIZES", "80/20/30")
    monkeypatch.setattr(references, "DEMO_TASKS", {"conneau2018": ("bigram_shift",), "universal2019": ("passive",)})
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    assert demo.demo(out=tmp_path / "demo") == 0
    said = capsys.readouterr()
    text = " ".join((said.out + said.err).split())
    assert "bigram_shift is not the set of the results that come with sentprobe, which are left out." in text
    assert "significantly better than the best baseline" in text
    assert (tmp_path / "demo" / "report.html").stat().st_size > 100_000
    run = Run.load(tmp_path / "demo" / "run")
    assert {result.cell.encoder for result in run} >= {"static:", "builtin:", "builtin:?random=0"}
    assert not run.failures
    assert said.err.startswith("Making 2 sets from 1,200 built-in sentences, and probing 3 encoders on them; ")
    (tmp_path / "demo" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"is not the folder of a demo: it has notes\.txt"):
        demo.demo(out=tmp_path / "demo")


@pytest.mark.parametrize("suite", ["conneau2018", "universal2019"])
def test_its_tasks_are_in_their_suites(suite):
    from sentprobe.make.request import select_tasks

    found = select_tasks([suite], references.DEMO_TASKS[suite], sizes=references.DEMO_SIZES)
    assert len(found) == len(references.DEMO_TASKS[suite])
