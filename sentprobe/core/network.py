"""The network: files that are downloaded, requests that are posted, and calls with a deadline.

A download is resumed where it was interrupted, limited in size, and from the named host only. A POST request goes to a
server that somebody else runs: what may pass is tried again, everything else is an error. An unencrypted connection
must be to this machine, unless that was allowed, and redirects of it are not followed: a key would go along, and texts
go to the address that was typed and to no other.
"""

from __future__ import annotations

import http.client
import ipaddress
import os
import random
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from sentprobe import __version__
from sentprobe.core.arguments import Progress
from sentprobe.errors import DataError, Offline, SentProbeError, UsageError

# Downloads


_CHUNK_BYTES = 1 << 16
_DOWNLOAD_RETRY_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_ABSENT = frozenset({404, 410})


def offline() -> bool:
    """Whether ``$SENTPROBE_OFFLINE`` forbids the network; only this and proxies are read from the environment."""
    return os.environ.get("SENTPROBE_OFFLINE", "") not in ("", "0")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient to be with a server."""

    timeout: float = 60.0
    """Seconds without data."""
    tries: int = 5
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)


class _TransientError(Exception):
    """The connection or the server failed in a way that may be temporary."""


class _UnknownHost(_TransientError):
    """There is no such host, or no network."""


class _DownloadRefused(Exception):
    """This address does not serve the file; another may."""

    def __init__(self, message: str, absent: bool = False) -> None:
        super().__init__(message)
        self.absent = absent


class NotOnServer(DataError):
    """The server has no such file."""


def download(
    urls: tuple[str, ...],
    path: Path,
    *,
    limit: int,
    has_checksum: bool,
    retries: RetryPolicy | None = None,
    progress: Progress | None = None,
) -> None:
    """Download a file from the first of these addresses that has it; an incomplete download is kept in a .part file.

    ``has_checksum`` says that a checksum will be compared, so that parts of two versions cannot be mixed unnoticed.
    """
    reasons: list[str] = []
    reached, absent = False, 0
    for url in urls:
        try:
            _Download(url, path, limit, has_checksum, retries or RetryPolicy(), progress).complete()
            return
        except _TransientError as error:
            reasons.append(f"{url}: {error}")
        except _DownloadRefused as error:
            reached = True
            absent += error.absent
            reasons.append(f"{url}: {error}")
    why = "; ".join(reasons)
    if absent == len(urls):
        raise NotOnServer(f"A file could not be downloaded: {why}.")
    if reached:
        raise DataError(f"A file could not be downloaded: {why}.")
    part = _part(path)
    resume_hint = (
        f" {part.stat().st_size:,} bytes are kept; run the same command to continue from there."
        if part.exists()
        else ""
    )
    raise Offline(f"A file could not be downloaded: {why}.{resume_hint}")


@dataclass(frozen=True, slots=True)
class _Download:
    """A file from one address: what is there is kept in a .part file, and the version that it is of in a .tag file."""

    url: str
    path: Path
    limit: int
    """In bytes."""
    has_checksum: bool
    retries: RetryPolicy
    progress: Progress | None

    def complete(self) -> None:
        """Request what is missing until the file is complete, or there is no point in trying again."""
        for attempt in range(self.retries.tries):
            try:
                self._request_missing()
                return
            except _TransientError as error:
                if attempt + 1 == self.retries.tries or isinstance(error, _UnknownHost):
                    raise
            self.retries.sleep(2.0**attempt * (0.5 + random.random() / 2))

    def _request_missing(self) -> None:
        """Request what is missing, write it, and rename the file when it is complete."""
        part, tag = _part(self.path), self.path.with_name(f"{self.path.name}.tag")
        have = part.stat().st_size if part.exists() else 0
        tagged_url, _, validator = tag.read_text("utf-8").partition("\n") if tag.exists() else ("", "", "")
        validator = validator if tagged_url == self.url else ""
        if not validator and not self.has_checksum:
            have = 0  # the remainder could be of another file, and nobody would notice
        request = _request(self.url, have, validator)
        try:
            with _opener(self.url).open(request, timeout=self.retries.timeout) as answer:
                total = self._total(answer, have)
                if answer.status != 206:
                    have = 0
                with _on_disk(tag):
                    tag.write_text(f"{self.url}\n{_validator(answer)}", "utf-8")
                got = self._write(answer, part, have, total)
        except urllib.error.HTTPError as error:
            with error:
                got = total = self._size_if_complete(error, part, have)
        except (OSError, http.client.HTTPException) as error:
            raise _network_error(error, self.retries.timeout) from None
        if total is not None and got != total:
            if got > total:
                part.unlink()
            raise _TransientError(f"the connection ended after {got:,} of {total:,} bytes")
        part.replace(self.path)
        tag.unlink(missing_ok=True)

    def _size_if_complete(self, error: urllib.error.HTTPError, part: Path, have: int) -> int:
        """The size of a file of which nothing is missing, which servers answer with an error; others are raised."""
        if error.code == 416 and have:
            if error.headers.get("Content-Range", "").endswith(f"/{have}"):
                return have
            part.unlink()
            raise _TransientError("the file on the server has changed") from None
        if error.code in _DOWNLOAD_RETRY_STATUSES:
            raise _TransientError(f"the server answered {error.code}") from None
        reason = " ".join(str(error.reason).split())[:200]
        raise _DownloadRefused(f"the server answered {error.code} ({reason})", error.code in _ABSENT) from None

    def _total(self, answer: Any, have: int) -> int | None:
        """The size of the complete file in bytes, if the server says so."""
        header = answer.headers.get("Content-Length", "")
        length = int(header) if re.fullmatch(r"\d{1,15}", header) else None
        if answer.status == 206:
            span = re.fullmatch(r"bytes (\d{1,15})-\d{1,15}/(\d{1,15}|\*)", answer.headers.get("Content-Range", ""))
            if not span or int(span[1]) != have:
                raise _TransientError("the server sent another part than the one requested")
            total = int(span[2]) if span[2] != "*" else None if length is None else have + length
        else:
            total = length
        if total is not None and total > self.limit:
            raise DataError(
                f"{self.url} has {total:,} bytes; expected at most {self.limit:,}. The file has changed, and was not "
                "downloaded."
            )
        return total

    def _write(self, answer: IO[bytes], part: Path, have: int, total: int | None) -> int:
        """Write what comes after the first ``have`` bytes; the total number of bytes."""
        with _on_disk(part):
            out = part.open("r+b" if have else "wb")
            out.seek(have)
        with out:
            while have <= self.limit and (chunk := answer.read(_CHUNK_BYTES)):
                have += len(chunk)
                with _on_disk(part):
                    out.write(chunk)
                if self.progress:
                    self.progress(urlsplit(self.url).path.rpartition("/")[2], have, total)
            with _on_disk(part):
                out.flush()
                os.fsync(out.fileno())
        if have > self.limit:
            part.unlink()
            raise DataError(
                f"{self.url} sends more than {self.limit:,} bytes; the file has changed, and the download was deleted."
            )
        return have


def _request(url: str, have: int, validator: str) -> urllib.request.Request:
    headers = {"User-Agent": f"sentprobe/{__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if validator:
            headers["If-Range"] = validator
    return urllib.request.Request(url, headers=headers)  # noqa: S310 - the opener knows http and https only


@contextmanager
def _on_disk(path: Path) -> Iterator[None]:
    """Report an error as one of the disk, not of the network."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}. Free some space or choose another folder."
        ) from None


def _validator(answer: Any) -> str:
    """What identifies this version of a file: a strong ETag, or otherwise the date."""
    etag = str(answer.headers.get("ETag", ""))
    return etag if etag.startswith('"') else str(answer.headers.get("Last-Modified", ""))


def _network_error(error: OSError | http.client.HTTPException, timeout: float) -> Exception:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return _TransientError(f"no answer within {timeout:g} seconds")
    if isinstance(reason, socket.gaierror):
        return _UnknownHost(f"unknown host ({reason.strerror})")
    if isinstance(reason, ssl.SSLCertVerificationError):
        return _DownloadRefused(f"its certificate is not valid ({reason.verify_message})")
    return _TransientError(f"{type(reason).__name__}: {reason}" if str(reason) else type(reason).__name__)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _opener(url: str) -> urllib.request.OpenerDirector:
    """An opener for HTTP and HTTPS, through the proxies of the environment, and for nothing else: no files, no FTP."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SameHost(url),
    ):
        opener.add_handler(handler)
    return opener


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows redirects within the named host only, and never from HTTPS back to HTTP."""

    def __init__(self, url: str) -> None:
        self.requested = urlsplit(url)

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        to = urlsplit(newurl)
        schemes = ("https",) if self.requested.scheme == "https" else ("http", "https")
        if to.scheme not in schemes or to.hostname != self.requested.hostname:
            raise _DownloadRefused(f"it redirects to {newurl[:200]}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


# POST requests


MAX_ATTEMPTS = 7
MAX_WAIT_SECONDS = 300.0
"""Longest wait between two attempts; if a server asks for more, it is an error."""
MAX_TIMEOUT_SECONDS = 86_400
RETRY_STATUSES = frozenset({429, 500, 502, 503, 504})

_RETRY_ERRORS = (
    ConnectionResetError,
    ConnectionAbortedError,
    BrokenPipeError,
    TimeoutError,
    http.client.IncompleteRead,
)


_GATE_SECONDS = 0.5
"""How long a request sleeps before it looks whether it is still needed."""


class Gate:
    """A pause that all requests to a server share: what one is told to wait, the others wait as well."""

    def __init__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep, self._lock, self._until = sleep, threading.Lock(), 0.0
        self.closed = False
        """Whether no request passes any more; those in flight may end."""

    def close(self) -> None:
        """Let no request pass, and none wait."""
        self.closed = True

    def hold(self, seconds: float) -> None:
        """Let no request pass for so long."""
        with self._lock:
            self._until = max(self._until, time.monotonic() + seconds)

    def wait(self) -> None:
        """Wait until requests may pass."""
        while not self.closed and (seconds := self._until - time.monotonic()) > 0:
            self._sleep(min(seconds, _GATE_SECONDS))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go, and how patient to be."""

    url: str
    address: str
    """What users have typed it as, for messages: ``OPENAI_BASE_URL``, or ``the address``."""
    error: type[SentProbeError]
    """What is raised if the server refuses, or is given up."""
    timeout: float = 60.0
    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
    gate: Gate | None = None
    """What requests in flight at the same time share."""

    def post(
        self,
        body: bytes,
        headers: Mapping[str, str],
        refusal: Callable[[urllib.error.HTTPError, bytes], str],
        max_bytes: int | None = None,
    ) -> bytes:
        """The server's response, after retries where these may help.

        ``refusal`` says in a sentence why the server refused, if another attempt may help; if not, it raises.
        """
        request = urllib.request.Request(self.url, body, dict(headers))  # noqa: S310 - the scheme was checked
        opener = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler(dict(self.proxies)))
        failure = f"{self.url} was not asked, since another request failed."
        for attempt in range(MAX_ATTEMPTS):
            wait = 2.0**attempt * (0.5 + self.jitter() / 2)
            if self.gate is not None:
                self.gate.wait()
                if self.gate.closed:
                    raise self.error(failure)
            try:
                with opener.open(request, timeout=self.timeout) as answer:
                    return self._read(answer, max_bytes)
            except urllib.error.HTTPError as error:
                with error:
                    failure = refusal(error, _content(error))
                patience = _retry_after(error.headers.get("Retry-After", ""))
                if patience > MAX_WAIT_SECONDS:
                    raise self.error(f"{failure} It asks to wait {patience:.0f} seconds; try again then.") from None
                wait = max(wait, patience)
            except (OSError, http.client.HTTPException) as error:
                failure = self._failure(error)
            if attempt + 1 == MAX_ATTEMPTS:
                break
            if self.gate is None:
                self.sleep(wait)
            else:
                self.gate.hold(wait)
        raise self.error(f"{failure} Given up after {MAX_ATTEMPTS} attempts.")

    def _read(self, answer: http.client.HTTPResponse, max_bytes: int | None) -> bytes:
        """The whole response; one that says how long it is, and is not, breaks off."""
        if max_bytes is None:
            return answer.read()
        if answer.length is None:
            body = answer.read(max_bytes + 1)
        else:
            body = answer.read() if answer.length <= max_bytes else b""
        if len(body) > max_bytes or (not body and answer.length):
            raise self.error(f"{self.url} answered with more than {max_bytes >> 20} MiB; expected less.")
        return body

    def _failure(self, error: OSError | http.client.HTTPException) -> str:
        """What failed on the way, if a retry may help; otherwise raise an error."""
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            return f"{self.url} did not answer within {self.timeout:g} seconds (timeout=)."
        if isinstance(reason, _RETRY_ERRORS):
            return f"{self.url} broke the connection."
        if isinstance(reason, ssl.SSLError | http.client.HTTPException):
            hint = f"Do the server and {self.address} agree on http or https?"
            raise self.error(f"{self.url} cannot be used: {type(reason).__name__}: {reason}. {hint}") from None
        hint = f"Is the server running, and {self.address} right?"
        raise Offline(f"{self.url} cannot be reached: {reason}. {hint}") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key would go along, and a POST would become a GET."""

    def redirect_request(self, *_: object) -> None:
        return None


def parse_address(typed: str, what: str, sent: str, insecure: bool) -> SplitResult:
    """Parse a base URL; UsageError unless ``sent``, such as *texts*, may be sent there. ``what`` users call it."""
    try:
        parts = urlsplit(typed)
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) and typed.isascii()
    except ValueError:
        good = False
    if not good or parts.username is not None or parts.query or parts.fragment or re.search(r"[\s\\]", typed):
        redacted = re.sub(r"//.*@|[?#].*", "…", typed)  # what is omitted may be a secret
        raise UsageError(f"{what} is {redacted!r}; expected http(s)://host[:port]/path, without a user name or key.")
    if parts.scheme == "http" and not insecure and not is_local(parts.hostname or ""):
        raise UsageError(
            f"{what} is {typed!r}: {sent} would be sent to another machine unencrypted. "
            "Use https://, or add ?insecure=1 if you trust the network."
        )
    return parts


def is_local(host: str) -> bool:
    """Whether a host is this machine, by its name alone: the result of a DNS lookup could change."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parse_timeout(value: str, typed: str) -> float:
    """A number of seconds; UsageError, which names what was typed, if it is none or too large."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value) and 0 < float(value) <= MAX_TIMEOUT_SECONDS:
        return float(value)
    raise UsageError(
        f"{typed} has timeout={value}; expected a number of seconds above 0, at most {MAX_TIMEOUT_SECONDS}."
    )


def _content(error: urllib.error.HTTPError) -> bytes:
    try:
        return error.read(1 << 16)
    except (OSError, http.client.HTTPException):
        return b""


def _retry_after(header: str) -> float:
    """The seconds that a Retry-After header asks for, as a number or a date; 0 if it is neither."""
    if re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?\s*", header):
        return float(header)
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0


# Deadlines


T = TypeVar("T")


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """The result of a call, or what it raised; TimeoutError if there is neither after this many seconds.

    Timeouts of sockets are not enough: they begin anew for every address of a host, and do not cover looking it up. A
    call that goes on after that does so in a thread that nobody waits for.

    >>> call_within(5, lambda: 42)
    42
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as e:
            errors.append(e)

    thread = threading.Thread(target=run, name="call with a deadline", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    return results[0]
