"""stats.xml, README and the counts of a CoNLL-U file."""

import pytest

from sentprobe.corpus.conllu import parse_conllu
from sentprobe.corpus.treebanks.metadata import Metadata, TreebankCounts, count_conllu, parse_readme, parse_stats
from sentprobe.errors import DataError
from tests.corpus.treebanks import mill

TEXT = """# newdoc
# sent_id = 1
1-2\tdella\t_\t_\t_\t_\t_\t_\t_\t_
1\tdi\tdi\tADP\t_\t_\t3\tcase\t_\t_
2\tla\til\tDET\t_\t_\t3\tdet\t_\t_
3\tmola\tmola\tNOUN\t_\t_\t0\troot\t_\t_
3.1\tgira\tgirare\tVERB\t_\t_\t_\t_\t0:root\t_

# sent_id = 2
1\t_\t_\tPUNCT\t_\t_\t0\troot\t_\t_

# a comment without a sentence

"""


def test_tokens_words_and_sentences_are_counted_as_by_ud():
    counts = count_conllu([TEXT.encode()])
    assert counts.size == (2, 3, 4)  # a multi-word token is one token; an empty node is neither
    assert counts.hidden == 1
    assert not counts.lacks_text
    assert str(counts) == "2 sentences, 3 tokens and 4 words"
    assert count_conllu([b"1\ta\t_"]).sentences == 1
    assert count_conllu([]) == TreebankCounts()


def test_it_does_not_matter_how_a_file_is_cut_into_pieces():
    content = mill.DATA["dev"]
    lines = content.splitlines(keepends=True)
    whole = count_conllu([content])
    assert whole.sentences == 48 == len(list(parse_conllu(content, "dev")))
    for size in (1, 2, 7, 100):
        assert count_conllu(b"".join(lines[i : i + size]) for i in range(0, len(lines), size)) == whole


def test_words_that_are_underscores_are_no_text():
    hidden = mill.DATA["dev"]
    for word in mill.WORDS:
        hidden = hidden.replace(f"\t{word}\t{word}".encode(), b"\t_\t_")
    assert count_conllu([hidden]).lacks_text
    assert not count_conllu([mill.DATA["dev"]]).lacks_text


def test_counts_are_read_from_stats_xml():
    found = parse_stats(mill.stats({"train": TreebankCounts(3, 20, 21), "test": TreebankCounts(1, 5, 5)}))
    assert found["total"] == TreebankCounts(4, 25, 26)
    assert "dev" not in found
    without = b"<treebank><size><total><sentences>2</sentences><tokens>9</tokens></total></size></treebank>"
    assert parse_stats(without) == {"total": TreebankCounts(2, 9, 9)}  # words may be left out if they are the tokens


@pytest.mark.parametrize("content", [b"", b"<html>404</html>", b"\xff\xfe", mill.stats({"train": TreebankCounts()})])
def test_a_file_without_counts_is_refused(content):
    with pytest.raises(DataError, match="has no <size> with the number of sentences"):
        parse_stats(content)


@pytest.mark.parametrize(
    "line",
    [
        "=== Machine-readable metadata (DO NOT REMOVE!) ====",
        "=== Machine readable metadata ==============",
        "--- Machine readable metadata ---",
    ],
)
def test_metadata_are_read_in_every_style_of_heading(line):
    text = f"# License: none of this\n{line}\nLicense: CC BY-NC-SA 4.0\nIncludes text: Yes\nGenre: news wiki\n====\n"
    assert parse_readme(text) == Metadata("CC BY-NC-SA 4.0", "yes", "news wiki")


def test_a_readme_without_metadata_says_nothing():
    assert parse_readme("# Summary\nLicense: mine\n") == Metadata()
