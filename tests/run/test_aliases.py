"""Names that users give to encoders: shown everywhere, while results keep what is loaded."""

import pytest

from sentprobe.data.dataset import Dataset
from sentprobe.errors import UsageError
from sentprobe.report.page.page import render
from sentprobe.report.summary import full_summary, summarise
from sentprobe.report.tables import markdown
from sentprobe.results.sides import select_side
from sentprobe.run import Run, evaluate
from sentprobe.run.info import split_aliases
from sentprobe.tasks.example import Example


@pytest.mark.parametrize(
    ("given", "encoders", "aliases"),
    [
        (["static:"], ["static:"], {}),
        (["MiniLM=hf:org/m?layer=*"], ["hf:org/m?layer=*"], {"hf:org/m?layer=*": "MiniLM"}),
        (["my words =static:?dim=64"], ["static:?dim=64"], {"static:?dim=64": "my words"}),
        # an equals sign after the colon is an option's
        (["hf:m?layer=3", "py:a.py:f"], ["hf:m?layer=3", "py:a.py:f"], {}),
        ([len, "a=static:"], [len, "static:"], {"static:": "a"}),
    ],
)
def test_an_alias_ends_with_an_equals_sign_before_the_scheme(given, encoders, aliases):
    assert split_aliases(given) == (encoders, aliases)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["=static:"], "expected a name before the equals sign"),
        (["majority=static:"], "majority is the name of a baseline"),
        (["a=static:", "a=static:?dim=64"], "Two encoders are called 'a'"),
        (["a=static:", "b=static:"], "static: has two names, 'a' and 'b'"),
    ],
)
def test_what_cannot_be_an_alias(given, message):
    with pytest.raises(UsageError, match=message):
        split_aliases(given)


def test_an_alias_is_shown_and_selects_and_results_keep_the_encoder(tmp_path):
    rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    given = ["tiny=baseline:words?dim=4", "baseline:words?dim=8"]
    evaluate(given, parity, tmp_path / "run", baselines=["majority"], resample=0)
    run = Run.load(tmp_path / "run")
    assert run.encoders[:2] == ["baseline:words?dim=4", "baseline:words?dim=8"]
    assert "|enc=baseline:words?dim=4|" in run.results[0].signature
    found = summarise(run)
    assert [column.label for column in found.columns] == [("tiny",), ("baseline:words?dim=8",)]
    assert found.missing == ()
    assert "| tiny |" in markdown(found)
    assert ">tiny</bdi>" in render(full_summary(run))
    side = select_side(run, "tiny")
    assert {r.cell.encoder for results in side.results.values() for r in results} == {"baseline:words?dim=4"}
    # another name the next time
    evaluate(["small=baseline:words?dim=4"], parity, tmp_path / "run", baselines=["majority"], resample=0)
    assert summarise(Run.load(tmp_path / "run")).columns[0].label == ("small",)
