import pytest

from sentprobe import ScoredPairs
from sentprobe.data.scored_pairs import ScoredPair
from sentprobe.errors import CorpusError, DataError, UsageError

STS = "genre\tsentence1\tsentence2\tscore\nnews\tA man sings .\tHe sings .\t4.2\nnews\tA man sings .\tA cat eats .\t0\n"
PAWS = (
    "id\tsentence1\tsentence2\tlabel\n7\tKim saw Lee .\tLee saw Kim .\t0\n8\tKim saw Lee .\tLee was seen by Kim .\t1\n"
)
HANS = (
    "gold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpairID\theuristic\n"
    "non-entailment\t( a )\tKim saw Lee .\tLee saw Kim .\tex0\tlexical_overlap\n"
    "entailment\t( a )\tKim saw Lee .\tKim saw Lee today .\tex1\tsubsequence\n"
)


@pytest.mark.parametrize(
    ("text", "pairs", "is_binary"),
    [
        (STS, [("A man sings .", "He sings .", 4.2, "news"), ("A man sings .", "A cat eats .", 0.0, "news")], False),
        (
            PAWS,
            [("Kim saw Lee .", "Lee saw Kim .", 0.0, ""), ("Kim saw Lee .", "Lee was seen by Kim .", 1.0, "")],
            True,
        ),
        (
            HANS,
            [
                ("Kim saw Lee .", "Lee saw Kim .", 0.0, "lexical_overlap"),
                ("Kim saw Lee .", "Kim saw Lee today .", 1.0, "subsequence"),
            ],
            True,
        ),
    ],
    ids=["sts", "paws", "hans"],
)
def test_published_layouts_are_read(text, pairs, is_binary, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    read = ScoredPairs.read(path, language="en")
    assert [row[:4] for row in read] == pairs
    assert read.is_binary is is_binary
    assert read.name == "pairs"
    assert ScoredPairs.has_columns(text.splitlines()[0].split("\t"))


def test_frames_and_lists_are_the_same_set():
    frame = {"sentence1": ["a b", "c d"], "sentence2": ["a", "c"], "label": [1, 0]}
    rows = [("a b", "a", 1), ("c d", "c", 0)]
    dicts = [{"first": "a b", "second": "a", "score": 1}, {"first": "c d", "second": "c", "score": 0}]
    sets = [ScoredPairs.from_frame(frame), ScoredPairs.from_rows(rows), ScoredPairs.from_rows(dicts)]
    assert {each.digest for each in sets} == {sets[0].digest}
    assert sets[0].rows[0] == ScoredPair("a b", "a", 1.0)
    assert repr(sets[0]) == "ScoredPairs('pairs', 2 pairs with labels)"


def test_errors_name_the_line(tmp_path):
    path = tmp_path / "sts.csv"
    path.write_text("sentence1,sentence2,score\na,b,1\na,b,high\n")
    with pytest.raises(CorpusError, match=r"sts\.csv:3: got the score 'high'"):
        ScoredPairs.read(path)
    path.write_text("sentence1,sentence2,score\na,,1\n")
    with pytest.raises(CorpusError, match=r"sts\.csv:2: got no text as its second sentence"):
        ScoredPairs.read(path)
    path.write_text("sentence1,sentence2,score\na,b,1\nc,d,1\n")
    with pytest.raises(DataError, match="all 2 pairs have the score 1"):
        ScoredPairs.read(path)
    path.write_text("sentence1,text,score\na,b,1\n")
    with pytest.raises(UsageError, match="none for second"):
        ScoredPairs.read(path)
    with pytest.raises(DataError, match="has the score 'x'"):
        ScoredPairs.from_rows([("a", "b", 1), ("a", "b", "x")])
    with pytest.raises(DataError, match="lone surrogate"):
        ScoredPairs.from_rows([("a", "b\ud800", 1), ("a", "b", 0)])


def test_pairs_of_questions_are_read(tmp_path):
    path = tmp_path / "qqp.tsv"
    path.write_text(
        "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n0\t1\t2\tWho ?\tWhy ?\t0\n1\t3\t4\tWho ?\tWho is it ?\t1\n"
    )
    assert [row[:3] for row in ScoredPairs.read(path)] == [("Who ?", "Why ?", 0.0), ("Who ?", "Who is it ?", 1.0)]
