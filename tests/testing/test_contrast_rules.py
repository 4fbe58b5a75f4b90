"""The check of contrast rules: each rule finds the fault that it is for."""

from itertools import count

import pytest

from sentprobe import Corpus
from sentprobe.contrast import CONTRAST_RULES, ContrastRule, RowsRead
from sentprobe.errors import SentProbeError
from sentprobe.testing import check_contrast_rule, examine_contrast_rule
from tests.command_line import sentprobe

CORPUS = Corpus.synthetic(1000)


@pytest.mark.parametrize("name", CONTRAST_RULES.parts())
def test_built_in_rules_follow_the_rules(name):
    check_contrast_rule(CONTRAST_RULES.parts()[name], CORPUS)


def rule(rewrite, **changes):
    read = RowsRead(language="en", corpus="mine", wrong=0, date="2026-01-01")
    settings = {"name": "mine", "effect": "contrast", "summary": "ours", "rewrite": rewrite, "rows_read": (read,)}
    return ContrastRule(**{**settings, **changes})


def shouting(s, context):
    yield s.text.upper()


numbers = count()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (rule(shouting, summary=""), "its summary is empty"),
        (rule(lambda s, context: iter([None])), "expected a text for the sentence .*, got None"),
        (rule(lambda s, context: iter([f"{next(numbers)} is open."])), "in any order. the sentence"),
        (rule(lambda s, context: iter([s.text.replace(".", " .")])), "spaced and punctuated"),
        (rule(lambda s, context: iter([s.text])), "no text is the sentence itself"),
        (rule(lambda s, context: iter([])), "of 1,000 sentences, none is"),
    ],
)
def test_each_fault_is_found(broken, message):
    with pytest.raises(SentProbeError, match=message):
        check_contrast_rule(broken, CORPUS)


def test_a_rule_that_nobody_has_read_passes_with_a_warning():
    *_, last = examine_contrast_rule(rule(shouting, rows_read=()), CORPUS)
    assert last.passed
    assert last.warning
    assert "fewer than 50 of its rows were read" in last.detail


def test_the_command_checks_a_rule_by_its_name():
    done = sentprobe("check", "numbers")
    assert done.returncode == 0, done.stdout
    assert "ok     some sentence is rewritten" in done.stdout
