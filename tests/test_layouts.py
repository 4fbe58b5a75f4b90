"""SentEval's transfer sets, written here in their layout."""

import gzip
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sonde.dataset import Dataset
from sonde.errors import CorpusError, DataError, SondeError, UsageError
from sonde.layouts import LAYOUTS, layout_of, read_layout

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
MRPC = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
FILES = {
    "MR/rt-polarity.pos": "a fine film . \n",
    "MR/rt-polarity.neg": "a dull film . \nno .\n",
    "CR/custrev.pos": "it works .\n\n",
    "CR/custrev.neg": "it broke .\n",
    "SUBJ/subj.objective": "he leaves .\n",
    "SUBJ/subj.subjective": "i loved it .\n",
    "MPQA/mpqa.pos": "good\n",
    "MPQA/mpqa.neg": "bad\n",
    "SST/binary/sentiment-train": "a fine film .\t1\n",
    "SST/binary/sentiment-dev": "a dull film .\t0\n",
    "SST/binary/sentiment-test": "so so .\t0\n",
    "SST/fine/sentiment-train": "4 a fine film .\n",
    "SST/fine/sentiment-dev": "0 a dull film .\n",
    "SST/fine/sentiment-test": "2 so so .\n2\n",
    "TREC/train_5500.label": "NUM:date When was it ?\nHUM:ind Who came ?\n",
    "TREC/TREC_10.label": "NUM:dist How far is it ?\n",
    "SICK/SICK_train.txt": SICK + '1\tA man "runs\tA man walks\t3.5\tNEUTRAL\n',
    "SICK/SICK_trial.txt": SICK + "2\tA man runs\tA man moves\t4.5\tENTAILMENT\n",
    "SICK/SICK_test_annotated.txt": SICK + "3\tA man runs\tNo man runs\t3.1\tCONTRADICTION\n",
    "MRPC/msr_paraphrase_train.txt": MRPC + '1\t10\t11\tHe said "no" .\tHe refused .\n',
    "MRPC/msr_paraphrase_test.txt": MRPC + "0\t12\t13\tHe left .\tShe came .\n",
}


@pytest.fixture
def downstream(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


EXPECTED = {
    "MR": [("te", "pos", "a fine film . "), ("te", "neg", "a dull film . "), ("te", "neg", "no .")],
    "CR": [("te", "pos", "it works ."), ("te", "pos", ""), ("te", "neg", "it broke .")],
    "SUBJ": [("te", "objective", "he leaves ."), ("te", "subjective", "i loved it .")],
    "MPQA": [("te", "pos", "good"), ("te", "neg", "bad")],
    "SST2": [("tr", "1", "a fine film ."), ("va", "0", "a dull film ."), ("te", "0", "so so .")],
    "SST5": [("tr", "4", "a fine film ."), ("va", "0", "a dull film ."), ("te", "2", "so so ."), ("te", "2", "")],
    "TREC": [("tr", "NUM", "When was it ?"), ("tr", "HUM", "Who came ?"), ("te", "NUM", "How far is it ?")],
    "SICK-E": [
        ("tr", "NEUTRAL", 'A man "runs'), ("va", "ENTAILMENT", "A man runs"), ("te", "CONTRADICTION", "A man runs")
    ],
    "MRPC": [("tr", "1", 'He said "no" .'), ("te", "0", "He left .")],
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_each_set_is_read_as_it_stands(downstream, name):
    folder = downstream / LAYOUTS[name].home
    assert layout_of(folder) == (name,)
    found = read_layout(name, folder)
    assert [(split, row.label, row.text) for split, row in found] == EXPECTED[name]
    assert (found.name, found.task) == (name, name)


def test_nothing_stands_directly_above(downstream):
    assert layout_of(downstream) == layout_of(downstream / "SST") == ()


def test_pairs_have_their_second_sentence_as_an_input(downstream):
    sick, mrpc = read_layout("SICK-E", downstream / "SICK"), read_layout("MRPC", downstream / "MRPC")
    assert (sick.manifest, sick.rows["tr"][0].extra) == ({"inputs": ["sentence_B"]}, (("sentence_B", "A man walks"),))
    assert (mrpc.manifest, mrpc.rows["tr"][0].extra) == ({"inputs": ["#2 String"]}, (("#2 String", "He refused ."),))
    assert read_layout("MR", downstream / "MR").manifest == {}


def test_files_that_are_no_utf8_are_latin1_and_lines_end_at_line_feeds_only(downstream):
    # 0xe9 is é in Latin-1, and 0x85 is a control that Unicode takes for a line end
    (downstream / "MR/rt-polarity.pos").write_bytes(b"a caf\xe9 \x85 open\r\nanother .\n")
    (downstream / "MR/rt-polarity.neg").write_text("a café\n", "utf-8")
    rows = read_layout("MR", downstream / "MR").rows["te"]
    assert [row.text for row in rows] == ["a café \x85 open", "another .", "a café"]


def test_latin1_is_an_error_where_senteval_reads_utf8(downstream):
    for file, name in (("SST/fine/sentiment-dev", "SST5"), ("SST/binary/sentiment-dev", "SST2")):
        (downstream / file).write_bytes(b"0 caf\xe9\t0\n")
        with pytest.raises(CorpusError, match=r"sentiment-dev:1: met the bytes e9 .*UTF-8"):
            read_layout(name, (downstream / file).parent)


def test_files_may_be_compressed(downstream):
    path = downstream / "TREC/TREC_10.label"
    path.with_name("TREC_10.label.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert len(read_layout("TREC", downstream / "TREC")) == 3


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file_is_named_with_the_place_it_was_looked_for_in(downstream, file):
    (downstream / file).unlink()
    folder = (downstream / file).parent
    (name,) = layout_of(folder)
    with pytest.raises(DataError) as caught:
        read_layout(name, folder)
    assert f"{name} lacks the file {folder.joinpath(file).name}: looked for it in {folder}" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "file", "text", "message"),
    [
        (
            "TREC",
            "TREC_10.label",
            "NUM How far ?\n",
            r"TREC_10\.label:1: met 'NUM How far \?'; expected a line such as",
        ),
        ("SST5", "sentiment-dev", " no label\n", r"sentiment-dev:1: met an empty label"),
        ("SST2", "sentiment-dev", "x\ty\t1\n", r"sentiment-dev:1: met 3 columns; expected sentence and label"),
        ("MR", "rt-polarity.neg", "x\na\0b\n", r"rt-polarity\.neg:2: met a NUL byte"),
        ("SICK-E", "SICK_trial.txt", "a\tb\n", r"SICK_trial\.txt has no column 'sentence_A'"),
    ],
)
def test_broken_files_are_named(downstream, name, file, text, message):
    folder = downstream / LAYOUTS[name].home
    (folder / file).write_text(text, "utf-8")
    with pytest.raises(SondeError, match=message):
        read_layout(name, folder)


def test_an_unknown_set_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(UsageError, match=r"no transfer set 'SST'; there are MR, CR"):
        read_layout("SST", tmp_path)


def test_files_with_the_names_of_sst_that_hold_something_else_are_not_taken_for_it(tmp_path):
    (tmp_path / "sentiment-train").write_text('{"text": "x"}\n', "utf-8")
    assert layout_of(tmp_path) == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200) | st.text("NUM: 01\t\n\r\0é\x85", max_size=60).map(str.encode), st.sampled_from([*LAYOUTS])
)
def test_no_bytes_raise_anything_but_a_sonde_error(tmp_path, content, name):
    for file in LAYOUTS[name].files:
        (tmp_path / file).write_bytes(content)
    layout_of(tmp_path)
    with suppress(SondeError):
        assert isinstance(read_layout(name, tmp_path), Dataset)
