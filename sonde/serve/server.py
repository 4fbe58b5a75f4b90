"""HTTP on this machine only: the page, its state, and readings. Nothing can be written through it.

    GET /         the page
    GET /status   how far the run is, and what can be read
    POST /read    sentences → readings

Whoever asks must name this machine as the host, or a foreign page could ask through a name of its own that it lets
point here. What is sent must be JSON and come from this page, which a foreign page cannot have a browser send.
"""

from __future__ import annotations

import os
import socketserver
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import msgspec

from sonde.core.arguments import StringsOrPaths
from sonde.errors import SondeError, UsageError, describe_error
from sonde.serve.site import Site

HOST = "127.0.0.1"
"""Not to be changed: there is no password, and encoders take all the time of a machine."""
MAX_BODY_BYTES = 1 << 19
"""Bytes of a request: 20 sentences of 2,000 characters of 12 bytes each, as JSON may write them."""
TIMEOUT_SECONDS = 30.0
"""Seconds to wait for the rest of a request."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""What browsers are told with every answer; the page has a policy of its own besides."""


class Server(ThreadingHTTPServer):
    """A run at an address of this machine; ``port`` 0 takes any that is free. ``named``: see ``Encoders``."""

    request_queue_size = 1024  # connections that wait to be taken up; of the usual five, a crowd would be turned away
    allow_reuse_address = os.name == "posix"  # elsewhere, two servers would share the port

    def __init__(self, folder: Path | str, port: int = 0, trusted: StringsOrPaths = ()) -> None:
        if not 0 <= port < 1 << 16:
            raise UsageError(f"The port is {port}; expected a number from 1 to 65535, or 0 for any that is free.")
        self.site = Site(Path(folder), trusted)
        self.site.state()  # what is no run is told now
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as e:
            raise UsageError(
                f"Port {port} cannot be used: {e.strerror}. Name another one, or 0 for any that is free."
            ) from e

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"http://{HOST}:{self.server_port}/"

    def server_bind(self) -> None:
        """Take the port, and do not ask the network what this machine is called."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Let a browser go that has gone."""


class _Refused(Exception):
    """A request that is not answered, and why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server_version, sys_version = "sonde", ""
    timeout = TIMEOUT_SECONDS

    @property
    def site(self) -> Site:
        return cast(Server, self.server).site

    def do_GET(self) -> None:
        paths: dict[str, Callable[[], tuple[str, bytes]]] = {
            "/": lambda: ("text/html; charset=utf-8", self.site.page()),
            "/status": lambda: ("application/json", msgspec.json.encode(self.site.status())),
        }
        self._answer(paths)

    def do_POST(self) -> None:
        self._answer({"/read": lambda: ("application/json", msgspec.json.encode(self.site.predict(self._body())))})

    def _answer(self, paths: dict[str, Callable[[], tuple[str, bytes]]]) -> None:
        try:
            self._check_host()
            if self.path not in paths:
                raise _Refused(HTTPStatus.NOT_FOUND, "There is GET /, GET /status and POST /read, and nothing else.")
            kind, content = paths[self.path]()
        except _Refused as e:
            self._drain()
            self._send_message(e.status, str(e))
        except UsageError as e:
            self._send_message(HTTPStatus.BAD_REQUEST, str(e))
        except SondeError as e:
            self._send_message(HTTPStatus.INTERNAL_SERVER_ERROR, str(e))
        except (ConnectionError, TimeoutError):
            raise
        except BaseException as e:  # sys.exit in an encoder's own thread would leave the question without an answer
            self._send_message(HTTPStatus.INTERNAL_SERVER_ERROR, f"This is a fault of sonde: {describe_error(e)}")
        else:
            self._send(HTTPStatus.OK, kind, content)

    def _check_host(self) -> None:
        port = cast(Server, self.server).server_port
        ends = (f":{port}", "") if port == 80 else (f":{port}",)  # browsers leave out the usual port, and no other
        ours = {name + end for name in (HOST, "localhost") for end in ends}
        given = self.headers.get_all("Host") or []
        if len(given) != 1 or given[0].strip().lower() not in ours:
            raise _Refused(HTTPStatus.FORBIDDEN, f"This server is asked as {HOST}:{port} only.")
        origins = {f"http://{name}" for name in ours}
        if any(origin.strip().lower() not in origins for origin in self.headers.get_all("Origin") or []):
            raise _Refused(HTTPStatus.FORBIDDEN, "This server answers its own page only.")

    def _body(self) -> bytes:
        if self.headers.get_content_type() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Expected the content type application/json.")
        length = self._length()
        if length is None:
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "Expected a Content-Length and the whole content at once.")
        if length > MAX_BODY_BYTES:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A request may have {MAX_BODY_BYTES:,} bytes at most.")
        return self.rfile.read(length)

    def _length(self) -> int | None:
        """The bytes that follow, if the request says so."""
        given = self.headers.get("Content-Length", "")
        plain = "Transfer-Encoding" not in self.headers and given.isascii() and given.isdecimal()
        return int(given[:12]) if plain else None

    def _drain(self) -> None:
        """Read some of what is refused: a browser that is still sending would not see the answer."""
        left = min(self._length() or 0, 8 * MAX_BODY_BYTES)
        while left > 0 and (met := self.rfile.read(min(left, 1 << 16))):
            left -= len(met)

    def _send_message(self, status: HTTPStatus, why: str) -> None:
        said = why.encode(errors="backslashreplace").decode()
        self._send(status, "application/json", msgspec.json.encode({"error": said}))

    def _send(self, status: HTTPStatus | int, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """What the standard library refuses, in the same form."""
        self._send(code, "application/json", msgspec.json.encode({"error": message or HTTPStatus(code).phrase}))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the page tells what goes wrong."""
