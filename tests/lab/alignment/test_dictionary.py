"""Dictionaries: the forms that files have, the pairs that spaces know, and what is said of those that are left out."""

import gzip

import numpy as np
import pytest

from sentprobe.errors import CorpusError, DataError, TooFewError
from sentprobe.lab.alignment.dictionary import (
    count,
    describe_counts,
    identical_words,
    known_without_case,
    match,
    pairs_digest,
    read_dictionary,
    read_pairs,
    require_known,
)
from sentprobe.lab.alignment.space import Space


def space(*words, name="a.vec"):
    return Space(name, words, np.eye(len(words), dtype=np.float32), "0")


@pytest.fixture
def read(tmp_path):
    def read(text, name="pairs.txt"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return read_dictionary(str(path))

    return read


CAT = [("cat", "chat"), ("dog", "chien")]


@pytest.mark.parametrize(
    "text",
    [
        "cat chat\ndog chien\n",
        "cat\tchat\ndog\tchien",
        "\ufeffcat chat\r\n\r\n  \r\ndog  chien\r\ncat chat\r\n",
        "cat;chat\ndog ; chien\n",
        "cat, chat\ndog, chien\n".replace(", ", ","),
        "cat ||| chat\ndog ||| chien\n",
        "cat = chat\ndog = chien\n",
        "cat|chat\ndog|chien\n",
        "# from a wiki, with care\ncat\tchat\n# more words\ndog\tchien\n",
    ],
)
def test_the_forms_of_a_file(read, text):
    assert read(text) == CAT
    assert read(text, "pairs.txt.gz") == CAT


def test_several_translations_of_a_word(read):
    assert read("maison\thouse, home; building\nprix\t1,000\n") == [
        ("maison", "house"), ("maison", "home"), ("maison", "building"), ("prix", "1,000"),
    ]  # fmt: skip
    assert read("cat chat\ncat matou\n") == [("cat", "chat"), ("cat", "matou")]


def test_punctuation_is_a_word(read):
    assert read(",\t,\n;\t;\n#\t#\n") == [(",", ","), (";", ";"), ("#", "#")]
    assert read(", ,\n# #\n") == [(",", ","), ("#", "#")]


def test_words_with_spaces_need_a_tab(read):
    assert read("New York\tNew York\n") == [("New York", "New York")]
    with pytest.raises(CorpusError, match=r"pairs\.txt:2: got 3 columns in 'ice cream glace'.*need a tab"):
        read("cat chat\nice cream glace\n")


@pytest.mark.parametrize(
    ("text", "line", "got"),
    [
        ("cat chat\n\nlonely\n", 3, "1 column in 'lonely'"),
        ("lonely\n", 1, "1 column"),
        ("cat\tchat\tnoun\n", 1, "3 columns"),
        ("cat\t\tchat\n", 1, "an empty column"),
        ("cat;chat\n;chien\n", 2, "an empty column"),
    ],
)
def test_a_wrong_line_is_named(read, text, line, got):
    with pytest.raises(CorpusError) as error:
        read(text)
    assert error.value.line == line
    assert got in str(error.value)


def test_extra_columns_come_with_advice(read):
    with pytest.raises(CorpusError, match="cut -f1,2"):
        read("cat\tchat\t0.3\n")


def test_a_file_without_pairs(read):
    with pytest.raises(DataError, match="holds no pairs"):
        read("\n# nothing here yet\n\n")
    with pytest.raises(DataError, match="there is no file"):
        read_dictionary("nowhere.txt")


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "latin.txt").write_bytes("cat chat\nsummer été\n".encode("latin-1"))
    with pytest.raises(CorpusError, match=r"latin\.txt:2: .*not UTF-8"):
        read_dictionary(str(tmp_path / "latin.txt"))


def test_pairs_are_matched_by_frequency_and_the_others_counted():
    source, target = space("the", "cat", "dog"), space("chien", "chat", "le")
    pairs = [("dog", "chien"), ("cat", "chat"), ("cow", "vache"), ("cow", "chat"), ("dog", "loup")]
    found = match(pairs, source, target)
    assert found.rows.tolist() == [[1, 1], [2, 0]]
    assert found.word_pairs == (("cat", "chat"), ("dog", "chien"))
    assert (found.unknown_source, found.unknown_target, found.source_words) == (2, 1, 2)
    about = count(found, pairs, ["d.txt"])
    assert describe_counts(about) == (
        "d.txt: 2 of 5 pairs, 2 source words; left out: 2 with an unknown source word, "
        "1 others with an unknown target word"
    )
    assert about["digest"] == pairs_digest(pairs) != pairs_digest(pairs[:-1])


def test_identical_words_and_numerals_and_files_together(tmp_path):
    source, target = space("the", "1999", "taxi", "2"), space("2", "taxi", "1999", "le")
    assert identical_words(source, target) == [("1999", "1999"), ("taxi", "taxi"), ("2", "2")]
    assert identical_words(source, target, numerals=True) == [("1999", "1999"), ("2", "2")]
    (tmp_path / "d.txt").write_text("the le\ntaxi taxi\n")
    found = read_pairs(["numerals", str(tmp_path / "d.txt")], source, target)
    assert found == [("1999", "1999"), ("2", "2"), ("the", "le"), ("taxi", "taxi")]


def test_too_few_pairs_with_a_guess_at_the_reason():
    source, target = space(*"abcdef", name="en.vec"), space(*"uvwxyz", name="fr.vec")
    pairs = list(zip("abcdef", "uvwxyz", strict=True))

    def refused(pairs):
        with pytest.raises(TooFewError) as error:
            require_known(match(pairs, source, target), pairs, "d.txt", source, target)
        return str(error.value)

    require_known(match(pairs, source, target), pairs, "d.txt", source, target)
    upper = refused([(s.upper(), t.upper()) for s, t in pairs])
    assert "en.vec and fr.vec have both words of 0 of 6 pairs of d.txt" in upper
    assert "would have 6 if upper and lower case were the same" in upper
    assert "would have 6 if its columns were exchanged" in refused([(t, s) for s, t in pairs])
    assert "right languages" in refused([("1", "2")])


def test_case_is_mentioned_if_it_costs_most_pairs():
    source, target = space("a", "b", "c"), space("x", "y", "z")
    pairs = [("a", "x"), ("B", "y"), ("C", "z")]
    assert known_without_case(match(pairs, source, target), pairs, source, target) == 3
    lower = [(s.lower(), t) for s, t in pairs]
    assert known_without_case(match(lower, source, target), lower, source, target) == 0
