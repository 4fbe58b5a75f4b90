import pytest

from sentprobe.corpus.treebanks import catalogue
from tests.corpus.treebanks import mill


@pytest.fixture
def ud(server, tmp_path, monkeypatch):
    """The server of Universal Dependencies, with an empty cache, and a table that a test fills."""
    table = {"UD_Millish-Mill": mill.row()}
    monkeypatch.setenv("SENTPROBE_UD_URL", server.address)
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(catalogue, "treebanks", lambda: table)
    server.table = table
    return server
