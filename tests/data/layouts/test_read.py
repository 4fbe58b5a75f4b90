"""Transfer sets, written here in their layouts and read as they stand."""

import gzip
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentprobe.data.dataset import Dataset
from sentprobe.data.layouts import LAYOUTS, layouts_in, read_layout, scan
from sentprobe.errors import CorpusError, DataError, SentProbeError, UsageError
from sentprobe.published import TRANSFER
from tests.data.layouts.files import FILES, SICK, write_all

YEARS = [name for name, layout in LAYOUTS.items() if layout.protocol == "similarity"]
LINES = [name for name, layout in LAYOUTS.items() if layout.read not in ("nli", "captions")]
"""The sets that are read line by line from files of fixed names."""


@pytest.fixture
def downstream(tmp_path):
    return write_all(tmp_path)


EXPECTED = {
    "MR": [("te", "pos", "a fine film . "), ("te", "neg", "a dull film . "), ("te", "neg", "no .")],
    "CR": [("te", "pos", "it works ."), ("te", "pos", ""), ("te", "neg", "it broke .")],
    "SUBJ": [("te", "objective", "he leaves ."), ("te", "subjective", "i loved it .")],
    "MPQA": [("te", "pos", "good"), ("te", "neg", "bad")],
    "SST2": [("tr", "1", "a fine film ."), ("va", "0", "a dull film ."), ("te", "0", "so so .")],
    "SST5": [("tr", "4", "a fine film ."), ("va", "0", "a dull film ."), ("te", "2", "so so ."), ("te", "2", "")],
    "TREC": [("tr", "NUM", "When was it ?"), ("tr", "HUM", "Who came ?"), ("te", "NUM", "How far is it ?")],
    "MRPC": [("tr", "1", 'He said "no" .', "He refused ."), ("te", "0", "He left .", "She came .")],
    "SNLI": [
        ("tr", "entailment", "A dog runs .", "An animal runs ."),
        ("tr", "neutral", "A cat sits .", "A cat sleeps ."),
        ("va", "contradiction", "A boy swims .", "A boy is dry ."),
        ("te", "entailment", "A girl sings .", "Someone sings ."),
    ],
    "SICKEntailment": [
        ("tr", "NEUTRAL", 'A man "runs', "A man walks"),
        ("va", "ENTAILMENT", "A man runs", "A man moves"),
        ("te", "CONTRADICTION", "A man runs", "No man runs"),
    ],
    "SICKRelatedness": [
        ("tr", "3.5", 'A man "runs', "A man walks"),
        ("va", "4.5", "A man runs", "A man moves"),
        ("te", "3.1", "A man runs", "No man runs"),
    ],
    "STSBenchmark": [
        ("tr", "5.000", 'a "plane lands .', "an air plane lands ."),
        ("va", "0.5", "a cat .", "a car ."),
        ("te", "2", "a girl .", "a boy ."),
    ],
    "STSBenchmark-fix": [
        ("tr", "4.9", "a plane .", "an air plane ."),
        ("va", "0.4", "a cat .", "a car ."),
        ("te", "2.1", "a girl .", "a boy ."),
    ],
    "CDSEntailment": [
        ("tr", "NEUTRAL", "Pies biegnie .", "Kot śpi ."),
        ("va", "ENTAILMENT", "Pies biegnie .", "Pies się rusza ."),
        ("te", "CONTRADICTION", "Pies biegnie .", "Pies stoi ."),
    ],
    "CDSRelatedness": [
        ("tr", "0.33", "Pies biegnie .", "Kot śpi ."),
        ("va", "4.5", "Pies biegnie .", "Pies się rusza ."),
        ("te", "3.0", "Pies biegnie .", "Pies stoi ."),
    ],
    **{
        name: [("te", "2.5", f"one of {name} .", f"one {part.stratum} .") for part in LAYOUTS[name].parts]
        for name in YEARS
    },
}


@pytest.mark.parametrize("name", LINES)
def test_each_set_is_read_as_it_stands(downstream, name):
    folder = downstream / LAYOUTS[name].home
    assert name in layouts_in(folder)
    found = read_layout(name, folder)
    assert [(split, row.label, row.text, *(v for _, v in row.extra)) for split, row in found] == EXPECTED[name]
    assert (found.name, found.task) == (name, name)
    assert [column for column, _ in found.rows["te"][0].extra] == found.manifest["inputs"]


PROTOCOLS = {
    "nested": {"MR", "CR", "SUBJ", "MPQA"},
    "kfold": {"TREC", "MRPC"},
    "split": {"SST2", "SST5", "SICKEntailment", "SNLI", "CDSEntailment", "XNLI"},
    "relatedness": {"SICKRelatedness", "STSBenchmark", "STSBenchmark-fix", "CDSRelatedness"},
    "similarity": {"STS12", "STS13", "STS14", "STS15", "STS16"},
    "retrieval": {"ImageCaptionRetrieval"},
}


def test_the_manifest_says_how_a_set_is_scored_and_what_a_probe_is_given(downstream):
    for protocol, names in PROTOCOLS.items():
        for name in names:
            found = read_layout(name, downstream / LAYOUTS[name].home, language="fr" if name == "XNLI" else None)
            assert (found.manifest["suite"], found.manifest["protocol"]) == ("transfer", protocol), name
    assert set().union(*PROTOCOLS.values()) == set(LAYOUTS) == {*TRANSFER, "STSBenchmark-fix"}
    sick, mrpc = (read_layout(name, downstream / name[:4]) for name in ("SICKEntailment", "MRPC"))
    assert (sick.manifest["inputs"], mrpc.manifest["inputs"]) == (["sentence_B"], ["#2 String"])
    assert read_layout("MR", downstream / "MR").manifest == {"suite": "transfer", "protocol": "nested", "inputs": []}
    assert sick.language is None
    assert read_layout("CDSEntailment", downstream / "CDS").language == "pl"


def test_what_is_known_of_a_set_fits_together():
    for name, layout in LAYOUTS.items():
        parts = {part.stratum or part.split for part in layout.parts} or {"va", "te"}
        assert all(set(sizes) == parts for sizes in layout.sizes), name
        assert layout.source
        assert bool(layout.labels) + bool(layout.scale) + (layout.protocol == "retrieval") == 1, name
    # as in the README of SentEval, 3.1k, 1.5k and 3.7k; of 2015 and 2016 the scored pairs, as in the task papers
    totals = [sum(LAYOUTS[name].sizes[0].values()) for name in YEARS]
    assert totals == [3108, 1500, 3750, 3000, 1186]


@pytest.mark.parametrize("name", YEARS)
def test_the_sub_datasets_of_a_year_are_told_by_their_stratum(downstream, name):
    found = read_layout(name, downstream / LAYOUTS[name].home)
    assert [row.stratum for row in found.rows["te"]] == [part.stratum for part in LAYOUTS[name].parts]


def test_files_that_are_no_utf8_are_latin1_and_lines_end_at_line_feeds_only(downstream):
    # 0xe9 is é in Latin-1, and 0x85 is a control that Unicode takes for a line end
    (downstream / "MR/rt-polarity.pos").write_bytes(b"a caf\xe9 \x85 open\r\nanother .\n")
    (downstream / "MR/rt-polarity.neg").write_text("a café\n", "utf-8")
    rows = read_layout("MR", downstream / "MR").rows["te"]
    assert [row.text for row in rows] == ["a café \x85 open", "another .", "a café"]
    (downstream / "SNLI/s1.dev").write_bytes(b"caf\xe9\n")
    (downstream / "SNLI/s2.dev").write_text("café\n", "utf-8")
    (row,) = read_layout("SNLI", downstream / "SNLI").rows["va"]
    assert (row.text, row.extra) == ("café", (("sentence2", "café"),))


@pytest.mark.parametrize("file", ["SST/fine/sentiment-dev", "SST/binary/sentiment-dev", "STS/STSBenchmark/sts-dev.csv"])
def test_latin1_is_an_error_where_senteval_reads_utf8(downstream, file):
    (name, *_) = layouts_in((downstream / file).parent)
    (downstream / file).write_bytes(b"0 caf\xe9\t0\n")
    with pytest.raises(CorpusError, match=r":1: got the bytes e9 .*UTF-8"):
        read_layout(name, (downstream / file).parent)


def test_files_may_be_compressed(downstream):
    for file in ("TREC/TREC_10.label", "STS/STS14-en-test/STS.gs.images.txt"):
        path = downstream / file
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert len(read_layout("TREC", downstream / "TREC")) == 3
    assert len(read_layout("STS14", downstream / LAYOUTS["STS14"].home)) == 6


@pytest.mark.parametrize("file", [file for file in FILES if not file.startswith("XNLI")])
def test_a_missing_file_is_named_with_the_place_it_was_looked_for_in_and_a_way_to_get_it(downstream, file):
    (downstream / file).unlink()
    folder = (downstream / file).parent
    for name in layouts_in(folder):
        with pytest.raises(DataError) as caught:
            read_layout(name, folder)
        assert f"{name} lacks the file {folder.joinpath(file).name}: looked for it in {folder}" in str(caught.value)
        assert f"`sentprobe data get {name}` downloads it" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "file", "text", "message"),
    [
        (
            "TREC",
            "TREC_10.label",
            "NUM How far ?\n",
            r"TREC_10\.label:1: got 'NUM How far \?'; expected a line such as",
        ),
        ("SST5", "sentiment-dev", " no label\n", r"sentiment-dev:1: got an empty label"),
        ("SST2", "sentiment-dev", "x\ty\t1\n", r"sentiment-dev:1: got 3 columns; expected sentence and label"),
        ("MR", "rt-polarity.neg", "x\na\0b\n", r"rt-polarity\.neg:2: got a NUL byte"),
        ("SICKEntailment", "SICK_trial.txt", "a\tb\n", r"SICK_trial\.txt has no column 'sentence_A'; it has 'a', 'b'"),
        ("SICKEntailment", "SICK_trial.txt", SICK + "a\tb\n", r"SICK_trial\.txt:2: got 2 columns; expected 5"),
        (
            "SICKRelatedness",
            "SICK_trial.txt",
            SICK + "1\ta\tb\t3,5\tX\n",
            r":2: got the score '3,5'; expected a number",
        ),
        ("STSBenchmark", "sts-dev.csv", "a\tb\tc\td\t4\te\n", r"sts-dev\.csv:1: got 6 columns; expected genre, file"),
        ("STSBenchmark", "sts-dev.csv", "a\tb\tc\td\tnan\te\tf\n", r"sts-dev\.csv:1: got the score 'nan'"),
        ("STS13", "STS.input.FNWN.txt", "alone\nx\ty\n", r"STS\.input\.FNWN\.txt:1: got 1 column; expected two"),
        ("STS13", "STS.gs.FNWN.txt", "2\n", r"input.* has 2 lines and .*gs\.FNWN.* has 1 line; expected as many"),
        ("SNLI", "s2.dev", "x\ny\n", r"s1\.dev has 1 line and .*s2\.dev has 2 lines and .* has 1 line"),
        ("SNLI", "labels.dev", " \n", r"labels\.dev:1: got an empty label"),
    ],
)
def test_broken_files_are_named(downstream, name, file, text, message):
    folder = downstream / LAYOUTS[name].home
    (folder / file).write_text(text, "utf-8")
    with pytest.raises(SentProbeError, match=message):
        read_layout(name, folder)


def test_a_scan_tells_every_broken_line_and_goes_on(downstream):
    (downstream / "SST/binary/sentiment-dev").write_text("a\tb\tc\nfine .\t1\nalone\n", "utf-8")
    broken: list[CorpusError] = []
    found = list(scan("SST2", downstream / "SST/binary", broken=broken.append))
    assert [(split, row.text) for split, _, row in found] == [
        ("tr", "a fine film ."), ("va", "fine ."), ("te", "so so .")
    ]  # fmt: skip
    assert [(error.line, error.got) for error in broken] == [(1, "3 columns"), (3, "1 column")]
    assert found[1][1].endswith("sentiment-dev")


def test_an_unknown_set_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(UsageError, match=r"no transfer set 'SST'; expected one of MR, CR"):
        read_layout("SST", tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200) | st.text("NUM: 01\t\n\r\0é\x85", max_size=60).map(str.encode), st.sampled_from([*LAYOUTS])
)
def test_no_bytes_raise_anything_but_a_sentprobe_error(tmp_path, content, name):
    for file in LAYOUTS[name].files or ("dev-en.tsv", "xnli.test.tsv", "train-en.tsv"):
        (tmp_path / file).write_bytes(content)
        (tmp_path / file).with_suffix(".npy").write_bytes(content)
    layouts_in(tmp_path)
    with suppress(SentProbeError):
        assert isinstance(read_layout(name, tmp_path, language="en"), Dataset)
    for path in tmp_path.iterdir():
        path.unlink()
