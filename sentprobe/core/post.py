"""POST requests to a server that somebody else runs: what may pass is tried again, everything else is an error.

An unencrypted connection must be to this machine, unless that was allowed. Redirects are not followed: a key would go
along, and texts go to the address that was typed and to no other.
"""

from __future__ import annotations

import http.client
import ipaddress
import random
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, urlsplit

from sentprobe.errors import Offline, SentProbeError, UsageError

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
        for attempt in range(MAX_ATTEMPTS):
            wait = 2.0**attempt * (0.5 + self.jitter() / 2)
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
            if attempt + 1 < MAX_ATTEMPTS:
                self.sleep(wait)
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
        shown = re.sub(r"//.*@|[?#].*", "…", typed)  # what is omitted may be a secret
        raise UsageError(f"{what} is {shown!r}; expected http(s)://host[:port]/path, without a user name or key.")
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
