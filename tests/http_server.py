"""An HTTP server on loopback that serves files, parts of files, and trouble."""

import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Page:
    """What is served under one path, and what goes wrong on the way."""

    content: bytes = b""
    etag: str = '"one"'
    ranges: bool = True
    cut: list[int] = field(default_factory=list)
    """After how many bytes of the answer to break off, request by request."""
    status: list[int] = field(default_factory=list)
    """What to answer instead, request by request."""
    to: str = ""
    """Where to redirect to."""
    length: bool = True
    claim: int | None = None
    """A length to claim that is not the true one."""


class Server:
    """Pages by path, and the requests that came."""

    def __init__(self, address):
        self.address = address
        self.pages: dict[str, Page] = {}
        self.asked: list[tuple[str, str | None]] = []
        """Path and Range header of every request."""

    def serve(self, path, content=b"", **trouble):
        self.pages[path] = Page(content, **trouble)
        return f"{self.address}{path}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def do_GET(self):
        server = self.server.pages_of
        path = self.path.partition("?")[0]
        wanted = self.headers.get("Range")
        server.asked.append((path, wanted))
        page = server.pages.get(path)
        if page is None:
            return self.send_error(404)
        if page.status:
            return self.send_error(page.status.pop(0))
        if page.to:
            self.send_response(302)
            self.send_header("Location", page.to)
            return self.end_headers()
        start, total = 0, len(page.content)
        same = self.headers.get("If-Range") in (None, page.etag)
        if wanted and page.ranges and same:
            start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
            if start >= total:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{total}")
                return self.end_headers()
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
        else:
            self.send_response(200)
        if page.etag:
            self.send_header("ETag", page.etag)
        if page.length:
            self.send_header("Content-Length", str(total - start if page.claim is None else page.claim))
        self.end_headers()
        end = start + page.cut.pop(0) if page.cut else total
        return self.wfile.write(page.content[start:end])

    def log_message(self, *_):
        pass


@contextmanager
def serving():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.pages_of = Server(f"http://127.0.0.1:{http.server_address[1]}")
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield http.pages_of
        finally:
            http.shutdown()
            thread.join()
