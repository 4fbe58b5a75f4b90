"""Downloads from a server on loopback that breaks off, lies and points elsewhere."""

import hashlib
import socket

import pytest

from sentprobe.core.hashing import git_blob, sha256
from sentprobe.core.network import NotOnServer, RetryPolicy, download, offline
from sentprobe.errors import DataError, Offline

CONTENT = bytes(range(256)) * 1000


def fetch(path, *urls, limit=1_000_000, has_checksum=True, tries=3, progress=None):
    waits = []
    download(
        urls,
        path,
        limit=limit,
        has_checksum=has_checksum,
        retries=RetryPolicy(timeout=10, tries=tries, sleep=waits.append),
        progress=progress,
    )
    return waits


def test_a_file_is_fetched_and_nothing_else_is_left(server, tmp_path):
    told = []
    url = server.serve("/file.zip", CONTENT)
    assert fetch(tmp_path / "file", url, progress=lambda *said: told.append(said)) == []
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert told[-1] == ("file.zip", len(CONTENT), len(CONTENT))
    assert sha256(tmp_path / "file") == hashlib.sha256(CONTENT).hexdigest()


def test_a_broken_download_goes_on_where_it_stopped(server, tmp_path):
    url = server.serve("/file", CONTENT, cut=[100_000, 50_000])
    waits = fetch(tmp_path / "file", url)
    assert server.asked == [("/file", None), ("/file", "bytes=100000-"), ("/file", "bytes=150000-")]
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert len(waits) == 2
    assert 0 < waits[0] < waits[1] * 2


def test_what_came_is_kept_and_a_later_command_goes_on(server, tmp_path):
    url = server.serve("/file", CONTENT, cut=[100_000])
    with pytest.raises(
        Offline, match=r"ended after 100,000 of 256,000 bytes.*100,000 bytes are kept; run the same command"
    ):
        fetch(tmp_path / "file", url, tries=1)
    assert (tmp_path / "file.part").read_bytes() == CONTENT[:100_000]
    fetch(tmp_path / "file", url)
    assert server.asked[-1] == ("/file", "bytes=100000-")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_git_has_the_same_checksum(tmp_path):
    (tmp_path / "file").write_bytes(b"a mill\n")
    # printf 'a mill\n' | git hash-object --stdin, git 2.39.5
    assert git_blob(tmp_path / "file") == "a13e1273200f4ad525313d61f8dc14ff6402807a"


def test_a_server_that_has_no_such_file_is_told_from_one_that_fails(server, tmp_path):
    with pytest.raises(NotOnServer, match="404"):
        fetch(tmp_path / "file", f"{server.address}/gone", f"{server.address}/lost")
    with pytest.raises(DataError, match="403") as refused:
        fetch(tmp_path / "file", f"{server.address}/gone", server.serve("/file", status=[403]))
    assert not isinstance(refused.value, NotOnServer)


def test_a_server_without_ranges_starts_again(server, tmp_path):
    url = server.serve("/file", CONTENT, ranges=False)
    (tmp_path / "file.part").write_bytes(b"x" * 10)
    fetch(tmp_path / "file", url)
    assert server.asked == [("/file", "bytes=10-")]
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_server_that_tells_no_length_is_read_to_its_end(server, tmp_path):
    fetch(tmp_path / "file", server.serve("/file", CONTENT, length=False))
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_parts_of_two_versions_are_not_mixed(server, tmp_path):
    url = server.serve("/file", CONTENT, cut=[1000])
    with pytest.raises(Offline):
        fetch(tmp_path / "file", url, tries=1, has_checksum=False)
    server.serve("/file", CONTENT[::-1], etag='"two"')
    fetch(tmp_path / "file", url, has_checksum=False)
    assert (tmp_path / "file").read_bytes() == CONTENT[::-1]


def test_without_a_checksum_and_a_tag_nothing_is_resumed(server, tmp_path):
    url = server.serve("/file", CONTENT, etag="", cut=[1000])
    fetch(tmp_path / "file", url, has_checksum=False)
    assert [wanted for _, wanted in server.asked] == [None, None]
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_part_that_is_whole_already_is_taken(server, tmp_path):
    url = server.serve("/file", CONTENT)
    (tmp_path / "file.part").write_bytes(CONTENT)
    fetch(tmp_path / "file", url)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_thrown_away(server, tmp_path):
    url = server.serve("/file", CONTENT)
    (tmp_path / "file.part").write_bytes(CONTENT + b"more")
    fetch(tmp_path / "file", url)
    assert server.asked == [("/file", f"bytes={len(CONTENT) + 4}-"), ("/file", None)]
    assert (tmp_path / "file").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("trouble", "message"),
    [({}, r"has 256,000 bytes; expected at most 999"), ({"length": False}, r"sends more than 999 bytes")],
)
def test_a_file_that_is_too_large_is_refused_whether_it_says_so_or_not(server, tmp_path, trouble, message):
    url = server.serve("/file", CONTENT, **trouble)
    with pytest.raises(DataError, match=message):
        fetch(tmp_path / "file", url, limit=999)
    assert not (tmp_path / "file").exists()
    assert not (tmp_path / "file.part").exists()


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_server_in_trouble_is_asked_again(server, tmp_path, status):
    url = server.serve("/file", CONTENT, status=[status, status])
    assert len(fetch(tmp_path / "file", url)) == 2
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_file_that_is_gone_is_not_asked_for_again_and_the_next_address_is_tried(server, tmp_path):
    gone, there = f"{server.address}/gone", server.serve("/file", CONTENT)
    assert fetch(tmp_path / "file", gone, there) == []
    assert [path for path, _ in server.asked] == ["/gone", "/file"]
    with pytest.raises(DataError, match=r"A file could not be downloaded: .*/gone: the server answered 404"):
        fetch(tmp_path / "other", gone)


@pytest.mark.parametrize(
    "to",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "http://localhost/x",
        "http://example.org/x",
        "//example.org/x",
        "data:,x",
    ],
)
def test_redirects_to_files_and_other_hosts_are_not_followed(server, tmp_path, to):
    url = server.serve("/file", to=to)
    with pytest.raises(DataError, match=r"could not be downloaded: .*(not followed|not allowed)"):
        fetch(tmp_path / "file", url)
    assert list(tmp_path.iterdir()) == []
    assert len(server.asked) == 1


def test_redirects_within_a_host_are_followed(server, tmp_path):
    server.serve("/new/file", CONTENT)
    fetch(tmp_path / "file", server.serve("/file", to="/new/file"))
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_redirect_loop_ends(server, tmp_path):
    with pytest.raises(DataError, match="the server answered 302"):
        fetch(tmp_path / "file", server.serve("/file", to="/file"))


def test_a_length_that_is_not_kept_is_noticed(server, tmp_path):
    url = server.serve("/file", CONTENT, claim=300_000, ranges=False)
    with pytest.raises(Offline, match=r"ended after 256,000 of 300,000 bytes"):
        fetch(tmp_path / "file", url)
    assert not (tmp_path / "file").exists()


def test_no_server_at_all_is_said(tmp_path):
    with pytest.raises(Offline, match=r"A file could not be downloaded: http://127\.0\.0\.1:1/file: "):
        fetch(tmp_path / "file", "http://127.0.0.1:1/file")


def test_a_host_that_is_not_known_is_not_asked_for_again(server, tmp_path, monkeypatch):
    asked = []

    def unknown(host, *_, **__):
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Offline, match=r"unknown host \(no such name\)"):
        fetch(tmp_path / "file", "http://data.invalid/file")
    assert asked == ["data.invalid"]


def test_a_proxy_of_the_environment_is_asked(server, tmp_path, monkeypatch):
    server.serve("http://data.invalid/file", CONTENT)  # the path, as a proxy is told it
    monkeypatch.setenv("http_proxy", server.address)
    fetch(tmp_path / "file", "http://data.invalid/file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_full_disk_is_not_taken_for_the_network(server, tmp_path):
    url = server.serve("/file", CONTENT)
    (tmp_path / "file.part").mkdir()
    with pytest.raises(DataError, match=r"file\.part cannot be written: Is a directory"):
        fetch(tmp_path / "file", url)


def test_the_environment_may_forbid_the_network(monkeypatch):
    for value, expected in (("", False), ("0", False), ("1", True), ("yes", True)):
        monkeypatch.setenv("SENTPROBE_OFFLINE", value)
        assert offline() is expected
    monkeypatch.delenv("SENTPROBE_OFFLINE")
    assert offline() is False
