"""Treebanks from a server on loopback into the cache."""

import json
import threading
from dataclasses import replace

import pytest

from sentprobe.core.network import RetryPolicy
from sentprobe.corpus.treebanks.fetch import fetch_treebank
from sentprobe.corpus.treebanks.metadata import TreebankCounts, count_conllu, read_record
from sentprobe.errors import CorruptionWarning, DataError, Offline, UsageError
from tests.corpus.treebanks import mill

MILL = "ud:UD_Millish-Mill"
HOME = "/UD_Millish-Mill/r2.16"
FILES = [f"qmi_mill-ud-{split}.conllu" for split in mill.DATA]


def fetch(spec=MILL, tries=1):
    """The files, and what the user was told."""
    told = []
    retries = RetryPolicy(timeout=10, tries=tries, sleep=lambda seconds: None)
    return fetch_treebank(spec, retries=retries, progress=lambda *_: None, notify=told.append), told


def asked(ud):
    return [path.rpartition("/")[2] for path, _ in ud.asked]


def test_a_treebank_is_downloaded_verified_and_kept(ud, tmp_path):
    mill.publish(ud)
    files, told = fetch()
    folder = tmp_path / "cache/treebanks/r2.16/UD_Millish-Mill"
    assert files == [folder / name for name in FILES]
    assert [file.read_bytes() for file in files] == list(mill.DATA.values())
    assert (folder / "LICENSE.txt").read_bytes() == b"A licence.\n"
    size = f"{sum(map(len, mill.DATA.values())) / 1000:.0f}"
    total = sum(map(count_conllu, ([content] for content in mill.DATA.values())), TreebankCounts())
    assert told == [
        f"UD_Millish-Mill r2.16, Millish: CC BY-SA 4.0; 576 sentences, {total.words:,} words (news fiction); "
        "https://github.com/UniversalDependencies/UD_Millish-Mill",
        f"3 files, {size} kB, verified by git checksums and counts of stats.xml ({total}); kept in {folder}",
    ]
    assert not list(folder.glob("*.part"))


def test_the_licence_is_shown_before_any_text_is_downloaded(ud):
    mill.publish(ud, licence="CC BY-NC-SA 4.0")
    seen = []
    fetch_treebank(MILL, progress=lambda *_: None, notify=lambda line: seen.append((line, asked(ud))))
    line, before = seen[0]
    assert "CC BY-NC-SA 4.0, non-commercial use only" in line
    assert not [name for name in before if name.endswith(".conllu")]


def test_what_is_in_the_cache_is_used_offline(ud, monkeypatch):
    mill.publish(ud)
    files, _ = fetch()
    requests = len(ud.asked)
    monkeypatch.setenv("SENTPROBE_OFFLINE", "1")
    assert fetch() == (files, [])
    assert len(ud.asked) == requests


def test_offline_nobody_is_asked(ud, monkeypatch, tmp_path):
    mill.publish(ud)
    monkeypatch.setenv("SENTPROBE_OFFLINE", "1")
    with pytest.raises(Offline, match=r"UD_Millish-Mill r2\.16 is not in the cache \(.*SENTPROBE_OFFLINE is set"):
        fetch()
    assert ud.asked == []
    assert not (tmp_path / "cache").exists()


def test_a_file_that_is_not_that_of_the_release_is_refused(ud, tmp_path):
    mill.publish(ud, {**mill.DATA, "dev": mill.DATA["test"]})
    with pytest.raises(
        DataError, match=r"-dev\.conllu is not the file of the release: expected the git checksum [0-9a-f]"
    ):
        fetch()
    assert not list(tmp_path.rglob("*-dev.conllu*"))
    mill.publish(ud)
    ud.asked.clear()
    fetch()
    assert [name for name in asked(ud) if name.endswith(".conllu")] == FILES[1:]  # the first one was right


def test_without_checksums_the_counts_must_be_right(ud, tmp_path):
    ud.table["UD_Millish-Mill"] = mill.row(files={})
    mill.publish(ud, counts={"dev": TreebankCounts(47, 700, 750)})
    with pytest.raises(
        DataError, match=r"dev: stats\.xml says 47 sentences, 700 tokens and 750 words, got 48 sentences,"
    ):
        fetch()
    assert not list(tmp_path.rglob("*.conllu"))
    mill.publish(ud)
    files, told = fetch()
    record = read_record(files[0].parent)
    assert record["verified"] == ["counts of stats.xml"]
    assert told[2:] == [
        f"no checksum is known of {one['name']}; its SHA-256 is {one['sha256']}" for one in record["files"]
    ]


def test_files_with_the_right_checksums_are_used_even_if_stats_xml_is_out_of_date(ud):
    mill.publish(ud, counts={"dev": TreebankCounts(47, 700, 750)})
    files, told = fetch()
    assert "stats.xml says 47 sentences" in told[1]
    assert "The checksums are right; the files are used." in told[1]
    assert read_record(files[0].parent)["verified"] == ["git checksums"]


def test_an_interrupted_download_is_resumed(ud):
    mill.publish(ud, train={"cut": [100_000]})
    with pytest.raises(Offline, match="are kept; run the same command to continue from there"):
        fetch()
    ud.asked.clear()
    files, _ = fetch()
    assert (f"{HOME}/{FILES[0]}", "bytes=100000-") in ud.asked
    assert files[0].read_bytes() == mill.DATA["train"]


@pytest.mark.parametrize("changed", [False, True])
def test_without_checksums_it_is_resumed_if_the_file_is_the_same(ud, changed):
    ud.table["UD_Millish-Mill"] = mill.row(files={})
    mill.publish(ud, train={"cut": [100_000]})
    with pytest.raises(Offline):
        fetch()
    if changed:
        mill.publish(ud, train={"etag": '"two"'})
    ud.asked.clear()
    files, _ = fetch()
    assert (f"{HOME}/{FILES[0]}", "bytes=100000-") in ud.asked  # with If-Range, so that a new version is sent whole
    assert files[0].read_bytes() == mill.DATA["train"]


def test_files_that_are_complete_are_not_downloaded_again(ud):
    mill.publish(ud, test={"cut": [10]})
    with pytest.raises(Offline):
        fetch()
    ud.asked.clear()
    fetch()
    assert [name for name in asked(ud) if name.endswith(".conllu")] == [FILES[2]]


@pytest.mark.parametrize("files", [None, {}])
def test_a_damaged_file_is_downloaded_again_with_a_warning(ud, files):
    ud.table["UD_Millish-Mill"] = mill.row() if files is None else mill.row(files=files)
    mill.publish(ud)
    paths, _ = fetch()
    content = bytearray(paths[1].read_bytes())
    content[1000] ^= 1
    paths[1].write_bytes(content)
    paths[2].unlink()
    ud.asked.clear()
    with pytest.warns(
        CorruptionWarning, match=r"-dev\.conllu has changed since it was downloaded; it is downloaded again"
    ):
        assert fetch()[0] == paths
    assert asked(ud) == FILES[1:]
    assert [path.read_bytes() for path in paths] == list(mill.DATA.values())


def test_a_damaged_file_is_not_used_offline_nor_replaced_by_another(ud, monkeypatch):
    ud.table["UD_Millish-Mill"] = mill.row(files={})
    mill.publish(ud)
    paths, _ = fetch()
    paths[1].write_bytes(b"")
    with monkeypatch.context() as patch:
        patch.setenv("SENTPROBE_OFFLINE", "1")
        with pytest.raises(Offline, match="is damaged or not complete in the cache"):
            fetch()
    mill.publish(ud, {**mill.DATA, "dev": mill.DATA["test"]})
    with (
        pytest.warns(CorruptionWarning),
        pytest.raises(DataError, match=r"-dev\.conllu has changed since it was first downloaded: expected SHA-256"),
    ):
        fetch()
    assert not paths[1].exists()


def test_a_record_that_was_edited_is_not_believed(ud):
    mill.publish(ud)
    files, _ = fetch()
    record = files[0].parent / "treebank.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "licence": "mine"}))
    assert fetch()[0] == files
    assert read_record(files[0].parent)["licence"] == "CC BY-SA 4.0"


def test_two_processes_share_a_download(ud):
    mill.publish(ud)
    told, waiting, results = [], threading.Event(), []

    def second(line):
        told.append(line)
        waiting.set()

    other = threading.Thread(
        target=lambda: results.append(fetch_treebank(MILL, progress=lambda *_: None, notify=second))
    )

    def first(line):
        if not other.ident:
            other.start()
            assert waiting.wait(30)

    results.append(fetch_treebank(MILL, progress=lambda *_: None, notify=first))
    other.join(30)
    assert results[0] == results[1]
    assert told == ["Another process is downloading UD_Millish-Mill r2.16; waiting for it."]
    assert sorted(name for name in asked(ud) if name.endswith(".conllu")) == sorted(FILES)


# what is not on the server


def test_a_release_that_does_not_exist_is_said_with_the_one_that_does(ud):
    mill.publish(ud)
    with pytest.raises(
        DataError, match=r"r2\.99 is not on the server.*no such release.*default is ud:UD_Millish-Mill@r2\.16"
    ):
        fetch(f"{MILL}@r2.99")


def test_a_server_that_cannot_be_reached_is_said(ud, monkeypatch):
    monkeypatch.setenv("SENTPROBE_UD_URL", "http://127.0.0.1:1")
    with pytest.raises(Offline, match=r"127\.0\.0\.1:1/UD_Millish-Mill/r2\.16/stats\.xml: ConnectionRefused"):
        fetch()


@pytest.mark.parametrize("address", ["ftp://127.0.0.1/", "/etc", "file:///etc"])
def test_an_address_that_is_not_http_is_refused(ud, monkeypatch, address):
    monkeypatch.setenv("SENTPROBE_UD_URL", address)
    with pytest.raises(UsageError, match="expected an address that begins with http"):
        fetch()


def test_a_treebank_without_text_is_refused_before_anything_is_asked(ud):
    ud.table["UD_Millish-Mill"] = mill.row(text="no")
    with pytest.raises(DataError, match=r"released without its text.*/UniversalDependencies/UD_Millish-Mill"):
        fetch()
    assert ud.asked == []


def test_a_readme_that_says_so_is_believed(ud):
    ud.table["UD_Millish-Mill"] = mill.row(files={}, text="")
    mill.publish(ud, text="no")
    with pytest.raises(DataError, match="released without its text"):
        fetch()
    assert not [name for name in asked(ud) if name.endswith(".conllu")]


def test_underscores_are_noticed_even_if_nobody_said_so(ud, tmp_path):
    hidden = "".join(
        "1\t_\t_\tNOUN\t_\t_\t0\troot\t_\t_\n2\t_\t_\tX\t_\t_\t1\tdep\t_\t_\n\n" for _ in range(9)
    ).encode()
    ud.table["UD_Millish-Mill"] = mill.row({"test": hidden})
    mill.publish(ud, {"test": hidden})
    with pytest.raises(DataError, match="released without its text"):
        fetch()
    assert not list(tmp_path.rglob("*.conllu"))


# other releases, of which the table does not know the files


def parts(*names):
    third = len(names)
    return {name: mill.conllu(i * 100, 24 * third) for i, name in enumerate(names)}


@pytest.mark.parametrize(
    ("published", "known"),
    [
        (("train", "dev", "test"), ()),
        (("test",), ()),
        (("train-a", "train-b", "train-c", "test"), ()),
        (("train-c", "train-l", "train-v", "test"), ("train-c", "train-ca", "train-l", "train-v")),
    ],
)
def test_the_files_of_another_release_are_found(ud, published, known):
    ud.table["UD_Millish-Mill"] = mill.row(parts=known)
    mill.publish(ud, parts(*published), release="r2.9", readme="README.txt")
    files, told = fetch(f"{MILL}@r2.9")
    assert [file.name for file in files] == [f"qmi_mill-ud-{name}.conllu" for name in published]
    assert "CC BY-SA 4.0" in told[0]


@pytest.mark.parametrize("published", [("train", "dev", "test"), ("test",), ("train-a", "train-b", "dev")])
def test_before_2_4_only_the_total_is_known(ud, published):
    ud.table["UD_Millish-Mill"] = mill.row(since="2.2")
    mill.publish(ud, parts(*published), release="r2.3", splits=False)
    files, _ = fetch(f"{MILL}@r2.3")
    assert [file.name for file in files] == [f"qmi_mill-ud-{name}.conllu" for name in published]
    mill.publish(ud, parts(*published), release="r2.2", splits=False, counts={"dev": TreebankCounts(1, 1, 1)})
    with pytest.raises(DataError, match=r"total: stats\.xml says"):
        fetch(f"{MILL}@r2.2")
    mill.publish(ud, {}, release="r2.5", splits=False, counts={"dev": TreebankCounts(9, 90, 90)})
    with pytest.raises(DataError, match=r"total: stats\.xml says 9 sentences, .*, got 0 sentences"):
        fetch(f"{MILL}@r2.5")


def test_a_part_that_nobody_knows_of_is_noticed_by_the_counts(ud):
    mill.publish(ud, parts("train-a", "train-x", "test"), release="r2.9")
    with pytest.raises(DataError, match=r"train: stats\.xml says .*got"):
        fetch(f"{MILL}@r2.9")


def test_files_with_names_that_nobody_knows_are_said(ud):
    mill.publish(ud, parts("train-x"), release="r2.9")
    with pytest.raises(
        DataError, match=r"has train data.*none of the files qmi_mill-ud-train\.conllu, .*train-a\.conllu exists"
    ):
        fetch(f"{MILL}@r2.9")


def test_a_renamed_treebank_is_found_under_each_of_its_names(ud):
    ud.table["UD_Millish-Mill"] = replace(mill.row(), other_names=("UD_Millish-Water",))
    mill.publish(ud, name="UD_Millish-Water")
    assert len(fetch()[0]) == 3
    mill.publish(ud, name="UD_Millish-Water", release="r2.9", prefix="qmi_water")
    assert fetch("ud:UD_Millish-Water@r2.9")[0][0].name == "qmi_water-ud-train.conllu"
