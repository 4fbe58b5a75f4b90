"""Findings of one's own: files, their mistakes, and packages that bring some."""

import json
import sys
import textwrap

import pytest

from sentprobe.errors import SentProbeError, UsageError
from sentprobe.replicate import BestOf, Claim, Correlated, Difference, Models, Ordered
from sentprobe.replicate.claim import read_claim
from sentprobe.testing import check_finding, examine_finding
from tests.command_line import sentprobe

CLAIM = """
sentence = "Ours is better."
statistic = "difference"
first = "ours"
second = "theirs"
"""


def written(folder, text):
    path = folder / "own.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_file_is_a_claim(tmp_path):
    claim = read_claim(written(tmp_path, CLAIM + 'tasks = ["subj_number"]\nmargin = 0.02\ncells = "most"\n'))
    assert claim == Claim(
        name="own", paper="", where="own.toml", sentence="Ours is better.",
        statistic=Difference(
            Models("ours", "ours"), Models("theirs", "theirs"), tasks=("subj_number",), margin=0.02, cells="most"
        ),
    )  # fmt: skip
    check_finding(claim)


def test_a_file_can_be_about_a_paper(tmp_path):
    text = CLAIM.replace("ours", "BiLSTM-max {objective}").replace("theirs", "BiLSTM-last {objective}")
    path = written(tmp_path, text + 'paper = "conneau2018"\ntable = "2"\ntasks = ["odd_man_out"]\n')
    (record,) = json.loads(sentprobe("replicate", path, "--published", "--format", "json").stdout)
    assert (record["verdict"], record["cells"], record["agreeing"]) == ("held", 8, 8)


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ('statistic = "best of"\nfirst = "a"\nrivals = "b"', BestOf),
        ('statistic = "ordered"\nsizes = "a"\nexpect = "below"', Ordered),
        ('statistic = "correlated"\nencoders = "a"\nfirst_tasks = ["x"]\nsecond_tasks = ["y"]', Correlated),
        ('statistic = "difference"\nfirst = "a"\nsecond = 0.5', Difference),
    ],
)
def test_every_statistic_can_be_written(tmp_path, text, type):
    assert isinstance(read_claim(written(tmp_path, f'sentence = "So."\n{text}\n')).statistic, type)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CLAIM + "margn = 0.1", "unexpected 'margn'. Did you mean margin?"),
        (CLAIM + "margin = 2", "margin = 2: expected a share of one"),
        (CLAIM + 'margin = "much"', "margin = 'much': expected a number"),
        (CLAIM + 'expect = "higher"', "expect = 'higher': expected one of above, below, equal, different"),
        (CLAIM + 'tasks = "subj_number"', "tasks = 'subj_number': expected a list of names"),
        (CLAIM.replace("difference", "differ"), "there is no statistic 'differ'. Did you mean difference?"),
        (CLAIM.replace('second = "theirs"', ""), 'expected a text, second = "…"; got nothing'),
        (CLAIM.replace('sentence = "Ours is better."', ""), 'expected a text, sentence = "…"; got nothing'),
        ("sentence = ", "is not a TOML file"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as e:
        read_claim(path)
    assert str(path) in str(e.value)
    assert message in str(e.value)


def test_a_file_that_there_is_not(tmp_path):
    with pytest.raises(UsageError, match=r"There is no file '.*gone\.toml'"):
        read_claim(tmp_path / "gone.toml")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"name": "my claim"}, "its name can be typed"),
        ({"sentence": "No full stop"}, "the claim is one sentence"),
        ({"where": ""}, "it says where the claim stands"),
        ({"statistic": Difference(Models("a"), Models("a"))}, "roles have different names"),
        ({"statistic": Difference(Models("a"), Models("b"), margin=3.0)}, "its margin is a share of one"),
    ],
)
def test_a_broken_rule_is_named(change, rule):
    facts = {"name": "own", "paper": "own", "where": "section 1", "sentence": "It is so.",
             "statistic": Difference(Models("a"), Models("b"))}  # fmt: skip
    assert [verdict.rule for verdict in examine_finding(Claim(**facts)) if not verdict.passed] == []
    broken = Claim(**{**facts, **change})
    assert [verdict.rule for verdict in examine_finding(broken) if not verdict.passed] == [rule]
    with pytest.raises(SentProbeError, match=rule):
        check_finding(broken)


PACKAGE = """
    from sentprobe.replicate import Claim, Difference, Models

    finding = Claim(
        name="theirs", paper="conneau2018", where="table 2", sentence="A bag of vectors is not at chance on length.",
        statistic=Difference(Models("bag", "BoV-fastText"), 0.2, tasks=("sentence_length",), table="2"),
    )
"""


def test_a_finding_of_another_package(tmp_path, monkeypatch):
    (tmp_path / "their_finding.py").write_text(textwrap.dedent(PACKAGE), "utf-8")
    info = tmp_path / "their_finding-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their_finding\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[sentprobe.findings]\ntheirs = their_finding\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert "theirs" in sentprobe("ls", "findings").stdout
    assert sentprobe("check", "theirs").returncode == 0
    (record,) = json.loads(sentprobe("replicate", "theirs", "--published", "--format", "json").stdout)
    assert (record["verdict"], round(record["estimate"], 3)) == ("held", 0.466)  # 66.6 - 20.0 in table 2
    sys.modules.pop("their_finding", None)


def test_the_list():
    done = sentprobe("replicate", "--list", "conneau2018_nli_transfer")
    assert done.returncode == 0
    assert "NLI" in done.stdout
    (record,) = json.loads(sentprobe("replicate", "--list", "conneau2018_nli_transfer", "--format", "json").stdout)
    assert record["roles"] == ["NLI", "other objectives"]
    assert sentprobe("replicate", "--list", "--format", "csv").stdout.startswith("finding,where,claim,roles\n")
    assert sentprobe("replicate", "--list", "adi2017", "--format", "md").stdout.startswith("| finding | where |")
