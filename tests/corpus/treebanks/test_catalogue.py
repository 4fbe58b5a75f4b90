"""The table of treebanks, and which of them a user means."""

import re

import pytest

from sentprobe.corpus.treebanks.catalogue import find_treebank, treebanks, treebanks_of
from sentprobe.corpus.treebanks.fetch import describe_licence
from sentprobe.errors import UsageError


def test_every_row_is_complete_or_says_that_it_is_not():
    table = treebanks()
    known = [one for one in table.values() if one.files]
    assert len(known) > 300
    for name, one in table.items():
        assert re.fullmatch(r"UD_[A-Z][A-Za-z_]+-[A-Za-z0-9]+", name)
        assert re.fullmatch(r"r2\.\d+", one.release)
        assert re.fullmatch(r"[a-z]{2,3}", one.code), name
        assert name == f"UD_{one.language.replace(' ', '_')}-{name.rpartition('-')[2]}"
    for one in known:
        assert one.release == "r2.16"
        assert one.licence
        assert one.text in ("yes", "no")
        assert 0 < one.sentences <= one.tokens <= one.words * 1.01, one.name  # a token may be without a word
        assert set(one.files.values()) == set(re.findall(r"\b[0-9a-f]{40}\b", " ".join(one.files.values())))
        assert {part.partition("-")[0] for part in one.files} <= {"train", "dev", "test"}
        assert one.prefix.startswith(f"{one.code}_")


def test_facts_are_those_of_the_release():
    # stats.xml, README.md and `git ls-tree` of the tag r2.16 of the three repositories
    ewt = find_treebank("ud:UD_English-EWT")
    assert (ewt.sentences, ewt.tokens, ewt.words, ewt.licence) == (16622, 251489, 254818, "CC BY-SA 4.0")
    assert ewt.git_blob("en_ewt-ud-train.conllu") == "34731d23bafeeff233fdcee18ffc0254b1aa0e28"
    assert find_treebank("ud:UD_Arabic-NYUAD").text == "no"
    hdt = find_treebank("ud:UD_German-HDT")
    assert hdt.files_of("train") == [f"de_hdt-ud-train-{part}.conllu" for part in ("a-1", "a-2", "b-1", "b-2")]


def test_no_name_means_two_treebanks():
    names = [
        name.lower()
        for one in treebanks().values()
        for name in {n.removeprefix("UD_") for n in (one.name, *one.other_names)} | set(one.prefixes)
    ]
    assert len(names) == len(set(names))
    codes = {one.code for one in treebanks().values()} | {one.language.lower() for one in treebanks().values()}
    assert codes.isdisjoint(names)


@pytest.mark.parametrize(
    ("typed", "spec"),
    [
        ("ud:UD_English-EWT", "ud:UD_English-EWT@r2.16"),
        ("ud:english-ewt", "ud:UD_English-EWT@r2.16"),
        ("ud:en_ewt@2.15", "ud:UD_English-EWT@r2.15"),
        ("ud:UD_English-EWT@r2.99", "ud:UD_English-EWT@r2.99"),  # a release that the table does not know may exist
        ("ud:UD_Czech-PDT@r2.15", "ud:UD_Czech-PDTC@r2.15"),  # it was renamed in 2.16
        ("ud:UD_Northern_Kurdish-Kurmanji", "ud:UD_Kurmanji-MG@r2.16"),  # and this one after it
    ],
)
def test_names_are_understood_in_every_spelling(typed, spec):
    assert find_treebank(typed).spec == spec


def test_another_release_inherits_no_facts():
    other = find_treebank("ud:UD_English-EWT@r2.15")
    assert (other.sentences, other.licence, other.files) == (None, "", {})


def test_a_language_is_found_by_code_and_name():
    names = [one.name for one in treebanks_of("ud:fi")]
    assert names == ["UD_Finnish-TDT", "UD_Finnish-FTB", "UD_Finnish-OOD", "UD_Finnish-PUD"]
    assert treebanks_of("ud:Finnish") == treebanks_of("ud:fi")
    assert treebanks_of("ud:ancient greek") == treebanks_of("ud:Ancient_Greek") == treebanks_of("ud:grc") != []
    assert treebanks_of("ud:UD_Finnish-TDT") == []


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("ud:", "'ud:' names no treebank: expected one such as ud:UD_English-EWT, or a language: ud:en"),
        ("ud:fi", "'ud:fi' is a language; name one of its treebanks: UD_Finnish-TDT, "),
        ("ud:finish", "no treebank or language 'finish'. Did you mean Finnish"),
        ("ud:klingon", "no treebank or language 'klingon'. `sentprobe ls treebanks` lists them all."),
        ("ud:UD_Engish-EWT", "no treebank 'UD_Engish-EWT'. Did you mean UD_English-EWT"),
        (
            "ud:UD_Finnish-TDD",
            "Did you mean UD_Finnish-TDT? Those of Finnish are UD_Finnish-TDT, UD_Finnish-FTB, ",
        ),
        ("ud:UD_English-EWT@master", "names no release: expected one such as @r2.16. Branches are not used"),
        ("ud:UD_English-EWT@", "names no release"),
        ("ud:UD_English-EWT@../../x", "names no release"),
        ("ud:UD_English-EWT@r2.1", "too old: expected a release from r2.2 on"),
        ("ud:UD_Abkhaz-AbNC@r2.13", "UD_Abkhaz-AbNC is not in release 2.13: it has been part of UD since 2.14"),
    ],
)
def test_what_is_not_there_is_said_with_what_was_probably_meant(typed, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        find_treebank(typed)


@pytest.mark.parametrize(
    ("licence", "shown"),
    [
        ("CC BY-SA 4.0", "CC BY-SA 4.0"),
        ("CC BY-NC-SA 3.0", "CC BY-NC-SA 3.0, non-commercial use only"),
        ("CC BY-NC-ND 4.0", "CC BY-NC-ND 4.0, non-commercial use only, no derivatives"),
        ("", "licence unknown"),
    ],
)
def test_a_licence_says_what_it_forbids(licence, shown):
    assert describe_licence(licence) == shown
