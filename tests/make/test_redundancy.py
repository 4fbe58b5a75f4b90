"""How often a sentence says twice what a set asks for: counted while it is made, and only in the manifest."""

import pytest

from sentprobe.tasks import load_task
from sentprobe.tasks.definitions.subj_number import redundancy
from tests.tasks.asking import ask
from tests.writing import sentence

TASKS = ("past_present", "subj_number", "obj_number")


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ([], "alone"),
        ([None, None], "alone"),
        (["A"], "majority"),
        (["A", None, "B"], "majority"),
        (["B"], "tie"),
        (["A", "B", "B"], "tie"),
        (["B", "B"], "minority"),
        (["B", "C", "C"], "minority"),
    ],
)
def test_the_target_counts_among_the_words_that_have_a_value(others, said):
    assert redundancy("A", others) == ("#redundancy", said)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("suite", ["conneau", "universal"])
def test_the_manifest_has_shares_and_the_rows_have_no_notes(request, suite, task):
    found = request.getfixturevalue(suite)[task]
    shares = found.manifest["redundancy"]
    assert list(shares) == ["tr", "va", "te"]
    for split, share in shares.items():
        assert set(share) <= {"alone", "majority", "tie", "minority"}
        assert sum(share.values()) == pytest.approx(1, abs=2e-4)
        assert share["alone"] > 0  # the built-in corpus has short sentences
        assert all(row.extra == () for row in found.rows[split])


def test_other_sets_say_nothing_of_it(universal):
    assert "redundancy" not in universal["sentence_length"].manifest


HAS_SEEN = """
    Dogs    NOUN NNS Number=Plur                           3 nsubj
    have    AUX  VBP Mood=Ind|Tense=Pres|VerbForm=Fin      3 aux
    seen    VERB VBN Tense=Past|VerbForm=Part              0 root
    cats    NOUN NNS Number=Plur                           3 obj
    who     PRON WP  PronType=Rel                          6 nsubj
    slept   VERB VBD Mood=Ind|Tense=Past|VerbForm=Fin      4 acl:relcl
    in      ADP  IN  _                                     9 case
    a       DET  DT  _                                     9 det
    box     NOUN NN  Number=Sing                           6 obl
"""


@pytest.mark.parametrize(
    ("task", "reading", "said"),
    [
        ("past_present", "ud", "majority"),  # seen and slept; the auxiliary belongs to the target
        ("past_present", "penn", "tie"),  # have, which is the target there, against slept
        ("subj_number", "ud", "majority"),  # dogs and cats against a box
        ("subj_number", "penn", "majority"),
        ("obj_number", "ud", "majority"),
    ],
)
def test_which_words_count(task, reading, said):
    found = ask(load_task(task), sentence(HAS_SEEN), suite="xprobe2019", reading=reading)
    assert found.extra == (("#redundancy", said),)
