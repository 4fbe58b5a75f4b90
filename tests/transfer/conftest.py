import pytest

from tests.transfer.server import serving


@pytest.fixture
def server(monkeypatch):
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "SENTPROBE_OFFLINE",
    ):
        monkeypatch.delenv(name, raising=False)
    with serving() as found:
        yield found
