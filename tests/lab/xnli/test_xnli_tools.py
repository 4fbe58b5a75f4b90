"""XNLI's tools: votes, cue words, lengths, agreement."""

import math

import numpy as np
import pytest

from sentprobe.errors import SentProbeError
from sentprobe.lab.xnli.pairs import (
    NliPair,
    count_votes,
    cue_words,
    gold_label,
    label_agreement,
    mutual_information,
    read_pairs,
)
from tests.command_line import sentprobe

E, N, C = "entailment", "neutral", "contradiction"
HEADER = "language\tgold_label\tsentence1\tsentence2\t" + "\t".join(f"label{i}" for i in range(1, 6)) + "\n"


def official(path, rows):
    lines = ("\t".join((language, gold, one, two, *votes)) + "\n" for language, gold, one, two, votes in rows)
    path.write_text(HEADER + "".join(lines))
    return path


@pytest.fixture
def file(tmp_path):
    return official(
        tmp_path / "xnli.dev.tsv",
        [
            ("en", N, "He is here now .", "He came early", (N, N, N, E, C)),
            ("en", "-", "He is here .", "He never came", (C, C, N, N, E)),
            ("fr", E, "Il est ici .", "Il est là", (E,) * 5),
            ("fr", C, "Il est ici .", "Il dort", (N, N, N, E, C)),
        ],
    )


def test_gold_is_the_label_of_three_of_five():
    assert gold_label((E, E, E, N, C)) == E
    assert gold_label((E, E, N, N, C)) == gold_label(()) == "-"
    assert gold_label((C, E, C, E, C)) == C


def test_votes_are_compared_with_the_file(file):
    found = count_votes(read_pairs(str(file)))
    assert (found.pairs, found.voted, found.consensus, found.unanimous, found.author_kept) == (4, 4, 3, 1, 3)
    assert found.different == (4,)
    done = sentprobe("data", "xnli", "votes", file)
    assert done.returncode == 1
    assert "3 (75.0 %)" in done.stdout
    assert "Three of five votes 93.0" in done.stdout
    assert count_votes(read_pairs(str(file), "en")).different == ()


def test_mean_lengths_are_by_language(file, tmp_path):
    done = sentprobe("data", "xnli", "tokens", file, "--tokenise", "space")
    lines = [line.split() for line in done.stdout.splitlines()]
    # the published means are those of Conneau (2019), table 4.8
    assert lines[1:3] == [
        ["en", "2", "4.5", "3.0", "21.7", "/", "10.7", "space"],
        ["fr", "2", "4.0", "2.5", "24.1", "/", "12.4", "space"],
    ]  # fmt: skip
    assert "table 4.8 of conneau2019" in done.stdout
    (tmp_path / "dev-de.tsv").write_text(f"Er ist da .\tEr schläft\t{E}\n")
    assert sentprobe("data", "xnli", "tokens", tmp_path / "dev-de.tsv", "--tokenise", "space").stdout.split()[6] == "de"


def test_mutual_information_is_that_of_the_joint_distribution():
    joint = np.array([[7, 3], [11, 19]])
    p = joint / joint.sum()
    expected = sum(
        p[i, j] * math.log2(p[i, j] / (p[i].sum() * p[:, j].sum())) for i in range(2) for j in range(2)
    )  # fmt: skip
    assert mutual_information(7, 10, 18, 40) == pytest.approx(expected)
    assert mutual_information(5, 10, 20, 40) == pytest.approx(0)


def test_cue_words_are_those_of_a_class():
    pairs = [
        NliPair("p", f"{'never ' * (label == C)}he sleeps {i}", label, "", ()) for i in range(20) for label in (E, N, C)
    ]
    found = cue_words([*pairs, NliPair("p", "never never", "-", "", ())], str.split)
    assert [cue.word for cue in found[C]] == ["never"]
    assert (found[C][0].share, found[C][0].count) == (1.0, 20)
    # knowing the word is knowing the class: all of its entropy
    assert found[C][0].information == pytest.approx(math.log2(3) - 2 / 3)
    assert found[E] == found[N] == []


def test_kappa_is_that_of_scikit_learn():
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(0)
    gold = rng.choice([E, N, C], 200)
    other = np.where(rng.random(200) < 0.8, gold, rng.choice([E, N, C], 200))
    found = label_agreement(gold.tolist(), other.tolist())
    assert found.kappa == pytest.approx(cohen_kappa_score(gold, other))
    assert found.low < found.share < found.high


def test_agreement_on_the_command_line(tmp_path):
    for name, labels in (("one.tsv", (E, N, C, "-")), ("two.tsv", (E, C, C, E))):
        (tmp_path / name).write_text("".join(f"a\tb\t{label}\n" for label in labels))
    done = sentprobe("data", "xnli", "agreement", "one.tsv", "two.tsv", cwd=tmp_path)
    assert done.stdout.splitlines()[1].split()[:4] == ["all", "3", "66.7", "%"]
    (tmp_path / "two.tsv").write_text(f"a\tb\t{E}\n")
    assert (
        "one.tsv has 4 pairs and two.tsv 1"
        in sentprobe("data", "xnli", "agreement", "one.tsv", "two.tsv", cwd=tmp_path).stderr
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [("a\tb\n", "2 columns"), ("a\tb\tmaybe\n", "the label 'maybe'"), ("", "has no pairs")],
)
def test_files_without_pairs(tmp_path, content, message):
    (tmp_path / "x.tsv").write_text(content)
    with pytest.raises(SentProbeError, match=message):
        read_pairs(str(tmp_path / "x.tsv"))
