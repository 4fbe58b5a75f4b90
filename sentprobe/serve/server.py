"""HTTP on this machine only: a page, its state, and answers. Nothing can be written through it.

    GET /             the page
    GET /status       of a run: its progress, and which probes there are
    POST /read        of a run: sentences → predictions

Other types of folders have paths of their own (``FolderType.site``).

Requests must name this machine as the host, or another site could get in by DNS rebinding. What is sent must be JSON
and come from this page, which another site cannot make a browser send.
"""

from __future__ import annotations

import os
import socketserver
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import msgspec

from sentprobe.core.arguments import StringsOrPaths
from sentprobe.core.folders import folder_type_of
from sentprobe.errors import SentProbeError, UsageError, describe_error
from sentprobe.serve.site import Content, Routes, Served, Site

HOST = "127.0.0.1"
"""Do not change: there is no password, and encoders take all of a machine's time."""
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
"""Sent with every response; the page has a policy of its own as well."""


class Server(ThreadingHTTPServer):
    """Serves a run, or a folder of another type, on this machine; with ``port`` 0, on any free port.

    ``trusted``: see ``Encoders``. ``report`` gets lines about what is computed in the background.
    """

    request_queue_size = 1024  # waiting connections; with the usual five, many at once would be refused
    allow_reuse_address = os.name == "posix"  # elsewhere, two servers would share the port

    def __init__(
        self,
        folder: Path | str,
        port: int = 0,
        trusted: StringsOrPaths = (),
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        if not 0 <= port < 1 << 16:
            raise UsageError(f"The port is {port}; expected 1 to 65535, or 0 for any free one.")
        self.site = _site(Path(folder), trusted, report)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as e:
            raise UsageError(
                f"Port {port} cannot be used: {e.strerror}. Choose another one, or 0 for any free one."
            ) from e

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"http://{HOST}:{self.server_port}/"

    def server_bind(self) -> None:
        """Bind the port, without a DNS lookup of the name of this machine."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that have disconnected."""


def _site(folder: Path, trusted: StringsOrPaths, report: Callable[[str], None]) -> Served:
    folder_type = folder_type_of(folder)
    if folder_type is None or folder_type.site is None:
        run = Site(folder, trusted)
        run.state()  # fails now if this is not a run
        return run
    if trusted:
        raise UsageError(f"{folder} is {folder_type.title}, which has no encoders; leave out --trust.")
    return cast(Served, folder_type.site(folder, report))


class _Refused(Exception):
    """A refused request, and why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server_version, sys_version = "sentprobe", ""
    timeout = TIMEOUT_SECONDS

    @property
    def routes(self) -> Routes:
        return cast(Server, self.server).site.routes

    def do_GET(self) -> None:
        self._answer(self.routes.get)

    def do_POST(self) -> None:
        self._answer({path: partial(self._post, answer) for path, answer in self.routes.post.items()})

    def _post(self, answer: Callable[[bytes], Content]) -> Content:
        return answer(self._body())

    def _answer(self, paths: Mapping[str, Callable[[], Content]]) -> None:
        try:
            self._check_host()
            if self.path not in paths:
                raise _Refused(HTTPStatus.NOT_FOUND, f"Expected {self.routes}.")
            kind, content = paths[self.path]()
        except _Refused as e:
            self._drain()
            self._send_message(e.status, str(e))
        except UsageError as e:
            self._send_message(HTTPStatus.BAD_REQUEST, str(e))
        except SentProbeError as e:
            self._send_message(HTTPStatus.INTERNAL_SERVER_ERROR, str(e))
        except (ConnectionError, TimeoutError):
            raise
        except BaseException as e:  # sys.exit in an encoder would leave the request without a response
            self._send_message(HTTPStatus.INTERNAL_SERVER_ERROR, f"Internal error: {describe_error(e)}")
        else:
            self._send(HTTPStatus.OK, kind, content)

    def _check_host(self) -> None:
        port = cast(Server, self.server).server_port
        ends = (f":{port}", "") if port == 80 else (f":{port}",)  # browsers leave out the default port
        ours = {name + end for name in (HOST, "localhost") for end in ends}
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0].strip().lower() not in ours:
            raise _Refused(HTTPStatus.FORBIDDEN, f"Expected the host {HOST}:{port}.")
        origins = {f"http://{name}" for name in ours}
        if any(origin.strip().lower() not in origins for origin in self.headers.get_all("Origin") or []):
            raise _Refused(HTTPStatus.FORBIDDEN, "This server accepts requests from its own page only.")

    def _body(self) -> bytes:
        if self.headers.get_content_type() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Expected the content type application/json.")
        length = self._length()
        if length is None:
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "Expected a Content-Length, and the content in one piece.")
        if length > MAX_BODY_BYTES:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A request may have {MAX_BODY_BYTES:,} bytes at most.")
        return self.rfile.read(length)

    def _length(self) -> int | None:
        """The length of the body, if the request has it."""
        length = self.headers.get("Content-Length", "")
        plain = "Transfer-Encoding" not in self.headers and length.isascii() and length.isdecimal()
        return int(length[:12]) if plain else None

    def _drain(self) -> None:
        """Read some of a refused body: a browser that is still sending would not see the response."""
        remaining = min(self._length() or 0, 8 * MAX_BODY_BYTES)
        while remaining > 0 and (chunk := self.rfile.read(min(remaining, 1 << 16))):
            remaining -= len(chunk)

    def _send_message(self, status: HTTPStatus, why: str) -> None:
        text = why.encode(errors="backslashreplace").decode()
        self._send(status, "application/json", msgspec.json.encode({"error": text}))

    def _send(self, status: HTTPStatus | int, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Errors of the standard library, in the same format."""
        self._send(code, "application/json", msgspec.json.encode({"error": message or HTTPStatus(code).phrase}))

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the page shows errors."""
