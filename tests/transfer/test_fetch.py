"""Sets from a server on loopback into SentEval's folders."""

import hashlib
import io
import tarfile
import zipfile

import pytest

from sentprobe.core.network import RetryPolicy
from sentprobe.data.layouts import read_layout
from sentprobe.errors import CorpusError, DataError, Offline, UsageError
from sentprobe.transfer import remote_sets as table
from sentprobe.transfer.remote_sets import RESHAPE_STEPS, RemoteFile, RemoteSet, fetch_sets, is_downloaded

LINE = RetryPolicy(timeout=10, tries=2, sleep=lambda seconds: None)
POS, NEG = b"a fine film .\n", b"a dull film .\n"


def archive(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, content in members.items():
            made.writestr(name, content)
    return out.getvalue()


ZIP = archive({"data/mr/pos": POS, "data/mr/neg": NEG, "data/cr/pos": POS, "data/cr/neg": NEG, "data/readme": b"words"})
SUM = hashlib.sha256(ZIP).hexdigest()


def movies(server, sha256=SUM, **trouble):
    url = server.serve("/all.zip", ZIP, **trouble)
    members = {"data/mr/pos": "rt-polarity.pos", "data/mr/neg": "rt-polarity.neg"}
    file = RemoteFile((url,), 100_000, sha256, unpacked=10_000, members=members)
    return RemoteSet("MR", ("MR",), "downstream/MR", "A licence.", "http://page.invalid/", (file,))


def products(server, sha256=SUM):
    members = {"data/cr/pos": "custrev.pos", "data/cr/neg": "custrev.neg"}
    file = RemoteFile((f"{server.address}/all.zip",), 100_000, sha256, unpacked=10_000, members=members)
    return RemoteSet("CR", ("CR",), "downstream/CR", "A licence.", "http://page.invalid/", (file,))


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_sets_are_fetched_into_sentevals_folders_and_an_archive_once(server, tmp_path):
    assert fetch_sets([movies(server), products(server)], tmp_path, retries=LINE) == {}
    assert files(tmp_path) == [
        "downstream/CR/custrev.neg", "downstream/CR/custrev.pos",
        "downstream/MR/rt-polarity.neg", "downstream/MR/rt-polarity.pos",
    ]  # fmt: skip
    assert len(server.asked) == 1
    assert not (tmp_path / ".downloads").exists()
    assert len(read_layout("MR", tmp_path / "downstream/MR")) == 2


def test_what_is_there_is_not_fetched_again(server, tmp_path):
    place = movies(server)
    fetch_sets([place], tmp_path, retries=LINE)
    assert is_downloaded(place, tmp_path)
    fetch_sets([place], tmp_path, retries=LINE, no_network=True)
    assert len(server.asked) == 1


def test_a_wrong_checksum_is_an_error_and_the_file_is_thrown_away(server, tmp_path):
    with pytest.raises(DataError, match=rf"all\.zip has changed: expected SHA-256 {'0' * 64}, got {SUM}"):
        fetch_sets([movies(server, "0" * 64)], tmp_path, retries=LINE)
    assert files(tmp_path) == []


def test_a_file_without_a_known_checksum_needs_trust_and_is_not_fetched_twice(server, tmp_path):
    place = movies(server, "")
    with pytest.raises(DataError, match=rf"no checksum is known for it\. Its SHA-256 is {SUM}\. .*--trust"):
        fetch_sets([place], tmp_path, retries=LINE)
    assert not (tmp_path / "downstream").exists()
    assert fetch_sets([place], tmp_path, trust=True, retries=LINE) == {place.files[0].urls[0]: SUM}
    assert is_downloaded(place, tmp_path)
    assert len(server.asked) == 1


def test_a_download_that_breaks_off_is_gone_on_with(server, tmp_path):
    place = movies(server, cut=[100, 50])
    with pytest.raises(Offline, match="are kept; run the same command to continue from there"):
        fetch_sets([place], tmp_path, retries=RetryPolicy(timeout=10, tries=1, sleep=lambda seconds: None))
    fetch_sets([place], tmp_path, retries=LINE)
    assert [wanted for _, wanted in server.asked] == [None, "bytes=100-", "bytes=150-"]
    assert is_downloaded(place, tmp_path)


def test_offline_fails_fast_and_asks_nobody(server, tmp_path, monkeypatch):
    with pytest.raises(Offline, match=r"MR is not in .*: --offline was given"):
        fetch_sets([movies(server)], tmp_path, no_network=True)
    monkeypatch.setenv("SENTPROBE_OFFLINE", "1")
    with pytest.raises(Offline, match=r"MR is not in .*: SENTPROBE_OFFLINE is set"):
        fetch_sets([movies(server)], tmp_path)
    assert server.asked == []
    assert files(tmp_path) == []


def test_an_archive_without_the_wanted_members_leaves_no_set(server, tmp_path):
    place = movies(server)
    evil = archive({"data/mr/pos": POS, "../../evil": b"x"})
    server.serve("/all.zip", evil)
    file = RemoteFile(place.files[0].urls, 100_000, hashlib.sha256(evil).hexdigest(), unpacked=9999, members={"x": "y"})
    with pytest.raises(DataError, match="leads outside the folder"):
        fetch_sets([RemoteSet("MR", ("MR",), "downstream/MR", "", "", (file,))], tmp_path, retries=LINE)
    assert not (tmp_path / "downstream").exists()
    assert not (tmp_path.parent / "evil").exists()
    assert [path.is_file() for path in (tmp_path / ".downloads").iterdir()] == [True]  # the archive alone is kept


def test_a_set_that_is_there_in_part_is_completed(server, tmp_path):
    (tmp_path / "downstream/MR").mkdir(parents=True)
    (tmp_path / "downstream/MR/rt-polarity.pos").write_bytes(b"another\n")
    (tmp_path / "downstream/MR/notes").write_bytes(b"mine\n")
    fetch_sets([movies(server)], tmp_path, retries=LINE)
    assert (tmp_path / "downstream/MR/rt-polarity.pos").read_bytes() == POS
    assert (tmp_path / "downstream/MR/notes").read_bytes() == b"mine\n"


def test_plain_files_and_tar_files_are_taken_too(server, tmp_path):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as out:
        for name in ("train", "dev", "test"):
            content = b"g\tf\ty\t1\t2.5\ta .\tb .\n"
            info = tarfile.TarInfo(f"sts/sts-{name}.csv")
            info.size = len(content)
            out.addfile(info, io.BytesIO(content))
    members = {f"sts/sts-{name}.csv": f"sts-{name}.csv" for name in ("train", "dev", "test")}
    packed_file = RemoteFile((server.serve("/s.tgz", packed.getvalue()),), 9999, unpacked=9999, members=members)
    plain = [
        RemoteFile(
            (server.serve(f"/{name}", f"NUM:date 'When' `was` it , {name} ?\n".encode()),), 9999, to=name, step="trec"
        )
        for name in ("train_5500.label", "TREC_10.label")
    ]
    wanted = [
        RemoteSet("STSB", ("STSBenchmark",), "downstream/STS/STSBenchmark", "", "", (packed_file,)),
        RemoteSet("TREC", ("TREC",), "downstream/TREC", "", "", tuple(plain)),
    ]
    assert len(fetch_sets(wanted, tmp_path, trust=True, retries=LINE)) == 3
    assert len(read_layout("STSBenchmark", tmp_path / "downstream/STS/STSBenchmark")) == 3
    (row,) = read_layout("TREC", tmp_path / "downstream/TREC").rows["te"]
    assert row.text == "When was it , TREC_10.label ?"


def test_a_set_that_must_be_fetched_by_hand_says_how(tmp_path):
    with pytest.raises(UsageError, match=r"MRPC must be downloaded by hand: Download MSRParaphraseCorpus\.msi"):
        fetch_sets([table.remote_sets()["MRPC"]], tmp_path)


def test_a_folder_that_cannot_be_written_is_said(server, tmp_path):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(DataError, match=r"cannot be created"):
        fetch_sets([movies(server)], tmp_path / "file", retries=LINE)


# how files are brought into SentEval's form


def test_snli_becomes_three_files_for_each_part_without_pairs_that_have_no_label(tmp_path):
    header = "gold_label\tsentence1_parse\tsentence1\tsentence2\tlabel1\n"
    for part in ("train", "dev", "test"):
        text = f"neutral\t( )\tA {part} .\tB .\tneutral\n-\t( )\tC .\tD .\nentailment\t( )\tE .\tF é .\n"
        (tmp_path / f"snli_1.0_{part}.txt").write_text(header + text, "utf-8")
    RESHAPE_STEPS["snli"](tmp_path)
    assert len(files(tmp_path)) == 9
    found = read_layout("SNLI", tmp_path)
    assert [(row.label, row.text, row.extra[0][1]) for row in found.rows["va"]] == [
        ("neutral", "A dev .", "B ."), ("entailment", "E .", "F é .")
    ]  # fmt: skip


def test_sick_becomes_the_three_files_of_semeval(tmp_path):
    header = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tSemEval_set\n"
    rows = [
        f"{i}\tA {i}\tB\tNEUTRAL\t3.{i}\tx\t{part}\r\n" for i, part in enumerate(("TRAIN", "TEST", "TRIAL", "TRAIN"))
    ]
    (tmp_path / "SICK.txt").write_text(header + "".join(rows), "utf-8", newline="")
    RESHAPE_STEPS["sick"](tmp_path)
    found = read_layout("SICKRelatedness", tmp_path)
    assert [(split, row.label, row.text) for split, row in found] == [
        ("tr", "3.0", "A 0"), ("tr", "3.3", "A 3"), ("va", "3.2", "A 2"), ("te", "3.1", "A 1")
    ]  # fmt: skip
    assert read_layout("SICKEntailment", tmp_path).labels == ("NEUTRAL",)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a\tb\n", r"SICK\.txt:1: got no column 'pair_ID'"), ("", r"SICK\.txt:1: got no column 'pair_ID'")],
)
def test_a_release_with_other_columns_is_said(tmp_path, text, message):
    (tmp_path / "SICK.txt").write_text(text, "utf-8")
    with pytest.raises(CorpusError, match=message):
        RESHAPE_STEPS["sick"](tmp_path)
