"""Tokenisation as by SentEval's download script: what its programs print, and how downloads are changed."""

import pytest

from sentprobe.errors import CorpusError, NotInstalled
from sentprobe.transfer import remote_sets as table
from sentprobe.transfer import tokenisation
from sentprobe.transfer.remote_sets import fetch_sets, remote_sets
from sentprobe.transfer.tokenisation import check_tokeniser, moses, tokenise_folder, treebank, visible
from tests.transfer.test_fetch import LINE, files, movies

SENTENCES = {
    # GNU sed 4.9 with SentEval's tokenizer.sed (5d6dc11); Perl 5 with Moses's tokenizer.perl -l en -no-escape
    '"It isn\'t over," she said (quietly)... "Is it?"': (
        "`` It is n't over , '' she said ( quietly ) ... `` Is it ? '' ",
        '" It isn \'t over , " she said ( quietly ) ... " Is it ? "',
    ),
    "I'm gonna pay $5,300 for No. 5 -- it's 20% more than they'd've asked!": (
        "I 'm gon na pay $ 5 , 300 for No. 5 -- it 's 20 % more than they'd 've asked ! ",
        "I 'm gonna pay $ 5,300 for No. 5 -- it 's 20 % more than they 'd've asked !",
    ),
    "'Tis a pity: the U.S. team cannot win.": (
        "'T is a pity : the U.S. team can not win . ",
        "'Tis a pity : the U.S. team cannot win .",
    ),
    "Mr. Brown met Dr. O'Neil at 3 p.m.": (
        "Mr. Brown met Dr. O'Neil at 3 p.m . ",
        "Mr. Brown met Dr. O 'Neil at 3 p.m .",
    ),
    "The dogs' bowls; the cat's [old] toy & a 1990's film.": (
        "The dogs ' bowls ; the cat 's [ old ] toy & a 1990 's film . ",
        "The dogs ' bowls ; the cat 's [ old ] toy & a 1990 's film .",
    ),
    "d'ye know? Gimme more'n that... wanna bet?": (
        "d' ye know ? Gim me more 'n that ... wan na bet ? ",
        "d 'ye know ? Gimme more 'n that ... wanna bet ?",
    ),
    "He left at 5 p.m. and she said: 'no'.": (
        "He left at 5 p.m. and she said : 'no ' . ",
        "He left at 5 p.m. and she said : ' no ' .",
    ),
    "Déjà vu, naïve café — “quoted” text…": (
        "Déjà vu , naïve café — “quoted” text… ",
        "Déjà vu , naïve café — “ quoted ” text …",
    ),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentences_are_tokenised_as_by_the_programs(sentence):
    assert treebank(sentence) == SENTENCES[sentence][0]
    pytest.importorskip("sacremoses")
    assert moses(sentence) == SENTENCES[sentence][1]
    assert moses(sentence, lower=True) == SENTENCES[sentence][1].lower()


def test_bytes_are_made_visible_as_by_cat():
    # printf 'caf\xe9 \xc3\xa9 \x01\x7f\xff\x80\x9f\ta\r' | cat -v, of GNU coreutils 9.1
    assert visible(b"caf\xe9 \xc3\xa9 \x01\x7f\xff\x80\x9f\ta\r") == "cafM-i M-CM-) ^A^?M-^?M-^@M-^_\ta^M"
    assert treebank(visible("été".encode())) == "M-CM- ) tM-CM- ) "


def test_what_is_downloaded_is_tokenised_unless_otherwise_requested(server, tmp_path, monkeypatch):
    remote = movies(server)
    monkeypatch.setattr(table, "unpack", lambda archive, members, stage, limit: [
        (stage / name).write_bytes("It's café ,\nnot bad.".encode()) for name in members.values()
    ])  # fmt: skip
    kinds = {"tokenised": "visible lines", "plain": "visible lines", "other": ""}
    for folder, kind in kinds.items():
        changed = type(remote)(remote.key, remote.sets, remote.home, "", "", remote.files, tokenise=kind)
        fetch_sets([changed], tmp_path / folder, retries=LINE, tokenise=folder != "plain")
    names = files(tmp_path / "plain")
    texts = {folder: {(tmp_path / folder / name).read_text("utf-8") for name in names} for folder in kinds}
    assert texts["tokenised"] == {"It 's cafM-CM- ) , \nnot bad . \n"}
    assert texts["plain"] == texts["other"] == {"It's café ,\nnot bad."}


def test_columns_of_tables(tmp_path):
    pytest.importorskip("sacremoses")
    sick = {"SICK_train.txt": "pair_ID\tsentence_A\n1\tA man's dog.\tIt's IN.\t4.5\tNEUTRAL\n"}
    sts = {"STS.input.x.txt": "It's IN.\tA man's dog.\r\n", "STS.gs.x.txt": "4.500\r\n"}
    stsb = {"sts-dev.csv": "g\tf\t2012\t1\t4.50\tIt's IN.\tNo, no.\tlicence\n"}
    snli = {"s1.dev": "It's in.\n", "s2.dev": "No.\n", "labels.dev": "neutral\n"}
    for kind, contents in (("SICK", sick), ("STS", sts), ("STSBenchmark", stsb), ("SNLI", snli)):
        (tmp_path / kind).mkdir()
        for name, text in contents.items():
            (tmp_path / kind / name).write_bytes(text.encode())
        tokenise_folder(tmp_path / kind, "lines" if kind == "SNLI" else f"moses {kind}")
    assert (tmp_path / "SICK/SICK_train.txt").read_bytes() == (
        b"pair_ID\tsentence_A\n1\tA man 's dog .\tIt 's IN .\t4.5\tNEUTRAL\n"
    )
    assert (tmp_path / "STS/STS.input.x.txt").read_bytes() == b"it 's in .\ta man 's dog .\n"
    assert (tmp_path / "STS/STS.gs.x.txt").read_bytes() == b"4.500\r\n"
    assert (tmp_path / "STSBenchmark/sts-dev.csv").read_bytes() == b"g\tf\t2012\t1\t4.50\tit 's in .\tno , no .\n"
    assert (tmp_path / "SNLI/s1.dev").read_bytes() == b"It 's in . \n"
    assert (tmp_path / "SNLI/labels.dev").read_bytes() == b"neutral\n"
    (tmp_path / "STSBenchmark/sts-dev.csv").write_bytes(b"a\tb\n")
    with pytest.raises(CorpusError, match=r"sts-dev\.csv:1: got 2 columns"):
        tokenise_folder(tmp_path / "STSBenchmark", "moses STSBenchmark")
    (tmp_path / "SNLI/s1.dev").write_bytes(b"ok\n\xff\n")
    with pytest.raises(CorpusError, match=r"s1\.dev:2: got bytes that are not UTF-8"):
        tokenise_folder(tmp_path / "SNLI", "lines")


def test_without_sacremoses_nothing_is_downloaded(monkeypatch):
    def missing():
        raise NotInstalled("The tokeniser moses-en needs sacremoses.")

    monkeypatch.setattr(tokenisation, "_moses", missing)
    check_tokeniser("visible lines")
    with pytest.raises(NotInstalled, match="--as-downloaded"):
        check_tokeniser("moses STS")


def test_every_set_that_the_script_tokenises_says_how():
    kinds = {key: remote.tokenise for key, remote in remote_sets().items() if remote.tokenise}
    assert set(kinds.values()) == {"visible lines", "lines", "moses SICK", "moses STSBenchmark", "moses STS"}
    sts = (f"STS{year}" for year in range(12, 17))
    assert sorted(kinds) == sorted(["CR", "MPQA", "MR", "SUBJ", "SNLI", "SICK", "STSBenchmark", *sts])
