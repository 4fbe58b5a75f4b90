"""Archives, sound and evil."""

import io
import stat
import tarfile
import zipfile
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentprobe.errors import DataError
from sentprobe.transfer.archive import unpack

WANTED = {"d/a.txt": "first", "d/b.txt": "sub/second"}
MEMBERS = {"d/a.txt": b"one\n", "d/b.txt": b"two\n", "__MACOSX/x": b"no", "d/Icon\r": b""}


def zipped(path, members, **attributes):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = attributes.get("mode", stat.S_IFREG | 0o644) << 16 if name == "d/a.txt" else 0
            out.writestr(info, content, zipfile.ZIP_DEFLATED)
    return path


def tarred(path, members, **attributes):
    with tarfile.open(path, "w:gz") as out:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if name == "d/a.txt":
                info.type = attributes.get("type", tarfile.REGTYPE)
                info.linkname = attributes.get("linkname", "")
                info.size = 0 if info.type != tarfile.REGTYPE else info.size
            out.addfile(info, io.BytesIO(content))
    return path


PACKERS = pytest.mark.parametrize("packed", [zipped, tarred])


@PACKERS
def test_what_is_wanted_is_taken_under_our_names_and_nothing_else(tmp_path, packed):
    archive = packed(tmp_path / "x", MEMBERS)
    unpack(archive, WANTED, tmp_path / "out", 1000)
    found = {str(p.relative_to(tmp_path / "out")): p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert found == {"first": b"one\n", "sub/second": b"two\n"}


@PACKERS
@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "d/../../x", "..\\x", "C:\\x", "\\x"])
def test_an_archive_with_a_name_that_leads_out_of_it_is_refused(tmp_path, packed, name):
    archive = packed(tmp_path / "x", {**MEMBERS, name: b"evil"})
    with pytest.raises(DataError, match="which leads outside the folder; nothing is unpacked"):
        unpack(archive, WANTED, tmp_path / "out", 1000)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFCHR | 0o600, stat.S_IFIFO | 0o600, stat.S_IFDIR])
def test_links_and_devices_in_a_zip_are_refused(tmp_path, mode):
    archive = zipped(tmp_path / "x", MEMBERS, mode=mode)
    with pytest.raises(DataError, match=r"d/a\.txt is not a regular file"):
        unpack(archive, WANTED, tmp_path / "out", 1000)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_links_and_devices_in_a_tar_are_refused(tmp_path, kind):
    archive = tarred(tmp_path / "x", MEMBERS, type=kind, linkname="/etc/passwd")
    with pytest.raises(DataError, match=r"d/a\.txt is not a regular file"):
        unpack(archive, WANTED, tmp_path / "out", 1000)


@PACKERS
def test_an_archive_that_grows_is_stopped(tmp_path, packed):
    archive = packed(tmp_path / "x", {**MEMBERS, "d/a.txt": bytes(10_000_000)})
    assert archive.stat().st_size < 50_000
    with pytest.raises(DataError, match="unpacks to more than"):
        unpack(archive, WANTED, tmp_path / "out", 1_000_000)
    assert sum(path.stat().st_size for path in (tmp_path / "out").rglob("*")) <= 1_000_000


def test_a_tar_whose_other_members_grow_is_stopped(tmp_path):
    archive = tarred(tmp_path / "x", {**MEMBERS, "other": bytes(10_000_000)})
    with pytest.raises(DataError, match="unpacks to more than 1,000,000 bytes"):
        unpack(archive, WANTED, tmp_path / "out", 1_000_000)


def test_a_zip_that_lies_about_its_sizes_is_stopped(tmp_path):
    archive = zipped(tmp_path / "x", {**MEMBERS, "d/a.txt": bytes(5_000_000)})
    content = archive.read_bytes().replace((5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    archive.write_bytes(content)
    with pytest.raises(DataError):
        unpack(archive, WANTED, tmp_path / "out", 1_000_000)


@PACKERS
def test_a_member_that_is_missing_is_named_with_what_is_there(tmp_path, packed):
    archive = packed(tmp_path / "x", {"e/a.txt": b""})
    with pytest.raises(DataError, match=r"lacks 'd/a\.txt'; it has 'e/a\.txt'"):
        unpack(archive, WANTED, tmp_path / "out", 1000)


def test_a_member_that_is_there_twice_is_refused(tmp_path):
    with tarfile.open(tmp_path / "x", "w") as out:
        for name in ("d/a.txt", "d/b.txt", "d/a.txt"):
            out.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(DataError, match=r"has 'd/a\.txt' twice"):
        unpack(tmp_path / "x", WANTED, tmp_path / "out", 1000)


@PACKERS
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.data())
def test_damaged_archives_raise_nothing_but_a_data_error(tmp_path, packed, data):
    content = bytearray(packed(tmp_path / "x", MEMBERS).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (tmp_path / "x").write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with suppress(DataError):
        unpack(tmp_path / "x", WANTED, tmp_path / "out", 1000)
        assert (tmp_path / "out/first").is_file()
